# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Cold start: the kernel is fast, and the first request that meets it waits for the compiler and the tuner.

Learn:   why the first request of a bucket stalls, what the caches on disk keep of it, how to warm up, how to notice what warm-up forgot
Run:     python triton_cold_start.py           every claim, then every break
         python triton_cold_start.py --bench   only the speed, on a GPU
Memory:  4 GiB
Card:    any NVIDIA card since Ampere; with none, Triton's interpreter and its compiler, which needs no card
Minutes: 2
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import contextlib
import functools
import math
import os
import random
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
except ImportError:
    print("this lab needs Triton, which exists for Linux: pip install triton", file=sys.stderr)
    sys.exit(2)

INTERPRETED = triton.knobs.runtime.interpret
DEVICE = "cpu" if INTERPRETED else "cuda"

DTYPES = (torch.float16, torch.bfloat16)
HEADS, KV_HEADS, HEAD_DIM = 28, 4, 128  # the attention of Qwen2.5-7B-Instruct, 7 query heads to a pair of key and value heads
LAYERS = 8  # of its 28: enough for a request to be more than one launch
BUCKETS = (2048, 4096, 8192)  # a prompt belongs to the smallest power of two that holds it
PER_BUCKET = 40  # prompts of each bucket, so that a first hit is one of forty
RARE = (300, 12_001)  # lengths outside the buckets, one prompt each
GAP_MS = 15  # from one prompt's coming to the next one's: more than a warm prompt of the longest bucket takes
MANY = 500  # prompts of the job that nobody waits for
LONGEST = 16_384


# %% What is right: attention in float64. A query sees the keys up to its own place, both ends aligned; one that sees none gives 0.
# --8<-- [start:reference]
def reference(q, k, v, causal=True):
    q, k, v = (t.double() for t in (q, k, v))
    k, v = (t.repeat_interleave(q.shape[0] // k.shape[0], dim=0) for t in (k, v))
    scores = q @ k.mT / math.sqrt(q.shape[2])  # [heads, n_queries, n_keys]
    hidden = torch.ones(scores.shape[1:], dtype=torch.bool, device=q.device).tril(k.shape[1] - q.shape[1]).logical_not()
    scores = scores.masked_fill(hidden & causal, -math.inf)
    lse = scores.logsumexp(dim=2)  # of no key: -inf
    return (scores - lse.nan_to_num(neginf=0)[..., None]).exp() @ v, lse
# --8<-- [end:reference]


# %% The prototype: one program owns BLOCK_M queries of one head and walks along the keys, with online softmax.
# --8<-- [start:kernel]
@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, n_queries, n_keys, bucket, scale,
    stride_qh, stride_qm, stride_kh, stride_kn, stride_vh, stride_vn, stride_oh, stride_om, stride_lh,
    GROUP: tl.constexpr, CAUSAL: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid = tl.program_id(axis=0).to(tl.int64)
    n_tiles = tl.cdiv(n_queries, BLOCK_M)
    head, tile = pid // n_tiles, n_tiles - 1 - pid % n_tiles  # the last tile sees most keys, so it starts first
    offs_m = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    mask_m = offs_m < n_queries
    q = tl.load(q_ptr + head * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :], mask=mask_m[:, None], other=0)
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
        k = tl.load(k_ptrs + offs_n[None, :] * stride_kn, mask=mask_n[None, :], other=0)  # [HEAD_DIM, BLOCK_N]
        seen = mask_n[None, :] & (offs_n[None, :] <= last_seen[:, None]) if CAUSAL else mask_n[None, :]
        scores = tl.where(seen, tl.dot(q, k) * scale, -float("inf"))
        m_new = tl.maximum(m, tl.max(scores, axis=1))
        base = tl.where(m_new == -float("inf"), 0.0, m_new)  # a row that has seen no key: inf - inf would be NaN
        fade = tl.exp2(m - base)
        p = tl.exp2(scores - base[:, None])
        l = l * fade + tl.sum(p, axis=1)
        v = tl.load(v_ptrs + offs_n[:, None] * stride_vn, mask=mask_n[:, None], other=0)  # [BLOCK_N, HEAD_DIM]
        acc = tl.dot(p.to(v.dtype), v, acc * fade[:, None])
        m = m_new
    out = acc / tl.where(l == 0, 1.0, l)[:, None]
    lse = (m + tl.log2(l)) / 1.4426950408889634  # from powers of 2 back to powers of e
    tl.store(out_ptr + head * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :], out.to(out_ptr.dtype.element_ty), mask=mask_m[:, None])
    tl.store(lse_ptr + head * stride_lh + offs_m, lse, mask=mask_m)
# --8<-- [end:kernel]


# %% The tuner of the prototype: whoever comes first with a new bucket pays for the search.
# --8<-- [start:tuned]
CONFIGS = [
    triton.Config(dict(BLOCK_M=m, BLOCK_N=n), num_warps=warps, num_stages=stages)
    for m, n, warps, stages in (
        (64, 32, 4, 2), (64, 32, 4, 3), (64, 64, 4, 3), (128, 64, 4, 3), (128, 64, 8, 2), (128, 64, 8, 3),
    )
]


def worth_trying(configs, arguments, **constants):
    """Large tiles only for long prompts: short ones have too few to fill the card."""
    return [c for c in configs if c.kwargs["BLOCK_M"] * c.kwargs["BLOCK_N"] <= arguments["bucket"]] or configs[:1]


def trial(launch, quantiles):
    """Time one configuration, as the tuner does by itself; in the interpreter all are called equal."""
    launch()  # compiles and loads
    with tuning():
        return triton.testing.do_bench(launch, quantiles=quantiles) if DEVICE == "cuda" else [1.0, 1.0, 1.0]


tuned_kernel = triton.autotune(
    configs=CONFIGS, key=["bucket", "HEAD_DIM"], prune_configs_by={"early_config_prune": worth_trying}, do_bench=trial
)(attention_kernel)
# --8<-- [end:tuned]


# %% The fix: a table of winners, one configuration for all the rest, and no variants for lengths.
# --8<-- [start:planned]
PLAN = {  # bucket: what the tuner chose on an H200
    2048: dict(BLOCK_M=64, BLOCK_N=32, num_warps=4, num_stages=3),
    4096: dict(BLOCK_M=64, BLOCK_N=64, num_warps=4, num_stages=3),
    8192: dict(BLOCK_M=128, BLOCK_N=64, num_warps=8, num_stages=3),
}
GENERAL = dict(BLOCK_M=64, BLOCK_N=32, num_warps=4, num_stages=2)  # right for every length, small enough for every card

served_kernel = triton.jit(attention_kernel.fn, do_not_specialize=["n_queries", "n_keys"])


def bucket_of(n):
    return triton.next_power_of_2(max(n, 16))


def tuned(n):
    return tuned_kernel, {}


def planned(n):
    return served_kernel, PLAN.get(bucket_of(n), GENERAL)
# --8<-- [end:planned]


# --8<-- [start:launch]
def attention(q, k, v, causal=True, path=planned, out=None, lse=None):
    """Return softmax(q @ k.T / sqrt(head_dim)) @ v and the log-sum-exp of each row, into `out` and `lse` if given.

    q is (heads, n_queries, head_dim); k and v are (kv_heads, n_keys, head_dim), kv_heads dividing heads. With `causal`
    query i sees the keys up to i + n_keys - n_queries. A row that sees no key is 0, its log-sum-exp -inf. A NaN or inf
    in q or k spoils only the rows that see it; in v also rows that do not, if they share a tile with it. `path` chooses
    the kernel and its configuration by n_keys.
    """
    for name, t, shape in (("q", q, None), ("k", k, None), ("v", v, None), ("out", out, "q"), ("lse", lse, "rows")):
        if t is None and shape:
            continue
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
        if t.device.type != DEVICE or t.device != q.device:
            raise ValueError(f"{name} is on {t.device}; this run needs every tensor on one {DEVICE} device, q is on {q.device}")
        if name != "lse" and (t.dtype not in DTYPES or t.dtype != q.dtype or (INTERPRETED and t.dtype == torch.bfloat16)):
            raise TypeError(f"{name} is {t.dtype}; all of q, k, v, out must be float16 or, on a GPU, bfloat16")
        if name != "lse" and (t.ndim != 3 or (t.shape[2] > 1 and t.stride(2) != 1)):
            raise ValueError(f"{name} has shape {tuple(t.shape)} and strides {t.stride()}; it must be (heads, length, head_dim) with head_dim side by side")
    heads, n_queries, head_dim = q.shape
    kv_heads, n_keys = k.shape[:2]
    if head_dim not in (16, 32, 64, 128):
        raise ValueError(f"q has head_dim {head_dim}; allowed: 16, 32, 64, 128")
    if k.shape != v.shape or k.shape[2] != head_dim:
        raise ValueError(f"k is {tuple(k.shape)} and v {tuple(v.shape)}; both must be (kv_heads, n_keys, {head_dim})")
    if heads and (not kv_heads or heads % kv_heads):
        raise ValueError(f"q has {heads} heads and k has {kv_heads}; the heads of k must divide those of q")
    if max(n_queries, n_keys) > 2**30 or heads * n_queries >= 2**31:
        raise ValueError(f"q is {tuple(q.shape)} and k {tuple(k.shape)}; lengths end at 2**30, and heads times queries below 2**31")
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device) if out is None else out
    lse = torch.empty(heads, n_queries, dtype=torch.float32, device=q.device) if lse is None else lse
    if out.shape != q.shape or lse.shape != q.shape[:2] or lse.dtype != torch.float32 or (lse.numel() and lse.stride(1) != 1):
        raise ValueError(f"out is {tuple(out.shape)} and lse {tuple(lse.shape)} {lse.dtype}; needed: {tuple(q.shape)}, and {tuple(q.shape[:2])} float32 in rows")
    given = {"q": q, "k": k, "v": v, "lse": lse, "out": out}
    lies = {name: (s.data_ptr(), s.data_ptr() + s.nbytes()) for name, s in ((name, t.untyped_storage()) for name, t in given.items())}
    for written in ("out", "lse"):
        t, reach = given[written], 0  # of the axes with smaller steps
        for step, size in sorted(zip(t.stride(), t.shape)):
            if size > 1 and step <= reach and t.numel():
                raise ValueError(f"{written} has strides {t.stride()}, so that elements share memory: pass memory for each")
            reach += (size - 1) * step
        for name in given:
            if name != written and lies[name][0] < lies[written][1] and lies[written][0] < lies[name][1]:
                raise ValueError(f"{written} shares its memory with {name}, which is still in use: pass memory of its own")
    if out.numel():
        kernel, options = path(n_keys)
        lengths = n_queries, n_keys, bucket_of(n_keys), 1.4426950408889634 / math.sqrt(head_dim)  # powers of 2 are cheaper than of e
        strides = [s for t in (q, k, v, out) for s in t.stride()[:2]] + [lse.stride(0)]
        with torch.cuda.device_of(q):
            kernel[lambda meta: (heads * triton.cdiv(n_queries, meta["BLOCK_M"]),)](
                q, k, v, out, lse, *lengths, *strides, GROUP=heads // kv_heads, CAUSAL=causal, HEAD_DIM=head_dim, **options
            )
    return out, lse
# --8<-- [end:launch]


# %% What happens besides the kernel, when, and for how long; as a guard, nothing of the kind may happen any more.
# --8<-- [start:watch]
WATCHES = []  # (begins, ends) of each watch that is on


@contextlib.contextmanager
def tuning():
    """A phase for which Triton has a hook only since 3.8."""
    for begins, _ in WATCHES:
        begins("tune", "a configuration")
    yield
    for _, ends in WATCHES:
        ends("tune")


@contextlib.contextmanager
def watching(fail=False):
    """A list that fills with (compile, read, load or tune; seconds at which it began; milliseconds). Read: found on disk."""
    log, began, hits, knobs = [], {}, [], triton.knobs

    def begins(phase, what):
        if fail:
            raise RuntimeError(f"{phase} after warm-up: {what}")
        began.setdefault(phase, time.perf_counter())

    def ends(phase, name=""):
        log.append((name or phase, start := began.pop(phase), (time.perf_counter() - start) * 1e3))

    def compiled(is_manual_warmup, **rest):
        ends("compile", "read" if hits.pop() else "compile")
        if not is_manual_warmup:  # what follows belongs to loading: the launcher, which is C and compiled too
            begins("load", "a launcher")

    loads, loaded = lambda module, function, name, *rest: begins("load", name), lambda *rest: ends("load")
    with knobs.runtime.scope(), knobs.compilation.scope():
        knobs.compilation.listener = lambda cache_hit, **rest: hits.append(cache_hit)
        knobs.runtime.jit_cache_hook = lambda fn, **rest: begins("compile", fn.name)
        knobs.runtime.jit_post_compile_hook = compiled
        knobs.runtime.kernel_load_start_hook.add(loads)
        knobs.runtime.kernel_load_end_hook.add(loaded)
        WATCHES.append((begins, ends))
        try:
            yield log
        finally:
            WATCHES.remove((begins, ends))
            knobs.runtime.kernel_load_start_hook.remove(loads)
            knobs.runtime.kernel_load_end_hook.remove(loaded)
# --8<-- [end:watch]


# %% The service: prompts come at their time, one worker answers them in turn.
# --8<-- [start:serve]
@functools.cache
def memory():
    """Queries, keys, values, results and log-sum-exps of the longest prompt; a shorter one takes the first rows of each."""
    gen = torch.Generator(DEVICE).manual_seed(0)
    q, k, v = (torch.randn(h, LONGEST, HEAD_DIM, generator=gen, device=DEVICE, dtype=torch.float16) for h in (HEADS, KV_HEADS, KV_HEADS))
    return q, k, v, torch.empty_like(q), torch.empty(HEADS, LONGEST, device=DEVICE)


def first_token(n, attend):
    """Answer a prompt of n tokens: attention of every layer, then the choice of a token. Milliseconds of the GPU a layer, after the first."""
    q, k, v, out, lse = (t[:, :n] for t in memory())
    after = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    for layer in range(LAYERS):
        attend(q, k, v, out=out, lse=lse)
        if layer in (0, LAYERS - 1):
            after[layer > 0].record()
    int(out[:, -1].float().sum(dim=0).argmax())  # the token: waits for the GPU
    return after[0].elapsed_time(after[1]) / (LAYERS - 1)


def traffic():
    """The lengths of the prompts in the order they come: longer ones join later, each bucket's 21st fills it, the others have odd lengths."""
    chance, placed = random.Random(0), [(70, RARE[0]), (100, RARE[1])]
    for start, bucket in zip((0, 30, 60), BUCKETS):
        for i in range(PER_BUCKET):
            placed.append((start + i * (120 - start) / PER_BUCKET, bucket if i == 20 else bucket - 1 - 2 * chance.randrange(bucket // 32)))
    return [n for _, n in sorted(placed)]


def serve(lengths, attend):
    """Answer prompts that come every GAP_MS: of each its length, the milliseconds of its own work, those from its coming to its first token, and the phases."""
    rows, opened = [], time.perf_counter()
    for i, n in enumerate(lengths):
        comes = opened + i * GAP_MS / 1e3
        time.sleep(max(0.0, comes - time.perf_counter()))
        with watching() as log:
            begins = time.perf_counter()
            kernel_ms = first_token(n, attend)
            ends = time.perf_counter()
        spent = {name: sum(ms for what, _, ms in log if what == name) for name in {what for what, *_ in log}}
        rows.append({"n": n, "ms": (ends - begins) * 1e3, "ttft_ms": (ends - comes) * 1e3, "kernel_ms": kernel_ms, "spent": spent})
    return rows
# --8<-- [end:serve]


# --8<-- [start:warm]
def warm_up(launch):
    """Before the first prompt: every configuration that any prompt can need, each bucket's and the general one."""
    for n in (*PLAN, max(PLAN) + 1):
        launch(n)


def compile_only(n, path=planned):
    """What kernel.warmup does of a launch: it compiles, for the card or the target that is active, and neither loads nor runs."""
    kernel, options = path(n)
    lengths = n, n, bucket_of(n), 1.4426950408889634 / math.sqrt(HEAD_DIM)
    strides = [LONGEST * HEAD_DIM, HEAD_DIM] * 4 + [LONGEST]
    kernel.warmup(
        *[torch.float16] * 4, torch.float32, *lengths, *strides,
        GROUP=HEADS // KV_HEADS, CAUSAL=True, HEAD_DIM=HEAD_DIM, grid=(1,), **options,
    )
# --8<-- [end:warm]


# --8<-- [start:offline]
TARGETS = {"sm_90": ("cuda", 90, 32)}


@contextlib.contextmanager
def compiling_for(target):
    """Inside, kernel.warmup compiles for this target with no such card."""
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


# %% How a process is born and what it lives through: the incident, the fix, and a job that nobody waits for.
def eager(q, k, v, causal=True, out=None, lse=None):
    """The same attention from operators of torch, which write and read all n × n scores: what the prototype replaces."""
    k, v = (t.repeat_interleave(q.shape[0] // t.shape[0], dim=0) for t in (k, v))
    scores = (q @ k.mT).mul_(1 / math.sqrt(q.shape[2]))
    hidden = torch.ones(scores.shape[1:], dtype=torch.bool, device=q.device).triu_(1 + k.shape[1] - q.shape[1])
    return torch.matmul(scores.masked_fill_(hidden, -math.inf).softmax(dim=2), v, out=out), lse


def start():
    """Bring torch and Triton up, which every service does before its first prompt. What comes after is what this lab times."""
    int(memory()[0][:, -1].float().sum(dim=0).argmax())
    triton.runtime.driver.active.get_current_target()


def live(path, warm=""):
    """In a new process: warm up by launches, by compiling only or not at all, then serve; what that took, each prompt's row, what the tuner chose."""
    start()
    attend = functools.partial(attention, path=globals()[path])
    begins = time.perf_counter()
    if warm:
        warm_up(compile_only if warm == "compile" else lambda n: first_token(n, attend))
    warm_ms = (time.perf_counter() - begins) * 1e3
    return {"warm_ms": warm_ms, "rows": serve(traffic(), attend), "chosen": {key[0]: str(config) for key, config in tuned_kernel.cache.items()}}


def job(n, count):
    """In a new process: seconds for `count` prompts of n tokens with eager attention, then with the prototype from an empty cache, whose first prompt is traced."""
    def seconds(attend, count):
        begins = time.perf_counter()
        for _ in range(count):
            first_token(n, attend)
        return time.perf_counter() - begins

    start()
    attend = functools.partial(attention, path=tuned)
    seconds(eager, 2)  # torch's own first calls
    eagerly = seconds(eager, count)
    with torch.profiler.profile(activities=list(torch.profiler.supported_activities())) as profiler, watching() as log:
        with torch.profiler.record_function("clock"):
            clock = time.perf_counter()
        first = seconds(attend, 1)
    rest = seconds(attend, count - 1)
    events = profiler.events()
    zero = next(e.time_range.start for e in events if e.name == "clock")  # microseconds of the profiler at `clock`
    busy = sorted((e.time_range.start - zero, e.time_range.end - zero) for e in events if e.device_type == torch.autograd.DeviceType.CUDA)
    cpu = [{"lane": "CPU", "name": name, "start_ms": (start - clock) * 1e3, "ms": ms} for name, start, ms in log]
    gpu = [{"lane": "GPU", "name": "kernels", "start_ms": start / 1e3, "ms": (end - start) / 1e3} for start, end in busy]
    return {"eager": eagerly, "first": first, "rest": rest, "spans": joined(cpu, first) + joined(gpu, first)}


def joined(spans, seconds):
    """Spans of one lane in order, neighbors of one name joined where less than a four-hundredth of the whole lies between."""
    done = []
    for span in sorted(spans, key=lambda s: s["start_ms"]):
        last = done[-1] if done else None
        if last and last["name"] == span["name"] and span["start_ms"] - last["start_ms"] - last["ms"] < seconds * 1e3 / 400:
            last["ms"] = max(last["ms"], span["start_ms"] + span["ms"] - last["start_ms"])
        else:
            done.append(dict(span))
    return done


def born(call, cache, keep=False):
    """A new process that will make this call of the lab once it is told to, with this folder for the cache, tuning results kept there or not."""
    code = f"import importlib, json, sys; sys.path.insert(0, sys.argv[1]); lab = importlib.import_module({FILE.stem!r}); input(); print(json.dumps(lab.{call}))"
    env = os.environ | {"TRITON_CACHE_DIR": str(cache), "TRITON_CACHE_AUTOTUNING": str(int(keep))}
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return subprocess.Popen([sys.executable, "-B", "-c", code, FILE.parent], env=env, **pipes)


def lived(process):
    """Tell a process that was born to go on; the result of its call."""
    result, complaints = process.communicate("\n", timeout=PATIENCE)
    if process.returncode:
        raise RuntimeError(f"a new process failed: {complaints[-300:]}")
    return json.loads(result.splitlines()[-1])


@functools.cache
def lives():
    """What each of these processes lived through, one after the other; all are born at once, since importing torch takes longest."""
    with contextlib.ExitStack() as stack:
        a, b, c, d = (stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(4))
        births = {
            "empty": born("live('tuned')", a, keep=True),
            "filled": born("live('tuned')", a),
            "kept": born("live('tuned')", a, keep=True),
            "fixed": born("live('planned', 'launches')", b),
            "compiled": born("live('planned', 'compile')", c),
            "job": born(f"job({BUCKETS[0] - 1}, {MANY})", d),
        }
        for process in births.values():
            stack.enter_context(process)
        return {name: lived(process) for name, process in births.items()}


# %% The claims: how each is measured, and the table of what must hold.
def error(n_queries, n_keys, heads=(4, 2), head_dim=32, causal=True, path="planned", dtype=torch.float16, only="out", seed=0):
    """Results and the reference's, for values in (-1, 1) between guards; with only="empty", the rows that see no key."""
    gen = torch.Generator(DEVICE).manual_seed(seed)
    shapes = ((heads[0], n_queries, head_dim), *[(heads[1], n_keys, head_dim)] * 2)
    q, k, v = (fence((torch.rand(s, generator=gen, device=DEVICE) * 2 - 1).to(dtype)) for s in shapes)
    kept = [t.clone() for t in (q, k, v)]  # neither the reference nor the inputs may be spoiled by the kernel
    FENCES.extend((t.view(torch.uint8), c.view(torch.uint8)) for t, c in zip((q, k, v), kept))
    out, lse = fence(q, output=True), fence(torch.empty(shapes[0][:2], device=DEVICE), output=True)
    attention(q, k, v, causal=causal, path=globals()[path] if isinstance(path, str) else path, out=out, lse=lse)
    want, want_lse = reference(*kept, causal=causal)
    empty = want_lse.isneginf()
    return {"out": [(out, want)], "lse": [(lse, want_lse)], "empty": [(out[empty], want[empty]), (lse[empty], want_lse[empty])]}[only]


def tuned_error(n_queries, n_keys):
    """The tuner's first call and its second."""
    tuned_kernel.cache.clear()
    return [pair for _ in range(2) for pair in error(n_queries, n_keys, heads=(1, 1), head_dim=16, path="tuned")]


def each_error(n):
    """Every configuration of the tuner and of the plan, alone, each into an output of its own."""
    ways = [(attention_kernel, c.all_kwargs()) for c in CONFIGS] + [(served_kernel, c) for c in (*PLAN.values(), GENERAL)]
    return [pair for way in ways for pair in error(n, n, heads=(1, 1), head_dim=16, path=lambda _, way=way: way)]


def trials(path, then, first=2000):
    """How many configurations the last of these calls tries; one query looks at so many keys."""
    tuned_kernel.cache.clear()
    for n_keys in (first, *then):
        with watching() as log:
            error(1, n_keys, heads=(1, 1), head_dim=16, path=path)
    return sum(what == "tune" for what, *_ in log)


def compiles(warm):
    """How often the compiler is asked for all the prompts, after warm-up or with none, for a card that is not there."""
    with compiling_for("sm_90"), watching() as log:
        if warm:
            warm_up(compile_only)
        warmed = len(log)
        for n in traffic():
            compile_only(n)
    served_kernel.device_caches.pop("sm_90")  # as if it had never been
    return len(log) - warmed


def stopped(warm):
    """How many of the prompts a guarded watch stops, after warm-up or with none, for a card that is not there."""
    halted = []
    with compiling_for("sm_90"):
        if warm:
            warm_up(compile_only)
        for n in traffic():
            try:
                with watching(fail=True):
                    compile_only(n)
            except RuntimeError as error:
                halted.append(error)
    served_kernel.device_caches.pop("sm_90")  # as if it had never been
    return len(halted)


def real_compiles(then):
    """How many of two compilations really compile, the second with the cache folder of the first moved, copied, or as it was."""
    done, small = [], dict(BLOCK_M=16, BLOCK_N=16, num_warps=4, num_stages=1)
    with tempfile.TemporaryDirectory() as room, triton.knobs.cache.scope(), triton.knobs.compilation.scope(), compiling_for("sm_90"):
        triton.knobs.compilation.listener = lambda cache_hit, **rest: done.append(not cache_hit)
        first, second = pathlib.Path(room, "first"), pathlib.Path(room, "second")
        for folder in (first, second):
            triton.knobs.cache.dir = str(first if then == "stays" else folder)
            compile_only(16, path=lambda n: (triton.jit(attention_kernel.fn), small))
            if folder is first and then != "stays":
                shutil.copytree(first, second) if then == "copied" else first.rename(second)
    return sum(done)


def moved_trials():
    """How many configurations are tried for a new tuner when the cache folder, tuning results and all, has another name."""
    with tempfile.TemporaryDirectory() as room, triton.knobs.cache.scope():
        first, second = pathlib.Path(room, "first"), pathlib.Path(room, "second")
        for folder in (first, second):
            triton.knobs.cache.dir = str(folder)
            options = dict(configs=CONFIGS, key=["bucket"], prune_configs_by={"early_config_prune": worth_trying}, do_bench=trial, cache_results=True)
            kernel = triton.autotune(**options)(triton.jit(attention_kernel.fn))
            with watching() as log:
                error(1, 2000, heads=(1, 1), head_dim=16, path=lambda n: (kernel, {}))
            if folder is first:
                first.rename(second)
    return sum(what == "tune" for what, *_ in log)


def timing(name, ms):
    """One entry of a row's timings."""
    ms = sorted(ms)
    p10, p50, p90, p99 = (ms[min(int(len(ms) * q), len(ms) - 1)] for q in (0.1, 0.5, 0.9, 0.99))
    return {"name": name, "p10_ms": p10, "median_ms": p50, "p90_ms": p90, "p99_ms": p99, "repeats": len(ms), "work": 1, "unit": "call"}


def times(name, ours, other, theirs, **more):
    """The row of a ratio of times, ours over theirs: of their medians, and the spread from their tenth and ninetieth percentiles."""
    a, b = timing(name, ours), timing(other, theirs)
    ratios = {"value": a["median_ms"] / b["median_ms"], "low": a["p10_ms"] / b["p90_ms"], "high": a["p90_ms"] / b["p10_ms"]}
    return ratios | {"timings": [a, b]} | more


def of_bucket(life, bucket, what="ms"):
    """One figure of the prompts of a bucket: the first one's, and the later ones'."""
    first, *later = [row[what] for row in lives()[life]["rows"] if bucket_of(row["n"]) == bucket]
    return first, later


def first_vs_p50(life, bucket="mildest"):
    """How many times longer the first prompt of a bucket takes than the median of the later ones, in its mildest or its worst bucket."""
    rows = [times("first", [first], "later", later) for first, later in (of_bucket(life, b) for b in BUCKETS)]
    return (min if bucket == "mildest" else max)(rows, key=lambda row: row["value"]) | {"series": series(life)}


def p50_vs_first(life):
    """The median of the later prompts over the first one, in the bucket where it is least."""
    rows = [times("later", later, "first", [first]) for first, later in (of_bucket(life, b) for b in BUCKETS)]
    row = min(rows, key=lambda row: row["value"])
    row["timings"].append(timing("warm-up", [lives()[life]["warm_ms"]]))
    return row | {"series": series(life)}


def series(life):
    """Of every prompt in the order they came: its own milliseconds, and those from its coming to its first token."""
    rows = lives()[life]["rows"]
    return [{"name": name, "unit": "ms", "values": [round(row[key], 4) for row in rows]} for name, key in (("own work", "ms"), ("time to first token", "ttft_ms"))]


def p99(before, after):
    """P99 of the time to first token, before over after; and the longest first hit of each."""
    ttft = [[row["ttft_ms"] for row in lives()[life]["rows"]] for life in (before, after)]
    row = times("before", ttft[0], "after", ttft[1])
    for name, life in (("before", before), ("after", after)):
        row["timings"].append(timing(f"longest first hit {name}", [max(of_bucket(life, bucket)[0] for bucket in BUCKETS)]))
    value = row["timings"][0]["p99_ms"] / row["timings"][1]["p99_ms"]
    return row | {"value": value, "low": value, "high": value}


def explained(life):
    """The part of a first prompt's time that the phases account for, in the bucket where it is least; with each phase, and the kernels, as metrics of their own."""
    rows = []
    for bucket in BUCKETS:
        (first, _), (spent, _), (kernel_ms, _) = (of_bucket(life, bucket, what) for what in ("ms", "spent", "kernel_ms"))
        row = times("phases", [sum(spent.values())], "first", [first])
        row["timings"] += [timing(name, [ms]) for name, ms in (spent | {"kernels": kernel_ms * LAYERS}).items()]
        rows.append(row)
    return min(rows, key=lambda row: row["value"])


def kernel_flat(life):
    """The kernel's own time a layer in later prompts over that in a first one, in the bucket where it is least."""
    rows = [times("later", later, "first", [first]) for first, later in (of_bucket(life, b, "kernel_ms") for b in BUCKETS)]
    return min(rows, key=lambda row: row["value"])


def warm_speed(ours, theirs):
    """The kernel's time a layer in later prompts of another life over that in this one, in the bucket where it is least."""
    rows = [times(theirs, of_bucket(theirs, b, "kernel_ms")[1], ours, of_bucket(ours, b, "kernel_ms")[1]) for b in BUCKETS]
    chosen = "; ".join(f"{bucket}: {config}" for bucket, config in lives()[theirs]["chosen"].items())
    return min(rows, key=lambda row: row["value"]) | {"note": f"chosen by {theirs}: {chosen}"}


def rare_speed(before, after):
    """The prompts of rare lengths, before over after, for the one where it is least."""
    rows = [times(before, [a], after, [b]) for a, b in zip(*([row["ms"] for row in lives()[life]["rows"] if row["n"] in RARE] for life in (before, after)))]
    return min(rows, key=lambda row: row["value"])


def phases(life, names=("compile", "read", "load", "tune")):
    """How many prompts met one of these phases."""
    rows = lives()[life]["rows"]
    return sum(name in row["spent"] for row in rows for name in names)


def idle(of):
    """The part of the time of compiling in which the GPU did nothing, in the first prompt of a process."""
    spans = lives()["job"]["spans"]
    compiling = [(s["start_ms"], s["start_ms"] + s["ms"]) for s in spans if s["name"] == of]
    busy = [(s["start_ms"], s["start_ms"] + s["ms"]) for s in spans if s["lane"] == "GPU"]
    both = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in compiling for b in busy)
    whole = sum(end - start for start, end in compiling)
    return times("idle", [whole - both], of, [whole], spans=[s | {"start_ms": round(s["start_ms"], 3), "ms": round(s["ms"], 3)} for s in spans])


def job_speed():
    """The whole job with eager attention over the whole job with the prototype, its cold start included."""
    done = lives()["job"]
    row = times("eager", [done["eager"] * 1e3], "prototype", [(done["first"] + done["rest"]) * 1e3])
    row["timings"].append(timing("first prompt", [done["first"] * 1e3]))
    return row


def general_speed(n):
    """The general configuration against the plan's, where both would do."""
    q, k, v, out, lse = (t[:, :n] for t in memory())
    ways = ("general", (served_kernel, GENERAL)), ("plan", planned(n))
    runs = [(name, functools.partial(attention, q, k, v, path=lambda _, way=way: way, out=out, lse=lse)) for name, way in ways]
    return race(*runs, work=(2 * n * n * HEAD_DIM * HEADS,) * 2, unit="FLOP")


def offline(n, than):
    """What the bench before the rollout saw: the prototype, warm, against other ways."""
    q, k, v = (t[:, :n] for t in memory()[:3])
    attention(q, k, v, path=tuned)
    other = {"eager": lambda: eager(q, k, v), "sdpa": lambda: torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True, enable_gqa=True)}[than]
    return race(("prototype", lambda: attention(q, k, v, path=tuned)), (than, other), work=(2 * n * n * HEAD_DIM * HEADS,) * 2, unit="FLOP")


# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "square_fp16.max_abs_err": ("error", error, dict(n_queries=70, n_keys=70), 2**-11 + 2**-12 + 2**-14, "any", 0, "values below 1: 2**-11 for weights in fp16, 2**-12 for the result in fp16, 2**-14 for scores, exp2 and sums in fp32"),
    "more_keys_fp16.max_abs_err": ("error", error, dict(n_queries=3, n_keys=70), 2**-11 + 2**-12 + 2**-14, "any", 0, "as square_fp16; the last query sees every key"),
    "more_queries_fp16.max_abs_err": ("error", error, dict(n_queries=70, n_keys=33), 2**-11 + 2**-12 + 2**-14, "any", 0, "as square_fp16"),
    "full_fp16.max_abs_err": ("error", error, dict(n_queries=33, n_keys=70, causal=False), 2**-11 + 2**-12 + 2**-14, "any", 0, "as square_fp16, with nothing hidden"),
    "empty_rows.max_abs_err": ("error", error, dict(n_queries=70, n_keys=33, only="empty"), 0.0, "any", 0, "37 queries see no key: exactly 0, their log-sum-exp -inf"),
    "lse.max_abs_err": ("error", error, dict(n_queries=70, n_keys=70, only="lse"), 2**-17, "any", 0, "fp32 all the way: 32 products a score, exp2, a sum of 70, log2, of values below 8"),
    "large_fp16.max_abs_err": ("error", error, dict(n_queries=4095, n_keys=4095, heads=(7, 1), head_dim=128), 2**-11 + 2**-12 + 2**-13, "gpu", 4, "as square_fp16, and 4095 weights below the normal range of fp16 are off by 2**-25 each"),
    "large_bf16.max_abs_err": ("error", error, dict(n_queries=4095, n_keys=4095, heads=(7, 1), head_dim=128, dtype=torch.bfloat16), 2**-8 + 2**-9 + 2**-13, "gpu", 4, "as large_fp16 with 8 bits: 2**-8 for weights, 2**-9 for the result"),
    "tuned_twice.max_abs_err": ("error", tuned_error, dict(n_queries=3, n_keys=3000), 2**-11 + 2**-12 + 2**-13, "any", 0, "as square_fp16, and 3000 weights below the normal range of fp16 are off by 2**-25 each; 3 trials leave no trace"),
    "each_config.max_abs_err": ("error", each_error, dict(n=150), 2**-11 + 2**-12 + 2**-14, "any", 0, "as square_fp16, for each configuration alone"),

    "new_bucket.trials": ("count", trials, dict(path="tuned", then=[3000]), 3, "any", 0, "2 of 6 configurations fit the bucket of 2000, 3 that of 3000"),
    "same_bucket.trials": ("count", trials, dict(path="tuned", then=[2048]), 0, "any", 0, "2000 and 2048 share a bucket, and the choice is kept"),
    "planned.trials": ("count", trials, dict(path="planned", then=[9000]), 0, "any", 0, "a length outside the plan takes the general configuration, untried"),

    "cold.compiles": ("count", compiles, dict(warm=False), 4, "compile", 0, "three configurations of the plan and the general one, each at the first prompt that needs it"),
    "warmed.compiles": ("count", compiles, dict(warm=True), 0, "compile", 0, "warm-up has met every configuration, and a length makes no variant"),
    "cold.stopped": ("count", stopped, dict(warm=False), 122, "compile", 0, "no warm-up: the guard stops the first prompt, nothing gets compiled, and so it stops every other"),
    "warmed.stopped": ("count", stopped, dict(warm=True), 0, "compile", 0, "after the warm-up none compiles"),
    "stays.compiles": ("count", real_compiles, dict(then="stays"), 1, "compile", 0, "the second finds the first one's code on disk"),
    "copied.compiles": ("count", real_compiles, dict(then="copied"), 1, "compile", 0, "the copy lists the files by their old path, and there they still lie"),
    "moved.compiles": ("count", real_compiles, dict(then="moved"), 2, "compile", 0, "under the old path nothing lies any more"),

    "offline.vs_eager": ("ratio", offline, dict(n=4096, than="eager"), 2.0, "gpu", 4, "no score is written to memory and read again"),
    "offline.vs_sdpa": ("ratio", offline, dict(n=4096, than="sdpa"), 0.3, "gpu", 4, "torch's fused attention uses what Hopper offers beyond this prototype"),

    "empty.first_vs_p50": ("ratio", first_vs_p50, dict(life="empty"), 20, "gpu", 4, "every configuration of a bucket is compiled and tried before its first answer"),
    "filled.first_vs_p50": ("ratio", first_vs_p50, dict(life="filled"), 20, "gpu", 4, "the code is found on disk, the choice is not: each configuration is tried again, for 125 ms"),
    "kept.first_vs_p50": ("ratio", first_vs_p50, dict(life="kept", bucket="worst"), 5, "gpu", 4, "code and choice are on disk; Triton hashes its own files to find them, reads and loads"),
    "compiled.first_vs_p50": ("ratio", first_vs_p50, dict(life="compiled", bucket="worst"), 2, "gpu", 4, "kernel.warmup compiles; the first launch still loads"),
    "fixed.p50_vs_first": ("ratio", p50_vs_first, dict(life="fixed"), 0.5, "gpu", 4, "the first prompt of a bucket does what the later ones do: less than twice their median"),
    "fixed.phases": ("count", phases, dict(life="fixed"), 0, "gpu", 4, "nothing compiles, is read, is loaded or is tried while prompts are served"),
    "kept.trials": ("count", phases, dict(life="kept", names=("tune",)), 0, "gpu", 4, "with TRITON_CACHE_AUTOTUNING=1 the choice is on disk"),
    "moved.trials": ("count", moved_trials, {}, 0, "gpu", 1, "the choice lists no paths and moves with its folder"),

    "empty.explained": ("ratio", explained, dict(life="empty"), 0.6, "gpu", 4, "compiling, loading and trying, as the hooks tell; the rest is Triton hashing its own files, once a process"),
    "empty.kernel_later_vs_first": ("ratio", kernel_flat, dict(life="empty"), 0.7, "gpu", 4, "the kernel itself takes as long at first as later"),
    "ttft.p99": ("ratio", p99, dict(before="empty", after="fixed"), 20, "gpu", 4, "5 of 122 prompts are first hits, and those behind them wait as well"),
    "plan.vs_tuned": ("ratio", warm_speed, dict(ours="fixed", theirs="empty"), 0.9, "gpu", 4, "the same configurations, chosen beforehand"),
    "general.vs_plan": ("ratio", general_speed, dict(n=8191), 0.5, "gpu", 1, "small tiles read keys and values more often, and still are no disaster"),
    "rare.before_vs_after": ("ratio", rare_speed, dict(before="empty", after="fixed"), 5, "gpu", 4, "a length that comes once is tuned for a prompt, or takes the general configuration"),
    "trace.idle": ("ratio", idle, dict(of="compile"), 0.9, "gpu", 4, "no kernel can run whose code is not there yet"),
    "job.vs_eager": ("ratio", job_speed, {}, 1, "gpu", 4, "500 prompts share one cold start, and each gains"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "no_tail_mask": ("kernel", "else mask_n[None, :]", "else offs_n[None, :] >= 0", "full_fp16.max_abs_err", "error", "keys past the end take part, with a score of 0"),
    "v_unmasked": ("kernel", "offs_n[:, None] * stride_vn, mask=mask_n[:, None], other=0)", "offs_n[:, None] * stride_vn)", "full_fp16.max_abs_err", "nonfinite", "a weight of 0 times whatever lies past the end"),
    "no_empty_rows": ("kernel", "tl.where(m_new == -float(\"inf\"), 0.0, m_new)", "m_new", "empty_rows.max_abs_err", "nonfinite", "a row that has seen no key: inf - inf"),
    "no_fade": ("kernel", "acc * fade[:, None]", "acc", "square_fp16.max_abs_err", "error", "earlier keys keep the weight they had before a larger score came"),
    "top_left": ("kernel", "last_seen = offs_m + n_keys - n_queries", "last_seen = offs_m", "more_keys_fp16.max_abs_err", "error", "a query sees its own number, not its own place"),
    "wrong_head": ("kernel", "k_ptr + head // GROUP", "k_ptr + head % GROUP", "square_fp16.max_abs_err", "error", "query heads read the keys of another group"),
    "length_as_key": ("tuned", '"bucket", "HEAD_DIM"', '"n_keys", "HEAD_DIM"', "same_bucket.trials", "error", "every new length is tuned again"),
    "rare_to_tuner": ("planned", "return served_kernel, PLAN.get(bucket_of(n), GENERAL)", "return (served_kernel, PLAN[bucket_of(n)]) if bucket_of(n) in PLAN else tuned(n)", "planned.trials", "error", "a length that comes once sets off a search"),
    "guard_looks_away": ("watch", "        if fail:", '        if fail and phase == "tune":', "cold.stopped", "error", "only a search is stopped; prompts compile as they like"),
    "no_warm_up": ("warm", "(*PLAN, max(PLAN) + 1)", "()", "warmed.compiles", "error", "the first prompt of each bucket compiles"),
    "general_not_warmed": ("warm", "(*PLAN, max(PLAN) + 1)", "PLAN", "warmed.compiles", "error", "the first rare prompt compiles"),
    "lengths_specialized": ("planned", ', do_not_specialize=["n_queries", "n_keys"]', "", "warmed.compiles", "error", "warm-up met multiples of 16, most prompts are none"),
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
