"""Reading what the compiler made of a kernel: opcodes, lines, layouts, registers, spills.

`made` is what a launch or `kernel.warmup(…)` returns; `made.asm` holds the text of each level.
"""

import inspect
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import triton

from claims import Row

# --8<-- [start:read]
OPCODE = re.compile(  # of one line of assembly; a predicate may come before it
    r"\s*(?:@!?%\w+ )?([a-z]\w*(?:(?:\.|::)\w+)*)(?=[\s;]|$)"
)


def assembly(made: Any) -> str:
    """The PTX of a compiled kernel, or the assembly of AMD."""
    text: str = made.asm.get("ptx") or made.asm["amdgcn"]
    return text


def opcode_in(text: str) -> str:
    """The opcode of one line of assembly; empty where there is none."""
    match = OPCODE.match(text)
    return re.sub("_e(32|64)$", "", match[1]) if match else ""  # two encodings of one instruction


def opcodes(made: Any, file: str = "") -> list[tuple[str, int]]:
    """The opcode of each instruction, and the line of `file` that it comes from, 0 if none."""
    line, inline, found = 0, False, []
    for text in assembly(made).splitlines():
        if "inline asm" in text:
            inline = "begin" in text
        elif text.lstrip().startswith(".loc") and not inline:  # holds for what follows
            line = line_of(text, file)
        elif opcode := opcode_in(text):
            found.append((opcode, line))
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
    registers, local_bytes = (int(re.findall(rf"\b{name}:\s*(\d+)", text)[-1]) for name in names)
    return registers, local_bytes
    # --8<-- [end:read]


# %% What a claim states about the text: one line for all targets, and a note to look at.
def by_target(results: Mapping[str, object]) -> str:
    """'sm_80 sm_90: this, gfx942: that' for a dict of targets."""
    targets: dict[object, list[str]] = {}
    for target, result in results.items():
        targets.setdefault(result, []).append(target)
    return ", ".join(f"{' '.join(names)}: {result}" for result, names in targets.items())


def figures(results: Mapping[str, object], notes: Mapping[str, str]) -> Row:
    """The value and the note of a claim about several targets."""
    return {"value": by_target(results), "note": by_target(notes)[:1000]}


# fmt: off
KINDS_OF_OPCODES = {  # as patterns
    "loads": r"ld(\.volatile)?\.global.*|(buffer|global)_load.*",
    "stores": r"st\.global.*|(buffer|global)_store.*",
    "matrix": r"mma\..*|wgmma\.mma.*|tcgen05\.mma.*|v_mfma.*|v_wmma.*|fma\.rn\.f32",
    "way": r"cp\.async\.cg.*|ldmatrix.*|mma\..*|wgmma\.mma.*|buffer_load.*|ds_.*|v_mfma.*",  # from memory to product
    "exp": r"mul\.f32|ex2.*",
    "division": r"div.*|v_div.*|v_rcp.*",
    "sqrt": r"sqrt.*",
    "fusion": r"fma\.rn\.f32|mul\.(rn\.)?f32|add\.(rn\.)?f32|v_fmac?_f32|v_mul_f32|v_add_f32",
    "wide": r"mul\.lo\.s64",
    "conversion": r"cvt\.rn\.bf16.*|v_cvt_pk_bf16_f32|v_add3_u32",
}
# fmt: on


def opcodes_like(pattern: str, made: Any, counted: bool = True) -> str:
    """The opcodes that match, counted or only named: '1 ld.global.b64 + 2 ld.global.v4.b32'."""
    counts = Counter(opcode for opcode, _ in opcodes(made) if re.fullmatch(pattern, opcode))
    names = [f"{n} {opcode}" if counted else opcode for opcode, n in sorted(counts.items())]
    return " + ".join(names) or "none"


def first_line_like(pattern: str, made: Any) -> str:
    """The first line of assembly whose opcode matches."""
    for text in assembly(made).splitlines():
        if re.fullmatch(pattern, opcode_in(text)):
            return " ".join(text.split())
    return "none"


def first_match(pattern: str, text: str) -> str:
    """The first match of a pattern. Raises ValueError where there is none."""
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"nothing in the compiled text looks like {pattern}")
    return match[0]


LOADS = {  # how a load looks at each level, and the part of its line that counts, None for all
    "ttir": (r"tt\.load .*?(?= loc)", None),
    "ttgir": (r"tt\.load .*?(?= loc)", None),
    "llir": (r"asm sideeffect .*ld\.global.*?;", r"ld\.global\S+"),
    "ptx": (r"@%p\d+ ld\.global.*", None),
    "sass": (r"@\S+ LDG.*", r"LDG\S+"),
}


def first_load(made: Any, level: str) -> Row:
    """The first load at one level, without the names of values; the note holds it as it is."""
    text = cuobjdump(made, "-sass") if level == "sass" else made.asm[level]
    whole, part = LOADS[level]
    line = first_match(whole, text)
    value = first_match(part, line) if part else re.sub(r"%\w+", "%", line)
    return {"value": value, "note": line[:1000]}


def source_of(made: Any, kernel: Any, prefix: str) -> str:
    """The lines of a kernel's source that instructions with this prefix come from."""
    source, first = inspect.getsourcelines(kernel.fn)
    file = Path(inspect.getsourcefile(kernel.fn) or "").name
    lines = {line for opcode, line in opcodes(made, file) if opcode.startswith(prefix)}
    return " and ".join(source[line - first].strip().partition("(")[0] for line in lines)


def padding(made: Any) -> Row:
    """What TTIR asks the masked lanes of a load to hold, and what PTX writes before the load.

    For a kernel with one 4-byte load a thread. The note holds the load.
    """
    ptx = made.asm["ptx"]
    load = re.search(r"(?:mov\.u32 %r\d+, (\S+);\s+)?(@%p\d+ ld\.global\.b32 \{ %r\d+ \})", ptx)
    assert load is not None
    moved, line = load.groups()
    if moved and moved.startswith("%"):  # a register: what was moved into it?
        constant = first_match(rf"mov.b32 +\t*{moved}, -?[0-9]+(?=;)", ptx).split()[-1]
        moved = f"{int(constant) % 2**32:#x}"
    operands = first_match(r"tt\.load .*? :", made.asm["ttir"]).split(", ")
    asked = "other" if len(operands) == 3 else "no other"
    return {"value": f"TTIR: {asked}, PTX: mov {moved}", "note": line}


# fmt: off
LAYOUT = r"#ttg\.(blocked|nvidia_mma<{versionMajor = \d|amd_mfma<{version = \d|swizzled_shared|nvmma_shared)"
# fmt: on


def layouts_of(made: Any) -> str:
    """The layouts that TTGIR gives to tensors, with the version of the tensor core."""
    found = re.findall(LAYOUT, made.asm["ttgir"])
    return " + ".join(sorted({re.sub(r"<{version(Major)? =", "", name) for name in found}))
