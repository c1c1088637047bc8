"""The order in which readers meet the labs: as the lessons introduce them. Menus, tables and lists
all follow it.
"""

from __future__ import annotations

from collections.abc import Iterator

from proof.book.model import Book, Lab, Page
from proof.evidence import state
from proof.text.macros import readable_calls
from proof.text.markdown import read


def labs(book: Book) -> list[Lab]:
    """By the first card that a Chinese lesson shows of each, then another page; those without a
    card last, by name.
    """
    pages = sorted(
        (p for p in book.pages if p.lang == "zh"), key=lambda p: not p.name.startswith("lessons/")
    )
    stems = dict.fromkeys([*(stem for page in pages for stem in _cards(page)), *sorted(book.labs)])
    return [book.labs[stem] for stem in stems if stem in book.labs]


def claims(book: Book) -> list[str]:
    """The id of every claim, lab by lab in that order, then of every cited source."""
    place = {lab.stem: n for n, lab in enumerate(labs(book))}
    known = state.all_claims(book)
    return sorted(known, key=lambda id: place.get(known[id].lab, len(place)))


def _cards(page: Page) -> Iterator[str]:
    for call in readable_calls(read(page.text)):
        if call.name == "lab_card" and call.args:
            yield call.args[0]
