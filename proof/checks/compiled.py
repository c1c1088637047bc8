"""What the compiler made of the labs: nothing that fails undeclared, nothing edited; before a release, of today's labs."""

from __future__ import annotations

from collections.abc import Iterable

from proof.book.model import Book
from proof.evidence import compiled as filed
from proof.problem import Problem
from proof.text.documents import documents, place
from proof.text.macros import Call


def faults(book: Book) -> Iterable[Problem]:
    """A kernel that does not compile or fits nowhere, a launch that was not seen; a result that nobody filed."""
    for stem, compiled in book.compiled.items():
        file, again = place(book, compiled.path), f"Run `proof compile {stem}`"
        if stem not in book.labs:
            yield Problem(
                file, 1, f"is of {stem}, which is not in labs/", "Delete it and its texts"
            )
            continue
        for name, sha256 in compiled.texts.items():
            if name not in compiled.assembly:
                yield Problem(file, 1, f"the text {name} is gone", again)
            elif filed.sha256(compiled.assembly[name]) != sha256:
                yield Problem(
                    f"{filed.FOLDER}/{name}",
                    1,
                    "is not what the compiler wrote",
                    f"{again}; it is never edited",
                )
        if not filed.stale(book, book.labs[stem]):
            fix = "Fix the lab, or let its launcher refuse that target, and run `proof compile`"
            yield from (
                Problem(file, 1, what, fix) for what in filed.faults(book.labs[stem], compiled)
            )


def stale(book: Book) -> Iterable[Problem]:
    """Only before a release: pages show what the compiler made of a lab, and it is not of today's lab."""
    shown = {
        name
        for document in documents(book)
        for call in document.calls
        for name in _labs(book, call)
    }
    for stem, lab in book.labs.items():
        if stem in shown and (why := filed.stale(book, lab)):
            yield Problem(
                place(book, lab.path),
                1,
                why,
                f"Run `proof compile {stem}` and commit {filed.FOLDER}/",
            )


def _labs(book: Book, call: Call) -> list[str]:
    """The labs of which a macro shows what the compiler made."""
    if call.name == "cards":
        return list(book.labs)
    return (
        [call.args[0].split(":")[0]] if call.name in ("assembly", "compiled") and call.args else []
    )
