"""Rows of several blocks; all numbers are multiples of 1/8, so that no sum rounds."""

from exercise import Case, Given, Output, draws, rows

FUNCTION = "row_sum"


def case(name: str, shape: tuple[int, int], block: int, strides=None) -> Case:
    n_rows, n_cols = shape
    x = draws(1, n_rows * n_cols)
    matrix = rows(x, n_cols) if n_cols else [[]] * n_rows
    last = (n_cols - 1) // block * block
    args = {
        "x": Given(x, shape, strides=strides),
        "out": Output([sum(row) for row in matrix]),
        "BLOCK": block,
    }
    suspects = {
        "first_block": [sum(row[:block]) for row in matrix],
        "last_block": [sum(row[last:]) for row in matrix],
        "whole_blocks": [sum(row[: n_cols // block * block]) for row in matrix],
        "same_block": [sum(row[:block]) * -(-n_cols // block) for row in matrix],
    }
    return Case(name, args, {key: {"out": values} for key, values in suspects.items()})


CASES = [
    case("ragged", (3, 10), 4),
    case("whole", (2, 12), 4),
    case("shorter_than_a_block", (2, 3), 8),
    case("padded_rows", (3, 9), 4, strides=(11, 1)),
    case("one", (1, 1), 4),
    case("no_columns", (2, 0), 4),
    case("empty", (0, 9), 4),
]
