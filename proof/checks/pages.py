"""Pages exist in both languages, and every heading has an id of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from proof.book.model import LANGS, Book
from proof.problem import Problem
from proof.text.documents import Document, documents, place

ID = re.compile(r"[a-z][a-z0-9_.-]*")


def twins(book: Book) -> Iterable[Problem]:
    """A page of one language lacks its other half."""
    names = {lang: {page.name for page in book.pages if page.lang == lang} for lang in LANGS}
    for page in book.pages:
        other = LANGS[1 - LANGS.index(page.lang)]
        if page.name not in names[other]:
            yield Problem(
                place(book, page.path),
                1,
                f"this page has no docs/{other}/{page.name}",
                f"Every page exists in both languages: write docs/{other}/{page.name}, or remove this one",
            )


def headings(book: Book) -> Iterable[Problem]:
    """A heading has no id, one that is not plain, or one that the page has already; or something swallows the headings."""
    for document in documents(book, ("page", "decision")):
        yield from _unclosed(document)
        seen: dict[str, int] = {}
        for heading in document.markdown.headings:
            line, text = document.at(heading.line), heading.text.strip()
            if not heading.id:
                yield Problem(
                    document.file,
                    line,
                    f"the heading “{text}” has no id",
                    "Write { #some-id } behind it, the same in both languages: an id made from its words moves with them",
                )
            elif not ID.fullmatch(heading.id):
                yield Problem(
                    document.file,
                    line,
                    f"the heading id {heading.id!r} is not plain",
                    "Begin with a letter; then lower-case letters, digits and - only",
                )
            elif heading.id in seen:
                yield Problem(
                    document.file,
                    line,
                    f"the heading id {heading.id!r} is taken by line {seen[heading.id]}",
                    "Give each heading of a page its own id",
                )
            seen.setdefault(heading.id, line)


def _unclosed(document: Document) -> Iterable[Problem]:
    """A code block or a formula is opened and not closed."""
    for fence in document.markdown.fences:
        if not fence.closed:
            what = "a code block opens here and does not close: all that follows is code"
            yield Problem(
                document.file,
                document.at(fence.line),
                what,
                "Close it with the same marks, on a line of their own",
            )
    for number, line in document.markdown.lines():
        for opened in re.findall(r"(?<!\\)\\[(\[]|\$\$", line):
            what = f"a formula opens with {opened} and does not close"
            yield Problem(
                document.file, document.at(number), what, f"Close it, or write `{opened}` as code"
            )
