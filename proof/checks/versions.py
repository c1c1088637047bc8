"""labs/versions.json is of the labs as they are, and nothing in it speaks against one."""

from __future__ import annotations

from collections.abc import Iterable

from proof.book.model import Book
from proof.evidence import versions
from proof.problem import Problem

FIX = "Run `make test-versions`, fix what it names, and commit labs/versions.json"


def outdated(book: Book) -> Iterable[Problem]:
    """A lab was not run with the oldest and the newest Triton as it is now, or something failed there."""
    for stem, what in versions.shortcomings(book):
        yield Problem(f"labs/{stem}.py", 1, what, FIX, warning=True)


def unreleasable(book: Book) -> Iterable[Problem]:
    """Only before a release: the same."""
    for stem, what in versions.shortcomings(book):
        yield Problem(f"labs/{stem}.py", 1, what, FIX)
