"""The oldest and the newest Triton: what holds there, and whether the code of a record still comes
out the same.

`make test-versions` finds it out and files it in labs/versions.json (proof/compiler/versions.py);
the state of a claim, the checks and the pages read it from there.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from proof.book.model import Book, Lab, Record, VersionCode, VersionRun

FILE = "labs/versions.json"
TRITONS = ("3.6.0", "3.9.0")  # the oldest and the newest of the range that labs declare


# What is filed


def run_of(book: Book, stem: str, triton: str) -> VersionRun | None:
    """What is filed of a lab in a Triton; None when nothing is."""
    runs = book.versions.runs if book.versions else ()
    return next((run for run in runs if (run.lab, run.triton) == (stem, triton)), None)


def changed_code(book: Book, record: Record) -> str:
    """Which kernels of the record come out otherwise today, in a sentence; empty when none does, or
    nobody looked.
    """
    for code in _compared(book):
        if _is_of(code, record) and code.differ:
            return f"Triton {code.triton} now makes other code of {', '.join(code.differ[:3])}"
    return ""


def shortcomings(book: Book) -> Iterator[tuple[str, str]]:
    """What labs/versions.json lacks or says against a lab, each with the lab's stem; nothing where
    no page shows it.
    """
    if not book.versions and not any("{{ versions() }}" in page.text for page in book.pages):
        return
    for stem, lab in book.labs.items():
        filed = {triton: run_of(book, stem, triton) for triton in TRITONS}
        runs = {
            triton: run for triton, run in filed.items() if run and run.lab_sha256 == lab.sha256
        }
        if missing := [triton for triton in TRITONS if triton not in runs]:
            yield stem, f"{stem} as it is has not been run with Triton {' and '.join(missing)}"
        for triton, run in runs.items():
            sentences = [*run.failed, *run.uncompiled]
            if run.refused and declares(lab, triton):
                sentences.append(run.refused)
            yield from (
                (stem, f"{stem} with Triton {triton}: {sentence}") for sentence in sentences
            )
        for record in comparable(book, lab):
            if not any(_is_of(code, record) for code in _compared(book)):
                now = "what Triton makes today"
                yield stem, f"the code of {name_of(record)} has not been compared with {now}"


def comparable(book: Book, lab: Lab) -> list[Record]:
    """The newest record of each NVIDIA card that is of today's lab and of a Triton that is tried
    here.
    """
    newest: dict[tuple[str, str], Record] = {}
    for record in sorted(book.records, key=lambda r: (r.utc, r.path.name)):
        fits = record.lab == lab.stem and not record.outdated(lab) and record.device.kind == "cuda"
        if fits and record.environment.triton in TRITONS:
            newest[record.device_class, record.environment.triton] = record
    return list(newest.values())


def _compared(book: Book) -> tuple[VersionCode, ...]:
    return book.versions.code if book.versions else ()


def _is_of(code: VersionCode, record: Record) -> bool:
    return code.record == name_of(record) and code.lab_sha256 == record.lab_sha256


def name_of(record: Record) -> str:
    return "/".join(("labs", "records", *record.path.parts[-3:]))


def declares(lab: Lab, triton: str) -> bool:
    return SpecifierSet(lab.requires.get("triton", "")).contains(triton)
