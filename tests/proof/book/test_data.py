"""proof/book/data.py and text.py: YAML and JSON with their lines, and what does not fit a model, in sentences."""

from __future__ import annotations

import pytest

from proof.book.data import Marks, fit, parse_json, parse_yaml
from proof.book.model import Device, KernelTypes, Sidecar, Term, Text, Timing, VersionRun
from proof.book.text import decode
from proof.problem import Fault

# YAML


def test_yaml_is_read_as_text_of_yaml_1_2():
    data, _ = parse_yaml("a: no\nb: 0012\nc: null\nd:\ne: [1.0]\n")
    assert data == {"a": "no", "b": "0012", "e": ["1.0"]}


TERM = """\
id: mask
zh:
  short: 一行
  body: |
    第一行
    第二行
  alt:
    - 掩码
    - 掩膜
see_also: [tile]
"""


@pytest.mark.parametrize(
    ("place", "key", "text"),
    [
        (("id",), 1, 1),
        (("zh",), 2, 2),
        (("zh", "short"), 3, 3),
        (("zh", "body"), 4, 5),
        (("zh", "alt", 1), 9, 9),
        (("see_also", 0), 10, 10),
        (("zh", "gone"), 2, 2),
        (("gone",), 1, 1),
    ],
)
def test_every_place_has_the_line_of_its_key_and_of_its_text(place, key, text):
    _, lines = parse_yaml(TERM)
    assert (lines.key(*place), lines.text(*place)) == (key, text)


@pytest.mark.parametrize(
    ("written", "line", "what"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key a is given twice, first in line 1"),
        ("a:\n  b: 1\n  b: 2\n", 3, "the key b is given twice, first in line 2"),
        ("a: [1\nb: 2\n", 2, "is not YAML"),
        ("a: 1\n\tb: 2\n", 2, "is not YAML"),
        ("? [a]\n: 1\n", 1, "a key is not text"),
        ("- a\n", 1, "holds no `key: value` lines"),
        ("", 1, "holds no `key: value` lines"),
        ("a: &a [*a]\n", 1, "is not YAML"),
        ("a: 1\n---\nb: 2\n", 2, "is not YAML"),
    ],
)
def test_what_is_not_yaml_of_keys_and_values_is_named_with_its_line(written, line, what):
    with pytest.raises(Fault) as error:
        parse_yaml(written)
    assert error.value.line == line and error.value.what.startswith(what)


# JSON


@pytest.mark.parametrize("figure", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_figure_that_is_not_finite_is_refused_with_its_line(figure):
    with pytest.raises(Fault) as error:
        parse_json(f'{{"why": "NaN",\n "value": {figure}}}')
    assert (error.value.line, error.value.what) == (2, f"{figure} is not a finite number")


def test_a_count_past_all_counts_is_refused_with_its_line():
    with pytest.raises(Fault, match=r"line 2: 1234567890123456789… is larger than any count"):
        parse_json('{"a": 1,\n "b": 12345678901234567890}')


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ('{"a": 1,\n "b": {"c": 1,\n "c": 2}}', 3),
        ('{"a": 1, "a": 2}', 1),
        ('{"a": 1,\n\t"a": 2}', 2),
    ],
)
def test_a_key_given_twice_is_refused_with_its_line(written, line):
    with pytest.raises(Fault, match="is given twice") as error:
        parse_json(written)
    assert error.value.line == line


def test_what_is_not_json_is_named_with_its_line():
    with pytest.raises(Fault, match="line 2: is not JSON"):
        parse_json('{"a": 1,\n b}')


# What does not fit

RUN = {
    "lab": "triton_a",
    "lab_sha256": "0" * 64,
    "triton": "3.6.0",
    "torch": "2.13.0",
    "numpy": "2.3.5",
}
RUN |= {
    "python": "3.11.9",
    "day": "2026-11-29",
    "ok": 3,
    "left": 2,
    "failed": [],
    "refused": "",
    "kernels": 1,
}
TIMING = {
    "name": "a",
    "p10_ms": 1.0,
    "median_ms": 2,
    "p90_ms": 3.0,
    "repeats": 9,
    "work": 1,
    "unit": "B",
}


@pytest.mark.parametrize(
    ("model", "data", "what", "fix"),
    [
        (Text, {"preferred": "a", "short": "b"}, "body is missing", "Allowed: Markdown"),
        (
            Text,
            {"preferred": "a", "short": "b", "body": "c", "alts": ["d"]},
            "alts is unknown",
            "Allowed: preferred, alt, short, body. Nearest: alt",
        ),
        (
            Text,
            {"preferred": "a", "short": "b" * 141, "body": "c"},
            "short: has 141 characters, and 140 are allowed",
            "Allowed: one line of at most 140 characters",
        ),
        (
            Text,
            {"preferred": "a\nb", "short": "b", "body": "c"},
            "preferred: 'a\\nb' does not fit",
            "Allowed: the name of the term, one line",
        ),
        (
            Text,
            {"preferred": "a", "short": "b", "body": "c", "alt": ["d", "d"]},
            "alt: names 'd' twice",
            "Allowed: a list of other names",
        ),
        (
            Text,
            {"preferred": ["a"], "short": "b", "body": "c"},
            'preferred: ["a"] is not text',
            "Allowed: the name of the term, one line",
        ),
        (
            VersionRun,
            RUN | {"uncompiled": "x"},
            "uncompiled: 'x' is not a list",
            "Allowed: sentences of at most 400 characters",
        ),
        (
            VersionRun,
            RUN | {"uncompiled": [], "ok": -1},
            "ok: -1 is less than 0",
            "See VersionRun in proof/book/model.py",
        ),
        (
            VersionRun,
            RUN | {"uncompiled": [], "ok": "3"},
            "ok: '3' is not a whole number",
            "See VersionRun in proof/book/model.py",
        ),
        (
            VersionRun,
            RUN | {"uncompiled": [], "day": "2026-02-30"},
            "day: '2026-02-30' is not a day",
            "Allowed: a day as year-month-day",
        ),
        (
            Timing,
            TIMING | {"work": 0},
            "work: 0 is not above 0.0",
            "See Timing in proof/book/model.py",
        ),
        (
            Timing,
            TIMING | {"work": True},
            "work: True is not a number",
            "See Timing in proof/book/model.py",
        ),
        (
            Device,
            {"kind": "cuda", "name": "H200", "sms": 132},
            "capability, memory_mib, driver, runtime are missing, which of a GPU must be there",
            "Its fields: kind, name, capability, sms, memory_mib, driver, runtime",
        ),
        (
            Device,
            {"kind": "npu", "name": "x"},
            "kind: 'npu' is not one of cuda, hip, interpreter, compiler",
            "Allowed: cuda, hip, interpreter, compiler",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence_with_what_is_allowed(model, data, what, fix):
    with pytest.raises(Fault) as error:
        fit(model, data, Marks(""))
    assert (error.value.what, error.value.fix, error.value.also) == (what, fix, ())


def test_every_place_that_does_not_fit_is_named_by_line():
    data, lines = parse_yaml("en_sha256: 1\nsynced_on: yesterday\nzh_sha256: 2\n")
    with pytest.raises(Fault) as error:
        fit(Sidecar, data, lines)
    assert [(each.file, each.line, each.what) for each in error.value.problems("x.yml")] == [
        ("x.yml", 1, "en_sha256: '1' does not fit"),
        ("x.yml", 2, "synced_on: 'yesterday' is not a day"),
        ("x.yml", 3, "zh_sha256: '2' does not fit"),
    ]


def test_a_place_inside_a_list_is_named_with_its_line():
    data, lines = parse_yaml(
        "types:\n  - lab: triton_a\n    en: {name: A, why: b}\n    zh: {name: A}\n"
    )
    with pytest.raises(Fault, match=r"line 4: types\.0\.zh\.why is missing"):
        fit(KernelTypes, data, lines)


def test_a_model_does_not_change():
    with pytest.raises(ValueError, match="frozen"):
        fit(Text, {"preferred": "a", "short": "b", "body": "c"}, Marks("")).short = "d"


def test_a_term_that_was_read_from_no_file_has_line_1():
    term = {"id": "a", "topic": "model", "translate": "no"}
    text = {"preferred": "a", "short": "b", "body": "c"}
    assert Term.model_validate(term | {"zh": text, "en": text}).line("zh", "body") == 1


# Text


def test_a_legacy_byte_is_named_with_its_line():
    with pytest.raises(Fault) as error:
        decode("plain\n三\n".encode("gbk"))
    assert error.value.line == 2
