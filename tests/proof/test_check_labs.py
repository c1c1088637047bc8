"""A lab carries the common part, says what it needs and breaks itself."""

import pytest
from planted import found

from proof.check import check
from proof.checks import labs
from proof.fix import MARKER, fix


def test_a_changed_byte_of_the_common_part_is_found_and_mended(tiny):
    tiny.edit(tiny.lab, "def compare(pairs):", "def compare(pairs, slack=1):")
    (line,) = found(tiny, labs.faults)
    assert line.endswith("the common part is not proof/common.py's")
    fix(tiny.root)
    assert found(tiny, labs.faults) == []


def test_a_missing_common_part_is_found(tiny):
    text = tiny.read(tiny.lab)
    tiny.write(tiny.lab, text[: text.index(MARKER)])
    assert f"{tiny.lab}:1: there is no common part" in found(tiny, labs.faults)


def test_windows_line_ends_in_a_lab_are_no_fault(tiny):
    tiny.write(tiny.lab, tiny.read(tiny.lab).replace("\n", "\r\n"))
    assert found(tiny, labs.faults) == []


REQUIREMENTS = {
    "torch": '"torch>=2.11,<2.15", ',
    "triton": "\"triton>=3.6,<3.10; sys_platform == 'linux'\", ",
    "numpy": ', "numpy"]',
}


@pytest.mark.parametrize("package", REQUIREMENTS)
def test_a_requirement_left_out_is_found(tiny, package):
    tiny.edit(tiny.lab, REQUIREMENTS[package], "]" if package == "numpy" else "")
    assert found(tiny, labs.faults) == [f"{tiny.lab}:3: the header does not ask for {package}"]


def test_a_missing_header_is_found(tiny):
    text = tiny.read(tiny.lab)
    tiny.write(tiny.lab, text[text.index('"""') :])
    assert any(problem.what == "has no PEP 723 header" for problem in check(tiny.book()))


@pytest.mark.parametrize("key", ["Learn", "Run", "Memory", "Card", "Minutes"])
def test_a_card_that_lacks_a_line_is_found(tiny, key):
    lines = tiny.read(tiny.lab).split("\n")
    tiny.write(tiny.lab, "\n".join(line for line in lines if not line.startswith(f"{key}:")))
    assert found(tiny, labs.faults) == [f"{tiny.lab}:5: the docstring lacks {key}"]


def test_a_lab_without_a_break_is_found(tiny):
    text = tiny.read(tiny.lab)
    start, end = text.index('    "no_mask"'), text.index("}\n# fmt: on")
    tiny.write(tiny.lab, text[:start] + text[end:])
    (line,) = found(tiny, labs.faults)
    assert line.endswith("there is no break")


def test_a_claim_without_a_reason_for_its_bound_is_found(tiny):
    tiny.edit(tiny.lab, "two roundings of a result below one half", " ")
    assert any("gives no reason for its bound" in problem.what for problem in check(tiny.book()))


def test_less_memory_than_a_run_took_is_a_warning(tiny):
    tiny.edit(tiny.lab, "Memory:  1 GiB", "Memory:  256 MiB")
    (problem,) = labs.memory(tiny.book())
    assert problem.warning and problem.what.startswith("Memory says 0.25 GiB, and tiny.")
    assert problem.what.endswith("took 512 MiB on NVIDIA H200")


def test_the_largest_figure_of_memory_counts(tiny):
    tiny.edit(tiny.lab, "Memory:  1 GiB", "Memory:  0.25 GiB, and 2 GiB for the one past 2**31 elements")
    assert found(tiny, labs.memory) == []


def test_the_peak_of_an_older_lab_does_not_count(tiny):
    tiny.edit(tiny.lab, "Memory:  1 GiB", "Memory:  256 MiB")
    tiny.edit(tiny.lab, "def programs(n):\n    return", "def programs(n):\n    n = n\n    return")
    assert found(tiny, labs.memory) == []
