"""The exercises: a page each, their index by lesson, and the list that a lesson ends in."""

from __future__ import annotations

from itertools import groupby

from proof.book.archive import DOWNLOAD
from proof.book.exercises import solution, starter
from proof.book.model import Book, Exercise, Lang
from proof.pages.format import code, link, md
from proof.pages.render import render
from proof.problem import Fault, where
from proof.text.uses import page_title


def exercise_page(book: Book, exercise: Exercise, lang: Lang) -> str:
    """/exercises/<name>/: task, what the reader edits, hints, solution. The task stands on the page
    and what is edited in an element that a script turns into an editor.
    """
    up = "../../"
    try:
        begun, solved = starter(exercise, lang), solution(exercise, lang)
    except (SyntaxError, ValueError) as error:
        what = f"its Python cannot be read: {str(error).split(' (')[0]}"
        raise Fault(what, "Fix it there", file=where(exercise.path, book.root)) from None
    return render(
        "exercise",
        lang,
        up,
        exercise=exercise,
        title=md(exercise.title.of(lang)),
        lesson=_lesson_title(book, exercise.lesson, lang),
        statement=exercise.statement.of(lang).strip(),
        hints=[hint.of(lang).strip() for hint in exercise.hints],
        explanation=exercise.explanation.of(lang).strip(),
        starter=begun.rstrip(),
        solution=solved.rstrip(),
        archive=_archive(up),
    )


def exercise_index(book: Book, lang: Lang) -> str:
    """/exercises/: all of them by lesson, in the order of the course."""
    up = "../"
    lessons = [
        (lesson, _lesson_title(book, lesson, lang), sorted(found, key=_by_level))
        for lesson, found in groupby(in_order(book), key=lambda exercise: exercise.lesson)
    ]
    return render("exercises", lang, up, lessons=lessons, archive=_archive(up))


def exercise_list(book: Book, lesson: str, lang: Lang, up: str) -> str:
    """The exercises of one lesson, the easy ones first."""
    found = [each for each in book.exercises.values() if each.lesson == lesson]
    return render("exercise_list", lang, up, found=sorted(found, key=_by_level))


def in_order(book: Book) -> list[Exercise]:
    """All exercises in the order of their lessons, then by number."""
    lessons = [page.name for page in book.pages if page.lang == "zh"]
    places = {name: place for place, name in enumerate(lessons)}
    return sorted(
        book.exercises.values(),
        key=lambda each: (places.get(f"lessons/{each.lesson}.md", len(places)), each.name),
    )


def _by_level(exercise: Exercise) -> tuple[str, str]:
    return exercise.level, exercise.name


def _lesson_title(book: Book, lesson: str, lang: Lang) -> str:
    name = f"lessons/{lesson}.md"
    titles = (page_title(page) for page in book.pages if (page.lang, page.name) == (lang, name))
    return next(titles, lesson)


def _archive(up: str) -> str:
    return link(up + DOWNLOAD, code("exercises.zip"))
