"""One decision exists in both languages, with the same sections; links between decisions go both ways; a test holds it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from proof.book.model import LANGS, Book, Decision
from proof.problem import Problem, nearest
from proof.text.documents import place, text_of
from proof.text.markdown import read

SECTIONS = ["context", "drivers", "options", "outcome", "consequences", "confirmation"]
SAME = ("slug", "status", "date", "supersedes", "superseded_by")  # in both languages
NAMED_TEST = re.compile(r"(tests/[\w./-]*\w)(?:::(\w+))?")


def _problem(book: Book, decision: Decision, line: int, what: str, fix: str) -> Problem:
    return Problem(place(book, decision.path), line, what, fix)


def halves(book: Book) -> Iterable[Problem]:
    """A decision lacks a language, or its two halves differ in name, front matter or sections."""
    for (number, lang), decision in book.decisions.items():
        other_lang = LANGS[1 - LANGS.index(lang)]
        other = book.decisions.get((number, other_lang))
        if other is None:
            fix = f"Write adr/{decision.slug}.{other_lang}.md: every decision exists in both languages"
            yield _problem(book, decision, 1, f"decision {number} has no {other_lang} half", fix)
        elif lang == "en":
            for key in SAME:
                if getattr(decision, key) != getattr(other, key):
                    what = f"{key} is another than in {place(book, other.path)}"
                    yield _problem(
                        book, decision, decision.line(key), what, "Make both languages agree"
                    )
        ids = [heading.id for heading in read(decision.body).headings if heading.level == 2]
        if ids != SECTIONS:
            what = f"the sections are {', '.join(str(id) for id in ids) or 'none'}"
            yield _problem(
                book,
                decision,
                decision.body_line,
                what,
                f"They are {', '.join(SECTIONS)}, by their ids",
            )


def succession(book: Book) -> Iterable[Problem]:
    """A link between decisions leads nowhere or goes one way, or the status does not say so."""
    for (number, lang), decision in book.decisions.items():
        successor = decision.superseded_by
        if (decision.status == "superseded") != (successor is not None):
            what = f"the status is {decision.status}, and superseded_by is {successor or 'empty'}"
            fix = "A superseded decision names its successor, and only it does"
            yield _problem(book, decision, decision.line("status"), what, fix)
        for key, back in (("supersedes", "superseded_by"), ("superseded_by", "supersedes")):
            for linked in _links(decision, key):
                other = book.decisions.get((linked, lang))
                if other is None:
                    fix = nearest(linked, {known for known, _ in book.decisions})
                    yield _problem(
                        book, decision, decision.line(key), f"decision {linked} does not exist", fix
                    )
                elif number not in _links(other, back):
                    what = f"{linked} does not name {number} in {back}"
                    yield _problem(
                        book,
                        decision,
                        decision.line(key),
                        what,
                        "Name it there, or take this link out",
                    )


def _links(decision: Decision, key: str) -> tuple[str, ...]:
    if key == "supersedes":
        return decision.supersedes
    return (decision.superseded_by,) if decision.superseded_by else ()


def confirmations(book: Book) -> Iterable[Problem]:
    """The last section, which says how compliance is confirmed, names no test, or one that is not there."""
    for decision in book.decisions.values():
        fix = "Name the test that holds this decision by its path, such as tests/docs/test_pages.py"
        confirmation = next(
            (h for h in read(decision.body).headings if h.id == "confirmation"), None
        )
        if confirmation is None:
            continue
        lines = list(enumerate(decision.body.split("\n"), decision.body_line))[confirmation.line :]
        tests = [(line, *match) for line, text in lines for match in NAMED_TEST.findall(text)]
        if not tests:
            line = decision.body_line + confirmation.line - 1
            yield _problem(book, decision, line, "the confirmation names no test", fix)
        for line, path, name in tests:
            file = book.root / path
            if not file.exists():
                yield _problem(book, decision, line, f"{path} does not exist", fix)
            elif name and not re.search(
                rf"^\s*(?:async )?(?:def|class) {name}\b", text_of(file), re.MULTILINE
            ):
                yield _problem(book, decision, line, f"{path} has no {name}", fix)
