"""The decisions: their index, and a page each."""

from __future__ import annotations

import re

from proof.book.model import Book, Decision, Lang, Page
from proof.pages.macros import expand
from proof.pages.render import render
from proof.problem import Fault, nearest, where


def decision_index(book: Book, lang: Lang) -> str:
    """/adr/: number, title, status, date, and what each supersedes."""
    known = _decisions(book, lang)
    for decision in known.values():
        _refuse_unknown(book, decision, known)
    return render("decisions", lang, "../", known=known)


def decision_page(book: Book, id: str, lang: Lang) -> str:
    """/adr/<slug>/: title, front matter as a small table, then the text with its macros expanded."""
    known, up = _decisions(book, lang), "../../"
    if id not in known:
        file = f"adr/{id}-….{lang}.md"
        raise Fault(f"ADR {id!r} has no {lang} edition", nearest(id, known), file=file)
    decision = known[id]
    _refuse_unknown(book, decision, known)
    page = Page(lang, f"adr/{decision.slug}.md", decision.path, decision.body)
    body = expand(decision.body, page, book, up).strip()
    heading = re.match(r"# .+\n?", body)  # its own, where it has one
    return render(
        "decision",
        lang,
        up,
        decision=decision,
        known=known,
        heading=heading[0].strip() if heading else "",
        body=body[heading.end() if heading else 0 :].strip(),
    )


def _decisions(book: Book, lang: Lang) -> dict[str, Decision]:
    return {id: found for (id, its), found in sorted(book.decisions.items()) if its == lang}


def _refuse_unknown(book: Book, decision: Decision, known: dict[str, Decision]) -> None:
    """Raise Fault where the decision names another one that there is not in its language."""
    for id in filter(None, [*decision.supersedes, decision.superseded_by]):
        if id not in known:
            what = f"it names ADR {id!r}, which does not exist in this language"
            raise Fault(what, nearest(id, known), file=where(decision.path, book.root))
