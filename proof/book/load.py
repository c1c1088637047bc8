"""Reads every room into a Book. What cannot be read becomes a Problem, never a traceback."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TypeVar

from packaging.requirements import InvalidRequirement, Requirement

from proof.book import text
from proof.book.data import fit, parse_json, parse_yaml, read_json, read_yaml
from proof.book.front_matter import front_matter
from proof.book.lab import is_lab, read_lab
from proof.book.model import (
    LANGS,
    Book,
    Compiled,
    Decision,
    Exercise,
    Filed,
    LabWords,
    Page,
    Record,
    Source,
    Term,
    Versions,
)
from proof.problem import Fault, Problem, where

EXERCISE_NAME = re.compile(r"\d\d_[a-z][a-z0-9_]*")
DECISION_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.(zh|en)\.md")
RESTORE = "Never edit a record: restore it from git, or delete it and run `proof record` again"

F = TypeVar("F", bound=Filed)


def load_book(root: Path, today: date) -> Book:
    """Read everything below `root`, judged as of `today`. Raises nothing for what people wrote: see
    Book.problems.
    """
    book = Book(root, today)
    _add_labs(book)
    for words in _yaml_files(book, "labs", LabWords, "*.zh.y*ml"):
        book.words[words.lab] = words
    for path in sorted((root / "labs" / "records").rglob("*.json")):
        _add_record(book, path)
    for path in sorted((root / "labs" / "compiled").glob("*.json")):
        _add_compiled(book, path)
    _add_versions(book, root / "labs" / "versions.json")
    for term in _yaml_files(book, "glossary", Term):
        book.terms[term.id] = term
    for source in _yaml_files(book, "docs/sources", Source):
        book.sources[source.id] = source
    for path in sorted((root / "adr").glob("[0-9]*.md")):
        _add_decision(book, path)
    for path in sorted((root / "labs" / "exercises").glob("*/exercise.y*ml")):
        _add_exercise(book, path)
    _add_pages(book)
    book.pinned_triton = _pinned_triton(book)
    return book


def _read(book: Book, path: Path) -> str | None:
    """The text of a file; None, and a problem in the book, where it cannot be read."""
    try:
        return text.read(path)
    except Fault as fault:
        book.problems += fault.problems(where(path, book.root))
        return None


def _add_labs(book: Book) -> None:
    sources: dict[Path, str] = {}
    for path in sorted((book.root / "labs").glob("*.py")):
        source = _read(book, path)
        if source is not None:
            sources[path] = source
    book.companions = {path.name: source for path, source in sources.items() if not is_lab(path)}
    for path in filter(is_lab, sources):
        lab, problems = read_lab(path, sources[path], where(path, book.root), book.companions)
        book.problems += problems
        if lab:
            book.labs[lab.stem] = lab


def _yaml_files(book: Book, folder: str, model: type[F], pattern: str = "*.y*ml") -> Iterator[F]:
    """What each YAML file of the folder holds; one whose name is not its id is a problem in the
    book.
    """
    for path in sorted((book.root / folder).glob(pattern)):
        try:
            filed = read_yaml(path, model)
            name = getattr(filed, "id", path.stem)
            if path.name != f"{name}.yml":
                fix = f"Call it {name}.yml" + (", or change its id" if hasattr(filed, "id") else "")
                raise Fault(f"the file of {name} is named {path.name}", fix, line=filed.line("id"))
        except Fault as fault:
            book.problems += fault.problems(where(path, book.root))
        else:
            yield filed


# Records and other results


def record_sha8(written: str) -> str:
    """First 8 hex digits of the SHA-256 of a record's text, as its file name carries them."""
    return hashlib.sha256(written.encode()).hexdigest()[:8]


def read_record(path: Path, written: str) -> Record:
    """The record that is written in a file. Raises Fault where it does not fit."""
    data, lines = parse_json(written)
    record = fit(Record, data, lines).at(path, lines)
    return record if path.stem.endswith("-" + record_sha8(written)) else record.edited()


def _add_record(book: Book, path: Path) -> None:
    file = where(path, book.root)
    written = _read(book, path)
    if written is None:
        return
    try:
        record = read_record(path, written)
    except Fault as fault:
        book.problems += fault.problems(file, RESTORE)
        return
    folder = f"labs/records/{record.device_class}/{record.lab}"
    if (
        record.intact and file.rpartition("/")[0] != folder
    ):  # of one that was edited, the checks say that
        book.problems.append(
            Problem(file, 1, "lies in the folder of another device or lab", f"Move it to {folder}/")
        )
        return
    book.records.append(record)


def _add_compiled(book: Book, path: Path) -> None:
    file = where(path, book.root)
    try:
        compiled = read_json(path, Compiled)
        if path.name != f"{compiled.lab}.json":
            what = f"the file of {compiled.lab} is named {path.name}"
            book.problems.append(Problem(file, 1, what, f"Call it {compiled.lab}.json"))
            return
    except Fault as fault:
        book.problems += fault.problems(file, "Delete it and run `proof compile`")
        return
    beside = {name: path.with_name(name) for name in compiled.texts}
    assembly = {name: _read(book, file) for name, file in beside.items() if file.is_file()}
    book.compiled[compiled.lab] = compiled.beside(
        {name: written for name, written in assembly.items() if written is not None}
    )


def _add_versions(book: Book, path: Path) -> None:
    if path.is_file():
        try:
            book.versions = read_json(path, Versions)
        except Fault as fault:
            book.problems += fault.problems(where(path, book.root), "Run `make test-versions`")


def _pinned_triton(book: Book) -> str:
    """The Triton that the project pins for its labs: 3.7.1 of `triton==3.7.1; …`."""
    path = book.root / "pyproject.toml"
    written = _read(book, path) if path.is_file() else None
    try:
        groups = tomllib.loads(written or "").get("dependency-groups", {})
        requirements = [Requirement(each) for each in groups.get("labs", ())]
    except (tomllib.TOMLDecodeError, InvalidRequirement) as error:
        what = f"cannot be read: {str(error).splitlines()[0]}"
        book.problems.append(Problem(where(path, book.root), 1, what, "Fix it there"))
        return ""
    pins = [each.specifier for each in requirements if each.name == "triton"]
    return next((each.version for pin in pins for each in pin if each.operator == "=="), "")


# Decisions and pages


def _add_decision(book: Book, path: Path) -> None:
    file = where(path, book.root)
    try:
        decision = _decision(path)
    except Fault as fault:
        book.problems += fault.problems(file)
        return
    other = book.decisions.get((decision.id, decision.lang))
    if other:
        what = f"takes the number {decision.id}, as {where(other.path, book.root)} does"
        book.problems.append(
            Problem(file, 1, what, "The newer of the two takes the next free number")
        )
        return
    book.decisions[decision.id, decision.lang] = decision


def _decision(path: Path) -> Decision:
    name = DECISION_NAME.fullmatch(path.name)
    if not name:
        fix = "Rename it: four digits, small letters, -"
        raise Fault("is not named NNNN-words.zh.md or NNNN-words.en.md", fix)
    written = text.read(path)
    front = front_matter(written)
    if not front:
        raise Fault(
            "has no front matter", "Begin with ---, then id, title, status, date, then --- again"
        )
    data, lines = parse_yaml("\n" + front.yaml)  # so that lines count from the top of the file
    decision = fit(Decision, data, lines).at(path, lines)
    if decision.id != name[1]:
        what = f"the id {decision.id} is not the number of the file"
        raise Fault(what, f'Write id: "{name[1]}"', line=decision.line("id"))
    body = written[front.end :].lstrip("\n")
    return decision.above(body, written.count("\n", 0, len(written) - len(body)) + 1)


def _add_exercise(book: Book, path: Path) -> None:
    file = where(path, book.root)
    name = path.parent.name
    beside = [path.parent.with_suffix(".py"), path.with_name("solution.py")]
    texts = [_read(book, each) for each in beside]
    try:
        if not EXERCISE_NAME.fullmatch(name):
            raise Fault(f"its folder is named {name}", "Call it like 06_relu_bias: 06, _, a name")
        exercise = read_yaml(path, Exercise)
    except Fault as fault:
        book.problems += fault.problems(file)
        return
    if None not in texts:
        book.exercises[name] = exercise.beside(*map(str, texts))


def _add_pages(book: Book) -> None:
    menu = _menu(book)
    for lang in LANGS:
        folder = book.root / "docs" / lang
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.md")]
        for name in sorted(names, key=lambda name: (menu.get(name, len(menu)), name)):
            written = _read(book, folder / name)
            if written is not None:
                book.pages.append(Page(lang, name, folder / name, written))


def _menu(book: Book) -> dict[str, int]:
    """The place of each page in the site's menu: readers, and so all lists of pages, follow that
    order.
    """
    path = book.root / "mkdocs.yml"
    written = _read(book, path) if path.is_file() else None
    names = dict.fromkeys(re.findall(r"[\w/.-]+\.md\b", written or ""))
    return {name: place for place, name in enumerate(names)}
