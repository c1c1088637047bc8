"""One column of matrices that lie in memory by rows, by columns, and with gaps."""

from exercise import Case, Given, Output, draws, rows

FUNCTION = "column"


def case(name: str, shape: tuple[int, int], col: int, block: int, strides=None) -> Case:
    n_rows, n_cols = shape
    x = draws(1, n_rows * n_cols)
    down, right = strides or (n_cols, 1)
    places = [row * down + at * right for row in range(n_rows) for at in range(n_cols)]
    memory = dict(zip(places, x, strict=True))
    read = {
        "swapped": [row * right + col * down for row in range(n_rows)],
        "no_column_stride": [row * down + col for row in range(n_rows)],
    }
    suspects = {
        key: {"out": [memory[place] for place in places]}
        for key, places in read.items()
        if set(places) <= memory.keys()
    }
    args = {
        "x": Given(x, shape, strides=strides),
        "col": col,
        "out": Output([row[col] for row in rows(x, n_cols)]),
        "BLOCK": block,
    }
    return Case(name, args, suspects)


CASES = [
    case("ragged", (7, 5), 3, 4),
    case("padded_rows", (6, 3), 1, 4, strides=(5, 1)),
    case("by_columns", (6, 4), 2, 4, strides=(1, 6)),
    case("every_other_column", (5, 3), 2, 8, strides=(6, 2)),
    case("one", (1, 1), 0, 4),
    case("empty", (0, 3), 1, 4),
]
