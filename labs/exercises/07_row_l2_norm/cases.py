"""Rows of fp16 whose squares fit into fp16, and rows whose squares do not."""

import math

from exercise import Case, Given, Output, draws, rows

FUNCTION = "row_norm"
LARGEST_FP16 = 65504.0


def case(
    name: str,
    shape: tuple[int, int],
    block: int,
    strides=None,
    low: float = -4.0,
    step: float = 0.125,
) -> Case:
    n_rows, n_cols = shape
    x = draws(1, n_rows * n_cols, low, -low, step)
    matrix = rows(x, n_cols) if n_cols else [[]] * n_rows
    squares = [math.fsum(value * value for value in row) for row in matrix]
    args = {
        "x": Given(x, shape, "float16", strides),
        "out": Output([math.sqrt(total) for total in squares], rtol=1e-6),
        "BLOCK": block,
    }
    suspects = {
        "no_root": squares,
        "absolute": [math.fsum(map(abs, row)) for row in matrix],
        "mean": [math.sqrt(total / block) for total in squares],
        "fp16": [
            math.inf if any(value * value > LARGEST_FP16 for value in row) else math.sqrt(total)
            for row, total in zip(matrix, squares, strict=True)
        ],
    }
    return Case(name, args, {key: {"out": values} for key, values in suspects.items()})


CASES = [
    case("ragged", (3, 5), 8),
    case("large", (4, 6), 8, low=-512.0, step=16.0),
    case("whole", (2, 8), 8),
    case("padded_rows", (3, 3), 4, strides=(5, 1)),
    case("one", (1, 1), 2),
    case("no_columns", (2, 0), 4),
    case("empty", (0, 3), 4),
]
