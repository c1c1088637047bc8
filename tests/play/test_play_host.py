"""What a lesson's program uses of torch gives the same here as in torch."""

import math

import pytest
import torch

import play

VALUES = [[-2.5, 0.1, 3.0], [7.25, -0.0, 1e-3]]
EXPRESSIONS = [
    "x + y",
    "x - 2",
    "2 - x",
    "3 * x",
    "x / y",
    "-x",
    "x.abs()",
    "x.square()",
    "x.half()",
    "x.half() + x",
    "x.half() * 0.1",
    "x.to(torch.int32)",
    "x.to(torch.int32) + 0.5",
    "x.to(torch.int32) / 4",
    "x.to(torch.bfloat16)",
    "x @ y.t()",
    "x.t()",
    "x.t() @ y",
    "x.max()",
    "x.sum()",
    "x.sum(1)",
    "x.sum(0)",
    "x.to(torch.int8).sum()",
    "x.softmax(1)",
    "x < y",
    "x >= y",
    "(x <= x).all()",
    "x[1]",
    "x[:, 1:]",
    "x[1, 2]",
    "torch.zeros(2, 3)",
    "torch.ones((2, 3), dtype=torch.float16)",
    "torch.full((2,), 7)",
    "torch.full((2,), 0.1)",
    "torch.arange(5)",
    "torch.arange(1.0, 4)",
    "torch.arange(2, 9, 3)",
    "torch.tensor([1, 2])",
    "torch.tensor([[1.5], [2]])",
    "torch.zeros_like(x)",
    "x.clone().fill_(3)",
    "x.clone().zero_()",
]


def of_torch(expression: str):
    x, y = torch.tensor(VALUES), torch.tensor(VALUES[::-1])
    return eval(expression, {"torch": torch, "x": x, "y": y})


def here(expression: str):
    """The result, as the program that a page shows has it."""
    source = f"import torch\nx, y = torch.tensor({VALUES}), torch.tensor({VALUES[::-1]})\n"
    report = play.run(
        f"{source}def answer():\n    return {expression}\n", "answer", with_torch=True
    )
    assert report.ok, report.lines("en")
    return report.result


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_operation_gives_the_same_values_shape_and_type(expression):
    want, got = of_torch(expression), here(expression)
    assert (got.shape, got.dtype.torch_name) == (tuple(want.shape), str(want.dtype)[6:])
    flat = want.double().flatten().tolist()
    in_another_order = "sum" in expression or "softmax" in expression  # torch adds up in fp32
    assert got.values() == pytest.approx(flat, rel=2**-20 if in_another_order else 0, abs=0)


def test_the_largest_of_values_with_nan_is_nan():
    source = (
        "import torch\ndef answer():\n    return torch.tensor([1.0, float('nan')]).max().item()\n"
    )
    assert math.isnan(play.run(source, "answer", with_torch=True).result)


def test_random_numbers_are_the_same_in_every_run():
    source = "import torch\nprint(torch.rand(3).tolist(), torch.randn(2).tolist())\n"
    first, second = (play.run(source, with_torch=True).printed for _ in range(2))
    assert first == second and first.count(",") == 3


def test_random_numbers_lie_where_they_should():
    source = "import torch\nprint(torch.rand(999).max().item() < 1, torch.randint(2, 5, (9,)).tolist())\n"
    printed = play.run(source, with_torch=True).printed
    assert printed.startswith("True") and set(printed) <= set("True [],234\n")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("torch.fft(x)", "torch.fft"),
        ("x.median()", "Tensor.median"),
        ("torch.nn.Linear(3, 4)", "torch.nn"),
        ("torch.cuda.synchronize()", "torch.cuda.synchronize"),
        ("x.softmax(0)", "Tensor.softmax(dim=0)"),
    ],
)
def test_what_is_not_here_is_refused_by_name_with_the_line(call, name):
    report = play.run(f"import torch\nx = torch.ones(3, 2)\ny = {call}\n", with_torch=True)
    assert report.lines("en") == [
        "line 3: The torch of this page has only what makes tensors and checks results, and no "
        f"`{name}`. To use it, run the program on your own machine."
    ]


def test_tensors_of_other_shapes_are_not_broadcast():
    report = play.run("import torch\ntorch.ones(3) + torch.ones(2)\n", with_torch=True)
    assert report.lines("en") == [
        "line 2: The shapes [3] and [2] differ, and tensors are not broadcast here."
    ]


def test_an_answer_may_not_import_torch():
    report = play.run("import torch\n")
    assert report.problem is not None and report.problem.key == "import_torch"


def test_what_a_kernel_writes_is_seen_by_the_program():
    source = """\
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


x = torch.arange(5).float()
out = torch.empty_like(x)
double_kernel[(2,)](x, out, 5, BLOCK=4)
print((out - 2 * x).abs().max().item(), out.tolist())
"""
    report = play.run(source, with_torch=True)
    assert report.printed == "0.0 [0.0, 2.0, 4.0, 6.0, 8.0]\n"
    assert report.ok
