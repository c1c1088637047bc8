"""What docs/parity/ remembers of each page: hashes of both languages, from when someone last found
that they agree.

Hashes of content beside the pages, and no git history: squash merges and shallow clones change
nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

from proof.book.data import read_yaml
from proof.book.front_matter import below_front_matter
from proof.book.model import LANGS, Book, Lang, Page, Sidecar
from proof.problem import Fault
from proof.text.markdown import read


@dataclass(frozen=True)
class Pair:
    """Both languages of a page, and what its sidecar remembers of them."""

    halves: dict[Lang, Page]
    path: Path  # of the sidecar
    synced: Sidecar | None  # None where there is no sidecar, or none that can be read
    fault: Fault | None = None  # why it cannot be read

    @property
    def name(self) -> str:
        return self.halves["zh"].name

    @cached_property
    def now(self) -> dict[Lang, str]:
        """The hashes of the halves as they stand."""
        return {lang: digest(page.text) for lang, page in self.halves.items()}

    @property
    def changed(self) -> list[Lang]:
        """The languages that are no longer what the sidecar remembers; both where it remembers
        nothing.
        """
        return [
            lang for lang in LANGS if not self.synced or self.synced.sha256(lang) != self.now[lang]
        ]


def digest(text: str) -> str:
    """SHA-256 of a page: NFC, without front matter, HTML comments, trailing blanks, repeated blank
    lines, and the blanks beside Chinese that `proof fix` sets.
    """
    text = _without_comments(unicodedata.normalize("NFC", below_front_matter(text)))
    text = re.sub(r"(?m)[^\S\n]+$", "", text)
    text = re.sub(r"(?<=[\u3400-\u9fff]) +(?=\S)|(?<=\S) +(?=[\u3400-\u9fff])", "", text)
    return hashlib.sha256(re.sub(r"\n{3,}", "\n\n", text).strip("\n").encode()).hexdigest()


def _without_comments(text: str) -> str:
    """The text without its HTML comments, the blanks before them, and lines of nothing else."""
    parts: list[str] = []
    position = 0
    for comment in read(text).comments if "<!--" in text else ():
        if comment.closed:
            parts.append(text[position : comment.start])
            position = comment.end
    text = "\0".join([*parts, text[position:] + "\n"])
    text = re.sub(r"(?m)^[ \t]*\0[ \t\0]*\n", "", text)
    return re.sub(r"(?m)^([ \t]*)(?:\0[ \t]*)+|[ \t]*\0", r"\1", text)


def pair(book: Book, name: str) -> Pair | None:
    """The pair of pages of that name; None where a language lacks it."""
    halves = {page.lang: page for page in book.pages if page.name == name}
    if len(halves) < len(LANGS):
        return None
    path = folder(book) / f"{name.removesuffix('.md')}.yml"
    try:
        return Pair(halves, path, read_yaml(path, Sidecar) if path.is_file() else None)
    except Fault as error:
        return Pair(halves, path, None, error)


def pairs(book: Book) -> Iterator[Pair]:
    """Every pair, in the order of pages."""
    for name in dict.fromkeys(page.name for page in book.pages):
        if found := pair(book, name):
            yield found


def orphans(book: Book) -> list[Path]:
    """The sidecars to which neither language has a page."""
    kept = {folder(book) / f"{page.name.removesuffix('.md')}.yml" for page in book.pages}
    return [path for path in sorted(folder(book).rglob("*.y*ml")) if path not in kept]


def folder(book: Book) -> Path:
    return book.root / "docs" / "parity"


def sidecar(sha256: dict[Lang, str], on: date, reason: str = "") -> Sidecar:
    """What is remembered of a page whose halves have these hashes."""
    return Sidecar(zh_sha256=sha256["zh"], en_sha256=sha256["en"], synced_on=on, reason=reason)


def written(sidecar: Sidecar) -> str:
    """The text of a sidecar."""
    lines = ["# Written by `proof parity`, never by hand."]
    lines += [f"{lang}_sha256: {sidecar.sha256(lang)}" for lang in LANGS]
    lines += [f"synced_on: {sidecar.synced_on}"]
    lines += [f"reason: {json.dumps(sidecar.reason, ensure_ascii=False)}"] if sidecar.reason else []
    return "\n".join(lines) + "\n"


def write(path: Path, sidecar: Sidecar) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(written(sidecar).encode())
