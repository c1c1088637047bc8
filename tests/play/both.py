"""One kernel in the playground and in Triton's interpreter, with the same arguments."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import play
from play import dtypes

ROOT = Path(__file__).parents[2]
HEAD = "import triton\nimport triton.language as tl\n\n\n"
_numbers = itertools.count()


@dataclass
class Data:
    """A tensor among the arguments: values, flat, and how they lie. `values=None` is an output of zeros."""

    values: list | None
    dtype: str = "float32"
    shape: tuple[int, ...] | None = None

    @property
    def size(self) -> tuple[int, ...]:
        return self.shape or (len(self.values or ()),)


@dataclass
class Both:
    """What either left in each tensor, flat."""

    played: dict[str, list]
    interpreted: dict[str, list]
    report: play.Report


def lab_source(lab: str, *kernels: str) -> str:
    """A source with these kernels of a lab, without what chooses among configurations."""
    tree = ast.parse((ROOT / f"labs/{lab}.py").read_text(encoding="utf-8"))
    text = HEAD
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in kernels:
            node.decorator_list = [
                decorator
                for decorator in node.decorator_list
                if "autotune" not in ast.unparse(decorator)
            ]
            text += ast.unparse(node) + "\n\n\n"
    return text


def play_kernel(
    source: str, kernel: str, grid: Any, **arguments: Any
) -> tuple[play.Report, dict[str, list]]:
    """The report, and what is in each tensor afterwards."""
    given = {
        name: _tensor(value) if isinstance(value, Data) else value
        for name, value in arguments.items()
    }
    report = play.run(source, kernel, given, grid)
    tensors = {name: value for name, value in given.items() if isinstance(value, play.Tensor)}
    return report, {name: tensor.values() for name, tensor in tensors.items()}


def _tensor(data: Data) -> play.Tensor:
    values = data.values if data.values is not None else [0] * math.prod(data.size)
    return play.tensor(values, data.dtype, shape=data.size)


def interpret_kernel(source: str, kernel: str, grid: Any, **arguments: Any) -> dict[str, list]:
    """What Triton's interpreter leaves in each tensor."""
    import torch

    given = {}
    for name, value in arguments.items():
        if isinstance(value, Data):
            flat = value.values if value.values is not None else [0] * math.prod(value.size)
            dtype = getattr(torch, dtypes.named(value.dtype).torch_name)
            given[name] = torch.tensor(flat, dtype=dtype).reshape(value.size)
        else:
            given[name] = value
    module = load(source)
    getattr(module, kernel)[grid](**given)
    return {
        name: value.flatten().tolist() for name, value in given.items() if torch.is_tensor(value)
    }


def load(source: str) -> Any:
    """The source as a module of its own, from a file, where Triton can read it."""
    name = f"played_{next(_numbers)}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.py")
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        _rewrite_kernels(module)
    return module


def _rewrite_kernels(module: Any) -> None:
    """Let the interpreter read its kernels while their file is there."""
    for value in list(vars(module).values()):
        if type(value).__name__ == "InterpretedFunction":
            value.rewrite()


def both(source: str, kernel: str, grid: Any, **arguments: Any) -> Both:
    report, played = play_kernel(source, kernel, grid, **arguments)
    return Both(played, interpret_kernel(source, kernel, grid, **arguments), report)


def same(a: float, b: float) -> bool:
    """Equal, or both NaN."""
    return a == b or (a != a and b != b)


def different(found: Both, name: str) -> list[tuple[int, float, float]]:
    """Position and both values, wherever they are not the same."""
    pairs = zip(found.played[name], found.interpreted[name], strict=True)
    return [(at, a, b) for at, (a, b) in enumerate(pairs) if not same(a, b)]


def largest_gap(found: Both, name: str) -> float:
    """The largest difference of a tensor of finite numbers."""
    pairs = zip(found.played[name], found.interpreted[name], strict=True)
    return max(abs(a - b) for a, b in pairs)
