"""The doubting harness: whatever a lab claims of its results, the interpreter judges again while everything around it is hostile.

It takes every lab as it comes: from CLAIMS the error claims that the interpreter judges, from the file its kernels,
their masked accesses and their configurations. Whoever needs an exception declares it in EXCEPT, with the reason.
"""

import functools
import inspect
import itertools
import warnings
from dataclasses import asdict

import judge as instrument  # labs/judge.py
import pytest
import torch
import triton
from doubting import (
    ROOT,
    Seen,
    accesses,
    changed,
    claims_of,
    dirtied,
    doubting,
    first_fault,
    judge,
    kernels_of,
    reseeded,
    tuners,
)
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st

STEMS = sorted(path.stem for path in (ROOT / "labs").glob("triton_*.py"))
LABS = [
    pytest.param(stem, marks=pytest.mark.xdist_group(stem)) for stem in STEMS
]  # one worker holds what a lab took
SEEDS = 20
SIZES = (
    "n",
    "M",
    "N",
    "K",
    "n_rows",
    "n_cols",
)  # arguments of a measure that any small whole number may replace

EXCEPT: dict[str, dict[str, str]] = {
    # property: {claim, lab, or kernel and pointer: why it need not have it}
    "order": {},
    "fence": {
        "softmax.past_2_31_fp16.max_rel_err": "4 GiB of gaps: unwritten they take address space only, guarded memory",
        "debugging.tight_fp16.max_rel_err": "nothing stands round its tensors, which is the lesson",
        "debugging.flush_fp16.max_rel_err": "nothing stands round its tensors, which is the lesson",
        "pytorch_paths": "its operators make their results themselves; here every address is watched all the same",
    },
    "blind": {},
    "seed": {},
    "mask": {
        "fit.fused_kernel bias_ptr": "offsets % n_cols lies inside of bias, whatever the offset",
    },
    "sizes": {
        "vector_add.special_fp32.max_abs_err": "its 81 pairs of special values need 81 places",
        "codegen.dot_fp16.max_abs_err": "its kernel is read, not used: whole tiles along K, and no mask",
        "codegen.dot_fp32.max_abs_err": "its kernel is read, not used: whole tiles along K, and no mask",
        "codegen.by_constexpr.max_abs_err": "its kernel is read, not used: whole blocks, and no mask",
        "codegen.by_argument.max_abs_err": "its kernel is read, not used: whole blocks, and no mask",
    },
}


def excepted(what: str, name: str) -> bool:
    """Whether it is declared, by its own name or for the whole lab."""
    return name in EXCEPT[what] or name.split(".")[0] in EXCEPT[what]


@pytest.fixture(scope="session")
def doubted(lab):
    """doubted(stem, order, seed): each error claim that the interpreter judges, judged so."""

    @functools.cache
    def once(stem: str, order: str = "", seed: int = 0) -> dict[str, Seen]:
        return {
            claim: judge(lab(stem), claim, order, seed, keep=not order)
            for claim in claims_of(lab(stem))
        }

    return once


def faults(seen: dict[str, Seen]) -> dict[str, str]:
    return {claim: one.fault for claim, one in seen.items() if one.fault}


# Every lab


@pytest.mark.parametrize("stem", LABS)
def test_c023_hostile_memory_and_no_fill_for_free_change_nothing(doubted, stem):
    assert faults(doubted(stem)) == {}


@pytest.mark.parametrize("stem", LABS)
def test_c043_results_do_not_depend_on_the_order_of_programs(doubted, stem):
    there, back = doubted(stem), doubted(stem, "reversed")
    assert faults(back) == {}
    differ = [one.row["id"] for claim, one in back.items() if one.digest != there[claim].digest]
    assert [claim for claim in differ if not excepted("order", claim)] == []


@pytest.mark.parametrize("stem", LABS)
def test_another_seed_and_a_shuffled_order_hold_as_well(doubted, stem):
    here, other = doubted(stem), doubted(stem, "shuffled", 1)
    assert faults(other) == {}
    if here and not excepted("seed", stem):
        assert any(one.digest != here[claim].digest for claim, one in other.items()), (
            "no claim draws its values by a seed"
        )


@pytest.mark.parametrize("stem", LABS)
def test_every_claim_sets_guards_round_its_tensors(doubted, stem):
    bare = [
        one.row["id"] for one in doubted(stem).values() if one.doubts.kernels and not one.guarded
    ]
    assert [claim for claim in bare if not excepted("fence", claim)] == []


@pytest.mark.parametrize("stem", LABS)
def test_c006_c014_what_the_interpreter_computes_otherwise_is_never_judged_by_it(doubted, stem):
    blind = {
        one.row["id"]: list(one.doubts.blind) for one in doubted(stem).values() if one.doubts.blind
    }
    assert {claim: why for claim, why in blind.items() if not excepted("blind", claim)} == {}


@pytest.mark.parametrize("stem", LABS)
def test_c024_each_configuration_is_right_alone(lab, doubted, stem):
    """On the two quickest claims that launch the kernel; on all of them in the long tests."""
    assert alone(lab(stem), doubted(stem), 2) == {}


@pytest.mark.deep
@pytest.mark.parametrize("stem", LABS)
def test_c024_each_configuration_is_right_alone_on_every_claim(lab, doubted, stem):
    assert alone(lab(stem), doubted(stem), None) == {}


def alone(module, seen: dict[str, Seen], most: int | None) -> dict[str, str]:
    """What fails when a tuned kernel has but one of its configurations."""
    failed = {}
    for tuner, configs in tuners(module).items():
        name = tuner.base_fn.__name__
        quickest = sorted(
            (c for c, one in seen.items() if name in one.doubts.kernels),
            key=lambda c: seen[c].seconds,
        )
        kept = tuner.configs
        try:
            for config, claim in itertools.product(configs, quickest[:most]):
                tuner.configs = [config]
                tuner.cache.clear()
                if fault := judge(module, claim).fault:
                    failed[f"{name} as {config}"] = fault
        finally:
            tuner.configs = kept
            tuner.cache.clear()
    return failed


@pytest.mark.deep
@pytest.mark.parametrize("stem", LABS)
def test_twenty_seeds_hold(lab, stem):
    module = lab(stem)
    for seed in range(2, SEEDS):
        seen = {claim: judge(module, claim, "shuffled", seed) for claim in claims_of(module)}
        assert faults(seen) == {}, f"seed {seed}"


@pytest.mark.parametrize("stem", LABS)
def test_kernels_that_the_interpreter_never_runs_are_told(lab, doubted, stem):
    """They are no failure, a claim of the compiler may need no run, but nobody shall think that they were doubted."""
    launched = set().union(*(one.doubts.kernels for one in doubted(stem).values()), set())
    if missing := sorted(kernels_of(lab(stem)) - launched):
        warnings.warn(
            f"{stem}: no error claim that the interpreter judges launches {', '.join(missing)}",
            stacklevel=1,
        )
    assert launched <= kernels_of(lab(stem)) | launched


# A claim that cannot fail says nothing


def row_mean(want):
    return want.nan_to_num(0, 0, 0).mean(-1, keepdim=True).expand(want.shape)


INSTEAD = {
    "zeros": torch.zeros_like,
    "a constant": lambda want: torch.full_like(want, 0.5),
    "the mean of each row": row_mean,
}


@pytest.mark.parametrize("stem", LABS)
@pytest.mark.parametrize("name", INSTEAD)
def test_c008_what_is_not_the_result_passes_no_claim(doubted, stem, name):
    failed = 0
    for claim, one in doubted(stem).items():
        false = [(INSTEAD[name](want.double()).to(got.dtype), want) for got, want in one.pairs]
        if all(torch.equal(got, want.to(got.dtype)) for got, want in false):
            continue  # nothing in it, or it is right after all: zeros of no products, the mean of one element
        measured = asdict(instrument.compare(false))
        verdict = instrument.verdict(
            one.row | measured | {"value": measured[claim.rpartition(".")[2]]}
        )
        assert verdict in ("error", "nonfinite"), claim
        failed += 1
    assert failed or not doubted(stem)


# Any size: a property of every measure whose claims name sizes


def sized(module) -> dict[tuple, tuple]:
    """For each measure with all its arguments but sizes, and each metric: the largest sizes claimed, and the largest bound."""
    found: dict[tuple, tuple] = {}
    for claim in claims_of(module):
        row = instrument.claim_named(module, claim)
        sizes = {name: value for name, value in row.args.items() if name in SIZES}
        rest = {name: value for name, value in row.args.items() if name not in SIZES}
        whole = sizes and all(type(value) is int and value > 0 for value in sizes.values())
        if (
            not whole
            or row.gib > 1
            or excepted("sizes", f"{module.__name__.removeprefix('triton_')}.{claim}")
        ):
            continue
        key = row.measure, str(rest), claim.rpartition(".")[2], frozenset(sizes)
        _, most, widest = found.get(key, (rest, {}, 0.0))
        found[key] = (
            rest,
            {name: max(size, most.get(name, 1)) for name, size in sizes.items()},
            max(row.bound, widest),
        )
    return found


def measured(measure, arguments: dict):
    """What a measure returns, with guards of its own if it takes some."""
    if "guards" in inspect.signature(measure).parameters:
        return measure(instrument.Guards(), **arguments)
    return measure(**arguments)


def any_size(module, examples: int) -> None:
    """Raises AssertionError, which names measure and sizes, where a result at some smaller size is outside of the bound."""
    quick = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )

    def property_of(measure, rest, metric, most, bound):
        lengths = {
            name: st.integers(1, min(size, 2100 if len(most) == 1 else 100))
            for name, size in most.items()
        }

        @quick
        @given(sizes=st.fixed_dictionaries(lengths), seed=st.integers(0, 99))
        def holds(sizes, seed):
            with reseeded(seed), dirtied(), doubting() as doubts:
                try:
                    row = asdict(instrument.compare(measured(measure, rest | sizes)))
                except (ValueError, IndexError):
                    reject()  # a launcher may refuse a size, and a measure may have no place for its special values
            assert not doubts.outside and not row["nonfinite"], (
                measure.__name__,
                rest,
                sizes,
                list(doubts.outside),
            )
            assert row[metric] <= bound, (measure.__name__, rest, sizes, row, bound)

        return holds

    for (measure, _, metric, _), (rest, most, bound) in sized(module).items():
        property_of(measure, rest, metric, most, bound)()


@pytest.mark.parametrize("stem", LABS)
def test_any_smaller_size_stays_within_the_widest_bound(lab, stem):
    any_size(lab(stem), 4)


@pytest.mark.deep
@pytest.mark.parametrize("stem", LABS)
def test_any_smaller_size_stays_within_the_widest_bound_often(lab, stem):
    any_size(lab(stem), 200)


# Faults on purpose: every mask of every kernel that is launched, taken away


MASKS = [
    pytest.param(stem, number, id=f"{stem}-{kernel}-{line}", marks=pytest.mark.xdist_group(stem))
    for stem in STEMS
    for number, (kernel, line, _, _) in enumerate(accesses(ROOT / "labs" / f"{stem}.py"))
]


def unlike_sizes(module) -> str:
    """What the property of any size finds."""
    try:
        any_size(module, 10)
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("stem", "number"), MASKS)
def test_a_mask_taken_away_is_named(doubted, tmp_path, stem, number):
    kernel, line, text, access = accesses(ROOT / "labs" / f"{stem}.py")[number]
    seen = doubted(stem)
    claims = sorted(
        (c for c, one in seen.items() if kernel in one.doubts.kernels),
        key=lambda c: seen[c].seconds,
    )
    if not claims:
        pytest.skip(f"the interpreter never runs {kernel}")
    without = changed(tmp_path / f"{stem}.py", text)
    fault = first_fault(without, claims) or unlike_sizes(without)
    named = f"{kernel} " in fault and "outside of its tensors" in fault
    for where, reason in EXCEPT["mask"].items():
        name, _, pointer = where.partition(" ")
        if name == f"{stem.removeprefix('triton_')}.{kernel}" and pointer in access:
            assert not named, (
                f"labs/{stem}.py:{line}: this mask is needed, and its exception is not: {reason}"
            )
            return
    assert named, f"labs/{stem}.py:{line}: no claim needs this mask"


@pytest.mark.parametrize(
    ("stem", "old", "new", "claim", "order", "said"),
    [
        pytest.param(
            "triton_softmax", ', other=-float("inf")', "", "one_row_fp32.max_rel_err", "",
            "softmax.one_row_fp32.max_rel_err is nonfinite", id="a fill is left out",
        ),
        pytest.param(
            "triton_softmax", '-float("inf")', "0.0", "huge_fp32.max_rel_err", "",
            "softmax.huge_fp32.max_rel_err is error", id="a fill is changed",
        ),
        pytest.param(
            "triton_lab_notes", "mask=offsets < n_elements, other=0)", "mask=offsets < n_elements, other=1)", "each_config.max_abs_err", "",
            "lab_notes.each_config.max_abs_err is error", id="a fill is changed in a sum",
        ),
        pytest.param(
            "triton_vector_add",
            "    tl.store(out_ptr + offsets, x + y, mask=mask)",
            "    before = tl.load(out_ptr + pid * BLOCK_SIZE - 1, mask=pid > 0, other=0)\n"
            "    tl.store(out_ptr + offsets, x + y + (before - before), mask=mask)",
            "whole_fp32.max_abs_err", "reversed", "vector_add.whole_fp32.max_abs_err is nonfinite", id="programs wait for each other",
        ),
        pytest.param(
            "triton_matmul", "dtype=tl.float32)\n    for k", "dtype=tl.float16)\n    for k", "long_k_fp16.max_rel_err", "",
            "matmul.long_k_fp16.max_rel_err is error", id="an fp16 accumulator",
        ),
        pytest.param(
            "triton_lab_notes", "dtype=tl.float32)\n    for k", "dtype=tl.float16)\n    for k", "dot_fp32.max_abs_err", "",
            "lab_notes.dot_fp32.max_abs_err is", id="an fp16 accumulator of whole numbers",
        ),
        pytest.param(
            "triton_softmax", "    row = tl.program_id", "    x_ptr = tl.multiple_of(x_ptr, 16)\n    row = tl.program_id",
            "views_fp32.max_rel_err", "", "softmax_kernel says that multiples are what are none", id="an unaligned pointer",
        ),
    ],
)  # fmt: skip
def test_a_fault_on_purpose_is_named(lab, tmp_path, stem, old, new, claim, order, said):
    text = (ROOT / "labs" / f"{stem}.py").read_text(encoding="utf-8")
    assert text.count(old) >= 1
    assert not judge(lab(stem), claim, order).fault
    assert said in first_fault(
        changed(tmp_path / f"{stem}.py", text.replace(old, new, 1)), [claim], order
    )


def test_in_their_own_order_programs_may_wait_for_each_other(tmp_path):
    """Why the order is turned round: in it alone, the fault above goes unseen."""
    text = (ROOT / "labs" / "triton_vector_add.py").read_text(encoding="utf-8")
    waits = text.replace(
        "    tl.store(out_ptr + offsets, x + y, mask=mask)",
        "    before = tl.load(out_ptr + pid * BLOCK_SIZE - 1, mask=pid > 0, other=0)\n"
        "    tl.store(out_ptr + offsets, x + y + (before - before), mask=mask)",
    )
    assert (
        first_fault(changed(tmp_path / "triton_vector_add.py", waits), ["whole_fp32.max_abs_err"])
        == ""
    )


@pytest.mark.parametrize(("dtype", "precision", "said"), [
    (torch.bfloat16, "ieee", "a_ptr of matmul_kernel is bfloat16"), (torch.float32, "tf32", "INPUT_PRECISION of matmul_kernel is tf32"),
])  # fmt: skip
def test_what_the_interpreter_cannot_judge_is_seen(lab, dtype, precision, said):
    a, b, c = torch.ones(3, 4, 4, dtype=dtype)
    with doubting() as doubts:  # past the launcher, which lets no bfloat16 through
        lab("triton_matmul").matmul_kernel[(1,)](
            a, b, c, 4, 4, 4, 4, 1, 4, 1, 4, 1, INPUT_PRECISION=precision
        )
    assert said in doubts.blind


def test_an_unknown_triton_is_refused(monkeypatch):
    monkeypatch.setattr(triton, "__version__", "4.0.0")
    with (
        pytest.raises(
            pytest.fail.Exception, match=r"Triton 4\.0\.0: see that its interpreter loads as 3\.6, "
        ),
        doubting(),
    ):
        pass
