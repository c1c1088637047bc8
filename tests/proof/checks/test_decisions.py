"""A decision exists in both languages with the same sections, links between decisions go both ways, a test holds each."""

import pytest
from planted import found

from proof.checks import decisions
from proof.checks.rules import check


def edit(tiny, old: str, new: str, *langs: str) -> None:
    for lang in langs or ("zh", "en"):
        tiny.edit(tiny.decision[lang], old, new)


def second(tiny, old: str = "", new: str = "") -> None:
    """Write both halves of 0002, made from 0001 by this change."""
    for lang, path in tiny.decision.items():
        text = tiny.read(path).replace('id: "0001"', 'id: "0002"')
        tiny.write(f"adr/0002-words.{lang}.md", text.replace(old, new))


def whats(tiny, rule) -> set[str]:
    return {line.split(": ", 1)[1] for line in found(tiny, rule)}


# Both languages


def test_a_good_decision_passes(tiny):
    second(tiny)
    assert check(tiny.book()) == []


def test_a_decision_in_one_language_is_found(tiny):
    tiny.remove(tiny.decision["zh"])
    assert found(tiny, decisions.halves) == [
        f"{tiny.decision['en']}:1: decision 0001 has no zh half"
    ]


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("status: accepted", "status: proposed", "status"),
        ("date: 2026-11-29", "date: 2026-11-28", "date"),
        ("supersedes: []", 'supersedes: ["0009"]', "supersedes"),
        ("superseded_by: null", 'superseded_by: "0009"', "superseded_by"),
    ],
)
def test_halves_that_disagree_are_found_at_the_key(tiny, old, new, key):
    edit(tiny, old, new, "en")
    line = 1 + tiny.read(tiny.decision["en"]).split("\n").index(new)
    assert found(tiny, decisions.halves) == [
        f"{tiny.decision['en']}:{line}: {key} is another than in {tiny.decision['zh']}"
    ]


def test_one_number_of_two_decisions_is_found(tiny):
    second(tiny)
    tiny.write("adr/0002-other.en.md", tiny.read("adr/0002-words.en.md"))
    tiny.remove("adr/0002-words.en.md")
    assert found(tiny, decisions.halves) == [
        "adr/0002-other.en.md:1: slug is another than in adr/0002-words.zh.md"
    ]


def test_an_id_that_is_not_the_number_of_the_file_is_found(tiny):
    edit(tiny, 'id: "0001"', 'id: "0002"', "en")
    assert any(problem.file == tiny.decision["en"] for problem in check(tiny.book()))


def test_another_section_is_found(tiny):
    edit(tiny, " { #drivers }", " { #reasons }", "en")
    assert whats(tiny, decisions.halves) == {
        "the sections are context, reasons, options, outcome, consequences, confirmation"
    }


def test_a_status_that_is_not_in_the_list_is_found_at_its_line(tiny):
    edit(tiny, "status: accepted", "status: superceded", "en")
    (problem,) = (problem for problem in check(tiny.book()) if problem.file == tiny.decision["en"])
    assert (problem.line, problem.what.startswith("status: 'superceded' is not one of")) == (
        4,
        True,
    )


# Succession


def test_a_good_pair_passes(tiny):
    second(tiny, "supersedes: []", 'supersedes: ["0001"]')
    edit(tiny, "status: accepted", "status: superseded")
    edit(tiny, "superseded_by: null", 'superseded_by: "0002"')
    assert check(tiny.book()) == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (
            "status: accepted",
            "status: superseded",
            "the status is superseded, and superseded_by is empty",
        ),
        ("supersedes: []", 'supersedes: ["0004"]', "decision 0004 does not exist"),
        ("supersedes: []", 'supersedes: ["0002"]', "0002 does not name 0001 in superseded_by"),
    ],
)
def test_a_succession_that_one_side_says_is_found(tiny, old, new, what):
    second(tiny)
    edit(tiny, old, new)
    assert whats(tiny, decisions.succession) == {what}


def test_a_successor_that_does_not_say_so_is_found(tiny):
    second(tiny)
    edit(tiny, "superseded_by: null", 'superseded_by: "0002"')
    assert whats(tiny, decisions.succession) == {
        "the status is accepted, and superseded_by is 0002",
        "0002 does not name 0001 in supersedes",
    }


# Confirmation


@pytest.mark.parametrize(
    ("confirmation", "what"),
    [
        ("By review.", "the confirmation names no test"),
        ("`tests/test_gone.py`", "tests/test_gone.py does not exist"),
        ("`tests/test_tiny.py::test_gone`", "tests/test_tiny.py has no test_gone"),
    ],
)
def test_a_confirmation_names_a_test_that_is_there(tiny, confirmation, what):
    edit(tiny, "`tests/test_tiny.py`", confirmation, "en")
    (line,) = found(tiny, decisions.confirmations)
    assert line.startswith(tiny.decision["en"]) and line.endswith(what)


def test_a_confirmation_may_name_one_function(tiny):
    edit(tiny, "tests/test_tiny.py", "tests/test_tiny.py::test_nothing")
    assert found(tiny, decisions.confirmations) == []
