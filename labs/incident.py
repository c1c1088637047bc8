"""A service that answers prompts, and what the first prompts of each length went through.

`triton_cold_start.py` gives it a kernel. Here are the model, the traffic, the one worker that
answers, the same traffic compiled without a GPU, the processes in which all of it happens again,
and the figures that are taken from them.
"""

import functools
import math
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
import triton

from judge import DEVICE, Ratio, benchmark_pair
from claims import Row
from offline import TARGETS, compiling_for
from process import finish_process, start_process


class Model(NamedTuple):
    """The attention of a model, and the longest prompt that it takes."""

    heads: int
    kv_heads: int
    head_dim: int
    layers: int
    longest: int


# Qwen2.5-7B-Instruct, with 8 of its 28 layers: enough for a request to be more than one launch
QWEN = Model(heads=28, kv_heads=4, head_dim=128, layers=8, longest=16_384)
BUCKETS = (2048, 4096, 8192)  # of prompts: the powers of two that most of them fit into
PER_BUCKET = 40  # prompts of each bucket, so that a cold request is one of forty
RARE = (300, 12_001)  # lengths outside the buckets, one prompt each
GAP_MS = 15  # between arrivals: more than a warm prompt of the longest bucket takes
ELSEWHERE = TARGETS["sm_90"]  # a GPU that need not be here: the compiler works without

Attention = Callable[..., Any]  # attention(q, k, v, out=…, lse=…)
Life = dict[str, Any]  # what a process went through, as JSON holds it


class Phase(NamedTuple):
    """Something that happened besides the kernel."""

    name: str  # "compile", "read" (found on disk), "load" or "tune"
    start_s: float
    ms: float


Watching = Callable[..., AbstractContextManager[list[Phase]]]  # watching(fail=True)


def bucket_of(n: int) -> int:
    """The smallest power of two that holds n tokens, 16 at least."""
    return triton.next_power_of_2(max(n, 16))


# %% The service: prompts come at their time, one worker answers them in turn.
# --8<-- [start:serve]
@functools.cache
def memory() -> tuple[torch.Tensor, ...]:
    """q, k, v, out and lse of the longest prompt; a shorter one takes the first rows of each."""
    generator = torch.Generator(DEVICE).manual_seed(0)
    heads = (QWEN.heads, QWEN.kv_heads, QWEN.kv_heads)
    shapes = [(each, QWEN.longest, QWEN.head_dim) for each in heads]
    options = dict(generator=generator, device=DEVICE, dtype=torch.float16)
    q, k, v = (torch.randn(shape, **options) for shape in shapes)
    return q, k, v, torch.empty_like(q), torch.empty(shapes[0][:2], device=DEVICE)


def first_token(n: int, attend: Attention) -> float:
    """Answer a prompt of n tokens: attention of every layer, then the choice of a token.

    Returns milliseconds of the GPU a layer, counted after the first: by then all code is there.
    """
    q, k, v, out, lse = (t[:, :n] for t in memory())
    after_first, after_last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for layer in range(QWEN.layers):
        attend(q, k, v, out=out, lse=lse)
        if layer == 0:
            after_first.record()
    after_last.record()
    int(out[:, -1].float().sum(dim=0).argmax())  # the token: waits for the GPU
    return after_first.elapsed_time(after_last) / (QWEN.layers - 1)


def traffic() -> list[int]:
    """The lengths of the prompts, in the order in which they come.

    Longer buckets join later. The 21st prompt of each fills it, the others have odd lengths.
    """
    chance = random.Random(0)
    placed = [(70.0, RARE[0]), (100.0, RARE[1])]
    for start, bucket in zip((0, 30, 60), BUCKETS, strict=True):
        for i in range(PER_BUCKET):
            place = start + i * (120 - start) / PER_BUCKET
            fills = i == 20
            placed.append(
                (place, bucket if fills else bucket - 1 - 2 * chance.randrange(bucket // 32))
            )
    return [n for _, n in sorted(placed)]


def serve(lengths: Iterable[int], attend: Attention, watching: Watching) -> list[Row]:
    """Answer prompts that come every GAP_MS, one row for each.

    `ms` is its own work, `ttft_ms` the time from its arrival to its first token, `spent` the
    milliseconds by phase.
    """
    rows, opened = [], time.perf_counter()
    for i, n in enumerate(lengths):
        arrival = opened + i * GAP_MS / 1e3
        time.sleep(max(0.0, arrival - time.perf_counter()))
        with watching() as log:
            start = time.perf_counter()
            kernel_ms = first_token(n, attend)
            end = time.perf_counter()
        spent: dict[str, float] = {}
        for phase in log:
            spent[phase.name] = spent.get(phase.name, 0.0) + phase.ms
        own_ms, ttft_ms = (end - start) * 1e3, (end - arrival) * 1e3
        row = {"n": n, "ms": own_ms, "ttft_ms": ttft_ms, "kernel_ms": kernel_ms, "spent": spent}
        rows.append(row)
    return rows
    # --8<-- [end:serve]


# --8<-- [start:eager]
# %% What the prototype is compared with: what it replaces, and the library.
def eager(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor | None = None,
    lse: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The same causal attention from operators of torch, which write and read all n × n scores."""
    k, v = (t.repeat_interleave(q.shape[0] // t.shape[0], dim=0) for t in (k, v))
    scores = (q @ k.mT).mul_(1 / math.sqrt(q.shape[2]))
    above = 1 + k.shape[1] - q.shape[1]
    hidden = torch.ones(scores.shape[1:], dtype=torch.bool, device=q.device).triu_(above)
    weights = scores.masked_fill_(hidden, -math.inf).softmax(dim=2)
    return torch.matmul(weights, v, out=out), lse


def sdpa(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The same causal attention as the library has it."""
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(q[None], k[None], v[None], is_causal=True, enable_gqa=True)
    # --8<-- [end:eager]


# --8<-- [start:compiled]
# %% The same prompts without a GPU: what would be compiled, and when.
class Rehearsal:
    """The prompts of the service, compiled for a GPU that is not there and never run."""

    def __init__(
        self,
        kernel: Any,
        compile_only: Callable[..., None],
        warm_up: Callable[[Callable[[int], object]], None],
        watching: Watching,
    ) -> None:
        """`compile_only(n, path)` compiles `kernel` for a prompt of n tokens."""
        self.kernel = kernel
        self.compile_only = compile_only
        self.warm_up = warm_up
        self.watching = watching

    @contextmanager
    def _served(self, warm: bool) -> Iterator[None]:
        with compiling_for(ELSEWHERE):
            if warm:
                self.warm_up(self.compile_only)
            yield
        self.kernel.device_caches.pop(ELSEWHERE)  # as if it had never been

    def compiles(self, warm: bool) -> int:
        """How often the compiler is asked for all the prompts, after warm-up or with none."""
        with self._served(warm), self.watching() as log:
            for n in traffic():
                self.compile_only(n)
        return len(log)

    def stopped(self, warm: bool) -> int:
        """How many of the prompts a guarded watch stops, after warm-up or with none."""
        halted = 0
        with self._served(warm):
            for n in traffic():
                try:
                    with self.watching(fail=True):
                        self.compile_only(n)
                except RuntimeError:
                    halted += 1
        return halted

    def real_compiles(self, then: str) -> int:
        """How many of two compilations really compile.

        Between them the cache folder stays, or is copied or moved to where the second one looks.
        """
        small = dict(BLOCK_M=16, BLOCK_N=16, num_warps=4, num_stages=1)
        cache = triton.knobs.cache
        with tempfile.TemporaryDirectory() as room, cache.scope(), compiling_for(ELSEWHERE):
            first, second = Path(room, "first"), Path(room, "second")
            with self.watching() as log:
                cache.dir = str(first)
                self.compile_only(16, path=lambda n: (triton.jit(self.kernel.fn), small))
                if then == "copied":
                    shutil.copytree(first, second)
                if then == "moved":
                    first.rename(second)
                cache.dir = str(first if then == "stays" else second)
                self.compile_only(16, path=lambda n: (triton.jit(self.kernel.fn), small))
        return [phase.name for phase in log].count("compile")


def after_move(count: Callable[[], int]) -> int:
    """What `count` returns when it runs again and the cache folder has another name by then."""
    cache = triton.knobs.cache
    with tempfile.TemporaryDirectory() as room, cache.scope():
        first, second = Path(room, "first"), Path(room, "second")
        cache.dir = str(first)
        count()
        first.rename(second)
        cache.dir = str(second)
        return count()
    # --8<-- [end:compiled]


# --8<-- [start:lives]
# %% What happens in a new process: traffic from the first prompt on, or a job nobody waits for.
def bring_up() -> None:
    """Start torch and Triton, as every service does before its first prompt, outside all times."""
    int(memory()[0][:, -1].float().sum(dim=0).argmax())
    triton.runtime.driver.active.get_current_target()


def serve_traffic(
    attend: Attention, warm_up: Callable[[], object] | None, watching: Watching
) -> Life:
    """Warm up, if that is wanted, then answer the whole traffic."""
    bring_up()
    start = time.perf_counter()
    if warm_up:
        warm_up()
    warm_ms = (time.perf_counter() - start) * 1e3
    return {"warm_ms": warm_ms, "rows": serve(traffic(), attend, watching)}


def seconds_for(n: int, count: int, attend: Attention) -> float:
    """How long `count` prompts of n tokens take."""
    start = time.perf_counter()
    for _ in range(count):
        first_token(n, attend)
    return time.perf_counter() - start


def run_job(n: int, count: int, before: Attention, after: Attention, watching: Watching) -> Life:
    """Seconds for `count` prompts of n tokens with `before`, then with `after` from an empty cache.

    The first prompt of `after` is traced: what the CPU does as phases, when the GPU runs kernels.
    """
    bring_up()
    seconds_for(n, 2, before)  # torch's own first calls
    before_s = seconds_for(n, count, before)
    activities = list(torch.profiler.supported_activities())
    with torch.profiler.profile(activities=activities) as profiler, watching() as log:
        with torch.profiler.record_function("clock"):
            clock_s = time.perf_counter()
        first_s = seconds_for(n, 1, after)
    rest_s = seconds_for(n, count - 1, after)
    cpu = [bar("CPU", phase.name, (phase.start_s - clock_s) * 1e3, phase.ms) for phase in log]
    spans = joined(cpu, first_s) + joined(gpu_spans(profiler), first_s)
    return {"eager": before_s, "first": first_s, "rest": rest_s, "spans": spans}


def gpu_spans(profiler: torch.profiler.profile) -> list[Row]:
    """When the GPU ran a kernel, from the moment that the profiler calls "clock"."""
    events = profiler.events()
    zero_us = next(event.time_range.start for event in events if event.name == "clock")
    on_gpu = [event for event in events if event.device_type == torch.autograd.DeviceType.CUDA]
    times = sorted((e.time_range.start - zero_us, e.time_range.end - zero_us) for e in on_gpu)
    return [bar("GPU", "kernels", start / 1e3, (end - start) / 1e3) for start, end in times]


def bar(lane: str, name: str, start_ms: float, ms: float) -> Row:
    """One bar of the timeline."""
    return {"lane": lane, "name": name, "start_ms": start_ms, "ms": ms}


def joined(spans: list[Row], whole_s: float) -> list[Row]:
    """Spans of one lane in order; neighbors of one name become one where the gap is not visible.

    That is less than a four-hundredth of the whole.
    """
    done: list[Row] = []
    for each in sorted(spans, key=lambda s: s["start_ms"]):
        last = done[-1] if done else None
        if last and last["name"] == each["name"] and gap_ms(last, each) < whole_s * 1e3 / 400:
            end_ms = each["start_ms"] + each["ms"]
            last["ms"] = max(last["ms"], end_ms - last["start_ms"])
        else:
            done.append(dict(each))
    return done


def gap_ms(earlier: Row, later: Row) -> float:
    """Milliseconds from the end of one span to the start of the next."""
    return later["start_ms"] - earlier["start_ms"] - earlier["ms"]
    # --8<-- [end:lives]


# --8<-- [start:figures]
# %% The figures. A ratio is one of medians, its spread from the tenth and ninetieth percentiles.
def percentiles(name: str, times_ms: Iterable[float]) -> Row:
    """One entry of a row's timings; with P99, which is what users of a service feel."""
    ordered = sorted(times_ms)
    last = len(ordered) - 1
    places = {"p10_ms": 0.1, "median_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99}
    values = {key: ordered[min(int(len(ordered) * q), last)] for key, q in places.items()}
    return {"name": name, **values, "repeats": len(ordered), "work": 1, "unit": "call"}


def times_row(name: str, ours_ms: list[float], base_name: str, base_ms: list[float]) -> Row:
    """The row of how many times longer the first takes."""
    ours, base = percentiles(name, ours_ms), percentiles(base_name, base_ms)
    return {
        "value": ours["median_ms"] / base["median_ms"],
        "low": ours["p10_ms"] / base["p90_ms"],
        "high": ours["p90_ms"] / base["p10_ms"],
        "timings": [ours, base],
    }


def least(rows: Iterable[Row]) -> Row:
    """The row with the smallest value: the bucket in which a claim is nearest to failing."""
    return min(rows, key=lambda row: row["value"])


LIVES = {  # name: the call of the lab, the folder of its cache, whether tuning results stay there
    "empty": ("live('tuned')", "a", True),
    "filled": ("live('tuned')", "a", False),
    "kept": ("live('tuned')", "a", True),
    "fixed": ("live('planned', 'launches')", "b", False),
    "compiled": ("live('planned', 'compile')", "c", False),
    "job": (f"job({BUCKETS[0] - 1}, 500)", "d", False),
}


class Incident:
    """What processes of the lab lived through, and one method for each figure of the claims."""

    def __init__(self, lab_file: str | None) -> None:
        """`lab_file` has `live(path, warm)` and `job(n, count)`, which new processes call."""
        self.lab_file = lab_file
        self._lives: dict[str, Life] = {}

    def lives(self) -> dict[str, Life]:
        """All lives, one after the other; the processes start together, since imports are slow."""
        if not self._lives:
            self._lives = self._live()
        return self._lives

    def _live(self) -> dict[str, Life]:
        if self.lab_file is None:
            raise RuntimeError("needs the lab as a file: download it")
        with ExitStack() as stack:
            processes, folders = {}, {}
            for name, (call, cache, keep) in LIVES.items():
                if cache not in folders:
                    folders[cache] = stack.enter_context(tempfile.TemporaryDirectory())
                process = start_process(
                    Path(self.lab_file).resolve(), call, cache_environment(folders[cache], keep)
                )
                processes[name] = stack.enter_context(process)
            return {name: finish_process(process) for name, process in processes.items()}

    def split(self, life: str, bucket: int, what: str = "ms") -> tuple[Any, list[Any]]:
        """One figure of the prompts of a bucket: the first one's, and the later ones'."""
        rows = [row for row in self.lives()[life]["rows"] if bucket_of(row["n"]) == bucket]
        first, *later = [row[what] for row in rows]
        return first, later

    def first_vs_p50(self, life: str, bucket: str = "mildest") -> Row:
        """First prompt of a bucket over the median of later ones, in the mildest or the worst."""
        splits = [self.split(life, each) for each in BUCKETS]
        rows = [times_row("first", [first], "later", later) for first, later in splits]
        choose = min if bucket == "mildest" else max
        return choose(rows, key=lambda row: row["value"]) | {"series": self.series(life)}

    def p50_vs_first(self, life: str) -> Row:
        """Median of the later prompts over the first one, in the bucket where it is least."""
        splits = [self.split(life, bucket) for bucket in BUCKETS]
        row = least(times_row("later", later, "first", [first]) for first, later in splits)
        row["timings"].append(percentiles("warm-up", [self.lives()[life]["warm_ms"]]))
        return row | {"series": self.series(life)}

    def series(self, life: str) -> list[Row]:
        """Every prompt in the order of arrival: its own milliseconds, its time to first token."""
        rows = self.lives()[life]["rows"]
        return [
            {"name": name, "unit": "ms", "values": [round(row[key], 4) for row in rows]}
            for name, key in (("own work", "ms"), ("time to first token", "ttft_ms"))
        ]

    def p99(self, before: str, after: str) -> Row:
        """P99 of the time to first token, before over after; the longest cold request of each."""
        ttft = {
            life: [row["ttft_ms"] for row in self.lives()[life]["rows"]] for life in (before, after)
        }
        row = times_row("before", ttft[before], "after", ttft[after])
        value = row["timings"][0]["p99_ms"] / row["timings"][1]["p99_ms"]
        for name, life in (("before", before), ("after", after)):
            longest = max(self.split(life, bucket)[0] for bucket in BUCKETS)
            row["timings"].append(percentiles(f"longest first hit {name}", [longest]))
        return row | {"value": value, "low": value, "high": value}

    def explained(self, life: str) -> Row:
        """The part of a first prompt's time that its phases account for, where it is least.

        Each phase, and the kernels, are timings of their own.
        """
        rows = []
        for bucket in BUCKETS:
            first_ms, spent, kernel_ms = (
                self.split(life, bucket, what)[0] for what in ("ms", "spent", "kernel_ms")
            )
            row = times_row("phases", [sum(spent.values())], "first", [first_ms])
            parts = spent | {"kernels": kernel_ms * QWEN.layers}
            row["timings"] += [percentiles(name, [ms]) for name, ms in parts.items()]
            rows.append(row)
        return least(rows)

    def kernel_flat(self, life: str) -> Row:
        """The kernel's own time a layer, in later prompts over that in a first one, where least."""
        splits = [self.split(life, bucket, "kernel_ms") for bucket in BUCKETS]
        return least(times_row("later", later, "first", [first]) for first, later in splits)

    def warm_speed(self, ours: str, theirs: str) -> Row:
        """The kernel's time a layer in later prompts: another life's over this one's, at least."""
        row = least(
            times_row(
                theirs,
                self.split(theirs, bucket, "kernel_ms")[1],
                ours,
                self.split(ours, bucket, "kernel_ms")[1],
            )
            for bucket in BUCKETS
        )
        configs = self.lives()[theirs]["chosen"].items()
        chosen = "; ".join(f"{bucket}: {config}" for bucket, config in configs)
        return row | {"note": f"chosen by {theirs}: {chosen}"}

    def rare_speed(self, before: str, after: str) -> Row:
        """The prompts of rare lengths, before over after, for the one that gains least."""
        times = {
            life: [row["ms"] for row in self.lives()[life]["rows"] if row["n"] in RARE]
            for life in (before, after)
        }
        pairs = zip(times[before], times[after], strict=True)
        return least(times_row(before, [a], after, [b]) for a, b in pairs)

    def phases(
        self, life: str, names: tuple[str, ...] = ("compile", "read", "load", "tune")
    ) -> int:
        """How many prompts met one of these phases."""
        rows = self.lives()[life]["rows"]
        return sum(name in row["spent"] for row in rows for name in names)

    def idle(self, of: str) -> Row:
        """The part of a phase in which the GPU did nothing, in the first prompt of a process."""
        spans = self.lives()["job"]["spans"]
        in_phase = [(s["start_ms"], s["start_ms"] + s["ms"]) for s in spans if s["name"] == of]
        busy = [(s["start_ms"], s["start_ms"] + s["ms"]) for s in spans if s["lane"] == "GPU"]
        both = sum(
            max(0.0, min(end, busy_end) - max(start, busy_start))
            for start, end in in_phase
            for busy_start, busy_end in busy
        )
        whole = sum(end - start for start, end in in_phase)
        rounded = [
            each | {"start_ms": round(each["start_ms"], 3), "ms": round(each["ms"], 3)}
            for each in spans
        ]
        return times_row("idle", [whole - both], of, [whole]) | {"spans": rounded}

    def job_speed(self) -> Row:
        """The whole job before over the whole job after, its cold start included."""
        done = self.lives()["job"]
        after_ms = (done["first"] + done["rest"]) * 1e3
        row = times_row("eager", [done["eager"] * 1e3], "prototype", [after_ms])
        row["timings"].append(percentiles("first prompt", [done["first"] * 1e3]))
        return row
        # --8<-- [end:figures]


def attention_speed(
    n: int, ours: tuple[str, Callable[[], object]], theirs: tuple[str, Callable[[], object]]
) -> Ratio:
    """Causal attention of n tokens one way against another, each (name, function)."""
    flop = 2 * n * n * QWEN.head_dim * QWEN.heads  # two products of n × n scores, half are hidden
    return benchmark_pair(ours, theirs, work=(flop, flop), unit="FLOP")


def cache_environment(folder: str, keep_tuning: bool) -> dict[str, str]:
    """Where a process caches, and whether it keeps tuning results there."""
    return {"TRITON_CACHE_DIR": folder, "TRITON_CACHE_AUTOTUNING": str(int(keep_tuning))}
