"""What in a run contradicts itself or its lab, or cannot have been measured: asked before a record is filed, and of those that are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from proof.book.model import Book, Claim, Lab, Record
from proof.evidence import state
from proof.problem import nearest


def faults(book: Book, lab: Lab, data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong, and how to fix it; `lab` is the lab as it was when it ran."""
    record = Record(Path(), data, True)
    again = "Run the lab as it is, whole, and give what it prints"
    if data["lab"] not in book.labs:
        yield f"is a run of {data['lab']}, which is not in labs/", nearest(data["lab"], book.labs)
        return
    if record.is_gpu and record.device_class in ("", "interpreter", "compiler"):
        yield f"the GPU is called {record.device['name']!r}", "Give the name that torch reports"
    if record.is_gpu and data["environment"]["switches"].get("TRITON_INTERPRET") not in (None, "0"):
        yield "names a GPU, but TRITON_INTERPRET was set", again
    try:
        if record.utc.date() > book.today + timedelta(days=1):  # a run may end after midnight
            yield f"was run at {data['utc']}, after today, {book.today}", "Set the clock of that machine"
    except ValueError:
        yield f"was run at {data['utc']}, which is no day", again
    for name in ("torch", "triton"):
        try:
            Version(data["environment"][name])
        except InvalidVersion:
            yield f"was run with {name} {data['environment'][name]}, which is no version", again
    ids = Counter(row["id"] for row in data["claims"])
    missing = [claim_id for claim_id in lab.claims if claim_id not in ids]
    unknown = [claim_id for claim_id in ids if claim_id not in lab.claims]
    for what, names in (("lacks", missing), ("has the unknown", unknown), ("repeats", [i for i in ids if ids[i] > 1])):
        if names:
            yield f"{what} {', '.join(names[:5])}{' …' if len(names) > 5 else ''}", again
    for row in data["claims"]:
        if row["id"] in lab.claims:
            yield from ((f"{row['id']}: {what}", again) for what in _row_faults(lab.claims[row["id"]], row, record))


def _row_faults(claim: Claim, row: dict[str, Any], record: Record) -> Iterator[str]:
    """What in a row is not as its lab declares, or cannot be."""
    for field in ("kind", "bound", "why", *(["claim"] if claim.kind == "bug" else ["judges"])):
        if row[field] != getattr(claim, field):
            yield f"{field} is {row[field]!r}, the lab says {getattr(claim, field)!r}"
            return
    seen = state.verdict(claim, row)
    if seen != row["verdict"]:
        yield f"the verdict is {row['verdict']}, its figures say {seen}"
    if claim.judges == "gpu" and not record.is_gpu and row["verdict"] != "-":
        yield f"only a GPU can judge it, and this ran on {record.device['name']}"
    figures = ("value", "max_abs_err", "max_rel_err", "scale", "low", "high")
    told = row["value"] if claim.kind == "bug" else row["verdict"]
    if told in ("ok", "-") and (gone := [name for name in figures if name in row and row[name] is None]):
        yield f"{gone[0]} is not finite, and yet the verdict is {told}"
    metric = claim.id.rpartition(".")[2]
    if claim.kind == "error" and "value" in row and row["value"] != row.get(metric, row["value"]):
        yield f"the value is {row['value']}, {metric} is {row[metric]}"
    if claim.kind == "ratio" and "low" in row and not (row["low"] or 0) <= (row["value"] or 0) <= (row["high"] or 0):
        yield f"the value {row['value']} lies outside its spread, {row['low']} to {row['high']}"
    yield from _impossible(claim, row)
    for timing in row.get("timings", ()):
        if not timing["p10_ms"] <= timing["median_ms"] <= timing["p90_ms"]:
            yield f"the percentiles of {timing['name']} are out of order"
    if row.get("peak_mib", 0) > record.device.get("memory_mib", float("inf")):
        yield f"{row['peak_mib']} MiB are more than the GPU has"


MOST = {"B": 1e14, "FLOP": 1e17}  # a second: an order of magnitude above any card of today


def _impossible(claim: Claim, row: dict[str, Any]) -> Iterator[str]:
    """What no machine can have measured: faster than any card, or a ratio that its own timings deny."""
    timings = row.get("timings", ())
    for timing in timings:
        rate = timing["work"] / timing["median_ms"] * 1e3
        if rate > MOST.get(timing["unit"], math.inf):
            yield f"{timing['name']} does {rate:.1e} {timing['unit']}/s, which no card can"
    if claim.kind == "ratio" and len(timings) == 2 and row.get("value"):
        ours, theirs = ((t["p10_ms"] / t["work"], t["p90_ms"] / t["work"]) for t in timings)
        speeds, times = (theirs[0] / ours[1], theirs[1] / ours[0]), (ours[0] / theirs[1], ours[1] / theirs[0])
        if not any(low / 2 <= row["value"] <= high * 2 for low, high in (speeds, times)):
            yield f"the value is {row['value']}, and its timings say {speeds[0]:.3g} to {speeds[1]:.3g}"
