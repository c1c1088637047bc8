"""The pages as they are: every rule holds, every lab is taught, and nothing that can be cited lies unused."""

from __future__ import annotations

import re

import pytest
import yaml

from proof.book.model import LANGS
from proof.checks.drafts import drafts
from proof.checks.rules import RULES
from proof.text.documents import documents, place
from proof.text.macros import readable_calls
from proof.text.markdown import read
from proof.text.uses import term_uses, used

RUNS_FIRST = (  # a lesson that begins with a program; the ones in brackets are there where they fit
    "run",
    "mental-model",
    "how",
    "results",
    "predict",
    "(exercises)",
    "(real-projects)",
    "summary",
    "self-test",
)
TOURS = ("lessons/reading_vllm.md",)  # through the code of others, in its order
PARTS = (  # of a lesson, in this order
    "intuition",
    "mental-model",
    "principles",
    "lab",
    "run",
    "pitfalls",
    "real-projects",
    "interview",
    "summary",
    "self-test",
)


def written(book, lang):
    return [read(page.text) for page in book.pages if page.lang == lang]


def finished(book, things):
    """The keys of those without an open place: what `proof new` has only begun need not stand on a page yet."""
    begun = drafts(book)
    return {key for key, thing in things.items() if place(book, thing.path) not in begun}


@pytest.mark.parametrize(
    "rule",
    RULES,
    ids=lambda rule: f"{rule.__module__.removeprefix('proof.checks.')}.{rule.__name__}",
)
def test_a_rule_holds(book, rule):
    assert [str(problem) for problem in rule(book) if not problem.warning] == []


def test_everything_can_be_read(book):
    assert [str(problem) for problem in book.problems] == []


@pytest.mark.parametrize("lang", LANGS)
def test_every_lab_has_a_card_and_a_claim_on_some_page(book, lang):
    macros = [call for page in written(book, lang) for call in readable_calls(page)]
    cards = {macro.args[0] for macro in macros if macro.name == "lab_card"}
    cited = {
        book.claims[name].lab for macro in macros for name in macro.args if name in book.claims
    }
    assert cards >= finished(book, book.labs)
    assert cited >= finished(book, book.labs)


@pytest.mark.parametrize("lang", LANGS)
def test_every_kernel_is_quoted_and_explained_line_by_line(book, lang):
    pages = written(book, lang)
    quoted = {snippet.target for page in pages for snippet in page.snippets}
    noted = {
        macro.args[0] for page in pages for macro in readable_calls(page) if macro.name == "notes"
    }
    taught = finished(book, book.labs) - {
        "triton_lab_notes"
    }  # that one asks what a launch does, not how its kernel is written
    for stem in taught:
        sections = ["kernel"] if "kernel" in book.labs[stem].sections else book.labs[stem].sections
        assert any(
            f"labs/{stem}.py:{section}" in quoted and f"{stem}:{section}" in noted
            for section in sections
        ), stem


@pytest.mark.parametrize("lang", LANGS)
def test_a_lesson_has_its_parts_in_order(book, lang):
    for page in book.pages:
        if page.lang != lang or not page.name.startswith("lessons/") or page.name in TOURS:
            continue
        ids = [heading.id for heading in read(page.text).headings if heading.level == 2]
        if ids[0] == "run":
            wanted = [
                part.strip("()") for part in RUNS_FIRST if part[0] != "(" or part[1:-1] in ids
            ]
        else:
            wanted = list(PARTS)
        assert ids == wanted, page.path


def test_every_term_is_used_on_a_page_of_each_language(book):
    uses = term_uses(book)
    unused = {
        (term, lang)
        for term in finished(book, book.terms)
        for lang in LANGS
        if not any(page.lang == lang for page in uses.get(term, ()))
    }
    assert unused == set()


def test_every_source_is_cited(book):
    cited = set(used(book, "source")) | {
        source for term in book.terms.values() for source in term.sources
    }
    assert set(book.sources) - cited == set()


def test_every_decision_is_cited_on_a_page(book):
    cited = set(used(book, "decision"))
    for document in documents(book):
        own = re.match(r"adr/(\d{4})-", document.name)
        cited |= set(re.findall(r"\bADR-(\d{4})", document.markdown.prose)) - {
            own[1] if own else ""
        }
    kept = {
        number
        for (number, _), decision in book.decisions.items()
        if decision.status != "superseded"
    }
    assert (kept & {number for number, _ in finished(book, book.decisions)}) - cited == set()


def test_the_menu_has_every_page_once_and_the_same_in_both_languages(book):
    menus = {}
    for lang, config in (("zh", "mkdocs.yml"), ("en", "mkdocs.en.yml")):
        nav = yaml.load((book.root / config).read_text(encoding="utf-8"), yaml.BaseLoader)["nav"]
        menus[lang] = list(_leaves(nav))
        pages = {page.name for page in book.pages if page.lang == lang}
        generated = {
            "glossary/index.md",
            "status.md",
            "devices.md",
            "adr/index.md",
            "exercises/index.md",
            "labs/*",
            "exercises/*",
            "adr/*",
        }
        assert sorted(menus[lang]) == sorted(pages | generated)
    assert menus["zh"] == menus["en"]


def _leaves(nav):
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from _leaves(value) if isinstance(value, list) else [value]
