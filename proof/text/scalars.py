"""The texts that a YAML file holds, and where: values of keys and items of lists, not those in [ ]
or { }.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml


@dataclass(frozen=True)
class Scalar:
    """A text as it is written, text[start:end] of the file, quotes and indents included.

    `folded` says that YAML joins its lines by a blank: all but those below a |.
    """

    start: int
    end: int
    folded: bool


def scalars(text: str) -> list[Scalar]:
    """The texts of a YAML file in order; none where it is not YAML, which its loader reports."""
    try:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return []
    return list(_scalars(root, text))


def _scalars(node: yaml.Node | None, text: str) -> Iterator[Scalar]:
    if isinstance(node, yaml.ScalarNode):
        start, end = node.start_mark.index, node.end_mark.index
        if node.style in ("|", ">"):
            start = text.find("\n", start, end) + 1 or end
        yield Scalar(start, end, folded=node.style != "|")
    elif isinstance(node, yaml.SequenceNode) and not node.flow_style:
        for value in node.value:
            yield from _scalars(value, text)
    elif isinstance(node, yaml.MappingNode) and not node.flow_style:
        for _, value in node.value:
            yield from _scalars(value, text)
