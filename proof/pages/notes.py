"""Notes on lines of code: the list below {{ notes("triton_softmax:kernel") }}, each item bound to a
fragment of that section.

The item "- `tl.store(`: only here …" gets the number of the line that holds the fragment
`tl.store(`, so that a note moves with its line, and one whose line is gone is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proof.problem import Fault, nearest
from proof.text.macros import Call
from proof.text.markdown import Item, Kind, Markdown


@dataclass(frozen=True)
class Edit:
    """Put `text` in place of text[start:end] of a page."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after all of these edits, whose places are those of the text as it was."""
    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*parts, text[position:]])


def items_below(page: Markdown, call: Call) -> list[Item]:
    """The items of the list that follows a macro, with nothing between them."""
    last_line = page.line_at(call.end)
    first = next((item for item in page.items if item.line > last_line), None)
    if first is None:
        return []
    between = page.text.split("\n")[last_line : first.line - 1]
    if any(line.strip() for line in between):
        return []
    return [item for item in page.items if item.list == first.list]


def blanked(page: Markdown, call: Call) -> Edit:
    """The lines of the macro left empty: their number stays, so that later errors name the right
    line.
    """
    start = page.text.rfind("\n", 0, call.start) + 1
    end = page.text.find("\n", call.end)
    return Edit(start, len(page.text) if end < 0 else end, "\n" * call.source.count("\n"))


def fragment(page: Markdown, item: Item) -> str:
    """The code that a note begins with; nothing where it begins with other text."""
    code = next((p for p in page.pieces if p.start == item.start and p.kind is Kind.CODE), None)
    if code is None:
        return ""
    written = page.text[code.start : code.end]
    ticks = len(written) - len(written.lstrip("`"))
    return written[ticks:-ticks].removeprefix(" ").removesuffix(" ")


def place_in_code(fragment: str, code: str, name: str, last: int) -> int:
    """The place of the fragment in the section `name`, below the place `last` of the note before
    it. Raises Fault.
    """
    if not fragment:
        what = "a note begins with no code"
        raise Fault(what, f"Begin it with a fragment of {name} between backticks")
    count = code.count(fragment)
    if count != 1:
        lines = [line.strip() for line in code.split("\n") if line.strip()]
        longer = "Quote more of the line, so that it is the only one"
        fix = longer if count else nearest(fragment, lines)
        raise Fault(f"the fragment `{fragment}` occurs {count} times in {name}", fix)
    place = code.index(fragment)
    if place < last:
        what = f"the note on `{fragment}` is out of order"
        raise Fault(what, f"Put the notes in the order of {name}")
    return place
