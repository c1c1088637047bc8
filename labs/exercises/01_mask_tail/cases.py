"""Lengths below, at and beyond a multiple of the block."""

from exercise import Case, Given, Output, draws

FUNCTION = "add"


def case(name: str, n: int, block: int) -> Case:
    x, y = draws(1, n), draws(2, n)
    out = Output([a + b for a, b in zip(x, y, strict=True)])
    return Case(name, {"x": Given(x), "y": Given(y), "out": out, "BLOCK": block})


CASES = [
    case("ragged", 10, 4),
    case("whole", 8, 4),
    case("one", 1, 16),
    case("one_over", 17, 16),
    case("empty", 0, 4),
]
