# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Vector add: one program owns one block, and a mask guards the ragged last one.

Learn:   the grid, the program id, offsets as a vector, masked load and store
Run:     python triton_vector_add.py           every claim, then every seeded bug
         python triton_vector_add.py --bench   only the speed, on a GPU
Memory:  4 GiB, and 17 GiB for the one claim past 2**31 elements
GPU:     any NVIDIA GPU since Ampere, any AMD GPU of CDNA or RDNA 3; with none, Triton's interpreter
Minutes: 1
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, Bug, Claim, benchmark_pair, main, supported
    from arguments import check_elementwise, check_no_overlap
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import torch
import triton
import triton.language as tl

BLOCK_SIZE = 1024  # a power of two; 4 warps × 32 lanes × 8 elements, two 16-byte loads of fp32
FLOATS = (torch.float32, torch.float16, torch.bfloat16)
DTYPES = supported(*FLOATS, torch.int8, torch.int32, torch.int64)


# %% The kernel: what one program does.
# --8<-- [start:kernel]
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)  # my block; pid * BLOCK_SIZE can pass 2**31
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements  # false only past the end, in the last block
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0)
    tl.store(out_ptr + offsets, x + y, mask=mask)
    # --8<-- [end:kernel]


# %% The launcher: check the arguments, cut the work into blocks, launch one program for each.
# --8<-- [start:launch]
def add(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return x + y elementwise, in `out` if given, which may be x or y itself.

    All three are contiguous and have the shape, dtype and device of x. Raises TypeError for a
    dtype, ValueError for the rest; bfloat16 is refused in the interpreter, which truncates to it.
    """
    out = checked(x, y, out)
    n = out.numel()
    if n:  # a grid of 0 programs has nothing to launch
        with torch.cuda.device_of(x):  # a launch goes to the current device, not to the tensor's
            add_kernel[(triton.cdiv(n, BLOCK_SIZE),)](x, y, out, n, BLOCK_SIZE=BLOCK_SIZE)
    return out
    # --8<-- [end:launch]


# %% What the kernel takes for granted.
# --8<-- [start:checks]
def checked(x, y, out):
    """`out`, or a new tensor like x. Raises what `add` says."""
    check_elementwise(DEVICE, DTYPES, x=x, y=y, out=x if out is None else out)
    if out is None:
        return torch.empty_like(x)
    check_no_overlap(out, in_place=True, x=x, y=y)
    return out
    # --8<-- [end:checks]


# %% What is correct: one correctly rounded addition; integers wrap.
# --8<-- [start:reference]
def reference(x, y):
    return x + y
    # --8<-- [end:reference]


# %% How each claim is measured.
def make_inputs(shape, dtype, values):
    """Two tensors whose sums must be rounded; integers of the whole range; or special values."""
    if values == "special":
        row = [0.0, -0.0, 1.0, 3e38, -3e38, 1e-45, torch.inf, -torch.inf, torch.nan]
        some = torch.tensor(row, device=DEVICE, dtype=dtype)
        return some.repeat_interleave(9), some.repeat(9)
    low, high, drawn = -99, 99, torch.int32
    if not dtype.is_floating_point:
        low, high, drawn = torch.iinfo(dtype).min, torch.iinfo(dtype).max, dtype
    generator = torch.Generator(DEVICE).manual_seed(0)
    draw = dict(generator=generator, device=DEVICE, dtype=drawn)
    x, y = (torch.randint(low, high, shape, **draw).to(dtype) for _ in "xy")
    return (x / 7, y / 3) if dtype.is_floating_point else (x, y)


def error(guards, n, dtype=torch.float32, values="random"):
    """add and the reference, for n elements, or for a tensor of shape n."""
    x, y = make_inputs(n if isinstance(n, tuple) else (n,), dtype, values)
    got, want = guards.output_like(x), reference(x, y)
    add(guards.input(x), guards.input(y), out=got)
    if dtype == torch.int64:  # float64 has no room for 64 bits
        got, want = got.view(torch.int32), want.view(torch.int32)
    yield got, want
    if values == "special":
        yield 1 / got, 1 / want  # which tells -0 from 0


def far_error(guards, n):
    """Chunks of both, all tensors in one allocation: a wrapped offset lands in the one before."""
    room = torch.randint(-128, 128, (4, n), device=DEVICE, dtype=torch.int8)
    guards.watch(room[:3])
    x, y, out = room[1:]
    add(x, y, out=out.fill_(-1))
    for got, a, b in zip(*(t.split(2**26) for t in (out, x, y)), strict=True):
        yield got, reference(a, b)


def views_refused():
    """How many views that are not contiguous are refused, as x and as y, by name."""
    base, refused = torch.zeros(64, 64, device=DEVICE), 0
    repeated, skipped = base[:, :1].expand(64, 64), base.flatten()[::2]
    for view in (base.t(), base[:, ::2], base[:, :8], repeated, skipped):
        dense = view.clone(memory_format=torch.contiguous_format)
        for name, pair in (("x", (view, dense)), ("y", (dense, view))):
            try:
                add(*pair)
            except ValueError as refusal:
                refused += str(refusal).startswith(f"{name} has strides")
    return refused


def speed(n):
    """Bytes a second against a device copy, which moves two tensors where add moves three."""
    x, y = torch.randn(2, n, device=DEVICE)
    out = torch.empty_like(x)
    pair = ("add", lambda: add(x, y, out=out)), ("copy", lambda: out.copy_(x))
    return benchmark_pair(*pair, work=(3 * x.nbytes, 2 * x.nbytes), unit="B")


# fmt: off
CLAIMS = [
    Claim("whole_fp32.max_abs_err", error, dict(n=4096), why="four full blocks; one correctly rounded addition"),
    Claim("ragged_fp32.max_abs_err", error, dict(n=98_432), why="96 full blocks and 128 elements in one more"),
    Claim("one_fp32.max_abs_err", error, dict(n=1), why="one element of one block"),
    Claim("empty_fp32.max_abs_err", error, dict(n=0), why="nothing is launched, and the result is empty"),
    Claim("special_fp32.max_abs_err", error, dict(n=81, values="special"), why="IEEE 754 rules: zeros with their signs, overflow, subnormal, inf, NaN"),
    Claim("ragged_fp16.max_abs_err", error, dict(n=98_432, dtype=torch.float16), why="one rounding to fp16, as in the reference"),
    Claim("ragged_bf16.max_abs_err", error, dict(n=98_432, dtype=torch.bfloat16), judges="gpu", why="one rounding to bf16; the interpreter gets bf16 wrong"),
    Claim("ragged_int32.max_abs_err", error, dict(n=98_432, dtype=torch.int32), why="integers of the whole range: they add exactly, and wrap"),
    Claim("ragged_int64.max_abs_err", error, dict(n=(7, 13, 1081), dtype=torch.int64), why="three dimensions, all 64 bits compared: exact, and they wrap"),
    Claim("past_2_31_int8.max_abs_err", far_error, dict(n=2**31 + 17), judges="gpu", gib=15, why="64-bit offsets reach every element"),
    Claim("views.refused", views_refused, kind="count", bound=10, why="five kinds of view, as x and as y: refused by name, never misread"),
    Claim("large_fp32.vs_copy", speed, dict(n=2**28), kind="ratio", bound=0.97, judges="gpu", gib=4, why="memory-bound: as fast a byte as a copy, within 3 in 100"),
]

BUGS = [
    Bug("no_mask", section="kernel", old="offsets < n_elements", new="offsets >= 0", caught_by="ragged_fp32.max_abs_err", how="guard", shows="the last block writes past the end"),
    Bug("mask_one_too_many", section="kernel", old="offsets < n_elements", new="offsets <= n_elements", caught_by="ragged_fp32.max_abs_err", how="guard", shows="one element past the end is written"),
    Bug("program_as_thread", section="kernel", old="pid * BLOCK_SIZE + tl", new="pid + tl", caught_by="ragged_fp32.max_abs_err", how="nonfinite", shows="97 programs write one overlapping stretch, the rest is never written"),
    Bug("grid_rounded_down", section="launch", old="triton.cdiv(n, BLOCK_SIZE)", new="n // BLOCK_SIZE", caught_by="ragged_fp32.max_abs_err", how="nonfinite", shows="no program owns the ragged last block"),
    Bug("int32_offsets", section="kernel", old=".to(tl.int64)", new="", caught_by="past_2_31_int8.max_abs_err", how="guard", shows="the last offset wraps to -2**31: the end of the result lands in y"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
