"""Every sentence of the judge of exercises, in Chinese and English."""

from __future__ import annotations


def _pair(zh: str, en: str) -> dict[str, str]:
    return {"zh": zh, "en": en}


SENTENCES: dict[str, dict[str, str]] = {
    # The file
    "hole": _pair(
        "还有空没有填：第 {lines} 行的 `...`。把它换成你的代码再运行一次；卡住了就看提示。",
        "Still to fill in: the `...` in line {lines}. Replace it with your code and run this again; the hints help if you are stuck.",
    ),
    "holes": _pair(
        "还有空没有填：第 {lines} 行的 `...`。把它们换成你的代码再运行一次；卡住了就看提示。",
        "Still to fill in: each `...` in lines {lines}. Replace them with your code and run this again; the hints help if you are stuck.",
    ),
    "parameters": _pair(
        "第 {line} 行：评判程序这样调用它：`{call}`，参数按名字传入。请保留这些参数，名字也不要改。",
        "line {line}: the judge calls `{call}` and passes every argument by name, so keep these parameters and their names.",
    ),
    "import_torch": _pair(
        "请删掉第 {line} 行的 `import {name}`：这里只需要 triton 和 triton.language，张量由评判程序传进来。",
        "Delete `import {name}` in line {line}: an answer needs triton and triton.language only, and the judge passes the tensors in.",
    ),
    "no_function": _pair(
        "找不到函数 `{name}`：评判程序按这个名字调用它，请不要改名，也不要把它放进别的函数里。",
        "There is no function `{name}`, which the judge calls by this name: keep its name, at the top level of the file.",
    ),
    # Results
    "case": _pair("情形 {case}：{text}", "Case {case}: {text}"),
    "differs": _pair(
        "{name}{place} 是 {got}，应该是 {want}；{total} 个元素里有 {count} 个不对。",
        "{name}{place} is {got} and should be {want}; wrong elements: {count} of {total}.",
    ),
    "unwritten": _pair(
        "{name} 有 {count} 个元素没有任何 program 写过，第一个是 {name}{place}。",
        "No program wrote {count} of the elements of {name}; the first is {name}{place}.",
    ),
    "sectors": _pair(
        "结果是对的，但所有 program 一共访问了 {count} 个 32 字节的扇区，目标是不超过 {limit} 个。",
        "The result is correct, but the programs touch {count} sectors of 32 bytes in all, and the target is at most {limit}.",
    ),
    "programs": _pair(
        "结果是对的，但启动了 {count} 个 program，而 {limit} 个就够了。",
        "The result is correct. The number of programs launched is {count}, where {limit} would do.",
    ),
    "outside": _pair(
        "kernel 改动了 {name} 之外的 {count} 个元素：它们在张量的前面、后面，或者行与行之间。",
        "The kernel changed memory outside of {name}, before it, after it, or between its rows (elements: {count}).",
    ),
    "input_changed": _pair(
        "kernel 改动了输入 {name} 或它周围的 {count} 个元素；输入只能读。",
        "The kernel changed its input {name} or the memory around it (elements: {count}); inputs may only be read.",
    ),
    "input_written": _pair(
        "第 {line} 行写了 {name}，而 {name} 是输入，只能读。",
        "line {line}: {name} is written, but it is an input and may only be read.",
    ),
    "raised": _pair("Triton 报错：{reason}", "Triton raised {reason}"),
    "raised_at": _pair(
        "第 {line} 行，Triton 报错：{reason}", "line {line}: Triton raised {reason}"
    ),
    "no_answer": _pair(
        "{seconds} 秒之内没有结束，已经停下。请检查循环的条件和步长。",
        "Stopped after {seconds} seconds without an end. Check the condition and the step of each loop.",
    ),
    "died": _pair(
        "运行 kernel 的进程崩溃了（{reason}）：多半读写了张量之外的内存。",
        "The process that ran the kernel died ({reason}): most likely it accessed memory outside of its tensors.",
    ),
    "slow": _pair(
        "结果是对的，速度是原来的 {ratio:.2f} 倍，目标是 {target:g} 倍。",
        "The result is correct. It runs {ratio:.2f} times as fast as the original, and the target is {target:g} times.",
    ),
    # The end
    "passed": _pair("全部 {count} 个情形都对了。", "All {count} cases are correct."),
    "passed_in_play": _pair(
        "练习场的求值器：全部 {count} 个情形都对了，每次读写都在界内。",
        "The playground's evaluator: all {count} cases are correct, and every access is in bounds.",
    ),
    "passed_in_triton": _pair(
        "{where}：全部 {count} 个情形都对了。", "{where}: all {count} cases are correct."
    ),
    "passed_speed": _pair(
        "速度是原来的 {ratio:.2f} 倍，达到了目标 {target:g} 倍。",
        "It runs {ratio:.2f} times as fast as the original; the target was {target:g} times.",
    ),
    "speed_needs_gpu": _pair(
        "速度要在 GPU 上才能比较，目标是原来的 {target:g} 倍。",
        "Comparing the speed needs a GPU; the target is {target:g} times the original.",
    ),
    "not_in_play": _pair(
        "练习场的求值器跑不了这份答案（{text}），所以没有检查每次读写。",
        "The playground's evaluator cannot run this answer ({text}), so accesses were not watched.",
    ),
    "no_triton": _pair(
        "没有安装 {name}，所以只用练习场的求值器评判了。要用 Triton 评判：pip install torch triton numpy（Linux）。",
        "{name} is not installed, so only the playground's evaluator judged. To judge with Triton: pip install torch triton numpy (on Linux).",
    ),
    "compare": _pair("可以和参考答案对照：{path}", "Compare with the solution: {path}"),
    "printed": _pair("程序打印了：", "The program printed:"),
    "printed_more": _pair("……（共 {count} 个字符）", "… ({count} characters in all)"),
    # The command line
    "no_such_exercise": _pair(
        "没有名为 {name} 的练习。现有：{known}。",
        "There is no exercise {name}. There are: {known}.",
    ),
    "no_yaml": _pair(
        "没有安装 PyYAML：pip install pyyaml", "PyYAML is not installed: pip install pyyaml"
    ),
    "no_hint": _pair("提示只有 {count} 条。", "There are {count} hints."),
    "hint": _pair("提示 {number}/{count}：{text}", "Hint {number} of {count}: {text}"),
    "unreadable": _pair("读不了 {path}：{reason}", "{path} cannot be read: {reason}"),
}


def sentence(key: str, lang: str, **values: object) -> str:
    """The sentence in "zh" or "en"."""
    return SENTENCES[key][lang].format(**values)


def in_both(key: str, **values: object) -> dict[str, str]:
    """The sentence in both languages."""
    return {lang: sentence(key, lang, **values) for lang in ("zh", "en")}
