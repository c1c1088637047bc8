"""What in a run contradicts itself or its lab, or cannot have been measured: asked before a record
is filed, and of those that are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from proof.book.model import Book, BugRow, Claim, Lab, Record, Row
from proof.evidence import plausible, state
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
    yield from own_faults(book, record)
    for what in plausible.unjudged(lab, record):
        yield what, "Free the memory of the GPU, and run the lab again"
    compiled = book.compiled.get(record.lab)
    if compiled and compiled.lab_sha256 == record.lab_sha256:
        for what in plausible.unlaunched(lab, compiled, record):
            yield what, AGAIN
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


def own_faults(book: Book, record: Record) -> Iterator[tuple[str, str]]:
    """What is wrong with a record whatever its lab is now, and how to fix it."""
    for what in plausible.contradictions(record):
        yield what, AGAIN
    if record.utc.date() > book.today:
        what = f"was run at {record.utc.isoformat()}, after today, {book.today}"
        yield what, "Set the clock of that machine"


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


def _undeclared(claim: Claim, row: Row) -> str:
    """What the row says otherwise than its lab; empty when nothing."""
    for name, argument in claim.arguments.items():
        declared_text = argument.text.removeprefix("torch.")
        shown = getattr(row, "arguments", {}).get(name, declared_text)
        if argument.value is not None and shown != declared_text:
            return f"the argument {name} is {shown}, the lab says {declared_text}"
    declared: dict[str, object] = {"kind": claim.kind, "bound": claim.bound, "why": claim.why}
    declared |= {"claim": claim.claim} if claim.kind == "bug" else {"judges": claim.judges}
    if claim.kind == "ratio":
        declared |= {"predicted": claim.predicted, "tolerance": claim.tolerance or None}
    for name, value in declared.items():
        if getattr(row, name, None) != value:
            return f"{name} is {getattr(row, name, None)!r}, the lab says {value!r}"
    return ""
