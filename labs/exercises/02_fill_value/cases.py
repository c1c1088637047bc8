"""Rows of negative numbers only, down to very small ones, where a fill value that is too large wins."""

from exercise import Case, Given, Output, draws, flat, fp32, rows

FUNCTION = "row_max"


def case(name: str, matrix: list[list[float]], n_cols: int, block: int, strides=None) -> Case:
    def largest(fill: float) -> list[float]:
        spare = [fill] * (block - n_cols)
        return [max([*row, *spare], default=fill) for row in matrix]

    args = {
        "x": Given(flat(matrix), (len(matrix), n_cols), strides=strides),
        "out": Output(largest(float("-inf"))),
        "BLOCK": block,
    }
    fills = {"zero": 0.0, "billion": fp32(-1e9), "largest": float("inf")}
    return Case(name, args, {key: {"out": largest(fill)} for key, fill in fills.items()})


CASES = [
    case("ragged", rows(draws(1, 15), 5), 5, 8),
    case("negative", rows(draws(2, 9, -4.0, -1.0), 3), 3, 4),
    case("padded_rows", rows(draws(3, 12), 3), 3, 16, strides=(7, 1)),
    case("whole", rows(draws(4, 8), 4), 4, 4),
    case("very_small", [[-fp32(3e38), -fp32(2e38)], [-fp32(2e9), -fp32(4e9)]], 2, 8),
    case("one", [[-2.5]], 1, 2),
    case("no_columns", [[], []], 0, 4),
    case("empty", [], 3, 4),
]
