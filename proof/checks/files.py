"""Names that work on every disk and in every address, told from the listing itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from proof.book.model import Book
from proof.problem import Problem
from proof.text.documents import walk

RESERVED = re.compile(
    r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?", re.IGNORECASE
)


def names(book: Book) -> Iterable[Problem]:
    """A file or folder has a name that some disk cannot hold, or that differs from another only by case."""
    for folder, listed in walk(book.root):
        seen: dict[str, str] = {}
        for name in sorted(listed):
            file = f"{folder}/{name}" if folder else name
            for what, fix in _faults(name):
                yield Problem(file, 1, what, fix)
            key = unicodedata.normalize("NFKC", name).casefold()
            if key in seen:
                yield Problem(
                    file,
                    1,
                    f"this name and {seen[key]!r} are one name to a disk that is blind to case",
                    "Rename or remove one of them",
                )
            seen.setdefault(key, name)


def _faults(name: str) -> Iterable[tuple[str, str]]:
    if re.search(r"\s", name):
        yield f"the name {name!r} holds a space", "Use - or _ instead: addresses cannot hold it"
    if unicodedata.normalize("NFC", name) != name:
        yield (
            f"the name {name!r} spells its letters in decomposed form",
            "Rename it to the composed form, NFC, as others type it",
        )
    if RESERVED.fullmatch(name):
        yield (
            f"{name} is a reserved name on Windows",
            "Choose another name: this one cannot be checked out there",
        )
    if re.search(r'[<>:"|?*\\\x00-\x1f]', name) or name.endswith("."):
        yield (
            f"the name {name!r} cannot exist on Windows",
            'Leave out < > : " | ? * \\ and a dot at the end',
        )
