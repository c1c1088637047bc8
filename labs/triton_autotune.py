# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Autotuning: candidates from the data flow first, the search second, and then the reason why the winner wins.

Learn:   what a Config holds, fusion path and order of tiles as constants, pruning, keys, side effects, noise, what a search costs
Run:     python triton_autotune.py           every claim, then every break
         python triton_autotune.py --bench   only the speed, on a GPU
Memory:  3 GiB, and 9 GiB for the one claim whose third row begins at 2**31 elements
Card:    any NVIDIA card since Ampere; with none, Triton's interpreter and its compiler, which needs no card
Minutes: 3
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import contextlib
import functools
import os
import re
import sys
import time
import types

import torch

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # TRITON_INTERPRET=0 keeps the compiler, which needs no GPU
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # the default turns to 0 in Triton 3.10: say which one is meant
os.environ.setdefault("TRITON_DISABLE_LINE_INFO", "1")  # then the PTX does not depend on where this file lies
try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
except ImportError:
    print("this lab needs Triton, which exists for Linux: pip install triton", file=sys.stderr)
    sys.exit(2)

INTERPRETED = triton.knobs.runtime.interpret
DEVICE = "cpu" if INTERPRETED else "cuda"

DTYPES = (torch.float16, torch.bfloat16)
LIMIT = 2**31 - 256  # of rows and of columns, which the kernel counts in 32 bits, up to one tile past the end
MAX_K = 2**14  # a row of x lies in the registers of one program of add_norm
EPS = 1e-6
TRIALS = []  # one entry for each configuration that a tuner tried


# %% What is right: each row over its root mean square, then the product, in float64.
# --8<-- [start:reference]
def reference(x, w=None, eps=EPS):
    x = x.double()
    normed = x / (x.square().mean(dim=1, keepdim=True) + eps).sqrt()
    return normed if w is None else normed @ w.double()
# --8<-- [end:reference]


# %% How a configuration is timed: on a GPU for real; in the interpreter all are called equal, and the first one wins.
# --8<-- [start:trial]
def trial(launch, quantiles):
    TRIALS.append(1)
    launch()  # compiles
    if DEVICE == "cuda":  # from a CUDA graph: the launch of a short kernel from Python would be timed with it
        torch.cuda.synchronize()
        with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
            launch()
        return triton.testing.do_bench(graph.replay, warmup=5, rep=20, quantiles=quantiles)
    launch()  # a benchmark runs what it times more than once
    return [1.0, 1.0, 1.0]
# --8<-- [end:trial]


# %% A row kernel that works in place, so that whoever tunes it must undo what trials do.
# --8<-- [start:rows]
@triton.autotune(
    configs=[triton.Config({}, num_warps=warps) for warps in (4, 8, 16)],  # no constants here, only an option
    key=["K"],
    restore_value=["x_ptr", "residual_ptr"],  # both are read and then overwritten
    do_bench=trial,
)
@triton.jit
def add_norm_kernel(
    x_ptr, residual_ptr, out_ptr, K, stride_xm, stride_xk, stride_rm, stride_om, eps, ADD: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK).to(tl.int64)  # [BLOCK], at least K
    mask = cols < K
    x = tl.load(x_ptr + row * stride_xm + cols * stride_xk, mask=mask, other=0).to(tl.float32)
    if ADD:
        x += tl.load(residual_ptr + row * stride_rm + cols, mask=mask, other=0).to(tl.float32)
        tl.store(residual_ptr + row * stride_rm + cols, x, mask=mask)
    x /= tl.sqrt(tl.sum(x * x, axis=0) / K + eps)
    tl.store(out_ptr + row * stride_om + cols, x, mask=mask)


def add_norm(x: torch.Tensor, residual: torch.Tensor, eps: float = EPS) -> None:
    """residual += x, then x = residual / rms(residual), both (M, K), in place; with the tuned number of warps."""
    checked(x=x, residual=residual, written=("x", "residual"))
    M, K = x.shape
    if residual.shape != x.shape:
        raise ValueError(f"residual is {tuple(residual.shape)}; it must be as x, {tuple(x.shape)}")
    if M:
        strides = x.stride(0), 1, residual.stride(0), x.stride(0)
        with torch.cuda.device_of(x):
            add_norm_kernel[(M,)](x, residual, x, K, *strides, float(eps), ADD=True, BLOCK=triton.next_power_of_2(K))
# --8<-- [end:rows]


# %% The candidates, and what the data flow says of them before anything runs.
# --8<-- [start:configs]
def norm_first(arguments):
    """The pre_hook of an unfused configuration: one more kernel before each launch, in trials too, so that it is timed."""
    x, normed, K = (arguments[name] for name in ("x_ptr", "normed_ptr", "K"))
    strides = x.stride(0), 1, 0, normed.stride(0)
    add_norm_kernel.fn[(x.shape[0],)](
        x, x, normed, K, *strides, arguments["eps"], ADD=False, BLOCK=triton.next_power_of_2(K), num_warps=4)


def config(block_m, block_n, block_k, group_m, fuse, num_warps, num_stages):
    constants = dict(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=group_m, FUSE=fuse)
    return triton.Config(constants, num_warps=num_warps, num_stages=num_stages, pre_hook=None if fuse else norm_first)


CONFIGS = [
    config(128, 128, 32, 8, False, 8, 3),  # DEFAULT, where one would start
    config(128, 256, 64, 8, False, 8, 3),
    config(128, 256, 64, 8, True, 8, 3),
    config(128, 256, 64, 1, False, 8, 3),  # in plain row order
    config(64, 128, 64, 8, False, 4, 4),  # up to here 48 to 144 KiB of shared memory
    config(16, 64, 64, 1, False, 4, 3),  # from here on for a few rows, at most 68 KiB
    config(16, 64, 64, 1, True, 2, 4),
    config(16, 128, 64, 1, False, 4, 3),
    config(16, 256, 32, 1, False, 4, 4),
    config(16, 256, 32, 1, True, 4, 4),
]
DEFAULT = CONFIGS[0]


def shared_bytes(c):
    """What num_stages keeps in shared memory: that many tiles of x and of w, two bytes an element."""
    b = c.kwargs
    return 2 * c.num_stages * b["BLOCK_K"] * (b["BLOCK_M"] + b["BLOCK_N"])


def fits(configs, arguments, **_):
    """Leave out what the card cannot hold, and tiles more than twice as tall as x."""
    room = triton.runtime.driver.active.utils.get_device_properties(0)["max_shared_mem"] if DEVICE == "cuda" else 2**40
    tall = max(16, 2 * triton.next_power_of_2(arguments["M"]))
    return [c for c in configs if shared_bytes(c) <= room and c.kwargs["BLOCK_M"] <= tall]


SMS, FLOPS, L2_BYTES, BYTES = 132, 8e14, 8e12, 4e12  # an H200: SMs; a second, roughly: FLOP, bytes from L2, from memory


def model(M, N, K, BLOCK_M, BLOCK_N, BLOCK_K, FUSE, **_):
    """A guess at the seconds: what the slowest SM reads or computes for its tiles, or what must come from memory."""
    programs = triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N)
    tiles = triton.cdiv(programs, SMS)  # of the busiest SM
    read = tiles * 2 * K * (BLOCK_M + BLOCK_N) / (L2_BYTES / SMS)
    compute = tiles * 2 * K * BLOCK_M * BLOCK_N / (FLOPS / SMS)
    memory = 2 * (K * N + M * K + M * N) / BYTES
    return max(read, compute, memory) + (0 if FUSE else 3e-6 + 4 * M * K / BYTES)  # and one more kernel
# --8<-- [end:configs]


# %% The kernel: normalized rows times a matrix. Which tile, in which order, fused or not: constants, so they can be searched.
# --8<-- [start:kernel]
@triton.autotune(
    configs=CONFIGS,
    key=["bucket", "N", "K", "stride_wn"],  # stride_wn tells a row-major w from a column-major one; dtypes are in it anyway
    prune_configs_by={"early_config_prune": fits, "perf_model": model, "top_k": 4},
    do_bench=trial,
)
@triton.jit(do_not_specialize=["bucket"])
def norm_linear_kernel(
    x_ptr, normed_ptr, w_ptr, out_ptr, M, N, K, bucket, stride_xm, stride_nm, stride_wk, stride_wn, stride_om, eps,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, FUSE: tl.constexpr,
):
    pid = tl.program_id(axis=0).to(tl.int64)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group, rank = pid // (GROUP_M * tiles_n), pid % (GROUP_M * tiles_n)  # GROUP_M rows of tiles, column by column
    height = min(tiles_m - group * GROUP_M, GROUP_M)
    offs_m = (group * GROUP_M + rank % height) * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    offs_n = (rank // height) * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)  # [BLOCK_K]
    mask_m, mask_n = offs_m < M, offs_n < N
    a_ptrs = (x_ptr + offs_m[:, None] * stride_xm if FUSE else normed_ptr + offs_m[:, None] * stride_nm) + offs_k[None, :]
    w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn  # [BLOCK_K, BLOCK_N]
    step = tl.cast(BLOCK_K, tl.int64)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    squares = tl.zeros((BLOCK_M, BLOCK_K), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        mask_k = offs_k < K - k
        a = tl.load(a_ptrs, mask=mask_m[:, None] & mask_k[None, :], other=0)
        w = tl.load(w_ptrs, mask=mask_k[:, None] & mask_n[None, :], other=0)
        if FUSE:  # the norm is one factor for a row: gather the squares on the way, divide at the end
            squares += a.to(tl.float32) * a.to(tl.float32)
        acc = tl.dot(a, w, acc)
        a_ptrs += step
        w_ptrs += step * stride_wk
    if FUSE:
        acc /= tl.sqrt(tl.sum(squares, axis=1) / K + eps)[:, None]
    out_ptrs = out_ptr + offs_m[:, None] * stride_om + offs_n[None, :]
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=mask_m[:, None] & mask_n[None, :])
# --8<-- [end:kernel]


# %% The launcher: the tuner's choice for the bucket, or a configuration that is given.
# --8<-- [start:launch]
def checked(written=(), **tensors):
    """Raise TypeError or ValueError, naming the tensor, for what neither kernel here can read or write."""
    x = next(iter(tensors.values()))
    for name, t in tensors.items():
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
        if t.dtype not in DTYPES or t.dtype != x.dtype or (INTERPRETED and t.dtype == torch.bfloat16):
            raise TypeError(f"{name} is {t.dtype}; allowed: float16 and, on a GPU, bfloat16, the same for all")
        if t.device.type != DEVICE or t.device != x.device:
            raise ValueError(f"{name} is on {t.device}; this run needs every tensor on one {DEVICE} device")
        if t.ndim != 2 or max(t.shape) > LIMIT:
            raise ValueError(f"{name} has shape {tuple(t.shape)}; it must have two dimensions, neither past {LIMIT}")
        (rows, cols), (stride, step) = t.shape, t.stride()
        if name != "w" and cols > 1 and step != 1 or name in written and rows > 1 and stride < cols:
            raise ValueError(f"{name} has strides {t.stride()}; its rows must be apart, their elements side by side: pass {name}.contiguous()")
    where = {name: (t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()) for name, t in tensors.items()}
    for name in written:
        for other, (begin, size) in where.items():
            if other != name and max(begin, where[name][0]) < min(begin + size, sum(where[name])):
                raise ValueError(f"{name} shares its memory with {other}, and is overwritten: pass a tensor of its own")
    if len(x) and not 1 <= x.shape[1] <= MAX_K:
        raise ValueError(f"x has rows of {x.shape[1]}; a row must have 1 to {MAX_K} elements")


def norm_linear(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor | None = None, config: triton.Config | None = None, eps: float = EPS,
) -> torch.Tensor:
    """Return x / rms(x) @ w, (M, K) times (K, N), in the dtype of x and in `out` if given; sums are fp32.

    With the tuner's configuration for this bucket of M, or with `config`. w may have any strides.
    """
    checked(x=x, w=w)
    if not isinstance(config, triton.Config | None) or not isinstance(eps, int | float):
        raise TypeError(f"config is {type(config).__name__}, eps {type(eps).__name__}; needed: a triton.Config or None, and a number")
    (M, K), N = x.shape, w.shape[1]
    if w.shape[0] != K:
        raise ValueError(f"x is {tuple(x.shape)} and w is {tuple(w.shape)}; they must be (M, K) and (K, N)")
    out = torch.empty((M, N), device=x.device, dtype=x.dtype) if out is None else out
    checked(x=x, w=w, out=out, written=("out",))
    if out.shape != (M, N):
        raise ValueError(f"out is {tuple(out.shape)}; it must be {(M, N)}")
    if out.numel() == 0:
        return out
    normed = torch.empty((M, K), device=x.device, dtype=x.dtype)  # for the unfused path
    bucket = max(16, triton.next_power_of_2(M))  # every M up to 16 is one bucket, then each power of two
    arguments = (x, normed, w, out, M, N, K, bucket, x.stride(0), K, w.stride(0), w.stride(1), out.stride(0), float(eps))
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
    with torch.cuda.device_of(x):
        if config is None:
            norm_linear_kernel[grid](*arguments)
        else:
            if config.pre_hook:  # all_kwargs() does not carry it
                config.pre_hook(dict(zip(norm_linear_kernel.arg_names, arguments)))
            norm_linear_kernel.fn[grid](*arguments, **config.all_kwargs())
    return out
# --8<-- [end:launch]


# %% How to compile for a card that is not there, and how to time one that is.
@contextlib.contextmanager
def compiling_for(arch):
    """Inside, what is compiled is compiled for this architecture, with no such card."""
    driver = types.SimpleNamespace(
        get_current_device=lambda: 0, get_current_stream=lambda device: 0, get_current_target=lambda: GPUTarget("cuda", arch, 32))
    triton.runtime.driver.set_active(driver)
    try:
        yield
    finally:
        triton.runtime.driver.set_active(None)  # back to what the machine has


def clock(launch):
    """Milliseconds from the call to the end of the work that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch()
    torch.cuda.synchronize()  # a launch only queues its work
    return (time.perf_counter() - start) * 1e3


def times(name, ours, other, theirs, unit="call"):
    """The row of a ratio of times: how many times longer ours is, at its median, its tenth and its ninetieth percentile."""
    row, base = {"timings": []}, sorted(theirs)[len(theirs) // 2]
    for key, ms in ((name, sorted(ours)), (other, sorted(theirs))):
        p10, p50, p90 = (ms[int(len(ms) * q)] for q in (0.1, 0.5, 0.9))
        row["timings"].append({"name": key, "p10_ms": p10, "median_ms": p50, "p90_ms": p90, "repeats": len(ms), "work": 1, "unit": unit})
    return row | {key: row["timings"][0][ms] / base for key, ms in (("value", "median_ms"), ("low", "p10_ms"), ("high", "p90_ms"))}


def replayed(launch):
    """The launch as the replay of a CUDA graph."""
    launch()  # compiles
    torch.cuda.synchronize()
    with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
        launch()
    return graph.replay


def label(c):
    b = c.kwargs
    return f"{b['BLOCK_M']} x {b['BLOCK_N']} x {b['BLOCK_K']}, group {b['GROUP_M']}, {'fused' if b['FUSE'] else 'split'}, {c.num_warps} warps, {c.num_stages} stages"


# %% The claims: how each is measured, and the table of what must hold.
@contextlib.contextmanager
def dirty():
    """Inside, fresh memory is full of NaN: what was never written does not look like an old right answer."""
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def tensors(M, N, K, values="whole", dtype=torch.float16, layout="plain", seed=0):
    """x (M, K), w (K, N) and an empty result between guards. "whole": x is 2 or -2, so that with an eps of 12
    a row is divided by 4, and sums of halves are exact; "positive": no sum is small beside its terms."""
    gen = torch.Generator(DEVICE).manual_seed(seed)
    if values == "whole":
        x = torch.randint(0, 2, (M, K), generator=gen, device=DEVICE) * 4 - 2
        w = torch.randint(-2, 3, (K, N), generator=gen, device=DEVICE)
    else:
        x, w = (torch.rand(shape, generator=gen, device=DEVICE) + 0.5 for shape in ((M, K), (K, N)))
    x, w, out = x.to(dtype), w.to(dtype), torch.empty(M, N, dtype=dtype, device=DEVICE)
    if layout == "transposed":  # the columns of w lie in memory one after another
        return fence(x), fence(w.t()).t(), fence(out, output=True)
    if layout == "sliced":  # x and the result are columns of wider matrices, NaN beside them
        wide = fence(x.new_full((M, K + 3), torch.nan))
        return wide[:, 2 : K + 2].copy_(x), fence(w), fence(out.new_empty(M, N + 5), output=True)[:, 1 : N + 1]
    if layout == "alone":  # one row and one column; the next would lie 2**33 elements on, where no memory is
        return fence(x).as_strided((1, K), (2**33, 1)), fence(w.t()).as_strided((K, 1), (1, 2**33)), fence(out, output=True)
    if layout == "apart":  # rows 2**30 elements apart, so that the third begins at 2**31
        far = torch.empty((M - 1) * 2**30 + K, dtype=dtype, device=DEVICE).as_strided((M, K), (2**30, 1))
        return far.copy_(x), fence(w), fence(out, output=True)
    return fence(x), fence(w), fence(out, output=True)


def error(M, N, K, values="whole", dtype=torch.float16, layout="plain", alone=None, seed=0):
    """The tuned call or, by their numbers, configurations alone, every time into fresh memory; x and w must stay."""
    eps = 12.0 if values == "whole" else EPS
    for one in [None] if alone is None else [CONFIGS[i] for i in alone]:
        x, w, out = tensors(M, N, K, values, dtype, layout, seed)
        kept = x.clone(), w.clone()
        try:
            with dirty():
                norm_linear(x, w, out, one, eps)
        except triton.OutOfResources:  # on a smaller card, where the tuner too passes over it
            continue
        if DEVICE == "cuda":
            torch.cuda.synchronize()  # a fault is told here, not by the product of the reference
        yield from ((out, reference(*kept, eps)), (x, kept[0]), (w, kept[1]))
        if layout == "sliced":
            beside = out.as_strided((M, 5), (N + 5, 1), out.storage_offset() + N)  # up to the next row
            yield beside[:-1], torch.full_like(beside[:-1], torch.nan)


def in_place(M, K, seed=0):
    """The tuner's first call and its second, from fresh copies: x and residual are 1 or -1 alike, so their sum is 2 or -2."""
    gen, pairs = torch.Generator(DEVICE).manual_seed(seed), []
    one = (torch.randint(0, 2, (M, K), generator=gen, device=DEVICE) * 2 - 1).to(torch.float16)
    add_norm_kernel.cache.clear()
    for _ in range(2):
        add_norm(x := fence(one), residual := fence(one), eps=12.0)
        pairs += [(x, reference(2 * one, eps=12.0)), (residual, 2 * one.double())]
    return pairs


def counting(launch, quantiles):
    """A benchmark that times nothing: for claims that only count what a tuner tries."""
    TRIALS.append(1)
    return [1.0, 1.0, 1.0]


def trials(then=(), first=(5, "plain", torch.float16)):
    """How many configurations the last of these calls tries: rows of x, layout of w, dtype."""
    norm_linear_kernel.cache.clear()
    with unittest.mock.patch.object(norm_linear_kernel, "do_bench", counting):
        for M, layout, dtype in (first, *then):
            before = len(TRIALS)
            norm_linear(*tensors(M, 40, 48, "whole", dtype, layout))
    return len(TRIALS) - before


def unwritten(call, seed=0):
    """How many results are left unwritten by a tuner whose grid is made for tiles of 64 columns, with two
    configurations, of 32 columns and of 64: by its first call, by the next one, or with the first of the two alone."""
    M, N, K = 32, 128, 48
    wrong, right = config(16, 32, 128, 1, True, 4, 5), config(16, 64, 128, 1, True, 4, 4)
    faster = iter((1.0, 2.0))  # half of the work takes half of the time

    def bench(launch, quantiles):
        launch()
        return [next(faster)] * 3

    tuner = triton.autotune(configs=[wrong, right], key=["N"], do_bench=bench)(norm_linear_kernel.fn)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, 64),)
    for _ in range(2 if call == "second" else 1):
        x, w, out = tensors(M, N, K, seed=seed)
        arguments = (x, x, w, out, M, N, K, 64, *[x.stride(0)] * 2, *w.stride(), out.stride(0), 12.0)
        kernel, options = (tuner.fn, wrong.all_kwargs()) if call == "alone" else (tuner, {})
        kernel[grid](*arguments, **options)
    return out.isnan().sum().item()


def searched(change):
    """How many configurations are tried by a second process, as it were, after a first has filled the cache on disk."""
    rows, stub = [triton.Config({}, num_warps=n) for n in (1, 2, 4)], torch.zeros(4, 16, dtype=torch.float16)
    with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
        triton.knobs.cache.dir = folder
        for second in (False, True):
            before, changed = len(TRIALS), change if second else ""
            K, arch = 8 if changed == "another key" else 16, 80 if changed == "another architecture" else 90
            configs = rows[:2] if changed == "fewer configurations" else rows
            if change == "a hook":
                configs = [triton.Config({}, num_warps=n, pre_hook=lambda arguments: None) for n in (1, 2, 4)]
            tuner = triton.autotune(configs=configs, key=["K"], do_bench=counting, cache_results=True)(add_norm_kernel.fn)
            with compiling_for(arch):
                tuner.run(stub, stub, stub, K, 16, 1, 16, 16, EPS, ADD=True, BLOCK=16, grid=(1,), warmup=True)
    return len(TRIALS) - before


def fields():
    """What a Config holds besides the constants of the kernel."""
    names = sorted(vars(triton.Config({})))
    return {"value": len(names), "note": ", ".join(names)}


def refused(names):
    """How many of these a Config does not take."""
    no = 0
    for name in names:
        try:
            triton.Config({}, **{name: 8})
        except TypeError:
            no += 1
    return no


def conflict():
    """1 if a launch may not name a constant that the tuner sets."""
    x, w, out = tensors(16, 64, 64)
    tuner = triton.autotune(configs=CONFIGS[-2:], key=["N"], do_bench=counting)(norm_linear_kernel.fn)
    try:
        tuner[(2,)](x, x, w, out, 16, 64, 64, 16, 64, 64, 64, 1, 64, EPS, BLOCK_N=64)
    except ValueError as error:
        return {"value": 1, "note": str(error)}
    return 0


def too_large():
    """How many of two configurations count as infinitely slow, since the first wants more shared memory than any card has."""
    x, w, out = tensors(48, 64, 96)
    tuner = triton.autotune(configs=[config(128, 256, 64, 8, True, 8, 9), DEFAULT], key=["N"], do_bench=trial)(norm_linear_kernel.fn)
    tuner[lambda meta: (triton.cdiv(48, meta["BLOCK_M"]),)](x, torch.empty_like(x), w, out, 48, 64, 96, 64, 96, 96, 64, 1, 64, 0.0)
    return sum(times[0] == math.inf for times in tuner.configs_timings.values())


def load_width(K):
    """The widest load of a row kernel on sm_90, in bytes, for rows of K elements."""
    with compiling_for(90):
        kernel = triton.jit(add_norm_kernel.fn.fn).warmup(*[torch.float16] * 3, K, K, 1, K, K, EPS, ADD=True, BLOCK=4096, num_warps=8, grid=(1,))
    widths = [int(n or 1) * int(bits) // 8 for n, bits in re.findall(r"ld\.global\.(?:v(\d)\.)?b(\d+)", kernel.asm["ptx"])]
    return max(widths)


def compiled(which, shows):
    """Of each of these configurations for aligned fp16 on sm_90: its bytes of shared memory; or how many of its programs
    an SM holds at once, by its 65,536 registers, handed out by eights, its 228 KiB, of which each takes one more, and 2,048 threads."""
    found = []
    with compiling_for(90), tempfile.TemporaryDirectory() as folder:
        for c in (CONFIGS[i] for i in which):
            kernel = triton.jit(norm_linear_kernel.fn.fn, do_not_specialize=["bucket"]).warmup(
                *[torch.float16] * 4, *[4096] * 7, 1, 4096, EPS, grid=(1,), **c.all_kwargs())
            (path := pathlib.Path(folder, "cubin")).write_bytes(kernel.asm["cubin"])
            usage = subprocess.run([triton.knobs.nvidia.cuobjdump.path, "-res-usage", path], capture_output=True, text=True).stdout
            registers, threads, shared = int(re.search(r"REG:(\d+)", usage)[1]), 32 * c.num_warps, kernel.metadata.shared
            resident = min(65536 // (-(-registers // 8) * 8 * threads), 228 * 1024 // (shared + 1024), 2048 // threads)
            found.append(shared if shows == "shared bytes" else resident)
    return " ".join(map(str, found))


WIDE = dict(N=37_888, K=3584)  # gate and up projection of Qwen2.5-7B, the norm in front


@functools.cache
def workload(M, N=WIDE["N"], K=WIDE["K"]):
    gen = torch.Generator(DEVICE).manual_seed(0)
    x, w = (torch.randn(shape, generator=gen, device=DEVICE, dtype=torch.float16) for shape in ((M, K), (K, N)))
    return x, w / 32, torch.empty(M, N, device=DEVICE, dtype=torch.float16)


def winner(M):
    """The tuner's choice for this many rows; what it found is kept for as long as the process runs."""
    norm_linear(*workload(M))
    return norm_linear_kernel.best_config


def speed(M, ours, theirs, unit="FLOP"):
    """Speed of one way against another, each in `unit` a second: the choice of this or of another bucket, a configuration by its number, a library."""
    x, w, out = workload(M)
    copy = torch.empty_like(w) if "copy" in (ours, theirs) else None

    def way(what):
        work = 2 * M * WIDE["N"] * WIDE["K"] if unit == "FLOP" else x.nbytes + w.nbytes + out.nbytes
        if what == "copy":
            return "copy", lambda: copy.copy_(w), 2 * w.nbytes
        if what == "cuBLAS":
            return "matmul of cuBLAS, no norm", lambda: torch.matmul(x, w, out=out), work
        c = CONFIGS[what] if isinstance(what, int) else winner(int(what) if what != "tuned" else M)
        return f"{'tuned: ' if what == 'tuned' else ''}{label(c)}", lambda: norm_linear(x, w, out, c), work

    (name, run, work), (other, base, their_work) = way(ours), way(theirs)
    return race((name, run), (other, base), work=(work, their_work), unit=unit, graph=True)


def kept(M):
    """Speed of the tuner's choice, out of the four that the model keeps, against the best of all that fit."""
    x, w, out = workload(M)
    call = lambda c: functools.partial(norm_linear, x, w, out, c)
    best = min(fits(CONFIGS, dict(M=M)), key=lambda c: triton.testing.do_bench(replayed(call(c)), warmup=5, rep=20, return_mode="median"))
    chosen = winner(M)
    ways = (f"of four: {label(chosen)}", call(chosen)), (f"of all: {label(best)}", call(best))
    return race(*ways, work=(2 * M * WIDE["N"] * WIDE["K"],) * 2, unit="FLOP", graph=True)


def launched(M):
    """Time of a choice when it is launched from Python, in units of the same as a replayed graph, both as do_bench sees them."""
    call = functools.partial(norm_linear, *workload(M), CONFIGS[5])
    graph = replayed(call)
    return times("launched", triton.testing.do_bench(call, return_mode="all"), "replayed", triton.testing.do_bench(graph, return_mode="all"))


def noise(M, searches):
    """The search, again and again. The value: how fast the second of its configurations is, in units of the first."""
    x, w, out = workload(M)
    seen, won = {}, {}
    for _ in range(searches):
        norm_linear_kernel.cache.clear()
        norm_linear(x, w, out)
        won[norm_linear_kernel.best_config] = won.get(norm_linear_kernel.best_config, 0) + 1
        for c, (median, *_) in norm_linear_kernel.configs_timings.items():
            seen.setdefault(c, []).append(median)
    ranked = sorted(seen, key=lambda c: statistics.median(seen[c]))
    row = times(f"first: {label(ranked[0])}", seen[ranked[0]], f"second: {label(ranked[1])}", seen[ranked[1]])
    row["series"] = [{"name": f"{label(c)}: won {won.get(c, 0)}", "unit": "ms", "values": seen[c]} for c in ranked]
    return row


@functools.cache
def search(M, rounds=2):
    """Milliseconds of the search with nothing compiled, of the search again with everything compiled, of a tuned and of an untuned call."""
    x, w, out = workload(M)
    call, caches, ms = functools.partial(norm_linear, x, w, out), norm_linear_kernel.fn.device_caches, ([], [])
    before = {device: dict(kept[0]) for device, kept in caches.items()}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
            triton.knobs.cache.dir = folder  # empty
            for kept in caches.values():
                kept[0].clear()
            for seen in ms:
                norm_linear_kernel.cache.clear()
                seen.append(clock(call))
    for device, kept in before.items():
        caches[device][0].update(kept)
    best = norm_linear_kernel.best_config
    warm = [triton.testing.do_bench(replayed(functools.partial(call, c)), return_mode="all") for c in (best, DEFAULT)]
    return *ms, *warm


def search_time(M, compiled):
    """How many tuned calls a search takes, before anything is compiled or after."""
    return times("search", search(M)[compiled], "tuned call", search(M)[2])


def break_even(M):
    """After how many calls a search from nothing has paid for itself, by what each call saves over an untuned one."""
    empty, _, tuned, untuned = search(M)
    saved = statistics.median(untuned) - statistics.median(tuned)
    row = times("search", empty, "tuned call", tuned)
    row["timings"].append(times("untuned call", untuned, "tuned call", tuned)["timings"][0])
    return row | {key: row["timings"][0][ms] / saved for key, ms in (("value", "median_ms"), ("low", "p10_ms"), ("high", "p90_ms"))}


def restoring(M, K=WIDE["K"]):
    """What the tuner took for the time of its winner, in units of the kernel's own time."""
    x, residual = (torch.zeros(M, K, device=DEVICE, dtype=torch.float16) for _ in range(2))
    add_norm_kernel.cache.clear()
    seen = []
    for _ in range(5):
        add_norm_kernel.cache.clear()
        add_norm(x, residual)
        seen.append(add_norm_kernel.configs_timings[add_norm_kernel.best_config][0])
    return times("trial", seen, "kernel", triton.testing.do_bench(replayed(functools.partial(add_norm, x, residual)), return_mode="all"))


def walked(M, K=WIDE["K"]):
    """The row kernel as it stands, along rows that lie side by side, against the best of ten configurations down the columns of the same matrix."""
    x = torch.randn(M, K, device=DEVICE, dtype=torch.float16)
    across, out = torch.empty(K, M, device=DEVICE, dtype=torch.float16).t().copy_(x), torch.empty_like(x)
    options = dict(ADD=False, BLOCK=triton.next_power_of_2(K))
    many = [triton.Config({}, num_warps=warps, maxnreg=cap) for warps in (2, 4, 8, 16, 32) for cap in (None, 64)]
    tuner = triton.autotune(configs=many, key=["K"], do_bench=trial)(add_norm_kernel.fn)
    bad = lambda: tuner[(M,)](across, x, out, K, *across.stride(), 0, K, EPS, **options)
    good = lambda: add_norm_kernel.fn[(M,)](x, x, out, K, K, 1, 0, K, EPS, **options, num_warps=4)
    bad()
    return race(("rows, untuned", good), ("columns, best of ten", bad), work=(2 * x.nbytes,) * 2, unit="B")


# fmt: off
F16, BF16 = torch.float16, torch.bfloat16
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    # whole numbers: x is 2 or -2 and eps 12, so a row is divided by 4; sums of halves stay below 1.5 * K, and fp16 holds halves to 1024
    "each_config.max_abs_err": ("error", error, dict(M=40, N=72, K=70, alone=range(10)), 0.0, "any", 0, "each of the ten alone, into fresh memory: halves of whole numbers, at most 70, are exact"),
    "groups.max_abs_err": ("error", error, dict(M=1050, N=140, K=70, alone=(0, 1, 3)), 0.0, "any", 0, "nine rows of tiles, in groups of eight and in groups of one"),
    "tuned.max_abs_err": ("error", error, dict(M=48, N=600, K=96), 0.0, "any", 0, "the tuner's call: halves of whole numbers, at most 96, are exact"),
    "random.max_rel_err": ("error", error, dict(M=33, N=40, K=1000, values="positive", alone=(0, 9)), 2**-10 + 1000 * 2**-23, "any", 0, "a split and a fused one: the row and the result rounded to fp16, 2**-11 each, and 1000 additions"),
    "bf16.max_rel_err": ("error", error, dict(M=33, N=40, K=1000, values="positive", dtype=BF16, alone=(0, 9)), 2**-7 + 1000 * 2**-23, "gpu", 0, "the row and the result rounded to bf16, 2**-8 each, and 1000 additions; the interpreter gets bf16 wrong"),
    "transposed.max_abs_err": ("error", error, dict(M=20, N=40, K=70, layout="transposed"), 0.0, "any", 0, "w by its strides: halves of whole numbers are exact"),
    "sliced.max_abs_err": ("error", error, dict(M=20, N=40, K=70, layout="sliced", alone=(0, 9)), 0.0, "any", 0, "rows of x and of the result by their stride; what lies beside them stays"),
    "alone.max_abs_err": ("error", error, dict(M=1, N=1, K=70, layout="alone", alone=(0, 9)), 0.0, "any", 0, "no other row or column is read: there is no memory"),
    "apart.max_abs_err": ("error", error, dict(M=3, N=40, K=70, layout="apart", alone=(0, 9)), 0.0, "gpu", 9, "64-bit offsets reach the row at 2**31, fused and split"),
    "in_place.max_abs_err": ("error", in_place, dict(M=5, K=70), 0.0, "any", 0, "first call and second: 1 + 1, over 4; the trials left no trace"),

    "first.trials": ("count", trials, {}, 4, "any", 0, "of ten, the four that the model puts first"),
    "same_bucket.trials": ("count", trials, dict(then=[(16, "plain", F16)]), 0, "any", 0, "5 rows and 16 rows are one bucket"),
    "new_bucket.trials": ("count", trials, dict(then=[(17, "plain", F16)]), 4, "any", 0, "17 rows are the next one"),
    "new_layout.trials": ("count", trials, dict(then=[(5, "transposed", F16)]), 4, "any", 0, "the strides of w are in the key because they are named"),
    "first_call.unwritten": ("count", unwritten, dict(call="first"), 0, "any", 0, "the trial of the right configuration wrote what the winner leaves out"),
    "second_call.unwritten": ("count", unwritten, dict(call="second"), 2048, "any", 0, "half of 32 * 128: a fresh result, and the winner alone"),
    "alone.unwritten": ("count", unwritten, dict(call="alone"), 2048, "any", 0, "the same half, without waiting for a second call"),
    "disk_same.trials": ("count", searched, dict(change=""), 0, "compile", 0, "the next process finds the times on disk"),
    "disk_key.trials": ("count", searched, dict(change="another key"), 3, "compile", 0, "another value of the key"),
    "disk_arch.trials": ("count", searched, dict(change="another architecture"), 3, "compile", 0, "sm_80 after sm_90"),
    "disk_list.trials": ("count", searched, dict(change="fewer configurations"), 2, "compile", 0, "the list itself is in the key: a shorter one is searched again"),
    "disk_hook.trials": ("count", searched, dict(change="a hook"), 3, "compile", 0, "with a pre_hook in any configuration nothing is kept"),
    "config.fields": ("count", fields, {}, 7, "any", 0, "the constants and six more"),
    "layout.refused": ("count", refused, dict(names=("vector_width", "layout", "order", "swizzle")), 4, "any", 0, "what the compiler derives is no field"),
    "conflict.refused": ("count", conflict, {}, 1, "any", 0, "a constant that the tuner sets cannot be named at the launch"),
    "too_large.infinite": ("count", too_large, {}, 1, "gpu", 0, "out of resources is a time of infinity, not an error"),
    "aligned.load_bytes": ("codegen", load_width, dict(K=3584), 16, "compile", 0, "rows that begin at multiples of 16 bytes: the widest load there is"),
    "unaligned.load_bytes": ("codegen", load_width, dict(K=3585), 2, "compile", 0, "rows that begin anywhere: one element at a time, whatever the configuration says"),
    "stages.shared_bytes": ("codegen", compiled, dict(which=(0, 1, 2, 5, 9), shows="shared bytes"), "49152 147456 131072 20480 52224", "compile", 0, "a tile of x and one of w for each stage; a tile that goes through registers is kept once less"),
    "resident.programs": ("codegen", compiled, dict(which=(0, 1, 2, 9), shows="programs"), "2 1 1 4", "compile", 0, "registers, shared memory and threads share out an SM: a large tile has it to itself"),

    "decode.tuned_vs_untuned": ("ratio", speed, dict(M=16, ours="tuned", theirs=0, unit="B"), 1.2, "gpu", 2, "seven in eight rows of the untuned tile are padding"),
    "decode.vs_copy": ("ratio", speed, dict(M=16, ours="tuned", theirs="copy", unit="B"), 0.75, "gpu", 2, "memory-bound: w is read once; filling and draining each tile is not hidden"),
    "decode.vs_cublas": ("ratio", speed, dict(M=16, ours="tuned", theirs="cuBLAS", unit="B"), 0.85, "gpu", 2, "the same limit for both, and ours does the norm as well"),
    "batch.tuned_vs_untuned": ("ratio", speed, dict(M=256, ours="tuned", theirs=0), 1.05, "gpu", 2, "larger tiles read fewer bytes"),
    "batch.fused_vs_split": ("ratio", speed, dict(M=256, ours=2, theirs=1), 0.85, "gpu", 2, "one kernel less against squares that each column of tiles computes again: about even"),
    "batch.vs_cublas": ("ratio", speed, dict(M=256, ours="tuned", theirs="cuBLAS"), 0.65, "gpu", 2, "on 132 SMs 296 tiles take three rounds, the third a quarter full; and ours does the norm as well"),
    "prefill.tuned_vs_untuned": ("ratio", speed, dict(M=4096, ours="tuned", theirs=0), 1.05, "gpu", 2, "larger tiles read fewer bytes"),
    "prefill.split_vs_fused": ("ratio", speed, dict(M=4096, ours=1, theirs=2), 1.0, "gpu", 2, "arithmetic is the limit, and fused does the squares again in each of 148 columns of tiles"),
    "prefill.grouped_vs_rows": ("ratio", speed, dict(M=4096, ours=1, theirs=3), 1.0, "gpu", 2, "a row of 148 tiles does not fit on the card at once, and w not into L2"),
    "prefill.vs_cublas": ("ratio", speed, dict(M=4096, ours="tuned", theirs="cuBLAS"), 0.8, "gpu", 2, "many rounds of large tiles; and ours does the norm as well"),
    "prefill.own_vs_forgotten": ("ratio", speed, dict(M=4096, ours="tuned", theirs="16"), 4, "gpu", 2, "tiles of 16 rows read w 256 times, tiles of 128 rows 32 times"),
    "decode.kept_vs_all": ("ratio", kept, dict(M=16), 0.95, "gpu", 2, "the model has to rank, not to be right"),
    "batch.kept_vs_all": ("ratio", kept, dict(M=256), 0.95, "gpu", 2, "the model has to rank, not to be right"),
    "decode.second_vs_first": ("ratio", noise, dict(M=16, searches=10), 0.9, "gpu", 2, "both are limited by reading w"),
    "decode.launched_vs_replayed": ("ratio", launched, dict(M=16), 0.9, "gpu", 2, "a replay is never slower; how much faster is the host's affair"),
    "decode.search_vs_call": ("ratio", search_time, dict(M=16, compiled=False), 1000, "gpu", 2, "four compiles and four benchmarks"),
    "decode.again_vs_call": ("ratio", search_time, dict(M=16, compiled=True), 100, "gpu", 2, "four benchmarks"),
    "decode.break_even": ("ratio", break_even, dict(M=16), 1000, "gpu", 2, "each call saves less than a search of seconds by orders of magnitude"),
    "restored.trial_vs_kernel": ("ratio", restoring, dict(M=16384), 2, "gpu", 2, "the kernel moves four tensors' worth, saving and restoring eight more"),
    "rows.untuned_vs_best_of_columns": ("ratio", walked, dict(M=32768), 2, "gpu", 3, "neighboring lanes read sectors of 32 bytes for two bytes each"),
}
BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "no_restore": ("rows", '    restore_value=["x_ptr", "residual_ptr"],  # both are read and then overwritten\n', "", "in_place.max_abs_err", "error", "the first call adds once for every trial, the second is right"),
    "grid_of_one_tile": ("launch", 'meta["BLOCK_N"]', "256", "each_config.max_abs_err", "nonfinite", "configurations with narrower tiles leave columns unwritten; the tuned call looks right"),
    "hook_left_out": ("launch", "            if config.pre_hook:  # all_kwargs() does not carry it\n                config.pre_hook(dict(zip(norm_linear_kernel.arg_names, arguments)))\n", "", "each_config.max_abs_err", "nonfinite", "a split configuration reads rows that nobody normalized"),
    "key_forgets_rows": ("kernel", '"bucket", "N"', '"N"', "new_bucket.trials", "error", "what suits a few rows is kept for many"),
    "key_forgets_layout": ("kernel", ', "stride_wn"]', "]", "new_layout.trials", "error", "a transposed w runs what was chosen for the other one"),
    "one_path_wrong": ("kernel", "squares += a", "squares = a", "each_config.max_abs_err", "error", "fused, and with more than one tile along K, the norm is that of the last tile"),
    "columns_not_masked": ("kernel", "mask=mask_k[:, None] & mask_n[None, :], other=0", "mask=mask_k[:, None], other=0", "alone.max_abs_err", "fault", "columns past N are read"),
    "int32_rows": ("kernel", "tl.program_id(axis=0).to(tl.int64)", "tl.program_id(axis=0)", "apart.max_abs_err", "fault", "the offset of the third row wraps"),
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
