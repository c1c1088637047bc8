"""`proof fix`: rewrites what follows from elsewhere."""

from __future__ import annotations

import click

from proof.book.text import write
from proof.cli.project import find_root
from proof.text import spacing


@click.command()
@click.option(
    "--check", "check_only", is_flag=True, help="Change nothing; fail when something would change."
)
def command(check_only: bool) -> None:
    """Rewrite the spacing of Chinese where it is not as this project writes it."""
    changed: list[str] = []
    try:
        changed = spacing.fix(find_root(), None if check_only else write)
    except ImportError:
        click.echo(
            "Chinese spacing was not looked at: autocorrect-py is missing, make setup installs it",
            err=True,
        )
    for sentence in changed:
        click.echo(sentence)
    raise SystemExit(1 if check_only and changed else 0)
