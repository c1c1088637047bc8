"""Rows with equal elements, of negative ones only, and with gaps; k from 1 to the whole row."""

import math

from exercise import Case, Given, Output, draws, flat, rows

FUNCTION = "topk_mask"


def largest(row: list[float], k: int) -> list[int]:
    """The columns of the k largest elements, of equal ones the left first."""
    return sorted(range(len(row)), key=lambda col: -row[col])[:k]


def masked(row: list[float], kept: list[int], hidden: float = -math.inf) -> list[float]:
    return [value if col in kept else hidden for col, value in enumerate(row)]


def all_equal(row: list[float], k: int) -> list[int]:
    """The columns of k rounds that take every element equal to the maximum."""
    values = sorted(set(row), reverse=True)[:k]
    return [col for col, value in enumerate(row) if value in values]


def from_right(row: list[float], k: int) -> list[int]:
    return sorted(range(len(row)), key=lambda col: (-row[col], -col))[:k]


def case(name: str, matrix: list[list[float]], k: int, block: int, strides=None, out=None) -> Case:
    n_rows, n_cols = len(matrix), len(matrix[0])
    suspects = {
        "only_largest": [masked(row, largest(row, 1)) for row in matrix],
        "one_short": [masked(row, largest(row, k - 1)) for row in matrix],
        "all_equal": [masked(row, all_equal(row, k)) for row in matrix],
        "from_right": [masked(row, from_right(row, k)) for row in matrix],
        "zeros": [masked(row, largest(row, k), 0.0) for row in matrix],
        "spare_lanes": [masked(row, largest(row + [0.0] * (block - n_cols), k)) for row in matrix],
    }
    args = {
        "x": Given(flat(matrix), (n_rows, n_cols), strides=strides),
        "out": Output(
            flat([masked(row, largest(row, k)) for row in matrix]), (n_rows, n_cols), strides=out
        ),
        "k": k,
        "BLOCK": block,
    }
    return Case(name, args, {key: {"out": flat(found)} for key, found in suspects.items()})


def empty() -> Case:
    args = {"x": Given([], (0, 5)), "out": Output([], (0, 5)), "k": 2, "BLOCK": 8}
    return Case("empty", args)


CASES = [
    case(
        "ragged", [[1.0, -2.0, 4.0, 0.5, 3.0, -1.0, 2.0], [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]], 3, 8
    ),
    case("equal", [[2.0, 5.0, 5.0, 1.0, 5.0, 0.0, 3.0, 5.0]], 2, 8),
    case("negative", [[-5.0, -1.0, -4.0, -2.0, -3.0]], 2, 8),
    case("whole_row", [[0.5, -0.5, 1.5]], 3, 4),
    case("padded_rows", rows(draws(1, 18), 6), 4, 8, strides=(9, 1), out=(7, 1)),
    case("one", [[-2.5]], 1, 1),
    empty(),
]
