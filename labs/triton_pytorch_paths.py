# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Which path really ran: one operator as eager PyTorch, as Inductor's Triton, as a kernel of your own and from the library.

Learn:   how to prove which kernels ran, what torch.compile sees of yours, when it compiles again, what breaks a fusion
Run:     python triton_pytorch_paths.py           every claim, then every break
         python triton_pytorch_paths.py --bench   only the speed, on a GPU
Memory:  4 GiB
Card:    any NVIDIA card since Ampere; with none, Triton's interpreter, and Dynamo, which needs no card
Minutes: 3
"""

# %% Where it runs: on a GPU if one is visible, else in Triton's interpreter. Chosen before triton is imported.
import collections
import contextlib
import functools
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import time
import types

import torch
import torch.nn.functional as F
from torch.library import custom_op, triton_op, wrap_triton
from torch.utils._python_dispatch import TorchDispatchMode

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

torch._logging.set_logs(dynamo=logging.ERROR)  # graph breaks and compiling again are claims here, not warnings

INTERPRETED = triton.knobs.runtime.interpret
DEVICE = "cpu" if INTERPRETED else "cuda"

EPS = 1e-6
MAX_COLS = 16_384  # one program holds a row: 16 warps × 32 lanes × 32 elements in registers
DTYPES = (torch.float32, torch.float16) if INTERPRETED else (torch.float32, torch.float16, torch.bfloat16)  # the interpreter truncates to bf16


# %% The operator: a residual added, then RMSNorm. What is right: y from the very r that is returned, in float64.
# --8<-- [start:reference]
def reference(x, residual, weight, eps=EPS):
    r = x + residual  # one correctly rounded addition
    wide = r.double()
    return wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * weight.double(), r
# --8<-- [end:reference]


# %% Path 1, eager: every line is a kernel. Path 2, Inductor: torch.compile of the same lines. Path 3, the library's kernel.
# --8<-- [start:eager]
def eager(x, residual, weight, eps=EPS):
    r = x + residual
    wide = r.to(torch.promote_types(r.dtype, torch.float32))  # fp16 and bf16 square and sum in fp32
    y = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps) * weight
    return y.to(x.dtype), r


def library(x, residual, weight, eps=EPS):
    r = x + residual
    return F.rms_norm(r, weight.shape, weight, eps), r
# --8<-- [end:eager]


# %% Path 4: a kernel of one's own.
# --8<-- [start:kernel]
@triton.jit
def add_rms_norm_kernel(x_ptr, residual_ptr, weight_ptr, y_ptr, r_ptr, n_cols, eps, stride_xm, stride_rm, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)  # 64 bits, since row * stride can pass 2**31
    cols = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE], a power of two and at least n_cols
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0).to(tl.float32)
    residual = tl.load(residual_ptr + row * stride_rm + cols, mask=mask, other=0).to(tl.float32)
    r = (x + residual).to(r_ptr.dtype.element_ty)  # rounded as eager rounds it, before it is used again
    tl.store(r_ptr + row * n_cols + cols, r, mask=mask)
    wide = r.to(tl.float32)
    mean = tl.sum(wide * wide, axis=0) / n_cols  # of the columns that exist: the lanes past them hold 0
    weight = tl.load(weight_ptr + cols, mask=mask, other=0).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, wide * tl.rsqrt(mean + eps) * weight, mask=mask)
# --8<-- [end:kernel]


# %% The kernel as an operator of PyTorch, with a name, a shape function and a gradient; and once more as one that stays shut.
# --8<-- [start:op]
def launch(kernel, x, residual, weight, eps):
    (n_rows, n_cols), block = x.shape, triton.next_power_of_2(x.shape[1])
    y, r = (torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device) for _ in "yr")
    with torch.cuda.device_of(x):  # a launch goes to the current device, not to the tensor's
        kernel[(n_rows,)](
            x, residual, weight, y, r, n_cols, eps, x.stride(0), residual.stride(0), BLOCK_SIZE=block, num_warps=min(max(block // 256, 1), 16)
        )
    return y, r


@triton_op("triton_by_proof::add_rms_norm", mutates_args=())
def add_rms_norm_op(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    kernel = add_rms_norm_kernel if INTERPRETED else wrap_triton(add_rms_norm_kernel)  # torch 2.11 wraps nothing that is interpreted
    return launch(kernel, x, residual, weight, eps)


@custom_op("triton_by_proof::add_rms_norm_opaque", mutates_args=())
def opaque_op(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    return launch(add_rms_norm_kernel, x, residual, weight, eps)


@add_rms_norm_op.register_fake
@opaque_op.register_fake
def shapes(x, residual, weight, eps):
    return torch.empty(x.shape, dtype=x.dtype, device=x.device), torch.empty(x.shape, dtype=x.dtype, device=x.device)


def keep(ctx, inputs, output):
    ctx.save_for_backward(output[1], inputs[2])
    ctx.eps = inputs[3]


def backward(ctx, grad_y, grad_r):
    r, weight = (t.float() for t in ctx.saved_tensors)
    scale = torch.rsqrt(r.square().mean(-1, keepdim=True) + ctx.eps)
    grad = grad_y.float() * weight
    grad_x = (scale * (grad - r * scale.square() * (grad * r).mean(-1, keepdim=True)) + grad_r.float()).to(grad_y.dtype)
    return grad_x, grad_x, (grad_y.float() * r * scale).sum(0).to(grad_y.dtype), None


add_rms_norm_op.register_autograd(backward, setup_context=keep)
# --8<-- [end:op]


# %% The one function that callers see: it checks, then takes the kernel, or says why it cannot.
# --8<-- [start:launch]
def why_not(x, residual, weight):
    """Why the kernel cannot take these tensors, or nothing."""
    if x.dtype not in DTYPES:
        return f"x is {x.dtype}; the kernel takes {', '.join(str(d) for d in DTYPES)}"
    if x.device.type != DEVICE:
        return f"x is on {x.device}; the kernel runs on {DEVICE}"
    if x.shape[1] > MAX_COLS or x.shape[0] >= 2**31:
        return f"x is {tuple(x.shape)}; one program holds a row of at most {MAX_COLS:,}, and a grid fewer than 2**31 programs"
    for name, t in (("x", x), ("residual", residual), ("weight", weight)):
        if t.shape[-1] > 1 and t.stride(-1) != 1:
            return f"{name} has strides {t.stride()}; the kernel reads a row straight on"
    return "" if x.numel() else "x is empty; there is nothing to launch"


def add_rms_norm(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float = EPS, fallback: bool = True):
    """Return (y, r): r = x + residual, rounded to their dtype, and y = r / sqrt(mean(r * r) + eps) * weight, row by row, both contiguous.

    x and residual are 2-D and alike, weight has one element a column; all share dtype and device. What the kernel cannot
    take goes to eager, or raises ValueError where fallback is False. Raises TypeError for what is no tensor of floating
    point with strides, ValueError for shapes, dtypes and devices that do not fit together.
    """
    for name, t in (("x", x), ("residual", residual), ("weight", weight)):
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided:
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides")
        if not t.is_floating_point() or t.dtype.itemsize == 1:
            raise TypeError(f"{name} is {t.dtype}; it must be a dtype of floating point, of 16 bits or more")
        if t.dtype != x.dtype or t.device != x.device:
            raise ValueError(f"{name} is {t.dtype} on {t.device}; it must be as x, {x.dtype} on {x.device}")
    if x.ndim != 2 or residual.shape != x.shape or weight.shape != x.shape[1:]:
        given = ", ".join(f"{name} is {tuple(t.shape)}" for name, t in (("x", x), ("residual", residual), ("weight", weight)))
        raise ValueError(f"{given}; needed: (rows, columns), the same, (columns,)")
    if not isinstance(eps, (int, float)):
        raise TypeError(f"eps is {type(eps).__name__}; it must be a number")
    reason = why_not(x, residual, weight)
    if reason and not fallback:
        raise ValueError(reason)
    if reason:
        return tuple(t.contiguous() for t in eager(x, residual, weight, eps))  # eager keeps the strides of x, the kernel does not
    return add_rms_norm_op(x, residual, weight, eps)
# --8<-- [end:launch]


# %% What comes after a norm in a quantized model. As plain lines a compiler can put all of it into one kernel.
# --8<-- [start:block]
def quantized(norm, x, residual, weight, scale):
    y, r = norm(x, residual, weight)
    return torch.round(y.float() / scale).clamp(-128, 127).to(torch.int8), r  # scale: one element, on the device
# --8<-- [end:block]


# %% A rewrite of the graph before it is compiled: where quantization follows the operator, the plain lines, which can be fused.
# --8<-- [start:rewrite]
def pattern(x, residual, weight, scale):
    y, r = add_rms_norm_op(x, residual, weight, EPS)
    return torch.round(y.float() / scale).clamp(-128, 127).to(torch.int8), r


def rewritten(graph):
    """Put eager's lines in place of the operator wherever the graph holds the pattern; return how often that was."""
    plain = lambda x, residual, weight, scale: quantized(eager, x, residual, weight, scale)
    return len(torch.fx.replace_pattern(graph, pattern, plain))
# --8<-- [end:rewrite]


# %% How to prove which path ran: the operators that PyTorch was asked for, the kernels that the GPU ran, the graphs made.
# --8<-- [start:proof]
class Asked(TorchDispatchMode):
    """Inside, names lists every operator that reaches the dispatcher, on any device."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **kwargs or {})


def ran(call):
    """The names of the kernels that one call runs on the GPU, in order; it has run before, so nothing is compiled."""
    call()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        call()
        torch.cuda.synchronize()
    return [event.name for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]


class Made:
    """A backend for torch.compile that keeps every graph it is given, runs it as it is, and counts the calls."""

    def __init__(self):
        self.graphs, self.calls = [], 0

    def __call__(self, graph, inputs):
        def run(*args):
            self.calls += 1
            return graph.forward(*args)

        self.graphs.append(graph)
        return run


def rewriting(graph, inputs):
    """A backend: the rewrite, then Inductor."""
    rewritten(graph)
    return torch._dynamo.lookup_backend("inductor")(graph, inputs)
# --8<-- [end:proof]


# %% How to compile for a card that is not there, and how to time one that is.
@contextlib.contextmanager
def compiling_for(*target):
    """Inside, whoever asks for the GPU is told of this target; without a card nothing can be launched."""
    driver = types.SimpleNamespace(get_current_device=lambda: 0, get_current_stream=lambda device: 0, get_current_target=lambda: GPUTarget(*target))
    triton.runtime.driver.set_active(driver)
    try:
        yield
    finally:
        triton.runtime.driver.set_active(None)


def clock(call):
    """Milliseconds from the call to the end of the work that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


# %% The claims: how each is measured, and the table of what must hold.
def draw(n_rows, n_cols, dtype=torch.float32, mean=0.0, device=None):
    """x, residual and weight, the same for the same arguments; r has this mean."""
    gen = torch.Generator(device or DEVICE).manual_seed(0)
    x, residual = (torch.randn(n_rows, n_cols, generator=gen, device=gen.device) + mean / 2 for _ in "xr")
    return x.to(dtype), residual.to(dtype), (1 + torch.rand(n_cols, generator=gen, device=gen.device)).to(dtype)


def inductor(x, residual, weight):
    return torch.compile(eager)(x, residual, weight)


PATHS = {"eager": eager, "inductor": inductor, "library": library, "triton": functools.partial(add_rms_norm, fallback=False)}
PATHS["opaque"] = lambda x, residual, weight: opaque_op(x, residual, weight, EPS)


def judged(call, tensors, of="y"):
    """(got, want) of y or of r, with inputs between guards that watch that they keep their values."""
    inside = [fence(t) for t in tensors]
    FENCES.extend((t.view(torch.uint8), t.clone().view(torch.uint8)) for t in inside)
    got, want = call(*inside), reference(*tensors)
    return got["yr".index(of)], want["yr".index(of)]


def error(path, n_cols, n_rows=5, dtype=torch.float32, mean=0.0, of="y", as_eager=False):
    """One path at these widths; with as_eager Inductor is asked to round wherever eager rounds."""
    torch._dynamo.reset()
    with torch._inductor.config.patch(emulate_precision_casts=True) if as_eager else contextlib.nullcontext():
        return [judged(PATHS[path], draw(n_rows, n, dtype, mean), of) for n in n_cols]


def edges(n_cols, n_rows=5):
    """The kernel alone, at widths that fill no block, its results between guards and full of NaN before it runs."""
    for n in n_cols:
        tensors = draw(n_rows, n)
        y, r = fence(tensors[0], output=True), fence(tensors[0], output=True)
        add_rms_norm_kernel[(n_rows,)](*(fence(t) for t in tensors), y, r, n, EPS, n, n, BLOCK_SIZE=triton.next_power_of_2(n))
        yield from zip((y, r), reference(*tensors))


def views():
    """The kernel on views whose rows are whole: cut, off alignment, skipped, one row for all."""
    x, residual, weight = draw(8, 96)
    for part in ((..., slice(0, 37)), (..., slice(1, None)), (slice(None, None, 2), ...)):
        given = x[part], residual[part], weight[part[1]].clone() if part[0] is ... else weight
        yield PATHS["triton"](*given)[0], reference(*(t.clone() for t in given))[0]
    yield PATHS["triton"](x[:1].expand(8, 96), residual, weight)[0], reference(x[:1].expand(8, 96).clone(), residual, weight)[0]


ODD = {  # what the kernel cannot take, and eager can
    "float64": lambda: draw(5, 1000, torch.float64),
    "wide": lambda: draw(2, MAX_COLS + 1),
    "apart": lambda: [t[..., ::2] for t in draw(5, 200)],
    "transposed": lambda: [t.t() for t in draw(100, 100)[:2]] + [torch.ones(100, device=DEVICE)],
    "cpu": lambda: draw(5, 1000, device="cpu"),
    "empty": lambda: draw(0, 1000),
}


def fallback(kind):
    """add_rms_norm on what the kernel cannot take."""
    given = ODD[kind]()
    return [(add_rms_norm(*given)[0], reference(*(t.clone() for t in given))[0])]


def parity(n_cols, dtype=torch.float32):
    """The kernel against eager itself, on the same tensors."""
    given = draw(5, n_cols, dtype)
    return [(PATHS["triton"](*given)[0], eager(*given)[0])]


def taken(kinds):
    """How many of these, and of float32 and float16, go where they should: the kernel's operator for those two, eager for the rest."""
    given = {"float32": draw(5, 100), "float16": draw(5, 100, torch.float16), **{kind: ODD[kind]() for kind in kinds}}
    went = {}
    for kind, tensors in given.items():
        with Asked() as asked:
            add_rms_norm(*tensors)
        went[kind] = "kernel" if "triton_by_proof.add_rms_norm.default" in asked.names else "eager"
    right = sum((where == "kernel") == (kind in ("float32", "float16")) for kind, where in went.items())
    return {"value": right, "note": ", ".join(f"{kind}: {where}" for kind, where in went.items())}


def contiguous(kinds):
    """How many of the results for these lie in memory as the kernel's would: contiguous."""
    return sum(t.is_contiguous() for kind in kinds for t in add_rms_norm(*ODD[kind]()))


def gradients(n_rows, n_cols):
    """The three gradients against float64, for r of 1 and 3, weights of 1 and 2 and whole gradients below 4: every sum is exact."""
    gen = torch.Generator(DEVICE).manual_seed(0)
    pick = lambda *shape, low, high: torch.randint(low, high, shape, generator=gen, device=DEVICE).float()
    x, residual, weight = 2 * pick(n_rows, n_cols, low=-2, high=1) + 2, pick(n_rows, n_cols, low=0, high=1) + 1, pick(n_cols, low=1, high=3)
    grads = pick(n_rows, n_cols, low=-3, high=4), pick(n_rows, n_cols, low=-3, high=4)
    for call, cast in ((PATHS["triton"], torch.Tensor.float), (reference, torch.Tensor.double)):
        leaves = [cast(t.detach().clone()).requires_grad_() for t in (x, residual, weight)]
        torch.autograd.backward(call(*leaves), [cast(g) for g in grads])
        yield [leaf.grad for leaf in leaves]


def gradient_error(n_rows, n_cols):
    return list(zip(*gradients(n_rows, n_cols)))


def opcheck(tests, dtype=torch.float32):
    """How many of PyTorch's own tests of an operator's registration pass."""
    found = torch.library.opcheck(add_rms_norm_op, (*draw(3, 17, dtype), EPS), test_utils=tests, raise_exception=False)
    return {"value": sum(result == "SUCCESS" for result in found.values()), "note": ", ".join(f"{t}: {str(r)[:100]}" for t, r in found.items())}


def traced():
    """What of the operator is left in the graph that a backend such as Inductor is given, aten's own operators aside."""
    from torch._dynamo.backends.common import aot_autograd  # its imports take a second
    from functorch.compile import make_boxed_func

    seen = []

    def compiler(graph, inputs):
        called = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
        seen.extend(target for target in called if not target.startswith(("aten", "<built-in")))
        return make_boxed_func(lambda *args: [torch.zeros(2, 16)] * 2)  # nothing runs

    torch._dynamo.reset()
    with compiling_for("cuda", 90, 32):
        torch.compile(add_rms_norm_op, backend=aot_autograd(fw_compiler=compiler))(*draw(2, 16, device="cpu"), EPS)
    return " ".join(seen)


def graphs(calls, dynamic=None, marked=False, counts="graphs"):
    """How many graphs torch.compile makes of eager for (rows, dtype) after (rows, dtype), or how many calls run one."""
    torch._dynamo.reset()
    made = Made()
    compiled = torch.compile(eager, backend=made, dynamic=dynamic)
    for n_rows, dtype in calls:
        x, residual, weight = draw(n_rows, 8, dtype)
        if marked:
            torch._dynamo.mark_dynamic(x, 0), torch._dynamo.mark_dynamic(residual, 0)
        compiled(x, residual, weight)
    return made.calls if counts == "calls" else len(made.graphs)


def block(norm, n_rows=2, dtype=torch.float32):
    """The norm and the quantization after it as one function, norm one of PATHS; and its arguments."""
    given = (*draw(n_rows, 4096 if dtype == torch.bfloat16 else 16, dtype), torch.tensor([0.03], device=DEVICE))
    return functools.partial(quantized, PATHS[norm]), given


def graph_breaks(norm):
    """How often torch.compile has to leave its graph between the norm and the end of the quantization."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    call, given = block(norm)
    torch.compile(call, backend=Made())(*given)
    found = torch._dynamo.utils.counters["graph_break"]
    return {"value": sum(found.values()), "note": " | ".join(found)[:1000]}


def block_error(norm, rewrite):
    """The int8 codes, of the graph as it is or rewritten, against those of the reference."""
    torch._dynamo.reset()
    call, given = block(norm, n_rows=64)
    made = (lambda graph, inputs: rewritten(graph) and graph.forward) if rewrite else Made()
    y, _ = reference(*(t.clone() for t in given[:3]))
    return [(torch.compile(call, backend=made)(*given)[0], torch.round(y / given[3].double()).clamp(-128, 127))]


def matches():
    """How often the pattern is found in the graph of the norm and the quantization after it."""
    torch._dynamo.reset()
    call, given = block("triton")
    torch.compile(call, backend=(made := Made()))(*given)
    return sum(rewritten(graph) for graph in made.graphs)


def named(names):
    """A row of the record: how many kernels of each origin, and their names in order."""
    origin = lambda n: "Inductor" if n.startswith("triton_") and "_fused_" in n else "PyTorch" if "at::" in n or "native" in n else n
    counted = collections.Counter(origin(n) for n in names)
    return {"value": ", ".join(f"{count} {name}" for name, count in sorted(counted.items())), "note": " | ".join(n[:120] for n in names)[:1000]}


def kernels_run(path, dtype=torch.bfloat16, n_cols=4096):
    """Which kernels one call of a path runs."""
    torch._dynamo.reset()
    given = draw(64, n_cols, dtype)
    return named(ran(lambda: PATHS[path](*given)))


def block_run(norm, how="inductor"):
    """Which kernels the norm and the quantization after it run: plain, compiled, or rewritten and compiled."""
    torch._dynamo.reset()
    call, given = block(norm, 64, torch.bfloat16)
    call = call if how == "plain" else torch.compile(call, backend=rewriting if how == "rewritten" else "inductor")
    return named(ran(lambda: call(*given)))


def generated(n_cols, n_rows=64):
    """What Inductor writes for this shape: how many kernels, and in them loops over a row, loads and stores."""
    from torch._inductor.utils import run_and_get_code

    _, codes = run_and_get_code(torch.compile(eager, dynamic=False), *draw(n_rows, n_cols, torch.bfloat16))
    kernels = [text[text.index("def triton_") :] for text in re.findall(r"'''(.*?)'''", codes[0], re.S)]
    words = {"loops": "for r0_offset in", "loads": "tl.load(", "stores": "tl.store("}
    counts = {"kernels": len(kernels)} | {name: sum(kernel.count(word) for kernel in kernels) for name, word in words.items()}
    lines = [line.strip() for kernel in kernels for line in kernel.splitlines() if any(w in line for w in ("tl.load(", "tl.store(", "tl.sum(", "for r"))]
    return {"value": ", ".join(f"{name} {count}" for name, count in counts.items()), "note": " | ".join(lines)[:1000]}


def past_limit():
    """Which kernels run once torch.compile has compiled for as many shapes as it may, here two."""
    torch._dynamo.reset()
    compiled = torch.compile(eager, dynamic=False)
    with torch._dynamo.config.patch(recompile_limit=2):
        for n_rows in (16, 32, 48):
            last = functools.partial(compiled, *draw(n_rows, 4096, torch.bfloat16))
            last()
        return named(ran(last))


def young():
    """In a new process: milliseconds of the first call and of later ones, for the kernel and for Inductor; Inductor's cache hits."""
    given = draw(64, 4096, torch.bfloat16)
    calls = {"triton": lambda: PATHS["triton"](*given), "inductor": functools.partial(torch.compile(eager), *given)}
    ms = {name: [clock(call) for _ in range(50)] for name, call in calls.items()}
    return ms | {"hits": torch._dynamo.utils.counters["inductor"]["fxgraph_cache_hit"]}


@functools.cache
def processes():
    """young() in two processes, the first with empty caches on disk, the second with what that left."""
    code = f"import importlib, json, sys; sys.path.insert(0, sys.argv[1]); print(json.dumps(importlib.import_module({FILE.stem!r}).young()))"
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"TRITON_CACHE_DIR": f"{folder}/triton", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
        runs = [subprocess.run([sys.executable, "-B", "-c", code, FILE.parent], env=env, capture_output=True, text=True) for _ in range(2)]
    for run in runs:
        if run.returncode:
            raise RuntimeError(f"a new process failed: {run.stderr[-300:]}")
    return [json.loads(run.stdout.splitlines()[-1]) for run in runs]


def first_call(path, cache, against):
    """How many times longer a path's first call in a new process takes, with empty or filled caches on disk."""
    runs = dict(zip(("empty", "filled"), processes()))
    first = {name: run[path][:1] for name, run in runs.items()}
    other = ("later calls", [ms for run in runs.values() for ms in run[path][1:]]) if against == "later" else ("filled caches", first["filled"])
    return times(f"{path}, {cache} caches", first[cache], f"{path}, {other[0]}", other[1])


def cache_hits(cache):
    """How many graphs Inductor finds compiled on disk in the first process, or in the second."""
    return processes()[cache == "filled"]["hits"]


def times(name, ours, other, theirs):
    """The row of a ratio of times: how many times longer ours is, at its median, its tenth and its ninetieth percentile."""
    row, base = {"timings": []}, sorted(theirs)[len(theirs) // 2]
    for key, ms in ((name, sorted(ours)), (other, sorted(theirs))):
        p10, p50, p90 = (ms[int(len(ms) * q)] for q in (0.1, 0.5, 0.9))
        row["timings"].append({"name": key, "p10_ms": p10, "median_ms": p50, "p90_ms": p90, "repeats": len(ms), "work": 1, "unit": "call"})
    return row | {key: row["timings"][0][ms] / base for key, ms in (("value", "median_ms"), ("low", "p10_ms"), ("high", "p90_ms"))}


def moved(named_before):
    """How often one kernel is compiled, before Inductor builds a kernel in this process and after, from an empty cache."""
    compiles, x = [], torch.ones(8, 16, device=DEVICE)
    launch = lambda: triton.jit(add_rms_norm_kernel.fn)[(8,)](x, x, x[0], torch.empty_like(x), torch.empty_like(x), 16, EPS, 16, 16, BLOCK_SIZE=16)
    with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ), triton.knobs.compilation.scope():
        os.environ |= {"TRITON_HOME": folder, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "TRITON_CACHE_DIR": f"{folder}/triton"}
        if not named_before:
            del os.environ["TRITON_CACHE_DIR"]
        triton.knobs.compilation.listener = lambda src, cache_hit, **rest: compiles.extend([src.name] * (not cache_hit))
        launch()
        torch._dynamo.reset()
        with torch._inductor.config.patch(compile_threads=1):  # in this process, as the first kernel always is
            torch.compile(lambda t: (t * named_before + 3).relu())(x)
        launch()
        now = os.environ.get("TRITON_CACHE_DIR", "unset").removeprefix(folder)
        return {"value": compiles.count("add_rms_norm_kernel"), "note": f"TRITON_CACHE_DIR is now {now}"}


def speed(ours, theirs, n_rows):
    """Bytes a second of one path against another or a copy, replayed from a CUDA graph: two tensors to read, two to write."""
    torch._dynamo.reset()
    given = draw(n_rows, 4096, torch.bfloat16)
    calls = {name: functools.partial(path, *given) for name, path in PATHS.items()} | {"copy": lambda: given[0].copy_(given[1])}
    calls["inductor"] = functools.partial(torch.compile(eager, dynamic=False), *given)
    work = [(2 if name == "copy" else 4) * given[0].nbytes for name in (ours, theirs)]
    return race((ours, calls[ours]), (theirs, calls[theirs]), work=work, unit="B", graph=True)


def latency(ours, theirs, n_rows):
    """How many times longer one call of theirs takes than one of ours, from Python to the end of its kernels."""
    torch._dynamo.reset()
    given = draw(n_rows, 4096, torch.bfloat16)
    calls = {name: functools.partial(path, *given) for name, path in PATHS.items()} | {"kernel": lambda: launch(add_rms_norm_kernel, *given, EPS)}
    calls["inductor"] = functools.partial(torch.compile(eager, dynamic=False), *given)
    calls |= {f"compiled {name}": functools.partial(torch.compile(PATHS[name], dynamic=False), *given) for name in ("triton", "opaque")}
    ms = {ours: [], theirs: []}
    for turn in range(220):
        for name in ms:
            ms[name].append(clock(calls[name]))
    return times(theirs, ms[theirs][20:], ours, ms[ours][20:])


def block_speed(ours, theirs, n_rows):
    """The norm and the quantization after it, compiled, with one path as the norm against another."""
    torch._dynamo.reset()
    blocks = {name: block(name, n_rows, torch.bfloat16) for name in (ours, theirs)}
    runs = [(name, functools.partial(torch.compile(call, dynamic=False), *given)) for name, (call, given) in blocks.items()]
    return race(*runs, work=(n_rows * 4096,) * 2, unit="element", graph=True)


# What a bound counts, in u = 2**-24 and relative to the largest result, for y = r / sqrt(mean(r * r) + eps) * weight:
#   3           half of 6 below the root: the square 1, the approximate division 4, the sum with eps 1
#   4           rsqrt itself, within 2 ulp
#   2           two products
#   n / 64 + 5  half of the additions, one after another, over at least 32 lanes: n / 32, then log2 of the lanes, at most 10
# None of it depends on the data: squares do not cancel. r counts for nothing where y is made of the r that is returned.
FP32, FP16, BF16 = torch.float32, torch.float16, torch.bfloat16
WIDTHS = (1, 3, 17, 127, 1000, 1025)

# fmt: off
CLAIMS = {  # case.metric: kind, measure, arguments, bound, judges (any, gpu, compile), GiB, the reason for the bound
    "eager_fp32.max_rel_err": ("error", error, dict(path="eager", n_cols=WIDTHS, mean=100.0), 31 * 2**-24, "any", 0, "in u = 2**-24: 9 for a square, a division, rsqrt and two products, 22 for half of the additions; the widths fill no block"),
    "library_fp32.max_rel_err": ("error", error, dict(path="library", n_cols=WIDTHS, mean=100.0), 31 * 2**-24, "any", 0, "the same count for another kernel"),
    "triton_fp32.max_rel_err": ("error", error, dict(path="triton", n_cols=WIDTHS, mean=100.0), 31 * 2**-24, "any", 0, "the same; lanes past the end of a row must add nothing to the sum and not count in the mean"),
    "inductor_fp32.max_rel_err": ("error", error, dict(path="inductor", n_cols=(127, 1025), mean=100.0), 31 * 2**-24, "gpu", 0, "the same; the second width makes it compile for any width"),
    "eager_fp16.max_rel_err": ("error", error, dict(path="eager", n_cols=(1000,), n_rows=64, dtype=FP16), 2**-11 + 31 * 2**-24, "any", 0, "half an ulp of fp16 for y, before it 31 u as in fp32; r is taken as it is returned"),
    "library_fp16.max_rel_err": ("error", error, dict(path="library", n_cols=(1000,), n_rows=64, dtype=FP16), 2**-11 + 31 * 2**-24, "any", 0, "the same: it is given the r that was rounded"),
    "triton_fp16.max_rel_err": ("error", error, dict(path="triton", n_cols=(1000,), n_rows=64, dtype=FP16), 2**-11 + 31 * 2**-24, "any", 0, "the same: it rounds r before it goes on"),
    "inductor_fp16.max_rel_err": ("error", error, dict(path="inductor", n_cols=(1000,), n_rows=64, dtype=FP16), 3 * 2**-11 + 44 * 2**-24, "gpu", 0, "one half ulp more for r, which it normalizes before rounding, and one for the mean of such r"),
    "inductor_as_eager_fp16.max_rel_err": ("error", error, dict(path="inductor", n_cols=(1000,), n_rows=64, dtype=FP16, as_eager=True), 2**-11 + 31 * 2**-24, "gpu", 0, "told to round wherever eager rounds, it keeps eager's bound"),
    "opaque_fp32.max_rel_err": ("error", error, dict(path="opaque", n_cols=(1025,)), 31 * 2**-24, "any", 0, "the same kernel under another name"),
    "triton_bf16.max_rel_err": ("error", error, dict(path="triton", n_cols=(1000, 4096), dtype=BF16), 2**-8 + 80 * 2**-24, "gpu", 0, "half an ulp of bf16, before it 9 u and half of 138 additions"),
    "inductor_wide_fp16.max_rel_err": ("error", error, dict(path="inductor", n_cols=(4096,), n_rows=64, dtype=FP16), 2 * 2**-11 + 84 * 2**-24, "gpu", 0, "a row that takes more than one block: r comes back from memory, rounded; only its mean was made of more"),
    "inductor_wide_bf16.max_rel_err": ("error", error, dict(path="inductor", n_cols=(4096,), dtype=BF16), 2 * 2**-8 + 2**-15, "gpu", 0, "the same in bf16"),
    "r_fp16.max_abs_err": ("error", error, dict(path="triton", n_cols=(1000,), n_rows=64, dtype=FP16, of="r"), 0.0, "any", 0, "one correctly rounded addition"),
    "inductor_r_fp16.max_abs_err": ("error", error, dict(path="inductor", n_cols=(1000,), n_rows=64, dtype=FP16, of="r"), 0.0, "gpu", 0, "the r that it returns is rounded; the r that it uses is not"),
    "edges_fp32.max_rel_err": ("error", edges, dict(n_cols=WIDTHS), 31 * 2**-24, "any", 0, "the same in y, nothing in r; and no store touches what lies beside them"),
    "views_fp32.max_rel_err": ("error", views, {}, 31 * 2**-24, "any", 0, "rows may lie any distance apart, and on top of each other"),
    "fallback_fp64.max_rel_err": ("error", fallback, dict(kind="float64"), 62 * 2**-53, "any", 0, "eager keeps float64: 31 roundings of 2**-53 in it and as many in the reference"),
    "fallback_wide.max_rel_err": ("error", fallback, dict(kind="wide"), 271 * 2**-24, "any", 0, "eager, with half of 522 additions"),
    "fallback_apart.max_rel_err": ("error", fallback, dict(kind="apart"), 31 * 2**-24, "any", 0, "eager reads any strides; in u as above"),
    "fallback_cpu.max_rel_err": ("error", fallback, dict(kind="cpu"), 31 * 2**-24, "gpu", 0, "eager runs where its tensors are; in u as above"),
    "parity_fp32.max_rel_err": ("error", parity, dict(n_cols=1000), 62 * 2**-24, "any", 0, "two results, each within 31 u of the right one"),
    "gradients_fp32.max_abs_err": ("error", gradient_error, dict(n_rows=6, n_cols=100), 1400 * 2**-24, "any", 0, "in u: 810 for the mean times r, 540 for the rest, from terms below 60 and exact sums; the gradient of weight needs less"),
    "fallback.taken": ("count", taken, dict(kinds=("float64", "wide", "apart", "empty")), 6, "any", 0, "each of six goes where it should"),
    "fallback.contiguous": ("count", contiguous, dict(kinds=("apart", "transposed", "wide")), 6, "any", 0, "callers see the same strides, whichever path made them"),
    "fallback_cpu.taken": ("count", taken, dict(kinds=("cpu",)), 3, "gpu", 0, "a tensor on the CPU never reaches the kernel"),
    "opcheck.passed": ("count", opcheck, dict(tests=("test_schema", "test_autograd_registration", "test_faketensor"), dtype=FP16), 3, "any", 0, "schema, autograd registration and shapes without data; the fourth test compiles, which an interpreted kernel cannot"),
    "opcheck_compiled.passed": ("count", opcheck, dict(tests=("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")), 4, "gpu", 0, "all four, the last one through the whole compiler with sizes that vary"),
    "op.traced": ("codegen", traced, {}, "triton_kernel_wrapper_functional", "compile", 0, "the kernel itself, not a call of the operator"),
    "same_shape.graphs": ("count", graphs, dict(calls=((4, FP32),) * 3), 1, "any", 0, "one graph serves every call of its shape"),
    "other_rows.graphs": ("count", graphs, dict(calls=((4, FP32), (5, FP32), (6, FP32), (7, FP32))), 2, "any", 0, "the second number of rows makes a graph for any number"),
    "dynamic.graphs": ("count", graphs, dict(calls=((4, FP32), (5, FP32), (6, FP32), (7, FP32)), dynamic=True), 1, "any", 0, "any number of rows from the start"),
    "marked.graphs": ("count", graphs, dict(calls=((4, FP32), (5, FP32), (6, FP32), (7, FP32)), marked=True), 1, "any", 0, "the same, for the one dimension that was marked"),
    "static.graphs": ("count", graphs, dict(calls=((4, FP32), (5, FP32), (6, FP32), (7, FP32)), dynamic=False), 4, "any", 0, "one for each number of rows"),
    "one_row.graphs": ("count", graphs, dict(calls=((4, FP32), (5, FP32), (1, FP32)), dynamic=True), 2, "any", 0, "1 is never taken for any number"),
    "dtypes.graphs": ("count", graphs, dict(calls=((4, FP32), (4, FP16)), dynamic=True), 2, "any", 0, "a dtype is part of the graph"),
    "limit.graphs": ("count", graphs, dict(calls=tuple((n, FP32) for n in range(2, 14)), dynamic=False), 8, "any", 0, "eight versions of one function, and no more"),
    "limit.compiled_calls": ("count", graphs, dict(calls=tuple((n, FP32) for n in range(2, 14)), dynamic=False, counts="calls"), 8, "any", 0, "of twelve calls the last four ran as plain Python, with no error"),
    "block_eager.graph_breaks": ("count", graph_breaks, dict(norm="eager"), 0, "any", 0, "nothing here needs a value in Python"),
    "block_triton.graph_breaks": ("count", graph_breaks, dict(norm="triton"), 0, "any", 0, "nor does the launcher: shapes, dtypes, strides and devices are known without data"),
    "block_triton.max_abs_err": ("error", block_error, dict(norm="triton", rewrite=False), 1.0, "any", 0, "an error far below a step can move what lies in the middle of two steps: one step"),
    "block_rewritten.max_abs_err": ("error", block_error, dict(norm="triton", rewrite=True), 1.0, "any", 0, "the same after the rewrite"),
    "rewrite.matches": ("count", matches, {}, 1, "any", 0, "the pattern is in the graph once"),
    "eager.kernels": ("codegen", kernels_run, dict(path="eager"), "9 PyTorch", "gpu", 0, "add, cast, square, mean, plus eps, rsqrt, two products, cast"),
    "inductor.kernels": ("codegen", kernels_run, dict(path="inductor"), "1 Inductor", "gpu", 0, "all of it in one"),
    "library.kernels": ("codegen", kernels_run, dict(path="library"), "2 PyTorch", "gpu", 0, "the sum, then the norm"),
    "triton.kernels": ("codegen", kernels_run, dict(path="triton"), "1 add_rms_norm_kernel", "gpu", 0, "ours"),
    "past_limit.kernels": ("codegen", past_limit, {}, "9 PyTorch", "gpu", 0, "compiled for two shapes, the third runs as eager does"),
    "block_plain.kernels": ("codegen", block_run, dict(norm="eager", how="plain"), "14 PyTorch", "gpu", 0, "nine for the norm, then cast, division, round, clamp, cast"),
    "block_eager.kernels": ("codegen", block_run, dict(norm="eager"), "1 Inductor", "gpu", 0, "norm and quantization in one"),
    "block_library.kernels": ("codegen", block_run, dict(norm="library"), "1 Inductor", "gpu", 0, "the library's kernel is gone: rms_norm was taken apart before it was compiled"),
    "block_triton.kernels": ("codegen", block_run, dict(norm="triton"), "1 Inductor, 1 add_rms_norm_kernel", "gpu", 0, "a kernel of one's own is a wall: y goes to memory and back"),
    "block_opaque.kernels": ("codegen", block_run, dict(norm="opaque"), "1 Inductor, 1 add_rms_norm_kernel", "gpu", 0, "and so is an opaque one"),
    "block_rewritten.kernels": ("codegen", block_run, dict(norm="triton", how="rewritten"), "1 Inductor", "gpu", 0, "the rewrite took the wall away"),
    "width_1024.generated": ("codegen", generated, dict(n_cols=1024), "kernels 1, loops 0, loads 3, stores 2", "gpu", 0, "a row in one block: x, residual and weight in, r and y out"),
    "width_4096.generated": ("codegen", generated, dict(n_cols=4096), "kernels 1, loops 2, loads 4, stores 2", "gpu", 0, "a row in pieces, twice: the second loop reads r again"),
    "width_16384.generated": ("codegen", generated, dict(n_cols=16384), "kernels 3, loops 1, loads 6, stores 4", "gpu", 0, "few and long rows: each is cut in two, so that more programs have work"),
    "width_16384_many.generated": ("codegen", generated, dict(n_cols=16384, n_rows=4096), "kernels 1, loops 2, loads 4, stores 2", "gpu", 1, "many long rows: as at 4096"),

    "unset.compiles": ("count", moved, dict(named_before=False), 2, "gpu", 0, "Inductor named its own folder for the whole process, and the same kernel was not found there"),
    "set.compiles": ("count", moved, dict(named_before=True), 1, "gpu", 0, "what was set before stays"),
    "empty.cache_hits": ("count", cache_hits, dict(cache="empty"), 0, "gpu", 1, "nothing is there yet"),
    "filled.cache_hits": ("count", cache_hits, dict(cache="filled"), 1, "gpu", 1, "the one graph is found"),
    "inductor_empty.vs_later": ("ratio", first_call, dict(path="inductor", cache="empty", against="later"), 1000, "gpu", 1, "import Inductor, trace, lower, write Triton, compile it, load it"),
    "inductor_filled.vs_later": ("ratio", first_call, dict(path="inductor", cache="filled", against="later"), 500, "gpu", 1, "a graph on disk is traced all the same, to know what to look for"),
    "inductor_empty.vs_filled": ("ratio", first_call, dict(path="inductor", cache="empty", against="filled"), 1.2, "gpu", 1, "what the caches on disk save"),
    "triton_empty.vs_later": ("ratio", first_call, dict(path="triton", cache="empty", against="later"), 500, "gpu", 1, "start Triton, compile one kernel, load it; there is no graph to trace"),
    "triton_filled.vs_later": ("ratio", first_call, dict(path="triton", cache="filled", against="later"), 20, "gpu", 1, "the kernel is on disk, and Triton still has to start and load it"),

    "prefill.triton_vs_copy": ("ratio", speed, dict(ours="triton", theirs="copy", n_rows=2**14), 0.9, "gpu", 2, "nothing is read twice and nothing is written that is not returned"),
    "prefill.inductor_vs_copy": ("ratio", speed, dict(ours="inductor", theirs="copy", n_rows=2**14), 0.9, "gpu", 2, "r is read again, from a cache that still holds it"),
    "prefill.library_vs_copy": ("ratio", speed, dict(ours="library", theirs="copy", n_rows=2**14), 0.7, "gpu", 2, "8 of the 10 bytes that it moves are needed: 0.8 at best"),
    "prefill.eager_vs_copy": ("ratio", speed, dict(ours="eager", theirs="copy", n_rows=2**14), 0.1, "gpu", 4, "8 of 46 bytes: 0.17 at best"),
    "prefill.triton_vs_inductor": ("ratio", speed, dict(ours="triton", theirs="inductor", n_rows=2**14), 0.95, "gpu", 2, "both move the same bytes"),
    "prefill.triton_vs_library": ("ratio", speed, dict(ours="triton", theirs="library", n_rows=2**14), 1.15, "gpu", 2, "10 bytes against 8: 1.25 by the count"),
    "decode.triton_vs_library": ("ratio", speed, dict(ours="triton", theirs="library", n_rows=32), 1.3, "gpu", 1, "one kernel against two, both too short for bytes to matter"),
    "decode.triton_vs_inductor": ("ratio", speed, dict(ours="triton", theirs="inductor", n_rows=32), 0.85, "gpu", 1, "one kernel each"),
    "call.library_vs_triton": ("ratio", latency, dict(ours="library", theirs="triton", n_rows=32), 1.4, "gpu", 1, "two launches from C++ against one from Python"),
    "call.library_vs_inductor": ("ratio", latency, dict(ours="library", theirs="inductor", n_rows=32), 1.2, "gpu", 1, "and against guards, then one launch"),
    "call.kernel_vs_triton": ("ratio", latency, dict(ours="kernel", theirs="triton", n_rows=32), 1.2, "gpu", 1, "checks, dispatcher and autograd come before the launch"),
    "call.triton_vs_eager": ("ratio", latency, dict(ours="triton", theirs="eager", n_rows=32), 0.8, "gpu", 1, "nine launches from C++ cost about what one from Python does"),
    "call.open_vs_opaque": ("ratio", latency, dict(ours="compiled triton", theirs="compiled opaque", n_rows=32), 1.1, "gpu", 1, "compiled code launches a kernel that it sees, and asks Python for one that it does not"),
    "block.eager_vs_triton": ("ratio", block_speed, dict(ours="eager", theirs="triton", n_rows=2**14), 1.3, "gpu", 2, "11 bytes against 7: 1.57 by the count"),
}

BREAKS = {  # name: section, its text, what it becomes, the claim that must fail, how, what one sees
    "mean_of_block": ("kernel", "/ n_cols  #", "/ BLOCK_SIZE  #", "triton_fp32.max_rel_err", "error", "the mean of a row is taken over lanes that do not exist"),
    "late_rounding": ("kernel", ".to(r_ptr.dtype.element_ty)  #", "  #", "triton_fp16.max_rel_err", "error", "y is made of an r that nobody gets"),
    "no_mask": ("kernel", "* weight, mask=mask)", "* weight)", "edges_fp32.max_rel_err", "guard", "lanes past the end of the last row write where nothing is theirs"),
    "tight_rows": ("kernel", "row * stride_xm", "row * n_cols", "views_fp32.max_rel_err", "error", "rows of a slice are read from the wrong places"),
    "opaque": ("op", "@triton_op(", "@custom_op(", "op.traced", "error", "the compiler sees a name in place of a kernel"),
    "fake_dtype": ("op", "return torch.empty(x.shape, dtype=x.dtype", "return torch.empty(x.shape, dtype=torch.float32", "opcheck.passed", "error", "the compiler is told of another dtype than the kernel returns"),
    "undeclared_mutation": ("op", "y, r, n_cols", "y, residual, n_cols", "opcheck.passed", "error", "the operator writes into residual and says that it writes into nothing"),
    "no_dtype_check": ("launch", "if x.dtype not in DTYPES:", "if x.dtype == torch.int8:", "fallback_fp64.max_rel_err", "error", "float64 goes through a kernel that computes in float32"),
    "eager_strides": ("launch", "tuple(t.contiguous() for t in eager(x, residual, weight, eps))", "eager(x, residual, weight, eps)", "fallback.contiguous", "error", "what the fallback returns lies in memory in another order"),
    "item": ("block", "/ scale)", "/ scale.item())", "block_eager.graph_breaks", "error", "Python waits for a number, and the graph ends there"),
    "check_of_values": ("launch", "t.layout != torch.strided:", "t.layout != torch.strided or t.is_neg():", "block_triton.graph_breaks", "error", "a check that asks the tensor for a truth value splits the graph"),
    "other_spelling": ("block", "y.float()", "y.to(torch.float32)", "rewrite.matches", "error", "the same cast spelled otherwise, and the pattern is not found"),
    "opaque_norm": ("block", "norm(x, residual, weight)", "opaque_op(x, residual, weight, EPS)", "block_eager.kernels", "error", "one fused kernel becomes two"),
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
