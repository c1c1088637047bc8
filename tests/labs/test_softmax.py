"""What triton_softmax does not claim of itself: bad arguments, the cases by their ids, any shape, any program order."""

import os
import random
import subprocess
import sys
from pathlib import Path

import judge as instrument  # labs/judge.py
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
FP32, FP16 = torch.float32, torch.float16
ULPS = {FP32: 51 * 2**-24, FP16: 2**-11 + 51 * 2**-24}  # the lab's bounds for up to 1,025 columns


@pytest.fixture(scope="module")
def softmax(lab):
    return lab("triton_softmax")


def error(softmax, got, x):
    """Largest error over the largest right value; infinite where NaN or an infinity is not where it belongs."""
    return instrument.compare([(got, softmax.reference(x))]).max_rel_err


def judged(softmax, monkeypatch, write):
    """The verdicts of all error claims when the kernel's work is done by write(x, out)."""

    class Kernel:
        def __getitem__(self, grid):
            return lambda x, out, *args, **options: write(x, out)

    monkeypatch.setattr(softmax, "softmax_kernel", Kernel())
    errors = [claim for claim in softmax.CLAIMS if claim.kind == "error" and claim.judges == "any"]
    return {claim.id: instrument.judge_claim(softmax, claim)["verdict"] for claim in errors}


def passing(verdicts):
    return [claim for claim, verdict in verdicts.items() if verdict == "ok"]


# Bad arguments


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool, torch.complex64])
def test_other_dtypes_are_refused(softmax, dtype):
    with pytest.raises(
        TypeError, match=rf"x is {dtype}; allowed here: torch.float32, torch.float16$"
    ):
        softmax.softmax(torch.zeros(2, 2, dtype=dtype))


def test_c006_bf16_is_refused_in_the_interpreter(softmax):
    with pytest.raises(TypeError, match=r"x is torch\.bfloat16; allowed here"):
        softmax.softmax(torch.zeros(2, 2, dtype=torch.bfloat16))


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4)])
def test_only_two_dimensions(softmax, shape):
    with pytest.raises(
        ValueError, match=r"^x has shape \(.*\); it must be 2-D: pass x\.view\(-1, n_cols\)$"
    ):
        softmax.softmax(torch.zeros(shape))


def test_c028_more_rows_than_a_grid_has_programs(softmax):
    with pytest.raises(
        ValueError, match=r"^x has 2,147,483,648 rows; .* fewer than 2\*\*31 programs: pass parts$"
    ):
        softmax.softmax(torch.zeros(1, 1).expand(2**31, 1))


def test_c048_a_tensor_elsewhere_is_named(softmax):
    with pytest.raises(
        ValueError, match=r"^x is on meta; this run needs every tensor on one cpu device"
    ):
        softmax.softmax(torch.zeros(2, 2, device="meta"))
    with pytest.raises(ValueError, match="out is on meta"):
        softmax.softmax(torch.zeros(2, 2), out=torch.zeros(2, 2, device="meta"))


@pytest.mark.parametrize("shape", [(2, 2), (3, 2)])
def test_out_must_have_the_shape_of_x(softmax, shape):
    with pytest.raises(ValueError) as refusal:
        softmax.softmax(torch.zeros(2, 3), out=torch.zeros(shape))
    assert str(refusal.value) == f"out has shape {shape}; it must have (2, 3)"


def test_out_must_be_two_dimensional(softmax):
    with pytest.raises(ValueError, match=r"^out has shape \(6,\); it must be 2-D"):
        softmax.softmax(torch.zeros(2, 3), out=torch.zeros(6))


def test_out_must_have_the_dtype_of_x(softmax):
    with pytest.raises(
        TypeError, match=r"^out is torch\.float16; it must be torch\.float32, as x is$"
    ):
        softmax.softmax(torch.zeros(2, 3), out=torch.zeros(2, 3, dtype=FP16))


@pytest.mark.parametrize("out", [torch.zeros(3, 2).t(), torch.zeros(2, 6)[:, ::2]])
def test_rows_of_out_must_be_whole(softmax, out):
    with pytest.raises(
        ValueError, match=r"out has strides \(\d, \d\), .* pass out\.contiguous\(\)"
    ):
        softmax.softmax(torch.zeros(2, 3), out=out)


@pytest.mark.parametrize(
    "out", [torch.zeros(1, 3).expand(4, 3), torch.zeros(9).as_strided((4, 3), (2, 1))]
)
def test_c012_rows_of_out_must_not_overlap(softmax, out):
    with pytest.raises(
        ValueError,
        match=r"^out has strides \(\d, 1\), so its elements overlap: pass out\.contiguous\(\)$",
    ):
        softmax.softmax(torch.zeros(4, 3), out=out)


def test_out_must_not_lie_across_x(softmax):
    room = torch.zeros(40)
    x = room[:12].view(4, 3)
    for start, stride in ((1, 3), (3, 3), (11, 3), (0, 4)):
        with pytest.raises(
            ValueError,
            match=r"^out overlaps x, which is still being read: pass out=x or memory apart from it$",
        ):
            softmax.softmax(x, out=room[start:].as_strided((4, 3), (stride, 1)))
    out = room[12:24].view(4, 3)  # the next element after x is free
    assert softmax.softmax(x, out=out) is out
    assert torch.equal(out, torch.full((4, 3), 1 / 3))


# Right results


def test_the_result_is_out_and_x_stays(softmax):
    x = torch.randn(4, 5)
    before, out = x.clone(), torch.empty(4, 5)
    assert softmax.softmax(x, out=out) is out
    assert torch.equal(x, before)
    assert softmax.softmax(x).dtype == FP32 and softmax.softmax(x.half()).dtype == FP16


@pytest.mark.parametrize("n_cols", [1, 3, 17, 127, 1000, 1025])
def test_c005_padding_takes_no_part(softmax, n_cols):
    x = torch.randn(3, n_cols) - 100  # below any fill but -inf
    assert error(softmax, softmax.softmax(x), x) <= ULPS[FP32]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # inf - inf is meant
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c011_special_rows_keep_to_themselves(softmax, dtype):
    plain = torch.randn(12, 33).to(dtype)
    x = plain.clone()
    x[0], x[2, 5], x[4, 5], x[6, ::2], x[8] = (
        -torch.inf,
        torch.inf,
        torch.nan,
        -torch.inf,
        torch.finfo(dtype).max,
    )
    x[10] = torch.nan
    got = softmax.softmax(x)
    assert got.isnan().all(dim=1).tolist() == [row in (0, 2, 4, 10) for row in range(12)]
    assert got.isnan().any(dim=1).tolist() == got.isnan().all(dim=1).tolist()
    assert torch.equal(got[6, ::2], torch.zeros(17, dtype=dtype))
    assert torch.equal(got[8], torch.full((33,), 1 / 33, dtype=dtype))
    assert error(softmax, got, x) <= ULPS[dtype]
    assert torch.equal(got[1::2], softmax.softmax(plain)[1::2])


def view(name, base):
    return {
        "transposed": lambda: base.t(),
        "every second column": lambda: base[:, ::2],
        "first columns": lambda: base[:, :5],
        "every second row": lambda: base[::2],
        "one row for all": lambda: base[:1].expand(7, 8),
        "overlapping rows": lambda: base.as_strided((7, 8), (3, 1)),
        "off by one element": lambda: base.flatten()[1:-7].view(-1, 8),
        "one column": lambda: base.t()[:1].t(),
    }[name]()


@pytest.mark.parametrize("name", ["transposed", "every second column"])
def test_c012_views_with_broken_rows_are_refused(softmax, name):
    with pytest.raises(ValueError, match=r"x has strides \(\d+, \d+\), .* pass x\.contiguous\(\)"):
        softmax.softmax(view(name, torch.randn(24, 8)))


@pytest.mark.parametrize(
    "name",
    [
        "first columns",
        "every second row",
        "one row for all",
        "overlapping rows",
        "off by one element",
        "one column",
    ],
)
def test_c012_views_with_whole_rows_equal_their_copies(softmax, name):
    x = view(name, torch.randn(24, 8))
    assert torch.equal(softmax.softmax(x), softmax.softmax(x.contiguous()))


def test_c023_every_element_is_written(softmax, monkeypatch):
    empty = torch.empty
    monkeypatch.setattr(
        torch, "empty", lambda *args, **options: empty(*args, **options).fill_(torch.nan)
    )
    x = torch.randn(9, 100)
    assert error(softmax, softmax.softmax(x), x) <= ULPS[FP32]


def test_c029_empty_shapes_before_and_after_a_launch(softmax):
    for _ in range(2):
        for shape in ((0, 0), (0, 1), (0, 5), (0, 65_536), (1, 0), (3, 0)):
            got = softmax.softmax(torch.empty(shape, dtype=FP16))
            assert got.shape == shape and got.dtype == FP16
        softmax.softmax(torch.zeros(2, 5, dtype=FP16))


@pytest.mark.parametrize("n_cols", [1, 2, 65_535, 65_536])
def test_c046_widths_up_to_the_limit(softmax, n_cols):
    x = torch.randn(2, n_cols)
    assert error(softmax, softmax.softmax(x), x) <= 111 * 2**-24


@pytest.mark.parametrize("n_cols", [65_537, 131_072, 1_048_576, 1_048_577])
def test_c046_wider_names_the_limit_and_what_comes(softmax, n_cols):
    with pytest.raises(
        ValueError,
        match=rf"^x has {n_cols:,} columns, .* at most 65,536; a wider row needs a kernel that loops",
    ):
        softmax.softmax(torch.zeros(1, n_cols))


@pytest.mark.parametrize(
    ("n_cols", "dtype", "num_warps"),
    [
        (1, torch.float32, 1),
        (1024, torch.float16, 2),
        (1024, torch.float32, 4),
        (4096, torch.float32, 16),
        (16_384, torch.float16, 32),
        (65_536, torch.float32, 32),
    ],
)
def test_a_lane_holds_32_bytes_and_a_program_at_most_1024_lanes(
    softmax, monkeypatch, n_cols, dtype, num_warps
):
    launched = {}
    kernel = type(
        "Kernel",
        (),
        {"__getitem__": lambda self, grid: lambda *args, **options: launched.update(options)},
    )()
    monkeypatch.setattr(softmax, "softmax_kernel", kernel)
    softmax.softmax(torch.zeros(2, n_cols, dtype=dtype))
    assert launched["num_warps"] == num_warps


@settings(max_examples=25, deadline=None, database=None, derandomize=True)
@given(
    n_rows=st.integers(1, 5),
    n_cols=st.integers(1, 140),
    gap=st.integers(0, 9),
    start=st.integers(0, 3),
    dtype=st.sampled_from([FP32, FP16]),
    scale=st.sampled_from([0.0, 1.0, 20.0, 3e4]),
    seed=st.integers(0, 99),
)
def test_any_shape_and_stride(softmax, n_rows, n_cols, gap, start, dtype, scale, seed):
    random = torch.Generator().manual_seed(seed)
    room = (
        torch.rand(start + n_rows * (n_cols + gap), generator=random)
        .sub(0.5)
        .mul(2 * scale)
        .to(dtype)
    )
    x = room[start:].view(n_rows, n_cols + gap)[:, :n_cols]
    out = torch.full((n_rows, n_cols + gap + 1), 7, dtype=dtype)
    softmax.softmax(x, out=out[:, :n_cols])
    assert error(softmax, out[:, :n_cols], x) <= ULPS[dtype]
    assert (out[:, n_cols:] == 7).all()


# Order of the programs


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
@pytest.mark.parametrize("in_place", [False, True])
def test_c043_the_order_of_the_programs_does_not_matter(softmax, monkeypatch, order, in_place):
    from triton.runtime.interpreter import interpreter_builder

    x = torch.randn(31, 50)
    want = softmax.softmax(x)
    turns = (
        list(reversed(range(31))) if order == "reversed" else random.Random(0).sample(range(31), 31)
    )
    ran, step = [], interpreter_builder.set_grid_idx
    monkeypatch.setattr(
        interpreter_builder,
        "set_grid_idx",
        lambda i, j, k: (ran.append(turns[i]), step(turns[i], j, k)),
    )
    assert torch.equal(softmax.softmax(x, out=x if in_place else None), want)
    assert ran == turns


# A claim that cannot fail says nothing


def test_c008_zeros_pass_no_claim(softmax, monkeypatch):
    assert passing(judged(softmax, monkeypatch, lambda x, out: out.zero_())) == []


def test_c008_a_constant_passes_no_claim(softmax, monkeypatch):
    assert passing(judged(softmax, monkeypatch, lambda x, out: out.fill_(0.5))) == []


def test_c008_the_mean_of_the_row_passes_no_claim_but_of_one_column(softmax, monkeypatch):
    verdicts = judged(softmax, monkeypatch, lambda x, out: out.fill_(1 / x.shape[1]))
    assert passing(verdicts) == ["one_column_fp32.max_rel_err"]  # where 1 is right


def test_the_library_in_place_of_the_kernel_passes_every_claim(softmax, monkeypatch):
    verdicts = judged(softmax, monkeypatch, lambda x, out: out.copy_(softmax.reference(x)))
    assert passing(verdicts) == list(verdicts)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_c002_one_bad_element_passes_no_claim(softmax, monkeypatch, bad):
    def write(x, out):
        out.copy_(softmax.reference(x))
        finite = out.isfinite().all(dim=1).nonzero()[-1]  # the last row that is not NaN by rule
        out[finite, -1] = bad

    assert set(judged(softmax, monkeypatch, write).values()) == {"nonfinite"}


def test_c002_finite_where_nan_is_right_does_not_pass(softmax, monkeypatch):
    verdicts = judged(
        softmax, monkeypatch, lambda x, out: out.copy_(softmax.reference(x)).nan_to_num_(0.0)
    )
    assert [claim for claim, verdict in verdicts.items() if verdict != "ok"] == [
        "special_fp32.max_rel_err"
    ]
    assert verdicts["special_fp32.max_rel_err"] == "nonfinite"


# A GPU is there only if it is asked for


def test_c049_the_compiler_without_a_gpu_imports_and_says_how_to_run():
    run = subprocess.run(
        [sys.executable, ROOT / "labs" / "triton_softmax.py"],
        env=os.environ | {"TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert (
        run.returncode == 2 and "TRITON_INTERPRET=0" in run.stderr and "Traceback" not in run.stderr
    )
