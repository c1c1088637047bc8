"""Lengths below, at and beyond a multiple of the block."""

from exercise import Case, Given, Output, draws

FUNCTION = "double"


def case(name: str, n: int, block: int) -> Case:
    x = draws(1, n)
    out = Output([value + value for value in x])
    programs = len(range(0, n, block))
    return Case(name, {"x": Given(x), "out": out, "BLOCK": block}, programs=programs)


CASES = [
    case("ragged", 10, 4),
    case("whole", 12, 4),
    case("one", 1, 8),
    case("one_over", 17, 16),
    case("one_under", 15, 16),
    case("empty", 0, 4),
]
