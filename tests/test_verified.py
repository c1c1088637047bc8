""".github/verified.py: whether a change waits for a run on a GPU, by the paths that it touches."""

from __future__ import annotations

import json

import pytest
from verified import Unverified, main, verify

SHA = "a" * 40
BOT = "github-actions[bot]"
EVENT = {"pull_request": {"number": 7, "head": {"sha": SHA}}}
QUEUED = {"merge_group": {"head_ref": f"refs/heads/gh-readonly-queue/main/pr-7-{'b' * 40}"}}
LAB = {"filename": "labs/triton_softmax.py"}
TERM = {"filename": "glossary/mask.yml"}


def status(state: str, login: str = BOT, description: str = "every lab", context: str = "gpu-labs"):
    said = {"state": state, "description": description, "context": context}
    return said | {"creator": {"login": login}}


def interface(files: list[dict], statuses: list[dict], changed: int | None = None):
    """What GitHub answers about pull request 7, whose head is SHA."""
    change = {"head": {"sha": SHA}, "changed_files": len(files) if changed is None else changed}
    return {
        "pulls/7": change,
        "pulls/7/files": files,
        f"commits/{SHA}/statuses": statuses,
    }.__getitem__


@pytest.mark.parametrize(("name", "event"), [("pull_request", EVENT), ("merge_group", QUEUED)])
def test_c004_a_change_of_words_passes_and_says_that_no_gpu_was_asked(name, event):
    said = verify(name, event, interface([TERM], []))
    assert said == "Not verified on GPU: none of the 1 changed files is judged there."


@pytest.mark.parametrize(("name", "event"), [("pull_request", EVENT), ("merge_group", QUEUED)])
def test_c004_a_changed_lab_that_passed_on_a_gpu_passes(name, event):
    said = verify(name, event, interface([TERM, LAB], [status("success")]))
    assert said == f"Verified on GPU: gpu-labs on {SHA} is a success: every lab"


@pytest.mark.parametrize(
    "statuses",
    [
        [],
        [status("pending")],
        [status("failure")],
        [status("error")],
        [status("failure"), status("success")],  # the newest counts
        [status("success", context="another")],
        [status("success", login="someone", description="")],  # an allowance without a reason
    ],
)
def test_c004_a_changed_lab_waits_for_the_success_of_a_gpu(statuses):
    with pytest.raises(Unverified, match=r"^Not verified on GPU: labs/triton_softmax\.py changed"):
        verify("pull_request", EVENT, interface([TERM, LAB], statuses))


def test_c004_a_person_may_allow_it_and_the_words_say_that_no_gpu_was_asked():
    by_hand = status("success", login="someone", description="the comment only")
    said = verify("pull_request", EVENT, interface([LAB], [by_hand]))
    assert said == "Not verified on GPU, and allowed by someone: the comment only"


@pytest.mark.parametrize(
    "name",
    [
        "labs/judge.py",
        "labs/exercises/01_scale.py",
        "tests/gpu/test_gpu.py",
        "proof/runs/gate.py",
        "pyproject.toml",
        ".github/contain",
        ".github/hand_over.py",
        ".github/gpu.Dockerfile",
        ".github/workflows/gpu.yml",
    ],
)
def test_what_a_gpu_judges_or_what_runs_there_waits(name):
    with pytest.raises(Unverified):
        verify("pull_request", EVENT, interface([{"filename": name}], []))


def test_a_lab_that_was_renamed_to_words_waits():
    renamed = {"filename": "docs/en/old.md", "previous_filename": "labs/triton_softmax.py"}
    with pytest.raises(Unverified, match=r"labs/triton_softmax\.py changed"):
        verify("pull_request", EVENT, interface([renamed], []))


@pytest.mark.parametrize("changed", [2, 3001])
def test_a_change_whose_files_cannot_all_be_listed_waits(changed):
    with pytest.raises(Unverified, match=f"{changed} files, of which 1 are listed, changed"):
        verify("pull_request", EVENT, interface([TERM], [], changed))


def test_the_commit_of_the_event_counts_and_not_a_newer_head():
    old = {"pull_request": {"number": 7, "head": {"sha": "c" * 40}}}
    statuses = interface([LAB], [status("success")])

    def ask(path: str):
        return [] if path == f"commits/{'c' * 40}/statuses" else statuses(path)

    with pytest.raises(Unverified, match="is missing"):
        verify("pull_request", old, ask)


def test_a_push_to_main_says_that_no_gpu_was_asked():
    assert verify("push", {}, interface([], [])).startswith("Not verified on GPU here")


@pytest.mark.parametrize(
    ("name", "event"),
    [("workflow_dispatch", {}), ("merge_group", {"merge_group": {"head_ref": "refs/heads/x"}})],
)
def test_an_event_that_names_no_change_is_red(name, event):
    with pytest.raises(Unverified):
        verify(name, event, interface([], []))


def test_the_command_prints_why_and_fails(tmp_path, monkeypatch, capsys):
    (tmp_path / "event").write_text(json.dumps(EVENT))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event"))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    assert main(interface([LAB], [])) == 1
    assert capsys.readouterr().err.startswith("error: Not verified on GPU: labs/")
    assert main(interface([TERM], [])) == 0
