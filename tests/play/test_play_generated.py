"""Kernels made up from the subset's grammar leave, bit for bit, what Triton's interpreter leaves."""

import math
import struct

from both import HEAD, Data, interpret_kernel, play_kernel
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

SIZE = 8
DTYPES = ("float32", "float16", "int32", "int64", "int8", "uint8", "uint32")
FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, 3.25, -77.0, 1e-3)
INTEGERS = (0, 1, -1, 2, 7, -8, 100, -128)
LEAVES = ("x", "y", "i", "n", "2", "-3", "5", "0.5", "1.25")
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "&", "|", "^")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def combined(inner):
    """One operation more."""
    operation = st.sampled_from([*ARITHMETIC, *COMPARISONS])
    target = st.sampled_from(DTYPES)
    return st.one_of(
        st.builds("({} {} {})".format, inner, operation, inner),
        st.builds("tl.where({} < {}, {}, {})".format, inner, inner, inner, inner),
        st.builds("tl.maximum({}, {})".format, inner, inner),
        st.builds("tl.minimum({}, {})".format, inner, inner),
        st.builds("tl.abs({})".format, inner),
        st.builds("(-{})".format, inner),
        st.builds("tl.cast({}, tl.{})".format, inner, target),
        st.builds("tl.floor(tl.cast({}, tl.float32))".format, inner),
        st.builds("tl.sqrt(tl.cast({}, tl.float32))".format, inner),
        st.builds("tl.cdiv({}, {})".format, inner, inner),
    )


EXPRESSIONS = st.recursive(st.sampled_from(LEAVES), combined, max_leaves=6)
KERNEL = (
    HEAD
    + """@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    y = tl.load(y_ptr + i)
    a = {first}
    b = {second}
    tl.store(out_ptr + i, a if {static} else b, mask=i < SIZE - 1)
"""
)


def values(dtype: str):
    if dtype.startswith("float"):
        return st.lists(st.sampled_from(FLOATS), min_size=SIZE, max_size=SIZE)
    low = 0 if dtype.startswith("uint") else -128
    usable = [value for value in INTEGERS if value >= low]
    return st.lists(st.sampled_from(usable), min_size=SIZE, max_size=SIZE)


def bits(value: float) -> bytes | str:
    """What tells -0.0 from 0.0; NaN is NaN."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return str(value)


@st.composite
def arguments(draw) -> dict:
    x, y, out = (draw(st.sampled_from(DTYPES)) for _ in range(3))
    return {
        "x_ptr": Data(draw(values(x)), x),
        "y_ptr": Data(draw(values(y)), y),
        "out_ptr": Data(None, out, (SIZE,)),
        "n": draw(st.sampled_from([3, 5, 8])),
        "SIZE": SIZE,
    }


def interpreted(source: str, given: dict) -> dict | None:
    """What the interpreter leaves, or None if it refuses the kernel."""
    from triton.runtime.errors import InterpreterError

    try:
        return interpret_kernel(source, "kernel", (1,), **given)
    except (InterpreterError, ZeroDivisionError):
        return None


@settings(max_examples=300, derandomize=True, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, EXPRESSIONS, st.booleans(), arguments())
def test_a_generated_kernel_leaves_the_same_bits(first, second, static, given):
    source = KERNEL.format(first=first, second=second, static=static)
    report, played = play_kernel(source, "kernel", (1,), **given)
    kinds = {finding.kind for finding in report.findings}
    assume("undefined" not in kinds)  # an integer divided by 0, a float that fits no integer
    wanted = interpreted(source, given)
    if wanted is None:
        assert report.problem is not None, source
        return
    assert report.problem is None, (source, report.lines("en"))
    pairs = zip(played["out_ptr"], wanted["out_ptr"], strict=True)
    assert [bits(a) for a, _ in pairs] == [bits(b) for b in wanted["out_ptr"]], source
