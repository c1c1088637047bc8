"""The glossary page: all terms by topic, and an index by letter."""

from __future__ import annotations

from proof.book.model import Book, Lang, Page, Term, Text
from proof.pages.format import link, md, page_links, source_link, with_code
from proof.pages.macros import expand
from proof.pages.words import word
from proof.problem import Fault, nearest, where
from proof.text.uses import term_uses

TOPICS = ("model", "memory", "device", "compiler", "numerics", "kernels", "measuring", "serving")


def glossary_page(book: Book, lang: Lang) -> str:
    """/glossary/: all terms by topic, then an index, both by English name; a term's id is its anchor."""
    used = term_uses(book)
    by_name = sorted(book.terms.values(), key=lambda term: term.en.preferred.casefold())
    parts = [f"# {word(lang, 'glossary')} {{ #glossary }}\n"]
    for topic in TOPICS:
        terms = [term for term in by_name if term.topic == topic]
        if terms:
            parts.append(f"## {word(lang, f'topic-{topic}')} {{ #topic-{topic} }}\n")
            parts += [_entry(book, term, lang, used.get(term.id, [])) for term in terms]
    parts += [f"## {word(lang, 'index')} {{ #index }}\n", _index(by_name, lang)]
    return "\n".join(parts)


def _text(term: Term, lang: Lang) -> Text:
    return term.zh if lang == "zh" else term.en


def _entry(book: Book, term: Term, lang: Lang, pages: list[Page]) -> str:
    here, there = _text(term, lang), _text(term, "en" if lang == "zh" else "zh")
    colon, comma = word(lang, "colon"), word(lang, "comma")
    file = where(term.path, book.root)
    other = "en" if lang == "zh" else "zh"
    names = (
        f'<span lang="{other}">{md(there.preferred)}</span>'
        if there.preferred != here.preferred
        else ""
    )
    told = {here.preferred, there.preferred}
    also = [md(name) for name in here.alt if name not in told]
    also += [
        f'<span lang="{other}">{md(name)}</span>'
        for name in there.alt
        if name not in told | set(here.alt)
    ]
    if also:
        names += f"{' · ' if names else ''}{word(lang, 'also')}{colon}{comma.join(also)}"
    if term.scope != "any":
        names += f'{" · " if names else ""}<span class="scope {term.scope}">{word(lang, term.scope)}</span>'
    body = expand(
        here.body, Page(lang, "glossary/index.md", term.path, here.body), book, "../"
    ).strip()
    lines = [f"### {md(here.preferred)} {{ #{term.id} .term-entry }}\n"]
    lines += [f"{part}\n" for part in (names, f"**{with_code(here.short)}**", body) if part]
    about = []
    if term.see_also:
        about.append(
            f"{word(lang, 'see also')}{colon}{comma.join(_see(book, id, lang, file) for id in term.see_also)}"
        )
    if term.sources:
        about.append(
            f"{word(lang, 'sources')}{colon}{comma.join(_cited(book, s, lang, file) for s in term.sources)}"
        )
    here_used = [page for page in pages if page.lang == lang]
    if here_used:
        about.append(f"{word(lang, 'used in')}{colon}{page_links(here_used, '../')}")
    return "\n".join([*lines, *(f"- {each}" for each in about), ""])


def _see(book: Book, id: str, lang: Lang, file: str) -> str:
    if id not in book.terms:
        raise Fault(
            f"see_also names {id!r}, and there is no such term", nearest(id, book.terms), file=file
        )
    return link(f"#{id}", md(_text(book.terms[id], lang).preferred))


def _cited(book: Book, source: str, lang: Lang, file: str) -> str:
    if source in book.sources:
        return source_link(book.sources[source], lang)
    if source.startswith(("http://", "https://")):
        return link(source, md(source.split("://", 1)[1].rstrip("/")))
    raise Fault(
        f"sources names {source!r}, and there is no such source",
        nearest(source, book.sources),
        file=file,
    )


def _index(terms: list[Term], lang: Lang) -> str:
    """A line for each first letter of English names; in Chinese, where the two names differ, with both."""
    by_letter: dict[str, list[str]] = {}
    for term in terms:
        name = _text(term, lang).preferred
        entry = link(f"#{term.id}", md(name))
        if name != term.en.preferred:
            entry += f' <span lang="en">{md(term.en.preferred)}</span>'
        by_letter.setdefault(term.en.preferred[0].upper(), []).append(entry)
    comma = word(lang, "comma")
    return "\n".join(
        f"**{md(letter)}** {comma.join(entries)}\n" for letter, entries in by_letter.items()
    )
