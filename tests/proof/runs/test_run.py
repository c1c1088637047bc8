"""proof/runs/run.py: which lab is meant, at which commit, and that one which hangs is stopped."""

from __future__ import annotations

import subprocess

import pytest

from proof.runs import run


@pytest.mark.parametrize("name", ["tiny", "triton_tiny", "triton_tiny.py", "labs/triton_tiny.py"])
def test_a_lab_is_found_by_any_of_its_names(tiny, name):
    assert [lab.stem for lab in run.find_labs(tiny.book(), (name, name))] == ["triton_tiny"]


def test_an_unknown_lab_is_named_with_the_nearest(tiny):
    with pytest.raises(LookupError, match=r"there is no lab triton_tinny\. Nearest: triton_tiny"):
        run.find_labs(tiny.book(), ("triton_tinny",))


def test_the_commit_is_named_only_when_nothing_but_records_differs(tiny):
    def git(*arguments):
        subprocess.run(
            ["git", "-C", tiny.root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
            check=True,
        )

    assert run.head_if_clean(tiny.root) is None
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "all")
    tiny.record(utc="2026-11-21T00:00:00+00:00")
    assert len(run.head_if_clean(tiny.root)) == 40
    tiny.write("new.txt", "")
    assert run.head_if_clean(tiny.root) is None


def test_C017_a_lab_that_hangs_is_stopped_and_leaves_no_record(tiny, monkeypatch, capfd):
    lab = tiny.book().labs["triton_tiny"]
    tiny.write("labs/triton_tiny.py", "import threading\nthreading.Event().wait()\n")
    monkeypatch.setattr(run, "PATIENCE", 0)
    done = run.run_lab(lab)
    assert done.could_not.startswith("triton_tiny ended with status 1 and printed no record")
    assert "triton_tiny was stopped after 0 s without an end" in capfd.readouterr().err
