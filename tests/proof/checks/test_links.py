"""A link inside the site leads to a page and an anchor that exist, by their exact names, on any disk."""

import pytest
from planted import add, found

from proof.checks import links


def dead(tiny, text: str) -> list[str]:
    """What is said of that text at the end of the Chinese home page, without the place."""
    add(tiny, text, "zh")
    lines = found(tiny, links.dead)
    assert all(line.startswith("docs/zh/index.md:5: ") for line in lines)
    return [line.removeprefix("docs/zh/index.md:5: ") for line in lines]


def test_C063_a_missing_page_is_found(tiny):
    assert dead(tiny, "[x](trust.md)") == ["trust.md leads to trust.md, which does not exist"]


def test_C063_a_wrong_anchor_is_found(tiny):
    assert dead(tiny, "[x](index.md#fourth) [y](#fifth)") == [
        "index.md has no anchor #fourth",
        "index.md has no anchor #fifth",
    ]


@pytest.mark.parametrize(
    "target", ["glossary", "glossary/", "glossary/index", "labs/triton_tiny/", ".", "../"]
)
def test_C063_a_link_without_a_file_ending_is_found(tiny, target):
    (said,) = dead(tiny, f"[x]({target})")
    assert said == f"{target} names no file"


@pytest.mark.parametrize("target", ["/index.md", "/en/", "/"])
def test_C063_an_absolute_link_is_found(tiny, target):
    assert dead(tiny, f"[x]({target})") == [
        f"{target} is absolute: it breaks where the site lies below a path"
    ]


def test_C063_an_image_with_the_wrong_case_is_found(tiny):
    tiny.write("docs/assets/grid.svg", "<svg/>")
    assert dead(tiny, "![x](assets/Grid.svg)") == [
        "assets/Grid.svg has the wrong case: the file is assets/grid.svg"
    ]


def test_C092_a_page_with_the_wrong_case_is_found(tiny):
    tiny.write("docs/zh/matmul.md", "# 一 { #one }\n")
    assert dead(tiny, "[x](Matmul.md)") == ["Matmul.md has the wrong case: the file is matmul.md"]


def test_C063_a_link_in_raw_html_is_found(tiny):
    assert dead(tiny, '<a href="trust.md">x</a> <img src="assets/gone.png">') == [
        "trust.md leads to trust.md, which does not exist",
        "assets/gone.png leads to assets/gone.png, which does not exist",
    ]


def test_a_link_by_reference_is_found(tiny):
    assert dead(tiny, "[x]: trust.md") == ["trust.md leads to trust.md, which does not exist"]


def test_a_link_to_the_other_language_s_folder_is_found(tiny):
    assert len(dead(tiny, "[x](../en/index.md)")) == 1


def test_a_built_page_is_no_target(tiny):
    assert len(dead(tiny, "[x](index.html)")) == 1


def test_an_image_on_another_host_is_found(tiny):
    assert dead(tiny, "![x](https://a.b/c.png)") == [
        "https://a.b/c.png is loaded from another host"
    ]


@pytest.mark.parametrize(
    "tag", ['<iframe src="https://a.b/c"></iframe>', '<script src="https://a.b/c"></script>']
)
def test_what_html_loads_from_another_host_is_found(tiny, tag):
    assert dead(tiny, tag) == ["https://a.b/c is loaded from another host"]


@pytest.mark.parametrize("link", ["[x][gone]", "[gone][]"])
def test_a_reference_that_nothing_defines_is_found(tiny, link):
    assert dead(tiny, link) == ["no address is defined for [gone]"]


@pytest.mark.parametrize("indent", ["", "> ", "    "])
def test_a_reference_that_is_defined_passes(tiny, indent):
    assert dead(tiny, f"[x][One] [one][]\n\n{indent}[one]: index.md") == []


def test_an_index_is_no_reference(tiny):
    assert dead(tiny, "A[i][j] and f(x)[0][1]") == []


def test_a_generated_page_that_cannot_be_made_is_said(tiny):
    name = "glossary/mask.yml"
    tiny.write(name, tiny.read(name).replace("see_also: []", "see_also: [gone]"))
    assert found(tiny, links.dead) == [
        f"{name}:1: see_also names 'gone', and there is no such term"
    ]


@pytest.mark.parametrize("target", ["ftp://a.b/c", "//a.b/c", "javascript:x()"])
def test_an_address_that_no_page_may_open_is_found(tiny, target):
    assert len(dead(tiny, f"[x]({target})")) == 1


def test_an_empty_link_is_found(tiny):
    assert dead(tiny, "[x]()") == ["this link has no target"]


@pytest.mark.parametrize(
    "target",
    [
        "index.md",
        "index.md#third",
        "#third",
        "glossary/index.md",
        "glossary/index.md#mask",
        "adr/index.md",
        "adr/0001-records-not-promises.md",
        "adr/0001-records-not-promises.md#options",
        "status.md",
        "labs/triton_tiny.ipynb",
        "labs/triton_tiny.ipynb#tiny.ragged.programs",
        "labs/triton_tiny.ipynb#tiny.no_mask.bug",
        "downloads/triton_tiny.py",
        "https://a.b/c#d",
        "mailto:a@b.c",
    ],
)
def test_what_exists_may_be_linked(tiny, target):
    assert dead(tiny, f"[x]({target})") == []


def test_the_archive_of_exercises_may_be_linked_where_there_are_exercises(tiny):
    assert dead(tiny, "[x](downloads/exercises.zip)") != []
    tiny.write("labs/exercises/01_one.py", "")
    assert dead(tiny, "[x](downloads/exercises.zip)") == []


def test_what_lies_beside_a_page_or_in_the_assets_may_be_linked(tiny):
    tiny.write("docs/assets/grid.svg", "<svg/>")
    tiny.write("docs/zh/lessons/图.svg", "<svg/>")
    tiny.write(
        "docs/zh/lessons/one.md", "![a](../assets/grid.svg) ![b](图.svg) ![c](%E5%9B%BE.svg)\n"
    )
    assert found(tiny, links.dead) == []


def test_a_link_in_a_decision_counts_from_the_decisions(tiny):
    for text, count in (("[x](../index.md#third)", 0), ("[x](index.md)", 0), ("[x](trust.md)", 1)):
        tiny.write(tiny.decision["en"], tiny.read(tiny.decision["en"]) + text + "\n")
        assert len(found(tiny, links.dead)) == count


def test_a_link_in_code_is_none(tiny):
    assert dead(tiny, "`[x](trust.md)`") == []
