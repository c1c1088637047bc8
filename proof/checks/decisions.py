"""One decision, one number, two languages; links between decisions go both ways and never round."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from proof.book.model import LANGS, Book, Decision
from proof.pages.words import word
from proof.problem import Problem, nearest
from proof.text.documents import Document, documents, place, text_of
from proof.text.markdown import read

STATUSES = ("proposed", "accepted", "rejected", "deprecated", "superseded")
SECTIONS = ("context", "drivers", "options", "outcome", "consequences", "confirmation")
MENTION = re.compile(r"(?<![A-Za-z0-9])ADR[-\s]?(\d+)(?![\d.])")
SAID = re.compile(r"supersed|replaced by|取代|废止|作废", re.IGNORECASE)


def _problem(book: Book, decision: Decision, at: str | int, what: str, fix: str) -> Problem:
    """A problem at a key of the front matter, or in a line of the body."""
    line = decision.line(at) if isinstance(at, str) else decision.body_line + at - 1
    return Problem(place(book, decision.path), line, what, fix)


def numbers(book: Book) -> Iterable[Problem]:
    """Two decisions share a number, however it is written."""
    folder = book.root / "adr"
    taken: dict[int, str] = {}
    told = {problem.file for problem in book.problems}
    for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        match = re.match(r"(\d+)-(.+?)(?:\.(?:zh|en))?\.md$", path.name)
        if not match:
            continue
        slug = re.sub(r"(\.(?:zh|en))?\.md$", "", path.name)
        first = taken.setdefault(int(match[1]), slug)
        if slug != first and place(book, path) not in told:
            yield Problem(
                place(book, path),
                1,
                f"the number {int(match[1])} is that of {first} already, and this is {slug}",
                "Take the next free number; both languages of one decision share number and words",
            )


def forms(book: Book) -> Iterable[Problem]:
    """A decision lacks a language or a section, or its halves, its heading or its status say something else."""
    for (number, lang), decision in book.decisions.items():
        other = book.decisions.get((number, LANGS[1 - LANGS.index(lang)]))
        if other is None:
            other_lang = LANGS[1 - LANGS.index(lang)]
            yield Problem(
                place(book, decision.path),
                1,
                f"decision {number} has no {other_lang} half",
                f"Write adr/{decision.slug}.{other_lang}.md: every decision exists in both languages",
            )
        elif lang == "en":
            for name in ("status", "date", "supersedes", "superseded_by"):
                here, there = getattr(decision, name), getattr(other, name)
                if here != there:
                    said = f"{name} is {_plain(here)} here and {_plain(there)} in {place(book, other.path)}"
                    yield _problem(book, decision, name, said, "Make both languages agree")
        if decision.status not in STATUSES:
            yield _problem(book, decision, "status", f"{decision.status!r} is not a status", _suggest(decision.status))
        headings = read(decision.body).headings
        ids = {heading.id for heading in headings}
        missing = [section for section in SECTIONS if section not in ids]
        if missing:
            fix = f"The sections are {', '.join(f'{{ #{name} }}' for name in SECTIONS)}"
            yield _problem(book, decision, 1, f"the sections {', '.join(missing)} are missing", fix)
        for heading in headings:
            for mention in MENTION.findall(heading.text) if heading.level == 1 else ():
                if mention != number:
                    yield _problem(
                        book, decision, heading.line, f"the heading says {mention}, the file {number}", "Agree"
                    )


def _plain(value: object) -> str:
    return "nothing" if value in (None, ()) else ", ".join(value) if isinstance(value, tuple) else str(value)


def _suggest(status: str) -> str:
    trimmed = status.strip().lower()
    chinese = {word("zh", name): name for name in STATUSES}
    best = trimmed if trimmed in STATUSES else next((en for zh, en in chinese.items() if zh[-2:] in status), None)
    if best:
        return f"Write status: {best}. Statuses are lower case, with nothing around them"
    return f"{nearest(trimmed, STATUSES)}. One of {', '.join(STATUSES)}, lower case, with nothing around it"


def succession(book: Book) -> Iterable[Problem]:
    """A link between decisions goes one way, round, nowhere, or to one that decides nothing."""
    for (number, lang), decision in book.decisions.items():
        same = {n: d for (n, of), d in book.decisions.items() if of == lang}
        by = decision.superseded_by
        if (decision.status == "superseded") != (by is not None):
            what = f"superseded_by is {by}, but the status is {decision.status}" if by else "superseded, but by nothing"
            yield _problem(
                book, decision, "status", what, "A superseded decision names its successor, and only it does"
            )
        for key, linked in (("superseded_by", by), *(("supersedes", old) for old in decision.supersedes)):
            if linked is not None and linked not in same:
                yield _problem(book, decision, key, f"decision {linked} does not exist", nearest(linked, same))
        if by in same and number not in same[by].supersedes:
            fix = f"Write supersedes: [{number}] in {place(book, same[by].path)}, or take this link out"
            yield _problem(book, decision, "superseded_by", f"{by} does not say that it supersedes {number}", fix)
        for old in decision.supersedes:
            if old in same and same[old].superseded_by != number:
                fix = f"Write superseded_by: {number} in {place(book, same[old].path)}, or take this link out"
                yield _problem(book, decision, "supersedes", f"{old} does not say that {number} supersedes it", fix)
        if by in same and same[by].status in ("proposed", "rejected"):
            fix = "Accept the successor first; until then this one holds"
            yield _problem(book, decision, "superseded_by", f"{by} is only {same[by].status}", fix)
        if by in same and (ring := _ring(number, same)):
            what = f"the succession goes round: {' → '.join(ring)}"
            yield _problem(
                book, decision, "superseded_by", what, "A later decision supersedes an earlier one, never back"
            )


def _ring(number: str, same: dict[str, Decision]) -> list[str]:
    path = [number]
    while (by := same[path[-1]].superseded_by) in same:
        path.append(by)
        if by == number:
            return path
        if path.count(by) > 1:
            return []
    return []


def mentions(book: Book) -> Iterable[Problem]:
    """A text speaks of a decision that does not exist, or of a superseded one as if it held."""
    there = {number for number, _ in book.decisions}
    for document in documents(book):
        own = re.match(r"adr/(\d{4})-", document.name)
        lines = document.markdown.text.split("\n")
        for line, number in _mentioned(document):
            at = document.file, document.at(line)
            decision = book.decisions.get((number, document.lang))
            if number not in there and f"ADR-{number}" in document.markdown.prose:
                yield Problem(*at, f"ADR-{number} does not exist", nearest(number, there))
            elif decision and decision.status == "superseded" and not SAID.search(lines[line - 1]):
                if own and (own[1] == number or own[1] == decision.superseded_by):
                    continue
                fix = f"Speak of ADR-{decision.superseded_by}, or say in this line that it is superseded (取代)"
                yield Problem(*at, f"ADR-{number} is superseded by ADR-{decision.superseded_by}", fix)
        for link in document.markdown.links:
            said, leads = MENTION.search(link.text), re.search(r"adr/(\d{4})-|^(\d{4})-", link.target)
            if said and leads and said[1] != (leads[1] or leads[2]):
                what = f"the link says ADR-{said[1]} and leads to {leads[1] or leads[2]}"
                yield Problem(document.file, document.at(link.line), what, "Make text and target agree")


def _mentioned(document: Document) -> Iterator[tuple[int, str]]:
    for line, prose in document.markdown.lines():
        yield from ((line, number) for number in MENTION.findall(prose))
    for call in document.calls:
        if call.name == "adr" and call.args and re.fullmatch(r"\d{4}", call.args[0]):
            yield call.line, call.args[0]


def confirmations(book: Book) -> Iterable[Problem]:
    """The section that says how compliance is confirmed names no test, or one that is not there."""
    for decision in book.decisions.values():
        markdown = read(decision.body)
        lines = decision.body.split("\n")
        start = next((h.line for h in markdown.headings if h.id == "confirmation"), None)
        if start is None:
            continue
        end = next((h.line for h in markdown.headings if h.line > start), len(lines) + 1)
        named = [
            (number, *name)
            for number, line in enumerate(lines[start : end - 1], start + 1)
            for name in re.findall(r"(tests/[\w./-]*\w)(?:::(\w+))?", line)
        ]
        if not named:
            fix = "Name it by path, such as tests/docs/test_pages.py"
            yield _problem(book, decision, start, "the confirmation names no test", fix)
        for line, path, test in named:
            target = book.root / path
            if not target.exists():
                yield _problem(book, decision, line, f"{path} does not exist", "Name the test that holds this decision")
            elif test and not re.search(rf"^\s*(?:async )?(?:def|class) {test}\b", text_of(target), re.MULTILINE):
                yield _problem(book, decision, line, f"{path} has no {test}", "Name the test that holds this decision")
