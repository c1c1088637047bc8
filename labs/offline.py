"""Compiling for a GPU that this machine does not have: Triton's compiler needs none.

Only the launch of a kernel needs a GPU. `kernel.warmup(…, grid=(1,))` is a launch that ends once
the code is compiled; before that it asks the driver which GPU to compile for, and in
`compiling_for` another object answers in the driver's place:

    with compiling_for(TARGETS["sm_90"]):
        made = fresh_kernel(kernel).warmup(Pointer(torch.float32), 1024, BLOCK=64, grid=(1,))

What was compiled is read by the functions of reading.py.
"""

import contextlib
import types
from collections.abc import Iterator
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget

from judge import INTERPRETED

TARGETS = {
    "sm_80": GPUTarget("cuda", 80, 32),
    "sm_86": GPUTarget("cuda", 86, 32),
    "sm_89": GPUTarget("cuda", 89, 32),
    "sm_90": GPUTarget("cuda", 90, 32),
    "sm_100": GPUTarget("cuda", 100, 32),
    "sm_120": GPUTarget("cuda", 120, 32),
    "gfx90a": GPUTarget("hip", "gfx90a", 64),
    "gfx942": GPUTarget("hip", "gfx942", 64),
    "gfx950": GPUTarget("hip", "gfx950", 64),
    "gfx1100": GPUTarget("hip", "gfx1100", 32),
}


# --8<-- [start:offline]
@contextlib.contextmanager
def compiling_for(target: GPUTarget) -> Iterator[None]:
    """Within, kernel.warmup(…, grid=(1,)) compiles for this target, whatever GPU is here."""
    driver = types.SimpleNamespace(
        get_current_device=lambda: target,  # variants are kept by device
        get_current_stream=lambda device: 0,
        get_current_target=lambda: target,
    )
    triton.runtime.driver.set_active(driver)
    try:
        yield
    finally:
        triton.runtime.driver.set_active(None)  # back to what the machine has
    # --8<-- [end:offline]


# --8<-- [start:pointer]
class Pointer:
    """Takes the place of a tensor in `warmup`: a dtype, and an address that need not be aligned."""

    def __init__(self, dtype: torch.dtype, past: int = 0) -> None:
        self.dtype = dtype
        self.past = past  # how many elements past an aligned address it starts

    def data_ptr(self) -> int:
        return self.past * self.dtype.itemsize

    def ptr_range(self) -> int:
        return 0  # AMD asks for the size: below 2 GiB it may use buffer instructions

    def __repr__(self) -> str:
        skipped = f", {self.past} past" if self.past else ""
        return f"{self.dtype} pointer{skipped}".removeprefix("torch.")


def fresh_kernel(kernel: Any) -> Any:
    """The same jitted function with nothing compiled yet. Raises TypeError in the interpreter."""
    if INTERPRETED:
        raise TypeError("this process interprets: set TRITON_INTERPRET=0 before triton is imported")
    rules = ("do_not_specialize", "do_not_specialize_on_alignment")
    return triton.jit(kernel.fn, **{rule: getattr(kernel, rule) for rule in rules})
    # --8<-- [end:pointer]
