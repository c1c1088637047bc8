"""Both languages of a page hold the same things: ids, code, snippets, macros, tables, mathematics, links, numbers.

And neither has changed since someone compared them, whatever it holds: docs/parity/ remembers how they stood.
"""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from proof.book.model import LANGS, Book
from proof.book.python import code_of
from proof.problem import Problem
from proof.text import parity as sidecars
from proof.text.documents import Document, documents, place
from proof.text.macros import Call, readable_calls
from proof.text.markdown import Fence, Markdown
from proof.text.numbers import numbers
from proof.text.parity import Pair

Things = list[tuple[int, str]]  # line, what must be the same

EXCEPTION = re.compile(r"parity:\s*(.*)", re.DOTALL)


def _macro(call: Call) -> str:
    """What of a macro is the same in both languages: not the words that it shows."""
    if call.name == "term":
        return f"{{{{ term({call.args[:1]}) }}}}"
    if call.name == "given" and call.args:
        return f"{{{{ given({sorted(numbers(call.args[0]))}, {call.options}) }}}}"
    return re.sub(r"\s+", " ", call.source)


def _code(fence: Fence) -> str:
    """What a fence holds; of Python without comments, which are in the language of the page."""
    body = textwrap.dedent(fence.body)
    if not fence.info.startswith("python"):
        return body
    try:
        return code_of(body)
    except (SyntaxError, IndentationError):
        return body


def _math(text: str) -> str:
    return re.sub(r"\\(text|mathrm|textrm)\{[^{}]*\}", r"\\\1{}", text)


KINDS: dict[str, Callable[[Markdown], Things]] = {
    "heading": lambda page: [(h.line, f"{'#' * h.level} {{ #{h.id} }}") for h in page.headings],
    "fenced code": lambda page: [(f.line, f"```{f.info}\n{_code(f)}") for f in page.fences],
    "snippet": lambda page: [(s.line, s.target) for s in page.snippets],
    "macro": lambda page: [(call.line, _macro(call)) for call in readable_calls(page)],
    "admonition": lambda page: [(a.line, f"{a.marker} {a.kind}") for a in page.admonitions],
    "table": lambda page: [(t.line, f"{t.rows} rows × {t.columns} columns") for t in page.tables],
    "formula": lambda page: [(f.line, _math(f.source)) for f in page.formulas],
    "link": lambda page: [(link.line, link.target) for link in page.links if not link.image],
    "image": lambda page: [(link.line, link.target) for link in page.links if link.image],
    "number": lambda page: [
        (number, found) for number, line in page.lines() for found in numbers(line)
    ],
}


def exceptions(page: Markdown) -> tuple[set[int], list[tuple[int, str]]]:
    """The lines that `<!-- parity: reason -->` covers, and each such comment with its line and reason.

    A comment covers its own block; alone between blank lines, it covers the block that follows.
    """
    blocks = list(_blocks(page))
    covered, tally = set(), []
    for comment in page.comments:
        if not (match := EXCEPTION.match(comment.text)):
            continue
        tally.append((comment.line, " ".join(match[1].split())))
        index = next((i for i, block in enumerate(blocks) if comment.line in block), None)
        if index is None or not match[1].strip():
            continue
        own = "\n".join(page.text.split("\n")[line - 1] for line in blocks[index]).strip()
        alone = own.startswith("<!--") and own.endswith("-->") and own.count("<!--") == 1
        covered |= set(blocks[index]) | set(
            blocks[index + 1] if alone and index + 1 < len(blocks) else ()
        )
    return covered, tally


def _blocks(page: Markdown) -> Iterator[range]:
    """The line ranges between blank lines; a fence stays whole."""
    lines, inside = page.text.split("\n"), {}
    for fence in page.fences:
        inside |= dict.fromkeys(
            range(fence.line, fence.line + fence.body.count("\n") + 3), fence.line
        )
    start = None
    for number, line in enumerate([*lines, ""], 1):
        if line.strip() or number in inside:
            start = start or number
        elif start:
            yield range(start, number)
            start = None


def differences(book: Book) -> Iterable[Problem]:
    """Something stands in one language of a page and not in the other."""
    halves: dict[tuple[str, str], dict[str, Document]] = defaultdict(dict)
    for document in documents(book, ("page", "decision")):
        halves[document.kind, document.name][document.lang] = document
    for pair in halves.values():
        if len(pair) == 2:
            yield from _compare(pair["zh"], pair["en"])


def _compare(zh: Document, en: Document) -> Iterable[Problem]:
    covered = {half.lang: exceptions(half.markdown)[0] for half in (zh, en)}
    for kind, find in KINDS.items():
        found = {
            half.lang: [
                (line, shape)
                for line, shape in find(half.markdown)
                if line not in covered[half.lang]
            ]
            for half in (zh, en)
        }
        shapes = {lang: [shape for _, shape in things] for lang, things in found.items()}
        spare = False
        for half, other in ((zh, en), (en, zh)):
            rest = list(shapes[other.lang])
            for line, shape in found[half.lang]:
                if shape in rest:
                    rest.remove(shape)
                    continue
                spare = True
                times = f"{shapes[half.lang].count(shape)} times here, {shapes[other.lang].count(shape)} times there"
                yield Problem(
                    half.file,
                    half.at(line),
                    f"this {kind} has no counterpart in {other.file}: {_short(shape)} ({times})",
                    "Make both languages agree, or write <!-- parity: reason --> on the line of its block",
                )
        if kind in ("heading", "fenced code") and not spare:
            for (line, shape), (_, wanted) in zip(found["en"], found["zh"], strict=True):
                if shape != wanted:
                    yield Problem(
                        en.file,
                        en.at(line),
                        f"this {kind} stands in another order than in {zh.file}: {_short(shape)}, there {_short(wanted)}",
                        "Keep the order the same in both languages",
                    )
                    break


def _short(shape: str) -> str:
    text = shape.replace("\n", " ⏎ ")
    return text if len(text) <= 80 else f"{text[:77]}…"


def drift(book: Book) -> Iterable[Problem]:
    """A half of a page has changed since both were compared, or nobody has compared them."""
    yield from filter(None, (drifted(book, pair) for pair in sidecars.pairs(book)))
    for path in sidecars.orphans(book):
        yield Problem(
            place(book, path), 1, "this belongs to no page", "Delete it, or name it like its page"
        )


def drifted(book: Book, pair: Pair) -> Problem | None:
    """Whether, and how, a pair has left what its sidecar remembers."""
    files = {lang: place(book, page.path) for lang, page in pair.halves.items()}
    sync = f"`proof parity sync {pair.name}`"
    if pair.fault:
        fix = f"Restore it from git, or compare {files['zh']} with {files['en']} and run {sync}"
        return Problem(place(book, pair.path), pair.fault.line, pair.fault.what, fix)
    if not pair.synced:
        what = f"nobody has compared this page with {files['en']}: there is no {place(book, pair.path)}"
        return Problem(files["zh"], 1, what, f"Compare them, then run {sync}")
    match pair.changed:
        case [lang]:
            other = files[LANGS[1 - LANGS.index(lang)]]
            what = f"this page has changed since it was compared with {other} on {pair.synced.synced_on}, and that one has not"
            alone = f'where that one needs nothing, `proof parity ack {pair.name} --reason "…"`'
            return Problem(files[lang], 1, what, f"Change {other} too and run {sync}; {alone}")
        case [_, _]:
            what = f"this page and {files['en']} have both changed since they were compared on {pair.synced.synced_on}"
            return Problem(files["zh"], 1, what, f"Compare them, then run {sync}")
    return None


def reasons(book: Book) -> Iterable[Problem]:
    """An exception from parity gives no reason."""
    for file, line, reason in parity_tally(book):
        if not reason:
            yield Problem(
                file,
                line,
                "this exception from parity gives no reason",
                "Write <!-- parity: the reason -->",
            )


def parity_tally(book: Book) -> list[tuple[str, int, str]]:
    """Each exception from parity, in a page or acknowledged in a sidecar: file, line, reason."""
    written = [
        (document.file, document.at(line), reason)
        for document in documents(book, ("page", "decision"))
        for line, reason in exceptions(document.markdown)[1]
    ]
    return written + [
        (place(book, pair.path), pair.synced.line("reason"), pair.synced.reason)
        for pair in sidecars.pairs(book)
        if pair.synced and pair.synced.reason
    ]
