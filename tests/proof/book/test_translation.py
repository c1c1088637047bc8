"""Chinese pages and downloads: a lab's comments and docstrings in Chinese, its code as it is."""

from __future__ import annotations

import ast
import textwrap
from datetime import date

import handmade as made
import pytest

from proof.book import python, translation
from proof.book.companions import judge_hash, lab_hash
from proof.book.load import load_book
from proof.book.translation import translated


def translated_lines(source: str, **docstrings: str) -> list[str]:
    comments = {"one": "一", "The kernel.": "内核。"}
    return translated(textwrap.dedent(source), comments, docstrings).split("\n")


def test_a_comment_gives_way_to_its_translation():
    assert translated_lines("x = 1  # one") == ["x = 1  # 一"]


def test_a_comment_without_a_translation_stays():
    assert translated_lines("x = 1  # two") == ["x = 1  # two"]


def test_text_of_a_string_is_no_comment():
    assert translated_lines('x = "# one"') == ['x = "# one"']


def test_the_title_of_a_cell_keeps_its_mark():
    assert translated_lines("# %% The kernel.") == ["# %% 内核。"]


def test_a_docstring_of_one_line_gives_way_to_its_translation():
    source = '''\
    def f():
        """Add."""
        return 1'''
    expected = ["def f():", '    """相加。"""', "    return 1"]
    assert translated_lines(source, **{"Add.": "相加。"}) == expected


def test_a_shorter_docstring_leaves_the_lines_below_where_they_are():
    source = '''\
    def f():
        """Add.

        All of it.
        And more.
        """
        return 1'''
    expected = ["def f():", '    """相加。', "", "    全部。", "", '    """', "    return 1"]
    assert translated_lines(source, **{"Add.": "相加。\n\n全部。\n"}) == expected


def test_a_long_sentence_is_set_apart_from_the_first():
    source = '''\
    def f():
        """Add.

        All of it.
        """'''
    expected = ["def f():", '    """相加。', "", "    全部。都要。", '    """']
    assert translated_lines(source, **{"Add.": "相加。全部。都要。"}) == expected


def test_a_docstring_may_end_in_a_quotation_mark_and_hold_a_backslash():
    lines = translated_lines('def f():\n    """Add."""', **{"Add.": 'a\\b 或 "ok"'})
    assert ast.get_docstring(ast.parse("\n".join(lines)).body[0]) == 'a\\b 或 "ok"'


def test_a_seeded_bug_keeps_the_translations_around_it():
    book = made.book()
    words = made.WORDS.model_copy(update={"comments": {"one": "一"}})
    book.words = {"triton_scale": words}
    lines = ["    mask = offs >= 0  # one"]
    assert translation.shown_lines(book, made.lab(), lines, "zh") == ["    mask = offs >= 0  # 一"]
    assert translation.shown_lines(book, made.lab(), lines, "en") == lines


@pytest.fixture(scope="module")
def book():
    return load_book(made.REPOSITORY, date(2026, 12, 1))


def test_the_code_of_every_lab_and_companion_is_untouched(book):
    sources = {lab.path.name: lab.source for lab in book.labs.values()} | book.companions
    quoted = translation.quoted(book)
    changed = [n for n in sources if python.code_of(quoted[n]) != python.code_of(sources[n])]
    moved = [n for n in sources if quoted[n].count("\n") != sources[n].count("\n")]
    assert (changed, moved) == ([], [])


def test_a_run_of_the_chinese_download_counts_for_the_lab(book):
    for lab in book.labs.values():
        text = translation.download(book, lab, "zh")
        assert lab_hash(text) == lab.sha256
        assert judge_hash(text, {}) == lab.judge_sha256


def test_the_chinese_download_has_the_comments_of_lab_and_companions_in_chinese(book):
    text = translation.download(book, book.labs["triton_vector_add"], "zh")
    assert "# 只在最后一块里、末尾之后为假" in text
    assert '"""一句可以被运行推翻的话。' in text
    assert "# false only past the end" not in text
