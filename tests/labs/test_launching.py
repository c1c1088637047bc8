"""Launchers that are incorrect where a learner calls them: each is caught, and the lab's own is not."""

import math
import random
from dataclasses import replace

import judge
import launching
import pytest
import torch
from doubting import changed
from launches import LAUNCHES, add_launch, matmul_launch, softmax_launch
from launching import Launch
from running import ROOT

ADD_STORE = "    tl.store(out_ptr + offsets, x + y, mask=mask)"
ADD_LAUNCH = (
    "            add_kernel[(triton.cdiv(n, BLOCK_SIZE),)](x, y, out, n, BLOCK_SIZE=BLOCK_SIZE)"
)
SOFTMAX_STORE = "    tl.store(out_ptr + row * stride_om + cols, y, mask=mask)"
SOFTMAX_LAUNCH = (
    "            softmax_kernel[(n_rows,)](x, out, n_cols, x.stride(0), out.stride(0), **options)"
)
MATMUL_LAUNCH = (
    "            matmul_kernel[grid](a, b, out, M, N, K, *strides, INPUT_PRECISION=input_precision)"
)
STRIDES = "(*a.stride(), *b.stride(), *out.stride())"

PART_1 = {
    "triton_vector_add": add_launch,
    "triton_softmax": softmax_launch,
    "triton_matmul": matmul_launch,
}
PLANTED = {  # in the lab's own text: (lab, old, new)
    "stores before it loads": (
        "triton_vector_add",
        "    y = tl.load(y_ptr + offsets, mask=mask, other=0)\n",
        "    tl.store(out_ptr + offsets, x, mask=mask)\n"
        "    y = tl.load(y_ptr + offsets, mask=mask, other=0)\n",
    ),
    "wrong from 1,025 to 4,095": (
        "triton_vector_add",
        ADD_STORE,
        "    if (n_elements > 1024) & (n_elements < 4096):\n"
        "        mask = mask & (offsets < 1024)\n" + ADD_STORE,
    ),
    "leaves out the last of 1,024 k + 1": (
        "triton_vector_add",
        ADD_STORE,
        "    if (n_elements % BLOCK_SIZE == 1) & (n_elements > 1):\n"
        "        mask = offsets < n_elements - 1\n" + ADD_STORE,
    ),
    "takes int8 for bits": (
        "triton_vector_add",
        ADD_STORE,
        "    if x.dtype == tl.int8:\n"
        "        tl.store(out_ptr + offsets, x | y, mask=mask)\n"
        "    else:\n    " + ADD_STORE,
    ),
    "needs no kernel": ("triton_vector_add", ADD_LAUNCH, "            torch.add(x, y, out=out)"),
    "launches a kernel that is not needed": (
        "triton_vector_add",
        ADD_LAUNCH,
        ADD_LAUNCH + "\n            torch.add(x, y, out=out)",
    ),
    "returns an input": (
        "triton_vector_add",
        "        return torch.empty_like(x)\n",
        "        return x\n",
    ),
    "uniform from 1,026 to 65,535 columns": (
        "triton_softmax",
        SOFTMAX_STORE,
        "    y = tl.where((n_cols > 1025) & (n_cols < 65536), 1.0 / n_cols, y)\n" + SOFTMAX_STORE,
    ),
    "halved at powers of two": (
        "triton_softmax",
        SOFTMAX_STORE,
        "    y = tl.where((n_cols == BLOCK_SIZE) & (n_cols > 2) & (n_cols < 65536), y * 0.5, y)\n"
        + SOFTMAX_STORE,
    ),
    "small values of fp16 flushed": (
        "triton_softmax",
        SOFTMAX_STORE,
        "    if x_ptr.dtype.element_ty == tl.float16:\n"
        "        y = tl.where(y < 4e-4, 0.0, y)\n" + SOFTMAX_STORE,
    ),
    "NaN of fp16 dropped": (
        "triton_softmax",
        SOFTMAX_STORE,
        "    if x_ptr.dtype.element_ty == tl.float16:\n"
        "        y = tl.where(y == y, y, 0.0)\n" + SOFTMAX_STORE,
    ),
    "row stride of fp16 ignored": (
        "triton_softmax",
        "row * stride_xm + cols",
        "row * (n_cols if x_ptr.dtype.element_ty == tl.float16 else stride_xm) + cols",
    ),
    "softmax of a library": (
        "triton_softmax",
        SOFTMAX_LAUNCH,
        "            out.copy_(torch.softmax(x, -1))",
    ),
    "strides of fp32 a ignored": (
        "triton_matmul",
        STRIDES,
        "(*((K, 1) if a.dtype == torch.float32 else a.stride()), *b.stride(), *out.stride())",
    ),
    "strides of fp32 out ignored": (
        "triton_matmul",
        STRIDES,
        "(*a.stride(), *b.stride(), *((N, 1) if a.dtype == torch.float32 else out.stride()))",
    ),
    "expanded b read as dense": (
        "triton_matmul",
        STRIDES,
        "(*a.stride(), b.stride(0) or N, b.stride(1) or 1, *out.stride())",
    ),
    "wrong from the thirtieth call on": (
        "triton_matmul",
        MATMUL_LAUNCH,
        MATMUL_LAUNCH + "\n            CONFIGS.append(None)\n"
        "            out.add_(len(CONFIGS) > 34)",
    ),
}


@pytest.fixture
def launch(lab, request) -> Launch:
    """The launcher of this name."""
    return LAUNCHES[request.param](lab(f"triton_{request.param.partition('.')[0]}"))


@pytest.mark.parametrize("launch", LAUNCHES, indirect=True)
def test_the_lab_s_own_launcher_is_correct(launch):
    assert launch.faults() == "none"


@pytest.mark.parametrize("launch", LAUNCHES, indirect=True)
def test_no_incorrect_launcher_gets_through(launch):
    assert launch.escaped() == "none"


@pytest.mark.parametrize("name", PLANTED)
def test_a_launcher_with_a_fault_is_caught(tmp_path, name):
    stem, old, new = PLANTED[name]
    source = (ROOT / "labs" / f"{stem}.py").read_text(encoding="utf-8")
    assert source.count(old) == 1
    wrong = changed(tmp_path / f"{stem}.py", source.replace(old, new))
    assert PART_1[stem](wrong).faults() != "none"


def test_a_fault_names_path_and_sizes(lab):
    launch = add_launch(lab("triton_vector_add"))
    wrong = replace(launch, function=launching.answers_none(launch))
    assert wrong.faults() == "result_alone: n=100, dtype=float32: returned NoneType, not a tensor"


def test_what_gets_through_is_named(lab):
    launch = replace(add_launch(lab("triton_vector_add")), aliases=())
    assert launch.escaped() == "stores_first"


def test_a_small_row_beside_a_large_one_is_judged_by_itself(lab):
    launch = softmax_launch(lab("triton_softmax"))
    got = torch.tensor([[1e6, 1e6], [1.0, 2.0]])
    same = replace(launch, reference=lambda x: x)
    launching.require_close(same, {}, got.clone(), (got,))
    with pytest.raises(launching.Incorrect, match="a row is past its bound"):
        launching.require_close(same, {}, got + torch.tensor([[0.0], [0.5]]), (got,))


def test_sizes_lie_between_all_powers_of_two():
    drawn = list(launching.octaves(random.Random(0), 8192))
    assert [size.bit_length() for size in drawn[:-2]] == list(range(2, 14))
    assert math.log2(drawn[-2]).is_integer() and drawn[-1] % 1024 == 1


# The arithmetic of the judge, against values worked out by hand


def test_errors_are_the_largest_and_relative_to_the_largest_reference():
    got, want = torch.tensor([1.0, 4.5]), torch.tensor([1.25, 4.0])
    assert judge.compare([(got, want)]) == judge.Comparison(0.5, 0.125, 0, 4.0)


def test_the_percentiles_of_a_side_are_those_of_its_sorted_times():
    timing = judge.timing("copy", [3.0, 1.0, 2.0, 5.0, 4.0, 9.0, 8.0, 7.0, 6.0, 10.0], 12.0, "B")
    assert (timing.p10_ms, timing.median_ms, timing.p90_ms) == (2.0, 6.0, 10.0)


def test_a_ratio_is_that_of_work_per_second(monkeypatch):
    times = iter([[2.0], [3.0], [2.0], [2.0], [2.0], [4.0]])
    monkeypatch.setattr(judge.triton.testing, "do_bench", lambda *_, **__: next(times))
    ratio = judge.benchmark_pair(("ours", bool), ("theirs", bool), work=(3, 2), rounds=3)
    assert (ratio.low, ratio.value, ratio.high) == (1.5, 2.25, 3.0)
