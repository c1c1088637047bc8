"""proof/evidence/state.py: every state, each brought about by one planted change."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from tiny_project import make_record

from proof.book.model import Record
from proof.evidence import state
from proof.runs.file import file_record

HASHED = (
    "tiny.ragged_fp32.max_abs_err",
    "tiny.ragged.programs",
    "tiny.large_fp32.vs_copy",
    "tiny.no_mask.bug",
)


def now(tiny, claim_id=None, today=None):
    return state.standing(tiny.book(today), claim_id or tiny.error).state


# The states


@pytest.mark.parametrize("claim_id", HASHED)
def test_a_fresh_run_is_valid(tiny, claim_id):
    s = state.standing(tiny.book(), claim_id)
    assert (s.state, s.row.id, s.record.path, s.note) == ("valid", claim_id, tiny.gpu, "")


@pytest.mark.parametrize(("days", "expected"), [(180, "valid"), (181, "aged")])
def test_a_run_is_aged_after_180_days(tiny, days, expected):
    assert now(tiny, today=date(2026, 11, 20) + timedelta(days)) == expected


def test_without_a_record_a_claim_is_pending(tiny):
    tiny.remove("labs/records")
    s = state.standing(tiny.book(), tiny.error)
    assert (s.state, s.row, s.record, s.note) == ("pending", None, None, "no run on a GPU is filed")


def test_the_interpreter_alone_leaves_a_claim_pending(tiny):
    tiny.remove("labs/records")
    tiny.record(kind="interpreter")
    book = tiny.book()
    assert state.standing(book, tiny.error).state == "pending"
    assert state.interpreter(book, tiny.error).state == "valid"
    assert [s.state for s in state.standings(book, tiny.error)] == ["valid", "pending"]


def test_a_row_that_the_gpu_could_not_judge_is_pending_with_its_reason(tiny):
    tiny.remove("labs/records")
    tiny.record(
        rows={tiny.ratio: {"verdict": "-", "note": "needs 80 GiB of GPU memory, 20.0 are free"}}
    )
    s = state.standing(tiny.book(), tiny.ratio)
    assert (s.state, s.row) == ("pending", None)
    assert s.note == "not judged on NVIDIA H200: needs 80 GiB of GPU memory, 20.0 are free"


def test_an_older_run_that_judged_a_row_counts_where_the_newer_did_not(tiny):
    tiny.record(
        utc="2026-11-25T00:00:00+00:00", rows={tiny.ratio: {"verdict": "-", "note": "no memory"}}
    )
    assert state.standing(tiny.book(), tiny.ratio).record.path == tiny.gpu


def test_a_changed_kernel_makes_a_run_stale(tiny):
    tiny.edit(tiny.lab, "other=0) / 3", "other=0) * 0.33333334")
    s = state.standing(tiny.book(), tiny.error)
    assert (s.state, s.note) == ("stale-source", "the lab has changed since this run")


def test_a_changed_bound_makes_a_run_stale(tiny):
    tiny.edit(tiny.lab, "2 * 2**-25", "2**-25")
    assert now(tiny) == "stale-source"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# [BLOCK_SIZE]", "# as many as BLOCK_SIZE"),
        ('    """One block."""\n', ""),
        ("\n\ndef third(", "\n\n\n\n\ndef third("),
        ("import DEVICE, Bug", "import Bug, DEVICE"),  # what the lab imports from its companions
    ],
)
def test_a_changed_comment_docstring_blank_line_or_import_of_companions_leaves_a_run_valid(
    tiny, old, new
):
    tiny.edit(tiny.lab, old, new)
    assert now(tiny) == "valid"


@pytest.mark.parametrize(
    ("environment", "note"),
    [
        ({"triton": "3.10.0"}, "run with triton 3.10.0; the lab declares >=3.6,<3.10"),
        ({"triton": "3.5.1"}, "run with triton 3.5.1; the lab declares >=3.6,<3.10"),
        ({"torch": "2.15.0+cu130"}, "run with torch 2.15.0+cu130; the lab declares >=2.11,<2.15"),
        (
            {"switches": {"TRITON_DEFAULT_FP_FUSION": "0"}},
            "run with TRITON_DEFAULT_FP_FUSION=0; the lab sets 1",
        ),
    ],
)
def test_a_run_elsewhere_than_declared_is_stale(tiny, environment, note):
    tiny.remove("labs/records")
    tiny.record(**environment)
    s = state.standing(tiny.book(), tiny.error)
    assert (s.state, s.note) == ("stale-env", note)


@pytest.mark.parametrize("triton", ["3.6.0", "3.9.0", "3.9.1+git1234567"])
def test_a_run_inside_the_declared_range_is_valid(tiny, triton):
    tiny.remove("labs/records")
    tiny.record(triton=triton)
    assert now(tiny) == "valid"


def test_a_narrowed_range_makes_a_run_stale_without_a_change_of_the_hash(tiny):
    tiny.edit(tiny.lab, "triton>=3.6,<3.10", "triton>=3.7,<3.10")
    assert now(tiny) == "stale-env"


# Contradiction


def test_c026_a_digit_changed_in_a_record_contradicts(tiny):
    tiny.edit(tiny.gpu, '"value": 2.98', '"value": 1.98')
    s = state.standing(tiny.book(), tiny.error)
    assert s.state == "contradicted" and "was edited" in s.note


def test_c026_a_lab_whose_error_doubles_contradicts_once_it_is_run(tiny):
    tiny.edit(tiny.lab, "other=0) / 3", "other=0) / 3 * 1.0000002")
    assert now(tiny) == "stale-source"
    error = 4 * 2.0**-25
    tiny.record(rows={tiny.error: {"value": error, "max_abs_err": error, "verdict": "error"}})
    assert now(tiny) == "contradicted"


def test_c026_a_figure_has_device_type_shape_seed_versions_and_date(tiny):
    tiny.remove("labs/records")
    tiny.record(rows={tiny.error: {"arguments": {"n": "1000", "dtype": "float32", "seed": "0"}}})
    s = state.standing(tiny.book(), tiny.error)
    assert s.record.device.name == "NVIDIA H200"
    assert s.row.arguments == {"n": "1000", "dtype": "float32", "seed": "0"}
    assert s.record.environment.triton == "3.6.0"
    assert s.record.utc.isoformat() == "2026-11-20T12:00:00+00:00"


def test_the_verdict_is_computed_and_not_read(tiny):
    error = 1.0
    row = {"value": error, "max_abs_err": error, "scale": 9.0, "verdict": "ok"}
    tiny.record(utc="2026-11-21T00:00:00+00:00", rows={tiny.error: row})
    assert now(tiny) == "contradicted"


def test_an_edited_record_contradicts_though_a_newer_one_is_whole(tiny):
    tiny.edit(tiny.gpu, '"value": 2.98', '"value": 1.98')
    tiny.record(utc="2026-11-25T00:00:00+00:00")
    assert now(tiny) == "contradicted"


@pytest.mark.parametrize(
    ("low", "value", "high", "expected"),
    [
        (0.90, 0.94, 0.951, "valid"),  # the spread straddles the bound, 0.95
        (0.95, 0.96, 0.97, "valid"),
        (0.90, 0.92, 0.949, "contradicted"),
    ],
)
def test_a_ratio_contradicts_only_when_its_whole_spread_lies_below(
    tiny, low, value, high, expected
):
    tiny.remove("labs/records")
    tiny.record(rows={tiny.ratio: {"low": low, "value": value, "high": high}})
    assert now(tiny, tiny.ratio) == expected


@pytest.mark.parametrize(
    ("claim_id", "row"),
    [
        (HASHED[0], {"value": None, "max_abs_err": None}),
        (HASHED[0], {"nonfinite": 1}),
        (HASHED[0], {"scale": 1e-8}),  # a result of zeros would pass
        (HASHED[0], {"verdict": "guard"}),
        (HASHED[0], {"verdict": "raised"}),
        (HASHED[1], {"value": 5}),
        (HASHED[1], {"value": None}),
        (HASHED[2], {"high": None}),
        (HASHED[3], {"value": "error"}),
        (HASHED[3], {"value": "raised"}),
    ],
)
def test_a_run_that_fails_contradicts(tiny, claim_id, row):
    tiny.record(utc="2026-11-25T00:00:00+00:00", rows={claim_id: row})
    assert now(tiny, claim_id) == "contradicted"


def test_a_later_run_that_holds_ends_a_contradiction(tiny):
    tiny.record(utc="2026-11-21T00:00:00+00:00", rows={tiny.count: {"value": 5}})
    tiny.record(utc="2026-11-22T00:00:00+00:00")
    assert now(tiny, tiny.count) == "valid"


def test_a_failure_on_another_triton_minor_still_contradicts(tiny):
    tiny.record(utc="2026-11-19T00:00:00+00:00", triton="3.7.1", rows={tiny.count: {"value": 5}})
    assert now(tiny, tiny.count) == "contradicted"


def test_a_failure_of_the_interpreter_is_its_own_truth(tiny):
    tiny.record(kind="interpreter", rows={tiny.count: {"value": 5}})
    book = tiny.book()
    assert state.standing(book, tiny.count).state == "valid"
    assert state.interpreter(book, tiny.count).state == "contradicted"


def test_a_failure_of_a_lab_that_has_changed_since_is_stale(tiny):
    tiny.record(utc="2026-11-21T00:00:00+00:00", rows={tiny.count: {"value": 5}})
    tiny.edit(tiny.lab, "other=0) / 3", "other=0) / 3.0")
    assert now(tiny, tiny.count) == "stale-source"


def test_an_incomplete_record_bears_out_nothing(tiny):
    lab = tiny.book().labs["triton_tiny"]
    tiny.remove("labs/records")
    del lab.claims[tiny.ratio]  # so that the record is made without this row
    file_record(tiny.root, Record.model_validate(make_record(lab)))
    s = state.standing(tiny.book(), tiny.error)
    assert (s.state, s.note) == ("pending", "the record is incomplete: 3 of the lab's 4 rows")


# Which record


def test_the_newest_run_of_a_device_and_minor_counts(tiny):
    newer = tiny.record(utc="2026-11-22T00:00:00+00:00")
    tiny.record(utc="2026-11-19T00:00:00+00:00")
    assert state.standing(tiny.book(), tiny.error).record.path == newer


def test_a_run_of_another_version_of_the_lab_does_not_hide_one_of_this(tiny):
    tiny.record(utc="2026-11-25T00:00:00+00:00", lab_sha256="0" * 64)
    assert state.standing(tiny.book(), tiny.error).record.path == tiny.gpu


def test_each_class_of_device_has_its_standing_newest_first(tiny):
    tiny.record(utc="2026-11-21T00:00:00+00:00", device={"name": "NVIDIA GeForce RTX 4090"})
    tiny.record(utc="2026-11-22T00:00:00+00:00", kind="interpreter")
    found = state.standings(tiny.book(), tiny.error)
    classes = [s.record.device_class for s in found]
    assert classes == ["interpreter", "nvidia-geforce-rtx-4090", "nvidia-h200"]


def test_a_contradiction_on_any_gpu_is_what_readers_see(tiny):
    tiny.record(
        utc="2026-11-01T00:00:00+00:00",
        device={"name": "NVIDIA GeForce RTX 4090"},
        rows={tiny.count: {"value": 5}},
    )
    s = state.standing(tiny.book(), tiny.count)
    assert (s.state, s.record.device.name) == ("contradicted", "NVIDIA GeForce RTX 4090")


def test_any_record_bears_out_a_claim_about_the_compiler(tiny):
    tiny.edit(tiny.lab, 'kind="count", bound=4,', 'kind="codegen", bound=4, judges="compile",')
    tiny.record(kind="interpreter")
    assert now(tiny, tiny.count) == "valid"
    assert now(tiny, tiny.error) == "stale-source"


def test_a_cited_line_at_a_tag_stays_and_a_document_ages(tiny):
    book = tiny.book()
    assert state.standing(book, "source.triton-load").state == "valid"
    assert state.standing(tiny.book(date(2027, 6, 1)), "source.triton-load").state == "aged"


def test_an_unknown_claim_is_named_with_the_nearest(tiny):
    with pytest.raises(
        LookupError, match=r"there is no claim tiny\.ragged\.program.*tiny\.ragged\.programs"
    ):
        state.standing(tiny.book(), "tiny.ragged.program")


# Another judge


def test_a_judge_that_has_changed_makes_a_run_stale(tiny):
    tiny.edit("labs/claims.py", 'return "ok" if value <= bound else "error"', 'return "ok"')
    s = state.standing(tiny.book(), tiny.error)
    assert (s.state, s.note) == ("stale-source", "the judge has changed since this run")


def test_a_run_of_the_lab_and_the_judge_as_they_are_counts_before_a_newer_one(tiny):
    tiny.edit("labs/judge.py", "PATIENCE_S = 600", "PATIENCE_S = 300")
    then = tiny.record(utc="2026-11-10T00:00:00+00:00")
    assert state.standing(tiny.book(), tiny.error).record.path == then


# A prediction


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.5, "valid"), (1.56, "valid"), (1.7, "contradicted"), (1.3, "contradicted")],
)
def test_a_predicted_ratio_fails_in_both_directions(tiny, value, expected):
    tiny.edit(tiny.lab, "bound=0.95,", "bound=0.95, predicted=1.5, tolerance=0.05,")
    tiny.remove("labs/records")
    tiny.record(rows={tiny.ratio: {"value": value, "low": value - 0.001, "high": value + 0.001}})
    assert now(tiny, tiny.ratio) == expected
