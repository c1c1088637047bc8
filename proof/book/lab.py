"""A lab as data: its tables, sections, header and docstring, read from its syntax and never by importing it."""

from __future__ import annotations

import ast
import hashlib
import io
import math
import operator
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from packaging.requirements import InvalidRequirement, Requirement

from proof.book.model import Argument, Bug, Claim, Judges, Lab, Section
from proof.problem import Problem

COMMON_MARKER = "# %% The common part"
CASE_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
MARKER_LINE = re.compile(r"^[ \t]*# --8<-- \[(start|end):([\w-]+)\][ \t]*$", re.M)
PEP_723 = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
KINDS = ("error", "ratio", "count", "codegen")
WAYS = ("error", "guard", "nonfinite", "fault")  # how a bug may be caught
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


def read_lab(path: Path, source: str, file: str) -> tuple[Lab | None, list[Problem]]:
    """The lab that `source` is, and what is wrong with it; no lab when it is not Python. `file` names it in problems."""
    problems: list[Problem] = []

    def report(line: int, what: str, fix: str) -> None:
        problems.append(Problem(file, line, what, fix))

    try:
        lab = _lab(path, source, report)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        what = getattr(error, "msg", None) or str(error)
        return None, [
            Problem(file, line, f"is not Python: {what}", "Fix the syntax; the lab must run alone")
        ]
    return lab, problems


def _lab(path: Path, source: str, report: Report) -> Lab:
    tree = ast.parse(source)
    stem, lesson = path.stem, lesson_part(source)
    title, card, lines = _docstring(tree)
    if not title:
        report(
            1,
            "has no docstring",
            "Begin with the question, then Learn, Run, Memory, Card and Minutes",
        )
    tables = _tables(tree, report)
    lines |= {name: table.lineno for name, table in tables.items()}
    sections = _sections(lesson, report)
    claims = _claims(tables["CLAIMS"], stem, source, report)
    bugs = _bugs(tables["BREAKS"], stem, claims, sections, report)
    for bug in bugs.values():
        claim = _bug_claim(bug, claims[bug.claim])
        claims[claim.id] = claim
    requires, lines["dependencies"] = _requires(source, report)
    return Lab(
        stem=stem,
        path=path,
        source=source,
        sha256=lesson_hash(source),
        judge_sha256="",
        requires=requires,
        title=title,
        card=card,
        claims=claims,
        bugs=bugs,
        sections=sections,
        switches=_switches(tree),
        lines=lines,
    )


def short_name(stem: str) -> str:
    """How claims call a lab: softmax for triton_softmax."""
    return stem.removeprefix("triton_")


def _tables(tree: ast.Module, report: Report) -> dict[str, ast.Dict]:
    """The dict literals CLAIMS and BREAKS; an empty one in place of one that is missing."""
    values: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="CLAIMS" | "BREAKS" as name)], value=value):
                values[name] = value
            case ast.AnnAssign(
                target=ast.Name(id="CLAIMS" | "BREAKS" as name), value=ast.expr() as value
            ):
                values[name] = value
    tables: dict[str, ast.Dict] = {}
    for name in ("CLAIMS", "BREAKS"):
        written = values.get(name)
        if isinstance(written, ast.Dict):
            tables[name] = written
            continue
        line = written.lineno if written else 1
        what = f"{name} is not a dict literal at the top level"
        report(line, what, f'Write {name} = {{"name": (…), …}} there')
        tables[name] = ast.Dict([], [], lineno=line)
    return tables


def _switches(tree: ast.Module) -> dict[str, str]:
    """What os.environ.setdefault sets at the top level: TRITON_DEFAULT_FP_FUSION -> "1"."""
    switches = {}
    for node in tree.body:
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=function,
                    args=[ast.Constant(value=str(name)), ast.Constant(value=str(value))],
                )
            ):
                if ast.unparse(function) == "os.environ.setdefault":
                    switches[name] = value
    return switches


# The docstring and the header


def _docstring(tree: ast.Module) -> tuple[str, dict[str, str], dict[str, int]]:
    """The first line, the `Key: text` lines, and the line number of each, of the whole as "docstring".

    A line that is indented continues the one above.
    """
    text, whole = ast.get_docstring(tree) or "", ast.get_docstring(tree, clean=False) or ""
    first = tree.body[0].lineno + len(whole) - len(whole.lstrip("\n")) if text else 1
    title, _, rest = text.partition("\n")
    card: dict[str, str] = {}
    lines, key = {"docstring": first}, ""
    for number, line in enumerate(rest.split("\n"), first + 1):
        if match := re.match(r"([A-Z]\w*):\s+(.*)", line):
            key = match[1]
            card[key], lines[key] = match[2].strip(), number
        elif key and line.startswith(" "):
            card[key] += "\n" + line.strip()
        else:
            key = ""
    return title.strip(), card, lines


def _requires(source: str, report: Report) -> tuple[dict[str, str], int]:
    """The PEP 723 header's requirements as name -> specifier, such as torch -> ">=2.11,<2.15"; and their line."""
    header = PEP_723.search(source)
    fix = 'Begin the lab with # /// script, # requires-python = ">=3.11", # dependencies = ["torch>=…", …], # ///'
    if not header:
        report(1, "has no PEP 723 header", fix)
        return {}, 1
    line = source.count("\n", 0, header.start()) + 1
    try:
        content = tomllib.loads(re.sub(r"(?m)^# ?", "", header["content"]))
        requirements = [Requirement(text) for text in content["dependencies"]]
    except (tomllib.TOMLDecodeError, InvalidRequirement, KeyError, TypeError) as error:
        report(line, f"the PEP 723 header cannot be read: {str(error).splitlines()[0]}", fix)
        return {}, line
    requires = {
        each.name: ",".join(sorted(map(str, each.specifier), reverse=True)) for each in requirements
    }
    begin = header.start("content") + max(0, header["content"].find("dependencies"))
    return requires, source.count("\n", 0, begin) + 1


# Sections


def _sections(lesson: str, report: Report) -> dict[str, Section]:
    """The text between each pair of section markers, with the number of its first line."""
    sections: dict[str, Section] = {}
    opened: dict[str, tuple[int, int]] = {}  # name -> first line, where its text begins
    for marker in MARKER_LINE.finditer(lesson):
        line, (what, name) = lesson.count("\n", 0, marker.start()) + 1, marker.groups()
        if what == "start" and (name in opened or name in sections):
            report(line, f"section {name} is opened twice", "Give each section a name of its own")
        elif what == "start":
            opened[name] = line + 1, marker.end() + 1
        elif name not in opened:
            report(
                line,
                f"section {name} is closed and was not open",
                f"Write # --8<-- [start:{name}] above it",
            )
        else:
            first, begin = opened.pop(name)
            sections[name] = Section(first, lesson[begin : marker.start()])
    for name, (first, _) in opened.items():
        report(
            first - 1,
            f"section {name} is not closed",
            f"Write # --8<-- [end:{name}] below its last line",
        )
    return sections


# The tables


def _rows(
    table: ast.Dict, what: str, width: int, columns: str, report: Report
) -> Iterator[tuple[str, int, list[ast.expr]]]:
    """Key, line and columns of each row of CLAIMS or BREAKS that has the right form."""
    lines: dict[str, int] = {}
    for key, value in zip(table.keys, table.values, strict=True):
        line = (key or value).lineno
        name = _text(key) if key else None
        if name is None:
            report(
                line,
                f"a key of {what} is not a string literal",
                "Write it out: labs are read without running",
            )
        elif name in lines:
            report(
                line,
                f"{name} is in {what} twice, first in line {lines[name]}",
                "Give each row an id of its own",
            )
        elif not isinstance(value, ast.Tuple) or len(value.elts) != width:
            report(line, f"{name} is not a tuple of {width}", f"Write ({columns})")
        else:
            lines[name] = line
            yield name, line, value.elts


def _claims(table: ast.Dict, stem: str, source: str, report: Report) -> dict[str, Claim]:
    claims: dict[str, Claim] = {}
    written = source.encode().split(b"\n")
    columns = "kind, measure, arguments, bound, judges, GiB, why"
    for name, line, (kind, _, arguments, bound, judges, gib, why) in _rows(
        table, "CLAIMS", 7, columns, report
    ):
        number, room, reason = arithmetic(bound), arithmetic(gib), _text(why) or ""
        value: float | str | None = number
        if number is None and _text(kind) in ("count", "codegen"):
            value = _text(bound)
        if not CASE_ID.fullmatch(name):
            report(
                line,
                f"{name} is not a claim id",
                "Write case.metric, small letters, digits and _ only",
            )
        elif _text(kind) not in KINDS:
            report(line, f"{name} has the kind {ast.unparse(kind)}", f"Allowed: {', '.join(KINDS)}")
        elif _text(judges) not in get_args(Judges):
            allowed = f"Allowed: {', '.join(get_args(Judges))}"
            report(line, f"{name} can be judged by {ast.unparse(judges)}", allowed)
        elif not reason.strip():
            fix = "Derive it from dtype, length of the sum and accumulator"
            report(line, f"{name} gives no reason for its bound", fix)
        elif value is None:
            fix = "Write a number, or arithmetic of numbers"
            report(line, f"{name} has the bound {ast.unparse(bound)}", fix)
        elif not isinstance(room, int):
            report(line, f"{name} needs {ast.unparse(gib)} GiB", "Write a whole number of GiB")
        else:
            claim_id = f"{short_name(stem)}.{name}"
            claims[claim_id] = Claim(
                id=claim_id,
                kind=_text(kind),  # type: ignore[arg-type]  # one of KINDS
                lab=stem,
                bound=value,
                judges=_text(judges),  # type: ignore[arg-type]  # one of Judges
                gib=room,
                why=reason,
                arguments=_arguments(arguments, written),
                line=line,
            )
    return claims


def _bugs(
    table: ast.Dict,
    stem: str,
    claims: Mapping[str, Claim],
    sections: Mapping[str, Section],
    report: Report,
) -> dict[str, Bug]:
    bugs = {}
    for name, line, columns in _rows(
        table, "BREAKS", 6, "section, old, new, claim, how, seen", report
    ):
        texts = [_text(column) for column in columns]
        if None in texts:
            wrong = ast.unparse(columns[texts.index(None)])
            report(line, f"{name}: {wrong} is not a string literal", "Write it out")
            continue
        section, old, new, claim, how, seen = (text or "" for text in texts)
        times = sections[section].text.count(old) if section in sections and old else 0
        if not re.fullmatch(r"[a-z0-9_]+", name):
            report(line, f"{name} is not a name of a bug", "Use small letters, digits and _ only")
        elif section not in sections:
            allowed = f"Allowed: {', '.join(sections) or 'none'}"
            report(line, f"{name} changes the section {section}, which does not exist", allowed)
        elif times != 1:
            what = f"{name}: its text {old!r} occurs {times} times in section {section}"
            report(line, what, "Choose a text that occurs once")
        elif old == new:
            report(line, f"{name} changes nothing", "Let the new text differ from the old one")
        elif how not in WAYS:
            report(line, f"{name} is to be caught by {how!r}", f"Allowed: {', '.join(WAYS)}")
        elif f"{short_name(stem)}.{claim}" not in claims:
            fix = "Name the claim that must then fail"
            report(line, f"{name} names the claim {claim}, which is not in CLAIMS", fix)
        else:
            bugs[name] = Bug(
                name, section, old, new, f"{short_name(stem)}.{claim}", how, seen, line
            )
    return bugs


def _bug_claim(bug: Bug, claim: Claim) -> Claim:
    """The claim that the bug is caught; it is judged where the claim that must fail is."""
    return Claim(
        id=f"{claim.id.partition('.')[0]}.{bug.name}.bug",
        kind="bug",
        lab=claim.lab,
        bound=bug.how,
        judges=claim.judges,
        gib=claim.gib,
        why=bug.seen,
        claim=claim.id,
        fails=claim.kind,
        line=bug.line,
    )


def _arguments(node: ast.expr, lines: list[bytes]) -> dict[str, Argument]:
    """dict(n=98_432, dtype=torch.float16) as {"n": …, "dtype": …}; what is no such call has none."""
    if not isinstance(node, ast.Call):
        return {}
    return {
        keyword.arg: Argument(_written(lines, keyword.value), _value(keyword.value))
        for keyword in node.keywords
        if keyword.arg is not None
    }


def _value(node: ast.expr) -> bool | int | float | str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | str):
        return node.value
    return arithmetic(node)


def _written(lines: list[bytes], node: ast.expr) -> str:
    """The node's source on one line. (ast.get_source_segment splits the whole file each time.)"""
    if node.lineno == node.end_lineno:
        return lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
    return ast.unparse(node)


def _text(node: ast.expr) -> str | None:
    """The string that a node is; None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def arithmetic(node: ast.expr) -> float | int | None:
    """The number that a literal or arithmetic of literals gives, such as 64 * 2**-24; None for anything else."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as number):
            return number if math.isfinite(number) else None
        case ast.UnaryOp(op=op, operand=inner) if type(op) in ARITHMETIC:
            operand = arithmetic(inner)
            return None if operand is None else _number(ARITHMETIC[type(op)](operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            a, b = arithmetic(left), arithmetic(right)
            if (
                a is None
                or b is None
                or (isinstance(op, ast.Pow) and (abs(b) > 1100 or abs(a) > 2**64))
            ):
                return None
            try:
                return _number(ARITHMETIC[type(op)](a, b))
            except ArithmeticError:
                return None
    return None


def _number(value: object) -> float | int | None:
    return value if isinstance(value, int | float) and math.isfinite(value) else None


# The hash of a lesson


def lesson_part(source: str) -> str:
    """What lies above the common part of a lab's source, LF and without BOM."""
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    end = ("\n" + text).find("\n" + COMMON_MARKER)
    return text if end < 0 else text[:end]


def lesson_hash(source: str) -> str:
    """SHA-256 of the code of the lesson part, without comments, docstrings and blank lines.

    These are cut out by the position of their tokens and the rest is hashed as written, not as a tree, so that every
    Python version agrees. A docstring is a plain string that is a whole statement. Raises SyntaxError when the source
    does not tokenize.
    """
    text = lesson_part(source)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        raise SyntaxError(error.args[0]) from None
    cuts, kept_ends = _cuts(tokens)
    lines = text.split("\n")
    for (row, column), (end_row, end_column) in reversed(cuts):
        head, tail = lines[row - 1][:column], lines[end_row - 1][end_column:]
        lines[row - 1 : end_row] = [head + tail] + [""] * (end_row - row)
    tidy = [line if row in kept_ends else line.rstrip() for row, line in enumerate(lines, 1)]
    code = "\n".join(
        line for row, line in enumerate(tidy, 1) if line or row in kept_ends or row - 1 in kept_ends
    )
    return hashlib.sha256(code.encode()).hexdigest()


Position = tuple[int, int]  # row, column


def _cuts(tokens: list[tokenize.TokenInfo]) -> tuple[list[tuple[Position, Position]], set[int]]:
    """Where comments and docstrings lie, and the rows whose end lies inside a string: what is there is code."""
    cuts: list[tuple[Position, Position]] = []
    kept_ends: set[int] = set()
    opened: list[
        int
    ] = []  # rows where f-strings began: one token each before Python 3.12, several since
    before = tokenize.NEWLINE
    for i, token in enumerate(tokens):
        name, row = tokenize.tok_name[token.type], token.start[0]
        if token.type == tokenize.COMMENT:
            cuts.append((token.start, token.end))
        if name.endswith("STRING_START"):
            opened.append(row)
        elif name.endswith("STRING_END"):
            kept_ends.update(range(opened.pop(), token.end[0]))
        elif token.type == tokenize.STRING:
            begins = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            follower = next(t.type for t in tokens[i + 1 :] if t.type != tokenize.COMMENT)
            if begins and follower == tokenize.NEWLINE and "f" not in token.string[:2].lower():
                cuts.append((token.start, token.end))
            else:
                kept_ends.update(range(row, token.end[0]))
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING):
            before = token.type
    return cuts, kept_ends
