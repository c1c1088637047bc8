"""What a chart holds: measured value against derived bound over an argument of the claims, or a series that a row stores."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from proof.book.model import Book, Claim, JudgedRow, Lang, Record, Standing
from proof.evidence import state
from proof.pages.format import (
    SHOWN,
    badge,
    claim_href,
    device_short,
    link,
    md,
    number,
    recorded_on,
    times,
)
from proof.pages.svg import Chart, Line, whole
from proof.pages.words import known, word
from proof.problem import Fault

PEAK = 10  # a value more than this many times the median of its series is a peak, and numbered
SENSE = {"error": "≤", "ratio": "≥", "count": "="}
SCALES = ("linear", "log")
Places = dict[str, tuple[str, float]]  # claim → group, x
Measured = dict[str, dict[str, Standing]]  # claim → device → what readers may see


def of_claims(book: Book, claims: list[Claim], x: str, by: str, lang: Lang, up: str) -> Chart:
    """Values and bounds over the argument `x`, one color for each value of the argument `by`, one mark for each device.

    A claim that no device has measured as it stands is left out, and said to be. Raises Fault.
    """
    places = _places(claims, x, by)
    measured = {c.id: dict(_visible(book, c, lang)) for c in claims}
    devices = list(dict.fromkeys(name for found in measured.values() for name in found))
    devices.sort(key=lambda name: name == word(lang, "interpreter"))
    groups = list(dict.fromkeys(group for group, _ in places.values()))
    claims = sorted(claims, key=lambda c: (groups.index(places[c.id][0]), places[c.id][1]))
    show = times if claims[0].kind == "ratio" else number
    sense = SENSE[claims[0].kind]
    lines, bounds, seen = [], {}, {}
    for n, group in enumerate(groups, 1):
        inside = [c for c in claims if places[c.id][0] == group]
        bounds[group] = tuple((places[c.id][1], float(c.bound)) for c in inside)
        for mark, device in enumerate(devices):
            there = [
                (places[c.id][1], measured[c.id][device])
                for c in inside
                if device in measured[c.id]
            ]
            if there:
                label = " · ".join(filter(None, (group, device)))
                points = tuple((at, _value(s)) for at, s in there)
                lines.append(Line(label, "", points, n if by else mark + 1, mark))
                seen.setdefault(device, []).extend(s.record for _, s in there)
    legend = [Line(group, "", (), n, -1) for n, group in enumerate(groups, 1) if by]
    legend += [Line(d, _small(seen[d]), (), 0 if by else n + 1, n) for n, d in enumerate(devices)]
    legend.append(Line(word(lang, "chart bound", sense=sense), "", (), 0, None))
    if len(set(bounds.values())) == 1:
        bounds = {"": next(iter(bounds.values()))}
    for n, (group, points) in enumerate(bounds.items(), 1):
        label = " · ".join(filter(None, (group, legend[-1].label)))
        lines.append(Line(label, "", points, n if len(bounds) > 1 else 0, None))
    rows = []
    for c in claims:
        group, at = places[c.id]
        values = [measured[c.id].get(device) for device in devices]
        cells = [md(group)] if by else []
        cells += [link(claim_href(c, up), md(whole(at))), md(show(float(c.bound)))]
        rows.append(cells + [md(show(_value(s))) if s else "–" for s in values])
    return Chart(
        title=word(lang, "chart title", x=x, y=_metric_words(claims[0], lang)),
        x=x,
        y=_metric_words(claims[0], lang),
        lines=tuple(lines),
        legend=tuple(legend),
        log_x=_is_wide([at for _, at in places.values()]),
        log_y=claims[0].kind == "error",
        show=show,
        heads=[*([by] if by else []), x, f"{word(lang, 'the bound')} {sense}", *devices],
        rows=rows,
        notes=[*_nearest(claims, places, measured, x, lang), *_left_out(book, claims, lang)],
    )


def of_series(book: Book, claim: Claim, scale: str, lang: Lang) -> Chart | None:
    """The series of the claim's row over their index; None where readers may see no record. Raises Fault."""
    if scale not in SCALES:
        raise Fault(f"series={scale!r} is no scale", 'Write series="linear" or series="log"')
    standing = state.standing(book, claim.id)
    if standing.state not in SHOWN or standing.record is None:
        return None
    series = standing.row.series if isinstance(standing.row, JudgedRow) else ()
    if not series:
        fix = "Let its measure return one: Series in proof/book/model.py says how"
        raise Fault(f"the record of {claim.id} holds no series", fix)
    if len(units := sorted({each.unit for each in series})) > 1:
        what = f"the series of {claim.id} have different units, {' and '.join(units)}"
        raise Fault(what, "Let two claims hold them, and draw each")
    where = f"{device_short(standing.record, lang, claim.judges)} · {_small([standing.record])}"
    lines = tuple(
        Line(each.name, where if n == 1 else "", tuple(enumerate(map(float, each.values), 1)), n, 0)
        for n, each in enumerate(series, 1)
    )
    rows = []
    for at in range(max(len(each.values) for each in series)):
        values = [each.values[at] if at < len(each.values) else None for each in series]
        rows.append(
            [str(at + 1), *("–" if value is None else md(number(float(value))) for value in values)]
        )
    zero = scale == "log" and any(0 in each.values for each in series)
    peaks = _peaks(lines[0].points)
    notes = [md(word(lang, "chart zero"))] if zero else []
    if peaks:
        notes.append(md(word(lang, "chart peaks", times=PEAK, name=series[0].name)))
    return Chart(
        title=word(lang, "chart series", id=claim.id),
        x=word(lang, "chart index"),
        y=units[0],
        lines=lines,
        legend=lines,
        log_x=False,
        log_y=scale == "log",
        show=number,
        heads=[word(lang, "chart index"), *(f"{each.name}, {units[0]}" for each in series)],
        rows=rows,
        notes=notes,
        peaks=peaks,
    )


def _peaks(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """The points that lie far above the median, by x."""
    usual = median(value for _, value in points)
    return tuple((x, value) for x, value in points if value > PEAK * usual > 0)


def left_out(book: Book, claim: Claim, lang: Lang) -> str:
    """The sentence that stands where a chart of this claim alone would: it cannot be drawn yet, and why."""
    return f"<p>{next(_left_out(book, [claim], lang))}</p>\n"


def _places(claims: list[Claim], x: str, by: str) -> Places:
    """Group and place of each claim, all of one unit, no two at the same place, at two places at least."""
    if not claims:
        raise Fault("chart() names no claim", 'Write {{ chart("id", "id", x="K") }}')
    places: Places = {}
    taken: dict[tuple[str, float], str] = {}
    for claim in claims:
        if claim.kind not in SENSE or isinstance(claim.bound, str):
            raise Fault(
                f"{claim.id} has no number to draw", f"Name claims of the kinds {', '.join(SENSE)}"
            )
        if _unit(claim) != _unit(claims[0]):
            units = " and ".join(metric for _, metric in (_unit(claims[0]), _unit(claim)))
            raise Fault(
                f"{claims[0].id} and {claim.id} have different units, {units}",
                "Draw them in two charts",
            )
        places[claim.id] = place = (_text(claim, by) if by else "", _number(claim, x))
        if place in taken:
            what = f"{taken[place]} and {claim.id} lie at the same place, {x} = {whole(place[1])}"
            raise Fault(
                what,
                'Leave one out, or tell them apart with by="…", an argument in which they differ',
            )
        taken[place] = claim.id
    if len({at for _, at in places.values()}) < 2:
        raise Fault(f"all lie at one {x}", "Name claims at two places or more")
    return places


def _visible(book: Book, claim: Claim, lang: Lang) -> Iterator[tuple[str, Standing]]:
    for s in state.standings(book, claim.id):
        if s.state in SHOWN and s.record and s.row and isinstance(s.row.value, int | float):
            yield device_short(s.record, lang, claim.judges), s


def _nearest(
    claims: list[Claim], places: Places, measured: Measured, x: str, lang: Lang
) -> Iterator[str]:
    """How much of its bound the worst measured error takes; what a value of 0 looks like."""
    seen = [
        (c, device, _value(s))
        for c in claims
        for device, s in measured[c.id].items()
        if c.kind == "error"
    ]
    parts = [(value / float(c.bound), c, device) for c, device, value in seen if c.bound]
    if parts:
        part, c, device = max(parts, key=lambda each: each[0])
        at = " · ".join(filter(None, (places[c.id][0], f"{x} = {whole(places[c.id][1])}", device)))
        yield md(word(lang, "chart nearest", part=number(float(part)), at=at))
    if any(value == 0 for _, _, value in seen):
        yield md(word(lang, "chart zero"))


def _left_out(book: Book, claims: list[Claim], lang: Lang) -> Iterator[str]:
    """One line for each state in which readers see no number: which claims have it."""
    by_badge: dict[str, list[str]] = {}
    for claim in claims:
        if (standing := state.standing(book, claim.id)).state not in SHOWN:
            by_badge.setdefault(badge(standing, lang), []).append(claim.id)
    for shown, ids in by_badge.items():
        yield f"{md(word(lang, 'chart left out', ids=word(lang, 'comma').join(ids)))} {shown}"


def _small(records: list[Record]) -> str:
    newest = max(records, key=lambda record: record.utc)
    return f"triton {newest.environment.triton} · {recorded_on(newest)}"


def _unit(claim: Claim) -> tuple[str, str]:
    return claim.kind, claim.id.rpartition(".")[2]


def _metric_words(claim: Claim, lang: Lang) -> str:
    metric = _unit(claim)[1]
    return word(lang, metric) if known(metric) else metric


def _is_wide(xs: list[float]) -> bool:
    return min(xs) > 0 and max(xs) >= 8 * min(xs)


def _value(standing: Standing) -> float:
    """The figure that is drawn; `_visible` has left out whatever has none."""
    value = standing.row.value if standing.row else None
    if not isinstance(value, int | float):
        raise TypeError(f"{standing.claim.id} has no number to draw")
    return float(value)


def _number(claim: Claim, name: str) -> float:
    numbers = {
        key: argument.number
        for key, argument in claim.arguments.items()
        if argument.number is not None
    }
    if name not in numbers:
        fix = (
            f"Arguments that are numbers: {', '.join(numbers)}"
            if numbers
            else "None of its arguments is one"
        )
        raise Fault(f"{claim.id} has no number as its argument {name!r}", fix)
    return numbers[name]


def _text(claim: Claim, name: str) -> str:
    if name not in claim.arguments:
        fix = f"There are: {', '.join(claim.arguments)}" if claim.arguments else "It has none"
        raise Fault(f"{claim.id} has no argument {name!r}", fix)
    return claim.arguments[name].text
