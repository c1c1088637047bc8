"""Runs MkDocs for one language, and the server that shows both. Another engine would be put in here."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

os.environ["NO_MKDOCS_2_WARNING"] = (
    "1"  # the theme's end of life is known; see the decision about the site
)

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException
from mkdocs.livereload import LiveReloadServer

from proof.book.model import Book, Lang
from proof.problem import Problem
from proof.site.assemble import complaint

CONFIG: dict[Lang, str] = {"zh": "mkdocs.yml", "en": "mkdocs.en.yml"}


class _Listener(logging.Handler):
    """Keeps what MkDocs and its plugins warn about."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message not in self.messages and record.name != "mkdocs.plugins.proof":
            self.messages.append(message)


def build_language(book: Book, lang: Lang, out: Path, site_url: str | None) -> list[Problem]:
    """Builds one language into `out` and returns what is wrong with it. `site_url` is the root of the whole site."""
    listener, log = _Listener(), logging.getLogger("mkdocs")
    problems: list[Problem] = []
    log.addHandler(listener)
    log.propagate = False
    try:
        config = load_config(
            str(book.root / CONFIG[lang]), site_dir=str(out), site_url=site_url or None
        )
        plugin = config.plugins["proof"]
        plugin.book, problems = book, plugin.problems
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
    except (Exception, MkDocsException) as error:
        if not listener.messages or str(error) not in listener.messages[-1]:
            listener.messages.append(str(error) or type(error).__name__)
    finally:
        log.removeHandler(listener)
        log.propagate = True
    return problems + [complaint(message, book.root, lang) for message in listener.messages]


class _Server(LiveReloadServer):
    """Says when it can be reached."""

    ready: Callable[[], None]

    def server_activate(self) -> None:
        super().server_activate()
        self.ready()


def serve(
    host: str,
    port: int,
    root: Path,
    rebuild: Callable[[], None],
    watch: list[Path],
    ready: Callable[[], None],
) -> None:
    """Serves `root`, calls rebuild() when a watched file changes, then reloads the browsers. Ends with Ctrl-C."""
    live = _Server(builder=rebuild, host=host, port=port, root=str(root))
    live.ready = ready
    live.error_handler = lambda code: (
        page.read_bytes() if (page := root / f"{code}.html").is_file() else None
    )
    for path in watch:
        live.watch(str(path))
    try:
        live.serve()
    except KeyboardInterrupt:
        pass
    finally:
        live.shutdown()
