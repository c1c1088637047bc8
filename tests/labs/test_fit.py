"""triton_fit: bad arguments, and the edges that its claims do not name."""

import pytest
import torch

FP16 = torch.float16


@pytest.fixture(scope="module")
def fit(lab):
    return lab("triton_fit")


@pytest.mark.parametrize("shape", [(1, 1), (3, 17), (1, 1024), (2, 1025), (0, 5), (5, 0)])
def test_c029_fused_agrees_with_float64_at_every_edge(fit, shape):
    x, residual, bias = torch.randn(shape), torch.randn(shape), torch.randn(shape[1])
    want = fit.reference(x, bias, residual).float()
    torch.testing.assert_close(fit.fused(x, bias, residual), want, atol=2e-6, rtol=0)
    torch.testing.assert_close(fit.fused(x, bias, residual, constant=True), want, atol=2e-6, rtol=0)


@pytest.mark.parametrize("n", [0, 1, 4095, 4096, 4097, 20_000])
def test_share_sums_to_one_at_every_edge(fit, n):
    got = fit.share(torch.ones(n))
    torch.testing.assert_close(got, torch.full((n,), 1 / max(n, 1)), atol=0, rtol=3e-7)


def test_special_values_go_where_the_framework_has_them(fit):
    x = torch.tensor([[float("inf"), float("-inf"), float("nan"), 0.0, -0.0, 100.0]])
    zero, bias = torch.zeros_like(x), torch.zeros(6)
    got, want = fit.fused(x, bias, zero), fit.eager(x, bias, zero)
    assert torch.equal(got.isnan(), want.isnan()) and torch.equal(
        got[0, [0, 3, 4, 5]], want[0, [0, 3, 4, 5]]
    )


def test_in_place_on_what_is_read_element_by_element(fit):
    x, bias, residual = torch.randn(3, 9), torch.randn(9), torch.randn(3, 9)
    want = fit.fused(x, bias, residual)
    assert torch.equal(fit.fused(x, bias, residual, out=residual), want)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (dict(x=[1]), TypeError, "x is list; it must be a torch.Tensor"),
        (dict(x=torch.zeros(3, 4, dtype=torch.int32)), TypeError, "x is torch.int32; allowed"),
        (
            dict(bias=torch.zeros(4, dtype=FP16)),
            TypeError,
            "bias is torch.float16; it must be torch.float32, as x is",
        ),
        (dict(x=torch.zeros(4, 3).t()), ValueError, r"pass x.contiguous\(\)"),
        (
            dict(x=torch.zeros(4)),
            ValueError,
            r"x has shape \(4,\); it must be 2-D: pass x.view\(-1, n_cols\)",
        ),
        (dict(bias=torch.zeros(3)), ValueError, r"bias has shape \(3,\); it must have \(4,\)"),
        (
            dict(residual=torch.zeros(4, 3)),
            ValueError,
            r"residual has shape \(4, 3\); it must have \(3, 4\)",
        ),
        (dict(x=torch.zeros(3, 4, device="meta")), ValueError, "x is on meta"),
        (dict(x=torch.zeros(3, 4, requires_grad=True)), ValueError, r"pass x.detach\(\)"),
        (dict(out=torch.zeros(3, 5)), ValueError, r"out has shape \(3, 5\); it must have \(3, 4\)"),
    ],
)
def test_c012_c048_c054_what_fused_cannot_take_is_named(fit, change, error, said):
    arguments = dict(x=torch.zeros(3, 4), bias=torch.zeros(4), residual=torch.zeros(3, 4)) | change
    with pytest.raises(error, match=said):
        fit.fused(**arguments)


def test_an_output_across_an_input_is_refused(fit):
    room = torch.zeros(40)
    with pytest.raises(ValueError, match=r"^out overlaps x, which is still being read"):
        fit.share(room[:20], out=room[10:30])


def test_share_takes_vectors_only(fit):
    with pytest.raises(
        ValueError, match=r"^x has shape \(2, 2\); it must be a vector of at most 2\*\*28 elements$"
    ):
        fit.share(torch.zeros(2, 2))


def test_out_must_not_be_the_bias_that_every_row_reads(fit):
    bias = torch.zeros(4)
    with pytest.raises(
        ValueError,
        match=r"^out overlaps bias, which is still being read: pass a tensor of its own$",
    ):
        fit.fused(torch.zeros(1, 4), bias, torch.zeros(1, 4), out=bias.view(1, 4))
