"""Sequences of one block and of several, with and without the causal mask, and rows with gaps."""

import math
from operator import mul

from exercise import Case, Given, Output, draws, flat, matmul, rows, transposed

FUNCTION = "attention"
D = 16
BLOCK = 16  # of queries, and of keys
SCALE = 0.25
HIDDEN = -math.inf
NAN = float("nan")


def powers(scores: list[float]) -> list[float]:
    """exp(score - largest) of each score."""
    largest = max(scores)
    return [math.exp(score - largest) for score in scores]


def weights_of(scores: list[float]) -> list[float]:
    """The softmax of one row of scores; NaN where all are hidden."""
    if max(scores) == HIDDEN:
        return [NAN] * len(scores)
    total = math.fsum(powers(scores))
    return [power / total for power in powers(scores)]


def last_block(scores: list[float]) -> list[float]:
    """The weights if each block makes the ones before forgotten."""
    start = (len(scores) - 1) // BLOCK * BLOCK
    return [0.0] * start + weights_of(scores[start:])


def stale_powers(scores: list[float]) -> list[float]:
    """The powers if each block stays relative to the largest score of its time."""
    largest = HIDDEN
    found = []
    for start in range(0, len(scores), BLOCK):
        piece = scores[start : start + BLOCK]
        largest = max(largest, *piece)
        found += [math.exp(score - largest) for score in piece]
    return found


def acc_not_rescaled(scores: list[float]) -> list[float]:
    total = math.fsum(powers(scores))
    return [power / total for power in stale_powers(scores)]


def sum_not_rescaled(scores: list[float]) -> list[float]:
    total = math.fsum(stale_powers(scores))
    return [power / total for power in powers(scores)]


def case(name: str, n: int, causal: bool, strides=None, queries: int = BLOCK) -> Case:
    q, k, v = (rows(draws(seed, n * D, -2.0, 2.0), D) for seed in (1, 2, 3))
    products = matmul(q, transposed(k))
    columns = transposed(v)

    def results(weigh=weights_of, hidden=lambda query, key: causal and key > query, scale=SCALE):
        found = []
        for query, row in enumerate(products):
            scores = [
                HIDDEN if hidden(query, key) else product * scale for key, product in enumerate(row)
            ]
            weights = weigh(scores)[:n]
            found += [sum(map(mul, weights, column)) for column in columns]
        return found

    def with_spare_keys(scores):
        return weights_of(scores + [0.0] * (-n % BLOCK))

    suspects = {"no_scale": results(scale=1.0)}
    if n % BLOCK and not causal:
        suspects["no_key_mask"] = results(with_spare_keys)
    if n > BLOCK:
        suspects["no_rescale"] = results(acc_not_rescaled)
    if n > BLOCK and not causal:
        suspects["sum_not_rescaled"] = results(sum_not_rescaled)
        suspects["last_block"] = results(last_block)
    if causal:
        suspects["not_causal"] = results(hidden=lambda query, key: False)
        suspects["itself_hidden"] = results(hidden=lambda query, key: key >= query)

    def given(matrix):
        return Given(flat(matrix), (n, D), "float16", strides)

    args = {
        "q": given(q),
        "k": given(k),
        "v": given(v),
        "out": Output(results(), (n, D), "float16", strides, atol=4e-3),
        "scale": SCALE,
        "CAUSAL": causal,
        "BLOCK_M": queries,
        "BLOCK_N": BLOCK,
    }
    return Case(name, args, {key: {"out": values} for key, values in suspects.items()})


def empty() -> Case:
    nothing = Given([], (0, D), "float16")
    args = {"q": nothing, "k": nothing, "v": nothing, "out": Output([], (0, D), "float16")}
    return Case("empty", {**args, "scale": SCALE, "CAUSAL": False, "BLOCK_M": 16, "BLOCK_N": 16})


CASES = [
    case("ragged", 20, causal=False),
    case("causal", 18, causal=True),
    case("more_queries", 16, causal=False, queries=32),
    case("padded_rows", 5, causal=True, strides=(19, 1)),
    case("one", 1, causal=True),
    empty(),
]
