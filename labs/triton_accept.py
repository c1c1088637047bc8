# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Acceptance: what a kernel has to show before it ships, as a harness for your own.

Learn:   what to check besides one shape's speed: dtypes, edges, strides, special values, overflow, repeats, compiles, memory
Run:     python triton_accept.py           every claim, then every break
         python triton_accept.py my.py:op --reference my.py:exact   your own function, a line a check; --help names the rest
Memory:  2 GiB
Card:    any NVIDIA card since Ampere, any AMD card of CDNA or RDNA 3; with none, Triton's interpreter
Minutes: 1
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import contextlib
import functools
import importlib
import os
import re
import select
import sys
import types

import torch

if not torch.cuda.is_available():
    os.environ.setdefault(
        "TRITON_INTERPRET", "1"
    )  # TRITON_INTERPRET=0 keeps the compiler, which needs no GPU
os.environ.setdefault(
    "TRITON_DEFAULT_FP_FUSION", "1"
)  # the default turns to 0 in Triton 3.10: say which one is meant
os.environ.setdefault(
    "TRITON_DISABLE_LINE_INFO", "1"
)  # then the PTX does not depend on where this file lies
try:
    import triton
    import triton.language as tl
except ImportError:
    print("this lab needs Triton, which exists for Linux: pip install triton", file=sys.stderr)
    sys.exit(2)

INTERPRETED = triton.knobs.runtime.interpret
DEVICE = "cpu" if INTERPRETED else "cuda"

MAX_COLS = 65_536  # one program holds a row
DTYPES = ("float32", "float16") + (
    () if INTERPRETED else ("bfloat16",)
)  # the interpreter gets bf16 wrong
SHAPES = ("1x1", "3x17", "2x1000", "5x1025") + (
    () if INTERPRETED else ("4096x4096", "16384x1000", "4x65536")
)
LONG = 4096 if INTERPRETED else 16_384  # of one row, for what only long sums show
LENGTHS = (
    97,
    100,
    101,
    103,
    107,
    112,
    117,
    120,
    123,
    127,
)  # none of which should cost a compile of its own
QUESTIONS = (
    "Who mends it when a new Triton, a new card or a new shape comes?",
    "Which test goes red when it breaks, and does that test run on a GPU?",
    "How is it switched off in production, and was that tried?",
    "What would make it unnecessary, and who looks for that?",
)


# %% A good kernel, to be accepted: the logarithm of the sum of the exponentials of each row, as the library has it.
# --8<-- [start:reference]
def reference(x):
    return torch.logsumexp(x, dim=1)


# --8<-- [end:reference]


# --8<-- [start:kernel]
@triton.jit
def logsumexp_kernel(x_ptr, out_ptr, n_cols, stride_xm, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE], a power of two and at least n_cols
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    top = tl.where(
        tl.abs(top) == float("inf"), 0.0, top
    )  # inf - inf is NaN, and exp(inf) and exp(-inf) are right as they are
    total = tl.sum(tl.exp(x - top), axis=0)
    tl.store(out_ptr + row, tl.log(total) + top)


# --8<-- [end:kernel]


# --8<-- [start:launch]
def logsumexp(x: torch.Tensor) -> torch.Tensor:
    """Return log(sum(exp(row))) of each row of the 2-D tensor x, in its dtype. The elements of a row lie side by side.

    A row with NaN is NaN, one of -inf alone is -inf, one with +inf is +inf. Raises TypeError for a dtype, ValueError for
    the rest; bfloat16 is refused in the interpreter, which truncates to it.
    """
    if not isinstance(x, torch.Tensor) or x.layout != torch.strided or x.is_neg():
        raise TypeError(
            f"x is {type(x).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory"
        )
    if x.requires_grad and torch.is_grad_enabled():
        raise ValueError("x requires a gradient, and this kernel has no backward: pass x.detach()")
    if str(x.dtype).removeprefix("torch.") not in DTYPES or (
        INTERPRETED and x.dtype == torch.bfloat16
    ):
        raise TypeError(f"x is {x.dtype}; allowed: float32, float16 and, on a GPU, bfloat16")
    if x.device.type != DEVICE:
        raise ValueError(f"x is on {x.device}; this run needs it on a {DEVICE} device")
    if x.ndim != 2 or x.shape[0] >= 2**31:
        raise ValueError(f"x is {tuple(x.shape)}; it must be 2-D with fewer than 2**31 rows")
    n_rows, n_cols = x.shape
    if not 0 < n_cols <= MAX_COLS:
        raise ValueError(
            f"x has {n_cols:,} columns; allowed: 1 to {MAX_COLS:,}, what one program can hold"
        )
    if n_cols > 1 and x.stride(1) != 1:
        raise ValueError(
            f"x has strides {x.stride()}, and this kernel reads a row straight on: pass x.contiguous()"
        )
    out = torch.empty(n_rows, dtype=x.dtype, device=x.device)
    if n_rows:
        block = triton.next_power_of_2(n_cols)
        with torch.cuda.device_of(x):  # a launch goes to the current device, not to the tensor's
            logsumexp_kernel[(n_rows,)](
                x,
                out,
                n_cols,
                x.stride(0),
                BLOCK_SIZE=block,
                num_warps=max(1, min(32, block // 512)),
            )
    return out


# --8<-- [end:launch]


# %% What is to be accepted, and how results are looked at.
# --8<-- [start:own]
class Own(types.SimpleNamespace):
    """op and reference; inputs(shape, dtype, generator), which gives their arguments; baseline, fallback, workload or None."""


def normal(shape, dtype, generator):
    return (torch.randn(shape, generator=generator, device=DEVICE).to(dtype),)


def own(
    op,
    reference,
    inputs=normal,
    baseline=None,
    fallback=None,
    workload=None,
    shapes=SHAPES,
    dtypes=DTYPES,
    slack=64,
    speed=1.0,
    runs=10,
):
    """`slack` is how many roundings of fp32 the bound allows besides the one to the dtype; `speed` the least against the baseline."""
    shapes = [tuple(map(int, shape.split("x"))) for shape in shapes]
    dtypes = [getattr(torch, name) for name in dtypes]
    return Own(
        op=op,
        reference=reference,
        inputs=inputs,
        baseline=baseline,
        fallback=fallback,
        workload=workload,
        shapes=shapes,
        dtypes=dtypes,
        slack=slack,
        speed=speed,
        runs=runs,
    )


class Fails(Exception):
    """What a check saw, and did not allow."""


class Unanswered(Fails):
    """The reference has no answer."""


class Refused(Exception):
    """The op says plainly, by ValueError or TypeError, that it does not take this."""


def given(it, shape, dtype, seed=0):
    arguments = it.inputs(shape, dtype, torch.Generator(DEVICE).manual_seed(seed))
    return [arguments] if isinstance(arguments, torch.Tensor) else list(arguments)


def draw(it, shape, dtype, seed=0):
    """The op's arguments, each tensor between guards."""
    arguments = given(it, shape, dtype, seed)
    return [fence(a.contiguous()) if isinstance(a, torch.Tensor) else a for a in arguments]


def exact(it, arguments):
    """The reference's results, from the same numbers in float64."""
    wide = [
        a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in arguments
    ]
    try:
        return listed(it.reference(*wide))
    except Fails as error:
        raise Unanswered(f"the reference {error}") from None
    except Exception as error:
        raise Unanswered(
            f"the reference raises {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
        ) from error


def listed(result):
    result = (
        [result]
        if isinstance(result, torch.Tensor)
        else list(result)
        if isinstance(result, (tuple, list))
        else None
    )
    if result is None or not all(isinstance(t, torch.Tensor) for t in result):
        raise Fails("returns something else than tensors")
    return result


def call(it, *arguments):
    """The op's results, with fresh memory full of NaN; Refused when it refuses, Fails with what else it raises."""
    unfit = None
    try:
        inspect.signature(it.op).bind(*arguments)
    except (
        TypeError
    ) as error:  # a wrapper may show the signature of what it wraps, and give the rest itself
        unfit = f"cannot be called with {len(arguments)} arguments: {error}"
    except ValueError:
        pass  # what is written in C need not tell its signature
    with dirty():
        try:
            return [
                t.clone() for t in listed(it.op(*arguments))
            ]  # the next call may write into the same memory
        except (ValueError, TypeError) as error:
            if unfit:
                raise Fails(unfit) from None
            raise Refused(
                str(error).splitlines()[0] if str(error) else type(error).__name__
            ) from error


@contextlib.contextmanager
def dirty():
    """Inside, memory that nobody wrote holds NaN, so that what the op leaves out shows."""
    torch.use_deterministic_algorithms(True, warn_only=True)  # which fills what torch.empty returns
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def off(it, got, want, dtype, rounded=False):
    """How far got is from want, as a part of the largest |want|. Raises Fails for another form, or NaN and inf elsewhere."""
    given, needed = (
        [(tuple(t.shape), t.dtype) for t in got],
        [(tuple(t.shape), dtype if t.is_floating_point() else t.dtype) for t in want],
    )
    if given != needed:
        forms = [
            ", ".join(f"{shape} {str(d).removeprefix('torch.')}" for shape, d in each) or "nothing"
            for each in (given, needed)
        ]
        raise Fails(f"returns {forms[0]}; the reference has {forms[1]}")
    row = compare((g, w.to(g.dtype) if rounded else w) for g, w in zip(got, want))
    if row["nonfinite"]:
        raise Fails(
            f"{row['nonfinite']} results are NaN or infinite where the reference is not, or the other way round"
        )
    return row["max_rel_err"]


def allowed(it, dtype):
    """Half a unit in the last place of the dtype, for rounding the result, and `slack` roundings in fp32 before it."""
    return torch.finfo(dtype).eps / 2 + it.slack * 2**-24


def large(dtype):
    """Large for the dtype, and small enough that the squares of a row still add up in fp32."""
    return min(float(torch.finfo(dtype).max) / 8, 2.0**56)


def within(it, seen, dtype, where=""):
    if not seen <= allowed(it, dtype):
        raise Fails(
            f"off by {seen:.2g} of the largest result, allowed {allowed(it, dtype):.2g}{where}"
        )


# --8<-- [end:own]


# %% The checks. Each says in a few words what it saw, or raises Fails or Refused; one that yields None needs a GPU.
# --8<-- [start:checks]
def each_dtype(check):
    """The check, once for each dtype; a dtype that is refused is told, and one at least must be taken."""

    @functools.wraps(check)
    def every(it):
        said, refused = [], []
        for dtype in it.dtypes:
            try:
                said.append(f"{str(dtype).removeprefix('torch.')} {check(it, dtype)}")
            except Refused as error:
                refused.append(error)
        if not said:
            raise refused[0]
        return ", ".join(said) + (f"; refuses the rest: {refused[0]}" if refused else "")

    return every


@each_dtype
def accuracy(it, dtype):
    """Every shape and five seeds against the reference in float64."""
    worst = 0.0
    for shape in it.shapes:
        for seed in range(5 if math.prod(shape) < 1e6 else 1):
            arguments = draw(it, shape, dtype, seed)
            want = exact(it, arguments)
            worst = max(worst, seen := off(it, call(it, *arguments), want, dtype))
            within(it, seen, dtype, f", at {shape} in {dtype}")
    return f"{worst:.1e} of {allowed(it, dtype):.1e}"


@each_dtype
def untouched(it, dtype):
    """Inputs, and the memory on both sides of them, keep every bit."""
    for shape in it.shapes[:4]:
        FENCES.clear()
        arguments = draw(it, shape, dtype)
        kept = [a.clone() for a in arguments if isinstance(a, torch.Tensor)]
        call(it, *arguments)
        if any(
            not same(a, b)
            for a, b in zip((a for a in arguments if isinstance(a, torch.Tensor)), kept)
        ):
            raise Fails(f"changes its input, at {shape}")
        if any(not torch.equal(side, before) for side, before in FENCES):
            raise Fails(f"writes beside its input, at {shape}")
    return "unchanged"


def same(a, b):
    return a.shape == b.shape and torch.equal(
        *(t.contiguous().view(-1).view(torch.uint8) for t in (a, b))
    )


def strides(it):
    """Views give what contiguous copies give, or are refused."""
    dtype, said = it.dtypes[0], []
    views = {
        "transposed": lambda x: x.t().contiguous().t(),
        "every second column": lambda x: x.repeat_interleave(2, 1)[:, ::2],
        "first columns": lambda x: torch.cat([x, torch.full_like(x, math.nan)], 1)[:, : x.shape[1]],
        "one element on": lambda x: torch.cat([x.new_full((1,), math.nan), x.flatten()])[1:].view(
            x.shape
        ),
        "one row expanded": lambda x: x[:1].expand(x.shape),
    }
    for name, view in views.items():
        arguments = given(it, (6, 40), dtype)
        viewed = [view(a) if isinstance(a, torch.Tensor) and a.ndim == 2 else a for a in arguments]
        want = exact(it, viewed)
        try:
            within(it, off(it, call(it, *viewed), want, dtype), dtype, f", for a view: {name}")
        except Refused as error:
            said.append(f"{name} ({error})")
    return "; ".join(
        ["as contiguous copies"] * (len(said) < len(views))
        + [f"refuses: {', '.join(said)}"] * bool(said)
    )


@each_dtype
def special(it, dtype):
    """NaN, infinities and large numbers end where the reference has them, and leave the other rows as they were."""
    plain = draw(it, (12, 33), dtype)
    if not isinstance(plain[0], torch.Tensor) or plain[0].ndim != 2:
        return "not a row operation"
    mixed = [plain[0].clone(), *plain[1:]]
    x = mixed[0]
    x[0], x[2, 7], x[4, 7], x[6], x[8], x[10, ::2] = (
        -math.inf,
        math.inf,
        math.nan,
        0,
        large(dtype) * torch.linspace(0.25, 1, 33, device=DEVICE),
        -math.inf,
    )
    want = exact(it, mixed)
    got = call(it, *mixed)
    within(
        it, off(it, got, want, dtype, rounded=True), dtype, ", with special values among the rows"
    )
    for a, b in zip(got, call(it, *plain)):
        if a.ndim and a.shape[0] == 12 and not same(a[1::2], b[1::2]):
            raise Fails("special values in some rows change others")
    return "as the reference"


@each_dtype
def long_sums(it, dtype):
    """A long row of equal signs: what a narrow accumulator loses; and large numbers: what overflows on the way."""
    worst = 0.0
    for scale in (1.0, large(dtype)):
        arguments = draw(it, (2, LONG), dtype)
        arguments[0] = (
            arguments[0].abs().clamp(0.25, 1) * scale
            if isinstance(arguments[0], torch.Tensor)
            else arguments[0]
        )
        want = exact(it, arguments)
        worst = max(worst, seen := off(it, call(it, *arguments), want, dtype, rounded=True))
        within(it, seen, dtype, f", for {LONG} numbers of one sign, up to {scale:.2g}")
    return f"{worst:.1e} of {allowed(it, dtype):.1e}"


def repeats(it):
    """The same inputs give the same bits, every time."""
    arguments = draw(it, it.shapes[-1], it.dtypes[0])
    first = call(it, *arguments)
    others = sum(not all(map(same, first, call(it, *arguments))) for _ in range(it.runs))
    if others:
        raise Fails(f"{others} of {it.runs} runs give other bits than the first")
    return f"{it.runs} runs, one result"


def empty(it):
    """No rows, and rows of nothing: results of the right form, or a refusal."""
    said, answered = [], False
    for shape in ((0, 5), (3, 0)):
        arguments = given(it, shape, it.dtypes[0])
        try:
            want = exact(it, arguments)
        except Unanswered:
            continue
        answered = True
        try:
            off(it, [*call(it, *arguments)], want, it.dtypes[0])
        except Refused:
            said.append("×".join(map(str, shape)))
        except ValueError:
            pass
    return (
        "right form" + (f"; refuses {', '.join(said)}" if said else "")
        if answered
        else "the reference has no answer"
    )


def gradient(it):
    """A result that forgot that its input wants a gradient is wrong without a word."""
    arguments = [
        a.clone().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in draw(it, (3, 17), it.dtypes[0])
    ]
    got = call(it, *arguments)
    if not any(t.is_floating_point() for t in got):
        return "no result that could have one"
    if not any(t.requires_grad for t in got):
        raise Fails("takes an input that requires a gradient, and returns a result without one")
    return "kept"


def fallback(it):
    """The path that is taken when the op cannot be agrees with it."""
    if it.fallback is None:
        return None
    worst = 0.0
    for shape in it.shapes[:4]:
        arguments = draw(it, shape, it.dtypes[0])
        got, other = call(it, *arguments), listed(it.fallback(*arguments))
        worst = max(worst, seen := off(it, got, [t.double() for t in other], it.dtypes[0]))
        within(
            it, seen / 2, it.dtypes[0], f", between the op and its fallback, at {shape}"
        )  # each may be off by the bound
    return f"{worst:.1e} apart"


def compiles(it):
    """After one call for each shape and dtype nothing compiles again, and a new length costs no compile of its own."""
    if DEVICE != "cuda":
        return None
    done = []
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.listener = lambda **_: done.append(1)
        rounds = []
        for _ in range(2):
            before = len(done)
            for shape in it.shapes:
                call(it, *draw(it, shape, it.dtypes[0]))
            rounds.append(len(done) - before)
        before = len(done)
        for length in LENGTHS:
            call(it, *draw(it, (3, length), it.dtypes[0]))
    if rounds[1]:
        raise Fails(f"{rounds[1]} compiles for shapes that were seen before")
    if len(done) - before > len(LENGTHS) // 2:
        raise Fails(f"{len(done) - before} compiles for {len(LENGTHS)} new lengths")
    return f"{rounds[0]} for {len(it.shapes)} shapes, {len(done) - before} for {len(LENGTHS)} new lengths, 0 again"


def memory(it):
    """What a call takes besides its results: no more than its inputs and results together."""
    if DEVICE != "cuda":
        return None
    arguments = draw(it, max(it.shapes, key=math.prod), it.dtypes[0])
    it.op(*arguments)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result = listed(it.op(*arguments))
    size = lambda tensors: sum(
        t.numel() * t.element_size() for t in tensors if isinstance(t, torch.Tensor)
    )
    extra = max(0, torch.cuda.max_memory_allocated() - before - size(result))
    if extra > size(arguments) + size(result):
        raise Fails(
            f"takes {extra >> 20} MiB on the way, for {size(arguments) + size(result) >> 20} MiB of inputs and results"
        )
    return f"{extra / 2**20:.1f} MiB on the way"


def speed(it):
    """Each larger shape against the baseline, in turns: not slower in every round."""
    if DEVICE != "cuda" or it.baseline is None:
        return None
    said = []
    for shape in [s for s in it.shapes if math.prod(s) >= 2**18] or it.shapes[-1:]:
        arguments = draw(it, shape, it.dtypes[0])
        row = race(
            ("op", lambda: it.op(*arguments)),
            ("baseline", lambda: it.baseline(*arguments)),
            rounds=3,
        )
        said.append(f"{'×'.join(map(str, shape))} {row['value']:.2f}×")
        if row["high"] < it.speed:
            raise Fails(f"{row['value']:.2f} × the baseline at {shape}, asked for {it.speed}")
    return ", ".join(said)


def gain(it):
    """The whole workload with the op and with the baseline."""
    if DEVICE != "cuda" or it.workload is None or it.baseline is None:
        return None
    row = race(
        ("op", lambda: it.workload(it.op)), ("baseline", lambda: it.workload(it.baseline)), rounds=3
    )
    if row["high"] < 1:
        raise Fails(f"the workload runs at {row['value']:.2f} × its speed with the baseline")
    return f"the workload at {row['value']:.2f}×"


CHECKS = {
    check.__name__: check
    for check in (
        accuracy,
        untouched,
        strides,
        special,
        long_sums,
        repeats,
        empty,
        gradient,
        fallback,
        compiles,
        memory,
        speed,
        gain,
    )
}


def judged(it, name):
    """One line of the report: the check, its verdict (ok, fails, or - for not judged here) and what it saw."""
    try:
        FENCES.clear()
        seen = CHECKS[name](it)
        return (
            {"check": name, "verdict": "ok", "seen": seen}
            if seen
            else {"check": name, "verdict": "-", "seen": lacking(it, name)}
        )
    except Fails as error:
        return {"check": name, "verdict": "fails", "seen": str(error)}
    except Refused as error:
        told = name == "gradient"
        return {"check": name, "verdict": "ok" if told else "fails", "seen": f"refuses: {error}"}
    except (Exception, SystemExit) as error:
        lines = str(error).strip().splitlines() or [""]
        return {
            "check": name,
            "verdict": "fails",
            "seen": f"raises {type(error).__name__}: {lines[-1] if isinstance(error, triton.CompilationError) else lines[0]}",
        }
    finally:
        FENCES.clear()


def lacking(it, name):
    """Why a check was not made."""
    wanted = {
        "fallback": "--fallback",
        "speed": "--baseline",
        "gain": "--workload and --baseline",
    }.get(name)
    given = {"fallback": it.fallback, "speed": it.baseline, "gain": it.workload}.get(name, True)
    return f"give {wanted}" if wanted and given is None else "needs a GPU"


def accept(it):
    return [judged(it, name) for name in CHECKS]


# --8<-- [end:checks]


# %% The harness for your own function: every check in a child with a time limit, since what it runs is not yet trusted.
# --8<-- [start:harness]
def found(text):
    """The function that `module:function` or `file.py:function` names. Raises LookupError with a sentence."""
    module, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        raise LookupError(f"{text!r} names no function: write module:function or file.py:function")
    try:
        if module.endswith(".py"):
            if not os.path.isfile(module):
                raise LookupError(f"there is no file {module}")
            path = os.path.abspath(module)
            spec = importlib.util.spec_from_file_location(pathlib.Path(module).stem, path)
            loaded = sys.modules.get(spec.name)
            if (
                getattr(loaded, "__file__", None) != path
            ):  # once for all its functions: an operator registers once
                sys.path.insert(0, os.path.dirname(path))  # what it imports may lie beside it
                sys.modules[spec.name] = loaded = importlib.util.module_from_spec(
                    spec
                )  # Triton looks a kernel's module up
                spec.loader.exec_module(loaded)
        else:
            sys.path.insert(0, os.getcwd())
            loaded = importlib.import_module(module)
    except LookupError:
        raise
    except BaseException as error:
        raise LookupError(f"{module} cannot be imported: {type(error).__name__}: {error}") from None
    if not callable(function := getattr(loaded, name, None)):
        there = ", ".join(
            sorted(
                key
                for key, value in vars(loaded).items()
                if callable(value) and not key.startswith("_")
            )[:8]
        )
        raise LookupError(f"{module} has no function {name}; it has {there or 'none'}")
    return function


NAMED = (
    "op",
    "reference",
    "inputs",
    "baseline",
    "fallback",
    "workload",
)  # options that name a function


def serve(options):
    """The child's side: build what the options say, then judge each check whose name comes in, one line of JSON for each."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the function prints goes elsewhere
    try:
        it = own(
            **{
                key: found(value) if key in NAMED else value
                for key, value in options.items()
                if value is not None
            }
        )
        torch.zeros(1, device=DEVICE)  # the device starts outside the time of a check
        print(json.dumps({"ready": True}), file=answer, flush=True)
    except (LookupError, AttributeError, ValueError) as error:
        print(json.dumps({"ready": False, "why": str(error)}), file=answer, flush=True)
        return 2
    for name in sys.stdin:
        print(json.dumps(judged(it, name.strip())), file=answer, flush=True)
    return 0


class Child:
    """A process that judges checks; replaced when one hangs or ends it."""

    def __init__(self, options, patience):
        self.options, self.patience, self.process = options, patience, None

    def ask(self, name):
        """The row of a check; what became of it where there is none. Raises LookupError when the options make no sense."""
        if self.process is None:
            command = [sys.executable, "-B", str(FILE), "--serve", json.dumps(self.options)]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            begun = self.line(max(self.patience, 120))
            if not begun or not begun.get("ready"):
                self.end()
                raise LookupError(
                    begun["why"]
                    if begun
                    else "the function's module does not come back from its import"
                )
        try:
            print(name, file=self.process.stdin, flush=True)
            row = self.line(self.patience)
        except BrokenPipeError:
            row = {}
        if not row:
            try:
                status = self.process.wait(0 if row is None else 10)  # it has ended, or is about to
            except subprocess.TimeoutExpired:
                status = None
            self.end()
            seen = (
                f"hangs: no answer in {self.patience:g} s"
                if status is None
                else f"ends the process, status {status}"
            )
            row = {"check": name, "verdict": "fails", "seen": seen}
        elif row["seen"].startswith("raises"):  # a device that faulted answers no other check
            self.end()
        return row

    def line(self, seconds):
        """The next line of the child's answers; None when none comes in time, nothing when no more will come."""
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return json.loads(self.process.stdout.readline() or "{}") if ready else None

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin = None
            self.process = None


def first_calls(options, patience):
    """Milliseconds of the first call in a new process, with an empty cache and with what that left, and of a later one."""
    if DEVICE != "cuda":
        return {"check": "first call", "verdict": "-", "seen": "needs a GPU"}
    code = (
        f"import sys, json, time, torch, importlib; sys.path.insert(0, sys.argv[1]); a = importlib.import_module({FILE.stem!r})\n"
        "o = json.loads(sys.argv[2]); it = a.own(**{k: a.found(v) if k in a.NAMED else v for k, v in o.items() if v is not None})\n"
        "x = a.draw(it, it.shapes[-1], it.dtypes[0]); torch.cuda.synchronize(); ms, tried = [], []\n"
        "tuner = a.triton.runtime.autotuner.Autotuner; trial = tuner._bench\n"
        "def timed(*p, **k):\n t = time.perf_counter(); r = trial(*p, **k); tried.append((time.perf_counter() - t) * 1e3); return r\n"
        "tuner._bench = timed\n"
        "for _ in range(21):\n t = time.perf_counter(); it.op(*x); torch.cuda.synchronize(); ms.append((time.perf_counter() - t) * 1e3)\n"
        "print(); print(json.dumps([ms[0], sorted(ms[1:])[10], sum(tried), len(tried)]))"
    )
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in ("empty", "filled"):
            try:
                done = subprocess.run(
                    [sys.executable, "-B", "-c", code, str(FILE.parent), json.dumps(options)],
                    capture_output=True,
                    text=True,
                    env=os.environ | {"TRITON_CACHE_DIR": folder},
                    timeout=max(patience, 120),
                )
                seen.append(json.loads(done.stdout.splitlines()[-1]))
            except subprocess.TimeoutExpired:
                return {
                    "check": "first call",
                    "verdict": "fails",
                    "seen": f"hangs: no end in {max(patience, 120):g} s",
                }
            except (IndexError, ValueError):  # it never came to its answer
                return {
                    "check": "first call",
                    "verdict": "fails",
                    "seen": (
                        done.stderr.strip().splitlines()
                        or [f"ends the process, status {done.returncode}"]
                    )[-1],
                }
    (empty_cache, later, tuning, trials), (filled_cache, _, again, _) = seen
    tuned = (
        f"; of these {tuning:.0f} and {again:.0f} ms in {trials} trials"
        if trials
        else "; nothing is tuned"
    )
    return {
        "check": "first call",
        "verdict": "told",
        "seen": f"{empty_cache:.0f} ms with an empty cache, {filled_cache:.0f} ms with a filled one, {later:.3f} ms later{tuned}",
    }


def report(options, patience, say=lambda row: None):
    """Every line of the report on the function that the options name."""
    child, rows = Child(options, patience), []
    try:
        for name in CHECKS:
            rows.append(child.ask(name))
            say(rows[-1])
    finally:
        child.end()
    rows.append(first_calls(options, patience))
    say(rows[-1])
    for question in QUESTIONS:
        rows.append({"check": "upkeep", "verdict": "?", "seen": question})
        say(rows[-1])
    return rows


def command():
    """The command line of the harness; any other is the lab's own."""
    if sys.argv[1:2] == ["--serve"]:
        return serve(json.loads(sys.argv[2]))
    parser = argparse.ArgumentParser(
        prog=FILE.name,
        description="Does this function do what its reference does, in every way that matters?",
    )
    parser.add_argument(
        "op",
        metavar="FUNCTION",
        help="module:function or file.py:function; it takes tensors and returns tensors",
    )
    parser.add_argument(
        "--reference", required=True, metavar="FUNCTION", help="the same in float64"
    )
    parser.add_argument(
        "--inputs",
        metavar="FUNCTION",
        help="inputs(shape, dtype, generator) gives the arguments; else one tensor of normal numbers",
    )
    parser.add_argument("--baseline", metavar="FUNCTION", help="what its speed is measured against")
    parser.add_argument("--fallback", metavar="FUNCTION", help="what runs where it cannot")
    parser.add_argument(
        "--workload", metavar="FUNCTION", help="workload(op) runs the whole task with one of both"
    )
    parser.add_argument(
        "--shapes", type=lambda text: text.split(","), help=f"such as {','.join(SHAPES[:3])}"
    )
    parser.add_argument(
        "--dtypes", type=lambda text: text.split(","), help=f"of {','.join(DTYPES)}"
    )
    parser.add_argument(
        "--slack",
        type=int,
        help="roundings of fp32 that the bound allows besides the last one; 64 if not said",
    )
    parser.add_argument(
        "--speed", type=float, help="the least part of the baseline's speed; 1 if not said"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=60,
        metavar="SECONDS",
        help="for each check; 60 if not said",
    )
    parser.add_argument("--json", action="store_true", help="the report as data")
    parser.add_argument("--markdown", action="store_true", help="the report as a table")
    if not any(
        ":" in argument or argument == "--reference" or argument.endswith(".py")
        for argument in sys.argv[1:]
    ):
        if {"-h", "--help"} & set(sys.argv[1:]):
            parser.print_help()
            print("\nWithout a function, the lab itself:\n")
        return main()
    args = vars(parser.parse_args())
    patience, as_json, as_markdown = (args.pop(key) for key in ("patience", "json", "markdown"))
    if args["shapes"] and not all(
        re.fullmatch(r"[1-9][0-9]*x[1-9][0-9]*", shape) for shape in args["shapes"]
    ):
        parser.error(
            f"--shapes is {','.join(args['shapes'])}; write rows x columns, such as 64x4096,3x17"
        )
    if args["dtypes"] and not set(args["dtypes"]) <= set(DTYPES):
        parser.error(f"--dtypes is {','.join(args['dtypes'])}; allowed: {','.join(DTYPES)}")
    for name, value in (("patience", patience), ("slack", args["slack"]), ("speed", args["speed"])):
        if value is not None and not (value > 0 or name == "slack" and value == 0):
            parser.error(f"--{name} is {value}; it must be above 0")
    if DEVICE == "cuda" and not torch.cuda.is_available():
        print(
            f"{FILE.name}: no GPU is visible and TRITON_INTERPRET=0 forbids the interpreter: unset it",
            file=sys.stderr,
        )
        return 2
    options = {key: value for key, value in args.items() if value is not None}
    here = surroundings()
    if not as_json:
        versions = [f"{name} {here['environment'][name]}" for name in ("torch", "triton")]
        print(
            " · ".join([options["op"], here["device"]["name"], *versions]) + "\n" * as_markdown,
            flush=True,
        )
    try:
        rows = report(
            options,
            patience,
            (lambda row: None)
            if as_json or as_markdown
            else lambda row: print(
                f"  {row['verdict']:6} {row['check']:12} {row['seen']}", flush=True
            ),
        )
    except LookupError as error:
        print(f"{FILE.name}: {error}", file=sys.stderr)
        return 2
    failed = sum(row["verdict"] == "fails" for row in rows)
    if as_json:
        print(json.dumps({"function": options["op"], **here, "failed": failed, "checks": rows}))
    elif as_markdown:
        print("| check | verdict | seen |\n| --- | --- | --- |")
        print(
            "\n".join(
                f"| {row['check']} | {row['verdict']} | {row['seen'].replace('|', chr(92) + '|')} |"
                for row in rows
            )
        )
    else:
        print(f"{failed} of {sum(row['verdict'] in ('ok', 'fails') for row in rows)} checks fail")
    return int(failed > 0)


# --8<-- [end:harness]


# %% The claims: the good kernel passes, and functions with one fault each fail where they should.
def good(**more):
    return own(
        logsumexp,
        reference,
        baseline=functools.partial(torch.logsumexp, dim=1),
        fallback=functools.partial(torch.logsumexp, dim=1),
        **more,
    )


def failing(it):
    """The names of the checks that fail, or none."""
    return ", ".join(row["check"] for row in accept(it) if row["verdict"] == "fails") or "none"


def judged_good():
    return failing(good(shapes=("3x17", "5x1025", SHAPES[4 if len(SHAPES) > 4 else 2])))


def raising(x):
    if x.shape[0] == 6:
        raise RuntimeError("no kernel for 6 rows")
    return reference(x)


def reshaping(x):
    return reference(x)[:, None]


def spoiling(x):
    x.sub_(x.amax(dim=1, keepdim=True))  # in place, to save memory
    return reference(x)


def half_empty(x):
    out = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    out[: max(1, x.shape[0] // 2)] = reference(x[: max(1, x.shape[0] // 2)])
    return out


def counting(x, seen=[0]):
    seen[0] += 1
    return reference(x) * (1 + seen[0] % 2 * 2**-23)


def judged_faulty(fault):
    """What fails of a function with one fault, in a dtype that the library takes everywhere."""
    return failing(own(fault, reference, dtypes=("float32",), runs=3))


HANGING = "import time, torch\ndef op(x):\n    time.sleep(600 * (x.shape[0] == 0))\n    return torch.logsumexp(x, dim=1)\n"


def judged_hanging():
    """Of a function that hangs on an empty input: the checks that fail, and how many were judged, by a child for each."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "hanging.py")
        path.write_text(HANGING, encoding="utf-8")
        options = {
            "op": f"{path}:op",
            "reference": f"{path}:op",
            "dtypes": ["float32"],
            "shapes": ["3x17"],
            "runs": 2,
        }
        child = Child(options, 12)
        try:
            rows = [child.ask(name) for name in ("accuracy", "empty", "gradient")]
        finally:
            child.end()
    return "; ".join(f"{row['check']} {row['verdict']}" for row in rows)


def against_torch(rows, cols, dtype):
    x = torch.randn(rows, cols, device=DEVICE).to(dtype)
    return race(("logsumexp", lambda: logsumexp(x)), ("torch", lambda: torch.logsumexp(x, dim=1)))


def against_copy(rows, cols, dtype):
    """Bytes a second: it reads x once and writes almost nothing; the copy reads and writes."""
    x = torch.randn(rows, cols, device=DEVICE).to(dtype)
    out, size = torch.empty_like(x), x.numel() * x.element_size()
    return race(
        ("logsumexp", lambda: logsumexp(x)),
        ("copy", lambda: out.copy_(x)),
        work=(size, 2 * size),
        unit="B",
    )


# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "good.failing": ("count", judged_good, {}, "none", "any", 2, "fp32 inside, one rounding at the end, every edge masked, what it cannot take refused"),
    "raises.failing": ("count", judged_faulty, dict(fault=raising), "strides", "any", 0, "an exception that is no refusal fails the check that meets it; the others go on"),
    "shape.failing": ("count", judged_faulty, dict(fault=reshaping), "accuracy, strides, special, long_sums, empty", "any", 0, "every check that compares wants the form of the reference"),
    "mutates.failing": ("count", judged_faulty, dict(fault=spoiling), "accuracy, untouched, strides, special, long_sums, empty, gradient", "any", 0, "the result is that of the spoiled input, and a row without columns has no maximum"),
    "unwritten.failing": ("count", judged_faulty, dict(fault=half_empty), "accuracy, strides, special, long_sums, empty", "any", 0, "fresh memory holds NaN, so what was not written shows"),
    "varies.failing": ("count", judged_faulty, dict(fault=counting), "special, repeats", "any", 0, "one unit in the last place is within every bound, and is another result"),
    "hangs.lines": ("count", judged_hanging, {}, "accuracy ok; empty fails; gradient ok", "any", 0, "a check has a time limit, and the next one a new process"),
    "rows_4096_fp16.vs_torch": ("ratio", against_torch, dict(rows=8192, cols=4096, dtype=torch.float16), 1.0, "gpu", 1, "one pass over x against several kernels"),
    "rows_4096_fp32.vs_torch": ("ratio", against_torch, dict(rows=8192, cols=4096, dtype=torch.float32), 1.0, "gpu", 1, "one pass over x against several kernels"),
    "rows_4096_fp32.vs_copy": ("ratio", against_copy, dict(rows=16_384, cols=4096, dtype=torch.float32), 0.8, "gpu", 1, "both are bound by memory; a program reads, then reduces, and does not overlap the two"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "short_block": ("launch", "triton.next_power_of_2(n_cols)", "triton.next_power_of_2(n_cols) // 2 or 1", "good.failing", "error", "columns past the block are never read"),
    "fp16_inside": ("kernel", ".to(tl.float32)", ".to(tl.float16)", "good.failing", "error", "sums stop growing at 2048, and small differences go"),
    "stride_ignored": ("kernel", "row * stride_xm", "row * n_cols", "good.failing", "error", "right for a whole tensor, wrong for a part of a wider one"),
    "maximum_kept": ("kernel", "    top = tl.max(x, axis=0)\n", "    top = tl.max(x, axis=0) * 0\n", "good.failing", "error", "exp overflows; random numbers of one shape would never tell"),
    "wrong_fill": ("kernel", 'other=-float("inf")', "other=0", "good.failing", "error", "the padded lanes are counted as exp(0)"),
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
