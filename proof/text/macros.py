"""Reading the macros of a page: {{ name("argument", option="…") }}, and nothing inside code, comments or mathematics."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from proof.problem import Fault

# What a page quotes and Markdown leaves alone. The order matters: the first that begins wins.
_OUTSIDE = r"""
    (?P<comment><!--.*?(?:-->|\Z))
  | (?P<fence>^[ \t>]*(?P<rail>`{3,}|~{3,})(?:(?<=~)[^\n]*|[^`\n]*)\n.*?(?:^[ \t>]*(?P=rail)[`~]*[ \t]*$|\Z))
  | (?P<math>\$\$.*?\$\$|\\\(.*?\\\)|\\\[.*?\\\])
  | (?P<escape>\\.)
  | (?P<span>(?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=tick)(?!`))
"""
_MACRO = re.compile(_OUTSIDE + r"| \{\{(?P<macro>.*?)\}\} | (?P<open>\{\{)", re.X | re.M | re.S)
_QUOTED = re.compile(_OUTSIDE + r"| \{\{.*?\}\}", re.X | re.M | re.S)


@dataclass(frozen=True)
class Call:
    """One macro of a page."""

    name: str
    args: tuple[str, ...]
    options: dict[str, str]
    line: int
    start: int  # of the opening braces, in the text
    end: int
    indent: str | None  # the blanks before it where it is alone on its line, else None


FIRST_CITES = {  # macros whose first argument is an id, and the room that it lies in
    "claim": "claim",
    "bug_diff": "bug",
    "term": "term",
    "adr": "decision",
    "source": "source",
    "lab_card": "lab",
    "notes": "section",
}
ALL_CITE = ("claims", "chart", "timeline")  # macros whose arguments are claims, all of them


def citations(name: str, args: Iterable[object], options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The ids that a macro cites, each with its room: claim, break, term, decision, source, lab or section."""
    texts = [argument for argument in args if isinstance(argument, str)]
    if name in FIRST_CITES:
        yield from ((FIRST_CITES[name], text) for text in texts[:1])
    elif name in ALL_CITE:
        yield from (("claim", text) for text in texts)
    elif name == "given" and isinstance(options.get("source"), str):
        yield "source", options["source"]


def calls(text: str, file: str, first_line: int = 1) -> Iterator[Call]:
    """The macros of a page in order. Raises Fault for one that cannot be read."""
    for match in _MACRO.finditer(text):
        line = first_line + text.count("\n", 0, match.start())
        if match["open"]:
            raise Fault(
                "a macro opens with {{ and does not close",
                "Close it with }}, or write `{{` as code",
                line=line,
                file=file,
            )
        if match["macro"] is None:
            continue
        name, args, options = _read(match["macro"].strip(), file, line)
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        after = re.match(r"[ \t]*(?:\n|\Z)", text[match.end() :])
        alone = after is not None and not before.strip()
        yield Call(name, args, options, line, match.start(), match.end(), before if alone else None)


def _read(source: str, file: str, line: int) -> tuple[str, tuple[str, ...], dict[str, str]]:
    fix = 'Write {{ name("argument") }}, with straight quotes and text as arguments'
    try:
        node = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError):
        raise Fault(f"the macro {{{{ {source} }}}} cannot be read", fix, line=line, file=file) from None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise Fault(f"the macro {{{{ {source} }}}} is not a call", fix, line=line, file=file)
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    if any(not isinstance(v, ast.Constant) or not isinstance(v.value, str) for v in values) or any(
        keyword.arg is None for keyword in node.keywords
    ):
        raise Fault(f"an argument of {node.func.id} is not plain text", fix, line=line, file=file)
    options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return node.func.id, tuple(ast.literal_eval(arg) for arg in node.args), options


def blank_quoted(text: str) -> str:
    """The text with code, comments, mathematics and macros blanked out, every line where it was."""
    return _QUOTED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def hide_comments(text: str, by: str) -> str:
    """The text with `by` for each HTML comment that is one and not code; one that does not close stays."""
    return _QUOTED.sub(lambda match: by if match["comment"] and match[0].endswith("-->") else match[0], text)
