"""Rows that do not fill the block, rows with gaps between them, and numbers whose powers overflow."""

import math

from exercise import Case, Given, Output, draws, rows
from exercise import softmax as softmax_of

FUNCTION = "softmax"
LARGEST_EXPONENT = 88.0  # beyond about 88.7 a power of e is infinite in fp32


def case(
    name: str,
    shape: tuple[int, int],
    block: int,
    strides=None,
    low: float = -4.0,
    high: float = 4.0,
) -> Case:
    n_rows, n_cols = shape
    x = draws(1, n_rows * n_cols, low, high)
    matrix = rows(x, n_cols)
    close = {"rtol": 1e-5, "atol": 1e-9}

    def results(function):
        return [value for row in matrix for value in function(row)]

    args = {
        "x": Given(x, shape, strides=strides),
        "out": Output(results(softmax_of), shape, strides=strides, **close),
        "BLOCK": block,
    }
    suspects = {
        "zero_fill": results(lambda row: zero_filled(row, block)),
        "no_division": results(powers),
        "no_shift": results(unshifted),
        "mean_shift": results(lambda row: mean_shifted(row, block)),
    }
    return Case(name, args, {key: {"out": values} for key, values in suspects.items()})


def powers(row: list[float]) -> list[float]:
    """The powers of e, shifted so that the largest is 1."""
    return [math.exp(value - max(row)) for value in row]


def zero_filled(row: list[float], block: int) -> list[float]:
    """The softmax of a row followed by zeros up to the length of the block."""
    return softmax_of(row + [0.0] * (block - len(row)))[: len(row)]


def unshifted(row: list[float]) -> list[float]:
    """The softmax where each power is computed in fp32 as it is: inf / inf is NaN."""
    if max(row) <= LARGEST_EXPONENT:
        return softmax_of(row)
    return [math.nan if value > LARGEST_EXPONENT else 0.0 for value in row]


def mean_shifted(row: list[float], block: int) -> list[float]:
    """The softmax of a row less its mean, where a lane that holds -inf makes the mean -inf."""
    return softmax_of(row) if len(row) == block else [math.nan] * len(row)


CASES = [
    case("ragged", (3, 5), 8),
    case("large_numbers", (2, 6), 8, low=92.0, high=100.0),
    case("whole", (2, 8), 8),
    case("padded_rows", (3, 5), 8, strides=(7, 1)),
    case("below_zero", (2, 3), 4, low=-100.0, high=-92.0),
    case("one", (1, 1), 4),
    case("empty", (0, 5), 8),
]
