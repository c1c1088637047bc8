"""What pages say of a lab, in the language of the page. English is the lab's own; Chinese lies
beside the lab.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from proof.book import python
from proof.book.model import Book, Claim, Lab, LabWords, Lang, Step


@lru_cache(maxsize=256)  # pages ask for the reason of every claim
def english(lab: Lab) -> LabWords:
    """The lab's own words: its docstring, cut at the first colon into name and sentence, its card
    and its two tables.
    """
    title, _, sentence = lab.title.partition(":")
    sentence = sentence.strip()
    words = LabWords.model_construct(
        title=title.strip(),
        sentence=sentence[:1].upper() + sentence[1:],
        learn=lab.card.get("Learn", ""),
        memory=lab.card.get("Memory", ""),
        gpu=lab.card.get("GPU", ""),
        why={short(claim): claim.why for claim in lab.claims.values() if claim.kind != "bug"},
        bugs={bug.name: bug.shows for bug in lab.bugs.values()},
    )
    return words.at(lab.path, _LabLines(lab))


class _LabLines:
    """The lines of a lab's own words, by their places in its words."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def key(self, *place: Step) -> int:
        table, *names = map(str, place)
        if table == "why":
            return self._lab.claims[f"{self._lab.name}.{names[0]}"].line
        if table == "bugs":
            return self._lab.bugs[names[0]].line
        return self._lab.lines.get(
            "GPU" if table == "gpu" else table.capitalize(), self._lab.lines.get("docstring", 1)
        )

    text = key


def words(book: Book, lab: Lab, lang: Lang) -> LabWords:
    """The words for a page of that language. English fills what a Chinese file lacks, and the
    checks name it.
    """
    own = english(lab)
    if lang == "en" or lab.stem not in book.words:
        return own
    chinese = book.words[lab.stem]
    return chinese.model_copy(
        update={"why": own.why | chinese.why, "bugs": own.bugs | chinese.bugs}
    )


def texts(words: LabWords) -> dict[tuple[str, ...], str]:
    """Every text of them by its place: ("title",), …, ("why", case.metric), …, ("bugs", name), …"""
    texts: dict[tuple[str, ...], str] = {
        ("title",): words.title,
        ("sentence",): words.sentence,
        ("learn",): words.learn,
        ("memory",): words.memory,
        ("gpu",): words.gpu,
    }
    texts |= {("why", key): text for key, text in words.why.items()}
    return texts | {("bugs", key): text for key, text in words.bugs.items()}


def reason(book: Book, claim: Claim, lang: Lang) -> str:
    """The reason for a claim's bound; for a bug, what one sees."""
    chosen = words(book, book.labs[claim.lab], lang)
    return (chosen.bugs if claim.kind == "bug" else chosen.why)[short(claim)]


def short(claim: Claim) -> str:
    """The id without its lab, as the lab itself writes it: case.metric, or the name of a bug."""
    return claim.id.partition(".")[2].removesuffix(".bug")


MARK = re.compile(r"--8<-- |fmt: o(n|ff)\b|%% |noqa\b|/// script")  # comments for machines


def comments(source: str) -> dict[int, str]:
    """Each comment of a lab or companion that people read, without its mark, by its line."""
    texts = {line: text.lstrip("# ") for line, text in python.comments(source).items()}
    return {line: text for line, text in texts.items() if text and not MARK.match(text)}


@lru_cache(maxsize=256)  # many labs share a companion
def docstrings(source: str) -> dict[int, str]:
    """The first line of each docstring of the functions and classes of a lab or companion, by its
    line.
    """
    docstrings = {}
    for node in ast.walk(python.parsed(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            text = ast.get_docstring(node) or ""
            if text:
                docstrings[node.body[0].lineno] = text.split("\n")[0]
    return docstrings
