"""What records on file say of their own names and of each other: no run is filed twice, none judges
less than the one before it, and a GPU that is not in devices.json has run a lab twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from packaging.version import InvalidVersion, Version

from proof.book.model import Book, JudgedRow, Record
from proof.evidence import devices
from proof.problem import Problem
from proof.text.documents import place

Group = tuple[str, str]  # class of device, lab


def misnamed(book: Book) -> Iterable[Problem]:
    """The day or the Triton in a record's file name is not that of the run."""
    for record in book.records:
        day = record.utc.strftime("%Y%m%d")
        try:
            triton = Version(record.environment.triton).public
        except InvalidVersion:
            continue  # which another rule names
        wanted = f"{day}-t{triton}-"
        if record.intact and not record.path.name.startswith(wanted):
            what = f"the file is not named after its run: it would begin with {wanted}"
            fix = "Remove it, and run `proof record` again: records are never edited"
            yield Problem(place(book, record.path), 1, what, fix)


def repeated(book: Book) -> Iterable[Problem]:
    """Two records hold the same timings: two runs never take the same time."""
    first: dict[str, Record] = {}
    for record in sorted(book.records, key=lambda record: (record.utc, record.path.name)):
        timings = _timings(record)
        if not timings:
            continue
        earlier = first.setdefault(timings, record)
        if earlier is not record:
            what = f"its timings are those of {place(book, earlier.path)}, to the last digit"
            yield Problem(place(book, record.path), 1, what, "Remove it: it is no second run")


def _timings(record: Record) -> str:
    """All timings of a record as one text; empty where it has none."""
    rows = [row for row in record.claims if isinstance(row, JudgedRow) and row.timings]
    return "\n".join(f"{row.id} {row.timings}" for row in rows)


def lessened(book: Book) -> Iterable[Problem]:
    """The newest run of a lab on a kind of device leaves out what the run before it judged."""
    for records in _groups(book).values():
        if len(records) < 2:
            continue
        before, newest = records[-2:]
        lab = book.labs.get(newest.lab)
        for row in newest.claims:
            earlier = before.rows.get(row.id)
            if lab is None or row.id not in lab.claims or row.verdict != "-":
                continue
            if earlier is not None and earlier.verdict != "-":
                what = f"{row.id} is not judged, and {place(book, before.path)} judged it"
                fix = "Run the lab again where it can be judged, and file that run"
                yield Problem(place(book, newest.path), 1, what, fix)


def unknown_devices(book: Book) -> Iterable[Problem]:
    """A GPU that is not in devices.json has run a lab only once."""
    for (device_class, _), records in _groups(book).items():
        newest = records[-1]
        known = devices.find(newest.device) is not None
        if known or not newest.is_gpu or len({record.utc for record in records}) > 1:
            continue
        what = (
            f"{newest.device.name} is not in devices.json, and this is its only run of {newest.lab}"
        )
        fix = "Run the lab there once more, or let a reviewer add it to proof/evidence/devices.json"
        yield Problem(place(book, newest.path), 1, f"{what} ({device_class})", fix)


def _groups(book: Book) -> dict[Group, list[Record]]:
    """The records of each lab on each class of device, oldest first."""
    groups: dict[Group, list[Record]] = defaultdict(list)
    for record in sorted(book.records, key=lambda record: (record.utc, record.path.name)):
        groups[record.device_class, record.lab].append(record)
    return groups


def miscounted(book: Book) -> Iterable[Problem]:
    """labs/versions.json counts other rows than the lab has, or other kernels than its record."""
    for what in _miscounts(book):
        fix = "Run `make test-versions`, which writes the file; it is never edited"
        yield Problem("labs/versions.json", 1, what, fix)


def _miscounts(book: Book) -> Iterator[str]:
    by_name = {place(book, record.path): record for record in book.records}
    for run in book.versions.runs if book.versions else ():
        lab = book.labs.get(run.lab)
        if lab is None:
            yield f"{run.lab} was run, which is not in labs/"
        elif lab.sha256 == run.lab_sha256 and not run.refused:
            counted = run.ok + run.left + len(run.failed)
            if counted != len(lab.claims):
                rows = f"{run.lab} in Triton {run.triton} has {counted} rows"
                yield f"{rows}, and the lab has {len(lab.claims)}"
    for code in book.versions.code if book.versions else ():
        record = by_name.get(code.record)
        if record is None or record.lab_sha256 != code.lab_sha256:
            continue
        counted = code.same + len(code.differ) + len(code.unknown)
        ended = not code.same and not code.differ and len(code.unknown) == 1  # the compiler itself
        if counted != len(record.kernels) and not ended:
            kernels = f"{counted} kernels of {code.record} were compiled again"
            yield f"{kernels}, and it names {len(record.kernels)}"
