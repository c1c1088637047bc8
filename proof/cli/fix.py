"""`proof fix`: rewrites what follows from elsewhere."""

from __future__ import annotations

import click

from proof.book import common_part
from proof.book.text import write
from proof.cli.project import find_root
from proof.text import spacing


@click.command()
@click.option("--check", "check_only", is_flag=True, help="Change nothing; fail when something would change.")
def command(check_only: bool) -> None:
    """Rewrite what follows from elsewhere: the common part of every lab, and the spacing of Chinese."""
    root = find_root()
    changed = common_part.fix(root, not check_only)
    try:
        changed += spacing.fix(root, None if check_only else write)
    except ImportError:
        click.echo("Chinese spacing was not looked at: autocorrect-py is missing, make setup installs it", err=True)
    for sentence in changed:
        click.echo(sentence)
    raise SystemExit(1 if check_only and changed else 0)
