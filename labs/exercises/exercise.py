"""What an exercise is: its words, the hidden cases that judge an answer, and typical wrong answers.

Plain Python without torch: the same cases run in the page, in Triton's interpreter and on a GPU.

    labs/exercises/01_mask_tail.py      what the reader edits
    labs/exercises/01_mask_tail/        exercise.yml, cases.py, solution.py
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parent
Values = Sequence[float]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Given:
    """A tensor that a case passes in. No program may write it.

    `values` are in row-major order, whatever `strides` (in elements) say of where they lie.
    """

    values: Values
    shape: Shape | None = None  # one axis unless given
    dtype: str = "float32"
    strides: Shape | None = None  # contiguous unless given

    @property
    def sizes(self) -> Shape:
        return (len(self.values),) if self.shape is None else self.shape


@dataclass(frozen=True)
class Output:
    """A tensor that a case expects to be written.

    An element is correct if it is within `atol + rtol * |expected|` of what is expected. `start` is
    what it holds before the launch; None where nobody has written it.
    """

    expected: Values
    shape: Shape | None = None
    dtype: str = "float32"
    strides: Shape | None = None
    start: Values | None = None
    rtol: float = 0.0
    atol: float = 0.0

    @property
    def sizes(self) -> Shape:
        return (len(self.expected),) if self.shape is None else self.shape


Argument = Given | Output | int | float


@dataclass(frozen=True)
class Case:
    """One call of the function that the exercise is about, by name of its parameters.

    `suspects` are wrong results that a typical mistake leads to: name of the mistake → output →
    values. `sectors` is how many 32-byte sectors all programs together may touch, `programs` how
    many may be launched.
    """

    name: str
    args: Mapping[str, Argument]
    suspects: Mapping[str, Mapping[str, Values]] = field(default_factory=dict)
    sectors: int | None = None
    programs: int | None = None

    @property
    def outputs(self) -> dict[str, Output]:
        return {name: arg for name, arg in self.args.items() if isinstance(arg, Output)}

    def text(self) -> str:
        """ragged (x: float32[10], BLOCK = 4)"""
        return f"{self.name} ({', '.join(_argument_text(*pair) for pair in self.args.items())})"


@dataclass(frozen=True)
class Speed:
    """What a GPU times: the reader's function against the one as handed out, on larger tensors."""

    shapes: Mapping[str, Shape]  # of the tensors, by parameter
    numbers: Mapping[str, int | float]
    ratio: float  # how many times as fast as the baseline
    dtype: str = "float32"


def _argument_text(name: str, value: Argument) -> str:
    if isinstance(value, (Given, Output)):
        strides = f" strides {value.strides}" if value.strides else ""
        return f"{name}: {value.dtype}{list(value.sizes)}{strides}"
    return f"{name} = {value}"


@dataclass(frozen=True)
class Wrong:
    """A typical wrong answer: how it shows, and what the reader is told then.

    `found` is "past_end_store out", or any other finding of the evaluator and the tensor, where a
    third word may be how many elements; "input_changed x"; "unwritten out"; "differs out";
    "result NAME" of a case's suspects; "stop KEY" of the message that ends the run; "sectors";
    "programs".
    """

    name: str
    found: str
    zh: str
    en: str

    def text(self, lang: str) -> str:
        return self.zh if lang == "zh" else self.en


@dataclass(frozen=True)
class Exercise:
    """An exercise as a judge needs it."""

    name: str  # 01_mask_tail
    function: str  # that the cases call
    cases: tuple[Case, ...]
    wrong: tuple[Wrong, ...]
    title: Mapping[str, str]
    hints: tuple[Mapping[str, str], ...]
    speed: Speed | None = None


def exercise_from(name: str, data: Mapping[str, Any], cases: Mapping[str, Any]) -> Exercise:
    """The exercise of what exercise.yml holds and of the names that its cases.py defines."""
    wrong = [
        Wrong(key, found=each["found"], zh=each["zh"], en=each["en"])
        for key, each in data["wrong"].items()
    ]
    return Exercise(
        name,
        cases["FUNCTION"],
        tuple(cases["CASES"]),
        tuple(wrong),
        data["title"],
        tuple(data["hints"]),
        cases.get("SPEED"),
    )


def load_exercise(name: str) -> Exercise:
    """The exercise in the folder of that name. Needs PyYAML."""
    import yaml

    folder = FOLDER / name
    data = yaml.safe_load((folder / "exercise.yml").read_text(encoding="utf-8"))
    return exercise_from(name, data, vars(load_cases(folder / "cases.py")))


def load_cases(path: Path) -> ModuleType:
    """The module cases.py of an exercise, under a name of its own."""
    module = ModuleType(f"cases_of_{path.parent.name}")
    module.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
    return module


def names() -> list[str]:
    """Every exercise, in the order of their numbers."""
    return sorted(path.parent.name for path in FOLDER.glob("[0-9][0-9]_*/exercise.yml"))


# What cases are made of


def draws(
    seed: int, count: int, low: float = -4.0, high: float = 4.0, step: float = 0.125
) -> list[float]:
    """`count` numbers in [low, high), multiples of `step`: every type holds them exactly."""
    source = random.Random(seed)
    steps = round((high - low) / step)
    return [low + step * int(source.random() * steps) for _ in range(count)]


def integers(seed: int, count: int, low: int, high: int) -> list[int]:
    """`count` whole numbers in [low, high)."""
    source = random.Random(seed)
    return [low + int(source.random() * (high - low)) for _ in range(count)]


def fp32(value: float) -> float:
    """The number rounded to fp32."""
    rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    return rounded


def rows(values: Values, n_cols: int) -> list[list[float]]:
    """The flat values as rows of a matrix with at least one column."""
    return [list(values[at : at + n_cols]) for at in range(0, len(values), n_cols)]


def flat(matrix: Sequence[Values]) -> list[float]:
    """The rows of a matrix, one after the other."""
    return [value for row in matrix for value in row]


def transposed(matrix: Sequence[Values]) -> list[list[float]]:
    return [list(column) for column in zip(*matrix, strict=True)]


def matmul(a: Sequence[Values], b: Sequence[Values]) -> list[list[float]]:
    """a @ b in double precision."""
    columns = transposed(b)
    return [[math.fsum(map(_times, row, column)) for column in columns] for row in a]


def _times(x: float, y: float) -> float:
    return x * y


def softmax(row: Values) -> list[float]:
    """The softmax of one row, in double precision."""
    largest = max(row)
    powers = [math.exp(value - largest) for value in row]
    total = math.fsum(powers)
    return [power / total for power in powers]
