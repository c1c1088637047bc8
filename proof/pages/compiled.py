"""What pages show of the compiled labs: assembly beside its source, figures of a cell. Markdown text throughout."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proof.book import translation
from proof.book.labwords import words
from proof.book.model import Book, Cell, Compiled, Lab, Lang, Launch, NotMade
from proof.book.python import parsed
from proof.evidence import compiled as filed
from proof.evidence import order
from proof.evidence.compiled import Asked
from proof.evidence.targets import CARDS, TARGETS, Target
from proof.pages.render import render
from proof.problem import Fault

# What becomes of a configuration, in the order of pages, and the word for it.
OUTCOMES = {
    filed.FITS: "n fit",
    filed.TOO_LARGE: "n too large",
    filed.NOT_OFFERED: "n not offered",
    filed.FAILED: "n fail",
}


def state_badge(book: Book, lab: Lab, lang: Lang) -> str:
    """Empty when what is filed is of today's lab; else the state as a badge."""
    if not filed.stale(book, lab):
        return ""
    return render("stale_compiled", lang, "", compiled=lab.stem in book.compiled)


def _launch(compiled: Compiled, asked: Asked) -> Launch:
    if asked.kernel not in compiled.kernels:
        known = ", ".join(compiled.kernels)
        raise Fault(f"{asked.lab} has no kernel {asked.kernel!r}", f"There are: {known}")
    launches = filed.ordered(compiled.launches, asked.kernel, asked.target, asked.of)
    if launches:
        return launches[0]
    others = filed.ordered(compiled.launches, asked.kernel, asked.target)
    claims = dict.fromkeys(claim for launch in others for claim in launch.claims)
    what = f"no claim {asked.of!r} launches {asked.kernel} on {asked.target}"
    raise Fault(what, f"These do: {', '.join(claims)}")


def _cell(launch: Launch, target: str) -> Cell:
    return next(cell for name, cell in launch.cells.items() if name == target)


def _described(launch: Launch) -> tuple[str, list[str]]:
    """How a kernel was launched: x_ptr: *fp32, BLOCK_SIZE: 1024; and num_warps=8, …"""
    names = [
        f"{name}: {_shown(launch.constants.get(name, kind))}"
        for name, kind in launch.signature.items()
    ]
    return ", ".join(names), [f"{name}={value}" for name, value in launch.options.items()]


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return str(next(iter(value.values())))
    return str(value)


def source_of(book: Book, lab: Lab, kernel: str, lang: Lang) -> tuple[int, str]:
    """The kernel with its decorators, comments in that language, and the number of its first line."""
    source = translation.shown(book, lab, lang)
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.FunctionDef) and node.name == kernel:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            return first, "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    raise Fault(f"{lab.stem} defines no {kernel}", "Name a kernel of the lab")


@dataclass(frozen=True)
class Listing:
    """What the compiler made of a launch for a target."""

    target: str
    lexer: str
    registers: int
    text: str


def assembly(
    book: Book, lab: Lab, kernel: str, targets: tuple[str, ...], of: str, lang: Lang
) -> str:
    """The kernel's source and, below or beside it, what the compiler made of one launch for one or two targets; folded."""
    data = {"lab": lab, "kernel": kernel, "targets": targets}
    if badge := state_badge(book, lab, lang):
        return render("assembly", lang, "", **data, stale=badge)
    compiled = book.compiled[lab.stem]
    asked = [Asked(lab.stem, kernel, target, of) for target in targets]
    launches = [_launch(compiled, each) for each in asked]
    listings = [_listing(compiled, *each) for each in zip(asked, launches, strict=True)]
    first, source = source_of(book, lab, kernel, lang)
    signature, options = _described(launches[0])
    return render(
        "assembly",
        lang,
        "",
        **data,
        stale="",
        triton=compiled.triton,
        signature=signature,
        options=options,
        aligned=launches[0].aligned,
        first=first,
        source=source,
        listings=listings,
    )


def _listing(compiled: Compiled, asked: Asked, launch: Launch) -> Listing:
    cell = _cell(launch, asked.target)
    if isinstance(cell, NotMade):
        what = f"{asked.kernel} has no code for {asked.target}: {cell.why}"
        raise Fault(what, "Name another target")
    text = compiled.assembly.get(asked.file)
    if text is None:
        what = f"the assembly {filed.FOLDER}/{asked.file} is not there"
        raise Fault(what, f"Run `proof compile {asked.lab}`, which writes it")
    lexer = "ptx" if TARGETS[asked.target].vendor == "nvidia" else "amdgpu"
    return Listing(asked.target, lexer, cell.registers, text.rstrip("\n"))


def figure(book: Book, lab: Lab, kernel: str, target: str, name: str, of: str, lang: Lang) -> str:
    """One figure of one cell with its target and the version of Triton; a badge while nothing is filed of today's lab."""
    if badge := state_badge(book, lab, lang):
        return badge
    compiled = book.compiled[lab.stem]
    cell = _cell(_launch(compiled, Asked(lab.stem, kernel, target, of)), target)
    try:
        value = filed.figure(cell, name)
    except LookupError as error:
        what = f"{kernel} on {target} has no {name!r}"
        raise Fault(what, f"Write one of what {error.args[0]}") from None
    shown = f"{value:,}" if isinstance(value, int) else str(value)
    title = f"{lab.stem}:{kernel} · {target} · Triton {compiled.triton}"
    return render("compiled_figure", lang, "", shown=shown, title=title, target=target)


# Will it run on my GPU?


@dataclass(frozen=True)
class Use:
    """What becomes of a kernel on a target."""

    lab: Lab
    title: str
    first: bool  # of its lab
    badge: str  # where nothing is filed of today's lab, and then nothing below
    summary: filed.Summary | None = None
    too_large: tuple[int, ...] = ()  # bytes of shared memory: the least and the most
    shared_bytes: int = 0  # the most of those that fit
    registers: int = 0
    spilling: int = 0
    cores: Mapping[str, list[str]] | None = None  # tensor cores with their dtypes
    copies: tuple[str, ...] = ()
    widest: Mapping[str, int] | None = None  # load, store -> bytes


def cards(book: Book, lang: Lang, up: str) -> str:
    """Every card with its target and limit, then target by target what becomes of each kernel of each lab."""
    targets = [(target, list(_uses(book, target, lang))) for target in TARGETS.values()]
    totals = {
        target.name: sum((Counter(use.summary.states) for use in uses if use.summary), Counter())
        for target, uses in targets
    }
    return render("cards", lang, up, cards=CARDS, totals=totals, targets=targets, outcomes=OUTCOMES)


def _uses(book: Book, target: Target, lang: Lang) -> Iterable[Use]:
    for lab in order.labs(book):
        title = words(book, lab, lang).title
        if badge := state_badge(book, lab, lang):
            yield Use(lab, title, True, badge)
            continue
        summaries = filed.summaries(book.compiled[lab.stem])
        here = [each for each in summaries if each.target == target.name and each.states]
        for number, summary in enumerate(here):
            yield _use(lab, title, number == 0, summary)


def _use(lab: Lab, title: str, first: bool, summary: filed.Summary) -> Use:
    large = sorted(cell.shared_bytes for cell in summary.made if cell.state == filed.TOO_LARGE)
    fitting = summary.fitting()
    copies = (re.sub(r"(\.c[ag])? \d+$", "", name) for name in summary.names("copy"))
    return Use(
        lab,
        title,
        first,
        "",
        summary,
        too_large=tuple(dict.fromkeys((*large[:1], *large[-1:]))),
        shared_bytes=max((cell.shared_bytes for cell in fitting), default=0),
        registers=max((cell.registers for cell in fitting), default=0),
        spilling=sum(cell.spills for cell in fitting),
        cores=tensor_cores(summary.names("tensor")),
        copies=tuple(dict.fromkeys(copies)),  # without size and cache
        widest={
            kind: max(map(int, summary.names(kind)))
            for kind in ("load", "store")
            if summary.names(kind)
        },
    )


def tensor_cores(names: Iterable[str]) -> dict[str, list[str]]:
    """Families of tensor core instructions, each with the dtypes that it multiplies: wgmma: f16, tf32."""
    found: dict[str, list[str]] = {}
    for name in names:
        family = re.match(r"mma\.sync|wgmma|tcgen05|s?mfmac?|s?wmmac?", name)
        kind = re.search(
            r"kind::(\w+)|\.(bf16|f16|tf32|f64|e4m3|e5m2|[su]8)\b|x\d+_?(?:1k_)?((?:x|b)?f\d+|bf8|fp8|i8|iu8)",
            name,
        )
        kinds = found.setdefault(family[0] if family else name, [])
        dtype = next(filter(None, kind.groups())) if kind else ""
        if dtype and dtype not in kinds:
            kinds.append(dtype)
    return found
