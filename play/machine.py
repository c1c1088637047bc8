"""One run: the reader's source is executed, its kernels are launched, one program after another."""

from __future__ import annotations

import builtins
import inspect
import math
import operator
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from play import dtypes, language, operations, source
from play.block import Block, constexpr, plain, scalar
from play.functions import FUNCTIONS
from play.memory import Log, Memory, Program, Tensor
from play.messages import Message, Refusal
from play.watch import KernelFacts, KernelRange, Watch

PRINTED = 20_000  # characters of output that are kept
PROGRAMS = 100_000  # of one launch
NOT_HERE = (
    "open",
    "exec",
    "eval",
    "compile",
    "input",
    "breakpoint",
    "globals",
    "vars",
    "memoryview",
)
COMPILER_KNOWS = [
    "len",
    "list",
    "range",
    "float",
    "int",
    "isinstance",
    "getattr",
    "hasattr",
    "print",
    "min",
    "max",
    "True",
    "False",
    "None",
]
OPTIONS = [
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "enable_fp_fusion",
    "launch_cooperative_grid",
    "waves_per_eu",
    "matrix_instr_nonkdim",
    "kpack",
    "warmup",
    "grid",
]


class Machine:
    """Everything that one run of the reader's source needs and leaves behind."""

    def __init__(self, provided: dict[str, Any]) -> None:
        self.log = Log()
        self.memory = Memory(self.log)
        self.watch = Watch(self.line, self.fail)
        self.grid: Program = (1, 1, 1)
        self.launches: list[tuple[str, Program]] = []
        self.printed = ""
        self.cut = False  # whether more was printed than is kept
        self.failures: list[Message] = []
        self.kernels: list[str] = []  # the kernels that are running, the innermost last
        self.tl = language.language(self)
        self.triton = language.triton(self, self.tl)
        self.modules = {"triton": self.triton, "triton.language": self.tl, "math": math}
        self.namespace: dict[str, Any] = {
            "__name__": "__main__",
            "__builtins__": self._builtins(),
            source.WATCH: self.watch,
            **provided,
        }

    def execute(self, text: str) -> None:
        """Run the source from top to bottom."""
        exec(source.compiled(text), self.namespace)

    # What the source may ask of Python

    def _builtins(self) -> dict[str, Any]:
        names = {name: getattr(builtins, name) for name in dir(builtins)}
        names |= {name: _not_here(name) for name in NOT_HERE}
        names |= {
            "__import__": self._import,
            "print": self.print,
            "range": self._range,
            "min": self._extreme(builtins.min, operations.minimum),
            "max": self._extreme(builtins.max, operations.maximum),
        }
        return names

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        if name in self.modules:
            return self.modules[name] if fromlist or "." not in name else self.triton
        top = name.partition(".")[0]
        if top == "torch":
            raise Refusal("import_torch")
        if top == "triton":
            raise Refusal("runs_on_interpreter", name=name)
        raise Refusal("import_other", name=top)

    def _range(self, *bounds: Any) -> Any:
        return KernelRange(*bounds) if self.kernels else range(*bounds)

    def _extreme(
        self, of_python: Callable[..., Any], of_blocks: Callable[..., Any]
    ) -> Callable[..., Any]:
        def extreme(*values: Any, **options: Any) -> Any:
            values = tuple(map(plain, values))
            if not any(isinstance(value, Block) for value in values):
                return of_python(*values, **options)
            found, *others = values
            if not others:
                raise Refusal("block_iterated", block=found)
            for value in others:
                found = of_blocks(found, value)
            return found

        return extreme

    def print(self, *values: Any, sep: str = " ", end: str = "\n", **options: Any) -> None:
        """Keeps what is printed, up to a length; within a kernel after the program that prints."""
        if self.cut:
            return
        room = PRINTED - len(self.printed)
        shown = [_shown(value)[: room + 1] for value in values]
        if self.kernels:
            shown.insert(0, str(self.memory.program))
        text = sep.join(shown) + end
        self.cut = len(text) > room
        self.printed += text[:room]

    # Where the source is

    def line(self) -> int | None:
        """The line of the reader's source that is running."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == source.FILE:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return None

    def fail(self, key: str, **values: Any) -> None:
        """Remember, once a line, that something failed which does not stop the kernel."""
        message = Message(key, self.line(), **values)
        if all((known.key, known.line) != (key, message.line) for known in self.failures):
            self.failures.append(message)

    # Kernels

    def jit(self, function: Any = None, **options: Any) -> Any:
        """`@triton.jit`, with or without arguments."""
        if function is None:
            return lambda function: self.jit(function, **options)
        if not hasattr(function, "facts"):
            raise Refusal("jit_of_other")
        return Kernel(self, function)

    def autotune(self, configs: Any, key: Any = (), **options: Any) -> Callable[..., Any]:
        """`@triton.autotune`: the first configuration, since nothing is timed here."""
        first = configs[0] if configs else language.Config({})
        return lambda kernel: kernel.with_constants(lambda meta: first.all_kwargs())

    def heuristics(self, values: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
        """`@triton.heuristics`: constants computed from the arguments."""
        return lambda kernel: kernel.with_constants(
            lambda meta: {name: compute(meta) for name, compute in values.items()}
        )

    def coordinate(self, axis: Any, of: Program, function: str) -> Block:
        if not self.kernels:
            raise Refusal("outside_kernel", name=f"tl.{function}")
        place = plain(axis)
        if place not in (0, 1, 2):
            raise Refusal("program_axis", axis=str(place))
        return scalar(of[place], dtypes.int32)


def _not_here(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise Refusal("builtin_not_here", name=name)

    return refuse


def _shown(value: Any) -> str:
    value = plain(value)
    if not isinstance(value, Block):
        return str(value.tolist()) if isinstance(value, Tensor) else str(value)
    if isinstance(value.dtype, dtypes.Pointer):
        return f"{value!r}"
    lanes = ["?" if value.undefined and value.undefined[at] else str(value.data[at])
             for at in range(value.numel)]  # fmt: skip
    for size in reversed(value.shape):
        groups = [lanes[at : at + size] for at in range(0, len(lanes), size)]
        lanes = [f"[{' '.join(group)}]" for group in groups]
    return lanes[0]


class Kernel:
    """A function under @triton.jit."""

    def __init__(self, machine: Machine, function: Callable[..., Any]) -> None:
        self.machine = machine
        self.function = function
        self.facts: KernelFacts = function.facts  # type: ignore[attr-defined]
        self.signature = inspect.signature(function)
        self.computed: list[Callable[[dict[str, Any]], dict[str, Any]]] = []
        self.__name__ = function.__name__

    @property
    def fn(self) -> Kernel:
        return self

    def with_constants(self, compute: Callable[[dict[str, Any]], dict[str, Any]]) -> Kernel:
        self.computed.insert(0, compute)
        return self

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        return lambda *arguments, **keywords: self.launch(grid, arguments, keywords)

    def run(self, *arguments: Any, grid: Any, **keywords: Any) -> None:
        self.launch(grid, arguments, keywords)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """A call from another kernel."""
        machine = self.machine
        if not machine.kernels:
            raise Refusal("kernel_without_grid", kernel=self.__name__)
        if self.__name__ in machine.kernels:
            raise Refusal("recursion", name=self.__name__)
        bound = self._bind(arguments, keywords)
        self._check_names()
        for name in self.facts.constants:
            if isinstance(plain(bound[name]), Block):
                raise Refusal("constant_parameter", name=name, kernel=self.__name__)
        return self._call({name: plain(value) for name, value in bound.items()})

    def launch(self, grid: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Run a program for each position of the grid, the last axis fastest."""
        machine = self.machine
        if machine.kernels:
            raise Refusal("launch_in_kernel")
        meta = dict(zip(self.signature.parameters, arguments, strict=False)) | keywords
        for compute in reversed(self.computed):
            found = compute(meta)
            keywords, meta = {**found, **keywords}, {**found, **meta}
        bound = self._bind(arguments, keywords)
        self._check_names()
        _check_options(keywords)
        sizes = _grid(grid(bound) if callable(grid) else grid)
        values = {name: self._value(name, value) for name, value in bound.items()}
        machine.grid = sizes
        machine.launches.append((self.__name__, sizes))
        machine.memory.begin()
        for x in range(sizes[0]):
            for y in range(sizes[1]):
                for z in range(sizes[2]):
                    machine.memory.program = (x, y, z)
                    machine.watch.tick()
                    self._call(dict(values))
        machine.memory.end()

    def _call(self, values: dict[str, Any]) -> Any:
        kernels = self.machine.kernels
        kernels.append(self.__name__)
        try:
            return self.function(**values)
        finally:
            kernels.pop()

    def _bind(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
        known = self.signature.parameters
        for name in keywords:
            if name not in known and name not in OPTIONS:
                raise Refusal("unknown_argument", function=self.__name__, argument=name)
        given = {name: value for name, value in keywords.items() if name in known}
        try:
            bound = self.signature.bind(*arguments, **given)
        except TypeError as error:
            missing = [
                name
                for at, (name, parameter) in enumerate(known.items())
                if at >= len(arguments)
                and name not in given
                and parameter.default is inspect.Parameter.empty
            ]
            if missing and len(arguments) <= len(known):
                raise Refusal(
                    "missing_arguments", kernel=self.__name__, names=", ".join(missing)
                ) from None
            raise Refusal("arguments", kernel=self.__name__, reason=str(error)) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def _value(self, name: str, value: Any) -> Any:
        """What the kernel sees of an argument."""
        value = plain(value)
        if name in self.facts.constants:
            if isinstance(value, Tensor):
                raise Refusal("tensor_as_constant", name=name)
            return value
        if isinstance(value, Tensor):
            if not value.storage.name:
                value.storage.name = name.removesuffix("_ptr")
            self.machine.log.watch(value.storage)
            return value.pointer()
        if isinstance(value, bool):
            return scalar(value, dtypes.int1)
        if isinstance(value, int):
            return scalar(value)
        if isinstance(value, float):
            return scalar(value, dtypes.float32)
        if value is None:
            return None
        raise Refusal("argument_type", name=name, what=type(value).__name__)

    def _check_names(self) -> None:
        """A kernel may read from its surroundings only what the compiler can see."""
        surroundings = self.function.__globals__
        for name, line in self.facts.names.items():
            if name not in surroundings:
                if name in dir(builtins) and name not in COMPILER_KNOWS:
                    raise Refusal("builtin_in_kernel", line=line, name=name)
                continue
            value = surroundings[name]
            if isinstance(value, (constexpr, Kernel, language.Names, dtypes.DType, ModuleType)):
                continue
            if isinstance(value, type) or (callable(value) and value in FUNCTIONS.values()):
                continue
            if callable(value) and getattr(value, "__module__", "").startswith("play"):
                continue
            key = "function_not_jit" if callable(value) else "global_not_constexpr"
            raise Refusal(key, line=line, name=name)


def _check_options(keywords: dict[str, Any]) -> None:
    warps = keywords.get("num_warps")
    if warps is not None and (not isinstance(warps, int) or warps < 1 or warps & (warps - 1)):
        raise Refusal("num_warps", value=warps)


def _grid(grid: Any) -> Program:
    """The sizes of the grid, one for each of three axes."""
    if isinstance(grid, (int, float)):
        raise Refusal("grid_not_tuple", value=grid)
    sizes = []
    for size in map(plain, grid):
        if isinstance(size, float):
            raise Refusal("grid_float", value=size)
        try:
            sizes.append(operator.index(size))
        except TypeError:
            raise Refusal("grid_type", what=type(size).__name__) from None
    if not 1 <= len(sizes) <= 3:
        raise Refusal("grid_axes", count=len(sizes))
    if min(sizes) < 0:
        raise Refusal("grid_negative", size=min(sizes))
    if math.prod(sizes) > PROGRAMS:
        raise Refusal("grid_too_large", count=math.prod(sizes), limit=PROGRAMS)
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
