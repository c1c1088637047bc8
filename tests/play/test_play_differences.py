"""What the page "What the playground shows, and what it cannot" says, each statement by its anchor."""

import re
from pathlib import Path

import both
import pytest
from both import HEAD, Data

import play

PAGES = Path(__file__).parents[2] / "docs"


def one_program(body: str, **arguments) -> both.Both:
    """A kernel of one program with this body, here and in Triton's interpreter."""
    names = ", ".join(f"{name}: tl.constexpr" if name.isupper() else name for name in arguments)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"{HEAD}@triton.jit\ndef kernel({names}):\n{lines}"
    return both.both(source, "kernel", (1,), **arguments)


def test_speed_is_not_measured():
    source = HEAD + "@triton.jit\ndef kernel(out_ptr):\n    tl.store(out_ptr, 1.0)\n"
    launch = source + "def launch(out):\n    kernel[(1,)](out, num_warps=8, num_stages=3)\n"
    report = play.run(launch, "launch", {"out": play.empty(1)})
    assert report.ok
    assert not [name for name in vars(report) if "time" in name or "second" in name]


def test_order_is_that_of_program_ids():
    body = "pid = tl.program_id(0)\ntl.atomic_xchg(out_ptr, pid.to(tl.float32))"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    out = play.tensor([9.0])
    play.run(f"{HEAD}@triton.jit\ndef kernel(out_ptr):\n{lines}", "kernel", {"out_ptr": out}, (7,))
    assert out.values() == [6.0]


def test_undefined_lanes_are_reported():
    body = "i = tl.arange(0, 4)\ntl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < 2))"
    found = one_program(body, x_ptr=Data([1.0] * 4), out_ptr=Data([5.0] * 4))
    assert [each.kind for each in found.report.findings] == ["undefined"]
    assert found.interpreted["out_ptr"] == [1.0, 1.0, 0.0, 0.0]


def test_bf16_is_rounded_to_nearest():
    body = "tl.store(out_ptr, tl.load(x_ptr).to(tl.bfloat16))"
    found = one_program(body, x_ptr=Data([1.0 + 0.75 / 128]), out_ptr=Data([0.0], "bfloat16"))
    assert found.played["out_ptr"] == [1.0 + 1 / 128]
    assert found.interpreted["out_ptr"] == [1.0]


def test_float_arguments_have_32_bits():
    body = "tl.store(out_ptr, factor * 3.0 - 0.30000001192092896)"
    found = one_program(body, out_ptr=Data([0.0]), factor=0.1)
    assert found.played["out_ptr"] == [0.0]
    assert found.interpreted["out_ptr"][0] < 0


def test_dot_has_no_tf32():
    body = (
        "i = tl.arange(0, 16)\np = i[:, None] * 16 + i[None, :]\na = tl.load(a_ptr + p)\n"
        "tl.store(out_ptr + p, tl.dot(a, a, input_precision=P))"
    )
    values = [1 + 2.0**-20] * 256
    results = [
        one_program(body, a_ptr=Data(values), out_ptr=Data([0.0] * 256), P=precision)
        for precision in ("ieee", "tf32")
    ]
    assert results[0].played["out_ptr"] == results[1].played["out_ptr"]
    assert results[0].played["out_ptr"][0] != 16.0


def test_dot_needs_16_along_k():
    body = (
        "i = tl.arange(0, 8)\np = i[:, None] * 8 + i[None, :]\na = tl.load(a_ptr + p)\n"
        "tl.store(out_ptr + p, tl.dot(a, a))"
    )
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"{HEAD}@triton.jit\ndef kernel(a_ptr, out_ptr):\n{lines}"
    given = {"a_ptr": play.tensor([1.0] * 64), "out_ptr": play.empty(64)}
    assert play.run(source, "kernel", given, (1,)).problem.key == "dot_too_small"


def test_maximum_drops_nan():
    body = "i = tl.arange(0, 4)\ntl.store(out_ptr, tl.max(tl.load(x_ptr + i), axis=0))"
    found = one_program(body, x_ptr=Data([1.0, float("nan"), 3.0, 2.0]), out_ptr=Data([0.0]))
    assert found.played["out_ptr"] == found.interpreted["out_ptr"] == [3.0]


def test_blocks_have_at_most_65536_elements():
    body = "i = tl.arange(0, 131072)\ntl.store(out_ptr, tl.max(i, axis=0).to(tl.float32))"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = f"{HEAD}@triton.jit\ndef kernel(out_ptr):\n{lines}"
    report = play.run(source, "kernel", {"out_ptr": play.empty(1)}, (1,))
    assert report.problem is not None and "65,536" in report.lines("en")[0]


def test_autotune_takes_the_first():
    source = (
        HEAD
        + "@triton.autotune([triton.Config({'B': 4}), triton.Config({'B': 8})], key=['n'])\n"
        + "@triton.jit\ndef kernel(out_ptr, n, B: tl.constexpr):\n    tl.store(out_ptr, B)\n"
    )
    out = play.empty(1)
    assert play.run(source, "kernel", {"out_ptr": out, "n": 1}, (1,)).ok
    assert out.values() == [4.0]


def test_names_that_run_elsewhere_are_refused():
    source = (
        HEAD
        + "@triton.jit\ndef kernel(x_ptr):\n    tl.make_tensor_descriptor(x_ptr, [1], [1], [1])\n"
    )
    report = play.run(source, "kernel", {"x_ptr": play.tensor([1.0])}, (1,))
    assert "runs in Triton's interpreter (TRITON_INTERPRET=1) and on a GPU" in report.lines("en")[0]


def test_torch_is_a_small_part():
    report = play.run("import torch\ntorch.compile\n", with_torch=True)
    assert report.problem is not None and report.problem.key == "not_of_torch"


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_difference_on_the_page_has_its_test(lang):
    page = (PAGES / lang / "playground.md").read_text(encoding="utf-8")
    below = page.partition("{ #differences }")[2].partition("\n## ")[0]
    anchors = re.findall(r"^### .*\{ #([a-z0-9-]+) \}$", below, re.MULTILINE)
    tests = [name for name in globals() if name.startswith("test_") and "page" not in name]
    assert [f"test_{anchor.replace('-', '_')}" for anchor in anchors] == tests
