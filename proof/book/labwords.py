"""What pages say of a lab, in the language of the page. English is the lab's own; Chinese is written beside the pages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import replace

from proof.book.model import Book, Claim, Lab, LabWords, Lang


def english(lab: Lab) -> LabWords:
    """The lab's own words: its docstring, cut at the first colon into name and sentence, its card and its two tables."""
    title, _, sentence = lab.title.partition(":")
    sentence = sentence.strip()
    card = {key.lower(): lab.card.get(key, "") for key in ("Learn", "Memory", "GPU")}
    why = {short(claim): claim.why for claim in lab.claims.values() if claim.kind != "bug"}
    bugs = {name: bug.seen for name, bug in lab.bugs.items()}
    return LabWords(lab.path, title.strip(), sentence[:1].upper() + sentence[1:], **card, why=why, bugs=bugs)


def words(book: Book, lab: Lab, lang: Lang) -> LabWords:
    """The words for a page of that language. English fills what a Chinese file lacks, and the checks name it."""
    own = english(lab)
    if lang == "en" or lab.stem not in book.words:
        return own
    there = book.words[lab.stem]
    return replace(there, why=own.why | there.why, bugs=own.bugs | there.bugs)


def texts(told: LabWords) -> dict[tuple[str, ...], str]:
    """Every text of them by its place: ("title",), …, ("why", case.metric), …, ("bugs", name), …"""
    lines = {(name,): getattr(told, name) for name in ("title", "sentence", "learn", "memory", "gpu")}
    tables = {(name, key): text for name in ("why", "bugs") for key, text in getattr(told, name).items()}
    return lines | tables


def reason(book: Book, claim: Claim, lang: Lang) -> str:
    """The reason for a claim's bound; for a bug, what one sees."""
    told = words(book, book.labs[claim.lab], lang)
    return (told.bugs if claim.kind == "bug" else told.why)[short(claim)]


def short(claim: Claim) -> str:
    """The id without its lab, as the lab itself writes it: case.metric, or the name of a bug."""
    return claim.id.partition(".")[2].removesuffix(".bug")


MARK = re.compile(r"--8<-- |fmt: o(n|ff)\b|%% |noqa\b|/// script")  # comments for machines


def comments(source: str) -> dict[int, str]:
    """Each comment of a lab or companion that people read, without its mark, by its line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    texts = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    return {line: text for line, text in texts.items() if text and not MARK.match(text)}


def docstrings(source: str) -> dict[int, str]:
    """The first line of each docstring of the functions and classes of a lab or companion, by its line."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node)):
            found[node.body[0].lineno] = text.split("\n")[0]
    return found
