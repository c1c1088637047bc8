# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Acceptance: what a kernel has to show before it ships, as a harness for your own.

Learn:   what to check besides one shape's speed: dtypes, edges, strides, special values, overflow,
         repeats, compiles, memory
Run:     python triton_accept.py           every claim, then every seeded bug
         python triton_accept.py my.py:op --reference my.py:exact   your own function, a line a
         check; --help names the rest
Memory:  2 GiB
GPU:     any NVIDIA GPU since Ampere, any AMD GPU of CDNA or RDNA 3; with none, Triton's interpreter
Minutes: 1
"""

# --8<-- [start:companions]
import sys

try:
    from judge import (
        DEVICE,
        Bug,
        Claim,
        benchmark_pair,
        judge_lab,
        lab_file,
        run_program,
        supported,
    )
    from acceptance import accept, own
    from arguments import check_dtypes, check_rows, check_tensors, check_whole
    from harness import CheckProcess, harness_main
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import functools
import itertools
import tempfile
from pathlib import Path

import torch
import triton
import triton.language as tl

MAX_COLS = 65_536  # one program holds a row
DTYPES = supported(torch.float32, torch.float16, torch.bfloat16)


# %% A good kernel, to be accepted: the logarithm of the sum of the exponentials of each row.
# --8<-- [start:kernel]
@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, n_cols, stride_xm, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE], a power of two and at least n_cols
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    # inf - inf is NaN, and exp(inf) and exp(-inf) are correct as they are
    top = tl.where(tl.abs(top) == float("inf"), 0.0, top)
    total = tl.sum(tl.exp(x - top), axis=0)
    tl.store(out_ptr + row, tl.log(total) + top)
    # --8<-- [end:kernel]


# %% The launcher: one program for each row.
# --8<-- [start:launch]
def logsumexp(x: torch.Tensor) -> torch.Tensor:
    """Return log(sum(exp(row))) of each row of the 2-D tensor x, in its dtype.

    The elements of a row lie side by side. A row with NaN is NaN, one of -inf alone is -inf, one
    with +inf is +inf. Raises TypeError for a dtype, ValueError for the rest; bfloat16 is refused in
    the interpreter, which truncates to it.
    """
    n_rows, n_cols = checked(x).shape
    out = torch.empty(n_rows, dtype=x.dtype, device=x.device)
    if n_rows:
        block = triton.next_power_of_2(n_cols)
        options = dict(BLOCK_SIZE=block, num_warps=max(1, min(32, block // 512)))
        with torch.cuda.device_of(x):  # a launch goes to the current device, not to the tensor's
            logsumexp_kernel[(n_rows,)](x, out, n_cols, x.stride(0), **options)
    return out
    # --8<-- [end:launch]


# %% What the kernel takes for granted.
# --8<-- [start:checks]
def checked(x):
    """x. Raises what `logsumexp` says."""
    check_tensors(DEVICE, x=x)
    check_dtypes(DTYPES, x=x)
    check_rows(x=x)
    check_whole("the number of rows of x", x.shape[0], 0, 2**31 - 1)
    check_whole("the number of columns of x", x.shape[1], 1, MAX_COLS)
    return x
    # --8<-- [end:checks]


# %% What is correct: what the library has.
# --8<-- [start:reference]
def reference(x):
    return torch.logsumexp(x, dim=1)
    # --8<-- [end:reference]


# %% The command line: that of harness.py where a function is named, else that of every lab.
# --8<-- [start:command]
def command():
    lab = sys.modules[__name__]
    file = lab_file(lab)
    if file is None:
        return judge_lab(lab)
    return harness_main(file, lambda: judge_lab(lab))
    # --8<-- [end:command]


# %% How the harness is judged: the good kernel passes, and each fault fails where it should.
def good(**more):
    return own(logsumexp, reference, baseline=reference, fallback=reference, **more)


def failing(it):
    """The names of the checks that fail, or none."""
    return ", ".join(row["check"] for row in accept(it) if row["verdict"] == "fails") or "none"


def judged_good():
    large = "4096x4096" if DEVICE == "cuda" else "2x1000"
    return failing(good(shapes=("3x17", "5x1025", large)))


def raising(x):
    if x.shape[0] == 6:
        raise RuntimeError("no kernel for 6 rows")
    return reference(x)


def reshaping(x):
    return reference(x)[:, None]


def spoiling(x):
    x.sub_(x.amax(dim=1, keepdim=True))  # in place, to save memory
    return reference(x)


def half_empty(x):
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    half = max(1, x.shape[0] // 2)
    out[:half] = reference(x[:half])
    return out


CALLS = itertools.count(1)


def counting(x):
    return reference(x) * (1 + next(CALLS) % 2 * 2**-23)


def judged_faulty(fault):
    """What fails of a function with one fault, in a dtype that the library takes everywhere."""
    return failing(own(fault, reference, dtypes=("float32",), runs=3))


HANGING = """
import time, torch
def op(x):
    time.sleep(600 * (x.shape[0] == 0))
    return torch.logsumexp(x, dim=1)
"""


def judged_hanging():
    """What becomes of three checks of a function that hangs on an empty input, in a child each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hanging.py")
        path.write_text(HANGING, encoding="utf-8")
        options = {"op": f"{path}:op", "reference": f"{path}:op", "dtypes": ["float32"]}
        options |= {"shapes": ["3x17"], "runs": 2}
        process = CheckProcess(Path(__file__).resolve(), options, patience=12)
        try:
            rows = [process.ask(name) for name in ("accuracy", "empty", "gradient")]
        finally:
            process.end()
    value = "; ".join(f"{row['check']} {row['verdict']}" for row in rows)
    return {"value": value, "note": "; ".join(row["seen"] for row in rows)}


def against_torch(rows, cols, dtype):
    x = torch.randn(rows, cols, device=DEVICE).to(dtype)
    ours = functools.partial(logsumexp, x)
    return benchmark_pair(("logsumexp", ours), ("torch", lambda: torch.logsumexp(x, dim=1)))


def against_copy(rows, cols, dtype):
    """Bytes a second: it reads x once and writes almost nothing; the copy reads and writes."""
    x = torch.randn(rows, cols, device=DEVICE).to(dtype)
    out = torch.empty_like(x)
    return benchmark_pair(
        ("logsumexp", lambda: logsumexp(x)),
        ("copy", lambda: out.copy_(x)),
        work=(x.nbytes, 2 * x.nbytes),
        unit="B",
    )


# fmt: off
CLAIMS = [
    Claim("good.failing", judged_good, kind="count", bound="none", gib=2, why="fp32 inside, one rounding at the end, every edge masked, what it cannot take refused"),
    Claim("raises.failing", judged_faulty, dict(fault=raising), kind="count", bound="strides", why="an exception that is no refusal fails the check that meets it; the others go on"),
    Claim("shape.failing", judged_faulty, dict(fault=reshaping), kind="count", bound="accuracy, strides, special, long_sums, empty", why="every check that compares wants the form of the reference"),
    Claim("mutates.failing", judged_faulty, dict(fault=spoiling), kind="count", bound="accuracy, untouched, strides, special, long_sums, empty, gradient", why="the result is that of the spoiled input, and a row without columns has no maximum"),
    Claim("unwritten.failing", judged_faulty, dict(fault=half_empty), kind="count", bound="accuracy, strides, special, long_sums, empty", why="fresh memory holds NaN, so what was not written shows"),
    Claim("varies.failing", judged_faulty, dict(fault=counting), kind="count", bound="special, repeats", why="one unit in the last place is within every bound, and is another result"),
    Claim("hangs.lines", judged_hanging, kind="count", bound="accuracy ok; empty fails; gradient ok", why="a check has a time limit, and the next one a new process"),
    Claim("rows_4096_fp16.vs_torch", against_torch, dict(rows=8192, cols=4096, dtype=torch.float16), kind="ratio", bound=1.0, judges="gpu", gib=1, why="one pass over x against several kernels"),
    Claim("rows_4096_fp32.vs_torch", against_torch, dict(rows=8192, cols=4096, dtype=torch.float32), kind="ratio", bound=1.0, judges="gpu", gib=1, why="one pass over x against several kernels"),
    Claim("rows_4096_fp32.vs_copy", against_copy, dict(rows=16_384, cols=4096, dtype=torch.float32), kind="ratio", bound=0.8, judges="gpu", gib=1, why="both are bound by memory; a program reads, then reduces, and does not overlap the two"),
]

BUGS = [
    Bug("short_block", section="launch", old="triton.next_power_of_2(n_cols)", new="triton.next_power_of_2(n_cols) // 2 or 1", caught_by="good.failing", how="error", shows="columns past the block are never read"),
    Bug("fp16_inside", section="kernel", old=".to(tl.float32)", new=".to(tl.float16)", caught_by="good.failing", how="error", shows="sums stop growing at 2048, and small differences go"),
    Bug("stride_ignored", section="kernel", old="row * stride_xm", new="row * n_cols", caught_by="good.failing", how="error", shows="correct for a whole tensor, incorrect for a part of a wider one"),
    Bug("maximum_kept", section="kernel", old="    top = tl.max(x, axis=0)\n", new="    top = tl.max(x, axis=0) * 0\n", caught_by="good.failing", how="error", shows="exp overflows; random numbers of one shape would never tell"),
    Bug("wrong_fill", section="kernel", old='other=-float("inf")', new="other=0", caught_by="good.failing", how="error", shows="the padded lanes are counted as exp(0)"),
]
# fmt: on

if __name__ == "__main__":
    run_program(command)
