"""What pages show of the compiled labs: assembly beside its source, figures of a cell. Markdown text throughout."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from proof.book import translation
from proof.book.labwords import words
from proof.book.model import Book, Cell, Compiled, Lab, Lang, Launch, NotMade
from proof.book.python import parsed
from proof.evidence import compiled as filed
from proof.evidence import order
from proof.evidence.compiled import Asked
from proof.evidence.targets import CARDS, TARGETS
from proof.pages.format import code, link, md, table
from proof.pages.words import word
from proof.problem import Fault


def state_badge(book: Book, lab: Lab, lang: Lang) -> str:
    """Empty when what is filed is of today's lab; else the state as a badge."""
    if not filed.stale(book, lab):
        return ""
    key = "stale-compiled" if lab.stem in book.compiled else "not compiled"
    return f'<span class="state stale-source">{md(word(lang, key))}</span>'


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


def launched(launch: Launch, lang: Lang) -> str:
    """How a kernel was launched, as code: x_ptr: *fp32, BLOCK_SIZE: 1024 · num_warps=8 · aligned to 16: x_ptr."""
    names = [
        f"{name}: {_shown(launch.constants.get(name, kind))}"
        for name, kind in launch.signature.items()
    ]
    options = [f"{name}={value}" for name, value in launch.options.items()]
    aligned = word(lang, "comma").join(code(name) for name in launch.aligned) or word(lang, "none")
    about = word(lang, "aligned") + word(lang, "colon") + aligned
    return " · ".join([code(", ".join(names)), *map(code, options), about])


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


def assembly(
    book: Book, lab: Lab, kernel: str, targets: tuple[str, ...], of: str, lang: Lang
) -> str:
    """The kernel's source and, below or beside it, what the compiler made of one launch for one or two targets; folded."""
    badge = state_badge(book, lab, lang)
    title = word(lang, "assembly", kernel=kernel, targets=word(lang, "comma").join(targets))
    if badge:
        return f'??? example "{title}"\n\n    {badge} <code>proof compile {lab.stem}</code>\n'
    compiled = book.compiled[lab.stem]
    asked = [Asked(lab.stem, kernel, target, of) for target in targets]
    shown = [_launch(compiled, each) for each in asked]
    first, source = source_of(book, lab, kernel, lang)
    about = f"Triton {md(compiled.triton)} · {launched(shown[0], lang)}"
    fences = [_fence("python", f"{lab.stem}.py, {word(lang, 'line', n=first)}", source)]
    for each, launch in zip(asked, shown, strict=True):
        cell = _cell(launch, each.target)
        if isinstance(cell, NotMade):
            raise Fault(
                f"{kernel} has no code for {each.target}: {cell.why}", "Name another target"
            )
        text = compiled.assembly.get(each.file)
        if text is None:
            raise Fault(
                f"the assembly {filed.FOLDER}/{each.file} is not there",
                f"Run `proof compile {lab.stem}`, which writes it",
            )
        lexer = "ptx" if TARGETS[each.target].vendor == "nvidia" else "amdgpu"
        kind = "PTX" if lexer == "ptx" else "AMDGCN"
        registers = word(lang, "registers of", n=cell.registers)
        fences.append(_fence(lexer, f"{each.target} · {kind} · {registers}", text.rstrip("\n")))
    inside = "\n\n".join([about, word(lang, "assembly note"), *fences])
    body = "\n".join(f"    {line}".rstrip() for line in inside.split("\n"))
    return f'??? example assembly{" two" if len(targets) == 2 else ""} "{title}"\n\n{body}\n'


def _fence(lexer: str, title: str, text: str) -> str:
    return f'```{lexer} title="{title}"\n{text}\n```'


def figure(book: Book, lab: Lab, kernel: str, target: str, name: str, of: str, lang: Lang) -> str:
    """One figure of one cell with its target and the version of Triton; a badge while nothing is filed of today's lab."""
    if badge := state_badge(book, lab, lang):
        return badge
    compiled = book.compiled[lab.stem]
    cell = _cell(_launch(compiled, Asked(lab.stem, kernel, target, of)), target)
    try:
        value = filed.figure(cell, name)
    except LookupError as error:
        raise Fault(
            f"{kernel} on {target} has no {name!r}", f"Write one of what {error.args[0]}"
        ) from None
    shown = f"{value:,}" if isinstance(value, int) else str(value)
    title = f"{lab.stem}:{kernel} · {target} · Triton {compiled.triton}"
    return (
        f'<span class="compiled" title="{md(title)}">{md(shown)}<small>{md(target)}</small></span>'
    )


# Will it run on my card?


def cards(book: Book, lang: Lang, up: str) -> str:
    """Every card with its target and limit, then target by target what becomes of each kernel of each lab."""
    parts = [_overview(book, lang)]
    for target in TARGETS.values():
        names = word(lang, "comma").join(target.cards)
        limit = word(lang, "shared limit", n=f"{target.shared_limit:,}")
        parts += [f"## {md(names)} {{ #{target.name} }}\n", f"{code(target.name)} · {limit}\n"]
        rows = "\n".join(
            f"    {line}" for line in _target_table(book, target.name, lang, up).splitlines()
        )
        parts.append(
            f'??? example cards "{names}{word(lang, "colon")}{word(lang, "lab by lab")}"\n\n{rows}\n'
        )
    return "\n".join(parts)


def _overview(book: Book, lang: Lang) -> str:
    heads = [
        word(lang, key) for key in ("your card", "target", "shared limit head", "configurations")
    ]
    rows = []
    for card, target in CARDS.items():
        found = Counter()
        for lab in order.labs(book):
            if not filed.stale(book, lab):
                for row in filed.summaries(book.compiled[lab.stem]):
                    found.update(row.states if row.target == target.name else {})
        limit = f"{target.shared_limit:,} B"
        rows.append(
            [
                link(f"#{target.name}", md(card)),
                code(target.name),
                limit,
                _states(found, lang) or "–",
            ]
        )
    return table(heads, rows)


def _states(found: Mapping[str, int], lang: Lang) -> str:
    """42 fit, 6 too large."""
    keys = {
        filed.FITS: "n fit",
        filed.TOO_LARGE: "n too large",
        filed.NOT_OFFERED: "n not offered",
        filed.FAILED: "n fail",
    }
    return "<br>".join(
        md(word(lang, key, n=found[state])) for state, key in keys.items() if found.get(state)
    )


def _target_table(book: Book, target: str, lang: Lang, up: str) -> str:
    heads = [
        word(lang, key) for key in ("lab and kernel", "configurations", "needs at most", "uses")
    ]
    rows = []
    for lab in order.labs(book):
        name = link(f"{up}labs/{lab.stem}/", md(words(book, lab, lang).title))
        if badge := state_badge(book, lab, lang):
            rows.append([name, badge, "–", "–"])
            continue
        for row in filed.summaries(book.compiled[lab.stem]):
            if row.target == target and row.states:
                rows.append(
                    [
                        f"{name}<br>{code(row.kernel)}",
                        _fit(row, lang),
                        _needs(row, lang),
                        _uses(row, lang),
                    ]
                )
                name = f"<small>{name}</small>" if not name.startswith("<small>") else name
    return table(heads, rows)


def _fit(row: filed.Summary, lang: Lang) -> str:
    parts = [_states(row.states, lang)]
    large = sorted({cell.shared_bytes for cell in row.made if cell.state == filed.TOO_LARGE})
    if large:
        span = " – ".join(dict.fromkeys((f"{large[0]:,}", f"{large[-1]:,}")))
        limit = f"{TARGETS[row.target].shared_limit:,}"
        parts.append(f"<small>{md(word(lang, 'bytes of', n=span, limit=limit))}</small>")
    if row.why:
        parts.append(f'<small lang="en">{md(row.why)}</small>')
    return "<br>".join(parts)


def _needs(row: filed.Summary, lang: Lang) -> str:
    """Shared memory and registers of those that fit, and how many of them spill."""
    fitting = row.fitting()
    if not fitting:
        return "–"
    parts = [
        word(lang, "bytes shared", n=f"{max(cell.shared_bytes for cell in fitting):,}"),
        word(lang, "registers of", n=max(cell.registers for cell in fitting)),
    ]
    if spilling := sum(cell.spills for cell in fitting):
        parts.append(word(lang, "n spill", n=spilling))
    return "<br>".join(map(md, parts))


def _uses(row: filed.Summary, lang: Lang) -> str:
    """Tensor cores with their dtypes, asynchronous copies, the widest loads and stores, exponentials and atomics."""
    nvidia = TARGETS[row.target].vendor == "nvidia"
    parts = [
        f"{code(family)} {md(', '.join(kinds))}"
        for family, kinds in tensor_cores(row.names("tensor")).items()
    ]
    copies = dict.fromkeys(
        re.sub(r"(\.c[ag])? \d+$", "", name) for name in row.names("copy")
    )  # without size and cache
    parts += [code(name) if nvidia else md(name) for name in copies]
    widest = {kind: max(map(int, row.names(kind))) for kind in ("load", "store") if row.names(kind)}
    if widest:
        parts.append(md(word(lang, f"widest {' '.join(widest)}", **widest)))
    if any(cell.code.get("ex2") for cell in row.made):
        parts.append(code("ex2.approx" if nvidia else "v_exp_f32"))
    if any(cell.code.get("atomic") for cell in row.made):
        parts.append(md(word(lang, "atomics")))
    return "<br>".join(parts) or "–"


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
