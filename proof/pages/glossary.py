"""The glossary page: all terms by topic, and an index by letter."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from proof.book.model import Book, Lang, Page, Source, Term, Text
from proof.pages.macros import expand
from proof.pages.render import render
from proof.problem import Fault, nearest, where
from proof.text.uses import term_uses

TOPICS = ("model", "memory", "device", "compiler", "numerics", "kernels", "measuring", "serving")


@dataclass(frozen=True)
class Entry:
    """What the page says of a term."""

    term: Term
    own: Text  # in the language of the page
    other: Text
    names: list[tuple[str, bool]]  # further names, and whether each is the page's language
    body: str
    see_also: list[Term]
    sources: list[Source | str]  # an address where no file of docs/sources is cited
    pages: list[Page]  # that use it


def glossary_page(book: Book, lang: Lang) -> str:
    """/glossary/: all terms by topic, then an index, both by English name; a term's id is its anchor."""
    used = term_uses(book)
    by_name = sorted(book.terms.values(), key=lambda term: term.en.preferred.casefold())
    entries = [_entry(book, term, lang, used.get(term.id, [])) for term in by_name]
    topics = [(topic, [each for each in entries if each.term.topic == topic]) for topic in TOPICS]
    letters = groupby(entries, key=lambda entry: entry.term.en.preferred[0].upper())
    return render(
        "glossary",
        lang,
        "../",
        other_lang=_other(lang),
        topics=[(topic, found) for topic, found in topics if found],
        letters=[(letter, list(found)) for letter, found in letters],
    )


def _other(lang: Lang) -> Lang:
    return "en" if lang == "zh" else "zh"


def _entry(book: Book, term: Term, lang: Lang, pages: list[Page]) -> Entry:
    """The term as its file tells it. Raises Fault where that names what is not there."""
    own, other = term.of(lang), term.of(_other(lang))
    file = where(term.path, book.root)
    preferred = {own.preferred, other.preferred}
    names = [(name, True) for name in own.alt if name not in preferred]
    names += [(name, False) for name in other.alt if name not in preferred | set(own.alt)]
    for id in term.see_also:
        if id not in book.terms:
            what = f"see_also names {id!r}, and there is no such term"
            raise Fault(what, nearest(id, book.terms), file=file)
    for id in term.sources:
        if id not in book.sources and not id.startswith(("http://", "https://")):
            what = f"sources names {id!r}, and there is no such source"
            raise Fault(what, nearest(id, book.sources), file=file)
    return Entry(
        term=term,
        own=own,
        other=other,
        names=names,
        body=expand(
            own.body, Page(lang, "glossary/index.md", term.path, own.body), book, "../"
        ).strip(),
        see_also=[book.terms[id] for id in term.see_also],
        sources=[book.sources.get(id, id) for id in term.sources],
        pages=[page for page in pages if page.lang == lang],
    )
