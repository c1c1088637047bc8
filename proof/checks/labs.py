"""A lab says what it needs, seeds bugs, shares no name with its companions, and has its words in Chinese too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from proof.book import labwords
from proof.book.companions import names_twice
from proof.book.lab import KEYS, sections_of
from proof.book.model import Book, Lab, LabWords, Section
from proof.problem import Problem, nearest
from proof.text.documents import place
from proof.text.numbers import numbers

NEEDS = ("torch", "triton", "numpy")


def faults(book: Book) -> Iterable[Problem]:
    """A lab's header, docstring, tables or companions are not as every lab has them."""
    for lab in book.labs.values():
        for line, what, fix in _faults(lab):
            yield Problem(place(book, lab.path), line, what, fix)


def _faults(lab: Lab) -> Iterable[tuple[int, str, str]]:
    for name in NEEDS:
        if lab.requires and name not in lab.requires:
            yield (
                lab.lines["dependencies"],
                f"the header does not ask for {name}",
                "Add it to dependencies",
            )
    missing = [key for key in KEYS if not lab.card.get(key, "").strip()]
    if missing and lab.title:
        what = f"the docstring lacks {', '.join(missing)}"
        yield lab.lines["docstring"], what, f"Write {', '.join(KEYS)}, a line each"
    if not lab.bugs:
        yield (
            lab.lines.get("BUGS", 1),
            "there is no seeded bug",
            "Add one that a claim catches: it proves the check",
        )
    for name in names_twice(lab.source, lab.companions):
        what = f"{name} is defined in more than one file of the lab and its companions"
        yield 1, what, "Rename one: a bundle holds them all in one file"


def memory(book: Book) -> Iterable[Problem]:
    """The docstring promises less GPU memory than a run needed."""
    for lab in book.labs.values():
        promised = [
            float(figure) * {"T": 2**20, "G": 2**10, "M": 1}[unit]
            for figure, unit in re.findall(
                r"(\d+(?:\.\d+)?)\s*([TGM])i?B", lab.card.get("Memory", "")
            )
        ]
        runs = [
            record
            for record in book.records
            if record.lab == lab.stem and record.is_gpu and not record.outdated(lab)
        ]
        peaks = [
            (row.peak_mib, row.id, record.device.name) for record in runs for row in record.claims
        ]
        if not promised or not peaks:
            continue
        peak_mib, claim_id, device = max(peaks, key=lambda peak: peak[0])
        if max(promised) < peak_mib:
            what = f"Memory says {max(promised) / 1024:g} GiB, and {claim_id} took {peak_mib} MiB on {device}"
            yield Problem(
                place(book, lab.path),
                lab.lines["Memory"],
                what,
                "Write what it needs",
                warning=True,
            )


def words(book: Book) -> Iterable[Problem]:
    """What Chinese pages say of a lab is missing, of something that is gone, not Chinese, or of other numbers."""
    for stem, lab in book.labs.items():
        file = f"labs/{stem}.zh.yml"
        if chinese := book.words.get(stem):
            for at, what, fix in [*_words(lab, chinese), *_translations(book, lab, chinese)]:
                yield Problem(file, chinese.line(*at), what, fix)
        elif not (book.root / file).exists():  # else what is wrong with it is said already
            what = f"{file} is missing, so Chinese pages speak English of this lab"
            fix = "Write it: title, sentence, learn, memory, gpu, why (case.metric: reason), bugs (name: what is seen)"
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
            yield (
                at,
                f"{name} has other numbers than the lab: {spare}",
                f"Say the same ones: {ours}",
            )


def _translations(
    book: Book, lab: Lab, there: LabWords
) -> Iterable[tuple[tuple[str, ...], str, str]]:
    """Place in the file, which comment or docstring of the lab has no translation or is gone, how to fix it."""
    sources = [lab.source, *lab.companions.values()]
    for table, read, translated in _tables(there):
        shown = _shown(book, lab.path.name, lab.sections)
        wanted = dict.fromkeys(text for line, text in read(lab.source).items() if line in shown)
        for text in wanted:
            if text not in {key.split("\n")[0] for key in translated}:
                yield (
                    (table,),
                    f"{table} lacks {text!r}, which Chinese pages show",
                    "Say it in Chinese",
                )
        known = {text for source in sources for text in read(source).values()}
        for text in translated:
            if text.split("\n")[0] not in known:
                what = f"{table} tells of {text!r}, which neither {lab.stem}.py nor its companions have"
                yield (table, text), what, nearest(text, known)


def companions(book: Book) -> Iterable[Problem]:
    """A comment or docstring of a companion that Chinese pages show has no translation beside any lab that imports it."""
    for name, source in book.companions.items():
        shown = _shown(book, name, sections_of(source))
        words = [
            there
            for stem, there in book.words.items()
            if stem in book.labs and name in book.labs[stem].companions
        ]
        if not shown or not words:
            continue
        for table in ("comments", "docstrings"):
            translated = {text.split("\n")[0] for there in words for text in getattr(there, table)}
            for line, text in getattr(labwords, table)(source).items():
                if line in shown and text not in translated:
                    what = (
                        f"Chinese pages show {text!r}, and no lab that imports {name} translates it"
                    )
                    files = ", ".join(sorted(there.path.name for there in words))
                    yield Problem(
                        f"labs/{name}",
                        line,
                        what,
                        f"Say it in Chinese under {table} in one of {files}",
                    )


def _tables(there: LabWords) -> list[tuple[str, Callable[[str], dict[int, str]], dict[str, str]]]:
    """The tables of translations: name, what reads its texts from a source, text -> translation."""
    return [
        ("comments", labwords.comments, there.comments),
        ("docstrings", labwords.docstrings, there.docstrings),
    ]


def _shown(book: Book, name: str, sections: Mapping[str, Section]) -> set[int]:
    """The lines of a file of labs/ that Chinese pages quote by section."""
    arrow = re.compile(rf'--8<-- "labs/{re.escape(name)}:([\w-]+)"')
    quoted = {
        section for page in book.pages if page.lang == "zh" for section in arrow.findall(page.text)
    }
    parts = [sections[section] for section in quoted if section in sections]
    return {line + offset for line, text in parts for offset in range(text.count("\n"))}


def _spare(ours: str, theirs: str) -> str:
    """The numbers that only one of them says: +3 for one too many, −3 for one that is missing."""
    here, there = Counter(numbers(theirs)), Counter(numbers(ours))
    return ", ".join(
        [
            *(f"+{n}" for n in (here - there).elements()),
            *(f"−{n}" for n in (there - here).elements()),
        ]
    )
