"""K a multiple of the block first, then not; products of eighths, so that no sum rounds."""

from exercise import Case, Given, Output, draws, flat, matmul, rows

FUNCTION = "matmul"
BLOCK = 16


def case(name: str, sizes: tuple[int, int, int], a_strides=None, b_strides=None, c=None) -> Case:
    m, n, k = sizes
    a, b = rows(draws(1, m * k, -2.0, 2.0), k), rows(draws(2, k * n, -2.0, 2.0), n)

    def over(places: list[int]) -> list[float]:
        """The sums of products over these positions along K."""
        if not places:
            return [0.0] * (m * n)
        return flat(matmul([[row[at] for at in places] for row in a], [b[at] for at in places]))

    everywhere = list(range(k))
    suspects = {
        "whole_pieces": over(everywhere[: k // BLOCK * BLOCK]),
        "remainder": over([at for at in everywhere if at % BLOCK < k % BLOCK]),
    }
    args = {
        "a": Given(flat(a), (m, k), "float16", a_strides),
        "b": Given(flat(b), (k, n), "float16", b_strides),
        "c": Output(over(everywhere), (m, n), strides=c),
        "BLOCK_M": BLOCK,
        "BLOCK_N": BLOCK,
        "BLOCK_K": BLOCK,
    }
    return Case(name, args, {key: {"c": found} for key, found in suspects.items()})


def empty() -> Case:
    blocks = {"BLOCK_M": BLOCK, "BLOCK_N": BLOCK, "BLOCK_K": BLOCK}
    a = Given([], (0, 4), "float16")
    b = Given(draws(2, 12), (4, 3), "float16")
    return Case("empty", {"a": a, "b": b, "c": Output([], (0, 3)), **blocks})


CASES = [
    case("whole_pieces", (5, 4, 32)),
    case("one_short_piece", (3, 4, 5)),
    case("k_is_72", (4, 3, 72)),
    case("padded_rows", (3, 5, 20), a_strides=(40, 1), b_strides=(7, 1), c=(6, 1)),
    case("several_tiles", (18, 17, 6)),
    case("one", (1, 1, 1)),
    empty(),
]
