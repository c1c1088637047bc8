"""Matrices whose rows do not fill the block, and rows with gaps between them."""

from exercise import Case, Given, Output, draws

FUNCTION = "relu_bias"


def case(name: str, n_rows: int, n_cols: int, block: int, strides=None) -> Case:
    x, bias = draws(1, n_rows * n_cols), draws(2, n_cols)
    places = [(row, col) for row in range(n_rows) for col in range(n_cols)]

    def results(function):
        return [function(x[row * n_cols + col], bias, row, col) for row, col in places]

    shape = (n_rows, n_cols)
    expected = results(lambda value, bias, row, col: max(value + bias[col], 0.0))
    suspects = {
        "no_relu": results(lambda value, bias, row, col: value + bias[col]),
        "relu_first": results(lambda value, bias, row, col: max(value, 0.0) + bias[col]),
    }
    if n_rows <= n_cols:
        by_row = results(lambda value, bias, row, col: max(value + bias[row], 0.0))
        suspects["bias_by_row"] = by_row
    args = {
        "x": Given(x, shape, strides=strides),
        "bias": Given(bias),
        "out": Output(expected, shape, strides=strides),
        "BLOCK": block,
    }
    return Case(name, args, {key: {"out": values} for key, values in suspects.items()})


CASES = [
    case("ragged", 3, 5, 4),
    case("whole", 2, 8, 4),
    case("padded_rows", 3, 5, 8, strides=(7, 1)),
    case("one", 1, 1, 4),
    case("empty", 0, 5, 4),
]
