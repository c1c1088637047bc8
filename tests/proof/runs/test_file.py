"""proof/runs/file.py: where a record goes, that nothing is ever written over, and what archives hold."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile

import pytest

from proof.book.data import parse_json
from proof.book.load import record_sha8
from proof.book.model import Record
from proof.book.text import decode
from proof.problem import Fault
from proof.runs import file
from proof.runs.accept import accept


def record(tiny, **changes) -> Record:
    return accept(tiny.book(), "box.json", tiny.printed(**changes)).record


def test_a_record_is_filed_by_device_lab_day_triton_and_hash(tiny):
    path, new = file.file_record(
        tiny.root, record(tiny, utc="2026-11-21T00:00:00+00:00", triton="3.7.1+git0")
    )
    folder = "labs/records/nvidia-h200/triton_tiny"
    assert new and path.parent == tiny.root / folder
    assert path.name == f"20261121-t3.7.1-{record_sha8(decode(path.read_bytes()))}.json"


def test_a_filed_record_is_sorted_indented_and_ends_in_a_newline(tiny):
    text = decode(tiny.gpu.read_bytes())
    data, _ = parse_json(text)
    assert text == json.dumps(data, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def test_the_same_content_is_filed_once(tiny):
    first = file.file_record(tiny.root, record(tiny, utc="2026-11-21T00:00:00+00:00"))
    again = file.file_record(tiny.root, record(tiny, utc="2026-11-21T00:00:00+00:00"))
    assert (first[1], again) == (True, (first[0], False))
    assert len(list(first[0].parent.iterdir())) == 2  # and the one that was there


def test_nothing_is_written_over(tiny):
    accepted = record(tiny, utc="2026-11-21T00:00:00+00:00")
    path, _ = file.file_record(tiny.root, accepted)
    path.write_text("someone's")
    with pytest.raises(FileExistsError, match="nothing was written"):
        file.file_record(tiny.root, accepted)
    assert path.read_text() == "someone's"


def test_an_interrupted_filing_leaves_what_was_there(tiny, monkeypatch):
    before = sorted(tiny.root.rglob("*"))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        file.file_record(tiny.root, record(tiny, utc="2026-11-21T00:00:00+00:00"))
    assert sorted(tiny.root.rglob("*")) == before


def test_prune_keeps_the_last_three_of_each_device_lab_and_minor(tiny):
    old = [tiny.record(utc=f"2026-11-0{day}T00:00:00+00:00") for day in (1, 2, 3)]
    kept = [tiny.record(utc="2026-11-01T00:00:00+00:00", triton="3.7.1")]
    kept += [tiny.record(utc="2026-11-01T00:00:00+00:00", kind="interpreter")]
    assert file.prune(tiny.book()) == old[:1]
    left = {r.path for r in tiny.book().records}
    assert left == {tiny.gpu, *old[1:], *kept}


# Files from elsewhere


def archive(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for name, raw in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            tar.addfile(info, io.BytesIO(raw))
    return path


@pytest.mark.parametrize(
    ("name", "mode"), [("runs.tar", "w"), ("runs.tar.gz", "w:gz"), ("runs.json", "w:gz")]
)
def test_an_archive_gives_each_json_in_it(tmp_path, name, mode):
    path = archive(
        tmp_path / name, {"a/add.json": b"1", "notes.txt": b"2", "../../b.json": b"3"}, mode
    )
    assert list(file.read_files(path)) == [
        (f"{path}:a/add.json", b"1"),
        (f"{path}:../../b.json", b"3"),
    ]
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_plain_file_gives_itself(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"{}" + b" " * 2000)
    assert list(file.read_files(path)) == [(str(path), path.read_bytes())]


def test_an_archive_without_records_is_refused(tmp_path):
    path = archive(tmp_path / "runs.tar", {"notes.txt": b"2"}, "w")
    with pytest.raises(Fault, match=r"an archive without a \.json"):
        list(file.read_files(path))


@pytest.mark.parametrize("case", ["plain", "member", "bomb"])
def test_what_is_too_large_is_refused_unread(tmp_path, monkeypatch, case):
    monkeypatch.setattr(file, "FILE_CAP", 1000)
    monkeypatch.setattr(file, "ARCHIVE_CAP", 100_000)
    path = tmp_path / "x"
    if case == "plain":
        path.write_bytes(b" " * 1001)
    elif case == "member":
        archive(path, {"a.json": b" " * 1001})
    else:
        path.write_bytes(gzip.compress(b"\0" * 10**7))
        assert path.stat().st_size < 100_000
    with pytest.raises(Fault, match="larger than a record can be"):
        list(file.read_files(path))


def test_a_cut_off_gzip_is_refused(tmp_path):
    path = archive(tmp_path / "runs.tar.gz", {"a.json": os.urandom(5000)})
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(Fault, match="not a whole gzip file"):
        list(file.read_files(path))
