"""The generated pages: every claim, the glossary, the decisions. Markdown text, one code path for both languages."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from proof import labpage, order, state
from proof.expand import expand
from proof.figures import decision_status, link, md, source_link, table, with_code
from proof.ledger import page_links, status_table, term_uses
from proof.macros import PageError, nearest, where
from proof.model import Book, Decision, Lang, Page, Term, Text
from proof.words import word

TOPICS = ("model", "memory", "device", "compiler", "numerics", "kernels", "measuring", "serving")


def status_page(book: Book, lang: Lang) -> str:
    """/status/: every claim, worst state first."""
    up = "../"
    ids = order.claims(book)
    standings = [state.standing(book, id) for id in ids]
    parts = [f"# {word(lang, 'status')} {{ #status }}\n", word(lang, "status intro") + "\n"]
    parts.append(labpage.counts_line(labpage.counts(book, ids), lang) + "\n")
    for name in labpage.STATES:
        if here := [standing for standing in standings if standing.state == name]:
            parts += [f"## {word(lang, name)} {{ #{name} }}\n", status_table(book, here, lang, up)]
    return "\n".join(parts)


# Glossary


def glossary_page(book: Book, lang: Lang) -> str:
    """/glossary/: all terms by topic, then an index by letter; a term's id is its anchor."""
    used = term_uses(book)
    parts = [f"# {word(lang, 'glossary')} {{ #glossary }}\n"]
    for topic in TOPICS:
        terms = sorted((t for t in book.terms.values() if t.topic == topic), key=lambda t: _order(_text(t, lang)))
        if terms:
            parts.append(f"## {word(lang, f'topic-{topic}')} {{ #topic-{topic} }}\n")
            parts += [_entry(book, term, lang, used.get(term.id, [])) for term in terms]
    parts += [f"## {word(lang, 'index')} {{ #index }}\n", _index(list(book.terms.values()), lang)]
    return "\n".join(parts)


def _text(term: Term, lang: Lang) -> Text:
    return term.zh if lang == "zh" else term.en


def _entry(book: Book, term: Term, lang: Lang, pages: list[Page]) -> str:
    here, there = _text(term, lang), _text(term, "en" if lang == "zh" else "zh")
    colon, comma = word(lang, "colon"), word(lang, "comma")
    file = where(term.path, book.root)
    other = "en" if lang == "zh" else "zh"
    names = f'<span lang="{other}">{md(there.preferred)}</span>' if there.preferred != here.preferred else ""
    told = {here.preferred, there.preferred}
    also = [md(name) for name in here.alt if name not in told]
    also += [f'<span lang="{other}">{md(name)}</span>' for name in there.alt if name not in told | set(here.alt)]
    if also:
        names += f"{' · ' if names else ''}{word(lang, 'also')}{colon}{comma.join(also)}"
    if term.scope != "any":
        names += f'{" · " if names else ""}<span class="scope {term.scope}">{word(lang, term.scope)}</span>'
    body = expand(here.body, Page(lang, "glossary/index.md", term.path, here.body), book, "../").strip()
    lines = [f"### {md(here.preferred)} {{ #{term.id} .term-entry }}\n"]
    lines += [f"{part}\n" for part in (names, f"**{with_code(here.short)}**", body) if part]
    about = []
    if term.see_also:
        about.append(f"{word(lang, 'see also')}{colon}{comma.join(_see(book, id, lang, file) for id in term.see_also)}")
    if term.sources:
        about.append(f"{word(lang, 'sources')}{colon}{comma.join(_cited(book, s, lang, file) for s in term.sources)}")
    here_used = [page for page in pages if page.lang == lang]
    if here_used:
        about.append(f"{word(lang, 'used in')}{colon}{page_links(here_used, '../')}")
    return "\n".join([*lines, *(f"- {each}" for each in about), ""])


def _see(book: Book, id: str, lang: Lang, file: str) -> str:
    if id not in book.terms:
        raise PageError(file, 1, f"see_also names {id!r}, and there is no such term", nearest(id, book.terms))
    return link(f"#{id}", md(_text(book.terms[id], lang).preferred))


def _cited(book: Book, source: str, lang: Lang, file: str) -> str:
    if source in book.sources:
        return source_link(book.sources[source], lang)
    if source.startswith(("http://", "https://")):
        return link(source, md(source.split("://", 1)[1].rstrip("/")))
    raise PageError(file, 1, f"sources names {source!r}, and there is no such source", nearest(source, book.sources))


# Common Chinese characters stand in GB 2312 by pinyin: the code of the first one under each letter.
_PINYIN = {
    0xB0A1: "A", 0xB0C5: "B", 0xB2C1: "C", 0xB4EE: "D", 0xB6EA: "E", 0xB7A2: "F", 0xB8C1: "G", 0xB9FE: "H",
    0xBBF7: "J", 0xBFA6: "K", 0xC0AC: "L", 0xC2E8: "M", 0xC4C3: "N", 0xC5B6: "O", 0xC5BE: "P", 0xC6DA: "Q",
    0xC8BB: "R", 0xC8F6: "S", 0xCBFA: "T", 0xCDDA: "W", 0xCEF4: "X", 0xD1B9: "Y", 0xD4D1: "Z", 0xD7FA: "#",
}  # fmt: skip
_CODES = sorted(_PINYIN)


def initial(name: str) -> str:
    """The letter under which an index lists a name: its own, or its pinyin's; # for all else."""
    first = name[:1]
    if first.isascii() and first.isalpha():
        return first.upper()
    code = int.from_bytes(first.encode("gb2312", errors="replace"), "big")
    at = bisect_right(_CODES, code)
    return _PINYIN[_CODES[at - 1]] if at else "#"


def _order(text: Text) -> tuple[bool, str, bool, bytes]:
    """By letter, Latin names first under each, then by pinyin; # last."""
    letter = initial(text.preferred)
    return letter == "#", letter, not text.preferred.isascii(), text.preferred.lower().encode("gb18030")


def _index(terms: list[Term], lang: Lang) -> str:
    by_letter: dict[str, list[Term]] = {}
    for term in sorted(terms, key=lambda t: _order(_text(t, lang))):
        by_letter.setdefault(initial(_text(term, lang).preferred), []).append(term)
    comma = word(lang, "comma")
    lines = [
        f"**{md(letter)}** {comma.join(link(f'#{t.id}', md(_text(t, lang).preferred)) for t in here)}\n"
        for letter, here in by_letter.items()
    ]
    return "\n".join(lines)


# Decisions


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
            raise PageError(where(decision.path, book.root), 1, what, nearest(id, known))
        return f'<a href="{md(up)}adr/{md(known[id].slug)}/" title="{md(known[id].title)}">ADR-{md(id)}</a>'

    return href


def decision_index(book: Book, lang: Lang) -> str:
    """/adr/: number, title, status, date, and what each supersedes."""
    up, rows = "../", []
    for id, decision in _decisions(book, lang).items():
        href = _linker(book, decision, up)
        title = link(f"{up}adr/{decision.slug}/", md(decision.title))
        older = word(lang, "comma").join(map(href, decision.supersedes)) or "–"
        rows.append([f"ADR-{md(id)}", title, _status(decision, lang, href), str(decision.date), older])
    heads = [word(lang, key) for key in ("number", "decision", "state", "date", "supersedes")]
    return f"# {word(lang, 'decisions')} {{ #decisions }}\n\n{table(heads, rows)}"


def decision_page(book: Book, id: str, lang: Lang) -> str:
    """/adr/<slug>/: title, front matter as a small table, then the text with its macros expanded."""
    known = _decisions(book, lang)
    if id not in known:
        file = f"adr/{id}-….{lang}.md"
        raise PageError(file, 1, f"ADR {id!r} has no {lang} edition", nearest(id, known))
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
    return f"{title}\n\n{table(heads, [cells])}\n{body[heading.end() if heading else 0 :].strip()}\n"
