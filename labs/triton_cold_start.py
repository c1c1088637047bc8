# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Cold start: the kernel is fast, and the first request that needs it waits for compiler and tuner.

Learn:   why the first request of a bucket stalls, what the caches on disk keep of it, how to warm
         up, how to notice what warm-up forgot
Run:     python triton_cold_start.py           every claim, then every seeded bug
         python triton_cold_start.py --bench   only the speed, on a GPU
Memory:  4 GiB
GPU:     any NVIDIA GPU since Ampere; with none, Triton's interpreter and its compiler
Minutes: 2
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, Bug, Claim, main, supported
    from arguments import check_dtypes, check_last_dim, check_no_overlap, check_shape, check_tensors
    from incident import (
        QWEN,
        Incident,
        Phase,
        Rehearsal,
        after_move,
        attention_speed,
        bucket_of,
        eager,
        first_token,
        memory,
        run_job,
        sdpa,
        serve_traffic,
    )
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import contextlib
import contextvars
import functools
import math
import time

import torch
import triton
import triton.language as tl

FP16 = torch.float16
DTYPES = supported(FP16, torch.bfloat16)


# %% The prototype: one program owns BLOCK_M queries of a head, and walks along the keys.
# --8<-- [start:kernel]
@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr,
    n_queries, n_keys, bucket, scale,
    stride_qh, stride_qm, stride_kh, stride_kn, stride_vh, stride_vn,
    stride_oh, stride_om, stride_lh,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(axis=0).to(tl.int64)
    n_tiles = tl.cdiv(n_queries, BLOCK_M)
    head, tile = pid // n_tiles, n_tiles - 1 - pid % n_tiles  # the last tile sees most keys: first
    offs_m = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    mask_m = offs_m < n_queries
    q = tl.load(
        q_ptr + head * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :],
        mask=mask_m[:, None],
        other=0,
    )
    k_ptrs = k_ptr + head // GROUP * stride_kh + offs_d[:, None]
    v_ptrs = v_ptr + head // GROUP * stride_vh + offs_d[None, :]
    last_seen = offs_m + n_keys - n_queries  # bottom right: the last query sees every key
    end = tl.minimum(n_keys, (tile + 1) * BLOCK_M + n_keys - n_queries) if CAUSAL else n_keys
    m = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)  # the largest score so far
    l = tl.zeros((BLOCK_M,), dtype=tl.float32)  # the sum of the weights so far
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)  # the weighted sum of v so far
    for start in range(0, end, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N).to(tl.int64)
        mask_n = offs_n < n_keys
        k = tl.load(k_ptrs + offs_n[None, :] * stride_kn, mask=mask_n[None, :], other=0)
        # k is [HEAD_DIM, BLOCK_N], v below is [BLOCK_N, HEAD_DIM]
        seen = (
            mask_n[None, :] & (offs_n[None, :] <= last_seen[:, None]) if CAUSAL else mask_n[None, :]
        )
        scores = tl.where(seen, tl.dot(q, k) * scale, -float("inf"))
        m_new = tl.maximum(m, tl.max(scores, axis=1))
        # a row that has seen no key: inf - inf would be NaN
        base = tl.where(m_new == -float("inf"), 0.0, m_new)
        fade = tl.exp2(m - base)
        p = tl.exp2(scores - base[:, None])
        l = l * fade + tl.sum(p, axis=1)
        v = tl.load(v_ptrs + offs_n[:, None] * stride_vn, mask=mask_n[:, None], other=0)
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None])
        m = m_new
    out = acc / tl.where(l == 0, 1.0, l)[:, None]
    lse = (m + tl.log2(l)) / 1.4426950408889634  # from powers of 2 back to powers of e
    tl.store(
        out_ptr + head * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :],
        out.to(out_ptr.dtype.element_ty),
        mask=mask_m[:, None],
    )
    tl.store(lse_ptr + head * stride_lh + offs_m, lse, mask=mask_m)
    # --8<-- [end:kernel]


# %% The tuner of the prototype: the first request of a new bucket waits for the search.
# --8<-- [start:tuned]
CONFIGS = [
    triton.Config(dict(BLOCK_M=m, BLOCK_N=n), num_warps=warps, num_stages=stages)
    for m, n, warps, stages in (
        (64, 32, 4, 2),
        (64, 32, 4, 3),
        (64, 64, 4, 3),
        (128, 64, 4, 3),
        (128, 64, 8, 2),
        (128, 64, 8, 3),
    )
]


def worth_trying(configs, arguments, **constants):
    """Large tiles only for long prompts: short ones have too few to fill the GPU."""
    bucket = arguments["bucket"]
    fitting = [c for c in configs if c.kwargs["BLOCK_M"] * c.kwargs["BLOCK_N"] <= bucket]
    return fitting or configs[:1]


def trial(launch, quantiles):
    """Time one configuration, as the tuner does by default; the interpreter calls all equal."""
    launch()  # compiles and loads
    with tuning():
        if DEVICE == "cpu":
            return [1.0, 1.0, 1.0]
        return triton.testing.do_bench(launch, quantiles=quantiles)


tuned_kernel = triton.autotune(
    configs=CONFIGS,
    key=["bucket", "HEAD_DIM"],
    prune_configs_by={"early_config_prune": worth_trying},
    do_bench=trial,
)(attention_kernel)


def tuned(n):
    return tuned_kernel, {}
    # --8<-- [end:tuned]


# %% The fix: a table of configurations, one for all the rest, and no variants for lengths.
# --8<-- [start:planned]
PLAN = {  # bucket: what the tuner chose on an H200
    2048: dict(BLOCK_M=64, BLOCK_N=32, num_warps=4, num_stages=3),
    4096: dict(BLOCK_M=64, BLOCK_N=64, num_warps=4, num_stages=3),
    8192: dict(BLOCK_M=128, BLOCK_N=64, num_warps=8, num_stages=3),
}
GENERAL = dict(BLOCK_M=64, BLOCK_N=32, num_warps=4, num_stages=2)  # every length, every GPU

served_kernel = triton.jit(attention_kernel.fn, do_not_specialize=["n_queries", "n_keys"])


def planned(n):
    return served_kernel, PLAN.get(bucket_of(n), GENERAL)
    # --8<-- [end:planned]


# %% The launcher: the path decides by the number of keys which kernel runs, and as what.
# --8<-- [start:launch]
def attention(q, k, v, causal=True, path=planned, out=None, lse=None):
    """Return softmax(q @ k.T / sqrt(head_dim)) @ v and the log-sum-exp of each row.

    q is (heads, n_queries, head_dim); k and v are (kv_heads, n_keys, head_dim), kv_heads dividing
    heads. With `causal` query i sees the keys up to i + n_keys - n_queries. A row that sees no key
    is 0, its log-sum-exp -inf. NaN or inf in q or k spoils only the rows that see it; in v also
    rows that share a tile with these. `out` and `lse` may be given. Raises TypeError for a dtype,
    ValueError for the rest.
    """
    out, lse = checked(q, k, v, out, lse)
    if out.numel():
        kernel, options = path(k.shape[1])
        with torch.cuda.device_of(q):
            launch(kernel, options, causal, q, k, v, out, lse)
    return out, lse


def launch(kernel, options, causal, q, k, v, out, lse):
    """One program for each head and each tile of queries."""
    heads, n_queries, head_dim = q.shape

    def grid(constants):
        return (heads * triton.cdiv(n_queries, constants["BLOCK_M"]),)

    numbers = lengths(n_queries, k.shape[1], head_dim)
    strides = [stride for t in (q, k, v, out) for stride in t.stride()[:2]]
    constants = dict(GROUP=heads // k.shape[0], CAUSAL=causal, HEAD_DIM=head_dim)
    kernel[grid](q, k, v, out, lse, *numbers, *strides, lse.stride(0), **constants, **options)


def lengths(n_queries, n_keys, head_dim):
    """Lengths, bucket and scale; powers of 2 are cheaper than powers of e."""
    return n_queries, n_keys, bucket_of(n_keys), 1.4426950408889634 / math.sqrt(head_dim)
    # --8<-- [end:launch]


# %% What the kernel takes for granted.
# --8<-- [start:checks]
def checked(q, k, v, out, lse):
    """`out` and `lse`, or new tensors. Raises what `attention` says."""
    check_tensors(DEVICE, q=q, k=k, v=v)
    check_dtypes(DTYPES, q=q, k=k, v=v)
    check_last_dim("(heads, length, head_dim)", q=q, k=k, v=v)
    (heads, n_queries, head_dim), (kv_heads, n_keys, _) = q.shape, k.shape
    if head_dim not in (16, 32, 64, 128):
        raise ValueError(f"q has head_dim {head_dim}; allowed: 16, 32, 64, 128")
    check_shape((kv_heads, n_keys, head_dim), k=k, v=v)
    if heads and (not kv_heads or heads % kv_heads):
        raise ValueError(f"q has {heads} heads and k {kv_heads}; those of k must divide those of q")
    if max(n_queries, n_keys) > 2**30 or heads * n_queries >= 2**31:
        sizes = f"{heads} heads of {n_queries:,} queries and {n_keys:,} keys"
        raise ValueError(
            f"q and k have {sizes}: lengths end at 2**30, heads × queries at 2**31 - 1"
        )
    out = q.new_empty(q.shape) if out is None else out
    lse = q.new_empty(q.shape[:2], dtype=torch.float32) if lse is None else lse
    check_tensors(DEVICE, q=q, out=out, lse=lse)
    check_dtypes(DTYPES, q=q, out=out)
    check_dtypes((torch.float32,), lse=lse)
    check_shape(tuple(q.shape), out=out)
    check_shape(tuple(q.shape[:2]), lse=lse)
    check_last_dim("(heads, length, head_dim)", out=out)
    check_last_dim("(heads, length)", lse=lse)
    check_no_overlap(out, q=q, k=k, v=v, lse=lse)
    check_no_overlap(lse, name="lse", q=q, k=k, v=v)
    return out, lse
    # --8<-- [end:checks]


# %% What happens besides the kernel, when, and for how long; as a guard, that nothing does.
# --8<-- [start:watch]
class Watch:
    """A log of phases: compile, read (found on disk), load, tune. With `fail` each is an error."""

    current = contextvars.ContextVar("current", default=None)

    def __init__(self, fail):
        self.fail, self.log, self.started, self.found_on_disk = fail, [], {}, []

    def begin(self, phase, what):
        if self.fail:
            raise RuntimeError(f"{phase} after warm-up: {what}")
        self.started.setdefault(phase, time.perf_counter())

    def end(self, phase, name=None):
        start = self.started.pop(phase)
        self.log.append(Phase(name or phase, start, (time.perf_counter() - start) * 1e3))

    def compiled(self, is_manual_warmup, **rest):
        self.end("compile", "read" if self.found_on_disk.pop() else "compile")
        if not is_manual_warmup:  # the launcher, which is C, is compiled next: part of loading
            self.begin("load", "a launcher")

    def loads(self, module, function, name, *rest):
        self.begin("load", name)

    def loaded(self, *rest):
        self.end("load")


@contextlib.contextmanager
def tuning():
    """A phase for which Triton has a hook only since 3.8."""
    watch = Watch.current.get()
    if watch:
        watch.begin("tune", "a configuration")
    yield
    if watch:
        watch.end("tune")


@contextlib.contextmanager
def watching(fail=False):
    """The log of a watch, which fills while the block runs."""
    watch, runtime, compilation = Watch(fail), triton.knobs.runtime, triton.knobs.compilation
    with runtime.scope(), compilation.scope(), contextlib.ExitStack() as stack:
        compilation.listener = lambda cache_hit, **rest: watch.found_on_disk.append(cache_hit)
        runtime.jit_cache_hook = lambda fn, **rest: watch.begin("compile", fn.name)
        runtime.jit_post_compile_hook = watch.compiled
        starts, ends = runtime.kernel_load_start_hook, runtime.kernel_load_end_hook
        for hook, call in ((starts, watch.loads), (ends, watch.loaded)):
            hook.add(call)
            stack.callback(hook.remove, call)
        stack.callback(Watch.current.reset, Watch.current.set(watch))
        yield watch.log
    # --8<-- [end:watch]


# %% Warm-up: before the first prompt, whatever any prompt can need.
# --8<-- [start:warm]
def warm_up(launch_for):
    """Every configuration that a prompt can need: that of each bucket, and the general one."""
    for n in (*PLAN, max(PLAN) + 1):
        launch_for(n)


def compile_only(n, path=planned):
    """What kernel.warmup does of a launch: it compiles, and neither loads nor runs."""
    kernel, options = path(n)
    pointers = [torch.float16] * 4 + [torch.float32]
    strides = [QWEN.longest * QWEN.head_dim, QWEN.head_dim] * 4 + [QWEN.longest]
    constants = dict(GROUP=QWEN.heads // QWEN.kv_heads, CAUSAL=True, HEAD_DIM=QWEN.head_dim)
    arguments = (*pointers, *lengths(n, n, QWEN.head_dim), *strides)
    kernel.warmup(*arguments, **constants, **options, grid=(1,))
    # --8<-- [end:warm]


# %% What processes live through: the incident, the fix, and a job that nobody waits for.
PATHS = {"tuned": tuned, "planned": planned}


def live(path, warm=""):
    """In a new process: warm up by launches, by compiling only or not at all, then serve."""
    attend = functools.partial(attention, path=PATHS[path])
    ways = {"launches": lambda n: first_token(n, attend), "compile": compile_only}
    warming = functools.partial(warm_up, ways[warm]) if warm else None
    life = serve_traffic(attend, warming, watching)
    return life | {"chosen": {key[0]: str(config) for key, config in tuned_kernel.cache.items()}}


def job(n, count):
    """In a new process: the same prompt many times, the old way and the new."""
    return run_job(n, count, eager, functools.partial(attention, path=tuned), watching)


incident = Incident(globals().get("__file__"))
rehearsal = Rehearsal(served_kernel, compile_only, warm_up, watching)


# %% What is correct: attention in float64, queries and keys aligned at their ends.
# --8<-- [start:reference]
def reference(q, k, v, causal=True):
    q, k, v = (t.double() for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[0] // k.shape[0], dim=0) for t in (k, v))
    scores = q @ k.mT / math.sqrt(q.shape[2])  # [heads, n_queries, n_keys]
    everything = torch.ones(scores.shape[1:], dtype=torch.bool, device=q.device)
    hidden = everything.tril(k.shape[1] - q.shape[1]).logical_not()
    scores = scores.masked_fill(hidden & causal, -math.inf)
    lse = scores.logsumexp(dim=2)  # of no key: -inf
    return (scores - lse.nan_to_num(neginf=0)[..., None]).exp() @ v, lse
    # --8<-- [end:reference]


# %% How each claim is measured: those of whole lives are in incident.py.
def attended(guards, path, n_queries, n_keys, heads=(1, 1), head_dim=16, causal=True, dtype=FP16):
    """(result, reference) of out and of lse, for values in (-1, 1) between guards."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    keys = (heads[1], n_keys, head_dim)
    shapes = ((heads[0], n_queries, head_dim), keys, keys)
    drawn = [torch.rand(shape, generator=generator, device=DEVICE) for shape in shapes]
    q, k, v = ((t * 2 - 1).to(dtype) for t in drawn)
    out, lse = guards.output_like(q), guards.output(shapes[0][:2], torch.float32)
    inputs = [guards.input(t) for t in (q, k, v)]
    attention(*inputs, causal=causal, path=path, out=out, lse=lse)
    want, want_lse = reference(q, k, v, causal=causal)
    return (out, want), (lse, want_lse)


def error(
    guards, n_queries, n_keys, heads=(4, 2), head_dim=32, causal=True, dtype=FP16, only="out"
):
    """Results and the reference's; with only="empty", the rows that see no key."""
    both = attended(guards, planned, n_queries, n_keys, heads, head_dim, causal, dtype)
    if only == "empty":
        empty = both[1][1].isneginf()
        return [(got[empty], want[empty]) for got, want in both]
    return [both[only == "lse"]]


def tuned_error(guards, n_queries, n_keys):
    """The tuner's first call and its second."""
    tuned_kernel.cache.clear()
    return [attended(guards, tuned, n_queries, n_keys)[0] for _ in range(2)]


def each_error(guards, n):
    """Every configuration of the tuner and of the plan, alone, each into an output of its own."""
    ways = [(attention_kernel, config.all_kwargs()) for config in CONFIGS]
    ways += [(served_kernel, config) for config in (*PLAN.values(), GENERAL)]
    return [attended(guards, lambda _, way=way: way, n, n)[0] for way in ways]


def trials(guards, path, then, first=2000):
    """How many configurations the last of these calls tries; one query looks at so many keys."""
    tuned_kernel.cache.clear()
    for n_keys in (first, *then):
        with watching() as log:
            attended(guards, PATHS[path], 1, n_keys, heads=(4, 2), head_dim=32)
    return [phase.name for phase in log].count("tune")


def new_tuner_trials(guards):
    """How many configurations a tuner without memory tries."""
    options = dict(key=["bucket"], prune_configs_by={"early_config_prune": worth_trying})
    tuner = triton.autotune(configs=CONFIGS, do_bench=trial, cache_results=True, **options)
    kernel = tuner(triton.jit(attention_kernel.fn))
    with watching() as log:
        attended(guards, lambda n: (kernel, {}), 1, 2000)
    return [phase.name for phase in log].count("tune")


def moved_trials(guards):
    """The same where the cache folder of another such tuner has got another name."""
    return after_move(lambda: new_tuner_trials(guards))


def general_speed(n):
    """The general configuration against the plan's, where both would do."""
    q, k, v, out, lse = (t[:, :n] for t in memory())
    attend = functools.partial(attention, q, k, v, out=out, lse=lse)
    general = functools.partial(attend, path=lambda _: (served_kernel, GENERAL))
    plan = functools.partial(attend, path=planned)
    return attention_speed(n, ("general", general), ("plan", plan))


def offline(n, than):
    """What the bench before the rollout saw: the prototype, warm, against other ways."""
    q, k, v = (t[:, :n] for t in memory()[:3])
    prototype = functools.partial(attention, q, k, v, path=tuned)
    other = functools.partial({"eager": eager, "sdpa": sdpa}[than], q, k, v)
    return attention_speed(n, ("prototype", prototype), (than, other))


# fmt: off
CLAIMS = [
    Claim("square_fp16.max_abs_err", error, dict(n_queries=70, n_keys=70), bound=2**-11 + 2**-12 + 2**-14, why="values below 1: 2**-11 for weights in fp16, 2**-12 for the result in fp16, 2**-14 for scores, exp2 and sums in fp32"),
    Claim("more_keys_fp16.max_abs_err", error, dict(n_queries=3, n_keys=70), bound=2**-11 + 2**-12 + 2**-14, why="as square_fp16; the last query sees every key"),
    Claim("more_queries_fp16.max_abs_err", error, dict(n_queries=70, n_keys=33), bound=2**-11 + 2**-12 + 2**-14, why="as square_fp16"),
    Claim("full_fp16.max_abs_err", error, dict(n_queries=33, n_keys=70, causal=False), bound=2**-11 + 2**-12 + 2**-14, why="as square_fp16, with nothing hidden"),
    Claim("empty_rows.max_abs_err", error, dict(n_queries=70, n_keys=33, only="empty"), why="37 queries see no key: exactly 0, their log-sum-exp -inf"),
    Claim("lse.max_abs_err", error, dict(n_queries=70, n_keys=70, only="lse"), bound=2**-17, why="fp32 all the way: 32 products a score, exp2, a sum of 70, log2, of values below 8"),
    Claim("large_fp16.max_abs_err", error, dict(n_queries=4095, n_keys=4095, heads=(7, 1), head_dim=128), bound=2**-11 + 2**-12 + 2**-13, judges="gpu", gib=4, why="as square_fp16, and 4095 weights below the normal range of fp16 are off by 2**-25 each"),
    Claim("large_bf16.max_abs_err", error, dict(n_queries=4095, n_keys=4095, heads=(7, 1), head_dim=128, dtype=torch.bfloat16), bound=2**-8 + 2**-9 + 2**-13, judges="gpu", gib=4, why="as large_fp16 with 8 bits: 2**-8 for weights, 2**-9 for the result"),
    Claim("tuned_twice.max_abs_err", tuned_error, dict(n_queries=3, n_keys=3000), bound=2**-11 + 2**-12 + 2**-13, why="as square_fp16, and 3000 weights below the normal range of fp16 are off by 2**-25 each; 3 trials leave no trace"),
    Claim("each_config.max_abs_err", each_error, dict(n=150), bound=2**-11 + 2**-12 + 2**-14, why="as square_fp16, for each configuration alone"),
    Claim("new_bucket.trials", trials, dict(path="tuned", then=[3000]), kind="count", bound=3, why="2 of 6 configurations fit the bucket of 2000, 3 that of 3000"),
    Claim("same_bucket.trials", trials, dict(path="tuned", then=[2048]), kind="count", bound=0, why="2000 and 2048 share a bucket, and the choice is kept"),
    Claim("planned.trials", trials, dict(path="planned", then=[9000]), kind="count", bound=0, why="a length outside the plan takes the general configuration, untried"),
    Claim("cold.compiles", rehearsal.compiles, dict(warm=False), kind="count", bound=4, judges="compile", why="three configurations of the plan and the general one, each at the first prompt that needs it"),
    Claim("warmed.compiles", rehearsal.compiles, dict(warm=True), kind="count", bound=0, judges="compile", why="warm-up has met every configuration, and a length makes no variant"),
    Claim("cold.stopped", rehearsal.stopped, dict(warm=False), kind="count", bound=122, judges="compile", why="no warm-up: the guard stops the first prompt, nothing gets compiled, and so it stops every other"),
    Claim("warmed.stopped", rehearsal.stopped, dict(warm=True), kind="count", bound=0, judges="compile", why="after the warm-up none compiles"),
    Claim("stays.compiles", rehearsal.real_compiles, dict(then="stays"), kind="count", bound=1, judges="compile", why="the second finds the first one's code on disk"),
    Claim("copied.compiles", rehearsal.real_compiles, dict(then="copied"), kind="count", bound=1, judges="compile", why="the copy lists the files by their old path, and there they still lie"),
    Claim("moved.compiles", rehearsal.real_compiles, dict(then="moved"), kind="count", bound=2, judges="compile", why="under the old path nothing lies any more"),
    Claim("offline.vs_eager", offline, dict(n=4096, than="eager"), kind="ratio", bound=2.0, judges="gpu", gib=4, why="no score is written to memory and read again"),
    Claim("offline.vs_sdpa", offline, dict(n=4096, than="sdpa"), kind="ratio", bound=0.3, judges="gpu", gib=4, why="torch's fused attention uses what Hopper offers beyond this prototype"),
    Claim("empty.first_vs_p50", incident.first_vs_p50, dict(life="empty"), kind="ratio", bound=20, judges="gpu", gib=4, why="every configuration of a bucket is compiled and tried before its first answer"),
    Claim("filled.first_vs_p50", incident.first_vs_p50, dict(life="filled"), kind="ratio", bound=20, judges="gpu", gib=4, why="the code is found on disk, the choice is not: each configuration is tried again, for 125 ms"),
    Claim("kept.first_vs_p50", incident.first_vs_p50, dict(life="kept", bucket="worst"), kind="ratio", bound=5, judges="gpu", gib=4, why="code and choice are on disk; Triton hashes its own files to find them, reads and loads"),
    Claim("compiled.first_vs_p50", incident.first_vs_p50, dict(life="compiled", bucket="worst"), kind="ratio", bound=2, judges="gpu", gib=4, why="kernel.warmup compiles; the first launch still loads"),
    Claim("fixed.p50_vs_first", incident.p50_vs_first, dict(life="fixed"), kind="ratio", bound=0.5, judges="gpu", gib=4, why="the first prompt of a bucket does what the later ones do: less than twice their median"),
    Claim("fixed.phases", incident.phases, dict(life="fixed"), kind="count", bound=0, judges="gpu", gib=4, why="nothing compiles, is read, is loaded or is tried while prompts are served"),
    Claim("kept.trials", incident.phases, dict(life="kept", names=("tune",)), kind="count", bound=0, judges="gpu", gib=4, why="with TRITON_CACHE_AUTOTUNING=1 the choice is on disk"),
    Claim("moved.trials", moved_trials, kind="count", bound=0, judges="gpu", gib=1, why="the choice lists no paths and moves with its folder"),
    Claim("empty.explained", incident.explained, dict(life="empty"), kind="ratio", bound=0.6, judges="gpu", gib=4, why="compiling, loading and trying, as the hooks tell; the rest is Triton hashing its own files, once a process"),
    Claim("empty.kernel_later_vs_first", incident.kernel_flat, dict(life="empty"), kind="ratio", bound=0.7, judges="gpu", gib=4, why="the kernel itself takes as long at first as later"),
    Claim("ttft.p99", incident.p99, dict(before="empty", after="fixed"), kind="ratio", bound=20, judges="gpu", gib=4, why="5 of 122 prompts are first hits, and those behind them wait as well"),
    Claim("plan.vs_tuned", incident.warm_speed, dict(ours="fixed", theirs="empty"), kind="ratio", bound=0.9, judges="gpu", gib=4, why="the same configurations, chosen beforehand"),
    Claim("general.vs_plan", general_speed, dict(n=8191), kind="ratio", bound=0.5, judges="gpu", gib=1, why="small tiles read keys and values more often, and still are no disaster"),
    Claim("rare.before_vs_after", incident.rare_speed, dict(before="empty", after="fixed"), kind="ratio", bound=5, judges="gpu", gib=4, why="a length that comes once is tuned for a prompt, or takes the general configuration"),
    Claim("trace.idle", incident.idle, dict(of="compile"), kind="ratio", bound=0.9, judges="gpu", gib=4, why="no kernel can run whose code is not there yet"),
    Claim("job.vs_eager", incident.job_speed, kind="ratio", bound=1, judges="gpu", gib=4, why="500 prompts share one cold start, and each gains"),
]

BUGS = [
    Bug("no_tail_mask", section="kernel", old="else mask_n[None, :]", new="else offs_n[None, :] >= 0", caught_by="full_fp16.max_abs_err", how="error", shows="keys past the end take part, with a score of 0"),
    Bug("v_unmasked", section="kernel", old="offs_n[:, None] * stride_vn, mask=mask_n[:, None], other=0)", new="offs_n[:, None] * stride_vn)", caught_by="full_fp16.max_abs_err", how="nonfinite", shows="a weight of 0 times whatever lies past the end"),
    Bug("no_empty_rows", section="kernel", old="tl.where(m_new == -float(\"inf\"), 0.0, m_new)", new="m_new", caught_by="empty_rows.max_abs_err", how="nonfinite", shows="a row that has seen no key: inf - inf"),
    Bug("no_fade", section="kernel", old="acc * fade[:, None]", new="acc", caught_by="square_fp16.max_abs_err", how="error", shows="earlier keys keep the weight they had before a larger score came"),
    Bug("top_left", section="kernel", old="last_seen = offs_m + n_keys - n_queries", new="last_seen = offs_m", caught_by="more_keys_fp16.max_abs_err", how="error", shows="a query sees its own number, not its own place"),
    Bug("wrong_head", section="kernel", old="k_ptr + head // GROUP", new="k_ptr + head % GROUP", caught_by="square_fp16.max_abs_err", how="error", shows="query heads read the keys of another group"),
    Bug("length_as_key", section="tuned", old='"bucket", "HEAD_DIM"', new='"n_keys", "HEAD_DIM"', caught_by="same_bucket.trials", how="error", shows="every new length is tuned again"),
    Bug("rare_to_tuner", section="planned", old="return served_kernel, PLAN.get(bucket_of(n), GENERAL)", new="return (served_kernel, PLAN[bucket_of(n)]) if bucket_of(n) in PLAN else tuned(n)", caught_by="planned.trials", how="error", shows="a length that comes once sets off a search"),
    Bug("guard_looks_away", section="watch", old="if self.fail:", new='if self.fail and phase == "tune":', caught_by="cold.stopped", how="error", shows="only a search is stopped; prompts compile as they like"),
    Bug("no_warm_up", section="warm", old="(*PLAN, max(PLAN) + 1)", new="()", caught_by="warmed.compiles", how="error", shows="the first prompt of each bucket compiles"),
    Bug("general_not_warmed", section="warm", old="(*PLAN, max(PLAN) + 1)", new="PLAN", caught_by="warmed.compiles", how="error", shows="the first rare prompt compiles"),
    Bug("lengths_specialized", section="planned", old=', do_not_specialize=["n_queries", "n_keys"]', new="", caught_by="warmed.compiles", how="error", shows="warm-up met multiples of 16, most prompts are none"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
