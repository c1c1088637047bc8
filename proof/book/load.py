"""Reads every room into a Book. Labs are parsed, never imported; what cannot be read becomes a Problem, never a traceback."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import math
import operator
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from packaging.requirements import InvalidRequirement, Requirement
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, SequenceNode

from proof.book.front_matter import front_matter
from proof.book.model import (
    LANGS,
    Book,
    Break,
    Claim,
    Compiled,
    Decision,
    Lab,
    LabWords,
    Lang,
    Page,
    Record,
    Source,
    Term,
    Text,
)
from proof.problem import Fault, Problem

COMMON_MARKER = "# %% The common part"
AS_PRINTED = "Give the file as the lab printed it with --json"
CASE_ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
MARKER_LINE = re.compile(r"^[ \t]*# --8<-- \[(start|end):([\w-]+)\][ \t]*$", re.M)
PEP_723 = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
KINDS = ("error", "ratio", "count", "codegen")
JUDGES = ("any", "gpu", "compile")
WAYS = ("error", "guard", "nonfinite", "fault")  # how a break may be caught
ARITHMETIC = {
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

T = TypeVar("T")
Bad = Callable[[int, str, str], None]  # takes line, what, how to fix


def load_book(root: Path, today: date) -> Book:
    """Read everything below `root`, judged as of `today`. Raises nothing for what people wrote: see Book.problems."""
    book = Book(root, today)
    for path in sorted((root / "labs").glob("*.py")):
        for source in _text(book, path):
            lab, problems = read_lab(path, source, _name(root, path))
            book.problems += problems
            if lab:
                book.labs[lab.stem] = lab
    for path in sorted((root / "docs" / "zh" / "labs").glob("*.y*ml")):
        book.words |= {words.path.stem: words for words in _from_yaml(book, path, "labwords", _words)}
    for path in sorted((root / "labs" / "records").rglob("*.json")):
        for text in _text(book, path):
            _add_record(book, path, text)
    for path in sorted((root / "labs" / "compiled").glob("*.json")):
        for text in _text(book, path):
            _add_compiled(book, path, text)
    for path in (root / "labs").glob("versions.json"):
        for text in _text(book, path):
            _add_versions(book, path, text)
    for path in sorted((root / "glossary").glob("*.y*ml")):
        book.terms |= {term.id: term for term in _from_yaml(book, path, "term", _term)}
    for path in sorted((root / "docs" / "sources").glob("*.y*ml")):
        book.sources |= {source.id: source for source in _from_yaml(book, path, "source", _source)}
    for path in sorted((root / "adr").glob("[0-9]*.md")):
        for text in _text(book, path):
            _add_decision(book, path, text)
    menu = _menu(book)
    for lang in LANGS:
        folder = root / "docs" / lang
        names = (path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
        for name in sorted(names, key=lambda name: (menu.get(name, len(menu)), name)):
            book.pages += [Page(lang, name, folder / name, text) for text in _text(book, folder / name)]
    return book


def _menu(book: Book) -> dict[str, int]:
    """The place of each page in the site's menu: readers, and so all lists of pages, follow that order."""
    path = book.root / "mkdocs.yml"
    text = "".join(_text(book, path)) if path.is_file() else ""
    return {name: place for place, name in enumerate(dict.fromkeys(re.findall(r"[\w/.-]+\.md\b", text)))}


# Text


def read_text(path: Path) -> str:
    """The text of a file, without BOM, lines ending in LF. Raises Fault unless it is UTF-8."""
    return decode(path.read_bytes())


def decode(raw: bytes) -> str:
    """UTF-8 bytes as text, without BOM, lines ending in LF. Raises Fault for any other encoding."""
    save = "Save the file as UTF-8"
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw:
        raise Fault("the file is UTF-16 or binary, not UTF-8", save)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        what = f"the file is not UTF-8 (byte 0x{raw[error.start]:02x}); it may be GBK or another legacy encoding"
        raise Fault(what, save, line=line) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def normal_sha8(text: str) -> str:
    """First 8 hex digits of the SHA-256 of a record's text, as its file name carries them."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _text(book: Book, path: Path) -> Iterator[str]:
    """The text of the file; nothing, and a problem in the book, when it cannot be read."""
    try:
        yield read_text(path)
    except Fault as error:
        book.problems += error.problems(_name(book.root, path))
    except OSError as error:
        what = f"cannot be opened: {error.strerror}"
        book.problems.append(Problem(_name(book.root, path), 1, what, "See its permissions"))


# Labs


def lesson_part(source: str) -> str:
    """What lies above the common part of a lab's source, LF and without BOM."""
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text[: ("\n" + text).find("\n" + COMMON_MARKER)] if "\n" + COMMON_MARKER in "\n" + text else text


def lesson_hash(source: str) -> str:
    """SHA-256 of the code of the lesson part: comments, docstrings and blank lines cut out by token position.

    The rest of the text is hashed as written, not as a tree, so that every Python version agrees. A docstring is
    a plain string that is a whole statement. Raises SyntaxError when the source does not tokenize.
    """
    text = lesson_part(source)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        raise SyntaxError(error.args[0]) from None
    cuts: list[tuple[tuple[int, int], tuple[int, int]]] = []
    kept_ends: set[int] = set()  # rows whose end lies inside a string: what is there is code
    opened: list[int] = []  # rows where f-strings began; one token each before Python 3.12, several since
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
            statement = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            follower = next(t.type for t in tokens[i + 1 :] if t.type != tokenize.COMMENT)
            if statement and follower == tokenize.NEWLINE and "f" not in token.string[:2].lower():
                cuts.append((token.start, token.end))
            else:
                kept_ends.update(range(row, token.end[0]))
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING):
            before = token.type
    lines = text.split("\n")
    for (row, column), (end_row, end_column) in reversed(cuts):
        head, tail = lines[row - 1][:column], lines[end_row - 1][end_column:]
        lines[row - 1 : end_row] = [head + tail] + [""] * (end_row - row)
    tidy = (line if row in kept_ends else line.rstrip() for row, line in enumerate(lines, 1))
    code = "\n".join(line for row, line in enumerate(tidy, 1) if line or row in kept_ends or row - 1 in kept_ends)
    return hashlib.sha256(code.encode()).hexdigest()


def read_lab(path: Path, source: str, file: str) -> tuple[Lab | None, list[Problem]]:
    """The lab that `source` is, and what is wrong with it; no lab when it is not Python. `file` names it in problems."""
    problems: list[Problem] = []
    try:
        lab = _lab(path, source, lambda *problem: problems.append(Problem(file, *problem)))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, what = getattr(error, "lineno", None) or 1, getattr(error, "msg", None) or str(error)
        return None, [Problem(file, line, f"is not Python: {what}", "Fix the syntax; the lab must run alone")]
    return lab, problems


def _lab(path: Path, source: str, bad: Bad) -> Lab:
    tree = ast.parse(source)
    lesson = lesson_part(source)
    title, card = _card(ast.get_docstring(tree) or "")
    if not title:
        bad(1, "has no docstring", "Begin with the question, then Learn, Run, Memory, Card and Minutes")
    stem, tables, switches = path.stem, {}, {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="CLAIMS" | "BREAKS" as name)], value=table):
                tables[name] = table
            case ast.AnnAssign(target=ast.Name(id="CLAIMS" | "BREAKS" as name), value=ast.expr() as table):
                tables[name] = table
            case ast.Expr(
                value=ast.Call(func=function, args=[ast.Constant(value=str(name)), ast.Constant(value=str(value))])
            ):
                if ast.unparse(function) == "os.environ.setdefault":
                    switches[name] = value
    for name in ("CLAIMS", "BREAKS"):
        if not isinstance(tables.get(name), ast.Dict):
            line = getattr(tables.get(name), "lineno", 1)
            bad(line, f"{name} is not a dict literal at the top level", f'Write {name} = {{"name": (…), …}} there')
            tables[name] = ast.Dict([], [])
    sections = _sections(lesson, bad)
    claims = _claims(tables["CLAIMS"], stem, source, bad)
    breaks = _breaks(tables["BREAKS"], stem, claims, sections, bad)
    for b in breaks.values():
        of = claims[b.claim]
        claim_id = f"{short_name(stem)}.{b.name}.break"
        claims[claim_id] = Claim(claim_id, "break", stem, b.how, of.judges, of.gib, b.seen, "", b.claim, of.kind)
    requires = _requires(source, bad)
    return Lab(stem, path, source, lesson_hash(source), requires, title, card, claims, breaks, sections, switches)


def short_name(stem: str) -> str:
    """How claims call a lab: triton_softmax is softmax."""
    return stem.removeprefix("triton_")


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
    found = PEP_723.search(source)
    fix = 'Begin the lab with # /// script, # requires-python = ">=3.11", # dependencies = ["torch>=…", …], # ///'
    if not found:
        bad(1, "has no PEP 723 header", fix)
        return {}
    line = source.count("\n", 0, found.start()) + 1
    content = re.sub(r"(?m)^# ?", "", found["content"])
    try:
        header = tomllib.loads(content)
        asked = [Requirement(text) for text in header["dependencies"]]
    except (tomllib.TOMLDecodeError, InvalidRequirement, KeyError, TypeError) as error:
        bad(line, f"the PEP 723 header cannot be read: {str(error).splitlines()[0]}", fix)
        return {}
    return {r.name: ",".join(sorted(map(str, r.specifier), reverse=True)) for r in asked}


def _sections(lesson: str, bad: Bad) -> dict[str, tuple[int, str]]:
    """The text between each pair of section markers, with the number of its first line."""
    sections: dict[str, tuple[int, str]] = {}
    opened: dict[str, tuple[int, int]] = {}  # name -> first line, where its text begins
    for found in MARKER_LINE.finditer(lesson):
        line, (what, name) = lesson.count("\n", 0, found.start()) + 1, found.groups()
        if what == "start" and (name in opened or name in sections):
            bad(line, f"section {name} is opened twice", "Give each section a name of its own")
        elif what == "start":
            opened[name] = line + 1, found.end() + 1
        elif name not in opened:
            bad(line, f"section {name} is closed and was not open", f"Write # --8<-- [start:{name}] above it")
        else:
            first, begin = opened.pop(name)
            sections[name] = first, lesson[begin : found.start()]
    for name, (first, _) in opened.items():
        bad(first - 1, f"section {name} is not closed", f"Write # --8<-- [end:{name}] below its last line")
    return sections


def _rows(table: ast.Dict, what: str, width: int, columns: str, bad: Bad) -> Iterator[tuple[str, int, list[ast.expr]]]:
    """Key, line and columns of each row of CLAIMS or BREAKS that has the right form."""
    seen: dict[str, int] = {}
    for key, value in zip(table.keys, table.values, strict=True):
        line = (key or value).lineno
        name = _constant(key) if key else None
        if name is None:
            bad(line, f"a key of {what} is not a string literal", "Write it out: labs are read without running")
        elif name in seen:
            bad(line, f"{name} stands in {what} twice, first in line {seen[name]}", "Give each row an id of its own")
        elif not isinstance(value, ast.Tuple) or len(value.elts) != width:
            bad(line, f"{name} is not a tuple of {width}", f"Write ({columns})")
        else:
            seen[name] = line
            yield name, line, value.elts


def _claims(table: ast.Dict, stem: str, source: str, bad: Bad) -> dict[str, Claim]:
    claims, lines = {}, source.encode().split(b"\n")
    columns = "kind, measure, arguments, bound, judges, GiB, why"
    for name, line, (kind, _, arguments, bound, judges, gib, why) in _rows(table, "CLAIMS", 7, columns, bad):
        row = {"kind": _constant(kind), "judges": _constant(judges), "why": _constant(why)}
        value, room = arithmetic(bound), arithmetic(gib)
        if value is None and row["kind"] in ("count", "codegen"):
            value = _constant(bound)
        if not CASE_ID.fullmatch(name):
            bad(line, f"{name} is not a claim id", "Write case.metric, small letters, digits and _ only")
        elif row["kind"] not in KINDS:
            bad(line, f"{name} has the kind {ast.unparse(kind)}", f"Allowed: {', '.join(KINDS)}")
        elif row["judges"] not in JUDGES:
            bad(line, f"{name} can be judged by {ast.unparse(judges)}", f"Allowed: {', '.join(JUDGES)}")
        elif not row["why"] or not row["why"].strip():
            fix = "Derive it from dtype, length of the sum and accumulator"
            bad(line, f"{name} gives no reason for its bound", fix)
        elif value is None:
            bad(line, f"{name} has the bound {ast.unparse(bound)}", "Write a number, or arithmetic of numbers")
        elif not isinstance(room, int):
            bad(line, f"{name} needs {ast.unparse(gib)} GiB", "Write a whole number of GiB")
        else:
            claim_id = f"{short_name(stem)}.{name}"
            written = _written(lines, arguments)
            claims[claim_id] = Claim(claim_id, row["kind"], stem, value, row["judges"], room, row["why"], written)
    return claims


def _breaks(table: ast.Dict, stem: str, claims: Mapping[str, Claim], sections: Mapping, bad: Bad) -> dict[str, Break]:
    breaks = {}
    for name, line, elements in _rows(table, "BREAKS", 6, "section, old, new, claim, how, seen", bad):
        texts = [_constant(element) for element in elements]
        if None in texts:
            bad(line, f"{name}: {ast.unparse(elements[texts.index(None)])} is not a string literal", "Write it out")
            continue
        section, old, new, claim, how, seen = texts
        times = sections[section][1].count(old) if section in sections and old else 0
        if not re.fullmatch(r"[a-z0-9_]+", name):
            bad(line, f"{name} is not a name of a break", "Use small letters, digits and _ only")
        elif section not in sections:
            fix = f"Allowed: {', '.join(sections) or 'none'}"
            bad(line, f"{name} changes the section {section}, which is not there", fix)
        elif times != 1:
            bad(
                line,
                f"{name}: its text {old!r} occurs {times} times in section {section}",
                "Choose a text that occurs once",
            )
        elif old == new:
            bad(line, f"{name} changes nothing", "Let the new text differ from the old one")
        elif how not in WAYS:
            bad(line, f"{name} is to be caught by {how!r}", f"Allowed: {', '.join(WAYS)}")
        elif f"{short_name(stem)}.{claim}" not in claims:
            bad(line, f"{name} names the claim {claim}, which is not in CLAIMS", "Name the claim that must then fail")
        else:
            breaks[name] = Break(name, section, old, new, f"{short_name(stem)}.{claim}", how, seen)
    return breaks


def _written(lines: list[bytes], node: ast.expr) -> str:
    """The node's source on one line. (ast.get_source_segment splits the whole file each time.)"""
    if node.lineno == node.end_lineno:
        return lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
    return ast.unparse(node)


def _constant(node: ast.expr) -> str | None:
    """The string that a node is; None for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def arithmetic(node: ast.expr) -> float | int | None:
    """The number that a literal or arithmetic of literals gives, such as 64 * 2**-24; None for anything else."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float()):
            return node.value if math.isfinite(node.value) else None
        case ast.UnaryOp(op=op, operand=inner) if type(op) in ARITHMETIC:
            value = arithmetic(inner)
            return None if value is None else ARITHMETIC[type(op)](value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            a, b = arithmetic(left), arithmetic(right)
            if a is None or b is None or (isinstance(op, ast.Pow) and (abs(b) > 1100 or abs(a) > 2**64)):
                return None
            try:
                value = ARITHMETIC[type(op)](a, b)
                return value if isinstance(value, int | float) and math.isfinite(value) else None
            except ArithmeticError:
                return None
    return None


# Data: records, terms, sources, decisions


@cache
def schema(name: str) -> Draft202012Validator:
    """The validator of proof/book/<name>.schema.json."""
    return Draft202012Validator(json.loads(Path(__file__).with_name(f"{name}.schema.json").read_text(encoding="utf-8")))


def check_schema(name: str, data: Any, text: str) -> None:
    """Raise Fault, with the line in `text`, where `data` does not fit proof/book/<name>.schema.json."""
    error = best_match(schema(name).iter_errors(data))
    if error:
        at = list(error.absolute_path)
        where = ".".join(map(str, at))
        if error.validator == "additionalProperties" and isinstance(error.instance, dict):
            known = error.schema.get("properties", {})
            at += [key for key in error.instance if key not in known][:1]
        what = error.message if len(error.message) < 200 else error.message[:100] + " … " + error.message[-90:]
        allowed = error.schema.get("description") if isinstance(error.schema, dict) else None
        fix = f"Allowed: {allowed}" if allowed else f"proof/book/{name}.schema.json says what is allowed"
        raise Fault(f"{where}: {what}" if where else what, fix, line=yaml_line(text, at))


def parse_json(text: str) -> Any:
    """JSON of finite numbers. Raises Fault with the line."""

    def finite(number: str) -> float:
        value = float(number)
        if math.isfinite(value):
            return value
        found = re.search(rf"[:\[,]\s*{re.escape(number)}", text)
        line = text.count("\n", 0, found.end() if found else 0) + 1
        raise Fault(f"{number} is not a finite number", "Write null for a figure that is not finite", line=line)

    def whole(number: str) -> int:
        if len(number) < 20:
            return int(number)
        raise Fault(f"{number[:20]}… is larger than any count", AS_PRINTED)

    try:
        data = json.loads(text, parse_float=finite, parse_int=whole, parse_constant=finite)
        json.dumps(data, ensure_ascii=False).encode()  # lone halves of surrogate pairs cannot be written again
        return data
    except Fault:
        raise
    except json.JSONDecodeError as error:
        raise Fault(f"is not JSON: {error.msg}", AS_PRINTED, line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise Fault(f"is not JSON that a lab prints: {error}", AS_PRINTED) from None


def parse_yaml(text: str) -> dict[str, Any]:
    """A YAML 1.2 mapping in which every scalar is text; keys without a value, or null, are left out. Raises Fault."""
    try:
        data = YAML(typ="base", pure=True).load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        what = (error.problem or error.context or "").split("\n")[0]
        raise Fault(f"is not YAML: {what}", "Fix the YAML", line=line) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise Fault(f"is not YAML: {error}", "Fix the YAML") from None
    if not isinstance(data, dict):
        raise Fault("holds no `key: value` lines", "Write it like the other files of its folder")
    return _without_nothing(data)


def _without_nothing(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_nothing(value) for key, value in data.items() if value not in ("", "null", "~", None)}
    return [_without_nothing(value) for value in data] if isinstance(data, list) else data


def yaml_line(text: str, path: list[str | int]) -> int:
    """The line of the place `path` in YAML or JSON; of the nearest place above it when it is not there."""
    line = 1
    if "\n" not in text.strip():
        return line
    try:
        node = YAML(typ="base", pure=True).compose(text)
    except YAMLError:  # JSON that is not YAML: tabs
        return line
    for step in path:
        if isinstance(node, MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == step]
        elif isinstance(node, SequenceNode) and isinstance(step, int):
            pairs = [(value, value) for value in node.value[step : step + 1]]
        else:
            pairs = []
        if not pairs:
            break
        line, node = pairs[0][0].start_mark.line + 1, pairs[0][1]
    return line


def _from_yaml(book: Book, path: Path, kind: str, build: Callable[[Path, dict[str, Any], str], T]) -> Iterator[T]:
    """What a YAML file that fits its schema, and whose id, if any, is its name, holds; else a problem in the book."""
    for text in _text(book, path):
        try:
            data = parse_yaml(text)
            check_schema(kind, data, text)
            id = data.get("id", path.stem)
            if path.name != f"{id}.yml":
                fix = f"Call it {id}.yml" + (", or change its id" if "id" in data else "")
                raise Fault(f"the file of {id} is named {path.name}", fix, line=yaml_line(text, ["id"]))
            yield build(path, data, text)
        except Fault as error:
            book.problems += error.problems(_name(book.root, path))


def _day(data: dict[str, Any], key: str, text: str) -> date:
    try:
        return date.fromisoformat(data[key])
    except ValueError:
        raise Fault(
            f"{key}: {data[key]} is not a day", "Write it as year-month-day", line=yaml_line(text, [key])
        ) from None


def _add_record(book: Book, path: Path, text: str) -> None:
    name = _name(book.root, path)
    try:
        data = parse_json(text)
        check_schema("record", data, text)
    except Fault as error:
        fix = "Never edit a record: restore it from git, or delete it and run `proof record` again"
        book.problems.append(Problem(name, error.line, error.what, fix))
        return
    record = Record(path, data, intact=path.stem.endswith("-" + normal_sha8(text)))
    folder = f"labs/records/{record.device_class}/{record.lab}"
    if record.intact and name.rpartition("/")[0] != folder:  # one that was edited is told as that
        book.problems.append(Problem(name, 1, "lies in the folder of another device or lab", f"Move it to {folder}/"))
        return
    book.records.append(record)


def _add_compiled(book: Book, path: Path, text: str) -> None:
    try:
        data = parse_json(text)
        check_schema("compiled", data, text)
        if path.name != f"{data['lab']}.json":
            raise Fault(f"the file of {data['lab']} is named {path.name}", f"Call it {data['lab']}.json")
    except Fault as error:
        book.problems.append(
            Problem(_name(book.root, path), error.line, error.what, "Delete it and run `proof compile`")
        )
        return
    there = [path.with_name(name) for name in data["texts"] if path.with_name(name).is_file()]
    texts = {file.name: text for file in there for text in _text(book, file)}
    book.compiled[data["lab"]] = Compiled(path, data, texts)


def _add_versions(book: Book, path: Path, text: str) -> None:
    try:
        data = parse_json(text)
        check_schema("versions", data, text)
        book.versions = data
    except Fault as error:
        book.problems.append(Problem(_name(book.root, path), error.line, error.what, "Run `make test-versions`"))


def _words(path: Path, data: dict[str, Any], _: str) -> LabWords:
    return LabWords(path, **{"breaks": {}} | data)


def _term(path: Path, data: dict[str, Any], _: str) -> Term:
    both = (data["zh"], data["en"])
    zh, en = (Text(t["preferred"], t["short"], t["body"].strip(), tuple(t.get("alt", ()))) for t in both)
    lists = {key: tuple(data.get(key, ())) for key in ("forbidden", "see_also", "sources")}
    return Term(data["id"], path, data["topic"], zh, en, data["translate"], data.get("scope", "any"), **lists)


def _source(path: Path, data: dict[str, Any], text: str) -> Source:
    lines = tuple(map(int, data["lines"])) if "lines" in data else None
    code = {key: data.get(key, "") for key in ("repository", "tag", "file", "sha256")}
    return Source(
        data["id"], path, data["url"], data["shows"], lines=lines, accessed=_day(data, "accessed", text), **code
    )


def _add_decision(book: Book, path: Path, text: str) -> None:
    name = _name(book.root, path)
    try:
        named = re.fullmatch(r"((\d{4})-[a-z0-9-]+)\.(zh|en)\.md", path.name)
        if not named:
            raise Fault("is not named NNNN-words.zh.md or NNNN-words.en.md", "Rename it: four digits, small letters, -")
        slug, number, lang = named.groups()
        front = front_matter(text)
        if not front:
            fix = "Begin with ---, then id, title, status, date, then --- again"
            raise Fault("has no front matter", fix)
        head = "\n" + front.yaml  # so that lines count from the top of the file
        data = parse_yaml(head)
        check_schema("decision", data, head)
        if data["id"] != number:
            what = f"the id {data['id']} is not the number of the file"
            raise Fault(what, f'Write id: "{number}"', line=yaml_line(head, ["id"]))
        day = _day(data, "date", head)
    except Fault as error:
        book.problems += error.problems(name)
        return
    key: tuple[str, Lang] = (number, lang)
    if key in book.decisions:
        other = _name(book.root, book.decisions[key].path)
        book.problems.append(
            Problem(
                name,
                1,
                f"takes the number {number}, as {other} does",
                "The newer of the two takes the next free number",
            )
        )
        return
    supersedes, by = tuple(data.get("supersedes", ())), data.get("superseded_by")
    body = text[front.end :].lstrip("\n")
    book.decisions[key] = Decision(number, lang, path, slug, data["title"], data["status"], day, supersedes, by, body)
