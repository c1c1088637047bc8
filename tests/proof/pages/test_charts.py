"""A chart draws what records hold, beside the bound of the lab, and says what it leaves out; a mistake names its line."""

from __future__ import annotations

import re

import handmade as made
import markdown
import pytest
from bs4 import BeautifulSoup

from proof.book.data import Marks, fit
from proof.book.model import Book, RatioRow
from proof.checks import references
from proof.pages import svg as drawing
from proof.pages.macros import expand
from proof.problem import Fault
from proof.text.uses import uses

# Three sums of each of two kinds; the last of the tree is for a GPU only.
ROWS = """\
    Claim("tree_16.max_rel_err", error, dict(K=16, way="tree"), bound=16 * 2**-24, why="log2(16) roundings"),
    Claim("tree_256.max_rel_err", error, dict(K=2**8, way="tree"), bound=2**-16, why="so many roundings"),
    Claim("tree_4096.max_rel_err", error, dict(K=4096, way="tree"), bound=2**-12, judges="gpu", why="so many roundings"),
    Claim("row_16.max_rel_err", error, dict(K=16, way="row"), bound=16 * 2**-24, why="one after another"),
    Claim("row_256.max_rel_err", error, dict(K=256, way="row"), bound=2**-14, why="one after another"),
"""
SOURCE = made.LAB.replace('    Claim("large.vs_copy"', ROWS + '    Claim("large.vs_copy"')
TREE = ["scale.tree_16.max_rel_err", "scale.tree_256.max_rel_err", "scale.tree_4096.max_rel_err"]
ROW = ["scale.row_16.max_rel_err", "scale.row_256.max_rel_err"]
GPU = dict(zip([*TREE, *ROW], (2e-07, 4e-07, 8e-07, 3e-07, 9e-06), strict=True))
SERIES = [{"name": "call", "unit": "ms", "values": [300.0, 2.0, 0.5]}]


def record(device: str = "h200", series=None, **values: float):
    """A run of the lab above: the values of GPU, halved in the interpreter; tree_16=0.0 changes one."""
    rows = {} if series is None else {made.RATIO: {"series": series}}
    for claim in made.lab(SOURCE).claims.values():
        if claim.id in GPU and not (device == "interpreter" and claim.judges == "gpu"):
            value = values.get(
                claim.id.split(".")[1], GPU[claim.id] / (2 if device == "interpreter" else 1)
            )
            figures = {
                "value": value,
                "max_abs_err": value,
                "max_rel_err": value,
                "nonfinite": 0,
                "scale": 1.0,
            }
            rows[claim.id] = {"verdict": "ok"} | figures
    return made.record(made.lab(SOURCE), device, rows=rows)


def book(*records) -> Book:
    return made.book(*records, source=SOURCE)


def text(*ids: str, **options: str) -> str:
    arguments = [
        *(f'"{id}"' for id in ids),
        *(f'{name}="{value}"' for name, value in options.items()),
    ]
    return f"Words.\n\n{{{{ chart({', '.join(arguments)}) }}}}\n\nMore.\n"


def chart(*ids: str, of: Book | None = None, lang: str = "en", **options: str) -> BeautifulSoup:
    """What readers get of a chart, as HTML."""
    of = of or book(record(), record("interpreter"))
    page = text(*ids, **options)
    shown = expand(page, made.page(page, lang), of, "../../")
    return BeautifulSoup(
        markdown.markdown(shown, extensions=["attr_list", "md_in_html", "tables"]), "html.parser"
    )


def legend(shown: BeautifulSoup) -> list[str]:
    return [re.sub(r"\s+", " ", item.get_text()).strip() for item in shown.select(".legend li")]


def table(shown: BeautifulSoup) -> list[list[str]]:
    return [[cell.get_text() for cell in row(["th", "td"])] for row in shown.table("tr")]


def places(shown: BeautifulSoup, style: str) -> list[tuple[float, float]]:
    """Where the line of that class runs."""
    path = shown.select_one(f".chart > svg g.{style} .line")["d"]
    return [tuple(map(float, point.split())) for point in path.removeprefix("M").split("L")]


def mistake(*ids: str, of: Book | None = None, **options: str) -> str:
    with pytest.raises(Fault) as caught:
        chart(*ids, of=of, **options)
    return str(caught.value)


# What is drawn


def test_each_device_has_a_line_and_the_bound_has_one():
    assert legend(chart(*TREE, x="K")) == [
        "H200 triton 3.6.0 · 2026-11-20",
        "interpreter triton 3.6.0 · 2026-11-20",
        "bound (≤)",
    ]


def test_the_table_holds_bound_and_value_at_each_place():
    assert table(chart(*TREE, x="K")) == [
        ["K", "Bound ≤", "H200", "interpreter"],
        ["16", "9.54e-07", "2e-07", "1e-07"],
        ["256", "1.53e-05", "4e-07", "2e-07"],
        ["4096", "0.000244", "8e-07", "–"],
    ]


def test_each_row_of_the_table_leads_to_its_claim():
    links = [a["href"] for a in chart(*TREE, x="K").table("a")]
    assert links == [f"../../labs/triton_scale/#{id}" for id in TREE]


def test_both_axes_are_logarithmic():
    bound = places(
        chart(*TREE, x="K"), "c0"
    )  # 2**-20, 2**-16, 2**-12 at 2**4, 2**8, 2**12: a straight line
    assert bound[1][0] - bound[0][0] == pytest.approx(bound[2][0] - bound[1][0], abs=0.2)
    assert bound[0][1] - bound[1][1] == pytest.approx(bound[1][1] - bound[2][1], abs=0.2)
    assert bound[0][1] > bound[2][1]  # a larger value lies higher


def test_a_place_is_where_its_value_says():
    axis = drawing.Axis(1e-8, 1e-4, True, 250, 50, ())
    assert [axis.at(value) for value in (1e-8, 1e-6, 1e-4, 0.0)] == pytest.approx(
        [250, 150, 50, 250]
    )


def test_by_gives_each_value_its_color_and_each_device_its_mark():
    shown = chart(*TREE[:2], *ROW, x="K", by="way")
    assert legend(shown) == [
        "tree",
        "row",
        "H200 triton 3.6.0 · 2026-11-20",
        "interpreter triton 3.6.0 · 2026-11-20",
        "bound (≤)",
    ]
    drawn = shown.select(".chart > svg > g")
    assert [" ".join(group["class"]) for group in drawn] == [
        "c1",
        "c1",
        "c2",
        "c2",
        "c1 bound",
        "c2 bound",
    ]
    marks = [{mark["d"] for mark in group.select(".mark")} for group in drawn]
    assert marks[0] == marks[2] != marks[1] == marks[3] and marks[4] == marks[5] == set()


def test_a_bound_that_all_share_is_drawn_once():
    source = SOURCE.replace("2**-14", "2**-16")
    shown = chart(*TREE[:2], *ROW, x="K", by="way", of=made.book(source=source))
    assert [" ".join(group["class"]) for group in shown.select(".chart > svg > g")] == ["c0 bound"]


def test_it_says_how_near_the_nearest_point_comes_to_its_bound():
    assert (
        "The point nearest to its bound takes 0.315 of it (row · K = 16 · H200)."
        in chart(*ROW, x="K", by="way").text
    )


def test_ratios_start_at_zero_and_need_to_be_above_their_bound():
    source = SOURCE.replace(
        '"large.vs_copy", speed, dict(n=2**28)', '"large.vs_copy", speed, dict(n=2**20)'
    )
    source = source.replace(
        '    Claim("vector.wide',
        '    Claim("larger.vs_copy", speed, dict(n=2**28), kind="ratio", bound=0.8, judges="gpu", gib=1, why="memory-bound"),\n'
        '    Claim("vector.wide',
    )
    made_record = made.record(
        made.lab(source),
        larger={"verdict": "ok", "value": 0.95, "low": 0.94, "high": 0.96, "timings": []},
    )
    shown = chart(
        "scale.large.vs_copy",
        "scale.larger.vs_copy",
        x="n",
        of=made.book(made_record, source=source),
    )
    assert legend(shown)[-1] == "bound (≥)"
    assert table(shown)[1:] == [["1048576", "0.900×", "1.03×"], ["268435456", "0.800×", "0.950×"]]
    assert shown.select(".chart > svg text.y")[0].text == "0.00×"


def test_zero_has_no_place_on_a_logarithmic_axis_and_its_mark_says_so():
    shown = chart(*ROW, x="K", of=book(record(row_16=0.0)))
    marks = [mark["d"] for mark in shown.select(".chart > svg .c1 .mark")]
    assert marks == [drawing.DOWN, drawing.MARKS[0]]
    assert "A triangle that points down is 0" in shown.text


def test_the_drawing_has_title_and_description_and_a_second_one_has_other_ids():
    page = text(*TREE, x="K") + text(*ROW, x="K")
    shown = BeautifulSoup(expand(page, made.page(page), book(record()), ""), "html.parser")
    svgs = shown.select("svg[role=img]")
    for svg in svgs:
        assert svg["aria-labelledby"].split() == [svg.find("title")["id"], svg.find("desc")["id"]]
    assert svgs[0].find("title").text == "max rel err over K: measured and bound"
    assert (
        svgs[0].find("desc").text
        == "H200: K = 16–4096, 2e-07–8e-07. bound (≤): K = 16–4096, 9.54e-07–0.000244."
    )
    ids = [tag["id"] for tag in shown.select("[id]")]
    assert len(ids) == len(set(ids)) == 4


def test_it_speaks_the_language_of_the_page():
    shown = chart(*TREE, x="K", lang="zh")
    assert shown.find("title").text == "最大相对误差随 K 的变化：实测与界"
    assert legend(shown)[1:] == ["解释器 triton 3.6.0 · 2026-11-20", "界（≤）"]


def test_the_block_has_no_blank_line_at_which_markdown_would_begin_again():
    page = text(*TREE, x="K")
    shown = expand(page, made.page(page), book(record()), "")
    assert "\n\n" not in shown[shown.index("<figure") : shown.index("</figure>")]
    assert chart(*TREE, x="K").figure.find_next_sibling("p").text == "More."


# What is left out, and said to be


def test_without_a_record_only_the_bound_is_drawn():
    shown = chart(*TREE, x="K", of=book())
    assert legend(shown) == ["bound (≤)"]
    assert f"Not drawn: {', '.join(TREE)} not yet measured on a GPU" in shown.text


def test_a_claim_whose_lab_has_changed_is_left_out_with_its_state():
    old = made.changed(record(), lab_sha256="0" * 64)
    shown = chart(*TREE, x="K", of=book(old, record("interpreter")))
    assert table(shown)[0] == ["K", "Bound ≤", "interpreter"]
    assert "the lab has changed, to be measured again" in shown.text


def test_a_value_of_the_interpreter_does_not_stand_for_a_gpu():
    shown = chart(*TREE, x="K", of=book(record("interpreter")))
    assert legend(shown)[0].startswith("interpreter")
    assert "not yet measured on a GPU" in shown.text


# A stored series


def test_a_series_is_drawn_over_its_index():
    shown = chart(made.RATIO, of=book(record(series=SERIES)), series="linear")
    assert table(shown) == [["number", "call, ms"], ["1", "300"], ["2", "2"], ["3", "0.5"]]
    assert legend(shown) == ["call H200 · triton 3.6.0 · 2026-11-20"]
    first, second, third = (top for _, top in places(shown, "c1"))
    assert second == pytest.approx(third, abs=2) and first < second - 100


@pytest.mark.parametrize(("points", "marks"), [(64, 65), (65, 0)])
def test_many_points_have_no_marks_and_neither_has_their_legend(points, marks):
    shown = chart(
        made.RATIO,
        of=book(record(series=[{**SERIES[0], "values": [1.0] * points}])),
        series="linear",
    )
    assert len(shown.select("svg .mark")) == marks


def test_on_a_logarithmic_axis_small_values_stay_apart():
    shown = chart(made.RATIO, of=book(record(series=SERIES)), series="log")
    _, second, third = (top for _, top in places(shown, "c1"))
    assert third - second > 20


def peaks_of(*values: float):
    shown = chart(
        made.RATIO, of=book(record(series=[{**SERIES[0], "values": list(values)}])), series="log"
    )
    return [text for text in shown.select("svg text") if text.find_previous("g")]


def test_values_far_above_the_median_are_numbered_from_the_left():
    assert [text.string for text in peaks_of(90.0, *[1.0] * 50, 11.0, *[1.0] * 50)] == ["1", "2"]


def test_a_value_of_ten_times_the_median_is_no_peak():
    assert peaks_of(10.0, 1.0, 1.0) == []


def test_the_numbers_of_two_peaks_side_by_side_do_not_cover_each_other():
    anchors = [text.get("class") for text in peaks_of(*[1.0] * 50, 90.0, 80.0, *[1.0] * 50)]
    assert anchors == [["y"], None]


def test_a_series_without_a_record_is_a_sentence_with_the_state():
    shown = chart(made.RATIO, of=book(), series="log")
    assert (
        "Not drawn: scale.large.vs_copy not yet measured on a GPU" in shown.text and not shown.svg
    )


def checked(series) -> None:
    row = {
        "id": made.RATIO,
        "kind": "ratio",
        "arguments": {},
        "bound": 0.9,
        "judges": "gpu",
        "why": "x",
        "verdict": "-",
    }
    fit(RatioRow, row | {"series": series}, Marks(""))


def test_a_record_may_hold_series():
    checked(SERIES)


@pytest.mark.parametrize(
    "series",
    [
        [],
        [{"name": "call", "unit": "ms"}],
        [{"name": "call", "values": [1.0, 2.0]}],
        [{"name": "", "unit": "ms", "values": [1.0, 2.0]}],
        [{"name": "call", "unit": "ms", "values": [1.0]}],
        [{"name": "call", "unit": "ms", "values": [1.0, -2.0]}],
        [{"name": "call", "unit": "ms", "values": [1.0, None]}],
        [{"name": "call", "unit": "ms", "values": [1.0, "2"]}],
        [{"name": "call", "unit": "ms", "values": [1.0, 2.0], "device": "H200"}],
        {"name": "call", "unit": "ms", "values": [1.0, 2.0]},
    ],
)
def test_a_series_that_is_not_whole_is_refused(series):
    with pytest.raises(Exception, match="series"):
        checked(series)


# Mistakes


@pytest.mark.parametrize(
    ("ids", "options", "what"),
    [
        pytest.param(
            TREE, {}, "chart() needs x, the argument along its axis, or series", id="no axis"
        ),
        pytest.param(TREE, {"x": "K", "series": "log"}, "chart() needs x", id="two axes"),
        pytest.param(TREE, {"series": "log"}, "chart() needs x", id="series of many claims"),
        pytest.param([], {"x": "K"}, "chart() names no claim", id="no claim"),
        pytest.param(
            ["scale.tree_61.max_rel_err", TREE[1]],
            {"x": "K"},
            "there is no claim 'scale.tree_61.max_rel_err'",
            id="unknown claim",
        ),
        pytest.param(
            TREE,
            {"x": "N"},
            "scale.tree_16.max_rel_err has no number as its argument 'N'",
            id="unknown argument",
        ),
        pytest.param(
            TREE,
            {"x": "way"},
            "scale.tree_16.max_rel_err has no number as its argument 'way'",
            id="a word",
        ),
        pytest.param(
            TREE,
            {"x": "K", "by": "dtype"},
            "scale.tree_16.max_rel_err has no argument 'dtype'",
            id="by",
        ),
        pytest.param(
            [made.ERROR, TREE[0]],
            {"x": "n"},
            "scale.ragged.max_abs_err and scale.tree_16.max_rel_err have different units, max_abs_err and max_rel_err",
            id="mixed units",
        ),
        pytest.param(
            [made.BUG, TREE[0]], {"x": "K"}, "scale.no_mask.bug has no number to draw", id="a bug"
        ),
        pytest.param(
            [TREE[0], ROW[0], TREE[1]],
            {"x": "K"},
            "scale.tree_16.max_rel_err and scale.row_16.max_rel_err lie at the same place, K = 16",
            id="one place for two",
        ),
        pytest.param(
            [TREE[0], ROW[0]], {"x": "K", "by": "way"}, "all lie at one K", id="one place for all"
        ),
        pytest.param(
            [made.RATIO], {"series": "cubic"}, "series='cubic' is no scale", id="unknown scale"
        ),
        pytest.param(
            [made.RATIO],
            {"series": "log"},
            "the record of scale.large.vs_copy holds no series",
            id="no series",
        ),
    ],
)
def test_a_mistake_names_file_and_line_and_the_way_out(ids, options, what):
    """The sentence begins with file, line and what is wrong; another one follows."""
    said = mistake(*ids, **options)
    assert re.fullmatch(rf"docs/en/lessons/one\.md:3: {re.escape(what)}.*\. .+", said)


def test_the_way_out_names_what_there_is():
    assert mistake(*TREE, x="N").endswith("Arguments that are numbers: K")
    assert mistake(*TREE, x="K", by="dtype").endswith("There are: K, way")


def test_series_of_different_units_are_not_drawn_on_one_axis():
    mixed = [*SERIES, {"name": "memory", "unit": "MiB", "values": [1.0, 2.0]}]
    said = mistake(made.RATIO, of=book(record(series=mixed)), series="log")
    assert said.startswith(
        "docs/en/lessons/one.md:3: the series of scale.large.vs_copy have different units, MiB and ms"
    )


def test_a_chart_stands_alone_on_its_line():
    page = f"Here: {text(*TREE, x='K').splitlines()[2]}\n"
    with pytest.raises(Fault, match=r"one.md:1: chart\(\) makes a block"):
        expand(page, made.page(page), book(), "")


# A chart cites its claims


def test_the_page_of_a_chart_uses_its_claims():
    page = made.page(text(*TREE, x="K"))
    of = made.book(source=SOURCE, pages=[page])
    assert [id for id, pages in uses(of).items() if pages == [page]] == TREE


def test_proof_check_names_an_unknown_claim_of_a_chart():
    page = made.page(text("scale.tree_61.max_rel_err", TREE[1], x="K"))
    found = list(references.unknown(made.book(source=SOURCE, pages=[page])))
    assert [(problem.line, problem.what) for problem in found] == [
        (3, "no claim is called 'scale.tree_61.max_rel_err'")
    ]
