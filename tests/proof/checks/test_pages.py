"""Both halves of a page exist, each heading has an id of its own, and every name works on every disk."""

import pytest
from planted import add, found

from proof.checks import files, pages


def test_C067_a_page_without_its_other_half_is_found(tiny):
    tiny.write("docs/zh/lessons/one.md", "# 一 { #one }\n")
    assert found(tiny, pages.twins) == [
        "docs/zh/lessons/one.md:1: this page has no docs/en/lessons/one.md"
    ]


def test_C067_a_deleted_half_is_found(tiny):
    tiny.remove(tiny.page["zh"])
    assert found(tiny, pages.twins) == ["docs/en/index.md:1: this page has no docs/zh/index.md"]


def test_C062_a_heading_without_an_id_is_found(tiny):
    add(tiny, "## 掩码", "zh")
    assert found(tiny, pages.headings) == ["docs/zh/index.md:5: the heading “掩码” has no id"]


@pytest.mark.parametrize(
    "heading", ["掩码 { #掩码 }", "Mask { #Mask }", "1 { #1-mask }", "a { #a/b }"]
)
def test_C062_an_id_that_is_not_plain_is_found(tiny, heading):
    add(tiny, f"## {heading}", "zh")
    (line,) = found(tiny, pages.headings)
    assert line.startswith("docs/zh/index.md:5: the heading id ") and line.endswith(" is not plain")


def test_C062_two_headings_with_one_id_are_found(tiny):
    add(tiny, "## 一 { #third }", "zh")
    assert found(tiny, pages.headings) == [
        "docs/zh/index.md:5: the heading id 'third' is taken by line 1"
    ]


def test_C062_a_heading_in_html_or_underlined_needs_an_id_too(tiny):
    add(tiny, "<h2>One</h2>\n\nTwo\n---\n", "en")
    assert [line.split(":")[1] for line in found(tiny, pages.headings)] == ["5", "7"]


def test_C062_a_decision_s_headings_count_from_the_top_of_its_file(tiny):
    tiny.edit(tiny.decision["en"], " { #options }", "")
    (line,) = found(tiny, pages.headings)
    number = tiny.read(tiny.decision["en"]).split("\n").index("## Options") + 1
    assert line == f"{tiny.decision['en']}:{number}: the heading “Options” has no id"


def test_a_heading_inside_code_is_none(tiny):
    add(tiny, "```md\n## no\n```")
    assert found(tiny, pages.headings) == []


def test_C092_a_space_in_a_name_is_found(tiny):
    tiny.write("docs/zh/my page.md", "# 一 { #one }\n")
    assert found(tiny, files.names) == ["docs/zh/my page.md:1: the name 'my page.md' holds a space"]


def test_C092_two_names_that_differ_by_case_are_found(tiny):
    tiny.write("docs/zh/matmul.md", "")
    tiny.write("docs/zh/Matmul.md", "")
    assert found(tiny, files.names) == [
        "docs/zh/matmul.md:1: this name and 'Matmul.md' are one name to a disk that is blind to case"
    ]


def test_C092_two_folders_that_differ_by_case_are_found(tiny):
    tiny.write("docs/zh/lessons/a.md", "")
    tiny.write("docs/zh/Lessons/b.md", "")
    (line,) = found(tiny, files.names)
    assert line.startswith("docs/zh/lessons:1: this name and 'Lessons'")


def test_C092_two_names_that_differ_by_unicode_form_are_found(tiny):
    tiny.write("docs/assets/é.svg", "")
    tiny.write("docs/assets/e\u0301.svg", "")
    lines = found(tiny, files.names)
    assert any("decomposed" in line for line in lines) and any(
        "one name to a disk" in line for line in lines
    )


def test_C092_a_full_width_twin_of_a_name_is_found(tiny):
    tiny.write("docs/assets/a.svg", "")
    tiny.write("docs/assets/ａ.svg", "")
    assert len(found(tiny, files.names)) == 1


@pytest.mark.parametrize("name", ["aux.md", "CON", "nul.svg", "com1.txt", "Lpt9.md", "prn"])
def test_C092_a_name_reserved_on_windows_is_found(tiny, name):
    tiny.write(f"docs/assets/{name}", "")
    assert found(tiny, files.names) == [
        f"docs/assets/{name}:1: {name} is a reserved name on Windows"
    ]


@pytest.mark.parametrize("name", ["a:b.md", "a?.md", "a.", 'a"b.md'])
def test_C092_a_name_impossible_on_windows_is_found(tiny, name):
    tiny.write(f"docs/assets/{name}", "")
    assert found(tiny, files.names) == [
        f"docs/assets/{name}:1: the name {name!r} cannot exist on Windows"
    ]


@pytest.mark.parametrize(
    "name", ["auxiliary.md", "console.md", "com.md", "com10.md", "访存.svg", "a-b_c.d.md"]
)
def test_C092_ordinary_names_pass(tiny, name):
    tiny.write(f"docs/assets/{name}", "")
    assert found(tiny, files.names) == []


@pytest.mark.parametrize(
    "path", ["site/a b.html", ".venv/a b.py", "build/aux.json", "docs/zh/.cache/a b"]
)
def test_what_no_one_writes_by_hand_is_not_judged(tiny, path):
    tiny.write(path, "")
    assert found(tiny, files.names) == []


@pytest.mark.parametrize("indent", ["", "    "])
def test_a_code_block_that_does_not_close_is_found(tiny, indent):
    add(tiny, f"{indent}```python\n{indent}x = 1", "zh")
    assert found(tiny, pages.headings) == [
        "docs/zh/index.md:5: a code block opens here and does not close: all that follows is code"
    ]


@pytest.mark.parametrize("opened", ["\\(", "\\[", "$$"])
def test_a_formula_that_does_not_close_is_found(tiny, opened):
    add(tiny, f"{opened} x + 1\n\n\\(y\\) and `\\(`", "zh")
    assert found(tiny, pages.headings) == [
        f"docs/zh/index.md:5: a formula opens with {opened} and does not close"
    ]


@pytest.mark.parametrize(
    "text", ["`$$`", "a line break, \\\\[2pt]", "\\[not a link\\]", "\\(a\nb[0][1]\\)"]
)
def test_what_opens_no_formula_passes(tiny, text):
    add(tiny, text, "zh")
    assert found(tiny, pages.headings) == []
