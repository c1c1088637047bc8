"""Records that were forged, and whose names were made to fit again, are named; so is what lies
beside them.
"""

import json

import pytest
from planted import found

from proof.checks import filed, records
from proof.checks.rules import check

LATER = "2026-11-21T12:00:00+00:00"
ZEROS = "0" * 64


def timing(**changes):
    """A timing of one row of the record: 1 ms for 1 GB, as an H200 might do."""
    timed = {"p10_ms": 0.9, "median_ms": 1.0, "p90_ms": 1.1, "repeats": 100, "work": 10**9}
    return timed | {"unit": "B", "name": "third"} | changes


def kernel(tiny, **changes):
    """The kernel that the record of the small project names, with changes."""
    return json.loads(tiny.gpu.read_text(encoding="utf-8"))["kernels"][0] | changes


ERROR = "tiny.ragged_fp32.max_abs_err"
RATIO = "tiny.large_fp32.vs_copy"
COUNT = "tiny.ragged.programs"
ROWS = {
    "an error a tenth of itself, with the relative error left": (
        {ERROR: {"value": 1e-9, "max_abs_err": 1e-9}},
        "max_abs_err is 1e-09, and max_rel_err says",
    ),
    "a relative error a tenth of itself": (
        {ERROR: {"max_rel_err": 1e-9}},
        "and max_rel_err says 1e-09 of the scale 1",
    ),
    "a scale ten times as large": ({ERROR: {"scale": 10.0}}, "of the scale 10"),
    "a value that is not the figure of its name": (
        {ERROR: {"value": 1e-9}},
        "the value is 1e-09, max_abs_err is",
    ),
    "a ratio doubled with its timings left": (
        {RATIO: {"value": 2.0, "low": 1.99, "high": 2.01}},
        "the value is 2.0, and its timings say 0.818 to 1.22",
    ),
    "a ratio half as large again": (
        {RATIO: {"value": 1.5, "low": 1.49, "high": 1.51}},
        "the value is 1.5, and its timings say",
    ),
    "a ratio outside its own spread": (
        {RATIO: {"value": 1.1, "low": 0.99, "high": 1.0}},
        "the value 1.1 lies outside its spread",
    ),
    "timings nine times shorter": (
        {
            RATIO: {
                "timings": [
                    timing(p10_ms=0.1, median_ms=0.111, p90_ms=0.122, name=name)
                    for name in ("third", "copy")
                ]
            }
        },
        "more than NVIDIA H200 can, 4.9e+12",
    ),
    "more arithmetic than there is": (
        {RATIO: {"timings": [timing(work=3e12, unit="FLOP", name=n) for n in "ab"]}},
        "more than NVIDIA H200 can, 2.0e+15",
    ),
    "percentiles out of order": (
        {RATIO: {"timings": [timing(p10_ms=1.05), timing(p90_ms=0.95)]}},
        "the percentiles of third are out of order",
    ),
    "memory that the GPU has not": (
        {COUNT: {"peak_mib": 200_000}},
        "200000 MiB are more than the GPU has",
    ),
    "an argument other than the lab's": (
        {COUNT: {"arguments": {"n": "1000000"}}},
        "the argument n is 1000000, the lab says 1000",
    ),
    "a failing row that was declared not judged": (
        {ERROR: {"verdict": "-", "note": "too slow"}},
        "is not judged on a GPU of 143000 MiB, and its reason is 'too slow'",
    ),
    "no memory on an empty GPU": (
        {RATIO: {"verdict": "-", "note": "needs 1 GiB of GPU memory, 0.5 are free"}},
        "is not judged on a GPU of 143000 MiB",
    ),
}


@pytest.mark.parametrize(("rows", "said"), ROWS.values(), ids=ROWS)
def test_a_forged_row_is_named_although_its_record_has_a_fitting_name(tiny, rows, said):
    tiny.remove("labs/records")
    path = tiny.record(rows=rows)
    lines = found(tiny, records.contradictions)
    assert any(said in line for line in lines), lines
    assert {line.split(":")[0] for line in lines} == {path.relative_to(tiny.root).as_posix()}


def test_a_forged_row_is_named_in_a_record_of_an_older_lab_too(tiny):
    tiny.remove("labs/records")
    tiny.record(rows={ERROR: {"max_rel_err": 1e-9}})
    tiny.edit(tiny.lab, "def programs(n):\n    return", "def programs(n):\n    n = n\n    return")
    assert any("max_rel_err says" in line for line in found(tiny, records.contradictions))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"device": {"sms": 7}}, "NVIDIA H200 has 132 SMs, not 7"),
        ({"device": {"capability": "1.0"}}, "NVIDIA H200 has the capability 9.0, not 1.0"),
        ({"kernels": []}, "it was judged on a GPU, and names no kernel that ran there"),
        ({"utc": "2026-11-30T00:00:01+00:00"}, "after today, 2026-11-29"),
        ({"judge_sha256": ZEROS}, f"the judge has the hash {ZEROS}, which is none"),
        ({"lab_sha256": "ab" * 32}, "the lesson has the hash abab"),
    ],
    ids=["sms", "capability", "kernels", "tomorrow", "judge", "lesson"],
)
def test_a_forged_run_is_named(tiny, change, said):
    tiny.remove("labs/records")
    tiny.record(**change)
    assert any(said in line for line in found(tiny, records.contradictions))


def test_hashes_of_code_that_are_none_are_named(tiny):
    tiny.record(utc=LATER, kernels=[kernel(tiny, code_sha256=ZEROS)])
    assert any(
        "third_kernel has the hash 000" in line for line in found(tiny, records.contradictions)
    )


def test_different_launches_that_share_one_code_are_named(tiny):
    launches = [kernel(tiny, num_warps=warps) for warps in (1, 2, 4)]
    tiny.record(utc=LATER, kernels=launches)
    (line,) = found(tiny, records.contradictions)
    assert line.endswith("3 different launches have the same code")


def test_a_full_gpu_may_leave_out_what_does_not_fit(tiny):
    note = "needs 1 GiB of GPU memory, 0.5 are free"
    tiny.remove("labs/records")
    tiny.record(device={"memory_mib": 4000}, rows={RATIO: {"verdict": "-", "note": note}})
    assert found(tiny, records.contradictions) == []


def test_a_reason_that_does_not_fit_the_claim_is_named(tiny):
    note = "needs 80 GiB of GPU memory, 0.5 are free"
    tiny.remove("labs/records")
    tiny.record(device={"memory_mib": 4000}, rows={RATIO: {"verdict": "-", "note": note}})
    assert len(found(tiny, records.contradictions)) == 1


def test_a_record_whose_file_is_named_after_another_day_is_found(tiny):
    tiny.gpu.rename(tiny.gpu.with_name(tiny.gpu.name.replace("20261120", "20261121")))
    (line,) = found(tiny, filed.misnamed)
    assert line.endswith(
        "the file is not named after its run: it would begin with 20261120-t3.6.0-"
    )


def test_the_same_run_under_another_date_is_found(tiny):
    assert found(tiny, filed.repeated) == []
    path = tiny.record(utc=LATER)
    (line,) = found(tiny, filed.repeated)
    assert line.startswith(path.relative_to(tiny.root).as_posix())
    assert tiny.gpu.name in line


def test_a_second_run_with_timings_of_its_own_is_none_of_that(tiny):
    other = [timing(median_ms=1.01), timing(median_ms=1.02, name="copy")]
    tiny.record(utc=LATER, rows={RATIO: {"timings": other}})
    assert found(tiny, filed.repeated) == []


def test_a_newest_run_that_judges_less_is_found(tiny):
    tiny.record(utc=LATER, rows={ERROR: {"verdict": "-", "note": "needs memory"}})
    (line,) = found(tiny, filed.lessened)
    assert f"{ERROR} is not judged, and " in line and tiny.gpu.name in line


def test_a_gpu_that_nobody_knows_needs_a_second_run(tiny):
    other = {"name": "Blackbird X1", "capability": "9.9", "sms": 64}
    tiny.record(device=other)
    (line,) = found(tiny, filed.unknown_devices)
    assert "Blackbird X1 is not in devices.json, and this is its only run of triton_tiny" in line
    tiny.record(device=other, utc=LATER)
    assert found(tiny, filed.unknown_devices) == []


def test_counts_of_versions_json_that_do_not_add_up_are_found(tiny):
    lab = tiny.book().labs["triton_tiny"]
    run = {"lab": "triton_tiny", "lab_sha256": lab.sha256, "triton": "3.6.0", "torch": "2.13.0"}
    run |= {"numpy": "2.3.5", "python": "3.11.7", "day": "2026-11-28", "failed": [], "refused": ""}
    run |= {"ok": 3, "left": 1, "kernels": 1, "uncompiled": []}
    code = {"record": tiny.gpu.relative_to(tiny.root).as_posix(), "lab": "triton_tiny"}
    code |= {"lab_sha256": lab.sha256, "triton": "3.6.0", "same": 1, "differ": [], "unknown": []}
    tiny.write("labs/versions.json", json.dumps({"schema": 1, "runs": [run], "code": [code]}))
    assert found(tiny, filed.miscounted) == []
    forged = [run | {"ok": 4}], [code | {"same": 9}]
    tiny.write(
        "labs/versions.json", json.dumps({"schema": 1, "runs": forged[0], "code": forged[1]})
    )
    assert [line.partition(": ")[2] for line in found(tiny, filed.miscounted)] == [
        "triton_tiny in Triton 3.6.0 has 5 rows, and the lab has 4",
        f"9 kernels of {code['record']} were compiled again, and it names 1",
    ]


def test_a_project_in_order_has_nothing_to_fix(tiny):
    assert check(tiny.book()) == []
