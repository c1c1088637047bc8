"""Matrices that tiles do not divide, square ones, and strides of every kind on both sides."""

from exercise import Case, Given, Output, draws, flat, rows, transposed

FUNCTION = "transpose"


def case(name: str, shape: tuple[int, int], tile: tuple[int, int], strides=None, out=None) -> Case:
    n_rows, n_cols = shape
    x = draws(1, n_rows * n_cols)
    matrix = rows(x, n_cols)
    args = {
        "x": Given(x, shape, strides=strides),
        "out": Output(flat(transposed(matrix)), (n_cols, n_rows), strides=out),
        "ROWS": tile[0],
        "COLS": tile[1],
    }
    suspects = {"copied": {"out": x}}
    if n_rows == n_cols and tile[0] == tile[1]:
        suspects["inside_tiles"] = {"out": turned_tiles(matrix, tile[0])}
    return Case(name, args, suspects)


def turned_tiles(matrix: list[list[float]], size: int) -> list[float]:
    """Each tile transposed and left where it was; the size must divide the matrix."""
    places = range(len(matrix))
    return [
        matrix[row // size * size + col % size][col // size * size + row % size]
        for row in places
        for col in places
    ]


CASES = [
    case("square", (8, 8), (4, 4)),
    case("ragged", (5, 7), (4, 8)),
    case("padded_rows", (3, 6), (2, 4), strides=(9, 1), out=(4, 1)),
    case("by_columns", (4, 6), (4, 4), strides=(1, 4), out=(1, 6)),
    case("one", (1, 1), (2, 2)),
    case("one_row", (1, 9), (2, 4)),
    case("empty", (0, 5), (2, 4)),
]
