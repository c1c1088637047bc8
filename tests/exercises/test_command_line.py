"""The command line of the judge: hints, names, files, and computers without Triton."""

import judging
import pytest
from answers import FOLDER, NAMES, data, solution


@pytest.fixture
def judged(capsys):
    """judged("01_mask_tail", …) is the exit status, and what was printed and complained."""

    def run(*arguments):
        status = judging.main([*map(str, arguments)])
        return (status, *capsys.readouterr())

    return run


def test_hints_are_shown_up_to_the_one_asked_for(judged):
    hints = [hint["en"] for hint in data("01_mask_tail")["hints"]]
    assert judged("01_mask_tail", "--hint", 2, "--lang", "en") == (
        0,
        f"Hint 1 of 3: {hints[0]}\nHint 2 of 3: {hints[1]}\n",
        "",
    )


def test_hints_are_shown_in_chinese(judged):
    hint = data("01_mask_tail")["hints"][0]["zh"]
    shown = judged("01_mask_tail", "--hint", 1, "--lang", "zh")
    assert shown == (0, f"提示 1/3：{hint}\n", "")


@pytest.mark.parametrize("number", [0, 4, -1])
def test_a_hint_that_is_not_there(judged, number):
    assert judged("01_mask_tail", "--hint", number, "--lang", "en") == (
        2,
        "",
        "There are 3 hints.\n",
    )


def test_a_name_that_no_exercise_has(judged):
    known = ", ".join(NAMES)
    assert judged("99_nothing", "--lang", "en") == (
        2,
        "",
        f"There is no exercise 99_nothing. There are: {known}.\n",
    )


def test_a_file_that_is_not_there(judged, tmp_path):
    path = tmp_path / "01_mask_tail.py"
    status, printed, complaint = judged(path, "--lang", "en")
    assert (status, printed) == (2, "")
    assert complaint.startswith(f"{path} cannot be read: ")


def test_a_file_that_is_no_text(judged, tmp_path):
    path = tmp_path / "01_mask_tail.py"
    path.write_bytes(b"\xff\xfe\x00")
    status, printed, complaint = judged(path, "--lang", "zh")
    assert (status, printed) == (2, "")
    assert complaint.startswith(f"读不了 {path}：")


def test_without_triton_the_evaluator_judges_alone(judged, tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "first_absent", lambda *packages: "triton")
    path = tmp_path / "01_mask_tail.py"
    path.write_text(solution("01_mask_tail"), encoding="utf-8")
    status, printed, complaint = judged(path, "--lang", "en")
    assert printed.splitlines()[1:] == [
        "The playground's evaluator: all 5 cases are correct, and every access is in bounds.",
        "triton is not installed, so only the playground's evaluator judged."
        " To judge with Triton: pip install torch triton numpy (on Linux).",
    ]
    assert (status, complaint) == (0, "")


def test_what_only_triton_can_run_is_left_to_it(judged, tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "ask_triton", lambda *_: {"passed": True, "text": None})
    path = tmp_path / "01_mask_tail.py"
    inline = "    tl.inline_asm_elementwise('', '', [x], tl.float32, True, 1)\n"
    text = solution("01_mask_tail").replace("    tl.store(", f"{inline}    tl.store(")
    path.write_text(text, encoding="utf-8")
    status, printed, _ = judged(path, "--lang", "en")
    assert printed.splitlines()[1].startswith("The playground's evaluator cannot run this answer (")
    solved = FOLDER / "01_mask_tail" / "solution.py"
    assert printed.splitlines()[2:] == [f"Compare with the solution: {solved}"]
    assert status == 0


@pytest.mark.parametrize(
    ("locale", "lang"),
    [("zh_CN.UTF-8", "zh"), ("en_US.UTF-8", "en"), ("de_DE", "en"), ("C", "en"), ("", "en")],
)
def test_sentences_are_in_the_language_of_the_system(monkeypatch, locale, lang):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", locale)
    assert judging.language() == lang
