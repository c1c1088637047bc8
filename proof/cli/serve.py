"""`proof serve`: builds both languages and serves them while one writes."""

from __future__ import annotations

import click

from proof.cli.project import find_root
from proof.site import build


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
def command(host: str, port: int) -> None:
    """Build both languages and serve them, with reload."""
    build.serve(find_root(), host, port)
