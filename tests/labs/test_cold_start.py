"""What triton_cold_start does not claim of itself: bad arguments, the cases by their ids, the watch, the arithmetic of its GPU claims."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import incident
import judge
import pytest
import torch
from process import finish_process, start_process

FP16, FP32 = torch.float16, torch.float32
pytestmark = pytest.mark.filterwarnings(
    "ignore:divide by zero encountered in log2"
)  # of a row that sees no key


@pytest.fixture(scope="module")
def cold(lab):
    return lab("triton_cold_start")


def tensors(n_queries, n_keys, heads=(4, 2), head_dim=16, seed=0):
    gen = torch.Generator().manual_seed(seed)
    shapes = (
        (heads[0], n_queries, head_dim),
        (heads[1], n_keys, head_dim),
        (heads[1], n_keys, head_dim),
    )
    return [(torch.rand(shape, generator=gen) * 2 - 1).to(FP16) for shape in shapes]


def close(got, want, atol=2**-11 + 2**-12 + 2**-14):
    assert torch.equal(got.isneginf(), want.isneginf()) and not got.isnan().any()
    finite = want.isfinite()
    assert finite.sum() == 0 or (got.double() - want)[finite].abs().max() <= atol


# Right results at every size


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 127, 129])
def test_c035_lengths_that_are_no_multiple_of_the_tile(cold, n, causal):
    for n_queries, n_keys in ((n, 33), (33, n)):
        q, k, v = tensors(n_queries, n_keys)
        for got, want in zip(
            cold.attention(q, k, v, causal=causal), cold.reference(q, k, v, causal), strict=True
        ):
            close(got, want)


def test_c035_what_lies_past_the_end_never_contributes(cold):
    q, k, v = tensors(17, 40)
    around = [torch.full((t.shape[0], 64, 16), math.nan, dtype=FP16) for t in (q, k, v)]
    for room, t in zip(around, (q, k, v), strict=True):
        room[:, : t.shape[1]] = t
    inside = [room[:, : t.shape[1]] for room, t in zip(around, (q, k, v), strict=True)]
    for got, want in zip(
        cold.attention(*inside, causal=False), cold.attention(q, k, v, causal=False), strict=True
    ):
        assert torch.equal(got, want)


@pytest.mark.parametrize(
    ("n_queries", "n_keys"), [(5, 3), (3, 5), (1, 7), (7, 1), (70, 33), (4, 0)]
)
def test_c010_rows_that_see_no_key_are_zero_with_lse_minus_infinity(cold, n_queries, n_keys):
    q, k, v = tensors(n_queries, n_keys)
    out, lse = cold.attention(q, k, v)
    unseen = max(n_queries - n_keys, 0)
    assert not out[:, :unseen].any() and lse[:, :unseen].isneginf().all()
    assert lse[:, unseen:].isfinite().all() and not out.isnan().any()
    close(out, cold.reference(q, k, v)[0])


def test_c010_the_last_query_sees_every_key(cold):
    q, k, v = tensors(3, 40)
    (last, _), (whole, _) = cold.attention(q, k, v), cold.attention(q, k, v, causal=False)
    assert torch.equal(last[:, -1], whole[:, -1])
    assert not torch.equal(last[:, 0], whole[:, 0])


@pytest.mark.parametrize("heads", [(8, 8), (8, 2), (6, 3), (28, 4), (4, 1)])
def test_c033_each_query_head_reads_its_own_group(cold, heads):
    q, k, v = tensors(3, 5, heads)
    v.copy_(torch.arange(heads[1])[:, None, None].expand(v.shape))
    want = torch.arange(heads[0]) // (heads[0] // heads[1])
    assert torch.equal(cold.attention(q, k, v)[0][:, 0, 0].long(), want)


@pytest.mark.parametrize("heads", [(3, 2), (33, 2), (1, 2), (2, 0)])
def test_c033_heads_that_do_not_divide_are_refused(cold, heads):
    q, k, v = tensors(3, 5, heads)
    with pytest.raises(
        ValueError,
        match=rf"q has {heads[0]} heads and k {heads[1]}; those of k must divide those of q",
    ):
        cold.attention(q, k, v)


@pytest.mark.parametrize("shape", [(0, 5, 16), (4, 0, 16)])
def test_c029_no_query_gives_an_empty_result(cold, shape):
    q, (_, k, v) = torch.zeros(shape, dtype=FP16), tensors(1, 5)
    out, lse = cold.attention(q, k, v)
    assert out.shape == shape and lse.shape == shape[:2]


def test_c012_strided_heads_and_rows_are_read_right(cold):
    q, k, v = tensors(20, 20)
    want = cold.attention(q, k, v)[0]
    rows = [
        t.transpose(0, 1).contiguous().transpose(0, 1) for t in (q, k, v)
    ]  # (length, heads, head_dim) in memory
    assert torch.equal(cold.attention(*rows)[0], want)
    spread = [torch.stack([t, t], dim=1)[:, 0] for t in (q, k, v)]
    assert torch.equal(cold.attention(*spread)[0], want)
    one = k[:1].expand(2, -1, -1)  # both key heads are one and the same memory
    assert torch.equal(cold.attention(q, one, v)[0], cold.attention(q, one.contiguous(), v)[0])


def test_c011_a_row_with_nan_is_nan_and_no_other_row_changes(cold):
    q, k, v = tensors(20, 20)
    want = cold.attention(q, k, v)[0]
    q[1, 7] = math.nan
    got = cold.attention(q, k, v)[0]
    assert got[1, 7].isnan().all()
    got[1, 7] = want[1, 7]
    assert torch.equal(got, want)


def test_c043_the_order_of_programs_makes_no_difference(cold, other_order):
    q, k, v = tensors(150, 150)
    for got, want in zip(cold.attention(q, k, v), cold.reference(q, k, v), strict=True):
        close(got, want)
    assert len(set(other_order)) == 4 * 3 and other_order != sorted(other_order)


def test_the_eager_way_that_it_replaces_gives_the_same(cold):
    q, k, v = tensors(33, 40, head_dim=32)
    close(
        cold.eager(q, k, v)[0], cold.reference(q, k, v)[0], atol=2**-8
    )  # it rounds the scores too


# Bad arguments


@pytest.mark.parametrize("strides", [(0, 16, 1), (48, 15, 1), (1, 1, 1)])
def test_c012_a_result_whose_elements_share_memory_is_refused(cold, strides):
    out = torch.zeros(400, dtype=FP16).as_strided((4, 3, 16), strides)
    with pytest.raises(ValueError, match=r"out has strides .*, so its elements overlap: pass"):
        cold.attention(*tensors(3, 5), out=out)


@pytest.mark.parametrize("strides", [(0, 1), (2, 1)])
def test_c012_a_log_sum_exp_whose_elements_share_memory_is_refused(cold, strides):
    with pytest.raises(ValueError, match=r"lse has strides .*, so its elements overlap: pass"):
        cold.attention(*tensors(3, 5), lse=torch.zeros(40).as_strided((4, 3), strides))


@pytest.mark.parametrize(("written", "shape"), [("out", (4, 3, 16)), ("lse", (4, 3))])
def test_c012_a_result_in_the_memory_of_an_input_is_refused(cold, written, shape):
    q, _, v = tensors(3, 5)
    room = torch.zeros(1000, dtype=FP16)
    result = room.view(FP16 if written == "out" else FP32)[: math.prod(shape)].view(shape)
    with pytest.raises(
        ValueError,
        match=f"{written} overlaps k, which is still being read: pass a tensor of its own",
    ):
        cold.attention(q, room[:160].view(2, 5, 16), v, **{written: result})
    another = torch.from_numpy(room.numpy()[8:])[:160].view(
        2, 5, 16
    )  # other storage, the same memory
    with pytest.raises(
        ValueError,
        match=f"{written} overlaps k, which is still being read: pass a tensor of its own",
    ):
        cold.attention(q, another, v, **{written: result})


def test_c012_queries_that_lie_on_each_other_give_the_result_of_a_copy(cold):
    q, k, v = tensors(5, 5)
    q = torch.linspace(-1, 1, 100, dtype=FP16).as_strided(q.shape, (1, 1, 1))
    assert torch.equal(
        cold.attention(q, k, v)[0],
        cold.attention(q.clone(memory_format=torch.contiguous_format), k, v)[0],
    )


@pytest.mark.parametrize("dtype", [FP32, torch.float64, torch.int32, torch.bfloat16])
def test_c006_dtypes_that_the_kernel_does_not_take(cold, dtype):
    q, k, v = tensors(3, 5)
    with pytest.raises(TypeError, match=f"q is {dtype}; allowed here: torch.float16"):
        cold.attention(q.to(dtype), k, v)


def test_c054_mixed_dtypes_are_named(cold):
    q, k, v = tensors(3, 5)
    with pytest.raises(
        TypeError, match=r"v is torch\.bfloat16; it must be torch\.float16, as q is"
    ):
        cold.attention(q, k, v.bfloat16())


@pytest.mark.parametrize("name", ["q", "k", "v", "out"])
def test_c012_a_head_dim_that_does_not_lie_side_by_side_is_refused(cold, name):
    given = dict(
        zip(
            ("q", "k", "v", "out"),
            (*tensors(16, 16), torch.zeros(4, 16, 16, dtype=FP16)),
            strict=True,
        )
    )
    given[name] = given[name].transpose(1, 2)
    with pytest.raises(
        ValueError, match=rf"{name} has strides .*contiguously: pass {name}\.contiguous\(\)"
    ):
        cold.attention(**given)


def test_c048_a_tensor_elsewhere_is_named(cold):
    q, k, v = tensors(3, 5)
    with pytest.raises(
        ValueError,
        match="k is on meta; this run needs every tensor on one cpu device, and q is on cpu",
    ):
        cold.attention(q, k.to("meta"), v)


@pytest.mark.parametrize("wrong", [[1.0], 2.0, None, torch.eye(2).to_sparse()])
def test_an_argument_that_is_no_dense_tensor_is_named(cold, wrong):
    q, k, _ = tensors(3, 5)
    with pytest.raises(
        TypeError, match=rf"v is {type(wrong).__name__}; it must be a torch\.Tensor with strides"
    ):
        cold.attention(q, k, wrong)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(q=torch.zeros(4, 3, 24, dtype=FP16)), "q has head_dim 24; allowed: 16, 32, 64, 128"),
        (
            dict(k=torch.zeros(2, 6, 16, dtype=FP16)),
            r"v has shape \(2, 5, 16\); it must have \(2, 6, 16\)",
        ),
        (
            dict(out=torch.zeros(4, 4, 16, dtype=FP16)),
            r"out has shape \(4, 4, 16\); it must have \(4, 3, 16\)",
        ),
        (dict(lse=torch.zeros(4, 4)), r"lse has shape \(4, 4\); it must have \(4, 3\)"),
        (dict(lse=torch.zeros(3, 4).t()), r"lse has strides .*pass lse\.contiguous\(\)"),
        (
            dict(q=torch.zeros(3, 16, dtype=FP16)),
            r"q has shape \(3, 16\); it must be \(heads, length, head_dim\)",
        ),
        (
            dict(q=torch.zeros(4, 3, 16, dtype=FP16, requires_grad=True)),
            r"q requires a gradient.*pass q\.detach\(\)",
        ),
        (
            dict(k=torch.zeros(1, 1, 16, dtype=FP16).expand(2, 2**30 + 1, 16)),
            r"v has shape|lengths end at 2\*\*30",
        ),
    ],
)
def test_what_does_not_fit_is_named(cold, change, words):
    given = dict(zip("qkv", tensors(3, 5), strict=True)) | change
    with pytest.raises(ValueError, match=words):
        cold.attention(**given)


def test_a_log_sum_exp_of_another_dtype_is_refused(cold):
    with pytest.raises(TypeError, match=r"lse is torch\.float16; allowed here: torch\.float32"):
        cold.attention(*tensors(3, 5), lse=torch.zeros(4, 3, dtype=FP16))


def test_c012_a_result_in_another_part_of_an_inputs_buffer_is_taken(cold):
    q, k, v = tensors(3, 5)
    room = torch.zeros(1000, dtype=FP16)
    room[:160].view(k.shape).copy_(k)
    out = room[160:352].view(q.shape)
    cold.attention(q, room[:160].view(k.shape), v, out=out)
    assert torch.equal(out, cold.attention(q, k, v)[0])


def test_a_length_past_the_limit_names_it(cold):
    q, k, _ = tensors(3, 5)
    long = k[:, :1].expand(2, 2**30 + 1, 16)
    with pytest.raises(
        ValueError, match=r"4 heads of 3 queries and 1,073,741,825 keys: lengths end at 2\*\*30"
    ):
        cold.attention(q, long, long)


def test_c012_an_expanded_output_is_refused(cold):
    q, k, v = tensors(3, 5)
    with pytest.raises(
        ValueError, match=r"out has strides \(0, 16, 1\), so its elements overlap: pass"
    ):
        cold.attention(q, k, v, out=torch.zeros(1, 3, 16, dtype=FP16).expand(4, 3, 16))


def test_out_may_not_be_what_is_still_read(cold):
    q, k, v = tensors(3, 5)
    with pytest.raises(
        ValueError, match="out overlaps q, which is still being read: pass a tensor of its own"
    ):
        cold.attention(q, k, v, out=q)


# The tuner and the plan


def test_c007_the_first_call_equals_the_second_and_inputs_stay(cold):
    cold.tuned_kernel.cache.clear()
    given = tensors(3, 3000, (1, 1))
    kept = [t.clone() for t in given]
    with cold.watching() as log:
        first = cold.attention(*given, path=cold.tuned)
    assert [phase.name for phase in log] == ["tune"] * 3
    with cold.watching() as log:
        second = cold.attention(*given, path=cold.tuned)
    assert log == [] and torch.equal(first[0], second[0]) and torch.equal(first[1], second[1])
    assert all(torch.equal(t, k) for t, k in zip(given, kept, strict=True))


def test_c024_every_configuration_is_right_on_its_own(cold, dirty):
    ways = [(cold.attention_kernel, config.all_kwargs()) for config in cold.CONFIGS]
    ways += [(cold.served_kernel, config) for config in (*cold.PLAN.values(), cold.GENERAL)]
    assert len(ways) == len(cold.CONFIGS) + len(incident.BUCKETS) + 1
    q, k, v = tensors(130, 130, (1, 1))
    for way in ways:
        close(cold.attention(q, k, v, path=lambda _, way=way: way)[0], cold.reference(q, k, v)[0])


@pytest.mark.parametrize(
    ("n", "bucket"),
    [(1, 16), (16, 16), (17, 32), (2048, 2048), (2049, 4096), (8192, 8192), (8193, 16384)],
)
def test_a_length_belongs_to_the_power_of_two_that_holds_it(cold, n, bucket):
    assert cold.bucket_of(n) == bucket


def test_the_plan_holds_winners_that_the_tuner_could_have_chosen(cold):
    assert tuple(cold.PLAN) == incident.BUCKETS
    for bucket, plan in cold.PLAN.items():
        allowed = cold.worth_trying(cold.CONFIGS, {"bucket": bucket})
        assert any(
            c.kwargs | {"num_warps": c.num_warps, "num_stages": c.num_stages} == plan
            for c in allowed
        )


def test_lengths_outside_the_plan_take_the_general_configuration(cold):
    for n in (1, 300, 1024, 8193, 12_000):
        assert cold.planned(n) == (cold.served_kernel, cold.GENERAL)


def test_a_bucket_too_small_for_every_tile_still_has_a_candidate(cold):
    assert cold.worth_trying(cold.CONFIGS, {"bucket": 16}) == cold.CONFIGS[:1]
    assert [len(cold.worth_trying(cold.CONFIGS, {"bucket": b})) for b in incident.BUCKETS] == [
        2,
        3,
        6,
    ]


# The prompts


def test_the_prompts_are_the_same_every_day():
    lengths = incident.traffic()
    assert lengths == incident.traffic()
    for bucket in incident.BUCKETS:
        inside = [n for n in lengths if incident.bucket_of(n) == bucket]
        assert len(inside) == incident.PER_BUCKET == 40
        assert [n for n in inside if n % 16 == 0] == [bucket]  # one of them fills its bucket
        assert min(inside) > 15 / 16 * bucket  # so that they take about as long
    assert (
        sorted(set(lengths) & set(incident.RARE)) == sorted(incident.RARE) and len(lengths) == 122
    )


def test_the_first_prompts_of_longer_buckets_come_later():
    firsts = [
        [incident.bucket_of(n) for n in incident.traffic()].index(bucket)
        for bucket in incident.BUCKETS
    ]
    assert firsts == sorted(firsts) and firsts[0] == 0 and firsts[1] >= 10


# The watch, where there is something to watch: the compiler needs no GPU


def compiling(cold, tmp_path, code, **environment):
    """Runs code in a process that compiles for sm_90 into an empty cache; what it printed."""
    text = f"""
import sys; sys.path.insert(0, {str(Path(cold.__file__).parent)!r})
import triton_cold_start as lab
from offline import TARGETS, compiling_for
with compiling_for(TARGETS["sm_90"]):
{code}"""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    env = quiet | {"TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    env |= {"TRITON_CACHE_DIR": str(tmp_path)} | environment
    return subprocess.run(
        [sys.executable, "-B", "-c", text], env=env, capture_output=True, text=True, timeout=100
    )


def test_the_watch_tells_compiling_from_finding_on_disk_from_having(cold, tmp_path):
    code = """
    small = dict(BLOCK_M=16, BLOCK_N=16, num_warps=4, num_stages=1)
    way = lambda n: (kernel, small)
    for kernel in (lab.triton.jit(lab.attention_kernel.fn), lab.triton.jit(lab.attention_kernel.fn)):
        for _ in range(2):
            with lab.watching() as log:
                lab.compile_only(16, path=way)
            print([phase.name for phase in log], all(phase.ms > 0 for phase in log))
"""
    done = compiling(cold, tmp_path, code)
    assert done.stdout.splitlines() == [
        "['compile'] True",
        "[] True",
        "['read'] True",
        "[] True",
    ], done.stderr


def test_a_guarded_watch_fails_at_the_first_compile_and_says_which(cold, tmp_path):
    code = """
    with lab.watching(fail=True):
        lab.compile_only(16)
"""
    done = compiling(cold, tmp_path, code)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("RuntimeError: compile after warm-up: ")
    assert done.stderr.splitlines()[-1].endswith("attention_kernel")


def test_a_guarded_watch_fails_at_a_trial_even_where_nothing_compiles(cold):
    cold.tuned_kernel.cache.clear()
    with (
        pytest.raises(RuntimeError, match="tune after warm-up: a configuration"),
        cold.watching(fail=True),
    ):
        cold.attention(*tensors(1, 3000, (1, 1)), path=cold.tuned)


def test_the_watch_gives_the_hooks_back(cold):
    runtime = cold.triton.knobs.runtime
    before = (
        runtime.jit_cache_hook,
        runtime.jit_post_compile_hook,
        cold.triton.knobs.compilation.listener,
    )
    starts = len(runtime.kernel_load_start_hook.calls)
    with pytest.raises(ZeroDivisionError), cold.watching():
        1 / 0  # noqa: B018
    after = (
        runtime.jit_cache_hook,
        runtime.jit_post_compile_hook,
        cold.triton.knobs.compilation.listener,
    )
    assert (
        after == before
        and len(runtime.kernel_load_start_hook.calls) == starts
        and cold.Watch.current.get() is None
    )


def test_a_prompt_of_one_token_meets_no_new_variant(cold, tmp_path):
    code = """
    lab.warm_up(lab.compile_only)
    with lab.watching() as log:
        lab.compile_only(1)
    print(len(log))
"""
    assert compiling(cold, tmp_path, code).stdout == "0\n"


# The caches on disk


SMALL = """
    small = dict(BLOCK_M=16, BLOCK_N=16, num_warps=4, num_stages=1)
    with lab.watching() as log:
        lab.compile_only(16, path=lambda n: (lab.served_kernel, small))
    print(log[0].name)
"""


def test_c052_two_processes_on_one_empty_cache(cold, tmp_path):
    text = f"""
import sys; sys.path.insert(0, {str(Path(cold.__file__).parent)!r})
import triton_cold_start as lab
from offline import TARGETS, compiling_for
with compiling_for(TARGETS["sm_90"]):
{SMALL}"""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    env = quiet | {
        "TRITON_INTERPRET": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "TRITON_CACHE_DIR": str(tmp_path),
    }
    start = dict(env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    both = [subprocess.Popen([sys.executable, "-B", "-c", text], **start) for _ in range(2)]
    said = [process.communicate(timeout=100) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert {out.strip() for out, _ in said} <= {"compile", "read"} and "compile\n" in {
        out for out, _ in said
    }
    assert compiling(cold, tmp_path, SMALL).stdout == "read\n", "what they left is whole"


def test_c052_a_cache_that_is_read_only_still_serves_what_is_in_it(cold, tmp_path):
    assert compiling(cold, tmp_path, SMALL).stdout == "compile\n"
    made = [path for path in (tmp_path, *tmp_path.rglob("*")) if path.is_dir()]
    for path in made:
        path.chmod(0o555)
    try:
        assert compiling(cold, tmp_path, SMALL).stdout == "read\n"
    finally:
        for path in made:
            path.chmod(0o755)


# No speed without a GPU


def test_c051_no_speed_comes_from_the_interpreter(cold):
    ratios = [claim for claim in cold.CLAIMS if claim.kind == "ratio"]
    assert len(ratios) >= 12
    for claim in ratios:
        row = judge.judge_claim(cold, claim)
        assert (
            row["verdict"] == "-" and row["note"] == "needs a GPU to judge" and "value" not in row
        )


# The arithmetic of claims that only a GPU can judge


def life(first, later, spent=(), rare=(9.0, 9.0)):
    """One prompt of each bucket that takes `first`, then those that take `later`; every one waits 1 ms, and works 0.1 ms a layer."""
    rows = []
    for bucket in (2048, 4096, 8192):
        for i, ms in enumerate([first, *later]):
            phases = dict(spent) if i == 0 else {}
            rows.append(
                {"n": bucket - 1, "ms": ms, "ttft_ms": ms + 1, "kernel_ms": 0.1, "spent": phases}
            )
    rows += [
        {"n": n, "ms": ms, "ttft_ms": ms, "kernel_ms": 0.1, "spent": {}}
        for n, ms in zip((300, 12_001), rare, strict=True)
    ]
    return {"rows": rows, "warm_ms": 1500.0, "chosen": {"2048": "BLOCK_M: 64"}}


@pytest.fixture
def lives():
    return {
        "empty": life(
            900.0,
            [2.0, 3.0, 4.0],
            {"compile": 500.0, "tune": 300.0, "load": 10.0},
            rare=(90.0, 60.0),
        ),
        "fixed": life(4.0, [2.0, 3.0, 4.0], rare=(9.0, 2.0)),
    }


@pytest.fixture
def seen(lives, monkeypatch):
    """The figures of these lives."""
    figures = incident.Incident(None)
    monkeypatch.setattr(figures, "lives", lambda: lives)
    return figures


def test_a_first_hit_is_counted_in_medians_of_later_ones_in_the_mildest_bucket(seen, lives):
    lives["empty"]["rows"][4]["ms"] = 60.0  # the first of the second bucket
    row = seen.first_vs_p50("empty")
    assert row["value"] == 20.0 and (row["low"], row["high"]) == (15.0, 30.0)
    assert [timing["median_ms"] for timing in row["timings"]] == [60.0, 3.0]
    assert seen.first_vs_p50("empty", bucket="worst")["value"] == 300.0


def test_after_the_fix_the_worst_bucket_counts(seen, lives):
    lives["fixed"]["rows"][8]["ms"] = 6.0  # the first of the third bucket
    row = seen.p50_vs_first("fixed")
    assert row["value"] == 0.5
    assert [(each["name"], each["median_ms"]) for each in row["timings"]] == [
        ("later", 3.0),
        ("first", 6.0),
        ("warm-up", 1500.0),
    ]


def test_the_series_hold_every_prompt_in_the_order_they_came(seen, lives):
    own, ttft = seen.first_vs_p50("empty")["series"]
    assert own["values"] == [row["ms"] for row in lives["empty"]["rows"]]
    assert ttft["values"] == [row["ttft_ms"] for row in lives["empty"]["rows"]]
    assert own["unit"] == ttft["unit"] == "ms"


def test_p99_is_the_value_that_all_but_one_in_a_hundred_stay_below():
    row = incident.times_row("a", [float(n) for n in range(1, 101)], "b", [1.0])
    assert row["timings"][0]["p99_ms"] == 100.0
    row = incident.times_row("a", [float(n) for n in range(1, 123)], "b", [1.0])
    assert row["timings"][0]["p99_ms"] == 121.0 and row["value"] == 62.0


def test_p99_of_the_time_to_first_token_before_over_after(seen, lives):
    row = seen.p99("empty", "fixed")
    assert [timing["p99_ms"] for timing in row["timings"][:2]] == [901.0, 9.0]
    assert {timing["name"]: timing["median_ms"] for timing in row["timings"][2:]} == {
        "longest first hit before": 900.0,
        "longest first hit after": 4.0,
    }
    assert row["value"] == row["low"] == row["high"] == 901 / 9


def test_the_phases_of_a_first_hit_are_summed(seen, lives):
    row = seen.explained("empty")
    assert row["value"] == 810 / 900
    assert {each["name"]: each["median_ms"] for each in row["timings"]} == {
        "phases": 810.0,
        "first": 900.0,
        "compile": 500.0,
        "tune": 300.0,
        "load": 10.0,
        "kernels": 0.1 * incident.QWEN.layers,
    }


def test_the_kernels_own_time_is_compared_not_the_prompts(seen, lives):
    lives["empty"]["rows"][0]["kernel_ms"] = 0.2
    assert seen.kernel_flat("empty")["value"] == 0.5


def test_warm_kernels_are_compared_without_the_first_prompt(seen, lives):
    for at in (0, 4, 8):
        lives["fixed"]["rows"][at]["kernel_ms"] = 9.0
    row = seen.warm_speed("fixed", "empty")
    assert row["value"] == 1.0 and row["note"] == "chosen by empty: 2048: BLOCK_M: 64"


def test_a_rare_prompt_counts_where_it_gains_least(seen, lives):
    assert seen.rare_speed("empty", "fixed")["value"] == 10.0


def test_phases_while_serving_are_counted_by_prompt(seen, lives):
    assert seen.phases("fixed") == 0
    assert seen.phases("empty", names=("tune",)) == 3 and seen.phases("empty") == 9


SPANS = [
    {"lane": "CPU", "name": "compile", "start_ms": 0.0, "ms": 600.0},
    {"lane": "CPU", "name": "tune", "start_ms": 600.0, "ms": 100.0},
    {"lane": "CPU", "name": "compile", "start_ms": 700.0, "ms": 200.0},
    {"lane": "GPU", "name": "kernels", "start_ms": 610.0, "ms": 130.0},
]


@pytest.fixture
def worked(monkeypatch):
    figures = incident.Incident(None)
    job = {"eager": 9.0, "first": 1.0, "rest": 3.0, "spans": SPANS}
    monkeypatch.setattr(figures, "lives", lambda: {"job": job})
    return figures


def test_idle_is_the_part_of_compiling_in_which_no_kernel_runs(worked):
    row = worked.idle("compile")
    assert row["value"] == (800 - 40) / 800 and row["spans"] == SPANS


def test_the_job_is_compared_with_its_cold_start(worked):
    row = worked.job_speed()
    assert row["value"] == 9 / 4
    assert [each["median_ms"] for each in row["timings"]] == [9000.0, 4000.0, 1000.0]


def test_joining_spans_loses_no_time_and_closes_only_small_gaps():
    spans = [
        {"lane": "GPU", "name": "kernels", "start_ms": at, "ms": 1.0}
        for at in (10.0, 0.0, 1.5, 50.0)
    ]
    assert [(s["start_ms"], s["ms"]) for s in incident.joined(spans, 0.4)] == [
        (0.0, 2.5),
        (10.0, 1.0),
        (50.0, 1.0),
    ]


def test_joining_keeps_names_apart_and_leaves_its_input_alone():
    kept = [dict(span) for span in SPANS]
    assert incident.joined(SPANS[:3], 1.0) == SPANS[:3] and kept == SPANS
    inside = [SPANS[0], SPANS[0] | {"start_ms": 100.0, "ms": 10.0}]
    assert incident.joined(inside, 1.0) == [SPANS[0]]


def test_without_a_file_no_process_can_import_the_lab():
    with pytest.raises(RuntimeError, match="needs the lab as a file: download it"):
        incident.Incident(None).lives()


# New processes


@pytest.fixture(scope="module")
def started(cold):
    """started(call, folder): a new process that waits with this call of the lab."""

    def start(call, folder, keep=False, path=Path(cold.__file__)):
        return start_process(path, call, incident.cache_environment(str(folder), keep))

    return start


def test_a_process_waits_until_it_is_told_to_go_on(started, tmp_path):
    first, second = (started(f"bucket_of({n})", tmp_path) for n in (2000, 3000))
    assert (finish_process(second), finish_process(first)) == (4096, 2048)


def test_a_copy_under_any_name_elsewhere_finds_the_companions(cold, started, tmp_path):
    copy = tmp_path / "triton_cold_start (1).py"
    copy.write_bytes(Path(cold.__file__).read_bytes())
    assert finish_process(started("bucket_of(2000)", tmp_path, path=copy)) == 2048


def test_a_process_that_fails_is_reported(started, tmp_path):
    process = started("bucket_of('long')", tmp_path)
    with pytest.raises(RuntimeError, match=r"a new process failed: (?s:.*)TypeError"):
        finish_process(process)


def test_a_process_has_the_cache_and_the_setting_that_it_was_born_with(
    started, tmp_path, monkeypatch
):
    monkeypatch.setenv("TRITON_INTERPRET", "0")  # the interpreter keeps no tuning results
    for keep in (True, False):
        assert finish_process(started("tuned_kernel.cache_results", tmp_path, keep=keep)) is keep
    assert finish_process(started("triton.knobs.cache.dir", tmp_path)) == str(tmp_path)


# Seeded bugs whose claim is no error


@pytest.mark.parametrize(
    ("name", "figure"), [("general_not_warmed", 1), ("lengths_specialized", 3)]
)
def test_a_bug_of_the_warm_up_says_how_many_compiles_it_missed(cold, name, figure):
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    command = [sys.executable, cold.__file__, "--bug", name, "--json"]
    done = subprocess.run(
        command,
        env=quiet | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=100,
    )
    row = json.loads(done.stdout)["claims"][0]
    assert (row["verdict"], row["value"], row["figure"]) == ("ok", "error", figure), done.stderr
