"""What a Markdown page consists of, with line numbers: prose, code, macros, links, headings, tables, mathematics.

MkDocs' own parser keeps no line numbers and CommonMark parsers do not know admonitions, so this reads the few forms
that the pages use. `prose` has the length and the lines of the page, with everything else blanked out.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

CODE, MACRO, MATH = "\ue000", "\ue001", "\ue002"  # what stands in `prose` where code, a macro or mathematics stood

FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<ticks>`{3,}|~{3,})(?P<info>[^`\n]*)$")
HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
HEADING_ID = re.compile(r"\{:?[^{}]*?#([^\s{}]+)[^{}]*\}[ \t]*#*[ \t]*$")
RAW_HEADING = re.compile(r"<h([1-6])\b([^>]*)>", re.IGNORECASE)
ADMONITION = re.compile(r"^[ \t]*(?:(!!!|\?\?\?\+?)[ \t]+([\w-]+(?:[ \t]+[\w-]+)*)|(===)[!+]?[ \t]+\")")
DELIMITERS = re.compile(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
SNIPPET = re.compile(r"^[ \t>]*-{1,}8<-{1,}[ \t]+(?P<quote>[\"'])(?P<target>.+?)(?P=quote)[ \t]*$")
SNIPPET_BLOCK = re.compile(r"^[ \t>]*-{1,}8<-{1,}[ \t]*$")
ATTRIBUTE = re.compile(r"""\b(href|src)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)""", re.IGNORECASE)

NO_BLANK_LINE = r"(?:(?!\n[ \t]*\n)[\s\S])"
SPANS = re.compile(
    rf"""
      (?P<escaped>\\[`\\{{}}<])
    | (?P<comment><!--[\s\S]*?(?:-->|\Z))
    | (?P<raw><(?P<tag>pre|code|script|style|kbd)\b[^>]*>[\s\S]*?</(?P=tag)>)
    | (?P<code>(?<!`)(?P<ticks>`+)(?!`){NO_BLANK_LINE}+?(?<!`)(?P=ticks)(?!`))
    | (?P<macro>\{{\{{{NO_BLANK_LINE}*?\}}\}})
    | (?P<math>\\\({NO_BLANK_LINE}+?\\\) | \\\[{NO_BLANK_LINE}+?\\\] | \$\${NO_BLANK_LINE}+?\$\$)
    | (?P<auto><(?:https?|mailto):[^\s<>]+>)
    | (?P<html></?[A-Za-z][^<>]*>)
    | (?P<attributes>\{{:?[ ]*(?:[\#.][\w-]|[\w-]+=)[^{{}}\n]*\}})
    | (?P<target>\]\([ ]*(?P<href><[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*)(?:[ \n]+(?:"[^"]*"|'[^']*'))?[ ]*\))
    | (?P<definition>^[ ]{{0,3}}\[[^\]\n]+\]:[ \t]*(?P<defined>\S+)[^\n]*$)
    | (?P<address>https?://[^\s<>()）】」，。；]+)
    """,
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True)
class Fence:
    line: int
    info: str
    body: str  # without its indent
    closed: bool = True


@dataclass(frozen=True)
class Heading:
    line: int
    level: int
    text: str  # as written, with its { #id }
    id: str  # "" when it has none


@dataclass(frozen=True)
class Link:
    line: int
    target: str
    image: bool = False
    raw: bool = False  # written as HTML
    text: str = ""


@dataclass(frozen=True)
class Macro:
    """One {{ name(…) }}; name is "" where it is not a call with constant arguments, which proof.pages refuses."""

    line: int
    raw: str
    name: str = ""
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Mark:
    """A thing of which only the place and the shape count: a snippet, an admonition, a table, a formula, a comment."""

    line: int
    shape: str


@dataclass(frozen=True)
class Markdown:
    text: str
    prose: str
    fences: tuple[Fence, ...]
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    macros: tuple[Macro, ...]
    snippets: tuple[Mark, ...]
    admonitions: tuple[Mark, ...]
    tables: tuple[Mark, ...]
    math: tuple[Mark, ...]
    comments: tuple[Mark, ...]

    def lines(self) -> Iterator[tuple[int, str]]:
        """The prose, line by line, each with its number."""
        return enumerate(self.prose.split("\n"), 1)

    def ids(self) -> set[str]:
        """The anchors that the page offers: its headings' and those of raw HTML and attribute lists."""
        loose = re.findall(r"""(?:\bid=["']?|\{:?\s*#)([^\s"'{}>]+)""", self.text)
        return {heading.id for heading in self.headings if heading.id} | set(loose)


def call(raw: str) -> tuple[str, tuple, dict]:
    """The name and the constant arguments of `{{ name(…) }}`; ("", (), {}) where it is anything else."""
    try:
        node = ast.parse(raw[2:-2].strip(), mode="eval").body
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            args = tuple(ast.literal_eval(argument) for argument in node.args)
            return node.func.id, args, {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
    except (SyntaxError, ValueError):
        pass
    return "", (), {}


def blank(text: str, by: str = " ") -> str:
    """The same length and the same line ends, and nothing else."""
    return re.sub(r"[^\n]", by, text)


@lru_cache(maxsize=512)
def read(text: str) -> Markdown:
    """The parts of one page."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    line_of = lambda position: bisect_right(starts, position)  # noqa: E731
    links, macros, snippets, math, comments, raw_headings = [], [], [], [], [], []

    text_lines = text.split("\n")
    fences, bare = _fences(text_lines)
    block = False
    for number, line in enumerate(text_lines, 1):
        one = SNIPPET.match(line)
        edge = SNIPPET_BLOCK.match(line)
        if one or (block and not edge and line.strip()):
            snippets.append(Mark(number, one["target"] if one else line.strip()))
        if one or edge or block:
            bare[number - 1] = blank(line)
        block ^= bool(edge)

    def mask(match: re.Match) -> str:
        line, whole = line_of(match.start()), match[0]
        if match["escaped"]:
            return whole
        if match["raw"]:
            links.extend(_addresses(line, whole[: whole.index(">")]))
        if match["code"] or match["raw"]:
            return blank(whole, CODE)
        if match["macro"]:
            macros.append(Macro(line, whole, *call(whole)))
            return blank(whole, MACRO)
        if match["math"]:
            math.append(Mark(line, re.sub(r"\s+", " ", whole)))
            return blank(whole, MATH)
        if match["comment"]:
            comments.append(Mark(line, whole.removeprefix("<!--").removesuffix("-->").strip()))
        elif match["html"]:
            if found := RAW_HEADING.match(whole):
                own = re.search(r"""\bid=["']?([^\s"'>]+)""", found[2])
                raw_headings.append(Heading(line, int(found[1]), whole, own[1] if own else ""))
            links.extend(_addresses(line, whole))
        elif match["target"] is not None:
            target, label, image = match["href"].strip("<>"), *_label(match.string, match.start())
            if "{{" in target:
                macros.append(Macro(line, target, *call(target)))
            else:
                links.append(Link(line, target, image=image, text=label))
        elif match["definition"]:
            links.append(Link(line, match["defined"].strip("<>")))
        elif match["auto"] or match["address"]:
            links.append(Link(line, whole.strip("<>")))
        return blank(whole)

    prose = SPANS.sub(mask, "\n".join(bare))
    lines = prose.split("\n")
    return Markdown(
        text,
        prose,
        tuple(fences),
        tuple(sorted([*_headings(text_lines, lines), *raw_headings], key=lambda heading: heading.line)),
        tuple(links),
        tuple(macros),
        tuple(snippets),
        tuple(_admonitions(lines)),
        tuple(_tables(lines)),
        tuple(math),
        tuple(comments),
    )


def _fences(lines: list[str]) -> tuple[list[Fence], list[str]]:
    """The fenced blocks, and the lines with them and the front matter blanked."""
    fences, bare, open_at, start = [], list(lines), None, 0
    if lines and lines[0].strip() == "---" and "---" in lines[1:]:
        start = lines.index("---", 1) + 1
        bare[:start] = map(blank, lines[:start])
    for number, line in enumerate(lines[start:], start + 1):
        match = FENCE.match(line)
        if open_at is None and match:
            open_at, body = (number, match), []
        elif open_at is None:
            continue
        elif match and not match["info"].strip() and match["ticks"].startswith(open_at[1]["ticks"]):
            fences.append(Fence(open_at[0], open_at[1]["info"].strip(), "\n".join(body)))
            open_at = None
        else:
            indent = len(open_at[1]["indent"])
            body.append(line[indent:] if not line[:indent].strip(" \t>") else line)
        bare[number - 1] = blank(line)
    if open_at is not None:
        fences.append(Fence(open_at[0], open_at[1]["info"].strip(), "\n".join(body), closed=False))
    return fences, bare


def _addresses(line: int, tag: str) -> Iterator[Link]:
    """The href and the src of a tag of HTML."""
    for found in ATTRIBUTE.finditer(tag):
        yield Link(line, found[2].strip("\"'"), image=found[1].lower() == "src", raw=True)


def _label(text: str, close: int) -> tuple[str, bool]:
    """The text of the link whose `]` lies at `close`, and whether it is an image."""
    depth = 0
    for position in range(close, max(-1, close - 2000), -1):
        depth += {"]": 1, "[": -1}.get(text[position], 0)
        if depth == 0:
            return text[position + 1 : close], position > 0 and text[position - 1] == "!"
    return "", False


def _headings(written: list[str], prose: list[str]) -> Iterator[Heading]:
    for number, (line, bare) in enumerate(zip(written, prose, strict=True), 1):
        below = prose[number] if number < len(prose) else ""
        if match := HEADING.match(bare):
            full = HEADING.match(line) or match
            yield Heading(number, len(match[1]), full[2], (HEADING_ID.search(line) or [0, ""])[1])
        elif re.fullmatch(r" {0,3}(=+|-+)\s*", below) and re.match(r" {0,3}[^\s|>#+*\-]", bare):
            yield Heading(number, 1 if "=" in below else 2, line, (HEADING_ID.search(line) or [0, ""])[1])


def _admonitions(prose: list[str]) -> Iterator[Mark]:
    for number, line in enumerate(prose, 1):
        if match := ADMONITION.match(line):
            yield Mark(number, match[3] or f"{match[1]} {match[2]}")


def _tables(prose: list[str]) -> Iterator[Mark]:
    for number, line in enumerate(prose):
        if number and "|" in line and DELIMITERS.match(line) and "|" in prose[number - 1]:
            rows = 0
            while number + 1 + rows < len(prose) and "|" in prose[number + 1 + rows]:
                rows += 1
            columns = len(re.findall(r"(?<!\\)\|", line.strip(" \t>").strip("|"))) + 1
            yield Mark(number, f"{rows} rows × {columns} columns")
