""".github/admission.py: which commit may be put before the reviewers of the gated job."""

from __future__ import annotations

import importlib.util

import pytest
from tiny_project import ROOT

_SPEC = importlib.util.spec_from_file_location("admission", ROOT / ".github" / "admission.py")
_SPEC.loader.exec_module(admission := importlib.util.module_from_spec(_SPEC))
Refused, admit, main = admission.Refused, admission.admit, admission.main

SHA, OTHER = "a" * 40, "b" * 40
FILES = [
    "docs/en/index.md",
    "labs/triton_softmax.py",
    "labs/records/x/y/z.json",
    ".github/workflows/gpu.yml",
    "pyproject.toml",
]


def ask(path: str):
    change = {"state": "open", "head": {"sha": SHA}, "changed_files": len(FILES)}
    return {
        "commits/main": {"sha": SHA},
        "pulls/7": change,
        "pulls/7/files": [{"filename": name} for name in FILES],
        "pulls/8": change | {"state": "closed"},
        "pulls/9": change | {"changed_files": 3001},
    }[path]


def test_the_head_of_an_open_pull_request_is_shown_with_what_runs_in_it():
    assert admit("7", SHA, ask) == [
        f"pull request 7 at {SHA}: 5 files",
        "runs, or decides what runs: .github/workflows/gpu.yml",
        "runs, or decides what runs: labs/triton_softmax.py",
        "runs, or decides what runs: pyproject.toml",
    ]


def test_the_head_of_main():
    assert admit("0", SHA, ask) == [f"main at {SHA}"]


@pytest.mark.parametrize(
    ("number", "sha", "why"),
    [
        ("7", OTHER, "pull request 7 is at aaaa"),
        ("0", OTHER, "main is at aaaa"),
        ("8", SHA, "pull request 8 is closed"),
        ("9", SHA, "changes 3001 files"),
        ("7", SHA[:12], "write all of its 40 hex digits"),
        ("7", SHA.upper(), "write all of its 40 hex digits"),
        ("7; id", SHA, "write its digits"),
        ("", SHA, "write its digits"),
        ("-1", SHA, "write its digits"),
        ("\u0667", SHA, "write its digits"),
    ],
)
def test_c022_anything_else_is_refused(number, sha, why):
    with pytest.raises(Refused, match=why):
        admit(number, sha, ask)


def test_the_command_says_why_and_fails(capsys):
    assert main(["7", OTHER], ask) == 1
    assert capsys.readouterr().err.startswith("error: pull request 7 is at ")
    assert main(["7", SHA], ask) == 0
