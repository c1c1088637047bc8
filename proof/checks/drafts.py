"""What `proof new` wrote and nobody has filled in yet: each open place carries one mark, and each file is named once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from proof.book.model import Book
from proof.problem import Problem
from proof.text.documents import files, text_of

MARK = re.compile(r"TODO\(new\)\s*[:：]\s*(.*)")
WRITTEN = re.compile(
    r"((docs/(zh|en)|glossary|adr)/.*\.(md|yml)|docs/curriculum\.yml|(tests/)?labs/[^/]*\.(py|yml)|labs/exercises/\d.*\.(py|yml)|mkdocs(\.en)?\.yml)"
)


def unwritten(book: Book) -> Iterable[Problem]:
    """A file that `proof new` began is not written to its end."""
    return _problems(book, warning=True)


def unfinished(book: Book) -> Iterable[Problem]:
    """Only before a release: a file that `proof new` began is not written to its end."""
    return _problems(book, warning=False)


def drafts(book: Book) -> set[str]:
    """The files with an open place."""
    return {file for file, _ in _open(book)}


def _problems(book: Book, warning: bool) -> Iterator[Problem]:
    for file, places in _open(book):
        first, text = places[0]
        lines = ", ".join(str(line) for line, _ in places)
        what = (
            f"still to write: {text}"
            if len(places) == 1
            else f"still to write, in lines {lines}; first: {text}"
        )
        yield Problem(file, first, what, "Write it, and take each mark TODO(new) out", warning)


def _open(book: Book) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Each file with an open place, and the line and text of each."""
    for file in sorted(files(book.root)):
        if not WRITTEN.fullmatch(file):
            continue
        lines = enumerate(text_of(book.root / file).split("\n"), 1)
        matches = [(number, MARK.search(line)) for number, line in lines]
        places = [(number, match[1].strip(' ".。')) for number, match in matches if match]
        if places:
            yield file, places
