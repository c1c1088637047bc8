"""A timeline draws the spans that a record holds, a lane each for CPU and GPU, and says how long each lane was idle."""

from __future__ import annotations

import handmade as made
import markdown
import pytest
from bs4 import BeautifulSoup

from proof.book.data import Marks, fit
from proof.book.model import Book, RatioRow
from proof.pages.macros import expand
from proof.problem import Fault
from proof.text.uses import used, uses

SPANS = [
    {"lane": "CPU", "name": "compile", "start_ms": 0.0, "ms": 600.0},
    {"lane": "CPU", "name": "tune", "start_ms": 600.0, "ms": 150.0},
    {"lane": "CPU", "name": "compile", "start_ms": 800.0, "ms": 200.0},
    {"lane": "GPU", "name": "kernels", "start_ms": 610.0, "ms": 140.0},
]


def book(spans=SPANS) -> Book:
    return made.book(made.record(made.lab(), rows={made.RATIO: {"spans": spans}} if spans else {}))


def expanded(of: Book, lang: str = "en", id: str = made.RATIO) -> str:
    page = f'Words.\n\n{{{{ timeline("{id}") }}}}\n\nMore.\n'
    return expand(page, made.page(page, lang), of, "../../")


def timeline(of: Book | None = None, lang: str = "en") -> BeautifulSoup:
    shown = expanded(of or book(), lang)
    return BeautifulSoup(
        markdown.markdown(shown, extensions=["attr_list", "md_in_html", "tables"]), "html.parser"
    )


def bars(shown: BeautifulSoup) -> list[tuple[float, float, float]]:
    return [
        tuple(float(bar[key]) for key in ("x", "y", "width"))
        for bar in shown.select(".chart > svg rect")
    ]


def test_a_bar_lies_where_its_span_says():
    (first, second, third, kernels) = bars(timeline())
    assert first[0] + first[2] == pytest.approx(
        second[0], abs=0.1
    )  # one begins where the other ends
    assert first[2] == pytest.approx(3 * third[2], abs=0.3)
    assert third[0] + third[2] == pytest.approx(426, abs=0.1)  # the last one ends at the right edge
    assert first[1] == second[1] == third[1] < kernels[1]  # each lane has its height


def test_a_span_too_short_to_be_seen_is_still_drawn():
    short = [*SPANS, {"lane": "GPU", "name": "kernels", "start_ms": 900.0, "ms": 0.001}]
    assert bars(timeline(book(short)))[-1][2] == 0.5


def test_each_kind_of_span_has_its_color():
    assert [bar["class"] for bar in timeline().select(".chart > svg rect")] == [
        ["c1"],
        ["c2"],
        ["c1"],
        ["c3"],
    ]


def test_the_legend_says_how_often_and_how_long():
    items = [item.get_text().strip() for item in timeline().select(".legend li")]
    assert items == [
        "CPU compile × 2: 800 ms",
        "CPU trial × 1: 150 ms",
        "GPU kernels × 1: 140 ms",
    ]


def test_it_says_how_long_each_lane_was_idle():
    notes = [note.get_text() for note in timeline().select("figcaption > p")]
    assert notes == [
        "CPU: nothing recorded for 50 ms of 1000 ms.",
        "GPU: nothing recorded for 860 ms of 1000 ms.",
    ]


def test_spans_that_overlap_are_not_counted_twice():
    both = [
        SPANS[3],
        SPANS[3] | {"start_ms": 700.0},
        {"lane": "CPU", "name": "compile", "start_ms": 0.0, "ms": 1000.0},
    ]
    assert "GPU: nothing recorded for 770 ms of 1000 ms." in timeline(book(both)).text


def test_the_table_holds_every_span_in_order_of_time():
    rows = [[cell.get_text() for cell in row(["th", "td"])] for row in timeline().table("tr")]
    assert rows == [
        ["Lane", "Phase", "Begins", "Lasts"],
        ["CPU", "compile", "0 ms", "600 ms"],
        ["CPU", "trial", "600 ms", "150 ms"],
        ["GPU", "kernels", "610 ms", "140 ms"],
        ["CPU", "compile", "800 ms", "200 ms"],
    ]


def test_the_drawing_has_title_and_description():
    svg = timeline().select_one("svg[role=img]")
    assert svg["aria-labelledby"].split() == [svg.find("title")["id"], svg.find("desc")["id"]]
    assert svg.find("title").text == "scale.large.vs_copy: timeline"
    assert svg.find("desc").text.startswith("CPU compile × 2: 800 ms; CPU trial")
    assert svg.find("desc").text.endswith("GPU: nothing recorded for 860 ms of 1000 ms.")


def test_it_says_where_and_when_it_was_recorded():
    assert (
        timeline().select_one("figcaption > small").text
        == "H200 · torch 2.11.0 · triton 3.6.0 · 2026-11-20"
    )


def test_it_speaks_the_language_of_the_page():
    shown = timeline(lang="zh")
    assert shown.find("title").text == "scale.large.vs_copy：时间线"
    assert (
        "GPU：1000 ms 里有 860 ms 没有记录。" in shown.text and "CPU 编译 × 2：800 ms" in shown.text
    )


def test_the_block_has_no_blank_line_at_which_markdown_would_begin_again():
    shown = expanded(book())
    assert "\n\n" not in shown[shown.index("<figure") : shown.index("</figure>")]
    assert timeline().figure.find_next_sibling("p").text == "More."


def test_without_a_record_it_is_a_sentence_with_the_state():
    shown = timeline(made.book())
    assert (
        "Not drawn: scale.large.vs_copy not yet measured on a GPU" in shown.text and not shown.svg
    )


def test_a_row_without_spans_is_a_mistake_of_the_page():
    with pytest.raises(Fault, match=r"the record of scale\.large\.vs_copy holds no spans"):
        expanded(book(None))


def test_an_unknown_claim_is_a_mistake_of_the_page():
    with pytest.raises(Fault, match=r"there is no claim 'scale\.larg\.vs_copy'"):
        expanded(book(), id="scale.larg.vs_copy")


def test_the_page_counts_as_a_use_of_the_claim():
    of, text = book(), f'{{{{ timeline("{made.RATIO}") }}}}\n'
    of.pages.append(made.page(text))
    assert [page.name for page in uses(of)[made.RATIO]] == [of.pages[-1].name]
    assert made.RATIO in used(of, "claim")


def checked(**changes) -> None:
    row = {
        "id": made.RATIO,
        "kind": "ratio",
        "arguments": {},
        "bound": 0.9,
        "judges": "gpu",
        "why": "x",
        "verdict": "-",
    }
    fit(RatioRow, row | changes, Marks(""))


def test_a_record_may_hold_spans():
    checked(spans=SPANS)


@pytest.mark.parametrize(
    "spans",
    [
        [],
        [SPANS[0] | {"ms": -1.0}],
        [SPANS[0] | {"lane": ""}],
        [SPANS[0] | {"device": "H200"}],
        [{"lane": "CPU", "name": "compile", "start_ms": 0.0}],
        SPANS[0],
    ],
)
def test_spans_that_are_not_whole_are_refused(spans):
    with pytest.raises(Exception, match="spans"):
        checked(spans=spans)


def test_a_timing_may_hold_its_tail_and_a_page_may_show_it():
    timing = {
        "name": "a",
        "p10_ms": 1.0,
        "median_ms": 2.0,
        "p90_ms": 3.0,
        "repeats": 9,
        "work": 1,
        "unit": "call",
    }
    checked(timings=[timing | {"p99_ms": 40.0}])
    of = made.book(
        made.record(made.lab(), rows={made.RATIO: {"timings": [timing | {"p99_ms": 40.0}]}})
    )
    page = f'{{{{ claim("{made.RATIO}", field="p99_ms") }}}}'
    shown = BeautifulSoup(expand(page, made.page(page), of, ""), "html.parser")
    assert [link.get_text() for link in shown("a")] == ["40 msH200"]


def test_a_tail_that_no_record_holds_is_a_mistake_of_the_page():
    page = f'{{{{ claim("{made.RATIO}", field="p99_ms", of="copy") }}}}'
    with pytest.raises(Fault, match=r"the timing 'copy' of scale\.large\.vs_copy has no p99_ms"):
        expand(page, made.page(page), made.book(made.record(made.lab())), "")
