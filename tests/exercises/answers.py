"""Answers to exercises as texts: as handed out, solved, and wrong in each typical way."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "labs/exercises"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/exercise.yml"))


@cache
def data(name: str) -> dict[str, Any]:
    """What exercise.yml holds."""
    return yaml.safe_load((FOLDER / name / "exercise.yml").read_text(encoding="utf-8"))


def handed_out(name: str) -> str:
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def solution(name: str) -> str:
    return (FOLDER / name / "solution.py").read_text(encoding="utf-8")


def wrong(name: str, mistake: str) -> str:
    """The solution with this mistake in it."""
    text = solution(name)
    for change in data(name)["wrong"][mistake]["change"]:
        assert text.count(change["old"]) == 1, (
            f"{change['old']!r} occurs {text.count(change['old'])} times"
        )
        text = text.replace(change["old"], change["new"])
    return text


def mistakes() -> list[tuple[str, str]]:
    """Every typical wrong answer: the exercise and the mistake."""
    return [(name, mistake) for name in NAMES for mistake in data(name)["wrong"]]
