"""A chart as HTML: an SVG drawing with title and description, its legend, and its data as a folded table. Knows no records.

Colors are classes of docs/assets/site.css, so that one drawing serves both palettes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from proof.book.model import Lang
from proof.pages.format import md, number
from proof.pages.words import word

WIDTH, HEIGHT = (
    440,
    290,
)  # in units of the drawing, whose text is 12 high: readable at the width of a phone
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 26, 42
MARKS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-4-4h8v8h-8z",
    "M0-5l5 5l-5 5l-5-5z",
    "M0-5l5 9h-10z",
)
DOWN = "M-4-8h8l-4 7z"  # a value of 0, which has no place on a logarithmic axis
CLOSE = 9  # numbers of peaks nearer than this would cover each other
MANY = 64  # more points than these have no marks: they would cover the line


@dataclass(frozen=True)
class Line:
    """One line of a chart or of its legend: a measured one has the mark of its device, a bound has none and is dashed."""

    label: str
    small: str  # where and when
    points: tuple[tuple[float, float], ...]  # by x
    color: int  # from 1; 0 is neutral
    mark: int | None  # from 0; -1 is none, on a line that is not dashed

    @property
    def marked(self) -> bool:
        return self.mark is not None and self.mark >= 0 and len(self.points) <= MANY

    @property
    def style(self) -> str:
        return f"c{self.color if self.color < 6 else 0}" + (" bound" if self.mark is None else "")


@dataclass(frozen=True)
class Chart:
    """What is drawn, and what is said of it."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    legend: tuple[Line, ...]
    log_x: bool
    log_y: bool
    show: Callable[[float], str]  # a value, as text
    heads: list[str]  # of the table; plain text
    rows: list[list[str]]  # HTML
    notes: list[str]  # HTML
    peaks: tuple[tuple[float, float], ...] = ()  # by x; numbered in the drawing


@dataclass(frozen=True)
class Axis:
    """From values to places: low lies at `start`, high at `end`."""

    low: float
    high: float
    log: bool
    start: float
    end: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        if self.log and value <= 0:
            return self.start
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (value - low) / ((high - low) or 1)


def draw(chart: Chart, key: str, lang: Lang) -> str:
    """The chart as a block of HTML without blank lines. `key` makes its ids the only ones of the page."""
    xs = [x for line in chart.lines for x, _ in line.points]
    ys = [y for line in chart.lines for _, y in line.points if y > 0 or not chart.log_y]
    across = _across(sorted(set(xs)), chart.log_x)
    up = _upward(ys or [1.0], chart.log_y)
    ids = f"{key}-title", f"{key}-desc"
    described = " ".join(
        [*(_described(line, chart) for line in chart.lines), *_described_peaks(chart)]
    )
    parts = [
        '<figure class="chart" data-search-exclude="">',
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{ids[0]} {ids[1]}">',
        f'<title id="{ids[0]}">{md(chart.title)}</title>',
        f'<desc id="{ids[1]}">{md(described)}</desc>',
        *_frame(across, up, chart),
        *(_line(line, across, up, chart) for line in chart.lines),
        *_peaks(across, up, chart),
        "</svg>",
        f"<figcaption><strong>{md(chart.title)}</strong>",
        f'<ul class="legend">{"".join(_legend(line) for line in chart.legend)}</ul>',
        *(f"<p>{note}</p>" for note in chart.notes),
        f"<details><summary>{md(word(lang, 'chart data'))}</summary>",
        f"<table><thead><tr>{''.join(f'<th>{md(head)}</th>' for head in chart.heads)}</tr></thead><tbody>",
        *(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in chart.rows),
        "</tbody></table></details></figcaption>",
        "</figure>",
    ]
    return "\n".join(parts) + "\n"


def whole(x: float) -> str:
    """A place on the x axis: 16384, not 16400."""
    return str(int(x)) if x == int(x) else number(float(x))


def _described(line: Line, chart: Chart) -> str:
    ys = [y for _, y in line.points]
    ends = f"{chart.x} = {whole(line.points[0][0])}–{whole(line.points[-1][0])}"
    return f"{line.label}: {ends}, {chart.show(min(ys))}–{chart.show(max(ys))}."


def _frame(across: Axis, up: Axis, chart: Chart) -> list[str]:
    """Grid, ticks and what the axes are."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    lines = [f"M{LEFT} {up.at(tick):.1f}H{right}" for tick in up.ticks]
    lines += [f"M{across.at(tick):.1f} {TOP}V{bottom}" for tick in across.ticks]
    left = [
        f'<text x="{LEFT - 6}" y="{up.at(tick) + 4:.1f}" class="y">{md(chart.show(tick))}</text>'
        for tick in up.ticks
    ]
    below = [
        f'<text x="{across.at(tick):.1f}" y="{bottom + 17}" class="x">{whole(tick)}</text>'
        for tick in across.ticks
    ]
    return [
        f'<path class="grid" d="{"".join(lines)}"/>',
        f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>',
        *left,
        *below,
        f'<text x="2" y="13">{md(chart.y)}</text>',
        f'<text x="{(LEFT + right) // 2}" y="{HEIGHT - 6}" class="x">{md(chart.x)}</text>',
    ]


def _line(line: Line, across: Axis, up: Axis, chart: Chart) -> str:
    places = [(across.at(x), up.at(y), x, y) for x, y in line.points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _, _ in places)
    marks = ""
    if line.marked:
        for left, top, x, y in places:
            shape = DOWN if chart.log_y and y <= 0 else MARKS[line.mark % len(MARKS)]
            told = f"{line.label} · {chart.x} = {whole(x)} · {chart.show(y)}"
            marks += f'<path class="mark" d="{shape}" transform="translate({left:.1f} {top:.1f})"><title>{md(told)}</title></path>'
    return f'<g class="{line.style}"><path class="line" d="{path}"/>{marks}</g>'


def _described_peaks(chart: Chart) -> list[str]:
    return [
        f"{n}: {chart.x} = {whole(x)}, {chart.show(y)}." for n, (x, y) in enumerate(chart.peaks, 1)
    ]


def _peaks(across: Axis, up: Axis, chart: Chart) -> list[str]:
    """The number of each peak above it; two that are too close stand on either side of the gap."""
    places = [(across.at(x), up.at(y)) for x, y in chart.peaks]
    shown = []
    for n, (left, top) in enumerate(places, 1):
        anchor = ' class="x"'
        if n < len(places) and places[n][0] - left < CLOSE:
            anchor = ' class="y"'
        elif n > 1 and left - places[n - 2][0] < CLOSE:
            anchor = ""
        shown.append(f'<text x="{left:.1f}" y="{top - 4:.1f}"{anchor}>{n}</text>')
    return shown


def _legend(line: Line) -> str:
    mark = ""
    if line.marked:
        mark = (
            f'<path class="mark" d="{MARKS[line.mark % len(MARKS)]}" transform="translate(14 6)"/>'
        )
    stroke = '<path class="line" d="M1 6H27"/>'
    swatch = (
        f'<svg class="{line.style}" viewBox="0 0 28 12" aria-hidden="true">{stroke}{mark}</svg>'
    )
    small = f" <small>{md(line.small)}</small>" if line.small else ""
    return f"<li>{swatch} {md(line.label)}{small}</li>"


def _across(xs: list[float], log: bool) -> Axis:
    """The x axis, with the places of the points as ticks, or every second or third where there are many."""
    room = WIDTH - RIGHT - LEFT
    step = -(-len(xs) // 8)
    ticks = tuple(xs[::-1][::step])
    if not log and len(xs) > 8:
        ticks = round_steps(xs[0], xs[-1], 6)
    return Axis(xs[0], xs[-1], log, LEFT + 10, LEFT + room - 10, ticks)


def _upward(ys: list[float], log: bool) -> Axis:
    """The y axis: whole decades, or from 0 in round steps."""
    bottom = HEIGHT - BOTTOM
    if not log:
        ticks = round_steps(0, max(ys) or 1.0, 5)
        top = ticks[-1] + ticks[1] if ticks[-1] < max(ys) else ticks[-1]
        return Axis(0, top, False, bottom, TOP, (*ticks, *((top,) if top > ticks[-1] else ())))
    low, high = math.floor(math.log10(min(ys)) - 0.05), math.ceil(math.log10(max(ys)) + 0.05)
    step = -(-(high - low) // 8)
    return Axis(
        10.0**low,
        10.0**high,
        True,
        bottom,
        TOP,
        tuple(10.0**n for n in range(high, low - 1, -step)),
    )


def round_steps(low: float, high: float, about: int) -> tuple[float, ...]:
    """Multiples of 1, 2 or 5 times a power of ten from low to high, about so many."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    return tuple(
        float(f"{n * step:.12g}")
        for n in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)
    )
