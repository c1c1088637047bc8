"""What the commands cost: CPU seconds, and how many times the cost of a fixed piece of work, measured in the same run.

Run by `make bench`. No test asks for these figures, since a busy machine is no failure; the ratios can be compared
between machines and commits.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOAD = "from datetime import date; from pathlib import Path; from proof.book.load import load_book; book = load_book(Path(), date.today())"
WORK = {  # what is measured: a program for Python, run in the root of the project; the first is the fixed piece of work
    "a million numbers as JSON, there and back": "import json; json.loads(json.dumps(list(range(1_000_000))))",
    "load_book": LOAD,
    "proof check": f"{LOAD}; from proof.checks.rules import check; check(book)",
    "a build of the English edition": f"{LOAD}; import sys; from proof.site.engine import build_language; "
    "build_language(book, 'en', Path(sys.argv[1]), None)",
}
REPEATS = 3  # of which the least counts, since whatever disturbs a run makes it longer


def cpu_seconds(program: str, *arguments: str) -> float:
    """User and system time of one run of the program in a process of its own."""
    before = os.times()
    subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def main() -> None:
    baseline = 0.0
    for name, program in WORK.items():
        with tempfile.TemporaryDirectory() as folder:
            seconds = min(cpu_seconds(program, folder) for _ in range(REPEATS))
        baseline = baseline or seconds
        print(f"{seconds:7.2f} s  {seconds / baseline:6.1f} x  {name}", flush=True)


if __name__ == "__main__":
    main()
