"""The table of kinds of kernels: a lab that exists is linked, one that does not is named."""

import pytest

from proof.pages.kernel_types import FILE, kernel_types_table
from proof.problem import Fault

KINDS = """\
types:
  - lab: triton_tiny
    en: {name: thirds, why: "short"}
    zh: {name: "三分之一", why: "短"}
  - lab: triton_halves
    en: {name: halves, why: "shorter"}
    zh: {name: "二分之一", why: "更短"}
"""


def test_a_lab_that_is_there_is_linked_and_one_to_come_is_named_without_a_link(tiny):
    tiny.write(FILE, KINDS)
    rows = kernel_types_table(tiny.book(), "en", "../../").splitlines()
    assert rows[-2].startswith('| **thirds** | short | <a href="../../labs/triton_tiny/">')
    assert rows[-1] == "| **halves** | shorter | a lab to come: <code>triton_halves</code> |"


def test_both_languages_have_the_same_rows(tiny):
    tiny.write(FILE, KINDS)
    tables = [kernel_types_table(tiny.book(), lang, "").splitlines() for lang in ("zh", "en")]
    assert len(tables[0]) == len(tables[1]) == 4 and "以后的 lab" in tables[0][-1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no such file"),
        ("types: []\n", "types"),
        (KINDS.replace('why: "短"', ""), "why"),
        ("a: [", "YAML"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(tiny, text, said):
    if text is not None:
        tiny.write(FILE, text)
    with pytest.raises(Fault) as error:
        kernel_types_table(tiny.book(), "zh", "")
    assert str(error.value.problem).startswith(f"{FILE}:") and said in str(error.value.problem)


def test_every_kind_of_the_tree_has_a_lab_or_one_to_come(book):
    assert (
        kernel_types_table(book, "en", "").count("\n")
        == kernel_types_table(book, "zh", "").count("\n")
        >= 8
    )
