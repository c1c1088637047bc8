"""Nothing is contradicted; before a release, nothing that a page cites is pending or stale."""

import json
from datetime import timedelta

import pytest
from planted import add, found

from proof.checks import records
from proof.checks.rules import check

TOO_FAST = {
    "name": "third",
    "p10_ms": 1e-6,
    "median_ms": 1e-6,
    "p90_ms": 1e-6,
    "repeats": 9,
    "work": 10**6,
    "unit": "B",
}
CHANGED = (
    "def programs(n):\n    return",
    "def programs(n):\n    n = n\n    return",
)  # another lab hash


def release(tiny) -> list[str]:
    return sorted(found(tiny, records.unproven))


def test_C026_a_record_edited_by_hand_is_found(tiny):
    text = tiny.gpu.read_text(encoding="utf-8")
    tiny.gpu.write_text(text.replace('"nonfinite": 0', '"nonfinite": 1'), encoding="utf-8")
    file = tiny.gpu.relative_to(tiny.root).as_posix()
    assert found(tiny, records.contradictions) == [
        f"{file}:1: the record was edited: its content no longer fits its name"
    ]


def test_C026_an_error_that_doubles_above_its_bound_is_found(tiny):
    bound = tiny.book().claims[tiny.error].bound
    path = tiny.record(
        utc="2026-11-21T12:00:00+00:00",
        rows={tiny.error: dict.fromkeys(("value", "max_abs_err", "max_rel_err"), 2 * bound)},
    )
    (line,) = found(tiny, records.contradictions)
    assert line.startswith(path.relative_to(tiny.root).as_posix())
    assert f"{tiny.error} is contradicted on NVIDIA H200" in line


def test_a_bug_that_is_not_caught_is_found(tiny):
    tiny.record(
        utc="2026-11-21T12:00:00+00:00", rows={tiny.bug: {"value": "ok", "verdict": "error"}}
    )
    (line,) = found(tiny, records.contradictions)
    assert f"{tiny.bug} is contradicted" in line


def test_the_interpreter_contradicts_too(tiny):
    tiny.record(kind="interpreter", rows={tiny.count: {"value": 5}})
    (line,) = found(tiny, records.contradictions)
    assert f"{tiny.count} is contradicted on Triton interpreter" in line


def test_the_row_of_a_contradiction_is_named(tiny):
    path = tiny.record(utc="2026-11-21T12:00:00+00:00", rows={tiny.count: {"value": 5}})
    (problem,) = records.contradictions(tiny.book())
    assert tiny.count in path.read_text(encoding="utf-8").split("\n")[problem.line - 1]


def test_a_verdict_is_never_believed(tiny):
    tiny.record(utc="2026-11-21T12:00:00+00:00", rows={tiny.count: {"value": 5, "verdict": "ok"}})
    assert len(found(tiny, records.contradictions)) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"timings": [TOO_FAST, TOO_FAST]}, "third does 1.0e+15 B/s, more than NVIDIA H200 can"),
        ({"value": 9.0, "low": 9.0, "high": 9.0}, "the value is 9.0, and its timings say"),
        ({"why": "because"}, "why is 'because', the lab says"),
    ],
)
def test_what_no_run_prints_is_found_in_a_filed_record_too(tiny, change, said):
    """As of a record whose name was made to fit again."""
    path = tiny.record(utc="2026-11-21T12:00:00+00:00", rows={tiny.ratio: change})
    assert all(
        line.startswith(path.relative_to(tiny.root).as_posix())
        for line in found(tiny, records.contradictions)
    )
    assert any(said in line for line in found(tiny, records.contradictions))


def test_a_bound_that_is_widened_for_the_same_reason_is_found(tiny):
    claim = tiny.book().claims[tiny.error]
    tiny.write(tiny.lab, tiny.read(tiny.lab).replace("2 * 2**-25", "8 * 2**-25"))
    line = tiny.read(tiny.lab).split("8 * 2**-25")[0].count("\n") + 1
    assert set(found(tiny, records.contradictions)) == {
        f"{tiny.lab}:{line}: the bound of ragged_fp32.max_abs_err was 5.96e-08 when it was measured, and is 2.384e-07 "
        "for the same reason"
    }
    tiny.write(tiny.lab, tiny.read(tiny.lab).replace(claim.why, "eight roundings"))
    assert found(tiny, records.contradictions) == []


def test_a_record_of_a_lab_that_is_gone_is_found(tiny):
    tiny.remove(tiny.lab)
    file = tiny.gpu.relative_to(tiny.root).as_posix()
    assert found(tiny, records.contradictions) == [f"{file}:1: no lab is called 'triton_tiny'"]


def test_a_record_that_fits_no_schema_is_found(tiny):
    data = json.loads(tiny.gpu.read_text(encoding="utf-8"))
    del data["device"]
    tiny.gpu.write_text(json.dumps(data), encoding="utf-8")
    assert any(
        problem.file == tiny.gpu.relative_to(tiny.root).as_posix() for problem in check(tiny.book())
    )


# Age


def test_a_run_of_181_days_is_a_warning_and_one_of_180_is_none(tiny):
    day = tiny.book().records[0].utc.date()
    tiny.remove(tiny.source)
    assert list(records.aged(tiny.book(day + timedelta(days=180)))) == []
    (problem,) = records.aged(tiny.book(day + timedelta(days=181)))
    assert problem.warning and problem.what.endswith("claims: measured 181 days ago")


def test_a_document_read_long_ago_is_a_warning(tiny):
    (problem,) = [
        p
        for p in records.aged(tiny.book(tiny.today + timedelta(days=170)))
        if p.file == tiny.source
    ]
    assert problem.warning and problem.what == "read 198 days ago"


def test_an_aged_claim_may_be_released(tiny):
    day = tiny.book().records[0].utc.date() + timedelta(days=181)
    assert list(records.unproven(tiny.book(day))) == []


# Before a release


def test_an_edited_lab_shows_what_readers_lose_by_it(tiny):
    assert found(tiny, records.lost) == []
    tiny.edit(tiny.lab, *CHANGED)
    (problem,) = records.lost(tiny.book())
    assert (problem.file, problem.warning) == (tiny.lab, True)
    assert "readers see a badge and no number for 1 cited claims, on index.md" in problem.what


def test_an_edited_lab_that_no_page_cites_costs_readers_nothing(tiny):
    tiny.edit(tiny.lab, *CHANGED)
    for lang in ("zh", "en"):
        call = f'{{{{ claim("{tiny.error}") }}}}'
        tiny.edit(f"docs/{lang}/index.md", call, "0")
    assert found(tiny, records.lost) == []


def test_C026_a_changed_lab_is_green_until_a_release(tiny):
    tiny.edit(tiny.lab, *CHANGED)
    assert all(problem.warning for problem in check(tiny.book()))
    assert [line.split(" on a GPU")[0] for line in release(tiny)] == [
        f"docs/en/index.md:3: {tiny.error} is stale-source",
        f"docs/zh/index.md:3: {tiny.error} is stale-source",
    ]


def test_a_claim_without_a_gpu_run_is_green_until_a_release(tiny):
    tiny.remove("labs/records")
    tiny.record(kind="interpreter")
    assert check(tiny.book()) == []
    assert [line.split(":")[0] for line in release(tiny)] == [
        "docs/en/index.md",
        "docs/zh/index.md",
    ]


def test_a_claim_that_no_page_cites_may_be_pending(tiny):
    path = tiny.record(
        utc="2026-11-21T12:00:00+00:00", rows={tiny.ratio: {"verdict": "-", "note": "no memory"}}
    )
    assert path and release(tiny) == []


def test_an_old_environment_forbids_a_release(tiny):
    tiny.remove("labs/records")
    tiny.record(triton="3.5.0")
    assert all("stale-env" in line for line in release(tiny)) and len(release(tiny)) == 2


def test_what_the_interpreter_is_cited_for_needs_its_run(tiny):
    add(tiny, f'{{{{ claim("{tiny.count}", on="interpreter") }}}}', "en")
    assert release(tiny) == [
        f"docs/en/index.md:5: {tiny.count} is pending in the interpreter: no run is filed"
    ]
    tiny.record(kind="interpreter")
    assert release(tiny) == []


@pytest.mark.parametrize(
    "macro", ['{{ bug_diff("tiny.no_mask") }}', '{{ claims("tiny.large_fp32.vs_copy") }}']
)
def test_a_bug_and_a_table_cite_claims_too(tiny, macro):
    add(tiny, macro, "en")
    tiny.edit(tiny.lab, *CHANGED)
    assert sum("docs/en/index.md:5" in line for line in release(tiny)) == 1


def test_a_bound_is_the_lab_s_and_needs_no_run(tiny):
    add(tiny, f'{{{{ claim("{tiny.ratio}", field="bound") }}}}', "en")
    tiny.edit(tiny.lab, *CHANGED)
    assert all(":3:" in line for line in release(tiny))
