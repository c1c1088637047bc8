"""Reads a lab without running it: header, docstring, sections, CLAIMS and BUGS, and what its companions say of it.

    CLAIMS = [Claim("ragged_fp32.max_abs_err", error, dict(n=98_432), why="96 full blocks and 128 elements")]
    BUGS = [Bug("no_mask", section="kernel", old="offsets < n_elements", new="offsets >= 0", …)]

Which fields a Claim and a Bug have, in which order, with which defaults and words, is read from labs/claims.py.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from proof.book.companions import companions, is_bundle, judge_hash, lab_hash, missing
from proof.book.model import Bug, Claim, Lab
from proof.problem import Problem, nearest

KEYS = ("Learn", "Run", "Memory", "GPU", "Minutes")  # of the docstring
CASE_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
BUG_NAME = re.compile(r"[a-z0-9_]+")
MARKER_LINE = re.compile(r"^[ \t]*# --8<-- \[(start|end):([\w-]+)\][ \t]*$", re.M)
PEP_723 = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
WRITE_OUT = "Write it out: labs are read without running them"
ARITHMETIC: dict[type[ast.operator | ast.unaryop], Callable[..., Any]] = {
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

Bad = Callable[[int, str, str], None]  # takes line, what, how to fix it
Scalar = float | int | str
Constants = Mapping[str, Scalar]


def read_lab(path: Path, source: str, file: str, texts: Mapping[str, str]) -> tuple[Lab | None, list[Problem]]:
    """The lab that `source` is, and what is wrong with it; no lab when it is not Python. `file` names it in problems.

    `texts` are the companions that there are, by name: {"judge.py": …, "claims.py": …}.
    """
    problems: list[Problem] = []
    try:
        lab = _lab(path, source, texts, lambda *problem: problems.append(Problem(file, *problem)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, what = getattr(error, "lineno", None) or 1, getattr(error, "msg", None) or str(error)
        return None, [Problem(file, line, f"is not Python: {what}", "Fix the syntax; the lab must run")]
    return lab, problems


def is_lab(path: Path) -> bool:
    """Whether a file of labs/ is a lab, and not a companion."""
    return path.name.startswith("triton_")


def short_name(stem: str) -> str:
    """How claims call a lab: triton_softmax is softmax."""
    return stem.removeprefix("triton_")


def _lab(path: Path, source: str, texts: Mapping[str, str], bad: Bad) -> Lab:
    tree = ast.parse(source)
    title, card = _card(ast.get_docstring(tree) or "")
    if not title:
        bad(1, "has no docstring", f"Begin with the question, then {', '.join(KEYS[:-1])} and {KEYS[-1]}")
    companion_texts, judge_sha256 = _companions(source, texts, bad)
    instrument = _instrument(source if is_bundle(source) else "\n".join(companion_texts.values()))
    sections = _sections(source, bad)
    table = _Tables(path.stem, tree, source.encode().split(b"\n"), instrument, sections, bad)
    claims = table.claims()
    bugs = table.bugs(claims)
    for bug in bugs.values():
        of = claims[bug.claim]
        claim_id = f"{short_name(path.stem)}.{bug.name}.bug"
        claims[claim_id] = Claim(
            claim_id, "bug", path.stem, bug.how, of.judges, of.gib, bug.seen, "", bug.claim, of.kind
        )
    return Lab(
        stem=path.stem,
        path=path,
        source=source,
        sha256=lab_hash(source),
        judge_sha256=judge_sha256,
        requires=_requires(source, bad),
        title=title,
        card=card,
        claims=claims,
        bugs=bugs,
        sections=sections,
        switches=instrument.switches,
        companions=companion_texts,
    )


def _companions(source: str, texts: Mapping[str, str], bad: Bad) -> tuple[dict[str, str], str]:
    """The companions' texts, each below those that it imports, and their hash; empty where they cannot be read."""
    line = source.count("\n", 0, max(source.find("# --8<-- [start:companions]"), 0)) + 1
    if gone := missing(source, texts):
        gone = [name for name in gone if name != "__future__.py"]
        bad(
            line, f"imports from {', '.join(gone)}, which is not beside it", "Put it into labs/, or import another file"
        )
    try:
        found = companions(source, texts)
        if not found and not is_bundle(source):
            if not gone:
                bad(line, "imports no companion", "Copy the block [start:companions] of labs/triton_vector_add.py")
            return {}, ""
        return found, judge_hash(source, texts)
    except (SyntaxError, ValueError) as error:
        bad(line, f"its companions cannot be read: {getattr(error, 'msg', None) or error}", "Fix them first")
        return {}, ""


# The docstring and the header


def _card(docstring: str) -> tuple[str, dict[str, str]]:
    """The first line of a lab's docstring, and its `Key: text` lines; a line that is indented continues the one above."""
    title, _, rest = docstring.partition("\n")
    card, key = {}, ""
    for line in rest.split("\n"):
        if match := re.match(r"([A-Z]\w*):\s+(.*)", line):
            key = match[1]
            card[key] = match[2].strip()
        elif key and line.startswith(" "):
            card[key] += "\n" + line.strip()
        else:
            key = ""
    return title.strip(), card


def _requires(source: str, bad: Bad) -> dict[str, str]:
    """The PEP 723 header's requirements as name -> specifier, such as torch -> ">=2.11,<2.15"."""
    header = PEP_723.search(source)
    fix = 'Begin the lab with # /// script, # requires-python = ">=3.11", # dependencies = ["torch>=…", …], # ///'
    if not header:
        bad(1, "has no PEP 723 header", fix)
        return {}
    line = source.count("\n", 0, header.start()) + 1
    content = re.sub(r"(?m)^# ?", "", header["content"])
    try:
        requirements = [Requirement(text) for text in tomllib.loads(content)["dependencies"]]
    except (tomllib.TOMLDecodeError, InvalidRequirement, KeyError, TypeError) as error:
        bad(line, f"the PEP 723 header cannot be read: {str(error).splitlines()[0]}", fix)
        return {}
    return {r.name: ",".join(sorted(map(str, r.specifier), reverse=True)) for r in requirements}


# Sections


def sections_of(text: str) -> dict[str, tuple[int, str]]:
    """The sections of a companion, each with the number of its first line."""
    return _sections(text, lambda line, what, fix: None)


def _sections(source: str, bad: Bad) -> dict[str, tuple[int, str]]:
    """The text between each pair of section markers, with the number of its first line. Markers may be indented."""
    sections: dict[str, tuple[int, str]] = {}
    opened: dict[str, tuple[int, int]] = {}  # name -> first line, where its text begins
    for marker in MARKER_LINE.finditer(source):
        line, (what, name) = source.count("\n", 0, marker.start()) + 1, marker.groups()
        if what == "start" and (name in opened or name in sections):
            bad(line, f"section {name} is opened twice", "Give each section a name of its own")
        elif what == "start":
            opened[name] = line + 1, marker.end() + 1
        elif name not in opened:
            bad(line, f"section {name} is closed and was not open", f"Write # --8<-- [start:{name}] above it")
        else:
            first, begin = opened.pop(name)
            sections[name] = first, source[begin : marker.start()]
    for name, (first, _) in opened.items():
        bad(first - 1, f"section {name} is not closed", f"Write # --8<-- [end:{name}] below its last line")
    return sections


# What the companions say: which fields a row has, which words are allowed, which switches a run sets


@dataclass(frozen=True)
class _Instrument:
    """What is read of claims.py and judge.py."""

    fields: Mapping[str, Mapping[str, ast.expr | None]]  # of Claim and of Bug, with the default where there is one
    words: Mapping[str, tuple[str, ...]]  # KINDS, JUDGES, CAUGHT
    switches: Mapping[str, str]


@lru_cache(maxsize=64)
def _instrument(text: str) -> _Instrument:
    """Read it from the text of the companions, or of a bundle, which holds them."""
    fields: dict[str, dict[str, ast.expr | None]] = {}
    words: dict[str, tuple[str, ...]] = {}
    switches: dict[str, str] = {}
    for node in ast.parse(text).body:
        match node:
            case ast.ClassDef(name="Claim" | "Bug" as name, body=body):
                declared = [each for each in body if isinstance(each, ast.AnnAssign)]
                fields[name] = {ast.unparse(each.target): each.value for each in declared}
            case ast.Assign(targets=[ast.Name(id="KINDS" | "JUDGES" | "CAUGHT" as name)], value=value):
                words[name] = ast.literal_eval(value)
            case ast.Assign(targets=[ast.Name(id="SWITCHES")], value=value):
                switches = ast.literal_eval(value)
    return _Instrument(fields, words, switches)


# The tables


@dataclass(frozen=True)
class _Row:
    """One Claim(…) or Bug(…): the expression of each field, in the row or by default."""

    line: int
    name: str
    values: Mapping[str, ast.expr | None]

    def text(self, field: str) -> str | None:
        """The string that a field is; None for anything else."""
        return _constant(self.values[field])

    def written(self, field: str) -> str:
        node = self.values[field]
        return "nothing" if node is None else ast.unparse(node)


class _Tables:
    """CLAIMS and BUGS of one lab. What is wrong in them goes to `bad`, and the row is left out."""

    def __init__(
        self,
        stem: str,
        tree: ast.Module,
        lines: list[bytes],
        instrument: _Instrument,
        sections: Mapping[str, tuple[int, str]],
        bad: Bad,
    ) -> None:
        self.stem, self.lines, self.instrument, self.sections, self.bad = stem, lines, instrument, sections, bad
        self.constants: dict[str, Scalar] = {}
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

    def scalar(self, node: ast.expr | None) -> Scalar | None:
        """The number or text that an expression is, without running anything."""
        value = arithmetic(node, self.constants) if node is not None else None
        if value is not None:
            return value
        if isinstance(node, ast.Name) and isinstance(self.constants.get(node.id), str):
            return self.constants[node.id]
        return _constant(node)

    def rows(self, table: str, kind: str, name_field: str) -> Iterator[_Row]:
        """The rows of CLAIMS or BUGS that have the right form, each name once."""
        node = self.tables.get(table)
        fields = self.instrument.fields.get(kind)
        if not isinstance(node, ast.List):
            self.bad(
                getattr(node, "lineno", 1),
                f"{table} is not a list literal at the top level",
                f"Write {table} = [{kind}(…), …] there",
            )
            return
        if fields is None:  # the companions are not there, which is a problem already
            return
        first: dict[str, int] = {}
        for element in node.elts:
            row = self._row(element, table, kind, name_field, fields)
            if row is None:
                continue
            if row.name in first:
                what = f"{row.name} is in {table} twice, first in line {first[row.name]}"
                self.bad(row.line, what, "Give each row an id of its own")
                continue
            first[row.name] = row.line
            yield row

    def _row(
        self, element: ast.expr, table: str, kind: str, name_field: str, fields: Mapping[str, ast.expr | None]
    ) -> _Row | None:
        line, call = element.lineno, element
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != kind:
            self.bad(line, f"a row of {table} is not {kind}(…)", WRITE_OUT)
            return None
        if any(isinstance(each, ast.Starred) for each in call.args) or any(k.arg is None for k in call.keywords):
            self.bad(line, f"a row of {table} unpacks something with *", WRITE_OUT)
            return None
        if len(call.args) > len(fields):
            what = f"a row of {table} has {len(call.args)} values, and {kind} has {len(fields)} fields"
            self.bad(line, what, f"Write {kind}({', '.join(fields)})")
            return None
        values: dict[str, ast.expr] = dict(zip(fields, call.args, strict=False))
        for keyword in call.keywords:
            name = str(keyword.arg)
            if name not in fields:
                self.bad(keyword.value.lineno, f"{kind} has no field {name}", nearest(name, fields))
                return None
            if name in values:
                self.bad(line, f"a row of {table} gives {name} twice", "Give it once, by position or by name")
                return None
            values[name] = keyword.value
        own_name = _constant(values.get(name_field))
        if own_name is None:
            self.bad(line, f"the {name_field} of a row of {table} is not a string literal", WRITE_OUT)
            return None
        absent = [name for name, default in fields.items() if default is None and name not in values]
        if absent:
            self.bad(line, f"{own_name} lacks {', '.join(absent)}", f"Write {kind}({', '.join(fields)})")
            return None
        return _Row(line, own_name, {**fields, **values})

    def claims(self) -> dict[str, Claim]:
        """The rows of CLAIMS by their full ids."""
        claims: dict[str, Claim] = {}
        for row in self.rows("CLAIMS", "Claim", "id"):
            claim = self._claim(row)
            if claim is not None:
                claims[claim.id] = claim
        return claims

    def _claim(self, row: _Row) -> Claim | None:
        words = self.instrument.words
        kind, judges, why = row.text("kind"), row.text("judges"), row.text("why")
        bound, gib = self.scalar(row.values["bound"]), self.scalar(row.values["gib"])
        predicted, tolerance = self._prediction(row)
        arguments = self._arguments(row)
        wrong = ""
        if not CASE_ID.fullmatch(row.name):
            wrong, fix = "is not a claim id", "Write case.metric, small letters, digits and _ only"
        elif kind not in words.get("KINDS", ()):
            wrong, fix = f"has the kind {row.written('kind')}", f"Allowed: {', '.join(words.get('KINDS', ()))}"
        elif judges not in words.get("JUDGES", ()):
            wrong, fix = f"can be judged by {row.written('judges')}", f"Allowed: {', '.join(words.get('JUDGES', ()))}"
        elif not why or not why.strip() or "\n" in why:
            wrong, fix = (
                "gives no reason for its bound",
                "Derive it from dtype, length of the sum and accumulator, in a line",
            )
        elif bound is None or (isinstance(bound, str) and kind not in ("count", "codegen")):
            wrong, fix = f"has the bound {row.written('bound')}", "Write a number, or arithmetic of numbers"
        elif not isinstance(gib, int):
            wrong, fix = f"needs {row.written('gib')} GiB", "Write a whole number of GiB"
        elif arguments is None:
            wrong, fix = f"has the arguments {row.written('args')}", "Write dict(n=98_432, dtype=torch.float16)"
        elif (predicted is None) != (tolerance == 0) or (predicted is not None and kind != "ratio"):
            wrong = f"predicts {row.written('predicted')} with the tolerance {row.written('tolerance')}"
            fix = "Only a ratio has a prediction: two numbers above 0, predicted=… and tolerance=…"
        if wrong:
            self.bad(row.line, f"{row.name} {wrong}", fix)
            return None
        claim_id = f"{short_name(self.stem)}.{row.name}"
        return Claim(
            claim_id, kind, self.stem, bound, judges, gib, why, arguments, predicted=predicted, tolerance=tolerance
        )

    def _prediction(self, row: _Row) -> tuple[float | None, float]:
        """What a model predicts and within what fraction; (None, 1.0) for what is no such pair of numbers."""
        nothing = {"predicted": "None", "tolerance": "0.0"}
        if all(row.written(field) == none for field, none in nothing.items()):
            return None, 0.0
        numbers = [self.scalar(row.values[field]) for field in nothing]
        if all(isinstance(number, int | float) and number > 0 for number in numbers):
            return float(numbers[0]), float(numbers[1])
        return None, 1.0

    def _arguments(self, row: _Row) -> str | None:
        """The arguments as the lab writes them, on one line: dict(n=98_432); None for anything but a dict."""
        node = row.values["args"]
        match node:
            case ast.Call(func=ast.Name(id="field")):  # its default in claims.py
                return "{}"
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if all(k.arg for k in keywords):
                return self._written(node)
            case ast.Dict(keys=[]):
                return "{}"
        return None

    def _written(self, node: ast.expr) -> str:
        """The node's source on one line. (ast.get_source_segment splits the whole file each time.)"""
        if node.lineno == node.end_lineno:
            return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
        return ast.unparse(node)

    def bugs(self, claims: Mapping[str, Claim]) -> dict[str, Bug]:
        """The rows of BUGS by their names."""
        bugs: dict[str, Bug] = {}
        caught = self.instrument.words.get("CAUGHT", ())
        for row in self.rows("BUGS", "Bug", "name"):
            texts = {field: row.text(field) for field in row.values}
            unclear = [field for field, text in texts.items() if text is None]
            if unclear:
                what = f"{row.name}: {unclear[0]} is {row.written(unclear[0])}, which is not a string literal"
                self.bad(row.line, what, WRITE_OUT)
                continue
            section, old, new, how = (str(texts[field]) for field in ("section", "old", "new", "how"))
            claim = f"{short_name(self.stem)}.{texts['caught_by']}"
            times = self.sections[section][1].count(old) if section in self.sections and old else 0
            wrong = ""
            if not BUG_NAME.fullmatch(row.name):
                wrong, fix = "is not a name of a bug", "Use small letters, digits and _ only"
            elif section not in self.sections:
                wrong = f"changes the section {section}, which is not there"
                fix = f"Allowed: {', '.join(self.sections) or 'none'}"
            elif times != 1:
                wrong = f"has the old text {old!r}, which is {times} times in section {section}"
                fix = "Choose a text that occurs once"
            elif old == new:
                wrong, fix = "changes nothing", "Let the new text differ from the old one"
            elif how not in caught:
                wrong, fix = f"is to be caught by {how!r}", f"Allowed: {', '.join(caught)}"
            elif claim not in claims:
                wrong = f"names the claim {texts['caught_by']}, which is not in CLAIMS"
                fix = "Name the claim that must then fail"
            elif not str(texts["shows"]).strip() or "\n" in str(texts["shows"]):
                wrong, fix = "does not say what it shows", "Write what a reader sees, in a line"
            if wrong:
                self.bad(row.line, f"{row.name} {wrong}", fix)
            else:
                bugs[row.name] = Bug(row.name, section, old, new, claim, how, str(texts["shows"]))
        return bugs


# Expressions


def _constant(node: ast.expr | None) -> str | None:
    """The string that a node is; None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def arithmetic(node: ast.expr, constants: Constants | None = None) -> float | int | None:
    """The number that a literal or arithmetic of literals gives, such as 64 * 2**-24; None for anything else.

    Names stand for numbers where `constants` has them.
    """
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float()):
            return node.value if math.isfinite(node.value) else None
        case ast.Name(id=name):
            value = (constants or {}).get(name)
            return value if isinstance(value, int | float) else None
        case ast.UnaryOp(op=op, operand=inner) if type(op) in ARITHMETIC:
            value = arithmetic(inner, constants)
            return None if value is None else ARITHMETIC[type(op)](value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            a, b = arithmetic(left, constants), arithmetic(right, constants)
            if a is None or b is None or (isinstance(op, ast.Pow) and (abs(b) > 1100 or abs(a) > 2**64)):
                return None
            try:
                value = ARITHMETIC[type(op)](a, b)
                return value if isinstance(value, int | float) and math.isfinite(value) else None
            except ArithmeticError:
                return None
    return None
