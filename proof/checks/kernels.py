"""What can be seen of kernels and claims without running either: fills of masked loads, and who may judge what.

A lab that breaks a rule on purpose says so on the line itself: `# on purpose: why`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from proof.book.model import Book
from proof.book.python import parsed
from proof.problem import Problem
from proof.text.documents import place

ON_PURPOSE = re.compile(r"#.*\bon purpose: \S")
BLIND = re.compile(
    r"\b(bfloat16|bf16|tf32\w*|bf16x\d)\b", re.I
)  # what the interpreter computes otherwise than a GPU


def fills(book: Book) -> Iterable[Problem]:
    """A masked load names no fill: the interpreter puts 0 there, a GPU whatever the register held."""
    for lab in book.labs.values():
        lines = lab.source.split("\n")
        for call in _calls(lab.source):
            named = {keyword.arg for keyword in call.keywords}
            masked = "mask" in named or len(call.args) > 1
            filled = "other" in named or len(call.args) > 2
            if ast.unparse(call.func) != "tl.load" or not masked or filled:
                continue
            span = "\n".join(lines[call.lineno - 1 : call.end_lineno])
            if not ON_PURPOSE.search(span):
                what = "a masked load without other=: masked lanes hold 0 in the interpreter, and anything on a GPU"
                fix = "Name the fill, or say on that line why not: # on purpose: …"
                yield Problem(place(book, lab.path), call.lineno, what, fix)


def judges(book: Book) -> Iterable[Problem]:
    """A claim of bfloat16 or of a reduced input precision says that anyone can judge it."""
    for lab in book.labs.values():
        for claim in lab.claims.values():
            if claim.kind != "error" or claim.judges != "any":
                continue
            names = [claim.id, *(argument.written for argument in claim.arguments.values())]
            found = next(
                filter(None, (BLIND.search(name.replace("_", " ")) for name in names)), None
            )
            if found and "widened" not in claim.why:
                what = f"{claim.id} is of {found[0]}, which the interpreter computes wrongly, and yet anyone may judge it"
                fix = "Let a GPU judge it; where the kernel widens to fp32 after the load, let the reason say “widened”"
                yield Problem(place(book, lab.path), claim.line, what, fix)


def _calls(source: str) -> Iterator[ast.Call]:
    try:
        tree = parsed(source)
    except SyntaxError:  # what could not be read is told elsewhere
        return
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))
