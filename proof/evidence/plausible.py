"""What a record says that cannot be, whatever its lab was: asked of a new run, and on every check
of every record that is filed.

Whoever forges a record can make its name fit again. What they rarely make fit is everything else: a
ratio has its timings, a relative error its scale, a GPU its bandwidth, a launch its code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from proof.book.model import (
    BugRow,
    Compiled,
    Device,
    ErrorRow,
    JudgedRow,
    Lab,
    RatioRow,
    Record,
    Row,
    Timing,
)
from proof.evidence import devices

MOST = {"B": 1e14, "FLOP": 1e17}  # a second: an order of magnitude above any GPU of today
CACHED = 256 << 20  # bytes that a cache might hold: what is less may move faster than memory does
CACHE_GAIN = 4  # and at most this many times as fast
SLACK = 1.02  # clocks of GPUs differ a little
ROUNDING = 1e-6  # of a quotient of two figures that are both stored
RATIO_SLACK = 0.05  # of a ratio whose timings come from other rounds
FEWEST_DIGITS = 6  # a hash of fewer different digits is not a hash
ROOMY = 8  # a GPU with so many times the memory that a claim needs has room for it
NEEDS = re.compile(r"needs (?P<needed>\d+) GiB of GPU memory, (?P<free>\d+(?:\.\d+)?) are free")
NOT_AS_FILE = "needs the lab as a file: download it"


def contradictions(record: Record) -> Iterator[str]:
    """What is wrong with a record by itself, a sentence each."""
    yield from _device(record.device)
    yield from _kernels(record)
    for row in record.claims:
        yield from (f"{row.id}: {what}" for what in _row(row, record.device))


def unjudged(lab: Lab, record: Record) -> Iterator[str]:
    """The rows that a GPU left out without a reason that holds; `lab` is the lab as it ran."""
    bugs = [row for row in record.claims if isinstance(row, BugRow)]
    without_file = bool(bugs) and all(row.verdict == "-" for row in bugs)
    for row in record.claims if record.is_gpu else ():
        claim = lab.claims.get(row.id)
        if row.verdict != "-" or claim is None or (row.note == NOT_AS_FILE and without_file):
            continue
        needed = lab.claims[claim.claim].gib if claim.kind == "bug" else claim.gib
        if not _out_of_memory(needed, row.note, record.device):
            gpu = f"a GPU of {record.device.memory_mib} MiB"
            yield f"{row.id}: is not judged on {gpu}, and its reason is {row.note!r}"


def unlaunched(lab: Lab, compiled: Compiled, record: Record) -> Iterator[str]:
    """The kernels that claims of the lab launch, and that the record does not name."""
    if not record.is_gpu:
        return
    elsewhere = {stumble.claim for stumble in compiled.stumbles}  # in a process of their own
    judged = {row.id.partition(".")[2] for row in record.claims if _ran_here(lab, row)}
    ran = {kernel.kernel for kernel in record.kernels}
    for launch in compiled.launches:
        claims = judged & set(launch.claims) - elsewhere
        local = not re.search(rf"^def {launch.kernel}\(", lab.source, re.MULTILINE)
        if claims and not local and launch.kernel not in ran:
            yield f"{min(claims)} launches {launch.kernel}, which is not among the kernels that ran"
            ran.add(launch.kernel)


def _ran_here(lab: Lab, row: Row) -> bool:
    """Whether a claim was judged in the process that the record is of, on its GPU."""
    claim = lab.claims.get(row.id)
    return row.verdict != "-" and claim is not None and claim.judges != "compile"


def _out_of_memory(needed_gib: int, note: str, device: Device) -> bool:
    """Whether a GPU of this size can have been too full for a claim that needs so much."""
    if device.memory_mib > (max(needed_gib, 1) << 10) * ROOMY:
        return False
    said = NEEDS.fullmatch(note)
    if said:
        return int(said["needed"]) == needed_gib and float(said["free"]) < needed_gib
    return note.startswith("OutOfMemoryError: ")


def _device(device: Device) -> Iterator[str]:
    known = devices.find(device) if device.is_gpu else None
    if known is None:
        return
    if device.capability != known.capability:
        yield f"{device.name} has the capability {known.capability}, not {device.capability}"
    if device.sms not in known.sms:
        counts = " or ".join(map(str, known.sms))
        yield f"{device.name} has {counts} SMs, not {device.sms}"


def _kernels(record: Record) -> Iterator[str]:
    judged = any(row.verdict != "-" for row in record.claims)
    if record.is_gpu and judged and not record.kernels:
        yield "it was judged on a GPU, and names no kernel that ran there"
    for kernel in record.kernels:
        if len(set(kernel.code_sha256)) < FEWEST_DIGITS:
            yield f"the code of {kernel.kernel} has the hash {kernel.code_sha256}, which is none"
    variants = {str((k.kernel, k.signature, k.constants, k.num_warps)) for k in record.kernels}
    if len(variants) > 2 and len({kernel.code_sha256 for kernel in record.kernels}) == 1:
        yield f"{len(variants)} different launches have the same code"
    for name, sha256 in (("lesson", record.lab_sha256), ("judge", record.judge_sha256)):
        if len(set(sha256)) < FEWEST_DIGITS:
            yield f"the {name} has the hash {sha256}, which is none"


def _row(row: Row, device: Device) -> Iterator[str]:
    if isinstance(row, BugRow):
        return
    if isinstance(row, ErrorRow):
        yield from _error(row)
    if isinstance(row, RatioRow):
        yield from _ratio(row)
    if device.memory_mib and row.peak_mib > device.memory_mib:
        yield f"{row.peak_mib} MiB are more than the GPU has"
    yield from _timings(row, device)


def _error(row: ErrorRow) -> Iterator[str]:
    """The value is the figure that the claim is named after, and the figures fit each other."""
    metric = row.id.rpartition(".")[2]
    figure = row.figures.get(metric, row.value)
    if row.value != figure:
        yield f"the value is {row.value}, {metric} is {figure}"
    absolute, relative, scale = row.max_abs_err, row.max_rel_err, row.scale
    if absolute is None or relative is None or scale is None:
        return
    if scale and not math.isclose(absolute, relative * scale, rel_tol=ROUNDING, abs_tol=1e-300):
        product = f"{relative:.4g} of the scale {scale:.4g}"
        yield f"max_abs_err is {absolute:.4g}, and max_rel_err says {product}"


def _ratio(row: RatioRow) -> Iterator[str]:
    """The value lies in its own spread, and in what its two timings allow."""
    value, low, high = row.value, row.low, row.high
    if value is None or low is None or high is None:
        return
    if not low <= value <= high:
        yield f"the value {value} lies outside its spread, {low} to {high}"
    if len(row.timings) != 2 or value <= 0:
        return
    ours, theirs = row.timings
    spreads = [_spread(theirs, ours), _spread(ours, theirs)]  # of speeds, or of times
    fits = [
        lowest * (1 - RATIO_SLACK) <= value <= highest * (1 + RATIO_SLACK)
        for lowest, highest in spreads
    ]
    if not any(fits):
        lowest, highest = spreads[0]
        yield f"the value is {value}, and its timings say {lowest:.3g} to {highest:.3g}"


def _spread(above: Timing, below: Timing) -> tuple[float, float]:
    """The least and the most that the quotient of two times for the same work can be."""
    least = (above.p10_ms / above.work) / (below.p90_ms / below.work)
    most = (above.p90_ms / above.work) / (below.p10_ms / below.work)
    return least, most


def _timings(row: JudgedRow, device: Device) -> Iterator[str]:
    for timing in row.timings:
        most, who = _most(timing, device)
        if timing.rate > most:
            rate = f"{timing.rate:.1e} {timing.unit}/s"
            yield f"{timing.name} does {rate}, more than {who} can, {most:.1e}"
        slowest = timing.p90_ms if timing.p99_ms is None else timing.p99_ms
        if not timing.p10_ms <= timing.median_ms <= timing.p90_ms <= slowest:
            yield f"the percentiles of {timing.name} are out of order"


def _most(timing: Timing, device: Device) -> tuple[float, str]:
    """The most work a second that a timing can show, and of whom."""
    known = devices.find(device) if device.is_gpu else None
    limit = known.most(timing.unit) if known else None
    if limit is None:
        return MOST.get(timing.unit, math.inf), "any GPU"
    cached = timing.unit == "B" and timing.work < CACHED
    return limit * SLACK * (CACHE_GAIN if cached else 1), device.name
