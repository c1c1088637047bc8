"""labs/arguments.py: each check names the argument, what was found and the way out; overlap is exact where it can be."""

import pytest
import torch
from arguments import (
    check_contiguous,
    check_dtypes,
    check_elementwise,
    check_no_overlap,
    check_one_of,
    check_rows,
    check_shape,
    check_tensors,
    overlaps,
    overlaps_itself,
    same_memory,
    span,
)

FLOATS = (torch.float32, torch.float16)


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [([1.0], "list"), (2.0, "float"), ("x", "str"), (torch.eye(2).to_sparse(), "Tensor")],
)
def test_what_is_no_dense_tensor_is_named(wrong, kind):
    with pytest.raises(TypeError, match=rf"^y is {kind}; it must be a torch\.Tensor with strides"):
        check_tensors("cpu", x=torch.ones(1), y=wrong)


def test_a_lazy_conjugation_is_named():
    with pytest.raises(TypeError, match=r"without a lazy negation or conjugation$"):
        check_tensors("cpu", x=torch.ones(1, dtype=torch.complex64).conj())


def test_a_gradient_would_be_lost_and_detach_is_the_way_out():
    with pytest.raises(
        ValueError,
        match=r"^x requires a gradient, and this kernel has no backward: pass x\.detach\(\)$",
    ):
        check_tensors("cpu", x=torch.ones(1, requires_grad=True))
    with torch.no_grad():
        check_tensors("cpu", x=torch.ones(1, requires_grad=True))


def test_forward_mode_is_named_too():
    import torch.autograd.forward_ad as forward

    with forward.dual_level():
        dual = forward.make_dual(torch.ones(1), torch.ones(1))
        with pytest.raises(ValueError, match=r"^x requires a gradient"):
            check_tensors("cpu", x=dual)


def test_a_tensor_elsewhere_is_named_with_the_first():
    with pytest.raises(
        ValueError,
        match=r"^y is on meta; this run needs every tensor on one cpu device, and x is on cpu$",
    ):
        check_tensors("cpu", x=torch.ones(1), y=torch.ones(1, device="meta"))


def test_a_dtype_that_is_not_allowed_and_one_that_differs():
    with pytest.raises(
        TypeError, match=r"^x is torch\.int32; allowed here: torch\.float32, torch\.float16$"
    ):
        check_dtypes(FLOATS, x=torch.ones(1).int())
    with pytest.raises(
        TypeError, match=r"^y is torch\.float16; it must be torch\.float32, as x is$"
    ):
        check_dtypes(FLOATS, x=torch.ones(1), y=torch.ones(1).half())


def test_a_shape_that_differs():
    with pytest.raises(ValueError, match=r"^y has shape \(2, 1\); it must have \(1, 2\)$"):
        check_shape((1, 2), x=torch.ones(1, 2), y=torch.ones(2, 1))


def test_strides_that_are_not_contiguous():
    with pytest.raises(
        ValueError,
        match=r"^x has strides \(1, 4\), and this kernel reads contiguously: pass x\.contiguous\(\)$",
    ):
        check_contiguous(x=torch.ones(4, 4).t())


def test_rows_lie_any_distance_apart_and_their_elements_side_by_side():
    check_rows(x=torch.ones(4, 8)[:, :5])
    with pytest.raises(
        ValueError, match=r"^x has strides \(1, 4\), and this kernel reads each row contiguously"
    ):
        check_rows(x=torch.ones(4, 4).t())
    with pytest.raises(
        ValueError, match=r"^x has shape \(4,\); it must be 2-D: pass x\.view\(-1, n_cols\)$"
    ):
        check_rows(x=torch.ones(4))


def test_one_of_a_few():
    check_one_of("way", "row", ("row", "tree"))
    with pytest.raises(ValueError, match=r"^way is 'rows'; allowed: row, tree$"):
        check_one_of("way", "rows", ("row", "tree"))


def test_elementwise_asks_for_all_of_it():
    x = torch.ones(4)
    check_elementwise("cpu", FLOATS, x=x, y=x.clone())
    for wrong in (x.int(), x.half(), torch.ones(5), torch.ones(8)[::2]):
        with pytest.raises((TypeError, ValueError), match=r"^y "):
            check_elementwise("cpu", FLOATS, x=x, y=wrong)


# Overlap


def test_a_span_reaches_past_the_last_element():
    t = torch.zeros(4, 8)
    begin, end = span(t[1:3, 2:5])
    assert (begin - t.data_ptr(), end - t.data_ptr()) == (4 * 10, 4 * (10 + 8 + 3))


BUFFER = torch.zeros(64)
GRID = torch.zeros(8, 16)


@pytest.mark.parametrize(
    ("a", "b", "meet"),
    [
        pytest.param(BUFFER[:16], BUFFER[16:32], False, id="side by side"),
        pytest.param(BUFFER[:16], BUFFER[15:31], True, id="one element in common"),
        pytest.param(BUFFER[:16], BUFFER[:16], True, id="the same"),
        pytest.param(BUFFER[:0], BUFFER[:4], False, id="nothing in one of them"),
        pytest.param(GRID[:, :8], GRID[:, 8:], False, id="disjoint columns of one buffer"),
        pytest.param(GRID[:, 8:], GRID[:, :8], False, id="disjoint columns, the other way round"),
        pytest.param(GRID[:, :9], GRID[:, 8:], True, id="one column in common"),
        pytest.param(GRID[:4, :8], GRID[4:, :8], False, id="disjoint rows"),
        pytest.param(GRID[1:, :8], GRID[:-1, 8:], False, id="disjoint columns of shifted rows"),
        pytest.param(GRID[1:, :9], GRID[:-1, 8:], True, id="a column in common of shifted rows"),
        pytest.param(
            GRID[:, 0:16:2], GRID[:, 1:16:2], True, id="interleaved: not cheap to tell apart"
        ),
        pytest.param(torch.zeros(4), torch.zeros(4), False, id="memory apart"),
    ],
)
def test_whether_two_share_a_byte(a, b, meet):
    assert overlaps(a, b) is meet and overlaps(b, a) is meet


@pytest.mark.parametrize(
    ("t", "overlap"),
    [
        (torch.zeros(4, 4), False),
        (torch.zeros(4, 4).t(), False),
        (torch.zeros(4, 4)[:, ::2], False),
        (torch.zeros(1, 4).expand(3, 4), True),
        (torch.zeros(8).as_strided((4, 4), (1, 1)), True),
        (torch.zeros(8).as_strided((3, 3), (2, 1)), True),
        (torch.zeros(1, 1).expand(1, 1), False),
        (torch.zeros(0, 4).expand(0, 4), False),
    ],
)
def test_whether_elements_of_one_share_memory(t, overlap):
    assert overlaps_itself(t) is overlap


def test_same_memory_is_element_by_element():
    t = torch.zeros(4, 4)
    assert same_memory(t, t.view(4, 4))
    assert (
        not same_memory(t, t.t())
        and not same_memory(t, t.view(16))
        and not same_memory(t, t.clone())
    )


def test_memory_is_compared_not_the_storage_that_holds_it():
    room = torch.arange(64.0)
    seen_by_numpy = torch.from_numpy(room.numpy())  # the same memory in another storage
    with pytest.raises(
        ValueError, match=r"^out overlaps x, which is still being read: pass a tensor of its own$"
    ):
        check_no_overlap(seen_by_numpy[15:31], x=room[:16])
    check_no_overlap(seen_by_numpy[16:32], x=room[:16])


def test_in_place_is_exactly_an_input_or_apart_from_it():
    x = torch.zeros(16)
    check_no_overlap(x, in_place=True, x=x)
    check_no_overlap(x.clone(), in_place=True, x=x)
    with pytest.raises(
        ValueError,
        match=r"^out overlaps x, which is still being read: pass out=x or memory apart from it$",
    ):
        check_no_overlap(x[1:], in_place=True, x=x[:-1])
    with pytest.raises(ValueError, match=r"^out overlaps x"):
        check_no_overlap(x, x=x)


def test_an_output_whose_elements_overlap_is_refused():
    with pytest.raises(
        ValueError,
        match=r"^out has strides \(0, 1\), so its elements overlap: pass out\.contiguous\(\)$",
    ):
        check_no_overlap(torch.zeros(1, 4).expand(3, 4), x=torch.zeros(3, 4))
