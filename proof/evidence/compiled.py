"""The filed result of `proof compile`: what it says of a lab, whether it is of today's lab, and what in it is wrong."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proof.book.lab import short_name
from proof.book.model import Book, Lab
from proof.evidence.targets import TARGETS
from proof.text.macros import readable_calls
from proof.text.markdown import read

FITS, TOO_LARGE, NOT_OFFERED, FAILED = "fits", "too large", "not offered here", "failed"
FOLDER = "labs/compiled"


def pinned_triton(root: Path) -> str:
    """The Triton that the project pins in pyproject.toml; empty where it pins none."""
    path = root / "pyproject.toml"
    pins = (
        tomllib.loads(path.read_text(encoding="utf-8")).get("dependency-groups", {}).get("labs", ())
        if path.is_file()
        else ()
    )
    return next((pin.split("==")[1].split(";")[0].strip() for pin in pins if pin.startswith("triton==")), "")


def stale(book: Book, lab: Lab) -> str:
    """Why what is filed says nothing of today's lab; empty when it does."""
    compiled = book.compiled.get(lab.stem)
    if compiled is None:
        return "it has not been compiled"
    if compiled.data["lab_sha256"] != lab.sha256:
        return "the lab has changed since it was compiled"
    pin = pinned_triton(book.root)
    if pin and compiled.data["triton"] != pin:
        return f"it was compiled by Triton {compiled.data['triton']}, and the project pins {pin}"
    return ""


# Cells


def ordered(launches: list[dict[str, Any]], kernel: str, target: str, of: str = "") -> list[dict[str, Any]]:
    """The launches of a kernel on a target in the lab's order; of one claim, if given."""
    here = [x for x in launches if x["kernel"] == kernel and target in x["targets"] and (not of or of in x["claims"])]
    return sorted(here, key=lambda launch: launch["targets"][target])


def figure(cell: dict[str, Any], name: str) -> int | str:
    """One figure of a cell by its name. Raises LookupError for one that it has not, with those that it has."""
    code = {
        f"{kind} {key}" if isinstance(found, dict) else kind: count
        for kind, found in cell.get("code", {}).items()
        for key, count in (found.items() if isinstance(found, dict) else [("", found)])
    }
    flat = {k: v for k, v in cell.items() if k not in ("code", "sha256", "state")} | code
    if name in flat:
        return flat[name]
    if name == "state":
        return cell["state"]
    raise LookupError(f"it has {', '.join(flat)}")


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
    found: dict[Asked, None] = {}
    for page in book.pages:
        for call in readable_calls(read(page.text)):
            if call.name == "assembly" and call.args:
                lab, _, kernel = call.args[0].partition(":")
                found |= {
                    Asked(lab, kernel, t, call.options.get("of", "")): None for t in call.args[1:] if t in TARGETS
                }
    return list(found)


# What is wrong


def declares(lab: Lab, target: str) -> bool:
    """Whether the lab's GPU line promises GPUs of this maker; one that names no maker promises all."""
    makers = {"nvidia": "NVIDIA", "amd": "AMD"}
    named = [maker for maker, name in makers.items() if name in lab.card.get("GPU", "")]
    return TARGETS[target].vendor in (named or makers)


def about_the_compiler(lab: Lab, launch: dict[str, Any]) -> bool:
    """Whether only claims that the compiler judges launch so: then what it must say stands there, and may be a refusal."""
    claims = [lab.claims.get(f"{short_name(lab.stem)}.{claim}") for claim in launch["claims"]]
    return all(claim is not None and claim.judges == "compile" for claim in claims)


def faults(lab: Lab, data: dict[str, Any], targets: Sequence[str] = tuple(TARGETS)) -> list[str]:
    """What in a result is not as it must be, each in a sentence that names the kernel or claim."""
    said = []
    for stumble in data["stumbles"]:
        claim = lab.claims.get(f"{short_name(lab.stem)}.{stumble['claim']}")
        launched = {t for launch in data["launches"] if stumble["claim"] in launch["claims"] for t in launch["targets"]}
        others = [t for t in targets if t not in stumble["targets"]]
        what, where = f"the claim {stumble['claim']}", ", ".join(stumble["targets"])
        if stumble["how"] == "refused" and not others:
            said.append(f"{what} is refused on every target: {stumble['why']}")
        elif stumble["how"] == "cut short" and others:
            if any(declares(lab, target) for target in stumble["targets"]):
                said.append(f"{what} fails on {where} and not on {', '.join(others)}: {stumble['why']}")
        elif stumble["how"] == "cut short" and claim and claim.kind in ("error", "ratio") and not launched:
            said.append(f"{what} launches nothing on {where}: {stumble['why']}")
    stumbled = {(stumble["claim"], target) for stumble in data["stumbles"] for target in stumble["targets"]}
    for claim, there in _where_launched(data["launches"]).items():
        judges = getattr(lab.claims.get(f"{short_name(lab.stem)}.{claim}"), "judges", "")
        missing = [t for t in targets if t not in there and (claim, t) not in stumbled]
        if missing and judges != "compile":
            said.append(
                f"the claim {claim} launches on {', '.join(there)} and, unsaid why, not on {', '.join(missing)}"
            )
    for kernel in data["kernels"]:
        mine = [launch for launch in data["launches"] if launch["kernel"] == kernel]
        if not mine:
            said.append(f"{kernel} is launched by no claim, so it was not compiled")
        for target in (t for t in targets if mine and declares(lab, t)):
            cells = [launch["cells"][target] for launch in mine if target in launch["cells"]]
            states = {cell["state"] for cell in cells}
            failed = [cell for cell in cells if cell["state"] == FAILED]
            if failed:
                said.append(
                    f"{kernel} does not compile for {target}, {len(failed)} of {len(cells)} launches: {failed[0]['why']}"
                )
            elif not cells:
                said.append(f"{kernel} is launched by no claim for {target}")
            elif FITS not in states and TOO_LARGE in states:
                least = min(cell["shared_bytes"] for cell in cells if cell["state"] == TOO_LARGE)
                limit = TARGETS[target].shared_limit
                said.append(
                    f"{kernel} has no launch that fits {target}: the smallest needs {least:,} bytes of shared memory, the limit is {limit:,}"
                )
    return said


def _where_launched(launches: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Claim → the targets on which it launches anything."""
    found: dict[str, dict[str, None]] = {}
    for launch in launches:
        for claim in launch["claims"]:
            found.setdefault(claim, {}).update(dict.fromkeys(launch["targets"]))
    return {claim: list(there) for claim, there in found.items()}


# Text of the file


def dump(data: dict[str, Any]) -> str:
    """The result as JSON that changes by lines: one for each launch and each cell."""

    def flat(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    head = ",\n".join(f" {flat(key)}: {flat(value)}" for key, value in data.items() if key != "launches")
    parts = []
    for launch in data["launches"]:
        cells = ",\n".join(f"   {flat(t)}: {flat(cell)}" for t, cell in launch["cells"].items())
        rest = flat({k: v for k, v in launch.items() if k != "cells"})
        parts.append(f'  {rest[:-1]}, "cells": {{\n{cells}\n  }}}}')
    return f'{{\n{head},\n "launches": [\n' + ",\n".join(parts) + "\n ]\n}\n"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# The table


@dataclass(frozen=True)
class Row:
    """One kernel on one target, over all its launches there."""

    kernel: str
    target: str
    states: dict[str, int]  # how many launches are in which state
    cells: tuple[dict[str, Any], ...]  # those that compiled
    why: str  # of one that is not offered, or does not compile

    def most(self, name: str) -> int:
        return max((cell[name] for cell in self.cells), default=0)

    def spills(self, *states: str) -> int:
        """How many launches spill registers; of those in these states, if given."""
        here = [cell for cell in self.cells if not states or cell["state"] in states]
        return sum(bool(cell.get("spill_bytes") or cell.get("spilled_registers")) for cell in here)

    def names(self, kind: str) -> list[str]:
        """The instructions of a kind, load, store, copy or tensor, that any launch has."""
        return list(dict.fromkeys(name for cell in self.cells for name in cell["code"].get(kind, {})))


def rows(data: dict[str, Any]) -> list[Row]:
    """Kernel by kernel, target by target."""
    found = []
    for kernel in data["kernels"]:
        for target in TARGETS:
            cells = [x["cells"][target] for x in data["launches"] if x["kernel"] == kernel and target in x["cells"]]
            states = {s: sum(c["state"] == s for c in cells) for s in (FITS, TOO_LARGE, NOT_OFFERED, FAILED)}
            why = next((cell["why"] for cell in cells if "why" in cell), "")
            made = tuple(cell for cell in cells if "sha256" in cell)
            found.append(Row(kernel, target, {s: n for s, n in states.items() if n}, made, why))
    return found
