# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Numerics: how large the error of a kernel is, why, and which bound it cannot pass.

Learn:   rounding, the length of a sum, TF32, approximate exp and division, cancellation, overflow; how to derive a bound
Run:     python triton_numerics.py           every claim, then every break
         python triton_numerics.py --bench   only the speed, on a GPU
Memory:  2 GiB
Card:    any NVIDIA card since Ampere; with none, Triton's interpreter
Minutes: 2
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import os
import sys

import torch

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # TRITON_INTERPRET=0 keeps the compiler, which needs no GPU
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # the default turns to 0 in Triton 3.10: say which one is meant
os.environ.setdefault("TRITON_DISABLE_LINE_INFO", "1")  # then the PTX does not depend on where this file lies
try:
    import triton
    import triton.language as tl
except ImportError:
    print("this lab needs Triton, which exists for Linux: pip install triton", file=sys.stderr)
    sys.exit(2)

INTERPRETED = triton.knobs.runtime.interpret
DEVICE = "cpu" if INTERPRETED else "cuda"

F32, F16, BF16 = DTYPES = torch.float32, torch.float16, torch.bfloat16
WAYS, PRECISIONS, HOWS = ("tree", "row"), ("ieee", "tf32", "tf32x3"), ("shifted", "two_pass", "welford", "one_pass")
MAX_COLS = 16_384  # a row lies in one block
BLOCK = 1024
TILE = dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=32)


# %% What is right: the same in float64, rounded nowhere else.
# --8<-- [start:reference]
def reference(op, x, *others, eps=1e-5):
    x, others = x.double(), [t.double() for t in others]
    if op == "layer_norm":
        d = x - x.mean(dim=1, keepdim=True)
        return d / (d.square().mean(dim=1, keepdim=True) + eps).sqrt() * others[0] + others[1]
    return {"sum": lambda: x.sum(dim=-1), "linear": lambda: x @ others[0].T, "logsumexp": lambda: x.logsumexp(dim=1),
            "exp": x.exp, "div": lambda: x / others[0], "div_rn": lambda: x / others[0]}[op]()
# --8<-- [end:reference]


# %% A sum in two orders: one after another, or as a tree. Every addition rounds.
# --8<-- [start:sum]
@triton.jit
def sum_kernel(x_ptr, out_ptr, n_rows, n_cols, TREE: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(axis=0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    if TREE:
        cols = tl.arange(0, COLS)
        mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
        x = tl.load(x_ptr + rows[:, None] * n_cols + cols[None, :], mask=mask, other=0.0)  # [ROWS, COLS]
        acc = tl.sum(x.to(tl.float32), axis=1)  # lanes add what they hold, then lanes in pairs
    else:
        acc = tl.zeros((ROWS,), dtype=tl.float32)
        for k in range(n_cols):  # n_cols - 1 roundings, one after another
            acc += tl.load(x_ptr + rows * n_cols + k, mask=rows < n_rows, other=0.0).to(acc.dtype)
    tl.store(out_ptr + rows, acc.to(out_ptr.dtype.element_ty), mask=rows < n_rows)  # one more rounding, unless fp32
# --8<-- [end:sum]


# %% A sum by atomic adds: right, but in an order that nobody fixes.
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
    x_ptr, weight_ptr, out_ptr, M, N, K,
    INPUT_PRECISION: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid, tiles_n = tl.program_id(axis=0).to(tl.int64), tl.cdiv(N, BLOCK_N)
    offs_m = pid // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K)
        mask_x, mask_w = (offs_m < M)[:, None] & (offs_k < K)[None, :], (offs_k < K)[:, None] & (offs_n < N)[None, :]
        x = tl.load(x_ptr + offs_m[:, None] * K + offs_k[None, :], mask=mask_x, other=0.0)
        w = tl.load(weight_ptr + offs_n[None, :] * K + offs_k[:, None], mask=mask_w, other=0.0)
        acc = tl.dot(x, w, acc, input_precision=INPUT_PRECISION)  # the factors are cut, the sum is fp32
    mask = (offs_m < M)[:, None] & (offs_n < N)[None, :]
    tl.store(out_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(out_ptr.dtype.element_ty), mask=mask)
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
    top = tl.where(tl.abs(top) == float("inf"), 0.0, top)  # inf - inf would be NaN; e to the power of -inf is 0, as it should
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
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, n_cols, eps, HOW: tl.constexpr, COLS: tl.constexpr):
    row, cols = tl.program_id(axis=0).to(tl.int64), tl.arange(0, COLS)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    if HOW == "shifted":
        x = tl.where(mask, x - tl.load(x_ptr + row * n_cols).to(tl.float32), 0.0)  # exact, where x is near the first
    if HOW == "welford":
        _, mean, m2 = tl.reduce((mask.to(tl.float32), x, tl.zeros_like(x)), 0, merge)
    else:
        mean = tl.sum(x, axis=0) / n_cols
    d = tl.where(mask, x - mean, 0.0)  # padded lanes must not count: 0 - mean is not 0
    if HOW == "welford":
        var = m2 / n_cols
    elif HOW == "one_pass":
        var = tl.maximum(tl.sum(x * x, axis=0) / n_cols - mean * mean, 0.0)  # two large numbers, and what they differ by
    else:
        var = tl.sum(d * d, axis=0) / n_cols
    w = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(bias_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    y = d * tl.rsqrt(var + eps) * w + b
    tl.store(out_ptr + row * n_cols + cols, y.to(out_ptr.dtype.element_ty), mask=mask)
# --8<-- [end:norm]


# %% The launchers: each checks what its kernel takes for granted.
# --8<-- [start:launch]
def checked(**tensors):
    """Raise TypeError or ValueError, naming the tensor, for what none of the kernels here can read or write."""
    first = next(iter(tensors.values()))
    for name, t in tensors.items():
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
        allowed = DTYPES[:2] if INTERPRETED else DTYPES  # the interpreter gets bf16 wrong
        if t.dtype not in allowed:
            raise TypeError(f"{name} is {t.dtype}; allowed here: {', '.join(map(str, allowed))}")
        if t.device.type != DEVICE or t.device != first.device:
            raise ValueError(f"{name} is on {t.device}; this run needs every tensor on one {DEVICE} device")
        if not t.is_contiguous():
            raise ValueError(f"{name} has strides {t.stride()}, and this kernel reads straight on: pass {name}.contiguous()")
    for name, t in tensors.items():
        if name != "out" and "out" in tensors and t.numel() and tensors["out"].numel() and meet(t, tensors["out"]):
            raise ValueError(f"out shares its memory with {name}, which is still being read: pass a tensor of its own")


def meet(a, b):
    """Whether the stretches of memory from the first to the last element of a and b overlap."""
    last = [1 + sum((n - 1) * step for n, step in zip(t.shape, t.stride())) for t in (a, b)]
    return a.data_ptr() < b.data_ptr() + last[1] * b.element_size() and b.data_ptr() < a.data_ptr() + last[0] * a.element_size()


def shaped(name, t, shape):
    if t.shape != shape:
        raise ValueError(f"{name} is {tuple(t.shape)}; it must be {tuple(shape)}")


def one_of(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")


def rows_of(x):
    if x.ndim != 2 or x.shape[1] > MAX_COLS:
        raise ValueError(f"x is {tuple(x.shape)}; it must be 2-D, with at most {MAX_COLS:,} columns, since a row lies in one block")
    return x.shape


def row_sum(x, way="tree", out=None):
    """Return the sum of each row of x [n_rows, n_cols], added in fp32; in `out` if given, in its dtype."""
    checked(x=x)
    one_of("way", way, WAYS)
    n_rows, n_cols = rows_of(x)
    out = torch.empty(n_rows, device=x.device, dtype=x.dtype) if out is None else out
    checked(x=x, out=out), shaped("out", out, (n_rows,))
    rows = 1 if way == "tree" else 64
    if n_rows:
        with torch.cuda.device_of(x):
            sum_kernel[(triton.cdiv(n_rows, rows),)](x, out, n_rows, n_cols, TREE=way == "tree", ROWS=rows, COLS=triton.next_power_of_2(max(n_cols, 1)))
    return out


def total(x, out=None):
    """Return the sum of all of x [n_elements] as one fp32 element, its blocks added by atomics in any order."""
    checked(x=x)
    out = torch.empty(1, device=x.device) if out is None else out
    checked(x=x, out=out), shaped("out", out, (1,))
    if out.dtype != F32:
        raise TypeError(f"out is {out.dtype}; allowed: {F32}, in which the atomics add")
    out.zero_()
    if x.numel():
        with torch.cuda.device_of(x):
            total_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), BLOCK=BLOCK)
    return out


def linear(x, weight, input_precision="ieee", out=None):
    """Return x [M, K] @ weight [N, K] transposed, added in fp32; in `out` if given, in its dtype."""
    checked(x=x, weight=weight)
    one_of("input_precision", input_precision, PRECISIONS)
    if x.ndim != 2 or weight.ndim != 2 or x.shape[1] != weight.shape[1] or x.dtype != weight.dtype:
        raise ValueError(f"x is {tuple(x.shape)} {x.dtype}, weight is {tuple(weight.shape)} {weight.dtype}; needed: (M, K) and (N, K) of one dtype")
    if input_precision != "ieee" and not INTERPRETED:
        target = triton.runtime.driver.active.get_current_target()
        if target.backend == "hip" and (input_precision, target.arch) != ("tf32", "gfx942"):
            raise ValueError(f"input_precision is {input_precision!r}; AMD's back end has tf32 on gfx942 only and tf32x3 nowhere: pass 'ieee'")
    (M, K), N = x.shape, weight.shape[0]
    out = torch.empty((M, N), device=x.device, dtype=x.dtype) if out is None else out
    checked(x=x, weight=weight, out=out), shaped("out", out, (M, N))
    if out.numel():
        with torch.cuda.device_of(x):
            linear_kernel[(triton.cdiv(M, TILE["BLOCK_M"]) * triton.cdiv(N, TILE["BLOCK_N"]),)](x, weight, out, M, N, K, INPUT_PRECISION=input_precision, num_warps=8, **TILE)
    return out


def apply(op, x, y=None, out=None):
    """Return exp(x), or x / y approximately ("div") or correctly rounded ("div_rn"); all fp32, of one shape."""
    one_of("op", op, ("exp", "div", "div_rn"))
    checked(x=x)
    y, out = x if y is None else y, torch.empty_like(x) if out is None else out
    checked(x=x, y=y, out=out)
    for name, t in (("x", x), ("y", y), ("out", out)):
        shaped(name, t, x.shape)
        if t.dtype != F32:
            raise TypeError(f"{name} is {t.dtype}; allowed: {F32}")
    if x.numel():
        with torch.cuda.device_of(x):
            apply_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, y, out, x.numel(), OP=op, BLOCK=BLOCK)
    return out


def logsumexp(x, out=None):
    """Return log(sum(exp(row))) of each row of x [n_rows, n_cols], n_cols >= 1; in `out` if given."""
    checked(x=x)
    n_rows, n_cols = rows_of(x)
    if n_cols == 0:
        raise ValueError(f"x is {tuple(x.shape)}; a row without columns has no largest element")
    out = torch.empty(n_rows, device=x.device) if out is None else out
    checked(x=x, out=out), shaped("out", out, (n_rows,))
    if n_rows:
        with torch.cuda.device_of(x):
            logsumexp_kernel[(n_rows,)](x, out, n_cols, COLS=triton.next_power_of_2(n_cols))
    return out


def layer_norm(x, weight, bias, eps=1e-5, how="shifted", out=None):
    """Return (x - mean) / sqrt(variance + eps) * weight + bias of each row of x [n_rows, n_cols]; in `out` if given."""
    checked(x=x, weight=weight, bias=bias)
    one_of("how", how, HOWS)
    n_rows, n_cols = rows_of(x)
    out = torch.empty_like(x) if out is None else out
    checked(x=x, weight=weight, bias=bias, out=out), shaped("out", out, x.shape), shaped("weight", weight, (n_cols,)), shaped("bias", bias, (n_cols,))
    if x.numel():
        with torch.cuda.device_of(x):
            layer_norm_kernel[(n_rows,)](x, weight, bias, out, n_cols, float(eps), HOW=how, COLS=triton.next_power_of_2(n_cols))
    return out
# --8<-- [end:launch]


# %% The claims: how each is measured, and the table of what must hold.
def watched(t):
    """The tensor between guards; neither they nor its values may change."""
    t = fence(t)
    FENCES.append((t.view(torch.uint8), t.clone().view(torch.uint8)))
    return t


def draw(*shape, low=0.0, high=1.0, dtype=F32, seed=0):
    """Evenly spread values, none of whose sums cancels while low is not negative."""
    gen = torch.Generator(DEVICE).manual_seed(seed + sum(shape))
    return watched((torch.rand(shape, generator=gen, device=DEVICE) * (high - low) + low).to(dtype))


def result(*shape, dtype=F32):
    return fence(torch.empty(shape, device=DEVICE, dtype=dtype), output=True)


def sum_error(K, way, dtype=F32, n_rows=64):
    """Sums of rows of K values between 0 and 1, given in dtype."""
    x = draw(n_rows, K)
    return [(row_sum(x, way, out=result(n_rows, dtype=dtype)), reference("sum", x))]


def rounded(dtype):
    """A sum of one element is that element rounded: 4,096 results over their exact values."""
    x = draw(4096, 1, low=1.0, high=400.0)
    return [(row_sum(x, "row", out=result(4096, dtype=dtype)).double() / x.double().view(-1), torch.ones(4096, device=DEVICE))]


def linear_error(K, dtype=F32, out=F32, input_precision="ieee", low=0.0, high=1.0, size=64):
    """size × size results of K products each, of values from low to high."""
    x, w = (draw(size, K, low=low, high=high, dtype=dtype, seed=seed) for seed in (1, 2))
    return [(linear(x, w, input_precision, out=result(size, size, dtype=out)), reference("linear", x, w))]


def apply_error(op, reach=1.0):
    """2**16 results, each over its exact value; arguments of exp between -reach and reach."""
    x, y = draw(2**16, low=-reach if op == "exp" else 0.5, high=reach), draw(2**16, low=1.0, high=2.0, seed=1)
    out = apply(op, x, y, out=result(2**16))
    return [(out.double() / reference(op, x, y), torch.ones(2**16, device=DEVICE))]


def division_error():
    """Correctly rounded quotients against those of torch, which are."""
    x, y = draw(2**16), draw(2**16, low=1.0, high=2.0, seed=1)
    return [(apply("div_rn", x, y, out=result(2**16)), x / y)]


def logsumexp_error(n_cols, mean):
    x = draw(32, n_cols, low=mean - 10, high=mean + 10)
    return [(logsumexp(x, out=result(32)), reference("logsumexp", x))]


def logsumexp_special():
    """Rows of nothing but -inf, with inf, with NaN, with some -inf, and an ordinary one; the rule is that of torch."""
    x = draw(5, 500, low=-10.0, high=10.0).clone()
    x[0], x[1, 7], x[2, 7], x[3, ::2] = -torch.inf, torch.inf, torch.nan, -torch.inf
    return [(logsumexp(watched(x), out=result(5)), reference("logsumexp", x))]


def norm_error(mean, how, n_cols=1000, n_rows=16, eps=1e-12):
    """Rows of values within a half of the mean, normalized."""
    x = draw(n_rows, n_cols, low=mean - 0.5, high=mean + 0.5)
    w, b = watched(torch.ones(n_cols, device=DEVICE)), watched(torch.zeros(n_cols, device=DEVICE))
    return [(layer_norm(x, w, b, eps, how, out=result(n_rows, n_cols)), reference("layer_norm", x, w, b, eps=eps))]


def norm_widths(how):
    """The same for widths that are no power of two, and for one column; the mean is 100."""
    return [pair for n in (1, 3, 17, 127, 1000, 1025) for pair in norm_error(100.0, how, n, 4)]


def norm_constant(mean, n_cols=1000, n_rows=16):
    """Rows of one value each: every result is the bias, bit for bit."""
    x = watched(draw(n_rows, 1, low=mean - 0.5, high=mean + 0.5).expand(n_rows, n_cols).contiguous())
    w, b = draw(n_cols), draw(n_cols, seed=1)
    return [(layer_norm(x, w, b, 1e-12, out=result(n_rows, n_cols)), b.expand(n_rows, n_cols))]


def total_error(n, runs):
    """The same sum in as many runs, each against the reference."""
    x = draw(n)
    return [(total(x, out=result(1)), reference("sum", x).view(1)) for _ in range(runs)]


def results(op, n, runs):
    """How many different results as many runs give, bit by bit."""
    x = draw(64, n // 64) if op == "tree" else draw(n) if op == "atomic" else (draw(n) * 9).floor()
    run = (lambda: row_sum(x)) if op == "tree" else lambda: total(x)
    return len({tuple(run().view(torch.int32).tolist()) for _ in range(runs)})


def varies(n, runs):
    """Whether an atomic sum gives more than one result, 1 or 0."""
    return int(results("atomic", n, runs) > 1)


def allclose(what, **tolerance):
    """Whether torch.allclose takes it for right, 1 or 0."""
    if what == "right fp16":
        (got, want), = linear_error(256, F16, F16, low=-1.0)
    else:
        want = torch.full((65_536,), 2.0**-16, dtype=torch.float64)  # softmax of a long row of equal values
        got = torch.zeros_like(want)
    return int(torch.allclose(got.double(), want, **tolerance))


def precision_speed(size, ours, theirs):
    """Speed of one input precision against another, or against torch, in FLOP a second."""
    x, w = torch.rand(2, size, size, device=DEVICE)
    before, torch.backends.cuda.matmul.allow_tf32 = torch.backends.cuda.matmul.allow_tf32, theirs == "torch tf32"
    run = lambda name: (name, (lambda: torch.nn.functional.linear(x, w)) if name.startswith("torch") else lambda: linear(x, w, name))
    try:
        return race(run(ours), run(theirs), work=(2 * size**3,) * 2, unit="FLOP")
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def sum_speed(n_rows, n_cols):
    """Bytes a second of a sum, which only reads, against a device copy, which reads and writes."""
    x = torch.rand(n_rows, n_cols, device=DEVICE)
    sums, copy = torch.empty(n_rows, device=DEVICE), torch.empty_like(x)
    return race(("sum", lambda: row_sum(x, out=sums)), ("copy", lambda: copy.copy_(x)), work=(x.nbytes, 2 * x.nbytes), unit="B")


# What a bound counts, in u = 2**-24 (half an ulp of 1 in fp32) and relative to the largest result:
#   a sum of values >= 0   1 for each addition on the longest way to the result; with signs, times sum(|x|) / |sum(x)|
#   tl.dot                 2 for each addition, since a tensor core cuts off where IEEE 754 rounds
#   exp                    4 for ex2.approx, within 2 ulp; 2 |x|, since log2(e) and x * log2(e) are rounded
#   layer_norm             S is the largest value, 1,000 values lie within 0.5 of the mean, their variance is 1/12; a mean
#                          is 21 additions (of NumPy; 14 on a GPU) and a division within 2 ulp, 25; rsqrt is within 3
# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "round_fp16.max_rel_err": ("error", rounded, dict(dtype=F16), 2**-11, "any", 0, "11 bits: half a unit of the last"),
    "round_bf16.max_rel_err": ("error", rounded, dict(dtype=BF16), 2**-8, "gpu", 0, "8 bits: half a unit of the last; the interpreter cuts off instead"),

    "row_16.max_rel_err": ("error", sum_error, dict(K=16, way="row"), 15 * 2**-24, "any", 0, "15 additions, one after another"),
    "row_64.max_rel_err": ("error", sum_error, dict(K=64, way="row"), 63 * 2**-24, "any", 0, "63 additions, one after another"),
    "row_256.max_rel_err": ("error", sum_error, dict(K=256, way="row"), 255 * 2**-24, "any", 0, "255 additions, one after another"),
    "row_1024.max_rel_err": ("error", sum_error, dict(K=1024, way="row"), 1023 * 2**-24, "any", 0, "1,023 additions, one after another"),
    "row_4096.max_rel_err": ("error", sum_error, dict(K=4096, way="row"), 4095 * 2**-24, "any", 0, "4,095 additions, one after another"),
    "row_16384.max_rel_err": ("error", sum_error, dict(K=16384, way="row"), 16383 * 2**-24, "gpu", 0, "16,383 additions, one after another; too long for the interpreter"),
    "tree_16.max_rel_err": ("error", sum_error, dict(K=16, way="tree", dtype=torch.float32), 4 * 2**-24, "any", 0, "four levels of pairs"),
    "tree_64.max_rel_err": ("error", sum_error, dict(K=64, way="tree"), 10 * 2**-24, "any", 0, "six levels of pairs; NumPy: 8 strands of 8, then three levels, 7 + 3"),
    "tree_256.max_rel_err": ("error", sum_error, dict(K=256, way="tree", dtype=torch.float32), 19 * 2**-24, "any", 0, "2 values a lane and 7 levels over 128 lanes; NumPy: 8 strands of 16 in each half, 15 + 3 + 1"),
    "tree_1024.max_rel_err": ("error", sum_error, dict(K=1024, way="tree"), 21 * 2**-24, "any", 0, "8 values a lane and 7 levels over 128 lanes; NumPy: 8 strands of 16 in each eighth, 15 + 3 + 3"),
    "tree_4096.max_rel_err": ("error", sum_error, dict(K=4096, way="tree", dtype=torch.float32), 38 * 2**-24, "any", 0, "32 values a lane and 7 levels over 128 lanes, 31 + 7; NumPy stays below"),
    "tree_16384.max_rel_err": ("error", sum_error, dict(K=16384, way="tree"), 134 * 2**-24, "any", 0, "128 values a lane and 7 levels over 128 lanes, 127 + 7; NumPy stays below"),
    "ragged_row.max_rel_err": ("error", sum_error, dict(K=1000, way="row", n_rows=65), 999 * 2**-24, "any", 0, "999 additions, one after another; the second block has one row"),
    "ragged_tree.max_rel_err": ("error", sum_error, dict(K=1000, way="tree", n_rows=65), 21 * 2**-24, "any", 0, "as tree_1024; the lanes past the end add 0"),
    "tree_16_fp16.max_rel_err": ("error", sum_error, dict(K=16, way="tree", dtype=torch.float16), 2**-11 + 4 * 2**-24, "any", 0, "one rounding to fp16; four levels before it, in fp32"),
    "tree_256_fp16.max_rel_err": ("error", sum_error, dict(K=256, way="tree", dtype=torch.float16), 2**-11 + 19 * 2**-24, "any", 0, "one rounding to fp16; the sum before it as in fp32"),
    "tree_4096_fp16.max_rel_err": ("error", sum_error, dict(K=4096, way="tree", dtype=torch.float16), 2**-11 + 38 * 2**-24, "any", 0, "one rounding to fp16; the sum before it as in fp32"),
    "tree_4096_bf16.max_rel_err": ("error", sum_error, dict(K=4096, way="tree", dtype=BF16), 2**-8 + 38 * 2**-24, "gpu", 0, "one rounding to bf16; the sum before it as in fp32"),

    "dot_16.max_rel_err": ("error", linear_error, dict(K=16, dtype=F16), 16 * 2**-23, "any", 0, "16 additions; products of fp16 are exact in fp32"),
    "dot_64.max_rel_err": ("error", linear_error, dict(K=64, dtype=F16), 64 * 2**-23, "any", 0, "64 additions; products of fp16 are exact in fp32"),
    "dot_256.max_rel_err": ("error", linear_error, dict(K=256, dtype=F16), 256 * 2**-23, "any", 0, "256 additions; products of fp16 are exact in fp32"),
    "dot_1024.max_rel_err": ("error", linear_error, dict(K=1024, dtype=F16), 1024 * 2**-23, "any", 0, "1,024 additions; products of fp16 are exact in fp32"),
    "dot_4096.max_rel_err": ("error", linear_error, dict(K=4096, dtype=F16), 4096 * 2**-23, "any", 0, "4,096 additions; products of fp16 are exact in fp32"),
    "dot_16384.max_rel_err": ("error", linear_error, dict(K=16384, dtype=F16), 16384 * 2**-23, "gpu", 0, "16,384 additions; products of fp16 are exact in fp32"),
    "signed_fp32.max_abs_err": ("error", linear_error, dict(K=256, low=-1.0), 256 * 2**-24 * 90, "any", 0, "256 products and sums, on a scale of sum(|x||w|) < 90"),
    "signed_fp16.max_abs_err": ("error", linear_error, dict(K=256, dtype=F16, out=F16, low=-1.0), 2**-7 + 256 * 2**-23 * 90, "any", 0, "results below 32 have an ulp of 2**-6 in fp16, and half of it goes; 256 additions on a scale below 90"),

    "ieee_64.max_rel_err": ("error", linear_error, dict(K=64, input_precision="ieee"), 64 * 2**-24, "gpu", 0, "64 multiply-adds; the interpreter cannot tell it from TF32"),
    "ieee_1024.max_rel_err": ("error", linear_error, dict(K=1024, input_precision="ieee"), 1024 * 2**-24, "any", 0, "1,024 multiply-adds"),
    "ieee_16384.max_rel_err": ("error", linear_error, dict(K=16384, input_precision="ieee"), 16384 * 2**-24, "gpu", 0, "16,384 multiply-adds"),
    "tf32_64.max_rel_err": ("error", linear_error, dict(K=64, input_precision="tf32"), 2**-9 + 64 * 2**-23, "gpu", 0, "TF32 keeps 11 bits of each factor: cut off, a product loses up to 2**-9; 64 additions"),
    "tf32_1024.max_rel_err": ("error", linear_error, dict(K=1024, input_precision="tf32"), 2**-9 + 1024 * 2**-23, "gpu", 0, "TF32 keeps 11 bits of each factor: cut off, a product loses up to 2**-9; 1,024 additions"),
    "tf32_16384.max_rel_err": ("error", linear_error, dict(K=16384, input_precision="tf32"), 2**-9 + 16384 * 2**-23, "gpu", 0, "TF32 keeps 11 bits of each factor: cut off, a product loses up to 2**-9; 16,384 additions"),
    "tf32x3_64.max_rel_err": ("error", linear_error, dict(K=64, input_precision="tf32x3"), 2**-18 + 64 * 2**-23, "gpu", 0, "what TF32 cuts off is multiplied too, again as TF32: up to 2**-18 is left; 64 additions"),
    "tf32x3_1024.max_rel_err": ("error", linear_error, dict(K=1024, input_precision="tf32x3"), 2**-18 + 1024 * 2**-23, "gpu", 0, "what TF32 cuts off is multiplied too, again as TF32: up to 2**-18 is left; 1,024 additions"),
    "tf32x3_16384.max_rel_err": ("error", linear_error, dict(K=16384, input_precision="tf32x3"), 2**-18 + 16384 * 2**-23, "gpu", 0, "what TF32 cuts off is multiplied too, again as TF32: up to 2**-18 is left; 16,384 additions"),

    "exp_1.max_rel_err": ("error", apply_error, dict(op="exp", reach=1.0), 6 * 2**-24, "gpu", 0, "in u: 4 for ex2, 2 for the rounded argument"),
    "exp_4.max_rel_err": ("error", apply_error, dict(op="exp", reach=4.0), 12 * 2**-24, "gpu", 0, "in u: 4 for ex2, 8 for the rounded argument"),
    "exp_16.max_rel_err": ("error", apply_error, dict(op="exp", reach=16.0), 36 * 2**-24, "gpu", 0, "in u: 4 for ex2, 32 for the rounded argument"),
    "exp_64.max_rel_err": ("error", apply_error, dict(op="exp", reach=64.0), 132 * 2**-24, "gpu", 0, "in u: 4 for ex2, 128 for the rounded argument"),
    "div.max_rel_err": ("error", apply_error, dict(op="div"), 4 * 2**-24, "gpu", 0, "div.full is within 2 ulp, which is 4 u at most"),
    "div_rn.max_abs_err": ("error", division_error, {}, 0.0, "gpu", 0, "correctly rounded, as in torch"),

    "lse_0.max_abs_err": ("error", logsumexp_error, dict(n_cols=500, mean=0.0), 59 * 2**-24, "any", 0, "in u: 4 for ex2 and 3 ln(500) for its rounded arguments, 20 for the sum, 8 for an ulp of its logarithm, 8 for the last addition"),
    "lse_1000.max_rel_err": ("error", logsumexp_error, dict(n_cols=500, mean=1000.0), 2 * 2**-24, "any", 0, "one rounding of a result near 1,000; all before it is below one u of that"),
    "lse_special.max_abs_err": ("error", logsumexp_special, {}, 59 * 2**-24, "any", 0, "inf and NaN exactly where torch has them; else as for lse_0"),
    "hundred_fp32.max_abs_err": ("error", linear_error, dict(K=64, low=100.0, high=100.0), 0.0, "any", 0, "64 times 100 times 100 is 640,000: whole, and exact in fp32"),
    "hundred_fp16.max_abs_err": ("error", linear_error, dict(K=64, dtype=F16, low=100.0, high=100.0), 0.0, "any", 0, "whole numbers below 2**24: exact in fp32, where fp16 ends at 65,504"),

    "one_pass_1.max_rel_err": ("error", norm_error, dict(mean=1.0, how="one_pass"), (462 * 1.5**2 + 50 * 1.5 + 49) * 2**-24, "any", 0, "77 u of S squared, over the variance and halved by the root: 462; the mean as in two_pass"),
    "one_pass_10.max_rel_err": ("error", norm_error, dict(mean=10.0, how="one_pass"), (462 * 10.5**2 + 50 * 10.5 + 49) * 2**-24, "any", 0, "77 u of S squared, over the variance and halved by the root: 462; the mean as in two_pass"),
    "one_pass_100.max_rel_err": ("error", norm_error, dict(mean=100.0, how="one_pass"), (462 * 100.5**2 + 50 * 100.5 + 49) * 2**-24, "any", 0, "77 u of S squared, over the variance and halved by the root: 462; the mean as in two_pass"),
    "two_pass_1.max_rel_err": ("error", norm_error, dict(mean=1.0, how="two_pass"), (50 * 1.5 + 49) * 2**-24, "any", 0, "the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    "two_pass_10.max_rel_err": ("error", norm_error, dict(mean=10.0, how="two_pass"), (50 * 10.5 + 49) * 2**-24, "any", 0, "the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    "two_pass_100.max_rel_err": ("error", norm_error, dict(mean=100.0, how="two_pass"), (50 * 100.5 + 49) * 2**-24, "any", 0, "the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    "two_pass_1000.max_rel_err": ("error", norm_error, dict(mean=1000.0, how="two_pass"), (50 * 1000.5 + 49) * 2**-24, "any", 0, "the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    "two_pass_10000.max_rel_err": ("error", norm_error, dict(mean=10000.0, how="two_pass"), (50 * 10000.5 + 49) * 2**-24, "any", 0, "the mean is off by 25 u of S, which the largest deviation, 0.5, makes 50; 49 for all the rest"),
    "welford_1.max_rel_err": ("error", norm_error, dict(mean=1.0, how="welford"), (106 * 1.5 + 40) * 2**-24, "gpu", 0, "14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    "welford_10.max_rel_err": ("error", norm_error, dict(mean=10.0, how="welford"), (106 * 10.5 + 40) * 2**-24, "gpu", 0, "14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    "welford_100.max_rel_err": ("error", norm_error, dict(mean=100.0, how="welford"), (106 * 100.5 + 40) * 2**-24, "gpu", 0, "14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    "welford_1000.max_rel_err": ("error", norm_error, dict(mean=1000.0, how="welford"), (106 * 1000.5 + 40) * 2**-24, "gpu", 0, "14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    "welford_10000.max_rel_err": ("error", norm_error, dict(mean=10000.0, how="welford"), (106 * 10000.5 + 40) * 2**-24, "gpu", 0, "14 merges round a mean: 28 u of S; the differences that are squared are off as well: 78; 40 for the rest"),
    "welford_narrow.max_rel_err": ("error", norm_error, dict(mean=1.0, how="welford", n_cols=33), (106 * 1.5 + 40) * 2**-24, "gpu", 0, "6 merges, many of them of two empty lanes; no more than for 1,000 columns"),
    "welford_short.max_rel_err": ("error", norm_error, dict(mean=1.0, how="welford", n_cols=50, n_rows=2), 450 * 2**-24, "any", 0, "49 merges in a row, as the interpreter takes them, and S = 1.5: 147 u and 255; 40 for the rest"),
    "shifted_1.max_rel_err": ("error", norm_error, dict(mean=1.0, how="shifted"), 49 * 2**-24, "any", 0, "differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    "shifted_10.max_rel_err": ("error", norm_error, dict(mean=10.0, how="shifted"), 49 * 2**-24, "any", 0, "differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    "shifted_100.max_rel_err": ("error", norm_error, dict(mean=100.0, how="shifted"), 49 * 2**-24, "any", 0, "differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    "shifted_1000.max_rel_err": ("error", norm_error, dict(mean=1000.0, how="shifted"), 49 * 2**-24, "any", 0, "differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    "shifted_10000.max_rel_err": ("error", norm_error, dict(mean=10000.0, how="shifted"), 49 * 2**-24, "any", 0, "differences from the first value are exact; in u, 30 for their mean, 14 for the variance, 5 for rsqrt, eps, product"),
    "widths.max_rel_err": ("error", norm_widths, dict(how="shifted"), 73 * 2**-24, "any", 0, "1, 3, 17, 127, 1,000, 1,025 columns; in u, 53 for the mean of differences up to twice the largest deviation, 15 and 5 as before"),
    "constant_rows.max_abs_err": ("error", norm_constant, dict(mean=10000.0), 0.0, "any", 0, "differences from the first value are 0, whatever the mean: what is left is the bias"),

    "atomic.max_rel_err": ("error", total_error, dict(n=2**20, runs=50), (2**10 + 14) * 2**-24, "gpu", 0, "14 in a block, then 1,024 blocks in any order: whatever it was in any of 50 runs"),
    "atomic.varies": ("count", varies, dict(n=2**20, runs=50), 1, "gpu", 0, "1,024 programs finish in no fixed order: more than one result in 50 runs"),
    "atomic_whole.results": ("count", results, dict(op="whole", n=2**20, runs=50), 1, "gpu", 0, "sums of whole numbers below 2**24 are exact, and so the same in any order"),
    "tree.results": ("count", results, dict(op="tree", n=2**20, runs=50), 1, "gpu", 0, "the order of a tree is fixed when it is compiled"),

    "allclose_fp16.passes": ("count", allclose, dict(what="right fp16"), 0, "any", 0, "its default asks for 1e-5, and one rounding to fp16 takes up to 2**-11"),
    "allclose_zeros.passes": ("count", allclose, dict(what="zeros", atol=1e-2), 1, "any", 0, "every right value is 2**-16, and so smaller than the tolerance"),

    "tf32.vs_ieee": ("ratio", precision_speed, dict(size=4096, ours="tf32", theirs="ieee"), 7.0, "gpu", 1, "on a data-center card TF32 has some eight times the peak of plain fp32, which ieee is far from reaching"),
    "tf32x3.vs_ieee": ("ratio", precision_speed, dict(size=4096, ours="tf32x3", theirs="ieee"), 2.3, "gpu", 1, "three products of TF32 for one: a third of that"),
    "ieee.vs_torch": ("ratio", precision_speed, dict(size=4096, ours="ieee", theirs="torch"), 0.4, "gpu", 1, "no tensor core on either side; cuBLAS is written for multiply-adds, Triton is not"),
    "tf32.vs_torch": ("ratio", precision_speed, dict(size=4096, ours="tf32", theirs="torch tf32"), 0.6, "gpu", 1, "one tile shape for all precisions, no TMA and no tuning"),
    "sum.vs_copy": ("ratio", sum_speed, dict(n_rows=2**15, n_cols=4096), 0.95, "gpu", 2, "memory-bound: as fast a byte as a copy, within 5 in 100"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "fp16_accumulator": ("sum", "(ROWS,), dtype=tl.float32", "(ROWS,), dtype=tl.float16", "row_4096.max_rel_err", "error", "from 1,024 on an ulp is 1, and what is below a half of it is no longer added"),
    "sum_in_fp16": ("sum", "x.to(tl.float32)", "x.to(tl.float16)", "tree_4096.max_rel_err", "error", "the sum keeps 11 bits; a GPU rounds to them after each addition"),
    "fp16_output": ("dot", "acc.to(out_ptr.dtype.element_ty)", "acc.to(tl.float16)", "hundred_fp32.max_abs_err", "nonfinite", "640,000 is more than 65,504, the largest number of fp16"),
    "tf32_for_ieee": ("dot", "input_precision=INPUT_PRECISION", 'input_precision="tf32"', "ieee_64.max_rel_err", "error", "13 bits of each factor are gone"),
    "approximate_division": ("apply", "tl.div_rn(x, y)", "x / y", "div_rn.max_abs_err", "error", "some quotients are an ulp off"),
    "exp_without_max": ("logsumexp", "tl.exp(x - top)", "tl.exp(x)", "lse_1000.max_rel_err", "nonfinite", "e to the power of 1,000 is beyond fp32"),
    "one_pass": ("norm", "tl.sum(d * d, axis=0) / n_cols", "tl.maximum(tl.sum(x * x, axis=0) / n_cols - mean * mean, 0.0)", "two_pass_10000.max_rel_err", "error", "what is left of the variance is rounding; clamped to 0, it makes results as large as 1 / sqrt(eps)"),
    "padding_counted": ("norm", "tl.where(mask, x - mean, 0.0)", "x - mean", "widths.max_rel_err", "error", "each padded lane adds the square of the mean to the variance"),
    "not_shifted": ("norm", 'HOW == "shifted"', 'HOW == "never"', "constant_rows.max_abs_err", "error", "the mean of equal values is not that value, and eps is too small to hide it"),
    "empty_lanes": ("norm", "tl.where(n == 0.0, 1.0, n)", "n", "welford_narrow.max_rel_err", "nonfinite", "the mean of no values at all is 0 / 0"),
    "total_not_cleared": ("launch", "    out.zero_()\n", "", "atomic.max_rel_err", "nonfinite", "an atomic add starts from whatever lies there"),
}
# fmt: on


# %% The common part, version 2: the same bytes in every lab. It judges the claims, then breaks the lab and sees it caught.
# fmt: off
import argparse, datetime, hashlib, importlib.metadata, importlib.util, inspect, json, math, multiprocessing, os, pathlib, platform
import shutil, signal, statistics, subprocess, sys, tempfile, threading, unittest.mock, warnings

VERSION, GUARD, FENCES, CHILDREN, PATIENCE, FILE = 2, 1 << 16, [], {}, 600, pathlib.Path(__file__).resolve()

def fence(t, output=False):
    """A tensor like t between guards, which judge() watches: an input keeps its values, between NaN (integers: 77);
    an output, guards included, starts as all-one bytes: NaN, or -1."""
    room = torch.full((t.numel() + 2 * GUARD,), math.nan if t.is_floating_point() else 77, dtype=t.dtype, device=t.device)
    inside = room[GUARD:-GUARD].view(t.shape)
    room.view(torch.uint8).fill_(255) if output else inside.copy_(t)
    FENCES.extend((side, side.clone()) for side in (room[:GUARD].view(torch.uint8), room[-GUARD:].view(torch.uint8)))
    return inside

def compare(pairs):
    """Over all (got, want): max abs err, that over the largest |want|, how many results differ in kind (NaN, inf)."""
    worst, scale, odd, seen = 0.0, 0.0, 0, False
    for got, want in pairs:
        seen = True
        if got.shape != want.shape:
            raise ValueError(f"the result has shape {tuple(got.shape)}, the reference {tuple(want.shape)}")
        got, want = got.double(), want.double()
        finite = got.isfinite() & want.isfinite()
        odd += (~finite & (got != want) & ~(got.isnan() & want.isnan())).sum().item()
        if finite.any():
            worst, scale = max(worst, (got - want)[finite].abs().max().item()), max(scale, want[finite].abs().max().item())
    if not seen:
        raise ValueError("nothing was compared")
    worst = math.inf if odd else worst
    return {"max_abs_err": worst, "max_rel_err": worst / (scale or 1), "nonfinite": odd, "scale": scale}

def race(ours, theirs, work=(1, 1), unit="call", graph=False, rounds=5):
    """Speed of ours over theirs, each (name, function), in turns, L2 flushed; `work` is what each does, in `unit`. With
    `graph` both are replayed from a CUDA graph: for work so short that the launch from Python would be timed with it."""
    runs = []
    for _, function in (ours, theirs):
        function()  # compiles and tunes before anything is timed or captured
        if graph:
            torch.cuda.synchronize()
            with torch.cuda.graph(captured := torch.cuda.CUDAGraph()):
                function()
        runs.append(captured.replay if graph else function)
    ms = [[triton.testing.do_bench(f, warmup=10, rep=40, return_mode="all") for f in runs] for _ in range(rounds)]
    ratios = [statistics.median(b) / statistics.median(a) * work[0] / work[1] for a, b in ms]
    row = {"value": statistics.median(ratios), "low": min(ratios), "high": max(ratios), "timings": []}
    for i, (name, _) in enumerate((ours, theirs)):
        times = sorted(t for both in ms for t in both[i])
        p10, p50, p90 = (times[int(len(times) * q)] for q in (0.1, 0.5, 0.9))
        row["timings"].append({"name": name, "p10_ms": p10, "median_ms": p50, "p90_ms": p90, "repeats": len(times), "work": work[i], "unit": unit})
    return row

def verdict(row):
    """Error: at most the bound. Ratio: at least it, in its best round. Others: equal to it. Recomputed by whoever reads."""
    kind, value, bound = row["kind"], row["value"], row["bound"]
    if kind == "error" and (row["nonfinite"] or not math.isfinite(value)):
        return "nonfinite"
    absolute = row["id"].endswith("abs_err")
    if kind == "error" and (bound and bound >= 0.5 * (row["scale"] if absolute else 1) or not (absolute or row["scale"])):
        return "loose"  # a result of zeros would pass
    best = row.get("high", value)
    good = value <= bound if kind == "error" else math.isfinite(best) and best >= bound > 0 if kind == "ratio" else value == bound
    return "ok" if good else "error"

def judge(claim):
    """The claim's row of the record: verdict ok, - (not judged here), or how it fails: error loose nonfinite guard fault raised."""
    kind, measure, arguments, bound, judges, gib, why = CLAIMS[claim]
    (given := inspect.signature(measure).bind(**arguments)).apply_defaults()
    shown = {name: str(value).removeprefix("torch.") for name, value in given.arguments.items()}
    row = {"id": f"{FILE.stem.removeprefix('triton_')}.{claim}", "kind": kind, "arguments": shown, "bound": bound, "judges": judges, "why": why}
    on_gpu = DEVICE == "cuda" and torch.cuda.is_available()
    if judges == "gpu" and not on_gpu:
        return row | {"verdict": "-", "note": "needs a GPU to judge"}
    try:
        if judges == "compile" and INTERPRETED:  # the compiler wants a process that does not interpret
            return row | ask(FILE, claim, "0")
        FENCES.clear()
        if on_gpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            if gib << 30 > (free := torch.cuda.mem_get_info()[0]):
                return row | {"verdict": "-", "note": f"needs {gib} GiB of GPU memory, {free / 2**30:.1f} are free"}
        warnings.simplefilter("ignore", RuntimeWarning)  # the interpreter's NumPy remarks on overflow and NaN, which are meant
        result = measure(**arguments)
        row |= compare(result) if kind == "error" else result if isinstance(result, dict) else {"value": result}
        row.setdefault("value", row.get(claim.split(".")[-1]))
        touched = any(not torch.equal(side, before) for side, before in FENCES)
        row |= {"peak_mib": torch.cuda.max_memory_allocated() >> 20} if on_gpu else {}
        return row | {"verdict": "guard" if touched else verdict(row)}
    except (Exception, SystemExit) as error:
        lines = str(error).strip().splitlines() or [""]  # Triton's compiler says where first, and why last
        text = f"{type(error).__name__}: {lines[-1 if isinstance(error, triton.CompilationError) else 0]}"
        if isinstance(error, torch.OutOfMemoryError):
            return row | {"verdict": "-", "note": text}
        fault = any(words in text for words in ("illegal memory access", "misaligned address", "illegal address", "launch failure"))
        return row | {"verdict": "fault" if fault else "raised", "note": text}

def judge_copies(pipe):
    """The child's side of ask: import the lab at one path after another and judge the claim there."""
    sys.dont_write_bytecode = True  # nothing is left beside the lab
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    while True:
        try:
            path, claim = pipe.recv()
        except EOFError:  # the parent is done
            return
        try:
            spec = importlib.util.spec_from_file_location(FILE.stem, path)
            spec.loader.exec_module(copy := importlib.util.module_from_spec(spec))
            pipe.send(copy.judge(claim))
        except Exception as error:
            pipe.send({"verdict": "raised", "note": f"{type(error).__name__}: {error}"})

def ask(path, claim, interpret):
    """The row of a claim of the lab at `path`, judged in a child with this TRITON_INTERPRET, which is kept until it faults."""
    if interpret not in CHILDREN:
        pipe, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(target=judge_copies, args=(theirs,), daemon=True)
        with unittest.mock.patch.dict(os.environ, TRITON_INTERPRET=interpret):
            process.start()
        theirs.close()
        CHILDREN[interpret] = pipe, process
    pipe, process = CHILDREN[interpret]
    pipe.send((str(path), claim))
    try:
        row = pipe.recv() if pipe.poll(PATIENCE) else {"verdict": "raised", "note": f"no answer in {PATIENCE} s"}
    except (EOFError, ConnectionError):
        process.join()
        died = process.exitcode < 0 and process.exitcode != -signal.SIGKILL  # a mere exit is no fault, nor is want of memory
        row = {"verdict": "fault" if died else "raised", "note": signal.Signals(-process.exitcode).name if died else "the process ended"}
    if row["verdict"] in ("fault", "raised"):  # the device may be lost to it, or it hangs
        process.kill()
        del CHILDREN[interpret]
    return row

def judge_break(name, folder):
    """The break's row: its text changed in a copy of this file, its claim judged there by a child."""
    section, old, new, claim, how, seen = BREAKS[name]
    stem = FILE.stem.removeprefix("triton_")
    row = {"id": f"{stem}.{name}.break", "kind": "break", "claim": f"{stem}.{claim}", "bound": how, "why": seen}
    before, _, rest = FILE.read_text(encoding="utf-8-sig").partition(f"# --8<-- [start:{section}]\n")
    text, end, after = rest.partition(f"# --8<-- [end:{section}]")
    if not end or text.count(old) != 1:
        return row | {"value": "raised", "verdict": "error", "note": f"its text occurs {text.count(old)} times in section {section}"}
    path = pathlib.Path(folder, name, FILE.name)
    path.parent.mkdir()
    path.write_text(before + text.replace(old, new) + after, encoding="utf-8")
    answer = ask(path, claim, str(int(INTERPRETED and CLAIMS[claim][4] != "compile")))
    row |= {"value": answer["verdict"]} | {key: answer[key] for key in ("note",) if key in answer} | ({"figure": answer["value"]} if "value" in answer else {})
    return row | {"verdict": "-" if answer["verdict"] == "-" else verdict(row)}

def surroundings():
    """Device and environment of this run, as the record holds them."""
    device = {"kind": "interpreter", "name": "Triton interpreter"} if INTERPRETED else {"kind": "compiler", "name": "no GPU, compiler only"}
    if DEVICE == "cuda" and torch.cuda.is_available():
        card, hip = torch.cuda.get_device_properties(0), torch.version.hip
        ask_driver = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(ask_driver, capture_output=True, text=True).stdout.split() if shutil.which(ask_driver[0]) else []
        device = {"kind": "hip" if hip else "cuda", "name": card.name, "capability": card.gcnArchName if hip else f"{card.major}.{card.minor}",
                  "sms": card.multi_processor_count, "memory_mib": card.total_memory >> 20, "driver": hip or "".join(driver[:1]) or "unknown", "runtime": hip or torch.version.cuda}
    versions = {"python": platform.python_version(), "torch": torch.__version__, "triton": triton.__version__, "numpy": importlib.metadata.version("numpy")}
    switches = {name: value for name, value in sorted(os.environ.items()) if name.startswith("TRITON_") and not name.endswith(("_DIR", "_HOME"))}
    return {"device": device, "environment": {"os": platform.system(), "machine": platform.machine(), **versions, "switches": switches}}

def kernels():
    """What the compiler made in this process: signature, 16-byte aligned arguments, options (of the rarer ones only what is not as usual), hash of the PTX."""
    found = []
    for value in list(globals().values()):
        jit = value.fn if isinstance(value, triton.runtime.Autotuner) else value
        for compiled in [k for caches in getattr(jit, "device_caches", {}).values() for k in caches[0].values()]:
            names, m, code = list(compiled.src.signature), compiled.metadata, compiled.asm.get("ptx") or compiled.asm.get("amdgcn")
            usual = {n: v for n, v in vars(triton.compiler.make_backend(m.target).parse_options({})).items() if n not in ("num_warps", "num_stages") and not isinstance(v, tuple)}
            found.append({"kernel": compiled.name, "signature": compiled.src.signature, "constants": {names[i[0]]: str(c) for i, c in compiled.src.constants.items()},
                          "aligned": [names[i[0]] for i, attributes in compiled.src.attrs.items() if attributes], "num_warps": m.num_warps, "num_stages": m.num_stages, "shared_bytes": m.shared,
                          "registers": getattr(compiled, "n_regs", None), "spills": getattr(compiled, "n_spills", None), "code_sha256": hashlib.sha256(code.encode()).hexdigest(),
                          "options": {name: getattr(m, name) for name in usual if getattr(m, name, usual[name]) != usual[name]}})
    return found

def show(row):
    """One line of the table for one row of the record."""
    number = lambda x: f"{x:.4g}" if isinstance(x, float) else str(x)
    if row["verdict"] == "-" or "value" not in row:
        return f"  {row['verdict']:9} {row['id']:40} {row.get('note', '')}"
    if row["kind"] == "error":
        seen = f"max abs err {number(row['max_abs_err'])} · relative {number(row['max_rel_err'])} · bound {number(row['bound'])}"
    elif row["kind"] == "break":
        seen = f"{row['claim']}: {row['value']} {number(row['figure']) if row['value'] == 'error' else row.get('note', '')}"
    else:
        seen = f"{number(row['value'])} {'>=' if row['kind'] == 'ratio' else '=='} {number(row['bound'])}"
    return f"  {row['verdict']:9} {row['id']:40} {seen} · {row['why']}"

def open_cache():
    """Whoever compiles has somewhere to put it: where Triton's cache cannot be written, a temporary folder, which is said."""
    try:
        os.makedirs(triton.knobs.cache.dir, exist_ok=True)
        tempfile.TemporaryFile(dir=triton.knobs.cache.dir).close()
    except OSError:
        print(f"{triton.knobs.cache.dir} cannot be written: compiling into a temporary folder; TRITON_CACHE_DIR names a better one", file=sys.stderr)
        os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()

def main():
    bare = lambda name: name.removeprefix(FILE.stem.removeprefix("triton_") + ".").removesuffix(".break")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="the same as data, for proof record --from FILE")
    parser.add_argument("--bench", action="store_true", help="only the claims about speed, on a GPU")
    parser.add_argument("--only", metavar="ID", type=bare, choices=CLAIMS, help="only this claim")
    parser.add_argument("--break", dest="broken", metavar="NAME", type=bare, choices=BREAKS, help="only this break")
    args = parser.parse_args()
    for stream in (sys.stdout, sys.stderr): stream.reconfigure(errors="backslashreplace")  # a terminal of ASCII gets every line
    claims = [args.only] if args.only else [] if args.broken else [c for c in CLAIMS if CLAIMS[c][0] == "ratio" or not args.bench]
    breaks = [args.broken] if args.broken else [] if args.only or args.bench else list(BREAKS)
    here, no, rows = surroundings(), None, []
    if here["device"]["kind"] == "compiler" and (breaks or any(CLAIMS[c][4] != "compile" for c in claims)):
        no = "no GPU is visible and TRITON_INTERPRET=0 forbids the interpreter: unset it, or name one claim of the compiler with --only"
    elif INTERPRETED and args.bench:
        no = "--bench needs a GPU: the interpreter's speed says nothing about a kernel"
    elif INTERPRETED and triton.__version__.startswith("3.6.") and tuple(map(int, here["environment"]["numpy"].split(".")[:2])) >= (2, 4):
        no = "the interpreter of Triton 3.6 fails with NumPy 2.4 and later: pip install 'numpy<2.4'"
    if no:
        return print(f"{FILE.name}: {no}", file=sys.stderr) or 2
    say = lambda text: print(text, file=sys.stderr if args.json else sys.stdout, flush=True)
    say(" · ".join(str(here["device"].get(k) or f"{k} {here['environment'][k]}") for k in ("name", "torch", "triton")))
    with tempfile.TemporaryDirectory() as folder:
        for name, run in [*((c, judge) for c in claims), *((b, lambda b: judge_break(b, folder)) for b in breaks)]:
            (patience := threading.Timer(2, say, [f"  …         {name}"])).start()
            rows.append(run(name))
            patience.cancel()
            say(show(rows[-1]))
    if args.json:
        record = {"schema": 1, "lab": FILE.stem, "common": VERSION, **here, "utc": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "command": " ".join(["python", FILE.name, *sys.argv[1:]]), "claims": rows, "kernels": kernels(), "source": FILE.read_text(encoding="utf-8-sig")}
        print(json.dumps(json.loads(json.dumps(record), parse_constant=lambda _: None)))
    return int(any(row["verdict"] not in ("ok", "-") for row in rows))

if __name__ == "__main__":
    try:
        open_cache()
        sys.exit(globals().get("command", main)())  # a lab may answer command lines of its own, and leave the rest to main
    except (KeyboardInterrupt, BrokenPipeError):  # stopped by hand, or nobody reads on: `| head -1`
        os._exit(130)
