"""The hash of Python code that stays the same while only its words change: comments, docstrings, blank lines."""

from __future__ import annotations

import hashlib
import io
import tokenize
from functools import lru_cache


@lru_cache(maxsize=256)  # the same companions serve many labs
def code_hash(source: str) -> str:
    """SHA-256 of the code: comments, docstrings and blank lines are cut out by token position.

    The rest of the text is hashed as written, not as a tree, so that every Python version agrees. A docstring is
    a plain string that is a whole statement. Raises SyntaxError when the source does not tokenize.
    """
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        raise SyntaxError(error.args[0]) from None
    cuts: list[tuple[tuple[int, int], tuple[int, int]]] = []
    kept_ends: set[int] = set()  # rows whose end lies inside a string: what is there is code
    opened: list[
        int
    ] = []  # rows where f-strings began; one token each before Python 3.12, several since
    before = tokenize.NEWLINE
    for i, token in enumerate(tokens):
        name, row = tokenize.tok_name[token.type], token.start[0]
        if token.type == tokenize.COMMENT:
            cuts.append((token.start, token.end))
        if name.endswith("STRING_START"):
            opened.append(row)
        elif name.endswith("STRING_END"):
            kept_ends.update(range(opened.pop(), token.end[0]))
        elif token.type == tokenize.STRING:
            statement = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            follower = next(t.type for t in tokens[i + 1 :] if t.type != tokenize.COMMENT)
            if statement and follower == tokenize.NEWLINE and "f" not in token.string[:2].lower():
                cuts.append((token.start, token.end))
            else:
                kept_ends.update(range(row, token.end[0]))
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING):
            before = token.type
    lines = text.split("\n")
    for (row, column), (end_row, end_column) in reversed(cuts):
        head, tail = lines[row - 1][:column], lines[end_row - 1][end_column:]
        lines[row - 1 : end_row] = [head + tail] + [""] * (end_row - row)
    tidy = (line if row in kept_ends else line.rstrip() for row, line in enumerate(lines, 1))
    code = "\n".join(
        line for row, line in enumerate(tidy, 1) if line or row in kept_ends or row - 1 in kept_ends
    )
    return hashlib.sha256(code.encode()).hexdigest()
