"""What is wrong in a file, for the one who can mend it: where, what, and how; and the errors that say so."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Problem:
    """One finding of a check: where, what, and how to mend it. `warning` does not make the check fail."""

    file: str  # relative to the root
    line: int  # 1 when the file as a whole is meant
    what: str
    mend: str
    warning: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}. {self.mend}"


class Unreadable(ValueError):
    """A text that cannot be read: at which line, what was found, how to mend it."""

    def __init__(self, line: int, what: str, mend: str) -> None:
        super().__init__(f"line {line}: {what}. {mend}")
        self.line, self.what, self.mend = line, what, mend

    def problem(self, file: str) -> Problem:
        return Problem(file, self.line, self.what, self.mend)


class PageError(Exception):
    """A mistake in a page: where, what was found, how to mend it."""

    def __init__(self, file: str, line: int, what: str, mend: str):
        super().__init__(f"{file}:{line}: {what}. {mend}")
        self.file, self.line, self.what, self.mend = file, line, what, mend

    @property
    def problem(self) -> Problem:
        return Problem(self.file, self.line, self.what, self.mend)


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


class Refused(ValueError):
    """A run that contradicts itself or its lab, with every reason."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
