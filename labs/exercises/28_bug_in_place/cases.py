"""Halves that do not fill the block, rows with gaps, angles from 0 on."""

import math

from exercise import Case, Given, Output, draws, flat, fp32, rows

FUNCTION = "rotate"


def case(name: str, n_rows: int, half: int, block: int, strides=None) -> Case:
    x = rows(draws(1, n_rows * 2 * half), 2 * half)
    angles = [[row * 0.7 + col * 0.4 for col in range(half)] for row in range(n_rows)]
    cos = [[fp32(math.cos(angle)) for angle in row] for row in angles]
    sin = [[fp32(math.sin(angle)) for angle in row] for row in angles]

    def results(pair):
        """pair(a, b, c, s) is what becomes of the elements a and b of the two halves."""
        found = []
        for row, cosines, sines in zip(x, cos, sin, strict=True):
            pairs = list(map(pair, row[:half], row[half:], cosines, sines))
            found += [a for a, _ in pairs] + [b for _, b in pairs]
        return found

    def rotated(a, b, c, s):
        return (a * c - b * s, b * c + a * s)

    def a_first(a, b, c, s):
        return (a * c - b * s, b * c + (a * c - b * s) * s)

    def b_first(a, b, c, s):
        return (a * c - (b * c + a * s) * s, b * c + a * s)

    def backwards(a, b, c, s):
        return (a * c + b * s, b * c - a * s)

    suspects = {
        "a_first": results(a_first),
        "b_first": results(b_first),
        "backwards": results(backwards),
    }
    shape = (n_rows, 2 * half)
    expected = results(rotated)
    args = {
        "x": Output(expected, shape, strides=strides, start=flat(x), rtol=1e-5, atol=1e-5),
        "cos": Given(flat(cos), (n_rows, half)),
        "sin": Given(flat(sin), (n_rows, half)),
        "BLOCK": block,
    }
    return Case(name, args, {key: {"x": values} for key, values in suspects.items()})


CASES = [
    case("ragged", 3, 5, 8),
    case("whole", 2, 4, 4),
    case("padded_rows", 3, 3, 4, strides=(9, 1)),
    case("block_of_rows", 2, 3, 16),
    case("one_pair", 2, 1, 2),
    case("empty", 0, 4, 4),
]
