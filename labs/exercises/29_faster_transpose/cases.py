"""Tiles that do not fill, rows with gaps, and one case whose sectors are counted."""

from exercise import Case, Given, Output, Speed, draws, flat, rows, transposed

FUNCTION = "transpose"
LANES = 8  # fp32 numbers in a sector


def case(name: str, n_rows: int, n_cols: int, gap: int = 0, sectors: int | None = None) -> Case:
    x = rows(draws(1, n_rows * n_cols), n_cols)
    columns = transposed(x) if n_rows else [[]] * n_cols
    as_it_was = [
        x[col][row] if col < n_rows and row < n_cols else 0.0
        for col in range(n_cols)
        for row in range(n_rows)
    ]

    def strides(width):
        return (width + gap, 1) if gap else None

    args = {
        "x": Given(flat(x), (n_rows, n_cols), strides=strides(n_cols)),
        "out": Output(flat(columns), (n_cols, n_rows), strides=strides(n_rows)),
    }
    suspects = {"as_it_was": {"out": as_it_was}} if max(n_rows, n_cols) > 1 else {}
    return Case(name, args, suspects, sectors)


# Each of 40 rows of x has 3 sectors, each of 24 rows of out has 5. Half as many again are allowed.
COUNTED = (40 * 24 // LANES + 24 * 40 // LANES) * 3 // 2

CASES = [
    case("ragged", 13, 19),
    case("padded_rows", 5, 9, gap=3),
    case("one", 1, 1),
    case("one_row", 1, 37),
    case("one_column", 37, 1),
    case("counted", 40, 24, sectors=COUNTED),
    case("empty", 0, 5),
]

SPEED = Speed(shapes={"x": (4096, 4096), "out": (4096, 4096)}, numbers={}, ratio=1.5)
