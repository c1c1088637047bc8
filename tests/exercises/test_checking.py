"""What the judge says to an answer that is no kernel yet, or does what it should not.

The same sentence in the playground's evaluator and on the command line, in both languages.
"""

import pytest
from answers import handed_out, solution
from checking import check
from exercise import load_exercise
from judging import main

EXERCISE = load_exercise("01_mask_tail")
SOLUTION = solution("01_mask_tail")
RAGGED_EN = "Case ragged (x: float32[10], y: float32[10], out: float32[10], BLOCK = 4): "
RAGGED_ZH = "情形 ragged (x: float32[10], y: float32[10], out: float32[10], BLOCK = 4)："
ENDLESS_EN = (
    "Stopped, because the run came to no end. Check the condition and the step of the loop."
)
ENDLESS_ZH = "运行了很久还没有结束，已经停下。请检查循环的条件和步长。"


def changed(old, new):
    """The solution with one place changed."""
    assert SOLUTION.count(old) == 1
    return SOLUTION.replace(old, new)


BAD = {
    "a syntax error": (
        changed("mask = offsets < n", "mask = (offsets < n"),
        "line 9: Python cannot read this line: '(' was never closed.",
        "第 9 行：Python 读不懂这一行：'(' was never closed。",
    ),
    "a hole": (
        handed_out("01_mask_tail"),
        "Still to fill in: the `...` in line 16. Replace it with your code and run this again;"
        " the hints help if you are stuck.",
        "还有空没有填：第 16 行的 `...`。把它换成你的代码再运行一次；卡住了就看提示。",
    ),
    "two holes": (
        changed("mask = offsets < n", "mask = ...").replace("x + y, mask", "..., mask"),
        "Still to fill in: each `...` in lines 9, 12. Replace them with your code and run this"
        " again; the hints help if you are stuck.",
        "还有空没有填：第 9、12 行的 `...`。把它们换成你的代码再运行一次；卡住了就看提示。",
    ),
    "another name of the function": (
        changed("def add(", "def plus("),
        "There is no function `add`, which the judge calls by this name: keep its name, at the top"
        " level of the file.",
        "找不到函数 `add`：评判程序按这个名字调用它，请不要改名，也不要把它放进别的函数里。",
    ),
    "another name of the kernel": (
        changed("def add_kernel", "def kernel"),
        RAGGED_EN + "line 17: The name `add_kernel` is not defined.",
        RAGGED_ZH + "第 17 行：没有定义过名字 `add_kernel`。",
    ),
    "another parameter": (
        changed("y, out, BLOCK):", "z, out, BLOCK):"),
        "line 15: the judge calls `add(x, y, out, BLOCK)` and passes every argument by name, so"
        " keep these parameters and their names.",
        "第 15 行：评判程序这样调用它：`add(x, y, out, BLOCK)`，参数按名字传入。请保留这些参数，"
        "名字也不要改。",
    ),
    "a result of another shape": (
        changed("x + y, mask", "(x + y)[None, :], mask"),
        RAGGED_EN + "line 12: The shape [1, 4] cannot become [4]: the value is larger than the"
        " pointer.",
        RAGGED_ZH + "第 12 行：形状 [1, 4] 不能变成 [4]：值的形状比指针大。",
    ),
    "a loop without end in the kernel": (
        changed("    mask =", "    while n > 0:\n        pid += 0\n    mask ="),
        RAGGED_EN + "line 9: " + ENDLESS_EN,
        RAGGED_ZH + "第 9 行：" + ENDLESS_ZH,
    ),
    "a loop without end in the launcher": (
        changed("    n = out", "    while True:\n        pass\n    n = out"),
        RAGGED_EN + "line 16: " + ENDLESS_EN,
        RAGGED_ZH + "第 16 行：" + ENDLESS_ZH,
    ),
    "a loop without end outside of both": (
        SOLUTION + "while True:\n    pass\n",
        RAGGED_EN + "line 18: " + ENDLESS_EN,
        RAGGED_ZH + "第 18 行：" + ENDLESS_ZH,
    ),
    "a launcher that calls itself": (
        changed("    n = out", "    add(x, y, out, BLOCK)\n    n = out"),
        RAGGED_EN + "line 16: `add` calls itself, directly or through others. The compiler inlines"
        " every call, so a kernel cannot recurse.",
        RAGGED_ZH + "第 16 行：`add` 直接或间接地调用了自己。编译器把被调用的函数全部内联，"
        "所以 kernel 里不能有递归。",
    ),
    "torch": (
        "import torch\n" + SOLUTION,
        "Delete `import torch` in line 1: an answer needs triton and triton.language only, and the"
        " judge passes the tensors in.",
        "请删掉第 1 行的 `import torch`：这里只需要 triton 和 triton.language，张量由评判程序传进来。",
    ),
    "torch within a function": (
        changed("    n = out", "    from torch import nn\n    n = out"),
        "Delete `import torch` in line 16: an answer needs triton and triton.language only, and the"
        " judge passes the tensors in.",
        "请删掉第 16 行的 `import torch`：这里只需要 triton 和 triton.language，张量由评判程序传进来。",
    ),
    "nothing": (
        "",
        "There is no function `add`, which the judge calls by this name: keep its name, at the top"
        " level of the file.",
        "找不到函数 `add`：评判程序按这个名字调用它，请不要改名，也不要把它放进别的函数里。",
    ),
    "an exception": (
        changed("    n = out", "    raise ValueError('no')\n    n = out"),
        RAGGED_EN + "line 16: ValueError: no",
        RAGGED_ZH + "第 16 行：ValueError：no",
    ),
    "a store into an input": (
        SOLUTION.replace("tl.store(out_ptr", "tl.store(x_ptr"),
        RAGGED_EN + "line 12: x is written, but it is an input and may only be read.",
        RAGGED_ZH + "第 12 行写了 x，而 x 是输入，只能读。",
    ),
}
ANSWERS = [pytest.param(*bad, id=name) for name, bad in BAD.items()]


@pytest.mark.parametrize(("answer", "en", "zh"), ANSWERS)
def test_a_bad_answer_gets_a_sentence_in_the_playground(answer, en, zh):
    verdict = check(EXERCISE, answer)
    assert not verdict.passed
    assert verdict.texts == {"en": en, "zh": zh}


@pytest.mark.parametrize(("answer", "en", "zh"), ANSWERS)
def test_a_bad_answer_gets_the_same_sentence_on_the_command_line(answer, en, zh, tmp_path, capsys):
    path = tmp_path / "01_mask_tail.py"
    path.write_text(answer, encoding="utf-8")
    assert main([str(path), "--lang", "zh"]) == 1
    assert capsys.readouterr() == (f"01_mask_tail · 给尾部加上 mask\n{zh}\n", "")


def test_the_command_line_speaks_english_too(tmp_path, capsys):
    path = tmp_path / "01_mask_tail.py"
    path.write_text("", encoding="utf-8")
    assert main([str(path), "--lang", "en"]) == 1
    assert capsys.readouterr() == (f"01_mask_tail · Mask the tail\n{BAD['nothing'][1]}\n", "")


def test_further_parameters_with_defaults_are_fine():
    assert check(EXERCISE, changed("out, BLOCK):", "out, BLOCK, *, more=0):")).passed
    assert check(EXERCISE, changed("add(x, y, out, BLOCK)", "add(out, BLOCK, y, x=None)")).passed


def test_a_megabyte_of_output_is_cut_and_the_answer_judged():
    printing = changed("    n = out", "    print('x' * 1_000_000)\n    n = out")
    assert check(EXERCISE, printing).passed
