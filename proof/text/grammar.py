"""The Markdown that pages are written in, as rules of markdown-it-py.

Blocks: CommonMark, tables, definition lists and footnotes, and what Python-Markdown adds on the
site: admonitions, displayed formulas over several lines, snippets. Macros over several lines are
blocks too, since they are replaced before Markdown is read. Indented code is off: no page uses it,
and lists and admonitions indent by four.

Inline: each rule notes in `Notes` what it matched and where in the page. It makes no tokens, since
nothing is rendered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

ADMONITION = re.compile(
    r"""(?P<marker>!!!|\?\?\?\+?)[ ]?
    (?:(?P<kind>[\w-]+(?:[ ]+[\w-]+)*)(?:[ ]+"[^\n]*")? | "[^\n]*")[ ]*""",
    re.VERBOSE,
)
BODY = r"(?:(?!\n[ \t]*\n)[\s\S])"  # any character of a block: no blank line within
DISPLAYED = re.compile(rf"\\\[{BODY}+?\\\]|\$\${BODY}+?\$\$")
FORMULA = re.compile(rf"\\\({BODY}+?\\\)|{DISPLAYED.pattern}")
MACRO = re.compile(r"""\{\{(?:"[^"\n]*"|'[^'\n]*'|(?!\}\}|\n[ \t]*\n)[\s\S])*+\}\}""")
MACRO_TO_BLANK_LINE = re.compile(rf"\{{\{{{BODY}*")
# Neither an element of code nor a tag holds a macro: macros are replaced before HTML is read.
ELEMENT = re.compile(
    r"<(pre|code|script|style|kbd)\b[^>{]*>(?:(?!\{\{)[\s\S])*?</\1>", re.IGNORECASE
)
TAG = re.compile(r"""</?[A-Za-z](?:(?!\{\{)[^<>"']|"(?:(?!\{\{)[^"])*"|'(?:(?!\{\{)[^'])*')*+>""")
COMMENT = re.compile(r"<!--[\s\S]*?(?:-->|\Z)")
AUTOLINK = re.compile(r"<(?:https?|mailto):[^\s<>]+>")
ATTRIBUTES = re.compile(r"\{:?[ ]*(?:[#.][\w-]|[\w-]+=)[^{}\n]*\}")
ADDRESS = re.compile(r"https?://[^\s<>()）】」，。；]+")
DEFINITION = re.compile(r"\[(?P<name>[^\]\n]+)\]:[ \t]*(?P<address>[^\s{]\S*)[^\n]*")
CODE_SPAN = re.compile(rf"(`+)(?!`){BODY}+?(?<!`)\1(?!`)")
ESCAPE = re.compile(r"\\[!-/:-@\[-`{-~]")
LINE_END = re.compile(r"(?P<wanted>[ ]{2,})?\n")
TEXT = re.compile(r"(?:[^\\`\[\]!<{$\n h]|h(?!ttps?://)|[ ](?![ ]*\n))+")
ARROW = re.compile(r"[ \t]*-+8<-+(?:[ \t]|$)")


class Kind(StrEnum):
    """What a piece of a page is that is no prose."""

    FRONT_MATTER = "front matter"
    FENCE = "fence"
    SNIPPET = "snippet"
    COMMENT = "comment"
    CODE = "code"  # a code span, or an element such as <pre>
    MACRO = "macro"
    FORMULA = "formula"
    ADDRESS = "address"  # https://… as it is, or in < >
    TAG = "tag"
    ATTRIBUTES = "attributes"  # { #id .class }
    TARGET = "target"  # ](page.md "title")
    DEFINITION = "definition"  # [name]: page.md


@dataclass(frozen=True)
class Piece:
    """A stretch of a page that is no prose: text[start:end]."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True)
class Target:
    """Where a link or an image leads: `place` is the offset of its `]`."""

    place: int
    address: str
    label: str
    image: bool


@dataclass(frozen=True)
class Definition:
    """The address of a name, [name]: page.md; `place` is the offset of its first bracket."""

    place: int
    name: str
    address: str


@dataclass(frozen=True)
class Segment:
    """The text of one block as the inline rules get it, and where its lines lie in the page.

    The quoted block "> a\\n> b" has the content "a\\nb", whose lines lie at the places 2 and 6.
    """

    content: str
    places: tuple[int, ...]
    paragraph: bool = True  # whether a browser joins its lines by a space

    def place(self, position: int) -> int:
        """The offset in the page of an offset in the content."""
        row = self.content.count("\n", 0, position)
        return self.places[row] + position - (self.content.rfind("\n", 0, position) + 1)


@dataclass
class Notes:
    """What the inline rules note down of a page."""

    segment: Segment = field(default_factory=lambda: Segment("", (0,)))
    pieces: list[Piece] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    line_breaks: list[int] = field(default_factory=list)

    def add(self, kind: Kind, start: int, end: int) -> None:
        """Note that content[start:end] of the present segment is a piece of that kind."""
        first, last = self.segment.place(start), self.segment.place(end - 1)
        self.pieces.append(Piece(first, last + 1, kind))


def read_inline(segment: Segment, notes: Notes) -> None:
    """Note down every inline part of a segment."""
    notes.segment = segment
    markdown = parser()
    markdown.inline.parse(segment.content, markdown, {"notes": notes}, [])


@cache
def parser() -> MarkdownIt:
    """markdown-it-py with the rules of this module; its `parse` gives blocks and leaves their
    inline parts alone.
    """
    markdown = MarkdownIt("commonmark")
    markdown.use(deflist_plugin).use(footnote_plugin)
    markdown.enable("table").disable(["code", "reference"])
    paragraph: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    markdown.block.ruler.before("table", "snippet", _snippet_block, paragraph)
    markdown.block.ruler.before("table", "admonition", _admonition_block, paragraph)
    markdown.block.ruler.before("table", "formula", _formula_block, paragraph)
    markdown.block.ruler.before("table", "macro", _macro_block, paragraph)
    markdown.core.ruler.enableOnly(["block"])
    rules = {
        "plain": _plain,
        "definition": _definition,
        "macro": _macro,
        "formula": _formula,
        "escape_": _escape,
        "comment": _comment,
        "element": _element,
        "autolink": _autolink,
        "tag": _tag,
        "attributes": _attributes,
        "address": _address,
        "line_end": _line_end,
        "code_span": _code_span,
        "link": _link,
    }
    for name, rule in rules.items():
        markdown.inline.ruler.before("text", name, rule)
    markdown.inline.ruler.enableOnly(list(rules))
    markdown.inline.ruler2.enableOnly([])
    return markdown


# Blocks


def _line(state: StateBlock, line: int) -> str:
    """A line without its indent."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _admonition_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`!!! note "title"` or `??? note`, and all that is indented by four below it."""
    match = ADMONITION.fullmatch(_line(state, start))
    if match is None or (match["marker"] == "!!!" and not match["kind"]):
        return False
    if silent:
        return True
    indent = state.sCount[start] + 4
    stop = start + 1
    while stop < end and (state.isEmpty(stop) or state.sCount[stop] >= indent):
        stop += 1
    while state.isEmpty(stop - 1):
        stop -= 1
    token = state.push("admonition_open", "", 1)
    token.map = [start, stop]
    token.markup = match["marker"]
    token.info = match["kind"] or ""
    before = state.blkIndent, state.lineMax, state.parentType
    state.blkIndent, state.lineMax, state.parentType = indent, stop, "admonition"
    state.md.block.tokenize(state, start + 1, stop)
    state.blkIndent, state.lineMax, state.parentType = before
    state.push("admonition_close", "", -1)
    state.line = stop
    return True


def _formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A displayed formula over several lines, whose lines would look like lists or headings."""
    return _block_over_lines(state, start, end, silent, DISPLAYED)


def _macro_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A macro over several lines."""
    return _block_over_lines(state, start, end, silent, MACRO)


def _block_over_lines(
    state: StateBlock, start: int, end: int, silent: bool, pattern: re.Pattern[str]
) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    if state.src[begin : begin + 1] not in ("{", "$", "\\"):
        return False
    match = pattern.match(state.src, begin, state.eMarks[end - 1])
    lines = match[0].count("\n") if match else 0
    if not lines or start + lines >= end:
        return False
    if not silent:
        token = state.push("over_lines", "", 0)
        token.map = [start, start + lines + 1]
        state.line = start + lines + 1
    return True


def _snippet_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A line that quotes a file, or the lines between two lines with nothing but the arrow."""
    if not ARROW.match(_line(state, start)):
        return False
    if not silent:
        token = state.push("snippet", "", 0)
        token.map = [start, start + 1]
        state.line = start + 1
    return True


# Inline parts


def _notes(state: StateInline) -> Notes:
    notes = state.env["notes"]
    assert isinstance(notes, Notes)
    return notes


def _piece(
    state: StateInline, silent: bool, opening: str, pattern: re.Pattern[str], kind: Kind
) -> bool:
    """Match a pattern at the present place, and note it as a piece."""
    if not state.src.startswith(opening, state.pos):
        return False
    match = pattern.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        _notes(state).add(kind, state.pos, match.end())
    state.pos = match.end()
    return True


def _definition(state: StateInline, silent: bool) -> bool:
    """[name]: page.md, at the beginning of any line."""
    before = state.src[state.src.rfind("\n", 0, state.pos) + 1 : state.pos]
    match = DEFINITION.match(state.src, state.pos, state.posMax)
    if match is None or before.strip():
        return False
    if not silent:
        notes = _notes(state)
        address = match["address"].strip("<>")
        definition = Definition(notes.segment.place(state.pos), match["name"], address)
        notes.definitions.append(definition)
        notes.add(Kind.DEFINITION, state.pos, match.end())
    state.pos = match.end()
    return True


def _macro(state: StateInline, silent: bool) -> bool:
    return _piece(state, silent, "{{", MACRO, Kind.MACRO)


def _formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "\\$":
        return False
    return _piece(state, silent, "", FORMULA, Kind.FORMULA)


def _comment(state: StateInline, silent: bool) -> bool:
    return _piece(state, silent, "<!--", COMMENT, Kind.COMMENT)


def _element(state: StateInline, silent: bool) -> bool:
    return _piece(state, silent, "<", ELEMENT, Kind.CODE)


def _autolink(state: StateInline, silent: bool) -> bool:
    return _piece(state, silent, "<", AUTOLINK, Kind.ADDRESS)


def _tag(state: StateInline, silent: bool) -> bool:
    return _piece(state, silent, "<", TAG, Kind.TAG)


def _attributes(state: StateInline, silent: bool) -> bool:
    return _piece(state, silent, "{", ATTRIBUTES, Kind.ATTRIBUTES)


def _address(state: StateInline, silent: bool) -> bool:
    return _piece(state, silent, "http", ADDRESS, Kind.ADDRESS)


def _plain(state: StateInline, silent: bool) -> bool:
    """Text up to the next character at which another rule may match."""
    match = TEXT.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    state.pos = match.end()
    return True


def _escape(state: StateInline, silent: bool) -> bool:
    """A mark behind a backslash, which stands for itself."""
    match = ESCAPE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    state.pos = match.end()
    return True


def _code_span(state: StateInline, silent: bool) -> bool:
    """Code between backticks; as many of them as nothing closes are text."""
    if state.src[state.pos] != "`":
        return False
    if _piece(state, silent, "`", CODE_SPAN, Kind.CODE):
        return True
    while state.pos < state.posMax and state.src[state.pos] == "`":
        state.pos += 1
    return True


def _line_end(state: StateInline, silent: bool) -> bool:
    """The end of a line: a break that an author asked for by two blanks, or what a browser shows as
    a space.
    """
    match = LINE_END.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    notes = _notes(state)
    if not silent and not match["wanted"] and notes.segment.paragraph:
        notes.line_breaks.append(notes.segment.place(match.end() - 1))
    state.pos = match.end()
    return True


def _link(state: StateInline, silent: bool) -> bool:
    """A link or an image with its address: [label](address "title"). Its label is read like other
    text.
    """
    image = state.src.startswith("![", state.pos)
    opening = state.pos + int(image)
    if not state.src.startswith("[", opening):
        return False
    close = state.md.helpers.parseLinkLabel(state, opening, not image)
    end = _target_end(state, close + 1) if close >= 0 else None
    if end is None:
        return False
    stop, address = end
    if not silent:
        label, maximum = state.src[opening + 1 : close], state.posMax
        notes = _notes(state)
        notes.targets.append(Target(notes.segment.place(close), address, label, image))
        notes.add(Kind.TARGET, close, stop)
        state.pos, state.posMax = opening + 1, close
        state.md.inline.tokenize(state)
        state.posMax = maximum
    state.pos = stop
    return True


def _target_end(state: StateInline, opening: int) -> tuple[int, str] | None:
    """The end of `(address "title")` at that place, and the address; None where there is none, or
    it is a macro.
    """
    if not state.src.startswith("(", opening):
        return None
    start = _skip_blanks(state, opening + 1)
    target = state.md.helpers.parseLinkDestination(state.src, start, state.posMax)
    if "{{" in target.str:
        return None
    place = _skip_blanks(state, target.pos if target.ok else start)
    title = state.md.helpers.parseLinkTitle(state.src, place, state.posMax)
    if title.ok:
        place = _skip_blanks(state, title.pos)
    if place >= state.posMax or state.src[place] != ")":
        return None
    return place + 1, target.str


def _skip_blanks(state: StateInline, position: int) -> int:
    while position < state.posMax and state.src[position] in " \t\n":
        position += 1
    return position
