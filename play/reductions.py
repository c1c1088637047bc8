"""Functions along an axis of a block: reductions, scans, sorting, histograms.

A sum adds pairs of neighbors, then pairs of these, as a tree; a scan goes lane by lane.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from play import dtypes
from play.block import (
    Block,
    as_block,
    broadcast_to,
    cast,
    constant_shape,
    divide,
    permute,
    plain,
    positions,
    reshaped,
    take,
)
from play.messages import Refusal
from play.operations import exp, maximum, minimum, where


def _axis(block: Block, axis: Any) -> tuple[Block, int]:
    """The block, flat if no axis is given, and the axis from the front."""
    axis = plain(axis)
    if axis is None:
        return reshaped(block, (block.numel,)), 0
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise Refusal("axis_not_constant", what=str(axis))
    if not -len(block.shape) <= axis < len(block.shape):
        raise Refusal("axis_outside", axis=axis, shape=list(block.shape))
    return block, axis % len(block.shape)


def _last(block: Block, axis: int) -> tuple[Block, tuple[int, ...]]:
    """The block with this axis moved to the end, and the shape of the others."""
    order = [other for other in range(len(block.shape)) if other != axis]
    rest = tuple(block.shape[other] for other in order)
    if axis == len(block.shape) - 1:
        return block, rest
    return take(block, positions(block.shape, [*order, axis]), (*rest, block.shape[axis])), rest


def _kept(result: Block, block: Block, axis: Any, keep_dims: Any) -> Block:
    if not plain(keep_dims):
        return result
    if plain(axis) is None:
        return reshaped(result, (1,) * len(block.shape))
    shape = list(block.shape)
    shape[plain(axis)] = 1
    return reshaped(result, tuple(shape))


def reduce(input: Any, axis: Any, combine_fn: Callable[..., Any], keep_dims: Any = False) -> Any:
    """Neighbors combined in pairs, the results again in pairs, until one is left along the axis."""
    several = isinstance(input, (tuple, list))
    blocks = [as_block(block) for block in (input if several else (input,))]
    shaped = [_axis(block, axis) for block in blocks]
    lanes: list[Block] = []
    rest: tuple[int, ...] = ()
    for block, place in shaped:
        moved, rest = _last(block, place)
        lanes.append(moved)
    count = lanes[0].shape[-1]
    while count > 1:
        size = lanes[0].numel
        evens, odds = list(range(0, size, 2)), list(range(1, size, 2))
        count //= 2
        left = [take(block, evens, (*rest, count)) for block in lanes]
        right = [take(block, odds, (*rest, count)) for block in lanes]
        combined = combine_fn(*left, *right)
        results = combined if isinstance(combined, (tuple, list)) else (combined,)
        if len(results) != len(lanes):
            raise Refusal("combine_count", count=len(results), wanted=len(lanes))
        lanes = [cast(as_block(new), old.dtype) for new, old in zip(results, lanes, strict=True)]
    found = [
        _kept(reshaped(block, rest), original, axis, keep_dims)
        for block, original in zip(lanes, blocks, strict=True)
    ]
    return tuple(found) if several else found[0]


def associative_scan(
    input: Any, axis: Any, combine_fn: Callable[..., Any], reverse: Any = False
) -> Any:
    """Lane i becomes the combination of lanes 0 to i along the axis."""
    several = isinstance(input, (tuple, list))
    blocks = [as_block(block) for block in (input if several else (input,))]
    _, place = _axis(blocks[0], axis)
    count = blocks[0].shape[place]
    columns = [_columns(block, place) for block in blocks]
    if plain(reverse):
        columns = [column[::-1] for column in columns]
    for index in range(1, count):
        left = [column[index - 1] for column in columns]
        right = [column[index] for column in columns]
        combined = combine_fn(*left, *right)
        results = combined if isinstance(combined, (tuple, list)) else (combined,)
        for column, new, old in zip(columns, results, right, strict=True):
            column[index] = cast(as_block(new), old.dtype)
    if plain(reverse):
        columns = [column[::-1] for column in columns]
    found = [
        _from_columns(column, block, place) for column, block in zip(columns, blocks, strict=True)
    ]
    return tuple(found) if several else found[0]


def _columns(block: Block, axis: int) -> list[Block]:
    """The block cut along the axis."""
    moved, rest = _last(block, axis)
    count = moved.shape[-1]
    return [take(moved, list(range(at, moved.numel, count)), rest) for at in range(count)]


def _from_columns(columns: list[Block], like: Block, axis: int) -> Block:
    count = len(columns)
    data = [
        value for lane in zip(*(column.data for column in columns), strict=True) for value in lane
    ]
    nothing = [False] * columns[0].numel
    flags = [column.undefined or nothing for column in columns]
    undefined = [flag for lane in zip(*flags, strict=True) for flag in lane]
    rest = [size for at, size in enumerate(like.shape) if at != axis]
    block = Block(data, (*rest, count), columns[0].dtype, undefined)
    order = list(range(len(rest)))
    order.insert(axis, len(rest))
    return permute(block, order)


def _promoted(block: Block) -> Block:
    """The type in which sums are taken: integers of fewer than 32 bits as 32 bits."""
    if block.dtype.kind in ("int", "bool") and block.dtype.bits < 32:
        return cast(block, dtypes.int32)
    if block.dtype.kind == "uint" and block.dtype.bits < 32:
        return cast(block, dtypes.uint32)
    return block


def _widened(block: Block) -> Block:
    """The type in which extremes are sought: no fewer than 32 bits."""
    if block.dtype.bits >= 32:
        return block
    return cast(block, dtypes.float32 if block.dtype.is_floating() else dtypes.int32)


def _reducible(input: Any, function: str) -> Block:
    block = as_block(input)
    if block.shape == ():
        raise Refusal("reduce_scalar", function=function)
    return block


def sum_of(input: Any, axis: Any = None, keep_dims: Any = False, dtype: Any = None) -> Block:
    block = _reducible(input, "sum")
    block = _promoted(block) if plain(dtype) is None else cast(block, dtype)
    result = reduce(block, axis, operator.add, keep_dims)
    assert isinstance(result, Block)
    return result


def maximum_of(
    input: Any,
    axis: Any = None,
    return_indices: Any = False,
    return_indices_tie_break_left: Any = True,
    keep_dims: Any = False,
) -> Any:
    block = _reducible(input, "max")
    left = return_indices_tie_break_left
    return _extreme(block, axis, maximum, operator.gt, return_indices, left, keep_dims)


def minimum_of(
    input: Any,
    axis: Any = None,
    return_indices: Any = False,
    return_indices_tie_break_left: Any = True,
    keep_dims: Any = False,
) -> Any:
    block = _reducible(input, "min")
    left = return_indices_tie_break_left
    return _extreme(block, axis, minimum, operator.lt, return_indices, left, keep_dims)


def _extreme(
    block: Block,
    axis: Any,
    combine: Callable[..., Any],
    better: Callable[..., Any],
    indices: Any,
    left: Any,
    keep_dims: Any,
) -> Any:
    """The extreme along the axis, or the extreme and its index."""
    if plain(indices):
        return _with_indices(block, axis, better, left, keep_dims)
    return reduce(_widened(block), axis, combine, keep_dims)


def _with_indices(
    block: Block, axis: Any, better: Callable[..., Any], left: Any, keep_dims: Any
) -> tuple[Any, ...]:
    """The extreme and its index along the axis; of equal values the first, or any."""
    if block.dtype is dtypes.bfloat16:
        block = cast(block, dtypes.float32)
    flat, place = _axis(block, axis)
    count = flat.shape[place]
    shape = tuple(count if at == place else 1 for at in range(len(flat.shape)))
    index = broadcast_to(
        reshaped(Block(list(range(count)), (count,), dtypes.int32), shape), flat.shape
    )

    def combine(
        value_a: Block, index_a: Block, value_b: Block, index_b: Block
    ) -> tuple[Block, Block]:
        first = better(value_a, value_b)
        if plain(left):
            first = first | ((value_a == value_b) & (index_a < index_b))
        return where(first, value_a, value_b), where(first, index_a, index_b)

    value, found = reduce((flat, index), place, combine)
    return _kept(value, block, axis, keep_dims), _kept(found, block, axis, keep_dims)


def argmax(input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> Block:
    found: Block = maximum_of(input, axis, True, tie_break_left, keep_dims)[1]
    return found


def argmin(input: Any, axis: Any, tie_break_left: Any = True, keep_dims: Any = False) -> Block:
    found: Block = minimum_of(input, axis, True, tie_break_left, keep_dims)[1]
    return found


def xor_sum(input: Any, axis: Any = None, keep_dims: Any = False) -> Any:
    block = _reducible(input, "xor_sum")
    if not block.dtype.is_int():
        raise Refusal("integers_only", symbol="xor_sum", dtype=block.dtype)
    return reduce(block, axis, operator.xor, keep_dims)


def reduce_or(input: Any, axis: Any, keep_dims: Any = False) -> Any:
    block = _reducible(input, "reduce_or")
    if not block.dtype.is_int():
        raise Refusal("integers_only", symbol="reduce_or", dtype=block.dtype)
    return reduce(block, axis, operator.or_, keep_dims)


def _scannable(input: Any, function: str) -> Block:
    block = _reducible(input, function)
    return cast(block, dtypes.float32) if block.dtype is dtypes.bfloat16 else block


def cumsum(input: Any, axis: Any = 0, reverse: Any = False, dtype: Any = None) -> Any:
    block = _scannable(input, "cumsum")
    block = _promoted(block) if plain(dtype) is None else cast(block, dtype)
    return associative_scan(block, axis, operator.add, reverse)


def cumprod(input: Any, axis: Any = 0, reverse: Any = False) -> Any:
    return associative_scan(_scannable(input, "cumprod"), axis, operator.mul, reverse)


def _rows(block: Block, dim: Any, function: str) -> int:
    """The size of the last axis, the only one along which Triton sorts."""
    if not block.shape:
        raise Refusal("reduce_scalar", function=function)
    if plain(dim) not in (None, len(block.shape) - 1, -1):
        raise Refusal("last_axis_only", function=function)
    return block.shape[-1]


def sort(x: Any, dim: Any = None, descending: Any = False) -> Block:
    block = as_block(x)
    size = _rows(block, dim, "sort")
    order = []
    for start in range(0, block.numel, size):
        row = range(start, start + size)
        order += sorted(row, key=lambda at: block.data[at], reverse=bool(plain(descending)))
    return take(block, order, block.shape)


def topk(x: Any, k: Any, dim: Any = None) -> Block:
    """The k largest along the last axis, the largest first."""
    block = sort(x, dim, descending=True)
    size, count = block.shape[-1], plain(k)
    if count not in (1 << power for power in range(21)) or count > size:
        raise Refusal("shape_not_power_of_two", size=count)
    kept = [start + at for start in range(0, block.numel, size) for at in range(count)]
    return take(block, kept, (*block.shape[:-1], count))


def flip(x: Any, dim: Any = None) -> Block:
    block = as_block(x)
    _, place = _axis(block, len(block.shape) - 1 if plain(dim) is None else dim)
    inner = math.prod(block.shape[place + 1 :])
    size = block.shape[place]
    indices = []
    for at in range(block.numel):
        position = at // inner % size
        indices.append(at + (size - 1 - 2 * position) * inner)
    return take(block, indices, block.shape)


def gather(src: Any, index: Any, axis: Any) -> Block:
    """src[index] along the axis; both have as many axes."""
    block, chosen = as_block(src), as_block(index)
    _, place = _axis(block, axis)
    inner = math.prod(chosen.shape[place + 1 :])
    size, count = block.shape[place], chosen.shape[place]
    indices = []
    for at, wanted in enumerate(chosen.data):
        if not 0 <= wanted < size:
            raise Refusal("gather_outside", index=wanted, size=size)
        outer = at // (inner * count)
        indices.append((outer * size + wanted) * inner + at % inner)
    return take(block, indices, chosen.shape)


def histogram(input: Any, num_bins: Any, mask: Any = None) -> Block:
    """How often each of 0 … num_bins - 1 occurs where the mask is true."""
    block, bins = as_block(input), plain(num_bins)
    (bins,) = constant_shape((bins,))
    if not block.dtype.is_int():
        raise Refusal("integers_only", symbol="histogram", dtype=block.dtype)
    counts = [0] * bins
    wanted = [True] * block.numel
    if plain(mask) is not None:
        wanted = broadcast_to(cast(as_block(mask), dtypes.int1), block.shape).data
    unknown = False
    for at, value in enumerate(block.data):
        if wanted[at]:
            unknown = unknown or bool(block.undefined and block.undefined[at])
            if 0 <= value < bins:
                counts[value] += 1
    return Block(counts, (bins,), dtypes.int32, [unknown] * bins)


def softmax(x: Any, dim: Any = None, keep_dims: Any = False, ieee_rounding: Any = False) -> Block:
    axis = 0 if plain(dim) is None else plain(dim)
    block = as_block(x)
    exponents = exp(block - maximum_of(block, axis, keep_dims=keep_dims))
    return divide(exponents, sum_of(exponents, axis, keep_dims=keep_dims))
