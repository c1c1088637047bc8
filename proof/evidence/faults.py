"""What in a run contradicts itself or its lab, or cannot have been measured: asked before a record
is filed, and of those that are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

from packaging.version import InvalidVersion, Version

from proof.book.model import Book, BugRow, Claim, ErrorRow, JudgedRow, Lab, RatioRow, Record, Row
from proof.evidence import state
from proof.problem import nearest

AGAIN = "Run the lab as it is, whole, and give what it prints"


def faults(book: Book, lab: Lab, record: Record) -> Iterator[tuple[str, str]]:
    """What is wrong, and how to fix it; `lab` is the lab as it was when it ran."""
    if record.lab not in book.labs:
        yield f"is a run of {record.lab}, which is not in labs/", nearest(record.lab, book.labs)
        return
    if record.is_gpu and record.device_class in ("", "interpreter", "compiler"):
        yield f"the GPU is called {record.device.name!r}", "Give the name that torch reports"
    if record.is_gpu and record.environment.switches.get("TRITON_INTERPRET") not in (None, "0"):
        yield "names a GPU, but TRITON_INTERPRET was set", AGAIN
    if record.utc.date() > book.today + timedelta(days=1):  # a run may end after midnight
        yield (
            f"was run at {record.utc.isoformat()}, after today, {book.today}",
            "Set the clock of that machine",
        )
    for name, version in (
        ("torch", record.environment.torch),
        ("triton", record.environment.triton),
    ):
        try:
            Version(version)
        except InvalidVersion:
            yield f"was run with {name} {version}, which is no version", AGAIN
    ids = Counter(row.id for row in record.claims)
    missing = [claim_id for claim_id in lab.claims if claim_id not in ids]
    unknown = [claim_id for claim_id in ids if claim_id not in lab.claims]
    for what, names in (
        ("lacks", missing),
        ("has the unknown", unknown),
        ("repeats", [i for i in ids if ids[i] > 1]),
    ):
        if names:
            yield f"{what} {', '.join(names[:5])}{' …' if len(names) > 5 else ''}", AGAIN
    for row in record.claims:
        if row.id in lab.claims:
            yield from (
                (f"{row.id}: {what}", AGAIN)
                for what in _row_faults(lab.claims[row.id], row, record)
            )


def _row_faults(claim: Claim, row: Row, record: Record) -> Iterator[str]:
    """What in a row is not as its lab declares, or cannot be."""
    if difference := _undeclared(claim, row):
        yield difference
        return
    computed = state.verdict(claim, row)
    if computed != row.verdict:
        yield f"the verdict is {row.verdict}, its figures say {computed}"
    if claim.judges == "gpu" and not record.is_gpu and row.verdict != "-":
        yield f"only a GPU can judge it, and this ran on {record.device.name}"
    outcome = row.value if isinstance(row, BugRow) else row.verdict
    unknown = [name for name, figure in row.figures.items() if figure is None and name != "figure"]
    if outcome in ("ok", "-") and unknown:
        yield f"{unknown[0]} is not finite, and yet the verdict is {outcome}"
    if record.device.memory_mib and row.peak_mib > record.device.memory_mib:
        yield f"{row.peak_mib} MiB are more than the GPU has"
    if isinstance(row, ErrorRow):
        metric = claim.id.rpartition(".")[2]
        if row.value != row.figures.get(metric, row.value):
            yield f"the value is {row.value}, {metric} is {row.figures[metric]}"
    if isinstance(row, RatioRow) and not _within_spread(row):
        yield f"the value {row.value} lies outside its spread, {row.low} to {row.high}"
    if not isinstance(row, BugRow):
        yield from _impossible(row)


def _within_spread(row: RatioRow) -> bool:
    if row.value is None or row.low is None or row.high is None:
        return True
    return row.low <= row.value <= row.high


def _undeclared(claim: Claim, row: Row) -> str:
    """What the row says otherwise than its lab; empty when nothing."""
    declared: dict[str, object] = {"kind": claim.kind, "bound": claim.bound, "why": claim.why}
    declared |= {"claim": claim.claim} if claim.kind == "bug" else {"judges": claim.judges}
    if claim.kind == "ratio":
        declared |= {"predicted": claim.predicted, "tolerance": claim.tolerance or None}
    for name, value in declared.items():
        if getattr(row, name, None) != value:
            return f"{name} is {getattr(row, name, None)!r}, the lab says {value!r}"
    return ""


MOST = {"B": 1e14, "FLOP": 1e17}  # a second: an order of magnitude above any card of today


def _impossible(row: JudgedRow) -> Iterator[str]:
    """What no machine can have measured: faster than any card, or a ratio that its own timings
    deny.
    """
    for timing in row.timings:
        if timing.rate > MOST.get(timing.unit, math.inf):
            yield f"{timing.name} does {timing.rate:.1e} {timing.unit}/s, which no card can"
        if not timing.p10_ms <= timing.median_ms <= timing.p90_ms:
            yield f"the percentiles of {timing.name} are out of order"
    if isinstance(row, RatioRow) and len(row.timings) == 2 and row.value:
        ours, theirs = ((t.p10_ms / t.work, t.p90_ms / t.work) for t in row.timings)
        speeds, times = (
            (theirs[0] / ours[1], theirs[1] / ours[0]),
            (ours[0] / theirs[1], ours[1] / theirs[0]),
        )
        if not any(low / 2 <= row.value <= high * 2 for low, high in (speeds, times)):
            spread = f"{speeds[0]:.3g} to {speeds[1]:.3g}"
            yield f"the value is {row.value}, and its timings say {spread}"
