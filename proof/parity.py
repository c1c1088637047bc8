"""Keeps both languages of a page in step: remembers that they agree, and tells readers when one has moved on alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from proof import sidecars
from proof.checks import parity
from proof.checks.markdown import read
from proof.figures import link, page_href
from proof.macros import nearest, where
from proof.model import LANGS, Book, Page, Problem
from proof.sidecars import Pair, Synced
from proof.words import word


def remember(book: Book, names: Iterable[str] = (), reason: str = "") -> tuple[list[Path], list[Problem]]:
    """Write the sidecars of the named pages, or of all, whose halves changed; with a reason, where one changed alone.

    Returns the sidecars written, and why others were not. Raises LookupError for a name that is no page's.
    """
    done, refused = [], []
    chosen, differences = _chosen(book, names), list(parity.differences(book))
    for pair in chosen:
        files = {where(page.path, book.root) for page in pair.halves.values()}
        alone = pair.synced is not None and len(pair.changed) == 1
        if found := [problem for problem in differences if problem.file in files]:
            refused += found
        elif not pair.changed:
            continue
        elif alone != bool(reason):
            refused.append(parity.drifted(book, pair))
        else:
            since = pair.synced.on if alone else book.today
            sidecars.write(pair.path, Synced(pair.now, since, reason))
            done.append(pair.path)
    return done, refused


def _chosen(book: Book, names: Iterable[str]) -> list[Pair]:
    """The pairs of these names, written as index.md, index or docs/zh/index.md; all pairs when there are none."""
    known = {pair.name: pair for pair in sidecars.pairs(book)}
    if not names:
        return list(known.values())
    wanted = [re.sub(r"^(\./)?(docs/(zh|en)/)?(.*?)(\.md)?$", r"\4.md", name) for name in names]
    for name in wanted:
        if name not in known:
            raise LookupError(f"no page {name} stands in both languages. {nearest(name, known)}")
    return [known[name] for name in dict.fromkeys(wanted)]


def notice(text: str, page: Page, book: Book, up: str) -> str:
    """The page's Markdown, with a notice below its title where only the other language has changed since both agreed.

    `up` is the relative way to the root of the page's language.
    """
    other = LANGS[1 - LANGS.index(page.lang)]
    pair = sidecars.pair(book, page.name)
    if pair is None or pair.synced is None or pair.changed != [other]:
        return text
    there = link(page_href(page.name, up + {"zh": "en/", "en": "../"}[page.lang]), word(page.lang, "other edition"))
    told = word(page.lang, "lags", other=there, on=pair.synced.on)
    lines = text.split("\n")
    title = next((heading.line for heading in read(text).headings if heading.level == 1), 0)
    lines[title:title] = ["", f'!!! warning "{word(page.lang, "may lag")}"', "", f"    {told}", ""]
    return "\n".join(lines)
