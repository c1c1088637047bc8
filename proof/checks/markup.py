"""What is written like Markdown, and shown otherwise than it is meant: each is named where it is
written.

Front matter that MkDocs cannot read is shown as text, as are an arrow --8<-- with a typo and an
admonition without its quotes. Python-Markdown wants four blanks inside a list, and browsers show a
line break between two Chinese characters as a blank. A frame drawn in text is out of line where a
Chinese character takes two columns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from proof.book.front_matter import front_matter as front_matter_of
from proof.book.model import Book
from proof.problem import Problem, nearest
from proof.text.documents import Document, documents, place, text_of
from proof.text.markdown import Fence, Kind, Markdown
from proof.text.scalars import scalars

EVERYTHING = ("page", "decision", "term", "lab")

# What MkDocs, its theme and this site read of a page.
KEYS = ("title", "description", "hide", "search", "template", "icon", "status")
# What MkDocs takes for metadata even without marks.
METADATA = re.compile(r"[ ]{0,3}(?P<key>[A-Za-z0-9_-]+):")
NEARLY_MARKS = re.compile(r"[ \t]*[-–—]{2,}[ \t]*")
FIRST_LINE = 2  # of the YAML in the file

WIDE_MARKS = "“”‘’—…·"  # as wide as a Chinese character in Chinese text
UNSEEN = " \t\u3000*_~"  # around the text of a line: blanks, and marks of emphasis

TEXT_FENCES = ("", "text", "txt", "console")
CORNERS = "┌╔╭├╠└╚╰+"
SIDES = "│║|┃┌╔╭├╠└╚╰┐╗╮┤╣┘╝╯+┼╬"
TOP = re.compile(r"[┌╔╭├╠][─═━┬┴╦╩┼╤╧]+[┐╗╮┤╣]|\+(?:[-=]+\+)+")
BOTTOM_LEFT = "└╚╰"

Finding = tuple[int, str, str]  # line, what, how to fix it


# Front matter


def front_matter(book: Book) -> Iterable[Problem]:
    """The front matter of a page cannot be read, or holds a key that means nothing or stands there
    twice.
    """
    for page in book.pages:
        for line, what, fix in front_matter_faults(page.text):
            yield Problem(place(book, page.path), line, what, fix)


def front_matter_faults(text: str) -> Iterator[Finding]:
    """What is wrong with the front matter of one page."""
    front = front_matter_of(text)
    if front is None:
        yield from _no_front_matter(text.split("\n"))
        return
    try:
        node = yaml.compose(front.yaml, Loader=yaml.CSafeLoader)
        data = yaml.load(front.yaml, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        line = _line_of(error)
        reason = getattr(error, "problem", None) or str(error).split("\n")[0]
        fix = 'Put a value that holds a colon or a mark between quotes: title: "Numerics: why"'
        yield line + FIRST_LINE, f"the front matter is not YAML and is shown as text: {reason}", fix
        return
    if not isinstance(data, dict):
        what = "the front matter holds no `key: value` lines and is shown as text"
        yield FIRST_LINE, what, "Write title: … and description: …, each on a line of its own"
        return
    yield from _keys_given_twice(node)
    yield from _values(node)


def _line_of(error: Exception) -> int:
    """The line of a fault in YAML, counted from 0; of a quotation that does not end, where it
    begins.
    """
    mark = getattr(error, "problem_mark", None)
    if "quoted scalar" in (getattr(error, "context", None) or ""):
        mark = getattr(error, "context_mark", mark)
    return mark.line if mark else 0


def _no_front_matter(lines: list[str]) -> Iterator[Finding]:
    """What looks like front matter and is none."""
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    below = lines[first + 1] if first + 1 < len(lines) else ""
    if NEARLY_MARKS.fullmatch(lines[first]) and METADATA.match(below.lstrip()):
        if first > 0:
            what = "the front matter begins below a blank line and is shown as text"
            yield first + 1, what, "Begin the file with ---"
        elif lines[first].rstrip() == "---":
            what = "the front matter opens here and does not close, so that it is shown as text"
            yield first + 1, what, "Close it with --- on a line of its own"
        else:
            what = f"“{lines[first]}” opens no front matter, and what follows is shown as text"
            yield first + 1, what, "Write ---, without blanks before it"
    elif first == 0 and METADATA.match(lines[0]):
        what = f"MkDocs takes “{lines[0]}” for metadata and does not show it"
        yield 1, what, "Begin the page with its heading, or with front matter between --- and ---"


def _keys_given_twice(node: yaml.Node | None) -> Iterator[Finding]:
    """The keys of this mapping, and of those inside it, that stand there twice: the last one wins
    silently.
    """
    if isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _keys_given_twice(value)
    if not isinstance(node, yaml.MappingNode):
        return
    lines: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + FIRST_LINE
        if key.value in lines:
            what = f"{key.value} stands in the front matter twice, first in line {lines[key.value]}"
            yield line, what, "Leave one of them out"
        lines.setdefault(key.value, line)
        yield from _keys_given_twice(value)


def _values(node: yaml.MappingNode) -> Iterator[Finding]:
    for key, value in node.value:
        line = key.start_mark.line + FIRST_LINE
        if key.value not in KEYS:
            yield line, f"nothing reads {key.value!r} in the front matter", nearest(key.value, KEYS)
        elif key.value in ("title", "description") and not _is_text(value):
            yield line, f"{key.value} is not one line of text", f'Write {key.value}: "…"'


def _is_text(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and bool(node.value.strip())


# Markdown that is shown as it is written


def leftovers(book: Book) -> Iterable[Problem]:
    """A snippet's arrow or an admonition has a typo, is empty, or a comment does not close."""
    for document in documents(book, EVERYTHING):
        for line, what, fix in _leftovers(document.markdown):
            yield Problem(document.file, document.at(line), what, fix)


def _leftovers(page: Markdown) -> Iterator[Finding]:
    for leftover in page.leftovers:
        yield leftover.line, leftover.what, leftover.fix
    for admonition in page.admonitions:
        unseen = set(admonition.kind.split()[1:]) - {"inline", "end"}
        if unseen:
            what = f"{', '.join(sorted(unseen))} of this admonition is not shown"
            yield admonition.line, what, 'Write its title between quotes: !!! note "Title"'
        if admonition.empty:
            yield admonition.line, "this admonition is empty", "Indent its text by four blanks"
    for comment in page.comments:
        if not comment.closed:
            yield comment.line, "a comment opens here and does not close", "Close it with -->"


# Lists


def lists(book: Book) -> Iterable[Problem]:
    """Something inside a list is indented by less than four, or a list begins with another number
    than 1.
    """
    for document in documents(book, EVERYTHING):
        for line, what, fix in _lists(document.markdown):
            yield Problem(document.file, document.at(line), what, fix)


def _lists(page: Markdown) -> Iterator[Finding]:
    for block in page.nested:
        if block.indent < block.wanted:
            indented = f"this {block.what} is indented by {block.indent}"
            what = f"{indented} and belongs to no item of the list above"
            fix = f"Indent it by {block.wanted}: the list ends here, and its numbers begin again"
            yield block.line, what, fix
    seen: set[int] = set()
    for item in page.items:
        number = re.match(r"\d+", item.marker)
        if item.list not in seen and number and int(number[0]) != 1:
            what = f"this list begins with {number[0]}, and is shown beginning with 1"
            fix = "Indent by four what is between it and the list above, so that the list goes on"
            yield item.line, what, fix
        seen.add(item.list)


# Line breaks


def line_breaks(book: Book) -> Iterable[Problem]:
    """A line ends between two Chinese characters, and browsers show a blank there."""
    what = "this line ends between two Chinese characters, and browsers show a blank there"
    for document in documents(book, ("page", "decision")):
        page = document.markdown
        prose = page.prose.split("\n")
        after_buttons = {piece.end for piece in page.pieces if piece.kind is Kind.ATTRIBUTES}
        for break_place in page.line_breaks:
            line = page.line_at(break_place)
            before, after = prose[line - 1], prose[line]
            if break_place not in after_buttons and _joined_by_blank(before, after):
                fix = "Write the paragraph on one line"
                yield Problem(document.file, document.at(line), what, fix)
    for path in _texts_in_yaml(book):
        for line in folded_between_chinese(text_of(path)):
            yield Problem(place(book, path), line, what, "Write the text on one line")


def _texts_in_yaml(book: Book) -> Iterator[Path]:
    yield from (term.path for term in book.terms.values())
    yield from (source.path for source in book.sources.values())
    yield from (words.path for words in book.words.values())


def folded_between_chinese(text: str) -> Iterator[int]:
    """The lines of a YAML file that end between two Chinese characters where YAML joins lines by a
    blank.
    """
    for scalar in scalars(text):
        first = text.count("\n", 0, scalar.start) + 1
        lines = text[scalar.start : scalar.end].split("\n")
        for index in range(len(lines) - 1):
            if scalar.folded and _joined_by_blank(lines[index], lines[index + 1]):
                yield first + index


def _joined_by_blank(before: str, after: str) -> bool:
    """Whether the last character that one line shows and the first of the next are both Chinese."""
    last, first = before.rstrip(UNSEEN)[-1:], after.lstrip(UNSEEN + "[!>")[:1]
    pair = [character for character in (last, first) if character]
    return len(pair) == 2 and all(map(_chinese, pair)) and any(map(_is_wide, pair))


def _chinese(character: str) -> bool:
    return _is_wide(character) or character in WIDE_MARKS


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"


# Frames


def frames(book: Book) -> Iterable[Problem]:
    """A side of a frame that is drawn in text is out of line: a Chinese character is two columns
    wide.
    """
    for document in documents(book, EVERYTHING):
        for fence in document.markdown.fences:
            yield from _frames(document, fence)


def _frames(document: Document, fence: Fence) -> Iterator[Problem]:
    if fence.info.split("{")[0].strip() not in TEXT_FENCES:
        return
    for line, left, right in sides_out_of_line(fence.body.split("\n")):
        what = f"the frame whose sides are in columns {left} and {right} is out of line here"
        fix = "Count two columns for a Chinese character, and put both sides below the corners"
        yield Problem(document.file, document.at(fence.line + line), what, fix)


def sides_out_of_line(lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """Where a drawn frame has a side that is not below its corner: number of the line, columns of
    both sides.

    The second of these frames is right; in the first line 2 is out of line, since 中 takes two
    columns.

    ┌────┐   ┌────┐
    │ 中  │  │ 中 │
    └────┘   └────┘
    """
    rows = [_columns(line) for line in lines]
    for top, row in enumerate(rows):
        written = "".join(row)
        for frame in TOP.finditer(written):
            left, right = frame.start(), frame.end() - 1
            yield from _follow(rows, top, left, right)


def _follow(
    rows: list[list[str]], top: int, left: int, right: int
) -> Iterator[tuple[int, int, int]]:
    """Go down a frame from its upper border until both sides end."""
    drawn = rows[top][left] in "┌╔╭├╠"  # these corners open a frame; a + may as well close one
    for index in range(top + 1, len(rows)):
        row = rows[index]
        at_left = left < len(row) and row[left] in SIDES
        at_right = right < len(row) and row[right] in SIDES
        if not at_left and not at_right and not (drawn and any(c in SIDES for c in row)):
            return
        if not at_left or not at_right:
            yield index + 1, left + 1, right + 1
            return
        if row[left] in CORNERS:
            return


def _columns(line: str) -> list[str]:
    """The line by columns: a wide character takes two, a combining one none."""
    columns: list[str] = []
    for character in line.expandtabs(4):
        if unicodedata.combining(character):
            continue
        columns.append(character)
        if _is_wide(character):
            columns.append("\0")
    return columns
