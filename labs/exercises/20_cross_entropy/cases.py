"""Rows with large, far apart and ignored entries; the target is first, last, likely or not."""

import math

from exercise import Case, Given, Output, draws, flat, rows

FUNCTION = "cross_entropy"
IGNORED = -100
LARGEST_EXPONENT = 88.0  # beyond it exp leaves fp32
SMALLEST_EXPONENT = -104.0  # below it exp is 0 in fp32


def log_sum_exp(row: list[float], spare: int = 0) -> float:
    """log Σ exp(x), where `spare` more lanes hold 0."""
    largest = max([*row, 0.0] if spare else row)
    total = math.fsum(math.exp(value - largest) for value in row)
    return largest + math.log(total + spare * math.exp(-largest))


def no_max(row: list[float]) -> float:
    return math.inf if max(row) > LARGEST_EXPONENT else log_sum_exp(row)


def case(
    name: str, matrix: list[list[float]], targets: list[int], block: int, strides=None
) -> Case:
    n_rows, n_cols = len(matrix), len(matrix[0])

    def results(log_sum=log_sum_exp, logit=lambda row, target: row[target], ignored=0.0):
        pairs = zip(matrix, targets, strict=True)
        return [
            ignored if target == IGNORED else log_sum(row) - logit(row, target)
            for row, target in pairs
        ]

    def of_probability():
        losses = results()
        pairs = zip(matrix, targets, strict=True)
        far = [t != IGNORED and row[t] - max(row) < SMALLEST_EXPONENT for row, t in pairs]
        return [math.inf if lost else loss for loss, lost in zip(losses, far, strict=True)]

    log_sums = [log_sum_exp(row) for row in matrix]
    suspects = {
        "no_max": results(log_sum=no_max),
        "underflow": of_probability(),
        "first_row": results(logit=lambda row, target: matrix[0][target]),
        "ignored_counts": [
            log_sum if target == IGNORED else loss
            for loss, target, log_sum in zip(results(), targets, log_sums, strict=True)
        ],
        "no_target": results(logit=lambda row, target: 0.0),
        "zero_fill": results(log_sum=lambda row: log_sum_exp(row, block - n_cols)),
    }
    args = {
        "logits": Given(flat(matrix), (n_rows, n_cols), strides=strides),
        "target": Given(targets, dtype="int64"),
        "loss": Output(results(), rtol=1e-5, atol=1e-5),
        "ignore_index": IGNORED,
        "BLOCK": block,
    }
    if IGNORED not in targets:
        del suspects["ignored_counts"]
    return Case(name, args, {key: {"loss": values} for key, values in suspects.items()})


def empty() -> Case:
    args = {
        "logits": Given([], (0, 5)),
        "target": Given([], dtype="int64"),
        "loss": Output([]),
        "ignore_index": IGNORED,
        "BLOCK": 8,
    }
    return Case("empty", args)


CASES = [
    case("ragged", rows(draws(1, 33), 11), [0, 10, 4], 16),
    case("large", rows(draws(2, 16, 90.0, 120.0), 8), [3, 7], 8),
    case("unlikely", [[0.0, 150.0, 1.0], [-130.0, 2.0, 0.5]], [0, 0], 4),
    case("ignored", rows(draws(3, 20), 5), [2, IGNORED, 0, IGNORED], 8),
    case("padded_rows", rows(draws(4, 15), 5), [4, 0, 1], 8, strides=(9, 1)),
    case("one", [[-2.5]], [0], 1),
    empty(),
]
