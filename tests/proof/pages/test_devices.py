"""Records of other cards: what they change of a claim's state, and the page that shows them."""

from __future__ import annotations

import pytest

from proof.evidence import state
from proof.pages.devices import devices_page

CARD = {"name": "NVIDIA GeForce RTX 4090", "capability": "8.9", "sms": 128, "memory_mib": 24_000}
LATER = "2026-11-25T12:00:00+00:00"


@pytest.fixture
def both(tiny):
    """both(rows): the tiny project with a run on an H200, and a later one on another card with these rows."""

    def file(**rows):
        tiny.record()
        tiny.record(
            device=CARD,
            utc=LATER,
            rows={getattr(tiny, name): fields for name, fields in rows.items()},
        )
        return tiny.book()

    return file


SLOW = {
    "value": 0.6,
    "low": 0.58,
    "high": 0.62,
    "verdict": "error",
    "timings": [
        {
            "name": name,
            "p10_ms": ms,
            "median_ms": ms,
            "p90_ms": ms,
            "repeats": 5,
            "work": 1,
            "unit": "call",
        }
        for name, ms in (("third", 1.0), ("copy", 0.6))
    ],
}


def test_a_ratio_under_its_bound_on_another_card_contradicts_nothing(tiny, both):
    book = both(ratio=SLOW)
    states = {s.record.device_class: s.state for s in state.standings(book, tiny.ratio)}
    assert states == {"nvidia-h200": "valid", "nvidia-geforce-rtx-4090": "valid"}


def test_the_same_on_the_reference_card_is_a_contradiction(tiny):
    tiny.record(utc=LATER, rows={tiny.ratio: SLOW})
    assert state.standing(tiny.book(), tiny.ratio).state == "contradicted"


def test_an_error_above_its_bound_is_a_contradiction_on_any_card(tiny, both):
    wrong = {"value": 1.0, "max_abs_err": 1.0, "verdict": "error"}
    assert state.standing(both(error=wrong), tiny.error).state == "contradicted"


def test_pages_speak_of_the_reference_card_though_another_ran_later(tiny, both):
    assert state.standing(both(ratio=SLOW), tiny.ratio).record.device_class == "nvidia-h200"


def test_a_card_alone_speaks_for_the_claim(tiny):
    tiny.remove("labs/records/nvidia-h200/*/*.json")
    tiny.record(device=CARD, utc=LATER)
    assert state.standing(tiny.book(), tiny.ratio).record.device_class == "nvidia-geforce-rtx-4090"


def test_the_slow_ratio_is_filed_with_a_word_and_is_no_failure(tiny, tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(tiny.printed(device=CARD, utc=LATER, rows={tiny.ratio: SLOW}))
    result = tiny.proof("record", "--from", path)
    assert result.exit_code == 0, result.output
    assert (
        f"under bounds that are set on nvidia-h200, shown as measured: {tiny.ratio}"
        in result.stderr
    )


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_has_a_column_for_each_card_and_marks_what_stands_out(tiny, both, lang):
    text = devices_page(both(ratio=SLOW), lang)
    assert "| H200 | " in text and "RTX 4090" in text
    assert '4 / 4</a> <a class="outlier" href="#outliers">▲ 1</a>' in text
    assert "0.600× ▲ |" in text and "| 0.600× |" in text  # among the speeds, and told below


def test_an_error_far_above_the_reference_cards_is_told(tiny, both):
    book = both(error={"value": 5e-8, "max_abs_err": 5e-8, "max_rel_err": 5e-8})
    tiny.record(
        utc="2026-11-26T12:00:00+00:00", rows={tiny.error: {"value": 1e-9, "max_abs_err": 1e-9}}
    )
    assert "far above the error on the H200" in devices_page(tiny.book(), "en")
    assert "far above" not in devices_page(book, "en")


def test_a_run_of_older_code_does_not_count(tiny, both):
    both()
    tiny.edit("labs/triton_tiny.py", "/ 3, mask", "/ 3.0, mask")
    assert "of older code, does not count" in devices_page(tiny.book(), "en")


@pytest.mark.parametrize(
    ("timings", "what"),
    [
        ([(1e-9, 2**28, "B"), (1e-9, 2**28, "B")], "more than any GPU can"),
        ([(1.0, 1, "call"), (9.0, 1, "call")], "its timings say"),
    ],
)
def test_a_run_that_no_card_can_have_made_is_refused(tiny, tmp_path, timings, what):
    rows = [
        {
            "name": name,
            "p10_ms": ms,
            "median_ms": ms,
            "p90_ms": ms,
            "repeats": 5,
            "work": work,
            "unit": unit,
        }
        for name, (ms, work, unit) in zip(("third", "copy"), timings, strict=True)
    ]
    path = tmp_path / "run.json"
    path.write_bytes(tiny.printed(device=CARD, utc=LATER, rows={tiny.ratio: {"timings": rows}}))
    result = tiny.proof("record", "--from", path)
    assert result.exit_code == 1 and what in result.stderr
