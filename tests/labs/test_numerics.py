"""What triton_numerics does not claim of itself: bad arguments, the cases by their ids, any shape, where its bounds come from."""

from types import SimpleNamespace

import pytest
import torch
from arguments import check_input_precision
from hypothesis import given, settings
from hypothesis import strategies as st
from judge import Guards, claim_named, compare

FP32, FP16, BF16 = torch.float32, torch.float16, torch.bfloat16
U = 2**-24
LAUNCHERS = ("row_sum", "total", "logsumexp")  # of one tensor


@pytest.fixture(scope="module")
def numerics(lab):
    return lab("triton_numerics")


def relative(got, want):
    return compare([(got, want)]).max_rel_err


def normalized(numerics, x, how="shifted", eps=1e-12):
    """The error of layer_norm on x with weight 1 and bias 0, over the largest result."""
    w, b = torch.ones(x.shape[1]), torch.zeros(x.shape[1])
    got = numerics.layer_norm(x, w, b, eps, how)
    return relative(got, numerics.reference("layer_norm", x, w, b, eps=eps))


# Bad arguments


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool, BF16])
def test_c006_other_dtypes_are_refused_and_bf16_by_the_interpreter(numerics, dtype):
    x, row = torch.zeros(4, 4, dtype=dtype), torch.zeros(4, dtype=dtype)
    allowed = rf"is {dtype}; allowed here: torch\.float32, torch\.float16$"
    for launch in LAUNCHERS:
        with pytest.raises(TypeError, match=f"^x {allowed}"):
            getattr(numerics, launch)(x)
    with pytest.raises(TypeError, match=f"^x {allowed}"):
        numerics.linear(x, x)
    with pytest.raises(TypeError, match=f"^bias {allowed}"):
        numerics.layer_norm(torch.zeros(4, 4), torch.zeros(4), row)
    with pytest.raises(TypeError, match=f"^out {allowed}"):
        numerics.row_sum(torch.zeros(4, 4), out=row)


def test_c012_views_that_are_not_contiguous(numerics):
    base = torch.zeros(8, 8)
    for view in (base.t(), base[:, ::2], base[:, :3], base[:, :1].expand(8, 8)):
        for launch in LAUNCHERS:
            with pytest.raises(ValueError, match=r"x has strides .* pass x\.contiguous\(\)"):
                getattr(numerics, launch)(view)
    with pytest.raises(ValueError, match=r"weight has strides .* pass weight\.contiguous\(\)"):
        numerics.linear(base, base.t())


def test_c048_a_tensor_elsewhere_is_named(numerics):
    with pytest.raises(
        ValueError, match="x is on meta; this run needs every tensor on one cpu device"
    ):
        numerics.row_sum(torch.zeros(2, 2, device="meta"))
    with pytest.raises(ValueError, match="weight is on meta"):
        numerics.linear(torch.zeros(2, 2), torch.zeros(2, 2, device="meta"))


def test_a_tensor_that_requires_a_gradient_is_named(numerics):
    with pytest.raises(ValueError, match=r"x requires a gradient, .* pass x\.detach\(\)"):
        numerics.row_sum(torch.zeros(2, 2, requires_grad=True))


def test_out_must_not_share_what_is_read(numerics):
    x = torch.zeros(4, 4)
    with pytest.raises(ValueError, match="out overlaps x, which is still being read"):
        numerics.layer_norm(x, torch.ones(4), torch.zeros(4), out=x)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda n, x: n.row_sum(x, "sideways"), "way is 'sideways'; allowed: tree, row"),
        (
            lambda n, x: n.linear(x, x, "tf16"),
            "input_precision is 'tf16'; allowed: ieee, tf32, tf32x3",
        ),
        (
            lambda n, x: n.layer_norm(x, x[0], x[0], how="three_pass"),
            "how is 'three_pass'; allowed: shifted, two_pass",
        ),
        (lambda n, x: n.apply("sin", x), "op is 'sin'; allowed: exp, div, div_rn"),
        (lambda n, x: n.row_sum(x[0]), r"x has shape \(4,\); it must be 2-D"),
        (
            lambda n, x: n.row_sum(x, out=torch.zeros(5)),
            r"out has shape \(5,\); it must have \(4,\)",
        ),
        (lambda n, x: n.total(x, out=torch.zeros(2)), r"out has shape \(2,\); it must have \(1,\)"),
        (
            lambda n, x: n.layer_norm(x, torch.zeros(3), x[0]),
            r"weight has shape \(3,\); it must have \(4,\)",
        ),
        (
            lambda n, x: n.linear(x, torch.zeros(4, 3)),
            r"weight has shape \(4, 3\); it must have \(4, 4\)",
        ),
        (
            lambda n, x: n.apply("div", x, torch.ones(4)),
            r"y has shape \(4,\); it must have \(4, 4\)",
        ),
        (lambda n, x: n.logsumexp(torch.zeros(3, 0)), "an empty row has no largest element"),
    ],
)
def test_an_incorrect_argument_is_named(numerics, call, said):
    with pytest.raises(ValueError, match=said):
        call(numerics, torch.ones(4, 4))


def test_the_factors_of_a_product_have_one_dtype(numerics):
    with pytest.raises(
        TypeError, match=r"weight is torch\.float16; it must be torch\.float32, as x is"
    ):
        numerics.linear(torch.ones(4, 4), torch.ones(4, 4, dtype=FP16))


def test_apply_takes_fp32_only(numerics):
    with pytest.raises(TypeError, match=r"x is torch\.float16; allowed here: torch\.float32"):
        numerics.apply("exp", torch.ones(4, dtype=FP16))


@pytest.mark.parametrize("launch", ["row_sum", "logsumexp"])
def test_c046_a_row_lies_in_one_block_of_at_most_16384(numerics, launch):
    for n_cols in (16_383, 16_384):
        x = torch.rand(2, n_cols)
        want = numerics.reference("sum" if launch == "row_sum" else "logsumexp", x)
        assert relative(getattr(numerics, launch)(x), want) < 100 * U
    with pytest.raises(
        ValueError, match=r"x has shape \(2, 16385\); a row has at most 16,384 columns"
    ):
        getattr(numerics, launch)(torch.zeros(2, 16_385))


# Right results


def test_c029_empty_shapes(numerics):
    none = torch.empty(0, 5)
    assert numerics.row_sum(none).shape == numerics.logsumexp(none).shape == (0,)
    assert torch.equal(numerics.row_sum(torch.empty(3, 0)), torch.zeros(3))
    assert torch.equal(numerics.row_sum(torch.empty(3, 0), "row"), torch.zeros(3))
    assert torch.equal(numerics.total(torch.empty(0)), torch.zeros(1))
    assert torch.equal(numerics.linear(torch.empty(2, 0), torch.empty(3, 0)), torch.zeros(2, 3))
    assert numerics.linear(none, torch.empty(4, 5)).shape == (0, 4)
    assert numerics.layer_norm(none, torch.ones(5), torch.zeros(5)).shape == (0, 5)
    assert numerics.apply("exp", torch.empty(0)).shape == (0,)


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(
    rows=st.integers(1, 70),
    cols=st.integers(1, 40),
    half=st.booleans(),
    way=st.sampled_from(["tree", "row"]),
)
def test_sums_of_any_shape_are_within_their_bound(numerics, rows, cols, half, way):
    x = torch.rand(rows, cols).to(FP16 if half else FP32)
    got = numerics.row_sum(x, way)
    assert got.dtype == x.dtype
    assert relative(got, numerics.reference("sum", x)) <= cols * U + (2**-11 if half else 0)


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(M=st.integers(1, 140), N=st.integers(1, 140), K=st.integers(1, 70), half=st.booleans())
def test_products_of_any_shape_are_within_their_bound(numerics, M, N, K, half):
    x, w = (torch.rand(n, K).to(FP16 if half else FP32) for n in (M, N))
    bound = 2**-11 + K * 2 * U if half else K * U
    assert relative(numerics.linear(x, w), numerics.reference("linear", x, w)) <= bound


def test_c014_an_fp32_product_over_512_is_exact_to_1e_5_with_the_precision_named(numerics):
    """The largest result is the scale; what the library does by default on a CPU is as exact."""
    x, w = torch.rand(2, 128, 512) - 0.5
    want = numerics.reference("linear", x, w)
    assert relative(numerics.linear(x, w, "ieee"), want) < 1e-5
    assert relative(torch.nn.functional.linear(x, w), want) < 1e-5


def test_c014_ieee_is_the_default_and_each_precision_has_claims_of_its_own(numerics):
    assert numerics.linear.__defaults__[0] == "ieee"
    judged = {c.args.get("input_precision"): c.judges for c in numerics.CLAIMS if c.kind == "error"}
    assert judged["tf32"] == judged["tf32x3"] == "gpu", (
        "the interpreter ignores the setting, so it cannot judge it"
    )


@pytest.mark.parametrize(
    ("precision", "arch"), [("tf32x3", "gfx942"), ("tf32", "gfx90a"), ("tf32x3", "gfx1100")]
)
def test_a_precision_that_amd_does_not_have_is_refused_by_name(monkeypatch, precision, arch):
    driver = SimpleNamespace(get_current_target=lambda: SimpleNamespace(backend="hip", arch=arch))
    monkeypatch.setattr("triton.knobs.runtime.interpret", False)
    monkeypatch.setattr("triton.runtime.driver", SimpleNamespace(active=driver))
    with pytest.raises(
        ValueError,
        match=f"input_precision is '{precision}'; AMD's back end has tf32 on gfx942 only",
    ):
        check_input_precision(precision)


@pytest.mark.parametrize("n_cols", [1, 3, 17, 127, 1000, 1025])
@pytest.mark.parametrize("how", ["shifted", "two_pass", "welford"])
def test_c005_padding_takes_no_part(numerics, n_cols, how):
    rows = 1 if how == "welford" else 4  # merged one by one, which takes its time
    assert normalized(numerics, 100 + torch.rand(rows, n_cols), how) < 1e-3


def test_c005_the_claim_on_widths_has_a_mean_and_widths_that_are_no_power_of_two(numerics):
    assert claim_named(numerics, "widths.max_rel_err").measure is numerics.norm_widths
    pairs = numerics.norm_widths(Guards(), "shifted")
    assert [got.shape[1] for got, _ in pairs] == [1, 3, 17, 127, 1000, 1025]


@pytest.mark.parametrize("n_cols", [1, 2, 1000])
def test_c056_small_noise_on_a_large_mean(numerics, n_cols):
    assert normalized(numerics, 10_000 + torch.rand(8, n_cols)) < 1e-3


@pytest.mark.parametrize("value", [0.0, 10_000.1, -3e4])
@pytest.mark.parametrize("n_cols", [1, 7, 1000])
def test_c056_constant_rows_give_exactly_the_bias(numerics, value, n_cols):
    bias = torch.rand(n_cols)
    got = numerics.layer_norm(torch.full((2, n_cols), value), torch.rand(n_cols), bias, 1e-12)
    assert torch.equal(got, bias.expand(2, n_cols))


def test_c056_one_pass_fails_there_and_passes_where_the_mean_is_small(numerics):
    noise = torch.rand(8, 1000)
    assert normalized(numerics, noise, "one_pass") < 1e-5
    assert normalized(numerics, noise + 10_000, "one_pass") > 1


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")  # which is meant
def test_overflow_is_the_outputs_dtype_not_the_sums(numerics):
    x = torch.full((1, 64), 100.0, dtype=FP16)
    assert numerics.linear(x, x, out=torch.empty(1, 1)) == 640_000
    assert numerics.linear(x, x) == torch.inf, "fp16 ends at 65,504"


def test_the_total_is_added_in_fp32(numerics):
    with pytest.raises(TypeError, match=r"out is torch\.float16; allowed here: torch\.float32"):
        numerics.total(torch.ones(4), out=torch.empty(1, dtype=FP16))


def test_logsumexp_of_large_numbers_is_finite(numerics):
    assert numerics.logsumexp(torch.full((1, 8), 1e4)) == pytest.approx(1e4 + 2.0794415)


# The order of programs and of additions


def test_c043_the_order_of_the_programs_does_not_matter(numerics, other_order):
    x, w = torch.rand(130, 40), torch.rand(130, 40)
    assert relative(numerics.linear(x, w), numerics.reference("linear", x, w)) <= 40 * U
    assert relative(numerics.row_sum(x), numerics.reference("sum", x)) <= 10 * U
    assert other_order[:1] != [(0, 0, 0)]


def test_c032_an_atomic_sum_differs_by_order_and_stays_within_one_bound(numerics, other_order):
    x = torch.rand(5 * numerics.BLOCK + 3)
    assert relative(numerics.total(x), numerics.reference("sum", x).view(1)) <= (6 + 21) * U


def test_c032_the_claim_on_an_atomic_sum_covers_50_runs_and_others_say_one_result(numerics):
    assert claim_named(numerics, "atomic.max_rel_err").args["runs"] == 50
    assert [claim_named(numerics, c).bound for c in ("atomic_whole.results", "tree.results")] == [
        1,
        1,
    ]
    assert [numerics.distinct_results(Guards(), op, 2**12, 3) for op in ("whole", "tree")] == [1, 1]


def test_results_that_differ_in_a_bit_are_distinct(numerics, monkeypatch):
    runs = iter([1.0, 1.0, 1.0 + 2**-23])
    monkeypatch.setattr(numerics, "total", lambda x: torch.tensor([next(runs)]))
    assert numerics.distinct_results(Guards(), "atomic", 2**10, 3) == 2


# Where the bounds come from


@pytest.mark.parametrize("K", [16, 64, 256, 1024, 4096, 16384])
def test_the_bound_of_a_sum_counts_its_additions(numerics, K):
    row, tree, dot = (
        claim_named(numerics, f"{way}_{K}.max_rel_err") for way in ("row", "tree", "dot")
    )
    levels = K.bit_length() - 1
    lanes = max(K // 128 - 1, 0) + min(
        levels, 7
    )  # on a GPU: what a lane holds, then 128 lanes in pairs
    strands = (
        max(min(K, 128) // 8 - 1, 0) + 3 + max(levels - 7, 0)
    )  # NumPy: 8 strands in blocks of 128, then blocks in pairs
    assert (row.bound, tree.bound, dot.bound) == ((K - 1) * U, max(lanes, strands) * U, K * 2 * U)
    assert row.args["K"] == tree.args["K"] == dot.args["K"] == K


def test_numpy_adds_no_longer_than_the_bound_of_a_tree_says(numerics):
    for K, longest in ((64, 10), (256, 19), (1024, 21)):
        worst = max(
            abs(numerics.row_sum(x).double() - x.double().sum()).item()
            / (x.double().sum().item() * U)
            for x in (torch.rand(1, K) for _ in range(200))
        )
        assert worst <= longest


def test_the_shift_makes_the_bound_independent_of_the_mean(numerics):
    bounds = {
        how: [claim.bound for claim in numerics.CLAIMS if claim.id.startswith(f"{how}_1")]
        for how in ("shifted", "two_pass", "one_pass")
    }
    assert set(bounds["shifted"]) == {49 * U}
    for how, power in (("two_pass", 1), ("one_pass", 2)):
        ten, hundred = bounds[how][1], bounds[how][2]
        assert hundred / ten == pytest.approx((100.5 / 10.5) ** power, rel=0.1)


def test_allclose_by_default_refuses_what_is_correct_and_with_a_tolerance_takes_zeros(numerics):
    assert numerics.allclose(Guards(), "correct fp16") == 0
    assert numerics.allclose(Guards(), "correct fp16", rtol=2**-10, atol=2**-6) == 1
    assert numerics.allclose(Guards(), "zeros", atol=1e-2) == 1
    assert numerics.allclose(Guards(), "zeros") == 0
