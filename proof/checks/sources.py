"""A cited source names one version of one file, and its address leads there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta

from proof.book.model import Book, Source
from proof.problem import Problem
from proof.text.documents import place

MOVING = {"main", "master", "head", "develop", "dev", "trunk", "latest", "nightly", "release"}


def permalink(source: Source) -> str:
    """The address of the cited lines on GitHub, at the tag."""
    repository = (
        re.sub(r"^(https?://)?(www\.)?github\.com/", "", source.repository)
        .removesuffix(".git")
        .strip("/")
    )
    first, last = source.lines or (0, 0)
    lines = f"#L{first}" + (f"-L{last}" if last > first else "") if source.lines else ""
    return f"https://github.com/{repository}/blob/{source.tag}/{source.file}{lines}"


def faults(book: Book) -> Iterable[Problem]:
    """A source can move, or its parts contradict each other."""
    for source in book.sources.values():
        for key, what, fix in _faults(source):
            yield Problem(place(book, source.path), source.line(key), what, fix)
        if source.accessed > book.today + timedelta(days=1):  # it is another day elsewhere
            what = f"accessed is {source.accessed}, after today, {book.today}"
            yield Problem(
                place(book, source.path), source.line("accessed"), what, "Write the day it was read"
            )


def _faults(source: Source) -> Iterable[tuple[str, str, str]]:
    """The key that the fault is at, what, how to fix it."""
    moving = re.search(
        r"//(?:www\.)?github\.com/[^/]+/[^/]+/(?:blob|tree|raw)/([^/]+)/", source.url
    )
    if not source.repository:
        if moving:
            yield (
                "url",
                "an address of code has no repository, tag, file and lines",
                "Add them, with the hash of the lines",
            )
        return
    missing = [name for name in ("tag", "file", "lines", "sha256") if not getattr(source, name)]
    if missing:
        yield (
            "repository",
            f"code is cited without {', '.join(missing)}",
            "Name tag, file, lines and sha256",
        )
        return
    if source.tag.casefold() in MOVING or source.tag.startswith(("origin/", "refs/heads/")):
        yield "tag", f"{source.tag} is a branch, and branches move", "Name a tag, or a commit"
    first, last = source.lines or (0, 0)
    if not 1 <= first <= last:
        yield (
            "lines",
            f"lines [{first}, {last}] are no range",
            "Write [first, last], counted from 1",
        )
    fitting = (
        {permalink(source), f"{permalink(source)}-L{last}"}
        if first == last
        else {permalink(source)}
    )
    if "github.com" in source.url and source.url not in fitting:
        yield (
            "url",
            "the address does not fit repository, tag, file and lines",
            f"It would be {permalink(source)}",
        )
    if "github.com" not in source.url and "github.com" in source.repository:
        yield (
            "url",
            "the address does not lead to the repository",
            f"It would be {permalink(source)}",
        )
