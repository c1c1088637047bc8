"""The MkDocs plugin `proof`: what a build adds to the written pages, for `mkdocs build` as for `proof site`.

MkDocs calls the events in this order: `on_config` reads the book, `on_files` adds what has no file in
docs/<language>, `on_page_markdown` expands the macros of each page, `on_page_content` links terms in its
HTML, `on_post_build` adapts the theme's scripts.
"""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from pathlib import Path

import jieba
import markdown
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import TableOfContents, get_toc

from proof.book import model, translation
from proof.book.archive import DOWNLOAD, exercises_archive, has_exercises
from proof.book.load import load_book
from proof.pages import notebook
from proof.pages.generated import generated
from proof.pages.lab import lab_head, lab_tail
from proof.pages.macros import expand
from proof.pages.notice import notice
from proof.problem import Fault, Problem
from proof.site import assemble, playground
from proof.text import terms

# Who searches for a word wants first what it means, then where it is taught, then where it occurs.
BOOSTS = {
    "glossary": 2.0,
    "lessons": 1.5,
    "labs": 0.7,
    "adr": 0.5,
    "status": 0.5,
    "devices": 0.5,
}
log = get_plugin_logger("proof")
jieba.setLogLevel(logging.WARNING)


class ProofPlugin(BasePlugin):
    """One language of the site. `book` may be set before the build, to read the rooms once for both."""

    def __init__(self) -> None:
        super().__init__()
        self.book: model.Book | None = None
        self.problems: list[Problem] = []  # mistakes in pages, each also a warning in the log

    def on_config(self, config: MkDocsConfig) -> None:
        """Read the book; give English its folder, and the menu the labs and decisions that there are."""
        if self.book is None:
            self.book = load_book(Path(config.config_file_path).parent, datetime.now(UTC).date())
        config.extra["root"] = config.site_url
        if self._lang(config) == "en":
            config.site_url += "en/"
        config.nav = assemble.menu(config.nav, self.book, self._lang(config))
        if self._lang(config) == "zh":
            self._quote_chinese(config)

    @event_priority(100)  # before mkdocs-jupyter looks for notebooks
    def on_files(self, files: Files, config: MkDocsConfig) -> None:
        """Add generated pages, shared assets, records, and each lab as a page and as downloads."""
        root, book = Path(config.config_file_path).parent, self.book
        for path, text in generated(book, self._lang(config)).items():
            files.append(File.generated(config, path, content=text))
        for path in sorted((root / "docs/assets").rglob("*.*")):
            if not _of_playground(path):
                files.append(_file(config, root / "docs", path))
        for path in sorted((root / "labs/records").rglob("*.json")):
            files.append(_file(config, root / "labs", path))
        lang = self._lang(config)
        if lang == "zh":
            _add_playground(files, config, book)
        for stem, lab in book.labs.items():
            page = root / f"build/{lang}/labs/{stem}.ipynb"
            _write(page, notebook.recorded_page(book, lab, lang))
            files.append(_file(config, root / "build" / lang, page))
            downloads = {
                "ipynb": notebook.recorded_notebook(book, lab, lang),
                "py": translation.download(book, lab, lang),
            }
            for kind, text in downloads.items():
                files.append(File.generated(config, f"downloads/{stem}.{kind}", content=text))
        if has_exercises(root):
            files.append(File.generated(config, DOWNLOAD, content=exercises_archive(root)))

    def on_page_markdown(
        self, text: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """The page's text with its macros expanded; as it was written, and a warning, where that fails."""
        name = page.file.src_uri
        room = name.partition("/")[0].removesuffix(".md")
        page.meta.setdefault("search", {})["boost"] = BOOSTS.get(room, 1.0)
        written = self._written(page, config, text)
        up = assemble.up(page.url)
        try:
            return notice(expand(text, written, self.book, up), written, self.book, up)
        except Fault as error:
            self.problems.append(error.problem)
            log.warning(str(error.problem))
            return text

    def on_page_content(
        self, html: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """The page's HTML with its terms linked; a lab's recorded run between what is said of the lab."""
        if page.file.src_uri.endswith(".ipynb"):
            html = self._lab_page(html, page, config)
        _mark_formulas(page.toc)
        glossary = list(self.book.terms.values())
        up = assemble.up(page.url)
        return terms.link_terms(assemble.unindexed(html), glossary, self._lang(config), up)

    def on_post_build(self, config: MkDocsConfig) -> None:
        """Let the theme's scripts load Mermaid from here and search as this course needs it."""
        adapted = {"bundle.*.js": assemble.own_mermaid, "workers/search.*.js": assemble.own_search}
        for pattern, adapt in adapted.items():
            (script,) = Path(config.site_dir, "assets/javascripts").glob(pattern)
            script.write_text(adapt(script.read_text(encoding="utf-8")), encoding="utf-8")

    def _quote_chinese(self, config: MkDocsConfig) -> None:
        """Let snippets of labs/ be read from a copy whose comments are in Chinese."""
        copy = Path(config.config_file_path).parent / "build/zh"
        for name, text in translation.quoted(self.book).items():
            _write(copy / "labs" / name, text)
        options = config.mdx_configs["pymdownx.snippets"]
        options["base_path"] = [str(copy), *options["base_path"]]

    def _lang(self, config: MkDocsConfig) -> model.Lang:
        return config.theme["language"]

    def _written(self, page: Page, config: MkDocsConfig, text: str) -> model.Page:
        """The page as the book has it; a generated one is made up from its text."""
        lang, name = self._lang(config), page.file.src_uri
        for written in self.book.pages:
            if (written.lang, written.name) == (lang, name):
                return written
        path = page.file.abs_src_path or Path(config.config_file_path).parent / name
        return model.Page(lang, name, Path(path), text)

    def _lab_page(self, html: str, page: Page, config: MkDocsConfig) -> str:
        """Head, recorded run and tail of a lab's page, with one table of contents over all three."""
        lab = self.book.labs[Path(page.file.src_uri).stem]
        lang, up = self._lang(config), assemble.up(page.url)
        head, contents = _converted(lab_head(self.book, lab, lang, up), config)
        tail, tail_contents = _converted(lab_tail(self.book, lab, lang, up), config)
        sections = contents.items[0].children  # of the title
        for item in [*page.toc, *tail_contents]:
            sections.extend(item.children if item.level == 1 else [item])
        page.toc = contents
        return head + notebook.slim(html) + tail


def _converted(text: str, config: MkDocsConfig) -> tuple[str, TableOfContents]:
    """HTML and table of contents of a Markdown text, with the extensions of the site."""
    converter = markdown.Markdown(
        extensions=config.markdown_extensions, extension_configs=config.mdx_configs
    )
    return converter.convert(text), get_toc(converter.toc_tokens)


def _mark_formulas(contents: TableOfContents) -> None:
    for item in contents:
        item.title = assemble.formulas(item.title)
        _mark_formulas(item.children)


def _of_playground(path: Path) -> bool:
    """Whether the file is large and for the playground, which lies below the root, once for both languages."""
    return path.parent.name in ("playground", "pyodide", "codemirror")


def _add_playground(files: Files, config: MkDocsConfig, book: model.Book) -> None:
    root = book.root
    for place, text in playground.files(root, book.exercises).items():
        files.append(File.generated(config, place, content=text))
    for place, path in playground.copies(root).items():
        files.append(File.generated(config, place, abs_src_path=str(path)))
    for path in sorted((root / "docs/assets").rglob("*.*")):
        if path.parent.name in ("playground", "codemirror"):
            files.append(_file(config, root / "docs", path))


def _file(config: MkDocsConfig, folder: Path, path: Path) -> File:
    name = path.relative_to(folder).as_posix()
    return File(name, str(folder), config.site_dir, config.use_directory_urls)


def _write(path: Path, text: str) -> None:
    """Whole or not at all, since both languages may write it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)
