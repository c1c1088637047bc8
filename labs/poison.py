"""Making undefined visible in the interpreter: NaN in lanes for which a load names no fill."""

import contextlib
from collections.abc import Iterator
from typing import Any


# --8<-- [start:poison]
@contextlib.contextmanager
def poisoned() -> Iterator[None]:
    """Within, masked lanes of a floating-point load without `other` are NaN in the interpreter.

    Undefined may be that too. Not so for bf16, which the interpreter keeps as integers.
    """
    from triton.runtime.interpreter import TensorHandle, interpreter_builder

    usual = interpreter_builder.create_masked_load

    def create_masked_load(ptrs: Any, mask: Any, other: Any, *rest: Any, **more: Any) -> Any:
        nowhere = TensorHandle(mask.data & False, mask.dtype)
        zeros = usual(ptrs, nowhere, None, *rest, **more)  # no lane is read
        if other is None and zeros.data.dtype.kind == "f":
            other = TensorHandle(zeros.data + float("nan"), ptrs.get_element_ty())
        return usual(ptrs, mask, other, *rest, **more)

    interpreter_builder.create_masked_load = create_masked_load
    try:
        yield
    finally:
        interpreter_builder.create_masked_load = usual
    # --8<-- [end:poison]
