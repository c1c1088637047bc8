"""What every test may ask for: `book`, the tree as it is, and `tiny`, a small valid project to plant faults in."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings
from tiny_project import ROOT, Tiny

from proof.book.load import load_book
from proof.book.model import Book

settings.register_profile("shared", deadline=None)  # a busy machine is no failure
settings.load_profile("shared")


@pytest.fixture(scope="session")
def book() -> Book:
    """The tree as it is."""
    return load_book(ROOT, datetime.now(UTC).date())


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    """A small valid project of one's own."""
    return Tiny(tmp_path / "project")
