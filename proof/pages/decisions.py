"""The decisions: their index, and a page each."""

from __future__ import annotations

import re
from collections.abc import Callable

from proof.book.model import Book, Decision, Lang, Page
from proof.pages.format import decision_status, link, md, table
from proof.pages.macros import expand
from proof.pages.words import word
from proof.problem import Fault, nearest, where


def _decisions(book: Book, lang: Lang) -> dict[str, Decision]:
    return {id: found for (id, its), found in sorted(book.decisions.items()) if its == lang}


def _status(decision: Decision, lang: Lang, href: Callable[[str], str]) -> str:
    """The status, and for a superseded one by what."""
    shown = f'<span class="status {md(decision.status)}">{md(decision_status(decision.status, lang))}</span>'
    return f"{shown} → {href(decision.superseded_by)}" if decision.superseded_by else shown


def _linker(book: Book, decision: Decision, up: str) -> Callable[[str], str]:
    """Number → link to that decision in the same language, or the error that names the nearest."""
    known = _decisions(book, decision.lang)

    def href(id: str) -> str:
        if id not in known:
            what = f"it names ADR {id!r}, which does not exist in this language"
            raise Fault(what, nearest(id, known), file=where(decision.path, book.root))
        return f'<a href="{md(up)}adr/{md(known[id].slug)}/" title="{md(known[id].title)}">ADR-{md(id)}</a>'

    return href


def decision_index(book: Book, lang: Lang) -> str:
    """/adr/: number, title, status, date, and what each supersedes."""
    up, rows = "../", []
    for id, decision in _decisions(book, lang).items():
        href = _linker(book, decision, up)
        title = link(f"{up}adr/{decision.slug}/", md(decision.title))
        older = word(lang, "comma").join(map(href, decision.supersedes)) or "–"
        rows.append(
            [f"ADR-{md(id)}", title, _status(decision, lang, href), str(decision.date), older]
        )
    heads = [word(lang, key) for key in ("number", "decision", "state", "date", "supersedes")]
    return f"# {word(lang, 'decisions')} {{ #decisions }}\n\n{table(heads, rows)}"


def decision_page(book: Book, id: str, lang: Lang) -> str:
    """/adr/<slug>/: title, front matter as a small table, then the text with its macros expanded."""
    known = _decisions(book, lang)
    if id not in known:
        file = f"adr/{id}-….{lang}.md"
        raise Fault(f"ADR {id!r} has no {lang} edition", nearest(id, known), file=file)
    decision, up = known[id], "../../"
    href, comma = _linker(book, decision, up), word(lang, "comma")
    heads = [word(lang, "number"), word(lang, "state"), word(lang, "date")]
    cells = [f"ADR-{md(id)}", _status(decision, lang, href), str(decision.date)]
    if decision.supersedes:
        heads.append(word(lang, "supersedes"))
        cells.append(comma.join(map(href, decision.supersedes)))
    page = Page(lang, f"adr/{decision.slug}.md", decision.path, decision.body)
    body = expand(decision.body, page, book, up).strip()
    heading = re.match(r"# .+\n?", body)  # its own, where it has one
    title = heading[0].strip() if heading else f"# {md(decision.title)} {{ #decision }}"
    return (
        f"{title}\n\n{table(heads, [cells])}\n{body[heading.end() if heading else 0 :].strip()}\n"
    )
