"""One decision, one number, two languages; the links between decisions go both ways and never round."""

import pytest
from planted import add, found

from proof.checks import decisions
from proof.checks.rules import check


def decision(
    tiny, number: str, slug: str = "", status: str = "accepted", supersedes: str = "[]", by: str = "null", **old_new
):
    """Write both halves of a decision, made from the one that is there."""
    for lang, path in tiny.decision.items():
        text = tiny.read(path).replace('id: "0001"', f'id: "{number}"').replace("status: accepted", f"status: {status}")
        text = text.replace("supersedes: []", f"supersedes: {supersedes}").replace(
            "superseded_by: null", f"superseded_by: {by}"
        )
        tiny.write(f"adr/{number}-{slug or 'words'}.{lang}.md", text)


def edit(tiny, old: str, new: str, *langs: str) -> None:
    for lang in langs or ("zh", "en"):
        tiny.edit(tiny.decision[lang], old, new)


def pair(tiny, status: str = "accepted") -> None:
    """0002 of that status supersedes 0001."""
    decision(tiny, "0002", status=status, supersedes='["0001"]')
    edit(tiny, "status: accepted", "status: superseded")
    edit(tiny, "superseded_by: null", 'superseded_by: "0002"')


# Numbers


def test_C025_two_decisions_with_one_number_are_found_naming_both(tiny):
    decision(tiny, "0001", "words")
    told = [
        problem
        for problem in check(tiny.book())
        if "0001-words" in problem.file + problem.what and "records-not" in str(problem)
    ]
    assert {problem.file for problem in told} >= {"adr/0001-words.zh.md", "adr/0001-words.en.md"}


def test_C025_7_and_0007_are_one_number(tiny):
    decision(tiny, "0007")
    tiny.write("adr/7-other.en.md", tiny.read("adr/0007-words.en.md").replace("0007", "7"))
    assert any(problem.file == "adr/7-other.en.md" for problem in check(tiny.book()))


def test_C025_one_number_in_two_languages_of_different_decisions_is_found(tiny):
    decision(tiny, "0002", "one")
    tiny.write("adr/0002-two.en.md", tiny.read("adr/0002-one.en.md"))
    tiny.remove("adr/0002-one.en.md")
    (line,) = found(tiny, decisions.numbers)
    assert line == "adr/0002-two.en.md:1: the number 2 is that of 0002-one already, and this is 0002-two"


def test_C025_an_id_that_is_not_the_number_of_the_file_is_found(tiny):
    tiny.edit(tiny.decision["en"], 'id: "0001"', 'id: "0002"')
    assert any(problem.file == tiny.decision["en"] for problem in check(tiny.book()))


def test_C025_a_heading_with_another_number_is_found(tiny):
    tiny.edit(tiny.decision["en"], "# Records, not promises", "# ADR-0002: Records, not promises")
    assert [line.split(": ", 1)[1] for line in found(tiny, decisions.forms)] == ["the heading says 0002, the file 0001"]


def test_C025_gaps_are_allowed(tiny):
    decision(tiny, "0009")
    assert check(tiny.book()) == []


# Both languages


def test_a_decision_in_one_language_is_found(tiny):
    tiny.remove(tiny.decision["zh"])
    assert found(tiny, decisions.forms) == [f"{tiny.decision['en']}:1: decision 0001 has no zh half"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("status: accepted", "status: proposed", "status is proposed here and accepted in"),
        ("date: 2026-11-29", "date: 2026-11-28", "date is 2026-11-28 here and 2026-11-29 in"),
        ("supersedes: []", 'supersedes: ["0009"]', "supersedes is 0009 here and nothing in"),
        ("superseded_by: null", 'superseded_by: "0009"', "superseded_by is 0009 here and nothing in"),
    ],
)
def test_halves_that_disagree_are_found(tiny, old, new, said):
    edit(tiny, old, new, "en")
    (line,) = found(tiny, decisions.forms)
    assert said in line and line.startswith(f"{tiny.decision['en']}:")


def test_a_missing_section_is_found(tiny):
    edit(tiny, " { #drivers }", " { #reasons }", "en")
    (line,) = found(tiny, decisions.forms)
    assert line.endswith("the sections drivers are missing")


# Status


@pytest.mark.parametrize(
    ("status", "suggestion"),
    [
        ("Acepted", "accepted"),
        ("Accepted", "accepted"),
        ("ACCEPTED", "accepted"),
        ('"accepted\u3000"', "accepted"),
        ('"accepted "', "accepted"),
        ("superceded", "superseded"),
        ("draft", "proposed"),
        ("accepted, proposed", "accepted"),
        ("已采纳", "accepted"),
        ("已弃用", "deprecated"),
    ],
)
def test_C085_a_status_not_in_the_list_is_found_with_a_suggestion(tiny, status, suggestion):
    edit(tiny, "status: accepted", f"status: {status}")
    problems = list(decisions.forms(tiny.book()))
    assert len(problems) == 2
    assert all("is not a status" in problem.what and suggestion in problem.fix for problem in problems)


@pytest.mark.parametrize("status", ["", "[accepted, proposed]"])
def test_C085_a_missing_status_or_two_are_found(tiny, status):
    edit(tiny, "status: accepted", f"status: {status}")
    assert {problem.file for problem in check(tiny.book())} >= set(tiny.decision.values())


@pytest.mark.parametrize("status", ["proposed", "accepted", "rejected", "deprecated"])
def test_C085_a_listed_status_passes(tiny, status):
    edit(tiny, "status: accepted", f"status: {status}")
    assert check(tiny.book()) == []


# Succession


def test_C083_a_good_pair_passes(tiny):
    pair(tiny)
    assert check(tiny.book()) == []


def test_C083_superseded_without_a_successor_is_found(tiny):
    edit(tiny, "status: accepted", "status: superseded")
    assert {line.split(": ", 1)[1] for line in found(tiny, decisions.succession)} == {"superseded, but by nothing"}


def test_C083_a_successor_of_one_that_still_holds_is_found(tiny):
    pair(tiny)
    edit(tiny, "status: superseded", "status: accepted")
    told = {line.split(": ", 1)[1] for line in found(tiny, decisions.succession)}
    assert told == {"superseded_by is 0002, but the status is accepted"}


def test_C083_a_link_that_goes_one_way_is_found(tiny):
    decision(tiny, "0002", supersedes='["0001"]')
    told = {line.split(": ", 1)[1] for line in found(tiny, decisions.succession)}
    assert told == {"0001 does not say that 0002 supersedes it"}


def test_C083_a_link_that_goes_the_other_way_only_is_found(tiny):
    pair(tiny)
    for lang in ("zh", "en"):
        tiny.edit(f"adr/0002-words.{lang}.md", 'supersedes: ["0001"]', "supersedes: []")
    told = {line.split(": ", 1)[1] for line in found(tiny, decisions.succession)}
    assert told == {"0002 does not say that it supersedes 0001"}


def test_C083_a_link_to_nothing_is_found(tiny):
    edit(tiny, "supersedes: []", 'supersedes: ["0004"]')
    assert {line.split(": ", 1)[1] for line in found(tiny, decisions.succession)} == {"decision 0004 does not exist"}


def test_C083_a_ring_is_found(tiny):
    decision(tiny, "0002", status="superseded", supersedes='["0001"]', by='"0001"')
    edit(tiny, "status: accepted", "status: superseded")
    edit(tiny, "superseded_by: null", 'superseded_by: "0002"')
    edit(tiny, "supersedes: []", 'supersedes: ["0002"]')
    told = {line.split(": ", 1)[1] for line in found(tiny, decisions.succession)}
    assert told == {
        "the succession goes round: 0001 → 0002 → 0001",
        "the succession goes round: 0002 → 0001 → 0002",
    }


def test_C083_a_decision_that_supersedes_itself_is_found(tiny):
    edit(tiny, "status: accepted", "status: superseded")
    edit(tiny, "supersedes: []", 'supersedes: ["0001"]')
    edit(tiny, "superseded_by: null", 'superseded_by: "0001"')
    assert {line.split(": ", 1)[1] for line in found(tiny, decisions.succession)} == {
        "the succession goes round: 0001 → 0001"
    }


@pytest.mark.parametrize("status", ["proposed", "rejected"])
def test_C083_a_successor_that_decides_nothing_is_found(tiny, status):
    pair(tiny, status)
    assert {line.split(": ", 1)[1] for line in found(tiny, decisions.succession)} == {f"0002 is only {status}"}


def test_C083_a_link_whose_text_names_another_decision_is_found(tiny):
    decision(tiny, "0002")
    add(tiny, "[ADR-0001](adr/0002-words.md)", "en")
    (line,) = found(tiny, decisions.mentions)
    assert line == "docs/en/index.md:5: the link says ADR-0001 and leads to 0002"


# Mentions


def test_a_mention_of_a_decision_that_is_not_there_is_found(tiny):
    add(tiny, "见 ADR-0004。", "zh")
    assert found(tiny, decisions.mentions) == ["docs/zh/index.md:5: ADR-0004 does not exist"]


@pytest.mark.parametrize("text", ["见 ADR-0001。", '{{ adr("0001") }}', "`ADR-0004`"])
def test_a_mention_of_a_decision_that_holds_passes(tiny, text):
    add(tiny, text)
    assert found(tiny, decisions.mentions) == []


@pytest.mark.parametrize("text", ["As ADR-0001 says.", '{{ adr("0001") }} says so.'])
def test_a_mention_of_a_superseded_decision_is_found(tiny, text):
    pair(tiny)
    add(tiny, text, "en")
    assert found(tiny, decisions.mentions) == ["docs/en/index.md:5: ADR-0001 is superseded by ADR-0002"]


@pytest.mark.parametrize("text", ["ADR-0001, superseded since, said.", "ADR-0001 已被取代。"])
def test_a_mention_that_says_so_passes(tiny, text):
    pair(tiny)
    add(tiny, text)
    assert found(tiny, decisions.mentions) == []


def test_the_successor_may_speak_of_what_it_supersedes(tiny):
    pair(tiny)
    tiny.write("adr/0002-words.en.md", tiny.read("adr/0002-words.en.md") + "\nADR-0001 held until now.\n")
    assert found(tiny, decisions.mentions) == []


# Confirmation


def test_a_confirmation_that_names_no_test_is_found(tiny):
    edit(tiny, "`tests/test_tiny.py`", "By review.", "en")
    (line,) = found(tiny, decisions.confirmations)
    assert line.startswith(tiny.decision["en"]) and line.endswith("the confirmation names no test")


def test_a_confirmation_that_names_a_missing_test_is_found(tiny):
    edit(tiny, "tests/test_tiny.py", "tests/test_gone.py", "en")
    (line,) = found(tiny, decisions.confirmations)
    assert line.endswith("tests/test_gone.py does not exist")


def test_a_confirmation_may_name_one_function_that_must_be_there(tiny):
    edit(tiny, "tests/test_tiny.py", "tests/test_tiny.py::test_nothing", "zh")
    edit(tiny, "tests/test_tiny.py", "tests/test_tiny.py::test_gone", "en")
    (line,) = found(tiny, decisions.confirmations)
    assert line.endswith("tests/test_tiny.py has no test_gone")
