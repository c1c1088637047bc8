"""What triton_autotune does not claim of itself: bad arguments, the cases by their ids, the tuner's rules in this version."""

import math
import os
import subprocess
import sys

import pytest
import torch
from judge import Guards, claim_named, compare, judge_claim, lab_file, load_lab, plant
from offline import TARGETS, compiling_for
from searches import count_trials, dirty_memory, untimed
from stopwatch import ratio_of_times

FP16, FP32 = torch.float16, torch.float32


@pytest.fixture(scope="module")
def tune(lab):
    return lab("triton_autotune")


def ones(*shape, dtype=FP16, device="cpu"):
    return torch.ones(shape, dtype=dtype, device=device)


def with_bug(tune, name, tmp_path):
    """The lab with one of its bugs planted, as a module."""
    path = tmp_path / lab_file(tune).name
    bug = next(bug for bug in tune.BUGS if bug.name == name)
    path.write_text(plant(lab_file(tune).read_text(encoding="utf-8"), bug), encoding="utf-8")
    return load_lab(path)


# Bad arguments


@pytest.mark.parametrize("dtype", [FP32, torch.float64, torch.int32, torch.bfloat16])
def test_c006_dtypes_that_no_kernel_here_takes(tune, dtype):
    with pytest.raises(TypeError, match=rf"^x is {dtype}; allowed here: torch\.float16$"):
        tune.norm_linear(ones(2, 4, dtype=dtype), ones(4, 3, dtype=dtype))
    with pytest.raises(
        TypeError, match=rf"^residual is {dtype}; it must be torch\.float16, as x is$"
    ):
        tune.add_norm(ones(2, 4), ones(2, 4, dtype=dtype))


def test_c012_x_and_out_must_have_rows_that_read_straight_on(tune):
    base = ones(8, 8)
    for view in (base.t(), base[:, ::2], base.flip(1)[:, :1].expand(8, 8)):
        if view.is_contiguous():
            continue
        with pytest.raises(ValueError, match=r"x has strides .* pass x\.contiguous\(\)"):
            tune.norm_linear(view, ones(view.shape[1], 3))
    with pytest.raises(ValueError, match=r"out has strides .* pass out\.contiguous\(\)"):
        tune.norm_linear(base, ones(8, 8), ones(1, 8).expand(8, 8))
    with pytest.raises(ValueError, match=r"residual has strides"):
        tune.add_norm(base, ones(1, 8).expand(8, 8))


@pytest.mark.parametrize("view", ["transposed", "sliced", "expanded", "every second column"])
def test_c012_w_is_read_by_its_strides(tune, view):
    w = torch.randint(-2, 3, (12, 12)).to(FP16)
    w = {
        "transposed": w.t(),
        "sliced": w[:, 3:9],
        "expanded": w[:1].expand(12, 12),
        "every second column": w[:, ::2],
    }[view]
    assert torch.equal(tune.norm_linear(ones(3, 12) * 2, w, eps=0.0), ones(3, 12) @ w)


def test_c048_a_tensor_elsewhere_is_named(tune):
    with pytest.raises(
        ValueError, match="w is on meta; this run needs every tensor on one cpu device"
    ):
        tune.norm_linear(ones(2, 4), ones(4, 3, device="meta"))
    with pytest.raises(ValueError, match="x is on meta"):
        tune.add_norm(ones(2, 4, device="meta"), ones(2, 4, device="meta"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda t: t.norm_linear(ones(2, 4), ones(5, 3)),
            r"w has shape \(5, 3\); it must have \(4, 3\)",
        ),
        (
            lambda t: t.norm_linear(ones(2, 4), ones(4, 3), ones(2, 4)),
            r"out has shape \(2, 4\); it must have \(2, 3\)",
        ),
        (
            lambda t: t.norm_linear(ones(4), ones(4, 3)),
            r"x has shape \(4,\); it must have 2 dimensions",
        ),
        (
            lambda t: t.norm_linear(ones(2, 0), ones(0, 3)),
            "x has rows of 0; a row must have 1 to 16384 elements",
        ),
        (lambda t: t.norm_linear(ones(1, 16385), ones(16385, 1)), "x has rows of 16385"),
        (
            lambda t: t.add_norm(ones(2, 4), ones(2, 5)),
            r"residual has shape \(2, 5\); it must have \(2, 4\)",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_named(tune, call, message):
    with pytest.raises(ValueError, match=message):
        call(tune)


def test_memory_that_is_overwritten_while_it_is_read_is_refused(tune):
    x = ones(4, 4)
    with pytest.raises(ValueError, match="out overlaps x, which is still being read"):
        tune.norm_linear(x, ones(4, 4), x)
    with pytest.raises(ValueError, match="x overlaps residual, which is still being read"):
        tune.add_norm(x, x)


@pytest.mark.parametrize(
    "wrong", [[[1.0]], 2.0, torch.eye(2).to_sparse()], ids=["list", "float", "sparse"]
)
def test_an_argument_that_is_no_dense_tensor_is_named(tune, wrong):
    for name in ("x", "w", "out"):
        with pytest.raises(
            TypeError, match=rf"^{name} is {type(wrong).__name__}; it must be a torch.Tensor with"
        ):
            tune.norm_linear(
                **{"x": ones(2, 2), "w": ones(2, 2), "out": ones(2, 2)} | {name: wrong}
            )


@pytest.mark.parametrize(
    "wrong", [[1.0], None, "x", torch.eye(2).to_sparse()], ids=["list", "none", "text", "sparse"]
)
def test_a_residual_that_is_no_dense_tensor_is_named(tune, wrong):
    with pytest.raises(
        TypeError, match=rf"^residual is {type(wrong).__name__}; it must be a torch.Tensor with"
    ):
        tune.add_norm(ones(2, 2), wrong)


def test_c012_other_storage_in_the_same_memory_is_refused(tune):
    room = ones(100)
    x, out = room[:16].view(4, 4), torch.from_numpy(room.numpy()[1:17]).view(4, 4)
    with pytest.raises(ValueError, match="out overlaps x, which is still being read"):
        tune.norm_linear(x, ones(4, 4), out)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (dict(config={"BLOCK_M": 16}), "^config is dict; it must be a triton.Config or None$"),
        (dict(config=5), "^config is int; it must be a triton.Config or None$"),
        (dict(eps="small"), "^eps is str; it must be a number$"),
        (dict(eps=None), "^eps is NoneType; it must be a number$"),
    ],
)
def test_a_configuration_or_an_eps_of_another_type_is_named(tune, wrong, message):
    with pytest.raises(TypeError, match=message):
        tune.norm_linear(ones(2, 2), ones(2, 2), **wrong)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 0), (0, 4, 0)])
def test_c029_no_rows_or_no_columns_give_an_empty_result(tune, shape):
    M, K, N = shape
    assert tune.norm_linear(ones(M, K), ones(K, N)).shape == (M, N)
    tune.add_norm(ones(0, 4), ones(0, 4))


# The cases


def test_c007_the_first_call_equals_the_second_and_inputs_stay(tune):
    x, w = ones(5, 40) * 2, torch.randint(-2, 3, (40, 24)).to(FP16)
    kept = x.clone(), w.clone()
    tune.norm_linear_kernel.cache.clear()
    first = tune.norm_linear(x, w, eps=0.0)
    assert len(tune.norm_linear_kernel.configs_timings) == 4
    assert count_trials(tune.norm_linear_kernel, lambda: tune.norm_linear(x, w, eps=0.0)) == 0
    second = tune.norm_linear(x, w, eps=0.0)
    assert torch.equal(first, second) and torch.equal(first, ones(5, 40) @ w)
    assert torch.equal(x, kept[0]) and torch.equal(w, kept[1])


def test_c007_in_place_calls_add_once_each(tune):
    residual = ones(3, 20)
    tune.add_norm_kernel.cache.clear()
    for calls in (1, 2, 3):
        tune.add_norm(x := ones(3, 20), residual, eps=0.0)
        assert torch.equal(residual, ones(3, 20) * (1 + calls))
        assert torch.equal(x, ones(3, 20))


def test_c024_every_listed_configuration_is_right_on_its_own(tune):
    assert len(tune.CONFIGS) == len(set(tune.CONFIGS)) == 10
    w = torch.randint(-2, 3, (70, 72)).to(FP16)
    for one in tune.CONFIGS:
        out = torch.full((18, 72), math.nan, dtype=FP16)
        tune.norm_linear(ones(18, 70) * 2, w, out, one, eps=0.0)
        assert torch.equal(out, ones(18, 70) @ w), tune.label(one)


def test_c024_the_claim_goes_through_the_whole_list(tune):
    assert list(claim_named(tune, "each_config.max_abs_err").args["alone"]) == list(
        range(len(tune.CONFIGS))
    )


def test_c023_a_wrong_grid_hides_from_the_tuned_call_and_not_from_each_configuration_alone(
    tune, tmp_path
):
    lab = with_bug(tune, "grid_of_one_tile", tmp_path)
    seen = compare(lab.error(Guards(), M=40, N=72, K=70))
    assert seen.nonfinite == 0 and seen.max_abs_err == 0, "four configurations wrote the one result"
    alone = {i: compare(lab.error(Guards(), M=40, N=72, K=70, alone=[i])) for i in range(10)}
    unwritten = [i for i, comparison in alone.items() if comparison.nonfinite]
    assert unwritten == [i for i, c in enumerate(lab.CONFIGS) if c.kwargs["BLOCK_N"] <= 64] != []


def test_c023_a_result_is_judged_in_memory_that_was_full_of_nan(tune):
    with dirty_memory():
        assert torch.empty(3, dtype=FP16).isnan().all()
    assert not torch.are_deterministic_algorithms_enabled()


def test_c051_no_speed_comes_from_the_interpreter(tune):
    ratios = [claim for claim in tune.CLAIMS if claim.kind == "ratio"]
    assert len(ratios) >= 12
    for claim in ratios:
        row = judge_claim(tune, claim)
        assert (
            row["verdict"] == "-" and row["note"] == "needs a GPU to judge" and "value" not in row
        )


def test_c051_what_is_raced_has_been_compiled_and_tuned_before(tune, monkeypatch):
    order = []
    monkeypatch.setattr(tune, "workload", lambda M: (ones(2, 4), ones(4, 3), ones(2, 3)))
    monkeypatch.setattr(
        tune, "best_config", lambda M: order.append(f"tuned for {M}") or tune.CONFIGS[1]
    )
    monkeypatch.setattr(tune, "benchmark_pair", lambda *ways, **how: order.append("raced"))
    tune.speed(16, "tuned", "4096")
    assert order == ["tuned for 16", "tuned for 4096", "raced"]


# Candidates


def test_the_model_keeps_short_tiles_for_few_rows_and_tall_ones_for_many(tune):
    def kept(M):
        named = dict(M=M, N=37_888, K=3584)
        left = tune.fits(tune.CONFIGS, named)
        return {
            c.kwargs["BLOCK_M"]
            for c in sorted(left, key=lambda c: tune.model(**named, **c.kwargs))[:4]
        }

    assert kept(1) == kept(16) == {16}
    assert kept(256) == kept(4096) == {128}


def test_a_tile_much_taller_than_x_is_left_out(tune):
    assert {c.kwargs["BLOCK_M"] for c in tune.fits(tune.CONFIGS, {"M": 32})} == {16, 64}
    assert len(tune.fits(tune.CONFIGS, {"M": 64})) == len(tune.CONFIGS)


def test_shared_bytes_are_tiles_times_stages(tune):
    assert tune.shared_bytes(tune.CONFIGS[1]) == 3 * 64 * (128 + 256) * 2


# The tuner's rules, which differ by version


def version(tune):
    return tuple(int(n) for n in tune.triton.__version__.split(".")[:2])


def test_a_fraction_of_the_list_may_round_down_to_nothing(tune):
    tuner = tune.triton.autotune(
        configs=tune.CONFIGS,
        key=["N"],
        prune_configs_by={"perf_model": tune.model, "top_k": 0.05},
        do_bench=untimed(),
    )(tune.norm_linear_kernel.fn)
    tuner.nargs = dict(M=16, N=64, K=64)
    assert len(tuner.prune_configs({})) == (1 if version(tune) >= (3, 9) else 0)


def test_a_name_in_the_key_that_no_argument_has_goes_unnoticed_before_3_9(tune):
    def make():
        return tune.triton.autotune(configs=tune.CONFIGS[-2:], key=["buckets"], do_bench=untimed())(
            tune.norm_linear_kernel.fn
        )

    if version(tune) >= (3, 9):
        with pytest.raises(ValueError, match="buckets"):
            make()
    else:
        assert make().keys == ["buckets"]


# No GPU


def test_c049_the_compiler_gives_the_machine_back(tune):
    active = tune.triton.runtime.driver
    with compiling_for(TARGETS["sm_80"]):
        assert active.active.get_current_target().arch == 80
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="0 active drivers"):
            active.active.get_current_target()


def test_a_process_with_results_on_disk_does_not_search(tune):
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    done = subprocess.run(
        [sys.executable, lab_file(tune), "--only", "disk_same.trials"],
        env=quiet,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0 and "0 == 0" in done.stdout


# The arithmetic of claims that only a GPU can judge


def test_a_search_pays_for_itself_by_what_each_call_saves(tune, monkeypatch):
    monkeypatch.setattr(
        tune,
        "searched",
        lambda M: ([3000.0, 3000.0], [500.0, 500.0], [1.0, 1.0, 1.0], [4.0, 4.0, 4.0]),
    )
    assert tune.break_even(16)["value"] == 1000
    assert tune.search_time(16, compiled=False).value == 3000
    assert tune.search_time(16, compiled=True).value == 500
    assert [t["name"] for t in tune.break_even(16)["timings"]] == [
        "search",
        "tuned call",
        "untuned call",
    ]


def test_the_spread_of_a_ratio_of_times():
    ratio = ratio_of_times("ours", [float(n) for n in range(1, 11)], "theirs", [2.0, 2.0, 2.0])
    assert (ratio.low, ratio.value, ratio.high) == (1.0, 3.0, 5.0)
