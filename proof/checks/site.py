"""The built site, as a browser gets it: foreign hosts, Markdown left raw, links written as HTML, languages, the 404 page.

What MkDocs validates while it builds, the links and anchors of Markdown and the navigation, is left to MkDocs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from proof.problem import Problem

VERBATIM = {
    "code",
    "pre",
    "kbd",
    "samp",
    "svg",
    "math",
    "script",
    "style",
    "textarea",
    "title",
}  # no Markdown is meant
LOADING_ATTRIBUTES = ("src", "srcset", "poster", "data", "href", "xlink:href")
READ = {*LOADING_ATTRIBUTES, "id", "name", "lang", "style"}
LOADING_RELS = {
    "stylesheet",
    "icon",
    "preload",
    "prefetch",
    "modulepreload",
    "preconnect",
    "dns-prefetch",
    "manifest",
}
LOADING_RELS |= {"apple-touch-icon", "mask-icon"}
FOREIGN = re.compile(r"(?:^|(?<=[\s,]))(?:https?:)?//[^\s,]+", re.IGNORECASE)
FOREIGN_IN_CSS = re.compile(
    r"""(?:\burl\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE
)
FOREIGN_IN_SCRIPT = re.compile(
    r"""(?:\bimport\s*\(?|\bfetch\s*\(|\bimportScripts\s*\(|\.src\s*=|\.href\s*=)\s*["'`]((?:https?:)?//[^"'`]+)"""
)
CDN = re.compile(
    r"https?://(?:unpkg\.com|cdn\.jsdelivr\.net|cdnjs\.cloudflare\.com|esm\.sh|fonts\.(?:googleapis|gstatic)\.com)"
    r"/[^\s\"'`<>)\\]+\.(?:m?js|css|woff2?)"
)
LEFT_RAW = {
    "a stray **": re.compile(r"\*\*(?!(?<=\d\*\*)-?\d)"),  # 2**31 is a power
    "a macro": re.compile(r"\{\{"),
    "a snippet": re.compile(r"-{1,}8<-{1,}"),
    "mathematics": re.compile(r"\$\$|\\[(\[]"),
    "a heading's id": re.compile(r"\{:?\s?#[\w.-]+\s?\}"),
    "an admonition": re.compile(r"(?<![^\s>])(?:!!!|\?\?\?\+?) [a-z]"),
}
ANY_LEFT = re.compile("|".join(pattern.pattern for pattern in LEFT_RAW.values()))
ARROW_IN_CODE = re.compile(
    r"^[ \t]*[-–—−]+[ \t]*8[ \t]*[<＜>].*", re.MULTILINE
)  # of a snippet that quotes nothing
ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:|/|#", re.IGNORECASE)


class Page(HTMLParser):
    """One HTML file: what it says of itself, where it leads and what it loads, each with its line."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lang = ""
        self.canonical = ""
        self.alternates: dict[str, str] = {}  # hreflang -> address
        self.anchors: set[str] = set()
        self.links: list[tuple[int, str]] = []  # of <a href>
        self.places: list[tuple[int, str]] = []  # every href and src
        self.foreign: list[
            tuple[int, str]
        ] = []  # addresses with a host that a browser loads unasked
        self.raw: list[tuple[int, str, str]] = []  # line, what, the text around it
        self.words = ""  # outside of code
        self._verbatim = ""  # the element that is not looked into,
        self._depth = 0  # how many of its name are open,
        self._opened = 0  # and the line where it began
        self._code = ""
        self._text = ""  # since the last tag,
        self._line = 0  # and the line where it began
        self.feed(text)
        self.close()
        self._end_text()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_text()
        attributes = {name: value or "" for name, value in attrs}
        if READ.intersection(attributes):
            self._read_attributes(tag, attributes)
        if self._verbatim:
            if tag == self._verbatim:
                self._depth += 1
        elif tag in VERBATIM or "arithmatex" in attributes.get("class", ""):
            self._verbatim, self._depth, self._opened, self._code = tag, 1, self.getpos()[0], ""

    def handle_endtag(self, tag: str) -> None:
        self._end_text()
        if tag != self._verbatim:
            return
        self._depth -= 1
        if self._depth:
            return
        if tag not in ("script", "style"):
            self._find_raw("a snippet", ARROW_IN_CODE, self._code, self._opened)
        self._verbatim = ""

    def handle_data(self, data: str) -> None:
        if not self._text:
            self._line = self.getpos()[0]
        self._text += data  # the parser splits it at a lone <

    def _end_text(self) -> None:
        text, self._text = self._text, ""
        if not text:
            return
        if self._verbatim in ("script", "style"):
            pattern = FOREIGN_IN_SCRIPT if self._verbatim == "script" else FOREIGN_IN_CSS
            for match in pattern.finditer(text):
                self.foreign.append((self._line + text.count("\n", 0, match.start()), match[1]))
        elif self._verbatim:
            self._code += text
        else:
            self.words += text
            if ANY_LEFT.search(text):
                for what, pattern in LEFT_RAW.items():
                    self._find_raw(what, pattern, text, self._line)

    def _read_attributes(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.getpos()[0]
        rels = set(attributes.get("rel", "").lower().split())
        if tag == "html":
            self.lang = attributes.get("lang", "")
        self.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
        self.places += [(line, attributes[name]) for name in ("href", "src") if name in attributes]
        if tag in ("a", "area"):
            if "href" in attributes:
                self.links.append((line, attributes["href"]))
        elif tag != "link" or rels & LOADING_RELS:
            for name in LOADING_ATTRIBUTES:
                self.foreign += [
                    (line, address) for address in FOREIGN.findall(attributes.get(name, ""))
                ]
        elif "canonical" in rels:
            self.canonical = attributes.get("href", "")
        elif "alternate" in rels and "hreflang" in attributes:
            self.alternates[attributes["hreflang"].lower().split("-")[0]] = attributes.get(
                "href", ""
            )
        self.foreign += [
            (line, address) for address in FOREIGN_IN_CSS.findall(attributes.get("style", ""))
        ]

    def _find_raw(self, what: str, pattern: re.Pattern[str], text: str, line: int) -> None:
        for match in pattern.finditer(text):
            around = " ".join(text[max(0, match.start() - 20) : match.end() + 20].split())
            self.raw.append((line + text.count("\n", 0, match.start()), what, around))


class Site:
    """All files of a built site, and the pages among them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
        }
        self.pages = {
            name: Page(self.text(name)) for name in sorted(self.files) if name.endswith(".html")
        }
        home = self.pages["index.html"].canonical if "index.html" in self.pages else ""
        self.base = home.removesuffix("index.html") or "https://site.invalid/"

    def text(self, file: str) -> str:
        return (self.folder / file).read_text(encoding="utf-8", errors="replace")

    def target(self, file: str, address: str) -> tuple[str, str] | None:
        """The file and the id that a link in `file` leads to; None for another host."""
        whole, fragment = urldefrag(urljoin(self.base + file, address.strip()))
        base, url = urlsplit(self.base), urlsplit(whole)
        if (base.scheme, base.netloc) != (url.scheme, url.netloc):
            return None
        path = unquote(url.path).removeprefix(base.path)
        if path.endswith("/") or not path:
            path += "index.html"
        return path, unquote(fragment)


def check_site(folder: Path) -> list[Problem]:
    """Everything wrong with the built site in that folder."""
    site = Site(folder)
    if "index.html" not in site.files:
        return [
            Problem(
                folder.name, 1, "there is no index.html in the site", "Build it first: `make site`"
            )
        ]
    problems: list[Problem] = []
    for file, page in site.pages.items():
        for check in (_foreign, _raw, _dead_links, _languages):
            problems += check(site, file, page)
    return [*problems, *_not_found_pages(site), *_style_sheets_and_scripts(site)]


def _problem(site: Site, file: str, line: int, what: str, fix: str) -> Problem:
    return Problem(f"{site.folder.name}/{file}", line, what, fix)


def _foreign(site: Site, file: str, page: Page) -> Iterator[Problem]:
    for line, address in page.foreign:
        if not address.startswith(site.base):
            yield _loaded_from_elsewhere(site, file, line, address)


def _loaded_from_elsewhere(site: Site, file: str, line: int, address: str) -> Problem:
    fix = "Put a copy into docs/assets and load that"
    return _problem(site, file, line, f"{address} is loaded from another host", fix)


def _raw(site: Site, file: str, page: Page) -> Iterator[Problem]:
    for line, what, around in page.raw:
        fix = "Fix the Markdown, or write it as code if it is meant"
        yield _problem(site, file, line, f"{what} was left raw: “{around}”", fix)


def _dead_links(site: Site, file: str, page: Page) -> Iterator[Problem]:
    """Links as a browser follows them; most are written as HTML by our own generators, which MkDocs does not look into."""
    for line, address in page.links:
        target = site.target(file, address)
        if target is None:
            continue
        name, fragment = target
        if name not in site.files:
            fix = "Fix the link, or build what it leads to"
            yield _problem(
                site, file, line, f"{address} leads to {name}, which does not exist", fix
            )
        elif fragment and name in site.pages and fragment not in site.pages[name].anchors:
            yield _problem(
                site, file, line, f"{address}: {name} has no id {fragment!r}", "Fix the anchor"
            )


def _languages(site: Site, file: str, page: Page) -> Iterator[Problem]:
    """The language that the page names, and that its head leads to both halves (hreflang)."""
    chinese = file.removeprefix("en/")
    halves = {"zh": chinese, "en": f"en/{chinese}"}
    lang = "en" if file.startswith("en/") else "zh"
    if not page.lang.lower().startswith(lang):
        yield _problem(site, file, 1, f"the page says lang={page.lang!r}", f"Its lang is {lang}")
    if chinese == "404.html":
        return
    for other, half in halves.items():
        address = page.alternates.get(other)
        if half not in site.files:
            fix = "Every page exists in both languages"
            yield _problem(site, file, 1, f"the page has no other half, {half}", fix)
        elif address is None:
            fix = "Name both languages in the head of each page"
            yield _problem(site, file, 1, f"the head names no {other} version (hreflang)", fix)
        elif site.target(file, address) != (half, ""):
            fix = "Let it lead to the page's other half"
            yield _problem(
                site, file, 1, f"hreflang {other} leads to {address}, not to {half}", fix
            )


def _not_found_pages(site: Site) -> Iterator[Problem]:
    """Hosts show one page for both languages, at any address."""
    if "404.html" not in site.pages:
        yield _problem(
            site, "404.html", 1, "there is no 404 page", "Hosts serve it for every wrong address"
        )
    for file in ("404.html", "en/404.html"):
        page = site.pages.get(file)
        if page is None:
            continue
        targets = {site.target(file, address) for _, address in page.links}
        for home, lang in (("index.html", "Chinese"), ("en/index.html", "English")):
            if (home, "") not in targets:
                what = f"the 404 page does not link to the {lang} home page"
                yield _problem(site, file, 1, what, "It serves both languages")
        chinese, english = (
            re.findall(r"[\u3400-\u9fff]", page.words),
            re.findall(r"[A-Za-z]{2,}", page.words),
        )
        if len(chinese) < 4 or len(english) < 4:
            fix = "Hosts show one page for both: say it in both"
            yield _problem(site, file, 1, "the 404 page does not speak both languages", fix)
        for line, address in page.places:
            if not ABSOLUTE.match(address):
                fix = "Write it from the root of the host: the server shows this page at every address"
                yield _problem(
                    site, file, line, f"{address} is relative on a page that has no place", fix
                )


def _style_sheets_and_scripts(site: Site) -> Iterator[Problem]:
    for file in sorted(site.files):
        if file.endswith(".css"):
            text = site.text(file)
            for match in FOREIGN_IN_CSS.finditer(text):
                yield _loaded_from_elsewhere(
                    site, file, text.count("\n", 0, match.start()) + 1, match[1]
                )
        elif file.endswith((".js", ".mjs")):
            text = site.text(file)
            for match in CDN.finditer(text):
                fix = "Serve a copy from this site and name that"
                line = text.count("\n", 0, match.start()) + 1
                yield _problem(site, file, line, f"the script knows {match[0]}", fix)
