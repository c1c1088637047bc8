"""Which page uses what, and the table of all claims."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache

from proof import labpage
from proof.figures import (
    badge,
    bound,
    device_short,
    md,
    page_href,
    recorded_on,
    shown_value,
    source_link,
    table,
    versions,
)
from proof.macros import PageError, blank_quoted, calls, citations
from proof.model import Book, Lang, Page, Standing
from proof.terms import mentioned
from proof.words import word


def uses(book: Book) -> dict[str, list[Page]]:
    """Claim, break and source ids → the pages that use them. A page that cannot be read uses nothing."""
    found: dict[str, list[Page]] = {}
    for page in book.pages:
        try:
            here = list(calls(page.text, page.name))
        except PageError:
            continue
        for call in here:
            for room, cited in citations(call.name, call.args, call.options):
                id = {
                    "claim": cited,
                    "break": f"{cited.removesuffix('.break')}.break",
                    "source": f"source.{cited}",
                }.get(room)
                if id and page not in found.setdefault(id, []):
                    found[id].append(page)
    return found


def term_uses(book: Book) -> dict[str, list[Page]]:
    """Term ids → the pages whose prose names the term or links it."""
    found = book.named
    if found:
        return found
    for page in book.pages:
        prose = re.sub(r"^[ \t>]*#{1,6} .*$", "", blank_quoted(_body(page.text)), flags=re.M)
        ids = mentioned(prose, list(book.terms.values()), page.lang)
        with suppress(PageError):  # the page's own expansion says so
            ids |= {call.args[0] for call in calls(page.text, page.name) if call.name == "term" and call.args}
        for id in sorted(ids):
            found.setdefault(id, []).append(page)
    return found


def _body(text: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)


@cache
def page_title(page: Page) -> str:
    """The first heading of a page, without its attributes and marks of code; the file name if it has none."""
    seen = blank_quoted(page.text)
    found = re.search(r"^# .+$", seen, re.M)
    if not found:
        return page.name
    written = page.text[found.start() : found.end()]  # blanking keeps every place
    return re.sub(r"[ \t]*\{[^{}]*\}[ \t]*$", "", written[2:]).strip().replace("`", "")


def page_links(pages: list[Page], up: str) -> str:
    """Links to pages of one language."""
    links = [f'<a href="{md(page_href(page.name, up))}">{md(page_title(page))}</a>' for page in pages]
    return word(pages[0].lang, "comma").join(links) if links else ""


def status_table(book: Book, standings: list[Standing], lang: Lang, up: str) -> str:
    """One row per claim: id and kind, value, bound, where and when it was measured, the pages that use it, state."""
    used, rows = uses(book), []
    for standing in standings:
        told, record = standing.claim, standing.record
        if told.kind == "source":
            name, value, limit = source_link(book.sources[told.id.removeprefix("source.")], lang), "–", "–"
        else:
            name, value, limit = labpage.claim_cell(told, up), shown_value(standing, lang), md(bound(told, lang))
        measured = "–"
        if record is not None:
            age = word(lang, "days", n=(book.today - recorded_on(record)).days)
            device, day = md(device_short(record, lang, told.judges)), md(f"{recorded_on(record)} · {age}")
            measured = f"{device}<br><small>{md(versions(record))}<br>{day}</small>"
        pages = [page for page in used.get(told.id, ()) if page.lang == lang]
        kind = f"<br><small>{md(word(lang, f'kind-{told.kind}'))}</small>"
        rows.append([name + kind, value, limit, measured, page_links(pages, up) or "–", badge(standing, lang)])
    keys = ("claim", "value", "the bound", "measured", "pages", "state")
    return table([word(lang, key) for key in keys], rows)
