"""Builds the site, both languages, and serves it while one writes."""

from __future__ import annotations

import html
import os
import shutil
import signal
import socket
import sys
import tempfile
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from proof.book.load import load_book
from proof.checks import rules as check
from proof.problem import Problem
from proof.site import csp as policy
from proof.site import vendor

WATCHED = ("docs", "labs", "play", "glossary", "adr", "mkdocs.yml", "mkdocs.en.yml")


def build(
    root: Path, strict: bool = True, out: Path | None = None, site_url: str | None = None
) -> list[Problem]:
    """Builds Chinese into `out` (site/) and English into `out`/en, and returns what is wrong, each with file and line.

    `site_url` is the address of the root, from SITE_URL if not given. A strict build also runs every check of the rooms
    before, and of the built pages after unless one of them could not be made; it also forbids pages to run what is not
    theirs, which the reload of `serve` would be.
    """
    from proof.site import (
        engine,
    )  # MkDocs takes a second to import, and `proof status` does not need it

    try:
        vendor.vendor(root)
    except vendor.VendorError as error:
        return [Problem("package-lock.json", 1, str(error), "Then run it again")]
    out, site_url = out or root / "site", site_url or os.environ.get("SITE_URL")
    book = load_book(root, datetime.now(UTC).date())
    problems = [*book.problems, *(check.check(book) if strict else [])]
    unmade = engine.build_language(book, "zh", out, site_url)  # first, since it empties `out`
    unmade += engine.build_language(book, "en", out / "en", site_url)
    if strict and not unmade:
        policy.protect(out)
        problems += check.check_site(out)
    return list(dict.fromkeys(problems + unmade))


def serve(root: Path, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Builds, prints one address, and shows both languages there; what changes is built again and the browser reloads.

    Mistakes are named in the terminal. Where they leave no site to show, the last one stays in view.
    """
    from proof.site import engine

    port = free_port(host, port)
    url = f"http://{host}:{port}/"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as folder:
        shown = Path(
            folder, "shown"
        )  # a link to the newest whole site, so that it can be put in place at once
        builds = (Path(folder, str(number)) for number in count())

        def rebuild() -> None:
            out = next(builds)
            problems = build(root, strict=False, out=out, site_url=url)
            for problem in problems:
                print(problem, file=sys.stderr, flush=True)
            if not ((out / "index.html").is_file() and (out / "en/index.html").is_file()):
                if shown.exists():
                    return
                out.mkdir(exist_ok=True)
                text = "<meta charset=utf-8><pre>" + html.escape("\n".join(map(str, problems)))
                (out / "index.html").write_text(text, encoding="utf-8")
            before = shown.resolve() if shown.exists() else None
            link = Path(folder, "link")
            link.symlink_to(out)
            link.replace(shown)
            if before:
                shutil.rmtree(before)

        print("building both languages …", flush=True)
        rebuild()
        watch = [root / name for name in WATCHED if (root / name).exists()]
        engine.serve(
            host, port, shown, rebuild, watch, lambda: print(f"{url} (Ctrl-C ends)", flush=True)
        )


def free_port(host: str, port: int) -> int:
    """`port`, or the next one that nobody listens on."""
    for candidate in range(port, port + 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
                return candidate
            except OSError:
                continue
    raise OSError(f"no free port between {port} and {port + 99}")
