# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Matmul: one program owns one tile of C, walks K tile by tile and sums in fp32.

Learn:   tiles and 2-D pointers, tl.dot and its accumulator, masks on three axes, grouped order, autotune
Run:     python triton_matmul.py           every claim, then every break
         python triton_matmul.py --bench   only the speed, on a GPU
Memory:  5 GiB
Card:    any NVIDIA card since Ampere; with none, Triton's interpreter
Minutes: 4
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

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
LIMIT = 2**31 - 256  # of rows and of columns, which the kernel counts in 32 bits, up to one tile past the end
PRECISIONS = ("ieee", "tf32", "tf32x3")  # how tl.dot multiplies fp32; unnamed, an NVIDIA card takes tf32


# %% What is right: the product in float64. It never overflows here, and NaN and inf go where they go in torch.
# --8<-- [start:reference]
def reference(a, b):
    return a.double() @ b.double()
# --8<-- [end:reference]


# %% What the tuner may try. Each is right on its own; a card that cannot hold one passes over it.
# --8<-- [start:configs]
def config(block_m, block_n, block_k, num_warps, num_stages):
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}
    return triton.Config(blocks, num_warps=num_warps, num_stages=num_stages)


CONFIGS = [
    config(64, 64, 32, 4, 3),  # the small one: it alone is left for a matrix of one tile
    config(128, 128, 32, 8, 3),
    config(64, 128, 64, 4, 4),  # from here on 96 to 144 KiB of shared memory: sm_80, sm_90 and up
    config(128, 128, 64, 8, 3),
    config(128, 256, 64, 8, 3),  # the fewest bytes read for each product, if there are tiles enough for every SM
]


def worth_trying(configs, arguments, **_):
    """Leave out a tile larger than the matrix, which only computes padding, and for fp32 more than 64 results a thread:
    outside the tensor cores (ieee) the factors are in registers too, and those spill."""
    room_m, room_n = (max(64, triton.next_power_of_2(arguments[size])) for size in "MN")
    fp32 = arguments["a_ptr"].dtype == torch.float32
    return [c for c in configs if c.kwargs["BLOCK_M"] <= room_m and c.kwargs["BLOCK_N"] <= room_n
            and not (fp32 and c.kwargs["BLOCK_M"] * c.kwargs["BLOCK_N"] > 64 * 32 * c.num_warps)]
# --8<-- [end:configs]


# %% The kernel: what one program does.
# --8<-- [start:kernel]
@triton.autotune(
    configs=CONFIGS[:1] if INTERPRETED else CONFIGS,  # with one there is nothing to time: timing needs a driver
    key=["M", "N", "K", "INPUT_PRECISION"],  # a new value of one of these, or a new dtype, tunes anew
    prune_configs_by={"early_config_prune": worth_trying},
)
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    INPUT_PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    pid = tl.program_id(axis=0).to(tl.int64)  # 64 bits, since offs * stride can pass 2**31
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group, rank = pid // (GROUP_M * tiles_n), pid % (GROUP_M * tiles_n)  # GROUP_M rows of tiles, column by column:
    height = min(tiles_m - group * GROUP_M, GROUP_M)  # neighbors in time then share tiles of A and B in L2
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
        a = tl.load(a_ptrs, mask=mask_m[:, None] & mask_k[None, :], other=0.0)  # past K a zero adds nothing
        b = tl.load(b_ptrs, mask=mask_k[:, None] & mask_n[None, :], other=0.0)  # in both, since 0 * NaN is NaN
        acc = tl.dot(a, b, acc, input_precision=INPUT_PRECISION, out_dtype=acc.dtype)
        a_ptrs += step * stride_ak
        b_ptrs += step * stride_bk
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask_m[:, None] & mask_n[None, :])
# --8<-- [end:kernel]


# %% The launcher: checks what the kernel takes for granted, then launches the grid.
# --8<-- [start:launch]
def meet(a, b):
    """Whether the stretches of memory from the first to the last element of a and b overlap."""
    last = [1 + sum((n - 1) * step for n, step in zip(t.shape, t.stride())) for t in (a, b)]
    return a.data_ptr() < b.data_ptr() + last[1] * b.element_size() and b.data_ptr() < a.data_ptr() + last[0] * a.element_size()


def matmul(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None, input_precision: str = "ieee") -> torch.Tensor:
    """Return a @ b, [M, K] times [K, N], in the dtype of a and in `out` if given; sums are fp32.

    Any strides, those of views and of expanded tensors too; `out` must not overlap itself, a or b. K = 0 gives zeros.
    `input_precision` is how fp32 is multiplied: "ieee" in full, "tf32" with 11 bits of each factor, "tf32x3" in three
    such products; for 16 bits it changes nothing. Raises TypeError for a dtype, ValueError for the rest; bfloat16 is
    refused in the interpreter, which computes it wrongly.
    """
    for name, t in (("a", a), ("b", b), ("out", a if out is None else out)):
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
    if a.dtype not in DTYPES or (INTERPRETED and a.dtype == torch.bfloat16):
        allowed = ", ".join(str(d) for d in DTYPES if not (INTERPRETED and d == torch.bfloat16))
        raise TypeError(f"a is {a.dtype}; allowed here: {allowed}")
    if input_precision not in PRECISIONS:
        raise ValueError(f"input_precision is {input_precision!r}; allowed: {', '.join(PRECISIONS)}")
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {tuple(a.shape)} and b is {tuple(b.shape)}; they must be (M, K) and (K, N)")
    (M, K), N = a.shape, b.shape[1]
    if max(M, N, K) > LIMIT:
        raise ValueError(f"a is {(M, K)} and b is {(K, N)}; no size may pass {LIMIT}, since rows and columns are counted in 32 bits")
    out = torch.empty((M, N), device=a.device, dtype=a.dtype) if out is None else out
    for name, t in (("a", a), ("b", b), ("out", out)):
        if t.device.type != DEVICE or t.device != a.device:
            raise ValueError(f"{name} is on {t.device}; this run needs all three on one {DEVICE} device, a is on {a.device}")
        if t.dtype != a.dtype:
            raise ValueError(f"{name} is {t.dtype}; it must be as a, {a.dtype}")
    if input_precision != "ieee" and not INTERPRETED:
        target = triton.runtime.driver.active.get_current_target()
        if target.backend == "hip" and (input_precision, target.arch) != ("tf32", "gfx942"):
            raise ValueError(f"input_precision is {input_precision!r}; AMD's back end has tf32 on gfx942 only and tf32x3 nowhere: pass 'ieee'")
    if out.shape != (M, N):
        raise ValueError(f"out is {tuple(out.shape)}; it must be {(M, N)}")
    if out.numel() == 0:  # a grid of 0 programs has nothing to launch
        return out
    reach = 0  # of the dimensions with smaller strides
    for stride, size in sorted(zip(out.stride(), out.shape)):
        if size > 1 and stride <= reach:
            raise ValueError(f"out has strides {out.stride()}, so that two of its elements are one: pass a tensor of its own")
        reach += stride * (size - 1)
    for name, t in (("a", a), ("b", b)):
        if t.numel() and meet(t, out):
            raise ValueError(f"out shares its memory with {name}, which is still being read: pass a tensor of its own")
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)  # 1-D: y and z end at 65,535
    with torch.cuda.device_of(a):  # a launch goes to the current device, not to the tensor's
        matmul_kernel[grid](a, b, out, M, N, K, *a.stride(), b.stride(0), b.stride(1), *out.stride(), INPUT_PRECISION=input_precision)
    return out
# --8<-- [end:launch]


# %% The claims: how each is measured, and the table of what must hold.
def factors(M, N, K, dtype, values, layout, seed):
    """a [M, K] and b [K, N] between guards, with these values, lying in memory like this."""
    gen = torch.Generator(DEVICE).manual_seed(seed)
    a, b = (torch.randn(size, generator=gen, device=DEVICE) for size in ((M, K), (K, N)))
    if values == "positive":
        a, b = a.abs().clamp(max=1), b.abs().clamp(max=1)
    elif values == "hundred":
        a, b = (x.mul(2).round().clamp(-9, 9) + 100 for x in (a, b))  # 91 … 109
    elif values == "special":
        a[1, 2], a[3, 4], a[5, 6], b[7, 8], b[9, 8] = torch.inf, torch.nan, -torch.inf, torch.inf, -torch.inf
    a, b = a.to(dtype), b.to(dtype)
    if layout == "transposed":
        return fence(a.t()).t(), fence(b.t()).t()
    if layout == "sliced":  # every second column, from an odd start; NaN lies between
        return tuple(fence(x.new_full((x.shape[0], 2 * x.shape[1] + 1), torch.nan))[:, 1::2].copy_(x) for x in (a, b))
    if layout == "expanded":  # every row of a is one row in memory
        return fence(a[:1]).expand(M, K), fence(b)
    if layout == "alone":  # one row and one column; the next would lie 2**33 elements on, where no memory is
        return fence(a).as_strided((1, K), (2**33, 1)), fence(b.t()).as_strided((K, 1), (1, 2**33))
    if layout == "apart":  # rows 2**30 elements apart, so that the third begins at 2**31
        far = torch.empty((M - 1) * 2**30 + K, dtype=dtype, device=DEVICE).as_strided((M, K), (2**30, 1))
        return far.copy_(a), fence(b)
    if layout == "apart_k":  # columns so far apart that 31 of them pass 2**31, and so does the step to the next tile
        apart = 2**26 + 2**22
        far = torch.empty((K - 1) * apart + M, dtype=dtype, device=DEVICE).as_strided((M, K), (1, apart))
        return far.copy_(a), fence(b)
    return fence(a), fence(b)


def error(M, N, K, dtype=torch.float32, values="random", layout="plain", input_precision="ieee", seed=0):
    """The product and the reference, the output between guards and full of NaN before."""
    a, b = factors(M, N, K, dtype, values, layout, seed)
    kept = a.clone(), b.clone()  # a kernel that spoils its inputs must not spoil the reference
    got = fence(a.new_empty(N, M), output=True).t() if layout == "transposed" else fence(a.new_empty(M, N), output=True)
    matmul(a, b, got, *([] if input_precision == "ieee" else [input_precision]))  # the default is judged too
    return [(got, reference(*kept))]  # judged is what lies in memory, not what matmul returns


def each_config(M, N, K, dtype, seed=0):
    """The same for each of CONFIGS alone, so that none hides behind what another wrote while tuning."""
    tried = matmul_kernel.configs
    try:
        for one in CONFIGS:
            matmul_kernel.configs = [one]
            try:
                yield error(M, N, K, dtype, seed=seed)[0]
            except triton.OutOfResources:  # on a smaller card, where the tuner too passes over it
                pass
    finally:
        matmul_kernel.configs = tried


def unlike(M, N, K, dtype, calls=20, seed=0):
    """How many of `calls` further calls differ in any bit from the first, which tunes, plus 1 for a changed factor."""
    a, b = factors(M, N, K, dtype, "random", "plain", seed)
    before, first = (a.clone(), b.clone()), matmul(a, b)
    differ = sum(not torch.equal(matmul(a, b), first) for _ in range(calls if DEVICE == "cuda" else 1))
    return differ + (not torch.equal(a, before[0])) + (not torch.equal(b, before[1]))


def distinct(n):
    """How many different results fp32 has under PRECISIONS."""
    a, b = factors(n, n, n, torch.float32, "random", "plain", 0)
    return len({matmul(a, b, None, p).cpu().numpy().tobytes() for p in PRECISIONS})


def speed(n, dtype, input_precision="ieee", layout="rows"):
    """FLOP a second against torch.matmul, that is cuBLAS, of the same a and b; tuning and compiling come before the clock starts."""
    torch.set_float32_matmul_precision("highest" if input_precision == "ieee" else "high")  # torch with TF32 only if we are
    a, b = torch.randn(2, n, n, device=DEVICE, dtype=dtype)
    b = b.t() if layout == "columns" else b  # then K is what lies side by side
    out = torch.empty_like(a)
    ours, theirs = lambda: matmul(a, b, out, input_precision), lambda: torch.matmul(a, b, out=out)
    ours()
    won = matmul_kernel.best_config
    tile = " x ".join(str(won.kwargs[f"BLOCK_{axis}"]) for axis in "MNK")
    return race((f"matmul: {tile}, {won.num_warps} warps, {won.num_stages} stages", ours), ("torch.matmul", theirs), work=(2 * n**3, 2 * n**3), unit="FLOP", graph=True)


# fmt: off
F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    # relative is the largest error over the largest |c|. Rounding c costs 2**-11 of it in fp16, 2**-8 in bf16, 2**-24 in fp32.
    # Each of K additions costs at most 2**-24 of a partial sum, no larger than about that c; on tensor cores, which cut off, 2**-23.
    "whole_fp16.max_rel_err": ("error", error, dict(M=512, N=256, K=768, dtype=F16), 2**-11 + 768 * 2**-23, "any", 0, "whole tiles on each axis; one rounding to fp16, 768 additions in fp32"),
    "whole_bf16.max_rel_err": ("error", error, dict(M=512, N=256, K=768, dtype=BF16), 2**-8 + 768 * 2**-23, "gpu", 0, "one rounding to bf16, 768 additions in fp32; the interpreter gets bf16 wrong"),
    "cube_fp32_ieee.max_rel_err": ("error", error, dict(M=512, N=512, K=512), 4 * 512**0.5 * 2**-24, "any", 0, "512 roundings of 2**-24 that do not all point one way: √512 of them, times 4"),
    "cube_fp32_tf32.max_rel_err": ("error", error, dict(M=512, N=512, K=512, input_precision="tf32"), 2**-9, "gpu", 0, "TF32 keeps 11 bits of each factor: cut off, a product loses up to 2**-9"),
    "cube_fp32.distinct": ("count", distinct, dict(n=512), 3, "gpu", 0, "three ways to multiply, three results: each is done as it is asked for"),
    "cube_fp32_tf32x3.max_rel_err": ("error", error, dict(M=512, N=512, K=512, input_precision="tf32x3"), 2**-18 + 512 * 2**-23, "gpu", 0, "what TF32 cuts off is multiplied too, again as TF32: up to 2**-18 is left, and 512 additions"),
    "ragged_fp32.max_rel_err": ("error", error, dict(M=17, N=33, K=7), 7 * 2**-24, "any", 0, "7 additions; no size is a multiple of a tile"),
    "ragged_fp16.max_rel_err": ("error", error, dict(M=129, N=65, K=33, dtype=F16), 2**-11 + 33 * 2**-23, "any", 0, "one more than tiles on each axis; one rounding to fp16"),
    "odd_fp16.max_rel_err": ("error", error, dict(M=1000, N=999, K=1001, dtype=F16), 2**-11 + 1001 * 2**-23, "gpu", 0, "many ragged tiles; rows not aligned to 16 bytes"),
    "one_fp32.max_rel_err": ("error", error, dict(M=1, N=1, K=1), 2**-24, "any", 0, "one product, rounded once"),
    "outer_fp32.max_rel_err": ("error", error, dict(M=1, N=128, K=1), 2**-24, "any", 0, "K = 1: one product each, rounded once"),
    "short_k_fp32.max_rel_err": ("error", error, dict(M=64, N=64, K=8), 8 * 2**-24, "any", 0, "8 additions; K ends within the only tile"),
    "empty_fp32.max_abs_err": ("error", error, dict(M=0, N=5, K=7), 0.0, "any", 0, "nothing is launched, and the result is empty"),
    "no_k_fp32.max_abs_err": ("error", error, dict(M=5, N=3, K=0), 0.0, "any", 0, "a sum of nothing is zero, and it is written"),
    "transposed_fp16.max_rel_err": ("error", error, dict(M=70, N=40, K=50, dtype=F16, layout="transposed"), 2**-11 + 50 * 2**-23, "any", 0, "both factors and the result by their strides; one rounding to fp16"),
    "sliced_fp16.max_rel_err": ("error", error, dict(M=70, N=40, K=50, dtype=F16, layout="sliced"), 2**-11 + 50 * 2**-23, "any", 0, "every second column of both, NaN between; one rounding to fp16"),
    "expanded_fp32.max_rel_err": ("error", error, dict(M=70, N=40, K=50, layout="expanded"), 50 * 2**-24, "any", 0, "stride 0: every row of a is one row; 50 additions"),
    "alone_fp16.max_rel_err": ("error", error, dict(M=1, N=1, K=50, dtype=F16, layout="alone"), 2**-11 + 50 * 2**-23, "any", 0, "no other row or column is read: there is no memory"),
    "apart_fp16.max_rel_err": ("error", error, dict(M=3, N=40, K=50, dtype=F16, layout="apart"), 2**-11 + 50 * 2**-23, "gpu", 5, "64-bit offsets reach the row at 2**31; one rounding to fp16"),
    "apart_k_fp16.max_rel_err": ("error", error, dict(M=3, N=40, K=34, dtype=F16, layout="apart_k"), 2**-11 + 34 * 2**-23, "any", 5, "64-bit offsets along K, within a tile and from tile to tile; one rounding to fp16"),
    "wide_fp16.max_rel_err": ("error", error, dict(M=1, N=2**24 + 1, K=16, dtype=F16), 2**-11 + 16 * 2**-23, "gpu", 4, "more than 65,535 tiles along N; one rounding to fp16"),
    "hundred_fp32.max_abs_err": ("error", error, dict(M=40, N=48, K=64, values="hundred"), 0.0, "any", 0, "sums near 640,000, past fp16; whole and below 2**24, so exact"),
    "hundred_bf16.max_rel_err": ("error", error, dict(M=40, N=48, K=64, dtype=BF16, values="hundred"), 2**-8, "gpu", 0, "sums near 640,000, exact in fp32, rounded once to bf16"),
    "long_k_fp16.max_rel_err": ("error", error, dict(M=16, N=16, K=8192, dtype=F16, values="positive"), 2**-11 + 8192 * 2**-24, "any", 0, "one rounding to fp16; 8,192 additions to a growing sum, half as large on the way"),
    "special_fp32.max_rel_err": ("error", error, dict(M=33, N=20, K=17, values="special"), 17 * 2**-24, "any", 0, "inf and NaN spread along their row and column only; 17 additions"),
    "each_config_fp16.max_rel_err": ("error", each_config, dict(M=1153, N=256, K=20, dtype=F16), 2**-11 + 20 * 2**-23, "any", 0, "each of CONFIGS alone, over more than one group of tiles and a ragged last one; one rounding to fp16"),
    "again_fp16.unlike": ("count", unlike, dict(M=96, N=160, K=80, dtype=F16), 0, "any", 0, "no order of programs and no tuning shows in any bit"),
    "n1024_fp16.vs_cublas": ("ratio", speed, dict(n=1024, dtype=F16), 0.8, "gpu", 1, "hardly a tile for each SM, so nothing hides how a tile starts and ends"),
    "n2048_fp16.vs_cublas": ("ratio", speed, dict(n=2048, dtype=F16), 0.85, "gpu", 1, "one wave of tiles, and not a full one"),
    "n4096_fp16.vs_cublas": ("ratio", speed, dict(n=4096, dtype=F16), 0.9, "gpu", 1, "many waves of large tiles: wgmma is kept busy"),
    "n8192_fp16.vs_cublas": ("ratio", speed, dict(n=8192, dtype=F16), 0.9, "gpu", 2, "many waves of large tiles: wgmma is kept busy"),
    "n1024_fp32.vs_cublas": ("ratio", speed, dict(n=1024, dtype=F32), 0.8, "gpu", 1, "full fp32 on both sides, so no tensor cores, for which Triton is made"),
    "n2048_fp32.vs_cublas": ("ratio", speed, dict(n=2048, dtype=F32), 0.8, "gpu", 1, "full fp32 on both sides, so no tensor cores, for which Triton is made"),
    "n4096_fp32.vs_cublas": ("ratio", speed, dict(n=4096, dtype=F32), 0.8, "gpu", 1, "full fp32 on both sides, so no tensor cores, for which Triton is made"),
    "n8192_fp32.vs_cublas": ("ratio", speed, dict(n=8192, dtype=F32), 0.8, "gpu", 2, "full fp32 on both sides, so no tensor cores, for which Triton is made"),
    "n4096_tf32.vs_cublas": ("ratio", speed, dict(n=4096, dtype=F32, input_precision="tf32"), 0.15, "gpu", 1, "wgmma takes TF32 only with K contiguous; the rows of b run along N and are copied four bytes at a time"),
    "n4096_tf32_columns.vs_cublas": ("ratio", speed, dict(n=4096, dtype=F32, input_precision="tf32", layout="columns"), 0.45, "gpu", 1, "b by columns: K is contiguous, wgmma takes it as it comes, and copies are 16 bytes wide, not 4: three times n4096_tf32"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "only_k_masked": ("kernel", "mask=mask_m[:, None] & mask_k[None, :]", "mask=mask_k[None, :]", "alone_fp16.max_rel_err", "fault", "rows past M are read"),
    "k_not_masked": ("kernel", "offs_k < K - k", "offs_k < BLOCK_K", "ragged_fp32.max_rel_err", "nonfinite", "what lies past K enters every sum"),
    "no_mask_on_store": ("kernel", ", mask=mask_m[:, None] & mask_n[None, :])", ")", "ragged_fp16.max_rel_err", "guard", "whole tiles are written past the end of C"),
    "fp16_accumulator": ("kernel", "dtype=tl.float32", "dtype=tl.float16", "long_k_fp16.max_rel_err", "error", "the larger the sum, the more of each product is rounded away"),
    "always_fp16": ("kernel", "acc.to(c_ptr.dtype.element_ty)", "acc.to(tl.float16)", "hundred_fp32.max_abs_err", "nonfinite", "above 65,504 fp16 has only inf"),
    "unnamed_precision": ("kernel", "input_precision=INPUT_PRECISION, ", "", "cube_fp32_tf32x3.max_rel_err", "error", "fp32 is multiplied as TF32, and nobody said so"),
    "int32_offsets": ("kernel", "tl.program_id(axis=0).to(tl.int64)", "tl.program_id(axis=0)", "apart_fp16.max_rel_err", "fault", "the offset of the third row wraps to -2**31"),
    "int32_step": ("kernel", "tl.cast(BLOCK_K, tl.int64)", "BLOCK_K", "apart_k_fp16.max_rel_err", "fault", "the step wraps, and the second tile of K is read from before a"),
    "ieee_whatever_is_asked": ("kernel", "input_precision=INPUT_PRECISION, ", 'input_precision="ieee", ', "cube_fp32.distinct", "error", "TF32 is asked for and never used: right, and slow"),
    "stride_taken_for_granted": ("launch", "b.stride(0), b.stride(1)", "N, 1", "transposed_fp16.max_rel_err", "error", "b is read as if its rows lay in memory one after another"),
    "group_not_cut": ("kernel", "min(tiles_m - group * GROUP_M, GROUP_M)", "GROUP_M", "each_config_fp16.max_rel_err", "nonfinite", "the last group counts rows of tiles that do not exist, and real tiles stay unwritten"),
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
