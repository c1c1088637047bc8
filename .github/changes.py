"""What a change touches, and the questions that workflows ask of GitHub's interface.

Only the standard library: the scripts of this folder run where nothing is installed.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any

Ask = Callable[[str], Any]
LISTED = 3000  # files of a pull request that the interface lists

# What no interpreter, test runner, build or judge loads: text, and data that the checks read as
# data. All else is code, or decides which code runs, wherever it lies: Python imports a module from
# the root before one of the library, and loads sitecustomize.py and *.pth without being asked.
INERT = re.compile(
    r"(?:docs/(?:zh|en)/[^/].*\.md|docs/(?:sources|parity)/.*\.yml|docs/[^/]+\.yml"
    r"|glossary/[^/]+\.yml|adr/[^/]+\.md|[^/]+\.md|LICENSE[^/.]*"
    r"|labs/[^/]+\.zh\.yml|labs/records/.*\.json)"
)
# What the figures of a run on a GPU depend on: the labs, what judges them, and what is installed.
ON_GPU = re.compile(
    r"(?:labs/.*\.py|tests/gpu/.*|proof/runs/.*|pyproject\.toml"
    r"|\.github/(?:contain|hand_over\.py|gpu\.Dockerfile|workflows/gpu\.yml))"
)


def ask_github(path: str) -> Any:
    """The interface's answer about this repository, all pages of a list in one."""
    command = ["gh", "api", "--paginate", "--slurp", f"repos/{{owner}}/{{repo}}/{path}"]
    pages = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if not isinstance(pages[0], list):
        return pages[0]
    return [row for page in pages for row in page]


def changed_files(files: list[dict[str, Any]]) -> list[str]:
    """The paths that a list of changed files touches, sorted: of a renamed file the old one too."""
    names = {file["filename"] for file in files}
    names |= {file["previous_filename"] for file in files if file.get("previous_filename")}
    return sorted(names)


def runs(name: str) -> bool:
    """Whether the file runs, or decides what runs."""
    return not INERT.fullmatch(name)


def printable(name: str) -> str:
    """A path as one line of a log: whoever named the file may have put a line break into it."""
    return name if name.isprintable() else ascii(name)
