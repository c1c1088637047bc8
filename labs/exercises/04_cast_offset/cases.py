"""Frames before and after the sample count passes 2**31, and after it passes 2**32."""

import math

from exercise import Case, Given, Output, draws, fp32

FUNCTION = "read_frames"


def case(
    name: str, first_frame: int, shape: tuple[int, int], capacity: int, block: int, strides=None
) -> Case:
    n_frames, width = shape
    ring = draws(1, capacity)

    def results(begin):
        return [
            ring[int(math.fmod(begin(first_frame + at) + lane, capacity))]
            for at in range(n_frames)
            for lane in range(width)
        ]

    args = {
        "ring": Given(ring),
        "first_frame": first_frame,
        "out": Output(results(lambda frame: frame * width), shape),
        "BLOCK": block,
    }
    suspects = {
        "no_width": results(lambda frame: frame),
        "through_float": results(lambda frame: int(fp32(frame * width))),
        "wrapped": results(lambda frame: wrapped(frame * width)),
    }
    return Case(name, args, {key: {"out": values} for key, values in suspects.items()})


def wrapped(count: int) -> int:
    """What 32 bits with a sign make of a number."""
    return (count + 2**31) % 2**32 - 2**31


CASES = [
    case("first_day", 5, (3, 10), 64, 16),
    case("first_week", 1_700_001, (2, 10), 64, 16),
    case("past_2_to_32", 600_000_001, (2, 10), 96, 16),
    case("past_2_to_31", 300_000_001, (3, 10), 96, 16),
    case("one", 2_147_483_647, (1, 1), 7, 2),
    case("empty", 300_000_001, (0, 10), 64, 16),
]
