"""Drawings of data: blocks, rows, tiles, pipelines, sectors. Their numbers come from the labs that they illustrate.

Each is one SVG with a title and a description for those who do not see it, and a caption. Labels are
in the language of the page; colors are classes of docs/assets/site.css, so that one drawing serves
both palettes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import yaml

from proof.book import python
from proof.book.model import Claim, Lab, Lang
from proof.pages.format import md

WORDS = Path(__file__).with_name("drawings.yml")
WIDTH = 440  # of every drawing, in units; text is 12 high


class Canvas:
    """The parts of one drawing, in units of its view box."""

    def __init__(self, height: float) -> None:
        self.height = height
        self.parts: list[str] = []

    def box(
        self, x: float, y: float, width: float, height: float, color: int = 0, label: str = ""
    ) -> None:
        """A filled rectangle with a label in its middle. Color 0 is neutral."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect class="c{color}" {place}/>')
        if label:
            self.text(x + width / 2, y + height / 2 + 4, label)

    def outline(self, x: float, y: float, width: float, height: float) -> None:
        """A dashed rectangle: what has room and holds nothing."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect class="empty" {place}/>')

    def text(self, x: float, y: float, words: str, align: str = "x") -> None:
        """Words around x ("x"), to its left ("y") or to its right ("left")."""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{align}">{md(words)}</text>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A straight arrow, along one of the axes."""
        down, right = (y2 > y1) - (y2 < y1), (x2 > x1) - (x2 < x1)
        left_wing = f"M{x2 - 5 * right + 4 * down:.1f} {y2 - 5 * down + 4 * right:.1f}"
        right_wing = (
            f"L{x2:.1f} {y2:.1f}L{x2 - 5 * right - 4 * down:.1f} {y2 - 5 * down - 4 * right:.1f}"
        )
        shaft = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
        self.parts.append(f'<path class="arrow" d="{shaft}{left_wing}{right_wing}"/>')


class Words:
    """The words of one drawing in one language, with {name} filled in."""

    def __init__(self, name: str, lang: Lang, values: Mapping[str, object]) -> None:
        self.texts = _words()[name]
        self.lang = lang
        self.values = values

    def __call__(self, key: str, **more: object) -> str:
        return self.texts[key][self.lang].format(**self.values, **more)


@cache
def _words() -> dict[str, dict[str, dict[Lang, str]]]:
    """By drawing and key, in both languages."""
    words: dict[str, dict[str, dict[Lang, str]]] = yaml.load(
        WORDS.read_text(encoding="utf-8"), yaml.CSafeLoader
    )
    return words


Shapes = dict[str, int]  # the sizes that a drawing shows, by the lab's own names


def draw(name: str, lab: Lab | None, claim: Claim | None, key: str, lang: Lang) -> str:
    """The drawing as HTML without blank lines. `key` makes its ids the only ones of the page.

    Raises KeyError for a drawing that does not exist, ValueError where it needs a claim of a lab.
    """
    values = _shapes(lab, claim) if claim is not None and lab is not None else {}
    words = Words(name, lang, values)
    try:
        canvas = DRAWINGS[name](words, values)
    except KeyError as missing:
        raise ValueError(f"the claim gives no {missing}") from None
    ids = f"{key}-title", f"{key}-desc"
    parts = [
        '<figure class="chart drawing" data-search-exclude="">',
        f'<svg viewBox="0 0 {WIDTH} {canvas.height:g}" role="img" aria-labelledby="{ids[0]} {ids[1]}">',
        f'<title id="{ids[0]}">{md(words("title"))}</title>',
        f'<desc id="{ids[1]}">{md(words("description"))}</desc>',
        *canvas.parts,
        "</svg>",
        f"<figcaption>{md(words('caption'))}</figcaption>",
        "</figure>",
    ]
    return "\n".join(parts) + "\n"


def _shapes(lab: Lab, claim: Claim) -> Shapes:
    """The arguments of the claim, the whole-number constants of the lab, and its first tile."""
    shapes: Shapes = {}
    for node in python.parsed(lab.source).body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        target = node.targets[0].id
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, int):
            shapes[target] = node.value.value
        elif target == "CONFIGS" and isinstance(node.value, ast.List):
            first = node.value.elts[0]
            if isinstance(first, ast.Call):
                sizes = (part.value for part in first.args if isinstance(part, ast.Constant))
                names = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
                shapes |= {
                    name: size
                    for name, size in zip(names, sizes, strict=False)
                    if isinstance(size, int)
                }
    for name, argument in claim.arguments.items():
        if isinstance(argument.value, int):
            shapes[name] = argument.value
    return shapes | dict(_derived(shapes))


def _derived(shapes: Shapes) -> Iterator[tuple[str, int]]:
    """What follows from the sizes: how many blocks, what is left for the last, the padded row."""
    n, block, columns = (shapes.get(name) for name in ("n", "BLOCK_SIZE", "n_cols"))
    if isinstance(n, int) and isinstance(block, int):
        yield "blocks", -(-n // block)
        yield "last", -(-n // block) - 1
        yield "rest", n % block or block
    if isinstance(columns, int):
        padded = 1 << (columns - 1).bit_length()
        yield "padded", padded
        yield "padding", padded - columns


def _blocks(words: Words, shapes: Shapes) -> Canvas:
    """A vector cut into blocks, the last one only partly used, and a program below each."""
    canvas, top, width = Canvas(112), 36, 84
    last, rest, block = (shapes[name] for name in ("last", "rest", "BLOCK_SIZE"))
    canvas.text(4, 14, words("vector"), "left")
    canvas.text(436, 14, words("edge"), "y")
    places = {4: 0, 92: 1, 216: last - 1, 304: last}
    for color, (x, index) in enumerate(places.items(), 1):
        canvas.arrow(x + 42, 92, x + 42, 72)
        canvas.text(x + 42, 106, words("program", i=index))
        if index < last:
            canvas.box(x, top, width, 30, color, words("block", i=index))
    canvas.text(196, top + 19, "…")
    canvas.outline(304, top, 130, 30)
    used = max(130 * rest / block, 4)
    canvas.box(304, top, used, 30, 4)
    canvas.text(304 + used + (130 - used) / 2, top + 19, words("block", i=last))
    return canvas


def _row(words: Words, shapes: Shapes) -> Canvas:
    """One row in one block: read once, reduced on chip, written once."""
    canvas = Canvas(196)
    width = 330 * shapes["n_cols"] / shapes["padded"]
    canvas.text(4, 14, words("memory"), "left")
    canvas.box(4, 22, width, 24, 1, words("columns"))
    canvas.arrow(60, 50, 60, 74)
    canvas.text(68, 66, words("read"), "left")
    canvas.box(4, 80, width, 24, 1, words("columns"))
    canvas.box(4 + width, 80, 330 - width, 24, 4, "−∞")
    canvas.text(342, 90, words("block"), "left")
    canvas.text(342, 105, words("registers"), "left")
    for index, step in enumerate(("max", "exp", "sum", "÷")):
        canvas.box(4 + index * 84, 114, 78, 22, 2, step)
    canvas.arrow(60, 140, 60, 160)
    canvas.text(68, 155, words("write"), "left")
    canvas.box(4, 166, width, 24, 3, words("columns"))
    return canvas


def _tiles(words: Words, shapes: Shapes) -> Canvas:
    """A tile of C, and the tiles of A and B that it needs along K."""
    rows, columns, steps = (
        -(-shapes[size] // shapes[block])
        for size, block in (("M", "BLOCK_M"), ("N", "BLOCK_N"), ("K", "BLOCK_K"))
    )
    tile, deep = 44, 30
    left, top = 4 + deep * steps + 20, 24 + deep * steps + 24
    canvas = Canvas(top + rows * tile + 6)
    canvas.text(4, top - 8, words("a"), "left")
    canvas.text(left, 14, words("b"), "left")
    for row in range(rows):
        for step in range(steps):
            canvas.box(4 + step * deep, top + row * tile, deep, tile, 1 if row == 1 else 0)
        for column in range(columns):
            color = 3 if (row, column) == (1, 1) else 0
            canvas.box(left + column * tile, top + row * tile, tile, tile, color)
    for step in range(steps):
        for column in range(columns):
            color = 2 if column == 1 else 0
            canvas.box(left + column * tile, 22 + step * deep, tile, deep, color)
    middle = left + 1.5 * tile
    canvas.arrow(8, top + 1.5 * tile, deep * steps, top + 1.5 * tile)
    canvas.arrow(middle, 26, middle, 18 + deep * steps)
    beside = left + columns * tile + 10
    canvas.text(beside, 22 + deep * steps / 2 + 4, words("walk"), "left")
    canvas.text(beside, top + 1.5 * tile - 4, words("mine"), "left")
    canvas.text(beside, top + 1.5 * tile + 12, words("once"), "left")
    canvas.text(left + columns * tile / 2, top - 8, words("c"))
    return canvas


def _broadcast(words: Words, shapes: Shapes) -> Canvas:
    """A column of row offsets plus a row of column offsets is a block of offsets."""
    canvas, cell, stride = Canvas(146), 32, 8
    canvas.text(4, 14, words("rows"), "left")
    canvas.text(108, 14, words("columns"), "left")
    canvas.text(272, 14, words("block"), "left")
    canvas.text(84, 84, "+")
    canvas.text(254, 84, "=")
    for column in range(4):
        canvas.box(108 + column * cell, 64, cell, cell, 2, str(column))
    for row in range(3):
        canvas.box(4, 32 + row * cell, 64, cell, 1, f"{row} · {stride}")
        for column in range(4):
            place = 272 + column * 40
            canvas.box(place, 32 + row * cell, 40, cell, 3, str(row * stride + column))
    return canvas


def _grouped(words: Words, shapes: Shapes) -> Canvas:
    """The first nine programs on a grid of tiles: row by row, and in groups of three rows."""
    canvas, cell, size = Canvas(202), 26, 6
    orders = {
        "row": [(index // size, index % size) for index in range(9)],
        "group": [(index % 3, index // 3) for index in range(9)],
    }
    for left, (name, order) in zip((4, 232), orders.items(), strict=True):
        canvas.text(left, 14, words(name), "left")
        for row in range(size):
            for column in range(size):
                first = (row, column) in order
                label = str(order.index((row, column))) if first else ""
                place = left + column * cell, 22 + row * cell
                canvas.box(*place, cell, cell, 3 if first else 0, label)
        canvas.text(left, 22 + size * cell + 18, words(f"{name} needs"), "left")
    return canvas


def _pipeline(words: Words, shapes: Shapes) -> Canvas:
    """Loads of two units and products of one over time, with one, two and three stages."""
    canvas, left, unit = Canvas(212), 96, 27
    for index, stages in enumerate((1, 2, 3)):
        top = 10 + index * 64
        canvas.text(4, top + 26, words("stages", n=stages), "left")
        canvas.text(left - 6, top + 15, words("load"), "y")
        canvas.text(left - 6, top + 42, words("dot"), "y")
        for step in range(4):
            begin = left + step * (4 - stages) * unit
            canvas.box(begin, top + 12 * (step % 2), 2 * unit - 2, 11, 1)
            canvas.box(begin + 2 * unit, top + 29, unit - 2, 18, 3, str(step))
    canvas.arrow(left, 204, WIDTH - 44, 204)
    canvas.text(WIDTH - 4, 208, words("time"), "y")
    return canvas


def _launch(words: Words, shapes: Shapes) -> Canvas:
    """What a first launch, the first of a new process, and a later one consist of. Not to scale."""
    canvas, left = Canvas(118), 130
    launches = {
        "first": (("compile", 150, 4), ("load", 70, 2), ("launch", 60, 3)),
        "new process": (("read", 70, 1), ("load", 70, 2), ("launch", 60, 3)),
        "later": (("launch", 60, 3),),
    }
    for index, (name, steps) in enumerate(launches.items()):
        top, place = 8 + index * 36, left
        canvas.text(left - 8, top + 18, words(name), "y")
        for step, width, color in steps:
            canvas.box(place, top, width, 26, color, words(step))
            place += width + 2
    return canvas


def _sectors(words: Words, shapes: Shapes) -> Canvas:
    """The sectors of 32 bytes that 32 lanes touch which read 4 bytes each."""
    canvas, left, lane = Canvas(214), 4, 3.2
    cases = {"contiguous": (1, 0), "misaligned": (1, 4), "strided": (4, 0)}
    for index, (name, (stride, shift)) in enumerate(cases.items()):
        top = 18 + index * 68
        addresses = [(shift + 4 * stride * number) for number in range(32)]
        sectors = sorted({address // 32 for address in addresses})
        canvas.text(left, top - 4, words(name, n=len(sectors)), "left")
        for sector in sectors:
            canvas.box(left + sector * 8 * lane, top + 2, 8 * lane - 1, 34, 1)
        for address in addresses:
            canvas.box(left + address / 4 * lane, top + 8, lane - 0.6, 22, 3)
    return canvas


def _sums(words: Words, shapes: Shapes) -> Canvas:
    """The partial sums of K values, one after another and as a tree: a bar covers what it adds up."""
    count, width = shapes["K"], 200
    cell, depth = width / count, count.bit_length() - 1
    chain = [[(0, end)] for end in range(2, count + 1)]
    tree = [
        [(start, start + 2**level) for start in range(0, count, 2**level)]
        for level in range(1, depth + 1)
    ]
    canvas = Canvas(42 + 11 * len(chain))
    for left, name, levels in ((4, "row", chain), (236, "tree", tree)):
        canvas.text(left, 14, words(name, n=len(levels)), "left")
        for index in range(count):
            canvas.box(left + index * cell, 22, cell - 1, 12, 1)
        for number, sums in enumerate(levels):
            for start, end in sums:
                place = left + start * cell, 38 + 11 * number
                canvas.box(*place, (end - start) * cell - 1, 9, 3)
    return canvas


def _spacing(words: Words, shapes: Shapes) -> Canvas:
    """The numbers of fp16 around 256, and a sum that is rounded back to where it started."""
    canvas, low, unit, line = Canvas(112), 255.4, 318, 60
    numbers = [255.5 + step / 8 for step in range(4)] + [256 + step / 4 for step in range(4)]
    canvas.box(4, line - 1, WIDTH - 8, 2, 0)
    for number in numbers:
        place = (number - low) * unit
        canvas.box(place - 1, line - 9, 2, 18, 1)
        if number * 4 % 1 == 0:
            canvas.text(place, line + 24, f"{number:g}")
    start, exact = (256 - low) * unit, (256.1 - low) * unit
    canvas.arrow(start, line - 20, exact, line - 20)
    canvas.text(exact + 6, line - 16, words("exact"), "left")
    canvas.arrow(exact, line + 34, start, line + 34)
    canvas.text(exact + 6, line + 44, words("rounded"), "left")
    canvas.text(4, 14, words("below"), "left")
    canvas.text(WIDTH - 4, 14, words("above"), "y")
    return canvas


def _allocations(words: Words, shapes: Shapes) -> Canvas:
    """Where the row past the end of a lies: in one allocation for all tensors, in a gap, in b."""
    canvas, height, row = Canvas(232), 30, 120
    cases = {  # what an allocation holds: its tensors with their places and widths
        "cached": [[("a", 4, row), ("b", 124, 90), ("c", 214, 90), ("", 304, 130)]],
        "apart": [[("a", 4, row)], [("b", 154, 90)], [("c", 274, 90)]],
        "touching": [[("a", 4, row)], [("b", 124, 90)], [("c", 244, 90)]],
    }
    for index, (name, allocations) in enumerate(cases.items()):
        top = 24 + index * 76
        canvas.text(4, top - 8, words(name), "left")
        for tensors in allocations:
            left, end = tensors[0][1], tensors[-1][1] + tensors[-1][2]
            for tensor, place, width in tensors:
                if tensor:
                    color = "abc".index(tensor) + 1
                    canvas.box(place, top, width, height, color, words(f"tensor {tensor}"))
            canvas.outline(left, top, end - left, height)
        canvas.arrow(134, top + height + 16, 134, top + height + 2)
        canvas.text(142, top + height + 16, words(f"{name} seen"), "left")
    return canvas


def _width(words: Words, shapes: Shapes) -> Canvas:
    """Which thread reads which elements of a block, in wide accesses and in narrow ones."""
    canvas, cell, lane, threads = Canvas(158), 26, 4, 128  # fp32 in 16 bytes, 4 warps
    round_of_all = lane * threads
    accesses = shapes["BLOCK_SIZE"] // round_of_all
    groups = {2: 0, 108: 1, 228: threads - 1, 334: threads}  # place: group of four elements
    for row, name in enumerate(("wide", "narrow")):
        top = 24 + row * 76
        number = accesses if name == "wide" else accesses * lane
        canvas.text(4, top - 8, words(name, n=number), "left")
        canvas.text(220, top + 19, "…")
        for place, group in groups.items():
            color = 1 + group // threads
            gap = 0 if name == "wide" else 3
            for index in range(lane):
                label = str(group * lane + index)
                canvas.box(place + index * cell, top, cell - gap, 28, color, label)
            thread = words("thread", i=group % threads)
            canvas.text(place + lane * cell / 2, top + 44, thread)
    return canvas


Part = tuple[str, int]  # names of arrays, and their bytes for one element
Steps = dict[str, tuple[tuple[str, int, int, int, Part, Part], ...]]
# a row → its kernels, each with color, left edge, width, what it reads, what it writes


def _barrier(words: Words, shapes: Shapes) -> Canvas:
    """Norm and quantization in one kernel, and in two: what each reads and writes of one element."""
    x, d, r, y, q = 2, 2, 2, 2, 1  # bytes: all bf16, and q int8
    steps: Steps = {
        "fused": (("both", 1, 110, 220, ("x, d", x + d), ("r, q", r + q)),),
        "split": (
            ("norm", 3, 40, 160, ("x, d", x + d), ("r, y", r + y)),
            ("quantize", 2, 240, 160, ("y", y), ("q", q)),
        ),
    }
    return _moved(words, steps)


def _fusion(words: Words, shapes: Shapes) -> Canvas:
    """An addition and a ReLU in one kernel, and in two: what each reads and writes of one element."""
    x, y, total, out = 4, 4, 4, 4  # bytes: all fp32
    steps: Steps = {
        "fused": (("both", 1, 110, 220, ("x, y", x + y), ("out", out)),),
        "split": (
            ("add", 3, 40, 160, ("x, y", x + y), ("total", total)),
            ("relu", 2, 240, 160, ("total", total), ("out", out)),
        ),
    }
    return _moved(words, steps)


def _moved(words: Words, steps: Steps) -> Canvas:
    """Two rows of kernels above memory, with the bytes that each reads and writes."""
    canvas = Canvas(254)
    for row, (name, kernels) in enumerate(steps.items()):
        top = 4 + row * 130
        moved = [size for *_, read, written in kernels for _, size in (read, written)]
        canvas.text(4, top + 12, words(name, n=sum(moved)), "left")
        canvas.box(4, top + 90, 432, 24, 0, words("memory"))
        for kernel, color, left, width, read, written in kernels:
            canvas.box(left, top + 22, width, 28, color, words(kernel))
            at = left + 0.15 * width
            canvas.arrow(at, top + 88, at, top + 52)
            canvas.text(at + 6, top + 74, "{}: {}".format(*read), "left")
            at = left + 0.6 * width
            canvas.arrow(at, top + 52, at, top + 88)
            canvas.text(at + 6, top + 74, "{}: {}".format(*written), "left")
    return canvas


def _trials(words: Words, shapes: Shapes) -> Canvas:
    """What three trials and two calls leave in a tensor that starts at 0, and with restore_value."""
    canvas, left, width = Canvas(152), 108, 64
    steps = ("trial", "trial", "trial", "call 1", "call 2")
    for row, restores in enumerate((False, True)):
        top, x = 20 + row * 76, 0
        canvas.text(4, top - 6, words("restored" if restores else "kept"), "left")
        canvas.text(left - 8, top + 18, words("runs"), "y")
        canvas.text(left - 8, top + 43, words("leaves"), "y")
        for index, step in enumerate(steps):
            trial = step == "trial"
            x += 0 if trial and restores else 1
            place = left + index * (width + 2)
            canvas.box(place, top, width, 28, 2 if trial else 1, words(step))
            canvas.text(place + width / 2, top + 43, str(x))
    return canvas


DRAWINGS: dict[str, Callable[[Words, Shapes], Canvas]] = {
    "blocks": _blocks,
    "row": _row,
    "tiles": _tiles,
    "broadcast": _broadcast,
    "grouped": _grouped,
    "pipeline": _pipeline,
    "launch": _launch,
    "barrier": _barrier,
    "fusion": _fusion,
    "trials": _trials,
    "sectors": _sectors,
    "sums": _sums,
    "spacing": _spacing,
    "allocations": _allocations,
    "width": _width,
}
