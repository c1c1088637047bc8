"""The Python of labs and companions: each text is parsed and read token by token once, since many
labs share one.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable
from functools import lru_cache

Position = tuple[int, int]  # row, column
CACHED = 256  # texts


@lru_cache(CACHED)
def parsed(source: str) -> ast.Module:
    """The syntax of a text, not to be changed. Raises SyntaxError or ValueError."""
    return ast.parse(source)


def code_hash(*sources: str) -> str:
    """SHA-256 of the code of these texts, one below the other, without its words. Raises
    SyntaxError, see `code_of`.
    """
    parts = [code_of(source) for source in sources]
    return hashlib.sha256("\n".join(part for part in parts if part).encode()).hexdigest()


@lru_cache(CACHED)
def code_of(source: str) -> str:
    """The code without comments, docstrings and blank lines, so that it stays the same while only
    words change.

    These are cut out by the position of their tokens. The rest is kept as written, not as a tree,
    so that every Python version agrees. A docstring is a plain string that is a whole statement.
    Raises SyntaxError when the text does not tokenize.

    >>> code_of('x = 1  # one\\n\\n"nothing"\\ny = 2\\n')
    'x = 1\\ny = 2'
    """
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    cuts, kept_ends = _cuts(tokens(text))
    lines = text.split("\n")
    for (row, column), (end_row, end_column) in reversed(cuts):
        head, tail = lines[row - 1][:column], lines[end_row - 1][end_column:]
        lines[row - 1 : end_row] = [head + tail] + [""] * (end_row - row)
    code = []
    for row, line in enumerate(lines, 1):
        kept = line if row in kept_ends else line.rstrip()
        if kept or row in kept_ends or row - 1 in kept_ends:
            code.append(kept)
    return "\n".join(code)


@lru_cache(CACHED)
def comments(source: str) -> dict[int, str]:
    """Each comment by its line, as it is written."""
    return {t.start[0]: t.string for t in tokens(source) if t.type == tokenize.COMMENT}


@lru_cache(CACHED)
def tokens(text: str) -> tuple[tokenize.TokenInfo, ...]:
    """The tokens of a text. Raises SyntaxError."""
    try:
        return tuple(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        raise SyntaxError(error.args[0]) from None


def _cuts(tokens: Iterable[tokenize.TokenInfo]) -> tuple[list[tuple[Position, Position]], set[int]]:
    """Where comments and docstrings lie, and the rows whose end lies inside a string: what is there
    is code.
    """
    cuts: list[tuple[Position, Position]] = []
    kept_ends: set[int] = set()
    opened: list[int] = []  # rows where f-strings began: one token each before Python 3.12
    statement: tokenize.TokenInfo | None = None  # a string with which a statement begins
    begins = True  # whether the next token begins a statement
    for token in tokens:
        kind, name = token.type, tokenize.tok_name[token.type]
        if kind == tokenize.COMMENT:
            cuts.append((token.start, token.end))
        if kind in (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING):
            continue
        if statement is not None:
            if kind == tokenize.NEWLINE:
                cuts.append((statement.start, statement.end))
            else:
                kept_ends.update(range(statement.start[0], statement.end[0]))
            statement = None
        if name.endswith("STRING_START"):
            opened.append(token.start[0])
        elif name.endswith("STRING_END"):
            kept_ends.update(range(opened.pop(), token.end[0]))
        elif kind == tokenize.STRING:
            if begins and "f" not in token.string[:2].lower():
                statement = token
            else:
                kept_ends.update(range(token.start[0], token.end[0]))
        begins = kind in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    cuts.sort()
    return cuts, kept_ends
