"""What the text of PTX and of AMD's assembly says: the instructions that matter, registers, spills. Pure text → data."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

_PTX_MEMORY = re.compile(
    r"\b(ld|st)\.(?:\w+\.)*?global(?:\.[\w:]+)*?(?:\.v([248]))?\.[bfus](\d+)\b"
)
_AMD_MEMORY = re.compile(
    r"\b(?:global|buffer|flat)_(load|store)_(?:lds_)?(?:dword(?:x([234]))?|(?:d16_)?(?:hi_)?[bui](\d+)|[us]?(short|byte))(?:_d16)?(?:_hi)?\b(.*)"
)
_PTX_TENSOR = re.compile(r"\b((?:mma\.sync|wgmma\.mma_async|tcgen05\.mma)[\w.:]*)")
_AMD_TENSOR = re.compile(r"\bv_((?:s?mfmac?|s?wmmac?)_\w+)")
_PTX_COPY = re.compile(
    r"\b(cp\.async\.(?:bulk[\w.:]*|c[ag]))[\w.:]*(?:[^;\]]*\][^;\]]*\],\s*(0x[0-9a-f]+|\d+))?"
)
_PTX_ATOMIC = re.compile(r"\b(?:atom|red)\.(?:\w+\.)*?global\b")
_AMD_ATOMIC = re.compile(r"\b(?:global|buffer|flat)_atomic_\w+")


def watched(code: str) -> dict[str, Any]:
    """How often each instruction that matters stands in the text; a loop's body counts once.

    `load` and `store` by the bytes that one lane moves from and to global memory, `copy` what goes from there to shared
    memory without passing registers, `tensor` the tensor cores' by name, `ex2`, `atomic`. What is absent is left out.
    """
    found = _ptx(code) if ".visible .entry" in code else _amd(code)
    return {
        kind: dict(sorted(count.items(), key=str)) if isinstance(count, Counter) else count
        for kind, count in found.items()
        if count
    }


def _ptx(code: str) -> dict[str, Any]:
    moved = {"ld": Counter(), "st": Counter()}
    for what, lanes, bits in _PTX_MEMORY.findall(code):
        moved[what][str(int(lanes or 1) * int(bits) // 8)] += 1
    copies = Counter(" ".join(filter(None, (name, size))) for name, size in _copies(code))
    tensor = Counter(
        re.sub(r"(?<!^mma)\.(?:sync|aligned|row|col)\b", "", name)
        for name in _PTX_TENSOR.findall(code)
    )
    return {
        "load": moved["ld"],
        "store": moved["st"],
        "copy": copies,
        "tensor": tensor,
        "ex2": len(re.findall(r"\bex2\.approx", code)),
        "atomic": len(_PTX_ATOMIC.findall(code)),
    }


def _copies(code: str) -> list[tuple[str, str]]:
    """Each asynchronous copy with its bytes where the text holds them; waits and commits are none."""
    found = []
    for name, size in _PTX_COPY.findall(code):
        if name.startswith("cp.async.bulk"):
            if re.search(r"commit|wait|prefetch", name):
                continue
            name, size = "cp.async.bulk" + (".tensor" if ".tensor" in name else ""), ""
        found.append((name, str(int(size, 0)) if size else ""))
    return found


def _amd(code: str) -> dict[str, Any]:
    moved, copies = {"load": Counter(), "store": Counter()}, Counter()
    for what, words, bits, small, rest in _AMD_MEMORY.findall(code):
        size = int(bits or 0) // 8 or {"short": 2, "byte": 1}.get(small) or 4 * int(words or 1)
        if re.search(r"\blds\b", rest):
            copies[f"load to LDS {size}"] += 1
        else:
            moved[what][str(size)] += 1
    return {
        "load": moved["load"],
        "store": moved["store"],
        "copy": copies,
        "tensor": Counter(_AMD_TENSOR.findall(code)),
        "ex2": len(re.findall(r"\bv_exp_f32", code)),
        "atomic": len(_AMD_ATOMIC.findall(code)),
    }


def resources(code: str, log: str) -> dict[str, int]:
    """Registers, spills and stack of a lane: for PTX from the log of ptxas -v, for AMD from the text's own metadata."""
    if ".visible .entry" in code:
        names = {
            "registers": r"Used (\d+) registers",
            "spill_bytes": r"(\d+) bytes spill stores",
            "stack_bytes": r"(\d+) bytes stack frame",
        }
        return {
            name: int(found[1])
            for name, pattern in names.items()
            if (found := re.search(pattern, log))
        }
    names = {
        "registers": "vgpr_count",
        "agprs": "agpr_count",
        "sgprs": "sgpr_count",
        "spilled_registers": "vgpr_spill_count",
        "stack_bytes": "private_segment_fixed_size",
    }
    return {
        name: int(m[1])
        for name, key in names.items()
        if (m := re.search(rf"\.{key}:\s+(\d+)", code))
    }


def text_of(code: str, kernel: str) -> str:
    """The assembly as pages show it: without comments, blank lines, what only a debugger or a linker reads.

    PTX whole but for that; of AMD's text the target and the kernel, from its label to its last instruction.
    """
    lines = code.splitlines()
    if ".visible .entry" in code:
        kept = [re.sub(r"\s*//.*", "", line).rstrip() for line in lines]
        kept = kept[
            : next(
                (n for n, line in enumerate(kept) if re.match(r"\s*\.section\s+\.debug", line)),
                len(kept),
            )
        ]
        kept = [
            line
            for line in kept
            if not re.match(r"\s*(?:\.loc|\.file)\b|\$L__(?:tmp|func)\w*:", line)
        ]
    else:
        start = next(n for n, line in enumerate(lines) if line.startswith(f"{kernel}:"))
        end = next(
            n for n, line in enumerate(lines) if n > start and re.match(r"\s*\.section\b", line)
        )
        target = [line for line in lines[:start] if ".amdgcn_target" in line]
        kept = [re.sub(r"\s*;.*", "", line).rstrip() for line in target + lines[start:end]]
        kept = [
            line
            for line in kept
            if not re.match(r"\s*(?:\.loc|\.file|\.p2align|\.cfi_\w+)\b|\.L(?:tmp|func)\w*:", line)
        ]
    return (
        "\n".join(
            re.sub(r"\s+", " ", re.sub(r"^\s+", "\0", line)).replace("\0", "    ")
            for line in kept
            if line.strip()
        )
        + "\n"
    )
