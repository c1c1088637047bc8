"""Blocks of similar rows, and blocks of rows that are far from each other."""

import math

from exercise import Case, Given, Output, draws, flat, rows, softmax

FUNCTION = "softmax"
NAN = float("nan")
SMALLEST_EXPONENT = -104.0  # below it exp is 0 in fp32
LARGEST_EXPONENT = 88.0  # beyond it exp leaves fp32


def shifted(row: list[float], by: list[float]) -> list[float]:
    """The softmax in fp32 if the exponents are the elements minus `by`, one for each of them."""
    exponents = [value - shift for value, shift in zip(row, by, strict=True)]
    if any(each > LARGEST_EXPONENT for each in exponents):
        return [NAN if each > LARGEST_EXPONENT else 0.0 for each in exponents]
    powers = [0.0 if each < SMALLEST_EXPONENT else math.exp(each) for each in exponents]
    total = math.fsum(powers)
    return [power / total if total else NAN for power in powers]


def case(name: str, matrix: list[list[float]], block: tuple[int, int], strides=None) -> Case:
    n_rows, n_cols = len(matrix), len(matrix[0])
    n = block[0]
    blocks = [matrix[first : first + n] for first in range(0, n_rows, n)]
    of_block, unshifted, of_columns = [], [], []
    for each in blocks:
        largest = max(map(max, each))
        columns = [max(column) for column in zip(*each, strict=True)]
        for row in each:
            of_block += shifted(row, [largest] * n_cols)
            unshifted += shifted(row, [0.0] * n_cols)
            of_columns += shifted(row, columns)
    suspects = {
        "as_handed_out": of_block,
        "hidden": [0.0 if math.isnan(value) else value for value in of_block],
        "not_shifted": unshifted,
    }
    if n_cols == block[1]:  # else the spare columns, where both are infinite, make all rows NaN
        suspects["by_columns"] = of_columns
    args = {
        "x": Given(flat(matrix), (n_rows, n_cols), strides=strides),
        "out": Output(
            flat(map(softmax, matrix)), (n_rows, n_cols), strides=strides, rtol=1e-5, atol=1e-7
        ),
        "ROWS": n,
        "COLS": block[1],
    }
    return Case(name, args, {key: {"out": found} for key, found in suspects.items()})


def empty() -> Case:
    args = {"x": Given([], (0, 3)), "out": Output([], (0, 3)), "ROWS": 2, "COLS": 4}
    return Case("empty", args)


CASES = [
    case("similar_rows", rows(draws(1, 16), 4), (2, 4)),
    case("large", rows(draws(2, 12, 90.0, 94.0), 3), (4, 4)),
    case("far_below", [[1.0, 3.0, 2.0], [-250.0, -251.0, -252.5], [0.5, 0.0, -1.0]], (2, 4)),
    case("ragged", [*rows(draws(3, 10), 5), [200.0, 201.0, 199.5, 202.0, 200.0]], (4, 8)),
    case("padded_rows", rows(draws(4, 15), 5), (2, 8), strides=(7, 1)),
    case("one", [[-2.5]], (1, 1)),
    empty(),
]
