"""Segments of several blocks, of part of one, and of nothing; sums that fp32 holds and fp16 does not."""

import struct
from itertools import pairwise

from exercise import Case, Given, Output, draws

FUNCTION = "segmented_sum"
ONLY_LANE_0 = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]  # after an element of lane 0 of 4


def fp16(value: float) -> float:
    """The number rounded to fp16."""
    rounded: float = struct.unpack("e", struct.pack("e", value))[0]
    return rounded


def by_lanes_in_fp16(segment: list[float], block: int) -> float:
    """The sum where each lane adds up its own elements in fp16."""
    lanes = [0.0] * block
    for at, value in enumerate(segment):
        lanes[at % block] = fp16(lanes[at % block] + value)
    return sum(lanes)


def case(name: str, lengths: list[int], block: int, values=None, strides=None) -> Case:
    starts = [sum(lengths[:count]) for count in range(len(lengths) + 1)]
    count = starts[-1]
    values = draws(1, count) if values is None else values
    ends = list(pairwise(starts))

    def blocks(first: int, last: int) -> int:
        """Where the blocks of a segment end that begin at `first` and must reach `last`."""
        return first + -(-(last - first) // block) * block

    suspects = {
        "first_block": [sum(values[a : min(a + block, b)]) for a, b in ends],
        "last_block": [
            sum(values[max(a, blocks(a, b) - block) : b]) if b > a else 0.0 for a, b in ends
        ],
        "into_the_next": [sum(values[a : min(blocks(a, b), count)]) for a, b in ends],
        "from_the_beginning": [sum(values[: b - a]) for a, b in ends],
        "before_as_well": [sum(values[:b]) for a, b in ends],
        "in_fp16": [by_lanes_in_fp16(values[a:b], block) for a, b in ends],
    }
    args = {
        "values": Given(values, dtype="float16", strides=strides),
        "starts": Given(starts, dtype="int32"),
        "sums": Output([sum(values[a:b]) for a, b in ends]),
        "BLOCK": block,
    }
    return Case(name, args, {key: {"sums": found} for key, found in suspects.items()})


CASES = [
    case("ragged", [5, 2, 9, 1, 6], 4),
    case("empty_segments", [0, 3, 0, 0, 4, 0], 4),
    case("large_and_small", [9, 5], 4, [2048.0, *ONLY_LANE_0, 3.0, 1.0, 4.0, 1.0, 5.0]),
    case("every_third", [3, 6, 1], 4, strides=(3,)),
    case("one", [1], 1),
    case("all_empty", [0, 0], 4),
    case("empty", [], 4),
]
