"""The programs of pages: each runs as it stands there, in the interpreter, and prints what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from tiny_project import ROOT

import play
from proof.book import text
from proof.book.model import LANGS
from proof.text.markdown import Fence, read

TITLE = re.compile(r'title="([^"]+)"')
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"}


def titled(page: str) -> dict[str, Fence]:
    """The fences of a page that have a title, by it."""
    fences = {}
    for fence in read(text.read(ROOT / page)).fences:
        if title := TITLE.search(fence.info):
            fences[title[1]] = fence
    return fences


def programs() -> list[tuple[str, str]]:
    """Each page of a lesson and the title of a program on it."""
    found = []
    for lang in LANGS:
        for path in sorted((ROOT / "docs" / lang / "lessons").glob("*.md")):
            page = path.relative_to(ROOT).as_posix()
            found += [(page, title) for title in titled(page) if title.endswith(".py")]
    return found


def test_the_lessons_of_parts_1_and_2_begin_with_a_program():
    assert {page.split("/")[-1] for page, _ in programs()} >= {
        "vector_add.md",
        "softmax.md",
        "matmul.md",
        "launching.md",
        "numerics.md",
        "debugging.md",
        "codegen.md",
    }


@pytest.mark.parametrize(("page", "title"), programs())
def test_a_program_prints_what_its_page_says(tmp_path, page, title):
    fences = titled(page)
    path = tmp_path / title
    path.write_text(fences[title].body, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, path], env=os.environ | NO_GPU, capture_output=True, text=True
    )
    assert (done.stderr, done.stdout) == ("", fences[f"{title} prints"].body + "\n")


@pytest.mark.parametrize(("page", "title"), programs())
def test_a_program_is_short_enough_for_one_screen(page, title):
    assert titled(page)[title].body.count("\n") <= 25


def runnable() -> list[tuple[str, str]]:
    """Each page and the title of its program that has a Run button."""
    found = []
    for page, title in programs():
        written = text.read(ROOT / page)
        start = written.index(f'title="{title}"')
        if "data-snippet" in written[:start].rpartition("</div>")[2]:
            found.append((page, title))
    return found


def test_the_first_program_of_every_lesson_of_part_1_has_a_run_button():
    assert {page.split("/")[-1] for page, _ in runnable()} >= {
        "vector_add.md",
        "softmax.md",
        "matmul.md",
        "launching.md",
    }


@pytest.mark.parametrize(("page", "title"), runnable())
def test_a_program_with_a_run_button_prints_the_same_in_the_playground(page, title):
    fences = titled(page)
    report = play.run(fences[title].body, with_torch=True)
    assert report.problem is None, report.lines("en")
    assert report.printed == fences[f"{title} prints"].body + "\n"
