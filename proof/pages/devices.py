"""The page of lab × device: what ran where, what speeds each card reached, what stands out, how to send a run."""

from __future__ import annotations

from proof.book.labwords import words
from proof.book.model import Book, Claim, Lab, Lang, Record, Standing
from proof.evidence import order, state
from proof.evidence.state import current, tally
from proof.pages.format import (
    bound,
    claim_href,
    code,
    device_short,
    figure,
    link,
    md,
    number,
    record_href,
    table,
    times,
)
from proof.pages.words import word

FAR = 4  # an error this many times that on the reference card stands out, though it be within its bound


def devices_page(book: Book, lang: Lang) -> str:
    """/devices/: the matrix, the speeds against their ceilings, the outliers."""
    up, newest = "../", _newest(book)
    classes = sorted(
        {of for of, _ in newest},
        key=lambda of: (of in ("interpreter", "compiler"), of != state.REFERENCE, of),
    )
    names = {
        of: device_short(next(r for (it, _), r in newest.items() if it == of), lang)
        for of in classes
    }
    out = outliers(book)
    parts = [
        f"# {word(lang, 'device page')} {{ #devices }}\n",
        word(lang, "device page intro") + "\n",
    ]
    rows = [
        [link(f"{up}labs/{lab.stem}/", md(words(book, lab, lang).title))]
        + [_cell(lab, newest.get((of, lab.stem)), out, lang, up) for of in classes]
        for lab in order.labs(book)
    ]
    heads = [word(lang, "lab"), *(md(names[of]) for of in classes)]
    parts += [f"## {word(lang, 'matrix')} {{ #matrix }}\n", table(heads, rows)]
    cards = [of for of in classes if of not in ("interpreter", "compiler")]
    parts += [
        f"## {word(lang, 'speeds')} {{ #speeds }}\n",
        word(lang, "speeds intro") + "\n",
        _speeds(book, cards, names, out, lang, up),
    ]
    parts += [
        f"## {word(lang, 'outliers')} {{ #outliers }}\n",
        word(lang, "outliers intro", n=FAR) + "\n",
        _told(out, names, lang, up),
    ]
    parts += [f"## {word(lang, 'send')} {{ #send }}\n", word(lang, "send all") + "\n"]
    parts += [
        "```bash",
        'for lab in labs/triton_*.py; do python "$lab" --json > "$(basename "$lab" .py).json"; done',
    ]
    parts += ["tar cf runs.tar triton_*.json", ".venv/bin/proof record --from runs.tar", "```", ""]
    return "\n".join(parts)


def outliers(book: Book) -> dict[str, list[Standing]]:
    """Claims that stand out on some card → where: a ratio under its bound, or an error far above the reference card's."""
    found: dict[str, list[Standing]] = {}
    for claim in book.claims.values():
        here = [
            s
            for s in state.standings(book, claim.id)
            if s.record and s.record.is_gpu and s.state in state.PASSING
        ]
        odd = [s for s in here if _below(s) or _far(claim, s, here)]
        if odd:
            found[claim.id] = odd
    return found


def _far(claim: Claim, s: Standing, here: list[Standing]) -> bool:
    reference = next((r for r in here if _class(r) == state.REFERENCE), None)
    if claim.kind != "error" or reference is None or s is reference:
        return False
    return _value(s) > max(FAR * _value(reference), 0)


def _newest(book: Book) -> dict[tuple[str, str], Record]:
    """Device class and lab → the newest run of the lab as it stands; else its newest run."""
    found: dict[tuple[str, str], Record] = {}
    for record in sorted(book.records, key=lambda r: r.utc):
        key, lab = (record.device_class, record.lab), book.labs.get(record.lab)
        if lab and (current(lab, record) or key not in found or not current(lab, found[key])):
            found[key] = record
    return found


def _cell(
    lab: Lab, record: Record | None, out: dict[str, list[Standing]], lang: Lang, up: str
) -> str:
    """Passed of judged, linked to the record; a mark for each outlier; what does not count says why."""
    if record is None:
        return "–"
    if not current(lab, record):
        return link(
            record_href(record, up), md(word(lang, "older source" if record.intact else "edited"))
        )
    passed, failed, _ = tally(lab, record)
    mine = [s for s in _flat(out) if s.record is record]
    under = sum(_below(s) for s in mine)
    text = link(record_href(record, up), f"{passed + under} / {passed + failed}")
    return text + (f' <a class="outlier" href="#outliers">▲ {len(mine)}</a>' if mine else "")


def _flat(out: dict[str, list[Standing]]) -> list[Standing]:
    return [s for odd in out.values() for s in odd]


def _speeds(
    book: Book,
    cards: list[str],
    names: dict[str, str],
    out: dict[str, list[Standing]],
    lang: Lang,
    up: str,
) -> str:
    rows = []
    for claim in book.claims.values():
        if claim.kind != "ratio":
            continue
        on = {
            s.record.device_class: s
            for s in state.standings(book, claim.id)
            if s.record and s.state in state.PASSING
        }
        if not any(of in on for of in cards):
            continue
        odd = {_class(s) for s in out.get(claim.id, ())}
        cells = [
            (figure(on[of]) + (" ▲" if of in odd else "")) if of in on else "–" for of in cards
        ]
        rows.append([link(claim_href(claim, up), code(claim.id)), md(bound(claim, lang)), *cells])
    heads = [word(lang, "claim"), word(lang, "the bound"), *(md(names[of]) for of in cards)]
    return table(heads, rows) if rows else word(lang, "no records") + "\n"


def _told(out: dict[str, list[Standing]], names: dict[str, str], lang: Lang, up: str) -> str:
    if not out:
        return word(lang, "no outliers") + "\n"
    rows = []
    for s in _flat(out):
        seen = times(_value(s)) if s.claim.kind == "ratio" else number(_value(s))
        why = word(lang, "is below" if s.claim.kind == "ratio" else "is far")
        rows.append(
            [
                link(claim_href(s.claim, up), code(s.claim.id)),
                md(names[_class(s)]),
                seen,
                md(bound(s.claim, lang)),
                why,
            ]
        )
    return table(
        [word(lang, key) for key in ("claim", "device", "value", "the bound", "outlier")], rows
    )


def _below(standing: Standing) -> bool:
    row, record = standing.row, standing.record
    return row is not None and record is not None and state.below(standing.claim, row, record)


def _class(standing: Standing) -> str:
    return standing.record.device_class if standing.record else ""


def _value(standing: Standing) -> float:
    value = standing.row.value if standing.row else None
    return float(value) if isinstance(value, int | float) else 0.0
