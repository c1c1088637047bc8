# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Numerics: how large the error of a kernel is, why, and which bound it cannot pass.

Learn:   rounding, the length of a sum, TF32, approximate exp and division, cancellation, overflow;
         how to derive a bound
Run:     python triton_numerics.py           every claim, then every seeded bug
         python triton_numerics.py --bench   only the speed, on a GPU
Memory:  2 GiB
GPU:     any NVIDIA GPU since Ampere; with none, Triton's interpreter
Minutes: 2
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, Bug, Claim, benchmark_pair, main, supported
    from arguments import (
        check_converting,
        check_dtypes,
        check_elementwise,
        check_input_precision,
        check_one_of,
        check_rows,
        check_shape,
        checked_output,
    )
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import torch
import triton
import triton.language as tl

F32, F16, BF16 = torch.float32, torch.float16, torch.bfloat16
DTYPES = supported(F32, F16, BF16)
MAX_COLS = 16_384  # a row lies in one block
BLOCK = 1024
TILE = dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=32)


# %% A sum in two orders: one after another, or as a tree. Every addition rounds.
# --8<-- [start:sum]
@triton.jit
def sum_kernel(
    x_ptr, out_ptr, n_rows, n_cols, TREE: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(axis=0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    if TREE:
        cols = tl.arange(0, COLS)
        mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
        x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)
        acc = tl.sum(x.to(tl.float32), axis=1)  # lanes add what they hold, then lanes in pairs
    else:
        acc = tl.zeros((ROWS,), dtype=tl.float32)
        for k in range(n_cols):  # n_cols - 1 roundings, one after another
            acc += tl.load(x_ptr + rows * n_cols + k, mask=rows < n_rows, other=0.0).to(acc.dtype)
    # one more rounding, unless the output is fp32
    tl.store(out_ptr + rows, acc.to(out_ptr.dtype.element_ty), mask=rows < n_rows)
    # --8<-- [end:sum]


# %% A sum by atomic adds: correct, but in an order that is not fixed.
# --8<-- [start:atomic]
@triton.jit
def total_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0).to(tl.float32)
    tl.atomic_add(out_ptr, tl.sum(x, axis=0))  # in the order in which programs arrive
    # --8<-- [end:atomic]


# %% Products and their sum: a linear layer, x times weight transposed, whose rows both run along K.
# --8<-- [start:dot]
@triton.jit
def linear_kernel(
    x_ptr,
    weight_ptr,
    out_ptr,
    M,
    N,
    K,
    INPUT_PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid, tiles_n = tl.program_id(axis=0).to(tl.int64), tl.cdiv(N, BLOCK_N)
    offs_m = pid // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K)
        mask_x, mask_w = (
            (offs_m < M)[:, None] & (offs_k < K)[None, :],
            (offs_k < K)[:, None] & (offs_n < N)[None, :],
        )
        x = tl.load(x_ptr + offs_m[:, None] * K + offs_k[None, :], mask=mask_x, other=0.0)
        w = tl.load(weight_ptr + offs_n[None, :] * K + offs_k[:, None], mask=mask_w, other=0.0)
        acc = tl.dot(x, w, acc, input_precision=INPUT_PRECISION)  # factors are cut, the sum is fp32
    mask = (offs_m < M)[:, None] & (offs_n < N)[None, :]
    tl.store(
        out_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(out_ptr.dtype.element_ty), mask=mask
    )
    # --8<-- [end:dot]


# %% Approximate and exact instructions.
# --8<-- [start:apply]
@triton.jit
def apply_kernel(x_ptr, y_ptr, out_ptr, n_elements, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=1.0)
    if OP == "exp":
        out = tl.exp(x)  # 2 to the power of x * log2(e): the product is rounded, then ex2.approx
    elif OP == "div":
        out = x / y  # div.full: within 2 ulp
    else:
        out = tl.div_rn(x, y)  # correctly rounded
    tl.store(out_ptr + offsets, out, mask=mask)
    # --8<-- [end:apply]


# %% Overflow: exp only of what is not positive.
# --8<-- [start:logsumexp]
@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, n_cols, COLS: tl.constexpr):
    row, cols = tl.program_id(axis=0).to(tl.int64), tl.arange(0, COLS)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    top = tl.where(tl.abs(top) == float("inf"), 0.0, top)  # inf - inf would be NaN
    tl.store(out_ptr + row, tl.log(tl.sum(tl.exp(x - top), axis=0)) + top)
    # --8<-- [end:logsumexp]


# %% Cancellation: the variance of numbers that lie close together, far from zero.
# --8<-- [start:norm]
@triton.jit
def merge(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    n, delta = n_a + n_b, mean_b - mean_a
    share = n_b / tl.where(n == 0.0, 1.0, n)  # two empty lanes are an empty lane
    return n, mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share


@triton.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, n_cols, eps, HOW: tl.constexpr, COLS: tl.constexpr
):
    row, cols = tl.program_id(axis=0).to(tl.int64), tl.arange(0, COLS)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    if HOW == "shifted":  # exact, where x is near the first value of the row
        x = tl.where(mask, x - tl.load(x_ptr + row * n_cols).to(tl.float32), 0.0)
    if HOW == "welford":
        _, mean, m2 = tl.reduce((mask.to(tl.float32), x, tl.zeros_like(x)), 0, merge)
    else:
        mean = tl.sum(x, axis=0) / n_cols
    d = tl.where(mask, x - mean, 0.0)  # padded lanes must not count: 0 - mean is not 0
    if HOW == "welford":
        var = m2 / n_cols
    elif HOW == "one_pass":  # two large numbers, and what they differ by
        var = tl.maximum(tl.sum(x * x, axis=0) / n_cols - mean * mean, 0.0)
    else:
        var = tl.sum(d * d, axis=0) / n_cols
    w = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(bias_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    y = d * tl.rsqrt(var + eps) * w + b
    tl.store(out_ptr + row * n_cols + cols, y.to(out_ptr.dtype.element_ty), mask=mask)
    # --8<-- [end:norm]


# %% The launchers, one for each kernel: every result is written to out, if it is given.
# --8<-- [start:launch]
def row_sum(x, way="tree", out=None):
    """Return the sum of each row of x [n_rows, n_cols], added in fp32, way "tree" or "row"."""
    out = checked_row_sum(x, way, out)
    n_rows, n_cols = x.shape
    rows, cols = 1 if way == "tree" else 64, triton.next_power_of_2(max(n_cols, 1))
    if n_rows:
        with torch.cuda.device_of(x):
            sum_kernel[(triton.cdiv(n_rows, rows),)](
                x, out, n_rows, n_cols, TREE=way == "tree", ROWS=rows, COLS=cols
            )
    return out


def total(x, out=None):
    """Return the sum of all of x as one fp32 element; atomics add its blocks in any order."""
    out = checked_total(x, out)
    n = x.numel()
    out.zero_()
    if n:
        with torch.cuda.device_of(x):
            total_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
    return out


def linear(x, weight, input_precision="ieee", out=None):
    """Return x [M, K] @ weight [N, K] transposed, added in fp32."""
    out = checked_linear(x, weight, input_precision, out)
    (M, K), N = x.shape, weight.shape[0]
    grid = (triton.cdiv(M, TILE["BLOCK_M"]) * triton.cdiv(N, TILE["BLOCK_N"]),)
    if out.numel():
        with torch.cuda.device_of(x):
            linear_kernel[grid](
                x, weight, out, M, N, K, INPUT_PRECISION=input_precision, num_warps=8, **TILE
            )
    return out


def apply(op, x, y=None, out=None):
    """Return exp(x), or x / y, approximate ("div") or correctly rounded ("div_rn"), in fp32."""
    y = x if y is None else y
    out = checked_apply(op, x, y, out)
    n = x.numel()
    if n:
        with torch.cuda.device_of(x):
            apply_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, OP=op, BLOCK=BLOCK)
    return out


def logsumexp(x, out=None):
    """Return log(sum(exp(row))) of each row of x [n_rows, n_cols], n_cols >= 1, as fp32."""
    out = checked_logsumexp(x, out)
    n_rows, n_cols = x.shape
    if n_rows:
        with torch.cuda.device_of(x):
            cols = triton.next_power_of_2(n_cols)
            logsumexp_kernel[(n_rows,)](x, out, n_cols, COLS=cols)
    return out


def layer_norm(x, weight, bias, eps=1e-5, how="shifted", out=None):
    """Return (x - mean) / sqrt(variance + eps) * weight + bias of each row of x."""
    out = checked_layer_norm(x, weight, bias, how, out)
    n_rows, n_cols = x.shape
    if x.numel():
        cols = triton.next_power_of_2(n_cols)
        with torch.cuda.device_of(x):
            layer_norm_kernel[(n_rows,)](
                x, weight, bias, out, n_cols, float(eps), HOW=how, COLS=cols
            )
    return out
    # --8<-- [end:launch]


# %% What the kernels take for granted: tensors that are read contiguously, rows that fit a block.
# --8<-- [start:checks]
def checked_row_sum(x, way, out):
    check_one_of("way", way, ("tree", "row"))
    check_converting(DEVICE, DTYPES, x=x)
    check_row_length(x)
    return checked_output(out, x.shape[:1], (x.dtype, *DTYPES), x=x)


def checked_total(x, out):
    check_converting(DEVICE, DTYPES, x=x)
    return checked_output(out, (1,), (F32,), x=x)  # in which the atomics add


def checked_linear(x, weight, input_precision, out):
    check_converting(DEVICE, DTYPES, x=x, weight=weight)
    check_rows(x=x, weight=weight)
    check_shape((weight.shape[0], x.shape[1]), weight=weight)
    check_dtypes(DTYPES, x=x, weight=weight)
    check_input_precision(input_precision)
    shape = (x.shape[0], weight.shape[0])
    return checked_output(out, shape, (x.dtype, *DTYPES), x=x, weight=weight)


def checked_apply(op, x, y, out):
    check_one_of("op", op, ("exp", "div", "div_rn"))
    check_elementwise(DEVICE, (F32,), x=x, y=y)
    return checked_output(out, x.shape, (F32,), x=x, y=y)


def checked_logsumexp(x, out):
    check_converting(DEVICE, DTYPES, x=x)
    check_row_length(x)
    if x.shape[1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; an empty row has no largest element")
    return checked_output(out, x.shape[:1], (F32, *DTYPES), x=x)


def checked_layer_norm(x, weight, bias, how, out):
    check_one_of("how", how, ("shifted", "two_pass", "welford", "one_pass"))
    check_converting(DEVICE, DTYPES, x=x, weight=weight, bias=bias)
    check_row_length(x)
    check_shape(tuple(x.shape[1:]), weight=weight, bias=bias)
    return checked_output(out, x.shape, (x.dtype, *DTYPES), x=x, weight=weight, bias=bias)


def check_row_length(x):
    check_rows(x=x)
    if x.shape[1] > MAX_COLS:
        raise ValueError(f"x has shape {tuple(x.shape)}; a row has at most {MAX_COLS:,} columns")
    # --8<-- [end:checks]


# %% What is correct: the same in float64, rounded nowhere else.
# --8<-- [start:reference]
def reference(op, x, *others, eps=1e-5):
    x, *others = (t.double() for t in (x, *others))
    if op == "layer_norm":
        d = x - x.mean(dim=1, keepdim=True)
        return d / (d.square().mean(dim=1, keepdim=True) + eps).sqrt() * others[0] + others[1]
    if op == "linear":
        return x @ others[0].T
    if op in ("div", "div_rn"):
        return x / others[0]
    one_argument = {"sum": torch.sum, "logsumexp": torch.logsumexp}
    return x.exp() if op == "exp" else one_argument[op](x, dim=-1)
    # --8<-- [end:reference]


# %% How each claim is measured.
def uniform(*shape, low=0.0, high=1.0, dtype=F32, seed=0):
    """Evenly spread values, none of whose sums cancels while low is not negative."""
    generator = torch.Generator(DEVICE).manual_seed(seed + sum(shape))
    return (torch.rand(shape, generator=generator, device=DEVICE) * (high - low) + low).to(dtype)


def sum_error(guards, K, way, dtype=F32, n_rows=64):
    """Sums of rows of K values between 0 and 1, given in dtype."""
    x = guards.input(uniform(n_rows, K))
    return [(row_sum(x, way, out=guards.output((n_rows,), dtype)), reference("sum", x))]


def rounding_error(guards, dtype):
    """A sum of one element is that element rounded: 4,096 results over their exact values."""
    x = guards.input(uniform(4096, 1, low=1.0, high=400.0))
    got = row_sum(x, "row", out=guards.output((4096,), dtype))
    return [(got.double() / x.double().view(-1), torch.ones(4096, device=DEVICE))]


def linear_error(guards, K, dtype=F32, out=F32, input_precision="ieee", low=0.0, high=1.0, size=64):
    """size × size results of K products each, of values from low to high."""
    x, w = (
        guards.input(uniform(size, K, low=low, high=high, dtype=dtype, seed=seed))
        for seed in (1, 2)
    )
    got = linear(x, w, input_precision, out=guards.output((size, size), out))
    return [(got, reference("linear", x, w))]


def quotients(guards, op, low, high):
    """2**16 results of op and its arguments, the first ones from low to high."""
    x = guards.input(uniform(2**16, low=low, high=high))
    y = guards.input(uniform(2**16, low=1.0, high=2.0, seed=1))
    return apply(op, x, y, out=guards.output((2**16,), F32)), x, y


def apply_error(guards, op, reach=1.0):
    """2**16 results, each over its exact value; arguments of exp between -reach and reach."""
    out, x, y = quotients(guards, op, -reach if op == "exp" else 0.5, reach)
    return [(out.double() / reference(op, x, y), torch.ones(2**16, device=DEVICE))]


def division_error(guards):
    """Correctly rounded quotients against those of torch, which are."""
    out, x, y = quotients(guards, "div_rn", 0.0, 1.0)
    return [(out, x / y)]


def logsumexp_error(guards, n_cols, mean):
    x = guards.input(uniform(32, n_cols, low=mean - 10, high=mean + 10))
    return [(logsumexp(x, out=guards.output((32,), F32)), reference("logsumexp", x))]


def logsumexp_special(guards):
    """Rows of only -inf, with inf, with NaN, with some -inf, and an ordinary one; rule of torch."""
    x = uniform(5, 500, low=-10.0, high=10.0)
    x[0], x[1, 7], x[2, 7], x[3, ::2] = -torch.inf, torch.inf, torch.nan, -torch.inf
    out = logsumexp(guards.input(x), out=guards.output((5,), F32))
    return [(out, reference("logsumexp", x))]


def norm_error(guards, mean, how, n_cols=1000, n_rows=16, eps=1e-12):
    """Rows of values within a half of the mean, normalized."""
    x = guards.input(uniform(n_rows, n_cols, low=mean - 0.5, high=mean + 0.5))
    w = guards.input(torch.ones(n_cols, device=DEVICE))
    b = guards.input(torch.zeros(n_cols, device=DEVICE))
    out = layer_norm(x, w, b, eps, how, out=guards.output_like(x))
    return [(out, reference("layer_norm", x, w, b, eps=eps))]


def norm_widths(guards, how):
    """The same for widths that are no power of two, and for one column; the mean is 100."""
    widths = (1, 3, 17, 127, 1000, 1025)
    return [pair for n in widths for pair in norm_error(guards, 100.0, how, n, 4)]


def norm_constant(guards, mean, n_cols=1000, n_rows=16):
    """Rows of one value each: every result is the bias, bit for bit."""
    column = uniform(n_rows, 1, low=mean - 0.5, high=mean + 0.5)
    x = guards.input(column.expand(n_rows, n_cols))
    w, b = (guards.input(uniform(n_cols, seed=seed)) for seed in (0, 1))
    out = layer_norm(x, w, b, 1e-12, out=guards.output_like(x))
    return [(out, b.expand(n_rows, n_cols))]


def total_error(guards, n, runs):
    """The same sum in as many runs, each against the reference."""
    x = guards.input(uniform(n))
    want = reference("sum", x).view(1)
    return [(total(x, out=guards.output((1,), F32)), want) for _ in range(runs)]


def distinct_results(guards, op, n, runs):
    """How many different results as many runs give, bit by bit."""
    x = uniform(64, n // 64) if op == "tree" else uniform(n)
    x = guards.input((x * 9).floor() if op == "whole" else x)
    add = row_sum if op == "tree" else total
    return len({tuple(add(x).view(torch.int32).tolist()) for _ in range(runs)})


def varies(guards, n, runs):
    """Whether an atomic sum gives more than one result, 1 or 0."""
    return int(distinct_results(guards, "atomic", n, runs) > 1)


def allclose(guards, what, **tolerance):
    """Whether torch.allclose accepts it, 1 or 0."""
    if what == "correct fp16":
        ((got, want),) = linear_error(guards, 256, F16, F16, low=-1.0)
    else:  # zeros, in place of a softmax of a long row of equal values
        want = torch.full((65_536,), 2.0**-16, dtype=torch.float64)
        got = torch.zeros_like(want)
    return int(torch.allclose(got.double(), want, **tolerance))


def precision_speed(size, ours, theirs):
    """Speed of one input precision against another, or against torch, in FLOP a second."""
    x, weight = torch.rand(2, size, size, device=DEVICE)

    def timed(name):
        if name.startswith("torch"):
            return name, lambda: torch.nn.functional.linear(x, weight)
        return name, lambda: linear(x, weight, name)

    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = theirs == "torch tf32"
    try:
        return benchmark_pair(timed(ours), timed(theirs), work=(2 * size**3,) * 2, unit="FLOP")
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def sum_speed(n_rows, n_cols):
    """Bytes a second of a sum, which only reads, against a device copy, which reads and writes."""
    x = torch.rand(n_rows, n_cols, device=DEVICE)
    sums, copy = torch.empty(n_rows, device=DEVICE), torch.empty_like(x)
    return benchmark_pair(
        ("sum", lambda: row_sum(x, out=sums)),
        ("copy", lambda: copy.copy_(x)),
        work=(x.nbytes, 2 * x.nbytes),
        unit="B",
    )


# What a bound counts, in u = 2**-24 (half an ulp of 1 in fp32), relative to the largest result:
#   a sum of values >= 0   1 for each addition on the longest chain to the result; with signs, times
#                          sum(|x|) / |sum(x)|
#   tl.dot                 2 for each addition: a tensor core cuts off where IEEE 754 rounds
#   exp                    4 for ex2.approx, within 2 ulp; 2 |x|: log2(e), x log2(e) are rounded
#   layer_norm             S is the largest value; 1,000 values lie within 0.5 of the mean, with
#                          variance 1/12; a mean is 21 additions (of NumPy; 14 on a GPU) and a
#                          division within 2 ulp, 25; rsqrt is within 3
# fmt: off
CLAIMS = [
    Claim("round_fp16.max_rel_err", rounding_error, dict(dtype=F16), bound=2**-11, why="11 bits: half a unit of the last"),
    Claim("round_bf16.max_rel_err", rounding_error, dict(dtype=BF16), bound=2**-8, judges="gpu", why="8 bits: half a unit of the last; the interpreter cuts off instead"),

    Claim("row_16.max_rel_err", sum_error, dict(K=16, way="row"), bound=15 * 2**-24, why="15 additions, one after another"),
    Claim("row_64.max_rel_err", sum_error, dict(K=64, way="row"), bound=63 * 2**-24, why="63 additions, one after another"),
    Claim("row_256.max_rel_err", sum_error, dict(K=256, way="row"), bound=255 * 2**-24, why="255 additions, one after another"),
    Claim("row_1024.max_rel_err", sum_error, dict(K=1024, way="row"), bound=1023 * 2**-24, why="1,023 additions, one after another"),
    Claim("row_4096.max_rel_err", sum_error, dict(K=4096, way="row"), bound=4095 * 2**-24, why="4,095 additions, one after another"),
    Claim("row_16384.max_rel_err", sum_error, dict(K=16384, way="row"), bound=16383 * 2**-24, judges="gpu", why="16,383 additions, one after another; too long for the interpreter"),
    Claim("tree_16.max_rel_err", sum_error, dict(K=16, way="tree", dtype=torch.float32), bound=4 * 2**-24, why="four levels of pairs"),
    Claim("tree_64.max_rel_err", sum_error, dict(K=64, way="tree"), bound=10 * 2**-24, why="six levels of pairs; NumPy: 8 strands of 8, then three levels, 7 + 3"),
    Claim("tree_256.max_rel_err", sum_error, dict(K=256, way="tree", dtype=torch.float32), bound=19 * 2**-24, why="2 values a lane and 7 levels over 128 lanes; NumPy: 8 strands of 16 in each half, 15 + 3 + 1"),
    Claim("tree_1024.max_rel_err", sum_error, dict(K=1024, way="tree"), bound=21 * 2**-24, why="8 values a lane and 7 levels over 128 lanes; NumPy: 8 strands of 16 in each eighth, 15 + 3 + 3"),
    Claim("tree_4096.max_rel_err", sum_error, dict(K=4096, way="tree", dtype=torch.float32), bound=38 * 2**-24, why="32 values a lane and 7 levels over 128 lanes, 31 + 7; NumPy stays below"),
    Claim("tree_16384.max_rel_err", sum_error, dict(K=16384, way="tree"), bound=134 * 2**-24, why="128 values a lane and 7 levels over 128 lanes, 127 + 7; NumPy stays below"),
    Claim("ragged_row.max_rel_err", sum_error, dict(K=1000, way="row", n_rows=65), bound=999 * 2**-24, why="999 additions, one after another; the second block has one row"),
    Claim("ragged_tree.max_rel_err", sum_error, dict(K=1000, way="tree", n_rows=65), bound=21 * 2**-24, why="as tree_1024; the lanes past the end add 0"),
    Claim("tree_16_fp16.max_rel_err", sum_error, dict(K=16, way="tree", dtype=torch.float16), bound=2**-11 + 4 * 2**-24, why="one rounding to fp16; four levels before it, in fp32"),
    Claim("tree_256_fp16.max_rel_err", sum_error, dict(K=256, way="tree", dtype=torch.float16), bound=2**-11 + 19 * 2**-24, why="one rounding to fp16; the sum before it as in fp32"),
    Claim("tree_4096_fp16.max_rel_err", sum_error, dict(K=4096, way="tree", dtype=torch.float16), bound=2**-11 + 38 * 2**-24, why="one rounding to fp16; the sum before it as in fp32"),
    Claim("tree_4096_bf16.max_rel_err", sum_error, dict(K=4096, way="tree", dtype=BF16), bound=2**-8 + 38 * 2**-24, judges="gpu", why="one rounding to bf16; the sum before it as in fp32"),

    Claim("dot_16.max_rel_err", linear_error, dict(K=16, dtype=F16), bound=16 * 2**-23, why="16 additions; products of fp16 are exact in fp32"),
    Claim("dot_64.max_rel_err", linear_error, dict(K=64, dtype=F16), bound=64 * 2**-23, why="64 additions; products of fp16 are exact in fp32"),
    Claim("dot_256.max_rel_err", linear_error, dict(K=256, dtype=F16), bound=256 * 2**-23, why="256 additions; products of fp16 are exact in fp32"),
    Claim("dot_1024.max_rel_err", linear_error, dict(K=1024, dtype=F16), bound=1024 * 2**-23, why="1,024 additions; products of fp16 are exact in fp32"),
    Claim("dot_4096.max_rel_err", linear_error, dict(K=4096, dtype=F16), bound=4096 * 2**-23, why="4,096 additions; products of fp16 are exact in fp32"),
    Claim("dot_16384.max_rel_err", linear_error, dict(K=16384, dtype=F16), bound=16384 * 2**-23, judges="gpu", why="16,384 additions; products of fp16 are exact in fp32"),
    Claim("signed_fp32.max_abs_err", linear_error, dict(K=256, low=-1.0), bound=256 * 2**-24 * 90, why="256 products and sums, on a scale of sum(|x||w|) < 90"),
    Claim("signed_fp16.max_abs_err", linear_error, dict(K=256, dtype=F16, out=F16, low=-1.0), bound=2**-7 + 256 * 2**-23 * 90, why="results below 32 have an ulp of 2**-6 in fp16, and half of it goes; 256 additions on a scale below 90"),

    Claim("ieee_64.max_rel_err", linear_error, dict(K=64, input_precision="ieee"), bound=64 * 2**-24, judges="gpu", why="64 multiply-adds; the interpreter cannot tell it from TF32"),
    Claim("ieee_1024.max_rel_err", linear_error, dict(K=1024, input_precision="ieee"), bound=1024 * 2**-24, why="1,024 multiply-adds"),
    Claim("ieee_16384.max_rel_err", linear_error, dict(K=16384, input_precision="ieee"), bound=16384 * 2**-24, judges="gpu", why="16,384 multiply-adds"),
    Claim("tf32_64.max_rel_err", linear_error, dict(K=64, input_precision="tf32"), bound=2**-9 + 64 * 2**-23, judges="gpu", why="TF32 keeps 11 bits of each factor: cut off, a product loses up to 2**-9; 64 additions"),
    Claim("tf32_1024.max_rel_err", linear_error, dict(K=1024, input_precision="tf32"), bound=2**-9 + 1024 * 2**-23, judges="gpu", why="TF32 keeps 11 bits of each factor: cut off, a product loses up to 2**-9; 1,024 additions"),
    Claim("tf32_16384.max_rel_err", linear_error, dict(K=16384, input_precision="tf32"), bound=2**-9 + 16384 * 2**-23, judges="gpu", why="TF32 keeps 11 bits of each factor: cut off, a product loses up to 2**-9; 16,384 additions"),
    Claim("tf32x3_64.max_rel_err", linear_error, dict(K=64, input_precision="tf32x3"), bound=2**-18 + 64 * 2**-23, judges="gpu", why="what TF32 cuts off is multiplied too, again as TF32: up to 2**-18 is left; 64 additions"),
    Claim("tf32x3_1024.max_rel_err", linear_error, dict(K=1024, input_precision="tf32x3"), bound=2**-18 + 1024 * 2**-23, judges="gpu", why="what TF32 cuts off is multiplied too, again as TF32: up to 2**-18 is left; 1,024 additions"),
    Claim("tf32x3_16384.max_rel_err", linear_error, dict(K=16384, input_precision="tf32x3"), bound=2**-18 + 16384 * 2**-23, judges="gpu", why="what TF32 cuts off is multiplied too, again as TF32: up to 2**-18 is left; 16,384 additions"),

    Claim("exp_1.max_rel_err", apply_error, dict(op="exp", reach=1.0), bound=6 * 2**-24, judges="gpu", why="in u: 4 for ex2, 2 for the rounded argument"),
    Claim("exp_4.max_rel_err", apply_error, dict(op="exp", reach=4.0), bound=12 * 2**-24, judges="gpu", why="in u: 4 for ex2, 8 for the rounded argument"),
    Claim("exp_16.max_rel_err", apply_error, dict(op="exp", reach=16.0), bound=36 * 2**-24, judges="gpu", why="in u: 4 for ex2, 32 for the rounded argument"),
    Claim("exp_64.max_rel_err", apply_error, dict(op="exp", reach=64.0), bound=132 * 2**-24, judges="gpu", why="in u: 4 for ex2, 128 for the rounded argument"),
    Claim("div.max_rel_err", apply_error, dict(op="div"), bound=4 * 2**-24, judges="gpu", why="div.full is within 2 ulp, which is 4 u at most"),
    Claim("div_rn.max_abs_err", division_error, judges="gpu", why="correctly rounded, as in torch"),

    Claim("lse_0.max_abs_err", logsumexp_error, dict(n_cols=500, mean=0.0), bound=59 * 2**-24, why="in u: 4 for ex2 and 3 ln(500) for its rounded arguments, 20 for the sum, 8 for an ulp of its logarithm, 8 for the last addition"),
    Claim("lse_1000.max_rel_err", logsumexp_error, dict(n_cols=500, mean=1000.0), bound=2 * 2**-24, why="one rounding of a result near 1,000; all before it is below one u of that"),
    Claim("lse_special.max_abs_err", logsumexp_special, bound=59 * 2**-24, why="inf and NaN exactly where torch has them; else as for lse_0"),
    Claim("hundred_fp32.max_abs_err", linear_error, dict(K=64, low=100.0, high=100.0), why="64 times 100 times 100 is 640,000: whole, and exact in fp32"),
    Claim("hundred_fp16.max_abs_err", linear_error, dict(K=64, dtype=F16, low=100.0, high=100.0), why="whole numbers below 2**24: exact in fp32, where fp16 ends at 65,504"),

    Claim("one_pass_1.max_rel_err", norm_error, dict(mean=1.0, how="one_pass"), bound=(462 * 1.5**2 + 50 * 1.5 + 49) * 2**-24, why="77 u of S squared, over the variance and halved by the root: 462; the mean as in two_pass"),
    Claim("one_pass_10.max_rel_err", norm_error, dict(mean=10.0, how="one_pass"), bound=(462 * 10.5**2 + 50 * 10.5 + 49) * 2**-24, why="77 u of S squared, over the variance and halved by the root: 462; the mean as in two_pass"),
    Claim("one_pass_100.max_rel_err", norm_error, dict(mean=100.0, how="one_pass"), bound=(462 * 100.5**2 + 50 * 100.5 + 49) * 2**-24, why="77 u of S squared, over the variance and halved by the root: 462; the mean as in two_pass"),
    Claim("two_pass_1.max_rel_err", norm_error, dict(mean=1.0, how="two_pass"), bound=(50 * 1.5 + 49) * 2**-24, why="the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    Claim("two_pass_10.max_rel_err", norm_error, dict(mean=10.0, how="two_pass"), bound=(50 * 10.5 + 49) * 2**-24, why="the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    Claim("two_pass_100.max_rel_err", norm_error, dict(mean=100.0, how="two_pass"), bound=(50 * 100.5 + 49) * 2**-24, why="the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    Claim("two_pass_1000.max_rel_err", norm_error, dict(mean=1000.0, how="two_pass"), bound=(50 * 1000.5 + 49) * 2**-24, why="the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    Claim("two_pass_10000.max_rel_err", norm_error, dict(mean=10000.0, how="two_pass"), bound=(50 * 10000.5 + 49) * 2**-24, why="the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    Claim("welford_1.max_rel_err", norm_error, dict(mean=1.0, how="welford"), bound=(106 * 1.5 + 40) * 2**-24, judges="gpu", why="14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    Claim("welford_10.max_rel_err", norm_error, dict(mean=10.0, how="welford"), bound=(106 * 10.5 + 40) * 2**-24, judges="gpu", why="14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    Claim("welford_100.max_rel_err", norm_error, dict(mean=100.0, how="welford"), bound=(106 * 100.5 + 40) * 2**-24, judges="gpu", why="14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    Claim("welford_1000.max_rel_err", norm_error, dict(mean=1000.0, how="welford"), bound=(106 * 1000.5 + 40) * 2**-24, judges="gpu", why="14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    Claim("welford_10000.max_rel_err", norm_error, dict(mean=10000.0, how="welford"), bound=(106 * 10000.5 + 40) * 2**-24, judges="gpu", why="14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    Claim("welford_narrow.max_rel_err", norm_error, dict(mean=1.0, how="welford", n_cols=33), bound=(106 * 1.5 + 40) * 2**-24, judges="gpu", why="6 merges, many of them of two empty lanes; no more than for 1,000 columns"),
    Claim("welford_short.max_rel_err", norm_error, dict(mean=1.0, how="welford", n_cols=50, n_rows=2), bound=450 * 2**-24, why="49 merges in a row, as the interpreter takes them, and S = 1.5: 147 u and 255; 40 for the rest"),
    Claim("shifted_1.max_rel_err", norm_error, dict(mean=1.0, how="shifted"), bound=49 * 2**-24, why="differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    Claim("shifted_10.max_rel_err", norm_error, dict(mean=10.0, how="shifted"), bound=49 * 2**-24, why="differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    Claim("shifted_100.max_rel_err", norm_error, dict(mean=100.0, how="shifted"), bound=49 * 2**-24, why="differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    Claim("shifted_1000.max_rel_err", norm_error, dict(mean=1000.0, how="shifted"), bound=49 * 2**-24, why="differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    Claim("shifted_10000.max_rel_err", norm_error, dict(mean=10000.0, how="shifted"), bound=49 * 2**-24, why="differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    Claim("widths.max_rel_err", norm_widths, dict(how="shifted"), bound=73 * 2**-24, why="1, 3, 17, 127, 1,000, 1,025 columns; in u, 53 for the mean of differences up to twice the largest deviation, 15 and 5 as before"),
    Claim("constant_rows.max_abs_err", norm_constant, dict(mean=10000.0), why="differences from the first value are 0, whatever the mean: what is left is the bias"),

    Claim("atomic.max_rel_err", total_error, dict(n=2**20, runs=50), bound=(2**10 + 14) * 2**-24, judges="gpu", why="14 in a block, then 1,024 blocks in any order: whatever it was in any of 50 runs"),
    Claim("atomic.varies", varies, dict(n=2**20, runs=50), kind="count", bound=1, judges="gpu", why="1,024 programs finish in no fixed order: more than one result in 50 runs"),
    Claim("atomic_whole.results", distinct_results, dict(op="whole", n=2**20, runs=50), kind="count", bound=1, judges="gpu", why="sums of whole numbers below 2**24 are exact, and so the same in any order"),
    Claim("tree.results", distinct_results, dict(op="tree", n=2**20, runs=50), kind="count", bound=1, judges="gpu", why="the order of a tree is fixed when it is compiled"),

    Claim("allclose_fp16.passes", allclose, dict(what="correct fp16"), kind="count", bound=0, why="its default asks for 1e-5, and one rounding to fp16 takes up to 2**-11"),
    Claim("allclose_zeros.passes", allclose, dict(what="zeros", atol=1e-2), kind="count", bound=1, why="every correct value is 2**-16, and so smaller than the tolerance"),

    Claim("tf32.vs_ieee", precision_speed, dict(size=4096, ours="tf32", theirs="ieee"), kind="ratio", bound=7.0, judges="gpu", gib=1, why="on a data-center card TF32 has some eight times the peak of plain fp32, which ieee is far from reaching"),
    Claim("tf32x3.vs_ieee", precision_speed, dict(size=4096, ours="tf32x3", theirs="ieee"), kind="ratio", bound=2.3, judges="gpu", gib=1, why="three products of TF32 for one: a third of that"),
    Claim("ieee.vs_torch", precision_speed, dict(size=4096, ours="ieee", theirs="torch"), kind="ratio", bound=0.4, judges="gpu", gib=1, why="no tensor core on either side; cuBLAS is written for multiply-adds, Triton is not"),
    Claim("tf32.vs_torch", precision_speed, dict(size=4096, ours="tf32", theirs="torch tf32"), kind="ratio", bound=0.6, judges="gpu", gib=1, why="one tile shape for all precisions, no TMA and no tuning"),
    Claim("sum.vs_copy", sum_speed, dict(n_rows=2**15, n_cols=4096), kind="ratio", bound=0.95, judges="gpu", gib=2, why="memory-bound: as fast a byte as a copy, within 5 in 100"),
]

BUGS = [
    Bug("fp16_accumulator", section="sum", old="(ROWS,), dtype=tl.float32", new="(ROWS,), dtype=tl.float16", caught_by="row_4096.max_rel_err", how="error", shows="from 1,024 on an ulp is 1, and what is below a half of it is no longer added"),
    Bug("sum_in_fp16", section="sum", old="x.to(tl.float32)", new="x.to(tl.float16)", caught_by="tree_4096.max_rel_err", how="error", shows="the sum keeps 11 bits; a GPU rounds to them after each addition"),
    Bug("fp16_output", section="dot", old="acc.to(out_ptr.dtype.element_ty)", new="acc.to(tl.float16)", caught_by="hundred_fp32.max_abs_err", how="nonfinite", shows="640,000 is more than 65,504, the largest number of fp16"),
    Bug("tf32_for_ieee", section="dot", old="input_precision=INPUT_PRECISION", new='input_precision="tf32"', caught_by="ieee_64.max_rel_err", how="error", shows="13 bits of each factor are gone"),
    Bug("approximate_division", section="apply", old="tl.div_rn(x, y)", new="x / y", caught_by="div_rn.max_abs_err", how="error", shows="some quotients are an ulp off"),
    Bug("exp_without_max", section="logsumexp", old="tl.exp(x - top)", new="tl.exp(x)", caught_by="lse_1000.max_rel_err", how="nonfinite", shows="e to the power of 1,000 is beyond fp32"),
    Bug("one_pass", section="norm", old="tl.sum(d * d, axis=0) / n_cols", new="tl.maximum(tl.sum(x * x, axis=0) / n_cols - mean * mean, 0.0)", caught_by="two_pass_10000.max_rel_err", how="error", shows="what is left of the variance is rounding; clamped to 0, it makes results as large as 1 / sqrt(eps)"),
    Bug("padding_counted", section="norm", old="tl.where(mask, x - mean, 0.0)", new="x - mean", caught_by="widths.max_rel_err", how="error", shows="each padded lane adds the square of the mean to the variance"),
    Bug("not_shifted", section="norm", old='HOW == "shifted"', new='HOW == "never"', caught_by="constant_rows.max_abs_err", how="error", shows="the mean of equal values is not that value, and eps is too small to hide it"),
    Bug("empty_lanes", section="norm", old="tl.where(n == 0.0, 1.0, n)", new="n", caught_by="welford_narrow.max_rel_err", how="nonfinite", shows="the mean of no values at all is 0 / 0"),
    Bug("total_not_cleared", section="launch", old="    out.zero_()\n", new="", caught_by="atomic.max_rel_err", how="nonfinite", shows="an atomic add starts from whatever lies there"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
