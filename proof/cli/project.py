"""The project that a command is run in, and how a command speaks of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click

from proof.book.load import load_book
from proof.book.model import Book, Lab
from proof.problem import Problem
from proof.runs.run import find_labs

PATH = click.Path(path_type=Path)  # the type of an argument


def find_root() -> Path:
    """The nearest folder at or above this one that holds the project. Raises UsageError where there is none."""
    start = Path.cwd()
    for folder in (start, *start.parents):
        if (folder / "labs").is_dir() and (folder / "pyproject.toml").is_file():
            return folder
    raise click.UsageError(
        f"no folder at or above {start} holds labs/ and pyproject.toml: go into the project first"
    )


def open_book(today: date) -> Book:
    return load_book(find_root(), today)


def choose_labs(book: Book, names: tuple[str, ...]) -> list[Lab]:
    """The labs of these names, or all. Raises UsageError, naming the nearest, for a name that no lab has."""
    try:
        return find_labs(book, names)
    except LookupError as error:
        raise click.UsageError(error.args[0]) from None


def short(book: Book, path: Path) -> str:
    return path.relative_to(book.root).as_posix()


def print_problems(problems: Sequence[Problem]) -> None:
    """Each on a line of standard error, so that a pipe gets none."""
    for problem in problems:
        click.echo(f"{'watch' if problem.warning else 'error'}  {problem}", err=True)
