"""A lab becomes a notebook whose outputs come from records, and its HTML loses what the theme does better."""

from __future__ import annotations

import json
import re

import handmade as made
import nbformat
import pytest
from bs4 import BeautifulSoup

from proof.pages.notebook import recorded_notebook, recorded_page, slim


def notebook(book=None):
    book = book or made.measured()
    return nbformat.reads(recorded_page(book, book.labs["triton_scale"], "en"), as_version=4)


def outputs(book) -> list[str]:
    return [output["text"] for output in notebook(book).cells[-1].outputs]


def test_it_is_a_valid_notebook():
    nbformat.validate(notebook())


def test_the_same_book_gives_the_same_bytes():
    assert recorded_page(made.measured(), made.lab(), "en") == recorded_page(
        made.measured(), made.lab(), "en"
    )


def test_the_cells_are_those_of_the_lesson_part():
    sources = [cell.source.split("\n")[0] for cell in notebook().cells]
    assert sources == [
        "# /// script",
        "### The kernel",
        "@triton.jit",
        "### The claims.",
        "CLAIMS = [",
        "### What a run prints.",
        'if __name__ == "__main__":',
    ]


def test_the_rest_of_a_cells_line_is_a_sentence_below_its_heading():
    assert notebook().cells[1].source == "### The kernel\n\nWhat one program does, and a \\* b."


def test_section_markers_and_formatter_comments_are_gone():
    assert re.findall(r"--8<--|fmt:", recorded_page(made.measured(), made.lab(), "en")) == []


def test_the_output_is_what_the_gpu_run_printed_then_what_the_interpreter_printed():
    gpu, interpreter = outputs(made.measured())
    assert gpu.split("\n")[:3] == [
        "NVIDIA H200 · torch 2.11.0 · triton 3.6.0",
        "  ok        scale.ragged.max_abs_err                 max abs err 1.49e-08 · relative 0.001235 · bound 4.768e-07 · one rounding | of 2**3",
        "  ok        scale.large.max_abs_err                  max abs err 0 · relative 0 · bound 4.768e-07 · 64-bit offsets",
    ]
    assert interpreter.split("\n")[0] == "Triton interpreter · torch 2.11.0 · triton 3.6.0"


def test_the_newest_run_is_shown():
    lab = made.lab()
    old = made.record(
        lab, utc="2026-11-01T00:00:00+00:00", ragged={"value": 3e-07, "max_abs_err": 3e-07}
    )
    new = made.record(lab, utc="2026-11-02T00:00:00+00:00")
    assert "1.49e-08" in outputs(made.book(new, old))[0]


def test_the_verdict_is_computed_anew():
    edited = made.record(made.lab(), ragged={"value": 1.0, "max_abs_err": 1.0, "verdict": "ok"})
    assert (
        outputs(made.book(edited))[0]
        .split("\n")[1]
        .startswith("  error     scale.ragged.max_abs_err")
    )


def test_c026_without_a_record_there_is_a_sentence():
    assert outputs(made.book()) == [
        "No run on a GPU is on record yet.\n",
        "No run in the interpreter is on record yet.\n",
    ]


def _old_triton() -> object:
    return made.book(made.changed(made.record(made.lab()), environment={"triton": "3.5.1"}))


@pytest.mark.parametrize(
    ("book", "reason"),
    [
        (lambda: made.book(made.record(made.lab()), source=made.LAB.replace("2 * x", "3 * x")), "the lab has changed since, and it is to be measured again"),
        (lambda: made.book(made.record(made.lab(), intact=False)), "the record was edited after it was filed"),
        (_old_triton, "run with triton 3.5.1; the lab declares >=3.6,<3.10"),
    ],
)  # fmt: skip
def test_c026_a_record_that_does_not_count_gives_a_sentence_and_no_number(book, reason):
    assert outputs(book())[0] == f"The newest run on a GPU is not shown: {reason}.\n"


def test_the_outputs_stand_under_no_other_cell():
    assert [len(cell.outputs) for cell in notebook().cells if cell.cell_type == "code"] == [
        0,
        0,
        0,
        2,
    ]


# HTML


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    """The notebook as mkdocs-jupyter renders it."""
    from mkdocs_jupyter.convert import nb2html

    path = tmp_path_factory.mktemp("nb") / "triton_scale.ipynb"
    path.write_text(recorded_page(made.measured(), made.lab(), "en"), encoding="utf-8")
    return nb2html(str(path))


def test_slim_leaves_less_than_200_kb(page):
    assert len(page) > 500_000
    assert len(slim(page).encode()) < 20_000


def test_slim_leaves_no_style_script_button_or_wrapper(page):
    shown = BeautifulSoup(slim(page), "html.parser")
    assert shown.find_all(["style", "script", "clipboard-copy"]) == []
    assert [
        tag["class"]
        for tag in shown.find_all(class_=re.compile(r"^(jp-|jupyter|CodeMirror|zeroclipboard)"))
    ] == []


def test_slim_gives_code_the_classes_of_the_theme(page):
    blocks = BeautifulSoup(slim(page), "html.parser").select(
        "div.language-python.highlight > pre > code"
    )
    assert len(blocks) == 4
    assert blocks[2].get_text() == notebook().cells[4].source + "\n"


def test_c076_slim_keeps_every_line_of_code_also_the_blank_ones(page):
    texts = [
        c.get_text()
        for c in BeautifulSoup(slim(page), "html.parser").select("div.language-python > pre > code")
    ]
    assert texts == [
        cell.source.rstrip("\n") + "\n" for cell in notebook().cells if cell.cell_type == "code"
    ]


def test_slim_gives_outputs_as_text_blocks(page):
    texts = [
        c.get_text()
        for c in BeautifulSoup(slim(page), "html.parser").select(
            "div.language-text.output > pre > code"
        )
    ]
    assert texts == outputs(made.measured())


def test_slim_keeps_headings_with_their_ids(page):
    assert [h["id"] for h in BeautifulSoup(slim(page), "html.parser").find_all("h3")] == [
        "the-kernel", "the-claims", "what-a-run-prints",
    ]  # fmt: skip


def test_no_cell_marker_reaches_the_page(page):
    assert re.findall(r"# %%|--8<--", BeautifulSoup(slim(page), "html.parser").get_text()) == []


def test_the_download_is_json_with_a_newline_at_its_end():
    text = recorded_page(made.measured(), made.lab(), "en")
    assert json.loads(text)["nbformat"] == 4
    assert text.endswith("}\n")


def test_the_download_is_made_from_the_bundle():
    text = recorded_notebook(made.measured(), made.lab(), "en")
    assert "from judge import" not in text
    assert "class Claim" in text
