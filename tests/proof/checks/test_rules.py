"""`check` as a whole: a valid project has no fault, and a finding tells file, line, what and how to fix it."""

import pytest

from proof.checks.rules import BEFORE_RELEASE, RULES, check
from proof.problem import Problem


def test_a_valid_project_has_no_fault(tiny):
    assert check(tiny.book()) == []


def test_a_valid_project_may_be_released(tiny, monkeypatch):
    monkeypatch.setenv("SITE_URL", "https://example.org/")
    assert check(tiny.book(), release=True) == []


def test_every_rule_says_what_it_finds():
    assert all(rule.__doc__ for rule in RULES + BEFORE_RELEASE)
    assert len({rule.__doc__ for rule in RULES + BEFORE_RELEASE}) == len(RULES + BEFORE_RELEASE)


def test_what_could_not_be_read_is_found_too(tiny):
    tiny.write(tiny.term, "id: [\n")
    assert any(problem.file == tiny.term for problem in check(tiny.book()))


def test_errors_come_before_warnings_then_by_file_and_line(tiny):
    tiny.edit(tiny.page["en"], "{ #third }", "")
    tiny.edit(tiny.lab, "Memory:  1 GiB", "Memory:  100 MiB")
    found = check(tiny.book())
    assert found == sorted(found, key=lambda problem: (problem.warning, problem.file, problem.line))
    assert found[-1].warning


def test_a_finding_is_told_once(tiny):
    tiny.edit(tiny.page["en"], "{ #third }", "")
    found = check(tiny.book())
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    "room", ["labs", "glossary", "adr", "docs", "labs/records", "docs/sources"]
)
def test_an_empty_room_is_no_crash(tiny, room):
    tiny.remove(f"{room}")
    assert all(isinstance(problem, Problem) for problem in check(tiny.book(), release=True))


def test_C090_a_byte_order_mark_and_windows_line_ends_change_nothing(tiny):
    for path in (tiny.page["zh"], tiny.decision["en"], tiny.term, tiny.source, tiny.lab):
        text = tiny.read(path)
        tiny.write(path, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert check(tiny.book()) == []


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030"])
def test_C090_another_encoding_is_said_plainly(tiny, encoding):
    for path in (tiny.page["zh"], tiny.decision["zh"], tiny.term):
        tiny.write(path, tiny.read(path).encode(encoding))
    told = {
        problem.file: problem.fix for problem in check(tiny.book()) if "not UTF-8" in problem.what
    }
    assert told == dict.fromkeys(
        (tiny.page["zh"], tiny.decision["zh"], tiny.term), "Save the file as UTF-8"
    )
