"""Runs a lab in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from proof.book.model import Book, Lab
from proof.evidence import order
from proof.problem import nearest

PATIENCE = (
    1800  # seconds for one lab; the longest takes a few minutes, so one that takes this long hangs
)


@dataclass(frozen=True)
class Run:
    """What a lab left behind: its exit status and what it printed on standard output."""

    lab: Lab
    status: int
    output: bytes

    @property
    def could_not(self) -> str:
        """Why there is nothing to judge; empty when there is."""
        if self.status in (0, 1) and self.output.strip():
            return ""
        return f"{self.lab.stem} ended with status {self.status} and printed no record; its own words are above"


def find_labs(book: Book, names: tuple[str, ...]) -> list[Lab]:
    """The labs called so: triton_softmax, softmax or a path to the file; all when no name is given.

    Raises LookupError, naming the nearest, for a name that no lab has.
    """
    known = {alias: lab for lab in book.labs.values() for alias in (lab.name, lab.stem)}
    chosen: dict[str, Lab] = {}
    for name in names:
        stem = Path(name).name.removesuffix(".py")
        if stem not in known:
            raise LookupError(f"there is no lab {name}. {nearest(stem, book.labs)}")
        chosen[known[stem].stem] = known[stem]
    return list(chosen.values()) if names else order.labs(book)


def run_lab(lab: Lab) -> Run:
    """Run the lab with --json in a process of its own, stopped after PATIENCE. Its progress goes to standard error as it comes."""
    try:
        done = subprocess.run(
            [sys.executable, str(lab.path), "--json"], stdout=subprocess.PIPE, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        print(f"{lab.stem} was stopped after {PATIENCE} s without an end", file=sys.stderr)
        return Run(lab, 1, b"")
    return Run(lab, done.returncode, done.stdout)


def head_if_clean(root: Path) -> str | None:
    """The commit that the tree is at; None when anything but records differs from it, or git cannot say."""
    git = ["git", "-C", str(root)]
    try:
        status = [*git, "status", "--porcelain", "--", ".", ":(exclude)labs/records"]
        changed = subprocess.run(status, capture_output=True, text=True, check=True).stdout
        head = subprocess.run(
            [*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return None if changed.strip() else head.strip()
