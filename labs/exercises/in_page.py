"""What the playground's worker calls in the reader's browser: texts in, JSON out.

The page has no PyYAML and no files, so an exercise arrives as the JSON that the site's build wrote:
its name, the data of exercise.yml, and the source of cases.py. Every answer has the same fields:

    passed   true or false from `check`, null from `run`
    texts    a sentence in each language, null where there is nothing to say
    line     the line that it is about, or null
    trace    the run as play.trace gives it, null where nothing ran
    cases    the cases as the reader may choose them; empty for a snippet
    case     the position of the one that ran
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import play
from checking import arguments_of, check, examine, without_main
from exercise import Exercise, exercise_from
from play.trace import trace
from sentences import in_both


def run_snippet(source: str) -> str:
    """Run a program of a lesson from top to bottom."""
    report = play.run(source, with_torch=True)
    return _answer(report)


def run_exercise(data: str, source: str, case: int) -> str:
    """Call the reader's function with the arguments of one case, judging nothing.

    A hole is named, and what there is runs all the same if it can.
    """
    exercise = read_exercise(data)
    answer = without_main(source)
    refused = examine(answer, exercise.function)
    if refused and refused.key != "hole":
        return _answer(None, exercise, case, texts=refused.texts, line=refused.line)
    report = play.run(answer, exercise.function, arguments_of(exercise.cases[case]))
    if refused:
        stopped = report if report.problem is None else None
        return _answer(stopped, exercise, case, texts=refused.texts, line=refused.line)
    return _answer(report, exercise, case)


def check_exercise(data: str, source: str) -> str:
    """Judge the answer. The trace is that of the case that failed, or of the first."""
    exercise = read_exercise(data)
    verdict = check(exercise, source)
    texts, report = verdict.texts, verdict.report
    if verdict.passed:
        first = exercise.cases[0]
        report = play.run(without_main(source), exercise.function, arguments_of(first))
    if verdict.passed and exercise.speed:
        more = in_both("speed_needs_gpu", target=exercise.speed.ratio)
        texts = {"zh": f"{texts['zh']}{more['zh']}", "en": f"{texts['en']} {more['en']}"}
    case = exercise.cases.index(verdict.case) if verdict.case else 0
    return _answer(report, exercise, case, verdict.passed, texts, verdict.line)


def read_exercise(data: str) -> Exercise:
    """The exercise of the JSON that the build wrote."""
    read = json.loads(data)
    names: dict[str, Any] = {"__name__": f"cases_of_{read['name']}"}
    exec(compile(read["cases"], "cases.py", "exec"), names)
    return exercise_from(read["name"], read["data"], names)


def _answer(
    report: play.Report | None,
    exercise: Exercise | None = None,
    case: int = 0,
    passed: bool | None = None,
    texts: dict[str, str] | None = None,
    line: int | None = None,
) -> str:
    answer = {
        "passed": passed,
        "texts": texts,
        "line": line,
        "trace": asdict(trace(report)) if report else None,
        "cases": [each.text() for each in exercise.cases] if exercise else [],
        "case": case,
    }
    return json.dumps(answer, allow_nan=False, separators=(",", ":"))
