"""Several rates and seeds, rows with gaps; random numbers by Philox, as its authors describe it."""

from collections.abc import Callable

from exercise import Case, Given, Output, draws

FUNCTION = "dropout"
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)  # Philox 4x32: Salmon et al., SC 2011
WEYL = (0x9E3779B9, 0xBB67AE85)
LOW = 0xFFFFFFFF
STEP = 4.6566127342e-10  # a little less than 1 / 2**31


def uniform(seed: int, number: int) -> float:
    """The random number in [0, 1) that this seed has for an element."""
    a, b, c, d = number & LOW, number >> 32 & LOW, 0, 0
    left, right = seed & LOW, seed >> 32 & LOW
    for _ in range(10):
        first, second = MULTIPLIERS[0] * a, MULTIPLIERS[1] * c
        a, c = second >> 32 ^ b ^ left, first >> 32 ^ d ^ right
        b, d = second & LOW, first & LOW
        left, right = left + WEYL[0] & LOW, right + WEYL[1] & LOW
    return (a if a < 1 << 31 else LOW - a) * STEP


def case(
    name: str, shape: tuple[int, int], p: float, seed: int, block: int, strides=None, out=None
) -> Case:
    n_rows, n_cols = shape
    x = draws(1, n_rows * n_cols, 1.0, 4.0)
    row_stride = strides[0] if strides else n_cols

    def results(
        number: Callable[[int, int], int] = lambda row, col: row * n_cols + col,
        scale: float = 1 / (1 - p),
        dropped: Callable[[float], bool] = lambda random: random < p,
    ) -> list[float]:
        found = []
        for at, value in enumerate(x):
            random = uniform(seed, number(at // n_cols, at % n_cols))
            found.append(0.0 if dropped(random) else value * scale)
        return found

    suspects = {
        "unscaled": results(scale=1.0),
        "scaled_down": results(scale=1 - p),
        "inverted": results(dropped=lambda random: random >= p),
        "same_in_every_row": results(number=lambda row, col: col),
        "whole_rows": results(number=lambda row, col: row),
        "by_address": results(number=lambda row, col: row * row_stride + col),
        "by_block": results(number=lambda row, col: row * block + col),
    }
    args = {
        "x": Given(x, shape, strides=strides),
        "out": Output(results(), shape, strides=out, rtol=1e-6),
        "p": p,
        "seed": seed,
        "BLOCK": block,
    }
    return Case(name, args, {key: {"out": found} for key, found in suspects.items()})


CASES = [
    case("ragged", (4, 7), 0.5, 42, 8),
    case("quarter", (3, 8), 0.25, 7, 8),
    case("padded_rows", (4, 8), 0.75, 2**31 - 1, 8, strides=(11, 1), out=(9, 1)),
    case("nothing_dropped", (2, 3), 0.0, 5, 4),
    case("one", (1, 1), 0.5, 1, 1),
    case("empty", (0, 5), 0.5, 3, 8),
]
