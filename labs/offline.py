"""Compiling for a GPU that this machine does not have: Triton's compiler needs none.

Only the launch of a kernel needs a GPU. `kernel.warmup(…, grid=(1,))` is a launch that ends once the
code is compiled; before that it asks the driver which GPU to compile for, and in `compiling_for`
another object answers in the driver's place.
"""

import contextlib
import types
from collections.abc import Iterator

import triton
from triton.backends.compiler import GPUTarget


# --8<-- [start:offline]
@contextlib.contextmanager
def compiling_for(target: GPUTarget) -> Iterator[None]:
    """Within, kernel.warmup(…, grid=(1,)) compiles for this target, whatever GPU is here, if any."""
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
