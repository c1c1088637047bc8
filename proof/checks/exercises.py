"""An exercise is whole: its lesson exists, wrong answers fit the solution, Chinese pages speak Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from proof.book.exercises import comments, first_lines, starter
from proof.book.model import Book, Exercise
from proof.problem import Problem, nearest
from proof.text.documents import place

CHINESE = re.compile("[\u4e00-\u9fff]")
HOLE = re.compile(r"\.\.\.")


def faults(book: Book) -> Iterable[Problem]:
    """Something of an exercise is missing, is there twice, or does not fit."""
    lessons = {page.name for page in book.pages if page.name.startswith("lessons/")}
    names = [Path(name).stem for name in lessons]
    numbers: dict[str, str] = {}
    for exercise in book.exercises.values():
        file = place(book, exercise.path)
        if f"lessons/{exercise.lesson}.md" not in lessons:
            what = f"there is no lesson {exercise.lesson!r}"
            yield Problem(file, exercise.line("lesson"), what, nearest(exercise.lesson, names))
        other = numbers.setdefault(exercise.name[:2], exercise.name)
        if other != exercise.name:
            what = f"{other} has the number {exercise.name[:2]} as well"
            yield Problem(file, 1, what, "Rename the folder and the file that is new")
        for at, what, fix in [*_python(exercise), *_wrong(exercise), *_languages(exercise)]:
            yield Problem(file, exercise.line(*at), what, fix)


def strays(book: Book) -> Iterable[Problem]:
    """A file that readers edit has no folder with exercise.yml, or a folder none."""
    folder = book.root / "labs/exercises"
    for path in sorted(folder.glob("[0-9]*")):
        data = path.with_suffix("") / "exercise.yml"
        if not data.is_file():
            what = f"there is no {place(book, data)}, so no page has this exercise"
            yield Problem(
                place(book, path), 1, what, "Write it like those beside it, or remove this"
            )


Fault = tuple[tuple[str | int, ...], str, str]  # place in the file, what, how to fix it


def _python(exercise: Exercise) -> Iterator[Fault]:
    for name, text in (
        (f"{exercise.name}.py", exercise.handed_out),
        ("solution.py", exercise.solution),
    ):
        try:
            written = dict.fromkeys(comments(text))
            described = dict.fromkeys(first_lines(text))
            compile(text, name, "exec")
        except (SyntaxError, ValueError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
            yield (), f"{name} is not Python{line}: {str(error).split(' (')[0]}", "Fix it there"
            continue
        for comment in written:
            if comment not in exercise.comments:
                what = f"a comment of {name} has no Chinese translation: {comment}"
                yield ("comments",), what, "Add it below comments"
        for docstring in described:
            if docstring not in {each.split("\n")[0] for each in exercise.docstrings}:
                what = f"a docstring of {name} has no Chinese translation: {docstring}"
                yield ("docstrings",), what, "Add it below docstrings"
    if exercise.kind in ("fill", "write"):
        try:
            begun = starter(exercise, "en")
        except (SyntaxError, ValueError):
            return  # said above
        if not HOLE.search(begun):
            what = f"{exercise.name}.py has no hole, and its kind is {exercise.kind}"
            yield ("kind",), what, "Put ... where the reader is to write, or make it a bug"


def _wrong(exercise: Exercise) -> Iterator[Fault]:
    for name, wrong in exercise.wrong.items():
        for number, change in enumerate(wrong.change):
            count = exercise.solution.count(change.old)
            if count != 1:
                what = f"old of {name} occurs {count} times in solution.py: {change.old}"
                yield ("wrong", name, "change", number), what, "Name a piece that occurs once"


def _languages(exercise: Exercise) -> Iterator[Fault]:
    texts = {(key,): getattr(exercise, key) for key in ("title", "statement", "explanation")}
    texts |= {("hints", number): hint for number, hint in enumerate(exercise.hints)}
    texts |= {("wrong", name): wrong for name, wrong in exercise.wrong.items()}
    for at, text in texts.items():
        name = " ".join(str(step) for step in at)
        words = re.sub(r"`[^`]*`|\$[^$]*\$", "", text.zh)
        if re.search("[a-z]{3}", words) and not CHINESE.search(words):
            yield (*at, "zh"), f"{name} is not Chinese", f"Say it in Chinese: {text.en}"
        if CHINESE.search(text.en):
            yield (*at, "en"), f"{name} is not English", "Say it in English"
