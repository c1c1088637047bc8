"""The macros of a page, {{ name("argument", option="…") }}, read by Jinja's own parser; and what
each of them cites.

    {{ claim("softmax.ragged_fp32.max_abs_err", field="bound") }}

is Call("claim", ("softmax.ragged_fp32.max_abs_err",), {"field": "bound"}, …). Arguments are text,
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache

from jinja2 import Environment, TemplateSyntaxError, nodes

from proof.problem import Fault
from proof.text.markdown import Macro, Markdown

WRITE_IT = 'Write {{ name("argument") }}, with straight quotes and text as arguments'

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


@dataclass(frozen=True)
class Call:
    """One macro of a page."""

    name: str
    args: tuple[str, ...]
    options: dict[str, str]
    line: int
    start: int  # of the opening braces, in the text
    end: int
    source: str  # as written, with its braces
    indent: str | None  # the blanks before it where it is alone on its line, else None


def citations(
    name: str, args: Iterable[str], options: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The ids that a macro cites, each with its room: claim, bug, term, decision, source, lab or
    section.
    """
    texts = list(args)
    if name in FIRST_CITES:
        yield from ((FIRST_CITES[name], text) for text in texts[:1])
    elif name == "drawing":
        yield from (("claim", text) for text in texts[1:])
    elif name in ALL_CITE:
        yield from (("claim", text) for text in texts)
    elif name == "given" and "source" in options:
        yield "source", options["source"]


def calls(page: Markdown, file: str, above: int = 0) -> Iterator[Call]:
    """The macros of a page in order; `above` lines of the file lie above its text.

    Raises Fault at the first one that cannot be read.
    """
    opened = page.unclosed_macro
    for macro in page.macros:
        if opened is not None and opened < macro.start:
            break
        try:
            name, args, options = _read(macro.source)
        except Fault as error:
            line = macro.line + above
            raise Fault(error.what, error.fix, line=line, file=file) from None
        indent = _indent(page.text, macro)
        yield Call(
            name, args, options, macro.line + above, macro.start, macro.end, macro.source, indent
        )
    if opened is not None:
        what = "a macro opens with {{ and does not close"
        fix = "Close it with }}, or write `{{` as code"
        raise Fault(what, fix, line=page.line_at(opened) + above, file=file)


def readable_calls(page: Markdown) -> Iterator[Call]:
    """The macros of a page that can be read; the expansion of the page names the others."""
    for macro in page.macros:
        with suppress(Fault):
            name, args, options = _read(macro.source)
            indent = _indent(page.text, macro)
            yield Call(
                name, args, options, macro.line, macro.start, macro.end, macro.source, indent
            )


def _indent(text: str, macro: Macro) -> str | None:
    """The blanks before a macro that is alone on its line."""
    before = text[text.rfind("\n", 0, macro.start) + 1 : macro.start]
    behind = text[macro.end :].partition("\n")[0]
    return None if before.strip() or behind.strip() else before


@cache
def _environment() -> Environment:
    """Jinja with macros alone: "{%" and "{#" are plain text, since headings have ids such as
    {#end}.
    """
    return Environment(
        block_start_string="\ue010",
        block_end_string="\ue011",
        comment_start_string="\ue012",
        comment_end_string="\ue013",
    )


@lru_cache(maxsize=4096)
def _read(source: str) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Name, arguments and options of a macro, given with its braces."""
    shown = f"{{{{ {source[2:-2].strip()} }}}}"
    try:
        output = _environment().parse(shown).body
    except (TemplateSyntaxError, RecursionError):
        raise Fault(f"the macro {shown} cannot be read", WRITE_IT) from None
    call = _only_call(output)
    if call is None or not isinstance(call.node, nodes.Name):
        raise Fault(f"the macro {shown} is not a call", WRITE_IT)
    name = call.node.name
    values = [*call.args, *(option.value for option in call.kwargs)]
    texts = [value.value for value in values if isinstance(value, nodes.Const)]
    if call.dyn_args or call.dyn_kwargs or len(texts) < len(values):
        raise Fault(f"an argument of {name} is not plain text", WRITE_IT)
    if not all(isinstance(text, str) for text in texts):
        raise Fault(f"an argument of {name} is not plain text", WRITE_IT)
    keys = [option.key for option in call.kwargs]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice:
        raise Fault(f"the option {twice} of {name} is given twice", "Leave one of them out")
    count = len(call.args)
    return name, tuple(texts[:count]), dict(zip(keys, texts[count:], strict=True))


def _only_call(body: list[nodes.Node]) -> nodes.Call | None:
    """The call that a template consists of; None for anything else."""
    match body:
        case [nodes.Output(nodes=[nodes.Call() as call])]:
            return call
    return None
