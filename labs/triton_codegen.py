# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Code generation: what the compiler made of a kernel, and which line of yours made it do so.

Learn:   vector width, predicates, tensor core instructions, spills, and how to find your line again in PTX
Run:     python triton_codegen.py           every claim, then every break
         python triton_codegen.py --bench   only the speed, on a GPU
         python triton_codegen.py 'my.py:my_kernel(*fp32, *fp32, 98432, BLOCK_SIZE=1024)' sm_90 gfx942   your own kernel
Memory:  4 GiB
Card:    any NVIDIA card since Ampere; with none, Triton's interpreter and its compiler, which needs no card
Minutes: 1
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import ast
import contextlib
import functools
import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

import torch

YOURS = __name__ == "__main__" and len(sys.argv) > 1 and not sys.argv[1].startswith("-")  # a kernel of yours is named
if YOURS:
    os.environ["TRITON_INTERPRET"] = "0"  # it is compiled, on any machine, and never run
elif not torch.cuda.is_available():
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

DTYPES = (torch.float32, torch.float16)
PER_LANE = 256  # values of a row in one lane: twice what is comfortable, so that a spill can be seen and timed
TARGETS = {  # back end, architecture, lanes of a warp; bytes of shared memory that one program may have
    "sm_80": ("cuda", 80, 32, 166_912), "sm_86": ("cuda", 86, 32, 101_376), "sm_89": ("cuda", 89, 32, 101_376),
    "sm_90": ("cuda", 90, 32, 232_448), "sm_100": ("cuda", 100, 32, 232_448), "sm_120": ("cuda", 120, 32, 101_376),
    "gfx90a": ("hip", "gfx90a", 64, 65_536), "gfx942": ("hip", "gfx942", 64, 65_536),
    "gfx950": ("hip", "gfx950", 64, 163_840), "gfx1100": ("hip", "gfx1100", 32, 65_536),
}  # fmt: skip


# %% What is right, in float64; a quotient and a root rounded once.
# --8<-- [start:reference]
def reference(*tensors, of="copy"):
    x, y = tensors[0].double(), tensors[-1].double()
    return {
        "copy": lambda: x, "center": lambda: x - x.amax(dim=1, keepdim=True), "dot": lambda: x @ y,
        "div_rn": lambda: (x / y).float(), "sqrt_rn": lambda: x.sqrt().float(), "fma": lambda: x * y + y, "divide": lambda: (x / y).floor(),
    }[of]()  # fmt: skip
# --8<-- [end:reference]


# %% The kernels, each as short as what it shows allows. First memory: width, fill, index width, cache, conversion.
# --8<-- [start:copy]
@triton.jit
def copy_kernel(
    x_ptr, out_ptr, n_elements, stride,
    BLOCK_SIZE: tl.constexpr, FILL: tl.constexpr = 0, WIDE: tl.constexpr = True, CACHE: tl.constexpr = "", EVICT: tl.constexpr = "",
):  # fmt: skip
    pid = tl.program_id(axis=0)
    if WIDE:  # a constexpr: the branch is taken or gone when the kernel is compiled
        pid = pid.to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets * stride, mask=mask, other=FILL, cache_modifier=CACHE, eviction_policy=EVICT)
    tl.store(out_ptr + offsets, x, mask=mask)
# --8<-- [end:copy]


# %% A start that lies in memory, as a page table has it: nobody but you can know that it is aligned.
# --8<-- [start:window]
@triton.jit
def window_kernel(x_ptr, starts_ptr, out_ptr, ALIGNED: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0).to(tl.int64)
    start = tl.load(starts_ptr + pid)
    if ALIGNED:
        start = tl.multiple_of(start, 16)  # a promise, not a check
    offsets = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    tl.store(out_ptr + pid * BLOCK_SIZE + offsets, tl.load(x_ptr + start + offsets))
# --8<-- [end:window]


# %% Offsets that wrap around, as in a matrix product without a mask on N: the modulo hides that they are contiguous.
# --8<-- [start:wrap]
@triton.jit
def wrap_kernel(x_ptr, out_ptr, n, PROMISED: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    wrapped = offsets % n
    if PROMISED:  # true only where BLOCK_SIZE divides n
        wrapped = tl.max_contiguous(tl.multiple_of(wrapped, BLOCK_SIZE), BLOCK_SIZE)
    tl.store(out_ptr + offsets, tl.load(x_ptr + wrapped))
# --8<-- [end:wrap]


# %% Arithmetic, one operation at a time.
# --8<-- [start:arithmetic]
@triton.jit
def arithmetic_kernel(x_ptr, y_ptr, out_ptr, OP: tl.constexpr):
    offsets = tl.arange(0, 128)  # one element a thread
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    if OP == "exp":
        z = tl.exp(x)
    elif OP == "/":
        z = x / y
    elif OP == "div_rn":
        z = tl.div_rn(x, y)
    elif OP == "sqrt":
        z = tl.sqrt(x)
    elif OP == "sqrt_rn":
        z = tl.sqrt_rn(x)
    else:
        z = x * y + y
    tl.store(out_ptr + offsets, z)
# --8<-- [end:arithmetic]


# --8<-- [start:divide]
@triton.jit
def divide_kernel(out_ptr, WIDTH: tl.constexpr):
    offsets = tl.program_id(axis=0) * 128 + tl.arange(0, 128)
    tl.store(out_ptr + offsets, offsets // WIDTH)


@triton.jit
def divide_by_argument_kernel(out_ptr, width):
    offsets = tl.program_id(axis=0) * 128 + tl.arange(0, 128)
    tl.store(out_ptr + offsets, offsets // width)
# --8<-- [end:divide]


# %% One tile of a matrix product: the loads of a loop, and tl.dot.
# --8<-- [start:dot]
@triton.jit
def dot_kernel(a_ptr, b_ptr, c_ptr, K, stride_am, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr, PRECISION: tl.constexpr = ""):
    offs, offs_k = tl.arange(0, BLOCK), tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + offs[:, None] * stride_am + (k + offs_k)[None, :])  # [BLOCK, BLOCK_K]
        b = tl.load(b_ptr + (k + offs_k)[:, None] * BLOCK + offs[None, :])  # [BLOCK_K, BLOCK]
        if PRECISION == "":
            acc = tl.dot(a, b, acc)  # nothing said: the default of the target
        else:
            acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(c_ptr + offs[:, None] * BLOCK + offs[None, :], acc)
# --8<-- [end:dot]


# %% A row that stays in registers between its maximum and its result: what a softmax keeps, without the exp.
# --8<-- [start:row]
@triton.jit
def center_kernel(x_ptr, out_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64) * n_cols
    cols = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = cols < n_cols
    x = tl.load(x_ptr + row + cols, mask=mask, other=-float("inf"))
    tl.store(out_ptr + row + cols, x - tl.max(x, axis=0), mask=mask)
# --8<-- [end:row]


# %% The launchers: each checks what its kernel takes for granted.
# --8<-- [start:launch]
def checked(ndim, dtypes=DTYPES, **tensors):
    """Raise TypeError or ValueError, naming the tensor, for what the kernel cannot read."""
    first = next(iter(tensors.values()))
    for name, t in tensors.items():
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.is_neg():
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides, its values as they lie in memory")
        if t.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} requires a gradient, and this kernel has no backward: pass {name}.detach()")
        if t.dtype not in dtypes:
            raise TypeError(f"{name} is {t.dtype}; allowed: {', '.join(str(d) for d in dtypes)}")
        if t.device.type != DEVICE or t.device != first.device:
            raise ValueError(f"{name} is on {t.device}; this run needs every tensor on one {DEVICE} device")
        if t.ndim != ndim:
            raise ValueError(f"{name} has {t.ndim} dimensions; it must have {ndim}")


def meet(a, b):
    """Whether the stretches of memory from the first to the last element of a and b overlap."""
    last = [1 + sum((n - 1) * step for n, step in zip(t.shape, t.stride())) for t in (a, b)]
    return a.data_ptr() < b.data_ptr() + last[1] * b.element_size() and b.data_ptr() < a.data_ptr() + last[0] * a.element_size()


def output(out, shape, dtype, **inputs):
    """`out`, or a new tensor beside the inputs; raise for one of another dtype, shape or device, or in the memory of an input."""
    first = next(iter(inputs.values()))
    if out is None:
        return torch.empty(shape, dtype=dtype, device=first.device)
    checked(len(shape), (dtype,), out=out)
    if out.shape != shape or not out.is_contiguous() or out.device != first.device:
        here = f"out is {tuple(out.shape)} with strides {out.stride()} on {out.device}"
        raise ValueError(f"{here}; it must be {tuple(shape)} and contiguous, on {first.device}")
    for name, t in inputs.items():
        if t.numel() and out.numel() and meet(t, out):
            raise ValueError(f"out shares its memory with {name}, which is still being read: pass a tensor of its own")
    return out


def copy(x: torch.Tensor, out: torch.Tensor | None = None, wide: bool = True) -> torch.Tensor:
    """Return the elements of a one-dimensional x, whatever its stride, side by side. With `wide` offsets have 64 bits."""
    checked(1, x=x)
    out, n, stride = output(out, x.shape, x.dtype, x=x), x.numel(), x.stride(0)
    if not wide and (n + 1023) * stride >= 2**31:
        raise ValueError(f"x reaches {n * stride} elements, past what 32 bits can count: leave wide=True")
    if n:
        with torch.cuda.device_of(x):
            copy_kernel[(triton.cdiv(n, 1024),)](x, out, n, stride, BLOCK_SIZE=1024, WIDE=wide)
    return out


def windows(x: torch.Tensor, starts: torch.Tensor, aligned: bool = False, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return the 1024 elements of x from each start, a row for each. `aligned` promises starts divisible by 16."""
    checked(1, x=x), checked(1, (torch.int64,), starts=starts)
    if x.stride(0) != 1 or not starts.is_contiguous() or starts.device != x.device:
        raise ValueError("x and starts must be contiguous and on one device")
    if starts.numel() and (starts.min() < 0 or starts.max() + 1024 > x.numel()):
        raise ValueError(f"starts reach from {starts.min()} to {starts.max()}; x has {x.numel()} elements, and a window takes 1024")
    if aligned and ((starts % 16).any() or x.data_ptr() % 16):
        raise ValueError("aligned promises what does not hold: a start is not divisible by 16, or x is not aligned to 16 bytes")
    out = output(out, (len(starts), 1024), x.dtype, x=x, starts=starts)
    if starts.numel():
        with torch.cuda.device_of(x):
            window_kernel[(len(starts),)](x, starts, out, ALIGNED=aligned, BLOCK_SIZE=1024)
    return out


def repeat(x: torch.Tensor, length: int, promised: bool = False, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return x over and over, length elements of it, length divisible by 1024. `promised`: 1024 divides the length of x."""
    checked(1, x=x)
    if not x.numel() or x.stride(0) != 1 or length % 1024 or length < 0:
        raise ValueError(f"x has {x.numel()} elements and length is {length}; x must be contiguous and not empty, length a multiple of 1024")
    if promised and (x.numel() % 1024 or x.data_ptr() % 16):
        raise ValueError(f"promised does not hold: x has {x.numel()} elements, which 1024 does not divide, or is not aligned to 16 bytes")
    out = output(out, (length,), x.dtype, x=x)
    if length:
        with torch.cuda.device_of(x):
            wrap_kernel[(length // 1024,)](x, out, x.numel(), PROMISED=promised, BLOCK_SIZE=1024)
    return out


def dot(a: torch.Tensor, b: torch.Tensor, precision: str = "ieee", out: torch.Tensor | None = None) -> torch.Tensor:
    """Return a @ b in float32, for a (64, K) and b (K, 64), K divisible by 32. precision: ieee, tf32 or "", the default."""
    checked(2, a=a, b=b)
    if a.shape[0] != 64 or b.shape != (a.shape[1], 64) or a.shape[1] % 32 or a.dtype != b.dtype or not b.is_contiguous() or a.stride(1) != 1:
        given = f"a is {tuple(a.shape)} {a.dtype}, b is {tuple(b.shape)} {b.dtype}"
        raise ValueError(f"{given}; needed: (64, K) and (K, 64), rows straight on, K divisible by 32")
    if 64 * max(a.stride(0), a.shape[1]) >= 2**31:
        raise ValueError(f"a has strides {a.stride()} and {a.shape[1]} columns: 64 rows of either pass what 32 bits can count")
    if precision not in ("ieee", "tf32", ""):
        raise ValueError(f'precision is {precision!r}; allowed: ieee, tf32 and "", which leaves it to the target')
    out = output(out, (64, 64), torch.float32, a=a, b=b)
    with torch.cuda.device_of(a):
        dot_kernel[(1,)](a, b, out, a.shape[1], a.stride(0), BLOCK=64, BLOCK_K=32, PRECISION=precision)
    return out


def center(x: torch.Tensor, num_warps: int = 4, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return each row of x less its maximum, for contiguous rows without NaN."""
    checked(2, x=x)
    if not x.is_contiguous():
        raise ValueError(f"x has strides {x.stride()}, and this kernel reads straight on: pass x.contiguous()")
    if num_warps not in (1, 2, 4, 8, 16, 32):
        raise ValueError(f"num_warps is {num_warps!r}; it must be a power of two up to 32")
    out, block = output(out, x.shape, x.dtype, x=x), triton.next_power_of_2(x.shape[1])
    if block > (limit := num_warps * 32 * PER_LANE):
        way = "pass more warps" if num_warps < 32 else "walk the row in pieces, with a maximum so far, as online softmax does"
        raise ValueError(f"x has {x.shape[1]} columns; with num_warps={num_warps} a row may have {limit}: {way}")
    if x.numel():
        with torch.cuda.device_of(x):
            center_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK_SIZE=block, num_warps=num_warps)
    return out
# --8<-- [end:launch]


# --8<-- [start:launch_arithmetic]
def arithmetic(x: torch.Tensor, y: torch.Tensor, op: str, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return one operation of 128 elements in float32: exp, /, div_rn, sqrt, sqrt_rn, or fma, which is x * y + y."""
    checked(1, (torch.float32,), x=x, y=y)
    if x.shape != (128,) or y.shape != (128,) or x.stride(0) != 1 or y.stride(0) != 1:
        raise ValueError(f"x has {x.numel()} elements and y {y.numel()}; this kernel takes 128 of each, side by side")
    if op not in ("exp", "/", "div_rn", "sqrt", "sqrt_rn", "fma"):
        raise ValueError(f"op is {op!r}; allowed: exp, /, div_rn, sqrt, sqrt_rn, fma")
    out = output(out, x.shape, x.dtype, x=x, y=y)
    with torch.cuda.device_of(x):
        arithmetic_kernel[(1,)](x, y, out, OP=op)
    return out


def divide(n: int, width: int, constant: bool = True, out: torch.Tensor | None = None) -> torch.Tensor:
    """Return 0, 1, … n - 1 divided by width and rounded down, for n divisible by 128; `constant` compiles the width in."""
    if n % 128 or not 0 < n < 2**31 or not 0 < width < 2**31:
        raise ValueError(f"n is {n} and width is {width}; n must be a multiple of 128, and both from 1 to 2**31 - 1")
    out = output(out, (n,), torch.int32, n=torch.empty(0, device=DEVICE))
    with torch.cuda.device_of(out):
        if constant:
            divide_kernel[(n // 128,)](out, WIDTH=width)
        else:
            divide_by_argument_kernel[(n // 128,)](out, width)
    return out
# --8<-- [end:launch_arithmetic]


# %% Compiling for a card that is not there, and reading what comes out.
# --8<-- [start:offline]
class Pointer:
    """Stands for a tensor where nothing is launched: its dtype, and how many elements past an aligned address it starts."""

    def __init__(self, dtype, past=0):
        self.dtype, self.past = dtype, past

    def data_ptr(self):
        return self.past * self.dtype.itemsize

    def ptr_range(self):
        return 0  # AMD's back end asks whether the tensor ends below 2 GiB, where buffer instructions reach: it does

    def __repr__(self):
        return f"{self.dtype} pointer".removeprefix("torch.") + f", {self.past} past" * bool(self.past)


@contextlib.contextmanager
def compiling_for(target):
    """Inside, kernel.warmup(…, grid=(1,)), a launch that ends after compiling, compiles for this target with no such card."""
    driver = types.SimpleNamespace(
        get_current_device=lambda: target,  # variants are kept by device
        get_current_stream=lambda device: 0,
        get_current_target=lambda: GPUTarget(*TARGETS[target][:3]),
    )
    triton.runtime.driver.set_active(driver)
    try:
        yield
    finally:
        triton.runtime.driver.set_active(None)  # back to what the machine has


def afresh(kernel):
    """The jitted function again, with nothing compiled yet and the same rules."""
    return triton.jit(kernel.fn, **{rule: getattr(kernel, rule) for rule in ("do_not_specialize", "do_not_specialize_on_alignment")})


OPCODE = re.compile(r"\s*(?:@!?%\w+ )?([a-z]\w*(?:(?:\.|::)\w+)*)(?=[\s;]|$)")  # behind a predicate, if there is one


def opcodes(made, file=""):
    """Of each instruction in PTX or AMD assembly: its opcode, and the line of `file` that it comes from, 0 if none."""
    line, inline, seen = 0, False, []
    for text in (made.asm.get("ptx") or made.asm["amdgcn"]).splitlines():
        if "inline asm" in text:
            inline = "begin" in text
        elif text.lstrip().startswith(".loc") and not inline:  # for what follows; the comment says where: inner.py:7:3 @[ outer.py:70:26 ]
            trail = re.findall(rf"(?:^|[\s/]){re.escape(file)}:(\d+):\d+", text) if file else []
            line = int(trail[-1]) if trail else 0
        elif found := OPCODE.match(text):
            seen.append((re.sub("_e(32|64)$", "", found[1]), line))  # _e32 and _e64 are two encodings of one instruction
    return seen


def cuobjdump(made, what):
    """What NVIDIA's tool, which comes with Triton, says of the cubin: -res-usage, or -sass, the instructions of the card."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made.asm["cubin"]), file.flush()
        return subprocess.run([triton.knobs.nvidia.cuobjdump.path, what, file.name], capture_output=True, text=True).stdout


def resources(made):
    """Registers of a thread and the bytes it keeps in local memory, which is where spilled registers go."""
    if "cubin" not in made.asm:
        count = {key: int(value) for key, value in re.findall(r"\.(\w+):\s+(\d+)", made.asm["amdgcn"])}
        return count["vgpr_count"], count["private_segment_fixed_size"]
    return tuple(int(re.search(rf"{key}:(\d+)", cuobjdump(made, "-res-usage"))[1]) for key in ("REG", "STACK"))
# --8<-- [end:offline]


# %% The same for a kernel of yours: which line became which instructions.
# --8<-- [start:explain]
LEVELS = ("ttir", "ttgir", "llir", "ptx", "amdgcn", "sass")
POINTERS = {
    "fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
    "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2,
    "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "i1": torch.bool,
}  # fmt: skip
NOTABLE = re.compile(  # memory, tensor cores, barriers, floating point, division; the rest is addresses and bookkeeping
    r"(ld|st)\.(?!param)|cp\.|(ld|st)matrix|w?g?mma|tcgen05|atom|red\.|shfl|bar|mbarrier|fence|div|rem|.*\.b?f(16|32|64)|(ex|lg)2|cvt\.\w+\.\w*f|"
    r"(global|buffer|flat|scratch)_|ds_|s_barrier|v_.*(mfma|wmma|_b?f(16|32|64)|pk_|dot)"
)


def unwrapped(kernel, args, options):
    """The jitted function below the decorators; the first of a tuner's configurations and heuristics join the options."""
    while not isinstance(kernel, triton.JITFunction):
        if isinstance(kernel, triton.runtime.Autotuner):
            options = (kernel.configs[0].all_kwargs() if kernel.configs else {}) | options
        elif isinstance(kernel, triton.runtime.Heuristics):
            known = dict(zip(kernel.arg_names, args)) | options
            options = {name: rule(known) for name, rule in kernel.values.items()} | options
        else:
            here = "interprets: set TRITON_INTERPRET=0 before triton is imported"
            what = here if INTERPRETED else f"got {type(kernel).__name__}: decorate it with @triton.jit"
            raise TypeError(f"explain needs a compiled kernel, and this process {what}")
        kernel = kernel.fn
    return kernel, options


def explain(kernel, *args, target="sm_90", level=None, **options):
    """What the compiler makes of a kernel for a target, as text: by line of its source, or all of one of LEVELS.

    args and options as in a launch; for a tensor also its dtype, an aligned pointer, or Pointer(dtype, 1), one that is not.
    Raises TypeError or ValueError, in one sentence, for what cannot be compiled.
    """
    if target not in TARGETS:
        raise ValueError(f"{target} is no target here; there are {', '.join(TARGETS)}")
    kernel, options = unwrapped(kernel, args, options)
    stand_in = lambda value: Pointer(value) if isinstance(value, torch.dtype) else value
    args, options = [stand_in(value) for value in args], {name: stand_in(value) for name, value in options.items()}
    try:
        inspect.signature(kernel.fn).bind(*args, **{name: value for name, value in options.items() if name in kernel.arg_names})
    except TypeError as error:
        raise ValueError(f"{kernel.__name__} takes {', '.join(kernel.arg_names)}; {error}") from None
    with compiling_for(target), triton.knobs.compilation.scope():
        triton.knobs.compilation.disable_line_info = False
        try:
            made = afresh(kernel).warmup(*args, grid=(1,), **options)
        except Exception as error:  # each pass of the compiler has its own
            lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
            why = lines[-1 if isinstance(error, triton.CompilationError) else 0]  # Triton's own errors say where first, and why last
            raise ValueError(f"{kernel.__name__} does not compile for {target}: {why}") from None
    if level:
        there = [name for name in LEVELS if name in made.asm or name == "sass" and "cubin" in made.asm]
        if level not in there:
            raise ValueError(f"{target} has no {level}; it has {', '.join(there)}")
        return cuobjdump(made, "-sass") if level == "sass" else made.asm[level]
    (registers, local), (*_, lanes, most), m = resources(made), TARGETS[target], made.metadata
    told = [f"{kernel.__name__} for {target}, Triton {triton.__version__}: {m.num_warps} warps of {lanes} lanes, {m.num_stages} stages, "
            f"{registers} registers a thread, {local} bytes of local memory, {m.shared} bytes of shared memory"
            + (f": TOO LARGE, at most {most}" if m.shared > most else "")]  # fmt: skip
    told.append("  lines: " + ", ".join(f"{name} {made.asm[name].count(chr(10))}" for name in LEVELS if name in made.asm))
    source, first = inspect.getsourcelines(kernel.fn)
    file, by_line = os.path.basename(inspect.getsourcefile(kernel.fn)), {}
    for opcode, line in opcodes(made, file):
        if NOTABLE.match(opcode):
            here = by_line.setdefault(line if first <= line < first + len(source) else 0, {})
            here[opcode] = here.get(opcode, 0) + 1
    for line in sorted(by_line, key=lambda line: line or sys.maxsize):
        told.append(f"  {line:4}  {source[line - first].strip()}" if line else "        (no line of the kernel)")
        told += [f"          {count:4} {opcode}" for opcode, count in by_line[line].items()]
    return "\n".join(told)
# --8<-- [end:explain]


# %% The command line for it.
# --8<-- [start:yours]
def value(text):
    """An argument as one writes it at the command line: *fp32, *fp32+1 (not aligned), tl.float16, or a Python literal."""
    if found := re.fullmatch(r"\*(\w+)(?:\+(\d+))?", text):
        if found[1] not in POINTERS:
            raise ValueError(f"{text} is no pointer known here; there are *{', *'.join(POINTERS)}")
        return Pointer(POINTERS[found[1]], int(found[2] or 0))
    if found := re.fullmatch(r"tl\.(\w+)", text):
        if isinstance(getattr(tl, found[1], None), tl.dtype):
            return getattr(tl, found[1])
    with contextlib.suppress(ValueError, SyntaxError):
        return ast.literal_eval(text)
    raise ValueError(f"{text} is no argument: write *fp32 for a pointer, a number, tl.float16, or 'text' in quotes")


def explain_file(what, *words):
    """Print what becomes of a kernel named as 'my.py:my_kernel(*fp32, 98432, BLOCK_SIZE=1024)'; words are targets and one level.

    Returns 0, or 2 after saying in one sentence what cannot be done. A target that fails does not keep the others back.
    """
    try:
        found = re.fullmatch(r"(.+\.py):(\w+)(?:\((.*)\))?", what.strip(), re.S)
        if not found:
            raise ValueError(f"{what} does not name a kernel: write 'my.py:my_kernel(*fp32, 98432, BLOCK_SIZE=1024)'")
        path, name = pathlib.Path(found[1]).resolve(), found[2]
        if unknown := [word for word in words if word not in TARGETS and word not in LEVELS]:
            raise ValueError(f"{unknown[0]} is neither a target ({', '.join(TARGETS)}) nor a level ({', '.join(LEVELS)})")
        if not path.is_file():
            raise ValueError(f"{found[1]} is no file")
        sys.path.insert(0, str(path.parent))
        try:
            spec = importlib.util.spec_from_file_location(path.stem, path)
            module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise ValueError(f"{found[1]} cannot be imported: {type(error).__name__}: {error}") from None
        kernel = getattr(module, name, None)
        kinds = (triton.JITFunction, triton.runtime.Autotuner, triton.runtime.Heuristics)
        if not isinstance(kernel, kinds):
            there = [n for n, v in vars(module).items() if isinstance(v, kinds)]
            has = f"there are {', '.join(there)}" if there else "it has none: decorate one with @triton.jit"
            raise ValueError(f"{name} is no kernel of {found[1]}; {has}")
        if found[3] is None:
            raise ValueError(f"{name} takes {', '.join(kernel.arg_names)}: name them, as in '{found[1]}:{name}(*fp32, 98432, BLOCK_SIZE=1024)'")
        args, options = [], {}
        for part in filter(None, (part.strip() for part in re.split(r",(?![^(\[]*[)\]])", found[3]))):
            key, equals, text = part.partition("=")
            if equals and key.strip().isidentifier():
                options[key.strip()] = value(text.strip())
            else:
                args.append(value(part))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    said, level = set(), next((word for word in words if word in LEVELS), None)
    for target in [word for word in words if word in TARGETS] or ["sm_90", "gfx942"]:
        try:
            print(explain(kernel, *args, target=target, level=level, **options), end="\n\n", flush=True)
        except (TypeError, ValueError) as error:
            if str(error) not in said:  # what holds for every target is said once
                print(error, file=sys.stderr)
            said.add(str(error))
    return 2 if said else 0
# --8<-- [end:yours]


# %% The claims: how each is measured, and the table of what must hold.
def whole(shape, dtype=torch.float32, seed=0):
    """Whole numbers between guards, so small that every product and sum below is exact."""
    gen = torch.Generator(DEVICE).manual_seed(seed)
    return fence(torch.randint(-2, 3, shape, generator=gen, device=DEVICE).to(dtype))


def copy_error(n, stride=1, skip=0, dtype=torch.float32, wide=True):
    x = whole((n * stride + skip,), dtype)
    kept = x.clone()
    copy(x[skip::stride], out=(got := fence(x[skip::stride], output=True)), wide=wide)
    return [(got, reference(kept[skip::stride])), (x, kept)]


def windows_error(starts, aligned=False):
    x, first = whole((4096,)), torch.tensor(starts, device=DEVICE)
    windows(x, first, aligned, out=(got := fence(x.new_empty(len(starts), 1024), output=True)))
    return [(got, torch.stack([reference(x[s : s + 1024]) for s in starts]))]


def repeat_error(n, length, promised):
    x = whole((n,))
    kept = x.clone()
    repeat(x, length, promised, out=(got := fence(x.new_empty(length), output=True)))
    return [(got, reference(kept).repeat(length // n + 1)[:length]), (x, kept)]


def dot_error(K, dtype=torch.float16, precision="ieee"):
    a, b = whole((64, K), dtype), whole((K, 64), dtype, seed=1)
    kept = a.clone(), b.clone()
    dot(a, b, precision, out=(got := fence(torch.empty(64, 64, device=DEVICE), output=True)))
    return [(got, reference(*kept, of="dot")), (a, kept[0]), (b, kept[1])]


def center_error(n_rows, n_cols, num_warps=4):
    x = whole((n_rows, n_cols))
    kept = x.clone()
    center(x, num_warps, out=(got := fence(x, output=True)))
    return [(got, reference(kept, of="center")), (x, kept)]


def arithmetic_error(op, seed=0):
    gen = torch.Generator(DEVICE).manual_seed(seed)
    x, y = (fence(torch.randint(1, 2**12, (128,), generator=gen, device=DEVICE).float()) for _ in "xy")
    kept = x.clone(), y.clone()
    arithmetic(x, y, op, out=(got := fence(x, output=True)))
    return [(got, reference(*kept[: 1 if op == "sqrt_rn" else 2], of=op)), (x, kept[0]), (y, kept[1])]


def divide_error(n, width, constant):
    divide(n, width, constant, out=(got := fence(torch.empty(n, dtype=torch.int32, device=DEVICE), output=True)))
    return [(got, reference(torch.arange(n, device=DEVICE), torch.tensor(width, device=DEVICE), of="divide"))]


def false_promise():
    """1 if windows() refuses a promise of alignment that does not hold."""
    try:
        windows(torch.zeros(4096, device=DEVICE), torch.tensor([3], device=DEVICE), aligned=True)
        torch.cuda.synchronize()
    except ValueError as error:
        return int("aligned promises" in str(error))
    return 0


FP32, FP16, BF16 = Pointer(torch.float32), Pointer(torch.float16), Pointer(torch.bfloat16)
LAUNCHES = {  # how each kernel is compiled unless a claim changes something
    "copy": dict(x_ptr=FP32, out_ptr=FP32, n_elements=1024, stride=1, BLOCK_SIZE=1024),
    "window": dict(x_ptr=FP32, starts_ptr=Pointer(torch.int64), out_ptr=FP32, ALIGNED=False, BLOCK_SIZE=1024),
    "wrap": dict(x_ptr=FP32, out_ptr=FP32, n=1000, PROMISED=False, BLOCK_SIZE=1024),
    "arithmetic": dict(x_ptr=FP32, y_ptr=FP32, out_ptr=FP32, OP="exp"),
    "divide": dict(out_ptr=Pointer(torch.int32), WIDTH=64),
    "divide_by_argument": dict(out_ptr=Pointer(torch.int32), width=64),
    "dot": dict(a_ptr=FP32, b_ptr=FP32, c_ptr=FP32, K=1024, stride_am=1024, BLOCK=64, BLOCK_K=32),
    "center": dict(x_ptr=FP32, out_ptr=FP32, n_cols=4096, BLOCK_SIZE=4096),
}
NVIDIA, AMD = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"), ("gfx90a", "gfx942", "gfx950", "gfx1100")
SHOWS = {  # what a claim counts, as a pattern of opcodes
    "loads": r"ld(\.volatile)?\.global.*|(buffer|global)_load.*",
    "stores": r"st\.global.*|(buffer|global)_store.*",
    "matrix": r"mma\..*|wgmma\.mma.*|tcgen05\.mma.*|v_mfma.*|v_wmma.*|fma\.rn\.f32",
    "way": r"cp\.async\.cg.*|ldmatrix.*|mma\..*|wgmma\.mma.*|buffer_load.*|ds_.*|v_mfma.*",  # of a tile, from memory to product
    "exp": r"mul\.f32|ex2.*",
    "division": r"div.*|v_div.*|v_rcp.*",
    "sqrt": r"sqrt.*",
    "fusion": r"fma\.rn\.f32|mul\.(rn\.)?f32|add\.(rn\.)?f32|v_fmac?_f32|v_mul_f32|v_add_f32",
    "wide": r"mul\.lo\.s64",
    "conversion": r"cvt\.rn\.bf16.*|v_cvt_pk_bf16_f32|v_add3_u32",
}


def compiled(kernel, target, **change):
    """What the compiler makes of one of the kernels above for a target, compiled anew, with this change to its launch."""
    with compiling_for(target):
        return afresh(globals()[f"{kernel}_kernel"]).warmup(grid=(1,), **LAUNCHES[kernel] | change)


def grouped(seen):
    """'sm_80 sm_90: this, gfx942: that' for a dict of targets."""
    return ", ".join(f"{' '.join(t for t in seen if seen[t] == what)}: {what}" for what in dict.fromkeys(seen.values()))


def found(kernel, shows, targets, counted=True, **change):
    """The instructions of one kind in the code for each target, counted or only named; the note holds the first line of each."""
    seen, notes = {}, {}
    for target in targets:
        made, count = compiled(kernel, target, **change), {}
        for opcode, _ in opcodes(made):
            if re.fullmatch(SHOWS[shows], opcode):
                count[opcode] = count.get(opcode, 0) + 1
        seen[target] = " + ".join(f"{n} {opcode}" if counted else opcode for opcode, n in sorted(count.items())) or "none"
        texts = (made.asm.get("ptx") or made.asm["amdgcn"]).splitlines()
        notes[target] = next((" ".join(text.split()) for text in texts for opcode in count if f"{opcode} " in text.replace("_e32", "").replace("_e64", "").replace("\t", " ")), "none")
    return {"value": grouped(seen), "note": grouped(notes)[:1000]}


def load_at(level, target="sm_90"):
    """The load of the copy as one level writes it, names and numbers of values taken out; the note holds it as it stands."""
    made = compiled("copy", target)
    text = cuobjdump(made, "-sass") if level == "sass" else made.asm[level]
    what = {"ttir": r"tt\.load .*?(?= loc)", "ttgir": r"tt\.load .*?(?= loc)", "llir": r"asm sideeffect .*ld\.global.*?;", "ptx": r"@%p\d+ ld\.global.*", "sass": r"@\S+ LDG.*"}[level]
    line = re.search(what, text)[0]
    short = {"llir": r"ld\.global\S+", "sass": r"LDG\S+"}.get(level)
    plain = re.search(short, line)[0] if short else re.sub(r"%\w+", "%", line)
    return {"value": plain, "note": line[:1000]}


def layouts(kernel, targets, **change):
    """The layouts that TTGIR gives to the tensors of a kernel."""
    what, seen, notes = r"#ttg\.(blocked|nvidia_mma<{versionMajor = \d|amd_mfma<{version = \d|swizzled_shared|nvmma_shared)", {}, {}
    for target in targets:
        text = compiled(kernel, target, **change).asm["ttgir"]
        seen[target] = " + ".join(sorted({re.sub(r"<{version(Major)? =", "", name) for name in re.findall(what, text)}))
        notes[target] = next(line for line in text.splitlines() if line.startswith("#blocked" if kernel == "copy" else "#mma"))
    return {"value": grouped(seen), "note": grouped(notes)[:1000]}


def line_of_the_loads():
    """The text of the line that .loc gives for the loads of the copy, with line information on."""
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.disable_line_info = False
        made = compiled("copy", "sm_90")
    source, first = inspect.getsourcelines(copy_kernel.fn)
    lines = {line for opcode, line in opcodes(made, FILE.name) if opcode.startswith("ld.global")}
    return " and ".join(source[line - first].strip().partition("(")[0] for line in lines)


def masked_lanes(**fill):
    """What TTIR asks the lanes of a masked load to hold, and what PTX writes before the load that they skip."""
    made = compiled("copy", "sm_90", n_elements=1023, BLOCK_SIZE=128, **fill)  # one element a thread
    ptx = made.asm["ptx"]
    before, load = re.search(r"(?:mov\.u32 %r\d+, (\S+);\s+)?(@%p\d+ ld\.global\.b32 \{ %r\d+ \})", ptx).groups()
    if before and before.startswith("%"):
        before = f"{int(re.search(rf'mov.b32 +	*{before}, (-?[0-9]+);', ptx)[1]) % 2**32:#x}"
    other = len(re.search(r"tt\.load (.*?) :", made.asm["ttir"])[1].split(", ")) == 3
    return {"value": f"TTIR: {'other' if other else 'no other'}, PTX: mov {before}", "note": load}


def first_spill(targets, num_warps=4):
    """The smallest power of two, from 4096 to 65536, as the block of a row at which registers spill."""
    seen, notes = {}, {}
    for target in targets:
        for size in (4096, 8192, 16384, 32768, 65536):
            registers, local = resources(compiled("center", target, n_cols=size, BLOCK_SIZE=size, num_warps=num_warps))
            notes[target] = f"{registers} registers and {local} bytes at {size}"
            if local:
                break
        seen[target] = size if local else "none"
    return {"value": grouped(seen), "note": grouped(notes)}


def copy_speed(n, ours=(1, 0), theirs=None):
    """Speed in useful bytes of copying n elements, each given as (stride, elements skipped): against another, or torch's copy."""
    def run(stride, skip):
        x = torch.randn(n * stride + skip, device=DEVICE)[skip::stride]
        return functools.partial(copy, x, torch.empty(n, device=DEVICE))

    x, out = torch.randn(2, n, device=DEVICE)
    other = ("torch's copy", lambda: out.copy_(x)) if theirs is None else ("stride {}, {} skipped".format(*theirs), run(*theirs))
    return race(("stride {}, {} skipped".format(*ours), run(*ours)), other, work=(8 * n, 8 * n), unit="B")


def wide_speed(n):
    """Speed of 64-bit offsets against 32-bit ones, with a stride that is no constant."""
    x, out = torch.randn(2 * n, device=DEVICE)[::2], torch.empty(n, device=DEVICE)
    return race(*((f"{bits} bits", functools.partial(copy, x, out, wide=bits == 64)) for bits in (64, 32)), work=(8 * n, 8 * n), unit="B")


def registers_of_row(target, n_cols, num_warps):
    """Registers of a thread; the note says what it keeps in local memory instead."""
    registers, local = resources(compiled("center", target, n_cols=n_cols, BLOCK_SIZE=n_cols, num_warps=num_warps))
    return {"value": registers, "note": f"{local} bytes in local memory"}


def warps_speed(n_rows, n_cols, ours, theirs):
    """Speed of a row of n_cols, a power of two, with one number of warps against another."""
    x = torch.randn(n_rows, n_cols, device=DEVICE)
    out = torch.empty_like(x)
    run = lambda warps: center_kernel[(n_rows,)](x, out, n_cols, BLOCK_SIZE=n_cols, num_warps=warps)  # past what center() allows, too
    return race(*((f"{warps} warps", functools.partial(run, warps)) for warps in (ours, theirs)), work=(2 * x.nbytes,) * 2, unit="B")


# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "copy_odd.max_abs_err": ("error", copy_error, dict(n=2047), 0.0, "any", 0, "a copy rounds nothing; the last block is one element short"),
    "copy_strided.max_abs_err": ("error", copy_error, dict(n=1500, stride=3, skip=1, wide=False), 0.0, "any", 0, "the same, whatever the width of the access"),
    "windows.max_abs_err": ("error", windows_error, dict(starts=[16, 0, 3072], aligned=True), 0.0, "any", 0, "the same, with the promise kept"),
    "windows_anywhere.max_abs_err": ("error", windows_error, dict(starts=[3, 1021]), 0.0, "any", 0, "the same, with nothing promised"),
    "wrapped.max_abs_err": ("error", repeat_error, dict(n=1000, length=4096, promised=False), 0.0, "any", 0, "the same, round and round"),
    "wrapped_promised.max_abs_err": ("error", repeat_error, dict(n=2048, length=4096, promised=True), 0.0, "any", 0, "the same, with a length that keeps the promise"),
    "dot_fp16.max_abs_err": ("error", dot_error, dict(K=256), 0.0, "any", 0, "whole numbers: no sum passes 4 * 256, and fp32 holds them all"),
    "dot_fp32.max_abs_err": ("error", dot_error, dict(K=64, dtype=torch.float32), 0.0, "any", 0, "whole numbers, which TF32 would hold as well"),
    "center.max_abs_err": ("error", center_error, dict(n_rows=3, n_cols=781), 0.0, "any", 0, "differences of small whole numbers"),
    "center_spilled.max_abs_err": ("error", center_error, dict(n_rows=2, n_cols=32767), 0.0, "any", 0, "a spill costs time, never a bit of the result"),
    "div_rn.max_abs_err": ("error", arithmetic_error, dict(op="div_rn"), 0.0, "any", 0, "correctly rounded, as the reference is"),
    "sqrt_rn.max_abs_err": ("error", arithmetic_error, dict(op="sqrt_rn"), 0.0, "any", 0, "the same of a root"),
    "fma.max_abs_err": ("error", arithmetic_error, dict(op="fma"), 0.0, "any", 0, "whole numbers below 2**12: no result passes 2**24, so fp32 holds each, fused or not"),
    "by_constexpr.max_abs_err": ("error", divide_error, dict(n=1024, width=24, constant=True), 0.0, "any", 0, "whole numbers, whatever the compiler makes of the division"),
    "by_argument.max_abs_err": ("error", divide_error, dict(n=1024, width=24, constant=False), 0.0, "any", 0, "the same"),
    "false_promise.refused": ("count", false_promise, {}, 1, "gpu", 0, "the launcher looks, since the kernel cannot"),

    "contiguous.loads": ("codegen", found, dict(kernel="copy", shows="loads", targets=(*NVIDIA, *AMD)), "sm_80 sm_86 sm_89 sm_90 sm_100 sm_120: 2 ld.global.v4.b32, gfx90a gfx942 gfx950: 1 buffer_load_dwordx4, gfx1100: 2 buffer_load_b128", "compile", 0, "1024 elements of 4 bytes for 128 lanes: two accesses of 16 bytes; for 256 lanes: one"),
    "contiguous.stores": ("codegen", found, dict(kernel="copy", shows="stores", targets=("sm_90", "gfx942")), "sm_90: 2 st.global.v4.b32, gfx942: 1 buffer_store_dwordx4", "compile", 0, "stores widen by the same rule"),
    "contiguous_fp16.loads": ("codegen", found, dict(kernel="copy", shows="loads", targets=("sm_90", "gfx942"), x_ptr=FP16, out_ptr=FP16), "sm_90: 1 ld.global.v4.b32, gfx942: 1 buffer_load_dwordx2", "compile", 0, "1024 elements of 2 bytes for 128 lanes: 16 bytes each; for 256 lanes: 8 bytes each"),
    "strided.loads": ("codegen", found, dict(kernel="copy", shows="loads", targets=("sm_90", "gfx942"), stride=2), "sm_90: 8 ld.global.b32, gfx942: 4 buffer_load_dword", "compile", 0, "neighbors lie 8 bytes apart: one access for each element"),
    "misaligned.loads": ("codegen", found, dict(kernel="copy", shows="loads", targets=("sm_90", "gfx942"), x_ptr=Pointer(torch.float32, 1)), "sm_90: 8 ld.global.b32, gfx942: 4 buffer_load_dword", "compile", 0, "contiguous, but only 4 is known to divide the address: 4 bytes at a time"),
    "odd_length.loads": ("codegen", found, dict(kernel="copy", shows="loads", targets=("sm_90", "gfx942"), n_elements=1023), "sm_90: 8 ld.global.b32, gfx942: 4 buffer_load_dword", "compile", 0, "the mask may end inside four elements, and one access has one predicate"),
    "promised.loads": ("codegen", found, dict(kernel="window", shows="loads", targets=("sm_80", "sm_90"), ALIGNED=True), "sm_80 sm_90: 1 ld.global.b64 + 2 ld.global.v4.b32", "compile", 0, "the start, then two accesses of 16 bytes: tl.multiple_of is believed"),
    "unpromised.loads": ("codegen", found, dict(kernel="window", shows="loads", targets=("sm_80", "sm_90")), "sm_80 sm_90: 8 ld.global.b32 + 1 ld.global.b64", "compile", 0, "the start, then one access for each element: memory tells nothing of its value"),
    "wrapped.loads": ("codegen", found, dict(kernel="wrap", shows="loads", targets=("sm_90", "gfx942")), "sm_90: 8 ld.global.b32, gfx942: 4 buffer_load_dword", "compile", 0, "after the modulo nothing is known to be contiguous: one access for each element"),
    "wrapped_promised.loads": ("codegen", found, dict(kernel="wrap", shows="loads", targets=("sm_90", "gfx942"), PROMISED=True), "sm_90: 2 ld.global.v4.b32, gfx942: 1 buffer_load_dwordx4", "compile", 0, "tl.max_contiguous is believed"),
    "cg.loads": ("codegen", found, dict(kernel="copy", shows="loads", targets=("sm_90",), CACHE=".cg"), "sm_90: 2 ld.global.cg.v4.b32", "compile", 0, "the modifier is part of the opcode"),
    "evict_first.loads": ("codegen", found, dict(kernel="copy", shows="loads", targets=("sm_90",), EVICT="evict_first"), "sm_90: 2 ld.global.L1::evict_first.L2::cache_hint.v4.b32", "compile", 0, "the policy too, with a cache hint for L2"),
    "load.ttir": ("codegen", load_at, dict(level="ttir"), "tt.load %, %, % : tensor<1024x!tt.ptr<f32>>", "compile", 0, "a block of pointers, a mask, a fill value: no thread yet"),
    "load.ttgir": ("codegen", load_at, dict(level="ttgir"), "tt.load %, %, % : tensor<1024x!tt.ptr<f32>, #blocked>", "compile", 0, "the same, and a layout: which thread holds what"),
    "copy.layouts": ("codegen", layouts, dict(kernel="copy", targets=("sm_90", "gfx942")), "sm_90 gfx942: blocked", "compile", 0, "loads and stores want neighbors in one thread"),
    "load.llir": ("codegen", load_at, dict(level="llir"), "ld.global.v4.b32", "compile", 0, "one thread, and for NVIDIA the PTX instruction by name already"),
    "load.ptx": ("codegen", load_at, dict(level="ptx"), "@% ld.global.v4.b32 { %, %, %, % }, [ % + 0 ];", "compile", 0, "a predicate, an instruction, four registers, an address"),
    "load.sass": ("codegen", load_at, dict(level="sass"), "LDG.E.128", "compile", 0, "128 bits in one instruction of the card"),
    "load.line": ("codegen", line_of_the_loads, {}, "x = tl.load", "compile", 0, ".loc names file, line and column of what follows"),
    "tile.layouts": ("codegen", layouts, dict(kernel="dot", targets=("sm_89", "sm_90", "gfx942"), a_ptr=FP16, b_ptr=FP16), "sm_89: blocked + nvidia_mma 2 + swizzled_shared, sm_90: blocked + nvidia_mma 3 + nvmma_shared, gfx942: amd_mfma 3 + blocked + swizzled_shared", "compile", 0, "one version of the tensor core, one layout of its operands in shared memory"),

    "no_fill.masked_lanes": ("codegen", masked_lanes, dict(FILL=None), "TTIR: no other, PTX: mov 0x0", "compile", 0, "nothing was asked for; the 0 is this back end's own, and no one has promised it"),
    "fill_zero.masked_lanes": ("codegen", masked_lanes, dict(FILL=0), "TTIR: other, PTX: mov 0x0", "compile", 0, "the same bits, but asked for"),
    "fill_minus_inf.masked_lanes": ("codegen", masked_lanes, dict(FILL=float("-inf")), "TTIR: other, PTX: mov 0xff800000", "compile", 0, "minus infinity in fp32: sign and exponent set, fraction 0"),
    "wide_strided.multiplications": ("codegen", found, dict(kernel="copy", shows="wide", targets=("sm_90",), stride=7), "sm_90: 8 mul.lo.s64", "compile", 0, "8 elements a lane, each offset times the stride in 64 bits"),
    "narrow_strided.multiplications": ("codegen", found, dict(kernel="copy", shows="wide", targets=("sm_90",), stride=7, WIDE=False), "sm_90: none", "compile", 0, "32-bit offsets widen only with the address"),
    "wide_contiguous.multiplications": ("codegen", found, dict(kernel="copy", shows="wide", targets=("sm_90",)), "sm_90: none", "compile", 0, "a stride of 1 is compiled in: nothing is left to multiply"),
    "to_bf16.conversion": ("codegen", found, dict(kernel="copy", shows="conversion", targets=("sm_80", "sm_90", "gfx942", "gfx950"), counted=False, out_ptr=BF16), "sm_80 sm_90: cvt.rn.bf16x2.f32, gfx942: v_add3_u32, gfx950: v_cvt_pk_bf16_f32", "compile", 0, "two values in one instruction; gfx942 has none and rounds with integer additions"),

    "exp.instructions": ("codegen", found, dict(kernel="arithmetic", shows="exp", targets=("sm_80", "sm_90")), "sm_80 sm_90: 1 ex2.approx.f32 + 1 mul.f32", "compile", 0, "exp(x) is 2 to the power x times log2(e): one multiplication, one approximate instruction"),
    "slash.instructions": ("codegen", found, dict(kernel="arithmetic", shows="division", targets=("sm_80", "sm_90"), OP="/"), "sm_80 sm_90: 1 div.full.f32", "compile", 0, "approximate, over the full range"),
    "div_rn.instructions": ("codegen", found, dict(kernel="arithmetic", shows="division", targets=("sm_80", "sm_90"), OP="div_rn"), "sm_80 sm_90: 1 div.rn.f32", "compile", 0, "correctly rounded"),
    "sqrt.instructions": ("codegen", found, dict(kernel="arithmetic", shows="sqrt", targets=("sm_80", "sm_90"), OP="sqrt"), "sm_80 sm_90: 1 sqrt.approx.ftz.f32", "compile", 0, "approximate, and subnormal numbers count as 0"),
    "sqrt_rn.instructions": ("codegen", found, dict(kernel="arithmetic", shows="sqrt", targets=("sm_80", "sm_90"), OP="sqrt_rn"), "sm_80 sm_90: 1 sqrt.rn.f32", "compile", 0, "correctly rounded"),
    "fused.instructions": ("codegen", found, dict(kernel="arithmetic", shows="fusion", targets=("sm_90", "gfx942"), OP="fma"), "sm_90: 1 fma.rn.f32, gfx942: 1 v_fmac_f32", "compile", 0, "one instruction, one rounding"),
    "unfused.instructions": ("codegen", found, dict(kernel="arithmetic", shows="fusion", targets=("sm_90", "gfx942"), OP="fma", enable_fp_fusion=False), "sm_90: 1 add.rn.f32 + 1 mul.rn.f32, gfx942: 1 v_add_f32 + 1 v_mul_f32", "compile", 0, "two instructions, two roundings"),
    "by_constexpr.division": ("codegen", found, dict(kernel="divide", shows="division", targets=("sm_90", "gfx942")), "sm_90 gfx942: none", "compile", 0, "64 is a power of two and known: shifts"),
    "by_argument.division": ("codegen", found, dict(kernel="divide_by_argument", shows="division", targets=("sm_90",)), "sm_90: 1 div.s32", "compile", 0, "the same 64 as an argument: only that 16 divides it is known"),

    "dot_fp16.instruction": ("codegen", found, dict(kernel="dot", shows="matrix", targets=(*NVIDIA, *AMD), counted=False, a_ptr=FP16, b_ptr=FP16), "sm_80 sm_86 sm_89 sm_120: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32, sm_90: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16, sm_100: tcgen05.mma.cta_group::1.kind::f16, gfx90a: v_mfma_f32_32x32x8f16, gfx942: v_mfma_f32_32x32x8_f16, gfx950: v_mfma_f32_32x32x16_f16, gfx1100: v_wmma_f32_16x16x16_f16", "compile", 0, "fp16 in, fp32 accumulator, on every tensor core"),
    "dot_bf16.instruction": ("codegen", found, dict(kernel="dot", shows="matrix", targets=("sm_80", "sm_90", "gfx942"), counted=False, a_ptr=BF16, b_ptr=BF16), "sm_80: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32, sm_90: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16, gfx942: v_mfma_f32_32x32x8_bf16", "compile", 0, "bf16 in, fp32 accumulator"),
    "dot_fp32.instruction": ("codegen", found, dict(kernel="dot", shows="matrix", targets=("sm_80", "sm_89", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx942", "gfx950"), counted=False), "sm_80 sm_89 sm_120: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32, sm_90: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32, sm_100: tcgen05.mma.cta_group::1.kind::tf32, gfx90a: v_mfma_f32_32x32x2f32, gfx942: v_mfma_f32_32x32x4_xf32, gfx950: v_mfma_f32_32x32x2_f32", "compile", 0, "with nothing said: TF32 on NVIDIA, its like on gfx942, full fp32 on the other two"),
    "dot_ieee.instruction": ("codegen", found, dict(kernel="dot", shows="matrix", targets=("sm_80", "sm_90", "gfx942"), counted=False, PRECISION="ieee"), "sm_80 sm_90: fma.rn.f32, gfx942: v_mfma_f32_32x32x2_f32", "compile", 0, "no tensor core of NVIDIA multiplies in fp32; those of gfx942 do"),
    "dot_none.instruction": ("codegen", found, dict(kernel="dot", shows="matrix", targets=("sm_90", "gfx942"), counted=False, PRECISION=None), "sm_90: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32, gfx942: v_mfma_f32_32x32x2_f32", "compile", 0, "input_precision=None is not the same as leaving it out: on gfx942 it means ieee"),
    "dot_2_warps.instruction": ("codegen", found, dict(kernel="dot", shows="matrix", targets=("sm_90", "sm_100"), counted=False, a_ptr=FP16, b_ptr=FP16, num_warps=2), "sm_90 sm_100: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "compile", 0, "4 warps share one wgmma or tcgen05.mma: with 2 the older instruction is left"),
    "tile.way": ("codegen", found, dict(kernel="dot", shows="way", targets=("sm_89", "sm_90", "gfx942"), counted=False, a_ptr=FP16, b_ptr=FP16), "sm_89: cp.async.cg.shared.global + ldmatrix.sync.aligned.m8n8.x4.shared.b16 + ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 + mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32, sm_90: cp.async.cg.shared.global + wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16, gfx942: buffer_load_dwordx4 + ds_read_b64 + ds_read_u16 + ds_write_b128 + ds_write_b64 + v_mfma_f32_32x32x8_f16", "compile", 0, "through registers by ldmatrix; straight from shared memory; through registers on both sides"),

    "row.first_spill": ("codegen", first_spill, dict(targets=("sm_80", "sm_89", "sm_90", "gfx942")), "sm_80 sm_89 sm_90: 32768, gfx942: none", "compile", 0, "at 32768 each of 128 lanes holds 256 values, and a thread has at most 255 registers; gfx942 has 256 lanes of 512 registers"),
    "row_8_warps.first_spill": ("codegen", first_spill, dict(targets=("sm_90",), num_warps=8), "sm_90: 65536", "compile", 0, "twice the lanes, twice the row"),
    "row_32_warps.first_spill": ("codegen", first_spill, dict(targets=("sm_90",), num_warps=32), "sm_90: 65536", "compile", 0, "65536 values for the 65536 registers of an SM: no number of warps helps any more"),
    "row_2_warps.registers": ("codegen", registers_of_row, dict(target="sm_90", n_cols=32768, num_warps=2), 32, "compile", 0, "512 values a thread: ptxas gives up and keeps nearly all of them in local memory"),

    "contiguous.vs_copy": ("ratio", copy_speed, dict(n=2**26), 0.95, "gpu", 2, "memory-bound: as fast as torch's copy, within 5 in 100"),
    "contiguous.vs_misaligned": ("ratio", copy_speed, dict(n=2**26, theirs=(1, 1)), 0.97, "gpu", 2, "the same bytes in four times as many accesses: at least as fast, within 3 in 100"),
    "contiguous.vs_stride_2": ("ratio", copy_speed, dict(n=2**26, theirs=(2, 0)), 1.4, "gpu", 3, "4 bytes read and 4 written against 8 read and 4 written: 1.5, less 7 in 100"),
    "contiguous.vs_stride_8": ("ratio", copy_speed, dict(n=2**26, theirs=(8, 0)), 4.1, "gpu", 4, "4 read and 4 written against 32 read, the least that memory gives, and 4 written: 4.5, less 9 in 100"),
    "wide.vs_narrow": ("ratio", wide_speed, dict(n=2**26), 0.97, "gpu", 2, "memory-bound: the multiplications hide behind the loads, within 3 in 100"),
    "fitting.vs_spilling": ("ratio", warps_speed, dict(n_rows=4096, n_cols=32768, ours=32, theirs=4), 1.0, "gpu", 2, "few values spill, and caches hold them: it may cost little, but it never gains"),
    "fitting.vs_given_up": ("ratio", warps_speed, dict(n_rows=4096, n_cols=32768, ours=32, theirs=2), 1.5, "gpu", 2, "each value is written and read at least once more: four trips for two, of which a quarter may hide"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "no_mask": ("copy", "offsets < n_elements", "offsets >= 0", "copy_odd.max_abs_err", "guard", "the last block writes one element past the end"),
    "no_other": ("copy", "other=FILL, ", "", "fill_minus_inf.masked_lanes", "error", "the padding is 0, by habit of the back end, where a maximum needs minus infinity"),
    "every_other": ("copy", "tl.arange(0, BLOCK_SIZE)", "(tl.arange(0, BLOCK_SIZE) ^ 1)", "contiguous.loads", "error", "pairs swapped: the same bytes, but no longer in order, so one access for each element"),
    "promise_unchecked": ("launch", "if aligned and (", "if aligned and 0 * (", "false_promise.refused", "fault", "a wide access at an odd address: the card stops"),
    "fp32_is_fp32": ("dot", "input_precision=PRECISION", "input_precision=None", "dot_ieee.instruction", "error", "fp32 in, fp32 out, TF32 in between"),
    "rounds_right": ("arithmetic", "tl.div_rn(x, y)", "x / y", "div_rn.instructions", "error", "the approximate instruction"),
    "argument_for_constexpr": ("divide", "out_ptr, WIDTH: tl.constexpr", "out_ptr, WIDTH", "by_constexpr.division", "error", "a division for each element"),
    "two_rows_at_once": ("row", "x - tl.max(x, axis=0), mask", "x - tl.max(x, axis=0) + tl.cumsum(x, axis=0), mask", "row.first_spill", "error", "the row twice in registers: it spills earlier"),
}
# fmt: on


def command():
    """What `python triton_codegen.py …` does: explain a kernel of yours where one is named, else judge the claims."""
    return explain_file(*sys.argv[1:]) if YOURS else main()


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
