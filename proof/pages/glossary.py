"""The glossary page: all terms by topic, and an index by letter."""

from __future__ import annotations

from bisect import bisect_right

from proof.book.model import Book, Lang, Page, Term, Text
from proof.pages.format import link, md, page_links, source_link, with_code
from proof.pages.macros import expand
from proof.pages.words import word
from proof.problem import Fault, nearest, where
from proof.text.uses import term_uses

TOPICS = ("model", "memory", "device", "compiler", "numerics", "kernels", "measuring", "serving")


# Common Chinese characters stand in GB 2312 by pinyin: the code of the first one under each letter.
_PINYIN = {
    0xB0A1: "A", 0xB0C5: "B", 0xB2C1: "C", 0xB4EE: "D", 0xB6EA: "E", 0xB7A2: "F", 0xB8C1: "G", 0xB9FE: "H",
    0xBBF7: "J", 0xBFA6: "K", 0xC0AC: "L", 0xC2E8: "M", 0xC4C3: "N", 0xC5B6: "O", 0xC5BE: "P", 0xC6DA: "Q",
    0xC8BB: "R", 0xC8F6: "S", 0xCBFA: "T", 0xCDDA: "W", 0xCEF4: "X", 0xD1B9: "Y", 0xD4D1: "Z", 0xD7FA: "#",
}  # fmt: skip
_CODES = sorted(_PINYIN)


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
        raise Fault(f"see_also names {id!r}, and there is no such term", nearest(id, book.terms), file=file)
    return link(f"#{id}", md(_text(book.terms[id], lang).preferred))


def _cited(book: Book, source: str, lang: Lang, file: str) -> str:
    if source in book.sources:
        return source_link(book.sources[source], lang)
    if source.startswith(("http://", "https://")):
        return link(source, md(source.split("://", 1)[1].rstrip("/")))
    raise Fault(f"sources names {source!r}, and there is no such source", nearest(source, book.sources), file=file)


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
