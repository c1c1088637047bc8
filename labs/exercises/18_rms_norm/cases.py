"""Rows that do not fill the block, rows whose squares pass the largest fp16 number, a row of zeros."""

import math

from exercise import Case, Given, Output, draws, flat, rows

FUNCTION = "rms_norm"
NAN = float("nan")
LARGEST_FP16 = 65_504.0


def normalized(row: list[float], weight: list[float], mean_square: float) -> list[float]:
    """Each element over the root of `mean_square`, times its weight."""
    pairs = zip(row, weight, strict=True)
    if mean_square == 0.0:
        return [NAN] * len(row)
    return [value / math.sqrt(mean_square) * factor for value, factor in pairs]


def case(name: str, matrix: list[list[float]], block: int, eps: float = 1e-5, strides=None) -> Case:
    n_rows, n_cols = len(matrix), len(matrix[0])
    weight = draws(9, n_cols, 0.5, 2.0)
    totals = [math.fsum(value * value for value in row) for row in matrix]
    in_half = [
        math.inf if max(value * value for value in row) > LARGEST_FP16 else total
        for row, total in zip(matrix, totals, strict=True)
    ]

    def results(mean_squares, weight=weight):
        pairs = zip(matrix, mean_squares, strict=True)
        return flat(normalized(row, weight, mean_square) for row, mean_square in pairs)

    expected = results([total / n_cols + eps for total in totals])
    suspects = {
        "block_mean": results([total / block + eps for total in totals]),
        "no_mean": results([total + eps for total in totals]),
        "no_eps": results([total / n_cols for total in totals]),
        "in_half": results([total / n_cols + eps for total in in_half]),
        "no_weight": results([total / n_cols + eps for total in totals], [1.0] * n_cols),
    }
    close = {"rtol": 2e-3, "atol": 1e-6}
    args = {
        "x": Given(flat(matrix), (n_rows, n_cols), "float16", strides),
        "weight": Given(weight, dtype="float16"),
        "out": Output(expected, (n_rows, n_cols), "float16", strides, **close),
        "eps": eps,
        "BLOCK": block,
    }
    return Case(name, args, {key: {"out": values} for key, values in suspects.items()})


CASES = [
    case("ragged", rows(draws(1, 33), 11), 16),
    case("zeros", [[0.0] * 5, [1.0, -1.0, 0.5, 2.0, 0.0]], 8),
    case("large", rows(draws(2, 20, -500.0, 500.0, step=0.25), 10), 16),
    case("large_eps", rows(draws(3, 12), 6), 8, eps=2.5),
    case("padded_rows", rows(draws(4, 21), 7), 8, strides=(10, 1)),
    case("whole", rows(draws(5, 16), 8), 8),
    case("one", [[-2.5]], 1),
    Case(
        "empty",
        {
            "x": Given([], (0, 5), "float16"),
            "weight": Given([1.0] * 5, dtype="float16"),
            "out": Output([], (0, 5), "float16"),
            "eps": 1e-5,
            "BLOCK": 8,
        },
    ),
]
