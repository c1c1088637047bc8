"""The judge in the playground's evaluator: what it says to an answer, whatever the answer is."""

from answers import solution
from checking import check
from exercise import load_exercise

EXERCISE = load_exercise("01_mask_tail")
SOLUTION = solution("01_mask_tail")


def changed(old, new):
    """The solution with one place changed."""
    assert SOLUTION.count(old) == 1
    return SOLUTION.replace(old, new)


def test_a_store_into_an_input_is_seen():
    store = "tl.store(out_ptr + offsets, x + y, mask=mask)"
    verdict = check(
        EXERCISE, changed(store, f"{store}\n    tl.store(x_ptr + offsets, y, mask=mask)")
    )
    assert (verdict.key, verdict.line) == ("input_changed x", 13)
    assert verdict.text("en").endswith(
        "line 13: x is written, but it is an input and may only be read."
    )
