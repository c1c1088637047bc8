"""An accepted decision stays as it was accepted: compared with the branch that a change is for, by git, if there is one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from proof.book.front_matter import front_matter
from proof.book.load import decode, parse_yaml
from proof.book.model import Book
from proof.problem import Fault, Problem
from proof.text.documents import line_of, place

BASES = ("origin/main", "main")  # the first that exists; PROOF_BASE names another
FREE = {"status", "supersedes", "superseded_by"}  # what may change: whether it still holds, and what it is linked to
KEPT = {"accepted", "deprecated", "superseded"}  # statuses of what was decided once


def accepted(book: Book) -> Iterable[Problem]:
    """The text of a decision that was accepted on the base branch is another one now, or gone."""
    base = _base(book.root)
    if not base:
        return
    now = {decision.path.name: decision for decision in book.decisions.values()}
    told = {problem.file for problem in book.problems}
    fix = "Put the text back, and write a decision that supersedes it"
    for name in _git(book.root, "ls-tree", "--name-only", base, "adr/").split():
        old = _parts(_git(book.root, "show", f"{base}:{name}"))
        if old is None or old[0].get("status") not in KEPT or name in told:
            continue
        decision = now.get(Path(name).name)
        if decision is None:
            yield Problem(name, 1, "a decision that was accepted is gone", f"{fix}; a number is never used again")
            continue
        new = _parts(decode(decision.path.read_bytes()))
        if new is None:
            continue
        for key in sorted((set(old[0]) | set(new[0])) - FREE):
            if old[0].get(key) != new[0].get(key):
                what = f"{key} of an accepted decision was {old[0].get(key)}, and is {new[0].get(key)}"
                yield Problem(name, line_of(decision.path, f"{key}:"), what, fix)
        changed = [line for line in new[1] if line not in old[1]] or [line for line in old[1] if line not in new[1]]
        if new[1] != old[1]:
            at = line_of(decision.path, changed[0]) if changed else 1
            yield Problem(place(book, decision.path), at, "the text of an accepted decision has changed", fix)


def compared(book: Book) -> str:
    """With what accepted decisions were compared, or that they were not, for the tally."""
    base = _base(book.root)
    return (
        f"accepted decisions compared with {base[:12]}"
        if base
        else "accepted decisions not compared: git knows no main"
    )


def _parts(text: str) -> tuple[dict, list[str]] | None:
    """Front matter, and the lines below it, blank ones left out; None where it has none that can be read."""
    front = front_matter(text)
    if front is None:
        return None
    try:
        data = parse_yaml(front.yaml)
    except Fault:
        return None
    return data, [line.rstrip() for line in text[front.end :].split("\n") if line.strip()]


@cache
def _base(root: Path) -> str:
    """The commit where this tree left the base branch; empty when git, the branch or the history is missing."""
    for name in [os.environ["PROOF_BASE"]] if "PROOF_BASE" in os.environ else BASES:
        if found := _git(root, "merge-base", "HEAD", name).strip():
            return found
    return ""


def _git(root: Path, *arguments: str) -> str:
    """What git prints; nothing when it fails, or when `root` is not the top of its own tree."""
    git = ["git", "-C", str(root)]
    try:
        top = subprocess.run([*git, "rev-parse", "--show-toplevel"], capture_output=True, text=True)
        if not top.stdout or Path(top.stdout.strip()) != root.resolve():
            return ""
        done = subprocess.run([*git, *arguments], capture_output=True, text=True, encoding="utf-8")
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
