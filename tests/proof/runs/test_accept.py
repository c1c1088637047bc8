"""proof/runs/accept.py: what may be filed, and what is refused in a sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proof.problem import Fault
from proof.runs.accept import accept
from proof.runs.file import file_record


def accepted(tiny, **changes):
    return accept(tiny.book(), "box.json", tiny.printed(**changes))


def refusal(tiny, **changes):
    with pytest.raises(Fault) as error:
        accepted(tiny, **changes)
    return str(error.value)


def test_a_print_becomes_a_record_without_source_and_with_both_hashes(tiny):
    record = accepted(tiny).record
    assert '"source"' not in record.written and '"companions"' not in record.written
    assert record.lab_sha256 == tiny.book().labs["triton_tiny"].sha256
    assert record.judge_sha256 == tiny.book().labs["triton_tiny"].judge_sha256
    assert record.commit is None


def test_a_run_with_misses_is_accepted_and_names_them(tiny):
    assert accepted(tiny, rows={tiny.count: {"value": 5, "verdict": "error"}}).failed == [
        tiny.count
    ]


def test_a_run_of_an_older_lab_is_accepted_and_says_that_it_is_stale(tiny):
    printed = tiny.printed()
    tiny.edit(tiny.lab, "other=0) / 3", "other=0) / 3.0")
    accepted = accept(tiny.book(), "box.json", printed)
    assert accepted.notes == [
        "triton_tiny: the lab has changed since this run, so its claims will count as stale-source"
    ]


def test_a_run_of_an_older_judge_is_accepted_and_says_that_it_is_stale(tiny):
    printed = tiny.printed()
    tiny.edit("labs/judge.py", "PATIENCE_S = 600", "PATIENCE_S = 300")
    accepted = accept(tiny.book(), "box.json", printed)
    assert accepted.notes == [
        "triton_tiny: the judge has changed since this run, so its claims will count as stale-source"
    ]


def test_clocks_are_kept(tiny):
    clock = {
        "sm_mhz": 1980.0,
        "mem_mhz": 2619.0,
        "power_limit_w": None,
        "throttle": "0x0000000000000000",
    }
    clocks = {"before": clock, "after": clock | {"sm_mhz": 1755.0}}
    assert accepted(tiny, clocks=clocks).record.clocks.after.sm_mhz == 1755.0


def test_a_run_of_an_older_lab_is_held_to_the_bounds_it_had(tiny):
    printed = tiny.printed()
    tiny.edit(tiny.lab, "2 * 2**-25", "2**-25")
    assert accept(tiny.book(), "box.json", printed).failed == []


def test_bom_and_crlf_are_accepted(tiny):
    printed = b"\xef\xbb\xbf" + tiny.printed().replace(b"{", b"{\r\n", 1)
    assert accept(tiny.book(), "box.json", printed).failed == []


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"lab": "triton_tinny", "source": "x = 1"}, "has no PEP 723 header"),
        ({"source": "x = ("}, "is not Python"),
        ({"source": ...}, "holds no source of a lab"),
        ({"schema": 3}, "schema: 3 is not one of 2"),
        ({"schema": 1}, "schema: 1 is not one of 2"),
        ({"companions": ...}, "holds no companions of a lab"),
        ({"companions": {}}, "imports from judge.py, which is not beside it"),
        ({"clocks": {"before": 1980}}, "clocks"),
        ({"surprise": 1}, "surprise is unknown"),
        ({"utc": "2026-12-01T00:00:00+00:00"}, "after today, 2026-11-29"),
        ({"utc": "2026-02-30T00:00:00+00:00"}, "is not a moment in UTC"),
        ({"utc": "yesterday"}, "utc: 'yesterday' is not a moment in UTC"),
        ({"device": {"kind": "npu"}}, "device.kind: 'npu' is not one of"),
        ({"device": {"name": "interpreter"}}, "the GPU is called 'interpreter'"),
        ({"device": {"name": "../../etc"}}, "device.name: '../../etc' does not fit"),
        ({"device": {"name": "<b>H200</b>"}}, "device.name: '<b>H200</b>' does not fit"),
        ({"switches": {"TRITON_INTERPRET": "1"}}, "names a GPU, but TRITON_INTERPRET was set"),
        ({"switches": {"PATH": "/root"}}, "environment.switches.PATH"),
        ({"triton": "3.6.0----"}, "which is no version"),
        ({"triton": "../3.6.0"}, "does not fit"),
    ],
)
def test_a_print_that_cannot_be_is_refused(tiny, changes, what):
    assert what in refusal(tiny, **changes)


ERROR, COUNT, RATIO, BUG = (
    "tiny.ragged_fp32.max_abs_err",
    "tiny.ragged.programs",
    "tiny.large_fp32.vs_copy",
    "tiny.no_mask.bug",
)


@pytest.mark.parametrize(
    ("claim_id", "row", "what"),
    [
        (ERROR, {"id": "tiny.other.max_abs_err"}, "lacks tiny.ragged_fp32.max_abs_err"),
        (ERROR, {"id": "tiny.other.max_abs_err"}, "has the unknown tiny.other.max_abs_err"),
        (ERROR, {"id": COUNT}, "repeats tiny.ragged.programs"),
        (ERROR, {"bound": 1.0}, "bound is 1.0, the lab says 5.96"),
        (ERROR, {"why": "because"}, "why is 'because', the lab says"),
        (RATIO, {"judges": "any"}, "judges is 'any', the lab says 'gpu'"),
        (BUG, {"claim": COUNT}, "claim is 'tiny.ragged.programs', the lab says"),
        (
            ERROR,
            {"value": 1.0, "max_abs_err": 1.0, "scale": 9.0},
            "the verdict is ok, its figures say error",
        ),
        (ERROR, {"value": 1e-9}, "the value is 1e-09, max_abs_err is 2.98"),
        (ERROR, {"nonfinite": 3}, "the verdict is ok, its figures say nonfinite"),
        (
            ERROR,
            {"max_abs_err": ...},
            "max_abs_err is missing, which of an error that was judged must be there",
        ),
        (ERROR, {"peak_mib": 10**6}, "1000000 MiB are more than the GPU has"),
        (COUNT, {"value": 5}, "the verdict is ok, its figures say error"),
        (COUNT, {"value": 4, "verdict": "error"}, "the verdict is error, its figures say ok"),
        (RATIO, {"high": 0.96, "value": 0.99}, "lies outside its spread"),
        (
            RATIO,
            {"high": 0.9, "low": 0.8, "value": 0.85},
            "the verdict is ok, its figures say error",
        ),
        (BUG, {"value": "error"}, "the verdict is ok, its figures say error"),
        (COUNT, {"verdict": "fine"}, "'fine' is not one of"),
    ],
)
def test_a_row_that_is_not_as_its_lab_declares_or_contradicts_itself_is_refused(
    tiny, claim_id, row, what
):
    assert what in refusal(tiny, rows={claim_id: row})


def test_the_interpreter_cannot_judge_what_only_a_gpu_can(tiny):
    row = {"verdict": "ok", "value": 1.0, "low": 1.0, "high": 1.0, "timings": []}
    assert "only a GPU can judge it" in refusal(tiny, kind="interpreter", rows={RATIO: row})


@pytest.mark.parametrize("field", ["value", "max_abs_err", "max_rel_err", "scale"])
def test_c002_a_figure_that_is_not_finite_is_refused_where_the_verdict_is_ok(tiny, field):
    assert refusal(tiny, rows={ERROR: {field: None}})


def test_c002_a_figure_that_is_not_finite_is_kept_where_the_verdict_says_so(tiny):
    row = {
        "value": None,
        "max_abs_err": None,
        "max_rel_err": None,
        "nonfinite": 7,
        "verdict": "nonfinite",
    }
    assert accepted(tiny, rows={ERROR: row}).failed == [ERROR]


def test_c002_a_break_that_is_caught_as_not_finite_has_no_figure(tiny):
    tiny.edit(tiny.lab, 'how="guard"', 'how="nonfinite"')
    assert accepted(tiny, rows={BUG: {"figure": None}}).failed == []


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"1e999"])
def test_c002_a_literal_that_is_not_finite_is_never_stored(tiny, literal):
    printed = tiny.printed().replace(b'"scale": 1.0', b'"scale": ' + literal)
    with pytest.raises(Fault, match="is not a finite number"):
        accept(tiny.book(), "box.json", printed)


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"3", b"1" * 400, b"[" * 100_000, b'{"source": "\\ud800"}', "三".encode("gbk")],
)
def test_what_is_no_print_of_a_lab_is_refused_in_a_sentence(tiny, raw):
    with pytest.raises(Fault):
        accept(tiny.book(), "box.json", raw)


JUNK = st.sampled_from(
    [
        ...,
        None,
        True,
        -1,
        1e308,
        "",
        "x" * 3000,
        "-",
        "raised",
        "../..",
        "\0",
        [],
        {},
        [[]],
        {"a": 1},
    ]
)


def places(data):
    """Every container in the data, with each of its keys."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield data, key
        if isinstance(value, dict | list):
            yield from places(value)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_anywhere_it_is_accepted_or_refused_in_sentences(tiny, data):
    printed = json.loads(tiny.printed())
    container, key = data.draw(st.sampled_from(list(places(printed))))
    junk = data.draw(JUNK)
    if junk is ...:
        del container[key]
    else:
        container[key] = junk
    try:
        accepted = accept(tiny.book(), "box.json", json.dumps(printed).encode())
    except Fault as error:
        assert "box.json" in str(error) or "line" in str(error)
    else:
        assert file_record(tiny.root, accepted.record)[0].is_relative_to(
            tiny.root / "labs" / "records"
        )


def test_a_lab_that_is_not_there_is_named_with_the_nearest(tiny):
    source = tiny.read(tiny.lab).replace('"tiny', '"tinny')
    printed = json.loads(tiny.printed(lab="triton_tinny"))
    printed["source"] = source
    with pytest.raises(Fault, match=r"triton_tinny, which is not in labs/\. Nearest: triton_tiny"):
        accept(tiny.book(), "box.json", json.dumps(printed).encode())
