"""The status page: every claim, where it was measured, and the pages that use it."""

from __future__ import annotations

from proof.book.model import Book, Lang, Standing
from proof.evidence import order, state
from proof.pages import lab as labpage
from proof.pages.format import (
    badge,
    bound,
    device_short,
    md,
    page_links,
    recorded_on,
    shown_value,
    source_link,
    table,
    versions,
)
from proof.pages.words import word
from proof.text.uses import uses


def status_table(book: Book, standings: list[Standing], lang: Lang, up: str) -> str:
    """One row per claim: id and kind, value, bound, where and when it was measured, the pages that use it, state."""
    used, rows = uses(book), []
    for standing in standings:
        told, record = standing.claim, standing.record
        if told.kind == "source":
            name, value, limit = (
                source_link(book.sources[told.id.removeprefix("source.")], lang),
                "–",
                "–",
            )
        else:
            name, value, limit = (
                labpage.claim_cell(told, up),
                shown_value(standing, lang),
                md(bound(told, lang)),
            )
        measured = "–"
        if record is not None:
            age = word(lang, "days", n=(book.today - recorded_on(record)).days)
            device, day = (
                md(device_short(record, lang, told.judges)),
                md(f"{recorded_on(record)} · {age}"),
            )
            measured = f"{device}<br><small>{md(versions(record))}<br>{day}</small>"
        pages = [page for page in used.get(told.id, ()) if page.lang == lang]
        kind = f"<br><small>{md(word(lang, f'kind-{told.kind}'))}</small>"
        rows.append(
            [
                name + kind,
                value,
                limit,
                measured,
                page_links(pages, up) or "–",
                badge(standing, lang),
            ]
        )
    keys = ("claim", "value", "the bound", "measured", "pages", "state")
    return table([word(lang, key) for key in keys], rows)


def status_page(book: Book, lang: Lang) -> str:
    """/status/: every claim, worst state first."""
    up = "../"
    ids = order.claims(book)
    standings = [state.standing(book, id) for id in ids]
    parts = [f"# {word(lang, 'status')} {{ #status }}\n", word(lang, "status intro") + "\n"]
    parts.append(labpage.counts_line(labpage.counts(book, ids), lang) + "\n")
    for name in labpage.STATES:
        if here := [standing for standing in standings if standing.state == name]:
            parts += [f"## {word(lang, name)} {{ #{name} }}\n", status_table(book, here, lang, up)]
    return "\n".join(parts)
