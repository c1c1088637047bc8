"""CLAIMS and BUGS of a lab, read from their syntax.

    CLAIMS = [Claim("ragged_fp32.max_abs_err", error, dict(n=98_432), why="96 full blocks and …")]
    BUGS = [Bug("no_mask", section="kernel", old="offsets < n", new="offsets >= 0", …)]

Which fields a Claim and a Bug have, in which order, with which defaults and words, is read from
labs/claims.py.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from proof.book.model import Argument, Bug, Claim, Section
from proof.book.python import parsed
from proof.problem import nearest

CASE_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
BUG_NAME = re.compile(r"[a-z0-9_]+")
WRITE_OUT = "Write it out: labs are read without running them"
Operation = Callable[..., Any]
ARITHMETIC: dict[type[ast.operator | ast.unaryop], Operation] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}

Report = Callable[[int, str, str], None]  # takes line, what, how to fix
Value = float | int | str
Wrong = tuple[str, str]  # what, how to fix


# What the companions declare


@dataclass(frozen=True)
class Instrument:
    """What claims.py and judge.py declare."""

    fields: Mapping[str, Mapping[str, ast.expr | None]]  # of Claim and Bug -> default, None if none
    words: Mapping[str, tuple[str, ...]]  # KINDS, JUDGES, CAUGHT
    switches: Mapping[str, str]  # what a run sets


@lru_cache(maxsize=64)  # the same companions serve many labs
def instrument(*texts: str) -> Instrument:
    """Read it from the texts of the companions, or from a bundle, which holds them."""
    fields: dict[str, dict[str, ast.expr | None]] = {}
    words: dict[str, tuple[str, ...]] = {}
    switches: dict[str, str] = {}
    for node in (node for text in texts for node in parsed(text).body):
        match node:
            case ast.ClassDef(name="Claim" | "Bug" as name, body=body):
                declared = [each for each in body if isinstance(each, ast.AnnAssign)]
                fields[name] = {ast.unparse(each.target): each.value for each in declared}
            case ast.Assign(
                targets=[ast.Name(id="KINDS" | "JUDGES" | "CAUGHT" as name)], value=value
            ):
                words[name] = ast.literal_eval(value)
            case ast.Assign(targets=[ast.Name(id="SWITCHES")], value=value):
                switches = ast.literal_eval(value)
    return Instrument(fields, words, switches)


# The tables


@dataclass(frozen=True)
class Row:
    """One Claim(…) or Bug(…): the expression of each field, in the row or by default."""

    line: int
    name: str
    values: Mapping[str, ast.expr | None]

    def text(self, field: str) -> str:
        """The string that a field is; empty for anything else."""
        return string(self.values[field]) or ""

    def written(self, field: str) -> str:
        node = self.values[field]
        return "nothing" if node is None else ast.unparse(node)


class Tables:
    """The tables of one lab. What is wrong in them is reported, and the row is left out."""

    def __init__(
        self,
        stem: str,
        tree: ast.Module,
        source: str,
        instrument: Instrument,
        sections: Mapping[str, Section],
        report: Report,
    ) -> None:
        self.stem, self.instrument, self.sections, self.report = stem, instrument, sections, report
        self.source_lines = source.encode().split(b"\n")
        self.constants: dict[str, Value] = {}
        self.tables: dict[str, ast.expr] = {}
        for node in tree.body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assigned(name, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._assigned(name, value)

    def _assigned(self, name: str, value: ast.expr) -> None:
        if name in ("CLAIMS", "BUGS"):
            self.tables[name] = value
        elif (scalar := self.scalar(value)) is not None:
            self.constants[name] = scalar

    @property
    def lines(self) -> dict[str, int]:
        """The line in which each table begins."""
        return {name: table.lineno for name, table in self.tables.items()}

    def scalar(self, node: ast.expr | None) -> Value | None:
        """The number or text that an expression is, without running anything."""
        if node is None:
            return None
        number = arithmetic(node, self.constants)
        if number is not None:
            return number
        if isinstance(node, ast.Name):
            return self.constants.get(node.id)
        return string(node)

    # Rows

    def rows(self, table: str, kind: str, name_field: str) -> Iterator[Row]:
        """The rows of CLAIMS or BUGS that have the right form, each name once."""
        node = self.tables.get(table)
        if not isinstance(node, ast.List):
            what = f"{table} is not a list literal at the top level"
            self.report(node.lineno if node else 1, what, f"Write {table} = [{kind}(…), …] there")
            return
        fields = self.instrument.fields.get(kind)
        if fields is None:  # the companions are not there, which is reported
            return
        lines: dict[str, int] = {}
        for element in node.elts:
            row = self._row(element, table, kind, name_field, fields)
            if row is None:
                continue
            if row.name in lines:
                what = f"{row.name} is in {table} twice, first in line {lines[row.name]}"
                self.report(row.line, what, "Give each row an id of its own")
                continue
            lines[row.name] = row.line
            yield row

    def _row(
        self,
        element: ast.expr,
        table: str,
        kind: str,
        name_field: str,
        fields: Mapping[str, ast.expr | None],
    ) -> Row | None:
        line = element.lineno
        if not isinstance(element, ast.Call) or ast.unparse(element.func) != kind:
            self.report(line, f"a row of {table} is not {kind}(…)", WRITE_OUT)
            return None
        starred = any(isinstance(each, ast.Starred) for each in element.args)
        if starred or any(keyword.arg is None for keyword in element.keywords):
            self.report(line, f"a row of {table} unpacks something with *", WRITE_OUT)
            return None
        form = f"Write {kind}({', '.join(fields)})"
        if len(element.args) > len(fields):
            count = f"{len(element.args)} values, and {kind} has {len(fields)} fields"
            self.report(line, f"a row of {table} has {count}", form)
            return None
        values: dict[str, ast.expr] = dict(zip(fields, element.args, strict=False))
        for keyword in element.keywords:
            name = str(keyword.arg)
            if name not in fields:
                what = f"{kind} has no field {name}"
                self.report(keyword.value.lineno, what, nearest(name, fields))
                return None
            if name in values:
                what = f"a row of {table} gives {name} twice"
                self.report(line, what, "Give it once, by position or by name")
                return None
            values[name] = keyword.value
        row_name = string(values.get(name_field))
        if row_name is None:
            what = f"the {name_field} of a row of {table} is not a string literal"
            self.report(line, what, WRITE_OUT)
            return None
        absent = [
            name for name, default in fields.items() if default is None and name not in values
        ]
        if absent:
            self.report(line, f"{row_name} lacks {', '.join(absent)}", form)
            return None
        return Row(line, row_name, {**fields, **values})

    # Claims

    def claims(self) -> dict[str, Claim]:
        """The rows of CLAIMS by their full ids."""
        claims: dict[str, Claim] = {}
        for row in self.rows("CLAIMS", "Claim", "id"):
            wrong = self._wrong_claim(row)
            if wrong:
                self.report(row.line, f"{row.name} {wrong[0]}", wrong[1])
            else:
                claim = self._claim(row)
                claims[claim.id] = claim
        return claims

    def _wrong_claim(self, row: Row) -> Wrong | None:
        bound, gib, words = self._bound(row), self.scalar(row.values["gib"]), self.instrument.words
        if not CASE_ID.fullmatch(row.name):
            return "is not a claim id", "Write case.metric, small letters, digits and _ only"
        for field, allowed, what in (
            ("kind", words.get("KINDS", ()), "has the kind"),
            ("judges", words.get("JUDGES", ()), "can be judged by"),
        ):
            if row.text(field) not in allowed:
                return f"{what} {row.written(field)}", f"Allowed: {', '.join(allowed)}"
        if not row.text("why").strip() or "\n" in row.text("why"):
            fix = "Derive it from dtype, length of the sum and accumulator, in one line"
            return "gives no reason for its bound", fix
        if bound is None:
            fix = "Write a number, or arithmetic of numbers"
            return f"has the bound {row.written('bound')}", fix
        if not isinstance(gib, int):
            return f"needs {row.written('gib')} GiB", "Write a whole number of GiB"
        if self._arguments(row) is None:
            fix = "Write dict(n=98_432, dtype=torch.float16)"
            return f"has the arguments {row.written('args')}", fix
        if not self._prediction_fits(row):
            predicted, tolerance = row.written("predicted"), row.written("tolerance")
            fix = "Only a ratio has a prediction: two numbers above 0, predicted=… and tolerance=…"
            return f"predicts {predicted} with the tolerance {tolerance}", fix
        return None

    def _claim(self, row: Row) -> Claim:
        predicted, tolerance = self._prediction(row)
        bound, gib = self._bound(row), self.scalar(row.values["gib"])
        assert bound is not None and isinstance(gib, int)
        return Claim(
            id=f"{self.stem.removeprefix('triton_')}.{row.name}",
            kind=row.text("kind"),  # type: ignore[arg-type]  # one of KINDS
            lab=self.stem,
            bound=bound,
            judges=row.text("judges"),  # type: ignore[arg-type]  # one of JUDGES
            gib=gib,
            why=row.text("why"),
            arguments=self._arguments(row) or {},
            predicted=predicted,
            tolerance=tolerance or 0.0,
            line=row.line,
        )

    def _bound(self, row: Row) -> Value | None:
        """A number; for what is compared for equality also a text."""
        bound = self.scalar(row.values["bound"])
        if isinstance(bound, str) and row.text("kind") not in ("count", "codegen"):
            return None
        return bound

    def _prediction(self, row: Row) -> tuple[float | None, float | None]:
        """What a model predicts, and within what fraction; None for what is no number above 0."""
        numbers = []
        for field in ("predicted", "tolerance"):
            number = arithmetic(row.values[field] or ast.Constant(None), self.constants)
            numbers.append(float(number) if number is not None and number > 0 else None)
        return numbers[0], numbers[1]

    def _prediction_fits(self, row: Row) -> bool:
        if (row.written("predicted"), row.written("tolerance")) == ("None", "0.0"):
            return True  # there is none
        return row.text("kind") == "ratio" and None not in self._prediction(row)

    def _arguments(self, row: Row) -> dict[str, Argument] | None:
        """dict(n=98_432, dtype=torch.float16) by name; None for what is not written so."""
        match row.values["args"]:
            case ast.Call(func=ast.Name(id="field")):  # its default in claims.py
                return {}
            case ast.Dict(keys=[]):
                return {}
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
                arguments = {}
                for keyword in keywords:
                    if keyword.arg is None:
                        return None
                    written = self._written(keyword.value)
                    arguments[keyword.arg] = Argument(written, self._value(keyword.value))
                return arguments
        return None

    def _value(self, node: ast.expr) -> bool | int | float | str | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return node.value
        return self.scalar(node)

    def _written(self, node: ast.expr) -> str:
        """The node's source on one line; ast.get_source_segment splits the whole file each time."""
        if node.lineno == node.end_lineno:
            line = self.source_lines[node.lineno - 1]
            return line[node.col_offset : node.end_col_offset].decode()
        return ast.unparse(node)

    # Bugs

    def bugs(self, claims: Mapping[str, Claim]) -> dict[str, Bug]:
        """The rows of BUGS by their names."""
        bugs: dict[str, Bug] = {}
        for row in self.rows("BUGS", "Bug", "name"):
            claim_id = f"{self.stem.removeprefix('triton_')}.{row.text('caught_by')}"
            wrong = self._wrong_bug(row, claim_id in claims)
            if wrong:
                self.report(row.line, f"{row.name} {wrong[0]}", wrong[1])
                continue
            bugs[row.name] = Bug(
                name=row.name,
                section=row.text("section"),
                old=row.text("old"),
                new=row.text("new"),
                claim=claim_id,
                how=row.text("how"),
                shows=row.text("shows"),
                line=row.line,
            )
        return bugs

    def _wrong_bug(self, row: Row, claim_exists: bool) -> Wrong | None:
        for field, node in row.values.items():
            if string(node) is None:
                return f"has for {field} {row.written(field)}, not a string literal", WRITE_OUT
        section, old, how = row.text("section"), row.text("old"), row.text("how")
        caught = self.instrument.words.get("CAUGHT", ())
        if not BUG_NAME.fullmatch(row.name):
            return "is not a name of a bug", "Use small letters, digits and _ only"
        if section not in self.sections:
            what = f"changes the section {section}, which does not exist"
            return what, f"Allowed: {', '.join(self.sections) or 'none'}"
        times = self.sections[section].text.count(old) if old else 0
        if times != 1:
            what = f"has the old text {old!r}, which occurs {times} times in section {section}"
            return what, "Choose a text that occurs once"
        if old == row.text("new"):
            return "changes nothing", "Let the new text differ from the old one"
        if how not in caught:
            return f"is to be caught by {how!r}", f"Allowed: {', '.join(caught)}"
        if not claim_exists:
            what = f"names the claim {row.text('caught_by')}, which is not in CLAIMS"
            return what, "Name the claim that must then fail"
        if not row.text("shows").strip() or "\n" in row.text("shows"):
            return "does not say what it shows", "Write what a reader sees, in one line"
        return None


# Expressions


def string(node: ast.expr | None) -> str | None:
    """The string that a node is; None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def arithmetic(node: ast.expr, constants: Mapping[str, Value] | None = None) -> float | int | None:
    """The number that a literal or arithmetic of literals gives, such as 64 * 2**-24.

    None for anything else. Names stand for numbers where `constants` has them.
    """
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as number):
            return number if math.isfinite(number) else None
        case ast.Name(id=name):
            return _number((constants or {}).get(name))
        case ast.UnaryOp(op=op, operand=inner) if type(op) in ARITHMETIC:
            operand = arithmetic(inner, constants)
            return None if operand is None else _number(ARITHMETIC[type(op)](operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            a, b = arithmetic(left, constants), arithmetic(right, constants)
            if a is None or b is None:
                return None
            if isinstance(op, ast.Pow) and (abs(b) > 1100 or abs(a) > 2**64):
                return None
            try:
                return _number(ARITHMETIC[type(op)](a, b))
            except ArithmeticError:
                return None
    return None


def _number(value: object) -> float | int | None:
    return value if isinstance(value, int | float) and math.isfinite(value) else None
