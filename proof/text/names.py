"""Many names in one text: at each place the longest one, found by the letters that names begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping


class Names:
    """Finds names by their patterns, given in the order in which they are tried.

    >>> names = Names({"shared memory": r"shared\\s+memory", "mask": "mask"})
    >>> [match[0] for match in names.matches("a mask in shared memory")]
    ['mask', 'shared memory']

    One pattern of all names would try each of them at each place, and there are hundreds. No pattern may begin with
    another letter than its name does, but for its case.
    """

    def __init__(self, patterns: Mapping[str, str], flags: re.RegexFlag = re.NOFLAG) -> None:
        by_letter: dict[str, list[str]] = {}
        for name, pattern in patterns.items():
            for letter in {name[0].lower(), name[0].upper()}:
                by_letter.setdefault(letter, []).append(pattern)
        self._by_letter = {
            letter: re.compile("|".join(found), flags) for letter, found in by_letter.items()
        }
        letters = "".join(map(re.escape, self._by_letter))
        self._first = re.compile(f"[{letters}]" if letters else r"(?!)")

    def search(self, text: str, position: int = 0) -> re.Match[str] | None:
        """The first name at or after this position."""
        for letter in self._first.finditer(text, position):
            match = self._by_letter[letter[0]].match(text, letter.start())
            if match:
                return match
        return None

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Every name, none of which overlaps the one before."""
        match = self.search(text)
        while match:
            yield match
            match = self.search(text, match.end())
