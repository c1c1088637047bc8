"""Compiling for a GPU that this machine does not have: Triton's compiler needs none.

Only the launch of a kernel needs a GPU. `kernel.warmup(…, grid=(1,))` is a launch that ends once
the code is compiled; before that it asks the driver which GPU to compile for, and in
`compiling_for` another object answers in the driver's place. `opcodes` and `resources` read what was compiled:

    with compiling_for(TARGETS["sm_90"]):
        made = fresh_kernel(kernel).warmup(Pointer(torch.float32), 1024, BLOCK=64, grid=(1,))
    print(opcodes(made), resources(made))
"""

import contextlib
import re
import subprocess
import tempfile
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


# --8<-- [start:read]
OPCODE = re.compile(  # of one line of assembly; a predicate may come before it
    r"\s*(?:@!?%\w+ )?([a-z]\w*(?:(?:\.|::)\w+)*)(?=[\s;]|$)"
)


def assembly(made: Any) -> str:
    """The PTX of a compiled kernel, or the assembly of AMD."""
    text: str = made.asm.get("ptx") or made.asm["amdgcn"]
    return text


def opcodes(made: Any, file: str = "") -> list[tuple[str, int]]:
    """The opcode of each instruction, and the line of `file` that it comes from, 0 if none."""
    line, inline, found = 0, False, []
    for text in assembly(made).splitlines():
        if "inline asm" in text:
            inline = "begin" in text
        elif text.lstrip().startswith(".loc") and not inline:  # holds for what follows
            line = line_of(text, file)
        elif instruction := OPCODE.match(text):
            encoded = instruction[1]  # _e32 and _e64 are two encodings of one AMD instruction
            found.append((re.sub("_e(32|64)$", "", encoded), line))
    return found


def line_of(loc: str, file: str) -> int:
    """The line of `file` that a .loc names: 70 of a.py for `b.py:7:3 @[ a.py:70:26 ]`."""
    trail = re.findall(rf"(?:^|[\s/]){re.escape(file)}:(\d+):\d+", loc) if file else []
    return int(trail[-1]) if trail else 0


def cuobjdump(made: Any, option: str) -> str:
    """What NVIDIA's tool prints of the cubin: "-res-usage", or "-sass", the GPU's instructions."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made.asm["cubin"])
        file.flush()
        command = [triton.knobs.nvidia.cuobjdump.path, option, file.name]
        return subprocess.run(command, capture_output=True, text=True).stdout


def resources(made: Any) -> tuple[int, int]:
    """Registers of a thread, and bytes that it keeps in local memory, where spilled values go."""
    if "cubin" in made.asm:
        text, names = cuobjdump(made, "-res-usage"), ("REG", "STACK")
    else:
        text, names = made.asm["amdgcn"], ("vgpr_count", "private_segment_fixed_size")
    registers, local = (int(re.findall(rf"\b{name}:\s*(\d+)", text)[-1]) for name in names)
    return registers, local
    # --8<-- [end:read]
