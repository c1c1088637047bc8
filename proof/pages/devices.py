"""The page of lab × device: what ran where, what speeds each card reached, what stands out, how to send a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proof.book.labwords import words
from proof.book.model import Book, Claim, Lab, Lang, Record, Standing
from proof.evidence import order, state
from proof.evidence.state import current, tally
from proof.pages.format import device_short
from proof.pages.render import render

FAR = 4  # an error this many times that on the reference card stands out, though it be within its bound
NO_CARDS = ("interpreter", "compiler")


@dataclass(frozen=True)
class Cell:
    """The newest run of a lab on a class of devices."""

    record: Record | None
    counts: bool  # whether it is of today's lab
    passed: int = 0  # with those that only miss a bound on speed
    judged: int = 0
    outliers: int = 0


def devices_page(book: Book, lang: Lang) -> str:
    """/devices/: the matrix, the speeds against their ceilings, the outliers."""
    newest, outliers = _newest(book), outlying(book)
    records = {record.device_class: record for record in newest.values()}
    classes = sorted(records, key=lambda of: (of in NO_CARDS, of != state.REFERENCE, of))
    cards = [of for of in classes if of not in NO_CARDS]
    labs = [
        (
            lab,
            words(book, lab, lang).title,
            [_cell(lab, newest.get((of, lab.stem)), outliers) for of in classes],
        )
        for lab in order.labs(book)
    ]
    return render(
        "devices",
        lang,
        "../",
        names={of: device_short(records[of], lang) for of in classes},
        cards=cards,
        labs=labs,
        speeds=list(_speeds(book, cards)),
        outliers=outliers,
        far=FAR,
    )


def outlying(book: Book) -> list[Standing]:
    """Claims that stand out on some card: a ratio under its bound, or an error far above the reference card's."""
    found = []
    for claim in book.claims.values():
        seen = [s for s in _passing(book, claim) if s.record and s.record.is_gpu]
        found += [s for s in seen if _is_below(s) or _is_far(s, seen)]
    return found


def _newest(book: Book) -> dict[tuple[str, str], Record]:
    """Device class and lab → the newest run of the lab as it stands; else its newest run."""
    found: dict[tuple[str, str], Record] = {}
    for record in sorted(book.records, key=lambda r: r.utc):
        key, lab = (record.device_class, record.lab), book.labs.get(record.lab)
        if lab and (current(lab, record) or key not in found or not current(lab, found[key])):
            found[key] = record
    return found


def _cell(lab: Lab, record: Record | None, outliers: list[Standing]) -> Cell:
    if record is None or not current(lab, record):
        return Cell(record, counts=False)
    passed, failed, _ = tally(lab, record)
    here = [standing for standing in outliers if standing.record is record]
    below = sum(map(_is_below, here))
    return Cell(record, True, passed + below, passed + failed, len(here))


def _speeds(book: Book, cards: list[str]) -> Iterable[tuple[Claim, dict[str, Standing]]]:
    """Each ratio that a card has reached, with its standings by class of devices."""
    for claim in book.claims.values():
        if claim.kind == "ratio":
            on = {s.record.device_class: s for s in _passing(book, claim) if s.record}
            if any(of in on for of in cards):
                yield claim, on


def _passing(book: Book, claim: Claim) -> list[Standing]:
    standings = state.standings(book, claim.id)
    return [s for s in standings if s.record and s.state in state.PASSING]


def _is_far(standing: Standing, seen: list[Standing]) -> bool:
    """Whether an error is far above that on the reference card."""
    on_reference = (s for s in seen if s.record and s.record.device_class == state.REFERENCE)
    reference = next(on_reference, None)
    if standing.claim.kind != "error" or reference is None or standing is reference:
        return False
    return _value(standing) > max(FAR * _value(reference), 0)


def _is_below(standing: Standing) -> bool:
    row, record = standing.row, standing.record
    return row is not None and record is not None and state.below(standing.claim, row, record)


def _value(standing: Standing) -> float:
    value = standing.row.value if standing.row else None
    return float(value) if isinstance(value, int | float) else 0.0
