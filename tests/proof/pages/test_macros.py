"""Macros become text with the right figure, badge, link or error; the generated pages hold what the rooms hold."""

from __future__ import annotations

import re
import subprocess
from datetime import date

import handmade as made
import markdown
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.pages import lab as labpage
from proof.pages import macros
from proof.pages.decisions import decision_index, decision_page
from proof.pages.format import amount, md, memory, number, permalink, times
from proof.pages.glossary import TOPICS, glossary_page
from proof.pages.lab import lab_head, lab_tail
from proof.pages.status import status_page
from proof.pages.words import word
from proof.problem import Fault
from proof.text.uses import term_uses, uses

EXTENSIONS = [
    "admonition",
    "attr_list",
    "md_in_html",
    "tables",
    "pymdownx.arithmatex",
    "pymdownx.details",
    "pymdownx.superfences",
]


def expand(text: str, book=None, lang: str = "en", up: str = "../../") -> str:
    return macros.expand(text, made.page(text, lang), book or made.book(), up)


def html(text: str) -> BeautifulSoup:
    return BeautifulSoup(markdown.markdown(text, extensions=EXTENSIONS), "html.parser")


def link(text: str, book=None, lang: str = "en"):
    """The one link that a macro makes, as HTML."""
    return html(expand(text, book, lang)).a


def error(text: str, book=None, lang: str = "en") -> Fault:
    with pytest.raises(Fault) as caught:
        expand(text, book, lang)
    return caught.value


# Figures


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (1.4901161e-08, "1.49e-08"),
        (0.0, "0"),
        (0.97, "0.97"),
        (0.00123456, "0.00123"),
        (4231.7, "4230"),
        (10, "10"),
        (2**31, "2147483648"),
        ("wgmma", "wgmma"),
    ],
)
def test_a_number_has_three_significant_digits_and_whole_ones_stay(x, shown):
    assert number(x) == shown


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (1.0341, "1.03×"),
        (0.97, "0.970×"),
        (1, "1.00×"),
        (12.34, "12.3×"),
        (123.4, "123×"),
        (29_920.0, "29,900×"),
    ],
)
def test_a_ratio_has_three_digits_and_a_cross(x, shown):
    assert times(x) == shown


@pytest.mark.parametrize(
    ("mib", "shown"),
    [(0, "0 MiB"), (512, "512 MiB"), (1024, "1.00 GiB"), (8210, "8.02 GiB"), (143771, "140 GiB")],
)
def test_memory_is_in_mib_below_one_gib(mib, shown):
    assert memory(mib) == shown


def test_an_amount_of_work_gets_a_prefix():
    assert amount(3_221_225_472, "B") == "3.22 GB"


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1)
)
def test_whatever_text_a_cell_holds_the_reader_sees_it_as_it_is(text):
    shown = html(f'| a | b |\n| --- | --- |\n| x{md(text)}x | <b title="x{md(text)}x">y</b> |\n')
    cells = shown.find_all("td")
    wanted = re.sub(r"[^\S\u00a0]+", " ", f"x{text}x")
    assert [cells[0].get_text(), cells[1].b["title"]] == [wanted, wanted]


# Claims in prose


def test_a_valid_claim_shows_its_value_and_its_device():
    assert (
        link(f'{{{{ claim("{made.ERROR}") }}}}', made.measured()).get_text("|") == "1.49e-08|H200"
    )


def test_a_claim_leads_to_its_row_on_the_lab_page():
    found = link(f'{{{{ claim("{made.ERROR}") }}}}', made.measured())
    assert found["href"] == "../../labs/triton_scale/#scale.ragged.max_abs_err"


def test_a_claim_carries_bound_device_versions_and_date():
    found = link(f'{{{{ claim("{made.ERROR}") }}}}', made.measured())
    assert (
        found["title"] == "≤\u00a04.77e-07 · NVIDIA H200 · torch 2.11.0 · triton 3.6.0 · 2026-11-20"
    )


@pytest.mark.parametrize(
    ("macro", "shown"),
    [
        (f'claim("{made.LARGE}")', "0|H200"),
        (f'claim("{made.RATIO}")', "1.03×|H200"),
        (f'claim("{made.CODEGEN}")', "4|compiler"),
        (f'claim("{made.BUG}")', "guard bytes overwritten|H200"),
        (f'claim("{made.ERROR}", field="max_rel_err")', "0.00123|H200"),
        (f'claim("{made.LARGE}", field="peak_mib")', "8.02 GiB|H200"),
        (f'claim("{made.RATIO}", field="low")', "1.02×|H200"),
        (f'claim("{made.RATIO}", field="median_ms")', "0.723 ms|H200"),
        (f'claim("{made.RATIO}", field="median_ms", of="copy")', "0.51 ms|H200"),
        (f'claim("{made.RATIO}", field="rate", of="copy")', "4.21 TB/s|H200"),
        (f'claim("{made.RATIO}", field="work")', "3.22 GB|H200"),
        (f'claim("{made.RATIO}", field="bound")', "≥\u00a00.900×"),
        (f'claim("{made.ERROR}", field="bound")', "≤\u00a04.77e-07"),
    ],
)
def test_a_claim_shows_the_figure_that_is_asked_for(macro, shown):
    assert link(f"{{{{ {macro} }}}}", made.measured()).get_text("|") == shown


def test_a_claim_on_the_interpreter_shows_the_interpreters_figure_and_says_so():
    found = link(f'{{{{ claim("{made.ERROR}", on="interpreter") }}}}', made.measured())
    assert (found.get_text("|"), found["class"]) == (
        "2.5e-08|interpreter",
        ["claim", "valid", "interpreter"],
    )


def test_an_interpreter_record_never_fills_the_claim_of_a_gpu():
    only_interpreter = made.book(made.record(made.lab(), "interpreter"))
    found = link(f'{{{{ claim("{made.ERROR}") }}}}', only_interpreter)
    assert (found.get_text(), found["class"]) == ("not yet measured on a GPU", ["claim", "pending"])


def test_a_gpu_record_never_fills_the_claim_of_the_interpreter():
    found = link(
        f'{{{{ claim("{made.ERROR}", on="interpreter") }}}}', made.book(made.record(made.lab()))
    )
    assert found.get_text() == "not yet run in the interpreter"


def _stale() -> object:
    return made.book(made.record(made.lab()), source=made.LAB.replace("2 * x", "3 * x"))


def _other_version() -> object:
    return made.book(made.changed(made.record(made.lab()), environment={"triton": "3.5.1"}))


def _worse() -> object:
    return made.book(made.record(made.lab(), ragged={"value": 7.5e-07, "max_abs_err": 7.5e-07}))


def _edited() -> object:
    return made.book(made.record(made.lab(), intact=False))


@pytest.mark.parametrize(
    ("book", "state", "zh", "en"),
    [
        (made.book, "pending", "尚未在 GPU 上测量", "not yet measured on a GPU"),
        (_stale, "stale-source", "代码改过，待重测", "the lab has changed, to be measured again"),
        (
            _other_version,
            "stale-env",
            "软件版本不在声明范围内，待重测",
            "measured outside the declared versions",
        ),
        (
            _worse,
            "contradicted",
            "与最新一次运行矛盾，数字已撤下",
            "contradicted by the newest run, number withdrawn",
        ),
        (
            _edited,
            "contradicted",
            "与最新一次运行矛盾，数字已撤下",
            "contradicted by the newest run, number withdrawn",
        ),
    ],
)
def test_c026_without_a_record_that_counts_a_claim_shows_a_badge_and_no_number(book, state, zh, en):
    for lang, words in (("zh", zh), ("en", en)):
        found = link(f'{{{{ claim("{made.ERROR}") }}}}', book(), lang)
        assert (found.get_text(), found["class"]) == (words, ["claim", state])


def test_an_aged_claim_still_shows_its_value_and_says_that_it_is_old():
    book = made.book(made.record(made.lab(), utc="2026-05-01T08:00:00+00:00"))
    found = link(f'{{{{ claim("{made.ERROR}") }}}}', book)
    assert (found.get_text("|"), found["class"]) == (
        "1.49e-08|H200 · older than 180 days",
        ["claim", "aged"],
    )


def test_c026_a_digit_changed_in_the_record_is_what_the_page_shows():
    book = made.book(made.record(made.lab(), ragged={"value": 1.59e-08, "max_abs_err": 1.59e-08}))
    shown = [
        link(f'{{{{ claim("{made.ERROR}") }}}}', book, lang).get_text("|") for lang in ("zh", "en")
    ]
    assert shown == ["1.59e-08|H200", "1.59e-08|H200"]


def test_the_name_of_a_card_loses_its_maker():
    record = made.changed(made.record(made.lab()), device={"name": "NVIDIA GeForce RTX 4090"})
    assert (
        link(f'{{{{ claim("{made.ERROR}") }}}}', made.book(record)).small.get_text() == "RTX 4090"
    )


def test_a_table_of_claims_has_one_row_per_device_class():
    rows = html(expand(f'{{{{ claims("{made.ERROR}") }}}}', made.measured())).find_all("tr")[1:]
    cells = [[cell.get_text() for cell in row.find_all("td")] for row in rows]
    assert [[c[1], c[2], c[4], c[5]] for c in cells] == [
        ["1.49e-08", "0.00123", "H200", "valid"],
        ["2.5e-08", "0.00123", "interpreter", "valid"],
    ]


def test_what_only_the_compiler_judges_has_one_row_wherever_it_ran():
    rows = html(expand(f'{{{{ claims("{made.CODEGEN}") }}}}', made.measured())).find_all("tr")[1:]
    assert [[cell.get_text() for cell in row.find_all("td")][3] for row in rows] == ["compiler"]


def test_a_table_of_claims_has_a_column_of_relative_errors_only_where_one_is_absolute():
    for ids, heads in (
        ([made.RATIO, made.CODEGEN], ["Claim", "Value", "Bound and its reason", "Device", "State"]),
        (
            [made.RATIO, made.ERROR],
            ["Claim", "Value", "Relative", "Bound and its reason", "Device", "State"],
        ),
    ):
        shown = html(
            expand("{{ claims(" + ", ".join(f'"{id}"' for id in ids) + ") }}", made.measured())
        )
        assert [cell.get_text() for cell in shown.find_all("th")] == heads
        assert {len(row.find_all("td")) for row in shown.find_all("tr")[1:]} == {len(heads)}


def test_a_table_of_claims_shows_what_was_asked_and_why_the_bound():
    row = html(expand(f'{{{{ claims("{made.ERROR}") }}}}', made.measured())).find_all("tr")[1]
    cells = [cell.get_text("|") for cell in row.find_all("td")]
    assert (cells[0], cells[3]) == (
        f"{made.ERROR}|n=1000",
        "≤\u00a04.77e-07|one rounding | of 2**3",
    )


def test_a_table_of_claims_shows_no_number_of_a_pending_claim():
    row = html(expand(f'{{{{ claims("{made.ERROR}") }}}}')).find_all("tr")[1]
    assert [cell.get_text() for cell in row.find_all("td")][1:3] == ["–", "–"]


def test_status_counts_the_claims_by_state():
    assert html(expand("{{ status() }}", made.measured())).get_text() == "7 claims: 7 valid"


# References


def test_a_term_is_linked_by_its_preferred_name_or_by_the_text_given():
    assert (
        str(link('{{ term("mask") }}', lang="zh"))
        == '<a class="term" href="../../glossary/#mask">掩码</a>'
    )
    assert link('{{ term("mask", "守边界") }}', lang="zh").get_text() == "守边界"


def test_a_decision_is_linked_with_its_title_and_status():
    found = link('{{ adr("0004") }}', lang="zh")
    assert (found.get_text(), found["href"], found["title"]) == (
        "ADR-0004",
        "../../adr/0004-words/",
        "Title 0004 · 已采纳",
    )


def test_a_source_leads_to_its_lines_at_its_tag():
    found = link('{{ source("vllm-kernel") }}')
    assert (
        found["href"]
        == "https://github.com/vllm-project/vllm/blob/v0.26.0/vllm/moe/fused_moe.py#L12-L40"
    )
    assert (found.get_text(), found["title"]) == (
        "vllm v0.26.0 · fused_moe.py L12–40",
        "the fused MoE kernel",
    )


def test_a_repository_may_be_named_by_owner_and_name():
    short = made.KERNEL.model_copy(update={"repository": "vllm-project/vllm"})
    assert permalink(short) == permalink(made.KERNEL)


def test_a_given_number_is_marked_and_leads_to_its_source():
    found = link('{{ given("24 GB", source="rtx-4090") }}')
    assert (found.get_text("|"), found["href"]) == ("24 GB|cited", "https://example.com/4090")


# Labs on a page


def test_a_bug_is_a_diff_with_the_lines_of_the_lab():
    text = expand('{{ bug_diff("scale.no_mask") }}', made.measured())
    assert text.startswith(
        "\n```diff\n--- triton_scale.py\n+++ triton_scale.py (no_mask)\n@@ -21,5 +21,5 @@\n"
        " def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
        "     offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "-    mask = offs < n\n+    mask = offs >= 0\n"
    )


def test_patch_accepts_the_diff_of_a_break(tmp_path):
    lab = made.lab()
    (tmp_path / "triton_scale.py").write_text(lab.source)
    diff = labpage.bug_text(made.book(), lab, lab.bugs["no_mask"], "en") + "\n"
    subprocess.run(["patch", "-p0", "-s"], input=diff, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "triton_scale.py").read_text() == lab.source.replace(
        "mask = offs < n", "mask = offs >= 0"
    )


def test_a_bug_tells_what_must_fail_and_what_was_seen_where():
    items = html(expand('{{ bug_diff("scale.no_mask") }}', made.measured())).find_all("li")
    assert [item.get_text() for item in items] == [
        "Must fail: scale.ragged.max_abs_err · guard bytes overwritten · the tail is overwritten",
        "Seen: guard bytes overwritten H200 · guard bytes overwritten interpreter",
    ]


def test_a_bug_that_nobody_ran_shows_a_badge():
    assert (
        html(expand('{{ bug_diff("scale.no_mask") }}')).find_all("li")[1].get_text()
        == "Seen: not yet measured on a GPU"
    )


def test_a_bug_seen_as_an_error_shows_how_large_it_was():
    lab = made.lab(made.LAB.replace('how="guard"', 'how="error"'))
    record = made.record(lab, no_mask={"value": "error", "figure": 0.5})
    book = made.book(record, source=lab.source)
    assert (
        "outside the bound (0.5) H200"
        in html(expand('{{ bug_diff("scale.no_mask") }}', book)).get_text()
    )


def test_a_bug_of_what_is_compared_for_equality_says_another_value_and_says_it_once():
    source = made.LAB.replace(
        'caught_by="ragged.max_abs_err", how="guard"', 'caught_by="vector.wide_loads", how="error"'
    )
    assert source != made.LAB
    lab = made.lab(source)
    seen = {"value": "error", "figure": "8 ld.global.b32", "claim": made.CODEGEN}
    book = made.book(
        made.record(lab, no_mask=seen), made.record(lab, "interpreter", no_mask=seen), source=source
    )
    items = html(expand('{{ bug_diff("scale.no_mask") }}', book)).find_all("li")
    assert [item.get_text() for item in items] == [
        "Must fail: scale.vector.wide_loads · not the value claimed · the tail is overwritten",
        "Seen: not the value claimed (8 ld.global.b32) compiler",
    ]
    assert items[1].code.get_text() == "8 ld.global.b32"


@pytest.mark.parametrize(
    ("kind", "value"), [("count", 1.0078125), ("codegen", "2 ld.global.v4.b32"), ("codegen", 4)]
)
def test_what_is_compared_for_equality_has_all_its_digits_and_instructions_are_code(kind, value):
    source = made.LAB.replace('kind="codegen", bound=4', f'kind="{kind}", bound={value!r}')
    lab = made.lab(source)
    book = made.book(made.record(lab, vector={"value": value}), source=source)
    cells = (
        html(expand(f'{{{{ claims("{made.CODEGEN}") }}}}', book)).find_all("tr")[1].find_all("td")
    )
    assert (cells[1].get_text(), cells[2].get_text()) == (
        str(value),
        f"=\u00a0{value}16 bytes a lane",
    )
    assert bool(cells[1].code) == bool(cells[2].code) == isinstance(value, str)


def test_a_bug_whose_text_is_gone_is_an_error_that_names_the_lab():
    lab = made.lab()
    lab.sections["kernel"] = (20, lab.sections["kernel"][1].replace("offs < n", "offs <= n"))
    with pytest.raises(Fault) as caught:
        labpage.bug_text(made.book(), lab, lab.bugs["no_mask"], "en")
    assert str(caught.value).startswith(
        "labs/triton_scale.py:20: the text of the seeded bug 'no_mask' occurs 0 times in section 'kernel'."
    )


def test_a_block_inside_an_admonition_keeps_its_indent():
    shown = html(expand('!!! note\n\n    {{ bug_diff("scale.no_mask") }}\n', made.measured()))
    assert shown.select_one("div.admonition div.highlight, div.admonition pre") is not None


def test_a_lab_card_takes_its_memory_from_the_record():
    shown = html(expand('{{ lab_card("triton_scale") }}', made.measured())).get_text("|")
    assert "1 GiB|measured peak 8.02 GiB · |scale.large.max_abs_err| · H200" in shown


def test_a_lab_card_without_a_record_shows_no_measured_memory():
    assert "measured" not in html(expand('{{ lab_card("triton_scale") }}')).get_text()


def test_a_lab_card_offers_both_files():
    found = [a["href"] for a in html(expand('{{ lab_card("triton_scale") }}')).find_all("a")]
    assert found[1:] == ["../../downloads/triton_scale.py", "../../downloads/triton_scale.ipynb"]


def test_the_table_of_labs_names_each_with_its_question():
    cells = [
        cell.get_text("|") for cell in html(expand("{{ labs() }}", made.measured())).find_all("td")
    ]
    assert cells == [
        "Scale|triton_scale.py",
        "What one multiplication costs.",
        "about 2 min",
        "5 claims: |5 valid",
    ]


# What a lab says, in the language of the page

BOTH = [
    ("title", "Scale", "缩放"),
    ("sentence", "What one multiplication costs.", "一次乘法要花多少。"),
    ("learn", "a load, a store and what lies between", "一次 load、一次 store，和中间的一切"),
    ("memory", "1 GiB", "1 GiB 显存"),
    ("gpu", "any", "任何 GPU"),
    ("reason", "one rounding | of 2**3", "舍入一次 | 大小为 2**3"),
    ("what is seen", "the tail is overwritten", "末尾被改写"),
]


def _cells(text: str) -> set[str]:
    """What stands alone in a cell, a paragraph, a heading, or between two line breaks."""
    return set(html(text).get_text("\n").split("\n"))


@pytest.mark.parametrize(("what", "en", "zh"), BOTH, ids=[each[0] for each in BOTH])
def test_the_page_of_a_lab_speaks_one_language(what, en, zh):
    book = made.measured()
    for lang, ours, theirs in (("en", en, zh), ("zh", zh, en)):
        cells = _cells(lab_head(book, book.labs["triton_scale"], lang, "../../"))
        assert ours in cells and theirs not in cells


@pytest.mark.parametrize(
    ("macro", "en", "zh"),
    [
        ("{{ labs() }}", "What one multiplication costs.", "一次乘法要花多少。"),
        (
            '{{ lab_card("triton_scale") }}',
            "a load, a store and what lies between",
            "一次 load、一次 store，和中间的一切",
        ),
        (f'{{{{ claims("{made.RATIO}") }}}}', "memory-bound", "访存受限"),
        (f'{{{{ claims("{made.BUG}") }}}}', "the tail is overwritten", "末尾被改写"),
        ('{{ bug_diff("scale.no_mask") }}', "the tail is overwritten", "末尾被改写"),
        (f'{{{{ claim("{made.LARGE}", field="bound") }}}}', "64-bit offsets", "64 位偏移"),
    ],
)
def test_a_macro_speaks_of_a_lab_in_the_language_of_its_page(macro, en, zh):
    for lang, ours, theirs in (("en", en, zh), ("zh", zh, en)):
        shown = expand(macro, made.measured(), lang)
        assert ours in shown and theirs not in shown


def test_what_has_no_chinese_words_yet_is_shown_in_english():
    book = made.book()
    book.words["triton_scale"] = made.WORDS.model_copy(update={"why": {}, "bugs": {}})
    assert "memory-bound" in expand(f'{{{{ claims("{made.RATIO}") }}}}', book, "zh")
    del book.words["triton_scale"]
    assert "What one multiplication costs." in expand("{{ labs() }}", book, "zh")


# Line notes

NOTES = '{{ notes("triton_scale:kernel") }}\n\n1. `tl.program_id(0)` which\n2. `mask = offs < n` the tail\n\nText.\n'


def test_a_note_gets_the_line_of_its_fragment_in_the_file():
    assert [item.get_text() for item in html(expand(NOTES)).find_all("li")] == [
        "line 22 tl.program_id(0) which",
        "line 23 mask = offs < n the tail",
    ]


def test_the_lines_that_notes_name_are_the_lines_of_the_file():
    assert made.LAB.splitlines()[22 - 1].strip().startswith("offs = tl.program_id(0)")


def test_a_note_may_run_over_several_lines_and_hold_a_list():
    text = '{{ notes("triton_scale:kernel") }}\n\n- `mask = offs < n` the\n  tail\n\n    - `inner` point\n\n- `tl.store` writes\n'
    shown = expand(text)
    assert [line for line in shown.split("\n") if "line" in line] == [
        '- <small class="line">line 23</small> `mask = offs < n` the',
        '- <small class="line">line 25</small> `tl.store` writes',
    ]


def test_notes_in_chinese():
    assert html(expand(NOTES, lang="zh")).li.small.get_text() == "第 22 行"


def test_a_fragment_that_is_gone_is_an_error_with_the_nearest_line():
    text = NOTES.replace("mask = offs < n`", "mask = offs <= n`")
    assert str(error(text)) == (
        "docs/en/lessons/one.md:4: the fragment `mask = offs <= n` occurs 0 times in triton_scale:kernel. "
        "Nearest: mask = offs < n"
    )


def test_a_fragment_that_occurs_twice_is_an_error():
    assert error(NOTES.replace("`tl.program_id(0)`", "`mask=mask`")).what == (
        "the fragment `mask=mask` occurs 2 times in triton_scale:kernel"
    )


def test_notes_out_of_order_are_an_error():
    text = '{{ notes("triton_scale:kernel") }}\n- `tl.store` writes\n- `tl.program_id(0)` which\n'
    assert (error(text).line, error(text).what) == (
        3,
        "the note on `tl.program_id(0)` is out of order",
    )


def test_a_note_without_code_is_an_error():
    assert (
        error('{{ notes("triton_scale:kernel") }}\n\n- the mask\n').what
        == "a note begins with no code"
    )


def test_notes_without_a_list_are_an_error():
    assert (
        error('{{ notes("triton_scale:kernel") }}\n\nText.\n\n- `mask`\n').what
        == "no list follows notes()"
    )


def test_c018_notes_on_a_section_that_is_gone_are_an_error():
    assert (
        error(NOTES.replace(":kernel", ":kernal")).what
        == "there is no section of triton_scale 'kernal'"
    )
    assert error(NOTES.replace(":kernel", ":kernal")).fix == "Nearest: kernel"


def test_a_macro_inside_a_note_is_expanded():
    text = NOTES.replace("the tail", 'see {{ term("mask") }}')
    assert html(expand(text)).find_all("li")[1].a["href"] == "../../glossary/#mask"


# Where macros are read, and what is wrong with them


@pytest.mark.parametrize(
    "quoted",
    [
        '`{{ claim("x") }}`',
        '``a ` {{ claim("x") }}``',
        '```text\n{{ claim("x") }}\n```',
        '~~~\n{{ claim("x") }}\n~~~',
        '!!! note\n\n    ```\n    {{ claim("x") }}\n    ```',
        '````\n```\n{{ claim("x") }}\n````',
        '<!-- {{ claim("x") }} -->',
        "$$ e^{{x}} $$",
        r"\( e^{{x}} \)",
        r"\{{ x }}",
        '```\n{{ claim("x") }}',
    ],
)
def test_c018_nothing_is_expanded_in_code_comments_and_mathematics(quoted):
    assert expand(f"a\n\n{quoted}\n") == f"a\n\n{quoted}\n"


def test_a_macro_right_after_code_is_expanded():
    assert "glossary/#mask" in expand('```\ncode\n```\n`a` {{ term("mask") }}\n')


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_characters="{", codec="utf-8")))
def test_a_page_without_macros_stays_as_it_is(text):
    assert expand(text) == text


@pytest.mark.parametrize(
    ("text", "what", "fix"),
    [
        ('{{ claim("scale.raged.max_abs_err") }}', "there is no claim 'scale.raged.max_abs_err'", "Nearest: scale.ragged.max_abs_err, scale.large.max_abs_err, scale.large.vs_copy"),
        ('{{ claim("source.rtx-4090") }}', "'source.rtx-4090' is a source", 'Write {{ source("rtx-4090") }}'),
        ('{{ clam("x") }}', "there is no macro 'clam'", "Nearest: claim, claims, labs"),
        ('{{ term("maks") }}', "there is no term 'maks'", "Nearest: mask"),
        ('{{ adr("0003") }}', "there is no ADR '0003'", "Nearest: 0004, 0002"),
        ('{{ source("vllm") }}', "there is no source 'vllm'", "Nearest: vllm-kernel"),
        ('{{ given("1 s", source="rtx-4080") }}', "there is no source 'rtx-4080'", "Nearest: rtx-4090"),
        ('{{ given("1 s") }}', "given(): missing a required argument: 'source'", "It takes (text, *, source)"),
        ('{{ term() }}', "term(): missing a required argument: 'id'", "It takes (id, text='')"),
        ('{{ lab_card("triton_scales") }}', "there is no lab 'triton_scales'", "Nearest: triton_scale"),
        ('{{ bug_diff("scale.nomask") }}', "there is no seeded bug 'scale.nomask'", "Nearest: scale.no_mask"),
        ("{{ claims() }}", "claims() names no claim", 'Write {{ claims("id", "id") }}'),
        (f'{{{{ claim("{made.ERROR}", field="max_err") }}}}', "there is no field 'max_err'", "Nearest: max_rel_err, max_abs_err"),
        (f'{{{{ claim("{made.ERROR}", on="gpu") }}}}', "on='gpu' is not a place where claims are judged", 'Write on="interpreter" or leave it out'),
        (f'{{{{ claim("{made.LARGE}", on="interpreter") }}}}', "the interpreter cannot judge 'scale.large.max_abs_err'", 'Leave out on="interpreter"'),
        (f'{{{{ claim("{made.ERROR}", field="peak_mib") }}}}', "scale.ragged.max_abs_err has no peak_mib in its record; it has value, max_abs_err, max_rel_err, scale, nonfinite", "Name a figure that the record has"),
        (f'{{{{ claim("{made.RATIO}", field="median_ms", of="torch") }}}}', "scale.large.vs_copy has no timing 'torch'; it has scale, copy", "Name a figure that the record has"),
        ('Text {{ labs() }}', "labs() makes a block, and other text stands on its line", "Put it on a line of its own"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_macro_says_what_and_how_to_mend_it(text, what, fix):
    found = error(f"# T\n\n{text}\n", made.measured())
    assert (found.file, found.line, found.what, found.fix) == (
        "docs/en/lessons/one.md",
        3,
        what,
        fix,
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{{ claim(“a.b”) }}", "the macro {{ claim(“a.b”) }} cannot be read"),
        ("{{ 1 + }}", "the macro {{ 1 + }} cannot be read"),
        ("{{ x }}", "the macro {{ x }} is not a call"),
        ("{{ term(mask) }}", "an argument of term is not plain text"),
        ('{{ term("a" + "b") }}', "an argument of term is not plain text"),
        ("{{ adr(4) }}", "an argument of adr is not plain text"),
        ('{{ term(**{"id": "mask"}) }}', "an argument of term is not plain text"),
        ('{{ __import__("os") }}', "there is no macro '__import__'"),
        ('{{ term("mask") ', "a macro opens with {{ and does not close"),
    ],
)
def test_what_cannot_be_read_as_a_macro_is_an_error(text, what):
    assert error(f"\n{text}\n").what == what


def test_an_error_names_the_line_of_the_file_when_front_matter_is_cut_off():
    whole = '---\ntitle: T\n---\n\n# T\n\n{{ clam("x") }}\n'
    with pytest.raises(Fault) as caught:
        macros.expand(whole.split("---\n\n")[1], made.page(whole), made.book(), "")
    assert caught.value.line == 7


def test_an_error_is_a_problem_for_the_checks():
    assert str(error("{{ x }}").problem) == str(error("{{ x }}"))


def test_uses_lists_the_pages_of_claims_bugs_and_sources():
    one = made.page(
        '{{ claim("a.b.c") }} {{ source("s") }} {{ given("1 s", source="g") }}\n{{ bug_diff("a.x") }}\n'
    )
    two = made.page('{{ claims("a.b.c", "d.e.f") }}\n', "zh")
    bad = made.page("{{ x }}")
    found = {
        id: [page.lang for page in where]
        for id, where in uses(made.book(pages=[one, two, bad])).items()
    }
    assert found == {
        "a.b.c": ["en", "zh"],
        "source.s": ["en"],
        "source.g": ["en"],
        "a.x.bug": ["en"],
        "d.e.f": ["zh"],
    }


# The lab page


def _head(book=None, lang="en") -> BeautifulSoup:
    book = book or made.measured()
    return html(lab_head(book, book.labs["triton_scale"], lang, "../../"))


def test_the_head_of_a_lab_begins_with_name_and_question():
    shown = _head()
    assert (shown.h1.get_text(), shown.h1["id"], shown.p.get_text()) == (
        "Scale",
        "lab",
        "What one multiplication costs.",
    )


def test_every_claim_of_the_lab_is_an_anchor():
    anchors = {a["id"] for a in _head().find_all("a", id=True)}
    assert anchors == {made.ERROR, made.LARGE, made.RATIO, made.CODEGEN, made.BUG}


def test_the_head_has_the_same_anchors_in_both_languages():
    ids = [[tag["id"] for tag in _head(lang=lang).find_all(id=True)] for lang in ("zh", "en")]
    assert ids[0] == ids[1]


def test_gpu_and_interpreter_stand_side_by_side():
    row = _head().find("a", id=made.ERROR).find_parent("tr")
    assert [cell.get_text() for cell in row.find_all("td")][2:] == [
        "1.49e-08 H200",
        "2.5e-08 interpreter",
        "valid",
    ]


def test_what_the_interpreter_cannot_judge_says_so():
    row = _head().find("a", id=made.LARGE).find_parent("tr")
    assert row.find_all("td")[3].get_text() == "not for the interpreter"


def test_a_contradicted_lab_has_a_banner_and_names_the_claim():
    banner = _head(_worse()).select_one("div.admonition.danger")
    assert banner is not None
    assert banner.li.code.get_text() == made.ERROR


def test_a_lab_in_order_has_no_banner():
    assert _head().select_one("div.admonition") is None


def test_the_device_matrix_counts_by_verdicts_computed_anew():
    worse = made.record(made.lab(), ragged={"value": 1.0, "max_abs_err": 1.0, "verdict": "ok"})
    table = (
        _head(made.book(worse, made.record(made.lab(), "interpreter")))
        .find("h2", id="devices")
        .find_next("table")
    )
    cells = [[cell.get_text() for cell in row.find_all("td")] for row in table.find_all("tr")[1:]]
    assert [row[:6] for row in cells] == [
        ["NVIDIA H200", "torch 2.11.0 · triton 3.6.0", "2026-11-20", "4", "1", "0"],
        ["interpreter", "torch 2.11.0 · triton 3.6.0", "2026-11-20", "3", "0", "2"],
    ]


def test_the_device_matrix_links_the_raw_record():
    raw = _head().find("h2", id="devices").find_next("table").a
    assert raw["href"] == "../../records/nvidia-h200/triton_scale/20261120-t3.6.0-0123abcd.json"


def test_a_record_of_older_code_shows_no_counts():
    row = _head(_stale()).find("h2", id="devices").find_next("table").find_all("tr")[1]
    cells = [cell.get_text("|") for cell in row.find_all("td")]
    assert (cells[3:6], cells[6].split("|")[-1]) == (["–"] * 3, "of older code, does not count")


def test_the_timings_stand_with_spread_rate_and_repeats():
    row = _head().find("h2", id="timings").find_next("table").find_all("tr")[1]
    assert [cell.get_text() for cell in row.find_all("td")] == [
        made.RATIO, "scale", "0.723 ms", "0.71–0.74 ms", "4.45 TB/s", "500", "H200",
    ]  # fmt: skip


def test_without_a_record_the_head_shows_no_timing_and_no_measured_figure():
    shown = _head(made.book())
    assert shown.find("h2", id="timings") is None
    assert re.findall(r"e-08|1\.03×|\d ms|MiB|H200", shown.get_text()) == []


def test_a_section_of_bugs_is_left_out_where_there_are_none():
    source = re.sub(r"BUGS = \[.*?\n\]", "BUGS = []", made.LAB, flags=re.S)
    assert _head(made.book(source=source)).find(id="bugs") is None


def test_the_tail_offers_downloads_and_says_how_to_send_a_record():
    shown = html(lab_tail(made.book(), made.lab(), "zh", "../../"))
    assert [a["href"] for a in shown.find_all("a")] == [
        "../../downloads/triton_scale.py",
        "../../downloads/triton_scale.ipynb",
    ]
    assert "proof record --from triton_scale.json" in shown.get_text()


# Every claim


def test_the_status_page_groups_by_state_with_the_worst_first():
    book = made.book(
        made.record(made.lab(), ragged={"value": 1.0, "max_abs_err": 1.0}, large={"verdict": "-"})
    )
    shown = html(status_page(book, "en"))
    assert [h["id"] for h in shown.find_all("h2")] == ["contradicted", "pending", "valid"]


def test_the_status_page_tells_device_versions_age_and_the_pages_of_this_language():
    book = made.measured()
    text = f'# On scaling {{ #top }}\n\n{{{{ claim("{made.ERROR}") }}}}\n'
    book.pages = [made.page(text, "en"), made.page(text.replace("On scaling", "缩放"), "zh")]
    row = html(status_page(book, "en")).find_all("tr")[1]
    assert [cell.get_text("|") for cell in row.find_all("td")] == [
        f"{made.ERROR}|error", "1.49e-08", "≤\u00a04.77e-07", "H200|torch 2.11.0 · triton 3.6.0|2026-11-20 · 9 d",
        "On scaling", "valid",
    ]  # fmt: skip
    assert row.find_all("td")[4].a["href"] == "../lessons/one/"


# Glossary


def test_the_glossary_has_one_anchor_per_term_below_its_topic():
    shown = html(glossary_page(made.book(), "en"))
    assert [(h.name, h["id"]) for h in shown.find_all(["h2", "h3"])] == [
        ("h2", "topic-memory"), ("h3", "coalescing"), ("h3", "mask"), ("h2", "index"),
    ]  # fmt: skip


def test_an_entry_holds_every_name_so_that_search_finds_it():
    book = made.book()
    book.terms = {
        "reduction": made.term(
            "reduction", "归约", "reduction", zh_alt=["规约"], en_alt=["reduce"], scope="amd"
        )
    }
    entry = html(glossary_page(book, "zh")).h3.find_next("p").get_text()
    assert entry == "reduction · 又称：规约、reduce · 仅 AMD"


def test_an_entry_names_nothing_twice():
    book = made.book()
    book.terms = {"a": made.term("a", "mask", "mask", zh_alt=["掩码", "masks"], en_alt=["masks"])}
    assert html(glossary_page(book, "zh")).h3.find_next("p").get_text() == "又称：掩码、masks"


def test_code_in_the_short_text_of_an_entry_is_code():
    book = made.book()
    text = book.terms["mask"].en.model_copy(update={"short": "As in `a[i * 2]`, always."})
    book.terms["mask"] = book.terms["mask"].model_copy(update={"en": text})
    strong = html(glossary_page(book, "en")).find("h3", id="mask").find_next("strong")
    assert (strong.get_text(), strong.code.get_text()) == ("As in a[i * 2], always.", "a[i * 2]")


def test_an_entry_links_other_terms_sources_and_the_pages_that_name_it():
    book = made.book(pages=[made.page("# 一课 { #one }\n\n用mask守住边界。\n", "zh")])
    book.terms["mask"] = made.term(
        "mask",
        "掩码",
        "mask",
        see_also=("coalescing",),
        sources=("vllm-kernel", "https://example.com/a"),
    )
    items = html(glossary_page(book, "zh")).find("h3", id="mask").find_next("ul").find_all("li")
    assert [item.get_text() for item in items] == [
        "另见：合并访存", "出处：vllm v0.26.0 · fused_moe.py L12–40、example.com/a", "出现在：一课",
    ]  # fmt: skip
    assert items[2].a["href"] == "../lessons/one/"


def test_code_headings_and_comments_are_no_mention_of_a_term():
    text = "# mask { #mask }\n\n`mask`\n\n```\nmask\n```\n\n<!-- mask -->\n"
    assert term_uses(made.book(pages=[made.page(text)])) == {}


def test_a_term_that_refers_to_one_that_is_gone_is_an_error_with_the_nearest():
    book = made.book()
    book.terms["mask"] = made.term("mask", "掩码", "mask", see_also=("coalescin",))
    with pytest.raises(
        Fault, match=r"glossary/mask.yml:1: see_also names 'coalescin'.* Nearest: coalescing"
    ):
        glossary_page(book, "en")


def test_a_term_may_use_macros():
    book = made.book()
    body = book.terms["mask"].en.model_copy(update={"body": 'See {{ adr("0004") }}.'})
    book.terms["mask"] = book.terms["mask"].model_copy(update={"en": body})
    assert '<a class="adr" href="../adr/0004-words/"' in glossary_page(book, "en")


def test_the_index_runs_from_a_to_z_by_english_name():
    book = made.book()
    names = [("b", "张量", "tile"), ("c", "归约", "axis"), ("d", "warp", "warp")]
    book.terms = {id: made.term(id, zh, en) for id, zh, en in names}
    lines = {lang: glossary_page(book, lang).split("{ #index }\n")[1] for lang in ("zh", "en")}
    assert {lang: html(text).get_text(" ").split() for lang, text in lines.items()} == {
        "zh": ["A", "归约", "axis", "T", "张量", "tile", "W", "warp"],
        "en": ["A", "axis", "T", "tile", "W", "warp"],
    }


# Decisions


def test_the_index_of_decisions_lists_number_title_status_and_date():
    cells = [cell.get_text() for cell in html(decision_index(made.book(), "zh")).find_all("td")]
    assert cells[:5] == ["ADR-0002", "Title 0002", "已采纳", "2026-01-02", "–"]


def _superseding() -> object:
    book = made.book()
    for lang in ("zh", "en"):
        book.decisions["0002", lang] = made.decision(
            "0002", lang, status="superseded", superseded_by="0004"
        )
        book.decisions["0004", lang] = made.decision(
            "0004", lang, supersedes=("0002",), date=date(2026, 3, 4)
        )
    return book


def test_a_superseded_decision_links_its_successor():
    cell = html(decision_page(_superseding(), "0002", "en")).find_all("td")[1]
    assert (cell.get_text(), cell.a["href"]) == ("superseded → ADR-0004", "../../adr/0004-words/")


def test_a_decision_links_what_it_supersedes():
    cells = html(decision_page(_superseding(), "0004", "en")).find_all("td")
    assert [cell.get_text() for cell in cells] == ["ADR-0004", "accepted", "2026-03-04", "ADR-0002"]


def test_a_decision_keeps_its_own_heading_and_gets_no_second_one():
    book = made.book()
    book.decisions["0004", "en"] = made.decision("0004", "en", body="# Own { #title }\n\nText.\n")
    shown = html(decision_page(book, "0004", "en"))
    assert [(h.get_text(), h["id"]) for h in shown.find_all("h1")] == [("Own", "title")]
    assert shown.h1.find_next_sibling().name == "table"


def test_a_decision_shows_its_text_with_macros_expanded():
    book = made.book(made.record(made.lab()))
    book.decisions["0004", "en"] = made.decision(
        "0004", "en", body=f'It is {{{{ claim("{made.RATIO}") }}}}.\n'
    )
    assert html(decision_page(book, "0004", "en")).p.get_text() == "It is 1.03×H200."


def test_a_successor_that_does_not_exist_is_an_error():
    book = made.book()
    book.decisions["0004", "en"] = made.decision("0004", "en", superseded_by="0005")
    with pytest.raises(Fault, match=r"adr/0004-words.en.md:1: it names ADR '0005'"):
        decision_index(book, "en")


def test_c067_a_decision_without_this_language_is_an_error():
    book = made.book()
    del book.decisions["0004", "en"]
    with pytest.raises(Fault, match="ADR '0004' has no en edition"):
        decision_page(book, "0004", "en")


# Words


def test_every_word_is_there_in_both_languages():
    assert (word("zh", "claim"), word("en", "claim")) == ("断言", "Claim")
    assert all(word(lang, f"topic-{topic}") for topic in TOPICS for lang in ("zh", "en"))


# The whole, on a small project of files


def test_every_page_and_generated_page_of_a_small_project_can_be_made_in_both_languages(tiny):
    book = tiny.book()
    for page in book.pages:
        assert "{{" not in macros.expand(page.text, page, book, "./")
    for lang in ("zh", "en"):
        texts = [f(book, lang) for f in (glossary_page, status_page, decision_index)]
        texts.append(decision_page(book, "0001", lang))
        texts += [f(book, book.labs["triton_tiny"], lang, "../../") for f in (lab_head, lab_tail)]
        assert [text for text in texts if "{{" in text or not text.strip()] == []


def test_c026_a_lab_whose_error_doubles_past_its_bound_takes_its_number_off_the_page(tiny):
    tiny.remove("labs/records/nvidia-h200")
    bound = tiny.book().claims[tiny.error].bound
    worse = 2 * bound
    tiny.record(rows={tiny.error: {"value": worse, "max_abs_err": worse}})
    book = tiny.book()
    texts = {page.lang: macros.expand(page.text, page, book, "./") for page in book.pages}
    shown = {lang: BeautifulSoup(text, "html.parser").a.get_text() for lang, text in texts.items()}
    assert shown == {
        "zh": "与最新一次运行矛盾，数字已撤下",
        "en": "contradicted by the newest run, number withdrawn",
    }
