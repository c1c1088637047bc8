"""YAML and JSON → data with line numbers → models. What does not fit is a Fault: line, what was
found, how to fix it.

    data, lines = parse_yaml(text)  # {"id": "mask", "zh": {"short": "…"}}: every scalar is text
    fit(Term, data, lines)  # a Term, or Fault("topic: 'memery' is not one of …", line=2)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from proof.book import text
from proof.book.model import Filed, Step
from proof.problem import Fault, Problem, nearest

AS_PRINTED = "Give the file as the lab printed it with --json"
SYNTAX = "Fix the YAML"
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # by libyaml, ten times as fast
LONGEST_NUMBER = 19  # digits
SHOWN = 80  # characters of a value that does not fit

M = TypeVar("M", bound=BaseModel)
F = TypeVar("F", bound=Filed)
Json = Any  # what json.loads gives


class Marks:
    """The line of every place in a YAML or JSON text; see `proof.book.model.Lines`."""

    def __init__(self, written: str, root: Node | None = None) -> None:
        self._text, self._root = written, root

    @cached_property
    def root(self) -> Node | None:
        """The tree of the text; None for JSON that is not YAML, as with tabs."""
        if self._root is not None or "\n" not in self._text.strip():
            return self._root
        try:
            return yaml.compose(self._text, LOADER)
        except (yaml.YAMLError, RecursionError):
            return None

    def key(self, *place: Step) -> int:
        """The line of this place; of the nearest one around it where the text does not have it."""
        line = 1
        for label, _ in self._nodes(place):
            line = label.start_mark.line + 1
        return line

    def text(self, *place: Step) -> int:
        """The line in which the text of this place begins."""
        line = 1
        for label, value in self._nodes(place):
            line = label.start_mark.line + 1
            if isinstance(value, ScalarNode):
                blanks = len(value.value) - len(value.value.lstrip("\n"))
                line = value.start_mark.line + (2 if value.style in ("|", ">") else 1) + blanks
        return line

    def number(self, written: str) -> int:
        """The line of the first number that is written like this."""
        nodes = [self.root] if self.root else []
        while nodes:
            node = nodes.pop()
            if isinstance(node, ScalarNode) and node.value == written and not node.style:
                return int(node.start_mark.line) + 1
            children = node.value if isinstance(node, MappingNode | SequenceNode) else ()
            for child in reversed(children):
                nodes += reversed(child) if isinstance(child, tuple) else (child,)
        return 1

    def _nodes(self, place: Sequence[Step]) -> Iterator[tuple[Node, Node]]:
        """Key and value, or twice the item, of each step of the place that is there."""
        node = self.root
        for step in place:
            pairs: list[tuple[Node, Node]] = []
            if isinstance(node, MappingNode):
                pairs = [(key, value) for key, value in node.value if key.value == step]
            elif isinstance(node, SequenceNode) and isinstance(step, int):
                pairs = [(value, value) for value in node.value[step : step + 1]]
            if not pairs:
                return
            yield pairs[0]
            node = pairs[0][1]


# Parsing


def parse_yaml(written: str) -> tuple[dict[str, Any], Marks]:
    """A YAML mapping in which every scalar is text; keys without a value, or null, are left out.

    `a: no` is {"a": "no"}, `a: null` is {}. Raises Fault, also for a key that is given twice.
    """
    try:
        root = yaml.compose(written, LOADER)
        data = _value(root) if root else None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        what = (error.problem or error.context or "").split("\n")[0]
        raise Fault(f"is not YAML: {what}", SYNTAX, line=line) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise Fault(f"is not YAML: {str(error).splitlines()[0]}", SYNTAX) from None
    if not isinstance(data, dict):
        raise Fault("holds no `key: value` lines", "Write it like the other files of its folder")
    return data, Marks(written, root)


def _value(node: Node) -> Any:
    if isinstance(node, SequenceNode):
        return [_value(item) for item in node.value]
    if not isinstance(node, MappingNode):
        return node.value
    data: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, item in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            raise Fault("a key is not text", "Write `key: value`", line=line)
        if key.value in lines:
            what = f"the key {key.value} is given twice, first in line {lines[key.value]}"
            raise Fault(what, "Keep one of them", line=line)
        lines[key.value] = line
        value = _value(item)
        if value not in ("", "null", "~"):
            data[key.value] = value
    return data


def parse_json(written: str) -> tuple[Json, Marks]:
    """JSON of finite numbers without a key that is given twice. Raises Fault with the line."""
    marks = Marks(written)

    def finite(number: str) -> float:
        value = float(number)
        if math.isfinite(value):
            return value
        fix = "Write null for a figure that is not finite"
        raise Fault(f"{number} is not a finite number", fix, line=marks.number(number))

    def whole(number: str) -> int:
        if len(number) <= LONGEST_NUMBER:
            return int(number)
        what = f"{number[:LONGEST_NUMBER]}… is larger than any count"
        raise Fault(what, AS_PRINTED, line=marks.number(number))

    def mapping(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        data = dict(pairs)
        if len(data) == len(pairs):
            return data
        if marks.root is not None:
            _value(marks.root)  # raises with the line
        key = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise Fault(f"the key {key} is given twice", AS_PRINTED)

    try:
        data = json.loads(
            written,
            parse_float=finite,
            parse_int=whole,
            parse_constant=finite,
            object_pairs_hook=mapping,
        )
    except json.JSONDecodeError as error:
        raise Fault(f"is not JSON: {error.msg}", AS_PRINTED, line=error.lineno) from None
    except RecursionError:
        raise Fault("is not JSON that a lab prints: it is too deep", AS_PRINTED) from None
    return data, marks


# Fitting


def read_yaml(path: Path, model: type[F]) -> F:
    """What a YAML file holds. Raises Fault where it cannot be read or does not fit."""
    data, lines = parse_yaml(text.read(path))
    return fit(model, data, lines).at(path, lines)


def read_json(path: Path, model: type[F]) -> F:
    """What a JSON file holds. Raises Fault where it cannot be read or does not fit."""
    data, lines = parse_json(text.read(path))
    return fit(model, data, lines).at(path, lines)


def fit(model: type[M], data: Any, lines: Marks) -> M:
    """The model that the data is. Raises Fault with each place that does not fit, in the order of
    lines.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Fault.of(_problems(model, error, data, lines)) from None


def _problems(
    model: type[BaseModel], error: ValidationError, data: Any, lines: Marks
) -> list[Problem]:
    """One problem for each place, however many branches of a union it does not fit."""
    places: dict[tuple[Step, ...], list[Any]] = {}
    for each in error.errors(include_url=False):
        place = _place(each["loc"], data)
        if each["type"] == "missing":
            place = (*place, each["loc"][-1])
        elif each["type"] == "union_tag_not_found":
            place = (*place, each["ctx"]["discriminator"].strip("'"))
        places.setdefault(place, []).append(each)
    problems = []
    for place, errors in places.items():
        what, fix = _sentences(place, errors, Declared(model, data))
        problems.append(Problem("", lines.key(*place), what, fix))
    return sorted(problems, key=lambda problem: problem.line)


def _place(steps: Sequence[Step], data: Any) -> tuple[Step, ...]:
    """The steps that lead through the data; pydantic also names the branch of a union, which no
    file has.
    """
    place: list[Step] = []
    for step in steps:
        inside_mapping = isinstance(data, dict) and step in data
        inside_list = isinstance(data, list) and isinstance(step, int) and step < len(data)
        if inside_mapping or inside_list:
            data = data[step]
            place.append(step)
    return tuple(place)


@dataclass(frozen=True)
class Declared:
    """What a model says of the places of a file, as its JSON Schema has it."""

    model: type[BaseModel]
    data: Any

    @cached_property
    def top(self) -> dict[str, Any]:
        return self.model.model_json_schema()

    def at(self, place: Sequence[Step]) -> dict[str, Any]:
        """The schema of a place; nothing where the model declares none."""
        node, data = self._resolved(self.top, self.data), self.data
        for step in place:
            if isinstance(step, int):
                node = node.get("items", {})
            else:
                node = (
                    node.get("properties", {}).get(step) or node.get("additionalProperties") or {}
                )
            try:
                data = data[step]
            except (LookupError, TypeError):
                data = None
            node = self._resolved(node, data)
        return node

    def _resolved(self, node: Any, data: Any) -> dict[str, Any]:
        """The node with what it refers to; of a union the branch that the data asks for."""
        if not isinstance(node, dict):
            return {}
        if "$ref" in node:
            referred = self._resolved(self.top["$defs"][node["$ref"].rpartition("/")[2]], data)
            return referred | {key: value for key, value in node.items() if key != "$ref"}
        if "discriminator" in node and isinstance(data, dict):
            tag = data.get(node["discriminator"]["propertyName"])
            branch = node["discriminator"]["mapping"].get(tag) if isinstance(tag, str) else None
            return self._resolved({"$ref": branch}, data) if branch else node
        branches = node.get("anyOf", [])
        if len([branch for branch in branches if branch.get("type") != "null"]) == 1:
            return self._resolved(branches[0], data) | {
                k: v for k, v in node.items() if k != "anyOf"
            }
        return node


KINDS = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "tuple_type": "a list",
    "list_type": "a list",
}


def _sentences(place: tuple[Step, ...], errors: list[Any], declared: Declared) -> tuple[str, str]:
    """What was found at this place, and what is allowed there."""
    kind, value, context = errors[0]["type"], errors[0]["input"], errors[0].get("ctx", {})
    name, inside = ".".join(map(str, place)), declared.at(place[:-1])
    fix = _allowed(declared.at(place)) or f"See {declared.model.__name__} in proof/book/model.py"
    at = f"{name}: " if name else ""
    match kind:
        case "missing" | "union_tag_not_found":
            return f"{name} is missing", fix
        case "extra_forbidden":
            known = inside.get("properties", {})
            return (
                f"{name} is unknown",
                f"Allowed: {', '.join(known)}. {nearest(str(place[-1]), known)}",
            )
        case "literal_error":
            allowed = context["expected"].replace("'", "").replace(" or ", ", ")
            return f"{at}{_shown(value)} is not one of {allowed}", fix
        case "union_tag_invalid":
            allowed = context["expected_tags"].replace("'", "")
            return f"{at}{context['tag']!r} is not one of {allowed}", f"Allowed: {allowed}"
        case "string_pattern_mismatch":
            return f"{at}{_shown(value)} does not fit", fix
        case "string_too_long":
            return f"{at}has {len(value)} characters, and {context['max_length']} are allowed", fix
        case "too_long" | "too_short":
            limit = context.get("max_length", context.get("min_length"))
            return f"{at}has {context['actual_length']} entries, and the limit is {limit}", fix
        case "string_too_short":
            return f"{at}is empty", fix
        case "greater_than_equal":
            return f"{at}{_shown(value)} is less than {context['ge']}", fix
        case "greater_than":
            return f"{at}{_shown(value)} is not above {context['gt']}", fix
        case "less_than":
            return f"{at}{_shown(value)} is larger than any count", fix
        case "unlike" | "twice" | "needed":
            return f"{at}{_shown(value) + ' ' if kind == 'unlike' else ''}{errors[0]['msg']}", fix
    kinds = list(dict.fromkeys(KINDS[each["type"]] for each in errors if each["type"] in KINDS))
    if kinds:
        return f"{at}{_shown(value)} is not {' or '.join(kinds)}", fix
    return f"{at}{errors[0]['msg'][:1].lower()}{errors[0]['msg'][1:]}", fix


def _allowed(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"Allowed: {', '.join(map(str, schema['enum']))}"
    if "properties" in schema:
        return f"Its fields: {', '.join(schema['properties'])}"
    return f"Allowed: {schema['description']}" if "description" in schema else ""


def _shown(value: Any) -> str:
    shown = (
        json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, dict | list)
        else repr(value)
    )
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN // 2]} … {shown[-SHOWN // 2 :]}"
