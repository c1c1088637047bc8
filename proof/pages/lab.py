"""What a lab's page and the lab macros show: card, claims, seeded bugs as diffs, devices, timings. Markdown text throughout."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from proof.book.labwords import reason, short, words
from proof.book.model import (
    Book,
    Bug,
    Claim,
    ErrorRow,
    Lab,
    LabWords,
    Lang,
    RatioRow,
    Record,
    Section,
    Standing,
    Timing,
)
from proof.book.translation import shown_lines
from proof.evidence import order, state
from proof.evidence.state import current, records_of, tally
from proof.pages.format import SHOWN, badge, shown_value, value_cell
from proof.pages.render import render
from proof.problem import Fault, where

STATES = (
    "contradicted",
    "stale-source",
    "stale-code",
    "stale-env",
    "pending",
    "aged",
    "valid",
)  # worst first


# Claims


@dataclass(frozen=True)
class ClaimRow:
    """What a row of a table of claims shows."""

    claim: Claim
    standing: Standing
    reason: str
    short: str = ""  # the id without its lab
    relative: float | None = None  # of an absolute error
    interpreter: Standing | None = None


def claims_table(book: Book, claims: Iterable[Claim], lang: Lang, up: str) -> str:
    """One row per claim and device class, GPUs first: what, value, relative, bound and its reason, device, state.

    `relative` is left out where no claim of the table is about an absolute error.
    """
    claims, rows = list(claims), []
    for claim in claims:
        standings = state.standings(book, claim.id)
        if claim.judges == "compile":  # the same wherever the compiler ran
            standings = [state.standing(book, claim.id)]
        for standing in sorted(
            standings, key=lambda s: s.record is not None and not s.record.is_gpu
        ):
            absolute = _is_absolute(claim) and shown_value(standing, lang) != "–"
            relative = (
                standing.row.max_rel_err
                if absolute and isinstance(standing.row, ErrorRow)
                else None
            )
            rows.append(ClaimRow(claim, standing, reason(book, claim, lang), relative=relative))
    return render("claims", lang, up, rows=rows, with_relative=any(map(_is_absolute, claims)))


def _is_absolute(claim: Claim) -> bool:
    return claim.id.endswith("abs_err")


def counts(book: Book, ids: Iterable[str]) -> Counter[str]:
    """How many claims are in which state."""
    return Counter(state.standing(book, claim).state for claim in ids)


def counts_line(found: Counter[str], lang: Lang) -> str:
    """3 claims: 2 valid, 1 not yet measured on a GPU."""
    in_order = [(name, found[name]) for name in STATES if found[name]]
    return render("counts", lang, "", total=found.total(), counts=in_order)


def _lab_claims(book: Book, lab: Lab, lang: Lang) -> list[ClaimRow]:
    return [
        ClaimRow(
            claim,
            state.standing(book, claim.id),
            reason(book, claim, lang),
            short(claim),
            interpreter=state.interpreter(book, claim.id),
        )
        for claim in lab.claims.values()
        if claim.kind != "bug"
    ]


# Seeded bugs


@dataclass(frozen=True)
class BugRow:
    """What pages show of a seeded bug."""

    bug: Bug
    claim: Claim  # that it is caught
    target: Claim  # that must fail
    target_short: str
    reason: str
    seen: list[str]  # what it did on a GPU and in the interpreter
    diff: str


def bug_text(book: Book, lab: Lab, bug: Bug, lang: Lang) -> str:
    """The bug as a unified diff of the lab's text, with the lab's line numbers.

    `patch` accepts it: the English one beside the lab, the Chinese one with the Chinese download's
    comments.

    Raises Fault if its text does not occur exactly once in its section.
    """
    line, text = lab.sections.get(bug.section, Section(1, ""))
    times = text.count(bug.old)
    if times != 1:
        what = f"the text of the seeded bug {bug.name!r} occurs {times} times in section {bug.section!r}"
        fix = "Change its text in BUGS so that the section holds it exactly once"
        raise Fault(what, fix, line=line, file=where(lab.path, book.root))
    changed = text.replace(bug.old, bug.new)
    old, new = (shown_lines(book, lab, each.splitlines(), lang) for each in (text, changed))
    name = f"{lab.stem}.py"
    lines = list(difflib.unified_diff(old, new, name, f"{name} ({bug.name})", lineterm="", n=2))
    shift = line - 1
    return "\n".join(
        re.sub(r"^@@ -(\d+)(.*?) \+(\d+)(.*?) @@$", lambda m: _moved(m, shift), each)
        for each in lines
    )


def _moved(m: re.Match[str], shift: int) -> str:
    return f"@@ -{int(m[1]) + shift}{m[2]} +{int(m[3]) + shift}{m[4]} @@"


def seen_parts(book: Book, claim: Claim, lang: Lang) -> list[str]:
    """What the bug did on a GPU and in the interpreter, each with its device, or the badge of its state."""
    gpu, interpreter = state.standing(book, claim.id), state.interpreter(book, claim.id)
    parts = [value_cell(gpu, lang) if gpu.state in SHOWN else badge(gpu, lang)]
    if interpreter is not None and interpreter.row is not None:
        visible = interpreter.state in SHOWN
        parts.append(
            value_cell(interpreter, lang) if visible else badge(interpreter, lang, on="interpreter")
        )
    return list(dict.fromkeys(parts))  # the compiler says the same wherever it ran


def _bug_row(book: Book, lab: Lab, bug: Bug, lang: Lang) -> BugRow:
    claim, target = lab.claims[f"{lab.name}.{bug.name}.bug"], lab.claims[bug.claim]
    return BugRow(
        bug,
        claim,
        target,
        short(target),
        reason(book, claim, lang),
        seen_parts(book, claim, lang),
        bug_text(book, lab, bug, lang),
    )


def bug_diff(book: Book, lab: Lab, bug: Bug, lang: Lang, up: str) -> str:
    """The diff, the claim that must fail and how, and what was seen where."""
    return render("bug", lang, up, row=_bug_row(book, lab, bug, lang))


# Devices and timings


@dataclass(frozen=True)
class RecordRow:
    """A run of the lab; `counts` are passed, failed and not judged, none where it is not of today's lab."""

    record: Record
    counts: tuple[int, ...]


def _device_rows(book: Book, lab: Lab) -> list[RecordRow]:
    return [
        RecordRow(record, tuple(tally(lab, record)) if current(lab, record) else ())
        for record in records_of(book, lab)
    ]


def _timings(book: Book, lab: Lab) -> list[tuple[Standing, Timing]]:
    """Every timing behind a ratio that readers may see."""
    ratios = [state.standing(book, c.id) for c in lab.claims.values() if c.kind == "ratio"]
    return [
        (standing, timing)
        for standing in ratios
        if standing.state in SHOWN and standing.record and isinstance(standing.row, RatioRow)
        for timing in standing.row.timings
    ]


# The card, the head and the tail


def _peak(book: Book, lab: Lab) -> Standing | None:
    """The claim with the largest measured peak memory; none without a record that readers may see."""
    standings = [state.standing(book, claim) for claim in lab.claims]
    shown = [s for s in standings if s.state in SHOWN and s.row and s.record and s.record.is_gpu]
    most = max(shown, key=_peak_mib, default=None)
    return most if most and _peak_mib(most) else None


def _peak_mib(standing: Standing) -> int:
    return standing.row.peak_mib if standing.row else 0


def lab_card(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    """Memory, cards, minutes, how to run, downloads: a table of two columns."""
    return render(
        "lab_card",
        lang,
        up,
        lab=lab,
        words=words(book, lab, lang),
        minutes=lab.card.get("Minutes", ""),
        peak=_peak(book, lab),
        bench=any(claim.kind == "ratio" for claim in lab.claims.values()),
    )


@dataclass(frozen=True)
class LabRow:
    """A lab in the table of labs."""

    lab: Lab
    words: LabWords
    minutes: str
    counts: str


def labs_table(book: Book, lang: Lang, up: str) -> str:
    """The labs that exist: name, sentence, minutes, where their claims stand."""
    rows = [
        LabRow(
            lab,
            words(book, lab, lang),
            lab.card.get("Minutes", ""),
            counts_line(counts(book, lab.claims), lang),
        )
        for lab in order.labs(book)
    ]
    return render("labs", lang, up, rows=rows)


def lab_head(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    """What stands above the recorded run: title, sentence, card, claims, seeded bugs, devices, timings."""
    standings = [state.standing(book, claim) for claim in lab.claims]
    return render(
        "lab_head",
        lang,
        up,
        lab=lab,
        words=words(book, lab, lang),
        counts=counts_line(counts(book, lab.claims), lang),
        contradicted=[s for s in standings if s.state == "contradicted"],
        card=lab_card(book, lab, lang, up),
        claims=_lab_claims(book, lab, lang),
        bugs=[_bug_row(book, lab, bug, lang) for bug in lab.bugs.values()],
        records=_device_rows(book, lab),
        timings=_timings(book, lab),
    )


def lab_tail(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    """What stands below the recorded run: downloads, and how to send a record from another card."""
    has_cards = any(page.name == "cards.md" for page in book.pages)
    return render("lab_tail", lang, up, lab=lab, has_cards=has_cards)
