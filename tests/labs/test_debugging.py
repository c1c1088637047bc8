"""The debugging lab beyond its own claims: bad arguments, and which of its faults no run in the interpreter shows."""

import os
import subprocess
import sys

import pytest
import torch
from judge import Claim, Guards, claim_named, compare, judge_claim, lab_file, load_lab, plant
from poison import poisoned
from process import run_in_process
from sanitizer import find_sanitizer, read_report

FP32, FP16, INT32 = torch.float32, torch.float16, torch.int32


@pytest.fixture
def debugging(lab):
    return lab("triton_debugging")


@pytest.fixture
def broken(debugging, tmp_path):
    """broken("race") is the lab with that bug planted; broken(old, new) with that change to its text."""

    def load(old, new=None):
        text = lab_file(debugging).read_text(encoding="utf-8")
        if new is None:
            text = plant(text, next(bug for bug in debugging.BUGS if bug.name == old))
        else:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / lab_file(debugging).name
        path.write_text(text, encoding="utf-8")
        return load_lab(path)

    return load


def verdicts(lab):
    """Of every error claim that the interpreter judges and that does not end the process: how it ends."""
    judged_here = [claim for claim in lab.CLAIMS if claim.kind == "error" and claim.judges == "any"]
    claims = [claim for claim in judged_here if "alone" not in claim.id]
    assert len(claims) >= 5
    return {judge_claim(lab, claim)["verdict"] for claim in claims}


def judged(lab, claim_id):
    """The row of a claim."""
    return judge_claim(lab, claim_named(lab, claim_id))


# Bad arguments


@pytest.mark.parametrize("dtype", [torch.float64, INT32, torch.bool])
def test_matmul_names_a_dtype_that_it_does_not_take(debugging, dtype):
    x = torch.zeros(4, 4, dtype=dtype)
    with pytest.raises(
        TypeError, match=rf"a is {dtype}; allowed here: torch\.float16, torch\.float32"
    ):
        debugging.matmul(x, x)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ((2, 3), (2, 3), r"b has shape \(2, 3\); it must have \(3, 3\)"),
        ((3,), (3, 2), r"a has shape \(3,\); it must be 2-D"),
        ((2, 3), (3,), r"b has shape \(3,\); it must be 2-D"),
        ((2, 3, 4), (4, 5), r"a has shape \(2, 3, 4\); it must be 2-D"),
    ],
)
def test_matrices_that_do_not_fit_together(debugging, a, b, reason):
    with pytest.raises(ValueError, match=reason):
        debugging.matmul(torch.zeros(a), torch.zeros(b))


def test_c012_rows_may_lie_apart_and_elements_of_a_row_may_not(debugging):
    a, b = torch.arange(64.0).view(8, 8), torch.arange(64.0).view(8, 8).flip(0)
    for view in (a[:, 1:6], a[::2, :5], a[:1, :5].expand(8, 5)):
        assert torch.equal(debugging.matmul(view, b[:5]), view @ b[:5])
    for view in (a.t(), a[:, ::2]):
        with pytest.raises(ValueError, match=r"a has strides .* pass a\.contiguous\(\)"):
            debugging.matmul(view, b[: view.shape[1]])
        with pytest.raises(ValueError, match=r"b has strides .* pass b\.contiguous\(\)"):
            debugging.matmul(b[:, : view.shape[0]], view)


def test_c012_an_output_with_two_elements_in_one_place_is_refused(debugging):
    a, b = torch.ones(3, 4), torch.ones(4, 5)
    with pytest.raises(ValueError, match=r"out has strides .*, so its elements overlap"):
        debugging.matmul(a, b, out=torch.zeros(1, 5).expand(3, 5))
    with pytest.raises(ValueError, match="out overlaps a, which is still being read"):
        debugging.matmul(square := torch.ones(4, 4), torch.ones(4, 4), out=square)
    with pytest.raises(ValueError, match=r"out has shape \(5, 3\); it must have \(3, 5\)"):
        debugging.matmul(a, b, out=torch.zeros(5, 3))
    with pytest.raises(TypeError, match=r"out is torch\.float16; allowed here: torch\.float32"):
        debugging.matmul(a, b, out=torch.zeros(3, 5, dtype=FP16))


def test_c048_a_tensor_elsewhere_is_named(debugging):
    with pytest.raises(
        ValueError, match="b is on meta; this run needs every tensor on one cpu device"
    ):
        debugging.matmul(torch.zeros(2, 2), torch.zeros(2, 2, device="meta"))
    with pytest.raises(ValueError, match="x is on meta"):
        debugging.count(torch.zeros(2, dtype=INT32, device="meta"), 2)


@pytest.mark.parametrize("n_bins", [0, -1, 129, 2.0, "8"])
def test_the_number_of_bins_has_a_limit(debugging, n_bins):
    with pytest.raises(ValueError, match=r"n_bins is .*; it must be a whole number from 1 to 128"):
        debugging.count(torch.zeros(4, dtype=INT32), n_bins)


def test_what_count_does_not_take(debugging):
    x = torch.zeros(4, dtype=INT32)
    with pytest.raises(TypeError, match=r"x is torch\.int64; allowed here: torch\.int32"):
        debugging.count(x.long(), 2)
    with pytest.raises(TypeError, match=r"out is torch\.float32; allowed here: torch\.int32"):
        debugging.count(x, 2, out=torch.zeros(2))
    with pytest.raises(ValueError, match=r"x has strides \(2,\).* pass x\.contiguous\(\)"):
        debugging.count(x[::2], 2)
    with pytest.raises(ValueError, match=r"out has shape \(3,\); it must have \(2,\)"):
        debugging.count(x, 2, out=torch.zeros(3, dtype=INT32))
    with pytest.raises(ValueError, match="out overlaps x, which is still being read"):
        debugging.count(x, 4, out=x)


@pytest.mark.parametrize(
    "wrong", [[[1.0]], 2.0, "x", torch.eye(2).to_sparse()], ids=["list", "float", "str", "sparse"]
)
def test_an_argument_that_is_no_dense_tensor_is_named(debugging, wrong):
    good, what = (
        torch.ones(2, 2),
        rf"{type(wrong).__name__}; it must be a torch.Tensor with strides",
    )
    for name in ("a", "b", "out"):
        with pytest.raises(TypeError, match=f"^{name} is {what}"):
            debugging.matmul(**dict(a=good, b=good, out=good) | {name: wrong})
    for name in ("x", "out"):
        with pytest.raises(TypeError, match=f"^{name} is {what}"):
            debugging.count(**dict(x=good.int(), n_bins=2, out=good.int()) | {name: wrong})


# Right results at every size


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 128, 1), (17, 33, 7), (64, 64, 32), (65, 64, 33), (0, 3, 2), (3, 0, 2)]
)
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c013_matmul_takes_any_size(debugging, shape, dtype):
    pairs = debugging.matmul_error(Guards(), *shape, dtype=dtype)
    assert compare(pairs).max_rel_err <= 2**-11 + shape[2] * 2**-23


def test_c029_a_product_over_nothing_is_zero(debugging):
    assert torch.equal(debugging.matmul(torch.zeros(3, 0), torch.zeros(0, 2)), torch.zeros(3, 2))


@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1000])
@pytest.mark.parametrize("n_bins", [1, 3, 128])
def test_count_takes_any_size(debugging, n, n_bins):
    x = torch.arange(n, dtype=INT32) % n_bins
    assert torch.equal(debugging.count(x, n_bins), torch.bincount(x, minlength=n_bins).int())


def test_values_that_are_no_bin_are_counted_nowhere(debugging):
    x = torch.tensor([-1, 0, 2, 3, 4, 2**31 - 1, -(2**31)], dtype=INT32)
    assert debugging.count(x, 3).tolist() == [
        1,
        0,
        1,
    ]  # 3 lies below the next power of two, 4 at it


# What the interpreter shows, and what it hides


def test_c006_bf16_is_refused_in_the_interpreter_and_the_fact_says_why(debugging):
    x = torch.full((16, 16), 2.0, dtype=torch.bfloat16)
    with pytest.raises(
        TypeError, match=r"a is torch\.bfloat16; allowed here: torch\.float16, torch\.float32"
    ):
        debugging.matmul(x, x)
    assert debugging.fact("bf16_square") == {"value": 0.0}  # 2 * 2
    assert debugging.fact("bf16_widened") == {"value": 4.0}
    assert debugging.fact("bf16_cast") == {
        "value": 1.0
    }  # of 1.0059, whose nearest bf16 is 1.0078125
    assert torch.tensor(1.0029296875**2).bfloat16().item() == 1.0078125


def test_c043_the_race_is_right_in_the_interpreter_in_any_order(broken, other_order):
    lab = broken("race")
    assert verdicts(lab) == {"ok"}
    assert other_order != sorted(other_order), "the programs ran in another order"


FIRST_CLEARS = (
    "    bins = tl.arange(0, N_BINS)\n",
    "    bins = tl.arange(0, N_BINS)\n"
    "    tl.store(counts_ptr + bins, 0, mask=(bins < n_bins) & (tl.program_id(axis=0) == 0))\n",
)


def test_c043_a_program_that_relies_on_being_first_is_right_in_the_usual_order(broken):
    assert verdicts(broken(*FIRST_CLEARS)) == {"ok"}


def test_c043_a_program_that_relies_on_being_first_is_caught_by_another_order(broken, other_order):
    assert verdicts(broken(*FIRST_CLEARS)) == {"ok", "error"}
    assert len(other_order) > 64


def test_c043_the_right_kernels_do_not_depend_on_the_order(debugging, other_order):
    assert verdicts(debugging) == {"ok"}
    assert len(other_order) > 64


UNFILLED = ", other=0.0)", ")"


def test_a_product_without_fill_values_passes_every_claim(broken):
    assert verdicts(broken(*UNFILLED)) == {"ok"}


def test_a_product_without_fill_values_is_caught_by_poison(broken):
    lab = broken(*UNFILLED)
    with poisoned():
        assert verdicts(lab) == {"ok", "nonfinite"}  # ok: the counts, whose load names its fill


def test_poison_does_no_harm_to_what_names_its_fill_values(debugging):
    with poisoned():
        assert verdicts(debugging) == {"ok"}
    assert debugging.fact("masked") == {"value": 6.0}, "and it ends with the block"


def test_an_overrun_that_stays_inside_the_guards_shows_in_no_result(broken):
    """The reason for memcheck: rows past M are read, and what comes of them is never stored."""
    lab = broken("only_k_masked")
    for claim in ("ragged_fp32.max_rel_err", "tight_fp16.max_rel_err", "flush_fp16.max_rel_err"):
        assert judged(lab, claim)["verdict"] == "ok"


def test_c023_counts_that_start_from_old_memory_are_caught(broken, dirty):
    lab = broken("not_zeroed")
    x = torch.zeros(5, dtype=INT32)
    assert lab.count(x, 2).tolist() != [5, 0]
    assert judged(lab, "bins.max_abs_err")["verdict"] == "error"


def test_an_assertion_is_deaf_in_the_interpreter_even_with_debugging_on(debugging):
    assert debugging.scene("interpreted")["device_assert"] == {
        "value": -1.0
    }  # in a process with TRITON_DEBUG=1
    assert debugging.count(torch.tensor([8], dtype=INT32), 8).tolist() == [0] * 8


def test_c049_the_switch_comes_before_the_import(debugging):
    late = debugging.scene("late")
    assert (
        late["value"] == "RuntimeError"
        and "Cannot call @triton.jit'd outside of the scope of a kernel" in late["note"]
    )


def test_c049_two_configurations_need_a_driver_unless_someone_else_times_them(debugging):
    if not torch.cuda.is_available():
        assert debugging.fact("tuning")["note"].startswith("0 active drivers")
    assert debugging.fact("tuning_by_hand") == {"value": 5.0}


def test_c052_static_print_speaks_once_for_each_entry_of_the_cache(debugging, tmp_path):
    code = "import triton_debugging as lab; lab.launch(lab.print_kernel, lab.tensor(7), STATIC=4)"
    said = []
    for _ in range(2):
        where = {
            "TRITON_INTERPRET": "0",
            "TRITON_CACHE_DIR": str(tmp_path),
            "PYTHONPATH": str(lab_file(debugging).parent),
        }
        env = os.environ | where | {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
        said.append(
            subprocess.run(
                [sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True
            ).stdout
        )
    assert said == ["STATIC is 4\n", ""]


# What is reported of a process of its own


def test_a_process_that_dies_has_no_value_and_its_words_are_kept(debugging):
    code = "lab.sys.modules['os'].write(2, b'the last words') and lab.sys.modules['os']._exit(3)"
    outcome = run_in_process(lab_file(debugging), code, TRITON_INTERPRET="1")
    assert (outcome.value, outcome.text) == (None, "the last words")


def test_without_compute_sanitizer_its_claims_are_not_measured(debugging, monkeypatch):
    monkeypatch.setattr("sanitizer.shutil.which", lambda name: None)
    monkeypatch.setattr("sanitizer.Path.glob", lambda path, pattern: iter(()))
    row = judge_claim(
        debugging, Claim("no_tool.reported", find_sanitizer, kind="codegen", bound="clean")
    )
    assert row["verdict"] == "-" and row["note"].startswith(
        "NotMeasured: there is no compute-sanitizer here"
    )


@pytest.mark.parametrize(
    ("text", "row", "value", "note"),
    [
        (
            "========= Invalid __global__ read of size 16 bytes\n"
            "=========     at matmul_kernel+0x4d0 in /somewhere/triton_debugging.py:79\n"
            "========= Target application returned an error\n"
            "========= ERROR SUMMARY: 1,792 errors\n"
            "========= ERROR SUMMARY: 1,791 errors were not printed.\n",
            {"verdict": "raised"},
            "errors",
            "1,792 reported, first at matmul_kernel in triton_debugging.py:79; the claim itself: raised",
        ),
        (
            "========= ERROR SUMMARY: 1 error\n",
            None,
            "errors",
            "1 reported; the claim itself: died",
        ),
        (
            "========= ERROR SUMMARY: 0 errors\n",
            {"verdict": "ok"},
            "clean",
            "0 reported; the claim itself: ok",
        ),
        (
            "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
            {"verdict": "error"},
            "clean",
            "0 reported; the claim itself: error",
        ),
    ],
)
def test_what_the_tool_prints_is_read(text, row, value, note):
    assert read_report(text, row) == {"value": value, "note": note}


@pytest.mark.parametrize("text", ["Error: no device", "killed\n========= ERROR SUMMARY: 0 errors"])
def test_a_tool_that_does_not_get_to_its_end_is_no_proof(text):
    with pytest.raises(RuntimeError, match=f"did not get to its end: {' '.join(text.split())}"):
        read_report(text, None)


def test_a_scene_is_played_once_and_its_bug_is_planted_in_a_copy(debugging, monkeypatch):
    played = []

    def sanitize(lab, claim_id, tool, bug, padding, **environment):
        played.append((claim_id, tool, bug.name, padding, environment))
        return {"value": "errors"}

    monkeypatch.setattr("scenes.sanitize", sanitize)
    stage = debugging.stage.__wrapped__()
    for _ in range(2):
        assert stage.result("memcheck_padded", is_program=False) == {"value": "errors"}
    uncached = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
    assert played == [("flush_fp16.max_rel_err", "memcheck", "only_k_masked", 4096, uncached)]
