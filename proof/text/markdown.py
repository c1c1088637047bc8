"""The one reader of Markdown: what a page consists of, each part with its line and its place in the
text.

Blocks come from markdown-it-py, with rules added for what Python-Markdown knows and CommonMark does
not. Inline parts come from its inline parser, whose rules here note where in the text they matched.
For the page

    # Softmax { #softmax }

    It takes {{ claim("softmax.speed") }}, see `launch`.

`read(text)` gives one heading (level 1, line 1, id softmax), one macro (line 3), one code span, and
as `prose` the same text in which everything that readers do not read as prose is blanked, of the
same length and with the same lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser

from markdown_it.token import Token

from proof.book.front_matter import front_matter
from proof.text.grammar import Kind, Notes, Piece, Segment, parser, read_inline

CODE, MACRO, MATH = "\ue000", "\ue001", "\ue002"  # what `prose` holds for code, a macro, a formula
MARKS = {Kind.CODE: CODE, Kind.MACRO: MACRO, Kind.FORMULA: MATH}

SNIPPET = re.compile(r"""[ \t]*-+8<-+[ \t]+(?P<quote>["'])(?P<target>[^"'\n]+)(?P=quote)""")
SNIPPET_EDGE = re.compile(r"[ \t]*-+8<-+")
NEARLY_SNIPPET = re.compile(
    r"""(?<!\w)[-–—−]{2,}[ \t]*(?:8[ \t]*|B)(?:<|＜|>|&lt;)
    | (?<!\w)[-–—−]*[ \t]*8[ \t]*(?:<|＜|&lt;)[-–—−]+(?=[ \t"'“‘]|$)""",
    re.VERBOSE,
)
OPENING_TAG = re.compile(
    r"<(?:[A-Za-z][^<>]*=|[hH][1-6])"
)  # one that has attributes, or is a heading
NEARLY_ADMONITION = re.compile(r"[!！]{3}|[?？]{3}\+?(?=[ ]*[A-Za-z\"“])")


@dataclass(frozen=True)
class Fence:
    """A fenced block; `body` is without its indent, `last_line` that of its closing marks."""

    line: int
    last_line: int
    info: str
    body: str
    indent: int
    closed: bool = True


@dataclass(frozen=True)
class Heading:
    line: int
    level: int
    text: str  # as written, without its { #id }
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
    """The place of one {{ … }}; proof.text.macros reads what it calls. `source` is the text with
    its braces.
    """

    line: int
    start: int
    end: int
    source: str


@dataclass(frozen=True)
class Snippet:
    """A line that quotes a file: --8<-- "labs/x.py:kernel" has the target labs/x.py:kernel."""

    line: int
    target: str


@dataclass(frozen=True)
class Leftover:
    """What looks like Markdown and is shown as it is written: the line, what, how to fix it."""

    line: int
    what: str
    fix: str


@dataclass(frozen=True)
class Admonition:
    line: int
    marker: str  # !!!, ???, ???+
    kind: str  # note, or several words
    empty: bool  # nothing is indented below it


@dataclass(frozen=True)
class Table:
    line: int  # of its head
    rows: int
    columns: int


@dataclass(frozen=True)
class Formula:
    line: int
    source: str  # with its delimiters, on one line


@dataclass(frozen=True)
class Comment:
    line: int
    text: str
    start: int
    end: int
    closed: bool


@dataclass(frozen=True)
class Item:
    """An item of a list. `content` is the indent of what belongs to it in Python-Markdown: 4 for `-
    a` and `1. a`.
    """

    line: int
    start: int  # the place of its text, behind the marker
    marker: str  # - or 1.
    content: int
    list: int  # the number of its list; nested lists have their own


@dataclass(frozen=True)
class Nested:
    """A block inside an item of a list that does not begin on the item's own line, with its indent
    in columns.
    """

    line: int
    what: str  # fence, paragraph, list, …
    indent: int
    wanted: int  # what Python-Markdown needs to see it as part of the item


@dataclass(frozen=True)
class Markdown:
    """One page. All places are offsets into `text`, all lines count from 1."""

    text: str
    prose: str
    pieces: tuple[Piece, ...]
    fences: tuple[Fence, ...]
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    definitions: frozenset[str]  # the names in [name]: page.md, in small letters
    macros: tuple[Macro, ...]
    unclosed_macro: int | None  # the place of a {{ that nothing closes
    snippets: tuple[Snippet, ...]
    admonitions: tuple[Admonition, ...]
    tables: tuple[Table, ...]
    formulas: tuple[Formula, ...]
    comments: tuple[Comment, ...]
    items: tuple[Item, ...]
    nested: tuple[Nested, ...]
    line_breaks: tuple[int, ...]  # newlines inside a paragraph, which a browser shows as a space
    leftovers: tuple[Leftover, ...]
    ids: frozenset[str]  # the anchors that the page offers

    def lines(self) -> Iterator[tuple[int, str]]:
        """The prose, line by line, each with its number."""
        return enumerate(self.prose.split("\n"), 1)

    def line_at(self, place: int) -> int:
        """The line of an offset into the text."""
        return self.text.count("\n", 0, place) + 1


@lru_cache(maxsize=8192)
def read(text: str) -> Markdown:
    """The parts of one page. Never raises: what cannot be read as anything is prose."""
    return _Reader(text).read()


@dataclass(frozen=True)
class _Tag:
    """An opening tag of HTML."""

    place: int
    name: str
    attributes: dict[str, str]
    written: str


class _Reader:
    """Reads one page: its blocks, the inline parts of each, then what follows from both."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.notes = Notes()
        self.fences: list[Fence] = []
        self.headings: list[Heading] = []
        self.admonitions: list[Admonition] = []
        self.tables: list[Table] = []
        self.items: list[Item] = []
        self.list_count = 0
        self.nested: list[Nested] = []
        self.leftovers: list[Leftover] = []
        self.code_lines: set[int] = set()  # the indices of lines inside a fence

    def read(self) -> Markdown:
        front = front_matter(self.text)
        lines = front.lines if front else 0
        if lines:
            self.add_lines(Kind.FRONT_MATTER, 0, lines)
        self.read_blocks(parser().parse("\n" * lines + self.text[self.starts[lines] :]))
        snippets = self.read_snippets()
        pieces = tuple(sorted(self.notes.pieces, key=lambda piece: piece.start))
        prose = _masked(self.text, pieces)
        tags = [tag for piece in pieces if (tag := self.tag(piece))]
        return Markdown(
            text=self.text,
            prose=prose,
            pieces=pieces,
            fences=tuple(self.fences),
            headings=self.all_headings(tags),
            links=self.all_links(pieces, tags),
            definitions=frozenset(d.name.casefold() for d in self.notes.definitions),
            macros=tuple(self.macro(piece) for piece in pieces if piece.kind is Kind.MACRO),
            unclosed_macro=self.unclosed_macro(prose),
            snippets=snippets,
            admonitions=tuple(self.admonitions),
            tables=tuple(self.tables),
            formulas=tuple(self.formula(piece) for piece in pieces if piece.kind is Kind.FORMULA),
            comments=tuple(self.comment(piece) for piece in pieces if piece.kind is Kind.COMMENT),
            items=tuple(self.items),
            nested=tuple(self.nested),
            line_breaks=tuple(sorted(self.notes.line_breaks)),
            leftovers=tuple(self.leftovers),
            ids=self.all_ids(pieces, tags),
        )

    # Blocks

    def read_blocks(self, tokens: list[Token]) -> None:
        items: list[
            Item | None
        ] = []  # the items of lists that are open, or None for another container
        lists: list[int] = []  # the numbers of the lists that are open
        quotes = 0
        above: Token | None = None
        in_table = False
        for token in tokens:
            first, stop = token.map or (0, 0)
            if items and items[-1] and token.map and token.type not in ("inline", "list_item_open"):
                self.read_nested(items[-1], token.type, first)
            match token.type:
                case "bullet_list_open" | "ordered_list_open":
                    self.list_count += 1
                    lists.append(self.list_count)
                case "bullet_list_close" | "ordered_list_close":
                    lists.pop()
                case "list_item_open":
                    items.append(self.read_item(token, lists[-1], items[-1] if items else None))
                case "admonition_open":
                    self.read_admonition(token, first, stop)
                    items.append(None)
                case "blockquote_open":
                    quotes += 1
                    items.append(None)
                case "dd_open" | "footnote_reference_open":
                    items.append(None)
                case "blockquote_close":
                    quotes -= 1
                    items.pop()
                case (
                    "list_item_close" | "admonition_close" | "dd_close" | "footnote_reference_close"
                ):
                    items.pop()
                case "fence":
                    self.read_fence(token, first, stop)
                case "table_open":
                    in_table = True
                    self.read_table(first, stop, quotes)
                case "table_close":
                    in_table = False
                case "inline" if not in_table:
                    self.read_segment(token, above)
                case "html_block" | "over_lines":
                    for_html = self.segment_of_lines(first, stop, quotes)
                    read_inline(for_html, self.notes)
            above = token

    def read_nested(self, item: Item, kind: str, first: int) -> None:
        line = first + 1
        if line == item.line:
            return
        what = kind.removesuffix("_open").replace("_", " ")
        self.nested.append(Nested(line, what, _columns(self.lines[first]), item.content))

    def read_item(self, token: Token, number: int, outer: Item | None) -> Item:
        first = (token.map or (0, 0))[0]
        line, marker = self.lines[first], token.info + token.markup
        behind = line.find(marker) + len(marker)
        start = self.starts[first] + len(line) - len(line[behind:].lstrip())
        content = outer.content + 4 if outer else _columns(line) // 4 * 4 + 4
        item = Item(first + 1, start, marker, content, number)
        self.items.append(item)
        return item

    def read_admonition(self, token: Token, first: int, stop: int) -> None:
        empty = stop == first + 1
        self.admonitions.append(Admonition(first + 1, token.markup, token.info, empty))
        line = self.lines[first]
        title = line.find('"')
        if title >= 0:
            content = line[title + 1 : line.rindex('"')]
            read_inline(Segment(content, (self.starts[first] + title + 1,)), self.notes)

    def read_fence(self, token: Token, first: int, stop: int) -> None:
        last = self.lines[stop - 1].strip(" \t>")
        closed = stop > first + 1 and last.startswith(token.markup) and not last.strip(last[0])
        body = token.content.removesuffix("\n")
        indent = _columns(self.lines[first])
        self.fences.append(Fence(first + 1, stop, token.info.strip(), body, indent, closed))
        self.code_lines.update(range(first, stop))
        self.add_lines(Kind.FENCE, first, stop)

    def read_table(self, first: int, stop: int, quotes: int) -> None:
        delimiters = self.lines[first + 1].strip(" \t>").strip("|")
        columns = delimiters.count("|") + 1
        self.tables.append(Table(first + 1, stop - first - 2, columns))
        for row in range(first, stop):
            read_inline(self.segment_of_lines(row, row + 1, quotes), self.notes)

    def read_segment(self, token: Token, above: Token | None) -> None:
        segment = self.segment(token)
        count = len(self.notes.pieces)
        read_inline(segment, self.notes)
        first = (token.map or (0, 0))[0]
        if above and above.type == "heading_open":
            last = self.notes.pieces[-1] if len(self.notes.pieces) > count else None
            end = segment.place(len(segment.content.rstrip("# \t")))
            attributes = last if last and last.kind is Kind.ATTRIBUTES and last.end >= end else None
            id = self.id_in(attributes) if attributes else ""
            text = segment.content
            if attributes:
                text = text[: text.rindex("{")].rstrip()
            self.headings.append(Heading(first + 1, int(above.tag[1:]), text, id))
        elif NEARLY_ADMONITION.match(segment.content):
            written = segment.content.partition("\n")[0]
            what = f"“{written}” is no admonition and is shown as written"
            self.leftovers.append(
                Leftover(first + 1, what, 'Write !!! note "Title", or ??? note "Title" to fold')
            )

    def read_snippets(self) -> tuple[Snippet, ...]:
        """The lines that quote a file, wherever they are: they are replaced before Markdown is
        read.
        """
        snippets: list[Snippet] = []
        opened = 0  # the line of the arrow that opens a list of files
        for index, line in enumerate(self.lines):
            match = SNIPPET.fullmatch(line)
            edge = SNIPPET_EDGE.fullmatch(line)
            if edge:
                opened = 0 if opened else index + 1
            elif match or (opened and line.strip()):
                target = match["target"] if match else line.strip()
                snippets.append(Snippet(index + 1, target))
            elif nearly := NEARLY_SNIPPET.search(line):
                self.read_nearly_snippet(index, nearly.start())
            if (match or edge or opened) and index not in self.code_lines:
                self.add_lines(Kind.SNIPPET, index, index + 1)
        if opened:
            what = "a list of quoted files opens here and does not close"
            self.leftovers.append(
                Leftover(opened, what, "Close it with --8<-- on a line of its own")
            )
        return tuple(snippets)

    def read_nearly_snippet(self, index: int, column: int) -> None:
        """An arrow that quotes nothing; as code in a sentence it is meant, and in a fence where
        code is before it.
        """
        before = self.lines[index][:column]
        place = self.starts[index] + column
        kinds = {piece.kind for piece in self.notes.pieces if piece.start <= place < piece.end}
        in_fence = index in self.code_lines
        if in_fence and before.strip(" \t>"):
            return
        if not in_fence and (kinds or before.endswith(";")):
            return
        what = f"“{self.lines[index].strip()}” quotes nothing and is shown as written"
        fix = 'Write --8<-- "labs/triton_softmax.py:kernel" alone on its line, with straight quotes'
        self.leftovers.append(Leftover(index + 1, what, fix))

    # Segments

    def segment(self, token: Token) -> Segment:
        """The content of an inline token, with the place of each of its lines."""
        first = (token.map or (0, 0))[0]
        places: list[int] = []
        for index, part in enumerate(token.content.split("\n"), first):
            line, wanted = self.lines[index].rstrip(" \t"), part.rstrip(" \t")
            if line.endswith(wanted):
                column = len(line) - len(wanted)
            else:
                column = line.find(wanted.strip()) - (len(wanted) - len(wanted.lstrip()))
            places.append(self.starts[index] + max(column, 0))
        return Segment(token.content, tuple(places))

    def segment_of_lines(self, first: int, stop: int, quotes: int) -> Segment:
        """Whole lines without their indents and the marks of quotations."""
        marks = " \t>" if quotes else " \t"
        contents = [line.lstrip(marks) for line in self.lines[first:stop]]
        ends = [self.starts[index] + len(self.lines[index]) for index in range(first, stop)]
        places = [end - len(content) for end, content in zip(ends, contents, strict=True)]
        return Segment("\n".join(contents), tuple(places), paragraph=False)

    def add_lines(self, kind: Kind, first: int, stop: int) -> None:
        """Note whole lines as one piece, without the last line's end."""
        start, last = self.starts[first], stop - 1
        end = self.starts[last] + len(self.lines[last])
        if end > start:
            self.notes.pieces.append(Piece(start, end, kind))

    # What follows from the pieces

    def line_at(self, place: int) -> int:
        return bisect_right(self.starts, place)

    def written(self, piece: Piece) -> str:
        return self.text[piece.start : piece.end]

    def id_in(self, attributes: Piece) -> str:
        match = re.search(r"#([^\s{}]+)", self.written(attributes))
        return match[1] if match else ""

    def macro(self, piece: Piece) -> Macro:
        return Macro(self.line_at(piece.start), piece.start, piece.end, self.written(piece))

    def unclosed_macro(self, prose: str) -> int | None:
        match = re.search(r"(?<!\\)\{\{", prose)
        return match.start() if match else None

    def formula(self, piece: Piece) -> Formula:
        return Formula(self.line_at(piece.start), re.sub(r"\s+", " ", self.written(piece)))

    def comment(self, piece: Piece) -> Comment:
        written = self.written(piece)
        text = written.removeprefix("<!--").removesuffix("-->").strip()
        closed = len(written) >= len("<!---->") and written.endswith("-->")
        return Comment(self.line_at(piece.start), text, piece.start, piece.end, closed)

    def tag(self, piece: Piece) -> _Tag | None:
        """The opening tag that a piece is or, as <pre> does, begins with."""
        written = self.written(piece)
        if piece.kind not in (Kind.TAG, Kind.CODE) or not OPENING_TAG.match(written):
            return None
        parser = _TagParser()
        parser.feed(written if piece.kind is Kind.TAG else written[: written.index(">") + 1])
        if not parser.name:
            return None
        return _Tag(piece.start, parser.name, parser.attributes, written)

    def all_headings(self, tags: list[_Tag]) -> tuple[Heading, ...]:
        headings = list(self.headings)
        for tag in tags:
            if re.fullmatch("h[1-6]", tag.name):
                id = tag.attributes.get("id", "")
                headings.append(Heading(self.line_at(tag.place), int(tag.name[1]), tag.written, id))
        return tuple(sorted(headings, key=lambda heading: heading.line))

    def all_links(self, pieces: tuple[Piece, ...], tags: list[_Tag]) -> tuple[Link, ...]:
        links: list[tuple[int, Link]] = []
        for definition in self.notes.definitions:
            link = Link(self.line_at(definition.place), definition.address)
            links.append((definition.place, link))
        for target in self.notes.targets:
            line = self.line_at(target.place)
            link = Link(line, target.address, image=target.image, text=target.label)
            links.append((target.place, link))
        for tag in tags:
            line = self.line_at(tag.place)
            for name in ("href", "src"):
                if name in tag.attributes:
                    link = Link(line, tag.attributes[name], image=name == "src", raw=True)
                    links.append((tag.place, link))
        for piece in pieces:
            if piece.kind is Kind.ADDRESS:
                link = Link(self.line_at(piece.start), self.written(piece).strip("<>"))
                links.append((piece.start, link))
        return tuple(link for _, link in sorted(links, key=lambda pair: pair[0]))

    def all_ids(self, pieces: tuple[Piece, ...], tags: list[_Tag]) -> frozenset[str]:
        ids = {tag.attributes["id"] for tag in tags if tag.attributes.get("id")}
        ids |= {self.id_in(piece) for piece in pieces if piece.kind is Kind.ATTRIBUTES}
        ids |= {heading.id for heading in self.headings}
        return frozenset(ids - {""})


class _TagParser(HTMLParser):
    """Reads one opening tag."""

    def __init__(self) -> None:
        super().__init__()
        self.name = ""
        self.attributes: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.name = tag
        self.attributes = {name: value or "" for name, value in attrs}


def _columns(line: str) -> int:
    """The columns before the text of a line, without the marks of quotations."""
    text = re.sub(r"^[ \t]*(?:>[ ]?)+", "", line).expandtabs(4)
    return len(text) - len(text.lstrip(" "))


def _masked(text: str, pieces: tuple[Piece, ...]) -> str:
    """The text with each piece blanked or marked: the same length, the same line ends."""
    parts: list[str] = []
    position = 0
    for piece in pieces:
        if piece.end <= position:
            continue
        start = max(piece.start, position)
        parts.append(text[position:start])
        parts.append(re.sub(r"[^\n]", MARKS.get(piece.kind, " "), text[start : piece.end]))
        position = piece.end
    return "".join(parts) + text[position:]
