# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Lab notes: what happens around a launch, from the first compile to the tuner's choice.

Learn:   what the first launch pays, what compiles again, what the tuner keeps, what a target and a stage are
Run:     python triton_lab_notes.py           every claim, then every break
         python triton_lab_notes.py --bench   only the speed, on a GPU
Memory:  4 GiB
Card:    any NVIDIA card since Ampere; with none, Triton's interpreter and its compiler, which needs no card
Minutes: 3
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import contextlib
import functools
import os
import re
import sys
import time
import types

import torch

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # TRITON_INTERPRET=0 keeps the compiler, which needs no GPU
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # the default turns to 0 in Triton 3.10: say which one is meant
os.environ.setdefault("TRITON_DISABLE_LINE_INFO", "1")  # then the PTX does not depend on where this file lies
try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError:
    print("this lab needs Triton, which exists for Linux: pip install triton", file=sys.stderr)
    sys.exit(2)

INTERPRETED = triton.knobs.runtime.interpret
DEVICE = "cpu" if INTERPRETED else "cuda"

FACTOR = 2731 / 4096  # 12 bits, one more than fp16 has; times a whole number up to 99 it is exact in float32
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
TARGETS = {"sm_80": ("cuda", 80, 32), "sm_90": ("cuda", 90, 32), "gfx942": ("hip", "gfx942", 64), "gfx1100": ("hip", "gfx1100", 32)}
TILE = dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=32)  # fp16: 8 KiB of a and 8 KiB of b for each stage


# %% What is right: a product, a sum and a matrix product, in float64.
# --8<-- [start:reference]
def reference(*tensors, factor=1.0):
    if len(tensors) == 2:
        return tensors[0].double() @ tensors[1].double()
    return tensors[0].double() * factor
# --8<-- [end:reference]


# %% A plain kernel, to launch and to compile.
# --8<-- [start:kernel]
@triton.jit
def scale_kernel(x_ptr, out_ptr, n_elements, factor, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0).to(tl.float32)
    tl.store(out_ptr + offsets, x * factor, mask=mask)
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
        if t.dtype not in DTYPES or (INTERPRETED and t.dtype == torch.bfloat16):
            raise TypeError(f"{name} is {t.dtype}; allowed: float32, float16 and, on a GPU, bfloat16")
        if t.device.type != DEVICE or t.device != first.device:
            raise ValueError(f"{name} is on {t.device}; this run needs every tensor on one {DEVICE} device")
        if not t.is_contiguous():
            raise ValueError(f"{name} has strides {t.stride()}, and this kernel reads straight on: pass {name}.contiguous()")


def meet(a, b):
    """Whether the stretches of memory from the first to the last element of a and b overlap."""
    last = [1 + sum((n - 1) * step for n, step in zip(t.shape, t.stride())) for t in (a, b)]
    return a.data_ptr() < b.data_ptr() + last[1] * b.element_size() and b.data_ptr() < a.data_ptr() + last[0] * a.element_size()


def scale(x: torch.Tensor, factor: float, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return x * factor, computed in float32, in the dtype of x, in `out` if given. x is contiguous, of any shape."""
    checked(x=x, out=x if out is None else out)
    out = torch.empty_like(x) if out is None else out
    if out.shape != x.shape or out.dtype != x.dtype:
        raise ValueError(f"out is {tuple(out.shape)} {out.dtype}; it must be as x, {tuple(x.shape)} {x.dtype}")
    if 0 < abs(out.data_ptr() - x.data_ptr()) < x.numel() * x.element_size():
        raise ValueError("out overlaps x, and a program could read what another has written: pass out=x or memory apart from it")
    if x.numel():
        with torch.cuda.device_of(x):
            scale_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), float(factor), BLOCK_SIZE=1024)
    return out
# --8<-- [end:launch]


# %% A tuned kernel, and one that must not be tuned carelessly: it adds to what is already there.
# --8<-- [start:autotune]
TRIALS = []  # one entry for each configuration that the tuner tried


def trial(launch, quantiles):
    """Time one configuration, as the tuner asks: on a GPU for real; in the interpreter all are called equal."""
    TRIALS.append(1)
    if DEVICE == "cuda":
        return triton.testing.do_bench(launch, warmup=5, rep=20, quantiles=quantiles)
    launch(), launch()  # a benchmark runs what it times more than once
    return [1.0, 1.0, 1.0]


@triton.autotune(
    configs=[triton.Config(dict(BLOCK_SIZE=size), num_warps=warps) for size, warps in ((256, 2), (1024, 4), (4096, 8))],
    key=["bucket"],  # a choice for each bucket; the dtypes of the tensors are always part of the key
    restore_value=["total_ptr"],  # trials run on the caller's own tensors: undo what each one added
    do_bench=trial,
)
@triton.jit(do_not_specialize=["bucket"])
def accumulate_kernel(x_ptr, total_ptr, n_elements, bucket, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0).to(tl.float32)
    tl.atomic_add(total_ptr, tl.sum(x, axis=0))


def accumulate(x: torch.Tensor, total: torch.Tensor, config: triton.Config | None = None) -> None:
    """Add the sum of x to total, one float32 element, in place; with the tuned configuration unless one is given.

    Programs add in any order, so where a sum must be rounded, its last bits vary from call to call.
    """
    checked(x=x, total=total)
    if total.shape != (1,) or total.dtype != torch.float32:
        raise ValueError(f"total is {tuple(total.shape)} {total.dtype}; it must be (1,) torch.float32")
    if x.numel() and meet(x, total):
        raise ValueError("total shares its memory with x, which is still being read: pass a tensor of its own")
    n = x.numel()
    if n:
        kernel, options = (accumulate_kernel.fn, config.all_kwargs()) if config else (accumulate_kernel, {})
        with torch.cuda.device_of(x):
            kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, total, n, triton.next_power_of_2(n), **options)
# --8<-- [end:autotune]


# %% A kernel with a loop over loads, for num_stages to overlap.
# --8<-- [start:pipeline]
@triton.jit
def dot_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    n_blocks = tl.cdiv(N, BLOCK_N)
    offs_m = (pid // n_blocks).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (pid % n_blocks).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m, mask_n = offs_m < M, offs_n < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K).to(tl.int64)
        mask_k = offs_k < K
        a = tl.load(a_ptr + offs_m[:, None] * stride_am + offs_k[None, :], mask=mask_m[:, None] & mask_k[None, :], other=0)
        b = tl.load(b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :], mask=mask_k[:, None] & mask_n[None, :], other=0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :], c, mask=mask_m[:, None] & mask_n[None, :])


def dot(a: torch.Tensor, b: torch.Tensor, num_stages: int = 3, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return a @ b for contiguous (M, K) and (K, N) of one dtype, accumulated in float32, in `out` if given."""
    checked(a=a, b=b, out=a if out is None else out)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or a.dtype != b.dtype:
        raise ValueError(f"a is {tuple(a.shape)} {a.dtype}, b is {tuple(b.shape)} {b.dtype}; needed: (M, K) and (K, N) of one dtype")
    if not isinstance(num_stages, int) or num_stages < 1:
        raise ValueError(f"num_stages is {num_stages!r}; it must be a whole number from 1")
    (M, K), N = a.shape, b.shape[1]
    if max(M, N, K) > 2**31 - 256:
        raise ValueError(f"a is {tuple(a.shape)} and b is {tuple(b.shape)}; no size may exceed 2**31 - 256, where counting tiles in 32 bits ends")
    c = torch.empty(M, N, dtype=a.dtype, device=a.device) if out is None else out
    if c.shape != (M, N) or c.dtype != a.dtype:
        raise ValueError(f"out is {tuple(c.shape)} {c.dtype}; it must be {(M, N)} {a.dtype}")
    if c.numel():
        for name, t in (("a", a), ("b", b)):
            if t.numel() and meet(t, c):
                raise ValueError(f"out shares its memory with {name}, which is still being read: pass a tensor of its own")
        grid = (triton.cdiv(M, TILE["BLOCK_M"]) * triton.cdiv(N, TILE["BLOCK_N"]),)
        with torch.cuda.device_of(a):
            dot_kernel[grid](a, b, c, M, N, K, a.stride(0), b.stride(0), c.stride(0), **TILE, num_stages=num_stages)
    return c
# --8<-- [end:pipeline]


# %% How to compile for a card that is not there, and how to time one that is.
# --8<-- [start:offline]
@contextlib.contextmanager
def compiling_for(target):
    """Inside, kernel.warmup(…, grid=(1,)), a launch that ends after compiling, compiles for this target with no such card."""
    driver = types.SimpleNamespace(
        get_current_device=lambda: target,  # variants are kept by device
        get_current_stream=lambda device: 0,
        get_current_target=lambda: GPUTarget(*TARGETS[target]),
    )
    triton.runtime.driver.set_active(driver)
    try:
        yield
    finally:
        triton.runtime.driver.set_active(None)  # back to what the machine has
# --8<-- [end:offline]


# --8<-- [start:clock]
def clock(launch):
    """Milliseconds from the call to the end of the work that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch()
    torch.cuda.synchronize()  # a launch only queues its work
    return (time.perf_counter() - start) * 1e3
# --8<-- [end:clock]


# %% The claims: how each is measured, and the table of what must hold.
def whole(shape, gen, low, high, dtype=torch.float32):
    """Whole numbers in [low, high), between guards: small enough for every product and sum below to be exact."""
    return fence(torch.randint(low, high, shape, generator=gen, device=DEVICE).to(dtype))


def scale_error(n, dtype=torch.float32, seed=0):
    x = whole((n,), torch.Generator(DEVICE).manual_seed(seed), -99, 99, dtype)
    kept = x.clone()  # a kernel that spoils its input must not spoil the reference
    scale(x, FACTOR, out=(got := fence(x, output=True)))
    return [(got, reference(kept, factor=FACTOR).to(dtype)), (x, kept)]


def accumulate_error(n, alone=False, seed=0):
    """The tuner's first call and its second, or each configuration alone; every time from a fresh total, and x unchanged."""
    x = whole((n,), torch.Generator(DEVICE).manual_seed(seed), 1, 9)
    before, pairs = x.clone(), []
    accumulate_kernel.cache.clear()
    for config in accumulate_kernel.configs if alone else (None, None):
        accumulate(x, total := fence(torch.full((1,), 1000.0, device=DEVICE)), config)
        pairs.append((total, 1000 + reference(x).sum(dim=0, keepdim=True)))
    return [*pairs, (x, before)]


def dot_error(M, N, K, dtype=torch.float16, seed=0):
    gen = torch.Generator(DEVICE).manual_seed(seed)
    most = 2 if dtype == torch.float16 else 50  # for fp16 to hold every sum, and else for it to hold few
    a, b = (whole(shape, gen, -most, most + 1, dtype) for shape in ((M, K), (K, N)))
    kept = a.clone(), b.clone()
    dot(a, b, out=(got := fence(a.new_empty(M, N), output=True)))
    return [(got, reference(*kept)), (a, kept[0]), (b, kept[1])]


def variants(then, **options):
    """How many variants are compiled for a launch with the usual arguments, then one with each of these changes to them."""
    kernel = triton.jit(scale_kernel.fn, **options)  # a fresh one, with nothing compiled
    device = "cuda" if torch.cuda.is_available() else "cpu"  # without a card nothing is launched, and nothing read
    launch, place = (kernel[(1,)], contextlib.nullcontext()) if device == "cuda" else (functools.partial(kernel.warmup, grid=(1,)), compiling_for("sm_90"))
    with place:
        for change in ({}, *then):
            a = dict(n=17, factor=0.5, dtype=torch.float32, skip=0, BLOCK_SIZE=1024, num_warps=4) | change
            x, out = torch.zeros(2, 4096, dtype=a["dtype"], device=device)
            launch(x[a["skip"]:], out, a["n"], a["factor"], BLOCK_SIZE=a["BLOCK_SIZE"], num_warps=a["num_warps"])
    return sum(len(caches[0]) for caches in kernel.device_caches.values())


def trials(then=(), first=(5000, torch.float32, 0)):
    """How many configurations the last of these calls tries: length, dtype, elements skipped at the start."""
    accumulate_kernel.cache.clear()
    for n, dtype, skip in (first, *then):
        before = len(TRIALS)
        accumulate(torch.ones(n + skip, dtype=dtype, device=DEVICE)[skip:], torch.zeros(1, device=DEVICE))
    return len(TRIALS) - before


def compiled(targets, shows, num_warps=None):
    """One thing about the code that comes out for each target, in order; or how the compiler refuses."""
    seen, given = [], {"num_warps": num_warps} if num_warps else {}
    for target in targets:
        try:
            with compiling_for(target):
                kernel = triton.jit(scale_kernel.fn).warmup(torch.float32, torch.float32, 17, 0.5, BLOCK_SIZE=1024, grid=(1,), **given)
        except triton.CompilationError as error:
            return {"value": type(error).__name__, "note": str(error).splitlines()[-1].split(". ")[0]}
        code = kernel.asm.get("ptx") or kernel.asm.get("amdgcn")
        if shows == "target":
            seen.append(re.search(r'target "?(?:\S+-)?(\w+)', code)[1])
        elif shows == "threads":
            seen.append(re.search(r"(?:\.reqntid|\.max_flat_workgroup_size:)\s+(\d+)", code)[1])
        else:
            seen.append(f"{kernel.metadata.num_warps} warps {kernel.metadata.num_stages} stages")
    return ", ".join(seen)


def by_hand():
    """How many different texts of PTX the two ways to compile without a card give: by signature, and by a launch that stops."""
    signature = dict(x_ptr="*fp32", out_ptr="*fp32", n_elements="i32", factor="fp32", BLOCK_SIZE="constexpr")
    aligned = {(i,): [["tt.divisibility", 16]] for i in (0, 1)}  # the two pointers
    source = ASTSource(scale_kernel, signature, constexprs={"BLOCK_SIZE": 1024}, attrs=aligned)
    texts = {triton.compile(source, target=GPUTarget(*TARGETS["sm_90"])).asm["ptx"]}
    with compiling_for("sm_90"):
        texts.add(triton.jit(scale_kernel.fn).warmup(torch.float32, torch.float32, 17, 0.5, BLOCK_SIZE=1024, grid=(1,)).asm["ptx"])
    return len(texts)


def compiles(line_above):
    """How many of two compilations into one empty cache on disk really compile: of this file, or of it and a longer copy."""
    done = []
    with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope(), triton.knobs.compilation.scope(), compiling_for("sm_90"):
        triton.knobs.cache.dir = folder
        triton.knobs.compilation.listener = lambda cache_hit, **rest: done.append(not cache_hit)
        path = pathlib.Path(folder, FILE.name)
        path.write_text("# one line more\n" * line_above + FILE.read_text(encoding="utf-8-sig"), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(FILE.stem, path)
        spec.loader.exec_module(copy := importlib.util.module_from_spec(spec))
        for kernel in (scale_kernel.fn, copy.scale_kernel.fn):
            triton.jit(kernel).warmup(torch.float32, torch.float32, 17, 0.5, BLOCK_SIZE=1024, grid=(1,))
    return sum(done)


def stages(size, shows):
    """What one to four stages make of the loop on sm_90, for fp16 matrices of size × size."""
    with compiling_for("sm_90"):
        kernel = triton.jit(dot_kernel.fn, do_not_specialize=dot_kernel.do_not_specialize)
        made = [kernel.warmup(*[torch.float16] * 3, *[size] * 6, **TILE, num_stages=n, grid=(1,)) for n in (1, 2, 3, 4)]
    if shows == "texts":
        return len({k.asm["ptx"] for k in made})
    return " ".join(str(k.metadata.shared if shows == "shared bytes" else k.asm["ptx"].count("cp.async.cg")) for k in made)


def stages_speed(size, ours, theirs):
    """Speed of one number of stages against another."""
    a, b = torch.randn(2, size, size, device=DEVICE, dtype=torch.float16)
    return race(*((f"num_stages={n}", functools.partial(dot, a, b, n)) for n in (ours, theirs)), work=(2 * size**3,) * 2, unit="FLOP")


def aligned_speed(size, than):
    """Speed of an aligned size against one that is a little larger and not aligned, in FLOP a second."""
    pairs = [torch.randn(2, n, n, device=DEVICE, dtype=torch.float16) for n in (size, than)]
    runs = [(f"{n} wide", functools.partial(dot, *pair)) for n, pair in zip((size, than), pairs)]
    return race(*runs, work=(2 * size**3, 2 * than**3), unit="FLOP")


def clock_speed(n):
    """What our clock shows for a launch, in units of what do_bench shows."""
    x = torch.randn(n, device=DEVICE)
    launch = functools.partial(scale, x, FACTOR, torch.empty_like(x))
    launch()  # compiled, if it was not
    return times("clock", [clock(launch) for _ in range(20)], "do_bench", triton.testing.do_bench(launch, return_mode="all"))


def graph_speed(launches, n):
    """How many times longer a row of small launches takes one by one than replayed from one CUDA graph."""
    x = torch.randn(n, device=DEVICE)
    out, graph = scale(x, FACTOR), torch.cuda.CUDAGraph()
    one_by_one = lambda: [scale(x, FACTOR, out) for _ in range(launches)]
    with torch.cuda.graph(graph):  # records the launches, which are compiled by now, and runs none
        one_by_one()
    graph.replay()
    return times("one by one", [clock(one_by_one) for _ in range(50)], "graph", [clock(graph.replay) for _ in range(50)])


def times(name, ours, other, theirs):
    """The row of a ratio of times: how many times longer ours is, at its median, its tenth and its ninetieth percentile."""
    row, base = {"timings": []}, sorted(theirs)[len(theirs) // 2]
    for key, ms in ((name, sorted(ours)), (other, sorted(theirs))):
        p10, p50, p90 = (ms[int(len(ms) * q)] for q in (0.1, 0.5, 0.9))
        row["timings"].append({"name": key, "p10_ms": p10, "median_ms": p50, "p90_ms": p90, "repeats": len(ms), "work": 1, "unit": "call"})
    return row | {key: row["timings"][0][ms] / base for key, ms in (("value", "median_ms"), ("low", "p10_ms"), ("high", "p90_ms"))}


def young():
    """In a new process: of a plain and of a tuned kernel, milliseconds of the first call and of later ones; then the trials."""
    x, total = torch.ones(2**20, device=DEVICE), torch.zeros(1, device=DEVICE)
    calls = functools.partial(scale, x, FACTOR, torch.empty_like(x)), functools.partial(accumulate, x, total)
    return [[clock(call) for _ in range(50)] for call in calls], len(TRIALS)


@functools.cache
def processes(rounds=2):
    """young() in pairs of processes, the first with an empty cache on disk, the second with what that left; the last pair keeps tuning results too."""
    pairs, code = [], "import json, sys; sys.path.insert(0, sys.argv[1]); import {0}; print(json.dumps({0}.young()))".format(FILE.stem)
    for keep in (*"0" * rounds, "1"):
        pairs.append([])
        with tempfile.TemporaryDirectory() as folder:
            for _ in ("empty", "filled"):
                env = os.environ | {"TRITON_CACHE_DIR": folder, "TRITON_CACHE_AUTOTUNING": keep}
                run = subprocess.run([sys.executable, "-B", "-c", code, FILE.parent], env=env, capture_output=True, text=True)
                if run.returncode:
                    raise RuntimeError(f"a new process failed: {run.stderr[-300:]}")
                pairs[-1].append(json.loads(run.stdout.splitlines()[-1]))
    return pairs


def first_launch(cache, against, kernel=0):
    """How many times longer the first call of a new process takes, with an empty or a filled cache on disk."""
    first = {name: [pair[i][0][kernel][0] for pair in processes()[:-1]] for i, name in enumerate(("empty", "filled"))}
    later = [ms for pair in processes()[:-1] for run in pair for ms in run[0][kernel][1:]]
    return times(f"first, {cache} cache", first[cache], *(("later", later) if against == "later" else (f"first, {against} cache", first[against])))


def process_trials(keep):
    """How many configurations the second process of a pair tries, with tuning results kept on disk or not."""
    return processes()[-1 if keep else 0][1][1]


def target_agrees():
    """In how many of three points, back end, architecture and warp size, Triton's target is what torch reports."""
    card, target = torch.cuda.get_device_properties(0), triton.runtime.driver.active.get_current_target()
    hip = torch.version.hip is not None
    arch = card.gcnArchName.split(":")[0] if hip else card.major * 10 + card.minor
    return (target.backend == ("hip" if hip else "cuda")) + (target.arch == arch) + (target.warp_size == card.warp_size)


# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "scale_fp32.max_abs_err": ("error", scale_error, dict(n=2500), 0.0, "any", 0, "whole numbers below 99 times 12 bits: exact"),
    "scale_fp16.max_abs_err": ("error", scale_error, dict(n=2500, dtype=torch.float16), 0.0, "any", 0, "exact in fp32 and then rounded once, as the reference is; in fp16 the factor alone would be rounded"),
    "tuned_twice.max_abs_err": ("error", accumulate_error, dict(n=9999), 0.0, "any", 0, "sums of whole numbers below 2**24 are exact; the trials left no trace"),
    "each_config.max_abs_err": ("error", accumulate_error, dict(n=9999, alone=True), 0.0, "any", 0, "every configuration is right on its own, not only the fastest"),
    "dot_fp16.max_abs_err": ("error", dot_error, dict(M=300, N=140, K=70), 0.0, "any", 0, "whole numbers: no sum passes 4 * 70, and fp16 holds them to 2048"),
    "dot_fp32.max_abs_err": ("error", dot_error, dict(M=20, N=260, K=70, dtype=torch.float32), 0.0, "any", 0, "the same in fp32, in a row of three tiles: no sum passes 2500 * 70"),

    "lengths.variants": ("count", variants, dict(then=[{"n": 33}, {"n": 100}, {"n": 1000}]), 1, "compile", 0, "a length is an argument, not a constant: one variant for all"),
    "length_1.variants": ("count", variants, dict(then=[{"n": 1}]), 2, "compile", 0, "the value 1 is compiled in"),
    "lengths_of_16.variants": ("count", variants, dict(then=[{"n": 16}, {"n": 32}, {"n": 4096}]), 2, "compile", 0, "multiples of 16 share a variant that may assume it"),
    "length_past_2_31.variants": ("count", variants, dict(then=[{"n": 2**31 + 1}]), 2, "compile", 0, "the argument becomes 64 bits wide"),
    "any_length.variants": ("count", variants, dict(then=[{"n": n} for n in (1, 2, 16, 48, 781, 1823, 98432, 2**31 - 1)]), 3, "compile", 0, "1, multiples of 16, the rest: never one variant for each length"),
    "not_specialized.variants": ("count", variants, dict(then=[{"n": 1}, {"n": 16}], do_not_specialize=["n_elements"]), 1, "compile", 0, "do_not_specialize gives up what 1 and 16 would allow"),
    "factors.variants": ("count", variants, dict(then=[{"factor": 1.0}, {"factor": 16.0}, {"factor": 3.14}]), 1, "compile", 0, "the value of a float is never looked at"),
    "misaligned.variants": ("count", variants, dict(then=[{"skip": 1}, {"skip": 2}, {"skip": 3}]), 2, "compile", 0, "x[1:] does not start at a multiple of 16 bytes"),
    "dtypes.variants": ("count", variants, dict(then=[{"dtype": torch.float16}]), 2, "compile", 0, "a pointer's type is part of the code"),
    "block_sizes.variants": ("count", variants, dict(then=[{"BLOCK_SIZE": 512}, {"BLOCK_SIZE": 256}]), 3, "compile", 0, "each value of a constexpr is its own code"),
    "warps.variants": ("count", variants, dict(then=[{"num_warps": 8}]), 2, "compile", 0, "so is each option"),

    "same_file_again.compiles": ("count", compiles, dict(line_above=0), 1, "compile", 0, "an unchanged copy of the file finds the first one's code on disk"),
    "line_above.compiles": ("count", compiles, dict(line_above=1), 2, "compile", 0, "the kernel's line number is part of its key"),
    "empty_cache.vs_later": ("ratio", first_launch, dict(cache="empty", against="later"), 100, "gpu", 1, "the first call starts Triton, compiles and loads; a later one only queues its work"),
    "filled_cache.vs_later": ("ratio", first_launch, dict(cache="filled", against="later"), 10, "gpu", 1, "found on disk is not yet loaded: Triton starts, hashes, reads, loads"),
    "empty_cache.vs_filled": ("ratio", first_launch, dict(cache="empty", against="filled"), 1.5, "gpu", 1, "what the cache on disk saves"),
    "tuned_empty_cache.vs_later": ("ratio", first_launch, dict(cache="empty", against="later", kernel=1), 100, "gpu", 1, "three compiles and three benchmarks before the first answer"),
    "clock.vs_do_bench": ("ratio", clock_speed, dict(n=2**28), 0.9, "gpu", 3, "a clock that waits for the work shows at least the kernel's own time"),

    "graph.vs_launches": ("ratio", graph_speed, dict(launches=100, n=1024), 3, "gpu", 1, "Python prepares each launch anew; a graph is handed over once"),

    "first_call.trials": ("count", trials, {}, 3, "any", 0, "three configurations"),
    "second_call.trials": ("count", trials, dict(then=[(5000, torch.float32, 0)]), 0, "any", 0, "the choice is kept"),
    "same_bucket.trials": ("count", trials, dict(then=[(8000, torch.float32, 0)]), 0, "any", 0, "5000 and 8000 round up to the same power of two"),
    "new_bucket.trials": ("count", trials, dict(then=[(9000, torch.float32, 0)]), 3, "any", 0, "another value of the key"),
    "new_dtype.trials": ("count", trials, dict(then=[(5000, torch.float16, 0)]), 3, "any", 0, "dtypes are part of the key without being named"),
    "misaligned.trials": ("count", trials, dict(then=[(5000, torch.float32, 1)]), 0, "any", 0, "alignment is not: this variant runs what was chosen for another"),
    "new_process.trials": ("count", process_trials, dict(keep=False), 3, "gpu", 1, "compiled code lies on disk, the choice does not"),
    "kept_on_disk.trials": ("count", process_trials, dict(keep=True), 0, "gpu", 1, "with TRITON_CACHE_AUTOTUNING=1 it does"),

    "target.agreements": ("count", target_agrees, {}, 3, "gpu", 0, "back end, architecture and warp size are what torch reports"),
    "offline.targets": ("codegen", compiled, dict(targets=("sm_80", "sm_90", "gfx942", "gfx1100"), shows="target"), "sm_80, sm_90a, gfx942, gfx1100", "compile", 0, "NVIDIA and AMD, with no card of either"),
    "by_hand.texts": ("count", by_hand, {}, 1, "compile", 0, "triton.compile with a signature is what a launch does"),
    "program.threads": ("codegen", compiled, dict(targets=("sm_90", "gfx942", "gfx1100"), shows="threads", num_warps=4), "128, 256, 128", "compile", 0, "num_warps times the warp size, 64 on gfx942, 32 on the others"),
    "defaults.options": ("codegen", compiled, dict(targets=("sm_90", "gfx942"), shows="options"), "4 warps 3 stages, 4 warps 2 stages", "compile", 0, "a fixed number: the compiler does not pick num_warps"),

    "stages_aligned.shared_bytes": ("codegen", stages, dict(size=4096, shows="shared bytes"), "16384 32768 49152 65536", "compile", 0, "each stage keeps one more tile of a and of b: 2 * 128 * 32 * 2 bytes"),
    "stages_aligned.cp_async": ("codegen", stages, dict(size=4096, shows="copies"), "0 16 24 32", "compile", 0, "asynchronous copies: 8 a tile pair and thread, once for each stage in flight and once in the loop"),
    "stages_unaligned.shared_bytes": ("codegen", stages, dict(size=4097, shows="shared bytes"), "16384 16384 16384 16384", "compile", 0, "rows that start anywhere are read two bytes at a time, too small for a copy"),
    "stages_unaligned.texts": ("count", stages, dict(size=4097, shows="texts"), 1, "compile", 0, "the same code, letter for letter, whatever num_stages says"),
    "stages_aligned.three_vs_one": ("ratio", stages_speed, dict(size=4096, ours=3, theirs=1), 1.1, "gpu", 1, "loads of later tiles run during the product of this one"),
    "stages_unaligned.one_vs_three": ("ratio", stages_speed, dict(size=4097, ours=1, theirs=3), 0.95, "gpu", 1, "the same code cannot be slower than itself, noise apart"),
    "aligned.vs_unaligned": ("ratio", aligned_speed, dict(size=4096, than=4097), 1.5, "gpu", 1, "16-byte copies in a pipeline against two-byte loads without one"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "no_restore": ("autotune", 'restore_value=["total_ptr"], ', "", "tuned_twice.max_abs_err", "error", "the first call adds once for every trial, the second is right"),
    "reset_for_restore": ("autotune", "restore_value=", "reset_to_zero=", "tuned_twice.max_abs_err", "error", "the first call loses what was there before"),
    "length_as_key": ("autotune", '["bucket"],  #', '["n_elements"],  #', "same_bucket.trials", "error", "every new length is tuned again"),
    "no_key": ("autotune", '["bucket"],  #', "[],  #", "new_bucket.trials", "error", "what suits the first length is kept for all"),
    "grid_of_one_config": ("autotune", 'meta["BLOCK_SIZE"]', "4096", "each_config.max_abs_err", "error", "only the configuration of 4096 covers x"),
    "constexpr_length": ("kernel", "n_elements, factor", "n_elements: tl.constexpr, factor", "lengths.variants", "error", "each length is compiled again"),
    "runtime_block": ("kernel", "BLOCK_SIZE: tl.constexpr", "BLOCK_SIZE", "offline.targets", "error", "the length of an arange must be known to the compiler"),
    "plain_global": ("kernel", "x * factor", "x * FACTOR", "offline.targets", "error", "a global of Python: the interpreter runs it, the compiler refuses it"),
    "alignment_unused": ("pipeline", "@triton.jit", '@triton.jit(do_not_specialize=["N", "K", "stride_am", "stride_bk"])', "stages_aligned.shared_bytes", "error", "fewer variants, no pipeline"),
    "no_synchronize": ("clock", "    torch.cuda.synchronize()  # a launch only queues its work\n", "", "clock.vs_do_bench", "error", "the clock stops before the kernel has run"),
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
