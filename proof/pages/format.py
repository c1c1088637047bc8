"""How a figure, its provenance and a claim's state look in text. No number here comes from anything but a record."""

from __future__ import annotations

import re
from datetime import date
from typing import Any
from urllib.parse import quote

from proof.book.model import (
    BugRow,
    Claim,
    CodegenRow,
    JudgedRow,
    Lang,
    Page,
    RatioRow,
    Record,
    Row,
    Source,
    Standing,
    Timing,
)
from proof.pages.words import known, word
from proof.text.uses import page_title

SHOWN = ("valid", "aged")  # the states in which a reader sees the number

_MARKS = re.compile(
    r"[&<>\"\\`*{}\[\]|~^$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
)  # a_b means nothing to Markdown


def md(text: object) -> str:
    """Text that Markdown leaves as it is, also in a table cell and between the quotes of an attribute."""
    return _MARKS.sub(lambda m: f"&#{ord(m[0])};", re.sub(r"[^\S\u00a0]+", " ", str(text)))


def code(text: object) -> str:
    """Inline code that may stand in a table cell, whatever it holds."""
    return f"<code>{md(text)}</code>"


def with_code(text: str) -> str:
    """The same with `code` between backticks as code."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(code(part) if n % 2 else md(part) for n, part in enumerate(parts))


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; cells are escaped already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def link(href: str, text: str) -> str:
    """An HTML link, so that no site generator rewrites or needs to know its target; `text` is escaped already."""
    return f'<a href="{md(href)}">{text}</a>'


# Numbers


def number(x: object) -> str:
    """Three significant digits; whole numbers and words as they are; 0 as 0."""
    return f"{float(f'{x:.3g}'):g}" if isinstance(x, float) else str(x)


def exact(x: object) -> str:
    """What is compared for equality, with all its digits: 1.0078125."""
    return f"{x:.12g}" if isinstance(x, float) else str(x)


def way(claim: Claim, how: str, lang: Lang) -> str:
    """How a seeded bug shows, in words: error, guard, nonfinite, fault, or what else its record says."""
    return word(lang, "other" if how == "error" and claim.fails in ("count", "codegen") else how)


def times(x: float) -> str:
    """A ratio: 1.03×, 0.970×, 12.3×, 29,900×."""
    return (f"{float(f'{x:.3g}'):,.0f}" if x >= 1000 else f"{float(x):#.3g}".rstrip(".")) + "×"


def milliseconds(x: float) -> str:
    return f"{number(float(x))} ms"


def memory(mib: float) -> str:
    return f"{mib} MiB" if mib < 1024 else f"{mib / 1024:#.3g}".rstrip(".") + " GiB"


def amount(x: float, unit: str) -> str:
    """3.22 GB, 1.1 TFLOP, 1 call."""
    scale, prefix = next(
        ((s, p) for s, p in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")) if x >= s), (1, "")
    )
    return f"{number(x / scale)} {prefix}{unit}"


_ROW_FIELDS = {
    "value": number,
    "figure": number,
    "max_abs_err": number,
    "max_rel_err": number,
    "scale": number,
    "nonfinite": number,
    "low": times,
    "high": times,
    "peak_mib": memory,
}
_PERCENTILES = ("p10_ms", "median_ms", "p90_ms", "p99_ms")  # the last one where a lab stores it
_TIMING_FIELDS = dict.fromkeys(_PERCENTILES, milliseconds) | {"repeats": number}
FIELDS = ("bound", *_ROW_FIELDS, *_TIMING_FIELDS, "work", "rate")


def timing_figure(timing: Timing, name: str) -> str:
    """One figure of one timing; `rate` is its work over its median time."""
    if name == "work":
        return amount(timing.work, timing.unit)
    if name == "rate":
        return amount(timing.rate, timing.unit) + "/s"
    return _TIMING_FIELDS[name](getattr(timing, name))


def figure(standing: Standing, name: str = "value", of: str = "", lang: Lang = "en") -> str:
    """The figure `name` of a claim's row, formatted. Raises LookupError in a sentence if the row has none.

    Only `bound` can be had without a record: it is declared in the lab and is not measured.
    """
    claim, row = standing.claim, standing.row
    if name == "bound":
        return bound(claim, lang)
    if name in ("work", "rate", *_TIMING_FIELDS):
        timings = (
            {timing.name: timing for timing in row.timings} if isinstance(row, JudgedRow) else {}
        )
        chosen = of or next(iter(timings), "")
        if chosen not in timings:
            raise LookupError(
                f"{claim.id} has no timing {chosen!r}; it has {', '.join(timings) or 'none'}"
            )
        if name == "p99_ms" and timings[chosen].p99_ms is None:
            raise LookupError(f"the timing {chosen!r} of {claim.id} has no {name}")
        return timing_figure(timings[chosen], name)
    figures = _figures(row) if row else {}
    if name not in figures:
        raise LookupError(f"{claim.id} has no {name} in its record; it has {', '.join(figures)}")
    if name == "value" and isinstance(row, BugRow):
        return way(claim, row.value, lang)
    if name in ("value", "figure") and {claim.kind, claim.fails} & {"count", "codegen"}:
        return exact(figures[name])
    if name == "value" and isinstance(row, RatioRow):
        return times(row.value or 0)
    return _ROW_FIELDS[name](figures[name])


def _figures(row: Row) -> dict[str, Any]:
    """The figures of a row that are finite, in the order of _ROW_FIELDS."""
    figures = {**row.figures, "peak_mib": row.peak_mib or None}
    return {name: figures[name] for name in _ROW_FIELDS if figures.get(name) is not None}


def bound(claim: Claim, lang: Lang) -> str:
    """The bound with its sense: ≤ 4.77e-07, ≥ 0.970×, = 10; for a bug, how the claim must fail."""
    if claim.kind == "bug":
        return way(claim, str(claim.bound), lang)
    if claim.kind == "ratio":
        return "≥\u00a0" + times(float(claim.bound))
    return (
        "≤\u00a0" + number(claim.bound) if claim.kind == "error" else "=\u00a0" + exact(claim.bound)
    )


# Provenance


def device_short(record: Record, lang: Lang, judges: str = "any") -> str:
    """H200, RTX 4090, interpreter. What only the compiler judges names the compiler, wherever the compiler ran."""
    kind = "compiler" if judges == "compile" else record.device.kind
    if kind in ("interpreter", "compiler"):
        return word(lang, kind)
    return re.sub(r"^(NVIDIA|AMD)\s+((GeForce|Instinct)\s+)?", "", record.device.name)


def recorded_on(record: Record) -> date:
    return record.utc.date()


def versions(record: Record) -> str:
    return f"torch {record.environment.torch} · triton {record.environment.triton}"


def provenance(standing: Standing, lang: Lang) -> str:
    """≤ 4.77e-07 · NVIDIA H200 · torch 2.11.0 · triton 3.6.0 · 2026-11-29."""
    record = standing.record
    if record is None:
        return bound(standing.claim, lang)
    return " · ".join(
        (
            bound(standing.claim, lang),
            record.device.name,
            versions(record),
            str(recorded_on(record)),
        )
    )


def state_words(standing: Standing, lang: Lang, on: str = "") -> str:
    """The state in words; pending says where a run is missing."""
    key: str = standing.state
    if key == "pending" and on:
        key = "pending-interpreter"
    elif key == "pending" and standing.claim.judges == "compile":
        key = "pending-compile"
    return word(lang, key)


def badge(standing: Standing, lang: Lang, on: str = "") -> str:
    """The state as a badge for a table cell."""
    why = f' title="{md(standing.note)}"' if standing.note else ""
    return f'<span class="state {standing.state}"{why}>{md(state_words(standing, lang, on))}</span>'


def unbroken(text: str) -> str:
    """The text for a table cell; a number with an exponent is not broken at its hyphen."""
    return (
        f'<span class="figure">{md(text)}</span>'
        if re.fullmatch(r"[\d.]+e-\d+", text)
        else md(text)
    )


def shown_value(standing: Standing | None, lang: Lang) -> str:
    """The value where the state lets a reader see it, else a dash: the state stands in a column of its own."""
    if (
        standing is None
        or standing.state not in SHOWN
        or standing.row is None
        or standing.record is None
    ):
        return "–"
    row, shown = standing.row, figure(standing, lang=lang)
    if isinstance(row, BugRow) and row.value == "error" and row.figure is not None:
        wrong = figure(standing, "figure")
        return f"{md(shown)} ({code(wrong) if isinstance(row.figure, str) else md(wrong)})"
    return (
        code(shown)
        if isinstance(row, CodegenRow) and isinstance(row.value, str)
        else unbroken(shown)
    )


def value_cell(standing: Standing, lang: Lang) -> str:
    """The value and the device it is from."""
    shown = shown_value(standing, lang)
    if shown == "–" or standing.record is None:
        return shown
    return (
        f"{shown} <small>{md(device_short(standing.record, lang, standing.claim.judges))}</small>"
    )


def bound_cell(claim: Claim, reason: str, lang: Lang) -> str:
    """The bound and why it is that; for a bug, how the claim must fail and what one sees."""
    shown = bound(claim, lang)
    if claim.kind == "codegen" and isinstance(claim.bound, str):
        return f"{shown[0]}\u00a0{code(shown[2:])}<br>{md(reason)}"
    return f"{md(shown)}<br>{md(reason)}"


def claim_href(claim: Claim, up: str) -> str:
    return f"{up}labs/{claim.lab}/#{claim.id}"


def claim_link(claim: Claim, up: str) -> str:
    """The claim's id, linked to its row on its lab's page."""
    return link(claim_href(claim, up), code(claim.id))


def page_href(name: str, up: str) -> str:
    """The address of a page by its file name: lessons/vector_add.md -> lessons/vector_add/."""
    path = re.sub(r"(^|/)index\.md$", r"\1", name)
    return up + (path[:-3] + "/" if path.endswith(".md") else path) or "./"


def record_href(record: Record, up: str) -> str:
    """The raw JSON: the site copies labs/records to records/ below each language's root."""
    return f"{up}records/{'/'.join(record.path.parts[-3:])}"


def permalink(cited: Source) -> str:
    """The cited lines at their tag where it is code, else the address as it stands."""
    if not (cited.repository and cited.tag and cited.file):
        return cited.url
    root = (
        cited.repository if "://" in cited.repository else f"https://github.com/{cited.repository}"
    )
    lines = f"#L{cited.lines[0]}-L{cited.lines[1]}" if cited.lines else ""
    return f"{root.rstrip('/')}/blob/{quote(cited.tag)}/{quote(cited.file)}{lines}"


def source_link(cited: Source, lang: Lang) -> str:
    """A cited range of code or a document: where, at which tag, which lines."""
    if cited.repository and cited.file:
        name = cited.repository.rstrip("/").rsplit("/", 1)[-1]
        lines = f" L{cited.lines[0]}–{cited.lines[1]}" if cited.lines else ""
        shown = f"{name} {cited.tag} · {cited.file.rsplit('/', 1)[-1]}{lines}"
    else:
        shown = cited.shows.of(lang) or cited.id
    title = cited.shows.of(lang)
    return f'<a class="source" href="{md(permalink(cited))}" title="{md(title)}">{md(shown)}</a>'


def cited_link(cited: Source | str, lang: Lang) -> str:
    """What a term cites: a source of docs/sources, or an address."""
    if isinstance(cited, Source):
        return source_link(cited, lang)
    return link(cited, md(cited.split("://", 1)[1].rstrip("/")))


def decision_status(status: str, lang: Lang) -> str:
    """The status of a decision in the reader's language; a word that is none stays, and the checks name it."""
    return word(lang, status) if known(status) else status


def page_links(pages: list[Page], up: str) -> str:
    """Links to pages of one language."""
    links = [
        f'<a href="{md(page_href(page.name, up))}">{md(page_title(page))}</a>' for page in pages
    ]
    return word(pages[0].lang, "comma").join(links) if links else ""
