"""The table of labs and versions of Triton, as pages show it."""

from __future__ import annotations

from proof.book.model import Book, Lang
from proof.evidence import order
from proof.evidence.versions import TRITONS, run_of
from proof.pages.render import render


def versions_table(book: Book, lang: Lang, up: str) -> str:
    """A row for each lab, a column for each Triton of TRITONS."""
    labs = order.labs(book)
    runs = {lab.stem: [run_of(book, lab.stem, triton) for triton in TRITONS] for lab in labs}
    return render("versions", lang, up, labs=labs, runs=runs, tritons=TRITONS)
