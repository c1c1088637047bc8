"""The status page: every claim, where it was measured, and the pages that use it."""

from __future__ import annotations

from proof.book.model import Book, Lang
from proof.evidence import order, state
from proof.pages.lab import STATES, counts, counts_line
from proof.pages.render import render
from proof.text.uses import uses


def status_page(book: Book, lang: Lang) -> str:
    """/status/: every claim, worst state first."""
    used, ids = uses(book), order.claims(book)
    rows: dict[str, list] = {name: [] for name in STATES}
    for id in ids:
        standing = state.standing(book, id)
        source = book.sources.get(id.removeprefix("source.")) if id.startswith("source.") else None
        pages = [page for page in used.get(id, ()) if page.lang == lang]
        rows[standing.state].append((standing, source, pages))
    return render(
        "status",
        lang,
        "../",
        counts=counts_line(counts(book, ids), lang),
        groups=[(name, found) for name, found in rows.items() if found],
        today=book.today,
    )
