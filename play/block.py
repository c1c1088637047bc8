"""A block: the values that a name of a kernel holds, and Python's operators on it.

The values lie in one flat list, the last axis running fastest; a scalar is a block of shape ().
Where a value is not defined (a masked load without `other`, memory that no program has written),
`undefined` says so lane by lane, and whatever is computed from such a lane is undefined too.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from play import dtypes
from play.dtypes import DType, Pointer
from play.messages import Refusal

if TYPE_CHECKING:
    from play.memory import Storage

Number = bool | int | float
Shape = tuple[int, ...]
LARGEST = 65_536  # elements of one block; Triton's own limit is 2**20


class constexpr:
    """A value known at compile time. In an expression it is its value."""

    def __init__(self, value: Any) -> None:
        self.value: Any = plain(value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> Any:
        return self.value == plain(other)

    def __ne__(self, other: object) -> Any:
        return self.value != plain(other)


def plain(value: Any) -> Any:
    """The value of a constexpr; anything else as it is."""
    return value.value if isinstance(value, constexpr) else value


class Hidden:
    """A name that the compiler does not know any more: whatever is done with it is refused."""

    def __init__(self, name: str, key: str, line: int | None) -> None:
        self.name, self.key, self.line = name, key, line

    def refusal(self) -> Refusal:
        return Refusal(self.key, name=self.name, where=self.line or 0)


def _refuse(self: Hidden, *_: Any) -> Any:
    raise self.refusal()


OPERATORS = [
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "lshift",
    "rshift",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "neg",
    "invert",
    "getitem",
    "bool",
    "index",
    "float",
    "int",
    "iter",
    "getattr",
]
for _name in OPERATORS:
    setattr(Hidden, f"__{_name}__", _refuse)


def _delegate(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)
    return lambda self, *others: function(self.value, *map(plain, others))


def _delegate_reflected(name: str) -> Callable[..., Any]:
    function = getattr(operator, name)
    return lambda self, other: function(plain(other), self.value)


BINARY = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
)
for _name in BINARY:
    _bare = _name.rstrip("_")
    setattr(constexpr, f"__{_bare}__", _delegate(_name))
    setattr(constexpr, f"__r{_bare}__", _delegate_reflected(_name))
for _name in ("lt", "le", "gt", "ge", "neg", "pos", "invert", "pow"):
    setattr(constexpr, f"__{_name}__", _delegate(_name))


class Block:
    """Values of one type in one shape."""

    __slots__ = ("data", "dtype", "origin", "shape", "undefined")

    def __init__(
        self,
        data: list[Any],
        shape: Shape,
        dtype: DType | Pointer,
        undefined: list[bool] | None = None,
        origin: Storage | None = None,
    ) -> None:
        self.data = data
        self.shape = shape
        self.dtype = dtype
        self.undefined = undefined if undefined is not None and any(undefined) else None
        self.origin = origin  # of a pointer: the tensor that it points into

    def like(self, data: list[Any], dtype: DType | Pointer | None = None) -> Block:
        """Other values, lane by lane made from these."""
        return Block(data, self.shape, dtype or self.dtype, self.undefined, self.origin)

    # What kernels ask of a block

    @property
    def type(self) -> Block:
        return self

    @property
    def scalar(self) -> DType | Pointer:
        return self.dtype

    @property
    def element_ty(self) -> DType | Pointer:
        return self.dtype.element_ty if isinstance(self.dtype, Pointer) else self.dtype

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def T(self) -> Block:
        return permute(self, (1, 0))

    def __repr__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    def __getitem__(self, index: Any) -> Block:
        """`x[:, None]` and the like; a block cannot be indexed."""
        keys = index if isinstance(index, tuple) else (index,)
        block = self
        for axis, key in enumerate(map(plain, keys)):
            if key is None:
                block = expand_dims(block, axis)
            elif not (isinstance(key, slice) and key == slice(None)):
                raise Refusal("block_indexed", index=_shown(key))
        return block

    def __setitem__(self, index: Any, value: Any) -> None:
        raise Refusal("block_item_assigned")

    def __bool__(self) -> bool:
        if self.shape != ():
            raise Refusal("block_as_condition", block=self)
        return bool(self.data[0])

    def __index__(self) -> int:
        raise Refusal("runtime_value_as_constant", block=self)

    def __int__(self) -> int:
        raise Refusal("python_function_on_block", function="int", block=self)

    def __float__(self) -> float:
        raise Refusal("python_function_on_block", function="float", block=self)

    def __iter__(self) -> Any:
        raise Refusal("block_iterated", block=self)

    def __len__(self) -> int:
        raise Refusal("python_function_on_block", function="len", block=self)

    __hash__ = None  # type: ignore[assignment]

    # Operators

    def __add__(self, other: Any) -> Block:
        return add(self, other)

    def __radd__(self, other: Any) -> Block:
        return add(other, self)

    def __sub__(self, other: Any) -> Block:
        return subtract(self, other)

    def __rsub__(self, other: Any) -> Block:
        return subtract(other, self)

    def __mul__(self, other: Any) -> Block:
        return arithmetic("*", operator.mul, self, other)

    def __rmul__(self, other: Any) -> Block:
        return arithmetic("*", operator.mul, other, self)

    def __truediv__(self, other: Any) -> Block:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Block:
        return divide(other, self)

    def __floordiv__(self, other: Any) -> Block:
        return floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Block:
        return floor_divide(other, self)

    def __mod__(self, other: Any) -> Block:
        return remainder(self, other)

    def __rmod__(self, other: Any) -> Block:
        return remainder(other, self)

    def __pow__(self, other: Any) -> Block:
        raise Refusal("no_power")

    __rpow__ = __pow__

    def __matmul__(self, other: Any) -> Block:
        raise Refusal("no_matmul_operator")

    def __and__(self, other: Any) -> Block:
        return bitwise("&", operator.and_, self, other)

    def __rand__(self, other: Any) -> Block:
        return bitwise("&", operator.and_, other, self)

    def __or__(self, other: Any) -> Block:
        return bitwise("|", operator.or_, self, other)

    def __ror__(self, other: Any) -> Block:
        return bitwise("|", operator.or_, other, self)

    def __xor__(self, other: Any) -> Block:
        return bitwise("^", operator.xor, self, other)

    def __rxor__(self, other: Any) -> Block:
        return bitwise("^", operator.xor, other, self)

    def __lshift__(self, other: Any) -> Block:
        return shift("<<", self, other)

    def __rlshift__(self, other: Any) -> Block:
        return shift("<<", other, self)

    def __rshift__(self, other: Any) -> Block:
        return shift(">>", self, other)

    def __rrshift__(self, other: Any) -> Block:
        return shift(">>", other, self)

    def __neg__(self) -> Block:
        if isinstance(self.dtype, Pointer):
            raise Refusal("operands", symbol="-", a=self.dtype, b=self.dtype)
        zero = Block([cast_number(0, self.dtype)] * self.numel, self.shape, self.dtype)
        return subtract(zero, self)

    def __pos__(self) -> Block:
        return self

    def __invert__(self) -> Block:
        if not self.dtype.is_int():
            raise Refusal("operands", symbol="~", a=self.dtype, b=self.dtype)
        if self.dtype is dtypes.int1:
            return self.like([not value for value in self.data])
        return self.like(dtypes.wrap([~value for value in self.data], self.dtype))

    def __abs__(self) -> Block:
        return absolute(self)

    def __lt__(self, other: Any) -> Block:
        return compare("<", operator.lt, self, other)

    def __le__(self, other: Any) -> Block:
        return compare("<=", operator.le, self, other)

    def __gt__(self, other: Any) -> Block:
        return compare(">", operator.gt, self, other)

    def __ge__(self, other: Any) -> Block:
        return compare(">=", operator.ge, self, other)

    def __eq__(self, other: Any) -> Any:
        return compare("==", operator.eq, self, other)

    def __ne__(self, other: Any) -> Any:
        return compare("!=", operator.ne, self, other)

    def logical_and(self, other: Any) -> Block:
        return truth(self) & truth(other)

    def logical_or(self, other: Any) -> Block:
        return truth(self) | truth(other)

    def to(self, dtype: Any, fp_downcast_rounding: Any = None, bitcast: Any = False) -> Block:
        if plain(fp_downcast_rounding) not in (None, "rtne"):
            raise Refusal("unsupported_argument", function="to", argument="fp_downcast_rounding")
        return bit_cast(self, dtype) if plain(bitcast) else cast(self, dtype)

    cast = to


def _shown(key: Any) -> str:
    if isinstance(key, slice):
        ends = [key.start, key.stop] if key.step is None else [key.start, key.stop, key.step]
        return ":".join("" if end is None else str(plain(end)) for end in ends)
    return "…" if isinstance(key, Block) else str(key)


# Making blocks


def scalar(value: Number, dtype: DType | None = None) -> Block:
    """A block of shape () with this number, of the type that Triton gives it."""
    dtype = dtype or dtypes.of_number(value)
    return Block([cast_number(value, dtype)], (), dtype)


def as_block(value: Any) -> Block:
    """A block as it is, a number as a scalar; anything else is refused."""
    value = plain(value)
    if isinstance(value, Hidden):
        raise value.refusal()
    if isinstance(value, Block):
        return value
    if isinstance(value, (bool, int, float)):
        return scalar(value)
    raise Refusal("not_a_value", what=type(value).__name__)


def cast_number(value: Number, dtype: DType | Pointer) -> Number:
    """The number as this type holds it."""
    assert isinstance(dtype, DType)
    if dtype is dtypes.int1:
        return bool(value)
    if dtype.is_int():
        if isinstance(value, float) and not math.isfinite(value):
            return 0
        return dtypes.wrap([int(value)], dtype)[0]
    (rounded,) = (
        dtypes.to_float32([value]) if dtype is dtypes.float32 else dtypes.fit([float(value)], dtype)
    )
    return float(rounded)


def constant_shape(shape: Any) -> Shape:
    """The shape of a new block: constants, each a power of two, as the compiler asks."""
    shape = plain(shape)
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    found = []
    for size in map(plain, sizes):
        if isinstance(size, Block):
            raise Refusal("shape_not_constant", what=size)
        if isinstance(size, bool) or not isinstance(size, int):
            raise Refusal("shape_not_constant", what=type(size).__name__)
        if size <= 0 or size & (size - 1):
            raise Refusal("shape_not_power_of_two", size=size)
        found.append(size)
    check_size(math.prod(found))
    return tuple(found)


def check_size(count: int) -> None:
    if count > 2**20:
        raise Refusal("block_too_large_for_triton", count=count, limit=2**20)
    if count > LARGEST:
        raise Refusal("block_too_large", count=count, limit=LARGEST)


# Shapes


def spread(data: list[Any], shape: Shape, target: Shape) -> list[Any]:
    """Flat values of `shape` repeated to fill `target`; each axis is equal or 1."""
    for axis in range(len(target) - 1, -1, -1):
        if shape[axis] == target[axis]:
            continue
        inner = math.prod(target[axis + 1 :])
        count = target[axis]
        if inner == 1:
            data = [value for value in data for _ in repeat(None, count)]
        else:
            data = [
                value
                for start in range(0, len(data), inner)
                for _ in repeat(None, count)
                for value in data[start : start + inner]
            ]
    return data


def broadcast_shape(a: Shape, b: Shape) -> Shape:
    """The common shape, or a refusal that names the axis."""
    length = max(len(a), len(b))
    a, b = (1,) * (length - len(a)) + a, (1,) * (length - len(b)) + b
    for axis, (left, right) in enumerate(zip(a, b, strict=True)):
        if left != right and 1 not in (left, right):
            raise Refusal("shapes_differ", a=list(a), b=list(b), axis=axis)
    return tuple(map(max, a, b))


def broadcast_to(block: Block, shape: Shape) -> Block:
    """The block repeated to fill `shape`."""
    if block.shape == shape:
        return block
    if broadcast_shape(block.shape, shape) != shape:
        raise Refusal("broadcast_too_small", a=list(block.shape), b=list(shape))
    check_size(math.prod(shape))
    source = (1,) * (len(shape) - len(block.shape)) + block.shape
    undefined = spread(block.undefined, source, shape) if block.undefined else None
    data = spread(block.data, source, shape)
    return Block(data, shape, block.dtype, undefined, block.origin)


def broadcast(*blocks: Block) -> list[Block]:
    """All of them in their common shape."""
    shape: Shape = ()
    for block in blocks:
        shape = broadcast_shape(shape, block.shape)
    return [broadcast_to(block, shape) for block in blocks]


def expand_dims(block: Block, axis: int) -> Block:
    shape = list(block.shape)
    shape.insert(axis if axis >= 0 else axis + len(shape) + 1, 1)
    return reshaped(block, tuple(shape))


def reshaped(block: Block, shape: Shape) -> Block:
    if math.prod(shape) != block.numel:
        raise Refusal("reshape_count", a=list(block.shape), b=list(shape))
    return Block(block.data, shape, block.dtype, block.undefined, block.origin)


def positions(shape: Shape, order: Sequence[int]) -> list[int]:
    """Where each element lies in the flat list, once the axes are in this order."""
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    found = [0]
    for axis in order:
        steps = [index * strides[axis] for index in range(shape[axis])]
        found = [base + step for base in found for step in steps]
    return found


def take(block: Block, indices: list[int], shape: Shape) -> Block:
    """The lanes at these flat positions, in a new shape."""
    undefined = [block.undefined[i] for i in indices] if block.undefined else None
    return Block([block.data[i] for i in indices], shape, block.dtype, undefined, block.origin)


def permute(block: Block, order: Sequence[int]) -> Block:
    order = [axis % max(1, len(block.shape)) for axis in map(plain, order)]
    if sorted(order) != list(range(len(block.shape))):
        raise Refusal("not_a_permutation", order=list(order), shape=list(block.shape))
    return take(block, positions(block.shape, order), tuple(block.shape[axis] for axis in order))


# Two operands


def either_undefined(*blocks: Block) -> list[bool] | None:
    """Lane by lane, whether any of the blocks is undefined there; all have one shape."""
    known = [block.undefined for block in blocks if block.undefined]
    if not known:
        return None
    return known[0] if len(known) == 1 else [any(lanes) for lanes in zip(*known, strict=True)]


def operands(symbol: str, a: Any, b: Any, division: bool = False) -> tuple[Block, Block]:
    """Both in the type that the operation computes in, and in one shape."""
    a, b = plain(a), plain(b)
    a_is_number, b_is_number = not isinstance(a, Block), not isinstance(b, Block)
    left, right = as_block(a), as_block(b)
    if isinstance(left.dtype, Pointer) or isinstance(right.dtype, Pointer):
        raise Refusal("operands", symbol=symbol, a=left.dtype, b=right.dtype)
    dtype = dtypes.computation_type(left.dtype, a_is_number, right.dtype, b_is_number, division)
    for value, is_number in ((a, a_is_number), (b, b_is_number)):
        if not is_number or not dtype.is_int():
            continue
        if value < 0 and dtype.kind == "uint":
            raise Refusal("negative_with_unsigned", value=value, dtype=dtype)
        if not dtype.low <= value <= dtype.high:
            raise Refusal("number_out_of_range", value=value, dtype=dtype)
    left = scalar(a, dtype) if a_is_number else cast(left, dtype)
    right = scalar(b, dtype) if b_is_number else cast(right, dtype)
    first, second = broadcast(left, right)
    return first, second


def _result(function: Callable[..., Any], a: Block, b: Block) -> Block:
    data = dtypes.fit(list(map(function, a.data, b.data)), a.dtype)
    return Block(data, a.shape, a.dtype, either_undefined(a, b))


def arithmetic(symbol: str, function: Callable[..., Any], a: Any, b: Any) -> Block:
    """`function` lane by lane, rounded or wrapped to the type of the operation."""
    left, right = operands(symbol, a, b)
    if left.dtype is dtypes.int1 and symbol == "-":
        raise Refusal("operands", symbol=symbol, a=left.dtype, b=right.dtype)
    return _result(function, left, right)


def add(a: Any, b: Any) -> Block:
    """Numbers, or a pointer and an offset."""
    left, right = as_block(a), as_block(b)
    if isinstance(right.dtype, Pointer) and not isinstance(left.dtype, Pointer):
        left, right = right, left
    if isinstance(left.dtype, Pointer):
        return _moved(left, right, "+", operator.add)
    return arithmetic("+", operator.add, a, b)


def subtract(a: Any, b: Any) -> Block:
    """Numbers, or a pointer less an offset."""
    left = as_block(a)
    if isinstance(left.dtype, Pointer):
        return _moved(left, as_block(b), "-", operator.sub)
    return arithmetic("-", operator.sub, a, b)


def _moved(pointer: Block, offset: Block, symbol: str, function: Callable[..., Any]) -> Block:
    if isinstance(offset.dtype, Pointer):
        raise Refusal("pointers_added", symbol=symbol)
    if offset.dtype.is_floating():
        raise Refusal("float_offset", dtype=offset.dtype)
    pointer, offset = broadcast(pointer, offset)
    data = list(map(function, pointer.data, offset.data))
    undefined = either_undefined(pointer, offset)
    return Block(data, pointer.shape, pointer.dtype, undefined, pointer.origin)


def _quotient(a: float, b: float) -> float:
    """IEEE 754 division, which Python refuses where b is 0."""
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def divide(a: Any, b: Any) -> Block:
    """`/`: integers are divided as fp32, fp16 and bf16 as fp32."""
    left, right = operands("/", a, b, division=True)
    if left.dtype.is_int():
        left, right = cast(left, dtypes.float32), cast(right, dtypes.float32)
    return _result(_quotient, left, right)


def _integers(symbol: str, a: Any, b: Any) -> tuple[Block, Block]:
    left, right = operands(symbol, a, b, division=True)
    if not left.dtype.is_int():
        raise Refusal("integers_only", symbol=symbol, dtype=left.dtype)
    return left, right


def _defined_divisor(result: Block, divisor: Block) -> Block:
    zeros = [value == 0 for value in divisor.data]
    if any(zeros):
        known = result.undefined or [False] * len(zeros)
        result.undefined = list(map(operator.or_, known, zeros))
    return result


def _truncated_quotient(a: int, b: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def floor_divide(a: Any, b: Any) -> Block:
    """`//`: of integers only, and toward zero as in C."""
    left, right = _integers("//", a, b)
    return _defined_divisor(_result(_truncated_quotient, left, right), right)


def _truncated_remainder(a: int, b: int) -> int:
    return a - _truncated_quotient(a, b) * b if b else 0


def _float_remainder(a: float, b: float) -> float:
    if math.isinf(a) or b == 0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.fmod(a, b)


def remainder(a: Any, b: Any) -> Block:
    """`%`: with the sign of the first operand, as in C."""
    left, right = operands("%", a, b, division=True)
    if left.dtype.is_floating():
        return _result(_float_remainder, left, right)
    return _defined_divisor(_result(_truncated_remainder, left, right), right)


def bitwise(symbol: str, function: Callable[..., Any], a: Any, b: Any) -> Block:
    left, right = operands(symbol, a, b)
    if not left.dtype.is_int():
        raise Refusal("integers_only", symbol=symbol, dtype=left.dtype)
    return _result(function, left, right)


def shift(symbol: str, a: Any, b: Any) -> Block:
    """`<<` and `>>`; a shift by the width of the type or more is undefined."""
    left, right = operands(symbol, a, b)
    if not left.dtype.is_int():
        raise Refusal("integers_only", symbol=symbol, dtype=left.dtype)
    bits = left.dtype.bits
    function = operator.lshift if symbol == "<<" else operator.rshift
    data = [function(x, min(max(n, 0), bits)) for x, n in zip(left.data, right.data, strict=True)]
    outside = [not 0 <= n < bits for n in right.data]
    known = either_undefined(left, right) or [False] * len(outside)
    undefined = list(map(operator.or_, known, outside))
    return Block(dtypes.fit(data, left.dtype), left.shape, left.dtype, undefined)


def compare(symbol: str, function: Callable[..., Any], a: Any, b: Any) -> Block:
    """A block of int1."""
    left, right = as_block(a), as_block(b)
    if isinstance(left.dtype, Pointer) and isinstance(right.dtype, Pointer):
        left, right = broadcast(left, right)
    else:
        left, right = operands(symbol, a, b)
    data = list(map(function, left.data, right.data))
    return Block(data, left.shape, dtypes.int1, either_undefined(left, right))


def truth(value: Any) -> Block:
    """The value as int1: whether it is not 0."""
    block = as_block(value)
    if block.dtype is dtypes.int1:
        return block
    return block.like([bool(lane) for lane in block.data], dtypes.int1)


def absolute(value: Any) -> Block:
    block = as_block(value)
    if isinstance(block.dtype, Pointer):
        raise Refusal("operands", symbol="abs", a=block.dtype, b=block.dtype)
    return block.like(dtypes.fit([abs(lane) for lane in block.data], block.dtype))


# Casts


def element_type(dtype: Any) -> DType:
    """The type that `.to(dtype)` names."""
    dtype = plain(dtype)
    if isinstance(dtype, (DType, str)):
        return dtypes.named(dtype)
    raise Refusal("not_a_dtype", what=repr(dtype) if isinstance(dtype, Block) else str(dtype))


def cast(block: Block, dtype: Any) -> Block:
    """The values in another type: rounded to even, cut off toward zero, or wrapped."""
    target = element_type(dtype)
    source = block.dtype
    if source is target:
        return block
    if isinstance(source, Pointer):
        raise Refusal("pointer_cast", dtype=target)
    if target is dtypes.int1:
        return block.like([value != 0 for value in block.data], target)
    if target.is_floating():
        if source.is_floating():
            return block.like(dtypes.fit(block.data, target), target)
        exact = float if target is dtypes.float64 else dtypes.exact_float
        return block.like(dtypes.fit([exact(int(v)) for v in block.data], target), target)
    if source.is_int():
        return block.like(dtypes.wrap([int(value) for value in block.data], target), target)
    return _float_to_int(block, target)


def _float_to_int(block: Block, target: DType) -> Block:
    """Cut off toward zero; what the type cannot hold is undefined, as in LLVM."""
    fits = [math.isfinite(v) and target.low <= int(v) <= target.high for v in block.data]
    data = [int(v) if fit else target.low for v, fit in zip(block.data, fits, strict=True)]
    known = block.undefined or [False] * len(fits)
    undefined = [was or not fit for was, fit in zip(known, fits, strict=True)]
    return Block(data, block.shape, target, undefined)


FORMATS = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H",
    "uint32": "I", "uint64": "Q", "fp16": "e", "fp32": "f", "fp64": "d",
}  # fmt: skip


def bit_cast(block: Block, dtype: Any) -> Block:
    """The same bits read as another type of the same width."""
    import struct

    target = element_type(dtype)
    source = block.dtype
    if isinstance(source, Pointer) or source.bits != target.bits:
        raise Refusal("bitcast_width", a=source, b=target)
    if source is target:
        return block
    if source.name not in FORMATS or target.name not in FORMATS:
        raise Refusal("unsupported_argument", function="to", argument=f"bitcast, {source}")
    count = block.numel
    raw = struct.pack(f"<{count}{FORMATS[source.name]}", *block.data)
    return block.like(list(struct.unpack(f"<{count}{FORMATS[target.name]}", raw)), target)
