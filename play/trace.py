"""A run as data that the page draws: tensors as rows of cells, and what each program did to them.

Everything is plain JSON. Long tensors are cut to a window of cells, and accesses to what lies in
it, so the size of a trace is bounded whatever ran.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from play.memory import Access, Finding, Log, Program, Storage
from play.messages import LANGS, Message
from play.report import Report

CELLS = 2_000  # of all tensors together that are drawn
ACCESSES = 20_000  # that are kept
BEYOND = 32  # cells before the start and past the end that are drawn where programs went there
WIDTH = 16  # cells in a row of a tensor with one axis

Run = tuple[int, int, int]  # first position, step, count
Value = int | float | str  # "?" is undefined; "nan", "inf" and "-inf" are no numbers in JSON


@dataclass(frozen=True)
class TensorTrace:
    """One tensor: its window of cells [first, end), in the order of memory, `width` in a row."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: int  # elements of its memory
    width: int
    first: int  # negative where a program went before the start
    end: int  # above `size` where a program went past the end
    initial: list[Value]  # of positions max(first, 0) to min(end, size)
    blank: list[Run]  # what held no value before the first launch
    gaps: list[Run]  # what belongs to no element
    unwritten: list[Run]  # what no program has written in the end


@dataclass(frozen=True)
class AccessTrace:
    """One load, store or atomic operation: its lanes in the window, and how many in all."""

    line: int
    kind: str
    tensor: int
    cells: list[Run]
    lanes: int  # that took part
    masked: int  # that the mask kept out
    values: list[Value] | None  # what was written into the cells


@dataclass(frozen=True)
class Step:
    """What one program did."""

    launch: int
    program: Program
    accesses: list[AccessTrace]


@dataclass(frozen=True)
class Launch:
    kernel: str
    grid: Program


@dataclass(frozen=True)
class Fault:
    """A finding, with the cells in the window and a sentence in each language."""

    kind: str
    verb: str
    line: int
    tensor: int
    cells: list[Run]
    programs: list[Program]
    texts: dict[str, str]


@dataclass(frozen=True)
class Said:
    """A sentence in each language, and the line that it is about."""

    line: int | None
    texts: dict[str, str]


@dataclass(frozen=True)
class Trace:
    """A whole run."""

    ok: bool
    launches: list[Launch]
    tensors: list[TensorTrace]
    steps: list[Step]
    left_out: int  # accesses that are not among the steps
    faults: list[Fault]
    messages: list[Said]  # all that went wrong, the reason for stopping first
    unwritten: list[Said]
    printed: str
    cut: bool  # whether more was printed

    def json(self) -> str:
        return json.dumps(asdict(self), allow_nan=False, separators=(",", ":"))


def trace(report: Report, cells: int = CELLS) -> Trace:
    """The run as data, at most `cells` elements of its tensors.

    >>> trace(report).steps[0].accesses[0].cells
    [(0, 1, 4)]
    """
    log = report.log
    share = cells // max(1, len(log.storages))
    tensors = [_tensor(storage, log, share) for storage in log.storages]
    places = {id(storage): at for at, storage in enumerate(log.storages)}
    undefined = _undefined(log)
    kept = log.accesses[:ACCESSES]
    steps = [
        Step(launch, program, [_access(each, tensors, places, undefined) for each in accesses])
        for (launch, program), accesses in groupby(kept, key=_who)
    ]
    return Trace(
        report.ok,
        [Launch(kernel, grid) for kernel, grid in report.launches],
        tensors,
        steps,
        log.left_out + len(log.accesses) - len(kept),
        _faults(log, tensors),
        [_said(message) for message in report.messages],
        [_said(message) for message in report.unwritten()],
        report.printed,
        report.cut,
    )


def _who(access: Access) -> tuple[int, Program]:
    return access.launch, access.program


def _tensor(storage: Storage, log: Log, share: int) -> TensorTrace:
    """The window: from the start, or from the row above the first fault where that lies further."""
    size, width = len(storage.values), row_width(storage)
    faulty = [cell for finding in _findings_of(storage, log) for cell in finding.cells]
    first, end = 0, min(size, share)
    inside = [cell for cell in faulty if cell >= 0]
    if inside and min(inside) >= end:
        row = min(min(inside), size) // width
        first = max(0, min((row - 1) * width, size - share))
        end = min(size, first + share)
    if first == 0 and faulty and min(faulty) < 0:
        first = max(min(faulty), -BEYOND)
    if end == size and faulty and max(faulty) >= size:
        end = min(max(faulty) + 1, size + BEYOND)
    window = range(first, end)
    return TensorTrace(
        storage.name,
        str(storage.dtype),
        storage.shape,
        size,
        width,
        first,
        end,
        [shown(value) for value in storage.initial[max(first, 0) : min(end, size)]],
        runs(sorted(cell for cell in storage.blank if cell in window)),
        runs(sorted(cell for cell in storage.gaps if cell in window)),
        runs(sorted(cell for cell in storage.unwritten if cell in window)),
    )


def _findings_of(storage: Storage, log: Log) -> list[Finding]:
    return [finding for finding in log.findings.values() if finding.tensor == storage.name]


def row_width(storage: Storage) -> int:
    """How many cells make a row: the distance between rows of a matrix, else WIDTH."""
    if len(storage.shape) < 2 or math.prod(storage.shape) == 0:
        return WIDTH
    distances = [stride for stride in storage.strides if stride > 1]
    return min(distances, default=WIDTH)


def _undefined(log: Log) -> dict[tuple[str, int], set[int]]:
    """By tensor and line the cells into which an undefined value was written."""
    return {
        (finding.tensor, finding.line): finding.cells
        for finding in log.findings.values()
        if finding.kind == "undefined"
    }


def _access(
    access: Access,
    tensors: list[TensorTrace],
    places: dict[int, int],
    undefined: dict[tuple[str, int], set[int]],
) -> AccessTrace:
    at = places[id(access.storage)]
    window = range(tensors[at].first, tensors[at].end)
    lanes = [lane for lane, cell in enumerate(access.cells) if cell in window]
    cells = [access.cells[lane] for lane in lanes]
    values: list[Value] | None = None
    if access.values is not None:
        unknown = undefined.get((access.storage.name, access.line), set())
        written = [access.values[lane] for lane in lanes]
        values = [
            "?" if cell in unknown else shown(value)
            for cell, value in zip(cells, written, strict=True)
        ]
    count = len(access.cells)
    return AccessTrace(access.line, access.kind, at, runs(cells), count, access.masked, values)


def _faults(log: Log, tensors: list[TensorTrace]) -> list[Fault]:
    found = []
    for finding in log.findings.values():
        at = next(at for at, tensor in enumerate(tensors) if tensor.name == finding.tensor)
        window = range(tensors[at].first, tensors[at].end)
        cells = runs(sorted(cell for cell in finding.cells if cell in window))
        message = _said(finding.message)
        programs = list(finding.programs)
        found.append(
            Fault(finding.kind, finding.verb, finding.line, at, cells, programs, message.texts)
        )
    return found


def _said(message: Message) -> Said:
    return Said(message.line, {lang: message.with_line(lang) for lang in LANGS})


def runs(cells: Sequence[int]) -> list[Run]:
    """The positions in their order, as stretches of equal steps.

    >>> runs([0, 1, 2, 9, 16, 16])
    [(0, 1, 3), (9, 7, 2), (16, 1, 1)]
    """
    found: list[Run] = []
    for cell in cells:
        if found:
            first, step, count = found[-1]
            if count == 1 or cell == first + step * count:
                found[-1] = (first, cell - first if count == 1 else step, count + 1)
                continue
        found.append((cell, 1, 1))
    return found


def expand(stretches: Iterable[Run]) -> list[int]:
    """The positions that `runs` has put together."""
    return [first + step * at for first, step, count in stretches for at in range(count)]


def shown(value: Any) -> Value:
    """A value of memory as JSON can hold it: six significant digits, no NaN."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if not math.isfinite(value):
        return str(value)
    return float(f"{value:.6g}")
