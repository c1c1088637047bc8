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
    from judge import DEVICE, Bug, Claim, benchmark_pair, main, supported
    from arguments import (
        check_contiguous,
        check_dtypes,
        check_elementwise,
        check_no_overlap,
        check_shape,
        check_tensors,
    )
    from launching import Launch, Launches, octaves, whole_numbers
    from payback import Payback
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import torch
import triton
import triton.language as tl

DTYPES = supported(torch.float32, torch.float16, torch.bfloat16)
BLOCK = 1024  # elements of one program: eight a lane with 4 warps, 32 bytes of fp32
PART = 4096  # elements that one program adds up


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
def fused(x, bias, residual, out=None, kernel=fused_kernel, constant=False):
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


def share_error(guards, n, total=None):
    """Whole numbers from 1 to 4, whose sum is exact in any order; the first makes up `total`."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    x = torch.randint(1, 5, (n,), generator=generator, device=DEVICE).float()
    if total is not None:
        x[0] += total - x.sum()
    out = guards.output_like(x)
    share(guards.input(x), out=out)
    return [(out, reference_share(x))]


def share_speed(n=2**28 - 1000):
    """Bytes of one read and one write, as if one pass did it, against a copy."""
    x = torch.rand(n, device=DEVICE)
    out = torch.empty_like(x)
    copy = ("copy", lambda: out.copy_(x))
    return benchmark_pair(("share", lambda: share(x)), copy, work=(8 * n, 8 * n), unit="B")


PAYBACK = Payback(fused, eager, fused_kernel, make_inputs)


def rounding(dtype):
    """Half a unit of the dtype, and what the arithmetic in fp32 may add."""
    return (torch.finfo(dtype).eps if dtype != torch.float32 else 0) / 2 + 16 * 2**-24


LAUNCHES = Launches(
    fused=Launch(
        function=fused,
        reference=lambda *tensors: reference(*tensors).to(tensors[0].dtype),
        inputs=lambda generator, M, N, dtype: [
            whole_numbers(generator, shape, dtype, DEVICE) for shape in ((M, N), (N,), (M, N))
        ],
        cases=[dict(M=M, N=N, dtype=t) for t in DTYPES for M, N in ((7, 19), (0, 5), (3, 700))],
        draw=lambda chosen: [
            dict(M=chosen.randint(2, 9), N=n, dtype=chosen.choice(DTYPES))
            for n in octaves(chosen, 1024)
        ],
        bound=rounding,
        aliases=(0, 2),
    ),
    share=Launch(
        function=share,
        reference=lambda x: reference_share(x).to(x.dtype),
        inputs=lambda generator, n, dtype: [
            whole_numbers(generator, (n,), dtype, DEVICE).abs() + 1
        ],
        cases=[dict(n=n, dtype=dtype) for dtype in DTYPES for n in (100, 0, 5000)],
        draw=lambda chosen: [
            dict(n=n, dtype=chosen.choice(DTYPES)) for n in octaves(chosen, 2 * PART)
        ],
        bound=rounding,
        aliases=(0,),
    ),
)

# fmt: off
CLAIMS = [
    Claim("launcher.faults", LAUNCHES.faults, kind="count", bound="none", why="no out, other values, new sizes, in place, views, NaN, the fortieth call: correct or refused"),
    Claim("launcher.escaped", LAUNCHES.escaped, kind="count", bound="none", why="fourteen incorrect launchers around each kernel: the claim above catches each"),
    Claim("fused_fp32.max_rel_err", fused_error, dict(M=37, N=70), bound=16 * 2**-24, why="u / (1 + exp(-u)) in a handful of roundings, one of them exp's two units"),
    Claim("fused_fp16.max_rel_err", fused_error, dict(M=37, N=70, dtype=torch.float16), bound=2**-11 + 16 * 2**-24, why="half a unit of fp16 for the result, and the arithmetic in fp32"),
    Claim("fused_bf16.max_rel_err", fused_error, dict(M=37, N=70, dtype=torch.bfloat16), bound=2**-8 + 16 * 2**-24, judges="gpu", why="half a unit of bf16 for the result, and the arithmetic in fp32"),
    Claim("share_fp32.max_rel_err", share_error, dict(n=50_001), bound=2 * 2**-24, why="a sum of whole numbers, exact in any order, and one division, which may be two units off"),
    Claim("share_one.max_rel_err", share_error, dict(n=3, total=16), bound=2 * 2**-24, why="less than one part; shares of 16 are exact, whatever was drawn"),
    Claim("fused.vs_eager", PAYBACK.speed, dict(against="eager"), kind="ratio", bound=2.0, judges="gpu", gib=1, why="eager moves seven arrays, the kernel three: by bytes alone 7/3, and eager loses more than bytes"),
    Claim("fused.vs_copy", PAYBACK.speed, dict(against="copy"), kind="ratio", bound=0.9, predicted=1.0, tolerance=0.1, judges="gpu", gib=1, why="bound by memory: nothing but bytes counts"),
    Claim("share.vs_copy", share_speed, kind="ratio", bound=0.6, predicted=2 / 3, tolerance=0.1, judges="gpu", gib=4, why="x is read twice, the second time after all programs have ended: two thirds by bytes"),
    Claim("workload.vs_eager", PAYBACK.workload_speed, kind="ratio", bound=1.0, judges="gpu", gib=1, why="the op is a small part of a block, and the products stay as they are"),
    Claim("scattered.constant_vs_eager", PAYBACK.scattered_times, dict(name="constant width"), kind="ratio", bound=20, judges="gpu", gib=1, why="twenty compiles for twenty calls"),
    Claim("scattered.argument_vs_eager", PAYBACK.scattered_times, dict(name="width as argument"), kind="ratio", bound=2, judges="gpu", gib=1, why="a few compiles, for widths that are and are not multiples of 16"),
    Claim("break_even.calls", PAYBACK.break_even, kind="ratio", bound=100, judges="gpu", gib=1, why="milliseconds to compile, microseconds to gain"),
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
