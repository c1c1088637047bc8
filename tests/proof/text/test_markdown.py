"""What the checks see of a Markdown page: prose, and everything that is no prose, each with its line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from proof.text.markdown import CODE, MACRO, MATH, read


def prose(text: str) -> str:
    return read(text).prose


def test_prose_keeps_the_length_and_the_lines_of_the_page():
    text = "a `b` {{ c() }}\n\n```python\nd\n```\n<!-- e\nf --> [g](h.md) \\(i\\)\n"
    assert len(prose(text)) == len(text)
    assert [number for number, line in enumerate(text, 1) if line == "\n"] == [
        number for number, line in enumerate(prose(text), 1) if line == "\n"
    ]


@given(st.text(alphabet="`~$\\(){}[]<>!-|=#:\"' \r\n\ta1é中*.", max_size=80))
@settings(deadline=None, max_examples=300)
def test_any_text_can_be_read_and_keeps_its_lines(text):
    page = read(text)
    assert len(page.prose) == len(text)
    assert [place for place, c in enumerate(page.prose) if c == "\n"] == [
        place for place, c in enumerate(text) if c == "\n"
    ]
    assert all(0 <= piece.start < piece.end <= len(text) for piece in page.pieces)


@given(
    st.lists(
        st.sampled_from(
            [
                "> ",
                "- ",
                "1. ",
                "    ",
                "\t",
                "!!! note\n",
                "a",
                "`b`",
                "$$",
                "{{ c() }}",
                "|",
                "---",
                "\n",
                "\n\n",
                "<d>",
            ]
        ),
        max_size=20,
    )
)
@settings(deadline=None, max_examples=300)
def test_a_piece_lies_where_it_is_written(parts):
    text = "".join(parts)
    page = read(text)
    assert {text[piece.start : piece.end] for piece in page.pieces if piece.kind == "macro"} <= {
        "{{ c() }}"
    }
    assert {text[piece.start : piece.end] for piece in page.pieces if piece.kind == "tag"} <= {
        "<d>"
    }


def test_code_macros_and_mathematics_are_no_prose():
    assert prose("`ab`") == CODE * 4
    assert prose("``a`b``") == CODE * 7
    assert prose("{{ x() }}") == MACRO * 9
    assert prose("\\(x\\)") == MATH * 5
    assert prose("$$\nx\n$$") == f"{MATH * 2}\n{MATH}\n{MATH * 2}"


def test_comments_tags_targets_and_front_matter_are_no_prose():
    assert prose("---\ntitle: 5 ms\n---\n").strip() == ""
    assert prose("<!-- 5 ms -->").strip() == ""
    assert prose('<img alt="5 ms">').strip() == ""
    assert prose("[five](5ms.md)").rstrip() == "[five"
    assert prose("see https://a.b/5ms now").split() == ["see", "now"]


def test_an_escaped_backtick_opens_no_code():
    assert "5 ms" in prose("\\`5 ms\\`")


def test_what_looks_like_markdown_inside_a_fence_is_code():
    page = read("```md\n# no heading\n{{ no_macro() }}\n[no](link.md)\n| no |\n|---|\n```\n")
    assert (page.headings, page.macros, page.links, page.tables) == ((), (), (), ())
    assert page.fences[0].body == "# no heading\n{{ no_macro() }}\n[no](link.md)\n| no |\n|---|"


def test_a_fence_ends_at_its_own_kind_and_length_only():
    (fence,) = read("````\n```\n~~~~\n````\n").fences
    assert fence.body == "```\n~~~~"


def test_a_fence_inside_an_admonition_is_a_fence():
    (fence,) = read('!!! note "x"\n    ```python\n    if a:\n        b\n    ```\n').fences
    assert (fence.line, fence.info, fence.body) == (2, "python", "if a:\n    b")


def test_headings_have_level_line_and_id():
    page = read("# One { #one }\n\n## 二 {#two}\n\n### three\n\nfour\n====\n\n<h2>five</h2>\n")
    assert [(h.level, h.line, h.id) for h in page.headings] == [
        (1, 1, "one"),
        (2, 3, "two"),
        (3, 5, ""),
        (1, 7, ""),
        (2, 10, ""),
    ]


def test_a_rule_between_paragraphs_is_no_heading():
    assert read("a\n\n---\n\nb\n").headings == ()


def test_links_images_and_raw_html_give_their_targets():
    page = read(
        '[a](b.md#c) ![d](e.png "f") <a href="g.md">h</a> <img src=\'i.png\'> <https://j.k>\n[l]: m.md\n'
    )
    assert [(link.target, link.image, link.raw) for link in page.links] == [
        ("b.md#c", False, False),
        ("e.png", True, False),
        ("g.md", False, True),
        ("i.png", True, True),
        ("https://j.k", False, False),
        ("m.md", False, False),
    ]


def test_the_text_of_a_link_may_hold_brackets():
    (link,) = read("[a [b] c](d.md)").links
    assert link.text == "a [b] c"


def test_macros_have_a_place_and_may_run_over_lines_that_look_like_a_list():
    text = 'x\n\n{{ claims("a.b.c",\n- "}}",\n1. "d.e.f") }} y\n'
    (macro,) = read(text).macros
    assert (macro.line, text[macro.start : macro.end]) == (3, text[3:-3])


def test_snippets_give_file_and_section():
    page = read('```python\n--8<-- "labs/a.py:kernel"\n```\n--8<--\nb.md\n--8<--\n')
    assert [(s.line, s.target) for s in page.snippets] == [(2, "labs/a.py:kernel"), (5, "b.md")]


def test_admonitions_give_their_marker_and_kind():
    page = read('!!! note "a"\n    b\n???+ question inline "c"\n    d\n')
    assert [(a.line, a.marker, a.kind) for a in page.admonitions] == [
        (1, "!!!", "note"),
        (3, "???+", "question inline"),
    ]


def test_tables_give_their_shape_and_code_may_hold_a_bar():
    (table,) = read("| a | b |\n| --- | --- |\n| `c | d` | e |\n| f \\| g | h |\n").tables
    assert (table.line, table.rows, table.columns) == (1, 2, 2)
