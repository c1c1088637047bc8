"""Where things lie: the documents that become pages, the files of the tree with their exact names, and line numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from proof.book import labwords, text
from proof.book.model import LANGS, Book, Lang, Page
from proof.problem import Fault, where
from proof.text.macros import Call, readable_calls
from proof.text.markdown import Markdown, read

ROOMS = ("docs", "labs", "glossary", "adr", "proof", "tests", ".github", ".ci")
MADE = {
    "node_modules",
    "vendor",
    "build",
    "dist",
    "__pycache__",
}  # folders that no one writes by hand


@dataclass(frozen=True)
class Document:
    """A text that readers will see on a page: a page, an ADR's body, what a term says."""

    lang: Lang
    name: str  # where it ends up among the pages of its language: adr/0004-slug.md
    file: str  # where it is written, relative to the root
    before: int  # lines of that file above the text
    markdown: Markdown
    path: Path
    kind: str  # page, decision, term, lab

    def at(self, line: int) -> int:
        return self.before + line

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The macros that can be read."""
        return tuple(readable_calls(self.markdown))

    @property
    def page(self) -> Page:
        return Page(self.lang, self.name, self.path, self.markdown.text)


@lru_cache(maxsize=8)  # nearly every rule reads them; a book does not change once it is read
def documents(
    book: Book, kinds: tuple[str, ...] = ("page", "decision", "term")
) -> tuple[Document, ...]:
    """Every text that becomes part of a page, in the order of files."""
    return tuple(_documents(book, kinds))


def _documents(book: Book, kinds: tuple[str, ...]) -> Iterator[Document]:
    if "page" in kinds:
        for page in book.pages:
            yield Document(
                page.lang, page.name, place(book, page.path), 0, read(page.text), page.path, "page"
            )
    if "decision" in kinds:
        for decision in book.decisions.values():
            name, file = f"adr/{decision.slug}.md", place(book, decision.path)
            before = decision.body_line - 1
            yield Document(
                decision.lang, name, file, before, read(decision.body), decision.path, "decision"
            )
    if "term" in kinds:
        for term in book.terms.values():
            for lang in LANGS:
                for key, written in (("short", term.of(lang).short), ("body", term.of(lang).body)):
                    file, before = place(book, term.path), term.text_line(lang, key) - 1
                    yield Document(
                        lang, "glossary/index.md", file, before, read(written), term.path, "term"
                    )
    if "lab" in kinds:
        for stem, lab in book.labs.items():
            for lang in LANGS:
                words = labwords.words(book, lab, lang)
                for at, written in labwords.texts(words).items():
                    file, before = place(book, words.path), words.text_line(*at) - 1
                    yield Document(
                        lang, f"labs/{stem}.ipynb", file, before, read(written), words.path, "lab"
                    )


def place(book: Book, path: Path) -> str:
    """The path as problems name it."""
    return where(path, book.root)


def text_of(path: Path) -> str:
    """The file's text, LF and no BOM, or "" where it cannot be read: then another rule has said so."""
    try:
        return text.read(path)
    except Fault:
        return ""


def walk(root: Path, rooms: Iterable[str] = ROOMS) -> Iterator[tuple[str, list[str]]]:
    """Each folder of the rooms and of the root itself, relative, with the names in it as the disk lists them."""
    ignored = re.compile(r"\.egg-info$")
    top = [name for name in os.listdir(root) if name in rooms or (root / name).is_file()]
    yield "", top
    for room in sorted(name for name in top if (root / name).is_dir()):
        for folder, folders, files in os.walk(root / room):
            folders[:] = sorted(
                name
                for name in folders
                if name not in MADE
                and not ignored.search(name)
                and (name == ".github" or not name.startswith("."))
            )
            yield Path(folder).relative_to(root).as_posix(), [*folders, *sorted(files)]


def files(root: Path) -> set[str]:
    """Every file of the rooms by its exact name: the same answer on a disk that is blind to case."""
    found = set()
    for folder, names in walk(root):
        found |= {
            f"{folder}/{name}" if folder else name
            for name in names
            if (root / folder / name).is_file()
        }
    return found
