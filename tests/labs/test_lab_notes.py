"""What triton_lab_notes does not claim of itself: bad arguments, the cases by their ids, the arithmetic of its GPU claims."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
import torch

FP32, FP16 = torch.float32, torch.float16


@pytest.fixture(scope="module")
def notes(lab):
    return lab("triton_lab_notes")


def run(notes, *arguments, **environment):
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    env = quiet | {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""} | environment
    return subprocess.run(
        [sys.executable, notes.FILE, *arguments], env=env, capture_output=True, text=True, timeout=100
    )


# Bad arguments


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.bool, torch.bfloat16])
def test_c006_dtypes_that_no_kernel_here_takes(notes, dtype):
    x = torch.zeros(4, 4, dtype=dtype)
    allowed = rf"is {dtype}; allowed: float32, float16 and, on a GPU, bfloat16"
    for name, call in (("x", lambda: notes.scale(x, 2.0)), ("a", lambda: notes.dot(x, x))):
        with pytest.raises(TypeError, match=f"{name} {allowed}"):
            call()
    with pytest.raises(TypeError, match=f"x {allowed}"):
        notes.accumulate(x, torch.zeros(1))


def test_c012_views_that_do_not_read_straight_on(notes):
    base = torch.zeros(8, 8)
    for view in (base.t(), base[:, ::2], base[:, :3], base[:, :1].expand(8, 8)):
        with pytest.raises(ValueError, match=r"x has strides .* pass x\.contiguous\(\)"):
            notes.scale(view, 2.0)
        with pytest.raises(ValueError, match=r"x has strides .* pass x\.contiguous\(\)"):
            notes.accumulate(view, torch.zeros(1))
        with pytest.raises(ValueError, match=r"b has strides .* pass b\.contiguous\(\)"):
            notes.dot(base, view)


def test_c048_a_tensor_elsewhere_is_named(notes):
    with pytest.raises(ValueError, match="x is on meta; this run needs every tensor on one cpu device"):
        notes.scale(torch.zeros(4, device="meta"), 2.0)
    with pytest.raises(ValueError, match="total is on meta"):
        notes.accumulate(torch.zeros(4), torch.zeros(1, device="meta"))


@pytest.mark.parametrize("out", [torch.zeros(5), torch.zeros(4, dtype=FP16), torch.zeros(2, 2)])
def test_out_must_be_as_x(notes, out):
    with pytest.raises(ValueError, match=r"out is .*; it must be as x, \(4,\) torch\.float32"):
        notes.scale(torch.zeros(4), 2.0, out=out)


@pytest.mark.parametrize("total", [torch.zeros(()), torch.zeros(2), torch.zeros(1, dtype=FP16)])
def test_total_is_one_float32_element(notes, total):
    with pytest.raises(ValueError, match=r"total is .*; it must be \(1,\) torch\.float32"):
        notes.accumulate(torch.zeros(4), total)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (torch.zeros(2, 3), torch.zeros(2, 3)),
        (torch.zeros(3), torch.zeros(3, 2)),
        (torch.zeros(2, 3), torch.zeros(3, 2, dtype=FP16)),
    ],
)
def test_matrices_that_do_not_fit_together(notes, a, b):
    with pytest.raises(ValueError, match=r"a is .*, b is .*; needed: \(M, K\) and \(K, N\) of one dtype"):
        notes.dot(a, b)


def test_stages_start_at_one(notes):
    with pytest.raises(ValueError, match="num_stages is 0; it must be a whole number from 1"):
        notes.dot(torch.zeros(2, 2), torch.zeros(2, 2), num_stages=0)


# Right results at every size


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (1023,), (1025,), (3, 5, 7)])
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c029_scale_takes_any_shape(notes, shape, dtype):
    x = torch.arange(torch.Size(shape).numel()).remainder(99).view(shape).to(dtype)
    got = notes.scale(x, notes.FACTOR)
    assert got.dtype == dtype and got.shape == x.shape and torch.equal(got, (x.double() * notes.FACTOR).to(dtype))


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 128, 1), (17, 33, 7), (64, 64, 8), (129, 130, 33), (0, 3, 2), (3, 4, 0)]
)
@pytest.mark.parametrize("dtype", [FP32, FP16])
def test_c013_dot_takes_any_size(notes, shape, dtype):
    row = notes.compare(notes.dot_error(*shape, dtype=dtype))
    assert row["max_abs_err"] == 0


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
    assert [config.kwargs["BLOCK_SIZE"] for config in notes.accumulate_kernel.configs] == [256, 1024, 4096]
    for n in (1, 255, 257, 4097, 9000):
        for config in notes.accumulate_kernel.configs:
            notes.accumulate(torch.ones(n), total := torch.zeros(1), config)
            assert total == n, (n, config)


# No GPU


def test_c049_the_compiler_is_asked_without_a_gpu_and_gives_the_machine_back(notes):
    active = notes.triton.runtime.driver
    with notes.compiling_for("gfx942"):
        target = active.active.get_current_target()
        assert (target.backend, target.arch, target.warp_size) == ("hip", "gfx942", 64)
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="0 active drivers"):
            active.active.get_current_target()


def test_c051_no_speed_comes_from_the_interpreter(notes):
    ratios = [claim for claim, row in notes.CLAIMS.items() if row[0] == "ratio"]
    assert len(ratios) >= 8
    for claim in ratios:
        row = notes.judge(claim)
        assert row["verdict"] == "-" and row["note"] == "needs a GPU to judge" and "value" not in row


# Breaks whose claim is no error


@pytest.mark.parametrize(("name", "figure"), [("length_as_key", 3), ("runtime_block", "CompilationError")])
def test_a_break_says_what_was_found(notes, name, figure):
    done = run(notes, "--break", name, "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["claims"][0]
    assert (row["verdict"], row["value"], row["figure"]) == ("ok", "error", figure)


def test_a_python_global_goes_unnoticed_in_the_interpreter(notes, tmp_path):
    """The reason for the break plain_global: nothing but the compiler tells."""
    section, old, new, *_ = notes.BREAKS["plain_global"]
    before, marker, rest = notes.FILE.read_text(encoding="utf-8").partition(f"# --8<-- [start:{section}]")
    path = tmp_path / notes.FILE.name
    path.write_text(before + marker + rest.replace(old, new, 1), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("broken_notes", path)
    spec.loader.exec_module(broken := importlib.util.module_from_spec(spec))
    assert torch.equal(broken.scale(torch.ones(5), 2.0), torch.full((5,), notes.FACTOR))


# The arithmetic of claims that only a GPU can judge


PAIR = [([[10.0, 1.0, 2.0], [90.0, 3.0, 3.0]], 3), ([[5.0, 2.0, 1.0], [40.0, 3.0, 3.0]], 3)]  # first, later; trials
KEPT = [PAIR[0], ([[5.0, 2.0, 1.0], [20.0, 3.0, 3.0]], 0)]


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (dict(cache="empty", against="later"), 5.0),
        (dict(cache="filled", against="later"), 2.5),
        (dict(cache="empty", against="filled"), 2.0),
        (dict(cache="empty", against="later", kernel=1), 30.0),
    ],
)
def test_first_launches_are_counted_in_later_ones(notes, monkeypatch, arguments, value):
    monkeypatch.setattr(notes, "processes", lambda: [PAIR, PAIR, KEPT])
    row = notes.first_launch(**arguments)
    assert (row["value"], row["low"], row["high"]) == (value, value, value)
    assert row["timings"][0]["repeats"] == 2


def test_the_second_process_of_a_pair_tells_whether_the_choice_was_kept(notes, monkeypatch):
    monkeypatch.setattr(notes, "processes", lambda: [PAIR, PAIR, KEPT])
    assert (notes.process_trials(keep=False), notes.process_trials(keep=True)) == (3, 0)


def test_the_spread_of_a_ratio_of_times(notes):
    row = notes.times("ours", [float(n) for n in range(1, 11)], "theirs", [2.0, 2.0, 2.0])
    assert (row["low"], row["value"], row["high"]) == (1.0, 3.0, 5.0)
    assert [timing["name"] for timing in row["timings"]] == ["ours", "theirs"]


def test_a_process_that_fails_is_reported(notes, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "0")  # no GPU: the clock of the new process has nothing to wait for
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="a new process failed"):
            notes.processes.__wrapped__(rounds=0)
