"""The command `proof`."""

from proof.cli.commands import main

__all__ = ["main"]
