"""A lab says what it needs, seeds bugs, shares no name with its companions, and has its words in Chinese too."""

import pytest
from planted import add, found

from proof.checks import labs
from proof.checks.rules import check


def test_a_name_that_lab_and_companion_define_is_found(tiny):
    tiny.edit(tiny.lab, "def programs(n):", "def plant(n):\n    return n\n\n\ndef programs(n):")
    (line,) = found(tiny, labs.faults)
    assert line.endswith("plant is defined in more than one file of the lab and its companions")


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


@pytest.mark.parametrize("key", ["Learn", "Run", "Memory", "GPU", "Minutes"])
def test_a_card_that_lacks_a_line_is_found(tiny, key):
    lines = tiny.read(tiny.lab).split("\n")
    tiny.write(tiny.lab, "\n".join(line for line in lines if not line.startswith(f"{key}:")))
    assert found(tiny, labs.faults) == [f"{tiny.lab}:5: the docstring lacks {key}"]


def test_a_lab_without_a_bug_is_found(tiny):
    text = tiny.read(tiny.lab)
    start, end = text.index('    Bug("no_mask"'), text.index("]\n# fmt: on")
    tiny.write(tiny.lab, text[:start] + text[end:])
    (line,) = found(tiny, labs.faults)
    assert line.endswith("there is no seeded bug")


def test_a_claim_without_a_reason_for_its_bound_is_found(tiny):
    tiny.edit(tiny.lab, "two roundings of a result below one half", " ")
    assert any("gives no reason for its bound" in problem.what for problem in check(tiny.book()))


def test_less_memory_than_a_run_took_is_a_warning(tiny):
    tiny.edit(tiny.lab, "Memory:  1 GiB", "Memory:  256 MiB")
    (problem,) = labs.memory(tiny.book())
    assert problem.warning and problem.what.startswith("Memory says 0.25 GiB, and tiny.")
    assert problem.what.endswith("took 512 MiB on NVIDIA H200")


def test_the_largest_figure_of_memory_counts(tiny):
    tiny.edit(
        tiny.lab, "Memory:  1 GiB", "Memory:  0.25 GiB, and 2 GiB for the one past 2**31 elements"
    )
    assert found(tiny, labs.memory) == []


def test_the_peak_of_an_older_lab_does_not_count(tiny):
    tiny.edit(tiny.lab, "Memory:  1 GiB", "Memory:  256 MiB")
    tiny.edit(tiny.lab, "def programs(n):\n    return", "def programs(n):\n    n = n\n    return")
    assert found(tiny, labs.memory) == []


# What Chinese pages say of it


def test_a_lab_without_chinese_words_is_found_and_the_mend_says_what_to_write(tiny):
    tiny.remove(tiny.words)
    (problem,) = labs.words(tiny.book())
    assert str(problem) == (
        f"{tiny.lab}:1: {tiny.words} is missing, so Chinese pages speak English of this lab. "
        "Write it: title, sentence, learn, memory, gpu, why (case.metric: reason), bugs (name: what is seen)"
    )


def test_words_that_cannot_be_read_are_not_missing_too(tiny):
    tiny.edit(tiny.words, "gpu: ", "gpus: ")
    assert found(tiny, labs.words) == []


FAULTS = {
    "claim untold": ("  ragged.programs: 三个整块，一个凑不满的块\n", "", 6, "why.ragged.programs is missing"),
    "bug untold": ("bugs:\n  no_mask: 最后一块写到了末尾之后\n", "", 1, "bugs.no_mask is missing"),
    "claim gone": ("ragged.programs: ", "ragged.calls: 一次\n  ragged.programs: ", 8, "why tells of ragged.calls, which triton_tiny.py does not have"),
    "bug gone": ("  no_mask: ", "  no_masks: 末尾\n  no_mask: ", 11, "bugs tells of no_masks, which triton_tiny.py does not have"),
    "English": ("每个元素除以三。", "Each element divided by three.", 2, "sentence is not Chinese"),
    "almost English": ("字节数与拷贝相同", "as many bytes as one copy", 9, "why.large_fp32.vs_copy is not Chinese"),
    "another number": ("memory: 1 GiB", "memory: 2 GiB", 4, "memory has other numbers than the lab: +2, −1"),
    "a number too many": ("任何 GPU", "任何 80 GB 的 GPU", 5, "gpu has other numbers than the lab: +80"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_words_that_do_not_fit_the_lab_are_found_with_line_and_key(tiny, fault):
    old, new, line, what = FAULTS[fault]
    tiny.edit(tiny.words, old, new)
    assert found(tiny, labs.words) == [f"{tiny.words}:{line}: {what}"]


def test_a_number_that_the_lab_loses_is_found_in_its_words(tiny):
    tiny.edit(tiny.lab, "Memory:  1 GiB", "Memory:  little")
    assert found(tiny, labs.words) == [f"{tiny.words}:4: memory is not Chinese"]
    tiny.edit(tiny.words, "memory: 1 GiB", "memory: 很少，不到 1 GiB")
    assert found(tiny, labs.words) == [f"{tiny.words}:4: memory has other numbers than the lab: +1"]


def test_numbers_agree_in_any_spelling_and_order(tiny):
    tiny.edit(tiny.lab, "as many bytes as a copy", "15,000 bytes, past 2**31, within 5 in 100")
    tiny.edit(tiny.words, "字节数与拷贝相同", "差距在 5/100 以内，1.5 万字节，越过 2³¹")
    assert found(tiny, labs.words) == []


def test_the_mend_quotes_the_lab(tiny):
    tiny.edit(tiny.words, "字节数与拷贝相同", "同样是 2 次")
    (problem,) = labs.words(tiny.book())
    assert problem.fix == "Say the same ones: as many bytes as a copy"


def test_the_mend_of_a_stale_key_names_the_nearest(tiny):
    tiny.edit(tiny.words, "ragged.programs: ", "ragged.program: ")
    assert sorted(problem.fix for problem in labs.words(tiny.book())) == [
        "Nearest: ragged.programs",
        "Say it in Chinese: three full blocks and a ragged one",
    ]


def test_words_of_a_lab_that_is_gone_are_found(tiny):
    tiny.write("labs/triton_tidy.zh.yml", tiny.read(tiny.words))
    (problem,) = labs.words(tiny.book())
    assert str(problem) == (
        "labs/triton_tidy.zh.yml:1: there is no lab 'triton_tidy'. "
        "Call it after a lab, or remove it. Nearest: triton_tiny"
    )


# Translations of what Chinese pages quote

ARROW = '\n```python\n--8<-- "labs/{}:{}"\n```\n'


def test_a_comment_and_a_docstring_that_chinese_pages_show_need_a_translation(tiny):
    add(tiny, ARROW.format("triton_tiny.py", "kernel"), "zh")
    assert found(tiny, labs.words) == [
        f"{tiny.words}:1: comments lacks '[BLOCK_SIZE]', which Chinese pages show",
        f"{tiny.words}:1: docstrings lacks 'One block.', which Chinese pages show",
    ]
    translations = (
        'comments:\n  "[BLOCK_SIZE]": "[BLOCK_SIZE]"\ndocstrings:\n  One block.: 一块。\n'
    )
    tiny.write(tiny.words, tiny.read(tiny.words) + translations)
    assert found(tiny, labs.words) == []


def test_a_translation_of_what_is_gone_is_found(tiny):
    tiny.write(tiny.words, tiny.read(tiny.words) + "comments:\n  one block: 一块\n")
    (line,) = found(tiny, labs.words)
    assert line.endswith(
        "comments tells of 'one block', which neither triton_tiny.py nor its companions have"
    )


def test_a_companion_is_translated_beside_a_lab_that_imports_it(tiny):
    tiny.edit(
        tiny.lab, "    from judge import", "    from stopwatch import tick\n    from judge import"
    )
    tiny.write(
        "labs/stopwatch.py",
        "# --8<-- [start:tick]\ndef tick():\n    return 1  # once\n    # --8<-- [end:tick]\n",
    )
    add(tiny, ARROW.format("stopwatch.py", "tick"), "zh")
    assert found(tiny, labs.companions) == [
        "labs/stopwatch.py:3: Chinese pages show 'once', and no lab that imports stopwatch.py translates it"
    ]
    tiny.write(tiny.words, tiny.read(tiny.words) + "comments:\n  once: 一次\n")
    assert found(tiny, labs.companions) == [] and found(tiny, labs.words) == []
