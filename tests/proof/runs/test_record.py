"""proof/runs/record.py: what may be filed, where it goes, and that nothing is ever written over."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import tarfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proof.book.data import parse_json
from proof.book.load import record_sha8
from proof.book.text import decode
from proof.problem import Fault
from proof.runs import record


def accept(tiny, **changes):
    return record.accept(tiny.book(), "box.json", tiny.printed(**changes))


def refusal(tiny, **changes):
    with pytest.raises(Fault) as error:
        accept(tiny, **changes)
    return str(error.value)


# Acceptance


def test_a_print_becomes_a_record_without_source_and_with_the_hash(tiny):
    record = accept(tiny).record
    assert '"source"' not in record.written
    assert record.lab_sha256 == tiny.book().labs["triton_tiny"].sha256
    assert record.commit is None


def test_a_run_with_misses_is_accepted_and_names_them(tiny):
    assert accept(tiny, rows={tiny.count: {"value": 5, "verdict": "error"}}).failed == [tiny.count]


def test_a_run_of_an_older_lab_is_accepted_and_says_that_it_is_stale(tiny):
    printed = tiny.printed()
    tiny.edit(tiny.lab, "other=0) / 3", "other=0) / 3.0")
    accepted = record.accept(tiny.book(), "box.json", printed)
    assert accepted.notes == [
        "triton_tiny: the lab has changed since this run, so its claims will count as stale-source"
    ]


def test_a_run_of_an_older_lab_is_held_to_the_bounds_it_had(tiny):
    printed = tiny.printed()
    tiny.edit(tiny.lab, "2 * 2**-25", "2**-25")
    assert record.accept(tiny.book(), "box.json", printed).failed == []


def test_bom_and_crlf_are_accepted(tiny):
    printed = b"\xef\xbb\xbf" + tiny.printed().replace(b"{", b"{\r\n", 1)
    assert record.accept(tiny.book(), "box.json", printed).failed == []


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"lab": "triton_tinny", "source": "x = 1"}, "has no PEP 723 header"),
        ({"source": "x = ("}, "is not Python"),
        ({"source": ...}, "holds no source of a lab"),
        ({"schema": 3}, "schema: 3 is not one of 2"),
        ({"surprise": 1}, "surprise is unknown"),
        ({"utc": "2026-12-01T00:00:00+00:00"}, "after today, 2026-11-29"),
        ({"utc": "2026-02-30T00:00:00+00:00"}, "is not a moment in UTC"),
        ({"utc": "yesterday"}, "utc: 'yesterday' is not a moment in UTC"),
        ({"device": {"kind": "npu"}}, "device.kind: 'npu' is not one of"),
        ({"device": {"name": "interpreter"}}, "the GPU is called 'interpreter'"),
        ({"device": {"name": "../../etc"}}, "device.name: '../../etc' does not fit"),
        ({"device": {"name": "<b>H200</b>"}}, "device.name: '<b>H200</b>' does not fit"),
        ({"switches": {"TRITON_INTERPRET": "1"}}, "names a GPU, but TRITON_INTERPRET was set"),
        ({"switches": {"PATH": "/root"}}, "environment.switches.PATH"),
        ({"triton": "3.6.0----"}, "which is no version"),
        ({"triton": "../3.6.0"}, "does not fit"),
    ],
)
def test_a_print_that_cannot_be_is_refused(tiny, changes, what):
    assert what in refusal(tiny, **changes)


ERROR, COUNT, RATIO, BUG = (
    "tiny.ragged_fp32.max_abs_err",
    "tiny.ragged.programs",
    "tiny.large_fp32.vs_copy",
    "tiny.no_mask.bug",
)


@pytest.mark.parametrize(
    ("claim_id", "row", "what"),
    [
        (ERROR, {"id": "tiny.other.max_abs_err"}, "lacks tiny.ragged_fp32.max_abs_err"),
        (ERROR, {"id": "tiny.other.max_abs_err"}, "has the unknown tiny.other.max_abs_err"),
        (ERROR, {"id": COUNT}, "repeats tiny.ragged.programs"),
        (ERROR, {"bound": 1.0}, "bound is 1.0, the lab says 5.96"),
        (ERROR, {"why": "because"}, "why is 'because', the lab says"),
        (RATIO, {"judges": "any"}, "judges is 'any', the lab says 'gpu'"),
        (BUG, {"claim": COUNT}, "claim is 'tiny.ragged.programs', the lab says"),
        (ERROR, {"value": 1.0, "max_abs_err": 1.0, "scale": 9.0}, "the verdict is ok, its figures say error"),
        (ERROR, {"value": 1e-9}, "the value is 1e-09, max_abs_err is 2.98"),
        (ERROR, {"nonfinite": 3}, "the verdict is ok, its figures say nonfinite"),
        (ERROR, {"max_abs_err": ...}, "max_abs_err is missing, which of an error that was judged must be there"),
        (ERROR, {"peak_mib": 10**6}, "1000000 MiB are more than the GPU has"),
        (COUNT, {"value": 5}, "the verdict is ok, its figures say error"),
        (COUNT, {"value": 4, "verdict": "error"}, "the verdict is error, its figures say ok"),
        (RATIO, {"high": 0.96, "value": 0.99}, "lies outside its spread"),
        (RATIO, {"high": 0.9, "low": 0.8, "value": 0.85}, "the verdict is ok, its figures say error"),
        (BUG, {"value": "error"}, "the verdict is ok, its figures say error"),
        (COUNT, {"verdict": "fine"}, "'fine' is not one of"),
    ],
)
def test_a_row_that_is_not_as_its_lab_declares_or_contradicts_itself_is_refused(tiny, claim_id, row, what):
    assert what in refusal(tiny, rows={claim_id: row})


def test_the_interpreter_cannot_judge_what_only_a_gpu_can(tiny):
    row = {"verdict": "ok", "value": 1.0, "low": 1.0, "high": 1.0, "timings": []}
    assert "only a GPU can judge it" in refusal(tiny, kind="interpreter", rows={RATIO: row})


@pytest.mark.parametrize("field", ["value", "max_abs_err", "max_rel_err", "scale"])
def test_c002_a_figure_that_is_not_finite_is_refused_where_the_verdict_is_ok(tiny, field):
    assert refusal(tiny, rows={ERROR: {field: None}})


def test_c002_a_figure_that_is_not_finite_is_kept_where_the_verdict_says_so(tiny):
    row = {"value": None, "max_abs_err": None, "max_rel_err": None, "nonfinite": 7, "verdict": "nonfinite"}
    assert accept(tiny, rows={ERROR: row}).failed == [ERROR]


def test_c002_a_break_that_is_caught_as_not_finite_has_no_figure(tiny):
    tiny.edit(tiny.lab, '"guard", "the last', '"nonfinite", "the last')
    assert accept(tiny, rows={BUG: {"figure": None}}).failed == []


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"1e999"])
def test_c002_a_literal_that_is_not_finite_is_never_stored(tiny, literal):
    printed = tiny.printed().replace(b'"scale": 1.0', b'"scale": ' + literal)
    with pytest.raises(Fault, match="is not a finite number"):
        record.accept(tiny.book(), "box.json", printed)


@pytest.mark.parametrize(
    "raw", [b"", b"[]", b"3", b"1" * 400, b"[" * 100_000, b'{"source": "\\ud800"}', "三".encode("gbk")]
)
def test_what_is_no_print_of_a_lab_is_refused_in_a_sentence(tiny, raw):
    with pytest.raises(Fault):
        record.accept(tiny.book(), "box.json", raw)


JUNK = st.sampled_from(
    [..., None, True, -1, 1e308, "", "x" * 3000, "-", "raised", "../..", "\0", [], {}, [[]], {"a": 1}]
)


def places(data):
    """Every container in the data, with each of its keys."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield data, key
        if isinstance(value, dict | list):
            yield from places(value)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_anywhere_it_is_accepted_or_refused_in_sentences(tiny, data):
    printed = json.loads(tiny.printed())
    container, key = data.draw(st.sampled_from(list(places(printed))))
    junk = data.draw(JUNK)
    if junk is ...:
        del container[key]
    else:
        container[key] = junk
    try:
        accepted = record.accept(tiny.book(), "box.json", json.dumps(printed).encode())
    except Fault as error:
        assert "box.json" in str(error) or "line" in str(error)
    else:
        assert record.file_record(tiny.root, accepted.record)[0].is_relative_to(tiny.root / "labs" / "records")


def test_a_lab_that_is_not_there_is_named_with_the_nearest(tiny):
    source = tiny.read(tiny.lab).replace('"tiny', '"tinny')
    printed = json.loads(tiny.printed(lab="triton_tinny"))
    printed["source"] = source
    with pytest.raises(Fault, match=r"triton_tinny, which is not in labs/\. Nearest: triton_tiny"):
        record.accept(tiny.book(), "box.json", json.dumps(printed).encode())


# Filing


def test_a_record_is_filed_by_device_lab_day_triton_and_hash(tiny):
    path, new = record.file_record(tiny.root, accept(tiny, utc="2026-11-21T00:00:00+00:00", triton="3.7.1+git0").record)
    folder = "labs/records/nvidia-h200/triton_tiny"
    assert new and path.parent == tiny.root / folder
    assert path.name == f"20261121-t3.7.1-{record_sha8(decode(path.read_bytes()))}.json"


def test_a_filed_record_is_sorted_indented_and_ends_in_a_newline(tiny):
    text = decode(tiny.gpu.read_bytes())
    data, _ = parse_json(text)
    assert text == json.dumps(data, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def test_the_same_content_is_filed_once(tiny):
    first = record.file_record(tiny.root, accept(tiny, utc="2026-11-21T00:00:00+00:00").record)
    again = record.file_record(tiny.root, accept(tiny, utc="2026-11-21T00:00:00+00:00").record)
    assert (first[1], again) == (True, (first[0], False))
    assert len(list(first[0].parent.iterdir())) == 2  # and the one that was there


def test_nothing_is_written_over(tiny):
    accepted = accept(tiny, utc="2026-11-21T00:00:00+00:00").record
    path, _ = record.file_record(tiny.root, accepted)
    path.write_text("someone's")
    with pytest.raises(FileExistsError, match="nothing was written"):
        record.file_record(tiny.root, accepted)
    assert path.read_text() == "someone's"


def test_an_interrupted_filing_leaves_what_was_there(tiny, monkeypatch):
    before = sorted(tiny.root.rglob("*"))

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        record.file_record(tiny.root, accept(tiny, utc="2026-11-21T00:00:00+00:00").record)
    assert sorted(tiny.root.rglob("*")) == before


def test_prune_keeps_the_last_three_of_each_device_lab_and_minor(tiny):
    old = [tiny.record(utc=f"2026-11-0{day}T00:00:00+00:00") for day in (1, 2, 3)]
    kept = [tiny.record(utc="2026-11-01T00:00:00+00:00", triton="3.7.1")]
    kept += [tiny.record(utc="2026-11-01T00:00:00+00:00", kind="interpreter")]
    assert record.prune(tiny.book()) == old[:1]
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


@pytest.mark.parametrize(("name", "mode"), [("runs.tar", "w"), ("runs.tar.gz", "w:gz"), ("runs.json", "w:gz")])
def test_an_archive_gives_each_json_in_it(tmp_path, name, mode):
    path = archive(tmp_path / name, {"a/add.json": b"1", "notes.txt": b"2", "../../b.json": b"3"}, mode)
    assert list(record.read_files(path)) == [(f"{path}:a/add.json", b"1"), (f"{path}:../../b.json", b"3")]
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_plain_file_gives_itself(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"{}" + b" " * 2000)
    assert list(record.read_files(path)) == [(str(path), path.read_bytes())]


def test_an_archive_without_records_is_refused(tmp_path):
    path = archive(tmp_path / "runs.tar", {"notes.txt": b"2"}, "w")
    with pytest.raises(Fault, match=r"an archive without a \.json"):
        list(record.read_files(path))


@pytest.mark.parametrize("case", ["plain", "member", "bomb"])
def test_what_is_too_large_is_refused_unread(tmp_path, monkeypatch, case):
    monkeypatch.setattr(record, "FILE_CAP", 1000)
    monkeypatch.setattr(record, "ARCHIVE_CAP", 100_000)
    path = tmp_path / "x"
    if case == "plain":
        path.write_bytes(b" " * 1001)
    elif case == "member":
        archive(path, {"a.json": b" " * 1001})
    else:
        path.write_bytes(gzip.compress(b"\0" * 10**7))
        assert path.stat().st_size < 100_000
    with pytest.raises(Fault, match="larger than a record can be"):
        list(record.read_files(path))


def test_a_cut_off_gzip_is_refused(tmp_path):
    path = archive(tmp_path / "runs.tar.gz", {"a.json": os.urandom(5000)})
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(Fault, match="not a whole gzip file"):
        list(record.read_files(path))


# Which labs, which commit


@pytest.mark.parametrize("name", ["tiny", "triton_tiny", "triton_tiny.py", "labs/triton_tiny.py"])
def test_a_lab_is_found_by_any_of_its_names(tiny, name):
    assert [lab.stem for lab in record.find_labs(tiny.book(), (name, name))] == ["triton_tiny"]


def test_an_unknown_lab_is_named_with_the_nearest(tiny):
    with pytest.raises(LookupError, match=r"there is no lab triton_tinny\. Nearest: triton_tiny"):
        record.find_labs(tiny.book(), ("triton_tinny",))


def test_the_commit_is_named_only_when_nothing_but_records_differs(tiny):
    def git(*arguments):
        subprocess.run(["git", "-C", tiny.root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)

    assert record.head_if_clean(tiny.root) is None
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "all")
    tiny.record(utc="2026-11-21T00:00:00+00:00")
    assert len(record.head_if_clean(tiny.root)) == 40
    tiny.write("new.txt", "")
    assert record.head_if_clean(tiny.root) is None


def test_C017_a_lab_that_hangs_is_stopped_and_leaves_no_record(tiny, monkeypatch, capfd):
    lab = tiny.book().labs["triton_tiny"]
    tiny.write("labs/triton_tiny.py", "import time\ntime.sleep(60)\n")
    monkeypatch.setattr(record, "PATIENCE", 0.5)
    run = record.run_lab(lab)
    assert run.could_not.startswith("triton_tiny ended with status 1 and printed no record")
    assert "triton_tiny was stopped after 0.5 s without an end" in capfd.readouterr().err
