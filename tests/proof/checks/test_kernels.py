"""proof/checks/kernels.py: fills of masked loads, and claims that the interpreter must not judge."""

from __future__ import annotations

import handmade
import pytest

from proof.checks import kernels

FILLED = handmade.LAB.replace("mask=mask)\n    tl.store", "mask=mask, other=0)\n    tl.store")


def test_a_masked_load_without_a_fill_is_named_by_line():
    (found,) = kernels.fills(handmade.book())
    assert (found.file, found.warning) == ("labs/triton_scale.py", False)
    assert "tl.load" in handmade.LAB.split("\n")[found.line - 1]
    assert "masked lanes hold 0 in the interpreter, and anything on a GPU" in found.what


@pytest.mark.parametrize(
    "load",
    [
        "tl.load(x_ptr + offs, mask=mask, other=0)",
        "tl.load(x_ptr + offs, mask, 0)",
        "tl.load(x_ptr + offs)",
        "tl.load(x_ptr + offs, mask=mask)  # on purpose: what lies there is never used",
    ],
)
def test_a_fill_no_mask_or_a_purpose_is_no_fault(load):
    source = handmade.LAB.replace("tl.load(x_ptr + offs, mask=mask)", load)
    assert source != handmade.LAB or load.endswith("mask=mask)")
    assert list(kernels.fills(handmade.book(source=source))) == []


@pytest.mark.parametrize(
    ("case", "arguments", "word"),
    [
        ("ragged_bf16", "dict(n=1000)", "bf16"),
        ("ragged", "dict(n=1000, dtype=torch.bfloat16)", "bfloat16"),
        ("ragged", "dict(n=1000, dtype=BF16)", "BF16"),
        ("cube_fp32_tf32", "dict(n=1000)", "tf32"),
        ("cube", 'dict(n=1000, input_precision="tf32x3")', "tf32x3"),
    ],
)
def test_c006_c014_the_interpreter_judges_no_bf16_and_no_tf32(case, arguments, word):
    source = FILLED.replace(
        '"ragged.max_abs_err", error, dict(n=1000)', f'"{case}.max_abs_err", error, {arguments}'
    )
    source = source.replace('caught_by="ragged.', f'caught_by="{case}.')
    (found,) = kernels.judges(handmade.book(source=source))
    assert (
        found.what
        == f"scale.{case}.max_abs_err is of {word}, which the interpreter computes wrongly, and yet anyone may judge it"
    )


def test_c006_widened_after_the_load_it_may():
    source = FILLED.replace(
        'dict(n=1000), bound=2**-21, why="one',
        'dict(n=1000, dtype=BF16), bound=2**-21, why="widened to fp32; one',
    )
    assert "widened" in source
    assert list(kernels.judges(handmade.book(source=source))) == []


def test_a_gpu_may_judge_them():
    source = FILLED.replace("dict(n=2**31)", "dict(n=2**31, dtype=BF16)")
    assert "BF16" in source
    assert list(kernels.judges(handmade.book(source=source))) == []
