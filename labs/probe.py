"""Probing one small kernel: launch or compile it, and return what it stores, prints or raises."""

import contextlib
import io
import re
import sys
import unittest.mock
from collections.abc import Callable
from typing import Any

import torch
import triton

from judge import DEVICE, INTERPRETED
from claims import Row
from offline import TARGETS, compiling_for, fresh_kernel
from reading import assembly

# where the tensors of a probe are; where nothing can be launched, the compiler sees only their type
PLACE = DEVICE if INTERPRETED or torch.cuda.is_available() else "cpu"


# --8<-- [start:probe]
def probe(function: Callable[[], Any]) -> Row:
    """The value that comes of it, or the name of the exception, with its last line as the note."""
    try:
        return {"value": function()}
    except Exception as error:
        words = [line for line in str(error).splitlines() if line.strip()] or [""]
        name = type(error).__name__
        if name == "InterpreterError":  # which names the error of the kernel
            name = words[0].partition("(")[0]
        return {"value": name, "note": words[-1].strip()[:200]}


def launch(kernel: Any, *arguments: Any, grid: tuple[int, ...] = (1,), **options: Any) -> Any:
    """Launch; with neither interpreter nor GPU, go through the compiler, for sm_90.

    Returns the compiled kernel, in the interpreter None.
    """
    if PLACE == DEVICE:
        return kernel[grid](*arguments, **options)
    with compiling_for(TARGETS["sm_90"]):
        return kernel.warmup(*arguments, grid=grid, **options)


def tensor(*values: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor with these values, for a probe."""
    return torch.tensor(values, dtype=dtype, device=PLACE)


def stored(
    kernel: Any,
    x: torch.Tensor | None = None,
    *sizes: int,
    dtype: torch.dtype = torch.float32,
    start: float = 0,
    **options: Any,
) -> float:
    """What kernel(x_ptr, out_ptr, *sizes) or kernel(out_ptr) stores in `out`, at first `start`."""
    out = tensor(start, dtype=dtype)
    pointers = [out] if x is None else [x, out]
    launch(kernel, *pointers, *sizes, **options)
    return out.item()


def printed(kernel: Any, x: torch.Tensor, again: bool = False, **options: Any) -> str:
    """What a launch prints that compiles, or, with `again`, a second one, whose code is on disk."""
    text = io.StringIO()
    with triton.knobs.compilation.scope():
        triton.knobs.compilation.always_compile = True
        with contextlib.redirect_stdout(text):
            launch(triton.jit(kernel.fn), x, **options)  # a new kernel, with nothing compiled yet
        if again:
            triton.knobs.compilation.always_compile = False
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                launch(triton.jit(kernel.fn), x, **options)
    return " ".join(text.getvalue().split()) or "nothing"


def tuned(kernel: Any, x: torch.Tensor, timed: bool = True) -> float:
    """What a kernel stores that is tuned between two configurations, which are timed or not."""
    configs = [triton.Config({"SIZE": size}) for size in (1, 2)]
    options = {} if timed else {"do_bench": call_once}
    return stored(triton.autotune(configs, key=[], **options)(triton.jit(kernel.fn)), x)


def call_once(call: Callable[[], object], quantiles: object = None) -> list[float]:
    """A benchmark that times nothing, for the tuner."""
    call()
    return [1.0, 1.0, 1.0]


def precisions(kernel: Any) -> str:
    """Whether `input_precision` makes any difference to a product of fp32: "equal" or "unlike"."""
    a = torch.randn(16, 16, generator=torch.Generator().manual_seed(0)).to(PLACE)
    outs = [torch.empty_like(a) for _ in range(2)]
    for out, precision in zip(outs, ("ieee", "tf32"), strict=True):
        launch(kernel, a, out, SIZE=16, INPUT_PRECISION=precision)
    return "equal" if torch.equal(*outs) else "unlike"


def stopped_at(kernel: Any, x: torch.Tensor) -> str:
    """What a debugger, which stops at breakpoint(), finds in the x of the kernel."""
    values = []

    def look() -> None:
        values.append(sys._getframe(1).f_locals["x"].handle.data.tolist())

    with unittest.mock.patch.object(sys, "breakpointhook", look):
        launch(kernel, x, tensor(0))
    return str(values[0])


def racing(kernel: Any) -> str:
    """Whether all programs are counted, each of which reads a total, adds one, writes it back."""
    programs = 8192 if DEVICE == "cuda" else 64
    total = tensor(0, dtype=torch.int32)
    launch(kernel, total, grid=(programs,))
    return "all" if total.item() == programs else "lost"


def filled_register(kernel: Any, x: torch.Tensor, n: int) -> str:
    """What PTX puts into the register of a masked load before the load."""
    ptx = assembly(launch(fresh_kernel(kernel), x, tensor(0), n))
    return "".join(re.findall(r"mov\.\w+ +%r\d+, (\w+);\s*@%p\d+ ld\.global", ptx))


def reported_by(kernel: Any) -> str:
    """Which step reports a load far outside of every tensor, and whether a kernel still runs."""
    step, x, out = "launch", tensor(1), tensor(0)
    try:
        kernel[(1,)](x, out, 2**40)
        step = "read"
        out.item()
    except Exception:  # RuntimeError from Triton, or AcceleratorError from torch
        return f"{step}, then {probe_of_torch()}"
    return "no step"


def probe_of_torch() -> str:
    """What becomes of 1 + 1 on the device."""
    try:
        return str((tensor(1) + 1).item())
    except Exception:
        return "nothing works"


def stopped_by(call: Callable[[], object]) -> str:
    """The words of the assertion that stops a kernel, or "nothing"."""
    try:
        call()
        torch.cuda.synchronize()
    except Exception as error:
        return "device-side assert" if "device-side assert" in str(error) else str(error)
    return "nothing"
    # --8<-- [end:probe]
