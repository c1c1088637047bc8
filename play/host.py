"""The part of `torch` that a program around a kernel uses: make tensors, compare results.

A lesson's program imports torch to make its inputs and to check what comes out. In the playground a
tensor is the evaluator's own, and this module gives it the few operations which such programs need,
each rounded to its type as torch does. Whatever else is asked for is refused by name.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterable
from typing import Any

from play import dtypes
from play.dtypes import DType
from play.language import Names
from play.memory import Storage, Tensor, contiguous_strides, flattened
from play.messages import Refusal

Shape = tuple[int, ...]
DTYPES = {dtype.torch_name: dtype for dtype in dtypes.ALL}
SHORT = {"half": dtypes.float16, "float": dtypes.float32, "double": dtypes.float64}


class HostTensor(Tensor):
    """A tensor with the operations of a program around a kernel. Each returns a new one."""

    def __init__(
        self, storage: Storage, shape: Iterable[int], strides: Iterable[int], offset: int = 0
    ) -> None:
        super().__init__(storage, tuple(shape), tuple(strides), offset)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in SHORT:
            return lambda: self.to(SHORT[name])
        raise Refusal("not_of_torch", name=f"Tensor.{name}")

    def __getitem__(self, index: Any) -> HostTensor:
        view = super().__getitem__(index)
        return HostTensor(view.storage, view.shape, view.strides, view.offset)

    def t(self) -> HostTensor:
        return HostTensor(self.storage, self.shape[::-1], self.strides[::-1], self.offset)

    def to(self, *wanted: Any) -> HostTensor:
        """In another type; a device is the same one."""
        for dtype in wanted:
            if isinstance(dtype, DType):
                return made(converted(self.values(), dtype), self.shape, dtype)
        return self

    def clone(self) -> HostTensor:
        return made(self.values(), self.shape, self.dtype)

    def contiguous(self) -> HostTensor:
        return self if self.is_contiguous() else self.clone()

    def fill_(self, value: float) -> HostTensor:
        return self._write([value] * self.numel())

    def zero_(self) -> HostTensor:
        return self.fill_(0)

    def _write(self, values: list[Any]) -> HostTensor:
        for place, value in zip(self.positions(), converted(values, self.dtype), strict=True):
            self.storage.values[place] = value
            self.storage.unwritten.discard(place)
            self.storage.undefined.discard(place)
        return self

    # Arithmetic

    def __add__(self, other: Any) -> HostTensor:
        return elementwise(operator.add, self, other)

    def __radd__(self, other: Any) -> HostTensor:
        return elementwise(operator.add, other, self)

    def __sub__(self, other: Any) -> HostTensor:
        return elementwise(operator.sub, self, other)

    def __rsub__(self, other: Any) -> HostTensor:
        return elementwise(operator.sub, other, self)

    def __mul__(self, other: Any) -> HostTensor:
        return elementwise(operator.mul, self, other)

    def __rmul__(self, other: Any) -> HostTensor:
        return elementwise(operator.mul, other, self)

    def __truediv__(self, other: Any) -> HostTensor:
        return elementwise(quotient, self, other, dtypes.float32)

    def __neg__(self) -> HostTensor:
        return elementwise(operator.mul, self, -1)

    def __matmul__(self, other: HostTensor) -> HostTensor:
        """The product of two matrices, summed in double precision and rounded once."""
        (n_rows, n_inner), (n_other, n_cols) = self.shape, other.shape
        if n_inner != n_other:
            raise Refusal("host_shapes", a=list(self.shape), b=list(other.shape))
        left, right = rows_of(self), rows_of(other.t())
        products = [math.fsum(map(operator.mul, row, column)) for row in left for column in right]
        dtype = common(self, other)
        return made(dtypes.fit(products, dtype), (n_rows, n_cols), dtype)

    def abs(self) -> HostTensor:
        return made([abs(value) for value in self.values()], self.shape, self.dtype)

    def square(self) -> HostTensor:
        return self * self

    def exp(self) -> HostTensor:
        return made(
            dtypes.fit([math.exp(x) for x in self.values()], self.dtype), self.shape, self.dtype
        )

    # Comparisons

    def __lt__(self, other: Any) -> HostTensor:
        return elementwise(operator.lt, self, other, dtypes.int1)

    def __le__(self, other: Any) -> HostTensor:
        return elementwise(operator.le, self, other, dtypes.int1)

    def __gt__(self, other: Any) -> HostTensor:
        return elementwise(operator.gt, self, other, dtypes.int1)

    def __ge__(self, other: Any) -> HostTensor:
        return elementwise(operator.ge, self, other, dtypes.int1)

    def __bool__(self) -> bool:
        return bool(self.item())

    def all(self) -> HostTensor:
        return made([all(self.values())], (), dtypes.int1)

    # Reductions

    def max(self) -> HostTensor:
        values = self.values()
        found = next((value for value in values if value != value), None)  # NaN wins, as in torch
        return made([max(values) if found is None else found], (), self.dtype)

    def sum(self, dim: int | None = None) -> HostTensor:
        """Of all elements, or along an axis; in double precision, rounded once."""
        dtype = self.dtype if self.dtype.is_floating() else dtypes.int64
        if dim is None:
            return made(dtypes.fit([total(self.values())], dtype), (), dtype)
        lines, shape = along(self, dim)
        return made(dtypes.fit([total(line) for line in lines], dtype), shape, dtype)

    def mean(self) -> HostTensor:
        return made(dtypes.fit([total(self.values()) / self.numel()], self.dtype), (), self.dtype)

    def softmax(self, dim: int) -> HostTensor:
        """Of each row, in double precision, rounded once."""
        if dim not in (-1, self.ndim - 1):
            raise Refusal("not_of_torch", name=f"Tensor.softmax(dim={dim})")
        values: list[float] = []
        for row in rows_of(self):
            largest = max(row)
            powers = [math.exp(value - largest) for value in row]
            whole = math.fsum(powers)
            values += [power / whole for power in powers]
        return made(dtypes.fit(values, self.dtype), self.shape, self.dtype)


def torch(seed: int = 0) -> Names:
    """The module. Its random numbers are those of Python, the same in every run."""
    source = random.Random(seed)

    def filled(value: float) -> Callable[..., HostTensor]:
        def fill(*shape: Any, dtype: DType = dtypes.float32, device: Any = None) -> HostTensor:
            wanted = sizes(shape)
            return made(converted([value] * math.prod(wanted), dtype), wanted, dtype)

        return fill

    def drawn(draw: Callable[[], float]) -> Callable[..., HostTensor]:
        def fill(*shape: Any, dtype: DType = dtypes.float32, device: Any = None) -> HostTensor:
            wanted = sizes(shape)
            values = [draw() for _ in range(math.prod(wanted))]
            return made(dtypes.fit(values, dtype), wanted, dtype)

        return fill

    def randint(low: int, high: int, shape: Any, device: Any = None) -> HostTensor:
        wanted = sizes((shape,))
        values = [source.randrange(low, high) for _ in range(math.prod(wanted))]
        return made(values, wanted, dtypes.int64)

    def empty(*shape: Any, dtype: DType = dtypes.float32, device: Any = None) -> HostTensor:
        wanted = sizes(shape)
        tensor = made(converted([0] * math.prod(wanted), dtype), wanted, dtype)
        tensor.storage.unwritten = set(tensor.positions())
        return tensor

    def arange(*bounds: float, dtype: DType | None = None, device: Any = None) -> HostTensor:
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        values = [start + step * n for n in range(math.ceil((stop - start) / step))]
        dtype = dtype or kind_of(values)
        return made(converted(values, dtype), (len(values),), dtype)

    def full(shape: Any, value: float, device: Any = None, **options: DType) -> HostTensor:
        return filled(value)(shape, **({"dtype": kind_of([value])} | options))

    def tensor(values: Any, dtype: DType | None = None, device: Any = None) -> HostTensor:
        flat, shape = flattened(values)
        dtype = dtype or kind_of(flat)
        return made(converted(flat, dtype), shape, dtype)

    names: dict[str, Any] = {name: dtype for name, dtype in DTYPES.items()}
    names |= {name: dtype for name, dtype in SHORT.items()}
    names |= {
        "Tensor": HostTensor,
        "cuda": Names("torch.cuda", {"is_available": lambda: False}),
        "manual_seed": source.seed,
        "rand": drawn(source.random),
        "randn": drawn(lambda: source.gauss(0, 1)),
        "randint": randint,
        "arange": arange,
        "full": full,
        "tensor": tensor,
        "empty": empty,
        "zeros": filled(0),
        "ones": filled(1),
        "empty_like": lambda x, dtype=None: empty(x.shape, dtype=dtype or x.dtype),
        "zeros_like": lambda x: filled(0)(x.shape, dtype=x.dtype),
        "equal": lambda a, b: a.shape == b.shape and a.values() == b.values(),
    }
    return Names("torch", names)


def made(values: list[Any], shape: Shape, dtype: DType) -> HostTensor:
    """A contiguous tensor of these values, which are the type's already."""
    storage = Storage(values, dtype)
    storage.shape, storage.strides = shape, contiguous_strides(shape)
    return HostTensor(storage, shape, storage.strides)


def kind_of(values: list[Any]) -> DType:
    """The type that torch gives Python numbers."""
    if any(isinstance(value, float) for value in values):
        return dtypes.float32
    return dtypes.int1 if values and isinstance(values[0], bool) else dtypes.int64


def sizes(shape: tuple[Any, ...]) -> Shape:
    """The sizes of `rand(2, 3)` and of `rand((2, 3))` alike."""
    given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return tuple(operator.index(size) for size in given)


def converted(values: list[Any], dtype: DType) -> list[Any]:
    """Numbers in another type; a fraction loses what is behind its point in an integer type."""
    if dtype.is_floating():
        values = [float(value) for value in values]
    elif not dtype.is_bool():
        values = [int(value) for value in values]
    return dtypes.fit(values, dtype)


def common(*operands: Any) -> DType:
    """The type that torch computes in: the wider one of two tensors; of a number only its kind
    counts.
    """
    found = [each.dtype for each in operands if isinstance(each, Tensor)]
    widest = max(found, key=lambda dtype: (dtypes.RANKS[dtype.kind], dtype.bits))
    fraction = any(isinstance(each, float) for each in operands)
    if fraction and not widest.is_floating():
        return dtypes.float32
    if {dtypes.float16, dtypes.bfloat16} <= set(found):
        return dtypes.float32
    return widest


def elementwise(
    function: Callable[[Any, Any], Any], a: Any, b: Any, dtype: DType | None = None
) -> HostTensor:
    """`function` of each pair of elements; a number goes with every element."""
    shape = next(each.shape for each in (a, b) if isinstance(each, Tensor))
    for each in (a, b):
        if isinstance(each, Tensor) and each.shape != shape:
            raise Refusal("host_shapes", a=list(a.shape), b=list(b.shape))
    count = math.prod(shape)
    left, right = (each.values() if isinstance(each, Tensor) else [each] * count for each in (a, b))
    wanted = common(a, b)
    if dtype is not None and not (dtype.is_floating() and wanted.is_floating()):
        wanted = dtype
    return made(converted(list(map(function, left, right)), wanted), shape, wanted)


def quotient(a: float, b: float) -> float:
    """a / b, by IEEE 754 also where b is 0."""
    if b:
        return a / b
    if not a or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def rows_of(tensor: Tensor) -> list[list[Any]]:
    """The elements along the last axis, one list for each."""
    values, n_cols = tensor.values(), tensor.shape[-1]
    return [values[at : at + n_cols] for at in range(0, len(values), n_cols or 1)]


def along(tensor: Tensor, dim: int) -> tuple[list[list[Any]], Shape]:
    """The elements along an axis of a vector or a matrix, and the shape that is left."""
    axis = dim % tensor.ndim
    if tensor.ndim > 2:
        raise Refusal("not_of_torch", name="Tensor.sum of more than two axes")
    left = tensor.shape[:axis] + tensor.shape[axis + 1 :]
    return rows_of(tensor if axis == tensor.ndim - 1 else tensor.t()), left


def total(values: list[Any]) -> Any:
    """The sum, exact for integers, in double precision for fractions."""
    return math.fsum(values) if any(isinstance(value, float) for value in values) else sum(values)
