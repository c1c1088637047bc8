"""Every kernel of the labs that is within the subset leaves what Triton's interpreter leaves."""

import random

import pytest
from both import Both, Data, both, different, lab_source, largest_gap

EPS = 2.0**-24  # half of an ulp of 1 in fp32


def numbers(count: int, seed: int = 0, spread: float = 3.0) -> list[float]:
    """Normal numbers that fp32 holds."""
    from play import dtypes

    draw = random.Random(seed)
    return dtypes.to_float32([draw.gauss(0, spread) for _ in range(count)])


def identical(found: Both, name: str) -> None:
    assert found.report.lines("en") == []
    assert different(found, name) == []


def close(found: Both, name: str, bound: float) -> None:
    assert found.report.lines("en") == []
    assert largest_gap(found, name) <= bound


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int32", "int64"])
def test_vector_add(dtype):
    x, y = numbers(300, 1, 20), numbers(300, 2, 20)
    if dtype.startswith("int"):
        x, y = [int(v) for v in x], [int(v) for v in y]
    found = both(
        lab_source("triton_vector_add", "add_kernel"), "add_kernel", (3,),
        x_ptr=Data(x, dtype), y_ptr=Data(y, dtype), out_ptr=Data(None, dtype, (300,)),
        n_elements=300, BLOCK_SIZE=128,
    )  # fmt: skip
    identical(found, "out_ptr")


def test_softmax():
    found = both(
        lab_source("triton_softmax", "softmax_kernel"), "softmax_kernel", (5,),
        x_ptr=Data(numbers(5 * 77), shape=(5, 77)), out_ptr=Data(None, shape=(5, 77)),
        n_cols=77, stride_xm=77, stride_om=77, BLOCK_SIZE=128,
    )  # fmt: skip
    close(found, "out_ptr", 128 * EPS)  # 77 additions and an exp that either rounds in its own way


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_matmul(dtype):
    M, N, K = 33, 20, 40
    found = both(
        lab_source("triton_matmul", "matmul_kernel"), "matmul_kernel", (6,),
        a_ptr=Data(numbers(M * K, 1, 1), dtype, (M, K)), b_ptr=Data(numbers(K * N, 2, 1), dtype, (K, N)),
        c_ptr=Data(None, dtype, (M, N)), M=M, N=N, K=K,
        stride_am=K, stride_ak=1, stride_bk=N, stride_bn=1, stride_cm=N, stride_cn=1,
        INPUT_PRECISION="ieee", BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, GROUP_M=2,
    )  # fmt: skip
    largest = max(map(abs, found.interpreted["c_ptr"]))
    rounding = 2.0**-11 if dtype == "float16" else 0
    close(found, "c_ptr", (K * EPS + rounding) * largest * 2)


SCALE = dict(n_elements=130, factor=0.3, BLOCK_SIZE=64)


def test_lab_notes_scale():
    found = both(
        lab_source("triton_lab_notes", "scale_kernel"), "scale_kernel", (3,),
        x_ptr=Data(numbers(130)), out_ptr=Data(None, shape=(130,)), **SCALE,
    )  # fmt: skip
    identical(found, "out_ptr")


def test_lab_notes_accumulate():
    x = numbers(650)
    found = both(
        lab_source("triton_lab_notes", "accumulate_kernel"), "accumulate_kernel", (6,),
        x_ptr=Data(x), total_ptr=Data([0.0]), n_elements=650, bucket=1024, BLOCK_SIZE=128,
    )  # fmt: skip
    close(found, "total_ptr", 650 * EPS * sum(map(abs, x)))


def test_lab_notes_dot():
    M, N, K = 20, 33, 24
    found = both(
        lab_source("triton_lab_notes", "dot_kernel"), "dot_kernel", (6,),
        a_ptr=Data(numbers(M * K, 1, 1), shape=(M, K)), b_ptr=Data(numbers(K * N, 2, 1), shape=(K, N)),
        c_ptr=Data(None, shape=(M, N)), M=M, N=N, K=K, stride_am=K, stride_bk=N, stride_cm=N,
        BLOCK_M=16, BLOCK_N=16, BLOCK_K=16,
    )  # fmt: skip
    close(found, "c_ptr", 2 * K * EPS * max(map(abs, found.interpreted["c_ptr"])))


@pytest.mark.parametrize("tree", [True, False])
def test_numerics_sum(tree):
    found = both(
        lab_source("triton_numerics", "sum_kernel"), "sum_kernel", (4,),
        x_ptr=Data(numbers(13 * 50), shape=(13, 50)), out_ptr=Data(None, shape=(13,)),
        n_rows=13, n_cols=50, TREE=tree, ROWS=4, COLS=64,
    )  # fmt: skip
    if tree:
        close(found, "out_ptr", 50 * EPS * 150)
    else:
        identical(found, "out_ptr")


def test_numerics_total():
    x = numbers(650)
    found = both(
        lab_source("triton_numerics", "total_kernel"), "total_kernel", (6,),
        x_ptr=Data(x), out_ptr=Data([0.0]), n_elements=650, BLOCK=128,
    )  # fmt: skip
    close(found, "out_ptr", 650 * EPS * sum(map(abs, x)))


def test_numerics_linear():
    M, N, K = 20, 17, 40
    found = both(
        lab_source("triton_numerics", "linear_kernel"), "linear_kernel", (4,),
        x_ptr=Data(numbers(M * K, 1, 1), shape=(M, K)), weight_ptr=Data(numbers(N * K, 2, 1), shape=(N, K)),
        out_ptr=Data(None, shape=(M, N)), M=M, N=N, K=K, INPUT_PRECISION="ieee",
        BLOCK_M=16, BLOCK_N=16, BLOCK_K=16,
    )  # fmt: skip
    close(found, "out_ptr", 2 * K * EPS * max(map(abs, found.interpreted["out_ptr"])))


@pytest.mark.parametrize("op", ["exp", "div", "div_rn"])
def test_numerics_apply(op):
    found = both(
        lab_source("triton_numerics", "apply_kernel"), "apply_kernel", (2,),
        x_ptr=Data(numbers(200, 1)), y_ptr=Data(numbers(200, 2)), out_ptr=Data(None, shape=(200,)),
        n_elements=200, OP=op, BLOCK=128,
    )  # fmt: skip
    if op == "exp":  # correctly rounded here, within an ulp or two there
        assert (
            max(
                abs(a - b) / b
                for a, b in zip(found.played["out_ptr"], found.interpreted["out_ptr"], strict=True)
            )
            <= 4 * 2 * EPS
        )
    else:
        identical(found, "out_ptr")


def test_numerics_logsumexp():
    found = both(
        lab_source("triton_numerics", "logsumexp_kernel"), "logsumexp_kernel", (13,),
        x_ptr=Data(numbers(13 * 50), shape=(13, 50)), out_ptr=Data(None, shape=(13,)), n_cols=50, COLS=64,
    )  # fmt: skip
    close(found, "out_ptr", 64 * EPS * 16)


@pytest.mark.parametrize("how", ["shifted", "welford", "one_pass", "two_pass"])
def test_numerics_layer_norm(how):
    found = both(
        lab_source("triton_numerics", "merge", "layer_norm_kernel"), "layer_norm_kernel", (6,),
        x_ptr=Data(numbers(6 * 50), shape=(6, 50)), weight_ptr=Data(numbers(50, 1)),
        bias_ptr=Data(numbers(50, 2)), out_ptr=Data(None, shape=(6, 50)), n_cols=50, eps=1e-5, HOW=how, COLS=64,
    )  # fmt: skip
    close(found, "out_ptr", 64 * EPS * 16)
