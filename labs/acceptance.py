"""What a function has to show before it ships: a function of your own, and the checks of it.

A function is judged against a reference that gets the same numbers in float64. Each check sees one
thing, says it in a few words, or raises `Fails`. `harness.py` runs the checks in child processes.
"""

import contextlib
import dataclasses
import functools
import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
import triton

from judge import DEVICE, INTERPRETED, Guards, benchmark_pair, compare
from claims import Row

DTYPE_NAMES = ("float32", "float16") + (() if INTERPRETED else ("bfloat16",))
SHAPES_ANYWHERE = ("1x1", "3x17", "2x1000", "5x1025")
SHAPES_ON_GPU = ("4096x4096", "16384x1000", "4x65536")
SHAPES = SHAPES_ANYWHERE + (() if INTERPRETED else SHAPES_ON_GPU)
LONG = 4096 if INTERPRETED else 16_384  # of one row, for what only long sums show
LENGTHS = (97, 100, 101, 103, 107, 112, 117, 120, 123, 127)  # none should cost a compile of its own

Function = Callable[..., Any]
Shape = tuple[int, ...]


# %% What is to be accepted, and how results are looked at.
# --8<-- [start:own]
def normal(
    shape: Shape, dtype: torch.dtype, generator: torch.Generator
) -> tuple[torch.Tensor, ...]:
    """The arguments of a function of one tensor: numbers of a normal distribution."""
    return (torch.randn(shape, generator=generator, device=DEVICE).to(dtype),)


@dataclasses.dataclass(frozen=True)
class Own:
    """A function to be judged, and everything that it is judged with."""

    op: Function
    reference: Function
    shapes: list[Shape]
    dtypes: list[torch.dtype]
    inputs: Function = normal  # inputs(shape, dtype, generator) gives the arguments
    baseline: Function | None = None  # what the speed is measured against
    fallback: Function | None = None  # what runs where the op cannot
    workload: Function | None = None  # workload(op) runs the whole task with op or baseline
    slack: int = 64  # roundings of fp32 that the bound allows besides the one to the dtype
    speed: float = 1.0  # the least speed against the baseline
    runs: int = 10  # how often the same inputs must give the same bits


def own(
    op: Function,
    reference: Function,
    shapes: Sequence[str] = SHAPES,
    dtypes: Sequence[str] = DTYPE_NAMES,
    **more: Any,
) -> Own:
    """An Own with shapes such as "64x4096" and dtypes such as "float16"."""
    sizes = [tuple(map(int, shape.split("x"))) for shape in shapes]
    return Own(op, reference, sizes, [getattr(torch, name) for name in dtypes], **more)


class Fails(Exception):
    """What a check saw, and did not allow."""


class Unanswered(Fails):
    """The reference has no answer."""


class Refused(Exception):
    """The op says plainly, by ValueError or TypeError, that it does not take this."""


def make_arguments(it: Own, shape: Shape, dtype: torch.dtype, seed: int = 0) -> list[Any]:
    """The op's arguments, the same for the same seed."""
    arguments = it.inputs(shape, dtype, torch.Generator(DEVICE).manual_seed(seed))
    return [arguments] if isinstance(arguments, torch.Tensor) else list(arguments)


def guarded_arguments(
    it: Own, guards: Guards, shape: Shape, dtype: torch.dtype, seed: int = 0
) -> list[Any]:
    """The same, each tensor between guards."""
    arguments = make_arguments(it, shape, dtype, seed)
    return [guards.in_place(a) if isinstance(a, torch.Tensor) else a for a in arguments]


def as_tensors(result: Any) -> list[torch.Tensor]:
    """What a function returned, as a list of tensors. Raises Fails for anything else."""
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    if not all(isinstance(t, torch.Tensor) for t in results):
        raise Fails("returns something else than tensors")
    return results


def exact(it: Own, arguments: Sequence[Any]) -> list[torch.Tensor]:
    """The reference's results, from the same numbers in float64."""
    wide = [
        a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in arguments
    ]
    try:
        return as_tensors(it.reference(*wide))
    except Fails as error:
        raise Unanswered(f"the reference {error}") from None
    except Exception as error:
        reason = first_line(error)
        raise Unanswered(f"the reference raises {type(error).__name__}: {reason}") from error


def first_line(error: BaseException) -> str:
    """The first line of what an exception says."""
    return (str(error).splitlines() or [""])[0]


def call(it: Own, *arguments: Any) -> list[torch.Tensor]:
    """The op's results, copied, since the next call may write into the same memory.

    Fresh memory is full of NaN meanwhile. Raises Refused when the op refuses the arguments, Fails
    when it cannot be called with so many.
    """
    misfit = why_not_callable(it.op, arguments)
    with dirty_memory():
        try:
            return [t.clone() for t in as_tensors(it.op(*arguments))]
        except (ValueError, TypeError) as error:
            if misfit:
                raise Fails(misfit) from None
            raise Refused(first_line(error) or type(error).__name__) from error


def why_not_callable(op: Function, arguments: Sequence[Any]) -> str:
    """Why a function cannot take so many arguments; empty if it can, or does not tell.

    A wrapper may show the signature of what it wraps, and give the rest itself; hence it is called
    all the same.
    """
    try:
        inspect.signature(op).bind(*arguments)
    except TypeError as error:
        return f"cannot be called with {len(arguments)} arguments: {error}"
    except ValueError:  # what is written in C need not tell its signature
        pass
    return ""


@contextlib.contextmanager
def dirty_memory() -> Iterator[None]:
    """Inside, memory that nobody wrote holds NaN, so that what the op leaves out shows."""
    torch.use_deterministic_algorithms(True, warn_only=True)  # fills what torch.empty returns
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def relative_error(
    got: Sequence[torch.Tensor],
    want: Sequence[torch.Tensor],
    dtype: torch.dtype,
    rounded: bool = False,
) -> float:
    """How far results are from their references, as a part of the largest |reference|.

    With `rounded` the reference is first rounded to the result's dtype. Raises Fails for another
    form, and for NaN and inf where the reference has none, or the other way round.
    """
    dtypes = [dtype if t.is_floating_point() else t.dtype for t in want]
    form = described_form((t.shape, t.dtype) for t in got)
    wanted = described_form((t.shape, d) for t, d in zip(want, dtypes, strict=True))
    if form != wanted:
        raise Fails(f"returns {form}; the reference has {wanted}")
    pairs = zip(got, want, strict=True)
    comparison = compare((g, w.to(g.dtype) if rounded else w) for g, w in pairs)
    if comparison.nonfinite:
        raise Fails(
            f"{comparison.nonfinite} results are NaN or infinite where the reference is not,"
            " or the other way round"
        )
    return comparison.max_rel_err


def described_form(tensors: Iterator[tuple[torch.Size, torch.dtype]]) -> str:
    """Shapes and dtypes of results: "(3, 17) float32, (3,) int64"."""
    each = [f"{tuple(shape)} {dtype_name(dtype)}" for shape, dtype in tensors]
    return ", ".join(each) or "nothing"


def dtype_name(dtype: torch.dtype) -> str:
    """float32, for torch.float32."""
    return str(dtype).removeprefix("torch.")


def allowed(it: Own, dtype: torch.dtype) -> float:
    """Half a unit in the last place of the dtype, and `slack` roundings in fp32 before it."""
    return torch.finfo(dtype).eps / 2 + it.slack * 2**-24


def large(dtype: torch.dtype) -> float:
    """Large for the dtype, and small enough that the squares of a row still add up in fp32."""
    return min(float(torch.finfo(dtype).max) / 8, 2.0**56)


def require_within(it: Own, error: float, dtype: torch.dtype, where: str = "") -> None:
    """Raises Fails for an error that is not allowed."""
    if not error <= allowed(it, dtype):
        bound = f"{allowed(it, dtype):.2g}"
        raise Fails(f"off by {error:.2g} of the largest result, allowed {bound}{where}")


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors are the same, bit for bit."""
    as_bytes_of = (t.contiguous().view(-1).view(torch.uint8) for t in (a, b))
    return a.shape == b.shape and torch.equal(*as_bytes_of)
    # --8<-- [end:own]


# %% The checks. Each returns what it saw, or raises Fails or Refused; None means: needs a GPU.
# --8<-- [start:checks]
def each_dtype(
    check: Callable[[Own, Guards, torch.dtype], str],
) -> Callable[[Own, Guards], str]:
    """The check, once for each dtype; one that is refused is told, and one must be taken."""

    @functools.wraps(check)
    def every(it: Own, guards: Guards) -> str:
        taken, refused = [], []
        for dtype in it.dtypes:
            try:
                taken.append(f"{dtype_name(dtype)} {check(it, guards, dtype)}")
            except Refused as error:
                refused.append(error)
        if not taken:
            raise refused[0]
        return ", ".join(taken) + (f"; refuses the rest: {refused[0]}" if refused else "")

    return every


@each_dtype
def accuracy(it: Own, guards: Guards, dtype: torch.dtype) -> str:
    """Every shape and five seeds against the reference in float64."""
    worst = 0.0
    for shape in it.shapes:
        for seed in range(5 if math.prod(shape) < 1e6 else 1):
            arguments = guarded_arguments(it, guards, shape, dtype, seed)
            want = exact(it, arguments)  # first: the op may spoil its input
            error = relative_error(call(it, *arguments), want, dtype)
            require_within(it, error, dtype, f", at {shape} in {dtype}")
            worst = max(worst, error)
    return f"{worst:.1e} of {allowed(it, dtype):.1e}"


@each_dtype
def untouched(it: Own, guards: Guards, dtype: torch.dtype) -> str:
    """Inputs, and the memory on both sides of them, keep every bit."""
    for shape in it.shapes[:4]:
        around = Guards()
        arguments = guarded_arguments(it, around, shape, dtype)
        tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
        before = [t.clone() for t in tensors]
        call(it, *arguments)
        if not all(map(same_bits, tensors, before)):
            raise Fails(f"changes its input, at {shape}")
        if not around.untouched():
            raise Fails(f"writes beside its input, at {shape}")
    return "unchanged"


def one_element_on(x: torch.Tensor) -> torch.Tensor:
    """The same values one element further on in memory, so that they are not aligned."""
    room = torch.cat([x.new_full((1,), math.nan), x.flatten()])
    return room[1:].view(x.shape)


VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {  # around some of them lies NaN
    "transposed": lambda x: x.t().contiguous().t(),
    "every second column": lambda x: x.repeat_interleave(2, 1)[:, ::2],
    "first columns": lambda x: torch.cat([x, torch.full_like(x, math.nan)], 1)[:, : x.shape[1]],
    "one element on": one_element_on,
    "one row expanded": lambda x: x[:1].expand(x.shape),
}


def strides(it: Own, guards: Guards) -> str:
    """Views give what contiguous copies give, or are refused."""
    dtype, refused = it.dtypes[0], []
    for name, view in VIEWS.items():
        arguments = make_arguments(it, (6, 40), dtype)
        viewed = [view(a) if isinstance(a, torch.Tensor) and a.ndim == 2 else a for a in arguments]
        want = exact(it, viewed)
        try:
            error = relative_error(call(it, *viewed), want, dtype)
            require_within(it, error, dtype, f", for a view: {name}")
        except Refused as refusal:
            refused.append(f"{name} ({refusal})")
    taken = ["as contiguous copies"] if len(refused) < len(VIEWS) else []
    return "; ".join(taken + ([f"refuses: {', '.join(refused)}"] if refused else []))


@each_dtype
def special(it: Own, guards: Guards, dtype: torch.dtype) -> str:
    """NaN, infinities and large numbers end where the reference has them, and in no other row."""
    plain = guarded_arguments(it, guards, (12, 33), dtype)
    if not isinstance(plain[0], torch.Tensor) or plain[0].ndim != 2:
        return "not a row operation"
    mixed = [plain[0].clone(), *plain[1:]]
    set_special_rows(mixed[0], dtype)
    want = exact(it, mixed)  # first: the op may spoil its input
    got = call(it, *mixed)
    error = relative_error(got, want, dtype, rounded=True)
    require_within(it, error, dtype, ", with special values among the rows")
    for a, b in zip(got, call(it, *plain), strict=False):
        if a.ndim and a.shape[0] == 12 and not same_bits(a[1::2], b[1::2]):
            raise Fails("special values in some rows change others")
    return "as the reference"


def set_special_rows(x: torch.Tensor, dtype: torch.dtype) -> None:
    """Special values into every second row of 12."""
    x[0] = -math.inf
    x[2, 7] = math.inf
    x[4, 7] = math.nan
    x[6] = 0
    x[8] = large(dtype) * torch.linspace(0.25, 1, 33, device=DEVICE)
    x[10, ::2] = -math.inf


@each_dtype
def long_sums(it: Own, guards: Guards, dtype: torch.dtype) -> str:
    """A long row of one sign: what a narrow accumulator loses; large: what overflows on the way."""
    worst = 0.0
    for scale in (1.0, large(dtype)):
        arguments = guarded_arguments(it, guards, (2, LONG), dtype)
        if isinstance(arguments[0], torch.Tensor):
            arguments[0] = arguments[0].abs().clamp(0.25, 1) * scale
        want = exact(it, arguments)
        error = relative_error(call(it, *arguments), want, dtype, rounded=True)
        require_within(it, error, dtype, f", for {LONG} numbers of one sign, up to {scale:.2g}")
        worst = max(worst, error)
    return f"{worst:.1e} of {allowed(it, dtype):.1e}"


def repeats(it: Own, guards: Guards) -> str:
    """The same inputs give the same bits, every time."""
    arguments = guarded_arguments(it, guards, it.shapes[-1], it.dtypes[0])
    first = call(it, *arguments)
    others = sum(not all(map(same_bits, first, call(it, *arguments))) for _ in range(it.runs))
    if others:
        raise Fails(f"{others} of {it.runs} runs give other bits than the first")
    return f"{it.runs} runs, one result"


def empty(it: Own, guards: Guards) -> str:
    """No rows, and rows of nothing: results of the right form, or a refusal."""
    refused, answered = [], False
    for shape in ((0, 5), (3, 0)):
        arguments = make_arguments(it, shape, it.dtypes[0])
        try:
            want = exact(it, arguments)
        except Unanswered:
            continue
        answered = True
        try:
            relative_error(call(it, *arguments), want, it.dtypes[0])
        except Refused:
            refused.append(written(shape))
        except ValueError:  # of nothing, nothing can be compared
            pass
    if not answered:
        return "the reference has no answer"
    return "right form" + (f"; refuses {', '.join(refused)}" if refused else "")


def written(shape: Shape) -> str:
    """3×17."""
    return "×".join(map(str, shape))


def gradient(it: Own, guards: Guards) -> str:
    """A result that forgot that its input wants a gradient is wrong without a word."""
    arguments = [
        a.clone().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in guarded_arguments(it, guards, (3, 17), it.dtypes[0])
    ]
    got = call(it, *arguments)
    if not any(t.is_floating_point() for t in got):
        return "no result that could have one"
    if not any(t.requires_grad for t in got):
        raise Fails("takes an input that requires a gradient, and returns a result without one")
    return "kept"


def fallback(it: Own, guards: Guards) -> str | None:
    """The path that is taken when the op cannot be agrees with it."""
    if it.fallback is None:
        return None
    worst = 0.0
    for shape in it.shapes[:4]:
        arguments = guarded_arguments(it, guards, shape, it.dtypes[0])
        got, other = call(it, *arguments), as_tensors(it.fallback(*arguments))
        error = relative_error(got, [t.double() for t in other], it.dtypes[0])
        # each of the two may be off by the bound
        where = f", between the op and its fallback, at {shape}"
        require_within(it, error / 2, it.dtypes[0], where)
        worst = max(worst, error)
    return f"{worst:.1e} apart"


def compiles(it: Own, guards: Guards) -> str | None:
    """After one call for each shape nothing compiles again; a new length costs no compile."""
    if DEVICE != "cuda":
        return None
    done: list[int] = []

    def compiles_for(shapes: Sequence[Shape]) -> int:
        before = len(done)
        for shape in shapes:
            call(it, *guarded_arguments(it, guards, shape, it.dtypes[0]))
        return len(done) - before

    with triton.knobs.compilation.scope():
        triton.knobs.compilation.listener = lambda **_: done.append(1)
        first, again = compiles_for(it.shapes), compiles_for(it.shapes)
        lengths = compiles_for([(3, length) for length in LENGTHS])
    if again:
        raise Fails(f"{again} compiles for shapes that were seen before")
    if lengths > len(LENGTHS) // 2:
        raise Fails(f"{lengths} compiles for {len(LENGTHS)} new lengths")
    shapes = f"{first} for {len(it.shapes)} shapes"
    return f"{shapes}, {lengths} for {len(LENGTHS)} new lengths, 0 again"


def memory(it: Own, guards: Guards) -> str | None:
    """What a call takes besides its results: no more than its inputs and results together."""
    if DEVICE != "cuda":
        return None
    largest = max(it.shapes, key=math.prod)
    arguments = guarded_arguments(it, guards, largest, it.dtypes[0])
    it.op(*arguments)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result = as_tensors(it.op(*arguments))
    extra = max(0, torch.cuda.max_memory_allocated() - before - total_bytes(result))
    needed = total_bytes(arguments) + total_bytes(result)
    if extra > needed:
        raise Fails(
            f"takes {extra >> 20} MiB on the way, for {needed >> 20} MiB of inputs and results"
        )
    return f"{extra / 2**20:.1f} MiB on the way"


def total_bytes(values: Sequence[Any]) -> int:
    """The bytes of all tensors among these."""
    return sum(t.numel() * t.element_size() for t in values if isinstance(t, torch.Tensor))


def speed(it: Own, guards: Guards) -> str | None:
    """Each larger shape against the baseline, in turns: not slower in every round."""
    if DEVICE != "cuda" or it.baseline is None:
        return None
    ratios = []
    for shape in [s for s in it.shapes if math.prod(s) >= 2**18] or it.shapes[-1:]:
        arguments = guarded_arguments(it, guards, shape, it.dtypes[0])
        op, baseline = (functools.partial(f, *arguments) for f in (it.op, it.baseline))
        ratio = benchmark_pair(("op", op), ("baseline", baseline), rounds=3)
        ratios.append(f"{written(shape)} {ratio.value:.2f}×")
        if ratio.high < it.speed:
            raise Fails(f"{ratio.value:.2f} × the baseline at {shape}, asked for {it.speed}")
    return ", ".join(ratios)


def gain(it: Own, guards: Guards) -> str | None:
    """The whole workload with the op and with the baseline."""
    if DEVICE != "cuda" or it.workload is None or it.baseline is None:
        return None
    op, baseline = (functools.partial(it.workload, f) for f in (it.op, it.baseline))
    ratio = benchmark_pair(("op", op), ("baseline", baseline), rounds=3)
    if ratio.high < 1:
        raise Fails(f"the workload runs at {ratio.value:.2f} × its speed with the baseline")
    return f"the workload at {ratio.value:.2f}×"


CHECKS: dict[str, Callable[[Own, Guards], str | None]] = {
    "accuracy": accuracy,
    "untouched": untouched,
    "strides": strides,
    "special": special,
    "long_sums": long_sums,
    "repeats": repeats,
    "empty": empty,
    "gradient": gradient,
    "fallback": fallback,
    "compiles": compiles,
    "memory": memory,
    "speed": speed,
    "gain": gain,
}
# --8<-- [end:checks]


# %% The report: one line for each check.
# --8<-- [start:report]
def judge_check(it: Own, name: str) -> Row:
    """One line of the report: the check, its verdict and what it saw.

    The verdict is "ok", "fails", or "-" for what cannot be judged here.
    """
    try:
        seen = CHECKS[name](it, Guards())
    except Fails as error:
        return report_row(name, "fails", str(error))
    except Refused as error:
        # to refuse an input that wants a gradient is an answer; elsewhere something must be taken
        return report_row(name, "ok" if name == "gradient" else "fails", f"refuses: {error}")
    except (Exception, SystemExit) as error:
        lines = str(error).strip().splitlines() or [""]
        # the compiler says where first, and why last
        reason = lines[-1] if isinstance(error, triton.CompilationError) else lines[0]
        return report_row(name, "fails", f"raises {type(error).__name__}: {reason}")
    if not seen:
        return report_row(name, "-", why_not_judged(it, name))
    return report_row(name, "ok", seen)


def report_row(check: str, verdict: str, seen: str) -> Row:
    return {"check": check, "verdict": verdict, "seen": seen}


def why_not_judged(it: Own, name: str) -> str:
    """Why a check was not made."""
    wanted = {
        "fallback": (it.fallback, "--fallback"),
        "speed": (it.baseline, "--baseline"),
        "gain": (it.workload, "--workload and --baseline"),
    }
    function, options = wanted.get(name, (True, ""))
    return f"give {options}" if function is None else "needs a GPU"


def accept(it: Own) -> list[Row]:
    """Every check, in this process."""
    return [judge_check(it, name) for name in CHECKS]
    # --8<-- [end:report]
