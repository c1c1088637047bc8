"""What is written like Markdown and shown otherwise than it is meant, planted fault by fault."""

import pytest
from planted import add, found

from proof.checks import markup, references
from proof.checks.markup import front_matter_faults, sides_out_of_line
from proof.checks.rules import check

# Front matter


def front(tiny, text: str) -> list[str]:
    tiny.write(tiny.page["en"], text + tiny.read(tiny.page["en"]))
    return found(tiny, markup.front_matter)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (
            "---\ntitle: Numerics: why\n---\n",
            2,
            "the front matter is not YAML and is shown as text",
        ),
        (
            '---\ntitle: A\ndescription: "B\n---\n',
            3,
            "the front matter is not YAML and is shown as text",
        ),
        (
            "---\ntitle: A\n\tdescription: B\n---\n",
            3,
            "the front matter is not YAML and is shown as text",
        ),
        ("---\ntitle: !here A\n---\n", 2, "the front matter is not YAML and is shown as text"),
        ("---\ntitle: 2026-13-45\n---\n", 2, "the front matter is not YAML and is shown as text"),
        (
            "---\n- title: A\n---\n",
            2,
            "the front matter holds no `key: value` lines and is shown as text",
        ),
        (
            "---\ntitle\n---\n",
            2,
            "the front matter holds no `key: value` lines and is shown as text",
        ),
        (
            "---\n# nothing\n---\n",
            2,
            "the front matter holds no `key: value` lines and is shown as text",
        ),
        (
            "---\ntitle: A\ndescription: B\ntitle: C\n---\n",
            4,
            "title stands in the front matter twice, first in line 2",
        ),
        (
            "---\nsearch:\n  boost: 1\n  boost: 2\n---\n",
            4,
            "boost stands in the front matter twice, first in line 3",
        ),
        ("---\ntitel: A\n---\n", 2, "nothing reads 'titel' in the front matter"),
        ("---\ntitle: [A]\n---\n", 2, "title is not one line of text"),
        ("---\ntitle:\n---\n", 2, "title is not one line of text"),
        (
            "---\ntitle: A\n\n",
            1,
            "the front matter opens here and does not close, so that it is shown as text",
        ),
        (
            "\n---\ntitle: A\n---\n",
            2,
            "the front matter begins below a blank line and is shown as text",
        ),
        (
            "----\ntitle: A\n----\n",
            1,
            "“----” opens no front matter, and what follows is shown as text",
        ),
        ("——\ntitle: A\n——\n", 1, "“——” opens no front matter, and what follows is shown as text"),
        ("title: A\n\n", 1, "MkDocs takes “title: A” for metadata and does not show it"),
    ],
)
def test_front_matter_that_is_not_read_is_found(tiny, text, line, what):
    (finding,) = front(tiny, text)
    assert finding.startswith(f"docs/en/index.md:{line}: {what}")


@pytest.mark.parametrize(
    "text",
    [
        '---\ntitle: "A: b"\ndescription: C\n---\n',
        "---\ntitle: A\n...\n",
        "# A\n",
        "a: b\n"[3:],
        "",
    ],
)
def test_front_matter_that_is_read_passes(text):
    assert list(front_matter_faults(text)) == []


def test_front_matter_of_a_decision_is_found_too(tiny):
    tiny.edit(tiny.decision["en"], "status: accepted", "status: accepted\nstatus: proposed")
    assert [problem.file for problem in check(tiny.book()) if "status" in problem.what] == [
        tiny.decision["en"]
    ]


# Snippets


@pytest.mark.parametrize(
    "arrow",
    [
        "--8<-- labs/triton_tiny.py:kernel",
        "--8<-- “labs/triton_tiny.py:kernel”",
        "--8<-- 'labs/triton_tiny.py:kernel\"",
        '--8<-- "labs/triton_tiny.py:kernel',
        '--8<--"labs/triton_tiny.py:kernel"',
        '--8<-- "labs/triton_tiny.py:kernel" ',
        '--8<-- "labs/triton_tiny.py:kernel" here',
        '--8< "labs/triton_tiny.py:kernel"',
        '8<-- "labs/triton_tiny.py:kernel"',
        '-- 8<-- "labs/triton_tiny.py:kernel"',
        '--8 <-- "labs/triton_tiny.py:kernel"',
        '--8>-- "labs/triton_tiny.py:kernel"',
        '--8&lt;-- "labs/triton_tiny.py:kernel"',
        '--8＜-- "labs/triton_tiny.py:kernel"',
        '—8<— "labs/triton_tiny.py:kernel"',
        '--B<-- "labs/triton_tiny.py:kernel"',
        '> --8<-- "labs/triton_tiny.py:kernel"',
    ],
)
@pytest.mark.parametrize("fence", ["```python\n{}\n```", "{}"])
def test_an_arrow_that_quotes_nothing_is_found(tiny, arrow, fence):
    add(tiny, fence.format(arrow), "zh")
    (finding,) = found(tiny, markup.leftovers)
    line = 6 if "```" in fence else 5
    assert (
        finding
        == f"docs/zh/index.md:{line}: “{arrow.strip()}” quotes nothing and is shown as written"
    )


def test_a_list_of_snippets_that_does_not_close_is_found(tiny):
    add(tiny, "--8<--\nlabs/triton_tiny.py\n", "zh")
    assert found(tiny, markup.leftovers) == [
        "docs/zh/index.md:5: a list of quoted files opens here and does not close"
    ]


@pytest.mark.parametrize(
    "text",
    [
        '```python\n--8<-- "labs/triton_tiny.py:kernel"\n```',
        '-8<- "labs/triton_tiny.py:kernel"',
        "    --8<-- 'labs/triton_tiny.py:kernel'",
        "--8<--\nlabs/triton_tiny.py\n--8<--",
        "an arrow is `--8<-- [start:kernel]`",
        "```python\n# --8<-- [start:kernel]\nx = n-8<-m\n```",
        "with 8 < 9 lanes, 7-8 < 9",
    ],
)
def test_an_arrow_that_quotes_or_is_code_passes(tiny, text):
    add(tiny, text)
    assert found(tiny, markup.leftovers) == []


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("labs/triton_tiny.py:kernal", "labs/triton_tiny.py has no section kernal"),
        ("labs/triton_tiny.py: kernel", "labs/triton_tiny.py has no section  kernel"),
        ("labs/triton_tiny.py::kernel", "labs/triton_tiny.py has no section :kernel"),
        ("labs/triton_tinny.py:kernel", "the quoted file labs/triton_tinny.py does not exist"),
        ("labs/triton_tiny.py:1:9999", "labs/triton_tiny.py has no line 9999"),
        ("labs/triton_tiny.py:0", "labs/triton_tiny.py has no line 0"),
    ],
)
def test_a_snippet_of_what_is_not_there_is_found(tiny, target, what):
    add(tiny, f'```python\n--8<-- "{target}"\n```', "zh")
    assert found(tiny, references.snippets) == [f"docs/zh/index.md:6: {what}"]


# Admonitions and comments


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("!!! note Title\n    text", "Title of this admonition is not shown"),
        ('!!! "Title"\n    text', '“!!! "Title"” is no admonition and is shown as written'),
        ("！！！ note\n    text", "“！！！ note” is no admonition and is shown as written"),
        (
            "??? note “Title”\n    text",
            "“??? note “Title”” is no admonition and is shown as written",
        ),
        ('!!! note "Title"\n  text', "this admonition is empty"),
        ('!!! note "Title"', "this admonition is empty"),
        ("<!-- a", "a comment opens here and does not close"),
    ],
)
def test_an_admonition_that_is_none_is_found(tiny, text, what):
    add(tiny, text, "zh")
    assert found(tiny, markup.leftovers) == [f"docs/zh/index.md:5: {what}"]


@pytest.mark.parametrize(
    "text", ['!!! note "a"\n    b', "??? note\n\n    b", '???+ "a"\n    b', "<!-- a -->", "what???"]
)
def test_an_admonition_passes(tiny, text):
    add(tiny, text)
    assert found(tiny, markup.leftovers) == []


# Lists


@pytest.mark.parametrize("indent", [2, 3])
@pytest.mark.parametrize(
    ("what", "block"),
    [
        ("fence", "```python\n{0}x\n{0}```"),
        ("paragraph", "text"),
        ("bullet list", "- b"),
        ("ordered list", "1. b"),
    ],
)
def test_what_is_indented_by_less_than_four_inside_a_list_is_found(tiny, indent, what, block):
    marker = "1." if indent == 3 else "-"
    blanks = " " * indent
    add(tiny, f"{marker} a\n\n{blanks}{block.format(blanks)}\n\n{marker} c", "zh")
    assert found(tiny, markup.lists) == [
        f"docs/zh/index.md:7: this {what} is indented by {indent} and belongs to no item of the list above"
    ]


def test_what_is_indented_by_less_than_eight_inside_an_inner_list_is_found(tiny):
    add(tiny, "- a\n\n    1. b\n\n       ```\n       c\n       ```\n", "zh")
    assert found(tiny, markup.lists) == [
        "docs/zh/index.md:9: this fence is indented by 7 and belongs to no item of the list above"
    ]


def test_a_list_that_does_not_begin_with_1_is_found(tiny):
    add(tiny, "1. a\n\n```\nb\n```\n\n2. c", "zh")
    assert found(tiny, markup.lists) == [
        "docs/zh/index.md:11: this list begins with 2, and is shown beginning with 1"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. a\n\n    ```\n    b\n    ```\n\n2. c",
        "1. a\n    ```\n    b\n    ```\n2. c",
        "- a\n  goes on\n\n    - b\n\n        text",
        '!!! note "x"\n    1. a\n\n        ```\n        b\n        ```\n    2. c',
        "> - a\n>\n>     b",
    ],
)
def test_a_list_that_indents_by_four_passes(tiny, text):
    add(tiny, text)
    assert found(tiny, markup.lists) == []


# Line breaks


@pytest.mark.parametrize(
    "text",
    [
        "中文\n中文",
        "中文，\n中文",
        "中文\n“中文”",
        "**中文**\n中文",
        "[中文](index.md)\n中文",
        "中文\n[中文](index.md)",
        "中文 <!-- a -->\n中文",
        "- 中文\n  中文",
        '!!! note "中"\n    中文\n    中文',
        "> 中文\n> 中文",
    ],
)
def test_a_line_that_ends_between_two_chinese_characters_is_found(tiny, text):
    add(tiny, text, "zh")
    (finding,) = found(tiny, markup.line_breaks)
    line = 6 if text.startswith("!!!") else 5
    assert finding.startswith(
        f"docs/zh/index.md:{line}: this line ends between two Chinese characters"
    )


@pytest.mark.parametrize(
    "text",
    [
        "中文\nlatin",
        "latin\nlatin",
        "中文\n`code`",
        "中文  \n中文",
        "中文\n\n中文",
        "- 中文\n- 中文",
        "```\n中文\n中文\n```",
        "| 中 | 文 |\n| --- | --- |\n| 中 | 文 |",
        "## 中文 { #a }\n中文",
        "[中](index.md){ .md-button }\n[文](index.md){ .md-button }",
    ],
)
def test_a_line_that_ends_where_a_blank_is_right_passes(tiny, text):
    add(tiny, text)
    assert found(tiny, markup.line_breaks) == []


def test_yaml_that_folds_lines_between_two_chinese_characters_is_found(tiny):
    tiny.edit(
        tiny.term,
        "  body: mask 为假的位置既不读，也不写。",
        "  body: >-\n    mask 为假的位置，\n    既不读，也不写。",
    )
    line = tiny.read(tiny.term).split("\n").index("    mask 为假的位置，") + 1
    (finding,) = found(tiny, markup.line_breaks)
    assert finding.startswith(f"{tiny.term}:{line}: this line ends between two Chinese characters")


def test_yaml_that_keeps_its_lines_passes(tiny):
    tiny.edit(
        tiny.term,
        "  body: mask 为假的位置既不读，也不写。",
        "  body: |\n    - 假的位置不读\n    - 也不写",
    )
    assert found(tiny, markup.line_breaks) == []


# Frames


@pytest.mark.parametrize(
    "frame",
    [
        "┌────┐\n│ 中  │\n└────┘",
        "┌────┐ ┌────┐\n│ ab │ │ 中  │\n└────┘ └────┘",
        "+----+\n| 中  |\n+----+",
        "+----+----+\n| 中  | bc  |\n+----+----+",
        "╔════╗\n║ ab ║\n║ 中  ║\n╚════╝",
        "┌────┐\n│ ａ  │\n└────┘",
        "   中 ┌────┐\n     │ ab │\n     └────┘",
        "┌────┐\n│ ab │\n└───┘",
    ],
)
def test_a_frame_with_a_side_out_of_line_is_found(frame):
    assert len(list(sides_out_of_line(frame.split("\n")))) == 1


@pytest.mark.parametrize(
    "frame",
    [
        "┌────┐\n│ ab │\n└────┘",
        "┌──────┐\n│ 中文 │\n└──────┘",
        "┌────┐   ┌────┐\n│ 中 │──▶│ ab │\n└────┘   └────┘",
        "+----+----+\n| ab | cd |\n+----+----+\n| 中 | 文 |\n+----+----+",
        "+--+\n  then\n",
        "a + b - c | d",
        "┌──┬──┐\n│ a│ b│\n├──┼──┤\n│中│文│\n└──┴──┘",
    ],
)
def test_a_frame_in_line_passes(frame):
    assert list(sides_out_of_line(frame.split("\n"))) == []


def test_a_frame_out_of_line_names_its_line_in_the_page(tiny):
    add(tiny, "```text\n┌────┐\n│ ab │\n│ 中  │\n└────┘\n```", "zh")
    assert found(tiny, markup.frames) == [
        "docs/zh/index.md:8: the frame whose sides are in columns 1 and 6 is out of line here"
    ]


def test_a_frame_in_code_of_another_language_is_not_looked_at(tiny):
    add(tiny, "```python\n# +----+\n# | 中 |\n# +----+\n```", "zh")
    assert found(tiny, markup.frames) == []
