"""What one rule says of a small project in which a fault was planted."""

from __future__ import annotations


def found(tiny, rule) -> list[str]:
    """Each finding as file:line: what."""
    return [f"{problem.file}:{problem.line}: {problem.what}" for problem in rule(tiny.book())]


def add(tiny, text: str, *langs: str) -> None:
    """Put text at the end of the home page in these languages, or in both."""
    for lang in langs or ("zh", "en"):
        tiny.write(tiny.page[lang], tiny.read(tiny.page[lang]) + "\n" + text + "\n")
