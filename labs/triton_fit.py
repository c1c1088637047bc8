# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Where Triton fits: one case that it is made for, and one measured example for each reason to leave it alone.

Learn:   what fusing saves, what a compile costs, when a call pays it back, what programs cannot do together, Amdahl's law
Run:     python triton_fit.py           every claim, then every break
         python triton_fit.py --bench   only the speed, on a GPU
Memory:  4 GiB
Card:    any NVIDIA card since Ampere, any AMD card of CDNA or RDNA 3; with none, Triton's interpreter
Minutes: 1
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import functools
import os
import sys
import time

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

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
BLOCK = 1024  # elements of one program: eight a lane with 4 warps, 32 bytes of fp32
PART = 4096  # elements that one program adds up
WIDTHS = tuple(range(500, 1700, 61))  # twenty widths, as they come in when nobody buckets them


# %% What is right, in float64: a block of a network after its matrix product, and a vector over its sum.
# --8<-- [start:reference]
def reference(x, bias, residual):
    u = x.double() + bias.double()
    return u * torch.sigmoid(u) + residual.double()


def reference_share(x):
    return x.double() / x.double().sum()
# --8<-- [end:reference]


# %% Made for Triton: four steps over the same elements, in one pass.
# --8<-- [start:kernel]
@triton.jit
def fused_kernel(x_ptr, bias_ptr, residual_ptr, out_ptr, n_elements, n_cols, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0).to(tl.float32)
    bias = tl.load(bias_ptr + offsets % n_cols, mask=mask, other=0).to(tl.float32)  # the same for every row: L2 has it
    residual = tl.load(residual_ptr + offsets, mask=mask, other=0).to(tl.float32)
    u = x + bias
    tl.store(out_ptr + offsets, u / (1 + tl.exp(-u)) + residual, mask=mask)
# --8<-- [end:kernel]


# --8<-- [start:launch]
def checked(**tensors):
    """Raise TypeError or ValueError, naming the tensor, for what none of the kernels here can read."""
    first = next(iter(tensors.values()))
    for name, t in tensors.items():
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
        if t.dtype not in DTYPES or (INTERPRETED and t.dtype == torch.bfloat16) or t.dtype != first.dtype:
            raise TypeError(f"{name} is {t.dtype}; allowed: one dtype for all of float32, float16 and, on a GPU, bfloat16")
        if t.device.type != DEVICE or t.device != first.device:
            raise ValueError(f"{name} is on {t.device}; this run needs every tensor on one {DEVICE} device")
        if not t.is_contiguous():
            raise ValueError(f"{name} has strides {t.stride()}, and this kernel reads straight on: pass {name}.contiguous()")


def apart(out, *inputs):
    """Raise ValueError where out lies across an input; exactly on one that is read element by element it may lie."""
    for t in inputs:
        begin, end = max(out.data_ptr(), t.data_ptr()), min(out.data_ptr() + out.nbytes, t.data_ptr() + t.nbytes)
        if begin < end and (out.data_ptr(), out.shape) != (t.data_ptr(), t.shape):
            raise ValueError("out overlaps an input, and a program could read what another has written: pass memory apart from it")


def fused(x: torch.Tensor, bias: torch.Tensor, residual: torch.Tensor, out: torch.Tensor | None = None, kernel=fused_kernel, constant=False) -> torch.Tensor:
    """Return silu(x + bias) + residual, computed in float32, in the dtype of x, in `out` if given. x and residual are (M, N), bias is (N,).

    With `constant` N is compiled in, which is a variant for each N.
    """
    out = torch.empty_like(x) if out is None and isinstance(x, torch.Tensor) else out
    checked(x=x, bias=bias, residual=residual, out=out)
    if x.ndim != 2 or bias.shape != x.shape[1:] or residual.shape != x.shape or out.shape != x.shape:
        shapes = f"x is {tuple(x.shape)}, bias {tuple(bias.shape)}, residual {tuple(residual.shape)}, out {tuple(out.shape)}"
        raise ValueError(f"{shapes}; needed: (M, N), (N,), (M, N) and (M, N)")
    apart(out, x, residual, bias)
    if n := x.numel():
        with torch.cuda.device_of(x):
            n_cols = tl.constexpr(x.shape[1]) if constant else x.shape[1]
            kernel[(triton.cdiv(n, BLOCK),)](x, bias, residual, out, n, n_cols, BLOCK_SIZE=BLOCK)
    return out


def eager(x, bias, residual):
    """The same by the framework's operators: each reads and writes all of it."""
    return torch.nn.functional.silu(x + bias) + residual
# --8<-- [end:launch]


# %% Not made for it: programs that need each other. No program can wait for all the others, so the kernel has to end.
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
    """Return x over the sum of all of x, a vector of at most 2**28 elements, in its dtype, in `out` if given: three kernels, x read twice."""
    out = torch.empty_like(x) if out is None and isinstance(x, torch.Tensor) else out
    checked(x=x, out=out)
    n, parts = x.numel(), triton.cdiv(x.numel(), PART)
    if x.ndim != 1 or n > 2**28 or out.shape != x.shape:
        raise ValueError(f"x is {tuple(x.shape)}, out {tuple(out.shape)}; needed: vectors of at most 2**28 elements, whose parts one program can add up")
    apart(out, x)
    if n:
        sums, total = (torch.empty(size, dtype=torch.float32, device=x.device) for size in (parts, 1))
        with torch.cuda.device_of(x):
            part_kernel[(parts,)](x, sums, n, BLOCK_SIZE=PART)
            part_kernel[(1,)](sums, total, parts, BLOCK_SIZE=triton.next_power_of_2(parts))  # begins when all programs above have ended
            share_kernel[(parts,)](x, total, out, n, BLOCK_SIZE=PART)
    return out
# --8<-- [end:together]


# %% The claims: how each is measured, and the table of what must hold.
def draw(M, N, dtype=torch.float32, seed=0):
    gen = torch.Generator(DEVICE).manual_seed(seed)
    return [fence(torch.randn(shape, generator=gen, device=DEVICE).to(dtype)) for shape in ((M, N), (N,), (M, N))]


def fused_error(M, N, dtype=torch.float32, seed=0):
    arguments = draw(M, N, dtype, seed)
    want, kept = reference(*arguments), [a.clone() for a in arguments]
    fused(*arguments, out=(got := fence(arguments[0], output=True)))
    FENCES.extend((a.view(torch.uint8), b.view(torch.uint8)) for a, b in zip(arguments, kept))  # unchanged, bit for bit
    return [(got, want)]


def share_error(n, dtype=torch.float32):
    """Whole numbers of either sign, none of them 0, so that the sum is exact in any order; x is unchanged."""
    x = torch.randint(-3, 5, (n,), generator=torch.Generator(DEVICE).manual_seed(0), device=DEVICE)
    x = fence((x + (x >= 0)).to(dtype))
    want, kept = reference_share(x), x.clone()
    share(x, out=(got := fence(x, output=True)))
    FENCES.append((x.view(torch.uint8), kept.view(torch.uint8)))
    return [(got, want)]


def fused_speed(against, M=8192, N=4096, dtype=torch.float16):
    arguments = draw(M, N, dtype)
    size = arguments[0].numel() * arguments[0].element_size()
    if against == "copy":  # three arrays move, two of them in; a copy moves two
        out = torch.empty_like(arguments[0])
        return race(("fused", lambda: fused(*arguments)), ("copy", lambda: out.copy_(arguments[0])), work=(3 * size, 2 * size), unit="B")
    return race(("fused", lambda: fused(*arguments)), ("eager", lambda: eager(*arguments)))


def share_speed(n=2**28 - 1000):
    """Bytes of one read and one write, as if one pass did it, against a copy."""
    x = torch.rand(n, device=DEVICE)
    out = torch.empty_like(x)
    return race(("share", lambda: share(x)), ("copy", lambda: out.copy_(x)), work=(8 * n,) * 2, unit="B")


def workload(op, x, weights, bias, residual):
    """One block of a network: four products, and the op once."""
    for w in weights:
        x = x @ w
    return op(x, bias, residual)


def workload_speed(size=4096):
    x, bias, residual = draw(size, size, torch.float16)
    weights = [torch.randn(size, size, device=DEVICE, dtype=torch.float16) / size**0.5 for _ in range(4)]
    ours, theirs = (functools.partial(workload, op, x, weights, bias, residual) for op in (fused, eager))
    return race(("with the kernel", ours), ("eager", theirs))


def clock(call):
    """Milliseconds from the call to the end of the work that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def ratio_of_times(name, ours, other, theirs):
    """How many times longer ours takes: at the median, from the tenth to the ninetieth percentile."""
    row, base = {"timings": []}, sorted(theirs)[len(theirs) // 2]
    for key, ms in ((name, sorted(ours)), (other, sorted(theirs))):
        p10, p50, p90 = (ms[int(len(ms) * q)] for q in (0.1, 0.5, 0.9))
        row["timings"].append({"name": key, "p10_ms": p10, "median_ms": p50, "p90_ms": p90, "repeats": len(ms), "work": 1, "unit": "call"})
    return row | {key: row["timings"][0][ms] / base for key, ms in (("value", "median_ms"), ("low", "p10_ms"), ("high", "p90_ms"))}


@functools.cache
def scattered(rounds=3):
    """Milliseconds of twenty widths, each once: a kernel compiled for each width, the kernel above, the framework."""
    seen = {"constant width": [], "width as argument": [], "eager": []}
    inputs = [draw(256, width, torch.float16) for width in WIDTHS]
    all_of = lambda op: [op(*arguments) for arguments in inputs]
    all_of(fused), all_of(eager)  # warm
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
            triton.knobs.cache.dir = folder
            for name in list(seen)[:2]:
                seen[name].append(clock(lambda: all_of(functools.partial(fused, kernel=triton.jit(fused_kernel.fn), constant=name == "constant width"))))
        seen["eager"].append(clock(lambda: all_of(eager)))
    return seen


def scattered_times(name):
    return ratio_of_times(name, scattered()[name], "eager", scattered()["eager"])


def break_even():
    """How many calls a first compile has to save time in, before it has paid for itself."""
    arguments, compiles = draw(4096, 4096, torch.float16), []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
            triton.knobs.cache.dir = folder
            compiles.append(clock(lambda: fused(*arguments, kernel=triton.jit(fused_kernel.fn))))
    saved = fused_speed("eager", 4096, 4096)["timings"]
    return ratio_of_times("first call", compiles, "saved by a later call", [saved[1]["median_ms"] - saved[0]["median_ms"]] * 3)


# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "fused_fp32.max_rel_err": ("error", fused_error, dict(M=37, N=70), 16 * 2**-24, "any", 0, "u / (1 + exp(-u)) in a handful of roundings, one of them exp's two units"),
    "fused_fp16.max_rel_err": ("error", fused_error, dict(M=37, N=70, dtype=torch.float16), 2**-11 + 16 * 2**-24, "any", 0, "half a unit of fp16 for the result, and the arithmetic in fp32"),
    "fused_bf16.max_rel_err": ("error", fused_error, dict(M=37, N=70, dtype=torch.bfloat16), 2**-8 + 16 * 2**-24, "gpu", 0, "half a unit of bf16 for the result, and the arithmetic in fp32"),
    "share_fp32.max_rel_err": ("error", share_error, dict(n=50_001), 2 * 2**-24, "any", 0, "a sum of whole numbers, exact in any order, and one division, which may be two units off"),
    "share_one.max_rel_err": ("error", share_error, dict(n=3), 2 * 2**-24, "any", 0, "less than one part"),

    "fused.vs_eager": ("ratio", fused_speed, dict(against="eager"), 2.0, "gpu", 1, "eager moves seven arrays, the kernel three"),
    "fused.vs_copy": ("ratio", fused_speed, dict(against="copy"), 0.9, "gpu", 1, "bound by memory: nothing but bytes counts"),
    "share.vs_copy": ("ratio", share_speed, {}, 0.5, "gpu", 4, "x is read a second time after all programs have ended, so at best two thirds"),
    "workload.vs_eager": ("ratio", workload_speed, {}, 1.0, "gpu", 1, "the op is a small part of a block, and the products stay as they are"),
    "scattered.constant_vs_eager": ("ratio", scattered_times, dict(name="constant width"), 20, "gpu", 1, "twenty compiles for twenty calls"),
    "scattered.argument_vs_eager": ("ratio", scattered_times, dict(name="width as argument"), 2, "gpu", 1, "a few compiles, for widths that are and are not multiples of 16"),
    "break_even.calls": ("ratio", break_even, {}, 100, "gpu", 1, "milliseconds to compile, microseconds to gain"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "no_store_mask": ("kernel", "+ residual, mask=mask)", "+ residual)", "fused_fp32.max_rel_err", "guard", "the last block writes past the end"),
    "bias_by_element": ("kernel", "bias_ptr + offsets % n_cols", "bias_ptr + offsets // n_cols", "fused_fp32.max_rel_err", "error", "the bias of the row, not of the column"),
    "no_waiting": ("together", "share_kernel[(parts,)](x, total,", "share_kernel[(parts,)](x, sums,", "share_fp32.max_rel_err", "error", "the first part stands for the whole sum, as if nobody had to wait"),
    "padding_counted": ("together", "mask=offsets < n_elements, other=0", "mask=offsets < n_elements, other=1", "share_fp32.max_rel_err", "error", "the lanes past the end of the last part add one each"),
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
