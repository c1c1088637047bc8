"""A lab runs alone: it carries the common part unchanged, says what it needs, breaks itself, and is told in Chinese too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from proof.book import common_part, labwords
from proof.book.lab import lesson_part
from proof.book.model import Book, Lab, LabWords
from proof.problem import Problem, nearest
from proof.text.documents import place
from proof.text.numbers import numbers

CARD = ("Learn", "Run", "Memory", "Card", "Minutes")
NEEDS = ("torch", "triton", "numpy")


def faults(book: Book) -> Iterable[Problem]:
    """A lab's common part, header, card or breaks are not as every lab has them."""
    for lab in book.labs.values():
        for line, what, fix in _faults(lab):
            yield Problem(place(book, lab.path), line, what, fix)


def _faults(lab: Lab) -> Iterable[tuple[int, str, str]]:
    repaired = common_part.repaired(lab.source)
    if repaired is None:
        yield (
            1,
            "there is no common part",
            f"Paste any other lab's below the lesson: its first line is “{common_part.MARKER} …”",
        )
    elif repaired != lab.source:
        yield (
            lesson_part(lab.source).count("\n") + 1,
            "the common part is not proof/common.py's",
            "Run `make fix`, which copies it here",
        )
    for name in NEEDS:
        if lab.requires and name not in lab.requires:
            yield lab.lines["dependencies"], f"the header does not ask for {name}", "Add it to dependencies"
    missing = [key for key in CARD if not lab.card.get(key, "").strip()]
    if missing and lab.title:
        yield (
            lab.lines["docstring"],
            f"the docstring lacks {', '.join(missing)}",
            f"Write {', '.join(CARD)}, a line each",
        )
    if not lab.bugs:
        yield lab.lines["BREAKS"], "there is no seeded bug", "Add one that a claim catches: it proves the check"


def memory(book: Book) -> Iterable[Problem]:
    """The docstring promises less GPU memory than a run needed."""
    for lab in book.labs.values():
        promised = [
            float(figure) * {"T": 2**20, "G": 2**10, "M": 1}[unit]
            for figure, unit in re.findall(r"(\d+(?:\.\d+)?)\s*([TGM])i?B", lab.card.get("Memory", ""))
        ]
        runs = [
            record
            for record in book.records
            if record.lab == lab.stem and record.is_gpu and record.lab_sha256 == lab.sha256
        ]
        peaks = [(row.peak_mib, row.id, record.device.name) for record in runs for row in record.claims]
        if not promised or not peaks:
            continue
        peak_mib, claim_id, device = max(peaks, key=lambda peak: peak[0])
        if max(promised) < peak_mib:
            what = f"Memory says {max(promised) / 1024:g} GiB, and {claim_id} took {peak_mib} MiB on {device}"
            yield Problem(place(book, lab.path), lab.lines["Memory"], what, "Write what it needs", warning=True)


def words(book: Book) -> Iterable[Problem]:
    """What Chinese pages say of a lab is missing, of something that is gone, not Chinese, or of other numbers."""
    for stem, lab in book.labs.items():
        file = f"docs/zh/labs/{stem}.yml"
        if chinese := book.words.get(stem):
            for at, what, fix in _words(lab, chinese):
                yield Problem(file, chinese.line(*at), what, fix)
        elif not (book.root / file).exists():  # else what is wrong with it is said already
            what = f"{file} is missing, so Chinese pages speak English of this lab"
            fix = "Write it: title, sentence, learn, memory, card, why (case.metric: reason), bugs (name: what is seen)"
            yield Problem(place(book, lab.path), 1, what, fix)
    for stem, there in book.words.items():
        if not (book.root / f"labs/{stem}.py").exists():
            fix = f"Call it after a lab, or remove it. {nearest(stem, book.labs)}"
            yield Problem(place(book, there.path), 1, f"there is no lab {stem!r}", fix)


def _words(lab: Lab, there: LabWords) -> Iterable[tuple[tuple[str, ...], str, str]]:
    """Place in the file, what is wrong there, how to fix it."""
    own = labwords.english(lab)
    english, chinese = labwords.texts(own), labwords.texts(there)
    for table, name in sorted(chinese.keys() - english.keys()):
        what = f"{table} tells of {name}, which {lab.stem}.py does not have"
        yield (table, name), what, nearest(name, getattr(own, table))
    for at, ours in english.items():
        name, theirs = ".".join(at), chinese.get(at)
        if theirs is None:
            yield at, f"{name} is missing", f"Say it in Chinese: {ours}"
        elif re.search("[a-z]{3}", ours) and not re.search("[\u4e00-\u9fff]", theirs):
            yield at, f"{name} is not Chinese", f"Say it in Chinese: {ours}"
        elif ours and (spare := _spare(ours, theirs)):
            yield at, f"{name} has other numbers than the lab: {spare}", f"Say the same ones: {ours}"


def _spare(ours: str, theirs: str) -> str:
    """The numbers that only one of them says: +3 for one too many, −3 for one that is missing."""
    here, there = Counter(numbers(theirs)), Counter(numbers(ours))
    return ", ".join([*(f"+{n}" for n in (here - there).elements()), *(f"−{n}" for n in (there - here).elements())])
