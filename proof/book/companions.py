"""The companions of a lab: the files of labs/ that it imports, in their order, as one text, and as
a hash.

A lab imports them between two markers. A bundle is one file without those imports: what chooses
between GPU and interpreter (the section `where` of judge.py) lies between the markers instead, and
everything else directly before the first statement that needs it, mostly the tables, so that a
reader meets the kernel near the top:

    # --8<-- [start:companions]                 # --8<-- [start:companions]
    import sys                                  … what `opening` returns …
                                                # --8<-- [end:companions]
    try:
        from judge import DEVICE, main          … the lesson …
    except ModuleNotFoundError as missing:
        …                                       # --8<-- [start:judge]
    # --8<-- [end:companions]           →       … what `inlined` returns …
                                                # --8<-- [end:judge]
    … the lesson …
    CLAIMS = [ …                                CLAIMS = [ …

Lab and bundle have one hash each for the lesson and for the companions, and both forms give the
same two.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

from proof.book.python import code_hash, parsed

BLOCK = re.compile(
    r"^# --8<-- \[start:(?P<name>companions|judge)\]\n"
    r"(?P<text>.*?)^# --8<-- \[end:(?P=name)\](?:\n|\Z)",
    re.M | re.S,
)
WHERE = re.compile(
    r"^# --8<-- \[start:where\]\n(?P<text>.*?)^# --8<-- \[end:where\]\n", re.M | re.S
)
JUDGE_TITLE = (
    "# %% The judge: what every lab is measured with. The lesson itself is above and below."
)
MARKER = re.compile(r"^[ \t]*# --8<-- \[(?:start|end):[\w-]+\][ \t]*\n", re.M)


def is_bundle(source: str) -> bool:
    """Whether the lab holds the text of its companions itself."""
    return "judge" in _blocks(source)


def _blocks(source: str) -> dict[str, str]:
    """The text between the markers of each block, by its name."""
    return {block["name"]: block["text"] for block in BLOCK.finditer(source)}


def lesson_of(source: str) -> str:
    """The lab without the blocks that import its companions, or that hold them."""
    return BLOCK.sub("", source)


def lab_hash(source: str) -> str:
    """The hash of the lesson's code. Raises SyntaxError when it does not tokenize."""
    return code_hash(lesson_of(source))


def judge_hash(source: str, texts: Mapping[str, str]) -> str:
    """The hash of the code of the lab's companions. Raises as `companions` does."""
    if is_bundle(source):
        return code_hash(*_blocks(source).values())
    beside = companions(source, texts)
    return code_hash(opening(beside), *_bare_texts(beside).values())


def bundle(source: str, texts: Mapping[str, str]) -> str:
    """The lab and its companions as one file. Raises as `companions` does."""
    beside = companions(source, texts)
    if not beside:
        return source
    lines = source.split("\n")
    at = _needed(
        source, frozenset().union(*map(_defined, beside.values())) - _defined(opening(beside))
    )
    judge = f"{JUDGE_TITLE}\n# --8<-- [start:judge]\n{inlined(beside)}# --8<-- [end:judge]\n\n\n"
    held = f"# --8<-- [start:companions]\n{opening(beside)}# --8<-- [end:companions]\n"
    head = BLOCK.sub(lambda _: held, "\n".join(lines[:at]) + "\n", count=1)
    return head + judge + "\n".join(lines[at:])


def _needed(source: str, names: frozenset[str]) -> int:
    """How many lines of the lab stand before its first statement that uses one of the names when it
    is loaded.

    What a function does when it is called does not count. Comments right above the statement go
    with it.
    """
    block = BLOCK.search(source)
    begin = source.count("\n", 0, block.end()) if block else 0
    lines = source.split("\n")
    for node in parsed(source).body:
        used = {
            each.id
            for part in _loaded(node)
            for each in ast.walk(part)
            if isinstance(each, ast.Name)
        }
        if node.lineno > begin and used & names:
            decorators: list[ast.expr] = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(each.lineno for each in decorators)]) - 1
            while lines[first - 1].startswith("#"):
                first -= 1
            return first
    return len(lines) - 1


def _loaded(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a top-level statement that run when the file is loaded."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.decorator_list
        yield node.args
        if node.returns is not None:
            yield node.returns
    else:
        yield node


def companions(source: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Name and text of each companion of a lab, such as judge.py, each below those that it imports
    itself.

    `texts` are those that there are. A bundle has none. Raises SyntaxError for one that is not
    Python, ValueError where two import each other, or where one is imported otherwise than by `from
    judge import name`.
    """
    beside: dict[str, str] = {}
    block = BLOCK.search(source)
    if block is None or is_bundle(source):
        return beside

    def add(text: str, path: tuple[str, ...]) -> None:
        for name in imported(text):
            if name in path:
                raise ValueError(f"{name} and {path[-1]} import each other")
            if name in texts and name not in beside:
                add(texts[name], (*path, name))
                beside[name] = texts[name]

    add(block["text"], ())
    return beside


def missing(source: str, texts: Mapping[str, str]) -> list[str]:
    """The files that the lab's block imports from and that are not there."""
    block = BLOCK.search(source)
    if block is None or is_bundle(source):
        return []
    return [name for name in imported(block["text"]) if name not in texts]


@lru_cache(maxsize=256)
def imported(text: str) -> tuple[str, ...]:
    """The files that `from name import …` at the top level of the text would read from its folder:
    ("judge.py",).

    Also those of the standard library: whoever asks knows which of them lie there.
    """
    return tuple(
        dict.fromkeys(
            f"{node.module}.py" for node in _imports(parsed(text)) if "." not in str(node.module)
        )
    )


def _imports(tree: ast.AST) -> Iterator[ast.ImportFrom]:
    """Each `from name import …` that is no part of a function or class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node
        elif isinstance(node, ast.Try | ast.If):
            yield from _imports(node)


def opening(texts: Mapping[str, str]) -> str:
    """What a bundle begins with: the section `where` of judge.py; empty without one."""
    where = WHERE.search(texts.get("judge.py", ""))
    return where["text"] if where else ""


def inlined(texts: Mapping[str, str]) -> str:
    """The text of companions in their order, without the imports of each other and without what
    `opening` returns.

    Raises SyntaxError or ValueError, see `companions`.
    """
    return "\n\n".join(f"# {name}\n{bare}" for name, bare in _bare_texts(texts).items())


def _bare_texts(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: _bare(name, text, tuple(texts)) for name, text in texts.items()}


@lru_cache(maxsize=256)
def _bare(name: str, text: str, companions: tuple[str, ...]) -> str:
    """The text without docstring, section markers, `__all__`, and imports of companions."""
    text = WHERE.sub("", text)
    tree, lines = parsed(text), text.split("\n")
    cut: list[ast.stmt] = []
    if ast.get_docstring(tree) is not None:
        cut.append(tree.body[0])
    for node in tree.body:
        match node:
            case ast.ImportFrom(module=module, names=names) if f"{module}.py" in companions:
                if any(each.asname or each.name == "*" for each in names):
                    other = f"{name} imports from {module} by another name or by *"
                    raise ValueError(f"{other}: import each name as it is")
                cut.append(node)
            case ast.Import(names=names) if any(f"{each.name}.py" in companions for each in names):
                raise ValueError(
                    f"{name} imports {ast.unparse(node)[7:]} as a module: import each name from it"
                )
            case ast.Assign(targets=[ast.Name(id="__all__")]):
                cut.append(node)
    for node in cut:
        end = node.end_lineno or node.lineno
        lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
    kept = MARKER.sub("", "\n".join(lines))
    return re.sub(r"\n{4,}", "\n\n\n", kept).strip("\n") + "\n"


def names_twice(source: str, texts: Mapping[str, str]) -> list[str]:
    """Names that more than one file of the lab and its companions defines: in a bundle one would
    hide the other.
    """
    files = [lesson_of(source), *companions(source, texts).values()]
    counts = Counter(name for text in files for name in _defined(text))
    return [name for name, count in counts.items() if count > 1]


@lru_cache(maxsize=256)
def _defined(text: str) -> frozenset[str]:
    """The functions, classes and variables at the top level."""
    names: set[str] = set()
    for node in parsed(text).body:
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.AsyncFunctionDef(name=name)
            ):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {
                    each.id
                    for target in targets
                    for each in ast.walk(target)
                    if isinstance(each, ast.Name)
                }
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
    return frozenset(names - {"__all__"})
