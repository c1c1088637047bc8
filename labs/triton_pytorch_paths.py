# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.11,<2.15", "triton>=3.6,<3.10; sys_platform == 'linux'", "numpy"]
# ///
"""Which path really ran: one operator by eager PyTorch, Inductor, your own kernel, the library.

Learn:   how to prove which kernels ran, what torch.compile sees of yours, when it compiles again,
         what breaks a fusion
Run:     python triton_pytorch_paths.py           every claim, then every seeded bug
         python triton_pytorch_paths.py --bench   only the speed, on a GPU
Memory:  4 GiB
GPU:     any NVIDIA GPU since Ampere; with none, Triton's interpreter, and Dynamo
Minutes: 3
"""

# --8<-- [start:companions]
import sys

try:
    from judge import DEVICE, INTERPRETED, Bug, Claim, main, supported
    from observe import (
        Asked,
        Made,
        Paths,
        compiles_around_inductor,
        forget_graphs,
        gradients,
        passed_tests,
        traced_targets,
    )
    from offline import TARGETS, compiling_for
except ModuleNotFoundError as missing:
    print(f"{missing}: download this lab as one file, or run proof bundle", file=sys.stderr)
    sys.exit(2)
# --8<-- [end:companions]

import contextlib
import functools

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.library import custom_op, triton_op, wrap_triton

EPS = 1e-6
MAX_COLS = 16_384  # one program holds a row: 16 warps × 32 lanes × 32 elements in registers
FP32, FP16, BF16 = torch.float32, torch.float16, torch.bfloat16
DTYPES = supported(FP32, FP16, BF16)
WIDTHS = (1, 3, 17, 127, 1000, 1025)


# %% Path 1: eager, a kernel for each line. Path 2: torch.compile of it. Path 3: the library.
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


# %% Path 4: a kernel of your own.
# --8<-- [start:kernel]
@triton.jit
def add_rms_norm_kernel(
    x_ptr, residual_ptr, weight_ptr, y_ptr, r_ptr, n_cols, eps, stride_xm, stride_rm,
    BLOCK_SIZE: tl.constexpr
):  # fmt: skip
    row = tl.program_id(axis=0).to(tl.int64)  # 64 bits, since row * stride can pass 2**31
    cols = tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE], a power of two and at least n_cols
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_xm + cols, mask=mask, other=0).to(tl.float32)
    residual = tl.load(residual_ptr + row * stride_rm + cols, mask=mask, other=0).to(tl.float32)
    r = (x + residual).to(r_ptr.dtype.element_ty)  # rounded as eager rounds it
    tl.store(r_ptr + row * n_cols + cols, r, mask=mask)
    wide = r.to(tl.float32)
    mean = tl.sum(wide * wide, axis=0) / n_cols  # columns that exist; lanes past them hold 0
    weight = tl.load(weight_ptr + cols, mask=mask, other=0).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, wide * tl.rsqrt(mean + eps) * weight, mask=mask)
    # --8<-- [end:kernel]


# %% The kernel as an operator of PyTorch, with name, shape function and gradient; then opaque.
# --8<-- [start:op]
def launch(kernel, x, residual, weight, eps):
    (n_rows, n_cols), block = x.shape, triton.next_power_of_2(x.shape[1])
    y, r = (torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device) for _ in "yr")
    tensors, strides = (x, residual, weight, y, r), (x.stride(0), residual.stride(0))
    warps = min(max(block // 256, 1), 16)
    with torch.cuda.device_of(x):  # a launch goes to the current device, not to the tensor's
        kernel[(n_rows,)](*tensors, n_cols, eps, *strides, BLOCK_SIZE=block, num_warps=warps)
    return y, r


@triton_op("triton_by_proof::add_rms_norm", mutates_args=())
def add_rms_norm_op(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    if INTERPRETED:  # torch 2.11 wraps nothing that is interpreted
        return launch(add_rms_norm_kernel, x, residual, weight, eps)
    return launch(wrap_triton(add_rms_norm_kernel), x, residual, weight, eps)


@custom_op("triton_by_proof::add_rms_norm_opaque", mutates_args=())
def opaque_op(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    return launch(add_rms_norm_kernel, x, residual, weight, eps)


@add_rms_norm_op.register_fake
@opaque_op.register_fake
def shapes(x, residual, weight, eps):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    return y, torch.empty(x.shape, dtype=x.dtype, device=x.device)


def keep(ctx, inputs, output):
    ctx.save_for_backward(output[1], inputs[2])
    ctx.eps = inputs[3]


def backward(ctx, grad_y, grad_r):
    r, weight = (t.float() for t in ctx.saved_tensors)
    scale = torch.rsqrt(r.square().mean(-1, keepdim=True) + ctx.eps)
    grad = grad_y.float() * weight
    along_r = r * scale.square() * (grad * r).mean(-1, keepdim=True)
    grad_x = (scale * (grad - along_r) + grad_r.float()).to(grad_y.dtype)
    grad_weight = (grad_y.float() * r * scale).sum(0).to(grad_y.dtype)
    return grad_x, grad_x, grad_weight, None


add_rms_norm_op.register_autograd(backward, setup_context=keep)
# --8<-- [end:op]


# %% The one function that callers see: it checks, then takes the kernel, or says why it cannot.
# --8<-- [start:launch]
def add_rms_norm(x, residual, weight, eps=EPS, fallback=True):
    """Return (y, r): r = x + residual, rounded to their dtype, and y = RMSNorm(r) * weight.

    x and residual are 2-D and alike, weight has one element a column; all share dtype and device.
    RMSNorm divides each row by sqrt(mean(r * r) + eps). Both results are contiguous. What the
    kernel cannot take goes to eager, or raises ValueError where fallback is False. Raises TypeError
    for what is no tensor of floating point with strides, ValueError for what does not fit together.
    """
    check_alike(x, residual, weight, eps)
    reason = why_not(x, residual, weight)
    if reason and not fallback:
        raise ValueError(reason)
    if reason:  # eager keeps the strides of x, the kernel does not
        return tuple(t.contiguous() for t in eager(x, residual, weight, eps))
    return add_rms_norm_op(x, residual, weight, eps)


def why_not(x, residual, weight):
    """Why the kernel cannot take these tensors, or nothing."""
    if x.dtype not in DTYPES:
        return f"x is {x.dtype}; the kernel takes {', '.join(str(d) for d in DTYPES)}"
    if x.device.type != DEVICE:
        return f"x is on {x.device}; the kernel runs on {DEVICE}"
    if x.shape[1] > MAX_COLS or x.shape[0] >= 2**31:
        return f"x is {tuple(x.shape)}; at most {MAX_COLS:,} columns and 2**31 - 1 rows"
    for name, t in (("x", x), ("residual", residual), ("weight", weight)):
        if t.shape[-1] > 1 and t.stride(-1) != 1:
            return f"{name} has strides {t.stride()}; the kernel reads a row contiguously"
    return "" if x.numel() else "x is empty; there is nothing to launch"
    # --8<-- [end:launch]


# %% What no path can take. All of it is known without data, so torch.compile can trace it.
# --8<-- [start:checks]
def check_alike(x, residual, weight, eps):
    """Raises what `add_rms_norm` says."""
    tensors = (("x", x), ("residual", residual), ("weight", weight))
    for name, t in tensors:
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided:
            raise TypeError(f"{name} is {type(t).__name__}; it must be a torch.Tensor with strides")
        if not t.is_floating_point() or t.dtype.itemsize == 1:
            raise TypeError(f"{name} is {t.dtype}; it must be floating point, of 16 bits or more")
        if t.dtype != x.dtype or t.device != x.device:
            raise ValueError(
                f"{name} is {t.dtype} on {t.device}; it must be as x, {x.dtype} on {x.device}"
            )
    if x.ndim != 2 or residual.shape != x.shape or weight.shape != x.shape[1:]:
        given = ", ".join(f"{name} is {tuple(t.shape)}" for name, t in tensors)
        raise ValueError(f"{given}; needed: (rows, columns), the same, (columns,)")
    if not isinstance(eps, (int, float)):
        raise TypeError(f"eps is {type(eps).__name__}; it must be a number")
    # --8<-- [end:checks]


# %% What comes after a norm in a quantized model. As plain lines a compiler can fuse all of it.
# --8<-- [start:block]
def quantized(norm, x, residual, weight, scale):
    y, r = norm(x, residual, weight)
    # scale is one element, on the device
    return torch.round(y.float() / scale).clamp(-128, 127).to(torch.int8), r
    # --8<-- [end:block]


# %% A rewrite of the graph before it is compiled: the operator gives way to lines that fuse.
# --8<-- [start:rewrite]
def pattern(x, residual, weight, scale):
    y, r = add_rms_norm_op(x, residual, weight, EPS)
    return torch.round(y.float() / scale).clamp(-128, 127).to(torch.int8), r


def plain(x, residual, weight, scale):
    return quantized(eager, x, residual, weight, scale)


def rewritten(graph):
    """Put eager's lines in place of the operator and its quantization; return how often."""
    return len(torch.fx.replace_pattern(graph, pattern, plain))


def rewriting(graph, inputs):
    """A backend: the rewrite, then Inductor."""
    rewritten(graph)
    return torch._dynamo.lookup_backend("inductor")(graph, inputs)
    # --8<-- [end:rewrite]


# %% What is correct: y from the very r that is returned, in float64.
# --8<-- [start:reference]
def reference(x, residual, weight, eps=EPS):
    r = x + residual  # one correctly rounded addition
    wide = r.double()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    return wide * scale * weight.double(), r
    # --8<-- [end:reference]


# %% How each claim is measured: kernels that ran, graphs and speed by measures, of observe.py.
def make_inputs(n_rows, n_cols, dtype=FP32, mean=0.0, device=DEVICE):
    """x, residual and weight, the same for the same arguments; r has this mean."""
    draw = dict(generator=torch.Generator(device).manual_seed(0), device=device)
    x, residual = (torch.randn(n_rows, n_cols, **draw) + mean / 2 for _ in "xr")
    weight = 1 + torch.rand(n_cols, **draw)
    return x.to(dtype), residual.to(dtype), weight.to(dtype)


PATHS = {
    "eager": eager,
    "inductor": lambda *inputs: torch.compile(eager)(*inputs),
    "library": library,
    "triton": functools.partial(add_rms_norm, fallback=False),
    "opaque": lambda *inputs: opaque_op(*inputs, EPS),
    "kernel": lambda *inputs: launch(add_rms_norm_kernel, *inputs, EPS),
}
measures = Paths(globals().get("__file__"), PATHS, make_inputs, quantized, rewriting)


def error(guards, path, n_cols, n_rows=5, dtype=FP32, mean=0.0, of="y", as_eager=False):
    """One path at these widths; with as_eager Inductor is asked to round wherever eager rounds."""
    forget_graphs()
    patch = torch._inductor.config.patch(emulate_precision_casts=True)
    which = "yr".index(of)
    with patch if as_eager else contextlib.nullcontext():
        for n in n_cols:
            inputs = make_inputs(n_rows, n, dtype, mean)
            results = PATHS[path](*(guards.input(t) for t in inputs))
            yield results[which], reference(*inputs)[which]


def edges(guards, n_cols, n_rows=5):
    """The kernel alone, at widths that fill no block, its results between guards."""
    for n in n_cols:
        inputs = make_inputs(n_rows, n)
        block = triton.next_power_of_2(n)
        results = guards.output_like(inputs[0]), guards.output_like(inputs[0])
        tensors = (*(guards.input(t) for t in inputs), *results)
        add_rms_norm_kernel[(n_rows,)](*tensors, n, EPS, n, n, BLOCK_SIZE=block)
        yield from zip(results, reference(*inputs), strict=True)


def y_pair(call, inputs):
    """(y, its reference), for inputs that may be views."""
    return call(*inputs)[0], reference(*(t.clone() for t in inputs))[0]


def views():
    """The kernel on views whose rows are whole: cut, off alignment, skipped, one row for all."""
    x, residual, weight = make_inputs(8, 96)
    for columns in (slice(0, 37), slice(1, None)):
        cut = x[:, columns], residual[:, columns], weight[columns].clone()
        yield y_pair(PATHS["triton"], cut)
    yield y_pair(PATHS["triton"], (x[::2], residual[::2], weight))
    yield y_pair(PATHS["triton"], (x[:1].expand(8, 96), residual, weight))


ODD = {  # what the kernel cannot take, and eager can
    "float64": lambda: make_inputs(5, 1000, torch.float64),
    "wide": lambda: make_inputs(2, MAX_COLS + 1),
    "apart": lambda: [t[..., ::2] for t in make_inputs(5, 200)],
    "transposed": lambda: [t.t() for t in make_inputs(100, 100)],  # weight is 1-D, and stays
    "cpu": lambda: make_inputs(5, 1000, device="cpu"),
    "empty": lambda: make_inputs(0, 1000),
}


def fallback(kind):
    """add_rms_norm on what the kernel cannot take."""
    return [y_pair(add_rms_norm, ODD[kind]())]


def parity(n_cols, dtype=FP32):
    """The kernel against eager itself, on the same tensors."""
    inputs = make_inputs(5, n_cols, dtype)
    return [(PATHS["triton"](*inputs)[0], eager(*inputs)[0])]


def taken(kinds):
    """How many of these, and of float32 and float16, go where they should: eager, or the kernel."""
    inputs = {"float32": make_inputs(5, 100), "float16": make_inputs(5, 100, FP16)}
    went = {}
    for kind, tensors in (inputs | {kind: ODD[kind]() for kind in kinds}).items():
        with Asked() as asked:
            add_rms_norm(*tensors)
        went[kind] = "kernel" if "triton_by_proof.add_rms_norm.default" in asked.names else "eager"
    correct = sum((where == "eager") == (kind in kinds) for kind, where in went.items())
    return {"value": correct, "note": ", ".join(f"{kind}: {where}" for kind, where in went.items())}


def contiguous(kinds):
    """How many of the results for these are contiguous, as the kernel's would be."""
    return sum(t.is_contiguous() for kind in kinds for t in add_rms_norm(*ODD[kind]()))


def gradient_error(n_rows, n_cols):
    """The three gradients, for small whole numbers, so that every sum is exact."""
    generator = torch.Generator(DEVICE).manual_seed(0)

    def draw(*shape, low, high):
        return torch.randint(low, high, shape, generator=generator, device=DEVICE).float()

    shape = (n_rows, n_cols)
    x, residual = 2 * draw(*shape, low=-2, high=1) + 2, draw(*shape, low=0, high=1) + 1
    inputs = x, residual, draw(n_cols, low=1, high=3)
    grads = draw(*shape, low=-3, high=4), draw(*shape, low=-3, high=4)
    ours = gradients(PATHS["triton"], FP32, inputs, grads)
    return zip(ours, gradients(reference, torch.float64, inputs, grads), strict=True)


def opcheck(tests, dtype=FP32):
    """How many of PyTorch's own tests of the operator's registration pass."""
    return passed_tests(add_rms_norm_op, (*make_inputs(3, 17, dtype), EPS), tests)


def traced():
    """What of the operator is left in the graph that a backend such as Inductor is given."""
    with compiling_for(TARGETS["sm_90"]):
        return traced_targets(add_rms_norm_op, (*make_inputs(2, 16, device="cpu"), EPS))


def block_error(norm, rewrite):
    """The int8 codes, of the graph as it is or rewritten, against those of the reference."""
    forget_graphs()
    call, inputs = measures.block(norm, n_rows=64)

    def rewrite_only(graph, _):
        assert rewritten(graph)
        return graph.forward

    compiled = torch.compile(call, backend=rewrite_only if rewrite else Made())
    y, _ = reference(*(t.clone() for t in inputs[:3]))
    return [(compiled(*inputs)[0], torch.round(y / inputs[3].double()).clamp(-128, 127))]


def matches():
    """How often the pattern is found in the graph of the norm and the quantization after it."""
    return sum(rewritten(graph) for graph in measures.block_graphs("triton"))


def moved(named_before):
    """How often one kernel is compiled, before and after Inductor builds one in this process."""
    x = torch.ones(8, 16, device=DEVICE)
    return compiles_around_inductor(
        lambda: launch(triton.jit(add_rms_norm_kernel.fn), x, x, x[0], EPS),
        "add_rms_norm_kernel",
        named_before,
    )


# What a bound counts, in u = 2**-24, relative to the largest result, for y = r / root * weight:
#   3           below the root, half of 6: the square 1, the approximate division 4, adding eps 1
#   4, 2        rsqrt itself, within 2 ulp; two products
#   n / 64 + 5  half of the additions, n / 32 one by one in at least 32 lanes, then at most 10
# None of it depends on the data: squares do not cancel. r counts for nothing where y is made of it.
# fmt: off
CLAIMS = [
    Claim("eager_fp32.max_rel_err", error, dict(path="eager", n_cols=WIDTHS, mean=100.0), bound=31 * 2**-24, why="in u = 2**-24: 9 for a square, a division, rsqrt and two products, 22 for half of the additions; the widths fill no block"),
    Claim("library_fp32.max_rel_err", error, dict(path="library", n_cols=WIDTHS, mean=100.0), bound=31 * 2**-24, why="the same count for another kernel"),
    Claim("triton_fp32.max_rel_err", error, dict(path="triton", n_cols=WIDTHS, mean=100.0), bound=31 * 2**-24, why="the same; lanes past the end of a row must add nothing to the sum and not count in the mean"),
    Claim("inductor_fp32.max_rel_err", error, dict(path="inductor", n_cols=(127, 1025), mean=100.0), bound=31 * 2**-24, judges="gpu", why="the same; the second width makes it compile for any width"),
    Claim("eager_fp16.max_rel_err", error, dict(path="eager", n_cols=(1000,), n_rows=64, dtype=FP16), bound=2**-11 + 31 * 2**-24, why="half an ulp of fp16 for y, before it 31 u as in fp32; r is taken as it is returned"),
    Claim("library_fp16.max_rel_err", error, dict(path="library", n_cols=(1000,), n_rows=64, dtype=FP16), bound=2**-11 + 31 * 2**-24, why="the same: it is given the r that was rounded"),
    Claim("triton_fp16.max_rel_err", error, dict(path="triton", n_cols=(1000,), n_rows=64, dtype=FP16), bound=2**-11 + 31 * 2**-24, why="the same: it rounds r before it goes on"),
    Claim("inductor_fp16.max_rel_err", error, dict(path="inductor", n_cols=(1000,), n_rows=64, dtype=FP16), bound=3 * 2**-11 + 44 * 2**-24, judges="gpu", why="one half ulp more for r, which it normalizes before rounding, and one for the mean of such r"),
    Claim("inductor_as_eager_fp16.max_rel_err", error, dict(path="inductor", n_cols=(1000,), n_rows=64, dtype=FP16, as_eager=True), bound=2**-11 + 31 * 2**-24, judges="gpu", why="told to round wherever eager rounds, it keeps eager's bound"),
    Claim("opaque_fp32.max_rel_err", error, dict(path="opaque", n_cols=(1025,)), bound=31 * 2**-24, why="the same kernel under another name"),
    Claim("triton_bf16.max_rel_err", error, dict(path="triton", n_cols=(1000, 4096), dtype=BF16), bound=2**-8 + 80 * 2**-24, judges="gpu", why="half an ulp of bf16, before it 9 u and half of 138 additions"),
    Claim("inductor_wide_fp16.max_rel_err", error, dict(path="inductor", n_cols=(4096,), n_rows=64, dtype=FP16), bound=2 * 2**-11 + 84 * 2**-24, judges="gpu", why="a row that takes more than one block: r comes back from memory, rounded; only its mean was made of more"),
    Claim("inductor_wide_bf16.max_rel_err", error, dict(path="inductor", n_cols=(4096,), dtype=BF16), bound=2 * 2**-8 + 2**-15, judges="gpu", why="the same in bf16"),
    Claim("r_fp16.max_abs_err", error, dict(path="triton", n_cols=(1000,), n_rows=64, dtype=FP16, of="r"), why="one correctly rounded addition"),
    Claim("inductor_r_fp16.max_abs_err", error, dict(path="inductor", n_cols=(1000,), n_rows=64, dtype=FP16, of="r"), judges="gpu", why="the r that it returns is rounded; the r that it uses is not"),
    Claim("edges_fp32.max_rel_err", edges, dict(n_cols=WIDTHS), bound=31 * 2**-24, why="the same in y, nothing in r; and no store touches what lies beside them"),
    Claim("views_fp32.max_rel_err", views, bound=31 * 2**-24, why="rows may lie any distance apart, and on top of each other"),
    Claim("fallback_fp64.max_rel_err", fallback, dict(kind="float64"), bound=62 * 2**-53, why="eager keeps float64: 31 roundings of 2**-53 in it and as many in the reference"),
    Claim("fallback_wide.max_rel_err", fallback, dict(kind="wide"), bound=271 * 2**-24, why="eager, with half of 522 additions"),
    Claim("fallback_apart.max_rel_err", fallback, dict(kind="apart"), bound=31 * 2**-24, why="eager reads any strides; in u as above"),
    Claim("fallback_cpu.max_rel_err", fallback, dict(kind="cpu"), bound=31 * 2**-24, judges="gpu", why="eager runs where its tensors are; in u as above"),
    Claim("parity_fp32.max_rel_err", parity, dict(n_cols=1000), bound=62 * 2**-24, why="two results, each within 31 u of the right one"),
    Claim("gradients_fp32.max_abs_err", gradient_error, dict(n_rows=6, n_cols=100), bound=1400 * 2**-24, why="in u: 810 for the mean times r, 540 for the rest, from terms below 60 and exact sums; the gradient of weight needs less"),
    Claim("fallback.taken", taken, dict(kinds=("float64", "wide", "apart", "empty")), kind="count", bound=6, why="each of six goes where it should"),
    Claim("fallback.contiguous", contiguous, dict(kinds=("apart", "transposed", "wide")), kind="count", bound=6, why="callers see the same strides, whichever path made them"),
    Claim("fallback_cpu.taken", taken, dict(kinds=("cpu",)), kind="count", bound=3, judges="gpu", why="a tensor on the CPU never reaches the kernel"),
    Claim("opcheck.passed", opcheck, dict(tests=("test_schema", "test_autograd_registration", "test_faketensor"), dtype=FP16), kind="count", bound=3, why="schema, autograd registration and shapes without data; the fourth test compiles, which an interpreted kernel cannot"),
    Claim("opcheck_compiled.passed", opcheck, dict(tests=("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")), kind="count", bound=4, judges="gpu", why="all four, the last one through the whole compiler with sizes that vary"),
    Claim("op.traced", traced, kind="codegen", bound="triton_kernel_wrapper_functional", judges="compile", why="the kernel itself, not a call of the operator"),
    Claim("same_shape.graphs", measures.graphs, dict(calls=((4, FP32),) * 3), kind="count", bound=1, why="one graph serves every call of its shape"),
    Claim("other_rows.graphs", measures.graphs, dict(calls=((4, FP32), (5, FP32), (6, FP32), (7, FP32))), kind="count", bound=2, why="the second number of rows makes a graph for any number"),
    Claim("dynamic.graphs", measures.graphs, dict(calls=((4, FP32), (5, FP32), (6, FP32), (7, FP32)), dynamic=True), kind="count", bound=1, why="any number of rows from the start"),
    Claim("marked.graphs", measures.graphs, dict(calls=((4, FP32), (5, FP32), (6, FP32), (7, FP32)), marked=True), kind="count", bound=1, why="the same, for the one dimension that was marked"),
    Claim("static.graphs", measures.graphs, dict(calls=((4, FP32), (5, FP32), (6, FP32), (7, FP32)), dynamic=False), kind="count", bound=4, why="one for each number of rows"),
    Claim("one_row.graphs", measures.graphs, dict(calls=((4, FP32), (5, FP32), (1, FP32)), dynamic=True), kind="count", bound=2, why="1 is never taken for any number"),
    Claim("dtypes.graphs", measures.graphs, dict(calls=((4, FP32), (4, FP16)), dynamic=True), kind="count", bound=2, why="a dtype is part of the graph"),
    Claim("limit.graphs", measures.graphs, dict(calls=tuple((n, FP32) for n in range(2, 14)), dynamic=False), kind="count", bound=8, why="eight versions of one function, and no more"),
    Claim("limit.compiled_calls", measures.graphs, dict(calls=tuple((n, FP32) for n in range(2, 14)), dynamic=False, counts="calls"), kind="count", bound=8, why="of twelve calls the last four ran as plain Python, with no error"),
    Claim("block_eager.graph_breaks", measures.graph_breaks, dict(norm="eager"), kind="count", bound=0, why="nothing here needs a value in Python"),
    Claim("block_triton.graph_breaks", measures.graph_breaks, dict(norm="triton"), kind="count", bound=0, why="nor does the launcher: shapes, dtypes, strides and devices are known without data"),
    Claim("block_triton.max_abs_err", block_error, dict(norm="triton", rewrite=False), bound=1.0, why="an error far below a step can move what lies in the middle of two steps: one step"),
    Claim("block_rewritten.max_abs_err", block_error, dict(norm="triton", rewrite=True), bound=1.0, why="the same after the rewrite"),
    Claim("rewrite.matches", matches, kind="count", bound=1, why="the pattern is in the graph once"),
    Claim("eager.kernels", measures.kernels_run, dict(path="eager"), kind="codegen", bound="9 PyTorch", judges="gpu", why="add, cast, square, mean, plus eps, rsqrt, two products, cast"),
    Claim("inductor.kernels", measures.kernels_run, dict(path="inductor"), kind="codegen", bound="1 Inductor", judges="gpu", why="all of it in one"),
    Claim("library.kernels", measures.kernels_run, dict(path="library"), kind="codegen", bound="2 PyTorch", judges="gpu", why="the sum, then the norm"),
    Claim("triton.kernels", measures.kernels_run, dict(path="triton"), kind="codegen", bound="1 add_rms_norm_kernel", judges="gpu", why="ours"),
    Claim("past_limit.kernels", measures.past_limit, kind="codegen", bound="9 PyTorch", judges="gpu", why="compiled for two shapes, the third runs as eager does"),
    Claim("block_plain.kernels", measures.block_run, dict(norm="eager", how="plain"), kind="codegen", bound="14 PyTorch", judges="gpu", why="nine for the norm, then cast, division, round, clamp, cast"),
    Claim("block_eager.kernels", measures.block_run, dict(norm="eager"), kind="codegen", bound="1 Inductor", judges="gpu", why="norm and quantization in one"),
    Claim("block_library.kernels", measures.block_run, dict(norm="library"), kind="codegen", bound="1 Inductor", judges="gpu", why="the library's kernel is gone: rms_norm was taken apart before it was compiled"),
    Claim("block_triton.kernels", measures.block_run, dict(norm="triton"), kind="codegen", bound="1 Inductor, 1 add_rms_norm_kernel", judges="gpu", why="a kernel of one's own is a wall: y goes to memory and back"),
    Claim("block_opaque.kernels", measures.block_run, dict(norm="opaque"), kind="codegen", bound="1 Inductor, 1 add_rms_norm_kernel", judges="gpu", why="and so is an opaque one"),
    Claim("block_rewritten.kernels", measures.block_run, dict(norm="triton", how="rewritten"), kind="codegen", bound="1 Inductor", judges="gpu", why="the rewrite took the wall away"),
    Claim("width_1024.generated", measures.generated, dict(n_cols=1024), kind="codegen", bound="kernels 1, loops 0, loads 3, stores 2", judges="gpu", why="a row in one block: x, residual and weight in, r and y out"),
    Claim("width_4096.generated", measures.generated, dict(n_cols=4096), kind="codegen", bound="kernels 1, loops 2, loads 4, stores 2", judges="gpu", why="a row in pieces, twice: the second loop reads r again"),
    Claim("width_16384.generated", measures.generated, dict(n_cols=16384), kind="codegen", bound="kernels 3, loops 1, loads 6, stores 4", judges="gpu", why="few and long rows: each is cut in two, so that more programs have work"),
    Claim("width_16384_many.generated", measures.generated, dict(n_cols=16384, n_rows=4096), kind="codegen", bound="kernels 1, loops 2, loads 4, stores 2", judges="gpu", gib=1, why="many long rows: as at 4096"),
    Claim("unset.compiles", moved, dict(named_before=False), kind="count", bound=2, judges="gpu", why="Inductor named its own folder for the whole process, and the same kernel was not found there"),
    Claim("set.compiles", moved, dict(named_before=True), kind="count", bound=1, judges="gpu", why="what was set before stays"),
    Claim("empty.cache_hits", measures.cache_hits, dict(cache="empty"), kind="count", bound=0, judges="gpu", gib=1, why="nothing is there yet"),
    Claim("filled.cache_hits", measures.cache_hits, dict(cache="filled"), kind="count", bound=1, judges="gpu", gib=1, why="the one graph is found"),
    Claim("inductor_empty.vs_later", measures.first_call, dict(path="inductor", cache="empty", against="later"), kind="ratio", bound=1000, judges="gpu", gib=1, why="import Inductor, trace, lower, write Triton, compile it, load it"),
    Claim("inductor_filled.vs_later", measures.first_call, dict(path="inductor", cache="filled", against="later"), kind="ratio", bound=500, judges="gpu", gib=1, why="a graph on disk is traced all the same, to know what to look for"),
    Claim("inductor_empty.vs_filled", measures.first_call, dict(path="inductor", cache="empty", against="filled"), kind="ratio", bound=1.2, judges="gpu", gib=1, why="what the caches on disk save"),
    Claim("triton_empty.vs_later", measures.first_call, dict(path="triton", cache="empty", against="later"), kind="ratio", bound=500, judges="gpu", gib=1, why="start Triton, compile one kernel, load it; there is no graph to trace"),
    Claim("triton_filled.vs_later", measures.first_call, dict(path="triton", cache="filled", against="later"), kind="ratio", bound=20, judges="gpu", gib=1, why="the kernel is on disk, and Triton still has to start and load it"),
    Claim("prefill.triton_vs_copy", measures.speed, dict(ours="triton", theirs="copy", n_rows=2**14), kind="ratio", bound=0.9, judges="gpu", gib=2, why="nothing is read twice and nothing is written that is not returned"),
    Claim("prefill.inductor_vs_copy", measures.speed, dict(ours="inductor", theirs="copy", n_rows=2**14), kind="ratio", bound=0.9, judges="gpu", gib=2, why="r is read again, from a cache that still holds it"),
    Claim("prefill.library_vs_copy", measures.speed, dict(ours="library", theirs="copy", n_rows=2**14), kind="ratio", bound=0.7, judges="gpu", gib=2, why="8 of the 10 bytes that it moves are needed: 0.8 at best"),
    Claim("prefill.eager_vs_copy", measures.speed, dict(ours="eager", theirs="copy", n_rows=2**14), kind="ratio", bound=0.1, judges="gpu", gib=4, why="8 of 46 bytes: 0.17 at best"),
    Claim("prefill.triton_vs_inductor", measures.speed, dict(ours="triton", theirs="inductor", n_rows=2**14), kind="ratio", bound=0.95, judges="gpu", gib=2, why="both move the same bytes"),
    Claim("prefill.triton_vs_library", measures.speed, dict(ours="triton", theirs="library", n_rows=2**14), kind="ratio", bound=1.15, judges="gpu", gib=2, why="10 bytes against 8: 1.25 by the count"),
    Claim("decode.triton_vs_library", measures.speed, dict(ours="triton", theirs="library", n_rows=32), kind="ratio", bound=1.3, judges="gpu", gib=1, why="one kernel against two, both too short for bytes to matter"),
    Claim("decode.triton_vs_inductor", measures.speed, dict(ours="triton", theirs="inductor", n_rows=32), kind="ratio", bound=0.85, judges="gpu", gib=1, why="one kernel each"),
    Claim("call.library_vs_triton", measures.latency, dict(ours="library", theirs="triton", n_rows=32), kind="ratio", bound=1.4, judges="gpu", gib=1, why="two launches from C++ against one from Python"),
    Claim("call.library_vs_inductor", measures.latency, dict(ours="library", theirs="inductor", n_rows=32), kind="ratio", bound=1.2, judges="gpu", gib=1, why="and against guards, then one launch"),
    Claim("call.kernel_vs_triton", measures.latency, dict(ours="kernel", theirs="triton", n_rows=32), kind="ratio", bound=1.2, judges="gpu", gib=1, why="checks, dispatcher and autograd come before the launch"),
    Claim("call.triton_vs_eager", measures.latency, dict(ours="triton", theirs="eager", n_rows=32), kind="ratio", bound=0.8, judges="gpu", gib=1, why="nine launches from C++ cost about what one from Python does"),
    Claim("call.open_vs_opaque", measures.latency, dict(ours="compiled triton", theirs="compiled opaque", n_rows=32), kind="ratio", bound=1.1, judges="gpu", gib=1, why="compiled code launches a kernel that it sees, and asks Python for one that it does not"),
    Claim("block.eager_vs_triton", measures.block_speed, dict(ours="eager", theirs="triton", n_rows=2**14), kind="ratio", bound=1.3, judges="gpu", gib=2, why="11 bytes against 7: 1.57 by the count"),
]

BUGS = [
    Bug("mean_of_block", section="kernel", old="/ n_cols  #", new="/ BLOCK_SIZE  #", caught_by="triton_fp32.max_rel_err", how="error", shows="the mean of a row is taken over lanes that do not exist"),
    Bug("late_rounding", section="kernel", old=".to(r_ptr.dtype.element_ty)  #", new="  #", caught_by="triton_fp16.max_rel_err", how="error", shows="y is made of an r that nobody gets"),
    Bug("no_mask", section="kernel", old="* weight, mask=mask)", new="* weight)", caught_by="edges_fp32.max_rel_err", how="guard", shows="lanes past the end of the last row write where nothing is theirs"),
    Bug("tight_rows", section="kernel", old="row * stride_xm", new="row * n_cols", caught_by="views_fp32.max_rel_err", how="error", shows="rows of a slice are read from the wrong places"),
    Bug("opaque", section="op", old="@triton_op(", new="@custom_op(", caught_by="op.traced", how="error", shows="the compiler sees a name in place of a kernel"),
    Bug("fake_dtype", section="op", old="y = torch.empty(x.shape, dtype=x.dtype", new="y = torch.empty(x.shape, dtype=torch.float32", caught_by="opcheck.passed", how="error", shows="the compiler is told of another dtype than the kernel returns"),
    Bug("undeclared_mutation", section="op", old="weight, y, r)", new="weight, y, residual)", caught_by="opcheck.passed", how="error", shows="the operator writes into residual and says that it writes into nothing"),
    Bug("no_dtype_check", section="launch", old="if x.dtype not in DTYPES:", new="if x.dtype == torch.int8:", caught_by="fallback_fp64.max_rel_err", how="error", shows="float64 goes through a kernel that computes in float32"),
    Bug("eager_strides", section="launch", old="tuple(t.contiguous() for t in eager(x, residual, weight, eps))", new="eager(x, residual, weight, eps)", caught_by="fallback.contiguous", how="error", shows="what the fallback returns lies in memory in another order"),
    Bug("item", section="block", old="/ scale)", new="/ scale.item())", caught_by="block_eager.graph_breaks", how="error", shows="Python waits for a number, and the graph ends there"),
    Bug("check_of_values", section="checks", old="t.layout != torch.strided:", new="t.layout != torch.strided or t.is_neg():", caught_by="block_triton.graph_breaks", how="error", shows="a check that asks the tensor for a truth value splits the graph"),
    Bug("other_spelling", section="block", old="y.float()", new="y.to(torch.float32)", caught_by="rewrite.matches", how="error", shows="the same cast spelled otherwise, and the pattern is not found"),
    Bug("opaque_norm", section="block", old="norm(x, residual, weight)", new="opaque_op(x, residual, weight, EPS)", caught_by="block_eager.kernels", how="error", shows="one fused kernel becomes two"),
]
# fmt: on

if __name__ == "__main__":
    main(sys.modules[__name__])
