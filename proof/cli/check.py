"""`proof check`: everything that needs no test runner."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import date

import click

from proof.checks import rules
from proof.cli.project import open_book, print_problems


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as data.")
@click.option(
    "--release", is_flag=True, help="Fail for pending and stale claims too, as publishing does."
)
@click.pass_obj
def command(today: date, as_json: bool, release: bool) -> None:
    """Check everything that needs no test runner: file, line, what, how to fix it."""
    book = open_book(today)
    problems = list(dict.fromkeys([*book.problems, *rules.check(book, release)]))
    errors = [problem for problem in problems if not problem.warning]
    if as_json:
        click.echo(
            json.dumps([asdict(problem) for problem in problems], indent=1, ensure_ascii=False)
        )
    else:
        print_problems(problems)
        warnings = len(problems) - len(errors)
        click.echo(
            f"{len(errors)} to fix, {warnings} to watch" if problems else "everything agrees"
        )
        click.echo(rules.tally(book))
    raise SystemExit(1 if errors else 0)
