# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Autotuning: candidates from the data flow first, then the search, then why the best one is best.

Learn:   what a Config holds, what can be searched, pruning, keys, side effects, noise, costs
Run:     python triton_autotune.py           every claim, then every seeded bug
         python triton_autotune.py --bench   only the speed, on a GPU
Memory:  3 GiB, and 9 GiB for the one claim whose third row begins at 2**31 elements
GPU:     any NVIDIA GPU since Ampere; with none, Triton's interpreter and its compiler
Minutes: 3
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, Bug, Claim, benchmark_pair, captured, main, supported
    from arguments import (
        check_dimensions,
        check_dtypes,
        check_no_overlap,
        check_rows,
        check_shape,
        check_sizes,
        check_tensors,
    )
    from offline import TARGETS, compiling_for, fresh_kernel
    from reading import resources
    from searches import (
        all_ms,
        config_fields,
        count_trials,
        dirty_memory,
        fields_refused,
        noted_ms,
        programs_of_sm,
        repeated_searches,
        search_ms,
        untimed,
    )
    from stopwatch import ratio_of_times, replayed
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import functools
import math
import re
import statistics
import tempfile
from dataclasses import asdict

import torch
import triton
import triton.language as tl

DTYPES = supported(torch.float16, torch.bfloat16)
LIMIT = 2**31 - 256  # of rows and columns, which are counted in 32 bits up to one tile past the end
MAX_K = 2**14  # a row of x lies in the registers of one program of add_norm
EPS = 1e-6


# %% How a configuration is timed; in the interpreter all are equal, and the first one is best.
# --8<-- [start:trial]
def trial(launch, quantiles):
    launch()  # compiles
    if DEVICE == "cuda":  # from a CUDA graph: launches from Python would be timed, too
        run = captured(launch)
        return triton.testing.do_bench(run, warmup=5, rep=20, quantiles=quantiles)
    launch()  # a benchmark runs what it times more than once
    return [1.0, 1.0, 1.0]
    # --8<-- [end:trial]


# %% A row kernel that works in place, so that tuning it must undo what trials do.
# --8<-- [start:rows]
@triton.autotune(
    configs=[triton.Config({}, num_warps=warps) for warps in (4, 8, 16)],
    key=["K"],
    restore_value=["x_ptr", "residual_ptr"],  # both are read and then overwritten
    do_bench=trial,
)
@triton.jit
def add_norm_kernel(
    x_ptr,
    residual_ptr,
    out_ptr,
    K,
    stride_xm,
    stride_xk,
    stride_rm,
    stride_om,
    eps,
    ADD: tl.constexpr,
    BLOCK: tl.constexpr,
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
    """residual += x, then x = residual / rms(residual), both (M, K), in place."""
    check_row_pair(x, residual)
    M, K = x.shape
    strides, block = (x.stride(0), 1, residual.stride(0), x.stride(0)), triton.next_power_of_2(K)
    if M:
        with torch.cuda.device_of(x):
            arguments = (x, residual, x, K, *strides, float(eps))
            add_norm_kernel[(M,)](*arguments, ADD=True, BLOCK=block)
    # --8<-- [end:rows]


# %% The candidates, and what the data flow says of them before anything runs.
# --8<-- [start:configs]
def norm_first(arguments):
    """The pre_hook of a split configuration: one more kernel before each launch, in trials too."""
    x, normed, K = (arguments[name] for name in ("x_ptr", "normed_ptr", "K"))
    strides, block = (x.stride(0), 1, 0, normed.stride(0)), triton.next_power_of_2(K)
    row_arguments = (x, x, normed, K, *strides, arguments["eps"])
    add_norm_kernel.fn[(x.shape[0],)](*row_arguments, ADD=False, BLOCK=block, num_warps=4)


def candidate(block_m, block_n, block_k, group_m, fuse, num_warps, num_stages):
    constants = dict(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=group_m, FUSE=fuse)
    options = dict(num_warps=num_warps, num_stages=num_stages)
    return triton.Config(constants, **options, pre_hook=None if fuse else norm_first)


CONFIGS = [
    candidate(128, 128, 32, 8, False, 8, 3),  # DEFAULT, where one would start
    candidate(128, 256, 64, 8, False, 8, 3),
    candidate(128, 256, 64, 8, True, 8, 3),
    candidate(128, 256, 64, 1, False, 8, 3),  # in plain row order
    candidate(64, 128, 64, 8, False, 4, 4),  # up to here 48 to 144 KiB of shared memory
    candidate(16, 64, 64, 1, False, 4, 3),  # from here on for a few rows, at most 68 KiB
    candidate(16, 64, 64, 1, True, 2, 4),
    candidate(16, 128, 64, 1, False, 4, 3),
    candidate(16, 256, 32, 1, False, 4, 4),
    candidate(16, 256, 32, 1, True, 4, 4),
]
DEFAULT = CONFIGS[0]


def shared_bytes(config):
    """What num_stages keeps in shared memory: so many tiles of x and of w, two bytes an element."""
    block = config.kwargs
    return 2 * config.num_stages * block["BLOCK_K"] * (block["BLOCK_M"] + block["BLOCK_N"])


def fits(configs, arguments, **_):
    """Leave out what the GPU cannot hold, and tiles more than twice as tall as x."""
    room = 2**40
    if DEVICE == "cuda":
        room = triton.runtime.driver.active.utils.get_device_properties(0)["max_shared_mem"]
    tallest = max(16, 2 * triton.next_power_of_2(arguments["M"]))
    small = [config for config in configs if config.kwargs["BLOCK_M"] <= tallest]
    return [config for config in small if shared_bytes(config) <= room]


# An H200, roughly: SMs; and a second: FLOP, bytes from L2, bytes from memory.
SMS, FLOPS, L2_BYTES, BYTES = 132, 8e14, 8e12, 4e12


def model(M, N, K, BLOCK_M, BLOCK_N, BLOCK_K, FUSE, **_):
    """A guess at the seconds: what the slowest SM reads or computes, or what memory delivers."""
    programs = triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N)
    tiles = triton.cdiv(programs, SMS)  # of the busiest SM
    read = tiles * 2 * K * (BLOCK_M + BLOCK_N) / (L2_BYTES / SMS)
    compute = tiles * 2 * K * BLOCK_M * BLOCK_N / (FLOPS / SMS)
    memory = 2 * (K * N + M * K + M * N) / BYTES
    norm = 0 if FUSE else 3e-6 + 4 * M * K / BYTES  # one more kernel
    return max(read, compute, memory) + norm
    # --8<-- [end:configs]


# %% The kernel: which tile, in which order, fused or not are constants that can be searched.
# --8<-- [start:kernel]
@triton.autotune(
    configs=CONFIGS,
    key=["bucket", "N", "K", "stride_wn"],  # stride_wn: does w lie in rows or in columns?
    prune_configs_by={"early_config_prune": fits, "perf_model": model, "top_k": 4},
    do_bench=trial,
)
@triton.jit(do_not_specialize=["bucket"])
def norm_linear_kernel(
    x_ptr,
    normed_ptr,
    w_ptr,
    out_ptr,
    M,
    N,
    K,
    bucket,
    stride_xm,
    stride_nm,
    stride_wk,
    stride_wn,
    stride_om,
    eps,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    FUSE: tl.constexpr,
):
    pid = tl.program_id(axis=0).to(tl.int64)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group, rank = pid // (GROUP_M * tiles_n), pid % (GROUP_M * tiles_n)
    height = min(tiles_m - group * GROUP_M, GROUP_M)
    offs_m = (group * GROUP_M + rank % height) * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M]
    offs_n = (rank // height) * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N]
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)  # [BLOCK_K]
    mask_m, mask_n = offs_m < M, offs_n < N
    a_ptrs = (
        x_ptr + offs_m[:, None] * stride_xm if FUSE else normed_ptr + offs_m[:, None] * stride_nm
    ) + offs_k[None, :]
    w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn  # [BLOCK_K, BLOCK_N]
    step = tl.cast(BLOCK_K, tl.int64)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    squares = tl.zeros((BLOCK_M, BLOCK_K), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        mask_k = offs_k < K - k
        a = tl.load(a_ptrs, mask=mask_m[:, None] & mask_k[None, :], other=0)
        w = tl.load(w_ptrs, mask=mask_k[:, None] & mask_n[None, :], other=0)
        if FUSE:  # the norm is one factor for a row: divide by it at the end
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
def norm_linear(
    x: torch.Tensor,
    w: torch.Tensor,
    out: torch.Tensor | None = None,
    config: triton.Config | None = None,
    eps: float = EPS,
) -> torch.Tensor:
    """Return x / rms(x) @ w, (M, K) times (K, N), in the dtype of x and in `out` if given.

    With the tuner's configuration for this bucket of M, or with `config`. Sums are fp32; w may have
    any strides.
    """
    out = checked(x, w, out, config, eps)
    (M, K), N = x.shape, w.shape[1]
    normed = torch.empty((M, K), device=x.device, dtype=x.dtype)  # for the split path
    bucket = max(16, triton.next_power_of_2(M))  # up to 16 rows one bucket, then each power of two
    strides = x.stride(0), K, *w.stride(), out.stride(0)
    if out.numel():
        with torch.cuda.device_of(x):
            launch(config, x, normed, w, out, M, N, K, bucket, *strides, float(eps))
    return out


def grid(meta):
    """One program for each tile: of the configuration that is being launched, whichever it is."""
    return (triton.cdiv(meta["M"], meta["BLOCK_M"]) * triton.cdiv(meta["N"], meta["BLOCK_N"]),)


def launch(config, *arguments):
    if config is None:  # the tuner's choice
        norm_linear_kernel[grid](*arguments)
        return
    if config.pre_hook:  # all_kwargs() does not carry it
        config.pre_hook(dict(zip(norm_linear_kernel.arg_names, arguments, strict=False)))
    norm_linear_kernel.fn[grid](*arguments, **config.all_kwargs())
    # --8<-- [end:launch]


# %% What the kernels take for granted. Each check raises TypeError or ValueError.
# --8<-- [start:checks]
def checked(x, w, out, config, eps):
    """`out`, or a new tensor beside x."""
    check_matrices(**(dict(x=x, w=w) if out is None else dict(x=x, w=w, out=out)))
    check_rows(x=x)
    check_row_length(x)
    shape = (x.shape[0], w.shape[1])
    check_shape((x.shape[1], w.shape[1]), w=w)
    if not isinstance(config, triton.Config | None):
        raise TypeError(f"config is {type(config).__name__}; it must be a triton.Config or None")
    if not isinstance(eps, int | float):
        raise TypeError(f"eps is {type(eps).__name__}; it must be a number")
    if out is None:
        return torch.empty(shape, device=x.device, dtype=x.dtype)
    check_shape(shape, out=out)
    check_rows(out=out)
    check_no_overlap(out, x=x, w=w)
    return out


def check_row_pair(x, residual):
    check_matrices(x=x, residual=residual)
    check_shape(x.shape, residual=residual)
    check_rows(x=x, residual=residual)
    check_row_length(x)
    check_no_overlap(residual, name="residual")
    check_no_overlap(x, name="x", residual=residual)


def check_matrices(**tensors):
    check_tensors(DEVICE, **tensors)
    check_dtypes(DTYPES, **tensors)
    check_dimensions(2, **tensors)
    check_sizes(LIMIT, "rows and columns are counted in 32 bits", **tensors)


def check_row_length(x):
    n_rows, n_cols = x.shape
    if n_rows and not 1 <= n_cols <= MAX_K:
        raise ValueError(f"x has rows of {n_cols}; a row must have 1 to {MAX_K} elements")
    # --8<-- [end:checks]


# %% What is correct: each row over its root mean square, then the product, in float64.
# --8<-- [start:reference]
def reference(x, w=None, eps=EPS):
    x = x.double()
    normed = x / (x.square().mean(dim=1, keepdim=True) + eps).sqrt()
    return normed if w is None else normed @ w.double()
    # --8<-- [end:reference]


# %% How each claim about results is measured.
def make_inputs(M, N, K, values="whole", dtype=torch.float16, seed=0):
    """x (M, K) and w (K, N).

    "whole": x is 2 or -2, so that with an eps of 12 a row is divided by 4, and sums of halves are
    exact. "positive": no sum is small beside its terms.
    """
    draw = dict(generator=torch.Generator(DEVICE).manual_seed(seed), device=DEVICE)
    if values == "whole":
        x = torch.randint(0, 2, (M, K), **draw) * 4 - 2
        w = torch.randint(-2, 3, (K, N), **draw)
    else:
        x, w = (torch.rand(shape, **draw) + 0.5 for shape in ((M, K), (K, N)))
    return x.to(dtype), w.to(dtype)


def lay_out(guards, x, w, layout):
    """x, w and an output between guards, in a layout that strides must describe."""
    (M, K), N, dtype = x.shape, w.shape[1], x.dtype
    if layout == "transposed":  # the columns of w lie in memory one after another
        return guards.input(x), guards.input(w.t()).t(), guards.output((M, N), dtype)
    if layout == "sliced":  # x and the result are columns of wider matrices, NaN beside them
        wide = x.new_full((M, K + 3), torch.nan)
        wide[:, 2 : K + 2] = x
        out = guards.output((M, N + 5), dtype)[:, 1 : N + 1]
        return guards.input(wide)[:, 2 : K + 2], guards.input(w), out
    if layout == "alone":  # one row, one column; the next would lie 2**33 elements on, in no memory
        row = guards.input(x).as_strided((1, K), (2**33, 1))
        column = guards.input(w.t()).as_strided((K, 1), (1, 2**33))
        return row, column, guards.output((M, N), dtype)
    if layout == "apart":  # rows 2**30 elements apart, so that the third begins at 2**31
        room = torch.empty((M - 1) * 2**30 + K, dtype=dtype, device=DEVICE)
        far = room.as_strided((M, K), (2**30, 1)).copy_(x)
        guards.watch(far)
        return far, guards.input(w), guards.output((M, N), dtype)
    return guards.input(x), guards.input(w), guards.output((M, N), dtype)


def error(guards, M, N, K, values="whole", dtype=torch.float16, layout="plain", alone=None, seed=0):
    """The tuned call or, by their numbers, configurations alone, each into fresh memory."""
    eps = 12.0 if values == "whole" else EPS
    given_x, given_w = make_inputs(M, N, K, values, dtype, seed)
    for config in [None] if alone is None else [CONFIGS[i] for i in alone]:
        x, w, out = lay_out(guards, given_x, given_w, layout)
        try:
            with dirty_memory():
                norm_linear(x, w, out, config, eps)
        except triton.OutOfResources:  # on a smaller GPU, where the tuner too passes over it
            continue
        if DEVICE == "cuda":
            torch.cuda.synchronize()  # a fault shows now, not in the product of the reference
        yield out, reference(given_x, given_w, eps)
        if layout == "sliced":
            beside = out.as_strided((M, 5), (N + 5, 1), out.storage_offset() + N)  # to the next row
            yield beside[:-1], torch.full_like(beside[:-1], torch.nan)


def in_place(guards, M, K, seed=0):
    """The tuner's first call and its second: x and residual are 1 or -1 alike, the sum 2 or -2."""
    draw = dict(generator=torch.Generator(DEVICE).manual_seed(seed), device=DEVICE)
    ones = (torch.randint(0, 2, (M, K), **draw) * 2 - 1).to(torch.float16)
    add_norm_kernel.cache.clear()
    for _ in range(2):
        x, residual = guards.in_place(ones), guards.in_place(ones)
        add_norm(x, residual, eps=12.0)
        yield x, reference(2 * ones, eps=12.0)
        yield residual, 2 * ones.double()


def unwritten(guards, call, seed=0):
    """How many results stay unwritten by a tuner whose grid is made for tiles of 64 columns, with
    configurations of 32 columns and of 64: by its first call, by its second, or by the first
    configuration alone."""
    M, N, K = 32, 128, 48
    narrow, fitting = candidate(16, 32, 128, 1, True, 4, 5), candidate(16, 64, 128, 1, True, 4, 4)
    times = iter((1.0, 2.0))  # half of the work takes half of the time

    def bench(launch, quantiles):
        launch()
        return [next(times)] * 3

    def grid_of_64(meta):
        return (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, 64),)

    tuned = triton.autotune(configs=[narrow, fitting], key=["N"], do_bench=bench)
    kernel, options = tuned(norm_linear_kernel.fn), {}
    if call == "alone":
        kernel, options = norm_linear_kernel.fn, narrow.all_kwargs()
    for _ in range(2 if call == "second" else 1):
        x, w, out = lay_out(guards, *make_inputs(M, N, K, seed=seed), "plain")
        arguments = (x, x, w, out, M, N, K, 64, K, K, *w.stride(), N, 12.0)
        kernel[grid_of_64](*arguments, **options)
    return out.isnan().sum().item()


# %% How each claim about trials and configurations is measured.
def trials(guards, then=(), first=(5, "plain", torch.float16)):
    """How many configurations the last of these calls tries: rows of x, layout of w, dtype."""
    norm_linear_kernel.cache.clear()
    for M, layout, dtype in (first, *then):
        given = lay_out(guards, *make_inputs(M, 40, 48, dtype=dtype), layout)
        tried = count_trials(norm_linear_kernel, functools.partial(norm_linear, *given))
    return tried


def disk_trials(change):
    """How many configurations a second process tries, as it were, after a first filled the disk."""

    def hook(arguments):
        """Changes nothing, and still keeps the results off the disk."""

    stub = torch.zeros(4, 16, dtype=torch.float16)
    with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
        triton.knobs.cache.dir = folder
        for changed in ("", change):
            K = 8 if changed == "another key" else 16
            target = "sm_80" if changed == "another architecture" else "sm_90"
            warps = (1, 2) if changed == "fewer configurations" else (1, 2, 4)
            pre_hook = hook if change == "a hook" else None
            configs = [triton.Config({}, num_warps=n, pre_hook=pre_hook) for n in warps]
            bench, row = untimed(), (stub, stub, stub, K, 16, 1, 16, 16, EPS)
            tuned = triton.autotune(configs=configs, key=["K"], do_bench=bench, cache_results=True)
            with compiling_for(TARGETS[target]):
                tuned(add_norm_kernel.fn).run(*row, ADD=True, BLOCK=16, grid=(1,), warmup=True)
    return bench.call_count


def conflict_refused(guards):
    """1 if a launch may not name a constant that the tuner sets."""
    x, w, out = lay_out(guards, *make_inputs(16, 64, 64), "plain")
    tuned = triton.autotune(configs=CONFIGS[-2:], key=["N"], do_bench=untimed())
    try:
        tuned(norm_linear_kernel.fn)[(2,)](
            x, x, w, out, 16, 64, 64, 16, 64, 64, 64, 1, 64, EPS, BLOCK_N=64
        )
    except ValueError as error:
        return {"value": 1, "note": str(error)}
    return 0


def too_large(guards):
    """How many of two configurations count as infinitely slow: the first, which no GPU can hold."""
    x, w, out = lay_out(guards, *make_inputs(48, 64, 96), "plain")
    configs = [candidate(128, 256, 64, 8, True, 8, 9), DEFAULT]
    tuner = triton.autotune(configs=configs, key=["N"], do_bench=trial)(norm_linear_kernel.fn)
    tuner[grid](x, torch.empty_like(x), w, out, 48, 64, 96, 64, 96, 96, 64, 1, 64, 0.0)
    return sum(times[0] == math.inf for times in tuner.configs_timings.values())


# %% How each claim about the code is measured: compile for sm_90, read what comes out.
def load_bytes(K):
    """The widest load of the row kernel on sm_90, in bytes, for rows of K elements."""
    row = (*[torch.float16] * 3, K, K, 1, K, K, EPS)
    with compiling_for(TARGETS["sm_90"]):
        kernel = fresh_kernel(add_norm_kernel.fn)
        made = kernel.warmup(*row, ADD=True, BLOCK=4096, num_warps=8, grid=(1,))
    loads = re.findall(r"ld\.global\.(?:v(\d)\.)?b(\d+)", made.asm["ptx"])
    return max(int(n or 1) * int(bits) // 8 for n, bits in loads)


def compiled_tiles(which, shows):
    """Of each of these configurations on sm_90: bytes of shared memory, or programs an SM holds."""
    results = []
    with compiling_for(TARGETS["sm_90"]):
        for config in (CONFIGS[i] for i in which):
            kernel = fresh_kernel(norm_linear_kernel.fn)
            tile = (*[torch.float16] * 4, *[4096] * 7, 1, 4096, EPS)
            made = kernel.warmup(*tile, grid=(1,), **config.all_kwargs())
            shared = made.metadata.shared
            resident = programs_of_sm(resources(made)[0], 32 * config.num_warps, shared)
            results.append(shared if shows == "shared bytes" else resident)
    return " ".join(map(str, results))


# %% How each claim about speed is measured.
WIDE = dict(N=37_888, K=3584)  # gate and up projection of Qwen2.5-7B, the norm in front


@functools.cache
def workload(M, N=WIDE["N"], K=WIDE["K"]):
    draw = dict(generator=torch.Generator(DEVICE).manual_seed(0), device=DEVICE)
    x, w = (torch.randn(shape, dtype=torch.float16, **draw) for shape in ((M, K), (K, N)))
    return x, w / 32, torch.empty(M, N, device=DEVICE, dtype=torch.float16)


def best_config(M):
    """The tuner's choice for this many rows, kept for as long as the process runs."""
    norm_linear(*workload(M))
    return norm_linear_kernel.best_config


def label(config):
    b, path = config.kwargs, "fused" if config.kwargs["FUSE"] else "split"
    tile = f"{b['BLOCK_M']} x {b['BLOCK_N']} x {b['BLOCK_K']}, group {b['GROUP_M']}, {path}"
    return f"{tile}, {config.num_warps} warps, {config.num_stages} stages"


def speed(M, ours, theirs, unit="FLOP"):
    """One way against another, in `unit` a second: the choice of this or of another bucket, a
    configuration by its number, a library."""
    x, w, out = workload(M)
    copy = torch.empty_like(w) if "copy" in (ours, theirs) else None
    work = x.nbytes + w.nbytes + out.nbytes
    if unit == "FLOP":
        work = 2 * M * WIDE["N"] * WIDE["K"]

    def way(what):
        if what == "copy":
            return "copy", lambda: copy.copy_(w), 2 * w.nbytes
        if what == "cuBLAS":
            return "matmul of cuBLAS, no norm", lambda: torch.matmul(x, w, out=out), work
        if isinstance(what, int):
            name, config = "", CONFIGS[what]
        elif what == "tuned":
            name, config = "tuned: ", best_config(M)
        else:
            name, config = "", best_config(int(what))
        return name + label(config), lambda: norm_linear(x, w, out, config), work

    (name, run, our_work), (other, base, their_work) = way(ours), way(theirs)
    works = (our_work, their_work)
    return benchmark_pair((name, run), (other, base), work=works, unit=unit, graph=True)


def kept_speed(M):
    """The tuner's choice, out of four that the model keeps, against the best of all that fit."""
    work = 2 * M * WIDE["N"] * WIDE["K"]

    def run(config):
        return functools.partial(norm_linear, *workload(M), config)

    def median_ms(config):
        timed = replayed(run(config))
        return triton.testing.do_bench(timed, warmup=5, rep=20, return_mode="median")

    best, chosen = min(fits(CONFIGS, dict(M=M)), key=median_ms), best_config(M)
    ours = f"of four: {label(chosen)}", run(chosen)
    theirs = f"of all: {label(best)}", run(best)
    return benchmark_pair(ours, theirs, work=(work, work), unit="FLOP", graph=True)


def launched_time(M):
    """A choice launched from Python, in units of its replayed graph, as do_bench times both."""
    run = functools.partial(norm_linear, *workload(M), CONFIGS[5])
    graph = replayed(run)
    return ratio_of_times("launched", all_ms(run), "replayed", all_ms(graph))


def repeated_search(M, searches):
    """The search again and again. The value: the second configuration in units of the first."""
    call = functools.partial(norm_linear, *workload(M))
    return repeated_searches(norm_linear_kernel, call, searches, label)


@functools.cache
def searched(M, rounds=2):
    """Milliseconds of a search with nothing compiled, of one with all compiled, of a tuned call and
    of an untuned one."""
    call = functools.partial(norm_linear, *workload(M))
    cold, warm = search_ms(norm_linear_kernel, call, rounds)
    configs = norm_linear_kernel.best_config, DEFAULT
    tuned, untuned = (all_ms(replayed(functools.partial(call, config))) for config in configs)
    return cold, warm, tuned, untuned


def search_time(M, compiled):
    """How many tuned calls a search takes, before anything is compiled or after."""
    cold, warm, tuned, _ = searched(M)
    return ratio_of_times("search", warm if compiled else cold, "tuned call", tuned)


def break_even(M):
    """After how many calls a search from nothing has paid off, by what a call saves."""
    cold, _, tuned, untuned = searched(M)
    saved = statistics.median(untuned) - statistics.median(tuned)
    search, call = ratio_of_times("search", cold, "tuned call", tuned).timings
    other = ratio_of_times("untuned call", untuned, "tuned call", tuned).timings[0]
    return {
        "value": search.median_ms / saved,
        "low": search.p10_ms / saved,
        "high": search.p90_ms / saved,
        "timings": [asdict(timing) for timing in (search, call, other)],
    }


def trial_time(M, K=WIDE["K"]):
    """What the tuner took for the time of its best, in units of the kernel's own time."""
    x, residual = (torch.zeros(M, K, device=DEVICE, dtype=torch.float16) for _ in range(2))
    call = functools.partial(add_norm, x, residual)
    noted = noted_ms(add_norm_kernel, call, searches=5)
    return ratio_of_times("trial", noted, "kernel", all_ms(replayed(call)))


def access_speed(M, K=WIDE["K"]):
    """The row kernel along rows that lie contiguously, untuned, against the best of ten
    configurations down the columns of the same matrix."""
    x = torch.randn(M, K, device=DEVICE, dtype=torch.float16)
    across = torch.empty(K, M, device=DEVICE, dtype=torch.float16).t().copy_(x)
    out, options = torch.empty_like(x), dict(ADD=False, BLOCK=triton.next_power_of_2(K))
    limits = [(num_warps, maxnreg) for num_warps in (2, 4, 8, 16, 32) for maxnreg in (None, 64)]
    configs = [triton.Config({}, num_warps=warps, maxnreg=limit) for warps, limit in limits]
    tuner = triton.autotune(configs=configs, key=["K"], do_bench=trial)(add_norm_kernel.fn)

    def rows():
        add_norm_kernel.fn[(M,)](x, x, out, K, K, 1, 0, K, EPS, **options, num_warps=4)

    def columns():
        tuner[(M,)](across, x, out, K, *across.stride(), 0, K, EPS, **options)

    columns()  # tunes
    ours, theirs = ("rows, untuned", rows), ("columns, best of ten", columns)
    return benchmark_pair(ours, theirs, work=(2 * x.nbytes, 2 * x.nbytes), unit="B")


F16, BF16 = torch.float16, torch.bfloat16

# fmt: off
CLAIMS = [
    Claim("each_config.max_abs_err", error, dict(M=40, N=72, K=70, alone=range(10)), why="each of the ten alone, into fresh memory: halves of whole numbers, at most 70, are exact"),
    Claim("groups.max_abs_err", error, dict(M=1050, N=140, K=70, alone=(0, 1, 3)), why="nine rows of tiles, in groups of eight and in groups of one"),
    Claim("tuned.max_abs_err", error, dict(M=48, N=600, K=96), why="the tuner's call: halves of whole numbers, at most 96, are exact"),
    Claim("random.max_rel_err", error, dict(M=33, N=40, K=1000, values="positive", alone=(0, 9)), bound=2**-10 + 1000 * 2**-23, why="a split and a fused one: the row and the result rounded to fp16, 2**-11 each, and 1000 additions"),
    Claim("bf16.max_rel_err", error, dict(M=33, N=40, K=1000, values="positive", dtype=BF16, alone=(0, 9)), bound=2**-7 + 1000 * 2**-23, judges="gpu", why="the row and the result rounded to bf16, 2**-8 each, and 1000 additions; the interpreter gets bf16 wrong"),
    Claim("transposed.max_abs_err", error, dict(M=20, N=40, K=70, layout="transposed"), why="w by its strides: halves of whole numbers are exact"),
    Claim("sliced.max_abs_err", error, dict(M=20, N=40, K=70, layout="sliced", alone=(0, 9)), why="rows of x and of the result by their stride; what lies beside them stays"),
    Claim("alone.max_abs_err", error, dict(M=1, N=1, K=70, layout="alone", alone=(0, 9)), why="no other row or column is read: there is no memory"),
    Claim("apart.max_abs_err", error, dict(M=3, N=40, K=70, layout="apart", alone=(0, 9)), judges="gpu", gib=9, why="64-bit offsets reach the row at 2**31, fused and split"),
    Claim("in_place.max_abs_err", in_place, dict(M=5, K=70), why="first call and second: 1 + 1, over 4; the trials left no trace"),
    Claim("first.trials", trials, kind="count", bound=4, why="of ten, the four that the model puts first"),
    Claim("same_bucket.trials", trials, dict(then=[(16, "plain", F16)]), kind="count", bound=0, why="5 rows and 16 rows are one bucket"),
    Claim("new_bucket.trials", trials, dict(then=[(17, "plain", F16)]), kind="count", bound=4, why="17 rows are the next one"),
    Claim("new_layout.trials", trials, dict(then=[(5, "transposed", F16)]), kind="count", bound=4, why="the strides of w are in the key because they are named"),
    Claim("first_call.unwritten", unwritten, dict(call="first"), kind="count", bound=0, why="the trial of the correct configuration wrote what the best one leaves out"),
    Claim("second_call.unwritten", unwritten, dict(call="second"), kind="count", bound=2048, why="half of 32 * 128: a fresh result, and the best configuration alone"),
    Claim("alone.unwritten", unwritten, dict(call="alone"), kind="count", bound=2048, why="the same half, without waiting for a second call"),
    Claim("disk_same.trials", disk_trials, dict(change=""), kind="count", bound=0, judges="compile", why="the next process finds the times on disk"),
    Claim("disk_key.trials", disk_trials, dict(change="another key"), kind="count", bound=3, judges="compile", why="another value of the key"),
    Claim("disk_arch.trials", disk_trials, dict(change="another architecture"), kind="count", bound=3, judges="compile", why="sm_80 after sm_90"),
    Claim("disk_list.trials", disk_trials, dict(change="fewer configurations"), kind="count", bound=2, judges="compile", why="the list itself is in the key: a shorter one is searched again"),
    Claim("disk_hook.trials", disk_trials, dict(change="a hook"), kind="count", bound=3, judges="compile", why="with a pre_hook in any configuration nothing is kept"),
    Claim("config.fields", config_fields, kind="count", bound=7, why="the constants and six more"),
    Claim("layout.refused", fields_refused, dict(names=("vector_width", "layout", "order", "swizzle")), kind="count", bound=4, why="what the compiler derives is no field"),
    Claim("conflict.refused", conflict_refused, kind="count", bound=1, why="a constant that the tuner sets cannot be named at the launch"),
    Claim("too_large.infinite", too_large, kind="count", bound=1, judges="gpu", why="out of resources is a time of infinity, not an error"),
    Claim("aligned.load_bytes", load_bytes, dict(K=3584), kind="codegen", bound=16, judges="compile", why="rows that begin at multiples of 16 bytes: the widest load there is"),
    Claim("unaligned.load_bytes", load_bytes, dict(K=3585), kind="codegen", bound=2, judges="compile", why="rows that begin anywhere: one element at a time, whatever the configuration says"),
    Claim("stages.shared_bytes", compiled_tiles, dict(which=(0, 1, 2, 5, 9), shows="shared bytes"), kind="codegen", bound="49152 147456 131072 20480 52224", judges="compile", why="a tile of x and one of w for each stage; a tile that goes through registers is kept once less"),
    Claim("resident.programs", compiled_tiles, dict(which=(0, 1, 2, 9), shows="programs"), kind="codegen", bound="2 1 1 4", judges="compile", why="registers, shared memory and threads share out an SM: a large tile has it to itself"),
    Claim("decode.tuned_vs_untuned", speed, dict(M=16, ours="tuned", theirs=0, unit="B"), kind="ratio", bound=1.2, judges="gpu", gib=2, why="seven in eight rows of the untuned tile are padding"),
    Claim("decode.vs_copy", speed, dict(M=16, ours="tuned", theirs="copy", unit="B"), kind="ratio", bound=0.75, judges="gpu", gib=2, why="memory-bound: w is read once; filling and draining each tile is not hidden"),
    Claim("decode.vs_cublas", speed, dict(M=16, ours="tuned", theirs="cuBLAS", unit="B"), kind="ratio", bound=0.85, judges="gpu", gib=2, why="the same limit for both, and ours does the norm as well"),
    Claim("batch.tuned_vs_untuned", speed, dict(M=256, ours="tuned", theirs=0), kind="ratio", bound=1.05, judges="gpu", gib=2, why="larger tiles read fewer bytes"),
    Claim("batch.fused_vs_split", speed, dict(M=256, ours=2, theirs=1), kind="ratio", bound=0.85, judges="gpu", gib=2, why="one kernel less against squares that each column of tiles computes again: about even"),
    Claim("batch.vs_cublas", speed, dict(M=256, ours="tuned", theirs="cuBLAS"), kind="ratio", bound=0.65, judges="gpu", gib=2, why="on 132 SMs 296 tiles take three rounds, the third a quarter full; and ours does the norm as well"),
    Claim("prefill.tuned_vs_untuned", speed, dict(M=4096, ours="tuned", theirs=0), kind="ratio", bound=1.05, judges="gpu", gib=2, why="larger tiles read fewer bytes"),
    Claim("prefill.split_vs_fused", speed, dict(M=4096, ours=1, theirs=2), kind="ratio", bound=1.0, judges="gpu", gib=2, why="arithmetic is the limit, and fused does the squares again in each of 148 columns of tiles"),
    Claim("prefill.grouped_vs_rows", speed, dict(M=4096, ours=1, theirs=3), kind="ratio", bound=1.0, judges="gpu", gib=2, why="a row of 148 tiles does not fit on the GPU at once, and w not into L2"),
    Claim("prefill.vs_cublas", speed, dict(M=4096, ours="tuned", theirs="cuBLAS"), kind="ratio", bound=0.8, judges="gpu", gib=2, why="many rounds of large tiles; and ours does the norm as well"),
    Claim("prefill.own_vs_forgotten", speed, dict(M=4096, ours="tuned", theirs="16"), kind="ratio", bound=4, judges="gpu", gib=2, why="tiles of 16 rows read w 256 times, tiles of 128 rows 32 times"),
    Claim("decode.kept_vs_all", kept_speed, dict(M=16), kind="ratio", bound=0.95, judges="gpu", gib=2, why="the model has to rank, not to be accurate"),
    Claim("batch.kept_vs_all", kept_speed, dict(M=256), kind="ratio", bound=0.95, judges="gpu", gib=2, why="the model has to rank, not to be accurate"),
    Claim("decode.second_vs_first", repeated_search, dict(M=16, searches=10), kind="ratio", bound=0.9, judges="gpu", gib=2, why="both are limited by reading w"),
    Claim("decode.launched_vs_replayed", launched_time, dict(M=16), kind="ratio", bound=0.9, judges="gpu", gib=2, why="a replay is never slower; how much faster depends on the host"),
    Claim("decode.search_vs_call", search_time, dict(M=16, compiled=False), kind="ratio", bound=1000, judges="gpu", gib=2, why="four compiles and four benchmarks"),
    Claim("decode.again_vs_call", search_time, dict(M=16, compiled=True), kind="ratio", bound=100, judges="gpu", gib=2, why="four benchmarks"),
    Claim("decode.break_even", break_even, dict(M=16), kind="ratio", bound=1000, judges="gpu", gib=2, why="each call saves less than a search of seconds by orders of magnitude"),
    Claim("restored.trial_vs_kernel", trial_time, dict(M=16384), kind="ratio", bound=2, judges="gpu", gib=2, why="the kernel moves four tensors' worth, saving and restoring eight more"),
    Claim("rows.untuned_vs_best_of_columns", access_speed, dict(M=32768), kind="ratio", bound=2, judges="gpu", gib=3, why="neighboring lanes read sectors of 32 bytes for two bytes each"),
]

BUGS = [
    Bug("no_restore", section="rows", old="    restore_value=[\"x_ptr\", \"residual_ptr\"],  # both are read and then overwritten\n", new="", caught_by="in_place.max_abs_err", how="error", shows="the first call adds once for every trial, the second is correct"),
    Bug("grid_of_one_tile", section="launch", old="meta[\"BLOCK_N\"]", new="256", caught_by="each_config.max_abs_err", how="nonfinite", shows="configurations with narrower tiles leave columns unwritten; the tuned call looks correct"),
    Bug("hook_left_out", section="launch", old="    if config.pre_hook:  # all_kwargs() does not carry it\n        config.pre_hook(dict(zip(norm_linear_kernel.arg_names, arguments, strict=False)))\n", new="", caught_by="each_config.max_abs_err", how="nonfinite", shows="a split configuration reads rows that were never normalized"),
    Bug("key_forgets_rows", section="kernel", old="\"bucket\", \"N\"", new="\"N\"", caught_by="new_bucket.trials", how="error", shows="what suits a few rows is kept for many"),
    Bug("key_forgets_layout", section="kernel", old=", \"stride_wn\"]", new="]", caught_by="new_layout.trials", how="error", shows="a transposed w runs what was chosen for the other one"),
    Bug("one_path_wrong", section="kernel", old="squares += a", new="squares = a", caught_by="each_config.max_abs_err", how="error", shows="fused, and with more than one tile along K, the norm is that of the last tile"),
    Bug("columns_not_masked", section="kernel", old="mask=mask_k[:, None] & mask_n[None, :], other=0", new="mask=mask_k[:, None], other=0", caught_by="alone.max_abs_err", how="fault", shows="columns past N are read"),
    Bug("int32_rows", section="kernel", old="tl.program_id(axis=0).to(tl.int64)", new="tl.program_id(axis=0)", caught_by="apart.max_abs_err", how="fault", shows="the offset of the third row wraps"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
