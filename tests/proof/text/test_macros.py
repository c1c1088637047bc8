"""Macro calls are read by Jinja's parser: name, arguments, options, line and place; and what each macro cites."""

import pytest

from proof.problem import Fault
from proof.text.macros import calls, citations, readable_calls
from proof.text.markdown import read


def test_a_call_has_name_arguments_options_line_and_place():
    text = 'a\n{{ claim("a.b", field="bound") }} c\n'
    (call,) = calls(read(text), "x.md")
    assert (call.name, call.args, call.options, call.line) == (
        "claim",
        ("a.b",),
        {"field": "bound"},
        2,
    )
    assert text[call.start : call.end] == call.source == '{{ claim("a.b", field="bound") }}'
    assert call.indent is None


def test_lines_above_the_text_count():
    (call,) = calls(read("a\n\n{{ labs() }}\n"), "x.md", above=5)
    assert call.line == 8


def test_a_call_alone_on_its_line_tells_its_indent():
    (call,) = calls(read('!!! note "a"\n    {{ labs() }}\n'), "x.md")
    assert call.indent == "    "


def test_a_call_may_run_over_lines_and_hold_braces_and_hashes():
    (call,) = calls(read('{{ chart("a",\n\t"b",\n  x="}} {# {%") }}\n'), "x.md")
    assert (call.args, call.options) == (("a", "b"), {"x": "}} {# {%"})


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ("{{ claim(“a.b”) }}", "the macro {{ claim(“a.b”) }} cannot be read"),
        ("{{ claim('a.b\") }}", "the macro {{ claim('a.b\") }} cannot be read"),
        ('{{ claim("a.b" }}', 'the macro {{ claim("a.b" }} cannot be read'),
        ("{{- labs() }}", "the macro {{ - labs() }} is not a call"),
        ("{{ }}", "the macro {{  }} cannot be read"),
        ("{{ labs }}", "the macro {{ labs }} is not a call"),
        ("{{ labs() | upper }}", "the macro {{ labs() | upper }} is not a call"),
        ("{{ a.labs() }}", "the macro {{ a.labs() }} is not a call"),
        ("{{ adr(4) }}", "an argument of adr is not plain text"),
        ("{{ adr(true) }}", "an argument of adr is not plain text"),
        ("{{ adr(*x) }}", "an argument of adr is not plain text"),
        ('{{ claim("a", on="b", on="c") }}', "the option on of claim is given twice"),
        ("a\n\n{{ labs()\n\nb }}", "a macro opens with {{ and does not close"),
    ],
)
def test_what_cannot_be_read_is_named(written, what):
    with pytest.raises(Fault) as caught:
        list(calls(read(f"{written}\n"), "x.md"))
    assert (caught.value.file, caught.value.what) == ("x.md", what)
    assert caught.value.line == f"{written}\n".count("\n", 0, written.index("{{")) + 1


def test_those_that_can_be_read_are_read_beside_one_that_cannot():
    assert [call.name for call in readable_calls(read("{{ labs }} {{ labs() }} {{ cards("))] == [
        "labs"
    ]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ('{{ claim("a.b.c", field="bound") }}', [("claim", "a.b.c")]),
        ('{{ claims("a", "b") }}', [("claim", "a"), ("claim", "b")]),
        ('{{ given("1 s", source="s") }}', [("source", "s")]),
        ('{{ term("mask", "masks") }}', [("term", "mask")]),
        ("{{ labs() }}", []),
    ],
)
def test_a_macro_cites_ids(text, cited):
    (call,) = readable_calls(read(text))
    assert list(citations(call.name, call.args, call.options)) == cited
