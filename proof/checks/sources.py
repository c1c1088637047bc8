"""A cited source names one version of one file, and its address leads there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta

from proof.book.model import Book, Source
from proof.problem import Problem
from proof.text.documents import line_of, place

MOVING = {"main", "master", "head", "develop", "dev", "trunk", "latest", "nightly", "release"}


def permalink(source: Source) -> str:
    """The address of the cited lines on GitHub, at the tag."""
    repository = re.sub(r"^(https?://)?(www\.)?github\.com/", "", source.repository).removesuffix(".git").strip("/")
    first, last = source.lines or (0, 0)
    lines = f"#L{first}" + (f"-L{last}" if last > first else "") if source.lines else ""
    return f"https://github.com/{repository}/blob/{source.tag}/{source.file}{lines}"


def faults(book: Book) -> Iterable[Problem]:
    """A source can move, or its parts contradict each other."""
    for source in book.sources.values():
        for needle, what, fix in _faults(source):
            yield Problem(place(book, source.path), line_of(source.path, needle), what, fix)
        if source.accessed and source.accessed > book.today + timedelta(days=1):  # it is another day elsewhere
            what = f"accessed is {source.accessed}, after today, {book.today}"
            yield Problem(
                place(book, source.path), line_of(source.path, "accessed:"), what, "Write the day it was read"
            )


def _faults(source: Source) -> Iterable[tuple[str, str, str]]:
    for lang in ("zh", "en"):
        if not source.shows.get(lang, "").strip():
            yield "shows:", f"shows says nothing in {lang}", "Say in one sentence what the reader sees there"
    if not source.url.startswith("https://"):
        yield "url:", f"the address is {source.url!r}", "Give the https address"
    if source.accessed is None:
        yield "id:", "accessed is missing", "Say on which day it was read"
    moving = re.search(r"//(?:www\.)?github\.com/[^/]+/[^/]+/(?:blob|tree|raw)/([^/]+)/", source.url)
    if not source.repository:
        if moving:
            yield (
                "url:",
                "an address of code has no repository, tag, file and lines",
                "Add them, with the hash of the lines",
            )
        return
    missing = [name for name in ("tag", "file", "lines", "sha256") if not getattr(source, name)]
    if missing:
        yield "repository:", f"code is cited without {', '.join(missing)}", "Name tag, file, lines and sha256"
        return
    if source.tag.casefold() in MOVING or source.tag.startswith(("origin/", "refs/heads/")):
        yield "tag:", f"{source.tag} is a branch, and branches move", "Name a tag, or a commit"
    if not 1 <= source.lines[0] <= source.lines[1]:
        yield "lines:", f"lines {list(source.lines)} are no range", "Write [first, last], counted from 1"
    if not re.fullmatch(r"[0-9a-f]{64}", source.sha256):
        yield "sha256:", f"{source.sha256!r} is no SHA-256", "Write 64 small hex digits"
    fitting = (
        {permalink(source), f"{permalink(source)}-L{source.lines[1]}"}
        if source.lines[0] == source.lines[1]
        else {permalink(source)}
    )
    if "github.com" in source.url and source.url not in fitting:
        yield "url:", "the address does not fit repository, tag, file and lines", f"It would be {permalink(source)}"
    if "github.com" not in source.url and "github.com" in source.repository:
        yield "url:", "the address does not lead to the repository", f"It would be {permalink(source)}"
