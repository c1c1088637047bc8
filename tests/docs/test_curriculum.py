"""docs/curriculum.yml: every statement of the course stands where it says, in both languages, and its proofs exist and are shown."""

from __future__ import annotations

import re

import pytest
from tiny_project import ROOT

from proof.book import text
from proof.book.data import parse_yaml
from proof.book.model import LANGS
from proof.evidence import state
from proof.text.markdown import read
from proof.text.uses import uses

PARTS = parse_yaml(text.read(ROOT / "docs/curriculum.yml"))[0]["parts"]
STATEMENTS = [statement for part in PARTS for statement in part["statements"]]


@pytest.fixture(scope="module")
def anchors(book) -> dict[tuple[str, str], set[str]]:
    return {
        (page.lang, page.name): {heading.id for heading in read(page.text).headings}
        for page in book.pages
    }


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement["en"][:60])
def test_a_statement_stands_where_it_says_in_both_languages(anchors, statement):
    assert set(statement) <= {"en", "zh", "page", "proof", "source", "corrected"}
    name, _, anchor = statement["page"].partition("#")
    for lang in LANGS:
        assert anchor in anchors.get((lang, name), set()), (
            f"docs/{lang}/{name} has no section #{anchor}"
        )


def test_every_proof_is_a_claim_or_a_bug(book):
    there = state.all_claims(book)
    assert [
        proof
        for statement in STATEMENTS
        for proof in statement.get("proof", ())
        if proof not in there
    ] == []


def test_a_proof_of_each_statement_is_shown_where_it_stands_in_each_language(book):
    """On its page, or on a lesson that this page links to. The others are rows on the page of their lab, as every claim is."""
    used, text = uses(book), {(page.lang, page.name): page.text for page in book.pages}
    for statement in STATEMENTS:
        name, proofs = statement["page"].partition("#")[0], statement.get("proof", ())
        for lang in LANGS:
            shown = {
                page.name.removeprefix("lessons/")
                for proof in proofs
                for page in used.get(proof, ())
                if page.lang == lang
            }
            near = {name.removeprefix("lessons/")} | set(
                re.findall(r"\]\((\w+\.md)", text[lang, name])
            )
            assert not proofs or shown & near, (
                f"docs/{lang}/{name} shows none of {', '.join(proofs)}"
            )


def test_what_others_say_is_cited_where_the_statement_stands(book):
    text = {(page.lang, page.name): page.text for page in book.pages}
    for statement in STATEMENTS:
        for source in statement.get("source", ()):
            assert source in book.sources, f"there is no source {source}"
            for lang in LANGS:
                assert f'source("{source}")' in text[lang, statement["page"].partition("#")[0]], (
                    f"{statement['page']}: {source}"
                )


def test_no_statement_is_there_twice():
    for lang in LANGS:
        said = [statement[lang] for statement in STATEMENTS]
        assert len(said) == len(set(said))


def test_every_lesson_has_statements_and_most_of_them_have_evidence(book):
    lessons = {page.name for page in book.pages if page.name.startswith("lessons/")}
    assert lessons <= {statement["page"].partition("#")[0] for statement in STATEMENTS}
    assert sum(
        "proof" in statement or "source" in statement for statement in STATEMENTS
    ) > 0.75 * len(STATEMENTS)
