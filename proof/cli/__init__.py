"""The command `proof`: one module for each of its commands, imported when it is asked for."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime

import click

COMMANDS = (
    "run",
    "record",
    "check",
    "status",
    "schema",
    "freshness",
    "fix",
    "compile",
    "bundle",
    "new",
    "parity",
    "site",
    "serve",
)


class Commands(click.Group):
    """Each command is `command` in the module of its name."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"proof.cli.{name}").command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--today", type=click.DateTime(["%Y-%m-%d"]), hidden=True, help="Judge as of this day."
)
@click.pass_context
def main(context: click.Context, today: datetime | None) -> None:
    """Runs labs, files what they measured, checks that pages agree with it."""
    context.obj = today.date() if today else datetime.now(UTC).date()
