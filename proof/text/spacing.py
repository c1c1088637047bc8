"""Spacing and punctuation of Chinese text, by autocorrect, behind a mask that keeps everything
which is not prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from proof.book.text import decode
from proof.problem import Fault
from proof.text.grammar import Kind
from proof.text.macros import readable_calls
from proof.text.markdown import read
from proof.text.scalars import scalars

Span = tuple[int, int]

HAN = r"[\u3400-\u9fff]"
WIDE = dict(zip(",:;?!", "，：；？！", strict=True))
# What autocorrect leaves: marks after code and links, ends of lines, blanks beside code, brackets.
OWN = (
    (
        re.compile(rf"(?<=[`*\ue000-\uf8ff])([,:;?!]) ?(?={HAN})|(?<={HAN}) *([,:;?!]) *(?={HAN})"),
        lambda m: WIDE[m[1] or m[2]],
    ),
    (re.compile(r"(?<=[？！])[?!]"), lambda m: WIDE[m[0]]),
    (
        re.compile(rf"(?m)^(.*{HAN}.*[\w`*\ue000-\uf8ff])(?<!\.\w)(?<!\b(?:etc|Inc))(?<!\bal)\.$"),
        lambda m: f"{m[1]}。",
    ),
    (re.compile(rf"(?<={HAN}) ?\(([^()\n]*{HAN}[^()\n]*)\) ?"), lambda m: f"（{m[1]}）"),
    (re.compile(rf"(?<={HAN})(?=`k\d)|(?<=\d`)(?={HAN})"), lambda m: " "),
    (
        re.compile(r"（([^（）()\n]*)\) ?| ?\(([^（）()\n]*)）"),
        lambda m: f"（{m[1] or m[2] or ''}）",
    ),
)
CHINESE = (
    "docs/zh/**/*.md",
    "adr/*.zh.md",
    "*.zh.md",
    "docs/zh/**/*.yml",
    "docs/sources/*.yml",
    "glossary/*.yml",
)
CLOCK = re.compile(r"(?<=\d)：(?=\d)")
# Private characters, which no text holds, are put for what is no part of a sentence.
FIRST, LIMIT = 0xE000, 0x1900
STAND_IN = re.compile(f"`k([0-9]+)`|[{chr(FIRST)}-{chr(FIRST + LIMIT - 1)}]")


def spaced(text: str, kind: str, correct: Callable[[str], str]) -> str:
    """The text with a blank between Chinese and Latin, and full-width marks in Chinese; all else
    byte for byte.

    `kind` is markdown or yaml; `correct` fixes one line of prose.
    """
    words, rest = _in_yaml(text) if kind == "yaml" else _in_markdown(text, 0)
    hidden = _apart(sorted([*words, *rest]))
    private = any(FIRST <= ord(character) < FIRST + LIMIT for character in text)
    if private or len(hidden) > LIMIT:
        return text
    kept = [text[start:end] for start, end in hidden]
    parts: list[str] = []
    position = 0
    for number, (start, end) in enumerate(hidden):
        stand_in = f"`k{number}`" if (start, end) in words else chr(FIRST + number)
        parts += [text[position:start], stand_in]
        position = end
    masked = "".join([*parts, text[position:]])
    fixed = "\n".join(correct(line) if line.strip() else line for line in masked.split("\n"))
    for pattern, replacement in OWN:
        fixed = pattern.sub(replacement, fixed)
    return STAND_IN.sub(lambda match: kept[int(match[1] or ord(match[0][0]) - FIRST)], fixed)


def _apart(spans: list[Span]) -> list[Span]:
    """The spans without those that begin inside another."""
    apart: list[Span] = []
    for span in spans:
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart


def _in_markdown(text: str, place: int) -> tuple[set[Span], set[Span]]:
    """What is in a sentence like a word, and what is no part of it: the spans of both in a file.

    A word has a blank beside Chinese: code, a formula, a macro, but not a term, whose name may be
    Chinese or Latin. `place` is where the text begins in the file.
    """
    page = read(text)
    terms = {call.start for call in readable_calls(page) if call.name == "term"}
    words: set[Span] = set()
    rest: set[Span] = set()
    for piece in page.pieces:
        written = text[piece.start : piece.end]
        is_word = piece.kind in (Kind.CODE, Kind.FORMULA, Kind.MACRO) and "\n" not in written
        if is_word and written[0] in "`{\\" and piece.start not in terms:
            words.add((place + piece.start, place + piece.end))
        else:
            start = piece.start + 1 if piece.kind is Kind.TARGET else piece.start
            rest.add((place + start, place + piece.end))
    spans = (match.span() for match in CLOCK.finditer(page.prose))
    rest |= {(place + start, place + end) for start, end in spans}
    return words, rest


def _in_yaml(text: str) -> tuple[set[Span], set[Span]]:
    """The same in YAML: whatever is no value is no part of a sentence."""
    words: set[Span] = set()
    rest: set[Span] = set()
    position = 0
    for scalar in scalars(text):
        rest |= _parts_of_lines(text, position, scalar.start)
        inner_words, inner_rest = _in_markdown(text[scalar.start : scalar.end], scalar.start)
        words |= inner_words
        rest |= inner_rest
        position = scalar.end
    return words, rest | _parts_of_lines(text, position, len(text))


def _parts_of_lines(text: str, start: int, end: int) -> set[Span]:
    """The stretch between two places without its line ends."""
    return {match.span() for match in re.compile(r"[^\n]+").finditer(text, start, end)}


def fix(root: Path, replace: Callable[[Path, bytes], None] | None = None) -> list[str]:
    """Fix every file of Chinese prose, by `replace(path, content)` if given.

    Returns a sentence for each line that is not right. Raises ImportError where autocorrect is not
    installed. Files that are not UTF-8 are left to the checks.
    """
    formatter()
    sentences: list[str] = []
    for path in sorted({path for pattern in CHINESE for path in root.glob(pattern)}):
        raw = path.read_bytes()
        try:
            old = decode(raw)
        except Fault:
            continue
        new = spaced(old, "yaml" if path.suffix == ".yml" else "markdown", correct)
        lines = zip(old.split("\n"), new.split("\n"), strict=True)
        for number, (before, after) in enumerate(lines, 1):
            if before != after:
                file = path.relative_to(root).as_posix()
                sentences.append(f"{file}:{number}: {_around(before, after)}")
        if new != old and replace:
            replace(path, _encoded_like(raw, new))
    return sentences


def _encoded_like(raw: bytes, text: str) -> bytes:
    """The text as bytes, with the byte order mark and the line ends that the file has."""
    mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    line_end = "\r\n" if b"\r\n" in raw else "\n"
    return mark + text.replace("\n", line_end).encode()


def correct(line: str) -> str:
    """One line of prose, as autocorrect would have it."""
    return formatter()(line, "markdown")


@cache
def formatter() -> Callable[[str, str], str]:
    """autocorrect's own, without the rule that would narrow the colon of "Kernel 1：add"."""
    import autocorrect_py

    rules = '{"rules": {"halfwidth-punctuation": 0}}'
    autocorrect_py.load_config(rules)  # type: ignore[attr-defined]  # its stub leaves this out
    return autocorrect_py.format_for


def _around(before: str, after: str) -> str:
    """The place of the first difference, as it is and as it should be."""
    at = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    part = slice(max(0, at - 8), at + 8)
    return f"“{before[part].strip()}” should read “{after[part].strip()}”"
