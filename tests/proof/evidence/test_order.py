"""Labs stand in the order in which the lessons introduce them, wherever they are listed."""

from __future__ import annotations

import dataclasses

import handmade as made
import pytest

from proof.book.model import Book, Page
from proof.evidence import order
from proof.pages.macros import expand
from proof.pages.status import status_page
from proof.site import assemble


def book(*pages: Page) -> Book:
    """Four labs, and these pages."""
    found = made.book(pages=list(pages))
    lab, words = found.labs.pop("triton_scale"), found.words.pop("triton_scale")
    for name in ("add", "dot", "max", "sum"):
        stem = f"triton_{name}"
        claim = dataclasses.replace(
            lab.claims[made.ERROR], id=f"{name}.ragged.max_abs_err", lab=stem
        )
        found.labs[stem] = dataclasses.replace(
            lab, stem=stem, title=f"{name}: x", claims={claim.id: claim}, bugs={}
        )
        found.words[stem] = words.model_copy(update={"title": f"题 {name}"})
    return found


def cards(name: str, *labs: str, lang: str = "zh") -> Page:
    return made.page(
        "\n\n".join(f'{{{{ lab_card("triton_{lab}") }}}}' for lab in labs) + "\n", lang, name
    )


def names(book: Book) -> list[str]:
    return [lab.stem.removeprefix("triton_") for lab in order.labs(book)]


@pytest.mark.parametrize(
    ("pages", "wanted"),
    [
        ([], ["add", "dot", "max", "sum"]),
        ([cards("lessons/one.md", "sum", "dot")], ["sum", "dot", "add", "max"]),
        (
            [cards("lessons/b.md", "sum"), cards("lessons/a.md", "dot", "sum")],
            ["sum", "dot", "add", "max"],
        ),
        ([cards("index.md", "max"), cards("lessons/one.md", "sum")], ["sum", "max", "add", "dot"]),
        ([cards("lessons/one.md", "sum", lang="en")], ["add", "dot", "max", "sum"]),
        ([cards("lessons/one.md", "gone", "max")], ["max", "add", "dot", "sum"]),
        (
            [made.page("{{ lab_card() }}\n{{ x }}", "zh", "lessons/one.md")],
            ["add", "dot", "max", "sum"],
        ),
    ],
    ids=[
        "no card",
        "by card",
        "pages as listed",
        "lessons first",
        "Chinese pages",
        "a lab that is gone",
        "unreadable",
    ],
)
def test_labs_follow_the_first_card_that_a_lesson_shows(pages, wanted):
    assert names(book(*pages)) == wanted


SUM_FIRST = cards("lessons/one.md", "sum")


def test_the_menu_follows_and_has_the_short_names_of_its_language():
    en, zh = (assemble.menu(["labs/*"], book(SUM_FIRST), lang) for lang in ("en", "zh"))
    assert [label for entry in en for label in entry] == ["sum", "add", "dot", "max"]
    assert zh[0] == {"题 sum": "labs/triton_sum.ipynb"}


@pytest.mark.parametrize("page", ["table of labs", "status page"])
def test_every_list_follows(page):
    found = book(SUM_FIRST)
    text = {
        "table of labs": lambda: expand("{{ labs() }}", made.page(""), found, "./"),
        "status page": lambda: status_page(found, "en"),
    }[page]()
    places = {name: text.index(f"labs/triton_{name}/") for name in ("sum", "add", "dot", "max")}
    assert sorted(places, key=places.get) == ["sum", "add", "dot", "max"]


def test_cited_sources_stand_behind_the_claims_of_labs():
    assert order.claims(book(SUM_FIRST)) == [
        "sum.ragged.max_abs_err",
        "add.ragged.max_abs_err",
        "dot.ragged.max_abs_err",
        "max.ragged.max_abs_err",
        "source.vllm-kernel",
        "source.rtx-4090",
    ]
