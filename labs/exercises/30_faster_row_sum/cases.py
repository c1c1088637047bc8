"""Rows shorter and longer than a block, rows with gaps, and one case whose sectors are counted.

All numbers are multiples of 1/8, so no sum rounds, whatever its order.
"""

import math

from exercise import Case, Given, Output, Speed, draws, flat, rows

FUNCTION = "row_sum"
LANES = 8  # fp32 numbers in a sector
BLOCK = 1024  # of the solution


def case(name: str, n_rows: int, n_cols: int, strides=None, sectors: int | None = None) -> Case:
    x = rows(draws(1, n_rows * n_cols), n_cols)
    args = {
        "x": Given(flat(x), (n_rows, n_cols), strides=strides),
        "out": Output([math.fsum(row) for row in x]),
    }
    suspects = {}
    if n_cols > BLOCK:
        last = (n_cols - 1) // BLOCK * BLOCK
        suspects["first_block"] = {"out": [math.fsum(row[:BLOCK]) for row in x]}
        suspects["last_block"] = {"out": [math.fsum(row[last:]) for row in x]}
    return Case(name, args, suspects, sectors)


# Each of 12 rows has 5 sectors, and its sum is stored once. Half as many again are allowed.
COUNTED = (12 * 40 // LANES + 12) * 3 // 2

CASES = [
    case("ragged", 3, 13),
    case("padded_rows", 4, 5, strides=(9, 1)),
    case("counted", 12, 40, sectors=COUNTED),
    case("long", 1, 1100),
    case("one", 1, 1),
    case("empty", 0, 5),
]

SPEED = Speed(shapes={"x": (8192, 4096), "out": (8192,)}, numbers={}, ratio=2.0)
