"""The built site, and small ones to plant faults in. A test of the built site asks for `built`, one in Chromium for `visit`."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import chromium
import pytest

from proof import site
from proof.model import LANGS, Problem

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "/course/"  # every test sees the site below a path, as many hosts show it
NAV = """nav:
  - {home}: index.md
{more}  - {labs}:
      - labs/*
  - {status}: status.md
  - {terms}: glossary/index.md
  - {decisions}:
      - adr/index.md
      - adr/*
"""
WORDS = {
    "zh": dict(home="首页", labs="实验", status="论断", terms="术语", decisions="决策"),
    "en": dict(home="Home", labs="Labs", status="Claims", terms="Glossary", decisions="Decisions"),
}


@dataclass
class Site:
    """A build, served at `url` as long as the tests run."""

    out: Path
    url: str
    problems: list[Problem] = field(default_factory=list)

    @property
    def pages(self) -> list[str]:
        """The addresses of the pages of both languages, from the root: "", "en/", "lessons/x/", …"""
        return sorted(p.relative_to(self.out).as_posix().removesuffix("index.html") for p in self.out.rglob("index.html"))

    def read(self, path: str) -> str:
        return (self.out / path).read_text(encoding="utf-8")


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder at PREFIX and answers what it lacks with the root's 404.html, as hosts do."""

    protocol_version = "HTTP/1.1"

    def translate_path(self, path: str) -> str:
        path = urlsplit(path).path
        if not path.startswith(PREFIX):
            return "/nowhere"
        return super().translate_path(path.removeprefix(PREFIX.rstrip("/")))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        body = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path, str], Site]]:
    """served(root, name): the site of the project at `root`, built strictly and served."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def build_and_serve(root: Path, name: str) -> Site:
        out = tmp_path_factory.mktemp(name)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=str(out)))
        servers.append(server)
        url = f"http://127.0.0.1:{server.server_port}{PREFIX}"
        problems = site.build(root, out=out, site_url=url)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return Site(out, url, problems)

    yield build_and_serve
    for server in servers:
        server.shutdown()


@pytest.fixture(scope="session")
def built(served) -> Site:
    """The site of the tree as it is."""
    return served(ROOT, "site")


def equip(project, **more: str) -> None:
    """Give a tiny project what a build needs: this site's configuration with a short menu, its templates and scripts.

    `more` holds further lines of the menu: equip(tiny, zh="  - 页: page.md\\n", en="  - Page: page.md\\n").
    """
    for name in ("proof", "docs/overrides", "docs/assets"):
        (project.root / name).symlink_to(ROOT / name)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / name, project.root)
    for lang in LANGS:
        name = f"mkdocs{'' if lang == 'zh' else '.en'}.yml"
        nav = NAV.format(more=more.get(lang, ""), **WORDS[lang])
        text, count = re.subn(r"^nav:.*?\n(?=\n\w)", nav, (ROOT / name).read_text(encoding="utf-8"), flags=re.M | re.S)
        assert count == 1
        project.write(name, text)


@pytest.fixture
def plant(tiny, tmp_path: Path):
    """plant(): a tiny project with a menu, and build(): what a strict build of it says, and where it is."""
    equip(tiny)

    def build(strict: bool = True) -> Site:
        out = tmp_path / "out"
        return Site(out, "", site.build(tiny.root, strict, out, "https://example.org/course/"))

    tiny.build = build
    return tiny


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What shares the build or the browser runs in one worker."""
    for item in items:
        if {"built", "planted"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.xdist_group("site"))


# Chromium


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    path = chromium.find()
    if path is None:
        pytest.fail(chromium.HOW, pytrace=False)
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=flags)
        yield running
        running.close()


class Visitor:
    """A tab that can reach no other host, and that remembers every complaint and every try to leave its site."""

    def __init__(self, browser, site: Site, **options) -> None:
        self.site = site
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.context.set_default_timeout(10_000)
        # Material draws Mermaid into a closed shadow root: opened, tests can look inside.
        self.context.add_init_script(
            "const attach = Element.prototype.attachShadow;"
            "Element.prototype.attachShadow = function() { return attach.call(this, {mode: 'open'}) }"
        )
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self.page = self.context.new_page()
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.complaints.append(f"{self.page.url}: {error}"))
        self.page.on("console", self._heard)

    def _asked(self, request) -> None:
        if not request.url.startswith((self.site.url, "data:", "blob:", "file:")):
            self.foreign.append(request.url)

    def _heard(self, message) -> None:
        if message.type == "error":
            self.complaints.append(f"{self.page.url}: {message.text}")

    def go(self, path: str):
        self.page.goto(self.site.url + path)
        return self.page

    def settled(self) -> None:
        """Until every formula and every diagram of the page is drawn."""
        self.page.wait_for_function(
            "[...document.querySelectorAll('.arithmatex')].every(e => e.querySelector('.katex')) &&"
            "[...document.querySelectorAll('.diagram')].every(e => e.querySelector('div.mermaid')?.shadowRoot?.querySelector('svg'))"
        )


@pytest.fixture
def visit(browser):
    """visit(site, **context options): a Visitor, which must end with no complaint and no try to leave the site."""
    visitors: list[Visitor] = []

    def start(site: Site, **options) -> Visitor:
        visitors.append(Visitor(browser, site, **options))
        return visitors[-1]

    yield start
    for visitor in visitors:
        visitor.context.close()
        assert not visitor.foreign
        assert not visitor.complaints
