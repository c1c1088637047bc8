"""proof/cli/freshness.py: what has grown old, told with the network played by hand."""

from __future__ import annotations

import hashlib
import urllib.error
from datetime import date, timedelta

import pytest

from proof.cli import freshness

CITED = "second\nthird\n"
CODE = f"""\
id: code
url: https://github.com/someone/thing/blob/v1/a.py#L2-L3
repository: https://github.com/someone/thing
tag: v1
file: a.py
lines: [2, 3]
sha256: {hashlib.sha256(CITED.encode()).hexdigest()}
shows: {{zh: 两行, en: two lines}}
accessed: 2026-11-20
"""
DOCUMENT = "id: manual\nurl: https://example.org/manual\nshows: {zh: 手册, en: a manual}\naccessed: 2026-11-20\n"
PAGES = {
    "https://github.com/someone/thing/raw/v1/a.py": b"first\nsecond\nthird\nfourth\n",
    "https://example.org/manual": b"a manual",
}


@pytest.fixture
def look(tiny):
    tiny.remove("docs/sources/*.yml")
    tiny.write("docs/sources/code.yml", CODE)
    tiny.write("docs/sources/manual.yml", DOCUMENT)
    tiny.record()

    def report(today=date(2026, 11, 29), newest="3.9.0", **pages: bytes | Exception) -> str:
        def get(url: str) -> bytes:
            answer = next((found for name, found in pages.items() if name in url), PAGES[url])
            if isinstance(answer, Exception):
                raise answer
            return answer

        versions = {"triton": newest, "torch": "2.14.1"}
        return freshness.report(tiny.book(today), versions.__getitem__, get)

    return report


def gone(code: int) -> Exception:
    return urllib.error.HTTPError("", code, "", {}, None)


def test_nothing_is_said_when_nothing_is_old(look):
    assert look() == ""


def test_a_triton_that_no_lab_declares(look):
    assert "- triton 3.10.0: triton_tiny declare >=3.6,<3.10\n" in look(newest="3.10.0")


def test_a_record_is_named_before_it_is_aged(look):
    told = look(today=date(2026, 11, 20) + timedelta(days=151))
    assert (
        "labs/records/nvidia-h200/triton_tiny/" in told
        and "151 days; it counts as aged after 180" in told
    )


def test_a_document_is_named_before_its_reading_is_aged(look):
    assert "docs/sources/manual.yml: read 160 days ago" in look(
        today=date(2026, 11, 20) + timedelta(days=160)
    )


def test_lines_that_are_no_longer_the_cited_ones(look):
    told = look(thing=b"a line more\nfirst\nsecond\nthird\n")
    assert (
        "[code](https://github.com/someone/thing/blob/v1/a.py#L2-L3): lines 2 to 3 at v1 are not the ones"
        in told
    )


@pytest.mark.parametrize("code", [404, 410])
def test_a_page_that_is_gone(look, code):
    told = look(manual=gone(code))
    assert (
        freshness.TITLES["sources"] in told
        and f"[manual](https://example.org/manual): answers {code}" in told
    )


@pytest.mark.parametrize(
    "error", [gone(403), gone(500), TimeoutError("timed out"), ValueError("no address")]
)
def test_what_does_not_answer_was_not_looked_at(look, error):
    told = look(manual=error)
    assert freshness.TITLES["unknown"] in told and "[manual]" in told


def test_a_registry_that_does_not_answer_is_told(tiny):
    def nobody(package: str) -> str:
        raise OSError("pip names no version")

    told = freshness.report(tiny.book(), nobody, lambda url: b"")
    assert "- triton: pip names no version\n- torch: pip names no version\n" in told
