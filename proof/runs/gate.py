"""The gated job: every lab on every GPU that is here, a bundle of what they printed, and a verdict from the bundle alone.

A bundle is a .tar of what the labs printed with --json, so `proof record --from` files it as it is. It comes from a
machine that ran code under review: nothing in it is believed but the figures, and from those the verdict is computed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from proof.book.model import Book
from proof.problem import Fault, Problem
from proof.runs.accept import accept
from proof.runs.file import pack, read_files

COUNT = "import torch; print(torch.cuda.device_count())"
AGAIN = "Run `proof run --gate` on this tree, and give the bundle as it wrote it"


@dataclass
class Verdict:
    """What a bundle comes to."""

    devices: list[str] = field(default_factory=list)  # one for each lab that ran, by name
    judged: int = 0  # rows that hold or fail
    expected: int = 0  # rows that the labs of the tree have
    faults: list[Problem] = field(default_factory=list)

    @property
    def passes(self) -> bool:
        return not self.faults and self.judged == self.expected > 0

    def __str__(self) -> str:
        where = ", ".join(
            f"{self.devices.count(name)} labs on {name}" for name in dict.fromkeys(self.devices)
        )
        return f"{where or 'no lab ran on a GPU'}: {self.judged} of {self.expected} rows judged"


def devices() -> int:
    """How many GPUs torch sees, asked in a process of its own; 0 where there is no torch."""
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip().isdigit() else 0


def run(root: Path, bundle: Path, gpus: int) -> int:
    """Run the tests that need a GPU, spread over `gpus` processes with one GPU each, and pack what the labs printed.

    Returns the exit status of the tests. The bundle is written whatever it is, since a failure is a result too.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-m",
            "gpu",
            "tests/gpu",
            "-p",
            "no:cacheprovider",
        ]
        spread = ["-n", str(gpus)] if gpus > 1 else []
        status = subprocess.run(
            [*command, *spread], cwd=root, env=os.environ | {"PROOF_GPU_OUT": folder}
        ).returncode
        pack({path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.json"))}, bundle)
    return status


def verify(book: Book, bundle: Path) -> Verdict:
    """The verdict on a bundle, which nobody vouches for: its size, its form, its rows, its labs and its figures.

    Raises OSError for a file that cannot be opened.
    """
    verdict = Verdict(expected=sum(len(lab.claims) for lab in book.labs.values()))
    seen: set[str] = set()

    def fault(name: str, what: str, fix: str = AGAIN) -> None:
        verdict.faults.append(Problem(name, 1, what, fix))

    try:
        for name, raw in read_files(bundle):
            try:
                accepted = accept(book, name, raw)
            except Fault as refusal:
                verdict.faults += refusal.problems(name)
                continue
            run = accepted.record
            changed = run.outdated(book.labs[run.lab])
            if run.lab in seen:
                fault(name, f"is a second run of {run.lab}")
            elif changed:
                fault(name, f"is a run of another {run.lab}.py than this tree holds: {changed}")
            elif not run.is_gpu:
                what = f"ran in {run.device.name}, and no GPU was found there"
                fault(name, what, "Run it on a machine with a GPU")
            else:
                verdict.devices.append(run.device.name)
                verdict.judged += sum(row.verdict != "-" for row in run.claims)
                for row in run.claims:
                    if row.verdict == "-":
                        fix = "The gate wants every row: free the memory that it needs"
                        fault(name, f"{row.id} was not judged", fix)
                    elif row.id in accepted.failed:
                        fix = "Fix the lab, or say in its bound what it reaches"
                        fault(name, f"{row.id} fails: {row.verdict}", fix)
            seen.add(run.lab)
    except Fault as refusal:
        verdict.faults += refusal.problems(str(bundle))
    for stem in sorted(set(book.labs) - seen):
        fault(str(bundle), f"holds no run of {stem}")
    return verdict
