"""Which page uses what: claims, breaks, sources, terms."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache

from proof.book.model import Book, Page
from proof.problem import Fault
from proof.text.documents import documents
from proof.text.macros import blank_quoted, calls, citations
from proof.text.terms import mentioned


def uses(book: Book) -> dict[str, list[Page]]:
    """Claim, break and source ids → the pages that use them. A page that cannot be read uses nothing."""
    found: dict[str, list[Page]] = {}
    for page in book.pages:
        try:
            here = list(calls(page.text, page.name))
        except Fault:
            continue
        for call in here:
            for room, cited in citations(call.name, call.args, call.options):
                id = {
                    "claim": cited,
                    "bug": f"{cited.removesuffix('.bug')}.bug",
                    "source": f"source.{cited}",
                }.get(room)
                if id and page not in found.setdefault(id, []):
                    found[id].append(page)
    return found


def term_uses(book: Book) -> dict[str, list[Page]]:
    """Term ids → the pages whose prose names the term or links it."""
    found = book.named
    if found:
        return found
    for page in book.pages:
        prose = re.sub(r"^[ \t>]*#{1,6} .*$", "", blank_quoted(_body(page.text)), flags=re.M)
        ids = mentioned(prose, list(book.terms.values()), page.lang)
        with suppress(Fault):  # the page's own expansion says so
            ids |= {call.args[0] for call in calls(page.text, page.name) if call.name == "term" and call.args}
        for id in sorted(ids):
            found.setdefault(id, []).append(page)
    return found


def _body(text: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)


@cache
def page_title(page: Page) -> str:
    """The first heading of a page, without its attributes and marks of code; the file name if it has none."""
    seen = blank_quoted(page.text)
    found = re.search(r"^# .+$", seen, re.M)
    if not found:
        return page.name
    written = page.text[found.start() : found.end()]  # blanking keeps every place
    return re.sub(r"[ \t]*\{[^{}]*\}[ \t]*$", "", written[2:]).strip().replace("`", "")


def used(book: Book, room: str) -> dict[str, list[tuple[str, int]]]:
    """Each id of one room that a text cites, with the places: file and line."""
    found: dict[str, list[tuple[str, int]]] = {}
    for document in documents(book):
        for macro in document.markdown.macros:
            for of, name in citations(macro.name, macro.args, macro.kwargs):
                if of == room:
                    found.setdefault(name, []).append((document.file, document.at(macro.line)))
    return found
