"""Memory around the tensors of a launch: whatever changes it, or reads it into a result, is seen."""

import math

import pytest
from exercise import Case, Given, Output
from judging import run_case


def found(function, case):
    """The signs by which this call of the function shows a mistake."""
    return [sign.found for sign in run_case(function, case)]


def doubling(**output):
    """A case: out should be twice x."""
    return Case("doubling", {"x": Given([1.0, 2.0, 3.0]), "out": Output([2.0, 4.0, 6.0], **output)})


def poke(tensor, position, value):
    """Write a value at a position counted from the tensor's first element."""
    tensor.as_strided((1,), (1,), tensor.storage_offset() + position).fill_(value)


def peek(tensor, position):
    return tensor.as_strided((1,), (1,), tensor.storage_offset() + position)


def test_a_correct_function_shows_nothing():
    assert found(lambda x, out: out.copy_(2 * x), doubling()) == []


@pytest.mark.parametrize("position", [-1, 3, -60_000, 60_000])
@pytest.mark.parametrize("value", [0.0, -0.0, 6.0, math.nan, math.inf])
def test_a_store_before_or_past_an_output_is_seen_whatever_it_stores(position, value):
    def double(x, out):
        out.copy_(2 * x)
        poke(out, position, value)

    assert found(double, doubling()) == ["outside out 1"]


def test_what_was_read_past_an_input_and_stored_past_the_output_is_seen():
    def double(x, out):
        out.copy_(2 * x)
        poke(out, 3, 2 * peek(x, 3).item())

    assert found(double, doubling()) == ["outside out 1"]


def test_adding_zero_past_the_end_of_a_sum_is_seen():
    def add_to(x, out):
        out.add_(2 * x)
        peek(out, 3).add_(0.0)

    assert found(add_to, doubling(start=[0.0, 0.0, 0.0])) == ["outside out 1"]


def test_doubling_in_place_past_the_end_is_seen():
    def add_to(x, out):
        out.add_(2 * x)
        peek(out, 3).mul_(2.0)

    assert found(add_to, doubling(start=[0.0, 0.0, 0.0])) == ["outside out 1"]


def test_a_store_past_an_output_of_whole_numbers_is_seen():
    case = Case("copy", {"x": Given([1, 2], dtype="int32"), "out": Output([1, 2], dtype="int32")})

    def copy(x, out):
        out.copy_(x)
        poke(out, 2, -1)

    assert found(copy, case) == ["outside out 1"]


def test_a_store_into_an_input_is_seen():
    def double(x, out):
        out.copy_(2 * x)
        x[0] = 0.0

    assert found(double, doubling()) == ["input_changed x 1"]


def test_a_read_past_an_input_shows_in_the_result_that_it_enters():
    def double(x, out):
        out.copy_(2 * x)
        out[2] += peek(x, 3).item() * 0.0

    assert found(double, doubling()) == ["unwritten out 1", "differs out"]


def strided(strides):
    values = [1.0, 2.0, 3.0, 4.0]
    x = Given(values, (2, 2), strides=strides)
    return Case("copy", {"x": x, "out": Output(values, (2, 2), strides=strides)})


@pytest.mark.parametrize(
    ("strides", "gap", "end"), [((3, 1), 2, 5), ((1, 5), 3, 7), ((8, 3), 1, 12)]
)
def test_stores_between_the_elements_and_past_the_last_of_a_strided_output_are_seen(
    strides, gap, end
):
    def copy_and_poke(position):
        def function(x, out):
            out.copy_(x)
            poke(out, position, 4.0)

        return function

    assert found(lambda x, out: out.copy_(x), strided(strides)) == []
    assert found(copy_and_poke(gap), strided(strides)) == ["outside out 1"]
    assert found(copy_and_poke(end), strided(strides)) == ["outside out 1"]


def test_a_store_to_an_empty_output_is_seen():
    case = Case("empty", {"out": Output([], (0, 3))})
    assert found(lambda out: poke(out, 0, 1.0), case) == ["outside out 1"]


def test_an_element_that_nobody_writes_is_seen():
    def double(x, out):
        out[:2] = 2 * x[:2]

    assert found(double, doubling()) == ["unwritten out 1", "differs out"]
