"""The pages that are made from the rooms, by their paths."""

from __future__ import annotations

from proof.book.model import Book, Lang
from proof.pages.decisions import decision_index, decision_page
from proof.pages.devices import devices_page
from proof.pages.exercises import exercise_index, exercise_page
from proof.pages.glossary import glossary_page
from proof.pages.status import status_page


def generated(book: Book, lang: Lang) -> dict[str, str]:
    """The pages that are made from the rooms: path -> Markdown."""
    pages = {
        "glossary/index.md": glossary_page(book, lang),
        "status.md": status_page(book, lang),
        "devices.md": devices_page(book, lang),
        "adr/index.md": decision_index(book, lang),
    }
    for decision in decisions(book, lang):
        pages[f"adr/{decision.slug}.md"] = decision_page(book, decision.id, lang)
    if book.exercises:
        pages["exercises/index.md"] = exercise_index(book, lang)
    for exercise in book.exercises.values():
        pages[f"exercises/{exercise.name}.md"] = exercise_page(book, exercise, lang)
    return pages


def decisions(book: Book, lang: Lang) -> list:
    return [book.decisions[key] for key in sorted(book.decisions) if key[1] == lang]
