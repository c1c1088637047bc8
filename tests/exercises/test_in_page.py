"""What the playground's worker is answered: JSON, from an exercise as the build writes it."""

import json

import pytest
import yaml
from exercise import FOLDER
from in_page import check_exercise, run_exercise, run_snippet

NAME = "06_relu_bias"
HEAD = "import triton\nimport triton.language as tl\n\n"


@pytest.fixture(scope="module")
def data() -> str:
    folder = FOLDER / NAME
    words = yaml.safe_load((folder / "exercise.yml").read_text(encoding="utf-8"))
    cases = (folder / "cases.py").read_text(encoding="utf-8")
    return json.dumps({"name": NAME, "data": words, "cases": cases})


def solution() -> str:
    return (FOLDER / NAME / "solution.py").read_text(encoding="utf-8")


def starter() -> str:
    return (FOLDER / f"{NAME}.py").read_text(encoding="utf-8")


def test_a_solution_passes_and_shows_the_first_case(data: str):
    answer = json.loads(check_exercise(data, solution()))
    assert (answer["passed"], answer["case"]) == (True, 0)
    assert answer["texts"]["en"] == "All 5 cases are correct."
    assert answer["trace"]["launches"] == [{"kernel": "relu_bias_kernel", "grid": [3, 2, 1]}]


def test_a_wrong_answer_shows_the_case_that_failed(data: str):
    wrong = solution().replace("row * stride_xm", "row * n_cols")
    answer = json.loads(check_exercise(data, wrong))
    assert (answer["passed"], answer["line"], answer["case"]) == (False, 10, 2)
    assert answer["cases"][2].startswith("padded_rows (x: float32[3, 5] strides (7, 1)")
    assert "stride_xm" in answer["texts"]["zh"]
    assert answer["trace"]["faults"][0]["kind"] == "gap"


def test_a_file_as_handed_out_runs_and_its_hole_is_named(data: str):
    answer = json.loads(run_exercise(data, starter(), 1))
    assert (answer["passed"], answer["case"]) == (None, 1)
    assert "`...` in line 16" in answer["texts"]["en"]
    assert answer["trace"]["tensors"][0]["shape"] == [2, 8]


def test_a_hole_that_stops_the_run_is_all_that_is_said(data: str):
    answer = json.loads(run_exercise(data, solution().replace("cols < n_cols", "..."), 0))
    assert "`...` in line 9" in answer["texts"]["en"]
    assert answer["trace"] is None


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("def relu_bias(x:\n", 1, "line 1"),
        (HEAD + "import torch\n", 4, "Delete `import torch` in line 4"),
        (HEAD + "def relu(x):\n    pass\n", None, "There is no function `relu_bias`"),
    ],
)
def test_what_cannot_run_is_a_sentence_with_its_line(data: str, source, line, said):
    for answer in (run_exercise(data, source, 0), check_exercise(data, source)):
        read = json.loads(answer)
        assert (read["line"], read["trace"]) == (line, None)
        assert said in read["texts"]["en"]


def test_a_run_judges_nothing_and_draws_the_chosen_case(data: str):
    answer = json.loads(run_exercise(data, solution(), 4))
    assert (answer["passed"], answer["texts"]) == (None, None)
    assert answer["trace"]["steps"] == []


def test_a_snippet_says_what_it_printed():
    answer = json.loads(run_snippet("print(1 + 1)\n"))
    assert answer["trace"]["printed"] == "2\n"
    assert answer["cases"] == []
