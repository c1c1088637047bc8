"""Renders the templates of generated pages, templates/*.j2: Markdown with the words of words.yml.

In a template `t("claim")` is a word in the page's language and `up` the way to its root. What
format.py defines is there by its name, such as `badge`; what people wrote goes through `md` or `code`.
A row of a table is a block `{% filter row %}` with a line for each cell, a list inside a sentence
`{% filter joined(", ") %}` with a line for each item.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from proof.book.model import Lang
from proof.pages import format as elements
from proof.pages.words import word

FOLDER = Path(__file__).with_name("templates")
FILTERS = ("md", "code", "with_code", "number", "memory")


def joined(lines: str, separator: str) -> str:
    """The lines that are not blank, with the separator between them."""
    return separator.join(line.strip() for line in lines.split("\n") if line.strip())


def row(lines: str) -> str:
    """A row of a table whose cells are the lines that are not blank."""
    return f"| {joined(lines, ' | ')} |\n"


def heads(*cells: str) -> str:
    """The head of a table, and the line below it."""
    return f"| {' | '.join(cells)} |\n|{' --- |' * len(cells)}"


def indented(text: str) -> str:
    """Text as an admonition holds it: four blanks before each line that is not blank."""
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def commas(number: int) -> str:
    """12,288."""
    return f"{number:,}"


@cache
def _environment() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    known = {name: value for name, value in vars(elements).items() if callable(value)}
    templates.filters |= {name: known[name] for name in FILTERS}
    templates.filters |= {"row": row, "joined": joined, "indented": indented, "commas": commas}
    templates.globals |= known | {"heads": heads, "SHOWN": elements.SHOWN}
    return templates


def render(name: str, lang: Lang, up: str, **data: object) -> str:
    """The text of templates/`name`.md.j2."""
    template = _environment().get_template(f"{name}.md.j2")
    return template.render(lang=lang, up=up, t=partial(word, lang), **data)
