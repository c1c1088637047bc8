"""One name means one term, terms lead to terms, and the pages use the names that the glossary prefers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from proof.book.model import LANGS, Book, Lang, Term
from proof.problem import Problem, nearest
from proof.text.documents import documents, place
from proof.text.names import Names
from proof.text.uses import used


def fold(label: str) -> str:
    """A label without what readers do not see: case, full or half width, spaces around it."""
    return " ".join(unicodedata.normalize("NFKC", label).casefold().split())


def labels(term: Term, lang: Lang) -> tuple[str, ...]:
    """Every name of the term in that language, the preferred one first."""
    return (term.of(lang).preferred, *term.of(lang).alt)


def _label_line(term: Term, lang: Lang, label: str) -> int:
    alt = term.of(lang).alt
    return (
        term.line(lang, "alt", alt.index(label)) if label in alt else term.line(lang, "preferred")
    )


def ambiguous(book: Book) -> Iterable[Problem]:
    """Two terms, or one twice, claim the same name; the fault is that of the file that is newer on this disk."""
    oldest_first = sorted(book.terms.values(), key=lambda term: term.path.stat().st_mtime_ns)
    for lang in LANGS:
        taken: dict[str, Term] = {}
        for term in oldest_first:
            for label in labels(term, lang):
                if other := taken.get(fold(label)):
                    yield Problem(
                        place(book, term.path),
                        _label_line(term, lang, label),
                        f"the {lang} name {label!r} belongs to {'itself, twice' if other is term else place(book, other.path)}",
                        "A name leads to one term: take it out of one of them",
                    )
                taken.setdefault(fold(label), term)


def relations(book: Book) -> Iterable[Problem]:
    """see_also or sources lead nowhere, or to the term itself."""
    pages = used(book, "term")
    for term in book.terms.values():
        at = place(book, term.path)
        for n, other in enumerate(term.see_also):
            line = term.line("see_also", n)
            if other == term.id:
                yield Problem(at, line, "see_also names the term itself", "Take it out")
            elif (
                other not in book.terms and not (term.path.parent / f"{other}.yml").exists()
            ):  # else told there
                cited = ", ".join(sorted({file for file, _ in pages.get(other, ())}))
                also = f", which {cited} also cites" if cited else ""
                yield Problem(
                    at,
                    line,
                    f"see_also names {other!r}, which is no term{also}",
                    nearest(other, book.terms),
                )
        for n, source in enumerate(term.sources):
            if not source.startswith("https://") and source not in book.sources:
                fix = f"Give a source's id or an https address. {nearest(source, book.sources)}"
                yield Problem(at, term.line("sources", n), f"no source is called {source!r}", fix)


def untranslated(book: Book) -> Iterable[Problem]:
    """A term that stays English in Chinese text has another name there."""
    for term in book.terms.values():
        if term.translate != "no":
            continue
        english = [fold(label) for label in labels(term, "en")]
        if not any(label in fold(term.zh.preferred) for label in english):
            yield Problem(
                place(book, term.path),
                term.line("zh", "preferred"),
                f"translate is no, but the Chinese name is {term.zh.preferred!r}",
                f"Write preferred: {term.en.preferred} there, or translate: yes",
            )
    for document in documents(book):
        for call in document.calls:
            shown = call.args[1] if call.name == "term" and len(call.args) > 1 else None
            term = book.terms.get(call.args[0]) if shown else None
            if not term or term.translate != "no" or document.lang != "zh":
                continue
            if not any(
                fold(label) in fold(str(shown))
                for label in (*labels(term, "en"), *labels(term, "zh"))
            ):
                yield Problem(
                    document.file,
                    document.at(call.line),
                    f"{shown!r} stands for a term that stays English",
                    f"Write {term.en.preferred}",
                )


def forbidden(book: Book) -> Iterable[Problem]:
    """A text uses a word that the glossary replaces by another."""
    unwanted = [(term, entry) for term in book.terms.values() for entry in term.forbidden]
    for lang in LANGS:
        instead = {
            fold(entry.term): (term, entry.use)
            for term, entry in unwanted
            if entry.lang in (None, lang)
        }
        names = {label for term in book.terms.values() for label in labels(term, lang)}
        any_name = _any_of(names | {entry.term for _, entry in unwanted})
        for document in documents(book, ("page", "decision", "term", "lab")):
            if document.lang != lang or not instead:
                continue
            for number, line in document.markdown.lines():
                for match in any_name.matches(
                    line
                ):  # the longest name wins, so a right one may hold a wrong one
                    if fold(match[0]) in instead:
                        term, use = instead[fold(match[0])]
                        yield Problem(
                            document.file,
                            document.at(number),
                            f"the glossary does not use {match[0]!r} (glossary/{term.path.name})",
                            f"Use {use} instead",
                        )


def _any_of(labels: Iterable[str]) -> Names:
    """Finds the longest label at each place: whole words in Latin letters, anywhere in Chinese."""
    patterns = {}
    for label in sorted(labels, key=len, reverse=True):
        before = r"(?<![A-Za-z0-9_])" if re.match(r"[A-Za-z0-9_]", label) else ""
        after = r"(?![A-Za-z0-9_])" if re.search(r"[A-Za-z0-9_]$", label) else ""
        patterns[label] = f"{before}{re.escape(label)}{after}"
    return Names(patterns, re.IGNORECASE)
