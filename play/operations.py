"""Functions of blocks that make, shape, choose and compute lane by lane.

Names and results are Triton's. A function that rounds does so once, to the nearest value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from play import dtypes
from play.block import (
    Block,
    arithmetic,
    as_block,
    broadcast,
    broadcast_to,
    cast,
    cast_number,
    check_size,
    constant_shape,
    divide,
    either_undefined,
    element_type,
    expand_dims,
    operands,
    permute,
    plain,
    reshaped,
    take,
)
from play.dtypes import DType, Pointer
from play.messages import Refusal

# Making blocks


def arange(start: Any, end: Any) -> Block:
    """int32 from start to end; both constants, end - start a power of two."""
    first, last = plain(start), plain(end)
    for bound in (first, last):
        if isinstance(bound, bool) or not isinstance(bound, int):
            what = bound if isinstance(bound, Block) else type(bound).__name__
            raise Refusal("arange_not_constant", what=what)
    count = last - first
    if count <= 0:
        raise Refusal("arange_empty", start=first, end=last)
    if count & (count - 1):
        raise Refusal("arange_not_power_of_two", start=first, end=last, count=count)
    check_size(count)
    return Block(list(range(first, last)), (count,), dtypes.int32)


def full(shape: Any, value: Any, dtype: Any) -> Block:
    target, size = element_type(dtype), constant_shape(shape)
    value = plain(value)
    if isinstance(value, Block):
        return broadcast_to(cast(reshaped(value, ()), target), size)
    if not isinstance(value, (bool, int, float)):
        raise Refusal("not_a_value", what=type(value).__name__)
    return Block([cast_number(value, target)] * math.prod(size), size, target)


def zeros(shape: Any, dtype: Any) -> Block:
    return full(shape, 0, dtype)


def zeros_like(input: Any) -> Block:
    block = as_block(input)
    return full(block.shape, 0, block.dtype)


# Shapes


def broadcast_function(a: Any, b: Any) -> tuple[Block, ...]:
    return tuple(broadcast(as_block(a), as_block(b)))


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as one sequence or as arguments."""
    first = plain(shape[0]) if len(shape) == 1 else shape
    return constant_shape(first)


def broadcast_to_function(input: Any, *shape: Any) -> Block:
    return broadcast_to(as_block(input), _shape(shape))


def reshape(input: Any, *shape: Any, can_reorder: Any = False) -> Block:
    return reshaped(as_block(input), _shape(shape))


def ravel(x: Any, can_reorder: Any = False) -> Block:
    block = as_block(x)
    return reshaped(block, (block.numel,))


def expand_dims_function(input: Any, axis: Any) -> Block:
    axes = plain(axis)
    block = as_block(input)
    for each in axes if isinstance(axes, (tuple, list)) else (axes,):
        block = expand_dims(block, plain(each))
    return block


def trans(input: Any, *dims: Any) -> Block:
    block = as_block(input)
    if not dims:
        if len(block.shape) != 2:
            raise Refusal("trans_needs_axes", shape=list(block.shape))
        return permute(block, (1, 0))
    return permute_function(block, *dims)


def permute_function(input: Any, *dims: Any) -> Block:
    first = plain(dims[0]) if len(dims) == 1 else dims
    return permute(as_block(input), first)


def join(a: Any, b: Any) -> Block:
    """Both in a new last axis of size 2."""
    left, right = broadcast(as_block(a), as_block(b))
    data = [value for pair in zip(left.data, right.data, strict=True) for value in pair]
    known = either_undefined(left, right)
    undefined = [lane for lane in known for _ in range(2)] if known else None
    return Block(data, (*left.shape, 2), left.dtype, undefined)


def split(a: Any) -> tuple[Block, Block]:
    """The two halves of a last axis of size 2."""
    block = as_block(a)
    if not block.shape or block.shape[-1] != 2:
        raise Refusal("split_needs_two", shape=list(block.shape))
    evens = list(range(0, block.numel, 2))
    odds = [index + 1 for index in evens]
    return take(block, evens, block.shape[:-1]), take(block, odds, block.shape[:-1])


def interleave(a: Any, b: Any) -> Block:
    joined = join(a, b)
    *outer, last, two = joined.shape
    return reshaped(joined, (*outer, last * two))


def cat(input: Any, other: Any, can_reorder: Any = False) -> Block:
    if not plain(can_reorder):
        raise Refusal("cat_needs_reorder")
    left, right = as_block(input), as_block(other)
    known = None
    if left.undefined or right.undefined:
        known = [
            *(left.undefined or [False] * left.numel),
            *(right.undefined or [False] * right.numel),
        ]
    return Block([*left.data, *right.data], (left.numel + right.numel,), left.dtype, known)


# Lane by lane


def where(condition: Any, x: Any, y: Any) -> Block:
    """x where the condition is true, else y; only the chosen lane's value counts."""
    chosen = cast(as_block(condition), dtypes.int1)
    left, right = as_block(x), as_block(y)
    if isinstance(left.dtype, Pointer) or isinstance(right.dtype, Pointer):
        if left.origin is not right.origin:
            raise Refusal("pointers_mixed")
    else:
        left, right = operands("where", x, y)
    chosen, left, right = broadcast(chosen, left, right)
    lanes = zip(chosen.data, left.data, right.data, strict=True)
    data = [a if wanted else b for wanted, a, b in lanes]
    nothing = [False] * len(data)
    flags = zip(
        chosen.undefined or nothing,
        chosen.data,
        left.undefined or nothing,
        right.undefined or nothing,
        strict=True,
    )
    undefined = [unknown or (a if wanted else b) for unknown, wanted, a, b in flags]
    return Block(data, left.shape, left.dtype, undefined, left.origin)


def _propagates(propagate_nan: Any) -> bool:
    return bool(plain(propagate_nan))


def maximum(x: Any, y: Any, propagate_nan: Any = False) -> Block:
    """The larger; of a number and NaN the number, unless NaN is to be kept."""
    keep = _propagates(propagate_nan)
    return arithmetic("maximum", lambda a, b: _larger(a, b, keep), x, y)


def minimum(x: Any, y: Any, propagate_nan: Any = False) -> Block:
    keep = _propagates(propagate_nan)
    return arithmetic("minimum", lambda a, b: _smaller(a, b, keep), x, y)


def _larger(a: Any, b: Any, keep_nan: bool = False) -> Any:
    if a != a:
        return a if keep_nan else b
    if b != b:
        return b if keep_nan else a
    return max(a, b)


def _smaller(a: Any, b: Any, keep_nan: bool = False) -> Any:
    if a != a:
        return a if keep_nan else b
    if b != b:
        return b if keep_nan else a
    return min(a, b)


def clamp(x: Any, min: Any, max: Any, propagate_nan: Any = False) -> Block:
    block = as_block(x)
    if not block.dtype.is_floating():
        raise Refusal("floats_only", function="clamp", dtype=block.dtype)
    return minimum(maximum(x, min, propagate_nan), max, propagate_nan)


def fma(x: Any, y: Any, z: Any) -> Block:
    """x * y + z, rounded once."""
    left, right = operands("fma", x, y)
    left, last = operands("fma", left, z)
    right = cast(right, last.dtype)
    left, right, last = broadcast(left, right, last)
    lanes = zip(left.data, right.data, last.data, strict=True)
    data = [a * b + c for a, b, c in lanes]
    dtype = left.dtype
    assert isinstance(dtype, DType)
    return Block(dtypes.fit(data, dtype), left.shape, dtype, either_undefined(left, right, last))


def cdiv(x: Any, div: Any) -> Any:
    """x / div rounded up; a Python number if both are."""
    x, div = plain(x), plain(div)
    return (x + (div - 1)) // div


def _single(
    name: str, function: Callable[[float], float], edge: Callable[[float], float]
) -> Callable[..., Any]:
    """A function of fp32 or fp64, rounded once; `edge` where Python refuses."""

    def apply(x: Any) -> Block:
        block = as_block(x)
        if block.dtype not in (dtypes.float32, dtypes.float64):
            raise Refusal("floats_only", function=name, dtype=block.dtype)
        data = []
        for value in block.data:
            try:
                data.append(function(value))
            except (ValueError, OverflowError):
                data.append(edge(value))
        assert isinstance(block.dtype, DType)
        return block.like(dtypes.fit(data, block.dtype))

    apply.__name__ = name
    return apply


def _nan(value: float) -> float:
    return math.nan


def _infinity(value: float) -> float:
    return math.inf


def _log_edge(value: float) -> float:
    return -math.inf if value == 0 else math.nan


def _rsqrt(value: float) -> float:
    return 1 / math.sqrt(value)


def _rsqrt_edge(value: float) -> float:
    return math.nan


def _inverse_root(value: float) -> float:
    if value == 0:
        return math.copysign(math.inf, value)
    return _rsqrt(value)


def _rounded_down(value: float) -> float:
    return float(math.floor(value)) if math.isfinite(value) else value


def _rounded_up(value: float) -> float:
    return float(math.ceil(value)) if math.isfinite(value) else value


def _power_of_two(value: float) -> float:
    return float(2.0**value)


exp = _single("exp", math.exp, _infinity)
exp2 = _single("exp2", _power_of_two, _infinity)
log = _single("log", math.log, _log_edge)
log2 = _single("log2", math.log2, _log_edge)
sqrt = _single("sqrt", math.sqrt, _nan)
sqrt_rn = _single("sqrt_rn", math.sqrt, _nan)
rsqrt = _single("rsqrt", _inverse_root, _rsqrt_edge)
sin = _single("sin", math.sin, _nan)
cos = _single("cos", math.cos, _nan)
erf = _single("erf", math.erf, _nan)
floor = _single("floor", _rounded_down, _nan)
ceil = _single("ceil", _rounded_up, _nan)


def fdiv(x: Any, y: Any, ieee_rounding: Any = False) -> Block:
    left, right = as_block(x), as_block(y)
    for block in (left, right):
        if not block.dtype.is_floating():
            raise Refusal("floats_only", function="fdiv", dtype=block.dtype)
    return divide(x, y)


def div_rn(x: Any, y: Any) -> Block:
    return divide(x, y)


def sigmoid(x: Any) -> Block:
    return divide(1, 1 + exp(-as_block(x)))


def umulhi(x: Any, y: Any) -> Block:
    """The upper half of the product of two integers, taken as unsigned."""
    left, right = operands("umulhi", x, y)
    dtype = left.dtype
    if not dtype.is_int():
        raise Refusal("integers_only", symbol="umulhi", dtype=dtype)
    assert isinstance(dtype, DType)
    mask = (1 << dtype.bits) - 1
    pairs = zip(left.data, right.data, strict=True)
    data = [((a & mask) * (b & mask)) >> dtype.bits for a, b in pairs]
    return Block(dtypes.wrap(data, dtype), left.shape, dtype, either_undefined(left, right))


def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Any, Any]:
    """Row-major indices made column-major within groups of `size_g` rows."""
    flat = i * size_j + j
    per_group = size_g * size_j
    first = flat // per_group * size_g
    height = minimum(size_i - first, size_g)
    flat = flat % per_group
    return first + flat % height, flat // height
