# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Debugging: which tool sees which fault, with a GPU and without one.

Learn:   what the interpreter shows and hides, guard bytes, asserts, prints, compute-sanitizer
Run:     python triton_debugging.py   every claim, then every seeded bug
Memory:  5 GiB, for one claim; 1 GiB for the rest
GPU:     any NVIDIA GPU since Ampere; with none, Triton's interpreter and its compiler
Minutes: 2
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, INTERPRETED, Bug, Claim, claim_named, judge_claim, main, supported
    from arguments import check_elementwise, check_product, check_whole, checked_output
    from poison import poisoned
    from probe import (
        PLACE,
        filled_register,
        launch,
        precisions,
        printed,
        probe,
        racing,
        reported_by,
        stopped_at,
        stopped_by,
        stored,
        tensor,
        tuned,
    )
    from scenes import Scene, Stage
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import functools
from pathlib import Path

import torch
import triton
import triton.language as tl

F16, BF16, F32, INT32 = torch.float16, torch.bfloat16, torch.float32, torch.int32
DTYPES = supported(F16, BF16, F32)
TILE = dict(BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
BLOCK_SIZE = 128  # and as many bins at most: each of 128 threads compares 128 pairs


# %% A kernel with an edge on three axes: one program owns one tile of C.
# --8<-- [start:kernel]
@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_cm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(axis=0).to(tl.int64)  # 64 bits, since offs * stride can pass 2**31
    tiles_n = tl.cdiv(N, BLOCK_N)
    offs_m = pid // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M], rows of A and C
    offs_n = pid % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N], columns of B and C
    mask_m, mask_n = offs_m < M, offs_n < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K).to(tl.int64)  # [BLOCK_K]
        mask_k = offs_k < K
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]  # [BLOCK_M, BLOCK_K]
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :]  # [BLOCK_K, BLOCK_N]
        a = tl.load(a_ptrs, mask=mask_m[:, None] & mask_k[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=mask_k[:, None] & mask_n[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask_m[:, None] & mask_n[None, :])
    # --8<-- [end:kernel]


# --8<-- [start:launch]
def matmul(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return a @ b, [M, K] times [K, N], in the dtype of a, in `out` if given; sums are fp32.

    Rows may lie any distance apart; `out` overlaps neither itself nor a nor b.
    """
    out = checked_matmul(a, b, out)
    (M, K), N = a.shape, b.shape[1]
    grid = (triton.cdiv(M, TILE["BLOCK_M"]) * triton.cdiv(N, TILE["BLOCK_N"]),)
    strides = (a.stride(0), b.stride(0), out.stride(0))
    if out.numel():  # a grid of 0 programs has nothing to launch
        with torch.cuda.device_of(a):  # a launch goes to the current device, not to the tensor's
            matmul_kernel[grid](a, b, out, M, N, K, *strides, **TILE)
    return out
    # --8<-- [end:launch]


# %% A kernel whose programs share an output: how many rows each bin gets, as tokens by expert.
# --8<-- [start:count]
@triton.jit
def count_kernel(
    x_ptr, counts_ptr, n_elements, n_bins, N_BINS: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    tl.static_assert(N_BINS <= 128, "more pairs than 128 threads hold")  # free at run time
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=-1)  # -1 is no bin
    # compiled only with TRITON_DEBUG=1
    tl.device_assert((x >= 0) & (x < n_bins), "no such bin", mask=mask)
    bins = tl.arange(0, N_BINS)
    hits = tl.sum((x[:, None] == bins[None, :]).to(tl.int32), axis=0)  # [N_BINS], of this block
    tl.atomic_add(counts_ptr + bins, hits, mask=bins < n_bins)


def count(x: torch.Tensor, n_bins: int, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return how often each of 0 … n_bins - 1 occurs in x, as int32 [n_bins], in `out` if given.

    x is int32, contiguous, of any shape. Other values are not counted: to look for them would mean
    to wait for the GPU; with TRITON_DEBUG=1 they stop the kernel.
    """
    out = checked_count(x, n_bins, out)
    n = x.numel()
    blocks = {"N_BINS": triton.next_power_of_2(n_bins), "BLOCK_SIZE": BLOCK_SIZE}
    out.zero_()  # the programs only ever add
    if n:
        with torch.cuda.device_of(x):
            count_kernel[(triton.cdiv(n, BLOCK_SIZE),)](x, out, n, n_bins, **blocks)
    return out
    # --8<-- [end:count]


# %% What the two kernels take for granted.
# --8<-- [start:checks]
def checked_matmul(a, b, out):
    """`out`, or a new tensor for the product. Raises what `matmul` says."""
    check_product(DEVICE, DTYPES, a, b)
    shape = (a.shape[0], b.shape[1])
    return checked_output(out, shape, (a.dtype,), rows_apart=True, a=a, b=b)


def checked_count(x, n_bins, out):
    """`out`, or a new tensor for the counts. Raises TypeError for a dtype, else ValueError."""
    check_whole("n_bins", n_bins, 1, BLOCK_SIZE)
    check_elementwise(DEVICE, (INT32,), x=x)
    check_whole("the number of elements of x", x.numel(), 0, 2**31 - 1)  # an int32 counts no more
    return checked_output(out, (n_bins,), (INT32,), x=x)
    # --8<-- [end:checks]


# %% The smallest kernel for each thing that the interpreter does in its own way.
# --8<-- [start:facts]
@triton.jit
def square_kernel(x_ptr, out_ptr, WIDEN: tl.constexpr):
    x = tl.load(x_ptr)
    if WIDEN:
        x = x.to(tl.float32)
    tl.store(out_ptr, x * x)


@triton.jit
def dot_kernel(a_ptr, out_ptr, SIZE: tl.constexpr, INPUT_PRECISION: tl.constexpr):
    offs = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    a = tl.load(a_ptr + offs)
    tl.store(out_ptr + offs, tl.dot(a, a, input_precision=INPUT_PRECISION))


@triton.jit
def atomic_kernel(out_ptr):
    tl.atomic_add(out_ptr, tl.load(out_ptr))


@triton.jit
def descriptor_kernel(x_ptr, out_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, shape=[n, n], strides=[n, 1], block_shape=[16, 16])
    # four rows and four columns of it exist, the rest is filled with zeros
    tl.store(out_ptr, tl.sum(x.load([16, 16])))


@triton.jit
def print_kernel(x_ptr, STATIC: tl.constexpr):
    tl.static_print("STATIC is", STATIC)
    if not STATIC:
        tl.device_print("x", tl.load(x_ptr))


@triton.jit
def assert_kernel(x_ptr, out_ptr, SIZE: tl.constexpr):
    tl.static_assert(SIZE <= 4, "SIZE is too large")
    x = tl.load(x_ptr)
    tl.device_assert(x > 0, "x is not positive")
    tl.store(out_ptr, x)


@triton.jit
def past_kernel(x_ptr, out_ptr, n):
    tl.store(out_ptr, tl.load(x_ptr + n))


@triton.jit
def masked_kernel(x_ptr, out_ptr, n):
    offs = tl.arange(0, 16)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + offs, mask=offs < n), axis=0))  # on purpose: no fill


GLOBAL = 3


@triton.jit
def global_kernel(out_ptr):
    tl.store(out_ptr, GLOBAL)


@triton.jit
def assembly_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.store(
        out_ptr,
        tl.inline_asm_elementwise(
            "mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
        ),
    )


@triton.jit
def racing_kernel(total_ptr):
    tl.store(total_ptr, tl.load(total_ptr) + 1)


@triton.jit
def stop_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4)) * 2
    breakpoint()
    tl.store(out_ptr, tl.sum(x, axis=0))
    # --8<-- [end:facts]


# %% What is correct: a matrix product in float64, and how often each bin occurs.
# --8<-- [start:reference]
def reference(a, b):
    return a.double() @ b.double()


def reference_count(x, n_bins):
    return torch.stack([(x == n).sum() for n in range(n_bins)])
    # --8<-- [end:reference]


# %% How each claim is measured. First the two kernels.
def matmul_error(guards, M, N, K, dtype=F32, layout="guarded"):
    """The product and the reference; a and b between guards unless `layout` says otherwise."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    a, b = (
        torch.randn(size, generator=generator, device=DEVICE).to(dtype) for size in ((M, K), (K, N))
    )
    kept = a.clone(), b.clone()  # a kernel that spoils its inputs must not spoil the reference
    if layout == "tight":  # nothing around them but what the allocator put there
        return [(matmul(a, b), reference(*kept))]
    a, b = guards.input(a), guards.input(b)
    if layout == "alone":  # one row; the next would lie 2**33 elements on, where no memory is
        a = a.as_strided((M, K), (2**33, 1))
    elif layout == "apart":  # rows 2**30 elements apart, so that the third begins at 2**31
        room = torch.empty((M - 1) * 2**30 + K, dtype=dtype, device=DEVICE)
        a = room.as_strided((M, K), (2**30, 1)).copy_(a)
    out = guards.output((M, N), dtype)  # judged is what lies in memory
    matmul(a, b, out)
    if DEVICE == "cuda":
        torch.cuda.synchronize()  # else the reference would report a fault, as an error of cuBLAS
    return [(out, reference(*kept))]


def count_error(guards, n, n_bins, calls=1):
    """The counts that each of `calls` calls leaves in memory, and the reference."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    x = torch.randint(0, n_bins, (n,), generator=generator, device=DEVICE, dtype=INT32)
    x = x**2 // n_bins  # low bins more often
    want, x = reference_count(x, n_bins), guards.input(x)
    for _ in range(calls):
        out = guards.output((n_bins,), INT32)
        count(x, n_bins, out)
        yield out, want


def counted(values):
    """How many of some values are found in the bins 0 … 7."""
    return int(count(torch.tensor(values, dtype=INT32, device=DEVICE), 8).sum())


# %% Then the facts: what each of the smallest kernels gives.
def closure():
    """What a kernel makes of a name of the function around it."""
    factor = tl.constexpr(3)

    @triton.jit
    def inner_kernel(out_ptr):
        tl.store(out_ptr, factor)

    return stored(inner_kernel)


FACTS = {
    "detected": lambda: f"{triton.knobs.runtime.interpret}, {type(square_kernel).__name__}",
    "bf16_square": lambda: stored(square_kernel, tensor(2, dtype=BF16), dtype=BF16, WIDEN=False),
    "bf16_widened": lambda: stored(square_kernel, tensor(2, dtype=BF16), dtype=BF16, WIDEN=True),
    "bf16_cast": lambda: stored(square_kernel, tensor(1.0029296875), dtype=BF16, WIDEN=True),
    "dot_of_one": lambda: stored(dot_kernel, tensor(3), SIZE=1, INPUT_PRECISION="ieee"),
    "precision": lambda: precisions(dot_kernel),
    "bf16_atomic": lambda: stored(atomic_kernel, dtype=BF16, start=1.5),
    "descriptor": lambda: stored(descriptor_kernel, torch.ones(20, 20, device=PLACE), 20),
    "device_print": lambda: printed(print_kernel, tensor(7), STATIC=0),
    "static_print": lambda: printed(print_kernel, tensor(7), STATIC=4),
    "static_print_again": lambda: printed(print_kernel, tensor(7), again=True, STATIC=4),
    "device_assert": lambda: stored(triton.jit(assert_kernel.fn, debug=True), tensor(-1), SIZE=1),
    "static_assert": lambda: stored(assert_kernel, tensor(1), SIZE=8),
    "int32": lambda: stored(square_kernel, tensor(70_000, dtype=INT32), dtype=INT32, WIDEN=False),
    "past_the_end": lambda: stored(past_kernel, tensor(1, 2, 3, 77)[:3], 3),
    "keyword": lambda: stored(assert_kernel, tensor(5), SIZE=1, no_such_option=1),
    "warps": lambda: stored(assert_kernel, tensor(5), SIZE=1, num_warps=3),
    "global": lambda: stored(global_kernel),
    "closure": closure,
    "assembly": lambda: stored(assembly_kernel, tensor(5, dtype=INT32), dtype=INT32),
    "masked": lambda: stored(masked_kernel, tensor(1, 2, 3, 4), 3),
    "masked_register": lambda: filled_register(masked_kernel, tensor(1, 2, 3, 4), 3),
    "masked_poisoned": lambda: str(poisoned()(stored)(masked_kernel, tensor(1, 2, 3, 4), 3)),
    "racing": lambda: racing(racing_kernel),
    "tuning": lambda: tuned(assert_kernel, tensor(5)),
    "tuning_by_hand": lambda: tuned(assert_kernel, tensor(5), timed=False),
    "breakpoint": lambda: stopped_at(stop_kernel, tensor(1, 2, 3, 4)),
}


def fact(name):
    """What comes of one of FACTS, in this process."""
    return probe(FACTS[name])


def seen(name, by):
    """One of FACTS, by the interpreter or by this process, which may be the interpreter's too."""
    interpreted_here = INTERPRETED and not torch.cuda.is_available()
    if by == "interpreter" and not interpreted_here:
        return scene("interpreted")[name]
    return fact(name)


# %% And what needs a process of its own, mostly on a GPU: faults, and the tools that watch.
ON_GPU = {
    "overrun": lambda: reported_by(past_kernel),
    "no_such_bin": lambda: stopped_by(lambda: count(tensor(3, 8, dtype=INT32), 8)),
    "int32": lambda: stopped_by(FACTS["int32"]),
    "device_print": lambda: stopped_by(lambda: launch(print_kernel, tensor(7), STATIC=0)),
}


def judged(claim_id):
    """The row of a claim of this lab."""
    lab = sys.modules[__name__]
    return judge_claim(lab, claim_named(lab, claim_id))


def printed_on_gpu(lines=False):
    """A line that the GPU printed, or how many there are."""
    texts = [" ".join(line.split()) for line in scene("device_print").splitlines() if "x:" in line]
    return len(texts) if lines else texts[0]


DEBUG = {"TRITON_DEBUG": "1"}
UNCACHED = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
COMPILED = {"TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
ALL_FACTS = "{name: lab.fact(name) for name in lab.FACTS}"
LATE = "import os, triton; os.environ['TRITON_INTERPRET'] = '1'"
TIGHT, FLUSH = "tight_fp16.max_rel_err", "flush_fp16.max_rel_err"
SCENES = {
    "interpreted": Scene(ALL_FACTS, COMPILED | DEBUG | {"TRITON_INTERPRET": "1"}),
    "late": Scene("lab.fact('masked')", COMPILED, first=LATE),
    "overrun": Scene("lab.ON_GPU['overrun']()"),
    "overrun_blocking": Scene("lab.ON_GPU['overrun']()", {"CUDA_LAUNCH_BLOCKING": "1"}),
    "no_such_bin": Scene("lab.ON_GPU['no_such_bin']()", DEBUG),
    "int32": Scene("lab.ON_GPU['int32']()", DEBUG),
    "device_print": Scene("lab.ON_GPU['device_print']()", shows="text"),
    "memcheck_cached": Scene(TIGHT, tool="memcheck", bug="only_k_masked"),
    "memcheck_uncached": Scene(TIGHT, UNCACHED, tool="memcheck", bug="only_k_masked"),
    "memcheck_flush": Scene(FLUSH, UNCACHED, tool="memcheck", bug="only_k_masked"),
    "memcheck_padded": Scene(FLUSH, UNCACHED, tool="memcheck", bug="only_k_masked", padding=4096),
    "memcheck_right": Scene(FLUSH, UNCACHED, tool="memcheck", padding=4096),
    "racecheck": Scene("few_programs.max_abs_err", tool="racecheck", bug="race"),
    "initcheck": Scene("left_out.counted", UNCACHED, tool="initcheck", bug="not_zeroed"),
    "initcheck_right": Scene("left_out.counted", UNCACHED, tool="initcheck"),
}


@functools.cache
def stage():
    return Stage(Path(__file__), SCENES, BUGS)


def scene(name):
    """What came of one of SCENES."""
    return stage().result(name, is_program=__name__ == "__main__")


# fmt: off
CLAIMS = [
    # Relative to the largest |c|: rounding it costs 2**-11 in fp16, 2**-8 in bf16; each of K sums,
    # about as large, 2**-24; on tensor cores, which cut off, 2**-23.
    Claim("ragged_fp32.max_rel_err", matmul_error, dict(M=70, N=90, K=50), bound=50 * 2**-24, why="50 additions in fp32; no size is a multiple of a tile"),
    Claim("ragged_fp16.max_rel_err", matmul_error, dict(M=70, N=90, K=50, dtype=F16), bound=2**-11 + 50 * 2**-23, why="one rounding to fp16, 50 additions; no size is a multiple of a tile"),
    Claim("ragged_bf16.max_rel_err", matmul_error, dict(M=70, N=90, K=50, dtype=BF16), bound=2**-8 + 50 * 2**-23, judges="gpu", why="one rounding to bf16, 50 additions; the interpreter gets bf16 wrong"),
    Claim("tight_fp16.max_rel_err", matmul_error, dict(M=100, N=63, K=63, dtype=F16, layout="tight"), bound=2**-11 + 63 * 2**-23, why="one rounding to fp16, 63 additions; no guards around it"),
    Claim("flush_fp16.max_rel_err", matmul_error, dict(M=100, N=64, K=64, dtype=F16, layout="tight"), bound=2**-11 + 64 * 2**-23, why="one rounding to fp16, 64 additions; a has 25 times 512 bytes, and the next allocation may begin right after it"),
    Claim("alone_fp16.max_rel_err", matmul_error, dict(M=1, N=64, K=50, dtype=F16, layout="alone"), bound=2**-11 + 50 * 2**-23, why="no other row is read: there is no memory; one rounding to fp16"),
    Claim("apart_fp16.max_rel_err", matmul_error, dict(M=3, N=40, K=50, dtype=F16, layout="apart"), bound=2**-11 + 50 * 2**-23, judges="gpu", gib=5, why="64-bit offsets reach the row at 2**31; one rounding to fp16"),
    Claim("bins.max_abs_err", count_error, dict(n=1000, n_bins=100), why="whole numbers; the last block is not full, nor are the bins a power of two"),
    Claim("few_programs.max_abs_err", count_error, dict(n=8_192, n_bins=16), why="64 programs add to the same 16 counts"),
    Claim("many_programs.max_abs_err", count_error, dict(n=2**20, n_bins=16, calls=100), judges="gpu", gib=1, why="8,192 programs add to the same 16 counts, 100 times over, and none is lost"),
    Claim("left_out.counted", counted, dict(values=[0, 1, 1, 7, 7, 7, 8, 3, -1, 0]), kind="count", bound=8, why="8 and -1 are no bins, and without TRITON_DEBUG no check looks for them"),
    Claim("detected.interpreted", seen, dict(name="detected", by="interpreter"), kind="codegen", bound="True, InterpretedFunction", why="the knob, and the class of every kernel defined while it was on"),
    Claim("detected.compiled", seen, dict(name="detected", by="compiler"), kind="codegen", bound="False, JITFunction", judges="compile", why="the same two where kernels are compiled"),
    Claim("late.interpreted", scene, dict(name="late"), kind="codegen", bound="RuntimeError", why="tl.sum was decorated while triton was imported, for the compiler"),
    Claim("bf16_square.interpreted", seen, dict(name="bf16_square", by="interpreter"), kind="count", bound=0.0, why="2 times 2 on the bits of bf16 taken as a 16-bit integer: all that is kept of 0x4000 squared is zeros"),
    Claim("bf16_square.on_gpu", seen, dict(name="bf16_square", by="gpu"), kind="count", bound=4.0, judges="gpu", why="2 times 2"),
    Claim("bf16_widened.interpreted", seen, dict(name="bf16_widened", by="interpreter"), kind="count", bound=4.0, why="widened to fp32 after the load, 2 times 2 is correct there too"),
    Claim("bf16_cast.interpreted", seen, dict(name="bf16_cast", by="interpreter"), kind="count", bound=1.0, why="1.0059 on its way from fp32 to bf16 is cut off"),
    Claim("bf16_cast.on_gpu", seen, dict(name="bf16_cast", by="gpu"), kind="count", bound=1.0078125, judges="gpu", why="1.0059 is rounded to the nearest bf16"),
    Claim("bf16_atomic.interpreted", seen, dict(name="bf16_atomic", by="interpreter"), kind="codegen", bound="ValueError", why="atomics exist there for fp16, fp32 and integers"),
    Claim("bf16_atomic.on_gpu", seen, dict(name="bf16_atomic", by="gpu"), kind="count", bound=3.0, judges="gpu", why="1.5 and 1.5"),
    Claim("dot_of_one.interpreted", seen, dict(name="dot_of_one", by="interpreter"), kind="count", bound=9.0, why="a product of 1 by 1: NumPy has no least size"),
    Claim("dot_of_one.compiled", seen, dict(name="dot_of_one", by="compiler"), kind="codegen", bound="CompilationError", judges="compile", why="K is at least 16, in Triton 3.9 at least 8 for fp32"),
    Claim("precision.interpreted", seen, dict(name="precision", by="interpreter"), kind="codegen", bound="equal", why="input_precision is not looked at: ieee and tf32 are one"),
    Claim("precision.on_gpu", seen, dict(name="precision", by="gpu"), kind="codegen", bound="unlike", judges="gpu", why="TF32 keeps 11 bits of each factor"),
    Claim("int32.wrapped", seen, dict(name="int32", by="this process"), kind="count", bound=605032704, why="70,000 squared, less 2**32: both wrap, and neither reports it"),
    Claim("past_the_end.read", seen, dict(name="past_the_end", by="this process"), kind="count", bound=77.0, why="the element after the last: neither has the end of a tensor"),
    Claim("masked.interpreted", seen, dict(name="masked", by="interpreter"), kind="count", bound=6.0, why="1 + 2 + 3; the thirteen masked lanes are 0, which is not guaranteed"),
    Claim("masked.register", seen, dict(name="masked_register", by="compiler"), kind="codegen", bound="0x0", judges="compile", why="PTX sets the register to 0 before a load that may not happen, in Triton 3.6, 3.7 and 3.9"),
    Claim("masked.on_gpu", seen, dict(name="masked", by="gpu"), kind="count", bound=6.0, judges="gpu", why="so a GPU shows 0 as well; the documentation says undefined"),
    Claim("masked.poisoned", seen, dict(name="masked_poisoned", by="interpreter"), kind="codegen", bound="nan", why="with NaN in lanes that no fill was named for, the sum shows it"),
    Claim("descriptor.interpreted", seen, dict(name="descriptor", by="interpreter"), kind="count", bound=16.0, why="four rows of four exist in the last block of 20 by 20; no allocator is asked for"),
    Claim("descriptor.on_gpu", seen, dict(name="descriptor", by="gpu"), kind="codegen", bound="RuntimeError", judges="gpu", why="no allocator was set: triton.set_allocator comes first"),
    Claim("device_print.interpreted", seen, dict(name="device_print", by="interpreter"), kind="codegen", bound="STATIC is 0 (0, 0, 0) x: [7.]", why="Python prints at once, a whole tensor to a line"),
    Claim("device_print.on_gpu", printed_on_gpu, kind="codegen", bound="pid (0, 0, 0) idx () x: 7.000000", judges="gpu", why="the GPU prints, one element to a line, when the host waits for it"),
    Claim("device_print.lines", printed_on_gpu, dict(lines=True), kind="count", bound=128, judges="gpu", why="4 warps of 32 threads, and each of them holds the scalar"),
    Claim("static_print.compiled", seen, dict(name="static_print", by="compiler"), kind="codegen", bound="STATIC is 4", judges="compile", why="the compiler prints it"),
    Claim("static_print.again", seen, dict(name="static_print_again", by="compiler"), kind="codegen", bound="nothing", judges="compile", why="the code comes from the cache on disk, and nothing is compiled"),
    Claim("device_assert.interpreted", seen, dict(name="device_assert", by="interpreter"), kind="count", bound=-1.0, why="-1 is stored although the assertion wants it positive, with debug=True"),
    Claim("no_such_bin.on_gpu", scene, dict(name="no_such_bin"), kind="codegen", bound="device-side assert", judges="gpu", why="bin 8 of 8, with TRITON_DEBUG=1"),
    Claim("static_assert.interpreted", seen, dict(name="static_assert", by="interpreter"), kind="codegen", bound="AssertionError", why="a constant is known before anything runs"),
    Claim("static_assert.compiled", seen, dict(name="static_assert", by="compiler"), kind="codegen", bound="CompileTimeAssertionFailure", judges="compile", why="a constant is known before anything runs"),
    Claim("int32.on_gpu", scene, dict(name="int32"), kind="codegen", bound="device-side assert", judges="gpu", why="with TRITON_DEBUG=1 each sum, difference and product of int32 is checked"),
    Claim("keyword.interpreted", seen, dict(name="keyword", by="interpreter"), kind="count", bound=5.0, why="an option that does not exist is dropped"),
    Claim("keyword.compiled", seen, dict(name="keyword", by="compiler"), kind="codegen", bound="KeyError", judges="compile", why="unrecognised"),
    Claim("warps.interpreted", seen, dict(name="warps", by="interpreter"), kind="count", bound=5.0, why="three warps: there are none to count"),
    Claim("warps.compiled", seen, dict(name="warps", by="compiler"), kind="codegen", bound="AssertionError", judges="compile", why="num_warps must be a power of two"),
    Claim("global.interpreted", seen, dict(name="global", by="interpreter"), kind="count", bound=3.0, why="Python looks it up"),
    Claim("global.compiled", seen, dict(name="global", by="compiler"), kind="codegen", bound="CompilationError", judges="compile", why="a global has to be a tl.constexpr"),
    Claim("closure.interpreted", seen, dict(name="closure", by="interpreter"), kind="codegen", bound="NameError", why="the interpreter runs a rewritten copy of the kernel, outside of the function that it was written in"),
    Claim("closure.compiled", seen, dict(name="closure", by="gpu"), kind="count", bound=3.0, judges="gpu", why="the compiler finds a constexpr there"),
    Claim("assembly.interpreted", seen, dict(name="assembly", by="interpreter"), kind="codegen", bound="NotImplementedError", why="NumPy runs no PTX"),
    Claim("assembly.on_gpu", seen, dict(name="assembly", by="gpu"), kind="count", bound=5, judges="gpu", why="one mov"),
    Claim("racing.interpreted", seen, dict(name="racing", by="interpreter"), kind="codegen", bound="all", why="one program after another: each sees what the last one wrote"),
    Claim("racing.on_gpu", seen, dict(name="racing", by="gpu"), kind="codegen", bound="lost", judges="gpu", why="programs read the same total, and all but one of their additions are overwritten"),
    Claim("tuning.interpreted", seen, dict(name="tuning", by="interpreter"), kind="codegen", bound="RuntimeError", why="0 active drivers: timing two configurations needs a GPU"),
    Claim("tuning_by_hand.interpreted", seen, dict(name="tuning_by_hand", by="interpreter"), kind="count", bound=5.0, why="with a do_bench of its own, the tuner needs no driver"),
    Claim("breakpoint.interpreted", seen, dict(name="breakpoint", by="interpreter"), kind="codegen", bound="[2.0, 4.0, 6.0, 8.0]", why="the debugger stops inside the kernel and holds a whole tensor"),
    Claim("breakpoint.compiled", seen, dict(name="breakpoint", by="compiler"), kind="codegen", bound="CompilationError", judges="compile", why="the compiler has no breakpoint"),
    Claim("overrun.reported", scene, dict(name="overrun"), kind="codegen", bound="read, then nothing works", judges="gpu", why="a launch only queues: the error comes out of a later call, and the context is lost"),
    Claim("overrun_blocking.reported", scene, dict(name="overrun_blocking"), kind="codegen", bound="launch, then nothing works", judges="gpu", why="with CUDA_LAUNCH_BLOCKING=1 the launch waits and reports it itself"),
    Claim("memcheck_cached.reported", scene, dict(name="memcheck_cached"), kind="codegen", bound="clean", judges="gpu", why="rows past M lie in the same large piece that PyTorch's allocator cut its tensors from"),
    Claim("memcheck_uncached.reported", scene, dict(name="memcheck_uncached"), kind="codegen", bound="errors", judges="gpu", why="PYTORCH_NO_CUDA_MEMORY_CACHING=1: each tensor is an allocation of its own, and a does not fill its last 512 bytes"),
    Claim("memcheck_flush.reported", scene, dict(name="memcheck_flush"), kind="codegen", bound="clean", judges="gpu", why="a does fill them, and what lies past it is the next allocation"),
    Claim("memcheck_padded.reported", scene, dict(name="memcheck_padded"), kind="codegen", bound="errors", judges="gpu", why="--padding 4096 keeps the next allocation away"),
    Claim("memcheck_right.reported", scene, dict(name="memcheck_right"), kind="codegen", bound="clean", judges="gpu", why="the kernel with its masks, checked in the same way"),
    Claim("racecheck.reported", scene, dict(name="racecheck"), kind="codegen", bound="clean", judges="gpu", why="it watches shared memory only, and this race is in global memory"),
    Claim("initcheck.reported", scene, dict(name="initcheck"), kind="codegen", bound="errors", judges="gpu", why="counts are added to memory that was never written"),
    Claim("initcheck_right.reported", scene, dict(name="initcheck_right"), kind="codegen", bound="clean", judges="gpu", why="the counts are cleared first"),
]

BUGS = [
    Bug("only_k_masked", section="kernel", old="mask=mask_m[:, None] & mask_k[None, :]", new="mask=mask_k[None, :]", caught_by="alone_fp16.max_rel_err", how="fault", shows="rows past M are read"),
    Bug("k_not_masked", section="kernel", old="offs_k < K", new="offs_k < K + BLOCK_K", caught_by="ragged_fp32.max_rel_err", how="nonfinite", shows="the guards' NaN, or what lies past K, enters the sums"),
    Bug("no_mask_on_store", section="kernel", old=", mask=mask_m[:, None] & mask_n[None, :])", new=")", caught_by="ragged_fp16.max_rel_err", how="guard", shows="whole tiles are written past the end of C"),
    Bug("int32_offsets", section="kernel", old="tl.program_id(axis=0).to(tl.int64)", new="tl.program_id(axis=0)", caught_by="apart_fp16.max_rel_err", how="fault", shows="the offset of the third row wraps to -2**31"),
    Bug("no_other", section="count", old=", other=-1)", new=")", caught_by="bins.max_abs_err", how="error", shows="lanes past the end count as bin 0"),
    Bug("not_zeroed", section="count", old="out.zero_()", new="pass", caught_by="bins.max_abs_err", how="error", shows="counting starts from what lay in memory"),
    Bug("race", section="count", old="tl.atomic_add(counts_ptr + bins, hits, mask=bins < n_bins)", new="tl.store(counts_ptr + bins, tl.load(counts_ptr + bins, mask=bins < n_bins, other=0) + hits, mask=bins < n_bins)", caught_by="many_programs.max_abs_err", how="error", shows="two programs read the same count, and one addition is lost"),
    Bug("no_assert", section="count", old='tl.device_assert((x >= 0) & (x < n_bins), "no such bin", mask=mask)', new="pass", caught_by="no_such_bin.on_gpu", how="error", shows="bin 8 of 8 is left out, without a report"),
    Bug("not_widened", section="facts", old="x = x.to(tl.float32)", new="x = x", caught_by="bf16_widened.interpreted", how="error", shows="2 times 2 is 0 again"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
