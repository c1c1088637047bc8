"""What pages show of an exercise's Python, and what is refused of its exercise.yml."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from proof.book.exercises import comments, solution, starter
from proof.book.load import load_book
from proof.book.model import Exercise
from tests.proof.handmade import TODAY

FILE = '''"""What to do.

And how."""

import triton


def answer():
    ...  # add


if __name__ == "__main__":
    from judging import judge

    judge(__file__)
'''
DATA = textwrap.dedent("""\
    title: {zh: 相加, en: Add}
    lesson: vector_add
    level: 1
    kind: fill
    statement: {zh: 加一, en: Add one.}
    hints:
      - {zh: 第一条, en: first}
      - {zh: 第二条, en: second}
      - {zh: 第三条, en: third}
    explanation: {zh: 加法, en: Addition.}
    comments: {add: 相加}
    wrong:
      two: {change: [{old: "+ 1", new: "+ 2"}], found: differs out, zh: 加了二, en: Two.}
      none: {change: [{old: " + 1"}], found: differs out, zh: 没有加, en: Nothing.}
      minus: {change: [{old: "+ 1", new: "- 1"}], found: differs out, zh: 减了一, en: Minus.}
    """)


def made(handed_out: str = FILE, solved: str = "x = y + 1\n") -> Exercise:
    data = {"zh": "中文", "en": "English"}
    change = {"change": [{"old": "a", "new": "b"}], "found": "differs out", **data}
    return Exercise.model_validate(
        {
            "title": data,
            "lesson": "vector_add",
            "level": "1",
            "kind": "fill",
            "statement": data,
            "hints": [data] * 3,
            "explanation": data,
            "comments": {"add": "相加"},
            "wrong": {name: change for name in "abc"},
        }
    ).beside(handed_out, solved)


def written(root: Path, data: str = DATA, **files: str):
    """The book of a project whose only room is one exercise."""
    folder = root / "labs/exercises/01_add"
    folder.mkdir(parents=True)
    (folder / "exercise.yml").write_text(data, encoding="utf-8")
    for name, text in ({"01_add/solution.py": "x = y + 1\n", "01_add.py": FILE} | files).items():
        (root / "labs/exercises" / name).write_text(text, encoding="utf-8")
    return load_book(root, TODAY)


def test_the_reader_starts_between_the_first_import_and_the_judge():
    assert starter(made(), "en") == "import triton\n\n\ndef answer():\n    ...  # add\n"


def test_comments_are_chinese_on_chinese_pages():
    assert "...  # 相加" in starter(made(), "zh")


def test_a_file_without_words_above_and_below_is_shown_whole():
    assert starter(made("x = 1\n"), "en") == "x = 1\n"


def test_what_only_ruff_reads_is_not_shown():
    assert solution(made(solved="x = 1  # fmt: skip\n"), "zh") == "x = 1\n"


def test_comments_are_those_that_readers_see():
    assert list(comments("x = 1  # one\ny = '# no'  # fmt: skip\n#\n")) == ["one"]


def test_an_exercise_is_read_with_the_python_beside_it(tmp_path):
    book = written(tmp_path)
    assert book.problems == []
    exercise = book.exercises["01_add"]
    assert (exercise.name, exercise.handed_out, exercise.solution) == (
        "01_add",
        FILE,
        "x = y + 1\n",
    )
    assert exercise.wrong["none"].change[0].new == ""
    assert exercise.line("hints", 1) == 8


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("level: 1", "level: 9", 3, "level"),
        ("kind: fill", "kind: riddle", 4, "kind"),
        ("  - {zh: 第三条, en: third}\n", "", 6, "hints"),
        ("title: {zh: 相加, en: Add}", "title: {zh: 相加}", 1, "en"),
        ('{old: "+ 1", new: "+ 2"}', '{new: "+ 2"}', 13, "old"),
        (
            "found: differs out, zh: 没有加",
            "found: differs out, triton: passes, zh: 没有加",
            14,
            "because",
        ),
        ("lesson: vector_add\n", "lesson: vector_add\nlessons: both\n", 3, "lessons"),
    ],
)
def test_what_does_not_fit_is_a_sentence_with_its_line(tmp_path, old, new, line, what):
    assert DATA.count(old) == 1
    problem = written(tmp_path, DATA.replace(old, new)).problems[0]
    assert (problem.file, problem.line) == ("labs/exercises/01_add/exercise.yml", line)
    assert what in problem.what


def test_a_missing_solution_is_a_problem(tmp_path):
    written(tmp_path)
    (tmp_path / "labs/exercises/01_add/solution.py").unlink()
    (problem,) = load_book(tmp_path, TODAY).problems
    assert problem.file == "labs/exercises/01_add/solution.py"
