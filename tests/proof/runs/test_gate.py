"""proof/runs/gate.py: the verdict on a bundle that nobody vouches for, and the gated job on a machine without a GPU."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tiny_project import ROOT

from proof.runs import gate
from proof.runs.file import ARCHIVE_CAP, FILE_CAP, pack


@pytest.fixture
def verify(tiny, tmp_path):
    """verify(print, …): the verdict on a bundle of these."""

    def judge(*prints: bytes) -> gate.Verdict:
        bundle = tmp_path / "gate.tar"
        pack({f"{i}.json": raw for i, raw in enumerate(prints)}, bundle)
        return gate.verify(tiny.book(), bundle)

    return judge


def whats(verdict: gate.Verdict) -> str:
    return "\n".join(problem.what for problem in verdict.faults)


def test_every_row_of_every_lab_judged_on_a_gpu_passes(tiny, verify):
    verdict = verify(tiny.printed())
    assert verdict.passes and verdict.devices == ["NVIDIA H200"]
    assert str(verdict) == "1 labs on NVIDIA H200: 4 of 4 rows judged"


def test_c003_no_run_is_no_pass(verify):
    verdict = verify()
    assert not verdict.passes and "is an archive without a .json" in whats(verdict)
    assert "holds no run of triton_tiny" in whats(verdict)
    assert str(verdict) == "no lab ran on a GPU: 0 of 4 rows judged"


def test_c003_a_run_without_a_gpu_is_no_pass(tiny, verify):
    verdict = verify(tiny.printed(kind="interpreter"))
    assert not verdict.passes and "no GPU was found there" in whats(verdict)


def test_c003_a_row_that_was_not_judged_is_no_pass(tiny, verify):
    full = {"verdict": "-", "note": "needs 1 GiB of GPU memory, 0.5 are free"}
    verdict = verify(tiny.printed(device={"memory_mib": 4000}, rows={tiny.ratio: full}))
    assert not verdict.passes and f"{tiny.ratio} was not judged" in whats(verdict)


def test_a_row_that_fails_is_no_pass(tiny, verify):
    verdict = verify(tiny.printed(rows={tiny.count: {"value": 5, "verdict": "error"}}))
    assert not verdict.passes and f"{tiny.count} fails: error" in whats(verdict)


def test_a_verdict_is_computed_never_believed(tiny, verify):
    verdict = verify(tiny.printed(rows={tiny.count: {"value": 5}}))
    assert not verdict.passes and "the verdict is ok, its figures say error" in whats(verdict)


def test_a_device_without_its_facts_is_refused(tiny, verify):
    assert not verify(tiny.printed(device={"capability": ...})).passes


def test_a_lab_twice_is_no_pass(tiny, verify):
    verdict = verify(tiny.printed(), tiny.printed())
    assert not verdict.passes and "is a second run of triton_tiny" in whats(verdict)


def test_a_run_of_another_tree_is_no_pass(tiny, verify):
    printed = tiny.printed()
    tiny.edit("labs/triton_tiny.py", "/ 3, mask", "/ 3.0, mask")
    verdict = verify(printed)
    assert (
        not verdict.passes
        and "is a run of another triton_tiny.py than this tree holds" in whats(verdict)
    )


def test_a_lab_that_did_not_run_is_no_pass(tiny, verify):
    text = tiny.read("labs/triton_tiny.py").replace("a third", "another")
    tiny.write("labs/triton_other.py", text)
    verdict = verify(tiny.printed())
    assert not verdict.passes and "holds no run of triton_other" in whats(verdict)


def test_a_bound_that_was_widened_there_is_no_pass(tiny, verify):
    printed = json.loads(tiny.printed())
    printed["source"] = printed["source"].replace("2 * 2**-25", "2.0")
    for row in printed["claims"]:
        if row["id"] == tiny.error:
            row["bound"] = 2.0
    assert not verify(json.dumps(printed).encode()).passes


def test_a_claim_that_was_left_out_there_is_no_pass(tiny, verify):
    printed = json.loads(tiny.printed())
    printed["claims"].pop()
    verdict = verify(json.dumps(printed).encode())
    assert not verdict.passes and f"lacks {tiny.bug}" in whats(verdict)


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"\xff\xfe{}", b'{"lab": 1}', b'{"a": 1e999}', b"{" * 3000]
)
def test_what_is_no_print_of_a_lab_is_told(verify, raw):
    verdict = verify(raw)
    assert not verdict.passes and verdict.faults


def test_what_is_too_large_is_told_unread(tiny, tmp_path):
    bundle = tmp_path / "gate.tar"
    with tarfile.open(bundle, "w") as archive:
        member = tarfile.TarInfo("a.json")
        member.size = FILE_CAP + 1
        archive.addfile(member, io.BytesIO(b" " * member.size))
    assert "is larger than a record can be" in whats(gate.verify(tiny.book(), bundle))
    bundle.write_bytes(b"\0" * (ARCHIVE_CAP + 1))
    assert "is larger than a record can be" in whats(gate.verify(tiny.book(), bundle))


def test_nothing_of_a_bundle_is_unpacked(tiny, tmp_path):
    bundle = tmp_path / "gate.tar"
    pack({"../../evil.json": tiny.printed()}, bundle)
    gate.verify(tiny.book(), bundle)
    assert not (tmp_path.parent.parent / "evil.json").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gate.tar", "project"]


def test_c003_the_gpu_tests_without_a_gpu_are_red_and_say_so(tmp_path: Path):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-m",
        "gpu",
        "tests/gpu",
        "-p",
        "no:cacheprovider",
        "-x",
    ]
    env = {"PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": "", "HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode != 0
    assert "no GPU was found" in done.stdout
    assert "gated job: 0 labs" in done.stdout
