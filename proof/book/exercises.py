"""The Python of an exercise as pages show it: what readers start from, and the solution."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from proof.book.model import Exercise, Lang
from proof.book.python import pieces
from proof.book.translation import COMMENT, translated

FOR_RUFF = re.compile(r"[ ]*# fmt: \w+$", re.MULTILINE)
JUDGED = "__name__ == '__main__'"


def starter(exercise: Exercise, lang: Lang) -> str:
    """What the reader starts from, from its first import to where the file asks to be judged.

    A page states the task itself. Raises SyntaxError or ValueError where the file is no Python.
    """
    body = ast.parse(exercise.handed_out).body
    lines = shown(exercise, exercise.handed_out, lang).split("\n")
    first, last = 0, len(lines)
    if body and is_text(body[0]):
        first = body[0].end_lineno or 0
    if body and isinstance(body[-1], ast.If) and ast.unparse(body[-1].test) == JUDGED:
        last = body[-1].lineno - 1
    return "\n".join(lines[first:last]).strip("\n") + "\n"


def solution(exercise: Exercise, lang: Lang) -> str:
    """The solution. Raises SyntaxError or ValueError where it is no Python."""
    return shown(exercise, exercise.solution, lang).strip("\n") + "\n"


def shown(exercise: Exercise, source: str, lang: Lang) -> str:
    """A file of the exercise as pages of that language show it, without what only ruff reads."""
    docstrings = {text.split("\n")[0]: words for text, words in exercise.docstrings.items()}
    text = source if lang == "en" else translated(source, exercise.comments, docstrings)
    return FOR_RUFF.sub("", text)


def comments(source: str) -> Iterator[str]:
    """The text of each comment of a file that readers see."""
    source = FOR_RUFF.sub("", source)
    for piece in pieces(source):
        match = COMMENT.fullmatch(source[piece.start : piece.end])
        if piece.kind == "comment" and match and match["text"].strip():
            yield match["text"]


def first_lines(source: str) -> Iterator[str]:
    """The first line of each function's docstring."""
    for node in ast.walk(ast.parse(source)):
        text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        if text:
            yield text.split("\n")[0]


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
