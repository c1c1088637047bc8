"""The filed result of `proof compile`: what it says of a lab, whether it is of today's lab, and
what in it is wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from proof.book.model import Book, Cell, Compiled, Lab, Launch, Made, NotMade, TargetName
from proof.evidence.targets import TARGETS
from proof.text.macros import readable_calls
from proof.text.markdown import read

STATES = FITS, TOO_LARGE, NOT_OFFERED, FAILED = "fits", "too large", "not offered here", "failed"
FOLDER = "labs/compiled"


def stale(book: Book, lab: Lab) -> str:
    """Why what is filed says nothing of today's lab; empty when it does."""
    compiled = book.compiled.get(lab.stem)
    if compiled is None:
        return "it has not been compiled"
    if compiled.lab_sha256 != lab.sha256:
        return "the lab has changed since it was compiled"
    pin = book.pinned_triton
    if pin and compiled.triton != pin:
        return f"it was compiled by Triton {compiled.triton}, and the project pins {pin}"
    return ""


# Cells


def ordered(launches: Iterable[Launch], kernel: str, target: str, of: str = "") -> list[Launch]:
    """The launches of a kernel on a target in the lab's order; of one claim, if given."""
    places = [
        (launch.targets[name], launch)
        for launch in launches
        for name in launch.targets
        if name == target and launch.kernel == kernel and (not of or of in launch.claims)
    ]
    return [launch for _, launch in sorted(places, key=lambda each: each[0])]


def figure(cell: Cell, name: str) -> int | str:
    """One figure of a cell by its name: registers, "load 16", ex2. Raises LookupError with those
    that it has.
    """
    if name == "state":
        return cell.state
    figures = _figures(cell)
    if name in figures:
        return figures[name]
    raise LookupError(f"it has {', '.join(figures)}")


def _figures(cell: Cell) -> dict[str, int | str]:
    if isinstance(cell, NotMade):
        return {"why": cell.why}
    names = (
        "shared_bytes",
        "registers",
        "agprs",
        "sgprs",
        "spill_bytes",
        "spilled_registers",
        "stack_bytes",
    )
    figures: dict[str, int | str] = {
        name: getattr(cell, name) for name in names if name in cell.model_fields_set
    }
    for kind in cell.code:
        figures |= {f"{kind} {key}".strip(): count for key, count in cell.counts(kind).items()}
    return figures


# Texts


@dataclass(frozen=True)
class Asked:
    """The assembly of one launch that a page shows."""

    lab: str
    kernel: str
    target: str
    of: str = ""  # the claim whose first launch it is; empty for the kernel's first

    @property
    def file(self) -> str:
        kind = "ptx" if TARGETS[self.target].vendor == "nvidia" else "amdgcn"
        return ".".join(filter(None, (self.lab, self.kernel, self.of, self.target, kind)))


def asked(book: Book) -> list[Asked]:
    """What the pages ask for, each once."""
    asked: dict[Asked, None] = {}
    for page in book.pages:
        for call in readable_calls(read(page.text)):
            if call.name == "assembly" and call.args:
                lab, _, kernel = call.args[0].partition(":")
                of = call.options.get("of", "")
                asked |= {
                    Asked(lab, kernel, target, of): None
                    for target in call.args[1:]
                    if target in TARGETS
                }
    return list(asked)


# What is wrong


def declares(lab: Lab, target: str) -> bool:
    """Whether the lab's Card line promises cards of this maker; one that names no maker promises
    all.
    """
    makers = {"nvidia": "NVIDIA", "amd": "AMD"}
    named = [maker for maker, name in makers.items() if name in lab.card.get("GPU", "")]
    return TARGETS[target].vendor in (named or makers)


def about_the_compiler(lab: Lab, claims: Iterable[str]) -> bool:
    """Whether only claims that the compiler judges launch so: then what it must say is in them, and
    may be a refusal.
    """
    judged = [lab.claims.get(f"{lab.name}.{claim}") for claim in claims]
    return all(claim is not None and claim.judges == "compile" for claim in judged)


def faults(lab: Lab, compiled: Compiled, targets: Sequence[str] = tuple(TARGETS)) -> list[str]:
    """What in a result is not as it must be, each in a sentence that names the kernel or claim."""
    return [
        *_stumbles(lab, compiled, targets),
        *_unexplained(lab, compiled, targets),
        *(
            fault
            for kernel in compiled.kernels
            for fault in _of_kernel(lab, compiled, kernel, targets)
        ),
    ]


def _stumbles(lab: Lab, compiled: Compiled, targets: Sequence[str]) -> Iterator[str]:
    """Claims that are refused everywhere, or cut short where they should launch something."""
    launched = _where_launched(compiled.launches)
    for stumble in compiled.stumbles:
        claim = lab.claims.get(f"{lab.name}.{stumble.claim}")
        computes = claim is not None and claim.kind in ("error", "ratio")
        others = [target for target in targets if target not in stumble.targets]
        what, where = f"the claim {stumble.claim}", ", ".join(stumble.targets)
        if stumble.how == "refused" and not others:
            yield f"{what} is refused on every target: {stumble.why}"
        elif stumble.how == "cut short" and others:
            if any(declares(lab, target) for target in stumble.targets):
                yield f"{what} fails on {where} and not on {', '.join(others)}: {stumble.why}"
        elif stumble.how == "cut short" and computes and stumble.claim not in launched:
            yield f"{what} launches nothing on {where}: {stumble.why}"


def _unexplained(lab: Lab, compiled: Compiled, targets: Sequence[str]) -> Iterator[str]:
    """Claims that launch something on some targets only, without a stumble that says why."""
    stumbled = {
        (stumble.claim, target) for stumble in compiled.stumbles for target in stumble.targets
    }
    for name, launched in _where_launched(compiled.launches).items():
        claim = lab.claims.get(f"{lab.name}.{name}")
        missing = [
            target
            for target in targets
            if target not in launched and (name, target) not in stumbled
        ]
        if missing and not (claim and claim.judges == "compile"):
            where, elsewhere = ", ".join(launched), ", ".join(missing)
            yield f"the claim {name} launches on {where} and, without a reason, not on {elsewhere}"


def _of_kernel(lab: Lab, compiled: Compiled, kernel: str, targets: Sequence[str]) -> Iterator[str]:
    """A kernel that is launched nowhere, does not compile, or fits nowhere."""
    launches = [launch for launch in compiled.launches if launch.kernel == kernel]
    if not launches:
        yield f"{kernel} is launched by no claim, so it was not compiled"
        return
    for target in targets:
        if not declares(lab, target):
            continue
        cells = _cells(launches, target)
        failed = [cell for cell in cells if isinstance(cell, NotMade) and cell.state == FAILED]
        too_large = [
            cell.shared_bytes
            for cell in cells
            if isinstance(cell, Made) and cell.state == TOO_LARGE
        ]
        if failed:
            count = f"{len(failed)} of {len(cells)} launches"
            yield f"{kernel} does not compile for {target}, {count}: {failed[0].why}"
        elif not cells:
            yield f"{kernel} is launched by no claim for {target}"
        elif too_large and all(cell.state != FITS for cell in cells):
            least, limit = min(too_large), TARGETS[target].shared_limit
            yield (
                f"{kernel} has no launch that fits {target}: "
                f"the smallest needs {least:,} bytes of shared memory, the limit is {limit:,}"
            )


def _cells(launches: Iterable[Launch], target: str) -> list[Cell]:
    return [cell for launch in launches for name, cell in launch.cells.items() if name == target]


def _where_launched(launches: Iterable[Launch]) -> dict[str, list[TargetName]]:
    """Claim → the targets on which it launches anything."""
    targets: dict[str, dict[TargetName, None]] = {}
    for launch in launches:
        for claim in launch.claims:
            targets.setdefault(claim, {}).update(dict.fromkeys(launch.targets))
    return {claim: list(where) for claim, where in targets.items()}


# Text of the file


def dump(compiled: Compiled) -> str:
    """The result as JSON that changes by lines: one for each launch and each cell."""

    def flat(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    data = compiled.model_dump(mode="json", exclude_unset=True)
    head = ",\n".join(
        f" {flat(key)}: {flat(value)}" for key, value in data.items() if key != "launches"
    )
    parts = []
    for launch in data["launches"]:
        cells = ",\n".join(
            f"   {flat(target)}: {flat(cell)}" for target, cell in launch["cells"].items()
        )
        rest = flat({key: value for key, value in launch.items() if key != "cells"})
        parts.append(f'  {rest[:-1]}, "cells": {{\n{cells}\n  }}}}')
    return f'{{\n{head},\n "launches": [\n' + ",\n".join(parts) + "\n ]\n}\n"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# The table


@dataclass(frozen=True)
class Summary:
    """One kernel on one target, over all its launches there."""

    kernel: str
    target: str
    states: dict[str, int]  # how many launches are in which state
    made: tuple[Made, ...]  # those that compiled
    why: str  # of one that is not offered, or does not compile

    def fitting(self) -> list[Made]:
        return [cell for cell in self.made if cell.state == FITS]

    def names(self, kind: str) -> list[str]:
        """The instructions of a kind, load, store, copy or tensor, that any launch has."""
        return list(dict.fromkeys(name for cell in self.made for name in cell.counts(kind)))


def summaries(compiled: Compiled) -> list[Summary]:
    """Kernel by kernel, target by target."""
    summaries = []
    for kernel in compiled.kernels:
        launches = [launch for launch in compiled.launches if launch.kernel == kernel]
        for target in TARGETS:
            cells = _cells(launches, target)
            counts = {state: sum(cell.state == state for cell in cells) for state in STATES}
            states = {state: count for state, count in counts.items() if count}
            why = next((cell.why for cell in cells if isinstance(cell, NotMade)), "")
            made = tuple(cell for cell in cells if isinstance(cell, Made))
            summaries.append(Summary(kernel, target, states, made, why))
    return summaries
