# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Matmul: one program owns one tile of C, walks K tile by tile and sums in fp32.

Learn:   tiles and 2-D pointers, tl.dot and its accumulator, three masks, grouped order, autotune
Run:     python triton_matmul.py           every claim, then every seeded bug
         python triton_matmul.py --bench   only the speed, on a GPU
Memory:  5 GiB
GPU:     any NVIDIA GPU since Ampere; with none, Triton's interpreter
Minutes: 4
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, INTERPRETED, Bug, Claim, benchmark_pair, main, supported
    from arguments import (
        INPUT_PRECISIONS,
        check_dtypes,
        check_input_precision,
        check_no_overlap,
        check_shape,
        check_sizes,
        check_tensors,
    )
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import contextlib

import torch
import triton
import triton.language as tl

DTYPES = supported(torch.float16, torch.bfloat16, torch.float32)
MAX_SIZE = 2**31 - 256  # rows and columns are counted in 32 bits, up to one tile past the end


# %% What the tuner may try. Each is correct alone; a GPU that cannot hold one skips it.
# --8<-- [start:configs]
def config(block_m, block_n, block_k, num_warps, num_stages):
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}
    return triton.Config(blocks, num_warps=num_warps, num_stages=num_stages)


CONFIGS = [
    config(64, 64, 32, 4, 3),  # the small one: all that is left for a matrix of one tile
    config(128, 128, 32, 8, 3),
    config(64, 128, 64, 4, 4),  # from here on 96 to 144 KiB of shared memory: sm_80, sm_90 and up
    config(128, 128, 64, 8, 3),
    config(128, 256, 64, 8, 3),  # reads least for each product, if every SM gets a tile
]


def worth_trying(configs, arguments, **_):
    """Leave out tiles larger than the matrix, which compute padding, and for fp32 tiles that spill.

    Outside the tensor cores (ieee) the factors are in registers too: at most 64 results a thread.
    """
    room_m, room_n = (max(64, triton.next_power_of_2(arguments[size])) for size in "MN")
    fp32 = arguments["a_ptr"].dtype == torch.float32

    def fits(candidate):
        block_m, block_n = candidate.kwargs["BLOCK_M"], candidate.kwargs["BLOCK_N"]
        spills = fp32 and block_m * block_n > 64 * 32 * candidate.num_warps
        return block_m <= room_m and block_n <= room_n and not spills

    return [candidate for candidate in configs if fits(candidate)]
    # --8<-- [end:configs]


# %% The kernel: what one program does.
# --8<-- [start:kernel]
@triton.autotune(
    configs=CONFIGS[:1] if INTERPRETED else CONFIGS,  # choosing among several needs a driver
    key=["M", "N", "K", "INPUT_PRECISION"],  # a new value of these, or a new dtype, tunes anew
    prune_configs_by={"early_config_prune": worth_trying},
)
@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    INPUT_PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    pid = tl.program_id(axis=0).to(tl.int64)  # 64 bits, since offs * stride can pass 2**31
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    # GROUP_M rows of tiles, column by column: programs close in time share tiles of A and B in L2
    group, rank = pid // (GROUP_M * tiles_n), pid % (GROUP_M * tiles_n)
    height = min(tiles_m - group * GROUP_M, GROUP_M)  # the last group may have fewer rows
    pid_m, pid_n = group * GROUP_M + rank % height, rank // height

    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M], rows of A and C
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N], columns of B and C
    offs_k = tl.arange(0, BLOCK_K).to(tl.int64)  # [BLOCK_K]
    step = tl.cast(BLOCK_K, tl.int64)  # times a stride it can pass 2**31 as well
    mask_m, mask_n = offs_m < M, offs_n < N
    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak  # [BLOCK_M, BLOCK_K]
    b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn  # [BLOCK_K, BLOCK_N]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        mask_k = offs_k < K - k
        # both filled with 0: past K a zero adds nothing, but 0 * NaN is NaN
        a = tl.load(a_ptrs, mask=mask_m[:, None] & mask_k[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=mask_k[:, None] & mask_n[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision=INPUT_PRECISION, out_dtype=acc.dtype)
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask_m[:, None] & mask_n[None, :])
    # --8<-- [end:kernel]


# %% The launcher: check the arguments, launch one program for each tile of C.
# --8<-- [start:launch]
def matmul(
    a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None, input_precision: str = "ieee"
) -> torch.Tensor:
    """Return a @ b, [M, K] times [K, N], in the dtype of a, in `out` if given; sums are fp32.

    Any strides, those of views and of expanded tensors too; `out` must not overlap itself, a or b.
    K = 0 gives zeros. `input_precision` is how fp32 is multiplied: "ieee" in full, "tf32" with 11
    bits of each factor, "tf32x3" in three such products; for 16 bits it changes nothing. Raises
    TypeError for a dtype, ValueError for the rest; bfloat16 is refused in the interpreter, which
    computes it incorrectly.
    """
    out = checked(a, b, out, input_precision)
    (M, K), N = a.shape, b.shape[1]
    if out.numel():  # a grid of 0 programs has nothing to launch
        strides = (*a.stride(), *b.stride(), *out.stride())
        grid = tile_grid(M, N)
        with torch.cuda.device_of(a):  # a launch goes to the current device, not to the tensor's
            matmul_kernel[grid](a, b, out, M, N, K, *strides, INPUT_PRECISION=input_precision)
    return out


def tile_grid(M, N):
    """One program a tile, of the size that the tuner chooses; 1-D, since y and z end at 65,535."""
    return lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
    # --8<-- [end:launch]


# %% What the kernel takes for granted.
# --8<-- [start:checks]
def checked(a, b, out, input_precision):
    """`out`, or a new [M, N] tensor. Raises what `matmul` says."""
    tensors = dict(a=a, b=b, out=a if out is None else out)
    check_tensors(DEVICE, **tensors)
    check_dtypes(DTYPES, **tensors)
    check_input_precision(input_precision)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        shapes = f"a has shape {tuple(a.shape)} and b has shape {tuple(b.shape)}"
        raise ValueError(f"{shapes}; they must be (M, K) and (K, N)")
    check_sizes(MAX_SIZE, "rows and columns are counted in 32 bits", a=a, b=b)
    shape = (a.shape[0], b.shape[1])
    if out is None:
        return torch.empty(shape, device=a.device, dtype=a.dtype)
    check_shape(shape, out=out)
    check_no_overlap(out, a=a, b=b)
    return out

    # --8<-- [end:checks]


# %% What is correct: the product in float64, where NaN and inf go where they go in torch.
# --8<-- [start:reference]
def reference(a, b):
    return a.double() @ b.double()
    # --8<-- [end:reference]


# %% How each claim is measured.
def make_factors(M, N, K, dtype=torch.float32, values="random"):
    """a [M, K] and b [K, N] with these values."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    a, b = (torch.randn(size, generator=generator, device=DEVICE) for size in ((M, K), (K, N)))
    if values == "positive":
        a, b = a.abs().clamp(max=1), b.abs().clamp(max=1)
    elif values == "hundred":  # 91 … 109
        a, b = (t.mul(2).round().clamp(-9, 9) + 100 for t in (a, b))
    elif values == "special":
        a[1, 2], a[3, 4], a[5, 6] = torch.inf, torch.nan, -torch.inf
        b[7, 8], b[9, 8] = torch.inf, -torch.inf
    return a.to(dtype), b.to(dtype)


def arranged(guards, a, b, layout):
    """a and b between guards, in this layout in memory."""
    M, K = a.shape
    if layout == "transposed":
        return guards.input(a.t()).t(), guards.input(b.t()).t()
    if layout == "sliced":
        return every_second_column(guards, a), every_second_column(guards, b)
    if layout == "expanded":  # every row of a is one row in memory
        return guards.input(a[:1]).expand(M, K), guards.input(b)
    if layout == "alone":  # one row, one column; the next would be 2**33 elements on: no memory
        row, column = guards.input(a), guards.input(b.t())
        return row.as_strided((1, K), (2**33, 1)), column.as_strided((K, 1), (1, 2**33))
    if layout == "apart":  # the third row begins at 2**31
        return far_apart(a, 2**30, 1), guards.input(b)
    if layout == "apart_k":  # 31 columns pass 2**31, and so does the step to the next tile
        return far_apart(a, 1, 2**26 + 2**22), guards.input(b)
    return guards.input(a), guards.input(b)


def every_second_column(guards, t):
    """t as a view, from an odd start; NaN lies between."""
    spread = t.new_full((t.shape[0], 2 * t.shape[1] + 1), torch.nan)
    spread[:, 1::2] = t
    return guards.input(spread)[:, 1::2]


def far_apart(t, *strides):
    """t with these strides, in memory of which only its own elements are touched."""
    size = 1 + sum((n - 1) * stride for n, stride in zip(t.shape, strides, strict=True))
    return torch.empty(size, dtype=t.dtype, device=DEVICE).as_strided(t.shape, strides).copy_(t)


def error(
    guards, M, N, K, dtype=torch.float32, values="random", layout="plain", input_precision="ieee"
):
    """The product and the reference, each of the tensors in this layout."""
    a, b = arranged(guards, *make_factors(M, N, K, dtype, values), layout)
    want = reference(a, b)
    out = guards.output((M, N), dtype)
    if layout == "transposed":
        out = guards.output((N, M), dtype).t()
    if input_precision == "ieee":
        matmul(a, b, out)  # the default is judged too
    else:
        matmul(a, b, out, input_precision)
    return [(out, want)]


def each_config(guards, M, N, K, dtype):
    """The same for each of CONFIGS alone, so that none hides behind what another has written."""
    tuned = matmul_kernel.configs
    try:
        for candidate in CONFIGS:
            matmul_kernel.configs = [candidate]
            with contextlib.suppress(triton.OutOfResources):  # on a smaller GPU the tuner skips it
                yield from error(guards, M, N, K, dtype)
    finally:
        matmul_kernel.configs = tuned


def unlike(guards, M, N, K, dtype, calls=20):
    """How many of `calls` further calls differ in any bit from the first, which tunes."""
    a, b = arranged(guards, *make_factors(M, N, K, dtype), "plain")
    first = matmul(a, b, guards.output((M, N), dtype))
    repeats = calls if DEVICE == "cuda" else 1
    return [torch.equal(matmul(a, b), first) for _ in range(repeats)].count(False)


def distinct(n):
    """How many different results fp32 has under INPUT_PRECISIONS."""
    a, b = make_factors(n, n, n)
    results = [matmul(a, b, input_precision=precision) for precision in INPUT_PRECISIONS]
    return len({result.cpu().numpy().tobytes() for result in results})


def speed(n, dtype, input_precision="ieee", layout="rows"):
    """FLOP a second against torch.matmul, that is cuBLAS, of the same a and b."""
    torch.set_float32_matmul_precision("highest" if input_precision == "ieee" else "high")
    a, b = torch.randn(2, n, n, device=DEVICE, dtype=dtype)
    if layout == "columns":  # then K is contiguous
        b = b.t()
    out = torch.empty_like(a)
    matmul(a, b, out, input_precision)  # compiles and tunes, so that the best can be named
    best = matmul_kernel.best_config
    tile = " x ".join(str(best.kwargs[f"BLOCK_{axis}"]) for axis in "MNK")
    name = f"matmul: {tile}, {best.num_warps} warps, {best.num_stages} stages"
    return benchmark_pair(
        (name, lambda: matmul(a, b, out, input_precision)),
        ("torch.matmul", lambda: torch.matmul(a, b, out=out)),
        work=(2 * n**3, 2 * n**3),
        unit="FLOP",
        graph=True,
    )


# A relative error is the largest over the largest |c|. Rounding c costs 2**-11 of it in fp16, 2**-8
# in bf16, 2**-24 in fp32. Each of K additions costs at most 2**-24 of a partial sum, no larger than
# about that c; on tensor cores, which cut off, 2**-23.
# fmt: off
CLAIMS = [
    Claim("whole_fp16.max_rel_err", error, dict(M=512, N=256, K=768, dtype=torch.float16), bound=2**-11 + 768 * 2**-23, why="whole tiles on each axis; one rounding to fp16, 768 additions in fp32"),
    Claim("whole_bf16.max_rel_err", error, dict(M=512, N=256, K=768, dtype=torch.bfloat16), bound=2**-8 + 768 * 2**-23, judges="gpu", why="one rounding to bf16, 768 additions in fp32; the interpreter gets bf16 wrong"),
    Claim("cube_fp32_ieee.max_rel_err", error, dict(M=512, N=512, K=512), bound=4 * 512**0.5 * 2**-24, why="512 roundings of 2**-24 that do not all point one way: √512 of them, times 4"),
    Claim("cube_fp32_tf32.max_rel_err", error, dict(M=512, N=512, K=512, input_precision="tf32"), bound=2**-9, judges="gpu", why="TF32 keeps 11 bits of each factor: cut off, a product loses up to 2**-9"),
    Claim("cube_fp32.distinct", distinct, dict(n=512), kind="count", bound=3, judges="gpu", why="three ways to multiply, three results: each is done as it is asked for"),
    Claim("cube_fp32_tf32x3.max_rel_err", error, dict(M=512, N=512, K=512, input_precision="tf32x3"), bound=2**-18 + 512 * 2**-23, judges="gpu", why="what TF32 cuts off is multiplied too, again as TF32: up to 2**-18 is left, and 512 additions"),
    Claim("ragged_fp32.max_rel_err", error, dict(M=17, N=33, K=7), bound=7 * 2**-24, why="7 additions; no size is a multiple of a tile"),
    Claim("ragged_fp16.max_rel_err", error, dict(M=129, N=65, K=33, dtype=torch.float16), bound=2**-11 + 33 * 2**-23, why="one more than tiles on each axis; one rounding to fp16"),
    Claim("odd_fp16.max_rel_err", error, dict(M=1000, N=999, K=1001, dtype=torch.float16), bound=2**-11 + 1001 * 2**-23, judges="gpu", why="many ragged tiles; rows not aligned to 16 bytes"),
    Claim("one_fp32.max_rel_err", error, dict(M=1, N=1, K=1), bound=2**-24, why="one product, rounded once"),
    Claim("outer_fp32.max_rel_err", error, dict(M=1, N=128, K=1), bound=2**-24, why="K = 1: one product each, rounded once"),
    Claim("short_k_fp32.max_rel_err", error, dict(M=64, N=64, K=8), bound=8 * 2**-24, why="8 additions; K ends within the only tile"),
    Claim("empty_fp32.max_abs_err", error, dict(M=0, N=5, K=7), why="nothing is launched, and the result is empty"),
    Claim("no_k_fp32.max_abs_err", error, dict(M=5, N=3, K=0), why="a sum of nothing is zero, and it is written"),
    Claim("transposed_fp16.max_rel_err", error, dict(M=70, N=40, K=50, dtype=torch.float16, layout="transposed"), bound=2**-11 + 50 * 2**-23, why="both factors and the result by their strides; one rounding to fp16"),
    Claim("sliced_fp16.max_rel_err", error, dict(M=70, N=40, K=50, dtype=torch.float16, layout="sliced"), bound=2**-11 + 50 * 2**-23, why="every second column of both, NaN between; one rounding to fp16"),
    Claim("expanded_fp32.max_rel_err", error, dict(M=70, N=40, K=50, layout="expanded"), bound=50 * 2**-24, why="stride 0: every row of a is one row; 50 additions"),
    Claim("alone_fp16.max_rel_err", error, dict(M=1, N=1, K=50, dtype=torch.float16, layout="alone"), bound=2**-11 + 50 * 2**-23, why="no other row or column is read: there is no memory"),
    Claim("apart_fp16.max_rel_err", error, dict(M=3, N=40, K=50, dtype=torch.float16, layout="apart"), bound=2**-11 + 50 * 2**-23, judges="gpu", gib=5, why="64-bit offsets reach the row at 2**31; one rounding to fp16"),
    Claim("apart_k_fp16.max_rel_err", error, dict(M=3, N=40, K=34, dtype=torch.float16, layout="apart_k"), bound=2**-11 + 34 * 2**-23, gib=5, why="64-bit offsets along K, within a tile and from tile to tile; one rounding to fp16"),
    Claim("wide_fp16.max_rel_err", error, dict(M=1, N=2**24 + 1, K=16, dtype=torch.float16), bound=2**-11 + 16 * 2**-23, judges="gpu", gib=4, why="more than 65,535 tiles along N; one rounding to fp16"),
    Claim("hundred_fp32.max_abs_err", error, dict(M=40, N=48, K=64, values="hundred"), why="sums near 640,000, past fp16; whole and below 2**24, so exact"),
    Claim("hundred_bf16.max_rel_err", error, dict(M=40, N=48, K=64, dtype=torch.bfloat16, values="hundred"), bound=2**-8, judges="gpu", why="sums near 640,000, exact in fp32, rounded once to bf16"),
    Claim("long_k_fp16.max_rel_err", error, dict(M=16, N=16, K=8192, dtype=torch.float16, values="positive"), bound=2**-11 + 8192 * 2**-24, why="one rounding to fp16; 8,192 additions to a growing sum, half as large on the way"),
    Claim("special_fp32.max_rel_err", error, dict(M=33, N=20, K=17, values="special"), bound=17 * 2**-24, why="inf and NaN spread along their row and column only; 17 additions"),
    Claim("each_config_fp16.max_rel_err", each_config, dict(M=1153, N=256, K=20, dtype=torch.float16), bound=2**-11 + 20 * 2**-23, why="each of CONFIGS alone, over more than one group of tiles and a ragged last one; one rounding to fp16"),
    Claim("again_fp16.unlike", unlike, dict(M=96, N=160, K=80, dtype=torch.float16), kind="count", bound=0, why="no order of programs and no tuning shows in any bit"),
    Claim("n1024_fp16.vs_cublas", speed, dict(n=1024, dtype=torch.float16), kind="ratio", bound=0.8, judges="gpu", gib=1, why="hardly a tile for each SM, so nothing hides how a tile starts and ends"),
    Claim("n2048_fp16.vs_cublas", speed, dict(n=2048, dtype=torch.float16), kind="ratio", bound=0.85, judges="gpu", gib=1, why="one wave of tiles, and not a full one"),
    Claim("n4096_fp16.vs_cublas", speed, dict(n=4096, dtype=torch.float16), kind="ratio", bound=0.9, judges="gpu", gib=1, why="many waves of large tiles: wgmma is kept busy"),
    Claim("n8192_fp16.vs_cublas", speed, dict(n=8192, dtype=torch.float16), kind="ratio", bound=0.9, judges="gpu", gib=2, why="many waves of large tiles: wgmma is kept busy"),
    Claim("n1024_fp32.vs_cublas", speed, dict(n=1024, dtype=torch.float32), kind="ratio", bound=0.8, judges="gpu", gib=1, why="full fp32 on both sides, so no tensor cores, for which Triton is made"),
    Claim("n2048_fp32.vs_cublas", speed, dict(n=2048, dtype=torch.float32), kind="ratio", bound=0.8, judges="gpu", gib=1, why="full fp32 on both sides, so no tensor cores, for which Triton is made"),
    Claim("n4096_fp32.vs_cublas", speed, dict(n=4096, dtype=torch.float32), kind="ratio", bound=0.8, judges="gpu", gib=1, why="full fp32 on both sides, so no tensor cores, for which Triton is made"),
    Claim("n8192_fp32.vs_cublas", speed, dict(n=8192, dtype=torch.float32), kind="ratio", bound=0.8, judges="gpu", gib=2, why="full fp32 on both sides, so no tensor cores, for which Triton is made"),
    Claim("n4096_tf32.vs_cublas", speed, dict(n=4096, dtype=torch.float32, input_precision="tf32"), kind="ratio", bound=0.15, judges="gpu", gib=1, why="wgmma takes TF32 only with K contiguous; the rows of b run along N and are copied four bytes at a time"),
    Claim("n4096_tf32_columns.vs_cublas", speed, dict(n=4096, dtype=torch.float32, input_precision="tf32", layout="columns"), kind="ratio", bound=0.45, judges="gpu", gib=1, why="b by columns: K is contiguous, wgmma takes it as it comes, and copies are 16 bytes wide, not 4: three times n4096_tf32"),
]

BUGS = [
    Bug("only_k_masked", section="kernel", old="mask=mask_m[:, None] & mask_k[None, :]", new="mask=mask_k[None, :]", caught_by="alone_fp16.max_rel_err", how="fault", shows="rows past M are read"),
    Bug("k_not_masked", section="kernel", old="offs_k < K - k", new="offs_k < BLOCK_K", caught_by="ragged_fp32.max_rel_err", how="nonfinite", shows="what lies past K enters every sum"),
    Bug("no_mask_on_store", section="kernel", old=", mask=mask_m[:, None] & mask_n[None, :])", new=")", caught_by="ragged_fp16.max_rel_err", how="guard", shows="whole tiles are written past the end of C"),
    Bug("fp16_accumulator", section="kernel", old="dtype=tl.float32", new="dtype=tl.float16", caught_by="long_k_fp16.max_rel_err", how="error", shows="the larger the sum, the more of each product is rounded away"),
    Bug("always_fp16", section="kernel", old="acc.to(c_ptr.dtype.element_ty)", new="acc.to(tl.float16)", caught_by="hundred_fp32.max_abs_err", how="nonfinite", shows="above 65,504 fp16 has only inf"),
    Bug("unnamed_precision", section="kernel", old="input_precision=INPUT_PRECISION, ", new="", caught_by="cube_fp32_tf32x3.max_rel_err", how="error", shows="fp32 is multiplied as TF32, though the caller asked for more"),
    Bug("int32_offsets", section="kernel", old="tl.program_id(axis=0).to(tl.int64)", new="tl.program_id(axis=0)", caught_by="apart_fp16.max_rel_err", how="fault", shows="the offset of the third row wraps to -2**31"),
    Bug("int32_step", section="kernel", old="tl.cast(BLOCK_K, tl.int64)", new="BLOCK_K", caught_by="apart_k_fp16.max_rel_err", how="fault", shows="the step wraps, and the second tile of K is read from before a"),
    Bug("ieee_whatever_is_asked", section="kernel", old="input_precision=INPUT_PRECISION, ", new='input_precision="ieee", ', caught_by="cube_fp32.distinct", how="error", shows="TF32 is asked for and never used: correct, and slow"),
    Bug("stride_taken_for_granted", section="launch", old="*b.stride()", new="N, 1", caught_by="transposed_fp16.max_rel_err", how="error", shows="b is read as if its rows lay in memory one after another"),
    Bug("group_not_cut", section="kernel", old="min(tiles_m - group * GROUP_M, GROUP_M)", new="GROUP_M", caught_by="each_config_fp16.max_rel_err", how="nonfinite", shows="the last group counts rows of tiles that do not exist, and real tiles stay unwritten"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
