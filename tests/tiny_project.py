"""A small valid project to plant faults in: write, edit or remove its files, file records, then look at what proof says."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner, Result

from proof.book import text
from proof.book.lab import read_lab
from proof.book.load import load_book
from proof.book.model import LANGS, Book, Claim, Lab, Record
from proof.cli import main
from proof.runs.file import file_record
from proof.text import parity as sidecars

ROOT = Path(__file__).resolve().parents[1]
TODAY = date(2026, 11, 29)
LAB = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""A third: each element divided by three.

Learn:   one load, one store
Run:     python triton_tiny.py
Memory:  1 GiB
GPU:     any
Minutes: 1
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, Bug, Claim, benchmark_pair, main
except ModuleNotFoundError as missing:
    print(missing, file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import torch
import triton
import triton.language as tl


# %% The kernel.
# --8<-- [start:kernel]
@triton.jit
def third_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """One block."""
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask, other=0) / 3, mask=mask)
    # --8<-- [end:kernel]


def third(x, out):
    third_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK_SIZE=256)
    return out


# %% The claims.
def error(guards, n, seed=0):
    x = torch.rand(n, generator=torch.Generator(DEVICE).manual_seed(seed), device=DEVICE)
    return [(third(guards.input(x), guards.output_like(x)), x.double() / 3)]


def programs(n):
    return triton.cdiv(n, 256)


def speed(n):
    x = torch.rand(n, device=DEVICE)
    out = torch.empty_like(x)
    return benchmark_pair(("third", lambda: third(x, out)), ("copy", lambda: out.copy_(x)))


# fmt: off
CLAIMS = [
    Claim("ragged_fp32.max_abs_err", error, dict(n=1000), bound=2 * 2**-25, why="two roundings of a result below one half"),
    Claim("ragged.programs", programs, dict(n=1000), kind="count", bound=4, why="three full blocks and a ragged one"),
    Claim("large_fp32.vs_copy", speed, dict(n=2**26), kind="ratio", bound=0.95, judges="gpu", gib=1, why="as many bytes as a copy"),
]

BUGS = [
    Bug("no_mask", section="kernel", old="offsets < n_elements", new="offsets >= 0", caught_by="ragged_fp32.max_abs_err", how="guard", shows="the last block writes past the end"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
'''
COMPANIONS = {
    name: (ROOT / "labs" / name).read_text(encoding="utf-8")
    for name in ("judge.py", "claims.py", "arguments.py")
}
WORDS = """\
title: 三分之一
sentence: 每个元素除以三。
learn: 一次 load，一次 store
memory: 1 GiB
gpu: 任何 GPU
why:
  ragged_fp32.max_abs_err: 结果小于二分之一，舍入两次
  ragged.programs: 三个整块，一个凑不满的块
  large_fp32.vs_copy: 字节数与拷贝相同
bugs:
  no_mask: 最后一块写到了末尾之后
"""
PAGES = {
    "docs/zh/index.md": """\
# 三分之一 { #third }

每个元素除以三，误差 {{ claim("tiny.ragged_fp32.max_abs_err") }}，末尾由 mask 挡住。
""",
    "docs/en/index.md": """\
# A third { #third }

Each element divided by three, with an error of {{ claim("tiny.ragged_fp32.max_abs_err") }}; a mask guards the end.
""",
}
SYNCED = sidecars.sidecar(
    {lang: sidecars.digest(PAGES[f"docs/{lang}/index.md"]) for lang in LANGS}, TODAY
)
TERM = """\
id: mask
topic: memory
zh:
  preferred: mask
  alt: [掩码]
  short: 决定哪些 lane 参与读写的布尔张量。
  body: mask 为假的位置既不读，也不写。
en:
  preferred: mask
  alt: []
  short: A boolean tensor that says which lanes read and write.
  body: Where the mask is false nothing is read and nothing written.
translate: no
scope: any
forbidden: []
see_also: []
sources: []
"""
SOURCE = """\
id: triton-load
url: https://triton-lang.org/main/python-api/generated/triton.language.load.html
shows:
  zh: tl.load 的参数。
  en: The arguments of tl.load.
accessed: 2026-11-01
"""
DECISION = """\
---
id: "0001"
title: {title}
status: accepted
date: 2026-11-29
supersedes: []
superseded_by: null
---

# {title} {{ #title }}

## {context} {{ #context }}

{body}

## {drivers} {{ #drivers }}

{body}

## {options} {{ #options }}

{body}

## {outcome} {{ #outcome }}

{body}

## {consequences} {{ #consequences }}

{body}

## {confirmation} {{ #confirmation }}

`tests/test_tiny.py`
"""
ZH = dict(
    context="背景",
    drivers="考虑",
    options="选项",
    outcome="决定",
    consequences="后果",
    confirmation="如何确认",
)
EN = dict(
    context="Context",
    drivers="Drivers",
    options="Options",
    outcome="Outcome",
    consequences="Consequences",
    confirmation="Confirmation",
)

KERNEL = {
    "kernel": "third_kernel",
    "signature": {"x_ptr": "*fp32", "out_ptr": "*fp32", "n_elements": "i32"},
    "constants": {"BLOCK_SIZE": "256"},
    "aligned": ["x_ptr", "out_ptr"],
    "num_warps": 4,
    "num_stages": 3,
    "shared_bytes": 0,
    "registers": 18,
    "spills": 0,
    "code_sha256": hashlib.sha256(b"third_kernel").hexdigest(),
}


def make_record(lab: Lab, /, **changes: Any) -> dict[str, Any]:
    """The record of a run of `lab` in which every row holds.

    `kind="interpreter"` makes it the interpreter's. `torch`, `triton`, `python`, `numpy` and `switches` go to the
    environment, `device` to the device, `rows={id: {…}}` to the rows; a field set to ... is left out; the rest to the top.
    """
    kind = changes.pop("kind", "cuda")
    gpu = kind in ("cuda", "hip")
    device = {"kind": kind, "name": "Triton interpreter"}
    if gpu:
        device = {
            "kind": kind,
            "name": "NVIDIA H200",
            "capability": "9.0",
            "sms": 132,
            "memory_mib": 143_000,
        }
        device |= {"driver": "570.0", "runtime": "12.8"}
    environment = {"os": "Linux", "machine": "x86_64", "python": "3.12.3", "numpy": "2.3.5"}
    environment |= (
        {"torch": "2.11.0+cu128", "triton": "3.6.0"}
        if gpu
        else {"torch": "2.13.0+cpu", "triton": "3.7.1"}
    )
    environment["switches"] = dict(lab.switches) | ({} if gpu else {"TRITON_INTERPRET": "1"})
    rows = [_row(claim, gpu) for claim in lab.claims.values()]
    device |= changes.pop("device", {})
    environment["switches"] |= changes.pop("switches", {})
    environment |= {
        name: changes.pop(name)
        for name in ("torch", "triton", "python", "numpy")
        if name in changes
    }
    for claim_id, fields in changes.pop("rows", {}).items():
        next(row for row in rows if row["id"] == claim_id).update(fields)
    data = {
        "schema": 2,
        "lab": lab.stem,
        "lab_sha256": lab.sha256,
        "judge_sha256": lab.judge_sha256,
    }
    data |= {"device": device, "commit": None}
    data |= {
        "environment": environment,
        "utc": "2026-11-20T12:00:00+00:00",
        "command": f"python {lab.stem}.py --json",
    }
    return _without_dots(data | {"claims": rows, "kernels": [KERNEL] if gpu else []} | changes)


def _row(claim: Claim, gpu: bool) -> dict[str, Any]:
    row = {
        "id": claim.id,
        "kind": claim.kind,
        "bound": claim.bound,
        "why": claim.why,
        "verdict": "ok",
    }
    if claim.kind == "bug":
        row |= {"claim": claim.claim, "value": claim.bound, "figure": 1.0}
    else:
        row |= {"arguments": {}, "judges": claim.judges} | ({"peak_mib": 512} if gpu else {})
    if claim.judges == "gpu" and not gpu:
        return (
            row
            | {"verdict": "-", "note": "needs a GPU to judge"}
            | ({"value": "-"} if claim.kind == "bug" else {})
        )
    if claim.kind == "error":
        error = claim.bound / 2
        row |= {
            "value": error,
            "max_abs_err": error,
            "max_rel_err": error,
            "nonfinite": 0,
            "scale": 1.0,
        }
    elif claim.kind == "ratio":
        timing = {
            "p10_ms": 0.9,
            "median_ms": 1.0,
            "p90_ms": 1.1,
            "repeats": 100,
            "work": 1,
            "unit": "call",
        }
        row |= {"value": claim.bound * 1.05, "low": claim.bound * 1.04, "high": claim.bound * 1.06}
        if claim.predicted is not None:
            row |= {"predicted": claim.predicted, "tolerance": claim.tolerance}
        row |= {"timings": [timing | {"name": "ours"}, timing | {"name": "theirs"}]}
    elif claim.kind != "bug":
        row |= {"value": claim.bound}
    return row


def _without_dots(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_dots(value) for key, value in data.items() if value is not ...}
    return [_without_dots(value) for value in data] if isinstance(data, list) else data


@cache
def _read(source: str, companions: tuple[tuple[str, str], ...]) -> Lab:
    lab, _ = read_lab(Path("triton_tiny.py"), source, Tiny.lab, dict(companions))
    assert lab, "the lab is not Python"
    return lab


class Tiny:
    """A minimal valid project: one lab, triton_tiny, with its Chinese words and a GPU record; a term, a source, …"""

    lab = "labs/triton_tiny.py"
    words = "labs/triton_tiny.zh.yml"
    error = "tiny.ragged_fp32.max_abs_err"
    count = "tiny.ragged.programs"
    ratio = "tiny.large_fp32.vs_copy"
    bug = "tiny.no_mask.bug"
    term = "glossary/mask.yml"
    source = "docs/sources/triton-load.yml"
    decision: ClassVar = {
        "zh": "adr/0001-records-not-promises.zh.md",
        "en": "adr/0001-records-not-promises.en.md",
    }
    page: ClassVar = {"zh": "docs/zh/index.md", "en": "docs/en/index.md"}
    sidecar = "docs/parity/index.yml"

    def __init__(self, root: Path) -> None:
        self.root, self.today = root, TODAY
        self.write("pyproject.toml", '[project]\nname = "tiny"\nversion = "0"\n')
        self.write(self.lab, LAB)
        for name, companion in COMPANIONS.items():
            self.write(f"labs/{name}", companion)
        self.write(self.words, WORDS)
        self.write(self.term, TERM)
        self.write(self.source, SOURCE)
        self.write(
            self.decision["zh"],
            DECISION.format(title="记录，而非承诺", body="数字取自记录。", **ZH),
        )
        self.write(
            self.decision["en"],
            DECISION.format(title="Records, not promises", body="Figures come from records.", **EN),
        )
        self.write("tests/test_tiny.py", "def test_nothing():\n    pass\n")
        for path, page in PAGES.items():
            self.write(path, page)
        self.write(self.sidecar, sidecars.written(SYNCED))
        self.gpu = self.record()

    def write(self, path: str | Path, content: str | bytes) -> Path:
        """Write a file of the project, with the folders above it."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def read(self, path: str | Path) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def edit(self, path: str | Path, old: str, new: str) -> Path:
        """Replace `old`, which must occur exactly once."""
        content = self.read(path)
        assert content.count(old) == 1, f"{old!r} occurs {content.count(old)} times in {path}"
        return self.write(path, content.replace(old, new))

    def remove(self, pattern: str) -> None:
        """Delete the files and folders that a glob pattern names; there must be one."""
        found = list(self.root.glob(pattern))
        assert found, f"nothing is called {pattern}"
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def record(self, **changes: Any) -> Path:
        """File a record of the lab as it now stands; see make_record for what can be changed."""
        return file_record(self.root, Record.model_validate(make_record(self._lab(), **changes)))[0]

    def printed(self, **changes: Any) -> bytes:
        """What the lab would print with --json as it now stands; changes as for make_record."""
        lab = self._lab()
        printed = {"lab_sha256": ..., "judge_sha256": ..., "commit": ..., "source": lab.source}
        printed["companions"] = dict(lab.companions)
        return json.dumps(make_record(lab, **printed | changes)).encode()

    def sync(self) -> None:
        """Remember both languages of every page as they stand, whether they agree or not."""
        for pair in sidecars.pairs(self.book()):
            sidecars.write(pair.path, sidecars.sidecar(pair.now, self.today))

    def _lab(self) -> Lab:
        sources = {path.name: text.read(path) for path in sorted((self.root / "labs").glob("*.py"))}
        lab = sources.pop("triton_tiny.py")
        beside = (
            (name, source) for name, source in sources.items() if not name.startswith("triton_")
        )
        return _read(lab, tuple(beside))

    def book(self, today: date | None = None) -> Book:
        return load_book(self.root, today or self.today)

    def proof(self, *arguments: str | Path) -> Result:
        """Run the command in the project; the result has exit_code, stdout, stderr and output."""
        here = pytest.MonkeyPatch()
        here.chdir(self.root)
        try:
            return CliRunner().invoke(
                main, ["--today", self.today.isoformat(), *map(str, arguments)]
            )
        finally:
            here.undo()
