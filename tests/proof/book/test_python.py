"""proof/book/python.py: a hash of code that comments, docstrings and blank lines leave as it is."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize

import pytest
from handmade import REPOSITORY
from hypothesis import given
from hypothesis import strategies as st
from tiny_project import LAB

from proof.book.python import code_hash, code_of, comments

CODE = '''\
"""Title."""
import os  # why


class A:
    """Of a class."""

    def f(self, x):
        """Of a function.

        # not a comment
        """
        # a comment
        text = """kept

        # kept too
        """
        return f"{x!r} # kept" + 'a' \\
            "b", text


def g():
    """Only this."""


"no docstring, yet a statement"
x = [
    1,  # one

    2,
]
'''
BARE = '''\
import os
class A:
    def f(self, x):
        text = """kept

        # kept too
        """
        return f"{x!r} # kept" + 'a' \\
            "b", text
def g():
x = [
    1,
    2,
]'''


def test_code_hash_is_of_the_code_alone():
    """The same hexadecimal digits on every Python version."""
    assert code_hash(CODE) == "7f7ad5b7503b2e0235952a8d4df7e6982ed5a2e6fcef2bf89f5736da29ea1b25"


def test_code_hash_cuts_comments_docstrings_and_blank_lines():
    assert code_hash(CODE) == hashlib.sha256(BARE.encode()).hexdigest()


def test_code_hash_takes_bom_and_crlf_as_plain_text():
    assert code_hash("\ufeff" + CODE.replace("\n", "\r\n")) == code_hash(CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# kept too", "# kept to"),  # inside a string that is a value
        ("kept\n\n", "kept\n"),  # a blank line inside it
        ("!r} # kept", "!r} # kep"),  # inside an f-string
        ("1,  #", "3,  #"),
        ("    def f", "    def h"),
    ],
)
def test_code_hash_changes_with_what_is_code(old, new):
    assert CODE.count(old) == 1
    assert code_hash(CODE.replace(old, new)) != code_hash(CODE)


def test_code_hash_tells_apart_a_blank_at_the_end_of_a_line_in_a_string():
    assert code_hash('x = """a \nb"""\n') != code_hash('x = """a\nb"""\n')
    assert code_hash('x = f"""a \nb"""\n') != code_hash('x = f"""a\nb"""\n')
    assert code_hash("x = 1 \n") == code_hash("x = 1\n")


def test_code_hash_of_an_f_string_that_is_a_statement():
    """It is evaluated, so it is code; older tokenizers call it a plain string."""
    assert code_hash('x = 1\nf"{x}"\n') != code_hash("x = 1\n")


def test_code_hash_refuses_what_does_not_tokenize():
    with pytest.raises(SyntaxError):
        code_hash('x = """\n')


TOKENS = [
    token
    for token in tokenize.generate_tokens(io.StringIO(LAB).readline)
    if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING) and '"""' not in token.string
]
STATEMENTS = [
    node.lineno
    for node in ast.walk(ast.parse(LAB))
    if isinstance(node, ast.stmt) and node.lineno > 20
]
FUNCTIONS = [
    node.body[0].lineno for node in ast.walk(ast.parse(LAB)) if isinstance(node, ast.FunctionDef)
]


@given(
    st.lists(st.tuples(st.sampled_from(STATEMENTS), st.text("# ab'\"三(", max_size=9)), max_size=6),
    st.booleans(),
)
def test_code_hash_ignores_comments_and_blank_lines_anywhere(added, blank):
    lines = LAB.split("\n")
    for row, text in added:
        lines[row - 1] = f"{'#' + text}\n{lines[row - 1]}" + (
            "\n \n" if blank and lines[row - 1].strip() == "import torch" else ""
        )
    assert code_hash("\n".join(lines)) == code_hash(LAB)


@given(st.sets(st.sampled_from(FUNCTIONS)), st.text("ab 三\n#(", max_size=20))
def test_code_hash_ignores_docstrings_anywhere(rows, text):
    lines = LAB.split("\n")
    for row in rows:
        indent = lines[row - 1][: len(lines[row - 1]) - len(lines[row - 1].lstrip())]
        lines[row - 1] = f'{indent}"""x{text}"""\n{lines[row - 1]}'
    assert code_hash("\n".join(lines)) == code_hash(LAB)


@given(st.sampled_from(TOKENS))
def test_code_hash_changes_with_any_token(token):
    (row, column), lines = token.end, LAB.split("\n")
    at = column - 1 if token.type == tokenize.STRING else column
    lines[row - 1] = lines[row - 1][:at] + "7" + lines[row - 1][at:]
    assert code_hash("\n".join(lines)) != code_hash(LAB)


def tokens(text: str) -> list[str]:
    """The tokens of the text that are code, by Python's own reader; a docstring is the rest of a line."""
    found: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            found.append(token)
    kinds = [tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE]
    shown = []
    for before, token, after in zip([None, *found], found, [*found[1:], None], strict=False):
        begins = before is None or before.type in kinds
        alone = after is not None and after.type == tokenize.NEWLINE
        if not (token.type == tokenize.STRING and begins and alone) and token.type not in kinds:
            shown.append(token.string)
    return shown


@pytest.mark.parametrize("path", sorted((REPOSITORY / "labs").glob("*.py")), ids=lambda p: p.stem)
def test_pythons_own_reader_finds_the_same_code_and_comments(path):
    text = path.read_text(encoding="utf-8")
    assert tokens(code_of(text)) == tokens(text)
    read = tokenize.generate_tokens(io.StringIO(text).readline)
    assert comments(text) == {t.start[0]: t.string for t in read if t.type == tokenize.COMMENT}
