"""labs/judge.py and labs/claims.py, by values worked out by hand: rules of verdicts, guards, comparing, timing, planting."""

import math
import types

import claims
import judge
import pytest
import torch
from claims import Bug, Claim
from judge import Guards, Ratio, Timing, benchmark_pair, compare, plant, timing

NAN, INF = torch.nan, torch.inf


def pair(got, want):
    return torch.tensor(got), torch.tensor(want)


# Comparing


def test_the_error_is_the_largest_of_all_pairs_and_relative_to_the_largest_reference():
    compared = compare([pair([1.0, 2.5], [1.0, 2.0]), pair([-8.0], [-8.25])])
    assert compared.max_abs_err == 0.5
    assert compared.scale == 8.25
    assert compared.max_rel_err == 0.5 / 8.25
    assert compared.nonfinite == 0


@pytest.mark.parametrize(
    ("got", "want"),
    [
        pytest.param([1.0, NAN], [1.0, 2.0], id="NaN for a number"),
        pytest.param([1.0, 2.0], [1.0, NAN], id="a number for NaN"),
        pytest.param([1.0, INF], [1.0, -INF], id="inf for -inf"),
        pytest.param([1.0, INF], [1.0, 3.0], id="inf for a number"),
        pytest.param([NAN] + [1.0] * 999_999, [1.0] * 1_000_000, id="one NaN in a million"),
    ],
)
def test_c002_what_is_not_finite_where_it_should_never_passes(got, want):
    compared = compare([pair(got, want)])
    assert compared.nonfinite == 1
    assert compared.max_abs_err == compared.max_rel_err == math.inf


def test_c002_equal_nan_and_inf_are_no_error():
    special = torch.tensor([NAN, INF, -INF, 2.0])
    assert compare([(special, special.double())]) == judge.Comparison(0.0, 0.0, 0, 2.0)


def test_c002_a_later_pair_does_not_hide_an_earlier_nan():
    assert compare([pair([NAN], [1.0]), pair([1.0], [1.0])]).nonfinite == 1


def test_zeros_compared_with_zeros_have_no_relative_error():
    assert compare([pair([0.0], [0.0])]) == judge.Comparison(0.0, 0.0, 0, 0.0)


def test_another_shape_is_no_result():
    with pytest.raises(ValueError, match=r"^the result has shape \(2, 1\), the reference \(2,\)$"):
        compare([(torch.zeros(2, 1), torch.zeros(2))])


def test_a_claim_that_compares_nothing_is_no_proof():
    with pytest.raises(ValueError, match=r"^nothing was compared$"):
        compare(iter(()))


# Rules of verdicts


def error(value, bound, *, scale=1.0, nonfinite=0, metric="max_abs_err"):
    return {
        "kind": "error",
        "id": f"a.b.{metric}",
        "value": value,
        "bound": bound,
        "scale": scale,
        "nonfinite": nonfinite,
    }


def ratio(value, low, high, bound, **prediction):
    return {
        "kind": "ratio",
        "id": "a.b.vs_c",
        "value": value,
        "low": low,
        "high": high,
        "bound": bound,
    } | prediction


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (error(0.1, 0.1), "ok"),
        (error(0.11, 0.1), "error"),
        (error(0.0, 0.0), "ok"),
        (error(0.0, 0.5), "loose"),
        (error(0.0, 0.49), "ok"),
        (error(0.0, 1.0, scale=9.0), "ok"),
        (error(0.0, 0.5, scale=9.0, metric="max_rel_err"), "loose"),
        (error(0.0, 1e-6, scale=0.0, metric="max_rel_err"), "loose"),
        (error(0.0, 0.0, scale=0.0), "ok"),
        (error(0.0, 0.1, nonfinite=1), "nonfinite"),
        (error(math.inf, 1e9), "nonfinite"),
        (ratio(0.9, 0.8, 1.0, bound=1.0), "ok"),
        (ratio(0.9, 0.8, 0.99, bound=1.0), "error"),
        (ratio(0.5, 0.4, 0.6, bound=0), "error"),
        (ratio(0.5, 0.4, math.inf, bound=0.4), "error"),
        ({"kind": "ratio", "id": "a.b.vs_c", "value": 0.6, "bound": 0.6}, "ok"),
        ({"kind": "count", "id": "a.b.c", "value": 3, "bound": 3}, "ok"),
        ({"kind": "count", "id": "a.b.c", "value": 4, "bound": 3}, "error"),
        ({"kind": "codegen", "id": "a.b.c", "value": "16 B", "bound": "16 B"}, "ok"),
        ({"kind": "bug", "id": "a.b.bug", "value": "guard", "bound": "guard"}, "ok"),
        ({"kind": "bug", "id": "a.b.bug", "value": "guard", "bound": "fault"}, "error"),
    ],
)  # fmt: skip
def test_the_rule_of_each_kind(row, verdict):
    assert claims.verdict(row) == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        pytest.param(1.45, 1.55, "ok", id="around the prediction"),
        pytest.param(1.57, 1.70, "ok", id="within the tolerance above"),
        pytest.param(1.30, 1.43, "ok", id="within the tolerance below"),
        pytest.param(1.58, 1.70, "error", id="faster than the theory allows"),
        pytest.param(1.30, 1.42, "error", id="slower than the theory allows"),
    ],
)
def test_a_prediction_of_one_and_a_half_within_five_in_a_hundred(low, high, verdict):
    row = ratio((low + high) / 2, low, high, bound=1.0, predicted=1.5, tolerance=0.05)
    assert claims.verdict(row) == verdict


def test_kinds_and_judges_are_checked_where_a_claim_is_written():
    with pytest.raises(
        ValueError, match=r"^kind is 'speed'; allowed: error, ratio, count, codegen$"
    ):
        Claim("a.b", error, kind="speed")
    with pytest.raises(ValueError, match=r"^judges is 'cpu'; allowed: any, gpu, compile$"):
        Claim("a.b", error, judges="cpu")
    with pytest.raises(
        ValueError, match=r"^how is 'raised'; allowed: error, guard, nonfinite, fault$"
    ):
        Bug("a", "kernel", "x", "y", "a.b", "raised", "what one sees")


# Guards


def test_an_input_is_a_copy_with_the_same_values():
    t = torch.arange(6.0).view(2, 3).t()
    guards = Guards()
    inside = guards.input(t)
    assert torch.equal(inside, t) and inside.is_contiguous() and inside.data_ptr() != t.data_ptr()
    assert guards.untouched()


def test_an_input_must_not_be_written():
    guards = Guards()
    guards.input(torch.zeros(4))[2] = 1
    assert not guards.untouched()


def test_an_output_and_a_tensor_in_place_may_be_written():
    guards = Guards()
    guards.output((4,), torch.float32).fill_(1)
    guards.in_place(torch.zeros(4)).fill_(1)
    assert guards.untouched()


def test_an_output_starts_as_nan_or_minus_one():
    guards = Guards()
    assert guards.output((2, 3), torch.float16).isnan().all()
    assert (guards.output((5,), torch.int32) == -1).all()
    assert guards.output_like(torch.zeros(2, 3, dtype=torch.float64)).shape == (2, 3)


@pytest.mark.parametrize("place", [-1, 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8])
def test_writing_one_element_before_or_past_a_tensor_is_seen(place, dtype):
    for make in (
        lambda guards: guards.output((4,), dtype),
        lambda guards: guards.input(torch.zeros(4, dtype=dtype)),
    ):
        guards = Guards()
        inside = make(guards)
        beyond = inside.as_strided((1,), (1,), inside.storage_offset() + place)
        beyond.fill_(5)
        assert not guards.untouched()


def test_minus_zero_in_the_place_of_zero_is_seen():
    guards = Guards()
    guards.input(torch.zeros(2)).neg_()
    assert not guards.untouched()


def test_the_same_nan_is_no_change():
    guards = Guards()
    guards.input(torch.full((2,), NAN)).fill_(NAN)
    assert guards.untouched()


def test_watched_tensors_must_not_change():
    t, guards = torch.zeros(3), Guards()
    guards.watch(t)
    assert guards.untouched()
    t[0] = 1
    assert not guards.untouched()


def test_guards_of_one_judgment_know_nothing_of_another():
    first, second = Guards(), Guards()
    first.input(torch.zeros(2)).fill_(1)
    assert not first.untouched() and second.untouched()


# Timing


def test_percentiles_of_ten_times():
    assert timing("copy", [10.0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 64, "B") == Timing(
        "copy", 2, 6, 10.0, 10, 64, "B"
    )


def test_a_pair_is_timed_in_turns_and_compared_by_work_per_second(monkeypatch):
    """Two rounds: 2 and 4 ms against 6 ms, for twice the work."""
    times = iter([[2.0] * 10, [6.0] * 10, [4.0] * 10, [6.0] * 10])
    order = []

    def do_bench(call, **_):
        call()
        return next(times)

    monkeypatch.setattr(judge.triton.testing, "do_bench", do_bench)
    result = benchmark_pair(
        ("ours", lambda: order.append("ours")),
        ("theirs", lambda: order.append("theirs")),
        work=(2, 1),
        unit="B",
        rounds=2,
    )
    assert order == ["ours", "theirs"] * 3, "each once to compile, then in turns"
    assert (result.value, result.low, result.high) == (4.5, 3.0, 6.0)
    assert result.timings == (
        Timing("ours", 2.0, 4.0, 4.0, 20, 2, "B"),
        Timing("theirs", 6.0, 6.0, 6.0, 20, 1, "B"),
    )


# Judging a claim


def lab_of(*rows):
    lab = types.ModuleType("triton_made")
    lab.__file__ = "triton_made.py"
    lab.CLAIMS, lab.BUGS = list(rows), []
    return lab


def judged(claim):
    return judge.judge_claim(lab_of(claim), claim)


def test_a_row_holds_id_arguments_bound_and_reason():
    def count(n, step=2):
        return n // step

    row = judged(
        Claim("even.numbers", count, dict(n=10), kind="count", bound=5, why="every second")
    )
    assert row["id"] == "made.even.numbers"
    assert row["arguments"] == {"n": "10", "step": "2"}
    assert (row["bound"], row["why"], row["value"], row["verdict"]) == (5, "every second", 5, "ok")


def test_a_measure_that_asks_for_guards_gets_fresh_ones():
    seen = []

    def error(guards):
        seen.append(guards)
        return [(torch.ones(1), torch.ones(1))]

    claim = Claim("one.max_abs_err", error)
    assert [judged(claim)["verdict"] for _ in range(2)] == ["ok", "ok"]
    assert seen[0] is not seen[1]


def test_a_correct_result_beside_overwritten_memory_is_caught():
    def error(guards):
        t = guards.input(torch.ones(2))
        t[0] = 7
        return [(torch.ones(1), torch.ones(1))]

    assert judged(Claim("one.max_abs_err", error))["verdict"] == "guard"


def test_a_measure_that_yields_is_run_before_its_guards_are_read():
    def error(guards):
        t = guards.input(torch.ones(2))
        yield torch.ones(1), torch.ones(1)
        t[0] = 7
        yield torch.ones(1), torch.ones(1)

    assert judged(Claim("one.max_abs_err", error))["verdict"] == "guard"


@pytest.mark.parametrize(
    ("error", "verdict", "note"),
    [
        (RuntimeError("planted\nsecond line"), "raised", "RuntimeError: planted"),
        (AssertionError(), "raised", "AssertionError: "),
        (SystemExit(0), "raised", "SystemExit: 0"),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), "fault", "RuntimeError: CUDA error: an illegal memory access was encountered"),
        (torch.OutOfMemoryError("no memory"), "-", "OutOfMemoryError: no memory"),
    ],
)  # fmt: skip
def test_c017_a_claim_that_does_not_end_well_says_how(error, verdict, note):
    def fails():
        raise error

    row = judged(Claim("a.b", fails, kind="count", bound=1))
    assert (row["verdict"], row["note"]) == (verdict, note)


def test_a_ratio_is_judged_by_its_figures():
    claim = Claim("a.vs_b", lambda: Ratio(0.9, 0.8, 1.0, ()), kind="ratio", bound=0.95)
    row = judged(claim)
    assert (row["value"], row["low"], row["high"], row["verdict"]) == (0.9, 0.8, 1.0, "ok")


def test_a_dict_may_hold_more_than_the_value():
    row = judged(
        Claim("a.lines", lambda: {"lines": 3, "note": "all of them"}, kind="count", bound=3)
    )
    assert (row["value"], row["note"], row["verdict"]) == (3, "all of them", "ok")


def test_what_needs_a_gpu_is_not_judged_here():
    row = judged(Claim("a.b", lambda: 1, kind="count", bound=2, judges="gpu"))
    assert (row["verdict"], row["note"]) == ("-", "needs a GPU to judge")


# Planting a bug


SOURCE = "x = 1\n# --8<-- [start:kernel]\ny = x + 1\nz = 1\n    # --8<-- [end:kernel]\nx = y\n"


def bug(old, new, section="kernel"):
    return Bug("b", section, old, new, "a.b", "error", "what one sees")


def test_a_bug_changes_its_section_and_nothing_else():
    assert plant(SOURCE, bug("x + 1", "x - 1")) == SOURCE.replace("x + 1", "x - 1")


@pytest.mark.parametrize(
    ("old", "section", "times"), [("x + 2", "kernel", 0), ("1", "kernel", 2), ("x", "launch", 0)]
)
def test_a_bug_whose_text_is_not_once_in_its_section_is_refused(old, section, times):
    with pytest.raises(ValueError, match=rf"^its text occurs {times} times in section {section}$"):
        plant(SOURCE, bug(old, "y", section))


def test_clocks_are_numbers_and_what_the_driver_does_not_tell_is_none():
    assert judge.number_or_none("1980") == 1980.0 and judge.number_or_none("[N/A]") is None
