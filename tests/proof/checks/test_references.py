"""What a page cites by id or quotes by file and section is there."""

import pytest
from planted import add, found

from proof.checks import references

UNKNOWN = {
    '{{ claim("tiny.ragged_fp32.max_abs_error") }}': "no claim is called 'tiny.ragged_fp32.max_abs_error'",
    '{{ claims("tiny.ragged.programs", "tiny.x.y") }}': "no claim is called 'tiny.x.y'",
    '{{ bug_diff("tiny.no_masks") }}': "no bug is called 'tiny.no_masks'",
    '{{ term("masks") }}': "no term is called 'masks'",
    '{{ adr("0002") }}': "no decision is called '0002'",
    '{{ source("triton-store") }}': "no source is called 'triton-store'",
    '{{ given("24 GB", source="rtx-4090") }}': "no source is called 'rtx-4090'",
    '{{ lab_card("triton_tinier") }}': "no lab is called 'triton_tinier'",
    '{{ notes("triton_tiny:launch") }}': "no section is called 'triton_tiny:launch'",
}


@pytest.mark.parametrize("macro", UNKNOWN)
def test_C026_an_unknown_id_names_page_line_and_id(tiny, macro):
    add(tiny, macro, "en")
    assert found(tiny, references.unknown) == [f"docs/en/index.md:5: {UNKNOWN[macro]}"]


@pytest.mark.parametrize(
    ("name", "lines"), [("triton_tinny", 1), ("triton_tiny", 0), ("triton_layer_norm", 0)]
)
def test_a_kind_of_kernel_with_a_misspelled_lab_is_found_and_a_lab_to_come_is_none(
    tiny, name, lines
):
    text = "{name: A, why: b}"
    tiny.write(
        "docs/kernel_types.yml", f"types:\n  - lab: {name}\n    en: {text}\n    zh: {text}\n"
    )
    said = [f"docs/kernel_types.yml:2: no lab is called {name!r}"] * lines
    assert found(tiny, references.unknown) == said


def test_an_unknown_id_names_the_nearest(tiny):
    add(tiny, '{{ claim("tiny.ragged_fp32.max_abs_error") }}', "en")
    (problem,) = references.unknown(tiny.book())
    assert tiny.error in problem.fix


def test_C087_a_deleted_term_names_every_page_that_uses_it(tiny):
    add(tiny, '{{ term("mask") }}')
    tiny.remove(tiny.term)
    assert sorted(found(tiny, references.unknown)) == [
        "docs/en/index.md:5: no term is called 'mask'",
        "docs/zh/index.md:5: no term is called 'mask'",
    ]


def test_C087_a_renamed_term_is_found_where_its_old_id_is_used(tiny):
    add(tiny, '{{ term("mask") }}', "zh")
    tiny.write("glossary/lane-mask.yml", tiny.read(tiny.term).replace("id: mask", "id: lane-mask"))
    tiny.remove(tiny.term)
    assert found(tiny, references.unknown) == ["docs/zh/index.md:5: no term is called 'mask'"]


def test_a_macro_in_code_cites_nothing(tiny):
    add(tiny, '`{{ claim("x.y.z") }}`\n\n```md\n{{ term("x") }}\n```')
    assert found(tiny, references.unknown) == []


def test_a_source_and_a_bug_may_be_cited_as_claims(tiny):
    add(tiny, f'{{{{ claims("{tiny.bug}", "{tiny.ratio}") }}}} {{{{ source("triton-load") }}}}')
    assert found(tiny, references.unknown) == []


# Snippets


def quote(tiny, target: str) -> list[str]:
    add(tiny, f'```python\n--8<-- "{target}"\n```', "zh")
    return found(tiny, references.snippets)


def test_C018_a_missing_file_is_found(tiny):
    assert quote(tiny, "labs/triton_gone.py:kernel") == [
        "docs/zh/index.md:6: the quoted file labs/triton_gone.py does not exist"
    ]


def test_C018_a_missing_section_is_found(tiny):
    assert quote(tiny, "labs/triton_tiny.py:launch") == [
        "docs/zh/index.md:6: labs/triton_tiny.py has no section launch"
    ]


def test_C018_a_renamed_section_marker_is_found(tiny):
    tiny.edit(tiny.lab, "[start:kernel]", "[start:kernels]")
    tiny.edit(tiny.lab, "[end:kernel]", "[end:kernels]")
    assert len(quote(tiny, "labs/triton_tiny.py:kernel")) == 1


def test_C018_a_file_with_the_wrong_case_is_found(tiny):
    assert len(quote(tiny, "labs/Triton_tiny.py:kernel")) == 1


def test_C018_a_section_that_is_not_closed_is_found(tiny):
    tiny.edit(tiny.lab, "# --8<-- [end:kernel]\n", "")
    assert any("section kernel is not closed" in problem.what for problem in tiny.book().problems)


def test_a_snippet_from_another_host_is_found(tiny):
    assert quote(tiny, "https://a.b/c.py") == [
        "docs/zh/index.md:6: this snippet is fetched from another host"
    ]


@pytest.mark.parametrize(
    "target", ["labs/triton_tiny.py", "labs/triton_tiny.py:kernel", "labs/triton_tiny.py:3:5"]
)
def test_what_exists_may_be_quoted(tiny, target):
    assert quote(tiny, target) == []


# Rendering

UNRENDERED = [
    '{{ claim("tiny.ragged.programs", field="speed") }}',
    "{{ clam(1) }}",
    "{{ 1 + }}",
    "{{ claim()",
    '{{ notes("triton_tiny:kernel") }}\n\n- `gone = 1`: nothing',
]


@pytest.mark.parametrize("text", UNRENDERED)
def test_what_cannot_be_rendered_is_found(tiny, text):
    add(tiny, text, "en")
    (line,) = found(tiny, references.expansion)
    assert line.startswith("docs/en/index.md:")


def test_a_note_whose_fragment_is_gone_names_its_line(tiny):
    add(
        tiny,
        '{{ notes("triton_tiny:kernel") }}\n\n- `mask = offsets < n_elements`: right\n- `gone = 1`: nothing',
        "en",
    )
    (line,) = found(tiny, references.expansion)
    assert "gone = 1" in line and "docs/en/index.md:8" in line


def test_an_unknown_id_is_not_told_twice(tiny):
    add(tiny, '{{ term("masks") }}', "en")
    assert found(tiny, references.expansion) == []


def test_a_fault_in_a_decision_names_the_line_of_its_file(tiny):
    tiny.write(tiny.decision["en"], tiny.read(tiny.decision["en"]) + "\n{{ clam(1) }}\n")
    lines = tiny.read(tiny.decision["en"]).split("\n")
    (line,) = found(tiny, references.expansion)
    assert line.startswith(f"{tiny.decision['en']}:{lines.index('{{ clam(1) }}') + 1}: ")
