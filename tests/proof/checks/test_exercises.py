"""An exercise is whole: its lesson exists, wrong answers fit the solution, Chinese pages speak Chinese."""

import pytest
from planted import found

from proof.checks import exercises
from proof.checks.rules import check
from proof.text.parity import digest, sidecar, written
from tests.proof.book.test_exercises import DATA, FILE
from tests.proof.handmade import TODAY

PLACE = "labs/exercises/01_add"


@pytest.fixture
def project(tiny):
    """The small project with one exercise of its lesson."""
    texts = {lang: f"# {title} {{ #title }}\n" for lang, title in (("zh", "相加"), ("en", "Add"))}
    for lang, text in texts.items():
        tiny.write(f"docs/{lang}/lessons/vector_add.md", text)
    synced = sidecar({lang: digest(text) for lang, text in texts.items()}, TODAY)
    tiny.write("docs/parity/lessons/vector_add.yml", written(synced))
    tiny.write(f"{PLACE}/exercise.yml", DATA)
    tiny.write(f"{PLACE}/solution.py", "x = y + 1\n")
    tiny.write(f"{PLACE}.py", FILE)
    return tiny


def test_a_good_exercise_passes(project):
    assert found(project, exercises.faults) == found(project, exercises.strays) == []
    assert check(project.book()) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "what"),
    [
        ("exercise.yml", "lesson: ", "lesson: no_", "there is no lesson 'no_"),
        ("exercise.yml", 'old: " + 1"', 'old: "+ 3"', "old of none occurs 0 times in solution.py"),
        ("exercise.yml", 'old: " + 1"', 'old: " "', "old of none occurs 4 times in solution.py"),
        ("exercise.yml", "{add: 相加}", "{}", "has no Chinese translation: add"),
        ("exercise.yml", "statement: {zh: 加一", "statement: {zh: add", "statement is not Chinese"),
        ("exercise.yml", "{zh: 第二条", "{zh: second", "hints 1 is not Chinese"),
        ("exercise.yml", "zh: 减了一", "zh: minus", "wrong minus is not Chinese"),
        ("exercise.yml", "en: Addition.", "en: 加法", "explanation is not English"),
        ("solution.py", "x = y + 1", "x = = y + 1", "solution.py is not Python, line 1"),
        ("solution.py", "x = y + 1", "x = y + 1  # sum", "translation: sum"),
        (
            "solution.py",
            "x = y + 1",
            'x = y + 1\n\n\ndef f():\n    """Sum."""',
            "a docstring of solution.py has no Chinese translation: Sum.",
        ),
    ],
)
def test_a_fault_is_found(project, file, old, new, what):
    project.edit(f"{PLACE}/{file}", old, new)
    assert any(what in line for line in found(project, exercises.faults))


def test_an_exercise_to_fill_in_needs_a_hole(project):
    project.edit(f"{PLACE}.py", "...  # add", "pass  # add")
    (line,) = found(project, exercises.faults)
    assert "01_add.py has no hole, and its kind is fill" in line


def test_two_exercises_of_one_number_are_found(project):
    for name in ("01_add.py", "01_add/exercise.yml", "01_add/solution.py"):
        text = project.read(f"labs/exercises/{name}")
        project.write(f"labs/exercises/{name.replace('01_add', '01_sub')}", text)
    (line,) = found(project, exercises.faults)
    assert "01_add has the number 01 as well" in line


def test_a_file_without_its_folder_is_found(project):
    project.write("labs/exercises/02_lost.py", FILE)
    (line,) = found(project, exercises.strays)
    assert line.startswith("labs/exercises/02_lost.py:1:")
