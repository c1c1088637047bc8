"""proof/text/names.py: the longest name at each place, as one pattern of all of them would find it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.text.names import Names


@pytest.mark.parametrize(
    ("names", "text", "found"),
    [
        (["shared memory", "memory"], "memory, shared memory", ["memory", "shared memory"]),
        (["归约", "树形归约"], "树形归约和归约", ["树形归约", "归约"]),
        (["a.c"], "abc a.c", ["a.c"]),
        (["mask"], "Mask", []),
        ([], "mask", []),
        (["mask"], "", []),
    ],
)
def test_the_longest_name_at_each_place_is_found(names, text, found):
    longest_first = sorted(names, key=len, reverse=True)
    finder = Names({name: re.escape(name) for name in longest_first})
    assert [match[0] for match in finder.matches(text)] == found


def test_letter_case_means_nothing_where_the_flags_say_so():
    finder = Names({"mask": "mask"}, re.IGNORECASE)
    assert [match[0] for match in finder.matches("Mask MASK mask")] == ["Mask", "MASK", "mask"]


@given(
    st.lists(st.text("abAB归约", min_size=1, max_size=4), max_size=6),
    st.text("abAB归约 ", max_size=20),
)
def test_it_finds_what_one_pattern_of_all_names_would_find(names, text):
    longest_first = sorted(dict.fromkeys(names), key=len, reverse=True)
    finder = Names({name: re.escape(name) for name in longest_first}, re.IGNORECASE)
    whole = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)", re.IGNORECASE)
    assert [match.span() for match in finder.matches(text)] == [
        match.span() for match in whole.finditer(text)
    ]
