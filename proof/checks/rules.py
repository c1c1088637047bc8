"""All CPU proofs that need no test runner: every rule over the book, and the built site. The rules lie in proof/checks/."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from proof.book.model import Book
from proof.checks import (
    address,
    compiled,
    decisions,
    drafts,
    exercises,
    filed,
    files,
    glossary,
    kernels,
    labs,
    links,
    markup,
    numbers,
    pages,
    parity,
    records,
    references,
    sources,
    versions,
)
from proof.checks.numbers import given_tally
from proof.checks.parity import parity_tally
from proof.checks.site import check_site
from proof.problem import Problem

__all__ = [
    "BEFORE_RELEASE",
    "RULES",
    "UNTIL_RELEASE",
    "check",
    "check_site",
    "given_tally",
    "parity_tally",
    "tally",
]

Rule = Callable[[Book], Iterable[Problem]]

RULES: tuple[Rule, ...] = (
    files.names,
    pages.twins,
    pages.headings,
    parity.differences,
    parity.drift,
    parity.reasons,
    numbers.typed,
    markup.front_matter,
    markup.leftovers,
    markup.lists,
    markup.line_breaks,
    markup.frames,
    links.dead,
    references.unknown,
    references.snippets,
    references.expansion,
    glossary.ambiguous,
    glossary.relations,
    glossary.untranslated,
    glossary.forbidden,
    decisions.halves,
    decisions.succession,
    decisions.confirmations,
    labs.faults,
    labs.memory,
    labs.words,
    labs.companions,
    exercises.faults,
    exercises.strays,
    kernels.fills,
    kernels.judges,
    sources.faults,
    records.contradictions,
    records.aged,
    filed.misnamed,
    filed.repeated,
    filed.lessened,
    filed.unknown_devices,
    filed.miscounted,
    compiled.faults,
)
BEFORE_RELEASE: tuple[Rule, ...] = (
    records.unproven,
    compiled.stale,
    drafts.unfinished,
    versions.unreleasable,
    address.unpublished,
)
UNTIL_RELEASE: tuple[Rule, ...] = (
    drafts.unwritten,
    versions.outdated,
    records.lost,
)  # warnings that are errors then


def check(book: Book, release: bool = False) -> list[Problem]:
    """What could not be read, then what each rule finds, by file and line, each finding once; with `release`, also what a release forbids."""
    problems = dict.fromkeys(book.problems)
    for rule in RULES + (BEFORE_RELEASE if release else UNTIL_RELEASE):
        problems |= dict.fromkeys(rule(book))
    return sorted(problems, key=lambda problem: (problem.warning, problem.file, problem.line))


def tally(book: Book) -> str:
    """What is excepted from the rules, in one line: each exception costs trust, so it is always shown."""
    reasons = parity_tally(book)
    places = "".join(f"\n  {file}:{line}: {reason}" for file, line, reason in reasons)
    numbers = f"{given_tally(book)} numbers marked as given by others"
    return f"{numbers} · {len(reasons)} exceptions from parity{places}"
