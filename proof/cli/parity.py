"""Keeps both languages of a page in step: remembers that they agree, and tells readers when one has moved on alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from proof.book.model import Book
from proof.checks import parity
from proof.problem import Problem, nearest, where
from proof.text import parity as sidecars
from proof.text.parity import Pair, sidecar


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
            since = pair.synced.synced_on if alone else book.today
            sidecars.write(pair.path, sidecar(pair.now, since, reason))
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
