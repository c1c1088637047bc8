"""What triton_vector_add does not claim of itself: bad arguments, the cases by their ids, any shape, any program order."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

INTERPRETED = [torch.float32, torch.float16, torch.int8, torch.int32, torch.int64]


@pytest.fixture(scope="module")
def vector_add(lab):
    return lab("triton_vector_add")


# Bad arguments


@pytest.mark.parametrize("dtype", [torch.bool, torch.float64, torch.uint8, torch.complex64])
def test_c054_other_dtypes_are_refused(vector_add, dtype):
    x = torch.zeros(8, dtype=dtype)
    allowed = "torch.float32, torch.float16, torch.int8, torch.int32, torch.int64"
    with pytest.raises(TypeError, match=rf"^x is {dtype}; allowed here: {allowed}$"):
        vector_add.add(x, x)


def test_c006_bf16_is_refused_in_the_interpreter(vector_add):
    x = torch.ones(16, 16, dtype=torch.bfloat16)
    with pytest.raises(TypeError, match=r"^x is torch\.bfloat16; allowed here: "):
        vector_add.add(x, x)


@pytest.mark.parametrize("shape", [(7,), (9,), (8, 1), ()])
def test_c054_another_shape_is_named(vector_add, shape):
    with pytest.raises(
        ValueError, match=rf"^y has shape {re.escape(str(shape))}; it must have \(8,\)$"
    ):
        vector_add.add(torch.zeros(8), torch.zeros(shape))


@pytest.mark.parametrize("dtype", [torch.float16, torch.int32])
def test_c054_another_dtype_is_named(vector_add, dtype):
    with pytest.raises(TypeError, match=rf"^y is {dtype}; it must be torch\.float32, as x is$"):
        vector_add.add(torch.zeros(8), torch.zeros(8, dtype=dtype))


def test_c054_nothing_is_broadcast(vector_add):
    with pytest.raises(ValueError, match=r"^y has shape \(1, 4\); it must have \(4, 1\)$"):
        vector_add.add(torch.zeros(4, 1), torch.zeros(1, 4))


def test_out_must_have_the_shape_and_the_dtype_of_x(vector_add):
    x = torch.zeros(8)
    with pytest.raises(ValueError, match=r"^out has shape \(7,\); it must have \(8,\)$"):
        vector_add.add(x, x, out=torch.zeros(7))
    with pytest.raises(
        TypeError, match=r"^out is torch\.float16; it must be torch\.float32, as x is$"
    ):
        vector_add.add(x, x, out=torch.zeros(8).half())


@pytest.mark.parametrize("name", ["x", "y", "out"])
def test_c048_a_tensor_elsewhere_is_named(vector_add, name):
    tensors = {
        key: torch.zeros(8, device="meta" if key == name else "cpu") for key in ("x", "y", "out")
    }
    with pytest.raises(
        ValueError,
        match=rf"^{name} is on meta; this run needs every tensor on one cpu device, and ",
    ):
        vector_add.add(**tensors)


def view(name, base):
    return {
        "transposed": lambda: base.t(),
        "every second column": lambda: base[:, ::2],
        "first columns": lambda: base[:, :5],
        "expanded": lambda: base[:1].expand(8, 8),
        "reversed dims": lambda: base.view(2, 4, 8).permute(2, 1, 0),
    }[name]()


@pytest.mark.parametrize(
    "name", ["transposed", "every second column", "first columns", "expanded", "reversed dims"]
)
def test_c012_views_that_do_not_lie_straight_are_refused(vector_add, name):
    x = view(name, torch.randn(8, 8))
    straight = x.clone(memory_format=torch.contiguous_format)
    for key, arguments in (
        ("x", (x, straight)),
        ("y", (straight, x)),
        ("out", (straight, straight, x)),
    ):
        with pytest.raises(
            ValueError, match=rf"^{key} has strides \(.*\), .*: pass {key}\.contiguous\(\)$"
        ):
            vector_add.add(*arguments)


# Right results


def test_c012_a_view_that_lies_straight_equals_its_copy(vector_add):
    room = torch.randn(65)
    assert torch.equal(vector_add.add(room[1:], room[:-1]), room[1:] + room[:-1])


def test_the_result_is_out_and_the_terms_stay(vector_add):
    x, y, out = torch.randn(3, 40)
    before = x.clone(), y.clone()
    assert vector_add.add(x, y, out=out) is out
    assert torch.equal(x, before[0]) and torch.equal(y, before[1])


def test_in_place(vector_add):
    x, y = torch.randn(2, 5000)
    want = x + y
    assert torch.equal(vector_add.add(x, y, out=x), want) and torch.equal(x, want)


def test_c054_no_dimensions_are_one_element(vector_add):
    assert torch.equal(vector_add.add(torch.tensor(2.0), torch.tensor(3.0)), torch.tensor(5.0))


def test_c023_every_element_is_written(vector_add, dirty):
    x, y = torch.randn(2, 3000)
    assert torch.empty(3).isnan().all()
    assert torch.equal(vector_add.add(x, y), x + y)


def test_c029_empty_shapes_before_and_after_a_launch(vector_add):
    for _ in range(2):
        for shape in ((0,), (0, 5), (5, 0), (0, 0)):
            got = vector_add.add(torch.empty(shape), torch.empty(shape))
            assert got.shape == shape and got.dtype == torch.float32
        vector_add.add(torch.zeros(5), torch.zeros(5))


def test_integers_wrap(vector_add):
    x = torch.tensor([127, -128], dtype=torch.int8)
    assert vector_add.add(x, torch.tensor([1, -1], dtype=torch.int8)).tolist() == [-128, 127]


@settings(max_examples=20, deadline=None, database=None, derandomize=True)
@given(
    shape=st.lists(st.integers(0, 15), min_size=0, max_size=3),
    start=st.integers(0, 3),
    dtype=st.sampled_from(INTERPRETED),
    scale=st.sampled_from([1, 1000, 10**6]),
    seed=st.integers(0, 99),
)
def test_any_shape_and_dtype_equals_the_rounded_float64_sum(
    vector_add, shape, start, dtype, scale, seed
):
    gen = torch.Generator().manual_seed(seed)
    n = torch.Size(shape).numel()
    rooms = [torch.randn(start + n, generator=gen, dtype=torch.float64).mul(scale) for _ in "xy"]
    x, y = (
        room.clamp(-60, 60).to(dtype) if dtype == torch.int8 else room.to(dtype) for room in rooms
    )
    x, y = x[start:].view(shape), y[start:].view(shape)
    want = (x.double() + y.double()).to(
        dtype
    )  # rounding twice is rounding once, as 53 bits exceed 2 * 24 + 1
    torch.testing.assert_close(vector_add.add(x, y), want, rtol=0, atol=0, equal_nan=True)


# Order of the programs


def test_c043_the_order_of_the_programs_does_not_matter(vector_add, other_order):
    x, y = torch.randn(2, 9 * 1024 + 5)
    assert torch.equal(vector_add.add(x, y), x + y)
    assert len(other_order) == 10 and other_order != sorted(other_order)
