"""A lab as data: header, docstring, sections, tables and companions, read and never imported."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from proof.book.companions import companions, is_bundle, judge_hash, lab_hash, missing
from proof.book.model import Bug, Claim, Lab, Section
from proof.book.python import parsed
from proof.book.tables import Report, Tables, instrument
from proof.problem import Problem

KEYS = ("Learn", "Run", "Memory", "GPU", "Minutes")  # of the docstring
MARKER_LINE = re.compile(r"^[ \t]*# --8<-- \[(start|end):([\w-]+)\][ \t]*$", re.M)
BLOCK_LINE = "# --8<-- [start:companions]"
PEP_723 = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")


def read_lab(
    path: Path, source: str, file: str, texts: Mapping[str, str]
) -> tuple[Lab | None, list[Problem]]:
    """The lab that `source` is, and what is wrong with it; no lab when it is not Python.

    `file` names it in problems; `texts` are the companions that there are, by name: judge.py, …
    """
    problems: list[Problem] = []

    def report(line: int, what: str, fix: str) -> None:
        problems.append(Problem(file, line, what, fix))

    try:
        lab = _lab(path, source, texts, report)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        what = getattr(error, "msg", None) or str(error)
        fix = "Fix the syntax; the lab must run"
        return None, [Problem(file, line, f"is not Python: {what}", fix)]
    return lab, problems


def is_lab(path: Path) -> bool:
    """Whether a file of labs/ is a lab, and not a companion."""
    return path.name.startswith("triton_")


def short_name(stem: str) -> str:
    """How claims call a lab: softmax for triton_softmax."""
    return stem.removeprefix("triton_")


def _lab(path: Path, source: str, texts: Mapping[str, str], report: Report) -> Lab:
    tree = parsed(source)
    title, card, lines = _docstring(tree)
    if not title:
        fix = f"Begin with the question, then {', '.join(KEYS[:-1])} and {KEYS[-1]}"
        report(1, "has no docstring", fix)
    beside, judge_sha256 = _companions(source, texts, report)
    declared = instrument(*([source] if is_bundle(source) else beside.values()))
    sections = _sections(source, report)
    tables = Tables(path.stem, tree, source, declared, sections, report)
    claims = tables.claims()
    bugs = tables.bugs(claims)
    for bug in bugs.values():
        claim = _bug_claim(bug, claims[bug.claim])
        claims[claim.id] = claim
    requires, lines["dependencies"] = _requires(source, report)
    return Lab(
        stem=path.stem,
        path=path,
        source=source,
        sha256=lab_hash(source),
        judge_sha256=judge_sha256,
        requires=requires,
        title=title,
        card=card,
        claims=claims,
        bugs=bugs,
        sections=sections,
        switches=declared.switches,
        lines=lines | tables.lines,
        companions=beside,
    )


def _bug_claim(bug: Bug, claim: Claim) -> Claim:
    """The claim that the bug is caught; it is judged where the claim that must fail is."""
    return Claim(
        id=f"{claim.id.partition('.')[0]}.{bug.name}.bug",
        kind="bug",
        lab=claim.lab,
        bound=bug.how,
        judges=claim.judges,
        gib=claim.gib,
        why=bug.shows,
        claim=claim.id,
        fails=claim.kind,
        line=bug.line,
    )


def _companions(
    source: str, texts: Mapping[str, str], report: Report
) -> tuple[dict[str, str], str]:
    """The companions' texts, each below those that it imports, and their hash.

    Both are empty where they cannot be read.
    """
    line = source.count("\n", 0, max(source.find(BLOCK_LINE), 0)) + 1
    gone = [name for name in missing(source, texts) if name != "__future__.py"]
    if gone:
        what = f"imports from {', '.join(gone)}, which is not beside it"
        report(line, what, "Put it into labs/, or import another file")
    try:
        beside = companions(source, texts)
        if beside or is_bundle(source):
            return beside, judge_hash(source, texts)
    except (SyntaxError, ValueError) as error:
        what = f"its companions cannot be read: {getattr(error, 'msg', None) or error}"
        report(line, what, "Fix them first")
        return {}, ""
    if not gone:
        fix = f"Copy the block below {BLOCK_LINE} of labs/triton_vector_add.py"
        report(line, "imports no companion", fix)
    return {}, ""


# The docstring and the header


def _docstring(tree: ast.Module) -> tuple[str, dict[str, str], dict[str, int]]:
    """The first line, the `Key: text` lines, and the line number of each, of the whole as
    "docstring".

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
    """The PEP 723 header's requirements, such as torch -> ">=2.11,<2.15"; and their line."""
    header = PEP_723.search(source)
    fix = (
        'Begin the lab with # /// script, # requires-python = ">=3.11",'
        ' # dependencies = ["torch>=…", …], # ///'
    )
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


def sections_of(text: str) -> dict[str, Section]:
    """The sections of a companion."""
    return _sections(text, lambda line, what, fix: None)


def _sections(source: str, report: Report) -> dict[str, Section]:
    """The text between each pair of section markers, which may be indented."""
    sections: dict[str, Section] = {}
    opened: dict[str, tuple[int, int]] = {}  # name -> first line, where its text begins
    for marker in MARKER_LINE.finditer(source):
        line, (what, name) = source.count("\n", 0, marker.start()) + 1, marker.groups()
        if what == "start" and (name in opened or name in sections):
            report(line, f"section {name} is opened twice", "Give each section a name of its own")
        elif what == "start":
            opened[name] = line + 1, marker.end() + 1
        elif name not in opened:
            fix = f"Write # --8<-- [start:{name}] above it"
            report(line, f"section {name} is closed and was not open", fix)
        else:
            first, begin = opened.pop(name)
            sections[name] = Section(first, source[begin : marker.start()])
    for name, (first, _) in opened.items():
        fix = f"Write # --8<-- [end:{name}] below its last line"
        report(first - 1, f"section {name} is not closed", fix)
    return sections
