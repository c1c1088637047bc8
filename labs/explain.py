"""What the compiler makes of any kernel, line by line of its source. It needs no GPU.

    explain(my_kernel, torch.float32, torch.float32, 98_432, BLOCK_SIZE=1024, target="gfx942")

returns it as text; `explain_command` does the same for a kernel that a command line names.
"""

import ast
import contextlib
import importlib.util
import inspect
import os
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton
import triton.language as tl

from judge import INTERPRETED
from offline import TARGETS, Pointer, compiling_for, fresh_kernel
from reading import cuobjdump, opcodes, resources

LEVELS = ("ttir", "ttgir", "llir", "ptx", "amdgcn", "sass")
DEFAULT_TARGETS = ["sm_90", "gfx942"]
EXAMPLE = "(*fp32, 98432, BLOCK_SIZE=1024)"  # how a command line writes the arguments of a launch

Launch = tuple[Any, list[Any], dict[str, Any]]  # a kernel, its arguments, its named ones

# fmt: off
SHARED_BYTES = {  # the most shared memory that one program may have
    "sm_80": 166_912, "sm_86": 101_376, "sm_89": 101_376, "sm_90": 232_448, "sm_100": 232_448,
    "sm_120": 101_376, "gfx90a": 65_536, "gfx942": 65_536, "gfx950": 163_840, "gfx1100": 65_536,
}
POINTERS = {
    "fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
    "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2,
    "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8,
    "u8": torch.uint8, "i1": torch.bool,
}
# fmt: on

NOTABLE = re.compile(  # the rest is addresses and bookkeeping
    r"(ld|st)\.(?!param)|cp\.|(ld|st)matrix|atom|red\."  # memory, on NVIDIA
    r"|w?g?mma|tcgen05"  # tensor cores
    r"|shfl|bar|mbarrier|fence"  # between threads
    r"|div|rem|.*\.b?f(16|32|64)|(ex|lg)2|cvt\.\w+\.\w*f"  # division, floating point
    r"|(global|buffer|flat|scratch)_|ds_|s_barrier|v_.*(mfma|wmma|_b?f(16|32|64)|pk_|dot)"  # AMD
)


# %% A kernel with its arguments: compile it, and describe the result.
# --8<-- [start:explain]
def explain(
    kernel: Any, *args: Any, target: str = "sm_90", level: str | None = None, **options: Any
) -> str:
    """What the compiler makes of a kernel: by line of its source, or all of one of LEVELS.

    args and options as in a launch. For a tensor also its dtype, which means an aligned pointer, or
    Pointer(dtype, 1), which is not aligned. Raises TypeError or ValueError, in one sentence, for
    what cannot be compiled.
    """
    if target not in TARGETS:
        raise ValueError(f"{target} is not a target; allowed: {', '.join(TARGETS)}")
    kernel, options = unwrap(kernel, args, options)
    made = compile_launch(kernel, args, options, target)
    if level:
        return text_at(level, made, target)
    return "\n".join([overview(kernel, made, target), *by_line(kernel, made)])
    # --8<-- [end:explain]


def unwrap(
    kernel: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The jitted function below the decorators, and the options that these would add.

    Of a tuner it is the first configuration.
    """
    while not isinstance(kernel, triton.JITFunction):
        if INTERPRETED:
            raise TypeError(
                "explain needs a compiled kernel, and this process interprets:"
                " set TRITON_INTERPRET=0 before triton is imported"
            )
        if isinstance(kernel, triton.runtime.Autotuner):
            first = kernel.configs[0].all_kwargs() if kernel.configs else {}
            options = first | options
        elif isinstance(kernel, triton.runtime.Heuristics):
            known = dict(zip(kernel.arg_names, args, strict=False)) | options
            options = {name: rule(known) for name, rule in kernel.values.items()} | options
        else:
            raise TypeError(
                f"explain needs a kernel, and got {type(kernel).__name__}:"
                " decorate it with @triton.jit"
            )
        kernel = kernel.fn
    return kernel, options


def compile_launch(kernel: Any, args: tuple[Any, ...], options: dict[str, Any], target: str) -> Any:
    """The launch compiled for a target, with line information. Raises ValueError."""
    args = tuple(as_pointer(value) for value in args)
    options = {name: as_pointer(value) for name, value in options.items()}
    parameters = {name: value for name, value in options.items() if name in kernel.arg_names}
    try:
        inspect.signature(kernel.fn).bind(*args, **parameters)
    except TypeError as error:
        takes = ", ".join(kernel.arg_names)
        raise ValueError(f"{kernel.__name__} takes {takes}; {error}") from None
    with compiling_for(TARGETS[target]), triton.knobs.compilation.scope():
        triton.knobs.compilation.disable_line_info = False
        try:
            return fresh_kernel(kernel).warmup(*args, grid=(1,), **options)
        except Exception as error:  # each pass of the compiler raises its own
            reason = reason_of(error)
            raise ValueError(f"{kernel.__name__} does not compile for {target}: {reason}") from None


def as_pointer(value: Any) -> Any:
    """A dtype becomes an aligned pointer to it; everything else stays."""
    return Pointer(value) if isinstance(value, torch.dtype) else value


def reason_of(error: Exception) -> str:
    """The line of a compiler's error that gives the reason; Triton's own errors give it last."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1] if isinstance(error, triton.CompilationError) else lines[0]


def text_at(level: str, made: Any, target: str) -> str:
    """The text of a compiled kernel at one level."""
    available = [name for name in LEVELS if name in made.asm]
    if "cubin" in made.asm:
        available.append("sass")
    if level not in available:
        raise ValueError(f"{target} has no {level}; it has {', '.join(available)}")
    if level == "sass":
        return cuobjdump(made, "-sass")
    text: str = made.asm[level]
    return text


def overview(kernel: Any, made: Any, target: str) -> str:
    """Two lines: what a program takes, and how long the text of each level is."""
    registers, local_bytes = resources(made)
    options, limit = made.metadata, SHARED_BYTES[target]
    parts = [
        f"{options.num_warps} warps of {TARGETS[target].warp_size} lanes",
        f"{options.num_stages} stages",
        f"{registers} registers a thread",
        f"{local_bytes} bytes of local memory",
        f"{options.shared} bytes of shared memory",
    ]
    if options.shared > limit:
        parts[-1] += f": TOO LARGE, at most {limit}"
    head = f"{kernel.__name__} for {target}, Triton {triton.__version__}: {', '.join(parts)}"
    lengths = [f"{level} {made.asm[level].count(chr(10))}" for level in LEVELS if level in made.asm]
    return f"{head}\n  lines: {', '.join(lengths)}"


def by_line(kernel: Any, made: Any) -> list[str]:
    """Each line of the source with the notable instructions that come from it, counted."""
    source, first = inspect.getsourcelines(kernel.fn)
    file = os.path.basename(inspect.getsourcefile(kernel.fn) or "")
    counts: dict[int, Counter[str]] = {}
    for opcode, line in opcodes(made, file):
        if NOTABLE.match(opcode):
            inside = first <= line < first + len(source)
            counts.setdefault(line if inside else 0, Counter())[opcode] += 1
    shown = []
    for line in sorted(counts, key=lambda line: line or sys.maxsize):
        if line:
            shown.append(f"  {line:4}  {source[line - first].strip()}")
        else:
            shown.append("        (no line of the kernel)")
        shown += [f"          {count:4} {opcode}" for opcode, count in counts[line].items()]
    return shown


# %% The same for a kernel that is named at the command line.
def explain_command(words: list[str]) -> int:
    """Print what becomes of 'my.py:my_kernel(*fp32, 98432, BLOCK_SIZE=1024)' for each target named.

    Further words are targets and one level. Returns 0, or 2 after printing one sentence about what
    cannot be done; a target that fails does not keep the others back.
    """
    try:
        targets, level = parse_words(words[1:])
        kernel, args, options = parse_launch(words[0])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    errors = set()
    for target in targets:
        try:
            text = explain(kernel, *args, target=target, level=level, **options)
            print(text, end="\n\n", flush=True)
        except (TypeError, ValueError) as error:
            if str(error) not in errors:  # what holds for every target is printed once
                print(error, file=sys.stderr)
            errors.add(str(error))
    return 2 if errors else 0


def parse_words(words: list[str]) -> tuple[list[str], str | None]:
    """The targets among the words, or the usual ones, and the level, if there is one."""
    for word in words:
        if word not in TARGETS and word not in LEVELS:
            targets, levels = ", ".join(TARGETS), ", ".join(LEVELS)
            raise ValueError(f"{word} is neither a target ({targets}) nor a level ({levels})")
    level = next((word for word in words if word in LEVELS), None)
    return [word for word in words if word in TARGETS] or DEFAULT_TARGETS, level


def parse_launch(text: str) -> Launch:
    """The kernel and the arguments that 'my.py:my_kernel(*fp32, 98432)' names."""
    match = re.fullmatch(r"(.+\.py):(\w+)(?:\((.*)\))?", text.strip(), re.S)
    if not match:
        raise ValueError(f"{text} does not name a kernel: write 'my.py:my_kernel{EXAMPLE}'")
    file, name, arguments = match.groups()
    kernel = kernel_named(name, file)
    if arguments is None:
        raise ValueError(
            f"{name} takes {', '.join(kernel.arg_names)}:"
            f" give its arguments, as in '{file}:{name}{EXAMPLE}'"
        )
    args, options = [], {}
    for part in re.split(r",(?![^(\[]*[)\]])", arguments):  # commas outside of brackets
        key, equals, value = part.partition("=")
        if equals and key.strip().isidentifier():
            options[key.strip()] = parse_argument(value.strip())
        elif part.strip():
            args.append(parse_argument(part.strip()))
    return kernel, args, options


def kernel_named(name: str, file: str) -> Any:
    """The kernel of that name in a Python file."""
    module = import_file(file)
    kinds = (triton.JITFunction, triton.runtime.Autotuner, triton.runtime.Heuristics)
    kernel = getattr(module, name, None)
    if isinstance(kernel, kinds):
        return kernel
    others = [other for other, value in vars(module).items() if isinstance(value, kinds)]
    has = f"it has {', '.join(others)}" if others else "it has none: decorate one with @triton.jit"
    raise ValueError(f"{name} is no kernel of {file}; {has}")


def import_file(file: str) -> ModuleType:
    """A Python file as a module; what lies beside it can be imported by it."""
    path = Path(file).resolve()
    if not path.is_file():
        raise ValueError(f"{file} is not a file")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"{file} cannot be imported: {reason}") from None
    return module


def parse_argument(text: str) -> Any:
    """*fp32, *fp32+1 (a pointer that is not aligned), tl.float16, or a Python literal."""
    if pointer := re.fullmatch(r"\*(\w+)(?:\+(\d+))?", text):
        name, past = pointer.groups()
        if name not in POINTERS:
            raise ValueError(f"{text} is not a pointer; allowed: *{', *'.join(POINTERS)}")
        return Pointer(POINTERS[name], int(past or 0))
    dtype = getattr(tl, text.removeprefix("tl."), None)
    if text.startswith("tl.") and isinstance(dtype, tl.dtype):
        return dtype
    with contextlib.suppress(ValueError, SyntaxError):
        return ast.literal_eval(text)
    raise ValueError(
        f"{text} is not an argument:"
        " write *fp32 for a pointer, a number, tl.float16, or 'text' in quotes"
    )
