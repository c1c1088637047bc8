"""A lab runs alone: it carries the common part unchanged, says what it needs, and breaks itself at least once."""

from __future__ import annotations

import re
from collections.abc import Iterable

from proof import fix
from proof.checks.rooms import line_of, place
from proof.model import Book, Lab, Problem

CARD = ("Learn", "Run", "Memory", "Card", "Minutes")
NEEDS = ("torch", "triton", "numpy")


def faults(book: Book) -> Iterable[Problem]:
    """A lab's common part, header, card or breaks are not as every lab has them."""
    for lab in book.labs.values():
        for line, what, mend in _faults(lab):
            yield Problem(place(book, lab.path), line, what, mend)


def _faults(lab: Lab) -> Iterable[tuple[int, str, str]]:
    repaired = fix.repaired(lab.source)
    if repaired is None:
        yield (
            1,
            "there is no common part",
            f"Paste any other lab's below the lesson: its first line is “{fix.MARKER} …”",
        )
    elif repaired != lab.source:
        yield (
            line_of(lab.path, fix.MARKER),
            "the common part is not proof/common.py's",
            "Run `make fix`, which copies it here",
        )
    for name in NEEDS:
        if lab.requires and name not in lab.requires:
            yield line_of(lab.path, "dependencies"), f"the header does not ask for {name}", "Add it to dependencies"
    missing = [key for key in CARD if not lab.card.get(key, "").strip()]
    if missing and lab.title:
        yield (
            line_of(lab.path, '"""'),
            f"the docstring lacks {', '.join(missing)}",
            f"Write {', '.join(CARD)}, a line each",
        )
    if not lab.breaks:
        yield (
            line_of(lab.path, "BREAKS"),
            "there is no break",
            "Add a broken variant that a claim catches: it proves the check",
        )


def memory(book: Book) -> Iterable[Problem]:
    """The docstring promises less GPU memory than a run needed."""
    for lab in book.labs.values():
        said = [
            float(figure) * {"T": 2**20, "G": 2**10, "M": 1}[unit]
            for figure, unit in re.findall(r"(\d+(?:\.\d+)?)\s*([TGM])i?B", lab.card.get("Memory", ""))
        ]
        peaks = [
            (row["peak_mib"], row["id"], record)
            for record in book.records
            if record.lab == lab.stem and record.is_gpu and record.data["lab_sha256"] == lab.sha256
            for row in record.data["claims"]
            if row.get("peak_mib")
        ]
        if said and peaks and max(said) < (most := max(peaks, key=lambda peak: peak[0]))[0]:
            what = f"Memory says {max(said) / 1024:g} GiB, and {most[1]} took {most[0]} MiB on {most[2].device['name']}"
            yield Problem(
                place(book, lab.path), line_of(lab.path, "Memory:"), what, "Write what it needs", warning=True
            )
