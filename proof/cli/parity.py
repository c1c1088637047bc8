"""`proof parity`: remembers that both languages of a page agree, so that neither moves on alone unseen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import click

from proof.book.model import Book
from proof.checks import parity
from proof.cli.project import open_book, print_problems, short
from proof.problem import Problem, nearest, where
from proof.text import parity as sidecars
from proof.text.parity import Pair, sidecar


@click.group()
def command() -> None:
    """Remember that both languages of a page agree, so that neither moves on alone unseen."""


@command.command()
@click.argument("pages", nargs=-1, metavar="[PAGE]...")
@click.pass_obj
def sync(today: date, pages: tuple[str, ...]) -> None:
    """Both languages were edited and agree again. All pages when none is named."""
    _remember(today, pages)


@command.command()
@click.argument("page")
@click.option("--reason", required=True, help="Why the other language needs nothing.")
@click.pass_obj
def ack(today: date, page: str, reason: str) -> None:
    """One language changed in a way that needs nothing in the other: a typo, say."""
    if not reason.strip():
        raise click.UsageError("give a reason: the next reader of the sidecar will ask for it")
    _remember(today, (page,), " ".join(reason.split()))


def _remember(today: date, pages: tuple[str, ...], reason: str = "") -> None:
    book = open_book(today)
    try:
        paths, problems = remember(book, pages, reason)
    except LookupError as error:
        raise click.UsageError(error.args[0]) from None
    print_problems(problems)
    for path in paths:
        click.echo(f"wrote    {short(book, path)}")
    if not paths and not problems:
        click.echo("nothing has changed since both languages were compared")
    raise SystemExit(1 if problems else 0)


def remember(
    book: Book, names: Iterable[str] = (), reason: str = ""
) -> tuple[list[Path], list[Problem]]:
    """Write the sidecars of the named pages, or of all, whose halves changed; with a reason, where one changed alone.

    Returns the sidecars written, and why others were not. Raises LookupError for a name that is no page's.
    """
    done, refused = [], []
    chosen, differences = _chosen(book, names), list(parity.differences(book))
    for pair in chosen:
        files = {where(page.path, book.root) for page in pair.halves.values()}
        alone = pair.synced is not None and len(pair.changed) == 1
        problems = [problem for problem in differences if problem.file in files]
        if problems:
            refused += problems
        elif not pair.changed:
            continue
        elif alone != bool(reason):
            refused.append(parity.drifted(book, pair))
        else:
            since = pair.synced.synced_on if alone else book.today
            sidecars.write(pair.path, sidecar(pair.now, since, reason))
            done.append(pair.path)
    return done, refused


def _chosen(book: Book, names: Iterable[str]) -> list[Pair]:
    """The pairs of these names, written as index.md, index or docs/zh/index.md; all pairs when there are none."""
    known = {pair.name: pair for pair in sidecars.pairs(book)}
    if not names:
        return list(known.values())
    wanted = [re.sub(r"^(\./)?(docs/(zh|en)/)?(.*?)(\.md)?$", r"\4.md", name) for name in names]
    for name in wanted:
        if name not in known:
            raise LookupError(f"no page {name} stands in both languages. {nearest(name, known)}")
    return [known[name] for name in dict.fromkeys(wanted)]
