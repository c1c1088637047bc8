"""What `proof new` wrote and nobody has filled in yet: each open place carries one mark, and is told until it is gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from proof.book.model import Book
from proof.problem import Problem
from proof.text.documents import files, text_of

MARK = re.compile(r"TODO\(new\)\s*[:：]\s*(.*)")
WRITTEN = re.compile(
    r"((docs/(zh|en)|glossary|adr)/.*\.(md|yml)|docs/curriculum\.yml|(tests/)?labs/[^/]*\.(py|zh\.yml)|mkdocs(\.en)?\.yml)"
)


def places(book: Book) -> Iterable[Problem]:
    """Something that `proof new` left open is still open."""
    for file, line, text in _open(book):
        yield Problem(file, line, f"still open: {text}", "Write it, and take the mark out", warning=True)


def unfinished(book: Book) -> Iterable[Problem]:
    """Only before a release: something that `proof new` left open is still open."""
    for file, line, text in _open(book):
        yield Problem(file, line, f"still open, and a release publishes it: {text}", "Write it, and take the mark out")


def drafts(book: Book) -> set[str]:
    """The files with an open place."""
    return {file for file, _, _ in _open(book)}


def _open(book: Book) -> Iterator[tuple[str, int, str]]:
    for file in sorted(files(book.root)):
        if WRITTEN.fullmatch(file):
            for number, line in enumerate(text_of(book.root / file).split("\n"), 1):
                if found := MARK.search(line):
                    yield file, number, found[1].strip(' ".。')
