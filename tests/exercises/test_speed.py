"""Exercises that ask for speed: what the answer is timed against is what the reader was handed."""

import pytest
from answers import FOLDER, NAMES, data, handed_out
from checking import without_main

FASTER = [name for name in NAMES if data(name)["kind"] == "speed"]


@pytest.mark.parametrize("name", FASTER)
def test_the_baseline_is_the_kernel_as_handed_out(name):
    docstring, kernel = without_main(handed_out(name)).split('"""\n', 1)
    assert docstring.startswith('"""')
    assert (FOLDER / name / "baseline.py").read_text(encoding="utf-8") == kernel.lstrip()
