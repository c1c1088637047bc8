"""Drawings of data: each has a title, a description and words in both languages, and shows the sizes of its lab."""

import xml.etree.ElementTree as ElementTree

import pytest
from planted import add, found

from proof.book.model import LANGS
from proof.checks import references
from proof.pages import drawings

SIZED = {
    "blocks": "vector_add.ragged_fp32.max_abs_err",
    "row": "softmax.ragged_fp32.max_abs_err",
    "tiles": "matmul.ragged_fp16.max_rel_err",
    "sums": "numerics.row_16.max_rel_err",
    "width": "codegen.contiguous.loads",
}


def drawn(book, name: str, lang: str) -> ElementTree.Element:
    claim = book.claims.get(SIZED.get(name, ""))
    lab = book.labs[claim.lab] if claim else None
    return ElementTree.fromstring(drawings.draw(name, lab, claim, "key", lang))


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_a_drawing_says_what_it_shows(book, name, lang):
    figure = drawn(book, name, lang)
    svg = figure.find("svg")
    said = {child.get("id"): child.text for child in svg if child.tag in ("title", "desc")}
    assert list(said) == svg.get("aria-labelledby").split()
    assert all(said.values()) and figure.find("figcaption").text


def test_the_blocks_are_those_of_the_lab(book):
    figure = drawn(book, "blocks", "en")
    assert figure.find("svg/title").text == "98,432 elements in 97 blocks"
    assert [text.text for text in figure.iter("text")][-1] == "block 96"


def test_a_row_is_padded_to_a_power_of_two(book):
    texts = [text.text for text in drawn(book, "row", "en").iter("text")]
    assert "781 columns" in texts and "block of 1,024" in texts


def test_the_tiles_are_those_of_the_first_configuration(book):
    caption = drawn(book, "tiles", "en").find("figcaption").text
    assert caption.startswith("C of 129 × 65 in tiles of 64 × 64, with steps of 32 along K.")


def test_sectors_are_counted_from_the_addresses(book):
    texts = [text.text for text in drawn(book, "sectors", "en").iter("text")]
    assert [text.rpartition(" ")[0].split()[-1] for text in texts] == ["4", "5", "16"]


def test_the_chains_are_as_long_as_the_sum_of_the_lab(book):
    texts = [text.text for text in drawn(book, "sums", "en").iter("text")]
    assert texts == ["one after another: chain of 15", "as a tree: chain of 4"]


def test_a_thread_accesses_as_often_as_the_compiled_kernel(book):
    texts = [text.text for text in drawn(book, "width", "en").iter("text")]
    assert "wide: 2 accesses of 16 bytes for each thread" in texts
    assert "narrow: 8 accesses of 4 bytes for each thread" in texts


def test_the_barrier_costs_a_write_and_a_read(book):
    texts = [text.text for text in drawn(book, "barrier", "en").iter("text")]
    assert "fused by Inductor: 7 bytes" in texts
    assert "your kernel, then Inductor's: 11 bytes" in texts


def test_a_fused_kernel_does_not_move_the_sums(book):
    texts = [text.text for text in drawn(book, "fusion", "en").iter("text")]
    assert "one kernel: 12 bytes" in texts
    assert "two kernels: 20 bytes" in texts


def test_trials_change_the_tensor_unless_it_is_restored(book):
    texts = [text.text for text in drawn(book, "trials", "en").iter("text")]
    assert [int(text) for text in texts if text.isdigit()] == [1, 2, 3, 4, 5, 0, 0, 0, 1, 2]


def test_a_drawing_without_the_sizes_that_it_needs_is_named(book):
    claim = book.claims["softmax.ragged_fp32.max_abs_err"]
    with pytest.raises(ValueError, match="the claim gives no"):
        drawings.draw("tiles", book.labs[claim.lab], claim, "key", "en")


def test_a_drawing_is_asked_for_by_name(tiny):
    add(tiny, '{{ drawing("block") }}', "en")
    (line,) = found(tiny, references.expansion)
    assert line.startswith("docs/en/index.md:5: there is no drawing 'block'")
