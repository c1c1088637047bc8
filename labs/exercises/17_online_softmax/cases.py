"""Rows of one block and of several, whose largest element comes early or late."""

import math

from exercise import Case, Given, Output, draws, flat, rows, softmax

FUNCTION = "online_softmax"
NAN = float("nan")


def kept(old: float, new: float) -> float:
    """A sum relative to `old` is worth this much relative to `new`."""
    return math.exp(old - new)


def online(row: list[float], block: int, rescale=kept, fill: float = -math.inf) -> list[float]:
    """The softmax by blocks; with another `rescale` or `fill` what a mistake makes of it."""
    largest, total = -math.inf, 0.0
    for start in range(0, len(row), block):
        piece = row[start : start + block]
        piece += [fill] * (block - len(piece))
        new = max(largest, *piece)
        before = total * rescale(largest, new) if start else 0.0
        total = before + math.fsum(math.exp(value - new) for value in piece)
        largest = new
    return [math.exp(value - largest) / total for value in row]


def case(name: str, matrix: list[list[float]], block: int, strides=None) -> Case:
    shape = (len(matrix), len(matrix[0]))
    args = {
        "x": Given(flat(matrix), shape, strides=strides),
        "out": Output(flat(map(softmax, matrix)), shape, strides=strides, rtol=1e-5),
        "BLOCK": block,
    }
    results = {
        "no_rescale": [online(row, block, rescale=lambda old, new: 1.0) for row in matrix],
        "inverted": [[NAN] * len(row) for row in matrix],
        "max_forgotten": [[math.inf] * len(row) for row in matrix],
        "zero_fill": [online(row, block, fill=0.0) for row in matrix],
        "last_block": [online(row, block, rescale=lambda old, new: 0.0) for row in matrix],
    }
    if min(map(min, matrix)) > 89:  # where exp leaves fp32
        results["no_max"] = results["inverted"]
    return Case(name, args, {key: {"out": flat(values)} for key, values in results.items()})


CASES = [
    case("ragged", rows(draws(1, 30), 10), 4),
    case("large", rows(draws(2, 20, 90.0, 130.0), 10), 4),
    case("negative", rows(draws(3, 6, -130.0, -120.0), 6), 4),
    case("padded_rows", rows(draws(4, 27), 9), 4, strides=(12, 1)),
    case("rising", [[0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0, 28.0]], 2),
    case("one_block", rows(draws(5, 6), 3), 8),
    case("one", [[2.5]], 1),
    Case("empty", {"x": Given([], (0, 5)), "out": Output([], (0, 5)), "BLOCK": 4}),
]
