"""Whatever stands in one language of a page stands in the other, and a difference names page, line and thing."""

import pytest
from planted import add, found

from proof.checks import parity
from proof.checks.parity import parity_tally
from proof.text.numbers import numbers


def both(tiny, zh: str, en: str) -> list[str]:
    add(tiny, zh, "zh")
    add(tiny, en, "en")
    return found(tiny, parity.differences)


def test_prose_may_differ(tiny):
    assert both(tiny, "先讲结论。\n\n再讲推导。", "One paragraph.") == []


def test_comments_of_python_are_in_the_language_of_the_page(tiny):
    zh, en = "```python\nx = 1  # 一\n```", "```python\nx = 1  # one\n```"
    assert both(tiny, zh, en) == []


DIFFERENT = {
    "heading": ("## 一 { #one }", "## One { #two }"),
    "heading level": ("## 一 { #one }", "### One { #one }"),
    "fenced code": ("```python\nx = 1\n```", "```python\nx = 2\n```"),
    "info string": ("```python\nx\n```", "```text\nx\n```"),
    "snippet": (
        '```python\n--8<-- "labs/triton_tiny.py:kernel"\n```',
        '```python\n--8<-- "labs/triton_tiny.py"\n```',
    ),
    "macro": ('{{ claim("tiny.ragged.programs") }}', '{{ claim("tiny.large_fp32.vs_copy") }}'),
    "term": ('{{ term("mask") }}', '{{ term("warp") }}'),
    "macro option": ('{{ claim("a.b.c", on="interpreter") }}', '{{ claim("a.b.c") }}'),
    "admonition": ('!!! note "一"\n    一', '!!! warning "One"\n    One'),
    "admonition fold": ('??? note "一"\n    一', '???+ note "One"\n    One'),
    "table rows": ("| 一 | 二 |\n|---|---|\n| 三 | 四 |", "| a | b |\n|---|---|"),
    "table columns": ("| 一 | 二 |\n|---|---|", "| a | b | c |\n|---|---|---|"),
    "formula": ("\\(x^2\\)", "\\(x^3\\)"),
    "display formula": ("$$\nx\n$$", "$$\ny\n$$"),
    "link": ("[一](trust.md)", "[one](start.md)"),
    "anchor": ("[一](trust.md#a)", "[one](trust.md#b)"),
    "outside link": ("[一](https://a.b/zh)", "[one](https://a.b/en)"),
    "image": ("![一](assets/a.svg)", "![one](assets/b.svg)"),
    "html link": ('<a href="trust.md">一</a>', '<a href="start.md">one</a>'),
    "number": ("有 12 个", "There are 13 of them"),
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_C027_what_differs_is_found_on_both_pages(tiny, kind):
    files = {line.split(":")[0] for line in both(tiny, *DIFFERENT[kind])}
    assert files == {"docs/zh/index.md", "docs/en/index.md"}


@pytest.mark.parametrize("kind", DIFFERENT)
@pytest.mark.parametrize("half", [0, 1])
def test_C027_what_stands_in_one_language_only_is_found_there(tiny, kind, half):
    lang = ("zh", "en")[half]
    add(tiny, DIFFERENT[kind][half], lang)
    lines = found(tiny, parity.differences)
    assert lines and {line.split(":")[0] for line in lines} == {f"docs/{lang}/index.md"}


def test_C026_a_digit_changed_on_one_page_names_page_line_and_number(tiny):
    assert both(tiny, "一共 98,432 个元素。", "There are 98,431 elements.") == [
        "docs/zh/index.md:5: this number has no counterpart in docs/en/index.md: 98432 (1 times here, 0 times there)",
        "docs/en/index.md:5: this number has no counterpart in docs/zh/index.md: 98431 (1 times here, 0 times there)",
    ]


def test_a_number_said_twice_here_and_once_there_is_found_once(tiny):
    assert both(tiny, "12 与 12", "12 only") == [
        "docs/zh/index.md:5: this number has no counterpart in docs/en/index.md: 12 (2 times here, 1 times there)"
    ]


def test_C027_headings_in_another_order_are_found(tiny):
    (line,) = both(tiny, "## 一 { #a }\n\n## 二 { #b }", "## Two { #b }\n\n## One { #a }")
    assert line.startswith(
        "docs/en/index.md:5: this heading stands in another order than in docs/zh/index.md"
    )


def test_C027_a_decision_s_halves_are_compared_too(tiny):
    tiny.edit(
        tiny.decision["en"], "## Options { #options }", "## Options { #options }\n\nAll 17 of them."
    )
    (line,) = found(tiny, parity.differences)
    assert line.startswith(f"{tiny.decision['en']}:") and ": 17 (" in line


def test_the_order_of_links_and_numbers_is_free(tiny):
    assert (
        both(tiny, "[一](a.md) 与 [二](b.md)，3 和 4", "[two](b.md) and [one](a.md), 4 and 3") == []
    )


def test_words_that_a_macro_shows_may_differ(tiny):
    assert both(tiny, '{{ term("mask", "掩码") }}', '{{ term("mask", "masks") }}') == []
    assert (
        both(
            tiny,
            '{{ given("2 万 MB", source="triton-load") }}',
            '{{ given("20,000 MB", source="triton-load") }}',
        )
        == []
    )


def test_a_given_number_may_not_differ(tiny):
    assert (
        both(
            tiny,
            '{{ given("24 GB", source="triton-load") }}',
            '{{ given("42 GB", source="triton-load") }}',
        )
        != []
    )


def test_words_in_a_formula_may_differ(tiny):
    assert both(tiny, "\\(x_{\\text{行}}\\)", "\\(x_{\\text{row}}\\)") == []


def test_code_in_a_list_and_out_of_it_is_the_same_code(tiny):
    assert (
        both(
            tiny,
            "- 一\n\n    ```python\n    if a:\n        b\n    ```",
            "```python\nif a:\n    b\n```",
        )
        == []
    )


# Numbers in one form

FORMS = {
    "1,823 × 781": ["1823", "781"],
    "1823 乘 781": ["1823", "781"],
    "98\u202f432": ["98432"],
    "1.5 万行": ["15000"],
    "15,000 rows": ["15000"],
    "2 亿": ["200000000"],
    "20 亿": ["2000000000"],
    "2 十亿": ["2000000000"],
    "2 billion": ["2000000000"],
    "3 百万": ["3000000"],
    "300 万": ["3000000"],
    "3.0 million": ["3000000"],
    "1.2 万亿次": ["1200000000000"],
    "1.2 trillion": ["1200000000000"],
    "200 million": ["200000000"],
    "3 thousand": ["3000"],
    "2³¹": ["2^31"],
    "2^31": ["2^31"],
    "2**31": ["2^31"],
    "10⁻⁶": ["10^-6"],
    "3.7.1": ["3.7.1"],
    "0.50": ["0.5"],
    "１２": ["12"],
    "2026-11-29": ["2026", "11", "29"],
    "2027 年 5 月 5 日": ["2027", "5", "5"],
    "5 May 2027": ["5", "5", "2027"],
    "May 5, 2027": ["5", "5", "2027"],
    "三个 break": [],
    "three breaks": [],
    "fp16 和 H200 和 sm_90": [],
    "Qwen2.5-7B": [],
    "RTX 4090": ["4090"],
    "1. 第一步": [],
    "第 1 步": ["1"],
    "24 GB": ["24"],
    "24GB": ["24"],
    "5 毫秒": ["5"],
    "5 ms": ["5"],
    "50%": ["50"],
    "50 percent": ["50"],
    "3×": ["3"],
    "N, 1, 2": ["1", "2"],
    "1,2,3": ["1", "2", "3"],
}


@pytest.mark.parametrize("line", FORMS)
def test_a_number_has_one_form(line):
    assert list(numbers(line)) == FORMS[line]


# Exceptions


@pytest.mark.parametrize(
    "zh",
    ["价格是 12 元 <!-- parity: 只对中国读者 -->", "<!-- parity: 只对中国读者 -->\n\n价格是 12 元"],
)
def test_an_exception_with_a_reason_covers_its_block(tiny, zh):
    assert both(tiny, zh, "") == []


def test_an_exception_alone_covers_a_whole_fence(tiny):
    assert both(tiny, "<!-- parity: 命令不同 -->\n\n```bash\na\n\nb\n```", "") == []


def test_an_exception_covers_no_other_block(tiny):
    assert both(tiny, "12 <!-- parity: 只对中国读者 -->\n\n13", "") == [
        "docs/zh/index.md:7: this number has no counterpart in docs/en/index.md: 13 (1 times here, 0 times there)"
    ]


def test_an_exception_without_a_reason_is_found_and_covers_nothing(tiny):
    assert len(both(tiny, "12 <!-- parity: -->", "")) == 1
    assert found(tiny, parity.reasons) == [
        "docs/zh/index.md:5: this exception from parity gives no reason"
    ]


def test_exceptions_are_counted_with_their_reasons(tiny):
    add(tiny, "12 <!-- parity: 只对中国读者 -->", "zh")
    assert parity_tally(tiny.book()) == [("docs/zh/index.md", 5, "只对中国读者")]
