"""`tl.dot`."""

from __future__ import annotations

import operator
from typing import Any

from play import dtypes
from play.block import (
    Block,
    as_block,
    element_type,
    plain,
)
from play.dtypes import DType, Pointer
from play.messages import Refusal
from play.operations import zeros

SMALLEST_K = {8: 32, 16: 16, 32: 16, 64: 16}


def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: Any = None,
    allow_tf32: Any = None,
    max_num_imprecise_acc: Any = None,
    out_dtype: Any = dtypes.float32,
) -> Block:
    """input @ other + acc: products and sums exact, rounded once to the type of the result."""
    left, right = as_block(input), as_block(other)
    if len(left.shape) != 2 or len(right.shape) != 2:
        raise Refusal("dot_needs_matrices", a=list(left.shape), b=list(right.shape))
    if left.dtype is not right.dtype:
        raise Refusal("dot_types", a=left.dtype, b=right.dtype)
    if left.dtype.is_int() and left.dtype is not dtypes.int8:
        raise Refusal("dot_integers", dtype=left.dtype)
    (rows, inner), (inner_b, columns) = left.shape, right.shape
    if inner != inner_b:
        raise Refusal("dot_shapes", a=list(left.shape), b=list(right.shape))
    smallest = SMALLEST_K[left.dtype.bits]
    if inner < smallest:
        raise Refusal("dot_too_small", inner=inner, smallest=smallest)
    if plain(input_precision) not in (None, "ieee", "tf32", "tf32x3"):
        raise Refusal("dot_precision", value=plain(input_precision))
    result = _dot_type(left.dtype, element_type(out_dtype))
    start = zeros((rows, columns), result) if plain(acc) is None else as_block(acc)
    if start.shape != (rows, columns) or start.dtype is not result:
        raise Refusal("dot_accumulator", acc=start, wanted=f"{result}[{rows}, {columns}]")
    lines = [left.data[at : at + inner] for at in range(0, rows * inner, inner)]
    stripes = [right.data[at::columns] for at in range(columns)]
    data = [sum(map(operator.mul, line, stripe)) for line in lines for stripe in stripes]
    data = list(map(operator.add, data, start.data))
    unknown = _dot_undefined(left, right, start)
    return Block(dtypes.fit(data, result), (rows, columns), result, unknown)


def _dot_type(dtype: DType | Pointer, out_dtype: DType) -> DType:
    if dtype.is_int():
        return dtypes.int32
    if out_dtype is dtypes.bfloat16:
        raise Refusal("dot_bf16_result")
    if dtype is dtypes.float64:
        return dtypes.float64
    return out_dtype if dtype is dtypes.float16 else dtypes.float32


def _dot_undefined(left: Block, right: Block, start: Block) -> list[bool] | None:
    """A row or column with an undefined element makes undefined what it enters."""
    if not (left.undefined or right.undefined or start.undefined):
        return None
    (rows, inner), columns = left.shape, right.shape[1]
    bad = left.undefined or [False] * left.numel
    bad_rows = [any(bad[row * inner : (row + 1) * inner]) for row in range(rows)]
    other = right.undefined or [False] * right.numel
    bad_columns = [any(other[column::columns]) for column in range(columns)]
    before = start.undefined or [False] * start.numel
    pairs = [row or column for row in bad_rows for column in bad_columns]
    return list(map(operator.or_, pairs, before))
