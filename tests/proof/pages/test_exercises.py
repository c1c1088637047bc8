"""The pages of exercises: one each, their index in the order of the course, a lesson's own list."""

from __future__ import annotations

from pathlib import Path

import pytest

from proof.book.model import Page
from proof.pages.exercises import exercise_index, exercise_list, exercise_page
from proof.pages.macros import expand
from proof.problem import Fault
from tests.proof import handmade
from tests.proof.book.test_exercises import DATA, FILE, made, written


@pytest.fixture
def book(tmp_path):
    """A course of two lessons, and three exercises."""
    found = written(tmp_path)
    for name in ("02_more", "03_other"):
        folder = tmp_path / "labs/exercises" / name
        changed = DATA.replace("level: 1", "level: 2") if name == "02_more" else DATA
        folder.mkdir()
        (folder / "exercise.yml").write_text(changed, encoding="utf-8")
    for name, lesson in (("02_more", "vector_add"), ("03_other", "start_here")):
        path = tmp_path / f"labs/exercises/{name}/exercise.yml"
        each = made().model_copy(update={"lesson": lesson}).at(path).beside(FILE, "x = y + 1\n")
        found.exercises[name] = each
    for lang in ("zh", "en"):
        for lesson in ("start_here", "vector_add"):
            name = f"lessons/{lesson}.md"
            found.pages.append(Page(lang, name, Path(name), f"# {lesson} {lang} {{ #x }}\n"))
    return found


def test_a_page_states_the_task_and_marks_what_is_edited(book):
    text = exercise_page(book, book.exercises["01_add"], "en")
    assert text.startswith("# 01 · Add { #exercise }\n")
    assert '<a href="../../lessons/vector_add/">vector_add en</a> · fill in a line or two' in text
    assert 'data-exercise="01_add" markdown="1">\n\n```python\nimport triton\n' in text
    assert "judge(__file__)" not in text


def test_hints_stand_in_order_and_the_solution_last(book):
    text = exercise_page(book, book.exercises["01_add"], "en")
    places = [text.index(f'??? note "Hint {n}"\n\n    {hint}') for n, hint in
              enumerate(("first", "second", "third"), 1)]  # fmt: skip
    assert places == sorted(places)
    assert text.index('??? success "Solution') > places[-1]
    assert "    x = y + 1\n    ```\n\n    Addition." in text


def test_a_chinese_page_is_chinese(book):
    text = exercise_page(book, book.exercises["01_add"], "zh")
    assert "...  # 相加" in text and '??? note "提示 1"' in text and "第一条" in text


def test_a_page_of_python_that_cannot_be_read_is_refused(book):
    broken = made("def = 1\n").at(Path("labs/exercises/04_broken/exercise.yml"))
    with pytest.raises(Fault, match="its Python cannot be read"):
        exercise_page(book, broken, "en")


def test_the_index_follows_the_course(book):
    text = exercise_index(book, "en")
    assert text.index("## start_here en") < text.index("## vector_add en")
    assert text.index("01 · Add") < text.index('data-progress="02_more"')


def test_a_lesson_lists_its_own_exercises_only(book):
    text = exercise_list(book, "vector_add", "en", "../../")
    assert text.count("\n- ") + text.startswith("- ") == 2
    assert '<a href="../../exercises/01_add/">01 · Add</a>' in text
    assert "03" not in text


def test_a_lesson_without_exercises_is_named(book):
    page = handmade.page('{{ exercises("vector_ad") }}\n')
    with pytest.raises(Fault, match="there is no exercise of the lesson 'vector_ad'"):
        expand(page.text, page, book, "../")
