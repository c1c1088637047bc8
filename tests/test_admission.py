""".github/admission.py: which commit may be put before the reviewers of the gated job."""

from __future__ import annotations

import pytest
from admission import Refused, admit, main
from changes import runs

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
        "pulls/10": change | {"changed_files": 2},
        "pulls/10/files": [
            {"filename": "docs/en/old.md", "previous_filename": "tests/conftest.py"},
            {"filename": "docs/en/a.md\nruns nothing"},
        ],
        "pulls/11": change | {"changed_files": 6},
        "pulls/11/files": [{"filename": name} for name in FILES],
    }[path]


def test_the_head_of_an_open_pull_request_is_shown_with_what_runs_in_it():
    assert admit("7", SHA, ask) == [
        f"pull request 7 at {SHA}: 5 files",
        "runs, or decides what runs: .github/workflows/gpu.yml",
        "runs, or decides what runs: labs/triton_softmax.py",
        "runs, or decides what runs: pyproject.toml",
    ]


def test_a_renamed_file_is_shown_by_its_old_name_and_a_line_break_in_a_name_makes_no_line():
    assert admit("10", SHA, ask)[1:] == [
        r"runs, or decides what runs: 'docs/en/a.md\nruns nothing'",
        "runs, or decides what runs: tests/conftest.py",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "conftest.py",
        "labs/exercises/conftest.py",
        "sitecustomize.py",
        "usercustomize.py",
        "evil.pth",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        "tox.ini",
        "setup.cfg",
        "setup.py",
        "torch.py",
        "json/__init__.py",
        "yaml.so",
        "docs/en/index.py",
        "docs/en/conftest.py",
        "docs/assets/quiz.js",
        "docs/overrides/main.html",
        "mkdocs.yml",
        ".gitattributes",
        ".gitmodules",
        "labs/compiled/triton_softmax.json",
        "labs/versions.json",
        "package-lock.json",
    ],
)
def test_what_python_pytest_or_the_build_load_unasked_is_shown(name):
    assert runs(name)


@pytest.mark.parametrize(
    "name",
    [
        "docs/zh/lessons/softmax.md",
        "docs/sources/cutlass.yml",
        "docs/parity/index.yml",
        "docs/curriculum.yml",
        "glossary/mask.yml",
        "adr/0001-x.en.md",
        "labs/triton_softmax.zh.yml",
        "labs/records/nvidia-h200/triton_softmax/20261201-t3.6.0-0a1b2c3d.json",
        "README.md",
        "LICENSE-TEXT",
    ],
)
def test_text_and_data_are_not(name):
    assert not runs(name)


def test_the_head_of_main():
    assert admit("0", SHA, ask) == [f"main at {SHA}"]


@pytest.mark.parametrize(
    ("number", "sha", "why"),
    [
        ("7", OTHER, "pull request 7 is at aaaa"),
        ("0", OTHER, "main is at aaaa"),
        ("8", SHA, "pull request 8 is closed"),
        ("9", SHA, "changes 3001 files"),
        ("11", SHA, "5 of 6 changed files are listed"),
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
