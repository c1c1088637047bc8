"""Which page uses what: claims, bugs, sources, terms."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from proof.book.model import Book, Page
from proof.text.documents import documents
from proof.text.macros import citations, readable_calls
from proof.text.markdown import Markdown, read
from proof.text.terms import mentioned


def uses(book: Book) -> dict[str, list[Page]]:
    """Claim, bug and source ids → the pages that use them, such as "source.jax" → [the page on
    numerics].
    """
    pages: dict[str, list[Page]] = {}
    for page in book.pages:
        for call in readable_calls(read(page.text)):
            for room, cited in citations(call.name, call.args, call.options):
                id = {
                    "claim": cited,
                    "bug": f"{cited}.bug",
                    "source": f"source.{cited}",
                }.get(room)
                if id and page not in pages.setdefault(id, []):
                    pages[id].append(page)
    return pages


@lru_cache(maxsize=2)  # a book does not change
def term_uses(book: Book) -> dict[str, list[Page]]:
    """Term ids → the pages whose prose names the term or links it."""
    pages: dict[str, list[Page]] = {}
    for page in book.pages:
        markdown = read(page.text)
        ids = mentioned(_without_headings(markdown), list(book.terms.values()), page.lang)
        ids |= {
            call.args[0] for call in readable_calls(markdown) if call.name == "term" and call.args
        }
        for id in sorted(ids):
            pages.setdefault(id, []).append(page)
    return pages


def _without_headings(page: Markdown) -> str:
    headings = {heading.line for heading in page.headings}
    return "\n".join(line for number, line in page.lines() if number not in headings)


@cache
def page_title(page: Page) -> str:
    """The first heading of a page, without its marks of code; the file name if it has none."""
    headings = read(page.text).headings
    title = next((heading.text for heading in headings if heading.level == 1), page.name)
    return re.sub(r"[ \t]*\{[^{}]*\}[ \t]*$", "", title).strip().replace("`", "")


def used(book: Book, room: str) -> dict[str, list[tuple[str, int]]]:
    """Each id of one room that a text cites, with the places: file and line."""
    places: dict[str, list[tuple[str, int]]] = {}
    for document in documents(book):
        for call in document.calls:
            for cited_room, id in citations(call.name, call.args, call.options):
                if cited_room == room:
                    places.setdefault(id, []).append((document.file, document.at(call.line)))
    return places
