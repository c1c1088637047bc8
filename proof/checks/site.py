"""The built site, as a browser gets it: links and anchors, foreign hosts, languages, and Markdown that was left raw."""

from __future__ import annotations

import html
import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from proof.problem import Problem

TAG = re.compile(r"""<!--[\s\S]*?-->|<(/?)([A-Za-z][\w:-]*)((?:[^"'>]++|"[^"]*+"|'[^']*+')*+)>""")
ATTRIBUTE = re.compile(r"""([^\s"'=<>/]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
WANTED = re.compile(r"(?<![\w-])(?:id|href|src|srcset|poster|data|lang|hreflang|name|style)\s*=|arithmatex")
RAW = ("script", "style", "textarea", "title")  # what HTML does not look into
VERBATIM = ("code", "pre", "kbd", "samp", "svg", "math")  # where no Markdown is meant
LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "track": ("src",),
    "input": ("src",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
}
LOADING_RELS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
LOADING_RELS |= {"shortcut", "apple-touch-icon", "mask-icon"}
LEFT_RAW = {
    r"\*\*(?!(?<=\d\*\*)-?\d)": "a stray **",  # 2**31 is a power
    r"\{\{": "a macro",
    r"-{1,}8<-{1,}": "a snippet",
    r"\$\$|\\[(\[]": "mathematics",
    r"\{:?\s?#[\w.-]+\s?\}": "a heading's id",
    r"(?<![^\s>])(?:!!!|\?\?\?\+?) [a-z]": "an admonition",
}
LEFT = re.compile("|".join(f"({pattern})" for pattern in LEFT_RAW))
LEFT_IN_CODE = re.compile(r"^[ \t]*[-–—−]+[ \t]*8[ \t]*[<＜>].*", re.MULTILINE)  # an arrow that quotes nothing
CSS_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)|@import\s+(?:"([^"]*)"|'([^']*)')""")
SCRIPT_LOAD = re.compile(
    r"""(?:\bimport\s*\(?|\bfetch\s*\(|\bimportScripts\s*\(|\.src\s*=|\.href\s*=)\s*["'`](https?:)?//[^"'`]+"""
)
CDN = re.compile(
    r"https?://(?:unpkg\.com|cdn\.jsdelivr\.net|cdnjs\.cloudflare\.com|esm\.sh|fonts\.(?:googleapis|gstatic)\.com)"
    r"/[^\s\"'`<>)\\]+\.(?:m?js|css|woff2?)"
)


@dataclass
class Html:
    """What one file of the site says; every position is an offset into its text."""

    file: str  # below the site's folder
    text: str
    lang: str | None = None
    ids: list[tuple[int, str]] = field(default_factory=list)
    links: list[tuple[int, str, bool]] = field(default_factory=list)  # address, and whether a browser loads it unasked
    alternates: dict[str, str] = field(default_factory=dict)
    canonical: str = ""
    raw: list[tuple[int, str, str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    words: str = ""  # of the 404 pages only

    @cached_property
    def anchors(self) -> set[str]:
        return {name for _, name in self.ids} | self.names

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, position: int) -> int:
        return bisect_right(self._starts, position)


def check_site(site_dir: Path, base: str | None = None) -> list[Problem]:
    """Everything wrong with the built site in `site_dir`; `base` is its address, else the home page's canonical one."""
    site_dir = Path(site_dir)
    files = {path.relative_to(site_dir).as_posix() for path in site_dir.rglob("*") if path.is_file()}
    if "index.html" not in files:
        return [Problem(site_dir.name, 1, "there is no index.html in the site", "Build it first: `make site`")]
    pages = {
        name: parse(name, (site_dir / name).read_text(encoding="utf-8", errors="replace"))
        for name in sorted(files)
        if name.endswith(".html")
    }
    site = _Site(site_dir, files, pages, base or re.sub(r"index\.html$", "", pages["index.html"].canonical))
    found: list[Problem] = []
    for page in pages.values():
        for position, what, fix in [*site.links(page), *_ids(page), *_raw(page), *site.languages(page)]:
            found.append(Problem(f"{site_dir.name}/{page.file}", page.line(position), what, fix))
    for file, line, what, fix in [*site.not_found_pages(), *site.other_files()]:
        found.append(Problem(f"{site_dir.name}/{file}", line, what, fix))
    return found


def parse(file: str, text: str) -> Html:
    """Read one HTML file in a single pass."""
    page = Html(file, text)
    inside, depth, position, is_404 = "", 0, 0, posixpath.basename(file) == "404.html"
    anything_left, words = LEFT.search(html.unescape(text)), []
    opened = 0  # where the element began that is not looked into
    while tag := TAG.search(text, position):
        if not inside:
            between = text[position : tag.start()]
            if anything_left:
                _leave(page, position, between)
            if is_404:
                words.append(between)
        position = tag.end()
        if tag[2] is None:
            continue
        name, attributes = tag[2].lower(), tag[3]
        if tag[1]:
            depth -= name == inside
            if inside and not depth:
                _arrows_in_code(page, opened, text[opened : tag.start()])
                inside = ""
            continue
        values = {}
        if attributes and WANTED.search(attributes):
            values = {key.lower(): html.unescape(a or b or c) for key, a, b, c in ATTRIBUTE.findall(attributes)}
            _take(page, name, values, tag.start())
        if name in RAW:
            end = re.compile(f"</{name}", re.IGNORECASE).search(text, position)
            stop = end.start() if end else len(text)
            _script_or_style(page, name, text[position:stop], position)
            position = stop
        elif inside:
            depth += name == inside and not attributes.endswith("/")
        elif (name in VERBATIM or "arithmatex" in values.get("class", "")) and not attributes.endswith("/"):
            inside, depth, opened = name, 1, tag.end()
    page.words = html.unescape(" ".join(words))
    return page


def _leave(page: Html, position: int, between: str) -> None:
    """Note the Markdown in a text between tags, with its entities read as the characters that readers see."""
    shown = html.unescape(between)
    for left in LEFT.finditer(shown):
        around = " ".join(shown[max(0, left.start() - 20) : left.end() + 20].split())
        place = position + _line_start(between, shown.count("\n", 0, left.start()))
        page.raw.append((place, list(LEFT_RAW.values())[left.lastindex - 1], around))


def _arrows_in_code(page: Html, position: int, code: str) -> None:
    """Note the lines of code that begin with an arrow: a snippet that was not put in."""
    if "8" not in code or not ("&lt;" in code or "&gt;" in code or "＜" in code):
        return
    shown = html.unescape(TAG.sub("", code))
    for arrow in LEFT_IN_CODE.finditer(shown):
        place = position + _line_start(code, shown.count("\n", 0, arrow.start()))
        page.raw.append((place, "a snippet", arrow[0].strip()))


def _line_start(text: str, lines: int) -> int:
    """The offset behind so many line ends, or behind as many as there are."""
    return sum(len(line) for line in text.splitlines(keepends=True)[:lines])


def _take(page: Html, name: str, values: dict[str, str], position: int) -> None:
    if name == "html":
        page.lang = values.get("lang")
    if "id" in values:
        page.ids.append((position, values["id"]))
    if name == "a" and "name" in values:
        page.names.add(values["name"])
    if name in ("a", "area") and "href" in values:
        page.links.append((position, values["href"], False))
    if name == "link" and "href" in values:
        rels = set(values.get("rel", "").lower().split())
        if "hreflang" in values and "alternate" in rels:
            page.alternates[values["hreflang"]] = values["href"]
        if "canonical" in rels:
            page.canonical = values["href"]
        page.links.append((position, values["href"], bool(rels & LOADING_RELS)))
    for key in LOADED.get(name, ()):
        if key in values:
            addresses = (
                [part.split()[0] for part in values[key].split(",") if part.split()]
                if key == "srcset"
                else [values[key]]
            )
            page.links.extend((position, address, True) for address in addresses)
    if "style" in values:
        page.links.extend((position, address, True) for address in css_addresses(values["style"]))


def _script_or_style(page: Html, name: str, content: str, position: int) -> None:
    if name == "style":
        page.links.extend((position, address, True) for address in css_addresses(content))
    elif name == "script":
        for match in SCRIPT_LOAD.finditer(content):
            address = re.search(r"(https?:)?//[^\"'`]+", match[0])
            page.links.append((position + match.start(), address[0], True))


def css_addresses(css: str) -> Iterator[str]:
    """The addresses that a style sheet loads."""
    for match in CSS_URL.finditer(css):
        if address := next((group for group in match.groups() if group), ""):
            yield address


def _ids(page: Html) -> Iterable[tuple[int, str, str]]:
    seen: dict[str, int] = {}
    for position, name in page.ids:
        if not name.strip():
            yield position, "this id is empty", "Give the heading or the element an id"
        elif name in seen:
            yield (
                position,
                f"the id {name!r} is taken by line {page.line(seen[name])}",
                "An id names one place of a page",
            )
        seen.setdefault(name, position)


def _raw(page: Html) -> Iterable[tuple[int, str, str]]:
    for position, what, around in page.raw:
        yield position, f"{what} was left raw: “{around}”", "Fix the Markdown, or write it as code if it is meant"


@dataclass
class _Site:
    folder: Path
    files: set[str]
    pages: dict[str, Html]
    base: str  # https://host/sub/path/

    @cached_property
    def folded(self) -> dict[str, str]:
        return {name.casefold(): name for name in self.files}

    @cached_property
    def root(self) -> str:
        """The path of the site on its host: /sub/path/."""
        match = re.match(r"https?://[^/]+(/.*)?$", self.base)
        return (match[1] or "/") if match else "/"

    def resolve(self, address: str, file: str) -> tuple[str, str] | None:
        """The file of the site and the fragment that an address in `file` leads to; None for another host."""
        address = address.strip()
        path, _, fragment = address.partition("#")
        path = path.partition("?")[0]
        if self.base and path.startswith(self.base):
            path = path[len(self.base) :]
        elif self.base and path + "/" == self.base:
            path = ""
        elif re.match(r"(?i)[a-z][a-z0-9+.-]*:|//", path):
            return None
        elif path.startswith("/"):
            path = path[len(self.root) :] if path.startswith(self.root) else path + "/" * (path == "/")
        elif path:
            path = posixpath.join(posixpath.dirname(file), path)
        else:
            return file, unquote(fragment)
        path = unquote(path)
        name = posixpath.normpath(path) if path else "."
        if path.endswith("/") or name == "." or (name not in self.files and f"{name}/index.html" in self.files):
            name = posixpath.normpath(posixpath.join(name, "index.html"))
        return name, unquote(fragment)

    def links(self, page: Html) -> Iterable[tuple[int, str, str]]:
        wandering = posixpath.basename(page.file) == "404.html"
        for position, address, loaded in page.links:
            if fault := self.fault(address, page.file, loaded):
                yield position, *fault
            elif wandering and not re.match(r"(?i)[a-z]+:|/|#", address):
                fix = "Write it from the root of the host: the server shows this page at every address"
                yield position, f"{address} is relative on a page that has no place", fix

    def fault(self, address: str, file: str, loaded: bool) -> tuple[str, str] | None:
        """What is wrong with an address in `file`, and how to fix it."""
        target = self.resolve(address, file)
        if target is None:
            if loaded and re.match(r"(?i)(https?:)?//", address.strip()):
                return f"{address} is loaded from another host", "Put a copy into docs/assets and load that"
            return None
        name, fragment = target
        if name.startswith(("/", "..")):
            return f"{address} leads out of the site, which lies at {self.root}", "Write it relative to the page"
        if name not in self.files:
            if same := self.folded.get(name.casefold()):
                return f"{address} has the wrong case: the file is {same}", "Write it as the listing shows it"
            return f"{address} leads to {name}, which does not exist", "Fix the link, or build what it leads to"
        text_fragment = fragment.startswith(":~:")
        if fragment and not text_fragment and name in self.pages and fragment not in self.pages[name].anchors:
            return f"{address}: {name} has no id {fragment!r}", "Fix the anchor"
        return None

    def languages(self, page: Html) -> Iterable[tuple[int, str, str]]:
        english = page.file.startswith("en/")
        wanted, twin = ("en", page.file.removeprefix("en/")) if english else ("zh", f"en/{page.file}")
        if not (page.lang or "").lower().startswith(wanted):
            yield (
                0,
                f"the page says lang={page.lang!r}",
                f"It is {'English' if english else 'Chinese'}: lang is {wanted}",
            )
        if posixpath.basename(page.file) == "404.html":
            return
        if twin not in self.files:
            yield 0, f"the page has no other half, {twin}", "Every page exists in both languages"
            return
        spoken = {lang.lower().split("-")[0]: address for lang, address in page.alternates.items()}
        for lang, file in (("zh", twin if english else page.file), ("en", page.file if english else twin)):
            if lang not in spoken:
                yield 0, f"the head names no {lang} version (hreflang)", "Name both languages in the head of each page"
            elif (found := self.resolve(spoken[lang], page.file)) is None or found[0] != file:
                yield (
                    0,
                    f"hreflang {lang} leads to {spoken[lang]}, not to {file}",
                    "Let it lead to the page's other half",
                )

    def not_found_pages(self) -> Iterable[tuple[str, int, str, str]]:
        if "404.html" not in self.pages:
            yield "404.html", 1, "there is no 404 page", "Hosts serve it for every wrong address"
        for name in ("404.html", "en/404.html"):
            if (page := self.pages.get(name)) is None:
                continue
            homes = {found[0] for _, address, _ in page.links if (found := self.resolve(address, name))}
            for home, lang in (("index.html", "Chinese"), ("en/index.html", "English")):
                if home not in homes:
                    yield name, 1, f"the 404 page does not link to the {lang} home page", "It serves both languages"
            if len(re.findall(r"[\u3400-\u9fff]", page.words)) < 4 or len(re.findall(r"[A-Za-z]{2,}", page.words)) < 4:
                yield (
                    name,
                    1,
                    "the 404 page does not speak both languages",
                    "Hosts show one page for both: say it in both",
                )

    def other_files(self) -> Iterable[tuple[str, int, str, str]]:
        """Style sheets, scripts and site maps."""
        for file in sorted(self.files):
            if file.endswith(".css"):
                text = self._text(file)
                for address in css_addresses(text):
                    if not address.startswith(("data:", "#")) and (fault := self.fault(address, file, True)):
                        yield file, text.count("\n", 0, text.find(address)) + 1, *fault
            elif file.endswith((".js", ".mjs")):
                text = self._text(file)
                for match in CDN.finditer(text):
                    line = text.count("\n", 0, match.start()) + 1
                    yield file, line, f"the script knows {match[0]}", "Serve a copy from this site and name that"
            elif posixpath.basename(file) == "sitemap.xml":
                text = self._text(file)
                for match in re.finditer(r"<loc>\s*([^<]+?)\s*</loc>|\bhref=\"([^\"]+)\"", text):
                    address = html.unescape(match[1] or match[2])
                    found = self.resolve(address, file)
                    if found is None or found[0] not in self.files:
                        line = text.count("\n", 0, match.start()) + 1
                        yield file, line, f"the site map names {address}, which is not in the site", "Fix it"

    def _text(self, file: str) -> str:
        return (self.folder / file).read_text(encoding="utf-8", errors="replace")
