"""What triton_lab_notes does not claim of itself: bad arguments, the cases by their ids, the arithmetic of its GPU claims."""

import json
import os
import subprocess
import sys

import pytest
import torch
from judge import Guards, compare, judge_claim, lab_file, load_lab, plant
from offline import TARGETS, compiling_for
from startup import Startup, first_call_ratio, startup_pairs, time_ratio

FP32, FP16 = torch.float32, torch.float16


@pytest.fixture(scope="module")
def notes(lab):
    return lab("triton_lab_notes")


def run(notes, *arguments, **environment):
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    env = quiet | {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""} | environment
    return subprocess.run(
        [sys.executable, lab_file(notes), *arguments],
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
    )


# Bad arguments


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool, torch.bfloat16])
def test_c006_dtypes_that_no_kernel_here_takes(notes, dtype):
    x = torch.zeros(4, 4, dtype=dtype)
    allowed = rf"is {dtype}; allowed here: torch\.float32, torch\.float16$"
    for name, call in (("x", lambda: notes.scale(x, 2.0)), ("a", lambda: notes.dot(x, x))):
        with pytest.raises(TypeError, match=f"{name} {allowed}"):
            call()
    with pytest.raises(TypeError, match=f"x {allowed}"):
        notes.accumulate(x, torch.zeros(1))


def test_c012_views_that_are_not_contiguous(notes):
    base = torch.zeros(8, 8)
    for view in (base.t(), base[:, ::2], base[:, :3], base[:, :1].expand(8, 8)):
        with pytest.raises(ValueError, match=r"x has strides .* pass x\.contiguous\(\)"):
            notes.scale(view, 2.0)
        with pytest.raises(ValueError, match=r"x has strides .* pass x\.contiguous\(\)"):
            notes.accumulate(view, torch.zeros(1))
        with pytest.raises(ValueError, match=r"b has strides .* pass b\.contiguous\(\)"):
            notes.dot(base, view)


def test_c048_a_tensor_elsewhere_is_named(notes):
    with pytest.raises(
        ValueError, match="x is on meta; this run needs every tensor on one cpu device"
    ):
        notes.scale(torch.zeros(4, device="meta"), 2.0)
    with pytest.raises(ValueError, match="total is on meta"):
        notes.accumulate(torch.zeros(4), torch.zeros(1, device="meta"))


@pytest.mark.parametrize("out", [torch.zeros(5), torch.zeros(2, 2)])
def test_out_has_the_shape_of_x(notes, out):
    with pytest.raises(ValueError, match=r"out has shape .*; it must have \(4,\)"):
        notes.scale(torch.zeros(4), 2.0, out=out)


def test_out_has_the_dtype_of_x(notes):
    with pytest.raises(
        TypeError, match=r"out is torch\.float16; it must be torch\.float32, as x is"
    ):
        notes.scale(torch.zeros(4), 2.0, out=torch.zeros(4, dtype=FP16))


@pytest.mark.parametrize("total", [torch.zeros(()), torch.zeros(2)])
def test_total_is_one_element(notes, total):
    with pytest.raises(ValueError, match=r"total has shape .*; it must have \(1,\)"):
        notes.accumulate(torch.zeros(4), total)


def test_total_is_float32(notes):
    with pytest.raises(TypeError, match=r"total is torch\.float16; allowed here: torch\.float32"):
        notes.accumulate(torch.zeros(4), torch.zeros(1, dtype=FP16))


def test_total_is_apart_from_x(notes):
    x = torch.zeros(4)
    with pytest.raises(ValueError, match="total overlaps x, which is still being read"):
        notes.accumulate(x, x[:1])


def test_matrices_that_do_not_fit_together(notes):
    with pytest.raises(ValueError, match=r"b has shape \(2, 3\); it must have \(3, 3\)"):
        notes.dot(torch.zeros(2, 3), torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"a has shape \(3,\); it must be 2-D"):
        notes.dot(torch.zeros(3), torch.zeros(3, 2))
    with pytest.raises(TypeError, match=r"b is torch\.float16; it must be torch\.float32, as a is"):
        notes.dot(torch.zeros(2, 3), torch.zeros(3, 2, dtype=FP16))


def test_stages_start_at_one(notes):
    with pytest.raises(ValueError, match="num_stages is 0; it must be a whole number from 1"):
        notes.dot(torch.zeros(2, 2), torch.zeros(2, 2), num_stages=0)


# Right results at every size


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (1023,), (1025,), (3, 5, 7)])
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c029_scale_takes_any_shape(notes, shape, dtype):
    x = torch.arange(torch.Size(shape).numel()).remainder(99).view(shape).to(dtype)
    got = notes.scale(x, notes.FACTOR)
    assert (
        got.dtype == dtype
        and got.shape == x.shape
        and torch.equal(got, (x.double() * notes.FACTOR).to(dtype))
    )


@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (1, 128, 1), (17, 33, 7), (64, 64, 8), (129, 130, 33), (0, 3, 2), (3, 4, 0)],
)
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c013_dot_takes_any_size(notes, shape, dtype):
    assert compare(notes.dot_error(Guards(), *shape, dtype=dtype)).max_abs_err == 0


def test_c029_an_empty_tensor_adds_nothing(notes):
    total = torch.full((1,), 3.0)
    notes.accumulate(torch.zeros(0), total)
    assert total == 3


# The tuner


def test_c007_the_first_call_equals_the_second_and_inputs_stay(notes):
    x, totals = torch.arange(700.0), [torch.full((1,), 5.0), torch.full((1,), 5.0)]
    notes.accumulate_kernel.cache.clear()
    tried = len(notes.TRIALS)
    for total in totals:
        notes.accumulate(x, total)
    assert len(notes.TRIALS) == tried + 3, "the tuner ran once"
    assert totals == [5 + 699 * 350] * 2
    assert torch.equal(x, torch.arange(700.0))


def test_c007_in_place_calls_add_once_each(notes):
    total = torch.zeros(1)
    notes.accumulate_kernel.cache.clear()
    for calls in (1, 2, 3):
        notes.accumulate(torch.ones(700), total)
        assert total == 700 * calls


def test_c024_every_configuration_is_right_on_its_own(notes):
    assert [config.kwargs["BLOCK_SIZE"] for config in notes.accumulate_kernel.configs] == [
        256,
        1024,
        4096,
    ]
    for n in (1, 255, 257, 4097, 9000):
        for config in notes.accumulate_kernel.configs:
            notes.accumulate(torch.ones(n), total := torch.zeros(1), config)
            assert total == n, (n, config)


# No GPU


def test_c049_the_compiler_is_asked_without_a_gpu_and_gives_the_machine_back(notes):
    active = notes.triton.runtime.driver
    with compiling_for(TARGETS["gfx942"]):
        target = active.active.get_current_target()
        assert (target.backend, target.arch, target.warp_size) == ("hip", "gfx942", 64)
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="0 active drivers"):
            active.active.get_current_target()


def test_c051_no_speed_comes_from_the_interpreter(notes):
    ratios = [claim for claim in notes.CLAIMS if claim.kind == "ratio"]
    assert len(ratios) >= 8
    for claim in ratios:
        row = judge_claim(notes, claim)
        assert (
            row["verdict"] == "-" and row["note"] == "needs a GPU to judge" and "value" not in row
        )


# Seeded bugs whose claim is no error


@pytest.mark.parametrize(
    ("name", "figure"), [("length_as_key", 3), ("runtime_block", "CompilationError")]
)
def test_the_row_of_a_bug_has_the_figure_of_its_claim(notes, name, figure):
    done = run(notes, "--bug", name, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["claims"][0]
    assert (row["verdict"], row["value"], row["figure"]) == ("ok", "error", figure)


def test_a_python_global_goes_unnoticed_in_the_interpreter(notes, tmp_path):
    """The reason for the bug plain_global: only the compiler refuses it."""
    bug = next(bug for bug in notes.BUGS if bug.name == "plain_global")
    path = tmp_path / lab_file(notes).name
    path.write_text(plant(lab_file(notes).read_text(encoding="utf-8"), bug), encoding="utf-8")
    assert torch.equal(load_lab(path).scale(torch.ones(5), 2.0), torch.full((5,), notes.FACTOR))


# The arithmetic of claims that only a GPU can judge


PAIR = {
    "empty": Startup(
        calls_ms=[[10.0, 1.0, 2.0], [90.0, 3.0, 3.0]], trials=3
    ),  # the first call, then later ones
    "filled": Startup(calls_ms=[[5.0, 2.0, 1.0], [40.0, 3.0, 3.0]], trials=3),
}
KEPT = PAIR | {"filled": Startup(calls_ms=[[5.0, 2.0, 1.0], [20.0, 3.0, 3.0]], trials=0)}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (dict(cache="empty", against="later", kernel=0), 5.0),
        (dict(cache="filled", against="later", kernel=0), 2.5),
        (dict(cache="empty", against="filled", kernel=0), 2.0),
        (dict(cache="empty", against="later", kernel=1), 30.0),
    ],
)
def test_first_calls_are_counted_in_later_ones(arguments, value):
    ratio = first_call_ratio([PAIR, PAIR], **arguments)
    assert (ratio.value, ratio.low, ratio.high) == (value, value, value)
    assert ratio.timings[0].repeats == 2


def test_the_pair_that_keeps_the_choice_takes_no_part_in_a_ratio(notes, monkeypatch):
    monkeypatch.setattr(notes, "startups", lambda: [PAIR, PAIR, KEPT])
    assert notes.first_launch("empty", "later").timings[0].repeats == 2


def test_the_second_process_of_a_pair_shows_whether_the_choice_was_kept(notes, monkeypatch):
    monkeypatch.setattr(notes, "startups", lambda: [PAIR, PAIR, KEPT])
    assert (notes.process_trials(keep=False), notes.process_trials(keep=True)) == (3, 0)


def test_the_spread_of_a_ratio_of_times():
    ratio = time_ratio("ours", [float(n) for n in range(1, 11)], "theirs", [2.0, 2.0, 2.0])
    assert (ratio.low, ratio.value, ratio.high) == (1.0, 3.0, 5.0)
    assert [timing.name for timing in ratio.timings] == ["ours", "theirs"]


def test_a_process_that_fails_is_reported(notes, monkeypatch):
    monkeypatch.setenv(
        "TRITON_INTERPRET", "0"
    )  # no GPU: the clock of the new process has nothing to wait for
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="a new process failed"):
            startup_pairs(lab_file(notes), "lab.first_calls()", rounds=0)
