"""Spans of time that a row stores, as HTML: a lane each for CPU and GPU, their legend, and the spans as a folded table. Pure.

Colors are classes of docs/assets/site.css, so that one drawing serves both palettes.
"""

from __future__ import annotations

from collections.abc import Sequence

from proof.book.model import Lang, Span
from proof.pages.format import md, milliseconds, number
from proof.pages.svg import round_steps
from proof.pages.words import known, word

WIDTH, LEFT, RIGHT, TOP = 440, 44, 14, 8  # in units of the drawing, whose text is 12 high
LANE, BAR = 38, 26  # height of a lane and of the bars in it


def draw(spans: Sequence[Span], title: str, small: str, key: str, lang: Lang) -> str:
    """The spans as a block of HTML without blank lines, each lane from 0 to the end of the last span.

    `small` says where and when they were recorded; `key` makes the ids the only ones of the page.
    """
    end = max(span.start_ms + span.ms for span in spans)
    lanes = list(dict.fromkeys(span.lane for span in spans))
    kinds = list(dict.fromkeys((span.lane, span.name) for span in spans))
    bottom = TOP + LANE * len(lanes)
    ids = f"{key}-title", f"{key}-desc"
    told = [_told(kind, spans, lang) for kind in kinds]
    idle = [_idle(lane, spans, end, lang) for lane in lanes]
    spread = (WIDTH - LEFT - RIGHT) / end
    parts = [
        '<figure class="chart timeline" data-search-exclude="">',
        f'<svg viewBox="0 0 {WIDTH} {bottom + 36}" role="img" aria-labelledby="{ids[0]} {ids[1]}">',
        f'<title id="{ids[0]}">{md(title)}</title>',
        f'<desc id="{ids[1]}">{md("; ".join([*told, *idle]))}</desc>',
    ]
    ticks = round_steps(0, end, 5)
    parts.append(
        f'<path class="grid" d="{"".join(f"M{LEFT + tick * spread:.1f} {TOP}V{bottom}" for tick in ticks)}"/>'
    )
    for row, lane in enumerate(lanes):
        top = TOP + LANE * row + (LANE - BAR) // 2
        parts.append(f'<text x="{LEFT - 8}" y="{top + BAR // 2 + 4}" class="y">{md(lane)}</text>')
        for span in (span for span in spans if span.lane == lane):
            left, width = LEFT + span.start_ms * spread, max(span.ms * spread, 0.5)
            color = 1 + kinds.index((lane, span.name)) % 5
            shown = f"{_name(span.name, lang)} · {milliseconds(span.ms)}"
            parts.append(
                f'<rect class="c{color}" x="{left:.1f}" y="{top}" width="{width:.1f}" height="{BAR}">'
                f"<title>{md(shown)}</title></rect>"
            )
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}"/>')
    parts += [
        f'<text x="{LEFT + tick * spread:.1f}" y="{bottom + 16}" class="x">{number(tick)}</text>'
        for tick in ticks
    ]
    parts += [
        f'<text x="{(LEFT + WIDTH - RIGHT) // 2}" y="{bottom + 32}" class="x">ms</text>',
        "</svg>",
        f"<figcaption><strong>{md(title)}</strong> <small>{md(small)}</small>",
        f'<ul class="legend">{"".join(_legend(n, text) for n, text in enumerate(told))}</ul>',
        *(f"<p>{md(text)}</p>" for text in idle),
        f"<details><summary>{md(word(lang, 'chart data'))}</summary>",
        f"<table><thead><tr>{''.join(f'<th>{md(word(lang, head))}</th>' for head in ('lane', 'span', 'begins', 'lasts'))}</tr></thead><tbody>",
        *(
            f"<tr><td>{md(span.lane)}</td><td>{md(_name(span.name, lang))}</td>"
            f"<td>{md(milliseconds(span.start_ms))}</td><td>{md(milliseconds(span.ms))}</td></tr>"
            for span in sorted(spans, key=lambda span: span.start_ms)
        ),
        "</tbody></table></details></figcaption>",
        "</figure>",
    ]
    return "\n".join(parts) + "\n"


def _name(name: str, lang: Lang) -> str:
    return word(lang, f"span {name}") if known(f"span {name}") else name


def _told(kind: tuple[str, str], spans: Sequence[Span], lang: Lang) -> str:
    """What one kind of span of one lane comes to: CPU compile × 2: 1500 ms."""
    lane, name = kind
    found = [span.ms for span in spans if (span.lane, span.name) == kind]
    return word(
        lang,
        "span told",
        lane=lane,
        name=_name(name, lang),
        n=len(found),
        ms=milliseconds(float(f"{sum(found):.3g}")),
    )


def _idle(lane: str, spans: Sequence[Span], end: float, lang: Lang) -> str:
    """How long nothing of the lane runs."""
    idle, reached = 0.0, 0.0
    for start, stop in sorted((s.start_ms, s.start_ms + s.ms) for s in spans if s.lane == lane):
        idle += max(0.0, start - reached)
        reached = max(reached, stop)
    return word(
        lang,
        "span idle",
        lane=lane,
        idle=milliseconds(idle + end - reached),
        whole=milliseconds(end),
    )


def _legend(n: int, text: str) -> str:
    return f'<li><svg viewBox="0 0 28 12" aria-hidden="true"><rect class="c{1 + n % 5}" width="28" height="12"/></svg> {md(text)}</li>'
