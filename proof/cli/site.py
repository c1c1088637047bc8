"""`proof site`: builds both languages."""

from __future__ import annotations

import click

from proof.cli.project import find_root, print_problems
from proof.site import build


@click.command()
def command() -> None:
    """Build both languages into site/, strictly."""
    problems = build.build(find_root())
    print_problems(problems)
    raise SystemExit(1 if any(not problem.warning for problem in problems) else 0)
