# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Debugging: which tool sees which fault, with a GPU and without one.

Learn:   what Triton's interpreter shows and what it hides, guard bytes, asserts, prints, and when compute-sanitizer is blind
Run:     python triton_debugging.py   every claim, then every break
Memory:  5 GiB, for one claim; 1 GiB for the rest
Card:    any NVIDIA card since Ampere; with none, Triton's interpreter and its compiler, which needs no card
Minutes: 2
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import concurrent.futures
import contextlib
import functools
import io
import os
import re
import sys
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

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
LIMIT = 2**31 - 256  # of rows and of columns, which the kernel counts in 32 bits, up to one tile past the end
TILE = dict(BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
BLOCK_SIZE = 128  # with as many bins at most, each of 128 threads compares 128 pairs
MAX_BINS = 128


# %% What is right: a matrix product in float64, and how often each bin occurs.
# --8<-- [start:reference]
def reference(a, b):
    return a.double() @ b.double()


def reference_count(x, n_bins):
    return torch.stack([(x == n).sum() for n in range(n_bins)])
# --8<-- [end:reference]


# %% A kernel with an edge on three axes: one program owns one tile of C.
# --8<-- [start:kernel]
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid = tl.program_id(axis=0).to(tl.int64)  # 64 bits, since offs * stride can pass 2**31
    tiles_n = tl.cdiv(N, BLOCK_N)
    offs_m = pid // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)  # [BLOCK_M], rows of A and C
    offs_n = pid % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)  # [BLOCK_N], columns of B and C
    mask_m, mask_n = offs_m < M, offs_n < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K).to(tl.int64)  # [BLOCK_K]
        mask_k = offs_k < K
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :]  # [BLOCK_M, BLOCK_K]
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :]  # [BLOCK_K, BLOCK_N]
        a = tl.load(a_ptrs, mask=mask_m[:, None] & mask_k[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=mask_k[:, None] & mask_n[None, :], other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask_m[:, None] & mask_n[None, :])
# --8<-- [end:kernel]


# --8<-- [start:launch]
def matmul(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return a @ b, [M, K] times [K, N], in the dtype of a, in `out` if given; sums are fp32.

    Rows may lie any distance apart, the elements of a row are neighbors; `out` overlaps neither itself, a nor b.
    Raises TypeError for a dtype, ValueError for the rest; bfloat16 is refused in the interpreter, which gets it wrong.
    """
    dense(a=a, b=b, out=a if out is None else out)
    if a.dtype not in DTYPES or (INTERPRETED and a.dtype == torch.bfloat16):
        allowed = ", ".join(str(d) for d in DTYPES if not (INTERPRETED and d == torch.bfloat16))
        raise TypeError(f"a is {a.dtype}; allowed here: {allowed}")
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"a is {tuple(a.shape)} and b is {tuple(b.shape)}; they must be (M, K) and (K, N)")
    (M, K), N = a.shape, b.shape[1]
    if max(M, N, K) > LIMIT:
        raise ValueError(f"a is {(M, K)} and b is {(K, N)}; no size may pass {LIMIT}, since rows and columns are counted in 32 bits")
    out = torch.empty((M, N), device=a.device, dtype=a.dtype) if out is None else out
    if out.shape != (M, N):
        raise ValueError(f"out is {tuple(out.shape)}; it must be {(M, N)}")
    for name, t in (("a", a), ("b", b), ("out", out)):
        if t.dtype != a.dtype:
            raise ValueError(f"{name} is {t.dtype}; it must be as a, {a.dtype}")
        if t.shape[1] > 1 and t.stride(1) != 1:
            raise ValueError(f"{name} has strides {t.stride()}, and this kernel reads rows straight on: pass {name}.contiguous()")
    if M > 1 and out.stride(0) < N:
        raise ValueError(f"out has strides {out.stride()}, so that two of its elements are one: pass a tensor of its own")
    for name, t in (("a", a), ("b", b)):
        if out.numel() and t.numel() and meet(t, out):
            raise ValueError(f"out shares its memory with {name}, which is still being read: pass a tensor of its own")
    if out.numel():  # a grid of 0 programs has nothing to launch
        grid = (triton.cdiv(M, TILE["BLOCK_M"]) * triton.cdiv(N, TILE["BLOCK_N"]),)
        with torch.cuda.device_of(a):  # a launch goes to the current device, not to the tensor's
            matmul_kernel[grid](a, b, out, M, N, K, a.stride(0), b.stride(0), out.stride(0), **TILE)
    return out
# --8<-- [end:launch]


def meet(a, b):
    """Whether the stretches of memory from the first to the last element of a and b overlap."""
    last = [1 + sum((n - 1) * step for n, step in zip(t.shape, t.stride())) for t in (a, b)]
    return a.data_ptr() < b.data_ptr() + last[1] * b.element_size() and b.data_ptr() < a.data_ptr() + last[0] * a.element_size()


def dense(**tensors):
    """Raise TypeError or ValueError, naming the tensor, for what no kernel here can read."""
    first = next(iter(tensors.values()))
    for name, t in tensors.items():
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
        if t.device.type != DEVICE or t.device != first.device:
            raise ValueError(f"{name} is on {t.device}; this run needs every tensor on one {DEVICE} device")


# %% A kernel whose programs share an output: how many rows each bin gets, as when tokens are counted by expert.
# --8<-- [start:count]
@triton.jit
def count_kernel(x_ptr, counts_ptr, n_elements, n_bins, N_BINS: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    tl.static_assert(N_BINS <= 128, "more pairs than 128 threads hold")  # checked while compiling, free at run time
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=-1)  # -1 is no bin
    tl.device_assert((x >= 0) & (x < n_bins), "no such bin", mask=mask)  # compiled only with TRITON_DEBUG=1
    bins = tl.arange(0, N_BINS)
    hits = tl.sum((x[:, None] == bins[None, :]).to(tl.int32), axis=0)  # [N_BINS], of this block alone
    tl.atomic_add(counts_ptr + bins, hits, mask=bins < n_bins)


def count(x: torch.Tensor, n_bins: int, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return how often each of 0 … n_bins - 1 occurs in x, as int32 [n_bins], in `out` if given.

    x is int32, contiguous, of any shape. Other values are counted nowhere, since to look for them would mean to wait
    for the GPU; with TRITON_DEBUG=1 they stop the kernel. Raises TypeError for a dtype, ValueError for the rest.
    """
    dense(x=x, out=x if out is None else out)
    if not isinstance(n_bins, int) or not 1 <= n_bins <= MAX_BINS:
        raise ValueError(f"n_bins is {n_bins!r}; it must be a whole number from 1 to {MAX_BINS}")
    out = torch.empty(n_bins, dtype=torch.int32, device=x.device) if out is None else out
    for name, t in (("x", x), ("out", out)):
        if t.dtype != torch.int32:
            raise TypeError(f"{name} is {t.dtype}; it must be torch.int32")
        if not t.is_contiguous():
            raise ValueError(f"{name} has strides {t.stride()}, and this kernel reads straight on: pass {name}.contiguous()")
    if out.shape != (n_bins,):
        raise ValueError(f"out is {tuple(out.shape)}; it must be {(n_bins,)}")
    if x.numel() > 2**31 - 1:
        raise ValueError(f"x has {x.numel()} elements; an int32 counts 2**31 - 1 at most")
    if x.numel() and meet(x, out):
        raise ValueError("out shares its memory with x, which is still being read: pass a tensor of its own")
    out.zero_()  # the programs only ever add
    if x.numel():
        blocks = {"N_BINS": triton.next_power_of_2(n_bins), "BLOCK_SIZE": BLOCK_SIZE}
        with torch.cuda.device_of(x):
            count_kernel[(triton.cdiv(x.numel(), BLOCK_SIZE),)](x, out, x.numel(), n_bins, **blocks)
    return out
# --8<-- [end:count]


# %% The smallest kernel for each thing that the interpreter does in its own way.
# --8<-- [start:facts]
@triton.jit
def square_kernel(x_ptr, out_ptr, WIDEN: tl.constexpr):
    x = tl.load(x_ptr)
    if WIDEN:
        x = x.to(tl.float32)
    tl.store(out_ptr, x * x)


@triton.jit
def dot_kernel(a_ptr, out_ptr, SIZE: tl.constexpr, INPUT_PRECISION: tl.constexpr):
    offs = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    a = tl.load(a_ptr + offs)
    tl.store(out_ptr + offs, tl.dot(a, a, input_precision=INPUT_PRECISION))


@triton.jit
def atomic_kernel(out_ptr):
    tl.atomic_add(out_ptr, tl.load(out_ptr))


@triton.jit
def descriptor_kernel(x_ptr, out_ptr, n):
    x = tl.make_tensor_descriptor(x_ptr, shape=[n, n], strides=[n, 1], block_shape=[16, 16])
    tl.store(out_ptr, tl.sum(x.load([16, 16])))  # four rows and four columns of it exist, the rest is filled with zeros


@triton.jit
def print_kernel(x_ptr, STATIC: tl.constexpr):
    tl.static_print("STATIC is", STATIC)
    if not STATIC:
        tl.device_print("x", tl.load(x_ptr))


@triton.jit
def assert_kernel(x_ptr, out_ptr, SIZE: tl.constexpr):
    tl.static_assert(SIZE <= 4, "SIZE is too large")
    x = tl.load(x_ptr)
    tl.device_assert(x > 0, "x is not positive")
    tl.store(out_ptr, x)


@triton.jit
def past_kernel(x_ptr, out_ptr, n):
    tl.store(out_ptr, tl.load(x_ptr + n))


@triton.jit
def masked_kernel(x_ptr, out_ptr, n):
    offs = tl.arange(0, 16)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + offs, mask=offs < n), axis=0))  # on purpose: a fill is named nowhere


GLOBAL = 3


@triton.jit
def global_kernel(out_ptr):
    tl.store(out_ptr, GLOBAL)


@triton.jit
def assembly_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr)
    tl.store(out_ptr, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1))


@triton.jit
def racing_kernel(total_ptr):
    tl.store(total_ptr, tl.load(total_ptr) + 1)


@triton.jit
def stop_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4)) * 2
    breakpoint()
    tl.store(out_ptr, tl.sum(x, axis=0))
# --8<-- [end:facts]


# --8<-- [start:poison]
@contextlib.contextmanager
def poisoned():
    """Inside, masked lanes of a floating-point load without `other` are NaN in the interpreter: undefined may be that too.

    Not so for bf16, which the interpreter keeps as integers.
    """
    from triton.runtime.interpreter import TensorHandle, interpreter_builder as builder

    usual = builder.create_masked_load

    def create_masked_load(ptrs, mask, other, *rest, **more):
        none = usual(ptrs, TensorHandle(mask.data & False, mask.dtype), None, *rest, **more)  # zeros: it reads no lane
        if other is None and none.data.dtype.kind == "f":
            other = TensorHandle(none.data + float("nan"), ptrs.get_element_ty())
        return usual(ptrs, mask, other, *rest, **more)

    builder.create_masked_load = create_masked_load
    try:
        yield
    finally:
        builder.create_masked_load = usual
# --8<-- [end:poison]


# %% A process of its own: for a fault that takes the process or the device with it, for a tool, for the other mode.
# --8<-- [start:elsewhere]
def elsewhere(expression, path=None, before=(), first="", **environment):
    """(value, text): what an expression over this lab gives in a process of its own, or None if that died, and what it printed.

    `path` is a copy of the lab to take instead, `before` are words before the command, such as those of a tool, `first`
    is a statement before the lab is imported.
    """
    path = pathlib.Path(path or FILE)
    code = f"""{first}
import json, sys
sys.path.insert(0, {str(path.parent)!r})
import {path.stem} as lab
print("\\n= " + json.dumps(lab.{expression}), flush=True)"""
    command = [*before, sys.executable, "-B", "-c", code]
    run = subprocess.run(command, env=os.environ | environment, stdout=-1, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
    said = [line for line in run.stdout.splitlines() if line.startswith("= ")]
    return (json.loads(said[0].removeprefix("= ")) if said else None), run.stdout
# --8<-- [end:elsewhere]


# %% The claims: how each is measured, and the table of what must hold. First the two kernels.
def matmul_error(M, N, K, dtype=torch.float32, layout="guarded", seed=0):
    """The product and the reference; a and b between guards unless `layout` says otherwise."""
    gen = torch.Generator(DEVICE).manual_seed(seed)
    a, b = (torch.randn(size, generator=gen, device=DEVICE).to(dtype) for size in ((M, K), (K, N)))
    kept = a.clone(), b.clone()  # a kernel that spoils its inputs must not spoil the reference
    if layout == "tight":  # nothing round them but what the allocator put there, as with a caller's tensors
        return [(matmul(a, b), reference(*kept))]
    a, b = fence(a), fence(b)
    if layout == "alone":  # one row; the next would lie 2**33 elements on, where no memory is
        a = a.as_strided((M, K), (2**33, 1))
    elif layout == "apart":  # rows 2**30 elements apart, so that the third begins at 2**31
        a = torch.empty((M - 1) * 2**30 + K, dtype=dtype, device=DEVICE).as_strided((M, K), (2**30, 1)).copy_(a)
    matmul(a, b, got := fence(a.new_empty(M, N), output=True))  # judged is what lies in memory
    if DEVICE == "cuda":
        torch.cuda.synchronize()  # else a fault would be told by the reference, as an error of cuBLAS
    return [(got, reference(*kept))]


def count_error(n, n_bins, calls=1, seed=0):
    """The counts that each of `calls` calls leaves in memory, and the reference."""
    gen = torch.Generator(DEVICE).manual_seed(seed)
    x = torch.randint(0, n_bins, (n,), generator=gen, device=DEVICE, dtype=torch.int32) ** 2 // n_bins  # low bins more often
    want, x = reference_count(x, n_bins), fence(x)
    for _ in range(calls):
        count(x, n_bins, got := fence(torch.empty(n_bins, dtype=torch.int32, device=DEVICE), output=True))
        yield got, want


def counted(values):
    """How many of some values are found in the bins 0 … 7."""
    return int(count(torch.tensor(values, dtype=torch.int32, device=DEVICE), 8).sum())


# %% Then the facts: what each of the smallest kernels gives.
PLACE = DEVICE if INTERPRETED or torch.cuda.is_available() else "cpu"  # of tensors that are only looked at by the compiler


def run(kernel, *arguments, grid=(1,), **options):
    """Launch; with neither interpreter nor card, go as far as a launch on sm_90 goes without one: through the compiler."""
    if PLACE == DEVICE:
        return kernel[grid](*arguments, **options)  # the compiled kernel, in the interpreter None
    target = GPUTarget("cuda", 90, 32)
    triton.runtime.driver.set_active(types.SimpleNamespace(
        get_current_device=lambda: 0, get_current_stream=lambda device: 0, get_current_target=lambda: target))
    try:
        return kernel.warmup(*arguments, grid=grid, **options)
    finally:
        triton.runtime.driver.set_active(None)  # back to what the machine has


def tensor(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=PLACE)


def result(kernel, x=None, *sizes, dtype=torch.float32, start=0, **options):
    """What a kernel of (x_ptr, out_ptr, sizes) or (out_ptr) stores in the one element of `out`, which starts as `start`."""
    out = tensor(start, dtype=dtype)
    run(kernel, *([out] if x is None else [x, out]), *sizes, **options)
    return out.item()


def printed(static, compiled=True):
    """What a launch prints: the constant, while it is compiled, and an element unless the constant is one."""
    with contextlib.redirect_stdout(io.StringIO()) as text, triton.knobs.compilation.scope():
        triton.knobs.compilation.always_compile = compiled  # even what lies in the cache on disk
        run(triton.jit(print_kernel.fn), tensor(7), STATIC=static)
    return " ".join(text.getvalue().split()) or "nothing"


def tuned(**options):
    """Tune between two configurations."""
    configs = [triton.Config({"SIZE": size}) for size in (1, 2)]
    return result(triton.autotune(configs, key=[], **options)(triton.jit(assert_kernel.fn)), tensor(5))


def precisions():
    """Whether `input_precision` makes any difference to a product of fp32."""
    a = torch.randn(16, 16, generator=torch.Generator().manual_seed(0)).to(PLACE)
    outs = [torch.empty_like(a) for _ in range(2)]
    for out, precision in zip(outs, ("ieee", "tf32")):
        run(dot_kernel, a, out, SIZE=16, INPUT_PRECISION=precision)
    return "equal" if torch.equal(*outs) else "unlike"


def closure():
    """What a kernel makes of a name of the function round it."""
    factor = tl.constexpr(3)

    @triton.jit
    def inner_kernel(out_ptr):
        tl.store(out_ptr, factor)

    return result(inner_kernel)


def stopped_at():
    """What a debugger, which stops at breakpoint(), finds in the x of the kernel."""
    found = []
    with unittest.mock.patch.object(sys, "breakpointhook", lambda: found.append(sys._getframe(1).f_locals["x"].handle.data.tolist())):
        run(stop_kernel, tensor(1, 2, 3, 4), tensor(0))
    return str(found[0])


def racing():
    """Whether all programs are counted, each of which reads the total, adds one and writes it back."""
    programs = 8192 if DEVICE == "cuda" else 64
    run(racing_kernel, total := tensor(0, dtype=torch.int32), grid=(programs,))
    return "all" if total.item() == programs else "lost"


def register():
    """What PTX puts into the register of a masked load before the load."""
    ptx = run(triton.jit(masked_kernel.fn), tensor(1, 2, 3, 4), tensor(0), 3).asm["ptx"]
    return "".join(re.findall(r"mov\.\w+ +%r\d+, (\w+);\s*@%p\d+ ld\.global", ptx))


def unfilled():
    """The sum over masked lanes, in the interpreter, where those that nobody named a fill for are NaN."""
    with poisoned():
        return str(result(masked_kernel, tensor(1, 2, 3, 4), 3))


BF16, INT32 = torch.bfloat16, torch.int32
FACTS = {
    "detected": lambda: f"{triton.knobs.runtime.interpret}, {type(square_kernel).__name__}",
    "bf16_square": lambda: result(square_kernel, tensor(2, dtype=BF16), dtype=BF16, WIDEN=False),
    "bf16_widened": lambda: result(square_kernel, tensor(2, dtype=BF16), dtype=BF16, WIDEN=True),
    "bf16_cast": lambda: result(square_kernel, tensor(1.0029296875), dtype=BF16, WIDEN=True),
    "dot_of_one": lambda: result(dot_kernel, tensor(3), SIZE=1, INPUT_PRECISION="ieee"),
    "precision": precisions,
    "bf16_atomic": lambda: result(atomic_kernel, dtype=BF16, start=1.5),
    "descriptor": lambda: result(descriptor_kernel, torch.ones(20, 20, device=PLACE), 20),
    "device_print": lambda: printed(0),
    "static_print": lambda: printed(4),
    "static_print_again": lambda: printed(4) and printed(4, compiled=False),
    "device_assert": lambda: result(triton.jit(assert_kernel.fn, debug=True), tensor(-1), SIZE=1),
    "static_assert": lambda: result(assert_kernel, tensor(1), SIZE=8),
    "int32": lambda: result(square_kernel, tensor(70_000, dtype=INT32), dtype=INT32, WIDEN=False),
    "past_the_end": lambda: result(past_kernel, tensor(1, 2, 3, 77)[:3], 3),
    "keyword": lambda: result(assert_kernel, tensor(5), SIZE=1, no_such_option=1),
    "warps": lambda: result(assert_kernel, tensor(5), SIZE=1, num_warps=3),
    "global": lambda: result(global_kernel),
    "closure": closure,
    "assembly": lambda: result(assembly_kernel, tensor(5, dtype=INT32), dtype=INT32),
    "masked": lambda: result(masked_kernel, tensor(1, 2, 3, 4), 3),
    "masked_register": register,
    "masked_poisoned": unfilled,
    "racing": racing,
    "tuning": tuned,
    "tuning_by_hand": lambda: tuned(do_bench=lambda call, quantiles=None: (call(), [1.0, 1.0, 1.0])[1]),
    "breakpoint": stopped_at,
}


def fact(name):
    """What comes of it: a value, or the name of the exception, and its words as the note."""
    try:
        return {"value": FACTS[name]()}
    except Exception as error:
        words = [line for line in str(error).splitlines() if line.strip()] or [""]
        kind = words[0].partition("(")[0] if type(error).__name__ == "InterpreterError" else type(error).__name__
        return {"value": kind, "note": words[-1].strip()[:200]}


def facts():
    return {name: fact(name) for name in FACTS}


def seen(name, by):
    """One of FACTS, by the interpreter or by this process, which may be the interpreter's as well."""
    return fact(name) if by != "interpreter" or INTERPRETED and not torch.cuda.is_available() else scene("interpreted")[name]


# %% And what needs a card: faults, and the tools that look on.
def overrun():
    """Which step reports a load far outside of every tensor, and whether a right kernel still runs afterwards."""
    step, x, out = "launch", tensor(1), tensor(0)
    try:
        past_kernel[(1,)](x, out, 2**40)
        step = "read"
        out.item()
    except Exception:  # the same error as RuntimeError, from Triton, or as AcceleratorError, from torch
        try:
            return f"{step}, then {(tensor(1) + 1).item()}"
        except Exception:
            return f"{step}, then nothing works"
    return "no step"


def stopped(name):
    """The words of the assertion that stops a kernel, which the device prints, or that nothing does."""
    calls = {"bin": lambda: count(tensor(3, 8, dtype=INT32), 8), "int32": FACTS["int32"]}
    try:
        calls[name]()
        torch.cuda.synchronize()
        return "nothing"
    except Exception as error:
        return "device-side assert" if "device-side assert" in str(error) else str(error)


def sanitized(tool, claim, broken=None, padding=0, **environment):
    """Whether compute-sanitizer reports errors while a claim of this lab, or of this lab broken, is judged.

    `padding` is how many bytes it leaves free after each allocation.
    """
    found = [shutil.which("compute-sanitizer"), *sorted(map(str, pathlib.Path("/usr/local").glob("cuda*/bin/compute-sanitizer")))]
    if not any(found):
        raise NotMeasured("there is no compute-sanitizer here; it comes with the CUDA toolkit")
    before = [next(filter(None, found)), "--tool", tool, "--target-processes", "application-only", "--print-limit", "1"]
    before += ["--padding", str(padding)] if padding else []
    with tempfile.TemporaryDirectory() as folder:
        path = FILE
        if broken:
            section, old, new, *_ = BREAKS[broken]
            text, mark, rest = FILE.read_text(encoding="utf-8-sig").partition(f"# --8<-- [start:{section}]\n")
            path = pathlib.Path(folder, FILE.name)
            path.write_text(text + mark + rest.replace(old, new, 1), encoding="utf-8")
        row, text = elsewhere(f"judge({claim!r})", path, before, TRITON_DISABLE_LINE_INFO="0", **environment)
    summary = re.search(r"SUMMARY: ([\d,]+) (?:errors?|hazards?)", text)
    if not summary or row is None and summary[1] == "0":
        raise RuntimeError(f"compute-sanitizer did not get to its end: {' '.join(text[-200:].split())}")
    where = re.findall(r"(\w+_kernel)\+\w+ in (?:.*/)?(\w+\.py:\d+)", text)
    note = f"{summary[1]} reported{', first at ' + ' in '.join(where[0]) if where else ''}; the claim itself: {row['verdict'] if row else 'died'}"
    return {"value": "clean" if summary[1] == "0" else "errors", "note": note}


def print_on_gpu():
    run(print_kernel, tensor(7), STATIC=0)
    torch.cuda.synchronize()  # the card's text comes at the latest now, past Python, to the process's own output


def printed_on_gpu(lines=False):
    """A line that the card printed, or how many there are."""
    found = [" ".join(line.split()) for line in scene("device_print")[1].splitlines() if "x:" in line]
    return len(found) if lines else found[0]


UNCACHED = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
HIDDEN = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
LATE = "import os, triton; os.environ['TRITON_INTERPRET'] = '1'"
SCENES = {  # each takes seconds to come up, so they start side by side
    "interpreted": lambda: elsewhere("facts()", TRITON_INTERPRET="1", TRITON_DEBUG="1", **HIDDEN)[0],
    "late": lambda: elsewhere("fact('masked')", first=LATE, TRITON_INTERPRET="0", **HIDDEN)[0],
    "overrun": lambda: elsewhere("overrun()")[0],
    "overrun_blocking": lambda: elsewhere("overrun()", CUDA_LAUNCH_BLOCKING="1")[0],
    "no_such_bin": lambda: elsewhere("stopped('bin')", TRITON_DEBUG="1")[0],
    "int32": lambda: elsewhere("stopped('int32')", TRITON_DEBUG="1")[0],
    "device_print": lambda: elsewhere("print_on_gpu()"),
    "memcheck_cached": lambda: sanitized("memcheck", "tight_fp16.max_rel_err", "only_k_masked"),
    "memcheck_uncached": lambda: sanitized("memcheck", "tight_fp16.max_rel_err", "only_k_masked", **UNCACHED),
    "memcheck_flush": lambda: sanitized("memcheck", "flush_fp16.max_rel_err", "only_k_masked", **UNCACHED),
    "memcheck_padded": lambda: sanitized("memcheck", "flush_fp16.max_rel_err", "only_k_masked", padding=4096, **UNCACHED),
    "memcheck_right": lambda: sanitized("memcheck", "flush_fp16.max_rel_err", padding=4096, **UNCACHED),
    "racecheck": lambda: sanitized("racecheck", "few_programs.max_abs_err", "race"),
    "initcheck": lambda: sanitized("initcheck", "left_out.counted", "not_zeroed", **UNCACHED),
    "initcheck_right": lambda: sanitized("initcheck", "left_out.counted", **UNCACHED),
}
STARTED, SIDE_BY_SIDE = {}, concurrent.futures.ThreadPoolExecutor(16)


def scene(name):
    """One of SCENES. The lab, when it runs as a whole on a GPU, starts all of them with the first."""
    whole = __name__ == "__main__" and DEVICE == "cuda" and not {"--only", "--break"} & set(sys.argv)
    for other in SCENES if whole else [name]:
        if other not in STARTED:
            STARTED[other] = SIDE_BY_SIDE.submit(SCENES[other])
    return STARTED[name].result()


class NotMeasured(torch.OutOfMemoryError):
    """What judge() takes for a want of this machine, not for a failure of the lab."""


# fmt: off
F16, BF16 = torch.float16, torch.bfloat16
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    # relative is the largest error over the largest |c|. Rounding c costs 2**-11 of it in fp16, 2**-8 in bf16; each of K
    # additions at most 2**-24 of a partial sum, no larger than about that c; on tensor cores, which cut off, 2**-23.
    "ragged_fp32.max_rel_err": ("error", matmul_error, dict(M=70, N=90, K=50), 50 * 2**-24, "any", 0, "50 additions in fp32; no size is a multiple of a tile"),
    "ragged_fp16.max_rel_err": ("error", matmul_error, dict(M=70, N=90, K=50, dtype=F16), 2**-11 + 50 * 2**-23, "any", 0, "one rounding to fp16, 50 additions; no size is a multiple of a tile"),
    "ragged_bf16.max_rel_err": ("error", matmul_error, dict(M=70, N=90, K=50, dtype=BF16), 2**-8 + 50 * 2**-23, "gpu", 0, "one rounding to bf16, 50 additions; the interpreter gets bf16 wrong"),
    "tight_fp16.max_rel_err": ("error", matmul_error, dict(M=100, N=63, K=63, dtype=F16, layout="tight"), 2**-11 + 63 * 2**-23, "any", 0, "one rounding to fp16, 63 additions; nothing stands guard"),
    "flush_fp16.max_rel_err": ("error", matmul_error, dict(M=100, N=64, K=64, dtype=F16, layout="tight"), 2**-11 + 64 * 2**-23, "any", 0, "one rounding to fp16, 64 additions; a has 25 times 512 bytes, and the next allocation may begin right after it"),
    "alone_fp16.max_rel_err": ("error", matmul_error, dict(M=1, N=64, K=50, dtype=F16, layout="alone"), 2**-11 + 50 * 2**-23, "any", 0, "no other row is read: there is no memory; one rounding to fp16"),
    "apart_fp16.max_rel_err": ("error", matmul_error, dict(M=3, N=40, K=50, dtype=F16, layout="apart"), 2**-11 + 50 * 2**-23, "gpu", 5, "64-bit offsets reach the row at 2**31; one rounding to fp16"),
    "bins.max_abs_err": ("error", count_error, dict(n=1000, n_bins=100), 0.0, "any", 0, "whole numbers; the last block is not full, nor are the bins a power of two"),
    "few_programs.max_abs_err": ("error", count_error, dict(n=8_192, n_bins=16), 0.0, "any", 0, "64 programs add to the same 16 counts"),
    "many_programs.max_abs_err": ("error", count_error, dict(n=2**20, n_bins=16, calls=100), 0.0, "gpu", 1, "8,192 programs add to the same 16 counts, 100 times over, and none is lost"),
    "left_out.counted": ("count", counted, dict(values=[0, 1, 1, 7, 7, 7, 8, 3, -1, 0]), 8, "any", 0, "8 and -1 are no bins, and without TRITON_DEBUG nobody asks"),

    "detected.interpreted": ("codegen", seen, dict(name="detected", by="interpreter"), "True, InterpretedFunction", "any", 0, "the knob, and the class of every kernel defined while it was on"),
    "detected.compiled": ("codegen", seen, dict(name="detected", by="compiler"), "False, JITFunction", "compile", 0, "the same two where kernels are compiled"),
    "late.interpreted": ("codegen", scene, dict(name="late"), "RuntimeError", "any", 0, "tl.sum was decorated while triton was imported, for the compiler"),
    "bf16_square.interpreted": ("count", seen, dict(name="bf16_square", by="interpreter"), 0.0, "any", 0, "2 times 2 on the bits of bf16 taken as a 16-bit integer: all that is kept of 0x4000 squared is zeros"),
    "bf16_square.on_gpu": ("count", seen, dict(name="bf16_square", by="gpu"), 4.0, "gpu", 0, "2 times 2"),
    "bf16_widened.interpreted": ("count", seen, dict(name="bf16_widened", by="interpreter"), 4.0, "any", 0, "widened to fp32 after the load, 2 times 2 is right there too"),
    "bf16_cast.interpreted": ("count", seen, dict(name="bf16_cast", by="interpreter"), 1.0, "any", 0, "1.0059 on its way from fp32 to bf16 is cut off"),
    "bf16_cast.on_gpu": ("count", seen, dict(name="bf16_cast", by="gpu"), 1.0078125, "gpu", 0, "1.0059 is rounded to the nearest bf16"),
    "bf16_atomic.interpreted": ("codegen", seen, dict(name="bf16_atomic", by="interpreter"), "ValueError", "any", 0, "atomics exist there for fp16, fp32 and integers"),
    "bf16_atomic.on_gpu": ("count", seen, dict(name="bf16_atomic", by="gpu"), 3.0, "gpu", 0, "1.5 and 1.5"),
    "dot_of_one.interpreted": ("count", seen, dict(name="dot_of_one", by="interpreter"), 9.0, "any", 0, "a product of 1 by 1: NumPy has no least size"),
    "dot_of_one.compiled": ("codegen", seen, dict(name="dot_of_one", by="compiler"), "CompilationError", "compile", 0, "K is at least 16, in Triton 3.9 at least 8 for fp32"),
    "precision.interpreted": ("codegen", seen, dict(name="precision", by="interpreter"), "equal", "any", 0, "input_precision is not looked at: ieee and tf32 are one"),
    "precision.on_gpu": ("codegen", seen, dict(name="precision", by="gpu"), "unlike", "gpu", 0, "TF32 keeps 11 bits of each factor"),
    "int32.wrapped": ("count", seen, dict(name="int32", by="this process"), 605032704, "any", 0, "70,000 squared, less 2**32: both wrap, and neither says so"),
    "past_the_end.read": ("count", seen, dict(name="past_the_end", by="this process"), 77.0, "any", 0, "the element after the last: neither knows where a tensor ends"),
    "masked.interpreted": ("count", seen, dict(name="masked", by="interpreter"), 6.0, "any", 0, "1 + 2 + 3; the thirteen masked lanes are 0, which nobody has promised"),
    "masked.register": ("codegen", seen, dict(name="masked_register", by="compiler"), "0x0", "compile", 0, "PTX sets the register to 0 before a load that may not happen, in Triton 3.6, 3.7 and 3.9"),
    "masked.on_gpu": ("count", seen, dict(name="masked", by="gpu"), 6.0, "gpu", 0, "so a card shows 0 as well; the documentation says undefined"),
    "masked.poisoned": ("codegen", seen, dict(name="masked_poisoned", by="interpreter"), "nan", "any", 0, "with NaN in lanes that no fill was named for, the sum tells"),
    "descriptor.interpreted": ("count", seen, dict(name="descriptor", by="interpreter"), 16.0, "any", 0, "four rows of four exist in the last block of 20 by 20; no allocator is asked for"),
    "descriptor.on_gpu": ("codegen", seen, dict(name="descriptor", by="gpu"), "RuntimeError", "gpu", 0, "no allocator was set: triton.set_allocator comes first"),
    "device_print.interpreted": ("codegen", seen, dict(name="device_print", by="interpreter"), "STATIC is 0 (0, 0, 0) x: [7.]", "any", 0, "Python prints at once, a whole tensor to a line"),
    "device_print.on_gpu": ("codegen", printed_on_gpu, {}, "pid (0, 0, 0) idx () x: 7.000000", "gpu", 0, "the card prints, one element to a line, when the host waits for it"),
    "device_print.lines": ("count", printed_on_gpu, dict(lines=True), 128, "gpu", 0, "4 warps of 32 threads, and each of them holds the scalar"),
    "static_print.compiled": ("codegen", seen, dict(name="static_print", by="compiler"), "STATIC is 4", "compile", 0, "the compiler prints it"),
    "static_print.again": ("codegen", seen, dict(name="static_print_again", by="compiler"), "nothing", "compile", 0, "the code comes from the cache on disk, and nothing is compiled"),
    "device_assert.interpreted": ("count", seen, dict(name="device_assert", by="interpreter"), -1.0, "any", 0, "-1 is stored although the assertion wants it positive, with debug=True"),
    "no_such_bin.on_gpu": ("codegen", scene, dict(name="no_such_bin"), "device-side assert", "gpu", 0, "bin 8 of 8, with TRITON_DEBUG=1"),
    "static_assert.interpreted": ("codegen", seen, dict(name="static_assert", by="interpreter"), "AssertionError", "any", 0, "a constant is known before anything runs"),
    "static_assert.compiled": ("codegen", seen, dict(name="static_assert", by="compiler"), "CompileTimeAssertionFailure", "compile", 0, "a constant is known before anything runs"),
    "int32.on_gpu": ("codegen", scene, dict(name="int32"), "device-side assert", "gpu", 0, "with TRITON_DEBUG=1 each sum, difference and product of int32 is checked"),
    "keyword.interpreted": ("count", seen, dict(name="keyword", by="interpreter"), 5.0, "any", 0, "an option that does not exist is dropped"),
    "keyword.compiled": ("codegen", seen, dict(name="keyword", by="compiler"), "KeyError", "compile", 0, "unrecognised"),
    "warps.interpreted": ("count", seen, dict(name="warps", by="interpreter"), 5.0, "any", 0, "three warps: there are none to count"),
    "warps.compiled": ("codegen", seen, dict(name="warps", by="compiler"), "AssertionError", "compile", 0, "num_warps must be a power of two"),
    "global.interpreted": ("count", seen, dict(name="global", by="interpreter"), 3.0, "any", 0, "Python looks it up"),
    "global.compiled": ("codegen", seen, dict(name="global", by="compiler"), "CompilationError", "compile", 0, "a global has to be a tl.constexpr"),
    "closure.interpreted": ("codegen", seen, dict(name="closure", by="interpreter"), "NameError", "any", 0, "the interpreter runs a rewritten copy of the kernel, outside of the function that it was written in"),
    "closure.compiled": ("count", seen, dict(name="closure", by="gpu"), 3.0, "gpu", 0, "the compiler finds a constexpr there"),
    "assembly.interpreted": ("codegen", seen, dict(name="assembly", by="interpreter"), "NotImplementedError", "any", 0, "NumPy runs no PTX"),
    "assembly.on_gpu": ("count", seen, dict(name="assembly", by="gpu"), 5, "gpu", 0, "one mov"),
    "racing.interpreted": ("codegen", seen, dict(name="racing", by="interpreter"), "all", "any", 0, "one program after another: each sees what the last one wrote"),
    "racing.on_gpu": ("codegen", seen, dict(name="racing", by="gpu"), "lost", "gpu", 0, "programs read the same total, and all but one of their additions are overwritten"),
    "tuning.interpreted": ("codegen", seen, dict(name="tuning", by="interpreter"), "RuntimeError", "any", 0, "0 active drivers: timing two configurations needs a card"),
    "tuning_by_hand.interpreted": ("count", seen, dict(name="tuning_by_hand", by="interpreter"), 5.0, "any", 0, "with a do_bench of its own, the tuner needs no driver"),
    "breakpoint.interpreted": ("codegen", seen, dict(name="breakpoint", by="interpreter"), "[2.0, 4.0, 6.0, 8.0]", "any", 0, "the debugger stands inside the kernel and holds a whole tensor"),
    "breakpoint.compiled": ("codegen", seen, dict(name="breakpoint", by="compiler"), "CompilationError", "compile", 0, "the compiler knows no breakpoint"),

    "overrun.reported": ("codegen", scene, dict(name="overrun"), "read, then nothing works", "gpu", 0, "a launch only queues: the error comes out of a later call, and the context is lost"),
    "overrun_blocking.reported": ("codegen", scene, dict(name="overrun_blocking"), "launch, then nothing works", "gpu", 0, "with CUDA_LAUNCH_BLOCKING=1 the launch waits and reports it itself"),
    "memcheck_cached.reported": ("codegen", scene, dict(name="memcheck_cached"), "clean", "gpu", 0, "rows past M lie in the same large piece that PyTorch's allocator cut its tensors from"),
    "memcheck_uncached.reported": ("codegen", scene, dict(name="memcheck_uncached"), "errors", "gpu", 0, "PYTORCH_NO_CUDA_MEMORY_CACHING=1: each tensor is an allocation of its own, and a does not fill its last 512 bytes"),
    "memcheck_flush.reported": ("codegen", scene, dict(name="memcheck_flush"), "clean", "gpu", 0, "a does fill them, and what lies past it is the next allocation"),
    "memcheck_padded.reported": ("codegen", scene, dict(name="memcheck_padded"), "errors", "gpu", 0, "--padding 4096 keeps the next allocation away"),
    "memcheck_right.reported": ("codegen", scene, dict(name="memcheck_right"), "clean", "gpu", 0, "the kernel with its masks, looked at in the same way"),
    "racecheck.reported": ("codegen", scene, dict(name="racecheck"), "clean", "gpu", 0, "it watches shared memory only, and this race is in global memory"),
    "initcheck.reported": ("codegen", scene, dict(name="initcheck"), "errors", "gpu", 0, "counts are added to memory that nobody has written"),
    "initcheck_right.reported": ("codegen", scene, dict(name="initcheck_right"), "clean", "gpu", 0, "the counts are cleared first"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "only_k_masked": ("kernel", "mask=mask_m[:, None] & mask_k[None, :]", "mask=mask_k[None, :]", "alone_fp16.max_rel_err", "fault", "rows past M are read"),
    "k_not_masked": ("kernel", "offs_k < K", "offs_k < K + BLOCK_K", "ragged_fp32.max_rel_err", "nonfinite", "the guards' NaN, or what lies past K, enters the sums"),
    "no_mask_on_store": ("kernel", ", mask=mask_m[:, None] & mask_n[None, :])", ")", "ragged_fp16.max_rel_err", "guard", "whole tiles are written past the end of C"),
    "int32_offsets": ("kernel", "tl.program_id(axis=0).to(tl.int64)", "tl.program_id(axis=0)", "apart_fp16.max_rel_err", "fault", "the offset of the third row wraps to -2**31"),
    "no_other": ("count", ", other=-1)", ")", "bins.max_abs_err", "error", "lanes past the end count as bin 0"),
    "not_zeroed": ("count", "out.zero_()", "pass", "bins.max_abs_err", "error", "counting starts from what lay in memory"),
    "race": ("count", "tl.atomic_add(counts_ptr + bins, hits, mask=bins < n_bins)", "tl.store(counts_ptr + bins, tl.load(counts_ptr + bins, mask=bins < n_bins, other=0) + hits, mask=bins < n_bins)", "many_programs.max_abs_err", "error", "two programs read the same count, and one addition is lost"),
    "no_assert": ("count", "tl.device_assert((x >= 0) & (x < n_bins), \"no such bin\", mask=mask)", "pass", "no_such_bin.on_gpu", "error", "bin 8 of 8 is left out, and nobody says so"),
    "not_widened": ("facts", "x = x.to(tl.float32)", "x = x", "bf16_widened.interpreted", "error", "2 times 2 is 0 again"),
}
# fmt: on


def command():
    """What this file does when it is run: all that the common part offers, where assertions are there to be seen."""
    if sys.flags.optimize:
        print(f"{FILE.name}: python -O leaves out the assertions that this lab shows: run it without -O", file=sys.stderr)
        return 2
    return main()


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
