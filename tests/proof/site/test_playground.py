"""proof/site/playground.py: what a build writes for the playground."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from proof.book.load import load_book
from proof.site import playground

ROOT = Path(__file__).parents[3]
BOOK = load_book(ROOT, date(2026, 12, 1))


def test_the_modules_that_the_page_imports_are_all_there():
    found = playground.sources(ROOT)
    assert {"play/__init__.py", "play/trace.py", "in_page.py", "checking.py"} <= set(found)
    imported = {
        line.split()[1].partition(".")[0]
        for name, text in found.items()
        for line in text.splitlines()
        if line.startswith(("from ", "import ")) and name in playground.MODULES
    }
    own = {name.removesuffix(".py").partition("/")[0] for name in found}
    assert imported - own <= {"__future__", "ast", "collections", "dataclasses", "json", "math",
                              "pathlib", "random", "struct", "types", "typing"}  # fmt: skip


def test_the_address_of_the_sources_changes_with_them(tmp_path: Path, monkeypatch):
    first = [
        name for name in playground.files(ROOT, BOOK.exercises) if name.startswith("assets/play/")
    ]
    other = {"play/__init__.py": "changed"}
    monkeypatch.setattr(playground, "sources", lambda root: other)
    second = [
        name for name in playground.files(ROOT, BOOK.exercises) if name.startswith("assets/play/")
    ]
    assert len(first) == len(second) == 1 and first != second


@pytest.mark.parametrize("name", BOOK.exercises)
def test_an_exercise_for_the_page_has_all_but_the_solution(name: str):
    found = playground.exercise(BOOK.exercises[name])
    assert set(found) == {"name", "cases", "data"}
    assert {"title", "hints", "wrong"} == set(found["data"])


def test_pyodides_folder_has_its_version_and_no_package(tmp_path: Path):
    version = json.loads((ROOT / "package.json").read_text())["dependencies"]["pyodide"]
    assert playground.pyodide_folder(ROOT) == f"assets/pyodide/{version}/"
    assert playground.lock(ROOT)["packages"] == {}


def test_a_project_without_an_evaluator_gets_nothing(tmp_path: Path):
    assert (playground.files(tmp_path, {}), playground.copies(tmp_path)) == ({}, {})
