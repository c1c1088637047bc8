"""What triton_matmul does not claim of itself: bad arguments, the cases by their ids, any shape, any program order."""

import json
import os
import subprocess
import sys
from pathlib import Path

import judge as instrument  # labs/judge.py
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.evidence.targets import SWITCHES

ROOT = Path(__file__).parents[2]
FP32, FP16 = torch.float32, torch.float16


@pytest.fixture(scope="module")
def matmul(lab):
    return lab("triton_matmul")


def right(matmul, got, a, b):
    """Whether got is a @ b but for one rounding to the dtype and, for each of K additions, 2**-24 of what it adds up."""
    seen = instrument.compare([(got, matmul.reference(a, b))])
    room = {FP32: 2**-24, FP16: 2**-11}[
        a.dtype
    ] * seen.scale + 2**-25  # which fp16 loses below 2**-14
    sums = matmul.reference(a.abs(), b.abs()).max().item() if got.numel() else 0
    return seen.nonfinite == 0 and seen.max_abs_err <= room + a.shape[1] * 2**-24 * sums


# Bad arguments


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.int8, torch.int32, torch.bool, torch.complex64]
)
def test_other_dtypes_are_refused(matmul, dtype):
    a = torch.zeros(2, 2, dtype=dtype)
    with pytest.raises(
        TypeError, match=rf"^a is {dtype}; allowed here: torch\.float16, torch\.float32$"
    ):
        matmul.matmul(a, a)


def test_c006_bf16_is_refused_in_the_interpreter(matmul):
    a = torch.randint(-2, 3, (16, 16)).bfloat16()
    with pytest.raises(TypeError, match=r"^a is torch\.bfloat16; allowed here"):
        matmul.matmul(a, a)


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (2, 3)),
        ((2, 3), (4, 2)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((1, 2, 3), (3, 2)),
        ((), ()),
    ],
)
def test_shapes_that_do_not_fit_are_both_named(matmul, shapes):
    a, b = map(torch.zeros, shapes)
    with pytest.raises(ValueError) as refusal:
        matmul.matmul(a, b)
    assert (
        str(refusal.value)
        == f"a has shape {shapes[0]} and b has shape {shapes[1]}; they must be (M, K) and (K, N)"
    )


def test_b_must_have_the_dtype_of_a(matmul):
    with pytest.raises(
        TypeError, match=r"^b is torch\.float16; it must be torch\.float32, as a is$"
    ):
        matmul.matmul(torch.zeros(2, 2), torch.zeros(2, 2).half())


def test_out_must_have_the_dtype_of_a(matmul):
    with pytest.raises(
        TypeError, match=r"^out is torch\.float32; it must be torch\.float16, as a is$"
    ):
        matmul.matmul(torch.zeros(2, 2).half(), torch.zeros(2, 2).half(), out=torch.zeros(2, 2))


@pytest.mark.parametrize("shape", [(3, 2), (2,), (2, 4), (1, 2, 3)])
def test_out_must_have_the_shape_of_the_product(matmul, shape):
    with pytest.raises(ValueError) as refusal:
        matmul.matmul(torch.zeros(2, 5), torch.zeros(5, 3), out=torch.zeros(shape))
    assert str(refusal.value) == f"out has shape {shape}; it must have (2, 3)"


@pytest.mark.parametrize("name", ["a", "b", "out"])
def test_c048_a_tensor_elsewhere_is_named(matmul, name):
    tensors = {
        key: torch.zeros(4, 4, device="meta" if key == name else "cpu") for key in ("a", "b", "out")
    }
    with pytest.raises(
        ValueError, match=rf"^{name} is on meta; this run needs every tensor on one cpu device"
    ):
        matmul.matmul(**tensors)


@pytest.mark.parametrize(
    "out",
    [
        torch.zeros(1, 3).expand(4, 3),
        torch.zeros(4, 1).expand(4, 3),
        torch.zeros(9).as_strided((4, 3), (2, 1)),
    ],
)
def test_c012_out_must_not_overlap_itself(matmul, out):
    with pytest.raises(ValueError, match=r"^out has strides \(\d, \d\), so its elements overlap: "):
        matmul.matmul(torch.zeros(4, 5), torch.zeros(5, 3), out=out)


@pytest.mark.parametrize("name", ["a", "b"])
def test_out_must_not_share_memory_with_a_factor(matmul, name):
    room = torch.zeros(64)
    factors = {
        key: room[:16].view(4, 4) if key == name else torch.zeros(4, 4) for key in ("a", "b")
    }
    with pytest.raises(ValueError, match=rf"^out overlaps {name}, which is still being read: "):
        matmul.matmul(**factors, out=room[4:20].view(4, 4))


@pytest.mark.parametrize("precision", ["tf33", "TF32", None, True])
def test_c014_only_named_precisions(matmul, precision):
    with pytest.raises(ValueError) as refusal:
        matmul.matmul(torch.zeros(2, 2), torch.zeros(2, 2), input_precision=precision)
    assert str(refusal.value) == f"input_precision is {precision!r}; allowed: ieee, tf32, tf32x3"


def test_c014_the_precision_that_was_named_is_what_is_compiled(tmp_path):
    script = """if True:
        import json, sys
        from proof.book.model import Kernel
        from proof.compiler.child import code_text, kernels_of, load_lab
        known = kernels_of(load_lab(sys.argv[1], "triton_matmul"))
        for row in map(Kernel.model_validate, json.loads(sys.stdin.read())):
            print(row.constants["INPUT_PRECISION"], ".tf32" in code_text(known, row))
    """
    filed = max((ROOT / "labs" / "records" / "nvidia-h200" / "triton_matmul").glob("*.json"))
    rows = {
        row["constants"]["INPUT_PRECISION"]: row
        for row in json.loads(filed.read_text(encoding="utf-8"))["kernels"]
        if row["signature"]["a_ptr"] == "*fp32"
    }
    env = (
        os.environ
        | SWITCHES
        | {"PYTHONPATH": str(ROOT), "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    )
    done = subprocess.run(
        [sys.executable, "-c", script, ROOT / "labs" / "triton_matmul.py"],
        input=json.dumps(list(rows.values())),
        env=env,
        capture_output=True,
        text=True,
    )
    assert set(done.stdout.splitlines()) == {"ieee False", "tf32 True", "tf32x3 True"}, done.stderr


def test_c021_more_rows_than_the_kernel_counts_are_refused_before_anything_is_allocated(matmul):
    with pytest.raises(
        ValueError, match=r"^a has shape \(2147483648, 1\); no size may pass 2,147,483,392: "
    ):
        matmul.matmul(torch.zeros(1, 1).expand(2**31, 1), torch.zeros(1, 1))


# Right results


@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_the_result_is_out_in_the_dtype_of_the_factors_which_stay(matmul, dtype):
    a, b = torch.randn(5, 6).to(dtype), torch.randn(6, 7).to(dtype)
    before, out = (a.clone(), b.clone()), torch.empty(5, 7, dtype=dtype)
    assert matmul.matmul(a, b, out=out) is out
    assert torch.equal(a, before[0]) and torch.equal(b, before[1])
    assert matmul.matmul(a, b).dtype == dtype


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 128, 1), (129, 65, 33), (17, 33, 7), (64, 64, 8)])
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c013_ragged_shapes_between_nan_twice(matmul, shape, dtype):
    M, N, K = shape
    guards = instrument.Guards()
    a, b = (guards.input(torch.randn(size).to(dtype)) for size in ((M, K), (K, N)))
    first, second = matmul.matmul(a, b), matmul.matmul(a, b)
    assert right(matmul, first, a, b)
    assert torch.equal(first, second) and guards.untouched()


def test_c014_full_precision_at_512_cubed(matmul):
    claims = {claim.id: claim for claim in matmul.CLAIMS}
    assert claims["cube_fp32_ieee.max_rel_err"].bound <= 1e-5
    for precision in ("ieee", "tf32", "tf32x3"):
        claim = claims[f"cube_fp32_{precision}.max_rel_err"]
        assert claim.args.get("input_precision", "ieee") == precision


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # it is meant
def test_fp16_overflows_to_infinity_as_in_torch(matmul):
    a = torch.full((3, 64), 100.0).half()
    a[1] = -a[1]
    a[2] = 1
    got = matmul.matmul(a, torch.full((64, 2), 100.0).half())
    assert got.tolist() == [[torch.inf] * 2, [-torch.inf] * 2, [6400.0] * 2]


def view(name, rows, cols):
    """A view of this shape that lies unusually in memory."""
    return {
        "transposed": lambda: torch.randn(cols, rows).t(),
        "every second column": lambda: torch.randn(rows, 2 * cols)[:, ::2],
        "first columns": lambda: torch.randn(rows, cols + 5)[:, :cols],
        "one row for all": lambda: torch.randn(1, cols).expand(rows, cols),
        "one column for all": lambda: torch.randn(rows, 1).expand(rows, cols),
        "one element for all": lambda: torch.randn(1, 1).expand(rows, cols),
        "overlapping rows": lambda: torch.randn(2 * rows + cols).as_strided((rows, cols), (2, 1)),
        "reversed dims": lambda: torch.randn(cols, 3, rows).permute(2, 1, 0)[:, 1],
        "off by one element": lambda: torch.randn(rows * cols + 1)[1:].view(rows, cols),
    }[name]()


VIEWS = [
    "transposed",
    "every second column",
    "first columns",
    "one row for all",
    "one column for all",
]
VIEWS += ["one element for all", "overlapping rows", "reversed dims", "off by one element"]


@pytest.mark.parametrize("name", VIEWS)
def test_c012_views_equal_their_copies(matmul, name):
    a, b = view(name, 20, 40), view(name, 40, 70)
    assert torch.equal(matmul.matmul(a, b), matmul.matmul(a.contiguous(), b.contiguous()))


@pytest.mark.parametrize(
    "name",
    ["transposed", "every second column", "first columns", "reversed dims", "off by one element"],
)
def test_c012_out_may_be_a_view(matmul, name):
    a, b, out = torch.randn(20, 40), torch.randn(40, 70), view(name, 20, 70)
    assert torch.equal(matmul.matmul(a, b, out=out), matmul.matmul(a, b))


def test_c023_every_element_is_written(matmul, dirty):
    a, b = torch.randn(70, 9), torch.randn(9, 130)
    assert torch.empty(3).isnan().all()
    assert right(matmul, matmul.matmul(a, b), a, b)


def test_c029_empty_shapes_before_and_after_a_launch(matmul):
    for _ in range(2):
        for M, N, K in ((0, 0, 0), (0, 3, 2), (3, 0, 2), (0, 0, 2)):
            got = matmul.matmul(torch.empty(M, K), torch.empty(K, N))
            assert got.shape == (M, N) and got.dtype == FP32
        assert torch.equal(matmul.matmul(torch.empty(3, 0), torch.empty(0, 70)), torch.zeros(3, 70))
        matmul.matmul(torch.zeros(5, 2), torch.zeros(2, 5))


@settings(max_examples=25, deadline=None, database=None, derandomize=True)
@given(
    M=st.integers(1, 80),
    N=st.integers(1, 80),
    K=st.integers(0, 80),
    views=st.tuples(*[st.sampled_from(VIEWS)] * 2),
    dtype=st.sampled_from([FP32, FP16]),
    scale=st.sampled_from([1.0, 1e-3, 20.0]),
    precision=st.sampled_from(["ieee", "tf32", "tf32x3"]),
)
def test_any_shape_and_stride_against_float64(matmul, M, N, K, views, dtype, scale, precision):
    a, b = view(views[0], M, K).mul(scale).to(dtype), view(views[1], K, N).to(dtype)
    out = torch.full((M + 1, N + 2), 7, dtype=dtype)
    matmul.matmul(a, b, out=out[:M, 1 : N + 1], input_precision=precision)
    assert right(matmul, out[:M, 1 : N + 1], a, b)
    out[:M, 1 : N + 1] = 7
    assert (out == 7).all()


# The tuner


def test_c007_tuning_leaves_the_factors_alone_and_the_same_result(matmul, monkeypatch, dirty):
    import triton

    trials = []

    def trial(launch, quantiles):
        launch(), launch()
        trials.append(launch)
        return [len(trials), 0, 0]

    prune = {"early_config_prune": matmul.worth_trying}
    tune = triton.autotune(
        configs=matmul.CONFIGS,
        key=matmul.matmul_kernel.keys,
        prune_configs_by=prune,
        do_bench=trial,
    )
    monkeypatch.setattr(matmul, "matmul_kernel", tune(matmul.matmul_kernel.fn))
    a, b = torch.randn(300, 20).half(), torch.randn(20, 300).half()
    before = a.clone(), b.clone()
    first = matmul.matmul(a, b)
    assert len(trials) == len(matmul.CONFIGS)
    assert torch.equal(matmul.matmul(a, b), first) and right(matmul, first, a, b)
    assert torch.equal(a, before[0]) and torch.equal(b, before[1])
    assert len(trials) == len(matmul.CONFIGS)  # the second call found its key
    matmul.matmul(a.float(), b.float())
    matmul.matmul(a.float(), b.float(), input_precision="tf32")
    light = [
        c
        for c in matmul.CONFIGS
        if c.kwargs["BLOCK_M"] * c.kwargs["BLOCK_N"] <= 64 * 32 * c.num_warps
    ]
    assert len(trials) == len(matmul.CONFIGS) + 2 * len(light)


def test_c024_each_configuration_alone(matmul, monkeypatch, dirty):
    a, b = torch.randn(130, 70).half(), torch.randn(70, 90).half()
    for one in matmul.CONFIGS:
        monkeypatch.setattr(matmul.matmul_kernel, "configs", [one])
        assert right(matmul, matmul.matmul(a, b), a, b), one


def test_the_key_holds_all_that_changes_which_is_fastest(matmul):
    assert matmul.matmul_kernel.keys == ["M", "N", "K", "INPUT_PRECISION"]


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [
        (FP16, (1, 1)),
        (FP32, (1, 1)),
        (FP16, (4096, 4096)),
        (FP32, (4096, 4096)),
        (FP16, (1, 4096)),
        (FP32, (4096, 65)),
    ],
)
def test_pruning_leaves_a_tile_no_larger_than_the_matrix_and_light_enough_for_fp32(
    matmul, dtype, sizes
):
    left = matmul.worth_trying(
        matmul.CONFIGS,
        {"a_ptr": torch.empty(1, dtype=dtype), "M": sizes[0], "N": sizes[1]},
        INPUT_PRECISION="ieee",
    )
    assert matmul.CONFIGS[0] in left
    for one in left:
        block_m, block_n = one.kwargs["BLOCK_M"], one.kwargs["BLOCK_N"]
        assert block_m < max(2 * sizes[0], 65) and block_n < max(2 * sizes[1], 65)
        assert dtype == FP16 or block_m * block_n <= 64 * 32 * one.num_warps
    if sizes == (4096, 4096) and dtype == FP16:
        assert left == matmul.CONFIGS


# Order of the programs


def test_c043_the_order_of_the_programs_does_not_matter(matmul, other_order):
    a, b = torch.randn(64 * 9 + 1, 40), torch.randn(40, 130)
    got = matmul.matmul(a, b)
    assert right(matmul, got, a, b)
    assert len(other_order) == 30 and other_order != sorted(other_order)


@pytest.mark.parametrize("tiles", [(1, 1), (3, 2), (8, 3), (9, 4), (17, 5), (5, 1), (1, 5)])
def test_the_grouped_order_gives_every_tile_to_one_program(matmul, tiles):
    M, N = (64 * n - 1 for n in tiles)
    out = torch.full((M, N), torch.nan, dtype=FP16)
    matmul.matmul(torch.ones(M, 1, dtype=FP16), torch.ones(1, N, dtype=FP16), out=out)
    assert (out == 1).all()
