# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Code generation: what the compiler made of a kernel, and which line of yours made it do so.

Learn:   vector width, predicates, tensor core instructions, spills; how to find your line in PTX
Run:     python triton_codegen.py           every claim, then every seeded bug
         python triton_codegen.py --bench   only the speed, on a GPU
         python triton_codegen.py 'my.py:my_kernel(*fp32, 98432, BLOCK=64)' sm_90   your own kernel
Memory:  4 GiB
GPU:     any NVIDIA GPU since Ampere; with none, Triton's interpreter and its compiler
Minutes: 1
"""

import os
import sys

# A kernel of yours that the command line names is compiled, on any machine, and never run.
YOURS = __name__ == "__main__" and len(sys.argv) > 1 and not sys.argv[1].startswith("-")
if YOURS:
    os.environ["TRITON_INTERPRET"] = "0"

# --8<-- [start:companions]
try:
    from judge import DEVICE, Bug, Claim, benchmark_pair, judge_lab, run_program
    from arguments import (
        check_contiguous,
        check_dimensions,
        check_dtypes,
        check_one_of,
        check_tensors,
        checked_output,
    )
    from explain import as_pointer, explain, explain_command
    from offline import TARGETS, Pointer, compiling_for, fresh_kernel
    from reading import (
        KINDS_OF_OPCODES,
        figures,
        first_line_like,
        first_load,
        first_match,
        layouts_of,
        opcodes_like,
        padding,
        resources,
        source_of,
    )
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import functools

import torch
import triton
import triton.language as tl

__all__ = ["explain"]  # for your own programs

DTYPES = (torch.float32, torch.float16)
BLOCK_SIZE = 1024
PER_LANE = 256  # values of a row in one lane: twice what is comfortable, so that spills show


# %% The kernels, each as short as what it shows allows. First memory: width, fill, cache.
# --8<-- [start:copy]
@triton.jit
def copy_kernel(
    x_ptr,
    out_ptr,
    n_elements,
    stride,
    BLOCK_SIZE: tl.constexpr,
    FILL: tl.constexpr = 0,
    WIDE: tl.constexpr = True,
    CACHE: tl.constexpr = "",
    EVICT: tl.constexpr = "",
):
    pid = tl.program_id(axis=0)
    if WIDE:  # a constexpr: the branch is taken or gone when the kernel is compiled
        pid = pid.to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements
    x_ptrs = x_ptr + offsets * stride
    x = tl.load(x_ptrs, mask=mask, other=FILL, cache_modifier=CACHE, eviction_policy=EVICT)
    tl.store(out_ptr + offsets, x, mask=mask)
    # --8<-- [end:copy]


# %% A start that lies in memory, as in a page table: only you can know that it is aligned.
# --8<-- [start:window]
@triton.jit
def window_kernel(x_ptr, starts_ptr, out_ptr, ALIGNED: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)
    start = tl.load(starts_ptr + pid)
    if ALIGNED:
        start = tl.multiple_of(start, 16)  # a promise, not a check
    offsets = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    tl.store(out_ptr + pid * BLOCK_SIZE + offsets, tl.load(x_ptr + start + offsets))
    # --8<-- [end:window]


# %% Offsets that wrap around: the modulo hides that they are contiguous.
# --8<-- [start:wrap]
@triton.jit
def wrap_kernel(x_ptr, out_ptr, n, PROMISED: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    wrapped = offsets % n
    if PROMISED:  # true only where BLOCK_SIZE divides n
        wrapped = tl.max_contiguous(tl.multiple_of(wrapped, BLOCK_SIZE), BLOCK_SIZE)
    tl.store(out_ptr + offsets, tl.load(x_ptr + wrapped))
    # --8<-- [end:wrap]


# %% Arithmetic, one operation at a time.
# --8<-- [start:arithmetic]
@triton.jit
def arithmetic_kernel(x_ptr, y_ptr, out_ptr, OP: tl.constexpr):
    offsets = tl.arange(0, 128)  # one element a thread
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    if OP == "exp":
        z = tl.exp(x)
    elif OP == "/":
        z = x / y
    elif OP == "div_rn":
        z = tl.div_rn(x, y)
    elif OP == "sqrt":
        z = tl.sqrt(x)
    elif OP == "sqrt_rn":
        z = tl.sqrt_rn(x)
    else:
        z = x * y + y
    tl.store(out_ptr + offsets, z)
    # --8<-- [end:arithmetic]


# --8<-- [start:divide]
@triton.jit
def divide_kernel(out_ptr, WIDTH: tl.constexpr):
    offsets = tl.program_id(axis=0) * 128 + tl.arange(0, 128)
    tl.store(out_ptr + offsets, offsets // WIDTH)


@triton.jit
def divide_by_argument_kernel(out_ptr, width):
    offsets = tl.program_id(axis=0) * 128 + tl.arange(0, 128)
    tl.store(out_ptr + offsets, offsets // width)
    # --8<-- [end:divide]


# %% One tile of a matrix product: the loads of a loop, and tl.dot.
# --8<-- [start:dot]
@triton.jit
def dot_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    K,
    stride_am,
    BLOCK: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PRECISION: tl.constexpr = "",
):
    offs, offs_k = tl.arange(0, BLOCK), tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + offs[:, None] * stride_am + (k + offs_k)[None, :])  # [BLOCK, BLOCK_K]
        b = tl.load(b_ptr + (k + offs_k)[:, None] * BLOCK + offs[None, :])  # [BLOCK_K, BLOCK]
        if PRECISION == "":
            acc = tl.dot(a, b, acc)  # the default of the target
        else:
            acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(c_ptr + offs[:, None] * BLOCK + offs[None, :], acc)
    # --8<-- [end:dot]


# %% A row that stays in registers: what a softmax keeps, without the exp.
# --8<-- [start:row]
@triton.jit
def center_kernel(x_ptr, out_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64) * n_cols
    cols = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = cols < n_cols
    x = tl.load(x_ptr + row + cols, mask=mask, other=-float("inf"))
    tl.store(out_ptr + row + cols, x - tl.max(x, axis=0), mask=mask)
    # --8<-- [end:row]


# %% The launchers. What each kernel takes for granted is checked below.
# --8<-- [start:launch]
def copy(x: torch.Tensor, out: torch.Tensor | None = None, wide: bool = True) -> torch.Tensor:
    """Return the elements of a one-dimensional x contiguously, whatever its stride.

    With `wide` offsets have 64 bits.
    """
    out, n, stride = checked_copy(x, out, wide), x.numel(), x.stride(0)
    if n:
        with torch.cuda.device_of(x):
            grid = (triton.cdiv(n, BLOCK_SIZE),)
            copy_kernel[grid](x, out, n, stride, BLOCK_SIZE=BLOCK_SIZE, WIDE=wide)
    return out


def windows(
    x: torch.Tensor,
    starts: torch.Tensor,
    aligned: bool = False,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the 1024 elements of x from each start, a row for each.

    `aligned` promises that 16 divides every start.
    """
    out = checked_windows(x, starts, aligned, out)
    if starts.numel():
        with torch.cuda.device_of(x):
            grid = (len(starts),)
            window_kernel[grid](x, starts, out, ALIGNED=aligned, BLOCK_SIZE=BLOCK_SIZE)
    return out


def center(x: torch.Tensor, num_warps: int = 4, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return each row of x less its maximum, for contiguous rows without NaN."""
    out = checked_center(x, num_warps, out)
    n_rows, n_cols = x.shape
    block = triton.next_power_of_2(n_cols)
    if x.numel():
        with torch.cuda.device_of(x):
            center_kernel[(n_rows,)](x, out, n_cols, BLOCK_SIZE=block, num_warps=num_warps)
    return out
    # --8<-- [end:launch]


# %% What the launchers take for granted. Each check raises TypeError or ValueError.
# --8<-- [start:checks]
def checked_copy(x, out, wide):
    check_tensors(DEVICE, x=x)
    check_dtypes(DTYPES, x=x)
    check_dimensions(1, x=x)
    reach = (x.numel() + BLOCK_SIZE - 1) * x.stride(0)
    if not wide and reach >= 2**31:
        raise ValueError(f"x reaches {reach} elements, past 2**31: leave wide=True")
    return checked_output(out, x.shape, (x.dtype,), x=x)


def checked_windows(x, starts, aligned, out):
    check_tensors(DEVICE, x=x, starts=starts)
    check_dtypes(DTYPES, x=x)
    check_dtypes((torch.int64,), starts=starts)
    check_dimensions(1, x=x, starts=starts)
    check_contiguous(x=x, starts=starts)
    n = x.numel()
    if starts.numel() and (starts.min() < 0 or starts.max() + BLOCK_SIZE > n):
        reach = f"starts reach from {starts.min()} to {starts.max()}"
        raise ValueError(f"{reach}; x has {n} elements, and a window takes {BLOCK_SIZE}")
    if aligned and ((starts % 16).any() or x.data_ptr() % 16):
        raise ValueError(
            "aligned promises what does not hold: a start is not divisible by 16,"
            " or x is not aligned to 16 bytes; leave aligned=False"
        )
    return checked_output(out, (len(starts), BLOCK_SIZE), (x.dtype,), x=x, starts=starts)


def checked_center(x, num_warps, out):
    check_tensors(DEVICE, x=x)
    check_dtypes(DTYPES, x=x)
    check_dimensions(2, x=x)
    check_contiguous(x=x)
    check_one_of("num_warps", num_warps, (1, 2, 4, 8, 16, 32))
    n_cols, limit = x.shape[1], num_warps * 32 * PER_LANE
    if n_cols > limit:
        way_out = "pass more warps"
        if num_warps == 32:
            way_out = "walk the row in pieces, with a maximum so far, as online softmax does"
        row = f"x has {n_cols} columns; with num_warps={num_warps} a row may have {limit}"
        raise ValueError(f"{row}: {way_out}")
    return checked_output(out, x.shape, (x.dtype,), x=x)
    # --8<-- [end:checks]


# %% What is correct, in float64; a quotient and a root are rounded once.
# --8<-- [start:reference]
def reference(x, y=None, of="copy"):
    x, y = x.double(), x.double() if y is None else y.double()
    if of == "center":
        return x - x.amax(dim=1, keepdim=True)
    if of == "dot":
        return x @ y
    if of == "div_rn":
        return (x / y).float()
    if of == "sqrt_rn":
        return x.sqrt().float()
    if of == "fma":
        return x * y + y
    if of == "divide":
        return (x / y).floor()
    return x
    # --8<-- [end:reference]


# %% How each claim about results is measured.
def whole(shape, dtype=torch.float32, seed=0):
    """Whole numbers, so small that every product and sum below is exact."""
    generator = torch.Generator(DEVICE).manual_seed(seed)
    return torch.randint(-2, 3, shape, generator=generator, device=DEVICE).to(dtype)


def copy_error(guards, n, stride=1, skip=0, dtype=torch.float32, wide=True):
    x = guards.input(whole((n * stride + skip,), dtype))[skip::stride]
    want, out = reference(x), guards.output_like(x)
    copy(x, out=out, wide=wide)
    return [(out, want)]


def windows_error(guards, starts, aligned=False):
    x, first = guards.input(whole((4096,))), torch.tensor(starts, device=DEVICE)
    want = torch.stack([reference(x[start : start + BLOCK_SIZE]) for start in starts])
    out = guards.output(want.shape, x.dtype)
    windows(x, first, aligned, out=out)
    return [(out, want)]


def repeat_error(guards, n, length, promised):
    x, out = guards.input(whole((n,))), guards.output((length,), torch.float32)
    want = reference(x).repeat(length // n + 1)[:length]
    grid = (length // BLOCK_SIZE,)
    wrap_kernel[grid](x, out, n, PROMISED=promised, BLOCK_SIZE=BLOCK_SIZE)
    return [(out, want)]


def dot_error(guards, K, dtype=torch.float16, precision="ieee"):
    a, b = guards.input(whole((64, K), dtype)), guards.input(whole((K, 64), dtype, seed=1))
    want, out = reference(a, b, of="dot"), guards.output((64, 64), torch.float32)
    dot_kernel[(1,)](a, b, out, K, K, BLOCK=64, BLOCK_K=32, PRECISION=precision)
    return [(out, want)]


def center_error(guards, n_rows, n_cols, num_warps=4):
    x = guards.input(whole((n_rows, n_cols)))
    want, out = reference(x, of="center"), guards.output_like(x)
    center(x, num_warps, out=out)
    return [(out, want)]


def arithmetic_error(guards, op, seed=0):
    draw = dict(generator=torch.Generator(DEVICE).manual_seed(seed), device=DEVICE)
    x, y = (guards.input(torch.randint(1, 2**12, (128,), **draw).float()) for _ in "xy")
    want, out = reference(x, y, of=op), guards.output_like(x)
    arithmetic_kernel[(1,)](x, y, out, OP=op)
    return [(out, want)]


def divide_error(guards, n, width, constant):
    out = guards.output((n,), torch.int32)
    if constant:
        divide_kernel[(n // 128,)](out, WIDTH=width)
    else:
        divide_by_argument_kernel[(n // 128,)](out, width)
    numbers = torch.arange(n, device=DEVICE)
    return [(out, reference(numbers, torch.full_like(numbers, width), of="divide"))]


def promise_refused():
    """1 if windows() refuses a promise of alignment that does not hold."""
    x, starts = torch.zeros(4096, device=DEVICE), torch.tensor([3], device=DEVICE)
    try:
        windows(x, starts, aligned=True)
        torch.cuda.synchronize()
    except ValueError as refusal:
        return int("aligned promises" in str(refusal))
    return 0


# %% How each claim about the code is measured: compile for a target, read what comes out.
FP32, FP16, BF16 = torch.float32, torch.float16, torch.bfloat16
INT64, INT32 = torch.int64, torch.int32
NVIDIA = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")
AMD = ("gfx90a", "gfx942", "gfx950", "gfx1100")

# fmt: off
LAUNCHES = {  # how each kernel is compiled unless a claim changes something; a dtype is a pointer
    "copy": (copy_kernel, dict(x_ptr=FP32, out_ptr=FP32, n_elements=1024, stride=1, BLOCK_SIZE=1024)),
    "window": (window_kernel, dict(x_ptr=FP32, starts_ptr=INT64, out_ptr=FP32, ALIGNED=False, BLOCK_SIZE=1024)),
    "wrap": (wrap_kernel, dict(x_ptr=FP32, out_ptr=FP32, n=1000, PROMISED=False, BLOCK_SIZE=1024)),
    "arithmetic": (arithmetic_kernel, dict(x_ptr=FP32, y_ptr=FP32, out_ptr=FP32, OP="exp")),
    "divide": (divide_kernel, dict(out_ptr=INT32, WIDTH=64)),
    "divide_by_argument": (divide_by_argument_kernel, dict(out_ptr=INT32, width=64)),
    "dot": (dot_kernel, dict(a_ptr=FP32, b_ptr=FP32, c_ptr=FP32, K=1024, stride_am=1024, BLOCK=64, BLOCK_K=32)),
    "center": (center_kernel, dict(x_ptr=FP32, out_ptr=FP32, n_cols=4096, BLOCK_SIZE=4096)),
}
# fmt: on


def compiled(kernel, target, **change):
    """One of the kernels above compiled anew for a target, with this change to its launch."""
    function, usual = LAUNCHES[kernel]
    launch = {name: as_pointer(value) for name, value in (usual | change).items()}
    with compiling_for(TARGETS[target]):
        return fresh_kernel(function).warmup(grid=(1,), **launch)


def instructions(kernel, shows, targets, counted=True, **change):
    """The instructions of one kind for each target; the note holds the first line of each."""
    pattern, results, notes = KINDS_OF_OPCODES[shows], {}, {}
    for target in targets:
        made = compiled(kernel, target, **change)
        results[target] = opcodes_like(pattern, made, counted)
        notes[target] = first_line_like(pattern, made)
    return figures(results, notes)


def load_at_level(level, target="sm_90"):
    """The load of the copy at one level."""
    return first_load(compiled("copy", target), level)


def tensor_layouts(kernel, targets, **change):
    """The layouts that TTGIR gives to the tensors of a kernel; the note holds one of them whole."""
    layout, results, notes = "#blocked" if kernel == "copy" else "#mma", {}, {}
    for target in targets:
        made = compiled(kernel, target, **change)
        results[target] = layouts_of(made)
        notes[target] = first_match(f"(?m)^{layout}.*", made.asm["ttgir"])
    return figures(results, notes)


def line_of_loads():
    """The line of source that .loc gives for the loads of the copy."""
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.disable_line_info = False
        return source_of(compiled("copy", "sm_90"), copy_kernel, "ld.global")


def masked_lanes(**fill):
    """What the masked lanes of a load hold, one element a thread."""
    return padding(compiled("copy", "sm_90", n_elements=1023, BLOCK_SIZE=128, **fill))


def row_resources(target, n_cols, num_warps):
    """Registers of a thread and its bytes of local memory, for a row of n_cols."""
    row = dict(n_cols=n_cols, BLOCK_SIZE=n_cols, num_warps=num_warps)
    return resources(compiled("center", target, **row))


def first_spill(targets, num_warps=4):
    """The first power of two from 4096 to 65536 at which a block of that many columns spills."""
    results, notes = dict.fromkeys(targets, "none"), {}
    for target in targets:
        for size in (4096, 8192, 16384, 32768, 65536):
            registers, local_bytes = row_resources(target, size, num_warps)
            notes[target] = f"{registers} registers and {local_bytes} bytes at {size}"
            if local_bytes:
                results[target] = size
                break
    return figures(results, notes)


def row_registers(target, n_cols, num_warps):
    """Registers of a thread; the note gives what it keeps in local memory instead."""
    registers, local_bytes = row_resources(target, n_cols, num_warps)
    return {"value": registers, "note": f"{local_bytes} bytes in local memory"}


# %% How each claim about speed is measured.
def copy_speed(n, ours=(1, 0), theirs=None):
    """Copying n elements of (stride, skip) against another, or torch's copy, by useful bytes."""

    def strided_copy(stride, skip):
        x = torch.randn(n * stride + skip, device=DEVICE)[skip::stride]
        run = functools.partial(copy, x, torch.empty(n, device=DEVICE))
        return f"stride {stride}, {skip} skipped", run

    x, out = torch.randn(2, n, device=DEVICE)
    baseline = strided_copy(*theirs) if theirs else ("torch's copy", lambda: out.copy_(x))
    return benchmark_pair(strided_copy(*ours), baseline, work=(8 * n, 8 * n), unit="B")


def wide_speed(n):
    """64-bit offsets against 32-bit ones, with a stride that is no constant."""
    x, out = torch.randn(2 * n, device=DEVICE)[::2], torch.empty(n, device=DEVICE)
    wide = "64 bits", functools.partial(copy, x, out, wide=True)
    narrow = "32 bits", functools.partial(copy, x, out, wide=False)
    return benchmark_pair(wide, narrow, work=(8 * n, 8 * n), unit="B")


def warps_speed(n_rows, n_cols, ours, theirs):
    """A row of n_cols, a power of two, with one number of warps against another."""
    x = torch.randn(n_rows, n_cols, device=DEVICE)
    out = torch.empty_like(x)

    def with_warps(num_warps):  # past what center() allows, too
        row = dict(BLOCK_SIZE=n_cols, num_warps=num_warps)
        return f"{num_warps} warps", lambda: center_kernel[(n_rows,)](x, out, n_cols, **row)

    work = (2 * x.nbytes, 2 * x.nbytes)
    return benchmark_pair(with_warps(ours), with_warps(theirs), work=work, unit="B")


# fmt: off
CLAIMS = [
    Claim("copy_odd.max_abs_err", copy_error, dict(n=2047), why="a copy rounds nothing; the last block is one element short"),
    Claim("copy_strided.max_abs_err", copy_error, dict(n=1500, stride=3, skip=1, wide=False), why="the same, whatever the width of the access"),
    Claim("windows.max_abs_err", windows_error, dict(starts=[16, 0, 3072], aligned=True), why="the same, with the promise kept"),
    Claim("windows_anywhere.max_abs_err", windows_error, dict(starts=[3, 1021]), why="the same, with nothing promised"),
    Claim("wrapped.max_abs_err", repeat_error, dict(n=1000, length=4096, promised=False), why="the same, round and round"),
    Claim("wrapped_promised.max_abs_err", repeat_error, dict(n=2048, length=4096, promised=True), why="the same, with a length that keeps the promise"),
    Claim("dot_fp16.max_abs_err", dot_error, dict(K=256), why="whole numbers: no sum passes 4 * 256, and fp32 holds them all"),
    Claim("dot_fp32.max_abs_err", dot_error, dict(K=64, dtype=torch.float32), why="whole numbers, which TF32 would hold as well"),
    Claim("center.max_abs_err", center_error, dict(n_rows=3, n_cols=781), why="differences of small whole numbers"),
    Claim("center_spilled.max_abs_err", center_error, dict(n_rows=2, n_cols=32767), why="a spill costs time, never a bit of the result"),
    Claim("div_rn.max_abs_err", arithmetic_error, dict(op="div_rn"), why="correctly rounded, as the reference is"),
    Claim("sqrt_rn.max_abs_err", arithmetic_error, dict(op="sqrt_rn"), why="the same of a root"),
    Claim("fma.max_abs_err", arithmetic_error, dict(op="fma"), why="whole numbers below 2**12: no result passes 2**24, so fp32 holds each, fused or not"),
    Claim("by_constexpr.max_abs_err", divide_error, dict(n=1024, width=24, constant=True), why="whole numbers, whatever the compiler makes of the division"),
    Claim("by_argument.max_abs_err", divide_error, dict(n=1024, width=24, constant=False), why="the same"),
    Claim("false_promise.refused", promise_refused, kind="count", bound=1, judges="gpu", why="the launcher checks, since the kernel cannot"),
    Claim("contiguous.loads", instructions, dict(kernel="copy", shows="loads", targets=(*NVIDIA, *AMD)), kind="codegen", bound="sm_80 sm_86 sm_89 sm_90 sm_100 sm_120: 2 ld.global.v4.b32, gfx90a gfx942 gfx950: 1 buffer_load_dwordx4, gfx1100: 2 buffer_load_b128", judges="compile", why="1024 elements of 4 bytes for 128 lanes: two accesses of 16 bytes; for 256 lanes: one"),
    Claim("contiguous.stores", instructions, dict(kernel="copy", shows="stores", targets=("sm_90", "gfx942")), kind="codegen", bound="sm_90: 2 st.global.v4.b32, gfx942: 1 buffer_store_dwordx4", judges="compile", why="stores widen by the same rule"),
    Claim("contiguous_fp16.loads", instructions, dict(kernel="copy", shows="loads", targets=("sm_90", "gfx942"), x_ptr=FP16, out_ptr=FP16), kind="codegen", bound="sm_90: 1 ld.global.v4.b32, gfx942: 1 buffer_load_dwordx2", judges="compile", why="1024 elements of 2 bytes for 128 lanes: 16 bytes each; for 256 lanes: 8 bytes each"),
    Claim("strided.loads", instructions, dict(kernel="copy", shows="loads", targets=("sm_90", "gfx942"), stride=2), kind="codegen", bound="sm_90: 8 ld.global.b32, gfx942: 4 buffer_load_dword", judges="compile", why="neighbors lie 8 bytes apart: one access for each element"),
    Claim("misaligned.loads", instructions, dict(kernel="copy", shows="loads", targets=("sm_90", "gfx942"), x_ptr=Pointer(torch.float32, 1)), kind="codegen", bound="sm_90: 8 ld.global.b32, gfx942: 4 buffer_load_dword", judges="compile", why="contiguous, but only 4 is known to divide the address: 4 bytes at a time"),
    Claim("odd_length.loads", instructions, dict(kernel="copy", shows="loads", targets=("sm_90", "gfx942"), n_elements=1023), kind="codegen", bound="sm_90: 8 ld.global.b32, gfx942: 4 buffer_load_dword", judges="compile", why="the mask may end inside four elements, and one access has one predicate"),
    Claim("promised.loads", instructions, dict(kernel="window", shows="loads", targets=("sm_80", "sm_90"), ALIGNED=True), kind="codegen", bound="sm_80 sm_90: 1 ld.global.b64 + 2 ld.global.v4.b32", judges="compile", why="the start, then two accesses of 16 bytes: tl.multiple_of is believed"),
    Claim("unpromised.loads", instructions, dict(kernel="window", shows="loads", targets=("sm_80", "sm_90")), kind="codegen", bound="sm_80 sm_90: 8 ld.global.b32 + 1 ld.global.b64", judges="compile", why="the start, then one access for each element: nothing is known about a value that was loaded"),
    Claim("wrapped.loads", instructions, dict(kernel="wrap", shows="loads", targets=("sm_90", "gfx942")), kind="codegen", bound="sm_90: 8 ld.global.b32, gfx942: 4 buffer_load_dword", judges="compile", why="after the modulo nothing is known to be contiguous: one access for each element"),
    Claim("wrapped_promised.loads", instructions, dict(kernel="wrap", shows="loads", targets=("sm_90", "gfx942"), PROMISED=True), kind="codegen", bound="sm_90: 2 ld.global.v4.b32, gfx942: 1 buffer_load_dwordx4", judges="compile", why="tl.max_contiguous is believed"),
    Claim("cg.loads", instructions, dict(kernel="copy", shows="loads", targets=("sm_90",), CACHE=".cg"), kind="codegen", bound="sm_90: 2 ld.global.cg.v4.b32", judges="compile", why="the modifier is part of the opcode"),
    Claim("evict_first.loads", instructions, dict(kernel="copy", shows="loads", targets=("sm_90",), EVICT="evict_first"), kind="codegen", bound="sm_90: 2 ld.global.L1::evict_first.L2::cache_hint.v4.b32", judges="compile", why="the policy too, with a cache hint for L2"),
    Claim("load.ttir", load_at_level, dict(level="ttir"), kind="codegen", bound="tt.load %, %, % : tensor<1024x!tt.ptr<f32>>", judges="compile", why="a block of pointers, a mask, a fill value: no thread yet"),
    Claim("load.ttgir", load_at_level, dict(level="ttgir"), kind="codegen", bound="tt.load %, %, % : tensor<1024x!tt.ptr<f32>, #blocked>", judges="compile", why="the same, and a layout: which thread holds what"),
    Claim("copy.layouts", tensor_layouts, dict(kernel="copy", targets=("sm_90", "gfx942")), kind="codegen", bound="sm_90 gfx942: blocked", judges="compile", why="loads and stores want neighbors in one thread"),
    Claim("load.llir", load_at_level, dict(level="llir"), kind="codegen", bound="ld.global.v4.b32", judges="compile", why="one thread, and for NVIDIA the PTX instruction by name already"),
    Claim("load.ptx", load_at_level, dict(level="ptx"), kind="codegen", bound="@% ld.global.v4.b32 { %, %, %, % }, [ % + 0 ];", judges="compile", why="a predicate, an instruction, four registers, an address"),
    Claim("load.sass", load_at_level, dict(level="sass"), kind="codegen", bound="LDG.E.128", judges="compile", why="128 bits in one instruction of the GPU"),
    Claim("load.line", line_of_loads, kind="codegen", bound="x = tl.load", judges="compile", why=".loc names file, line and column of what follows"),
    Claim("tile.layouts", tensor_layouts, dict(kernel="dot", targets=("sm_89", "sm_90", "gfx942"), a_ptr=FP16, b_ptr=FP16), kind="codegen", bound="sm_89: blocked + nvidia_mma 2 + swizzled_shared, sm_90: blocked + nvidia_mma 3 + nvmma_shared, gfx942: amd_mfma 3 + blocked + swizzled_shared", judges="compile", why="one version of the tensor core, one layout of its operands in shared memory"),
    Claim("no_fill.masked_lanes", masked_lanes, dict(FILL=None), kind="codegen", bound="TTIR: no other, PTX: mov 0x0", judges="compile", why="nothing was asked for; the 0 is this back end's own, and is not guaranteed"),
    Claim("fill_zero.masked_lanes", masked_lanes, dict(FILL=0), kind="codegen", bound="TTIR: other, PTX: mov 0x0", judges="compile", why="the same bits, but asked for"),
    Claim("fill_minus_inf.masked_lanes", masked_lanes, dict(FILL=float("-inf")), kind="codegen", bound="TTIR: other, PTX: mov 0xff800000", judges="compile", why="minus infinity in fp32: sign and exponent set, fraction 0"),
    Claim("wide_strided.multiplications", instructions, dict(kernel="copy", shows="wide", targets=("sm_90",), stride=7), kind="codegen", bound="sm_90: 8 mul.lo.s64", judges="compile", why="8 elements a lane, each offset times the stride in 64 bits"),
    Claim("narrow_strided.multiplications", instructions, dict(kernel="copy", shows="wide", targets=("sm_90",), stride=7, WIDE=False), kind="codegen", bound="sm_90: none", judges="compile", why="32-bit offsets widen only with the address"),
    Claim("wide_contiguous.multiplications", instructions, dict(kernel="copy", shows="wide", targets=("sm_90",)), kind="codegen", bound="sm_90: none", judges="compile", why="a stride of 1 is compiled in: nothing is left to multiply"),
    Claim("to_bf16.conversion", instructions, dict(kernel="copy", shows="conversion", targets=("sm_80", "sm_90", "gfx942", "gfx950"), counted=False, out_ptr=BF16), kind="codegen", bound="sm_80 sm_90: cvt.rn.bf16x2.f32, gfx942: v_add3_u32, gfx950: v_cvt_pk_bf16_f32", judges="compile", why="two values in one instruction; gfx942 has none and rounds with integer additions"),
    Claim("exp.instructions", instructions, dict(kernel="arithmetic", shows="exp", targets=("sm_80", "sm_90")), kind="codegen", bound="sm_80 sm_90: 1 ex2.approx.f32 + 1 mul.f32", judges="compile", why="exp(x) is 2 to the power x times log2(e): one multiplication, one approximate instruction"),
    Claim("slash.instructions", instructions, dict(kernel="arithmetic", shows="division", targets=("sm_80", "sm_90"), OP="/"), kind="codegen", bound="sm_80 sm_90: 1 div.full.f32", judges="compile", why="approximate, over the full range"),
    Claim("div_rn.instructions", instructions, dict(kernel="arithmetic", shows="division", targets=("sm_80", "sm_90"), OP="div_rn"), kind="codegen", bound="sm_80 sm_90: 1 div.rn.f32", judges="compile", why="correctly rounded"),
    Claim("sqrt.instructions", instructions, dict(kernel="arithmetic", shows="sqrt", targets=("sm_80", "sm_90"), OP="sqrt"), kind="codegen", bound="sm_80 sm_90: 1 sqrt.approx.ftz.f32", judges="compile", why="approximate, and subnormal numbers count as 0"),
    Claim("sqrt_rn.instructions", instructions, dict(kernel="arithmetic", shows="sqrt", targets=("sm_80", "sm_90"), OP="sqrt_rn"), kind="codegen", bound="sm_80 sm_90: 1 sqrt.rn.f32", judges="compile", why="correctly rounded"),
    Claim("fused.instructions", instructions, dict(kernel="arithmetic", shows="fusion", targets=("sm_90", "gfx942"), OP="fma"), kind="codegen", bound="sm_90: 1 fma.rn.f32, gfx942: 1 v_fmac_f32", judges="compile", why="one instruction, one rounding"),
    Claim("unfused.instructions", instructions, dict(kernel="arithmetic", shows="fusion", targets=("sm_90", "gfx942"), OP="fma", enable_fp_fusion=False), kind="codegen", bound="sm_90: 1 add.rn.f32 + 1 mul.rn.f32, gfx942: 1 v_add_f32 + 1 v_mul_f32", judges="compile", why="two instructions, two roundings"),
    Claim("by_constexpr.division", instructions, dict(kernel="divide", shows="division", targets=("sm_90", "gfx942")), kind="codegen", bound="sm_90 gfx942: none", judges="compile", why="64 is a power of two and known: shifts"),
    Claim("by_argument.division", instructions, dict(kernel="divide_by_argument", shows="division", targets=("sm_90",)), kind="codegen", bound="sm_90: 1 div.s32", judges="compile", why="the same 64 as an argument: only that 16 divides it is known"),
    Claim("dot_fp16.instruction", instructions, dict(kernel="dot", shows="matrix", targets=(*NVIDIA, *AMD), counted=False, a_ptr=FP16, b_ptr=FP16), kind="codegen", bound="sm_80 sm_86 sm_89 sm_120: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32, sm_90: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16, sm_100: tcgen05.mma.cta_group::1.kind::f16, gfx90a: v_mfma_f32_32x32x8f16, gfx942: v_mfma_f32_32x32x8_f16, gfx950: v_mfma_f32_32x32x16_f16, gfx1100: v_wmma_f32_16x16x16_f16", judges="compile", why="fp16 in, fp32 accumulator, on every tensor core"),
    Claim("dot_bf16.instruction", instructions, dict(kernel="dot", shows="matrix", targets=("sm_80", "sm_90", "gfx942"), counted=False, a_ptr=BF16, b_ptr=BF16), kind="codegen", bound="sm_80: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32, sm_90: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16, gfx942: v_mfma_f32_32x32x8_bf16", judges="compile", why="bf16 in, fp32 accumulator"),
    Claim("dot_fp32.instruction", instructions, dict(kernel="dot", shows="matrix", targets=("sm_80", "sm_89", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950"), counted=False), kind="codegen", bound="sm_80 sm_89 sm_120: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32, sm_90: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32, sm_100: tcgen05.mma.cta_group::1.kind::tf32, gfx90a: v_mfma_f32_32x32x2f32, gfx942: v_mfma_f32_32x32x4_xf32, gfx950: v_mfma_f32_32x32x2_f32", judges="compile", why="by default: TF32 on NVIDIA, its like on gfx942, full fp32 on the other two"),
    Claim("dot_ieee.instruction", instructions, dict(kernel="dot", shows="matrix", targets=("sm_80", "sm_90", "gfx942"), counted=False, PRECISION="ieee"), kind="codegen", bound="sm_80 sm_90: fma.rn.f32, gfx942: v_mfma_f32_32x32x2_f32", judges="compile", why="no tensor core of NVIDIA multiplies in fp32; those of gfx942 do"),
    Claim("dot_none.instruction", instructions, dict(kernel="dot", shows="matrix", targets=("sm_90", "gfx942"), counted=False, PRECISION=None), kind="codegen", bound="sm_90: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32, gfx942: v_mfma_f32_32x32x2_f32", judges="compile", why="input_precision=None is not the same as leaving it out: on gfx942 it means ieee"),
    Claim("dot_2_warps.instruction", instructions, dict(kernel="dot", shows="matrix", targets=("sm_90", "sm_100"), counted=False, a_ptr=FP16, b_ptr=FP16, num_warps=2), kind="codegen", bound="sm_90 sm_100: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", judges="compile", why="4 warps share one wgmma or tcgen05.mma: with 2 the older instruction is left"),
    Claim("tile.way", instructions, dict(kernel="dot", shows="way", targets=("sm_89", "sm_90", "gfx942"), counted=False, a_ptr=FP16, b_ptr=FP16), kind="codegen", bound="sm_89: cp.async.cg.shared.global + ldmatrix.sync.aligned.m8n8.x4.shared.b16 + ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 + mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32, sm_90: cp.async.cg.shared.global + wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16, gfx942: buffer_load_dwordx4 + ds_read_b64 + ds_read_u16 + ds_write_b128 + ds_write_b64 + v_mfma_f32_32x32x8_f16", judges="compile", why="through registers by ldmatrix; directly from shared memory; through registers on both sides"),
    Claim("row.first_spill", first_spill, dict(targets=("sm_80", "sm_89", "sm_90", "gfx942")), kind="codegen", bound="sm_80 sm_89 sm_90: 32768, gfx942: none", judges="compile", why="at 32768 each of 128 lanes holds 256 values, and a thread has at most 255 registers; gfx942 has 256 lanes of 512 registers"),
    Claim("row_8_warps.first_spill", first_spill, dict(targets=("sm_90",), num_warps=8), kind="codegen", bound="sm_90: 65536", judges="compile", why="twice the lanes, twice the row"),
    Claim("row_32_warps.first_spill", first_spill, dict(targets=("sm_90",), num_warps=32), kind="codegen", bound="sm_90: 65536", judges="compile", why="65536 values for the 65536 registers of an SM: no number of warps helps any more"),
    Claim("row_2_warps.registers", row_registers, dict(target="sm_90", n_cols=32768, num_warps=2), kind="codegen", bound=32, judges="compile", why="512 values a thread: ptxas gives up and keeps nearly all of them in local memory"),
    Claim("contiguous.vs_copy", copy_speed, dict(n=2**26), kind="ratio", bound=0.95, judges="gpu", gib=2, why="memory-bound: as fast as torch's copy, within 5 in 100"),
    Claim("contiguous.vs_misaligned", copy_speed, dict(n=2**26, theirs=(1, 1)), kind="ratio", bound=0.97, judges="gpu", gib=2, why="the same bytes in four times as many accesses: at least as fast, within 3 in 100"),
    Claim("contiguous.vs_stride_2", copy_speed, dict(n=2**26, theirs=(2, 0)), kind="ratio", bound=1.4, judges="gpu", gib=3, why="4 bytes read and 4 written against 8 read and 4 written: 1.5, less 7 in 100"),
    Claim("contiguous.vs_stride_8", copy_speed, dict(n=2**26, theirs=(8, 0)), kind="ratio", bound=4.1, judges="gpu", gib=4, why="4 read and 4 written against 32 read, the least that memory gives, and 4 written: 4.5, less 9 in 100"),
    Claim("wide.vs_narrow", wide_speed, dict(n=2**26), kind="ratio", bound=0.97, judges="gpu", gib=2, why="memory-bound: the multiplications hide behind the loads, within 3 in 100"),
    Claim("fitting.vs_spilling", warps_speed, dict(n_rows=4096, n_cols=32768, ours=32, theirs=4), kind="ratio", bound=1.0, judges="gpu", gib=2, why="few values spill, and caches hold them: it may cost little, but it never gains"),
    Claim("fitting.vs_given_up", warps_speed, dict(n_rows=4096, n_cols=32768, ours=32, theirs=2), kind="ratio", bound=1.5, judges="gpu", gib=2, why="each value is written and read at least once more: four trips for two, of which a quarter may hide"),
]

BUGS = [
    Bug("no_mask", section="copy", old="offsets < n_elements", new="offsets >= 0", caught_by="copy_odd.max_abs_err", how="guard", shows="the last block writes one element past the end"),
    Bug("no_other", section="copy", old="other=FILL, ", new="", caught_by="fill_minus_inf.masked_lanes", how="error", shows="the padding is 0, by habit of the back end, where a maximum needs minus infinity"),
    Bug("every_other", section="copy", old="tl.arange(0, BLOCK_SIZE)", new="(tl.arange(0, BLOCK_SIZE) ^ 1)", caught_by="contiguous.loads", how="error", shows="pairs swapped: the same bytes, but no longer in order, so one access for each element"),
    Bug("promise_unchecked", section="checks", old="if aligned and", new="if False and", caught_by="false_promise.refused", how="fault", shows="a wide access at an odd address: the GPU stops"),
    Bug("fp32_is_fp32", section="dot", old="input_precision=PRECISION", new="input_precision=None", caught_by="dot_ieee.instruction", how="error", shows="fp32 in, fp32 out, TF32 in between"),
    Bug("rounds_right", section="arithmetic", old="tl.div_rn(x, y)", new="x / y", caught_by="div_rn.instructions", how="error", shows="the approximate instruction"),
    Bug("argument_for_constexpr", section="divide", old="out_ptr, WIDTH: tl.constexpr", new="out_ptr, WIDTH", caught_by="by_constexpr.division", how="error", shows="a division for each element"),
    Bug("two_rows_at_once", section="row", old="x - tl.max(x, axis=0), mask", new="x - tl.max(x, axis=0) + tl.cumsum(x, axis=0), mask", caught_by="row.first_spill", how="error", shows="the row twice in registers: it spills earlier"),
]
# fmt: on


def command():
    """Explain the kernel that the command line names; where it names none, judge this lab."""
    return explain_command(sys.argv[1:]) if YOURS else judge_lab(sys.modules[__name__])


if __name__ == "__main__":
    run_program(command)
