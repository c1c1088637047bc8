"""What triton_pytorch_paths does not claim of itself: bad arguments, the cases by their ids, the arithmetic of its GPU claims."""

import functools

import judge
import observe
import pytest
import torch

FP32, FP16 = torch.float32, torch.float16
U = 2**-24


@pytest.fixture(scope="module")
def paths(lab):
    return lab("triton_pytorch_paths")


def given(rows=3, cols=8, dtype=FP32):
    return (
        torch.ones(rows, cols, dtype=dtype),
        torch.ones(rows, cols, dtype=dtype),
        torch.ones(cols, dtype=dtype),
    )


def worst(paths, got, tensors):
    """The error of y, relative to the largest y of the reference."""
    return judge.compare([(got[0], paths.reference(*tensors)[0])]).max_rel_err


# Bad arguments


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    "wrong", [[[1.0]], 2.0, "x", torch.eye(2).to_sparse()], ids=["list", "float", "str", "sparse"]
)
def test_an_argument_that_is_no_dense_tensor_is_named(paths, place, wrong):
    tensors = list(given())
    tensors[place] = wrong
    name = ("x", "residual", "weight")[place]
    with pytest.raises(
        TypeError,
        match=rf"^{name} is {type(wrong).__name__}; it must be a torch.Tensor with strides",
    ):
        paths.add_rms_norm(*tensors)


@pytest.mark.parametrize(
    ("x", "residual", "weight"),
    [
        (torch.ones(8), torch.ones(7), torch.ones(8)),
        (torch.ones(4, 1), torch.ones(1, 4), torch.ones(1)),
        (torch.ones(3, 8), torch.ones(3, 8), torch.ones(7)),
        (torch.ones(3, 8), torch.ones(3, 8), torch.ones(1, 8)),
        (torch.ones(8), torch.ones(8), torch.ones(8)),
        (torch.ones(2, 3, 8), torch.ones(2, 3, 8), torch.ones(8)),
        (torch.tensor(1.0), torch.tensor(1.0), torch.tensor(1.0)),
    ],
)
def test_c054_shapes_that_do_not_fit_together_are_all_said(paths, x, residual, weight):
    with pytest.raises(
        ValueError, match=r"x is \(.*residual is \(.*weight is \(.*needed: \(rows, columns\)"
    ):
        paths.add_rms_norm(x, residual, weight)


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool])
def test_c054_integers_are_refused(paths, dtype):
    with pytest.raises(
        TypeError, match=rf"x is {dtype}; it must be floating point, of 16 bits or more"
    ):
        paths.add_rms_norm(*given(dtype=dtype))


@pytest.mark.parametrize("place", [1, 2])
def test_c054_one_dtype_for_all(paths, place):
    tensors = list(given())
    tensors[place] = tensors[place].half()
    with pytest.raises(
        ValueError, match=r"is torch\.float16 on cpu; it must be as x, torch\.float32 on cpu"
    ):
        paths.add_rms_norm(*tensors)


def test_c048_a_tensor_elsewhere_is_named(paths):
    x, residual, weight = given()
    with pytest.raises(
        ValueError,
        match=r"residual is torch\.float32 on meta; it must be as x, torch\.float32 on cpu",
    ):
        paths.add_rms_norm(x, residual.to("meta"), weight)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_c054_eight_bits_are_refused_since_eager_cannot_add_them_either(paths, dtype):
    with pytest.raises(
        TypeError, match=rf"x is {dtype}; it must be floating point, of 16 bits or more"
    ):
        paths.add_rms_norm(*(t.to(dtype) for t in given()))


@pytest.mark.parametrize("eps", ["small", None, [1e-6]])
def test_an_eps_that_is_no_number_is_told(paths, eps):
    with pytest.raises(TypeError, match=f"eps is {type(eps).__name__}; it must be a number"):
        paths.add_rms_norm(*given(), eps)


# What the kernel cannot take, and eager can


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("float64", r"x is torch\.float64; the kernel takes torch\.float32, torch\.float16"),
        ("wide", r"x is \(2, 16385\); at most 16,384 columns and 2\*\*31 - 1 rows"),
        ("apart", r"x has strides \(200, 2\); the kernel reads a row contiguously"),
        ("empty", r"x is empty; there is nothing to launch"),
    ],
)
def test_without_fallback_the_reason_is_said(paths, kind, reason):
    with pytest.raises(ValueError, match=reason):
        paths.add_rms_norm(*paths.ODD[kind](), fallback=False)


def test_a_tensor_on_another_device_goes_to_eager(paths):
    y, r = paths.add_rms_norm(*(t.to("meta") for t in given()))
    assert y.device.type == r.device.type == "meta" and y.shape == r.shape == (3, 8)


@pytest.mark.parametrize("shape", [(0, 8), (3, 0), (0, 0)])
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c029_empty_in_empty_out(paths, shape, dtype):
    for _ in range(2):
        y, r = paths.add_rms_norm(*given(*shape, dtype=dtype))
        assert y.shape == r.shape == shape and y.dtype == r.dtype == dtype
        paths.add_rms_norm(*given())


# Right results


@pytest.mark.parametrize("path", ["eager", "library", "triton", "opaque"])
@pytest.mark.parametrize("n_cols", [1, 3, 17, 127, 1000, 1025])
def test_c005_padded_lanes_count_for_nothing_at_any_width_and_mean(paths, path, n_cols):
    for mean in (0.0, 100.0, -10_000.0):
        tensors = paths.make_inputs(3, n_cols, mean=mean)
        assert worst(paths, paths.PATHS[path](*tensors), tensors) <= 31 * U


def test_c056_constant_rows_give_the_weight(paths):
    for value in (1e-3, 1.0, 1e4):
        x = torch.full((2, 17), value)
        weight = torch.arange(17.0)
        y, _ = paths.add_rms_norm(x, torch.zeros_like(x), weight, eps=1e-12)
        assert (y - weight).abs().max() <= 16 * 31 * U


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(lambda t: t[:8, :37], id="cut"),
        pytest.param(lambda t: t[:8, 1:38], id="off alignment"),
        pytest.param(lambda t: t[::2, :37], id="every other row"),
        pytest.param(lambda t: t[:1, :37].expand(8, 37), id="one row for all"),
        pytest.param(lambda t: t[:37, :8].t(), id="transposed"),
        pytest.param(lambda t: t[:8, :74:2], id="every other column"),
        pytest.param(lambda t: t[:8, :1].expand(8, 37), id="one column for all"),
    ],
)
def test_c012_a_view_gives_what_its_copy_gives(paths, view):
    big, weight = torch.randn(64, 96), torch.rand(37)
    x = view(big)
    residual = view(torch.randn(64, 96))
    y, r = paths.add_rms_norm(x, residual, weight)
    assert worst(paths, (y, r), (x.clone(), residual.clone(), weight)) <= 31 * U
    assert torch.equal(r, x + residual) and y.is_contiguous() and r.is_contiguous()


def test_negated_views_are_read_with_their_sign(paths):
    x, residual, weight = torch._neg_view(torch.randn(4, 16)), torch.zeros(4, 16), torch.ones(16)
    assert x.is_neg()
    for call in (paths.add_rms_norm, torch.compile(paths.add_rms_norm, backend="eager")):
        assert worst(paths, call(x, residual, weight), (x, residual, weight)) <= 31 * U


def test_r_is_rounded_before_it_is_used_again(paths):
    """1 + 2**-11 lies in the middle and rounds to 1 in fp16; y is then exactly what eager makes of 1."""
    x, residual = torch.ones(1, 4, dtype=FP16), torch.full((1, 4), 2**-11, dtype=FP16)
    weight = torch.full((4,), 3.0, dtype=FP16)
    for path in ("eager", "library", "triton"):
        y, r = paths.PATHS[path](x, residual, weight)
        assert torch.equal(r, x) and torch.equal(y, weight.expand(1, 4)), path


def test_c043_programs_may_run_in_any_order(paths, other_order):
    tensors = paths.make_inputs(7, 100)
    assert worst(paths, paths.PATHS["triton"](*tensors), tensors) <= 31 * U
    assert len(other_order) == 7 and [place[0] for place in other_order] != list(range(7))


def test_c023_nothing_is_left_unwritten(paths, dirty):
    tensors = paths.make_inputs(4, 33)
    y, r = paths.PATHS["triton"](*tensors)
    assert worst(paths, (y, r), tensors) <= 31 * U and torch.equal(r, tensors[0] + tensors[1])


def test_the_gradients_are_those_of_eager(paths):
    grads = []
    for call in (paths.PATHS["triton"], paths.eager):
        leaves = [t.requires_grad_() for t in paths.make_inputs(5, 33)]
        y, r = call(*leaves)
        ((y * torch.arange(33.0)).sum() + (r * 2).sum()).backward()
        grads.append([leaf.grad for leaf in leaves])
    for got, want in zip(*grads, strict=True):
        assert (got - want).abs().max() <= 1e-5 * want.abs().max()


# What torch.compile sees


def test_the_launcher_fits_into_one_graph(paths):
    torch._dynamo.reset()
    compiled = torch.compile(paths.add_rms_norm, backend="eager", fullgraph=True)
    tensors = paths.make_inputs(4, 16)
    assert worst(paths, compiled(*tensors), tensors) <= 31 * U


def test_the_graph_asks_for_the_operator_by_name(paths):
    torch._dynamo.reset()
    made = observe.Made()
    torch.compile(paths.add_rms_norm, backend=made)(*paths.make_inputs(4, 16))
    targets = [
        str(node.target) for node in made.graphs[0].graph.nodes if node.op == "call_function"
    ]
    assert targets[0] == "triton_by_proof.add_rms_norm.default"


def quantize(y, scale):
    return torch.round(y.float() / scale).clamp(-128, 127).to(torch.int8)


def in_other_words(op, x, residual, weight, scale, how):
    y, r = op(x, residual, weight, 1e-5 if how == "another eps" else 1e-6)
    if how == "a view between":
        y = y.view(-1, y.shape[-1])
    if how == "a cast spelled otherwise":
        return torch.round(y.to(torch.float32) / scale).clamp(-128, 127).to(torch.int8), r
    if how == "y used twice":
        return quantize(y, scale), r, y
    return quantize(y, scale), r


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ("as the pattern", 1),
        ("another eps", 0),
        ("a view between", 0),
        ("a cast spelled otherwise", 0),
        ("y used twice", 0),
    ],
)
def test_the_rewrite_finds_only_what_is_spelled_as_its_pattern(paths, how, found):
    torch._dynamo.reset()
    made = observe.Made()
    call = functools.partial(in_other_words, paths.add_rms_norm_op, how=how)
    torch.compile(call, backend=made)(*paths.make_inputs(2, 16), torch.tensor([0.03]))
    assert len(made.graphs) == 1 and paths.rewritten(made.graphs[0]) == found


def test_switching_gradients_on_compiles_again(paths):
    torch._dynamo.reset()
    made = observe.Made()
    compiled = torch.compile(paths.eager, backend=made)
    x, residual, weight = given()
    compiled(x, residual, weight)
    compiled(x.requires_grad_(), residual, weight)
    assert len(made.graphs) == 2


# No GPU


def test_c051_no_speed_comes_from_the_interpreter(paths):
    ratios = [claim for claim in paths.CLAIMS if claim.kind == "ratio"]
    assert len(ratios) >= 10
    for claim in ratios:
        row = judge.judge_claim(paths, claim)
        assert (
            row["verdict"] == "-" and row["note"] == "needs a GPU to judge" and "value" not in row
        )


# The arithmetic of claims that only a GPU can judge


@pytest.mark.parametrize(
    ("names", "value"),
    [
        (["add_rms_norm_kernel"], "1 add_rms_norm_kernel"),
        (["triton_red_fused_add_mean_mul_rsqrt_0"], "1 Inductor"),
        (
            [
                "void at::native::vectorized_elementwise_kernel<4>(int)",
                "void at::native::reduce_kernel<512>()",
            ],
            "2 PyTorch",
        ),
        (
            ["add_rms_norm_kernel", "triton_poi_fused_clamp_round_0"],
            "1 Inductor, 1 add_rms_norm_kernel",
        ),
    ],
)
def test_kernels_are_counted_by_origin_and_named_in_order(names, value):
    assert observe.by_origin(names) == {"value": value, "note": " | ".join(names)}


def test_the_text_that_inductor_wrote_is_counted_from_its_kernels_only(paths, monkeypatch):
    from torch._inductor import utils

    kernel = """
    tl.load(not counted, since it stands before the kernel)
    def triton_red_fused_0(in_ptr0, out_ptr0):
        for r0_offset in tl.range(0, 8, R0_BLOCK):
            tmp0 = tl.load(in_ptr0)
        tl.store(out_ptr0, tmp0)
    """
    code = f"a = load('''{kernel}''')\nb = load('''{kernel}''')"
    monkeypatch.setattr(utils, "run_and_get_code", lambda *call: (None, [code]))
    assert paths.measures.generated(8, n_rows=2)["value"] == "kernels 2, loops 2, loads 2, stores 2"


EMPTY = {"triton": [900.0, 1.0, 2.0], "inductor": [5000.0, 2.0, 3.0], "hits": 0}
FILLED = {"triton": [90.0, 2.0, 1.0], "inductor": [500.0, 3.0, 2.0], "hits": 1}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (dict(path="inductor", cache="empty", against="filled"), 10.0),
        (dict(path="inductor", cache="empty", against="later"), 5000 / 3),
        (dict(path="triton", cache="filled", against="later"), 45.0),
    ],
)
def test_first_calls_are_counted_in_later_ones(paths, monkeypatch, arguments, value):
    monkeypatch.setattr(paths.measures, "processes", lambda: {"empty": EMPTY, "filled": FILLED})
    ratio = paths.measures.first_call(**arguments)
    assert ratio.value == ratio.low == ratio.high == value
    assert ratio.timings[0].repeats == 1


def test_the_second_process_finds_what_the_first_left(paths, monkeypatch):
    monkeypatch.setattr(paths.measures, "processes", lambda: {"empty": EMPTY, "filled": FILLED})
    assert (paths.measures.cache_hits("empty"), paths.measures.cache_hits("filled")) == (0, 1)


def test_a_process_that_fails_is_reported(paths, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "0")  # no GPU: nothing to launch on
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="a new process failed"):
            paths.measures.processes()


def test_without_a_file_no_process_can_import_the_lab(paths):
    measures = observe.Paths(None, paths.PATHS, paths.make_inputs, paths.quantized, paths.rewriting)
    with pytest.raises(RuntimeError, match="needs the lab as a file: download it"):
        measures.processes()
