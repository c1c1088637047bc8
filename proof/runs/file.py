"""Files records, each once and never over anything; prunes old ones; reads and packs archives of what labs printed."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from packaging.version import Version as PackageVersion

from proof.book import text
from proof.book.data import AS_PRINTED
from proof.book.load import record_sha8
from proof.book.model import Book, Record
from proof.problem import Fault

FILE_CAP = 2 << 20  # bytes of one --json; a lab prints about 50 KB
ARCHIVE_CAP = 64 << 20  # bytes of an archive, unpacked
KEPT = 3  # records of one device, lab and Triton minor that prune() leaves


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


def pack(prints: dict[str, bytes], bundle: Path) -> None:
    """Write a bundle of what labs printed, by file name."""
    with tarfile.open(bundle, "w") as archive:
        for name, raw in prints.items():
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
