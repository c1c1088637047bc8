"""The instrument that judges every lab: how it measures, plants a bug, and keeps a record.

A lab imports it, states its claims and its seeded bugs, and ends in `main(sys.modules[__name__])`.
Read it from top to bottom: where a lab runs, memory between guards, comparing, timing, judging one
claim, judging in a child process, judging one seeded bug, the record, the command line.
"""

# --8<-- [start:where]
# %% Where a lab runs: on a GPU if one is visible, else in Triton's interpreter.
import os
import sys
from pathlib import Path
from typing import NoReturn

SWITCHES = {
    "TRITON_DEFAULT_FP_FUSION": "1",  # from Triton 3.10 on the default is 0: name the setting
    "TRITON_DISABLE_LINE_INFO": "1",  # then the PTX does not depend on where the lab lies
}


def is_program() -> bool:
    """Whether a lab is the running program, as opposed to a module that somebody imports."""
    program = getattr(sys.modules["__main__"], "__file__", None) or ""
    return __name__ == "__main__" or Path(program).stem.startswith("triton_")


def stop(sentence: str) -> NoReturn:
    """End the program with status 2 and one sentence: why it cannot run here, and the way out."""
    print(f"{Path(sys.argv[0]).name}: {sentence}", file=sys.stderr)
    raise SystemExit(2)


try:
    import torch

    if is_program():  # a program that merely imports a lab keeps its own settings
        if (
            not torch.cuda.is_available()
        ):  # TRITON_INTERPRET=0 keeps the compiler, which needs no GPU
            os.environ.setdefault("TRITON_INTERPRET", "1")
        for switch, setting in SWITCHES.items():
            os.environ.setdefault(switch, setting)
    import triton

    if not hasattr(triton, "knobs"):
        stop(f"{triton.__file__} is not Triton 3.6 or later: rename that file, or upgrade triton")
    if triton.knobs.runtime.interpret:
        import numpy  # noqa: F401 what the interpreter computes with
except ModuleNotFoundError as missing:
    if not is_program() or missing.name not in ("torch", "triton", "numpy"):
        raise
    packages = "torch triton numpy (Triton exists for Linux)"
    stop(f"{missing.name} is not installed: pip install {packages}")

INTERPRETED: bool = triton.knobs.runtime.interpret
DEVICE = "cpu" if INTERPRETED else "cuda"


def supported(*dtypes: torch.dtype) -> tuple[torch.dtype, ...]:
    """Those of `dtypes` that are correct here: the interpreter truncates to bfloat16."""
    return tuple(dtype for dtype in dtypes if not (INTERPRETED and dtype == torch.bfloat16))


# --8<-- [end:where]
import argparse
import datetime
import hashlib
import importlib.metadata
import importlib.util
import inspect
import json
import math
import multiprocessing
import platform
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, is_dataclass
from functools import partial
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any
from unittest import mock

from claims import Bug, Claim, Row, line, verdict

__all__ = ["Bug", "Claim"]  # for labs, which import them from here

SCHEMA = 2  # of the record that --json prints
PATIENCE_S = 600  # how long a judgment in a child may take
GUARD_SIZE = 1 << 16  # elements on each side of a guarded tensor
DEVICE_FAULTS = ("illegal memory access", "misaligned address", "illegal address", "launch failure")

Pair = tuple[torch.Tensor, torch.Tensor]
Timed = tuple[str, Callable[[], object]]


# --8<-- [start:guards]
# %% Memory between guards: writing past an output, or into an input, is seen whatever was computed.
class Guards:
    """The tensors of one judgment, each between two stretches of memory that nobody may write."""

    def __init__(self) -> None:
        self.watched: list[Pair] = []  # what is watched, and what it must still hold at the end

    def input(self, t: torch.Tensor) -> torch.Tensor:
        """A contiguous copy of t between guards. Neither it nor its guards may be written."""
        inside = self.in_place(t)
        self.watched.append((as_bytes(inside), as_bytes(t.contiguous())))
        return inside

    def in_place(self, t: torch.Tensor) -> torch.Tensor:
        """A contiguous copy of t between guards, which itself may be overwritten."""
        inside = self._room(t.numel(), t.dtype, t.device).view(t.shape)
        return inside.copy_(t)

    def output_like(self, t: torch.Tensor) -> torch.Tensor:
        """An output in the shape of t between guards; it starts as NaN, or -1 for integers."""
        return self.output(tuple(t.shape), t.dtype, t.device)

    def output(
        self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device | str = ""
    ) -> torch.Tensor:
        """The same by shape and dtype. An element that no program writes stays NaN or -1."""
        inside = self._room(math.prod(shape), dtype, device or DEVICE, unwritten=True)
        return inside.view(shape)

    def watch(self, *tensors: torch.Tensor) -> None:
        """From here on none of these may change."""
        self.watched.extend((as_bytes(t), as_bytes(t).clone()) for t in tensors)

    def _room(
        self, size: int, dtype: torch.dtype, device: torch.device | str, unwritten: bool = False
    ) -> torch.Tensor:
        """`size` elements in the middle of a larger tensor whose two ends are watched."""
        filling = math.nan if dtype.is_floating_point else 77
        room = torch.full((size + 2 * GUARD_SIZE,), filling, dtype=dtype, device=device)
        if unwritten:
            room.view(torch.uint8).fill_(255)  # all bits set: NaN, or -1
        self.watch(room[:GUARD_SIZE], room[-GUARD_SIZE:])
        return room[GUARD_SIZE:-GUARD_SIZE]

    def untouched(self) -> bool:
        """Whether everything that is watched holds, bit for bit, what it held."""
        return all(torch.equal(now, before) for now, before in self.watched)


def as_bytes(t: torch.Tensor) -> torch.Tensor:
    """The memory of t as bytes: NaN equals NaN there, and -0 differs from 0."""
    return t.reshape(-1).view(torch.uint8) if t.is_contiguous() else t.view(torch.uint8)


# --8<-- [end:guards]


# --8<-- [start:compare]
# %% Comparing: every (result, reference) of a claim, in float64.
@dataclass(frozen=True)
class Comparison:
    """How far results are from their references."""

    max_abs_err: float
    max_rel_err: float  # relative to the largest |reference| of all
    nonfinite: int  # results that are NaN or inf where the reference is not, or the other way round
    scale: float  # the largest |reference|


def compare(pairs: Iterable[Pair]) -> Comparison:
    """Compare all (result, reference). Raises ValueError for another shape, or where none come."""
    worst, scale, nonfinite, compared = 0.0, 0.0, 0, False
    for got, want in pairs:
        compared = True
        if got.shape != want.shape:
            raise ValueError(
                f"the result has shape {tuple(got.shape)}, the reference {tuple(want.shape)}"
            )
        got, want = got.double(), want.double()
        finite = got.isfinite() & want.isfinite()
        same_kind = (got == want) | (got.isnan() & want.isnan())
        nonfinite += int((~finite & ~same_kind).sum())
        if finite.any():
            worst = max(worst, (got - want)[finite].abs().max().item())
            scale = max(scale, want[finite].abs().max().item())
    if not compared:
        raise ValueError("nothing was compared")
    if nonfinite:
        worst = math.inf
    return Comparison(worst, worst / (scale or 1), nonfinite, scale)


# --8<-- [end:compare]


# --8<-- [start:timing]
# %% Timing: two functions in turns, so that a change of clock meets both.
@dataclass(frozen=True)
class Timing:
    """How long one side of a comparison took."""

    name: str
    p10_ms: float
    median_ms: float
    p90_ms: float
    repeats: int
    work: float  # done in one call, in `unit`
    unit: str  # "B", "FLOP" or "call"


@dataclass(frozen=True)
class Ratio:
    """Speed of the first over the second: the median round, the lowest and the highest."""

    value: float
    low: float
    high: float
    timings: tuple[Timing, ...]


def benchmark_pair(
    ours: Timed,
    theirs: Timed,
    work: tuple[float, float] = (1, 1),
    unit: str = "call",
    graph: bool = False,
    rounds: int = 5,
) -> Ratio:
    """Time both, each (name, function), in turns, with the L2 cache flushed before every call.

    `work` is what one call of each does, in `unit`; the ratio is one of work per second. With
    `graph` both are replayed from a CUDA graph, for calls so short that launching them from Python
    would be timed with them.
    """
    for _, function in (ours, theirs):
        function()  # compiles and tunes before anything is timed or captured
    calls = [captured(function) if graph else function for _, function in (ours, theirs)]
    times: tuple[list[float], list[float]] = ([], [])
    ratios = []
    for _ in range(rounds):
        ours_ms, theirs_ms = (
            triton.testing.do_bench(call, warmup=10, rep=40, return_mode="all") for call in calls
        )
        times[0].extend(ours_ms)
        times[1].extend(theirs_ms)
        ratios.append(statistics.median(theirs_ms) / statistics.median(ours_ms) * work[0] / work[1])
    timings = tuple(
        timing(name, all_ms, each, unit)
        for (name, _), all_ms, each in zip((ours, theirs), times, work, strict=True)
    )
    return Ratio(statistics.median(ratios), min(ratios), max(ratios), timings)


def captured(function: Callable[[], object]) -> Callable[[], object]:
    """The replay of a CUDA graph that holds one call of `function`."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph.replay


def timing(name: str, times_ms: list[float], work: float, unit: str) -> Timing:
    """The percentiles of one side."""
    ordered = sorted(times_ms)
    p10, median, p90 = (ordered[int(len(ordered) * q)] for q in (0.1, 0.5, 0.9))
    return Timing(name, p10, median, p90, len(ordered), work, unit)


# --8<-- [end:timing]


# --8<-- [start:claims]
# %% Judging one claim: measure it between guards, then apply the rule of its kind.
def short_name(lab: ModuleType) -> str:
    """softmax, for the module triton_softmax."""
    return lab_stem(lab).removeprefix("triton_")


def lab_file(lab: ModuleType) -> Path | None:
    """Where the lab lies; None in a notebook."""
    name = getattr(lab, "__file__", None)
    return Path(name).resolve() if name else None


def lab_stem(lab: ModuleType) -> str:
    """triton_softmax, also where the lab is the program, or a copy that somebody imports."""
    return (lab_file(lab) or Path("triton_notebook.py")).stem


def has_gpu() -> bool:
    """Whether kernels run on a GPU here."""
    return DEVICE == "cuda" and torch.cuda.is_available()


def judge_claim(lab: ModuleType, claim: Claim) -> Row:
    """The claim's row of the record, with its verdict: "ok", "-" (not judged), or how it failed.

    Ways to fail: "error" (past its bound), "loose" (zeros would pass), "nonfinite", "guard" (wrote
    where it must not), "fault" (the device stopped it), "raised".
    """
    row = described(lab, claim)
    if claim.judges == "gpu" and not has_gpu():
        return row | {"verdict": "-", "note": "needs a GPU to judge"}
    if (
        claim.judges == "compile" and INTERPRETED
    ):  # the compiler wants a process that does not interpret
        path = lab_file(lab)
        if path is None:
            return row | {"verdict": "-", "note": "needs the lab as a file: download it"}
        return row | ask_child(path, claim.id, interpret=False)
    try:
        return row | measured(claim, row)
    except (Exception, SystemExit) as error:
        return row | failed(error)


def described(lab: ModuleType, claim: Claim) -> Row:
    """What a row says before anything is measured."""
    given = inspect.signature(claim.measure).bind_partial(**claim.args)
    given.apply_defaults()
    arguments = {name: str(value).removeprefix("torch.") for name, value in given.arguments.items()}
    row: Row = {
        "id": f"{short_name(lab)}.{claim.id}",
        "kind": claim.kind,
        "arguments": arguments,
        "bound": claim.bound,
        "judges": claim.judges,
        "why": claim.why,
    }
    if claim.predicted is not None:
        row |= {"predicted": claim.predicted, "tolerance": claim.tolerance}
    return row


def measured(claim: Claim, row: Row) -> Row:
    """Measure the claim; its figures and its verdict."""
    if has_gpu():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        free = torch.cuda.mem_get_info()[0]
        if claim.gib << 30 > free:
            note = f"needs {claim.gib} GiB of GPU memory, {free / 2**30:.1f} are free"
            return {"verdict": "-", "note": note}
    guards = Guards()
    wants_guards = "guards" in inspect.signature(claim.measure).parameters
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # NumPy's remarks on overflow and NaN, which are meant
        result = (
            claim.measure(guards, **claim.args) if wants_guards else claim.measure(**claim.args)
        )
        figures = figures_of(claim, result)
    if has_gpu():
        figures["peak_mib"] = torch.cuda.max_memory_allocated() >> 20
    if not guards.untouched():
        return figures | {"verdict": "guard"}
    return figures | {"verdict": verdict(row | figures)}


def figures_of(claim: Claim, result: Any) -> Row:
    """What a measure returned, as figures: pairs to compare, a Ratio, a dict, or one value."""
    if claim.kind == "error":
        figures = asdict(compare(result))
    elif is_dataclass(result) and not isinstance(result, type):
        figures = asdict(result)
    elif isinstance(result, dict):
        figures = dict(result)
    else:
        figures = {"value": result}
    metric = claim.id.partition(".")[2]
    return {"value": figures.get(metric)} | figures


def failed(error: BaseException) -> Row:
    """The verdict on a measurement that raised."""
    lines = str(error).strip().splitlines() or [""]
    reason = (
        lines[-1] if isinstance(error, triton.CompilationError) else lines[0]
    )  # the compiler says where first
    note = f"{type(error).__name__}: {reason}"
    if isinstance(error, torch.OutOfMemoryError):
        return {"verdict": "-", "note": note}
    fault = any(words in note for words in DEVICE_FAULTS)
    return {"verdict": "fault" if fault else "raised", "note": note}


# --8<-- [end:claims]


# --8<-- [start:children]
# %% Judging in a child process: what may fault or hang, or needs the other TRITON_INTERPRET.
@dataclass
class Child:
    """A process that judges claims of copies of the lab until one of them faults or hangs."""

    pipe: Connection
    process: Any

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


children: dict[
    bool, Child
] = {}  # by whether they interpret; kept, since importing torch takes seconds


def ask_child(path: Path, claim_id: str, interpret: bool) -> Row:
    """The row of a claim of the lab at `path`, judged in a child that interprets or does not."""
    child = children.get(interpret) or start_child(interpret)
    children[interpret] = child
    child.pipe.send((str(path), claim_id))
    try:
        answered = child.pipe.poll(PATIENCE_S)
        answer = (
            child.pipe.recv()
            if answered
            else {"verdict": "raised", "note": f"no answer in {PATIENCE_S} s"}
        )
    except (EOFError, ConnectionError):
        answer = how_it_died(child)
    if answer["verdict"] in ("fault", "raised"):  # the device may be lost to it, or it hangs
        child.stop()
        del children[interpret]
    return answer


def start_child(interpret: bool) -> Child:
    """Start a process that waits for work."""
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=judge_copies, args=(theirs,), daemon=True)
    with mock.patch.dict(os.environ, TRITON_INTERPRET=str(int(interpret))):
        process.start()
    theirs.close()
    return Child(ours, process)


def how_it_died(child: Child) -> Row:
    """A signal is a fault, unless it is the one for want of memory; a mere exit is none."""
    child.process.join()
    code = child.process.exitcode
    if code < 0 and code != -signal.SIGKILL:
        return {"verdict": "fault", "note": signal.Signals(-code).name}
    return {"verdict": "raised", "note": "the process ended"}


def judge_copies(pipe: Connection) -> None:
    """The child's loop: load the lab at each path that comes, judge the claim, return the row."""
    sys.dont_write_bytecode = True  # nothing is left beside the lab
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    while True:
        try:
            path, claim_id = pipe.recv()
        except EOFError:  # the parent is done
            return
        try:
            copy = load_lab(Path(path))
            pipe.send(judge_claim(copy, claim_named(copy, claim_id)))
        except Exception as error:
            pipe.send({"verdict": "raised", "note": f"{type(error).__name__}: {error}"})


def load_lab(path: Path) -> ModuleType:
    """The lab at `path` as a module, executed anew."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    lab = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lab)
    return lab


def claim_named(lab: ModuleType, claim_id: str) -> Claim:
    """The claim of that id: "ragged_fp32.max_abs_err"."""
    claims: list[Claim] = lab.CLAIMS
    return next(claim for claim in claims if claim.id == claim_id)


# --8<-- [end:children]


# --8<-- [start:bugs]
# %% Judging one seeded bug: plant it in a copy of the lab; the named claim must fail as declared.
def judge_bug(lab: ModuleType, bug: Bug, folder: Path) -> Row:
    """The bug's row. Its value is the verdict that the copy got; it must be `bug.how`."""
    short = short_name(lab)
    row: Row = {
        "id": f"{short}.{bug.name}.bug",
        "kind": "bug",
        "claim": f"{short}.{bug.caught_by}",
        "bound": bug.how,
        "why": bug.shows,
    }
    claim = claim_named(lab, bug.caught_by)
    lab_path = lab_file(lab)
    if lab_path is None:
        return row | {"verdict": "-", "note": "needs the lab as a file: download it"}
    try:
        planted = plant(lab_path.read_text(encoding="utf-8-sig"), bug)
    except ValueError as error:
        return row | {"value": "raised", "verdict": "error", "note": str(error)}
    path = folder / bug.name / lab_path.name
    path.parent.mkdir()
    path.write_text(planted, encoding="utf-8")
    answer = ask_child(path, claim.id, interpret=INTERPRETED and claim.judges != "compile")
    row["value"] = answer["verdict"]
    if "note" in answer:
        row["note"] = answer["note"]
    if "value" in answer:
        row["figure"] = answer["value"]
    return row | {"verdict": "-" if answer["verdict"] == "-" else verdict(row)}


def plant(source: str, bug: Bug) -> str:
    """The lab's text with the bug in it. Raises ValueError unless `old` is once in its section."""
    start, end = f"# --8<-- [start:{bug.section}]\n", f"# --8<-- [end:{bug.section}]"
    before, _, rest = source.partition(start)
    section, found_end, after = rest.partition(end)
    if not found_end or section.count(bug.old) != 1:
        raise ValueError(f"its text occurs {section.count(bug.old)} times in section {bug.section}")
    return before + start + section.replace(bug.old, bug.new) + end + after


# --8<-- [end:bugs]


# --8<-- [start:record]
# %% The record: the device and the environment of this run, its rows, and what the compiler made.
def surroundings() -> Row:
    """Device and environment of this run, as the record holds them."""
    switches = {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith("TRITON_") and not name.endswith(("_DIR", "_HOME"))
    }
    environment = {
        "os": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "numpy": version_of("numpy"),
        "switches": switches,
    }
    return {"device": device_facts(), "environment": environment}


def version_of(package: str) -> str:
    """The installed version; "none" where there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def device_facts() -> Row:
    """What judges here: a GPU with its size and driver, the interpreter, or only the compiler."""
    if INTERPRETED:
        return {"kind": "interpreter", "name": "Triton interpreter"}
    if not has_gpu():
        return {"kind": "compiler", "name": "no GPU, compiler only"}
    gpu, hip = torch.cuda.get_device_properties(0), torch.version.hip
    return {
        "kind": "hip" if hip else "cuda",
        "name": gpu.name,
        "capability": gpu.gcnArchName if hip else f"{gpu.major}.{gpu.minor}",
        "sms": gpu.multi_processor_count,
        "memory_mib": gpu.total_memory >> 20,
        "driver": hip or (query_driver("driver_version") or ["unknown"])[0],
        "runtime": hip or torch.version.cuda,
    }


def clocks() -> Row | None:
    """Clocks in MHz, power limit in W, mask of reasons to throttle, now; None without a driver."""
    fields = ("clocks.sm", "clocks.mem", "power.limit", "clocks_event_reasons.active")
    values = query_driver(",".join(fields)) if has_gpu() else []
    if len(values) != len(fields):
        return None
    sm, memory, power, throttle = values
    return {
        "sm_mhz": number_or_none(sm),
        "mem_mhz": number_or_none(memory),
        "power_limit_w": number_or_none(power),
        "throttle": throttle,
    }


def number_or_none(text: str) -> float | None:
    """What the driver gives as a number; None for its "[N/A]"."""
    try:
        return float(text)
    except ValueError:
        return None


def query_driver(fields: str) -> list[str]:
    """What nvidia-smi gives for the first GPU, field by field; empty where it does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    command = [program, f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    answer = subprocess.run(command, capture_output=True, text=True)
    first_gpu = (
        answer.stdout.splitlines()[0] if answer.returncode == 0 and answer.stdout.strip() else ""
    )
    return [value.strip() for value in first_gpu.split(",")] if first_gpu else []


def kernels_of(lab: ModuleType) -> list[Row]:
    """What the compiler made in this process of the kernels of the lab."""
    rows = []
    for value in list(vars(lab).values()):
        kernel = value.fn if isinstance(value, triton.runtime.Autotuner) else value
        caches = getattr(kernel, "device_caches", {}).values()
        rows += [kernel_row(compiled) for cache in caches for compiled in cache[0].values()]
    return rows


def kernel_row(compiled: Any) -> Row:
    """Signature, aligned arguments, options, and a hash of the PTX or of AMD's assembly.

    Of the rarer options only those that differ from the default.
    """
    names, metadata = list(compiled.src.signature), compiled.metadata
    code = compiled.asm.get("ptx") or compiled.asm.get("amdgcn")
    defaults = vars(triton.compiler.make_backend(metadata.target).parse_options({}))
    rarer = [
        name
        for name, value in defaults.items()
        if name not in ("num_warps", "num_stages") and not isinstance(value, tuple)
    ]
    return {
        "kernel": compiled.name,
        "signature": compiled.src.signature,
        "constants": {
            names[place[0]]: str(value) for place, value in compiled.src.constants.items()
        },
        "aligned": [
            names[place[0]] for place, attributes in compiled.src.attrs.items() if attributes
        ],
        "num_warps": metadata.num_warps,
        "num_stages": metadata.num_stages,
        "shared_bytes": metadata.shared,
        "registers": getattr(compiled, "n_regs", None),
        "spills": getattr(compiled, "n_spills", None),
        "code_sha256": hashlib.sha256(code.encode()).hexdigest(),
        "options": {
            name: getattr(metadata, name)
            for name in rarer
            if getattr(metadata, name, defaults[name]) != defaults[name]
        },
    }


def companions_of(lab_path: Path) -> dict[str, str]:
    """The text of each companion that the lab imports, by name; a bundle holds them itself."""
    if __name__ != "judge":
        return {}
    folder = Path(__file__).resolve().parent
    texts: dict[str, str] = {}
    waiting = [lab_path]
    while waiting:
        text = waiting.pop().read_text(encoding="utf-8-sig")
        for name in re.findall(r"^\s*from (\w+) import", text, re.M):
            path = folder / f"{name}.py"
            if path.is_file() and path.name not in texts:
                texts[path.name] = path.read_text(encoding="utf-8-sig")
                waiting.append(path)
    return dict(sorted(texts.items()))


# --8<-- [end:record]


# --8<-- [start:main]
# %% The command line.
def judge_lab(lab: ModuleType) -> int:
    """Judge every claim, then every seeded bug, or those that the command line names.

    Returns the exit status: 0 if all hold, 1 if one fails, 2 if nothing can be judged here.
    """
    args = parse_arguments(lab)
    facts = surroundings()
    claims = [
        c
        for c in lab.CLAIMS
        if chosen(c.id, args.only, args.bug) and (c.kind == "ratio" or not args.bench)
    ]
    bugs = [b for b in lab.BUGS if chosen(b.name, args.bug, args.only) and not args.bench]
    refusal = cannot_judge(facts, claims, bugs, args.bench)
    if refusal:
        print(f"{lab_stem(lab)}.py: {refusal}", file=sys.stderr)
        return 2
    show_on = sys.stderr if args.json else sys.stdout
    names = [
        facts["device"]["name"],
        *(f"{name} {facts['environment'][name]}" for name in ("torch", "triton")),
    ]
    print(" · ".join(names), file=show_on, flush=True)
    before, rows = clocks(), []
    with tempfile.TemporaryDirectory() as folder:
        for claim in claims:
            rows.append(announced(claim.id, partial(judge_claim, lab, claim), show_on))
        for bug in bugs:
            rows.append(announced(bug.name, partial(judge_bug, lab, bug, Path(folder)), show_on))
    if args.json:
        print(json.dumps(without_nan(record(lab, facts, rows, before))))
    return int(any(row["verdict"] not in ("ok", "-") for row in rows))


def parse_arguments(lab: ModuleType) -> argparse.Namespace:
    """--json, --bench, --only ID, --bug NAME. A notebook has no command line of its own."""
    short = short_name(lab)

    def without_lab(name: str) -> str:
        return name.removeprefix(f"{short}.").removesuffix(".bug")

    parser = argparse.ArgumentParser(
        prog=f"{lab_stem(lab)}.py", description=(lab.__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--json", action="store_true", help="the same as data, for proof record --from FILE"
    )
    parser.add_argument(
        "--bench", action="store_true", help="only the claims about speed, on a GPU"
    )
    parser.add_argument(
        "--only",
        metavar="ID",
        type=without_lab,
        choices=[c.id for c in lab.CLAIMS],
        help="one claim",
    )
    parser.add_argument(
        "--bug",
        metavar="NAME",
        type=without_lab,
        choices=[b.name for b in lab.BUGS],
        help="one bug",
    )
    return parser.parse_args(None if lab_file(lab) else [])


def chosen(name: str, wanted: str | None, other: str | None) -> bool:
    """Whether a row is asked for: the named one, or all while nothing is named."""
    return name == wanted if wanted else not other


def cannot_judge(facts: Row, claims: list[Claim], bugs: list[Bug], bench: bool) -> str:
    """Why nothing can be judged here, with the way out; empty if something can."""
    only_compiler = facts["device"]["kind"] == "compiler"
    if only_compiler and (bugs or any(claim.judges != "compile" for claim in claims)):
        return (
            "no GPU is visible and TRITON_INTERPRET=0 forbids the interpreter:"
            " unset it, or name one claim of the compiler with --only"
        )
    if INTERPRETED and bench:
        return "--bench needs a GPU: the interpreter's speed says nothing about a kernel"
    numpy = facts["environment"]["numpy"]
    if INTERPRETED and triton.__version__.startswith("3.6.") and version_tuple(numpy) >= (2, 4):
        return (
            "the interpreter of Triton 3.6 fails with NumPy 2.4 and later: pip install 'numpy<2.4'"
        )
    return ""


def version_tuple(version: str) -> tuple[int, ...]:
    """(2, 4) of 2.4.1."""
    return tuple(int(part) for part in version.split(".")[:2])


def announced(name: str, judge: Callable[[], Row], show_on: Any) -> Row:
    """The row, printed as a line; whoever waits longer than two seconds sees what for."""
    waiting = threading.Timer(2, print, [f"  …         {name}"], {"file": show_on, "flush": True})
    waiting.start()
    row = judge()
    waiting.cancel()
    print(line(row), file=show_on, flush=True)
    return row


def record(lab: ModuleType, facts: Row, rows: list[Row], clocks_before: Row | None) -> Row:
    """What --json prints."""
    now = datetime.datetime.now(datetime.UTC)
    path = lab_file(lab)
    return {
        "schema": SCHEMA,
        "lab": lab_stem(lab),
        **facts,
        "clocks": {"before": clocks_before, "after": clocks()} if clocks_before else None,
        "utc": now.isoformat(timespec="seconds"),
        "command": " ".join(["python", f"{lab_stem(lab)}.py", *sys.argv[1:]]),
        "claims": rows,
        "kernels": kernels_of(lab),
        "source": path.read_text(encoding="utf-8-sig") if path else "",
        "companions": companions_of(path) if path else {},
    }


def without_nan(data: Row) -> Row:
    """The same as strict JSON, with null for what is not a finite number."""
    plain: Row = json.loads(json.dumps(data), parse_constant=lambda _: None)
    return plain


def open_cache() -> None:
    """Where Triton's cache cannot be written, compile into a temporary folder, and print that."""
    folder = triton.knobs.cache.dir
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        print(
            f"{folder} cannot be written: compiling into a temporary folder;"
            " TRITON_CACHE_DIR names a better one",
            file=sys.stderr,
        )
        os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()


def run_program(command: Callable[[], int]) -> None:
    """Run a command and exit with its status. Ctrl-C and a closed pipe end it quietly."""
    if sys.stdout is None:
        stop("standard output is closed: nothing could be shown; send it to a file or to /dev/null")
    if sys.flags.optimize:
        stop("python -O leaves out the assertions that a lab checks with: run it without -O")
    for stream in (sys.stdout, sys.stderr):  # a terminal of ASCII gets every line
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        open_cache()
        sys.exit(command())
    except (KeyboardInterrupt, BrokenPipeError):
        os._exit(130)


def main(lab: ModuleType) -> None:
    """What every lab ends in: `main(sys.modules[__name__])`."""
    run_program(lambda: judge_lab(lab))


# --8<-- [end:main]
