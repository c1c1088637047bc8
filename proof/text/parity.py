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
from pathlib import Path

from proof.book.front_matter import below_front_matter
from proof.book.load import check_schema, parse_yaml, read_text, yaml_line
from proof.book.model import LANGS, Book, Lang, Page
from proof.problem import Fault
from proof.text.markdown import read


@dataclass(frozen=True)
class Synced:
    """One sidecar: the hashes of the halves that agree, since when, and why one of them could
    change alone since.
    """

    sha256: dict[Lang, str]
    on: date
    reason: str = ""


@dataclass(frozen=True)
class Pair:
    """Both languages of a page, and what its sidecar remembers of them."""

    halves: dict[Lang, Page]
    path: Path  # of the sidecar
    synced: Synced | None  # None where there is no sidecar, or none that can be read
    fault: Fault | None = None  # why it cannot be read

    @property
    def name(self) -> str:
        return self.halves["zh"].name

    @property
    def now(self) -> dict[Lang, str]:
        """The hashes of the halves as they stand."""
        return {lang: digest(page.text) for lang, page in self.halves.items()}

    @property
    def changed(self) -> list[Lang]:
        """The languages that are no longer what the sidecar remembers; both where it remembers
        nothing.
        """
        return [
            lang for lang in LANGS if not self.synced or self.synced.sha256[lang] != self.now[lang]
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
    for comment in read(text).comments:
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
        return Pair(halves, path, _read(path) if path.is_file() else None)
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


def _read(path: Path) -> Synced:
    """Raises Fault, with the line."""
    text = read_text(path)
    data = parse_yaml(text)
    check_schema("sidecar", data, text)
    try:
        on = date.fromisoformat(data["synced_on"])
    except ValueError:
        what = f"synced_on: {data['synced_on']} is not a day"
        line = yaml_line(text, ["synced_on"])
        raise Fault(what, "Write it as year-month-day", line=line) from None
    return Synced({lang: data[f"{lang}_sha256"] for lang in LANGS}, on, data.get("reason", ""))


def written(synced: Synced) -> str:
    """The text of a sidecar."""
    lines = ["# Written by `proof parity`, never by hand."]
    lines += [f"{lang}_sha256: {synced.sha256[lang]}" for lang in LANGS]
    lines += [f"synced_on: {synced.on}"]
    lines += [f"reason: {json.dumps(synced.reason, ensure_ascii=False)}"] if synced.reason else []
    return "\n".join(lines) + "\n"


def write(path: Path, synced: Synced) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(written(synced).encode())
