"""What the fixtures beside this file hand out: a built site, how to make a small one, a tab that looks at one."""

from __future__ import annotations

import http.server
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from proof.book.model import LANGS
from proof.problem import Problem

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "/course/"  # every test sees the site below a path, as many hosts show it
NAV = """nav:
  - {home}: index.md
{more}  - {labs}:
      - labs/*
  - {status}: status.md
  - {devices}: devices.md
  - {terms}: glossary/index.md
  - {decisions}:
      - adr/index.md
      - adr/*
"""
WORDS = {
    "zh": dict(
        home="首页", labs="实验", status="论断", devices="设备", terms="术语", decisions="决策"
    ),
    "en": dict(
        home="Home",
        labs="Labs",
        status="Claims",
        devices="Devices",
        terms="Glossary",
        decisions="Decisions",
    ),
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
        return sorted(
            p.relative_to(self.out).as_posix().removesuffix("index.html")
            for p in self.out.rglob("index.html")
        )

    def read(self, path: str) -> str:
        return (self.out / path).read_text(encoding="utf-8")


class Handler(http.server.SimpleHTTPRequestHandler):
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


def equip(project, **more: str) -> None:
    """Give a tiny project what a build needs: this site's configuration with a short menu, its theme and scripts.

    `more` holds further lines of the menu: equip(tiny, zh="  - 页: page.md\\n", en="  - Page: page.md\\n").
    """
    for name in ("docs/overrides", "docs/assets"):
        (project.root / name).symlink_to(ROOT / name)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(ROOT / name, project.root)
    for lang in LANGS:
        name = f"mkdocs{'' if lang == 'zh' else '.en'}.yml"
        nav = NAV.format(more=more.get(lang, ""), **WORDS[lang])
        text, count = re.subn(
            r"^nav:.*?\n(?=\n\w)", nav, (ROOT / name).read_text(encoding="utf-8"), flags=re.M | re.S
        )
        assert count == 1
        project.write(name, text)


class Visitor:
    """A tab that can reach no other host, and that remembers every complaint and every try to leave its site."""

    def __init__(self, browser, site: Site, **options) -> None:
        self.site = site
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, **options}
        )
        self.context.set_default_timeout(
            300_000
        )  # ends a test that hangs; a busy machine is no failure
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
            "() => [...document.querySelectorAll('.arithmatex')].every(e => e.querySelector('.katex')) &&"
            "[...document.querySelectorAll('.diagram')].every(e => e.querySelector('div.mermaid')?.shadowRoot?.querySelector('svg'))"
        )
