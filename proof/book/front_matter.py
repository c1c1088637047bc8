"""The front matter of a page: the YAML between two lines of `---` at its very top, where MkDocs
finds it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FRONT_MATTER = re.compile(r"-{3}[ \t]*\n(?P<yaml>[\s\S]*?\n)(?:-{3}|\.{3})[ \t]*\n")


@dataclass(frozen=True)
class FrontMatter:
    """For "---\\ntitle: A\\n---\\nText": the yaml "title: A\\n", 3 lines, and 17, where the text
    below begins.
    """

    yaml: str
    lines: int  # with its marks
    end: int


def front_matter(text: str) -> FrontMatter | None:
    """The front matter of a text, read or not; None where there is none, or nothing closes it."""
    match = FRONT_MATTER.match(text)
    if match is None:
        return None
    return FrontMatter(match["yaml"], match[0].count("\n"), match.end())


def below_front_matter(text: str) -> str:
    """The text without its front matter."""
    front = front_matter(text)
    return text[front.end :] if front else text
