"""Several programs add to each sum; all numbers are multiples of 1/8, so that no sum rounds."""

from exercise import Case, Given, Output, draws, rows, transposed

FUNCTION = "column_sum"


def case(name: str, n_rows: int, n_cols: int, block: tuple[int, int], strides=None) -> Case:
    x = draws(1, n_rows * n_cols)
    columns = transposed(rows(x, n_cols)) if n_rows else [[]] * n_cols
    args = {
        "x": Given(x, (n_rows, n_cols), strides=strides),
        "sums": Output([sum(column) for column in columns], start=[0.0] * n_cols),
        "ROWS": block[0],
        "COLS": block[1],
    }
    last = {"sums": [sum(column[(n_rows - 1) // block[0] * block[0] :]) for column in columns]}
    return Case(name, args, {"last_block": last} if n_rows > block[0] else {})


CASES = [
    case("ragged", 5, 3, (2, 4)),
    case("whole", 8, 8, (4, 4)),
    case("padded_rows", 7, 5, (4, 8), strides=(8, 1)),
    case("one", 1, 1, (2, 4)),
    case("empty", 0, 3, (2, 4)),
]
