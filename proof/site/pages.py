"""Turns the text of a page into what readers see: macros, lab pages, terms."""

from __future__ import annotations

from pathlib import Path

import markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc

from proof.book import model
from proof.pages import notebook
from proof.pages.lab import lab_head, lab_tail
from proof.pages.macros import expand
from proof.pages.notice import notice
from proof.problem import Fault
from proof.site import assemble
from proof.text import terms

# In search, who looks for a word wants what it means, then where it is taught, and only then where it occurs.
BOOSTS = {"glossary": 2.0, "lessons": 1.5, "labs": 0.7, "adr": 0.5, "status": 0.5, "devices": 0.5}


def on_page_markdown(text: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    book, lang, name = config.extra["book"], config.theme["language"], page.file.src_uri
    page.meta.setdefault("search", {})["boost"] = BOOSTS.get(name.partition("/")[0].removesuffix(".md"), 1.0)
    path = Path(page.file.abs_src_path or Path(config.config_file_path).parent / name)
    written = next((p for p in book.pages if (p.lang, p.name) == (lang, name)), model.Page(lang, name, path, text))
    try:
        up = assemble.up(page.url)
        return notice(expand(text, written, book, up), written, book, up)
    except Fault as error:
        config.extra["problems"].append(error.problem)
        return text


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    book, lang, up = config.extra["book"], config.theme["language"], assemble.up(page.url)
    if page.file.src_uri.endswith(".ipynb"):
        html = _lab_page(html, book, book.labs[Path(page.file.src_uri).stem], page, config)
    _mark_formulas(page.toc)
    return terms.link_terms(assemble.unindexed(html), list(book.terms.values()), lang, up)


def _lab_page(html: str, book: model.Book, lab: model.Lab, page: Page, config: MkDocsConfig) -> str:
    """The recorded run between its head and tail, with one table of contents over all three."""
    lang, up = config.theme["language"], assemble.up(page.url)
    parts = []
    for part in (lab_head, lab_tail):
        md = markdown.Markdown(extensions=config.markdown_extensions, extension_configs=config.mdx_configs)
        parts.append((md.convert(part(book, lab, lang, up)), get_toc(md.toc_tokens)))
    (head, contents), (tail, more) = parts
    sections = contents.items[0].children  # of the title
    for item in [*page.toc, *more]:
        sections.extend(item.children if item.level == 1 else [item])
    page.toc = contents
    return head + notebook.slim(html) + tail


def _mark_formulas(contents) -> None:
    for item in contents:
        item.title = assemble.formulas(item.title)
        _mark_formulas(item.children)
