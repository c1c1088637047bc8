"""What is wrong in a file, for the one who can fix it: where, what, and how; and the error that
says so.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Problem:
    """One finding of a check: where, what, and how to fix it. `warning` does not make the check
    fail.
    """

    file: str  # relative to the root
    line: int  # 1 when the file as a whole is meant
    what: str
    fix: str
    warning: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}. {self.fix}"


class Fault(ValueError):
    """Why something cannot be done: what was found and how to fix it, in which line of which file.

    `also` are further problems that were found with it.
    """

    def __init__(
        self, what: str, fix: str, *, line: int = 1, file: str = "", also: Sequence[Problem] = ()
    ) -> None:
        self.problem = Problem(file, line, what, fix)
        self.also = tuple(also)
        super().__init__("\n".join(map(_said, (self.problem, *also))))

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> Self:
        """All of these problems in one error; there is at least one."""
        first, *others = problems
        return cls(first.what, first.fix, line=first.line, file=first.file, also=others)

    @property
    def what(self) -> str:
        return self.problem.what

    @property
    def fix(self) -> str:
        return self.problem.fix

    @property
    def file(self) -> str:
        return self.problem.file

    @property
    def line(self) -> int:
        return self.problem.line

    def problems(self, file: str, fix: str = "") -> list[Problem]:
        """All of them, as problems of this file unless they name another.

        `fix` takes the place of how each says it is fixed.
        """
        everything = (self.problem, *self.also)
        return [replace(each, file=each.file or file, fix=fix or each.fix) for each in everything]


def _said(problem: Problem) -> str:
    place = problem.file + ":" if problem.file else "line "
    return f"{place}{problem.line}: {problem.what}. {problem.fix}"


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence with the nearest names there are, for the one who mistyped."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "Nearest: " + ", ".join(close)
    return "There are: " + ", ".join(sorted(known)[:8]) if known else "There is none yet"


def where(path: Path, root: Path) -> str:
    """A file's name as people write it: relative to the root."""
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
