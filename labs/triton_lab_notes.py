# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Lab notes: what happens around a launch, from the first compile to the tuner's choice.

Learn:   what the first launch costs, what compiles again, what the tuner keeps,
         what a target and a stage are
Run:     python triton_lab_notes.py           every claim, then every seeded bug
         python triton_lab_notes.py --bench   only the speed, on a GPU
Memory:  4 GiB
GPU:     any NVIDIA GPU since Ampere; with none, Triton's interpreter, and its compiler, which needs
         no GPU
Minutes: 3
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, Bug, Claim, benchmark_pair, load_lab, main, supported
    from arguments import (
        check_contiguous,
        check_dtypes,
        check_elementwise,
        check_no_overlap,
        check_product,
        check_shape,
        check_tensors,
        check_whole,
        checked_output,
    )
    from offline import TARGETS, compiling_for, fresh_kernel
    from reading import assembly
    from startup import first_call_ratio, startup_pairs, time_ratio
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import contextlib
import functools
import re
import tempfile
import time
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.compiler import ASTSource

F16, F32 = torch.float16, torch.float32
DTYPES = supported(F32, F16, torch.bfloat16)
FACTOR = 2731 / 4096  # 12 bits, one more than fp16 has; times a whole number to 99 exact in fp32
TILE = dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=32)  # fp16: 8 KiB of a and 8 KiB of b a stage


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
def scale(x, factor, out=None):
    """Return x * factor, computed in fp32, in the dtype of x; in `out` if given, which may be x."""
    out = checked_scale(x, out)
    n = x.numel()
    if n:
        with torch.cuda.device_of(x):
            scale_kernel[(triton.cdiv(n, 1024),)](x, out, n, float(factor), BLOCK_SIZE=1024)
    return out
    # --8<-- [end:launch]


# %% A tuned kernel, and one that must not be tuned carelessly: it adds to what is already there.
# --8<-- [start:autotune]
TRIALS = []  # one entry for each configuration that the tuner tried


def time_trial(launch, quantiles):
    """Time one configuration, as the tuner asks; in the interpreter all count as equally fast."""
    TRIALS.append(1)
    if DEVICE == "cuda":
        return triton.testing.do_bench(launch, warmup=5, rep=20, quantiles=quantiles)
    for _ in range(2):  # a benchmark runs what it times more than once
        launch()
    return [1.0, 1.0, 1.0]


@triton.autotune(
    configs=[
        triton.Config(dict(BLOCK_SIZE=size), num_warps=warps)
        for size, warps in ((256, 2), (1024, 4), (4096, 8))
    ],
    key=["bucket"],  # a choice for each bucket; the dtypes of the tensors are always part of it
    restore_value=["total_ptr"],  # trials run on the caller's tensors: undo what each one added
    do_bench=time_trial,
)
@triton.jit(do_not_specialize=["bucket"])
def accumulate_kernel(x_ptr, total_ptr, n_elements, bucket, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0).to(tl.float32)
    tl.atomic_add(total_ptr, tl.sum(x, axis=0))


def accumulate(x, total, config=None):
    """Add the sum of x to total, one fp32 element, tuned unless a configuration is given.

    Programs add in any order, so the last bits of a rounded sum vary from call to call.
    """
    check_accumulate(x, total)
    n = x.numel()
    options = config.all_kwargs() if config else {}
    kernel = accumulate_kernel.fn if config else accumulate_kernel
    if n:
        with torch.cuda.device_of(x):
            kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](
                x, total, n, triton.next_power_of_2(n), **options
            )
    # --8<-- [end:autotune]


# %% A kernel with a loop over loads, for num_stages to overlap.
# --8<-- [start:pipeline]
@triton.jit
def dot_kernel(
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
    pid = tl.program_id(axis=0)
    n_blocks = tl.cdiv(N, BLOCK_N)
    offs_m = (pid // n_blocks).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (pid % n_blocks).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m, mask_n = offs_m < M, offs_n < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K).to(tl.int64)
        mask_k = offs_k < K
        a = tl.load(
            a_ptr + offs_m[:, None] * stride_am + offs_k[None, :],
            mask=mask_m[:, None] & mask_k[None, :],
            other=0,
        )
        b = tl.load(
            b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :],
            mask=mask_k[:, None] & mask_n[None, :],
            other=0,
        )
        acc = tl.dot(a, b, acc, input_precision="ieee")
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(
        c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :],
        c,
        mask=mask_m[:, None] & mask_n[None, :],
    )


def dot(a, b, num_stages=3, out=None):
    """Return a @ b for contiguous (M, K) and (K, N) of one dtype, accumulated in fp32."""
    out = checked_dot(a, b, num_stages, out)
    (M, K), N = a.shape, b.shape[1]
    grid = (triton.cdiv(M, TILE["BLOCK_M"]) * triton.cdiv(N, TILE["BLOCK_N"]),)
    strides = (a.stride(0), b.stride(0), out.stride(0))
    if out.numel():
        with torch.cuda.device_of(a):
            dot_kernel[grid](a, b, out, M, N, K, *strides, **TILE, num_stages=num_stages)
    return out
    # --8<-- [end:pipeline]


# %% How to time a launch.
# --8<-- [start:clock]
def clock(launch):
    """Milliseconds from the call to the end of the work that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    launch()
    torch.cuda.synchronize()  # a launch only queues its work
    return (time.perf_counter() - start) * 1e3
    # --8<-- [end:clock]


# %% What the kernels take for granted.
# --8<-- [start:checks]
def checked_scale(x, out):
    check_elementwise(DEVICE, DTYPES, x=x, out=x if out is None else out)
    if out is None:
        return torch.empty_like(x)
    check_no_overlap(out, in_place=True, x=x)
    return out


def check_accumulate(x, total):
    check_elementwise(DEVICE, DTYPES, x=x)
    check_tensors(DEVICE, x=x, total=total)
    check_dtypes((F32,), total=total)
    check_shape((1,), total=total)
    check_no_overlap(total, name="total", x=x)


def checked_dot(a, b, num_stages, out):
    check_whole("num_stages", num_stages, 1)
    check_product(DEVICE, DTYPES, a, b)
    check_contiguous(a=a, b=b)
    return checked_output(out, (a.shape[0], b.shape[1]), (a.dtype,), a=a, b=b)
    # --8<-- [end:checks]


# %% What is correct: a product with a factor, and a product of matrices, in float64.
# --8<-- [start:reference]
def reference(x, factor):
    return x.double() * factor


def reference_dot(a, b):
    return a.double() @ b.double()
    # --8<-- [end:reference]


# %% How each claim is measured: results first.
def whole_numbers(generator, shape, low, high, dtype=F32):
    """Whole numbers in [low, high): small enough for every product and sum below to be exact."""
    return torch.randint(low, high, shape, generator=generator, device=DEVICE).to(dtype)


def scale_error(guards, n, dtype=F32):
    generator = torch.Generator(DEVICE).manual_seed(0)
    x = guards.input(whole_numbers(generator, (n,), -99, 99, dtype))
    out = scale(x, FACTOR, out=guards.output_like(x))
    return [(out, reference(x, FACTOR).to(dtype))]


def accumulate_error(guards, n, alone=False):
    """The tuner's first call and its second, or each configuration alone, from a fresh total."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    x = guards.input(whole_numbers(generator, (n,), 1, 9))
    accumulate_kernel.cache.clear()
    for config in accumulate_kernel.configs if alone else (None, None):
        total = guards.in_place(torch.full((1,), 1000.0, device=DEVICE))
        accumulate(x, total, config)
        yield total, 1000 + x.double().sum(dim=0, keepdim=True)


def dot_error(guards, M, N, K, dtype=F16):
    generator = torch.Generator(DEVICE).manual_seed(0)
    most = 2 if dtype == F16 else 50  # so that fp16 holds every sum, and in fp32 it would not
    a, b = (
        guards.input(whole_numbers(generator, shape, -most, most + 1, dtype))
        for shape in ((M, K), (K, N))
    )
    out = dot(a, b, out=guards.output((M, N), dtype))
    return [(out, reference_dot(a, b))]


# %% Then what is compiled, without a GPU.
def variants(then, **options):
    """How many variants are compiled for a launch, and then one with each of these changes."""
    kernel = triton.jit(scale_kernel.fn, **options)  # a fresh one, with nothing compiled
    place, launch, device = contextlib.nullcontext(), kernel[(1,)], "cuda"
    if not torch.cuda.is_available():  # then nothing is launched, and nothing read
        place, device = compiling_for(TARGETS["sm_90"]), "cpu"
        launch = functools.partial(kernel.warmup, grid=(1,))
    with place:
        for change in ({}, *then):
            given = dict(n=17, factor=0.5, dtype=F32, skip=0, BLOCK_SIZE=1024, num_warps=4) | change
            n, factor, dtype, skip, block_size, num_warps = given.values()
            x, out = torch.zeros(2, 4096, dtype=dtype, device=device)
            launch(x[skip:], out, n, factor, BLOCK_SIZE=block_size, num_warps=num_warps)
    return sum(len(caches[0]) for caches in kernel.device_caches.values())


def compiled_scale(target, kernel=scale_kernel, **options):
    """What a launch of scale_kernel with fp32 compiles for a target."""
    with compiling_for(TARGETS[target]):
        return fresh_kernel(kernel).warmup(F32, F32, 17, 0.5, BLOCK_SIZE=1024, grid=(1,), **options)


def compiled(targets, shows, num_warps=None):
    """One property of the code for each target, in order; or how the compiler refuses."""
    options = {"num_warps": num_warps} if num_warps else {}
    try:
        kernels = [compiled_scale(target, **options) for target in targets]
    except triton.CompilationError as error:
        reason = str(error).splitlines()[-1].split(". ")[0]
        return {"value": type(error).__name__, "note": reason}
    return ", ".join(property_of(kernel, shows) for kernel in kernels)


def property_of(kernel, shows):
    """Its target, the threads of a program, or its options."""
    if shows == "options":
        return f"{kernel.metadata.num_warps} warps {kernel.metadata.num_stages} stages"
    patterns = {
        "target": r'target "?(?:\S+-)?(\w+)',
        "threads": r"(?:\.reqntid|\.max_flat_workgroup_size:)\s+(\d+)",
    }
    return re.search(patterns[shows], assembly(kernel))[1]


def texts_by_hand():
    """How many texts of PTX the two ways to compile without a GPU give: signature, and warmup."""
    pointers = dict(x_ptr="*fp32", out_ptr="*fp32")
    signature = pointers | dict(n_elements="i32", factor="fp32", BLOCK_SIZE="constexpr")
    aligned = {(i,): [["tt.divisibility", 16]] for i in (0, 1)}  # the two pointers
    source = ASTSource(scale_kernel, signature, constexprs={"BLOCK_SIZE": 1024}, attrs=aligned)
    by_signature = triton.compile(source, target=TARGETS["sm_90"])
    return len({by_signature.asm["ptx"], compiled_scale("sm_90").asm["ptx"]})


def compiles(line_above):
    """How many of two compilations into one empty cache really compile.

    The first is of this file, the second of a copy of it, with or without one line more at its top.
    """
    events = []
    with (
        tempfile.TemporaryDirectory() as folder,
        triton.knobs.cache.scope(),
        triton.knobs.compilation.scope(),
    ):
        triton.knobs.cache.dir = folder
        triton.knobs.compilation.listener = lambda cache_hit, **rest: events.append(cache_hit)
        path = Path(folder, Path(__file__).name)
        text = Path(__file__).read_text(encoding="utf-8-sig")
        path.write_text("# one line more\n" * line_above + text, encoding="utf-8")
        for kernel in (scale_kernel, load_lab(path).scale_kernel):
            compiled_scale("sm_90", kernel)
    return events.count(False)


def stages(size, shows):
    """What one to four stages make of the loop on sm_90, for fp16 matrices of size × size."""
    with compiling_for(TARGETS["sm_90"]):
        kernel = fresh_kernel(dot_kernel)
        made = [
            kernel.warmup(*[F16] * 3, *[size] * 6, **TILE, num_stages=number, grid=(1,))
            for number in (1, 2, 3, 4)
        ]
    if shows == "texts":
        return len({compiled.asm["ptx"] for compiled in made})
    if shows == "shared bytes":
        return " ".join(str(compiled.metadata.shared) for compiled in made)
    return " ".join(str(compiled.asm["ptx"].count("cp.async.cg")) for compiled in made)


# %% Then what the tuner tries, and what a launch costs.
def trials(then=(), first=(5000, F32, 0)):
    """How many configurations the last of these calls tries: length, dtype, elements skipped."""
    accumulate_kernel.cache.clear()
    for n, dtype, skip in (first, *then):
        before = len(TRIALS)
        x = torch.ones(n + skip, dtype=dtype, device=DEVICE)[skip:]
        accumulate(x, torch.zeros(1, device=DEVICE))
    return len(TRIALS) - before


def target_agrees():
    """In how many of three points Triton's target is what torch reports."""
    gpu = torch.cuda.get_device_properties(0)
    target = triton.runtime.driver.active.get_current_target()
    backend, arch = "cuda", gpu.major * 10 + gpu.minor
    if torch.version.hip is not None:
        backend, arch = "hip", gpu.gcnArchName.split(":")[0]
    agreements = (target.backend == backend, target.arch == arch, target.warp_size == gpu.warp_size)
    return agreements.count(True)


def stages_speed(size, ours, theirs):
    """Speed of one number of stages against another, in FLOP a second."""
    a, b = torch.randn(2, size, size, device=DEVICE, dtype=F16)
    sides = [(f"num_stages={n}", functools.partial(dot, a, b, n)) for n in (ours, theirs)]
    return benchmark_pair(*sides, work=(2 * size**3,) * 2, unit="FLOP")


def aligned_speed(size, than):
    """Speed of an aligned size against one a little larger and not aligned, in FLOP a second."""
    pairs = [torch.randn(2, n, n, device=DEVICE, dtype=F16) for n in (size, than)]
    sides = [(f"{len(a)} wide", functools.partial(dot, a, b)) for a, b in pairs]
    return benchmark_pair(*sides, work=(2 * size**3, 2 * than**3), unit="FLOP")


def clock_speed(n):
    """What our clock shows for a launch, in units of what do_bench shows."""
    x = torch.randn(n, device=DEVICE)
    launch = functools.partial(scale, x, FACTOR, torch.empty_like(x))
    launch()  # compiles, unless that is done
    ours = [clock(launch) for _ in range(20)]
    return time_ratio("clock", ours, "do_bench", triton.testing.do_bench(launch, return_mode="all"))


def graph_speed(launches, n):
    """How many times longer a row of launches takes one by one than replayed as one CUDA graph."""
    x = torch.randn(n, device=DEVICE)
    out, graph = scale(x, FACTOR), torch.cuda.CUDAGraph()

    def one_by_one():
        for _ in range(launches):
            scale(x, FACTOR, out)

    with torch.cuda.graph(graph):  # records the launches, which are compiled by now, and runs none
        one_by_one()
    graph.replay()
    ours, theirs = ([clock(call) for _ in range(50)] for call in (one_by_one, graph.replay))
    return time_ratio("one by one", ours, "graph", theirs)


# %% Then what a new process costs.
def first_calls():
    """In a new process: milliseconds of the first call and of later ones; then the trials.

    The calls are of a plain kernel and of a tuned one.
    """
    x, total = torch.ones(2**20, device=DEVICE), torch.zeros(1, device=DEVICE)
    plain = functools.partial(scale, x, FACTOR, torch.empty_like(x))
    tuned = functools.partial(accumulate, x, total)
    return [[clock(call) for _ in range(50)] for call in (plain, tuned)], len(TRIALS)


def startups():
    """What `first_calls` returns in pairs of new processes."""
    return startup_pairs(Path(__file__), "lab.first_calls()")


def first_launch(cache, against, kernel=0):
    """How many times longer the first call of a new process takes than another."""
    return first_call_ratio(startups()[:-1], cache, against, kernel)


def process_trials(keep):
    """How many configurations a process tries after another one, its choice kept on disk or not."""
    return startups()[-1 if keep else 0]["filled"].trials


# fmt: off
CLAIMS = [
    Claim("scale_fp32.max_abs_err", scale_error, dict(n=2500), why="whole numbers below 99 times 12 bits: exact"),
    Claim("scale_fp16.max_abs_err", scale_error, dict(n=2500, dtype=F16), why="exact in fp32 and then rounded once, as the reference is; in fp16 the factor alone would be rounded"),
    Claim("tuned_twice.max_abs_err", accumulate_error, dict(n=9999), why="sums of whole numbers below 2**24 are exact; the trials left no trace"),
    Claim("each_config.max_abs_err", accumulate_error, dict(n=9999, alone=True), why="every configuration is correct on its own, not only the fastest"),
    Claim("dot_fp16.max_abs_err", dot_error, dict(M=300, N=140, K=70), why="whole numbers: no sum passes 4 * 70, and fp16 holds them to 2048"),
    Claim("dot_fp32.max_abs_err", dot_error, dict(M=20, N=260, K=70, dtype=F32), why="the same in fp32, in a row of three tiles: no sum passes 2500 * 70"),

    Claim("lengths.variants", variants, dict(then=[{"n": 33}, {"n": 100}, {"n": 1000}]), kind="count", bound=1, judges="compile", why="a length is an argument, not a constant: one variant for all"),
    Claim("length_1.variants", variants, dict(then=[{"n": 1}]), kind="count", bound=2, judges="compile", why="the value 1 is compiled in"),
    Claim("lengths_of_16.variants", variants, dict(then=[{"n": 16}, {"n": 32}, {"n": 4096}]), kind="count", bound=2, judges="compile", why="multiples of 16 share a variant that may assume it"),
    Claim("length_past_2_31.variants", variants, dict(then=[{"n": 2**31 + 1}]), kind="count", bound=2, judges="compile", why="the argument becomes 64 bits wide"),
    Claim("any_length.variants", variants, dict(then=[{"n": n} for n in (1, 2, 16, 48, 781, 1823, 98432, 2**31 - 1)]), kind="count", bound=3, judges="compile", why="1, multiples of 16, the rest: never one variant for each length"),
    Claim("not_specialized.variants", variants, dict(then=[{"n": 1}, {"n": 16}], do_not_specialize=["n_elements"]), kind="count", bound=1, judges="compile", why="do_not_specialize gives up what 1 and 16 would allow"),
    Claim("factors.variants", variants, dict(then=[{"factor": 1.0}, {"factor": 16.0}, {"factor": 3.14}]), kind="count", bound=1, judges="compile", why="the value of a float is never looked at"),
    Claim("misaligned.variants", variants, dict(then=[{"skip": 1}, {"skip": 2}, {"skip": 3}]), kind="count", bound=2, judges="compile", why="x[1:] does not start at a multiple of 16 bytes"),
    Claim("dtypes.variants", variants, dict(then=[{"dtype": F16}]), kind="count", bound=2, judges="compile", why="a pointer's type is part of the code"),
    Claim("block_sizes.variants", variants, dict(then=[{"BLOCK_SIZE": 512}, {"BLOCK_SIZE": 256}]), kind="count", bound=3, judges="compile", why="each value of a constexpr is its own code"),
    Claim("warps.variants", variants, dict(then=[{"num_warps": 8}]), kind="count", bound=2, judges="compile", why="so is each option"),

    Claim("same_file_again.compiles", compiles, dict(line_above=0), kind="count", bound=1, judges="compile", why="an unchanged copy of the file finds the first one's code on disk"),
    Claim("line_above.compiles", compiles, dict(line_above=1), kind="count", bound=2, judges="compile", why="the kernel's line number is part of its key"),
    Claim("empty_cache.vs_later", first_launch, dict(cache="empty", against="later"), kind="ratio", bound=100, judges="gpu", gib=1, why="the first call starts Triton, compiles and loads; a later one only queues its work"),
    Claim("filled_cache.vs_later", first_launch, dict(cache="filled", against="later"), kind="ratio", bound=10, judges="gpu", gib=1, why="found on disk is not yet loaded: Triton starts, hashes, reads, loads"),
    Claim("empty_cache.vs_filled", first_launch, dict(cache="empty", against="filled"), kind="ratio", bound=1.5, judges="gpu", gib=1, why="what the cache on disk saves"),
    Claim("tuned_empty_cache.vs_later", first_launch, dict(cache="empty", against="later", kernel=1), kind="ratio", bound=100, judges="gpu", gib=1, why="three compiles and three benchmarks before the first answer"),
    Claim("clock.vs_do_bench", clock_speed, dict(n=2**28), kind="ratio", bound=0.9, judges="gpu", gib=3, why="a clock that waits for the work shows at least the kernel's own time"),

    Claim("graph.vs_launches", graph_speed, dict(launches=100, n=1024), kind="ratio", bound=3, judges="gpu", gib=1, why="Python prepares each launch anew; a graph is handed over once"),

    Claim("first_call.trials", trials, kind="count", bound=3, why="three configurations"),
    Claim("second_call.trials", trials, dict(then=[(5000, F32, 0)]), kind="count", bound=0, why="the choice is kept"),
    Claim("same_bucket.trials", trials, dict(then=[(8000, F32, 0)]), kind="count", bound=0, why="5000 and 8000 round up to the same power of two"),
    Claim("new_bucket.trials", trials, dict(then=[(9000, F32, 0)]), kind="count", bound=3, why="another value of the key"),
    Claim("new_dtype.trials", trials, dict(then=[(5000, F16, 0)]), kind="count", bound=3, why="dtypes are part of the key without being named"),
    Claim("misaligned.trials", trials, dict(then=[(5000, F32, 1)]), kind="count", bound=0, why="alignment is not: this variant runs what was chosen for another"),
    Claim("new_process.trials", process_trials, dict(keep=False), kind="count", bound=3, judges="gpu", gib=1, why="compiled code lies on disk, the choice does not"),
    Claim("kept_on_disk.trials", process_trials, dict(keep=True), kind="count", bound=0, judges="gpu", gib=1, why="with TRITON_CACHE_AUTOTUNING=1 it does"),

    Claim("target.agreements", target_agrees, kind="count", bound=3, judges="gpu", why="back end, architecture and warp size are what torch reports"),
    Claim("offline.targets", compiled, dict(targets=("sm_80", "sm_90", "gfx942", "gfx1100"), shows="target"), kind="codegen", bound="sm_80, sm_90a, gfx942, gfx1100", judges="compile", why="NVIDIA and AMD, with no GPU of either"),
    Claim("by_hand.texts", texts_by_hand, kind="count", bound=1, judges="compile", why="triton.compile with a signature is what a launch does"),
    Claim("program.threads", compiled, dict(targets=("sm_90", "gfx942", "gfx1100"), shows="threads", num_warps=4), kind="codegen", bound="128, 256, 128", judges="compile", why="num_warps times the warp size, 64 on gfx942, 32 on the others"),
    Claim("defaults.options", compiled, dict(targets=("sm_90", "gfx942"), shows="options"), kind="codegen", bound="4 warps 3 stages, 4 warps 2 stages", judges="compile", why="a fixed number: the compiler does not pick num_warps"),

    Claim("stages_aligned.shared_bytes", stages, dict(size=4096, shows="shared bytes"), kind="codegen", bound="16384 32768 49152 65536", judges="compile", why="each stage keeps one more tile of a and of b: 2 * 128 * 32 * 2 bytes"),
    Claim("stages_aligned.cp_async", stages, dict(size=4096, shows="copies"), kind="codegen", bound="0 16 24 32", judges="compile", why="asynchronous copies: 8 a tile pair and thread, once for each stage in flight and once in the loop"),
    Claim("stages_unaligned.shared_bytes", stages, dict(size=4097, shows="shared bytes"), kind="codegen", bound="16384 16384 16384 16384", judges="compile", why="rows that start anywhere are read two bytes at a time, too small for a copy"),
    Claim("stages_unaligned.texts", stages, dict(size=4097, shows="texts"), kind="count", bound=1, judges="compile", why="byte-identical code, whatever num_stages is"),
    Claim("stages_aligned.three_vs_one", stages_speed, dict(size=4096, ours=3, theirs=1), kind="ratio", bound=1.1, judges="gpu", gib=1, why="loads of later tiles run during the product of this one"),
    Claim("stages_unaligned.one_vs_three", stages_speed, dict(size=4097, ours=1, theirs=3), kind="ratio", bound=0.95, judges="gpu", gib=1, why="the same code cannot be slower than itself, noise apart"),
    Claim("aligned.vs_unaligned", aligned_speed, dict(size=4096, than=4097), kind="ratio", bound=1.5, judges="gpu", gib=1, why="16-byte copies in a pipeline against two-byte loads without one"),
]

BUGS = [
    Bug("no_restore", section="autotune", old='restore_value=["total_ptr"], ', new="", caught_by="tuned_twice.max_abs_err", how="error", shows="the first call adds once for every trial, the second is correct"),
    Bug("reset_for_restore", section="autotune", old="restore_value=", new="reset_to_zero=", caught_by="tuned_twice.max_abs_err", how="error", shows="the first call loses what was there before"),
    Bug("length_as_key", section="autotune", old='["bucket"],  #', new='["n_elements"],  #', caught_by="same_bucket.trials", how="error", shows="every new length is tuned again"),
    Bug("no_key", section="autotune", old='["bucket"],  #', new="[],  #", caught_by="new_bucket.trials", how="error", shows="what suits the first length is kept for all"),
    Bug("grid_of_one_config", section="autotune", old='meta["BLOCK_SIZE"]', new="4096", caught_by="each_config.max_abs_err", how="error", shows="only the configuration of 4096 covers x"),
    Bug("constexpr_length", section="kernel", old="n_elements, factor", new="n_elements: tl.constexpr, factor", caught_by="lengths.variants", how="error", shows="each length is compiled again"),
    Bug("runtime_block", section="kernel", old="BLOCK_SIZE: tl.constexpr", new="BLOCK_SIZE", caught_by="offline.targets", how="error", shows="the length of an arange must be known to the compiler"),
    Bug("plain_global", section="kernel", old="x * factor", new="x * FACTOR", caught_by="offline.targets", how="error", shows="a global of Python: the interpreter runs it, the compiler refuses it"),
    Bug("alignment_unused", section="pipeline", old="@triton.jit", new='@triton.jit(do_not_specialize=["N", "K", "stride_am", "stride_bk"])', caught_by="stages_aligned.shared_bytes", how="error", shows="fewer variants, no pipeline"),
    Bug("no_synchronize", section="clock", old="    torch.cuda.synchronize()  # a launch only queues its work\n", new="", caught_by="clock.vs_do_bench", how="error", shows="the clock stops before the kernel has run"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
