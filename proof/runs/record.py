"""Runs labs as subprocesses; validates what a lab printed with --json; files it once, never over anything."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packaging.version import Version as PackageVersion

from proof.book import text
from proof.book.data import AS_PRINTED, fit, parse_json
from proof.book.lab import read_lab
from proof.book.load import from_schema_1, record_sha8
from proof.book.model import Book, Lab, Record
from proof.evidence import order, state
from proof.evidence.faults import faults
from proof.problem import Fault, Problem, nearest

FILE_CAP = 2 << 20  # bytes of one --json; a lab prints about 50 KB
ARCHIVE_CAP = 64 << 20  # bytes of an archive, unpacked
PATIENCE = 1800  # seconds for one lab; the longest takes a few minutes, so one that takes this long hangs
KEPT = 3


@dataclass(frozen=True)
class Run:
    """What a lab left behind: its exit status and what it printed on standard output."""

    lab: Lab
    status: int
    output: bytes

    @property
    def could_not(self) -> str:
        """Why there is nothing to judge; empty when there is."""
        if self.status in (0, 1) and self.output.strip():
            return ""
        return f"{self.lab.stem} ended with status {self.status} and printed no record; its own words are above"


@dataclass(frozen=True)
class Accepted:
    """A run that may be filed, and what its user should know."""

    record: Record
    notes: list[str]
    failed: list[str]  # ids of rows that fail


def find_labs(book: Book, names: tuple[str, ...]) -> list[Lab]:
    """The labs called so: triton_softmax, softmax or a path to the file; all when no name is given.

    Raises LookupError, naming the nearest, for a name that no lab has.
    """
    known = {alias: lab for lab in book.labs.values() for alias in (lab.name, lab.stem)}
    chosen: dict[str, Lab] = {}
    for name in names:
        stem = Path(name).name.removesuffix(".py")
        if stem not in known:
            raise LookupError(f"there is no lab {name}. {nearest(stem, book.labs)}")
        chosen[known[stem].stem] = known[stem]
    return list(chosen.values()) if names else order.labs(book)


def run_lab(lab: Lab) -> Run:
    """Run the lab with --json in a process of its own, stopped after PATIENCE. Its progress goes to standard error as it comes."""
    try:
        done = subprocess.run([sys.executable, str(lab.path), "--json"], stdout=subprocess.PIPE, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        print(f"{lab.stem} was stopped after {PATIENCE} s without an end", file=sys.stderr)
        return Run(lab, 1, b"")
    return Run(lab, done.returncode, done.stdout)


def head_if_clean(root: Path) -> str | None:
    """The commit that the tree is at; None when anything but records differs from it, or git cannot say."""
    git = ["git", "-C", str(root)]
    try:
        status = [*git, "status", "--porcelain", "--", ".", ":(exclude)labs/records"]
        changed = subprocess.run(status, capture_output=True, text=True, check=True).stdout
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return None if changed.strip() else head.strip()


def read_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of the file, or of each .json in a .tar or .tar.gz, unpacked in memory only.

    Raises Fault for what is too large or broken, OSError for what cannot be opened.
    """
    too_large = "is larger than a record can be"
    raw = _at_most(path.open("rb"), ARCHIVE_CAP, too_large)
    if raw.startswith(b"\x1f\x8b"):
        try:
            raw = _at_most(gzip.GzipFile(fileobj=io.BytesIO(raw)), ARCHIVE_CAP, too_large)
        except (OSError, EOFError, zlib.error) as error:
            raise Fault(f"is not a whole gzip file: {error}", "Copy it again") from None
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:") as archive:
            members = [m for m in archive if m.isreg() and m.name.endswith(".json")]
            for member in members:
                if member.size > FILE_CAP:
                    raise Fault(f"{member.name} {too_large}", AS_PRINTED)
                content = archive.extractfile(member)
                if content:
                    yield f"{path}:{member.name}", content.read()
    except tarfile.TarError:
        if len(raw) > FILE_CAP:
            raise Fault(too_large, AS_PRINTED) from None
        yield str(path), raw
    else:
        if not members:
            raise Fault("is an archive without a .json", AS_PRINTED)


def _at_most(stream: IO[bytes] | gzip.GzipFile, cap: int, what: str) -> bytes:
    with stream:
        raw = stream.read(cap + 1)
    if len(raw) > cap:
        raise Fault(what, AS_PRINTED)
    return raw


def accept(book: Book, name: str, raw: bytes, commit: str | None = None) -> Accepted:
    """Check what a lab printed with --json, wherever it ran, and make it a record. The lab itself is not run.

    Raises Fault for what is not such a print, or contradicts itself or its lab.
    """
    data, lines = parse_json(text.decode(raw))
    if not isinstance(data, dict) or not isinstance(data.get("source"), str):
        raise Fault("holds no source of a lab, so it is not what a lab prints", AS_PRINTED)
    lab, problems = read_lab(Path(f"{data.get('lab')}.py"), data.pop("source"), f"{name} (source)")
    if lab is None or problems:
        raise Fault.of(problems)
    data |= {"lab_sha256": lab.sha256, "commit": commit}
    record = fit(Record, from_schema_1(data), lines)
    wrong = [Problem(name, 1, what, fix) for what, fix in faults(book, lab, record)]
    if wrong:
        raise Fault.of(wrong)
    notes = []
    if changed := record.outdated(book.labs[lab.stem]):
        notes.append(f"{lab.stem}: {changed}, so its claims will count as stale-source")
    failed = [row for row in record.claims if row.verdict not in ("ok", "-")]
    under = [row.id for row in failed if state.below(lab.claims[row.id], row, record)]
    if under:
        notes.append(f"under bounds that are set on {state.REFERENCE}, shown as measured: {', '.join(under)}")
    return Accepted(record, notes, [row.id for row in failed if row.id not in under])


def file_record(root: Path, record: Record) -> tuple[Path, bool]:
    """Write the record to its place; its path, and whether it is new. Interrupted, it leaves what was there whole.

    Raises FileExistsError when another content already has the name.
    """
    folder = root / "labs" / "records" / record.device_class / record.lab
    day, triton = record.utc.strftime("%Y%m%d"), PackageVersion(record.environment.triton).public
    path = folder / f"{day}-t{triton}-{record_sha8(record.written)}.json"
    if path.exists():
        if text.decode(path.read_bytes()) != record.written:
            raise FileExistsError(f"{path} holds something else; nothing was written")
        return path, False
    folder.mkdir(parents=True, exist_ok=True)
    text.write(path, record.written.encode())
    return path, True


def prune(book: Book) -> list[Path]:
    """Delete all but the last three records of each device, lab and Triton minor; the paths deleted."""
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in sorted(book.records, key=lambda r: (r.utc, r.path.name), reverse=True):
        groups.setdefault((record.device_class, record.lab, record.triton_minor), []).append(record)
    old = [record.path for records in groups.values() for record in records[KEPT:]]
    for path in old:
        path.unlink()
    return sorted(old)
