"""Values that share bins within a block and across blocks, missing ones, and every other element."""

from exercise import Case, Given, Output, integers

FUNCTION = "histogram"


def counted(values: list[int], n_bins: int, zeros: int = 0) -> list[int]:
    """How often each bin occurs, and `zeros` more in bin 0."""
    counts = [values.count(value) for value in range(n_bins)]
    counts[0] += zeros
    return counts


def case(name: str, values: list[int], n_bins: int, block: int, bins: int, strides=None) -> Case:
    blocks = [values[first : first + block] for first in range(0, len(values), block)]
    seen = [set(each) for each in blocks]
    suspects = {
        "zero_fill": counted(values, n_bins, zeros=-len(values) % block),
        "once_per_block": [sum(value in each for each in seen) for value in range(n_bins)],
    }
    if len(blocks) > 1:
        suspects["last_block"] = counted(blocks[-1], n_bins)
    args = {
        "values": Given(values, dtype="int32", strides=strides),
        "counts": Output(counted(values, n_bins), dtype="int32", start=[0] * n_bins),
        "BLOCK": block,
        "BINS": bins,
    }
    return Case(name, args, {key: {"counts": found} for key, found in suspects.items()})


CASES = [
    case("ragged", [2, 0, 2, 4, 2, 1, 4, 4, 0, 2], 5, 4, 8),
    case("missing", [1, -1, 3, 3, -1, -1, 0, 1], 4, 4, 4),
    case("all_equal", [1] * 8, 3, 8, 4),
    case("every_other", integers(1, 9, 0, 6), 6, 4, 8, strides=(2,)),
    case("one", [0], 1, 1, 1),
    case("empty", [], 3, 4, 4),
]
