"""Data types, how a value is rounded to each, and which type an operation computes in.

A block holds plain Python numbers: a float for every floating type, an int for every integer
type, a bool for int1. What makes a float an fp16 is that each result is rounded to fp16 at once.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from play.messages import Refusal

RANKS = {"bool": 0, "int": 1, "uint": 1, "float": 2}


@dataclass(frozen=True)
class DType:
    """A scalar type, with the questions that kernels ask of `x.dtype`."""

    name: str  # as Triton prints it: "fp32", "int64", "int1"
    kind: str  # "bool", "int", "uint" or "float"
    bits: int
    torch_name: str  # as PyTorch and tl call it: "float32"

    def __repr__(self) -> str:
        return self.name

    @property
    def primitive_bitwidth(self) -> int:
        return self.bits

    @property
    def int_bitwidth(self) -> int:
        return self.bits

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory."""
        return max(1, self.bits // 8)

    @property
    def scalar(self) -> DType:
        return self

    @property
    def low(self) -> int:
        """The least value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def high(self) -> int:
        """The greatest value of an integer type."""
        return (1 << (self.bits - 1 if self.kind == "int" else self.bits)) - 1

    def is_floating(self) -> bool:
        return self.kind == "float"

    def is_int(self) -> bool:
        return self.kind != "float"

    def is_int_signed(self) -> bool:
        return self.kind == "int"

    def is_int_unsigned(self) -> bool:
        return self.kind == "uint"

    def is_bool(self) -> bool:
        return self.kind == "bool"

    def is_ptr(self) -> bool:
        return False

    def is_fp16(self) -> bool:
        return self is float16

    def is_bf16(self) -> bool:
        return self is bfloat16

    def is_fp32(self) -> bool:
        return self is float32

    def is_fp64(self) -> bool:
        return self is float64


@dataclass(frozen=True)
class Pointer:
    """The type of a pointer to elements of one type."""

    element_ty: DType

    def __repr__(self) -> str:
        return f"pointer<{self.element_ty}>"

    bits = 64
    kind = "pointer"

    @property
    def scalar(self) -> Pointer:
        return self

    def is_ptr(self) -> bool:
        return True

    def is_floating(self) -> bool:
        return False

    def is_int(self) -> bool:
        return False

    def is_bool(self) -> bool:
        return False


int1 = DType("int1", "bool", 1, "bool")
int8 = DType("int8", "int", 8, "int8")
int16 = DType("int16", "int", 16, "int16")
int32 = DType("int32", "int", 32, "int32")
int64 = DType("int64", "int", 64, "int64")
uint8 = DType("uint8", "uint", 8, "uint8")
uint16 = DType("uint16", "uint", 16, "uint16")
uint32 = DType("uint32", "uint", 32, "uint32")
uint64 = DType("uint64", "uint", 64, "uint64")
float16 = DType("fp16", "float", 16, "float16")
bfloat16 = DType("bf16", "float", 16, "bfloat16")
float32 = DType("fp32", "float", 32, "float32")
float64 = DType("fp64", "float", 64, "float64")

ALL = (
    int1, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64,
)  # fmt: skip
NAMED = {name: dtype for dtype in ALL for name in (dtype.name, dtype.torch_name)}


def named(dtype: DType | str) -> DType:
    """The type of this name, "float32" or "fp32" alike."""
    if isinstance(dtype, DType):
        return dtype
    if dtype not in NAMED:
        raise Refusal("unknown_dtype", name=dtype)
    return NAMED[dtype]


# Rounding


def to_float32(values: Iterable[float]) -> list[float]:
    """Each value rounded to the nearest fp32, ties to even; too large becomes inf."""
    return array("f", values).tolist()


def to_float16(values: list[float]) -> list[float]:
    """Each value rounded to the nearest fp16, ties to even; too large becomes inf."""
    try:
        return list(struct.unpack(f"{len(values)}e", struct.pack(f"{len(values)}e", *values)))
    except OverflowError:
        return [_one_float16(value) for value in values]


def _one_float16(value: float) -> float:
    try:
        return float(struct.unpack("e", struct.pack("e", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def to_bfloat16(values: Iterable[float]) -> list[float]:
    """Each value rounded to the nearest bf16, ties to even: the upper half of an fp32.

    It goes through fp32 with a sticky last bit, so that it is rounded once and not twice.
    """
    return [_one_bfloat16(value) for value in values]


def _one_bfloat16(value: float) -> float:
    if math.isnan(value) or math.isinf(value) or value == 0:
        return value
    single = to_float32([value])[0]
    if math.isinf(single):
        return single
    bits = int.from_bytes(struct.pack("<f", single), "little")
    if abs(single) > abs(value):  # rounded up: step back, so that the sticky bit tells the rest
        bits -= 1
    if single != value:
        bits |= 1
    bits += 0x7FFF + ((bits >> 16) & 1)
    return float(struct.unpack("<f", (bits & 0xFFFF0000).to_bytes(4, "little"))[0])


def wrap(values: list[int], dtype: DType | Pointer) -> list[int]:
    """Each integer as so many bits hold it: it wraps around."""
    assert isinstance(dtype, DType)
    if not values or (dtype.low <= min(values) and max(values) <= dtype.high):
        return values
    modulus = 1 << dtype.bits
    low = dtype.low
    return [(value - low) % modulus + low for value in values]


def fit(values: list[Any], dtype: DType | Pointer) -> list[Any]:
    """Results of an exact operation as `dtype` holds them: rounded, or wrapped around."""
    if dtype is float32:
        return to_float32(values)
    if dtype is float16:
        return to_float16(values)
    if dtype is bfloat16:
        return to_bfloat16(values)
    if dtype is int1:
        return [bool(value) for value in values]
    if dtype.is_int():
        return wrap(values, dtype)
    return values


def exact_float(value: int) -> float:
    """The integer as a float that is rounded to fp32 or less as the integer itself would be."""
    extra = value.bit_length() - 50
    if extra <= 0:
        return float(value)
    head = abs(value) >> extra
    if abs(value) & ((1 << extra) - 1):
        head |= 1  # sticky: something was cut off
    return math.copysign(math.ldexp(float(head), extra), value)


# Which type an operation computes in, as Triton's semantic.py decides it


def of_number(value: bool | int | float) -> DType:
    """The type that Triton gives a Python number."""
    if isinstance(value, bool):
        return int1
    if isinstance(value, int):
        for low, high, dtype in (
            (-(2**31), 2**31, int32),
            (0, 2**32, uint32),
            (-(2**63), 2**63, int64),
            (0, 2**64, uint64),
        ):
            if low <= value < high:
                return dtype
        raise Refusal("number_too_large", value=value)
    size = abs(value)
    normal = 2.0**-126 <= size <= (2 - 2.0**-23) * 2.0**127
    if normal or size == 0 or math.isinf(size) or math.isnan(size):
        return float32
    return float64


def promote_integers(a: DType, b: DType) -> DType:
    """C's usual arithmetic conversions."""
    if (a.kind == "uint") == (b.kind == "uint"):
        return a if a.bits > b.bits else b
    if a.kind == "uint":
        return a if a.bits >= b.bits else b
    return b if b.bits >= a.bits else a


def computation_type(
    a: DType, a_is_number: bool, b: DType, b_is_number: bool, division: bool
) -> DType:
    """The type of `a op b`. A Python number of no higher kind takes the type of the block."""
    if a_is_number != b_is_number:
        number, block = (a, b) if a_is_number else (b, a)
        if RANKS[number.kind] <= RANKS[block.kind]:
            if division and block in (float16, bfloat16):
                return float32
            return block
    if float64 in (a, b):
        return float64
    if float32 in (a, b):
        return float32
    if float16 in (a, b):
        return float32 if division else float16
    if bfloat16 in (a, b):
        return bfloat16 if a is b and not division else float32
    if division and (a.kind == "uint") != (b.kind == "uint"):
        raise Refusal("mixed_signedness", a=a, b=b)
    return promote_integers(a, b)
