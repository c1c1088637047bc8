"""Runs labs as subprocesses; validates what a lab printed with --json; files it once, never over anything."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from proof.book.lab import read_lab
from proof.book.load import AS_PRINTED, check_schema, decode, normal_sha8, parse_json
from proof.book.model import Book, Lab, Record
from proof.book.text import replace
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
    """A run that may be filed: the record's data, and what its user should know."""

    data: dict[str, Any]
    notes: list[str]
    failed: list[str]  # ids of rows that fail

    @property
    def text(self) -> str:
        return json.dumps(self.data, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def find_labs(book: Book, names: tuple[str, ...]) -> list[Lab]:
    """The labs called so: triton_softmax, softmax or a path to the file; all when no name is given.

    Raises LookupError, naming the nearest, for a name that no lab has.
    """
    known = {alias: lab for stem, lab in book.labs.items() for alias in (stem.removeprefix("triton_"), stem)}
    found: dict[str, Lab] = {}
    for name in names:
        stem = Path(name).name.removesuffix(".py")
        if stem not in known:
            raise LookupError(f"there is no lab {name}. {nearest(stem, book.labs)}")
        found[known[stem].stem] = known[stem]
    return list(found.values()) if names else order.labs(book)


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
                yield f"{path}:{member.name}", archive.extractfile(member).read()
    except tarfile.TarError:
        if len(raw) > FILE_CAP:
            raise Fault(too_large, AS_PRINTED) from None
        yield str(path), raw
    else:
        if not members:
            raise Fault("is an archive without a .json", AS_PRINTED)


def _at_most(stream: Any, cap: int, what: str) -> bytes:
    with stream:
        raw = stream.read(cap + 1)
    if len(raw) > cap:
        raise Fault(what, AS_PRINTED)
    return raw


def accept(book: Book, name: str, raw: bytes, commit: str | None = None) -> Accepted:
    """Check what a lab printed with --json, wherever it ran, and make it a record. The lab itself is not run.

    Raises Fault for what is not such a print, or contradicts itself or its lab.
    """
    text = decode(raw)
    data = parse_json(text)
    if not isinstance(data, dict) or not isinstance(data.get("source"), str):
        raise Fault("holds no source of a lab, so it is not what a lab prints", AS_PRINTED)
    source = data.pop("source")
    texts = data.pop("companions", None)
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise Fault("holds no companions of a lab, so it is not what a lab prints", AS_PRINTED)
    lab, problems = read_lab(Path(f"{data.get('lab')}.py"), source, f"{name} (source)", texts)
    if lab is None or problems:
        raise Fault.of(problems)
    data |= {"lab_sha256": lab.sha256, "judge_sha256": lab.judge_sha256, "commit": commit}
    check_schema("record", data, text)
    wrong = [Problem(name, 1, what, fix) for what, fix in faults(book, lab, data)]
    if wrong:
        raise Fault.of(wrong)
    notes = []
    run = Record(Path(), data, True)
    if changed := run.outdated(book.labs[lab.stem]):
        notes.append(f"{lab.stem}: {changed}, so its claims will count as stale-source")
    failed = [row["id"] for row in data["claims"] if row["verdict"] not in ("ok", "-")]
    under = [
        row["id"] for row in data["claims"] if row["id"] in failed and state.below(lab.claims[row["id"]], row, run)
    ]
    if under:
        notes.append(f"under bounds that are set on {state.REFERENCE}, shown as measured: {', '.join(under)}")
        failed = [claim_id for claim_id in failed if claim_id not in under]
    return Accepted(data, notes, failed)


def file_record(root: Path, accepted: Accepted) -> tuple[Path, bool]:
    """Write the record to its place; its path, and whether it is new. Interrupted, it leaves what was there whole.

    Raises FileExistsError when another content already bears the name.
    """
    data, text = accepted.data, accepted.text
    record = Record(Path(), data, True)
    folder = root / "labs" / "records" / record.device_class / record.lab
    day, triton = record.utc.strftime("%Y%m%d"), Version(data["environment"]["triton"]).public
    path = folder / f"{day}-t{triton}-{normal_sha8(text)}.json"
    if path.exists():
        if decode(path.read_bytes()) != text:
            raise FileExistsError(f"{path} holds something else; nothing was written")
        return path, False
    folder.mkdir(parents=True, exist_ok=True)
    replace(path, text.encode())
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
