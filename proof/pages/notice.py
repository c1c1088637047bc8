"""The notice on a page whose other language has changed since both agreed."""

from __future__ import annotations

from proof.book.model import LANGS, Book, Page
from proof.pages.format import link, page_href
from proof.pages.words import word
from proof.text import parity as sidecars
from proof.text.markdown import read


def notice(text: str, page: Page, book: Book, up: str) -> str:
    """The page's Markdown, with a notice below its title where only the other language has changed since both agreed.

    `up` is the relative way to the root of the page's language.
    """
    other = LANGS[1 - LANGS.index(page.lang)]
    pair = sidecars.pair(book, page.name)
    if pair is None or pair.synced is None or pair.changed != [other]:
        return text
    there = link(
        page_href(page.name, up + {"zh": "en/", "en": "../"}[page.lang]),
        word(page.lang, "other edition"),
    )
    told = word(page.lang, "lags", other=there, on=pair.synced.synced_on)
    lines = text.split("\n")
    title = next((heading.line for heading in read(text).headings if heading.level == 1), 0)
    lines[title:title] = ["", f'!!! warning "{word(page.lang, "may lag")}"', "", f"    {told}", ""]
    return "\n".join(lines)
