"""proof/book/lab.py: a lab is read without running it, and whatever does not fit is named with its line."""

from __future__ import annotations

import ast

import pytest
from tiny_project import LAB

from proof.book.model import Argument
from proof.book.tables import arithmetic


def test_a_lab_is_read_without_running_it(tiny):
    tiny.edit(
        tiny.lab, "import torch\nimport triton\n", "import torch\nraise SystemExit('it was run')\n"
    )
    lab = tiny.book().labs["triton_tiny"]
    assert lab.title == "A third: each element divided by three."
    assert lab.card == {
        "Learn": "one load, one store",
        "Run": "python triton_tiny.py",
        "Memory": "1 GiB",
        "GPU": "any",
        "Minutes": "1",
    }
    assert lab.requires == {"torch": ">=2.11,<2.15", "triton": ">=3.6,<3.10", "numpy": ""}
    assert list(lab.claims) == [tiny.error, tiny.count, tiny.ratio, tiny.bug]


def test_its_switches_are_those_of_the_judge(tiny):
    assert tiny.book().labs["triton_tiny"].switches == {
        "TRITON_DEFAULT_FP_FUSION": "1",
        "TRITON_DISABLE_LINE_INFO": "1",
    }
    tiny.edit(
        "labs/judge.py", '"TRITON_DISABLE_LINE_INFO": "1",', '"TRITON_DISABLE_LINE_INFO": "0",'
    )
    assert tiny.book().labs["triton_tiny"].switches["TRITON_DISABLE_LINE_INFO"] == "0"


def test_a_claim_is_a_row_of_the_table(tiny):
    claim = tiny.book().claims[tiny.error]
    assert (claim.kind, claim.judges, claim.gib) == ("error", "any", 0)
    assert claim.arguments == {"n": Argument("1000", 1000)}
    assert claim.bound == 2.0**-24
    assert claim.why == "two roundings of a result below one half"


def test_what_a_row_leaves_out_is_as_claims_py_says(tiny):
    tiny.edit(tiny.lab, "bound=2 * 2**-25, ", "")
    assert tiny.book().claims[tiny.error].bound == 0.0
    tiny.edit("labs/claims.py", "bound: float | int | str = 0.0", "bound: float | int | str = 0.25")
    assert tiny.book().claims[tiny.error].bound == 0.25


def test_fields_may_come_by_position_or_by_name(tiny):
    before = tiny.book().claims[tiny.count]
    tiny.edit(
        tiny.lab,
        'dict(n=1000), kind="count", bound=4, why=',
        'kind="count", bound=4, args=dict(n=1000), why=',
    )
    assert tiny.book().claims[tiny.count] == before
    tiny.edit(
        tiny.lab,
        'kind="count", bound=4, args=dict(n=1000), why="th',
        'dict(n=1000), "count", 4, "any", 0, why="th',
    )
    assert tiny.book().claims[tiny.count] == before


def test_a_bound_may_name_a_constant_of_the_lab(tiny):
    tiny.edit(tiny.lab, "# fmt: off\n", "BLOCKS = 2\n# fmt: off\n")
    tiny.edit(tiny.lab, "bound=4,", "bound=2 * BLOCKS,")
    assert tiny.book().claims[tiny.count].bound == 4


def test_a_claim_without_arguments_has_none(tiny):
    tiny.edit(tiny.lab, 'programs, dict(n=1000), kind="count"', 'programs, kind="count"')
    assert tiny.book().claims[tiny.count].arguments == {}


def test_a_prediction_comes_with_its_tolerance(tiny):
    tiny.edit(tiny.lab, "bound=0.95,", "bound=0.95, predicted=2 / 3, tolerance=0.05,")
    claim = tiny.book().claims[tiny.ratio]
    assert (claim.predicted, claim.tolerance) == (2 / 3, 0.05)


def test_a_bug_takes_judges_and_memory_from_its_claim(tiny):
    tiny.edit(tiny.lab, "bound=2 * 2**-25,", 'bound=2 * 2**-25, judges="gpu", gib=14,')
    claim = tiny.book().claims[tiny.bug]
    assert (claim.kind, claim.bound, claim.judges, claim.gib, claim.claim) == (
        "bug",
        "guard",
        "gpu",
        14,
        tiny.error,
    )


def test_a_section_has_its_text_and_first_line(tiny):
    line, text = tiny.book().labs["triton_tiny"].sections["kernel"]
    assert text.startswith("@triton.jit\ndef third_kernel(") and text.endswith("mask=mask)\n")
    assert LAB.split("\n")[line - 1] == "@triton.jit"


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('Claim("ragged.programs"', 'Claim("ragged_fp32.max_abs_err"', "programs, dict", "is in CLAIMS twice"),
        ('"ragged.programs"', '"Ragged.programs"', "programs, dict", "is not a claim id"),
        ('"ragged.programs"', 'f"ragged.programs"', "programs, dict", "the id of a row of CLAIMS is not a string literal"),
        ('kind="count"', 'kind="counts"', "programs, dict", "has the kind 'counts'"),
        ('kind="count"', "kind=COUNT", "programs, dict", "has the kind COUNT"),
        ("bound=4", "bound=programs(1000)", "programs, dict", "has the bound programs(1000)"),
        ("bound=4", 'bound=4, judges="all"', "programs, dict", "can be judged by 'all'"),
        ("2 * 2**-25", "2 * 2**-25 * eps", "error, dict", "has the bound 2 * 2 ** (-25) * eps"),
        ("2 * 2**-25", "9.0**9**9", "error, dict", "has the bound"),
        ("2 * 2**-25", '"small"', "error, dict", "has the bound 'small'"),
        ('"three full blocks and a ragged one"', '""', "programs, dict", "gives no reason for its bound"),
        (', why="three full blocks and a ragged one"', "", "programs, dict", "gives no reason for its bound"),
        ("gib=1", "gib=0.5", "speed, dict", "needs 0.5 GiB"),
        ("gib=1", "memory=1", "speed, dict", "Claim has no field memory"),
        ("speed, dict(n=2**26)", "speed, dict(n=2**26), args=dict(n=2)", "speed, dict", "gives args twice"),
        ("speed, dict(n=2**26)", "speed, dict(SIZES)", "speed, dict", "has the arguments dict(SIZES)"),
        ("speed, dict(n=2**26)", "*both", "*both", "a row of CLAIMS unpacks something with *"),
        ("speed, dict(n=2**26)", "speed, **both", "**both", "a row of CLAIMS unpacks something with *"),
        ('"large_fp32.vs_copy", speed, dict(n=2**26)', '"large_fp32.vs_copy"', "large_fp32", "lacks measure"),
        ("bound=0.95", "bound=0.95, predicted=1.5", "speed, dict", "predicts 1.5 with the tolerance 0.0"),
        ("bound=4", "bound=4, predicted=4, tolerance=0.1", "programs, dict", "predicts 4 with the tolerance 0.1"),
        ('    Claim("ragged.programs", programs', '    row("ragged.programs", programs', "programs, dict", "a row of CLAIMS is not Claim(…)"),
        ("CLAIMS = [", "CLAIMS = list() + [", "CLAIMS = ", "CLAIMS is not a list literal"),
        ("BUGS = [", "BREAKS = [", "", "BUGS is not a list literal"),
        ('caught_by="ragged_fp32.max_abs_err"', 'caught_by="ragged.max_abs_err"', '"no_mask"', "is not in CLAIMS"),
        ('section="kernel"', 'section="launch"', '"no_mask"', "changes the section launch, which does not exist"),
        ('old="offsets < n_elements"', 'old="offsets <= n_elements"', '"no_mask"', "occurs 0 times in section kernel"),
        ('old="offsets < n_elements"', 'old="offsets"', '"no_mask"', "times in section kernel"),
        ('new="offsets >= 0"', 'new="offsets < n_elements"', '"no_mask"', "changes nothing"),
        ('new="offsets >= 0"', "new=OTHER", '"no_mask"', "has for new OTHER, not a string literal"),
        ('how="guard"', 'how="raised"', '"no_mask"', "is to be caught by 'raised'"),
        (', shows="the last block writes past the end"', "", '"no_mask"', "lacks shows"),
        ('"no_mask"', '"no mask"', '"no mask"', "is not a name of a bug"),
        ("    # --8<-- [end:kernel]\n", "", "[start:kernel]", "section kernel is not closed"),
        ("# --8<-- [start:kernel]\n", "", "[end:kernel]", "section kernel is closed and was not open"),
        ('"triton>=3.6', '"triton>==3.6', "# /// script", "the PEP 723 header cannot be read"),
        ("# /// script\n", "", "", "has no PEP 723 header"),
        ("    from judge import", "    from jugde import", "[start:companions]", "imports from jugde.py, which is not beside it"),
        ("# --8<-- [start:companions]\n", "", "", "imports no companion"),
    ],
)  # fmt: skip
def test_a_fault_in_a_lab_is_named_with_its_line(tiny, old, new, line, what):
    tiny.edit(tiny.lab, old, new)
    problems = tiny.book().problems
    named = [problem for problem in problems if what in problem.what]
    assert named, problems
    assert named[0].file == "labs/triton_tiny.py"
    assert line in tiny.read(tiny.lab).split("\n")[named[0].line - 1]
    assert named[0].fix


def test_a_field_that_is_misspelt_names_the_nearest(tiny):
    tiny.edit(tiny.lab, "gib=1", "gibs=1")
    assert str(tiny.book().problems[0]).endswith("Claim has no field gibs. Nearest: gib, args")


def test_a_lab_that_is_not_python_is_named_and_left_out(tiny):
    tiny.edit(tiny.lab, "def third(x, out):", "def third(x, out:")
    book = tiny.book()
    assert book.labs == {}
    assert "is not Python" in book.problems[0].what
    assert "def third" in tiny.read(tiny.lab).split("\n")[book.problems[0].line - 1]


def test_a_companion_that_is_not_python_is_named_by_the_lab(tiny):
    tiny.edit("labs/claims.py", "def allow(", "def allow((")
    assert "its companions cannot be read" in tiny.book().problems[0].what


def test_a_companion_is_no_lab(tiny):
    tiny.write("labs/harness.py", "x = 1\n")
    assert list(tiny.book().labs) == ["triton_tiny"] and tiny.book().problems == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-2**-10", -(2.0**-10)),
        ("64 * 2**-24", 2.0**-18),
        ("(1 + 2) / 4", 0.75),
        ("7 // 2 % 2", 1),
    ],
)
def test_arithmetic_of_numbers(text, value):
    assert arithmetic(ast.parse(text, mode="eval").body) == value


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "f(1)",
        "True",
        "'3'",
        "1 / 0",
        "1e999",
        "9**9**9",
        "(-1)**0.5",
        "1 if 1 else 2",
        "2**5000",
    ],
)
def test_what_is_not_arithmetic_of_numbers(text):
    assert arithmetic(ast.parse(text, mode="eval").body) is None


def test_arithmetic_with_a_constant():
    assert arithmetic(ast.parse("2 * ROWS", mode="eval").body, {"ROWS": 8}) == 16


def test_an_argument_is_as_written_and_as_a_value(tiny):
    tiny.edit(
        tiny.lab,
        "error, dict(n=1000)",
        'error, dict(n=98_432, dtype=torch.float16, way="row", width=2 * 8)',
    )
    assert tiny.book().claims[tiny.error].arguments == {
        "n": Argument("98_432", 98432),
        "dtype": Argument("torch.float16", None),
        "way": Argument('"row"', "row"),
        "width": Argument("2 * 8", 16),
    }


def test_lines_are_kept(tiny):
    lines, lab = tiny.read(tiny.lab).split("\n"), tiny.book().labs["triton_tiny"]
    assert lines[lab.lines["Memory"] - 1] == "Memory:  1 GiB"
    assert lines[lab.lines["BUGS"] - 1] == "BUGS = ["
    assert lines[lab.claims[tiny.count].line - 1].startswith('    Claim("ragged.programs"')
    assert lines[lab.bugs["no_mask"].line - 1].startswith('    Bug("no_mask"')
