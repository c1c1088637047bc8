"""proof/text/spacing.py: Chinese is spaced and punctuated, and nothing but prose is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_project import ROOT

from proof.text import spacing as prose

KEPT = [
    "---\ntags: [入门,GPU]\n---\n",
    "```text\n+--表格A--+  # 不动\n```\n",
    "    ```python\n    x = '中文a'\n    ```\n",
    "$$\nx为y\n$$\n",
    "# 标题 { #id标 .类a }\n",
    "<span title='中文a'>",
    "<!-- 中文a -->",
    "[链接](路径a/b.md)\n",
    "看 https://example.org/中文a 这里\n",
    '{{ claim("中文a.b") }}\n',
    "第 1 步：2 倍\n",
    "### Kernel 1：vector add\n",
    "见 Dao et al.\n例如 e.g.\n纸面上 1 到 3 等 etc.\n",
    '加上{{ term("layout") }}就好，和 {{ term("ulp") }} 一样\n',
]
FIXED = {
    "在GPU上跑": "在 GPU 上跑",
    "这是对的,对吗?": "这是对的，对吗？",
    "用`x`表示": "用 `x` 表示",
    "先是`x`,然后": "先是 `x`，然后",
    "长度为\\(n\\)的向量": "长度为 \\(n\\) 的向量",
    '误差是{{ claim("a.b.c") }}以内': '误差是 {{ claim("a.b.c") }} 以内',
    "（很快)": "（很快）",
    "**重点**,然后": "**重点**，然后",
    "见[这里](a.md),再说 `x`.": "见[这里](a.md)，再说 `x`。",
    "说的是 Triton.": "说的是 Triton。",
    "结论是什么?!": "结论是什么？！",
    "对;错 ,都行": "对；错，都行",
    "这里有(半角括号)的一句": "这里有（半角括号）的一句",
}


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_prose_stays_byte_for_byte(text):
    assert prose.spaced(text, "markdown", prose.correct) == text


@pytest.mark.parametrize(("before", "after"), FIXED.items())
def test_prose_is_fixed(before, after):
    assert prose.spaced(before, "markdown", prose.correct) == after


@pytest.mark.parametrize(
    "text", ["  alt: [计算强度,arithmetic]", "- {lang: zh, term: 内核, use: kernel}", "# 备注a"]
)
def test_lists_and_remarks_of_yaml_stay(text):
    assert prose.spaced(text, "yaml", prose.correct) == text


def test_values_of_yaml_are_fixed():
    assert prose.spaced("  short: 在GPU上跑", "yaml", prose.correct) == "  short: 在 GPU 上跑"


@given(st.text(alphabet="中文aB1 ,，.。:`(（)）\n*$\\{}[]<>#-\"'|", max_size=60))
def test_nothing_is_lost_and_twice_is_once(text):
    once = prose.spaced(text, "markdown", prose.correct)
    assert prose.spaced(once, "markdown", prose.correct) == once
    letters = [character for character in text if character in "中文aB1`$\\{}[]<>#\"'|"]
    assert [character for character in once if character in "中文aB1`$\\{}[]<>#\"'|"] == letters


def test_fix_names_file_and_line_and_writes_only_when_asked(tiny):
    path = tiny.write("docs/zh/page.md", "# 页 { #page }\n\n在GPU上跑\n")
    told = prose.fix(tiny.root)
    assert told == ["docs/zh/page.md:3: “在GPU上跑” should read “在 GPU 上跑”"]
    assert "在GPU上跑" in path.read_text()
    prose.fix(tiny.root, lambda where, content: where.write_bytes(content))
    assert "在 GPU 上跑" in path.read_text() and prose.fix(tiny.root) == []


def test_c090_windows_line_ends_and_a_mark_are_kept(tiny):
    path = tiny.write("docs/zh/page.md", "\ufeff# 页 { #page }\r\n\r\n在GPU上跑\r\n".encode())
    prose.fix(tiny.root, lambda where, content: where.write_bytes(content))
    assert path.read_bytes() == "\ufeff# 页 { #page }\r\n\r\n在 GPU 上跑\r\n".encode()


def test_the_tree_is_clean():
    assert prose.fix(ROOT) == []
