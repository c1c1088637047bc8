# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Vector add: one program owns one block, and a mask guards the ragged last one.

Learn:   the grid, the program id, offsets as a vector, masked load and store
Run:     python triton_vector_add.py           every claim, then every break
         python triton_vector_add.py --bench   only the speed, on a GPU
Memory:  4 GiB, and 14 GiB for the one claim past 2**31 elements
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

BLOCK_SIZE = 1024  # a power of two; 4 warps × 32 lanes × 8 elements: two 16-byte loads a lane in fp32
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int32, torch.int64)


# %% What is right: one correctly rounded addition; integers wrap.
# --8<-- [start:reference]
def reference(x, y):
    return x + y
# --8<-- [end:reference]


# %% The kernel: what one program does.
# --8<-- [start:kernel]
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)  # which block is mine; 64 bits, since pid * BLOCK_SIZE can pass 2**31
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements  # false only past the end, in the last block
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0)
    tl.store(out_ptr + offsets, x + y, mask=mask)
# --8<-- [end:kernel]


# %% The launcher: checks what the kernel takes for granted, then launches the grid.
# --8<-- [start:launch]
def add(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return x + y elementwise, in `out` if given.

    All three are contiguous and have the shape, dtype and device of x. Raises TypeError for a dtype, ValueError for
    the rest; bfloat16 is refused in the interpreter, which computes it wrongly.
    """
    for name, t in (("x", x), ("y", y), ("out", x if out is None else out)):
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
    out = torch.empty_like(x) if out is None else out
    if x.dtype not in DTYPES or (INTERPRETED and x.dtype == torch.bfloat16):
        allowed = ", ".join(str(d) for d in DTYPES if not (INTERPRETED and d == torch.bfloat16))
        raise TypeError(f"x is {x.dtype}; allowed here: {allowed}")
    for name, t in (("x", x), ("y", y), ("out", out)):
        if t.device.type != DEVICE or t.device != x.device:
            raise ValueError(f"{name} is on {t.device}; this run needs all three on one {DEVICE} device, x is on {x.device}")
        if t.dtype != x.dtype or t.shape != x.shape:
            raise ValueError(f"{name} is {tuple(t.shape)} {t.dtype}; it must be as x, {tuple(x.shape)} {x.dtype}")
        if not t.is_contiguous():
            raise ValueError(f"{name} has strides {t.stride()}, and this kernel reads straight on: pass {name}.contiguous()")
    n = out.numel()
    for name, t in (("x", x), ("y", y)):
        if 0 < abs(out.data_ptr() - t.data_ptr()) < n * t.element_size():
            raise ValueError(f"out overlaps {name}, and a program could read what another has written: pass out={name} or memory apart from it")
    if n:  # a grid of 0 programs has nothing to launch
        with torch.cuda.device_of(x):  # a launch goes to the current device, not to the tensor's
            add_kernel[(triton.cdiv(n, BLOCK_SIZE),)](x, y, out, n, BLOCK_SIZE=BLOCK_SIZE)
    return out
# --8<-- [end:launch]


# %% The claims: how each is measured, and the table of what must hold.
def error(n, dtype=torch.float32, values="random", seed=0):
    """Chunks of add and of the reference, for n elements, or a tensor of shape n, between guards."""
    gen, size = torch.Generator(DEVICE).manual_seed(seed), n if isinstance(n, tuple) else (n,)
    low, high, drawn = (-99, 99, torch.int8) if dtype.is_floating_point else (torch.iinfo(dtype).min, torch.iinfo(dtype).max, dtype)
    x, y = (fence(torch.randint(low, high, size, generator=gen, device=DEVICE, dtype=drawn).to(dtype)) for _ in "xy")
    if values == "special":
        some = torch.tensor([0.0, -0.0, 1.0, 3e38, -3e38, 1e-45, torch.inf, -torch.inf, torch.nan], device=DEVICE)
        x.copy_(some.repeat_interleave(9).to(dtype)), y.copy_(some.repeat(9).to(dtype))
    elif dtype.is_floating_point:
        x.div_(7), y.div_(3)  # so that almost every sum must be rounded
    kept = x.clone(), y.clone()  # neither the reference nor the inputs may be spoiled by the kernel
    FENCES.extend((t.view(torch.uint8), k.view(torch.uint8)) for t, k in zip((x, y), kept))
    add(x, y, out=(got := fence(x, output=True)))  # judged is what lies in memory, not what add returns
    for g, a, b in zip(*(t.split(2**26) for t in (got, *kept))):
        pair = g, reference(a, b)
        yield [t.view(torch.int32) for t in pair] if dtype == torch.int64 else pair  # float64 has no room for 64 bits
        if values == "special":
            yield [1 / t for t in pair]  # which tells -0 from 0


def views_refused():
    """How many views that do not lie straight in memory are refused, as x and as y, by name."""
    base, refused = torch.zeros(64, 64, device=DEVICE), 0
    for view in (base.t(), base[:, ::2], base[:, :8], base[:, :1].expand(64, 64), base.flatten()[::2]):
        for name, pair in (("x", (view, view.clone(memory_format=torch.contiguous_format))), ("y", (view.contiguous(), view))):
            try:
                add(*pair)
            except ValueError as error:
                refused += str(error).startswith(f"{name} has strides")
    return refused


def speed(n, dtype=torch.float32):
    """Bytes a second against a device copy, which moves two tensors where an addition moves three."""
    x, y = torch.randn(2, n, device=DEVICE, dtype=dtype)
    out = torch.empty_like(x)
    return race(("add", lambda: add(x, y, out=out)), ("copy", lambda: out.copy_(x)), work=(3 * x.nbytes, 2 * x.nbytes), unit="B")


# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "whole_fp32.max_abs_err": ("error", error, dict(n=4096), 0.0, "any", 0, "four full blocks; one correctly rounded addition"),
    "ragged_fp32.max_abs_err": ("error", error, dict(n=98_432), 0.0, "any", 0, "96 full blocks and 128 elements in one more"),
    "one_fp32.max_abs_err": ("error", error, dict(n=1), 0.0, "any", 0, "one element of one block"),
    "empty_fp32.max_abs_err": ("error", error, dict(n=0), 0.0, "any", 0, "nothing is launched, and the result is empty"),
    "special_fp32.max_abs_err": ("error", error, dict(n=81, values="special"), 0.0, "any", 0, "IEEE 754 rules: zeros with their signs, overflow, subnormal, inf, NaN"),
    "ragged_fp16.max_abs_err": ("error", error, dict(n=98_432, dtype=torch.float16), 0.0, "any", 0, "one rounding to fp16, as in the reference"),
    "ragged_bf16.max_abs_err": ("error", error, dict(n=98_432, dtype=torch.bfloat16), 0.0, "gpu", 0, "one rounding to bf16; the interpreter gets bf16 wrong"),
    "ragged_int32.max_abs_err": ("error", error, dict(n=98_432, dtype=torch.int32), 0.0, "any", 0, "integers of the whole range: they add exactly, and wrap"),
    "ragged_int64.max_abs_err": ("error", error, dict(n=(7, 13, 1081), dtype=torch.int64), 0.0, "any", 0, "three dimensions, all 64 bits compared: exact, and they wrap"),
    "past_2_31_int8.max_abs_err": ("error", error, dict(n=2**31 + 17, dtype=torch.int8), 0.0, "gpu", 14, "64-bit offsets reach every element"),
    "views.refused": ("count", views_refused, {}, 10, "any", 0, "five kinds of view, as x and as y: refused by name, never misread"),
    "large_fp32.vs_copy": ("ratio", speed, dict(n=2**28), 0.97, "gpu", 4, "memory-bound: as fast a byte as a copy, within 3 in 100"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "no_mask": ("kernel", "offsets < n_elements", "offsets >= 0", "ragged_fp32.max_abs_err", "guard", "the last block writes past the end"),
    "mask_one_too_many": ("kernel", "offsets < n_elements", "offsets <= n_elements", "ragged_fp32.max_abs_err", "guard", "one element past the end is written"),
    "program_as_thread": ("kernel", "pid * BLOCK_SIZE + tl", "pid + tl", "ragged_fp32.max_abs_err", "nonfinite", "97 programs write one overlapping stretch, the rest stays unwritten"),
    "grid_rounded_down": ("launch", "triton.cdiv(n, BLOCK_SIZE)", "n // BLOCK_SIZE", "ragged_fp32.max_abs_err", "nonfinite", "nobody owns the ragged last block"),
    "int32_offsets": ("kernel", ".to(tl.int64)", "", "past_2_31_int8.max_abs_err", "fault", "the last offset wraps to -2**31"),
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
