"""The words of the interface that generated text uses, from words.yml. Prose lives in docs/, not here."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from proof.book.model import Lang

FILE = Path(__file__).with_name("words.yml")


@cache
def _words() -> dict[str, dict[Lang, str]]:
    """By key: {"valid": {"zh": "有效", "en": "valid"}, …}."""
    words: dict[str, dict[Lang, str]] = yaml.load(
        FILE.read_text(encoding="utf-8"), yaml.CSafeLoader
    )
    return words


def known(key: str) -> bool:
    """Whether there is such a word: what people wrote, such as a status, may be none."""
    return key in _words()


def word(lang: Lang, key: str, **values: object) -> str:
    """The word for `key` in `lang`; a key that does not exist is a programmer's mistake and raises KeyError."""
    return _words()[key][lang].format(**values)
