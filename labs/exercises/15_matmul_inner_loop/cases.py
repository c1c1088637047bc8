"""Matrices of several tiles, transposed and padded ones; products of eighths, so that no sum rounds."""

from exercise import Case, Given, Output, draws, flat, matmul, rows, transposed

FUNCTION = "matmul"
BLOCK = 16


def case(name: str, sizes: tuple[int, int, int], a_strides=None, b_strides=None, c=None) -> Case:
    m, n, k = sizes
    a, b = rows(draws(1, m * k, -2.0, 2.0), k), rows(draws(2, k * n, -2.0, 2.0), n)

    def piece(first: int, last: int) -> list[float]:
        """The product of the columns first … last - 1 of a and those rows of b."""
        return flat(matmul([row[first:last] for row in a], b[first:last]))

    suspects = {}
    if k > BLOCK:
        pieces = -(-k // BLOCK)
        suspects["first_piece"] = piece(0, BLOCK)
        suspects["last_piece"] = piece((k - 1) // BLOCK * BLOCK, k)
        suspects["same_piece"] = [value * pieces for value in piece(0, BLOCK)]
        suspects["whole_pieces"] = piece(0, k // BLOCK * BLOCK)
    if n == k:
        suspects["transposed_b"] = flat(matmul(a, transposed(b)))
    args = {
        "a": Given(flat(a), (m, k), "float16", a_strides),
        "b": Given(flat(b), (k, n), "float16", b_strides),
        "c": Output(piece(0, k), (m, n), strides=c),
        "BLOCK_M": BLOCK,
        "BLOCK_N": BLOCK,
        "BLOCK_K": BLOCK,
    }
    return Case(name, args, {key: {"c": found} for key, found in suspects.items()})


def without(name: str, sizes: tuple[int, int, int]) -> Case:
    """Matrices of which at least one has no elements."""
    m, n, k = sizes
    blocks = {"BLOCK_M": BLOCK, "BLOCK_N": BLOCK, "BLOCK_K": BLOCK}
    a = Given(draws(1, m * k), (m, k), "float16")
    b = Given(draws(2, k * n), (k, n), "float16")
    return Case(name, {"a": a, "b": b, "c": Output([0.0] * (m * n), (m, n)), **blocks})


CASES = [
    case("square", (16, 16, 16)),
    case("ragged", (18, 5, 36)),
    case("by_columns", (3, 4, 32), a_strides=(1, 3), b_strides=(1, 32), c=(1, 3)),
    case("padded_rows", (4, 3, 5), a_strides=(8, 1), b_strides=(7, 1), c=(6, 1)),
    case("wide", (3, 18, 4)),
    case("one", (1, 1, 1)),
    without("no_k", (2, 3, 0)),
    without("empty", (0, 3, 4)),
]
