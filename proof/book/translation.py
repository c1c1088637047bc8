"""A text of labs/ with its comments and docstrings in Chinese, for Chinese pages and downloads.

The translations lie beside the labs, under `comments` and `docstrings` of labs/triton_x.zh.yml.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache

from proof.book import python
from proof.book.companions import bundle
from proof.book.model import Book, Lab, Lang

COMMENT = re.compile(r"(?P<mark>#\s*(?:%% )?)(?P<text>.*)")
Words = Mapping[str, str]  # text -> translation
Pairs = tuple[tuple[str, str], ...]  # the same, fixed


def shown(book: Book, lab: Lab, lang: Lang) -> str:
    """The lab as pages of that language quote it."""
    if lang == "en":
        return lab.source
    comments, docstrings = _tables(book, lab)
    return _translated_once(lab.source, tuple(comments.items()), tuple(docstrings.items()))


@lru_cache(maxsize=64)  # each of a lab's seeded bugs asks for it
def _translated_once(source: str, comments: Pairs, docstrings: Pairs) -> str:
    return translated(source, dict(comments), dict(docstrings))


def shown_lines(book: Book, lab: Lab, lines: list[str], lang: Lang) -> list[str]:
    """Lines of the lab, or of the lab with a seeded bug, as pages of that language quote them."""
    if lang == "en":
        return lines
    ours = dict(zip(lab.source.split("\n"), shown(book, lab, lang).split("\n"), strict=True))
    comments, _ = _tables(book, lab)
    return [ours.get(line) or _line(line, comments) for line in lines]


def _line(line: str, comments: Words) -> str:
    code, mark, text = line.rpartition("# ")
    return f"{code}{mark}{comments.get(text, text)}"


def download(book: Book, lab: Lab, lang: Lang) -> str:
    """The lab as one file for a reader of that language."""
    text = bundle(lab.source, lab.companions)
    return translated(text, *_tables(book, lab)) if lang == "zh" else text


def quoted(book: Book) -> dict[str, str]:
    """The files of labs/ as Chinese pages quote them, by name: judge.py, triton_softmax.py."""
    labs = {lab.path.name: shown(book, lab, "zh") for lab in book.labs.values()}
    tables = _tables(book)
    return labs | {name: translated(text, *tables) for name, text in book.companions.items()}


def _tables(book: Book, lab: Lab | None = None) -> tuple[dict[str, str], dict[str, str]]:
    """Translations of comments and of docstrings: those of a lab before those of all others.

    Labs share companions, and each text of a companion is translated beside one of them.
    """
    comments: dict[str, str] = {}
    docstrings: dict[str, str] = {}
    first = [book.words[lab.stem]] if lab and lab.stem in book.words else []
    for words in [*first, *book.words.values()]:
        comments = words.comments | comments
        for text, translation in words.docstrings.items():
            docstrings.setdefault(text.split("\n")[0], translation)
    return comments, docstrings


def translated(source: str, comments: Words, docstrings: Words) -> str:
    """The source with each comment and docstring that has a translation in its place.

    A docstring is known by its first line. Code and line numbers stay as they are: a translation
    that is shorter leaves blank lines. Raises SyntaxError or ValueError where the source is no
    Python.

    >>> print(translated("x = 1  # one", {"one": "一"}, {}))
    x = 1  # 一
    """
    parts: list[str] = []
    at = 0
    for piece in python.pieces(source):
        if piece.kind == "comment":
            parts += [source[at : piece.start], _comment(source[piece.start : piece.end], comments)]
            at = piece.end
    lines = "".join([*parts, source[at:]]).split("\n")
    for node in ast.walk(python.parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(node) or ""
            translation = docstrings.get(text.split("\n")[0])
            if translation:
                _put_docstring(lines, node.body[0], translation)
    return "\n".join(lines)


def _comment(written: str, comments: Words) -> str:
    match = COMMENT.fullmatch(written)
    if match is None or match["text"] not in comments:
        return written
    return match["mark"] + comments[match["text"]]


def _put_docstring(lines: list[str], statement: ast.stmt, translation: str) -> None:
    """Put the translation in place of a docstring, over the same lines."""
    first = statement.lineno - 1
    last = (statement.end_lineno or statement.lineno) - 1
    head = lines[first].encode()[: statement.col_offset].decode()
    tail = lines[last].encode()[statement.end_col_offset :].decode()
    text = _folded(translation.strip(), last - first).replace("\\", r"\\").replace('"""', r"\"\"\"")
    if text.endswith('"'):
        text = text[:-1] + r"\""
    indent = " " * statement.col_offset
    body = [f"{indent}{line}".rstrip() for line in f'"""{text}'.split("\n")]
    if last > first:
        body += [""] * (last - first - len(body))
        body.append(f'{indent}"""')
    else:
        body[-1] += '"""'
    body[0] = head + body[0].lstrip()
    body[-1] += tail
    lines[first : last + 1] = body


def _folded(text: str, count: int) -> str:
    """A translation of one line as at most `count` lines, its first sentence apart from others."""
    first, *rest = re.findall(r"[^。]+。?", text)
    room = count - 2
    if "\n" in text or room < 1 or not rest:
        return text
    return "\n".join([first, "", *rest[: room - 1], "".join(rest[room - 1 :])])
