# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Where Triton fits: one case that it is made for, and one measured case for each reason against.

Learn:   what fusing saves, what a compile costs, what programs cannot do together, Amdahl's law
Run:     python triton_fit.py           every claim, then every seeded bug
         python triton_fit.py --bench   only the speed, on a GPU
Memory:  4 GiB
GPU:     any NVIDIA GPU since Ampere, any AMD GPU of CDNA or RDNA 3; with none, Triton's interpreter
Minutes: 1
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, Bug, Claim, Ratio, benchmark_pair, main, supported, timing
    from arguments import (
        check_contiguous,
        check_dtypes,
        check_elementwise,
        check_no_overlap,
        check_shape,
        check_tensors,
    )
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import contextlib
import functools
import tempfile
import time

import torch
import triton
import triton.language as tl

DTYPES = supported(torch.float32, torch.float16, torch.bfloat16)
BLOCK = 1024  # elements of one program: eight a lane with 4 warps, 32 bytes of fp32
PART = 4096  # elements that one program adds up
WIDTHS = tuple(range(500, 1700, 61))  # twenty widths, as they come without buckets


# %% Made for Triton: four steps over the same elements, in one pass.
# --8<-- [start:kernel]
@triton.jit
def fused_kernel(
    x_ptr, bias_ptr, residual_ptr, out_ptr, n_elements, n_cols, BLOCK_SIZE: tl.constexpr
):
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0).to(tl.float32)
    bias = tl.load(bias_ptr + offsets % n_cols, mask=mask, other=0).to(tl.float32)  # L2 has it
    residual = tl.load(residual_ptr + offsets, mask=mask, other=0).to(tl.float32)
    u = x + bias
    tl.store(out_ptr + offsets, u / (1 + tl.exp(-u)) + residual, mask=mask)
    # --8<-- [end:kernel]


# --8<-- [start:launch]
def fused(
    x: torch.Tensor,
    bias: torch.Tensor,
    residual: torch.Tensor,
    out: torch.Tensor | None = None,
    kernel=fused_kernel,
    constant: bool = False,
) -> torch.Tensor:
    """Return silu(x + bias) + residual, computed in fp32, in the dtype of x, in `out` if given.

    x and residual are (M, N), bias is (N,), all contiguous; `out` may be x or residual. With
    `constant` N is compiled in, which is another variant for each N. Raises TypeError for a dtype,
    ValueError for the rest; bfloat16 is refused in the interpreter, which truncates to it.
    """
    out = checked(x, bias, residual, out)
    n, n_cols = x.numel(), x.shape[1]
    if constant:
        n_cols = tl.constexpr(n_cols)
    if n:  # a grid of 0 programs has nothing to launch
        grid = (triton.cdiv(n, BLOCK),)
        with torch.cuda.device_of(x):  # a launch goes to the current device, not to the tensor's
            kernel[grid](x, bias, residual, out, n, n_cols, BLOCK_SIZE=BLOCK)
    return out
    # --8<-- [end:launch]


# %% Not made for it: programs that need each other. None can wait for all others: the kernel ends.
# --8<-- [start:together]
@triton.jit
def part_kernel(x_ptr, parts_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0).to(tl.float32)
    tl.store(parts_ptr + pid, tl.sum(x, axis=0))


@triton.jit
def share_kernel(x_ptr, total_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0).to(tl.float32)
    tl.store(out_ptr + offsets, x / tl.load(total_ptr), mask=mask)


def share(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return x, a vector, over the sum of all of x, in its dtype, in `out` if given."""
    out = checked_vector(x, out)
    n, parts = x.numel(), triton.cdiv(x.numel(), PART)
    sums, total = (x.new_empty(size, dtype=torch.float32) for size in (parts, 1))
    if n:
        with torch.cuda.device_of(x):
            part_kernel[(parts,)](x, sums, n, BLOCK_SIZE=PART)
            # starts when every program above has ended
            part_kernel[(1,)](sums, total, parts, BLOCK_SIZE=triton.next_power_of_2(parts))
            share_kernel[(parts,)](x, total, out, n, BLOCK_SIZE=PART)
    return out
    # --8<-- [end:together]


# %% What the kernels take for granted.
# --8<-- [start:checks]
def checked(x, bias, residual, out):
    """`out`, or a new tensor like x. Raises what `fused` says."""
    tensors = dict(x=x, bias=bias, residual=residual, out=x if out is None else out)
    check_tensors(DEVICE, **tensors)
    check_dtypes(DTYPES, **tensors)
    check_contiguous(**tensors)
    if x.ndim != 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; it must be 2-D: pass x.view(-1, n_cols)")
    check_shape(tuple(x.shape[1:]), bias=bias)
    check_shape(tuple(x.shape), residual=residual, out=tensors["out"])
    if out is None:
        return torch.empty_like(x)
    check_no_overlap(out, in_place=True, x=x, residual=residual)
    check_no_overlap(out, bias=bias)
    return out


def checked_vector(x, out):
    """`out`, or a new tensor like x. One program must be able to add up the parts."""
    check_elementwise(DEVICE, DTYPES, x=x, out=x if out is None else out)
    if x.ndim != 1 or x.numel() > 2**28:
        shape = tuple(x.shape)
        raise ValueError(f"x has shape {shape}; it must be a vector of at most 2**28 elements")
    if out is None:
        return torch.empty_like(x)
    check_no_overlap(out, in_place=True, x=x)
    return out
    # --8<-- [end:checks]


# %% What is correct, in float64: what follows a matrix product, and a vector over its sum.
# --8<-- [start:reference]
def reference(x, bias, residual):
    u = x.double() + bias.double()
    return u * torch.sigmoid(u) + residual.double()


def reference_share(x):
    return x.double() / x.double().sum()
    # --8<-- [end:reference]


# %% How each claim is measured.
def eager(x, bias, residual):
    """`fused` by the framework's operators: each reads and writes all of it."""
    return torch.nn.functional.silu(x + bias) + residual


def make_inputs(M, N, dtype=torch.float32):
    """x, bias and residual."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    shapes = ((M, N), (N,), (M, N))
    return [torch.randn(s, generator=generator, device=DEVICE).to(dtype) for s in shapes]


def fused_error(guards, M, N, dtype=torch.float32):
    inputs = make_inputs(M, N, dtype)
    out = guards.output((M, N), dtype)
    fused(*(guards.input(t) for t in inputs), out=out)
    return [(out, reference(*inputs))]


def share_error(guards, n, dtype=torch.float32):
    """Whole numbers of either sign, none of them 0, so that the sum is exact in any order."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    x = torch.randint(-3, 5, (n,), generator=generator, device=DEVICE).to(dtype)
    x = torch.where(x < 0, x, x + 1)
    if x.sum() == 0:  # which has no shares
        x[0] += 6
    out = guards.output_like(x)
    share(guards.input(x), out=out)
    return [(out, reference_share(x))]


def fused_speed(against, M=8192, N=4096):
    """Calls a second against eager, or bytes a second against a copy, which moves two arrays."""
    inputs = make_inputs(M, N, torch.float16)
    x, ours = inputs[0], ("fused", lambda: fused(*inputs))
    if against == "eager":
        return benchmark_pair(ours, ("eager", lambda: eager(*inputs)))
    out = torch.empty_like(x)
    copy = ("copy", lambda: out.copy_(x))
    return benchmark_pair(ours, copy, work=(3 * x.nbytes, 2 * x.nbytes), unit="B")


def share_speed(n=2**28 - 1000):
    """Bytes of one read and one write, as if one pass did it, against a copy."""
    x = torch.rand(n, device=DEVICE)
    out = torch.empty_like(x)
    copy = ("copy", lambda: out.copy_(x))
    return benchmark_pair(("share", lambda: share(x)), copy, work=(8 * n, 8 * n), unit="B")


def network_block(op, x, weights, bias, residual):
    """One block of a network: four products, and the op once."""
    for weight in weights:
        x = x @ weight
    return op(x, bias, residual)


def workload_speed(size=4096):
    x, bias, residual = make_inputs(size, size, torch.float16)
    shape = (4, size, size)
    weights = torch.randn(shape, device=DEVICE, dtype=torch.float16) / size**0.5
    arguments = (x, weights, bias, residual)
    ours = ("with the kernel", functools.partial(network_block, fused, *arguments))
    return benchmark_pair(ours, ("eager", functools.partial(network_block, eager, *arguments)))


def elapsed_ms(call):
    """Milliseconds from the call to the end of the work that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def ratio_of_times(longer, shorter):
    """How many times longer the first takes, each (name, milliseconds): median, p10 and p90."""
    ours, base = (timing(name, times, 1, "call") for name, times in (longer, shorter))
    low, value, high = (ms / base.median_ms for ms in (ours.p10_ms, ours.median_ms, ours.p90_ms))
    return Ratio(value, low, high, (ours, base))


@contextlib.contextmanager
def uncompiled():
    """The fused kernel as a fresh process has it: not compiled, with an empty cache on disk."""
    with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
        triton.knobs.cache.dir = folder
        yield triton.jit(fused_kernel.fn)


@functools.cache
def scattered_ms(rounds=3):
    """Milliseconds of WIDTHS, each once: compiled for each, with the width as argument, eager."""
    all_inputs = [make_inputs(256, width, torch.float16) for width in WIDTHS]

    def each_width_once(op):
        for inputs in all_inputs:
            op(*inputs)

    each_width_once(fused)  # so that all is warm but the kernels below
    each_width_once(eager)
    times = {"constant width": [], "width as argument": [], "eager": []}
    for _ in range(rounds):
        for name, constant in (("constant width", True), ("width as argument", False)):
            with uncompiled() as kernel:
                op = functools.partial(fused, kernel=kernel, constant=constant)
                times[name].append(elapsed_ms(functools.partial(each_width_once, op)))
        times["eager"].append(elapsed_ms(functools.partial(each_width_once, eager)))
    return times


def scattered_times(name):
    times = scattered_ms()
    return ratio_of_times((name, times[name]), ("eager", times["eager"]))


def break_even():
    """How many later calls have to save time before the first, which compiles, has paid off."""
    inputs, first_calls = make_inputs(4096, 4096, torch.float16), []
    for _ in range(3):
        with uncompiled() as kernel:
            first_calls.append(elapsed_ms(functools.partial(fused, *inputs, kernel=kernel)))
    ours, theirs = fused_speed("eager", 4096, 4096).timings
    saved = [theirs.median_ms - ours.median_ms] * 3
    return ratio_of_times(("first call", first_calls), ("saved by a later call", saved))


# fmt: off
CLAIMS = [
    Claim("fused_fp32.max_rel_err", fused_error, dict(M=37, N=70), bound=16 * 2**-24, why="u / (1 + exp(-u)) in a handful of roundings, one of them exp's two units"),
    Claim("fused_fp16.max_rel_err", fused_error, dict(M=37, N=70, dtype=torch.float16), bound=2**-11 + 16 * 2**-24, why="half a unit of fp16 for the result, and the arithmetic in fp32"),
    Claim("fused_bf16.max_rel_err", fused_error, dict(M=37, N=70, dtype=torch.bfloat16), bound=2**-8 + 16 * 2**-24, judges="gpu", why="half a unit of bf16 for the result, and the arithmetic in fp32"),
    Claim("share_fp32.max_rel_err", share_error, dict(n=50_001), bound=2 * 2**-24, why="a sum of whole numbers, exact in any order, and one division, which may be two units off"),
    Claim("share_one.max_rel_err", share_error, dict(n=3), bound=2 * 2**-24, why="less than one part"),
    Claim("fused.vs_eager", fused_speed, dict(against="eager"), kind="ratio", bound=2.0, judges="gpu", gib=1, why="eager moves seven arrays, the kernel three"),
    Claim("fused.vs_copy", fused_speed, dict(against="copy"), kind="ratio", bound=0.9, judges="gpu", gib=1, why="bound by memory: nothing but bytes counts"),
    Claim("share.vs_copy", share_speed, kind="ratio", bound=0.5, judges="gpu", gib=4, why="x is read a second time after all programs have ended, so at best two thirds"),
    Claim("workload.vs_eager", workload_speed, kind="ratio", bound=1.0, judges="gpu", gib=1, why="the op is a small part of a block, and the products stay as they are"),
    Claim("scattered.constant_vs_eager", scattered_times, dict(name="constant width"), kind="ratio", bound=20, judges="gpu", gib=1, why="twenty compiles for twenty calls"),
    Claim("scattered.argument_vs_eager", scattered_times, dict(name="width as argument"), kind="ratio", bound=2, judges="gpu", gib=1, why="a few compiles, for widths that are and are not multiples of 16"),
    Claim("break_even.calls", break_even, kind="ratio", bound=100, judges="gpu", gib=1, why="milliseconds to compile, microseconds to gain"),
]

BUGS = [
    Bug("no_store_mask", section="kernel", old="+ residual, mask=mask)", new="+ residual)", caught_by="fused_fp32.max_rel_err", how="guard", shows="the last block writes past the end"),
    Bug("bias_by_element", section="kernel", old="bias_ptr + offsets % n_cols", new="bias_ptr + offsets // n_cols", caught_by="fused_fp32.max_rel_err", how="error", shows="the bias of the row, not of the column"),
    Bug("no_waiting", section="together", old="share_kernel[(parts,)](x, total,", new="share_kernel[(parts,)](x, sums,", caught_by="share_fp32.max_rel_err", how="error", shows="the first part is taken for the whole sum, as if no program had to wait"),
    Bug("padding_counted", section="together", old="mask=offsets < n_elements, other=0", new="mask=offsets < n_elements, other=1", caught_by="share_fp32.max_rel_err", how="error", shows="the lanes past the end of the last part add one each"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
