"""Rows that do not fill the block, rows with gaps, and a mean far from 0."""

import math

from exercise import Case, Given, Output, draws, flat, fp32, rows

FUNCTION = "layer_norm_dx"
EPS = 1e-5


def case(name: str, n_rows: int, n_cols: int, block: int, strides=None, shift: float = 0.0) -> Case:
    x = rows([value + shift for value in draws(1, n_rows * n_cols)], n_cols)
    dy = rows(draws(2, n_rows * n_cols), n_cols)
    weight = draws(3, n_cols, 0.5, 2.0)
    means = [fp32(math.fsum(row) / n_cols) for row in x]
    rstds = [
        fp32(1 / math.sqrt(math.fsum((value - mean) ** 2 for value in row) / n_cols + EPS))
        for row, mean in zip(x, means, strict=True)
    ]

    def results(weight=weight, count=n_cols, through_mean=1, through_rstd=1, scaled=True):
        found = []
        for row, upstream, mean, rstd in zip(x, dy, means, rstds, strict=True):
            x_hat = [(value - mean) * rstd for value in row]
            g = [value * factor for value, factor in zip(upstream, weight, strict=True)]
            mean_g = through_mean * math.fsum(g) / count
            pairs = list(zip(g, x_hat, strict=True))
            mean_gx = through_rstd * math.fsum(a * b for a, b in pairs) / count
            factor = rstd if scaled else 1.0
            found += [factor * (a - mean_g - b * mean_gx) for a, b in pairs]
        return found

    suspects = {
        "block_mean": results(count=block),
        "no_rstd": results(scaled=False),
        "no_weight": results(weight=[1.0] * n_cols),
        "only_mean": results(through_rstd=0),
        "only_rstd": results(through_mean=0),
        "constant": results(through_mean=0, through_rstd=0),
    }
    shape = (n_rows, n_cols)
    args = {
        "x": Given(flat(x), shape, strides=strides),
        "weight": Given(weight),
        "dy": Given(flat(dy), shape, strides=strides),
        "mean": Given(means),
        "rstd": Given(rstds),
        "dx": Output(results(), shape, strides=strides, rtol=1e-4, atol=1e-4),
        "BLOCK": block,
    }
    return Case(name, args, {key: {"dx": values} for key, values in suspects.items()})


CASES = [
    case("ragged", 3, 11, 16),
    case("whole", 2, 8, 8),
    case("shifted", 2, 6, 8, shift=100.0),
    case("padded_rows", 3, 5, 8, strides=(9, 1)),
    case("one", 1, 1, 1),
    case("empty", 0, 5, 8),
]
