"""Reads every room into a Book. Labs are parsed, never imported; what cannot be read becomes a Problem, never a traceback."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, SequenceNode

from proof.book.front_matter import front_matter
from proof.book.lab import is_lab, read_lab
from proof.book.model import (
    LANGS,
    Book,
    Compiled,
    Decision,
    LabWords,
    Lang,
    Page,
    Record,
    Source,
    Term,
    Text,
)
from proof.problem import Fault, Problem

AS_PRINTED = "Give the file as the lab printed it with --json"

T = TypeVar("T")
Bad = Callable[[int, str, str], None]  # takes line, what, how to fix


def load_book(root: Path, today: date) -> Book:
    """Read everything below `root`, judged as of `today`. Raises nothing for what people wrote: see Book.problems."""
    book = Book(root, today)
    sources = {path: text for path in sorted((root / "labs").glob("*.py")) for text in _text(book, path)}
    book.companions = {path.name: text for path, text in sources.items() if not is_lab(path)}
    for path in filter(is_lab, sources):
        lab, problems = read_lab(path, sources[path], _name(root, path), book.companions)
        book.problems += problems
        if lab:
            book.labs[lab.stem] = lab
    for path in sorted((root / "labs").glob("*.zh.y*ml")):
        book.words |= {words.lab: words for words in _from_yaml(book, path, "labwords", _words)}
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
        if isinstance(data, dict) and data.get("schema") == 1:
            what = "is a record of schema 1, of a lab that has been written anew since"
            book.problems.append(Problem(name, 1, what, "Delete it, and run `proof record`"))
            return
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
    return LabWords(path, **data)


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
