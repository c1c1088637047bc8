"""Spacing and punctuation of Chinese text, by autocorrect, behind a mask that keeps everything which is not prose."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from proof.book.load import decode
from proof.problem import Fault

# What stands in a sentence like a word, with a blank beside Chinese: code, formulas, macros.
WORDS = r"(?P<word>`+[^`\n]+?`+|\\\(.*?\\\)|\{\{.*?\}\})"
# What is no part of it: front matter, fences, displayed formulas, HTML, comments, attributes, targets of links, addresses.
REST = r"""(?P<rest>\A---\n.*?^---$|^(?P<indent>[ \t>]*)(?P<fence>```+|~~~+).*?^(?P=indent)(?P=fence)[ \t]*$|\$\$.*?\$\$
|<!--.*?-->|</?[A-Za-z][^<>]*>|\{[ \t]*[#.:][^{}\n]*\}|(?<=\])\([^()\s]*(?:\s+"[^"]*")?\)|https?://[^\s)>]+|(?<=\d)：(?=\d))"""
YAML = r"(?P<yaml>^[ \t]*(?:- )?[\w.-]+:(?=\s)|(?<=[:-] )[\[{][^\n]*[\]}]$|^[ \t]*#[^\n]*$)|"  # keys, lists on one line, remarks
TERM = re.compile(r"\{\{\s*term\(")
PROTECTED = {
    kind: re.compile(before + f"{REST}|{WORDS}".replace("\n|<!--", "|<!--"), re.S | re.M)
    for kind, before in (("markdown", ""), ("yaml", YAML))
}
HAN = r"[\u3400-\u9fff]"
WIDE = dict(zip(",:;?!", "，：；？！", strict=True))
OWN = (  # what autocorrect leaves: marks after code and links, the end of a line, blanks beside code, brackets
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
FIRST = 0xE000  # private characters, which no text holds, stand for what is no part of a sentence


def spaced(text: str, kind: str, correct: Callable[[str], str]) -> str:
    """The text with a blank between Chinese and Latin, and full-width punctuation in Chinese; all else byte for byte.

    `kind` is markdown or yaml; `correct` fixes one line of prose.
    """
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        kept.append(match[0])
        # a term shows its Chinese name or a Latin one: with a blank and without, either is right
        shown = match["word"] and not TERM.match(match[0])
        return f"`k{len(kept) - 1}`" if shown else chr(FIRST + len(kept) - 1)

    if any(FIRST <= ord(character) < FIRST + 0x1900 for character in text):
        return text  # it uses private characters itself
    masked = PROTECTED[kind].sub(hide, text)
    if len(kept) > 0x1900:
        return text
    shown = "\n".join(correct(line) if line.strip() else line for line in masked.split("\n"))
    for pattern, fix in OWN:
        shown = pattern.sub(fix, shown)
    return re.sub(
        f"`k([0-9]+)`|[{chr(FIRST)}-{chr(FIRST + 0x18FF)}]",
        lambda m: kept[int(m[1]) if m[1] else ord(m[0]) - FIRST],
        shown,
    )


def fix(root: Path, replace: Callable[[Path, bytes], None] | None = None) -> list[str]:
    """Fix every file of Chinese prose, by `replace(path, content)` if given; a sentence for each line that is not right.

    Raises ImportError where autocorrect is not installed. Files that are not UTF-8 are left to the checks.
    """
    formatter()
    told = []
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
                told.append(
                    f"{path.relative_to(root).as_posix()}:{number}: {_around(before, after)}"
                )
        if new != old and replace:
            replace(
                path,
                raw[: raw.startswith(b"\xef\xbb\xbf") * 3]
                + new.replace("\n", "\r\n" if b"\r\n" in raw else "\n").encode(),
            )
    return told


def correct(line: str) -> str:
    """One line of prose, as autocorrect would have it."""
    return formatter()(line, "markdown")


@cache
def formatter() -> Callable[[str, str], str]:
    """autocorrect's own, without the rule that would narrow the colon of "Kernel 1：add"."""
    import autocorrect_py

    autocorrect_py.load_config('{"rules": {"halfwidth-punctuation": 0}}')
    return autocorrect_py.format_for


def _around(before: str, after: str) -> str:
    """The place of the first difference, as it is and as it should be."""
    at = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    part = slice(max(0, at - 8), at + 8)
    return f"“{before[part].strip()}” should read “{after[part].strip()}”"
