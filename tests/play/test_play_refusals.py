"""What the compiler refuses, and every other mistake of a reader: one sentence with the line, in both languages."""

import pytest

import play
from play.texts import TEXTS

HEAD = "import triton\nimport triton.language as tl\n\n@triton.jit\n"
PARAMETERS = "x_ptr, out_ptr, n, BLOCK: tl.constexpr"


def run_source(source: str, call: str | None = "kernel", grid=(1,), **more):
    x = play.tensor(range(8), name="x")
    arguments = {"x_ptr": x, "out_ptr": play.empty(8), "n": 8, "BLOCK": 8, **more}
    return play.run(source, call, arguments if call else (), grid if call else None)


def run_body(body: str, before: str = "", **more):
    """A kernel with this body, whose first line is line 6 if nothing comes before."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = HEAD.replace("@triton", before + "@triton") + f"def kernel({PARAMETERS}):\n{lines}"
    return run_source(source, **more)


def refused(report, key: str, line: int | None) -> str:
    """The English sentence."""
    assert report.problem is not None, report.lines("en")
    assert (report.problem.key, report.problem.line) == (key, line), report.lines("en")
    assert report.problem.text("zh") != report.problem.text("en")
    return report.problem.with_line("en")


I = "i = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + i)\n"  # noqa: E741
COMPILER = [  # body, key, line
    ("x = tl.arange(0, n)", "arange_not_constant", 6),
    ("x = tl.arange(0, 6)", "arange_not_power_of_two", 6),
    ("size = BLOCK * 2\nx = tl.arange(0, size)", "arange_not_constant", 7),
    ("x = tl.arange(4, 4)", "arange_empty", 6),
    ("x = tl.zeros((n,), tl.float32)", "shape_not_constant", 6),
    ("x = tl.zeros((3,), tl.float32)", "shape_not_power_of_two", 6),
    ("x = tl.zeros((2**21,), tl.float32)", "block_too_large_for_triton", 6),
    ("x = tl.zeros((2**18,), tl.float32)", "block_too_large", 6),
    (I + "y = x[0]", "block_indexed", 8),
    (I + "y = x[n]", "block_indexed", 8),
    (I + "y = x[0:4]", "block_indexed", 8),
    (I + "x[0] = 1", "block_item_assigned", 8),
    (I + "if x > 0:\n    x = x + 1", "block_as_condition", 8),
    (I + "y = x if x > 0 else 0", "block_as_condition", 8),
    (I + "while x > 0:\n    x = x - 1", "block_as_condition", 8),
    (I + "for v in x:\n    pass", "block_iterated", 8),
    (I + "y = max(x)", "block_iterated", 8),
    ("for v in (1, 2, 3):\n    pass", "loop_over_range_only", 6),
    ("parts = []\nparts.append(n)", "python_container", 7),
    ("parts = {}", "unsupported_syntax", 6),
    ("parts = [k for k in range(3)]", "syntax_elsewhere", 6),
    ("f = lambda v: v", "unsupported_syntax", 6),
    ("for k in range(n):\n    break", "unsupported_syntax", 7),
    ("for k in range(n):\n    continue", "unsupported_syntax", 7),
    ("for k in range(n):\n    return", "return_in_loop", 7),
    ("try:\n    pass\nfinally:\n    pass", "unsupported_syntax", 6),
    ("a = b = 1", "several_targets", 6),
    ("if 0 < n < 5:\n    pass", "chained_comparison", 6),
    ("tl.x = 1", "attribute_assigned", 6),
    ("import math", "unsupported_syntax", 6),
    ("if n > 3:\n    y = 1\nz = y + 1", "defined_in_branch", 8),
    ("if n > 9:\n    y = 1\nz = y + 1", "defined_in_branch", 8),
    ("if n > 3:\n    y = 1\nelse:\n    z = 2\ntl.store(out_ptr, y)", "defined_in_branch", 10),
    ("for k in range(n):\n    y = k\ntl.store(out_ptr, y)", "defined_in_loop", 8),
    ("for k in range(0):\n    y = k\ntl.store(out_ptr, y)", "defined_in_loop", 8),
    ("acc = 0\nfor k in range(n):\n    acc += 1.5", "loop_changes_type", 7),
    ("acc = 0.0\nfor k in range(n):\n    acc = acc + tl.arange(0, BLOCK)", "loop_changes_type", 7),
    ("acc: tl.constexpr = 0\nfor k in range(n):\n    acc = acc + 1", "loop_changes_constant", 7),
    ("y = 0\nif n > 3:\n    y = 1.5", "branch_changes_type", 7),
    ("y: tl.constexpr = n", "constexpr_of_runtime", 6),
    ("for k in tl.static_range(n):\n    pass", "static_range_runtime", 6),
    ("for k in range(0, 8, 0):\n    pass", "range_step_zero", 6),
    ("for k in range(1.5):\n    pass", "range_not_integer", 6),
    ("tl.static_assert(BLOCK == 4, 'four')", "static_assert", 6),
    ("tl.static_assert(n == 4)", "static_assert_runtime", 6),
    ("y = abs(n)", "builtin_in_kernel", 6),
    ("y = float(n)", "python_function_on_block", 6),
    ("y = int(n)", "python_function_on_block", 6),
    (I + "y = x ** 2", "no_power", 8),
    (I + "y = x @ x", "no_matmul_operator", 8),
    (I + "y = x // 2", "integers_only", 8),
    (I + "y = x & 1", "integers_only", 8),
    (I + "y = tl.exp(i)", "floats_only", 8),
    (I + "y = tl.exp(x.to(tl.float16))", "floats_only", 8),
    (I + "y = tl.load(x_ptr + x)", "float_offset", 8),
    (I + "y = tl.load(x_ptr + i / 2)", "float_offset", 8),
    ("y = x_ptr + out_ptr", "pointers_added", 6),
    (I + "tl.store(i, x)", "not_a_pointer", 8),
    (I + "tl.store(out_ptr, x)", "block_to_scalar", 8),
    (I + "y = tl.load(x_ptr, mask=i < n)", "mask_of_scalar", 8),
    (I + "y = tl.load(x_ptr + i, other=0)", "other_without_mask", 8),
    (I + "y = tl.load(x_ptr + i, mask=x, other=0)", "mask_type", 8),
    (I + "y = tl.load(x_ptr + i, boundary_check=(0,))", "boundary_check", 8),
    (I + "y = tl.load(x_ptr + i, masks=i < n)", "unknown_argument", 8),
    (I + "y = x + tl.arange(0, 4)", "shapes_differ", 8),
    (I + "y = x[:, None] + tl.zeros((4, 8), tl.float32)", "shapes_differ", 8),
    (I + "tl.store(out_ptr + i, x[:, None] + x[None, :])", "broadcast_too_small", 8),
    (I + "y = tl.reshape(x, (4, 4))", "reshape_count", 8),
    (I + "y = tl.trans(x)", "trans_needs_axes", 8),
    (I + "y = tl.sum(x, axis=1)", "axis_outside", 8),
    (I + "y = tl.sum(n, axis=0)", "reduce_scalar", 8),
    (I + "y = tl.dot(x, x)", "dot_needs_matrices", 8),
    ("a = tl.zeros((16, 16), tl.float32)\nb = tl.dot(a, a.to(tl.float16))", "dot_types", 7),
    ("a = tl.zeros((16, 8), tl.float32)\nb = tl.dot(a, tl.trans(a))", "dot_too_small", 7),
    ("a = tl.zeros((16, 32), tl.float32)\nb = tl.dot(a, a)", "dot_shapes", 7),
    ("a = tl.zeros((16, 16), tl.float32)\nb = tl.dot(a, a, input_precision='half')", "dot_precision", 7),
    ("a = tl.zeros((16, 16), tl.float16)\nb = tl.dot(a, a, a)", "dot_accumulator", 7),
    ("a = tl.zeros((16, 16), tl.float16)\nb = tl.dot(a, a, out_dtype=tl.bfloat16)", "dot_bf16_result", 7),
    ("a = tl.zeros((16, 16), tl.int32)\nb = tl.dot(a, a)", "dot_integers", 7),
    ("y = tl.full((4,), 1, tl.uint32) + (-1)", "negative_with_unsigned", 6),
    ("y = tl.full((4,), 1, tl.int8) + 300", "number_out_of_range", 6),
    ("y = n // tl.full((4,), 1, tl.uint32)", "mixed_signedness", 6),
    ("tl.atomic_add(x_ptr.to(tl.int8), 1)", "pointer_cast", 6),
    ("p = tl.program_id(3)", "program_axis", 6),
    ("kernel[(1,)](x_ptr, out_ptr, n, BLOCK)", "launch_in_kernel", 6),
    ("kernel(x_ptr, out_ptr, n, BLOCK)", "recursion", 6),
    ("y = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))", "runs_on_interpreter", 6),
    ("y = tl.inline_asm_elementwise", "runs_on_gpu", 6),
    ("y = tl.aranje(0, 8)", "no_such_name_but", 6),
    ("y = tl.softplus_of(1)", "no_such_name", 6),
    ("y = offs + 1", "name_not_defined", 6),
    ("while n > 0:\n    pass", "endless", 6),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "key", "line"), COMPILER, ids=[f"{c[1]}-{n}" for n, c in enumerate(COMPILER)]
)
def test_the_kernel_is_refused_with_the_line(body, key, line):
    refused(run_body(body), key, line)


FINE = [
    "x: tl.constexpr = BLOCK * 2\ny = tl.arange(0, x)",
    "for k in tl.static_range(2):\n    y = k\ntl.store(out_ptr, y)",
    "y = 0\nfor k in range(n):\n    y += k\ntl.store(out_ptr, y)",
    "if n > 3:\n    y = 1\nelse:\n    y = 2\ntl.store(out_ptr, y)",
    "if BLOCK > 3:\n    y = 1\ntl.store(out_ptr, y)",
    "if n > 100:\n    return\ntl.store(out_ptr, 1)",
    "i = tl.arange(0, BLOCK)\nif (n > 3) and not (n > 9):\n    tl.store(out_ptr + i, i)",
    "y = min(n, 3)\nz = max(y, 1, 2)\ntl.store(out_ptr, z)",
    "for k in range(n - 1, -1, -1):\n    tl.store(out_ptr + k, k)",
    "shape: tl.constexpr = [2, 4]\ny = tl.zeros(shape, tl.float32)",
]


@pytest.mark.parametrize("body", FINE)
def test_what_the_compiler_takes_runs(body):
    assert run_body(body).lines("en") == []


def kernel(body: str = "pass") -> str:
    return f"{HEAD}def kernel({PARAMETERS}):\n    {body}\n"


SOURCES = [  # source, key, line
    ("def kernel(:\n    pass", "syntax", 1),
    ("\nx = (1", "syntax", 2),
    ("x = 1\n\0", "null_byte", 2),
    ("import torch\n", "import_torch", 1),
    ("from torch import nn\n", "import_torch", 1),
    ("import triton\nimport numpy as np\n", "import_other", 2),
    ("import triton.testing\n", "runs_on_interpreter", 1),
    ("import os\n", "import_other", 1),
    ("open('x')\n", "builtin_not_here", 1),
    ("while True:\n    pass\n", "endless", 1),
    ("def f():\n    return f()\nf()\n", "recursion", 2),
    ("f = lambda: f()\nf()\n", "recursion", 1),
    ("[x for x in iter(int, 1)]\n", "endless", 1),
    ("x = 1 / 0\n", "division_by_zero", 1),
    ("x = []\nx[3]\n", "python_error", 2),
    ("raise SystemExit\n", "stopped", 1),
    ("import triton.language as tl\ntl.program_id(0)\n", "outside_kernel", 2),
    ("import triton\n@triton.jit\ndef k(x, *more):\n    pass\n", "star_arguments", 3),
    (kernel() + "kernel(1, 2, 3, 4)\n", "kernel_without_grid", 7),
    (kernel() + "kernel[4](1, 2, 3, 4)\n", "grid_not_tuple", 7),
    (kernel() + "kernel[(2.5,)](1, 2, 3, 4)\n", "grid_float", 7),
    (kernel() + "kernel[('a',)](1, 2, 3, 4)\n", "grid_type", 7),
    (kernel() + "kernel[(1, 1, 1, 1)](1, 2, 3, 4)\n", "grid_axes", 7),
    (kernel() + "kernel[(-1,)](1, 2, 3, 4)\n", "grid_negative", 7),
    (kernel() + "kernel[(10**9,)](1, 2, 3, 4)\n", "grid_too_large", 7),
    (kernel() + "kernel[(1,)](1, 2, 3)\n", "missing_arguments", 7),
    (kernel() + "kernel[(1,)](1, 2, 3, 4, 5)\n", "arguments", 7),
    (kernel() + "kernel[(1,)](1, 2, 3, 4, BLOK=5)\n", "unknown_argument", 7),
    (kernel() + "kernel[(1,)]([1], 2, 3, 4)\n", "argument_type", 7),
    (kernel() + "kernel[(1,)](1, 2, 3, 4, num_warps=3)\n", "num_warps", 7),
    ("SIZE = 8\n" + kernel("y = n + SIZE") + "kernel[(1,)](1, 2, 3, 4)\n", "global_not_constexpr", 7),
    ("def f(v):\n    return v\n" + kernel("y = f(n)") + "kernel[(1,)](1, 2, 3, 4)\n", "function_not_jit", 8),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "key", "line"), SOURCES, ids=[f"{c[1]}-{n}" for n, c in enumerate(SOURCES)]
)
def test_the_source_is_refused_with_the_line(source, key, line):
    refused(run_source(source, call=None), key, line)


def test_a_function_that_is_not_there():
    refused(run_source("x = 1\n", call="kernel"), "not_a_function", None)


def test_what_is_called_is_no_function():
    refused(run_source("kernel = 1\n", call="kernel", grid=None), "not_callable", None)


def test_a_kernel_without_its_decorator():
    refused(run_source("def kernel(x):\n    pass\n"), "not_a_kernel", None)


def test_a_constant_of_triton_may_be_global():
    source = kernel("tl.store(out_ptr, SIZE * 2)").replace("@", "SIZE = tl.constexpr(8)\n@")
    assert run_source(source).ok


def test_a_megabyte_is_printed_in_part():
    report = run_source("for n in range(1000):\n    print('x' * 1000)\n", call=None)
    assert report.ok and report.cut and len(report.printed) == 20_000


def test_a_kernel_prints_the_program():
    report = run_body("print('n is', n)")
    assert report.printed == "(0, 0, 0) n is 8\n"


def test_a_block_prints_its_lanes_and_what_is_undefined():
    report = run_body("i = tl.arange(0, 4)\nprint(tl.load(x_ptr + i, mask=i < 2))")
    assert report.printed == "(0, 0, 0) [0.0 1.0 ? ?]\n"


def test_an_assertion_is_told_and_does_not_stop_the_kernel():
    report = run_body("tl.device_assert(n < 3, 'n is small')\ntl.store(out_ptr, 1)")
    assert report.lines("en") == ["line 6: An assertion does not hold: n is small"]
    assert not report.ok


@pytest.mark.parametrize("key", sorted(TEXTS))
def test_every_sentence_is_in_both_languages_with_the_same_values(key):
    import string

    fields = {
        lang: {name for _, name, _, _ in string.Formatter().parse(text) if name}
        for lang, text in TEXTS[key].items()
    }
    assert set(fields) == {"zh", "en"}
    assert fields["zh"] == fields["en"]


def test_every_refusal_of_the_source_has_a_sentence_and_every_sentence_is_used():
    import re
    from pathlib import Path

    import play as package

    text = "".join(
        path.read_text(encoding="utf-8")
        for path in Path(package.__file__).parent.glob("*.py")
        if path.name != "texts.py"
    )
    used = {key for key in TEXTS if f'"{key}"' in text}
    findings = {key for key in TEXTS if re.fullmatch(r"\w+_(load|store|atomic)", key)}
    places = {"runs_on_gpu", "runs_on_interpreter"}
    assert set(TEXTS) - used - findings - places == set()
