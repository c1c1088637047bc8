"""Every exercise: its solution passes, every typical wrong answer fails as declared, and what is
handed out asks to be filled in; in the playground's evaluator and in Triton's interpreter.
"""

import math
from functools import cache

import pytest
from answers import NAMES, data, handed_out, mistakes, solution, wrong
from checking import check, explained, wrong_results
from exercise import load_exercise
from judging import judge_with_triton

WRONG = [pytest.param(*pair, id="-".join(pair)) for pair in mistakes()]
exercise = cache(load_exercise)


@pytest.fixture
def interpreted(tmp_path):
    """interpreted(name, answer) is the verdict of Triton's interpreter."""

    def judge(name, answer):
        path = tmp_path / f"{name}.py"
        path.write_text(answer, encoding="utf-8")
        return judge_with_triton(exercise(name), path)

    return judge


def test_no_number_is_taken_twice_and_names_are_in_order():
    assert [name[:2] for name in NAMES] == sorted({name[:2] for name in NAMES})


@pytest.mark.parametrize("name", NAMES)
def test_what_is_handed_out_ends_as_the_first_exercise_does(name):
    main = 'if __name__ == "__main__":'
    ends = [handed_out(each).partition(main)[2] for each in (name, NAMES[0])]
    assert ends[0] == ends[1], f"copy the end of {NAMES[0]}.py"


@pytest.mark.parametrize("name", NAMES)
def test_hints_and_mistakes_are_at_least_three(name):
    assert len(data(name)["hints"]) >= 3
    assert len(data(name)["wrong"]) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_a_case_has_an_empty_tensor(name):
    arguments = [argument for case in exercise(name).cases for argument in case.args.values()]
    assert 0 in [math.prod(tensor.sizes) for tensor in arguments if hasattr(tensor, "sizes")]


@pytest.mark.parametrize("name", NAMES)
def test_a_mistake_that_triton_does_not_see_has_a_reason(name):
    unseen = {key for key, each in data(name)["wrong"].items() if "triton" in each}
    assert unseen == {key for key, each in data(name)["wrong"].items() if each.get("because")}


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes_in_the_playground(name):
    verdict = check(exercise(name), solution(name))
    assert verdict.passed, verdict.text("en")


@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes_in_the_interpreter(name, interpreted):
    verdict = interpreted(name, solution(name))
    assert verdict.passed, verdict.text("en")


@pytest.mark.parametrize(("name", "mistake"), WRONG)
def test_a_wrong_answer_is_recognized_in_the_playground(name, mistake):
    verdict = check(exercise(name), wrong(name, mistake))
    assert (verdict.passed, verdict.key) == (False, mistake), verdict.text("en")
    declared = data(name)["wrong"][mistake]
    assert verdict.text("zh").endswith(declared["zh"])
    assert verdict.text("en").endswith(declared["en"])


@pytest.mark.parametrize("name", NAMES)
def test_an_untypical_result_is_taken_for_no_typical_mistake(name):
    for case in exercise(name).cases:
        for output, expected in case.outputs.items():
            results = {key: list(each.expected) for key, each in case.outputs.items()}
            results[output] = [12_345 + at for at in range(len(expected.expected))]
            signs = list(wrong_results(case, results))
            assert [sign.found for sign in signs] == [f"differs {output}"] * bool(results[output])
            if signs:
                assert explained(exercise(name), case, signs).key == f"differs {output}"


@pytest.mark.parametrize(("name", "mistake"), WRONG)
def test_the_interpreter_alone_gives_the_declared_verdict(name, mistake, interpreted):
    verdict = interpreted(name, wrong(name, mistake))
    passes = data(name)["wrong"][mistake].get("triton") == "passes"
    assert verdict.passed == passes, verdict.text("en")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_handed_out_fails_with_a_sentence(name):
    verdict = check(exercise(name), handed_out(name))
    kind = data(name)["kind"]
    expected = "hole" if kind in ("fill", "write") else "as_handed_out"
    assert (verdict.passed, verdict.key) == (False, expected), verdict.text("en")
