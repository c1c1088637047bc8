# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Fused softmax: one program owns one row, reads it once, reduces it on chip and writes it once.

Learn:   reductions, the fill of a masked load, the maximum subtracted first, row strides, num_warps by width
Run:     python triton_softmax.py           every claim, then every break
         python triton_softmax.py --bench   only the speed, on a GPU
Memory:  3 GiB, and 5 GiB for the one claim past 2**31 elements
Card:    any NVIDIA card since Ampere, any AMD card of CDNA or RDNA 3; with none, Triton's interpreter
Minutes: 1
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

LANE_BYTES = 32  # how much of a row a lane holds: two 16-byte loads
MAX_LANES = 1024  # what one program can have: from 32 KiB a row on, a lane holds more
MAX_COLS = 65_536  # 64 values a lane, as many registers as it can spare; a wider row has to be looped over
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


# %% What is right: the library's softmax in float64. A row with NaN or +inf, or of nothing but -inf, becomes NaN.
# --8<-- [start:reference]
def reference(x):
    return torch.softmax(x.double(), dim=-1)
# --8<-- [end:reference]


# %% The kernel: what one program does.
# --8<-- [start:kernel]
@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_cols, stride_xm, stride_om, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)  # which row is mine; 64 bits, since row * stride can pass 2**31
    cols = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE], a power of two and at least n_cols
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=-float("inf")).to(tl.float32)  # exp(-inf) adds nothing
    x = x - tl.max(x, axis=0)  # so that the largest exponent is 0: exp cannot overflow, the sum cannot vanish
    numerator = tl.exp(x)  # on a GPU one multiplication and the approximate ex2
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * stride_om + cols, y, mask=mask)  # rounds to the type that out_ptr points to
# --8<-- [end:kernel]


# %% The launcher: checks what the kernel takes for granted, then launches the grid.
# --8<-- [start:launch]
def softmax(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the softmax of each row of x, in `out` if given, which may be x itself.

    x is 2-D with at most 65,536 columns. The elements of a row lie side by side; rows of x may lie any distance apart,
    rows of `out` without overlap. `out` has the shape, dtype and device of x. A row with NaN or +inf, or of nothing but
    -inf, becomes NaN. Raises TypeError for a dtype, ValueError for the rest; bfloat16 is refused in the interpreter,
    which truncates to it.
    """
    for name, t in (("x", x), ("out", x if out is None else out)):
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
    if x.dtype not in DTYPES or (INTERPRETED and x.dtype == torch.bfloat16):
        allowed = ", ".join(str(d) for d in DTYPES if not (INTERPRETED and d == torch.bfloat16))
        raise TypeError(f"x is {x.dtype}; allowed here: {allowed}")
    if x.ndim != 2 or x.shape[0] >= 2**31:  # the grid has one dimension, and that is its limit
        raise ValueError(f"x is {tuple(x.shape)}; it must be 2-D with fewer than 2**31 rows: pass x.view(-1, x.shape[-1]) or parts")
    n_rows, n_cols = x.shape
    if n_cols > MAX_COLS:
        raise ValueError(f"x has {n_cols:,} columns and one program holds a row of at most {MAX_COLS:,}; a wider one has to be looped over")
    out = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device) if out is None else out
    for name, t in (("x", x), ("out", out)):
        if t.device.type != DEVICE or t.device != x.device:
            raise ValueError(f"{name} is on {t.device}; this run needs both on one {DEVICE} device, x is on {x.device}")
        if t.dtype != x.dtype or t.shape != x.shape:
            raise ValueError(f"{name} is {tuple(t.shape)} {t.dtype}; it must be as x, {tuple(x.shape)} {x.dtype}")
        if n_cols > 1 and t.stride(1) != 1:
            raise ValueError(f"{name} has strides {t.stride()}, and this kernel reads a row straight on: pass {name}.contiguous()")
    if n_rows > 1 and out.stride(0) < n_cols:
        raise ValueError(f"out has strides {out.stride()}, so its rows of {n_cols} overlap: pass out.contiguous()")
    if x.numel():  # a grid of 0 programs has nothing to launch
        starts = x.data_ptr(), out.data_ptr()
        ends = [t.data_ptr() + ((n_rows - 1) * t.stride(0) + n_cols) * t.element_size() for t in (x, out)]
        if max(starts) < min(ends) and (starts[0], x.stride()) != (starts[1], out.stride()):
            raise ValueError("out overlaps x, and a program could read what another has written: pass out=x or memory apart from it")
        block = triton.next_power_of_2(n_cols)
        lanes = min(block * x.element_size() // LANE_BYTES, MAX_LANES)
        warp_size = 32 if INTERPRETED else torch.cuda.get_device_properties(x.device).warp_size  # 64 on AMD's CDNA
        with torch.cuda.device_of(x):  # a launch goes to the current device, not to the tensor's
            softmax_kernel[(n_rows,)](
                x, out, n_cols, x.stride(0), out.stride(0), BLOCK_SIZE=block, num_warps=max(1, lanes // warp_size)
            )
    return out
# --8<-- [end:launch]


# %% The claims: how each is measured, and the table of what must hold.
def draw(n_rows, n_cols, dtype=torch.float32, values="spread"):
    """Rows whose |x - max| passes 20, some of them replaced by what `values` names."""
    x = 4 * torch.randn(n_rows, n_cols, generator=torch.Generator(DEVICE).manual_seed(0), device=DEVICE)
    if values == "huge":  # if the maximum were not subtracted first, three kinds would overflow and the last one vanish
        x[0::4], x[1::4], x[2::4], x[3::4] = x[0::4].sign() * 1e30, x[1::4].sign() * 3e38, x[2::4] + 1e4, x[3::4] - 1e4
    if values == "special":  # every other row
        x[0], x[2, 7], x[4, 7], x[6], x[8] = -torch.inf, torch.inf, torch.nan, torch.nan, torch.finfo(dtype).max
        x[10, ::2] = -torch.inf
    return x.to(dtype)


def apart(n_rows, n_cols, stride, dtype):
    """Unwritten rows, `stride` elements apart, in NaN between guards, the gaps watched like the guards."""
    length = (n_rows - 1) * stride + n_cols
    if length > 2**31:  # gaps that nobody touches take address space only, in the interpreter no memory
        return torch.empty(length, dtype=dtype, device=DEVICE).as_strided((n_rows, n_cols), (stride, 1))
    room = fence(torch.empty(length, dtype=dtype, device=DEVICE), output=True)
    gaps = room[: (n_rows - 1) * stride].view(n_rows - 1, stride)[:, n_cols:].view(torch.uint8)
    FENCES.append((gaps, gaps.clone()))
    return room.as_strided((n_rows, n_cols), (stride, 1))


def error(n_rows, n_cols, dtype=torch.float32, values="spread", stride=None, in_place=False):
    """softmax and the reference, its rows and those of the result `stride` elements apart."""
    data = draw(n_rows, n_cols, dtype, values)
    x = apart(n_rows, n_cols, stride or n_cols, dtype).copy_(data)
    if not in_place:
        FENCES.append((x.view(torch.uint8), x.view(torch.uint8).clone()))  # the kernel only reads it
    out = softmax(x, out=x if in_place else apart(n_rows, n_cols, stride or n_cols, dtype))
    return [(out, reference(data))]


def widths(n_cols, dtype=torch.float32):
    """The same for five rows of each width."""
    return (pair for n in n_cols for pair in error(5, n, dtype))


def views():
    """softmax and the reference on views whose rows are whole: cut, skipped, off alignment, one row for all."""
    base = draw(8, 96)
    FENCES.append((base, base.clone()))
    for x in (base[:, :37], base[::2], base[:, 1:], base[:1].expand(8, 96)):
        yield softmax(x, out=fence(x, output=True)), reference(x.clone())


def refused():
    """How many views are refused by name: broken rows, rows of `out` over each other, `out` one row off x."""
    base, fresh = torch.zeros(2, 64, 64, device=DEVICE)
    calls = [("x has strides", base.t(), None), ("x has strides", base[:, ::2], None), ("out has strides", base, fresh.t())]
    calls += [("out has strides", base[:, :32], fresh[:, ::2]), ("out has strides", base, fresh[:1].expand(64, 64)), ("out overlaps x", base[:-1], base[1:])]
    count = 0
    for start, x, out in calls:
        try:
            softmax(x, out)
        except ValueError as error:
            count += str(error).startswith(start)
    return count


def empties():
    """How many empty shapes come back as they are."""
    return sum(softmax(torch.empty(shape, device=DEVICE)).shape == shape for shape in ((0, 5), (3, 0), (0, 0)))


def unchanged(n_rows, n_cols):
    """How many ordinary rows come out bit by bit as in a launch without the special rows between them."""
    return (softmax(draw(n_rows, n_cols)) == softmax(draw(n_rows, n_cols, values="special")))[1::2].all(dim=1).sum().item()


def speed(n_cols, dtype, against):
    """Bytes a second, reading and writing 2**28 elements once, against a device copy or torch.softmax."""
    x = torch.randn(2**28 // n_cols, n_cols, device=DEVICE, dtype=dtype)
    out = torch.empty_like(x)
    theirs = {"copy": lambda: out.copy_(x), "torch.softmax": lambda: torch.softmax(x, dim=-1, out=out)}[against]
    return race(("softmax", lambda: softmax(x, out)), (against, theirs), work=(2 * x.nbytes, 2 * x.nbytes), unit="B")


# What a bound counts, in u = 2**-24 and relative to the largest result, for y = e / s, e = exp(x - max), s = sum(e):
#   12              ex2 in e and in s, and the division: each within 2 ulp, which is 4 u
#   1               x - max and its product with log2(e) are rounded: e is off by 2.2 |x - max| u, and e |x - max| < 0.4
#   2.2 ln(n_cols)  the same in s: weighed by y, the mean of |x - max| stays below the entropy, thus below ln(n_cols)
#   the rest        additions one after another in s: the values of a lane less one, then log2(lanes)
# None of it depends on the data. NumPy's exp and sum in the interpreter stay below it as well.
# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "ragged_fp32.max_abs_err": ("error", error, dict(n_rows=1823, n_cols=781), 42 * 2**-24, "any", 0, "in u = 2**-24: 12 for two ex2 and a division, 1 + 15 for the rounded exponents, 14 for the sum; no result exceeds 1"),
    "widths_fp32.max_rel_err": ("error", widths, dict(n_cols=(2, 3, 17, 127, 129, 1000, 1025)), 44 * 2**-24, "any", 0, "in u: 12 for two ex2 and a division, 1 + 16 for the rounded exponents, 15 for the sum of 8 values a lane over 256 lanes"),
    "widths_fp16.max_rel_err": ("error", widths, dict(n_cols=(2, 3, 17, 127, 129, 1000, 1025), dtype=torch.float16), 2**-11 + 51 * 2**-24, "any", 0, "half an ulp of fp16 for the result; before it in u: 12 + 1 + 16 as in fp32, 22 for the sum of 16 values a lane over 128"),
    "widths_bf16.max_rel_err": ("error", widths, dict(n_cols=(2, 3, 17, 127, 129, 1000, 1025), dtype=torch.bfloat16), 2**-8 + 51 * 2**-24, "gpu", 0, "half an ulp of bf16 for the result; the interpreter truncates instead"),
    "one_column_fp32.max_rel_err": ("error", error, dict(n_rows=33, n_cols=1), 12 * 2**-24, "any", 0, "exp(0) / exp(0): in u, 12 for two ex2 and a division"),
    "one_row_fp32.max_rel_err": ("error", error, dict(n_rows=1, n_cols=781), 42 * 2**-24, "any", 0, "one program; the bound as for 1,823 rows"),
    "widest_fp32.max_rel_err": ("error", error, dict(n_rows=3, n_cols=65_536), 111 * 2**-24, "any", 0, "in u: 12 for two ex2 and a division, 1 + 25 for the rounded exponents, 73 for the sum of 64 values a lane over 1,024 lanes"),
    "many_rows_fp32.max_rel_err": ("error", error, dict(n_rows=70_000, n_cols=65), 31 * 2**-24, "gpu", 0, "past 65,535 programs; in u: 12 for two ex2 and a division, 1 + 10 for the rounded exponents, 8 for the sum"),
    "huge_fp32.max_rel_err": ("error", error, dict(n_rows=12, n_cols=781, values="huge"), 42 * 2**-24, "any", 0, "the bound does not depend on the data: as for ordinary rows"),
    "special_fp32.max_rel_err": ("error", error, dict(n_rows=12, n_cols=127, values="special"), 32 * 2**-24, "any", 0, "NaN exactly where torch has it; elsewhere, in u: 12 for two ex2 and a division, 1 + 11 for the rounded exponents, 8 for the sum"),
    "special_fp32.rows_unchanged": ("count", unchanged, dict(n_rows=12, n_cols=127), 6, "any", 0, "inf and NaN stay in their rows: not a bit changes in the six ordinary ones between them"),
    "strided_fp32.max_rel_err": ("error", error, dict(n_rows=9, n_cols=781, stride=1000), 42 * 2**-24, "any", 0, "rows of x and of the result start 1,000 apart; the bound as without gaps"),
    "in_place_fp32.max_rel_err": ("error", error, dict(n_rows=9, n_cols=781, in_place=True), 42 * 2**-24, "any", 0, "a program has read its row before it writes it; the bound as apart"),
    "views_fp32.max_rel_err": ("error", views, {}, 32 * 2**-24, "any", 0, "four kinds of view; in u: 12 for two ex2 and a division, 1 + 11 for the rounded exponents, 8 for the sum"),
    "views.refused": ("count", refused, {}, 6, "any", 0, "transposed, every second column, overlapping: refused by name, never misread"),
    "empty.shapes": ("count", empties, {}, 3, "any", 0, "no rows, no columns, neither: nothing is launched"),
    "past_2_31_fp16.max_rel_err": ("error", error, dict(n_rows=3, n_cols=1000, dtype=torch.float16, stride=2**30 + 8, in_place=True), 2**-11 + 50 * 2**-24, "any", 5, "64-bit offsets reach row 2, past 2**31 elements; half an ulp of fp16, and all before it in fp32"),
    "cols_1024_fp32.vs_copy": ("ratio", speed, dict(n_cols=1024, dtype=torch.float32, against="copy"), 0.95, "gpu", 3, "memory-bound: reads and writes what a copy does, within 5 in 100"),
    "cols_4096_fp32.vs_copy": ("ratio", speed, dict(n_cols=4096, dtype=torch.float32, against="copy"), 0.95, "gpu", 3, "memory-bound: reads and writes what a copy does, within 5 in 100"),
    "cols_16384_fp32.vs_copy": ("ratio", speed, dict(n_cols=16384, dtype=torch.float32, against="copy"), 0.95, "gpu", 3, "memory-bound: reads and writes what a copy does, within 5 in 100"),
    "cols_1024_bf16.vs_copy": ("ratio", speed, dict(n_cols=1024, dtype=torch.bfloat16, against="copy"), 0.95, "gpu", 3, "memory-bound: reads and writes what a copy does, within 5 in 100"),
    "cols_4096_bf16.vs_copy": ("ratio", speed, dict(n_cols=4096, dtype=torch.bfloat16, against="copy"), 0.95, "gpu", 3, "memory-bound: reads and writes what a copy does, within 5 in 100"),
    "cols_16384_bf16.vs_copy": ("ratio", speed, dict(n_cols=16384, dtype=torch.bfloat16, against="copy"), 0.94, "gpu", 3, "an SM holds two programs of 1,024 lanes, and while both reduce, nothing is read: within 6 in 100"),
    "cols_1024_fp32.vs_torch": ("ratio", speed, dict(n_cols=1024, dtype=torch.float32, against="torch.softmax"), 0.98, "gpu", 3, "torch moves at least these bytes, so that it cannot be faster: within 2 in 100"),
    "cols_4096_fp32.vs_torch": ("ratio", speed, dict(n_cols=4096, dtype=torch.float32, against="torch.softmax"), 0.98, "gpu", 3, "torch moves at least these bytes, so that it cannot be faster: within 2 in 100"),
    "cols_16384_fp32.vs_torch": ("ratio", speed, dict(n_cols=16384, dtype=torch.float32, against="torch.softmax"), 0.98, "gpu", 3, "torch moves at least these bytes, so that it cannot be faster: within 2 in 100"),
    "cols_1024_bf16.vs_torch": ("ratio", speed, dict(n_cols=1024, dtype=torch.bfloat16, against="torch.softmax"), 0.98, "gpu", 3, "torch moves at least these bytes, so that it cannot be faster: within 2 in 100"),
    "cols_4096_bf16.vs_torch": ("ratio", speed, dict(n_cols=4096, dtype=torch.bfloat16, against="torch.softmax"), 0.98, "gpu", 3, "torch moves at least these bytes, so that it cannot be faster: within 2 in 100"),
    "cols_16384_bf16.vs_torch": ("ratio", speed, dict(n_cols=16384, dtype=torch.bfloat16, against="torch.softmax"), 0.98, "gpu", 3, "torch moves at least these bytes, so that it cannot be faster: within 2 in 100"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "no_mask": ("kernel", "y, mask=mask", "y", "one_row_fp32.max_rel_err", "guard", "results of the padding land past the end of the row"),
    "fill_zero": ("kernel", '-float("inf")', "0.0", "huge_fp32.max_rel_err", "error", "the padding joins in: beside it, rows around -1e4 come out as zeros"),
    "short_block": ("launch", "triton.next_power_of_2(n_cols)", "triton.next_power_of_2(n_cols) // 2", "one_row_fp32.max_rel_err", "nonfinite", "columns 512 to 780 stay unwritten, and the others sum to 1 without them"),
    "no_maximum": ("kernel", "x - tl.max(x, axis=0)", "x", "huge_fp32.max_rel_err", "nonfinite", "exp overflows, and inf / inf is NaN"),
    "fp16_sum": ("kernel", "tl.sum(numerator, ", "tl.sum(numerator.to(tl.float16), ", "widest_fp32.max_rel_err", "error", "the sum keeps 11 bits, and so does every result"),
    "stride_forgotten": ("kernel", "row * stride_xm", "row * n_cols", "strided_fp32.max_rel_err", "nonfinite", "row 1 is read from the gap behind row 0"),
    "int32_offsets": ("kernel", ".to(tl.int64)", "", "past_2_31_fp16.max_rel_err", "fault", "row 2 wraps to an address 4 GiB before x"),
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
