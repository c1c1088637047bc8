"""Rows of several blocks whose largest score comes first, last or anywhere."""

import math
from operator import mul

from exercise import Case, Given, Output, draws, flat, rows

FUNCTION = "pool"
NAN = float("nan")


def pooled(
    scores: list[float], values: list[float], block: int, of_sum: bool, of_acc: bool
) -> float:
    """The average by blocks, where sum or accumulator may not follow the maximum."""
    largest, total, acc = -math.inf, 0.0, 0.0
    for start in range(0, len(scores), block):
        piece = scores[start : start + block]
        new = max(largest, *piece)
        rescale = math.exp(largest - new)
        weights = [math.exp(score - new) for score in piece]
        total = total * (rescale if of_sum else 1.0) + math.fsum(weights)
        weighted = math.fsum(map(mul, weights, values[start : start + block]))
        acc = acc * (rescale if of_acc else 1.0) + weighted
        largest = new
    return acc / total


def case(name: str, scores: list[list[float]], block: int, strides=None) -> Case:
    shape = (len(scores), len(scores[0]))
    values = rows(draws(9, shape[0] * shape[1]), shape[1])

    def results(of_sum=True, of_acc=True):
        pairs = zip(scores, values, strict=True)
        return [pooled(row, weighed, block, of_sum, of_acc) for row, weighed in pairs]

    suspects = {
        "neither": results(of_sum=False, of_acc=False),
        "only_sum": results(of_acc=False),
        "only_acc": results(of_sum=False),
        "inverted": [NAN] * shape[0],
    }
    args = {
        "scores": Given(flat(scores), shape, strides=strides),
        "values": Given(flat(values), shape, strides=strides),
        "out": Output(results(), rtol=1e-4, atol=1e-5),
        "BLOCK": block,
    }
    return Case(name, args, {key: {"out": found} for key, found in suspects.items()})


def empty() -> Case:
    nothing = Given([], (0, 5))
    return Case("empty", {"scores": nothing, "values": nothing, "out": Output([]), "BLOCK": 4})


CASES = [
    case("largest_first", [[4.0, 1.0, 2.0, 0.5, -1.0, 3.0, 0.0]], 4),
    case("rising", [[-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]], 4),
    case("ragged", rows(draws(1, 33), 11), 4),
    case("large", rows(draws(2, 12, 90.0, 110.0), 6), 2),
    case("padded_rows", rows(draws(3, 20), 5), 2, strides=(8, 1)),
    case("one", [[-2.5]], 1),
    empty(),
]
