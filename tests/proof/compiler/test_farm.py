"""`proof compile` on labs with a fault each: it is named, the rest goes on, and what is filed is of today's lab."""

from __future__ import annotations

import dataclasses
import json

import pytest
from compiled_lab import CHANGED, file, launch
from planted import add, found
from tiny_project import Tiny

from proof.checks import compiled
from proof.compiler import farm as compiler
from proof.evidence import compiled as filed

KERNELS = '''\
@triton.jit
def third_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """One block."""
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)  # [BLOCK_SIZE]
    mask = offsets < n_elements
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask, other=0) / 3, mask=mask)
# --8<-- [end:kernel]


@triton.autotune([triton.Config(dict(BLOCK_SIZE=size), num_warps=warps) for size, warps in ((128, 1), (512, 2))], key=["n"])
@triton.jit
def tuned_kernel(x_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.atomic_add(x_ptr + offsets, 1.0, mask=offsets < n)


@triton.jit
def large_kernel(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    """Rows are read along, columns are written along: the whole tile passes shared memory."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    tl.store(out_ptr + n[:, None] * M + m[None, :], tl.load(x_ptr + m[:, None] * N + n[None, :]).trans())


@triton.jit
def choosy_kernel(x_ptr, ARCH: tl.constexpr):
    tl.static_assert(ARCH != 89, "nothing for sm_89")
    tl.store(x_ptr, 1.0)


@triton.jit
def refused_kernel(x_ptr):
    tl.store(x_ptr, tl.exp(tl.load(x_ptr)))


@triton.jit
def wrong_kernel(x_ptr):
    tl.store(x_ptr, NOT_A_CONSTANT)


def inner(x):
    @triton.jit
    def inner_kernel(x_ptr):
        tl.store(x_ptr, 0.0)

    inner_kernel[(1,)](x)


@triton.jit
def idle_kernel(x_ptr):
    tl.store(x_ptr, 0.0)


NOT_A_CONSTANT = 1.0


def arch():
    return triton.runtime.driver.active.get_current_target().arch


def refused(x):
    if arch() == "gfx942":
        raise ValueError("x cannot be squared on gfx942")
    refused_kernel[(1,)](x)


def launches(kernel, n=64, dtype=torch.float32, skip=0):
    """Launch one kernel; what follows needs values, which fake tensors do not have."""
    x = torch.rand(n + skip, device=DEVICE).to(dtype)[skip:]
    {
        "third": lambda: third(x, torch.empty_like(x)),
        "tuned": lambda: tuned_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, n),
        "large": lambda: large_kernel[(1,)](x, x, M=128, N=256, num_warps=16),
        "choosy": lambda: choosy_kernel[(1,)](x, ARCH=arch()),
        "refused": lambda: refused(x),
        "inner": lambda: inner(x),
        "wrong": lambda: wrong_kernel.warmup(torch.float32, grid=(1,)),
        "stumble": lambda: torch.nonsense,
    }[kernel]()
    return [(x, x)]
'''
CLAIMS = """\
    Claim("small.max_abs_err", launches, dict(kernel="third", n=1000), why="a third"),
    Claim("fp16.max_abs_err", launches, dict(kernel="third", n=1000, dtype=torch.float16, skip=1), why="a third"),
    Claim("huge.max_abs_err", launches, dict(kernel="third", n=2**33), judges="gpu", gib=99, why="more memory than there is"),
    Claim("tuned.max_abs_err", launches, dict(kernel="tuned"), judges="gpu", why="each of two"),
    Claim("large.max_abs_err", launches, dict(kernel="large"), judges="gpu", why="the tile"),
    Claim("choosy.max_abs_err", launches, dict(kernel="choosy"), judges="gpu", why="not everywhere"),
    Claim("refused.max_abs_err", launches, dict(kernel="refused"), judges="gpu", why="not everywhere"),
    Claim("inner.max_abs_err", launches, dict(kernel="inner"), judges="gpu", why="made on the way"),
    Claim("wrong.answer", launches, dict(kernel="wrong"), kind="codegen", bound="CompilationError", judges="compile", why="a global is no constant"),
    Claim("stumble.max_abs_err", launches, dict(kernel="stumble"), judges="gpu", why="no launch"),
"""
TARGETS = ("sm_89", "sm_90", "gfx942")


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """What comes of a lab with these kernels on three targets."""
    tiny = Tiny(tmp_path_factory.mktemp("compile") / "project")
    text = tiny.read(tiny.lab)
    start, end = (
        text.index("@triton.jit"),
        text.index("    # --8<-- [end:kernel]\n") + len("    # --8<-- [end:kernel]\n"),
    )
    text = (text[:start] + KERNELS + text[end:]).replace("CLAIMS = [\n", "CLAIMS = [\n" + CLAIMS)
    tiny.write(tiny.lab, text)
    book = tiny.book()
    (made,) = compiler.compile_labs(book, [book.labs["triton_tiny"]], False, print, TARGETS)
    return made


def cells(result, kernel: str, target: str) -> list[dict]:
    launches = result.compiled.launches
    return [
        launch.cells[target]
        for launch in launches
        if launch.kernel == kernel and target in launch.cells
    ]


def states(result, kernel: str) -> dict[str, str]:
    return {target: cells(result, kernel, target)[0].state for target in TARGETS}


def test_a_launch_is_captured_with_its_types_alignment_and_constants(result):
    first = filed.ordered(result.compiled.launches, "third_kernel", "sm_90")[0]
    assert first.signature == {
        "x_ptr": "*fp32",
        "out_ptr": "*fp32",
        "n_elements": "i32",
        "BLOCK_SIZE": "constexpr",
    }
    assert first.constants == {"BLOCK_SIZE": 256}
    assert first.aligned == ("x_ptr", "out_ptr")  # 1000 does not divide by 16
    assert first.claims == ("small.max_abs_err", "ragged_fp32.max_abs_err")


def test_another_dtype_and_an_odd_start_are_another_launch(result):
    (fp16,) = filed.ordered(result.compiled.launches, "third_kernel", "sm_90", "fp16.max_abs_err")
    assert fp16.signature["x_ptr"] == "*fp16"
    assert fp16.aligned == ("out_ptr",)


def test_a_claim_past_all_memory_is_captured_too(result):
    (huge,) = filed.ordered(result.compiled.launches, "third_kernel", "sm_90", "huge.max_abs_err")
    assert huge.signature["n_elements"] == "i64"


def test_a_pointer_past_2_gib_is_another_launch_on_amd(result):
    small, *_ = filed.ordered(result.compiled.launches, "third_kernel", "gfx942")
    (huge,) = filed.ordered(result.compiled.launches, "third_kernel", "gfx942", "huge.max_abs_err")
    assert small.below_2gb == ("x_ptr", "out_ptr")
    assert huge.below_2gb == ()


def test_a_tuner_launches_each_of_its_configurations(result):
    found = filed.ordered(result.compiled.launches, "tuned_kernel", "sm_90")
    assert [(x.constants, x.options) for x in found] == [
        ({"BLOCK_SIZE": 128}, {"num_warps": 1}),
        ({"BLOCK_SIZE": 512}, {"num_warps": 2}),
    ]


def test_a_cell_says_what_the_code_uses(result):
    (nvidia, *_), (amd, *_) = (cells(result, "refused_kernel", t) for t in ("sm_90", "sm_89"))
    assert nvidia.code == amd.code == {"load": {"4": 1}, "store": {"4": 1}, "ex2": 1}
    assert nvidia.spill_bytes == 0
    assert nvidia.registers > 0
    (tuned, *_) = cells(result, "tuned_kernel", "gfx942")
    assert tuned.code["atomic"] > 0
    assert tuned.spilled_registers == 0


def test_a_kernel_too_large_for_one_card_is_named_with_bytes_and_limit(result):
    assert states(result, "large_kernel")["sm_89"] == "too large"
    assert states(result, "large_kernel")["sm_90"] == "fits"
    need = cells(result, "large_kernel", "sm_89")[0].shared_bytes
    assert need == 128 * 256 * 4
    assert (
        "large_kernel has no launch that fits sm_89: the smallest needs 131,072 bytes of shared memory, the limit is 101,376"
        in result.faults
    )


def test_an_undeclared_error_on_one_target_is_red_and_the_rest_goes_on(result):
    assert states(result, "choosy_kernel") == {"sm_89": "failed", "sm_90": "fits", "gfx942": "fits"}
    (why,) = [fault for fault in result.faults if fault.startswith("choosy_kernel")]
    assert why.startswith("choosy_kernel does not compile for sm_89, 1 of 1 launches: ")
    assert "nothing for sm_89" in why
    assert "\n" not in why


def test_what_the_launcher_refuses_is_not_offered_there_and_no_fault(result):
    assert states(result, "refused_kernel") == {
        "sm_89": "fits",
        "sm_90": "fits",
        "gfx942": "not offered here",
    }
    assert cells(result, "refused_kernel", "gfx942")[0].why == "x cannot be squared on gfx942"
    assert not [fault for fault in result.faults if "refused" in fault]


def test_what_only_a_claim_about_the_compiler_launches_may_fail_there(result):
    assert states(result, "wrong_kernel") == dict.fromkeys(TARGETS, "not offered here")
    assert "CompilationError" in cells(result, "wrong_kernel", "sm_90")[0].why
    assert not [fault for fault in result.faults if "wrong" in fault]


def test_a_compiler_that_dies_is_told_from_and_started_again(tmp_path):
    (tmp_path / "judge.py").write_text("")
    path = tmp_path / "triton_fatal.py"
    path.write_text("import os\nos.abort()\n")
    child = compiler.Child(str(tmp_path))
    try:
        for _ in range(2):
            why = child.ask(do="capture", path=str(path), stem="triton_fatal", targets=[])["error"]
            assert why.startswith("the compiler ended its process with status -6")
    finally:
        child.end()


def test_a_kernel_that_no_claim_launches_is_a_fault(result):
    assert "idle_kernel is launched by no claim, so it was not compiled" in result.faults


def test_a_kernel_made_inside_a_function_is_compiled_where_it_is_made(result):
    assert states(result, "inner_kernel") == dict.fromkeys(TARGETS, "fits")
    assert cells(result, "inner_kernel", "sm_90")[0].code == {"store": {"4": 1}}


def test_a_claim_that_fails_before_its_launch_is_a_fault(result):
    (why,) = [fault for fault in result.faults if "stumble" in fault]
    assert why.startswith(
        "the claim stumble.max_abs_err launches nothing on sm_89, sm_90, gfx942: AttributeError"
    )


def test_every_fault_is_one_of_those_above(result):
    known = ("large_kernel", "choosy_kernel", "idle_kernel", "the claim stumble")
    assert [fault for fault in result.faults if not fault.startswith(known)] == []


def test_the_result_fits_its_schema_and_is_read_back(result, tiny):
    tiny.write(tiny.lab, result.lab.source)
    compiler.file_result(tiny.root, result)
    book = tiny.book()
    assert book.problems == []
    assert book.compiled["triton_tiny"].model_dump() == result.compiled.model_dump()
    assert filed.stale(book, book.labs["triton_tiny"]) == ""


def test_what_is_filed_is_not_compiled_again_and_a_comment_changes_nothing(result, tiny):
    tiny.write(
        tiny.lab,
        result.lab.source.replace("# %% The claims.", "# %% A line more.\n# %% The claims."),
    )
    fits = dataclasses.replace(result, faults=[])
    compiler.file_result(tiny.root, fits)
    book = tiny.book()
    (again,) = compiler.compile_labs(book, [book.labs["triton_tiny"]], False, print, ("sm_90",))
    assert again.count == 1  # what did not compile is tried again
    assert cells(again, "third_kernel", "sm_90") == cells(result, "third_kernel", "sm_90")


def test_cells_of_an_interrupted_run_are_taken_over(result, tiny):
    tiny.write(tiny.lab, result.lab.source)
    kernels, rows = result.compiled.kernels, []
    for each in filed.ordered(result.compiled.launches, "tuned_kernel", "sm_90"):
        cell = each.cells["sm_90"].model_dump() | {"registers": 7}
        rows.append(
            json.dumps(
                {
                    "triton": result.compiled.triton,
                    "key": compiler._key(kernels, each, "sm_90"),
                    "cell": cell,
                }
            )
        )
    tiny.write(
        "build/compiled/triton_tiny.jsonl", "\n".join([*rows, rows[0][:40]])
    )  # the last line was cut off
    book = tiny.book()
    (again,) = compiler.compile_labs(book, [book.labs["triton_tiny"]], False, print, ("sm_90",))
    assert [cell.registers for cell in cells(again, "tuned_kernel", "sm_90")] == [7, 7]
    compiler.file_result(tiny.root, again)
    assert not (tiny.root / "build/compiled/triton_tiny.jsonl").exists()


def test_a_lab_that_is_filed_as_it_is_is_not_even_imported(tiny):
    file(tiny, launch())
    book, said = tiny.book(), []
    (result,) = compiler.compile_labs(book, [book.labs["triton_tiny"]], False, said.append)
    assert said == ["triton_tiny: filed as it is"]
    assert result.compiled == book.compiled["triton_tiny"]


# What is filed, judged without torch


def test_a_result_of_today_s_lab_is_no_finding(tiny):
    file(tiny, launch())
    assert found(tiny, compiled.faults) == []
    assert found(tiny, compiled.stale) == []


def test_a_changed_lab_is_green_until_a_release_and_only_where_pages_show_it(tiny):
    file(tiny, launch())
    tiny.edit(tiny.lab, *CHANGED)
    assert found(tiny, compiled.faults) == found(tiny, compiled.stale) == []
    add(tiny, "{{ cards() }}")
    assert found(tiny, compiled.faults) == []
    assert found(tiny, compiled.stale) == [
        "labs/triton_tiny.py:1: the lab has changed since it was compiled"
    ]


def test_another_triton_than_the_pinned_one_is_stale(tiny):
    file(tiny, launch())
    add(tiny, '{{ compiled("triton_tiny:third_kernel", "sm_90", "registers") }}')
    tiny.write(
        "pyproject.toml",
        "[dependency-groups]\nlabs = [\"triton==3.8.0; sys_platform == 'linux'\"]\n",
    )
    (line,) = found(tiny, compiled.stale)
    assert line.endswith("it was compiled by Triton 3.7.1, and the project pins 3.8.0")


def test_a_lab_that_was_never_compiled_is_stale(tiny):
    add(tiny, "{{ cards() }}")
    assert found(tiny, compiled.stale) == ["labs/triton_tiny.py:1: it has not been compiled"]


def test_a_filed_failure_is_red_at_once(tiny):
    file(tiny, launch({"sm_89": {"state": "failed", "why": "CompilationError: no"}}))
    (line,) = found(tiny, compiled.faults)
    assert line.endswith(
        "third_kernel does not compile for sm_89, 1 of 1 launches: CompilationError: no"
    )


def test_a_kernel_that_fits_nowhere_on_a_target_is_red(tiny):
    large = {
        "state": "too large",
        "shared_bytes": 147_456,
        "registers": 255,
        "stack_bytes": 0,
        "code": {},
    }
    file(tiny, launch({"sm_89": large | {"sha256": "2" * 64}}))
    (line,) = found(tiny, compiled.faults)
    assert "has no launch that fits sm_89: the smallest needs 147,456 bytes" in line


def test_a_kernel_that_is_too_large_in_one_configuration_only_is_no_fault(tiny):
    large = {
        "state": "too large",
        "shared_bytes": 147_456,
        "registers": 255,
        "stack_bytes": 0,
        "code": {},
    }
    file(
        tiny, launch({"sm_89": large | {"sha256": "2" * 64}}), launch(constants={"BLOCK_SIZE": 64})
    )
    assert found(tiny, compiled.faults) == []


def test_a_kernel_that_is_offered_nowhere_on_a_target_is_no_fault(tiny):
    file(tiny, launch({"gfx942": {"state": "not offered here", "why": "no tf32x3"}}))
    assert found(tiny, compiled.faults) == []


def test_a_lab_answers_for_the_makers_that_its_card_names(tiny):
    large = {
        "state": "too large",
        "shared_bytes": 147_456,
        "registers": 255,
        "stack_bytes": 0,
        "code": {},
    }
    tiny.edit(tiny.lab, "GPU:     any", "GPU:     any NVIDIA GPU")
    file(tiny, launch({"gfx942": large | {"sha256": "2" * 64}}))
    assert found(tiny, compiled.faults) == []
    tiny.edit(tiny.lab, "any NVIDIA GPU", "any NVIDIA or AMD GPU")
    (line,) = found(tiny, compiled.faults)
    assert "has no launch that fits gfx942" in line


def test_a_claim_that_fails_on_some_targets_only_is_red(tiny):
    told = {
        "claim": "ragged_fp32.max_abs_err",
        "how": "cut short",
        "why": "KeyError: 'maxnreg'",
        "targets": ["gfx942"],
    }
    file(tiny, launch(), stumbles=[told])
    (line,) = found(tiny, compiled.faults)
    assert "the claim ragged_fp32.max_abs_err fails on gfx942 and not on sm_80" in line
    assert line.endswith("KeyError: 'maxnreg'")


def test_a_claim_that_launches_on_some_targets_only_and_does_not_say_why_is_red(tiny):
    nvidia = [name for name in filed.TARGETS if name.startswith("sm_")]
    of_other = dict(claims=["large_fp32.vs_copy"], targets=dict.fromkeys(nvidia, 1))
    file(
        tiny, launch(), launch(**of_other, cells=dict.fromkeys(nvidia, launch()["cells"]["sm_90"]))
    )
    (line,) = found(tiny, compiled.faults)
    assert line.endswith("sm_120 and, without a reason, not on gfx90a, gfx942, gfx950, gfx1100")


def test_a_claim_that_is_refused_everywhere_is_red(tiny):
    told = {
        "claim": "ragged_fp32.max_abs_err",
        "how": "refused",
        "why": "x is wrong",
        "targets": list(filed.TARGETS),
    }
    file(tiny, launch(), stumbles=[told])
    (line,) = found(tiny, compiled.faults)
    assert line.endswith("the claim ragged_fp32.max_abs_err is refused on every target: x is wrong")


def test_a_result_of_a_lab_that_is_gone_is_red(tiny):
    file(tiny, launch())
    tiny.write(
        "labs/compiled/triton_gone.json",
        tiny.read("labs/compiled/triton_tiny.json").replace("_tiny", "_gone"),
    )
    (line,) = found(tiny, compiled.faults)
    assert line == "labs/compiled/triton_gone.json:1: is of triton_gone, which is not in labs/"


def test_assembly_that_was_edited_is_red(tiny):
    name = "triton_tiny.third_kernel.sm_90.ptx"
    tiny.write(f"labs/compiled/{name}", "ld.global.v4\n")
    file(tiny, launch(), texts={name: filed.sha256("ld.global.v2\n")})
    assert found(tiny, compiled.faults) == [
        f"labs/compiled/{name}:1: is not what the compiler wrote"
    ]


def test_assembly_that_is_gone_is_red(tiny):
    file(tiny, launch(), texts={"triton_tiny.third_kernel.sm_90.ptx": "3" * 64})
    assert found(tiny, compiled.faults) == [
        "labs/compiled/triton_tiny.json:1: the text triton_tiny.third_kernel.sm_90.ptx is gone"
    ]


def test_a_result_that_fits_no_schema_is_found(tiny):
    file(tiny, launch({"sm_89": {"state": "runs", "why": "hope"}}))
    (problem,) = tiny.book().problems
    assert problem.file == "labs/compiled/triton_tiny.json"
    assert problem.fix == "Delete it and run `proof compile`"


# The command


def test_an_unknown_lab_is_refused_with_the_nearest(tiny):
    result = tiny.proof("compile", "tini")
    assert result.exit_code == 2
    assert "there is no lab tini. There are: triton_tiny" in result.output


@pytest.mark.parametrize("missing", ["torch", "triton"])
def test_without_torch_or_triton_it_says_what_was_not_compiled(tiny, monkeypatch, missing):
    there = compiler.importlib.util.find_spec
    monkeypatch.setattr(
        compiler.importlib.util, "find_spec", lambda name: None if name == missing else there(name)
    )
    result = tiny.proof("compile")
    assert result.exit_code == 2
    assert (
        f"this Python has no {missing}, which compiling needs: make setup. Not compiled: triton_tiny"
        in result.output
    )


def test_another_triton_than_the_pinned_one_compiles_nothing(tiny):
    tiny.write(
        "pyproject.toml",
        '[project]\nname = "tiny"\nversion = "0"\n[dependency-groups]\nlabs = ["triton==3.0.0"]\n',
    )
    result = tiny.proof("compile")
    assert result.exit_code == 2
    assert "and the project pins 3.0.0, of which results are filed" in result.output


def test_it_files_the_lab_and_sees_what_is_filed_otherwise(tiny):
    first = tiny.proof("compile", "tiny", "--json")
    assert first.exit_code == 0, first.output
    assert "wrote    labs/compiled/triton_tiny.json" in first.stderr
    (data,) = json.loads(first.stdout)
    assert set(data["launches"][0]["cells"]) <= set(filed.TARGETS)
    path = tiny.root / "labs/compiled/triton_tiny.json"
    path.write_text(path.read_text().replace('"stack_bytes": 0', '"stack_bytes": 8', 1))
    check = tiny.proof("compile", "--check")
    assert check.exit_code == 1
    assert check.output.count("is filed otherwise. Run `proof compile`") == 1
