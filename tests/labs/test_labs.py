"""What every lab does, whatever it teaches: it runs alone, says what it found in words and as data, and fails when it should."""

import ast
import functools
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from proof import common
from proof.runs.accept import accept

ROOT = Path(__file__).parents[2]
LABS = sorted(path.stem for path in (ROOT / "labs").glob("*.py"))
MARKER = "# %% The common part, version "
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize("stem", LABS)
def test_a_lab_imports_only_torch_triton_and_the_standard_library(stem):
    tree = ast.parse((ROOT / "labs" / f"{stem}.py").read_text(encoding="utf-8"))
    inside = {
        node for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)
    }
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import) and node not in inside
        for alias in node.names
    }
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in inside}
    assert {name.split(".")[0] for name in names} <= {"torch", "triton"} | sys.stdlib_module_names


def surroundings(**more):
    """The environment of a reader without a GPU who has set none of Triton's variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")} | NO_GPU | more


def run(path, *arguments, timeout=100, **environment):
    return subprocess.run(
        [sys.executable, path, *arguments],
        cwd=path.parent,
        env=surroundings(**environment),
        capture_output=True,
        text=True,
        timeout=timeout,
    )


@pytest.fixture(scope="session")
def alone(tmp_path_factory):
    """alone("triton_matmul") is what that lab did with --json, once, alone in an empty folder.

    `seconds` is the processor time that it took, whatever else runs here, `left` what then lay in the folder.
    """

    @functools.cache
    def once(stem):
        path = Path(shutil.copy(ROOT / "labs" / f"{stem}.py", tmp_path_factory.mktemp(stem)))
        before = os.times()
        done = run(path, "--json", timeout=300)
        after = os.times()
        done.seconds = after.children_user + after.children_system - before.children_user - before.children_system
        done.left = [p.name for p in path.parent.iterdir()]
        return done

    return once


@pytest.fixture
def planted(tmp_path):
    """planted("triton_vector_add", old, new, …) is a copy of that lab with a fault: old, which occurs once, became new."""

    def copy(stem, *changes):
        text = (ROOT / "labs" / f"{stem}.py").read_text(encoding="utf-8")
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
            text = text.replace(old, new)
        path = tmp_path / f"{stem}.py"
        path.write_text(text, encoding="utf-8")
        return path

    return copy


# Alone in an empty folder


@pytest.mark.parametrize("stem", LABS)
def test_a_lab_copied_alone_runs_and_leaves_nothing_behind(alone, stem):
    done = alone(stem)
    assert done.returncode == 0, done.stderr
    assert done.left == [f"{stem}.py"]
    assert done.seconds < 40, f"{done.seconds:.0f} s"


@pytest.mark.parametrize("stem", LABS)
def test_every_claim_and_every_break_has_its_line(alone, book, stem):
    lines = [line.split()[:2] for line in alone(stem).stderr.splitlines() if line.startswith("  ") and "…" not in line]
    assert [claim for _, claim in lines] == list(book.labs[stem].claims)
    assert {verdict for verdict, _ in lines} <= {"ok", "-"}


@pytest.mark.parametrize("stem", LABS)
def test_only_what_needs_a_gpu_is_not_judged(alone, book, stem):
    for row in json.loads(alone(stem).stdout)["claims"]:
        judges = book.labs[stem].claims[row["id"]].judges
        assert row["verdict"] == ("-" if judges == "gpu" else "ok"), row


@pytest.mark.parametrize("stem", LABS)
def test_the_json_of_a_lab_is_a_record(alone, book, stem):
    accepted = accept(book, stem, alone(stem).stdout.encode())
    assert accepted.notes == [] and accepted.failed == []
    assert (accepted.record.device.kind, accepted.record.device.name) == ("interpreter", "Triton interpreter")
    assert accepted.record.environment.switches["TRITON_INTERPRET"] == "1"


# Where it cannot run, one sentence says so


@pytest.mark.parametrize("stem", LABS)
def test_c051_no_speed_is_measured_in_the_interpreter(stem):
    done = run(ROOT / "labs" / f"{stem}.py", "--bench")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f"{stem}.py: --bench needs a GPU: the interpreter's speed says nothing about a kernel\n"


@pytest.mark.parametrize("stem", LABS)
def test_c049_without_gpu_and_interpreter_a_lab_names_the_way_out(stem):
    done = run(ROOT / "labs" / f"{stem}.py", TRITON_INTERPRET="0")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(
        f"{stem}.py: no GPU is visible and TRITON_INTERPRET=0 forbids the interpreter: unset it"
    )
    assert done.stderr.count("\n") == 1


def test_c049_without_gpu_and_interpreter_every_lab_can_be_imported(tmp_path):
    path = tmp_path / "imports.py"
    path.write_text("\n".join(f"import {stem}\nassert not {stem}.INTERPRETED" for stem in LABS))
    done = run(path, PYTHONPATH=str(ROOT / "labs"), TRITON_INTERPRET="0", PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def compiling(book):
    """The command that judges one claim for which something is compiled here, into the reader's cache."""
    claims = [(lab, claim) for lab in book.labs.values() for claim in lab.claims.values()]
    lab, claim = next((lab, c) for lab, c in claims if (c.judges, c.kind) == ("compile", "codegen"))
    return lab.path, "--only", claim.id


@pytest.mark.parametrize("where", ["HOME", "TRITON_CACHE_DIR"])
def test_c052_a_cache_that_cannot_be_written_is_replaced(compiling, where):
    done = run(*compiling, **{where: "/dev/null"})
    assert done.returncode == 0, done.stderr
    assert "cannot be written: compiling into a temporary folder; TRITON_CACHE_DIR names a better one" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("triton_codegen", "mine.py:mine_kernel(*fp32)", "sm_90"),
        ("triton_accept", "mine.py:mine", "--reference", "mine.py:mine"),
    ],
)
def test_c052_a_command_line_of_a_labs_own_has_a_cache_too(tmp_path, command):
    stem, *arguments = command
    (tmp_path / "mine.py").write_text(
        "import torch, triton, triton.language as tl\n"
        "@triton.jit\n"
        "def mine_kernel(x_ptr):\n"
        "    tl.store(x_ptr, 1)\n"
        "def mine(x: torch.Tensor):\n"
        "    return x.abs()\n"
    )
    path = shutil.copy(ROOT / "labs" / f"{stem}.py", tmp_path)
    done = run(Path(path), *arguments, TRITON_CACHE_DIR="/dev/null")
    assert (
        "/dev/null cannot be written: compiling into a temporary folder" in done.stderr and "Errno" not in done.stderr
    )


def test_c052_two_at_once_on_an_empty_cache(compiling, tmp_path):
    quiet = dict(env=surroundings(TRITON_CACHE_DIR=str(tmp_path)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    both = [subprocess.Popen([sys.executable, *compiling], **quiet) for _ in range(2)]
    assert [process.wait(timeout=100) for process in both] == [0, 0] and any(tmp_path.iterdir())


CALLS = {  # results of 16 numbers from 16
    "triton_matmul": lambda lab, x, out: lab.matmul(x.view(4, 4), torch.eye(4), out=out.view(4, 4)),
    "triton_lab_notes": lambda lab, x, out: lab.dot(x.view(4, 4), torch.eye(4), out=out.view(4, 4)),
    "triton_debugging": lambda lab, x, out: lab.matmul(x.view(4, 4), torch.eye(4), out=out.view(4, 4)),
    "triton_numerics": lambda lab, x, out: lab.linear(x.view(4, 4), torch.eye(4), out=out.view(4, 4)),
    "triton_codegen": lambda lab, x, out: lab.copy(x, out=out),
}


@pytest.mark.parametrize("stem", CALLS)
def test_c007_memory_is_compared_not_the_storage_that_holds_it(lab, stem):
    room = torch.arange(64, dtype=torch.float32)
    seen_by_numpy = torch.from_numpy(room.numpy())  # the same memory in another storage
    with pytest.raises(ValueError, match=r"out shares its memory with (x|a|b), which is still being read"):
        CALLS[stem](lab(stem), room[:16], seen_by_numpy[15:31])
    CALLS[stem](lab(stem), room[:16], room[16:32])  # another part of one buffer is fine
    assert torch.equal(room[16:32], room[:16])


# Faults on purpose


def test_the_lab_that_is_copied_below_is_green(planted):
    path = planted("triton_vector_add")
    assert run(path, "--only", "one_fp32.max_abs_err").returncode == 0
    assert run(path, "--break", "no_mask").returncode == 0


OLD = '"no_mask": ("kernel", "offsets < n_elements", "offsets >= 0", "ragged_fp32.max_abs_err", "guard"'


@pytest.mark.parametrize(
    ("new", "seen"),
    [
        pytest.param(OLD.replace("offsets >= 0", "offsets < nobody"), "raised", id="only raises"),
        pytest.param(OLD.replace("offsets >= 0", "n_elements > offsets"), "ok", id="does nothing"),
        pytest.param(OLD.replace("offsets < n", "offsets <  n"), "raised", id="its text is gone"),
        pytest.param(OLD.replace('"kernel"', '"kernels"'), "raised", id="its section is gone"),
        pytest.param(OLD.replace("offsets < n_elements", "mask"), "raised", id="its text occurs more than once"),
        pytest.param(OLD.replace('"guard"', '"error"'), "guard", id="fails in another way than it says"),
        pytest.param(OLD.replace("ragged", "whole"), "ok", id="names a claim that holds all the same"),
    ],
)
def test_a_break_that_is_not_caught_as_declared_is_red(planted, new, seen):
    done = run(planted("triton_vector_add", OLD, new), "--break", "no_mask", "--json")
    row = json.loads(done.stdout)["claims"][0]
    assert (done.returncode, row["verdict"], row["value"]) == (1, "error", seen)


MEASURE = "    gen, size = torch.Generator(DEVICE).manual_seed(seed), n if isinstance(n, tuple) else (n,)\n"


@pytest.mark.parametrize(
    ("new", "status"),
    [
        pytest.param('raise RuntimeError("planted")', 1, id="exception"),
        pytest.param("assert n > 1", 1, id="assertion"),
        pytest.param("sys.exit(0)", 1, id="exit"),
        pytest.param("import no_such_module", 1, id="import"),
    ],
)
def test_c017_a_claim_that_does_not_end_well_is_red(planted, new, status):
    path = planted("triton_vector_add", MEASURE, f"    {new}\n")
    assert run(path, "--only", "one_fp32.max_abs_err").returncode == status


def test_c017_a_lab_that_cannot_be_imported_is_red(planted):
    done = run(planted("triton_vector_add", "import torch\n", "import torch, no_such_module\n"))
    assert done.returncode == 1 and "No module named 'no_such_module'" in done.stderr


def test_c017_a_break_that_hangs_is_red_in_the_time_that_it_has(planted):
    endless = (
        OLD.replace("kernel", "launch").replace("offsets < n_elements", "if n:").replace("offsets >= 0", "while n:")
    )
    path = planted("triton_vector_add", OLD, endless, "{}, 600, pathlib", "{}, 5, pathlib")
    done = run(path, "--break", "no_mask", timeout=60)
    assert done.returncode == 1 and "raised no answer in 5 s" in done.stdout


def test_c017_a_claim_that_hangs_names_itself_before_it_is_ended(planted):
    path = planted("triton_vector_add", MEASURE, "    while True: pass\n")
    command = [sys.executable, path, "--only", "one_fp32.max_abs_err"]
    with subprocess.Popen(command, env=surroundings(), stdout=subprocess.PIPE, text=True) as process:
        limit = threading.Timer(60, process.kill)
        limit.start()
        said = [process.stdout.readline() for _ in range(2)]
        limit.cancel()
        process.kill()
    assert said[1].split() == ["…", "one_fp32.max_abs_err"]


# One common part


@pytest.mark.parametrize("stem", LABS)
def test_the_common_part_is_the_same_in_every_lab(stem):
    master = (ROOT / "proof" / "common.py").read_text(encoding="utf-8")
    text = (ROOT / "labs" / f"{stem}.py").read_text(encoding="utf-8")
    assert text.count("\n" + MARKER) == 1
    assert text.partition("\n" + MARKER)[2] == master.partition("\n" + MARKER)[2], "make fix copies it there"


def test_a_record_holds_the_rarer_options_of_a_launch_where_they_are_not_as_usual(tmp_path):
    script = """if True:
        import importlib, json, sys, torch
        sys.path.insert(0, sys.argv[1])
        lab = importlib.import_module("triton_lab_notes")
        x = torch.empty(64)
        for target, more in (("sm_90", {}), ("sm_90", {"maxnreg": 32, "num_warps": 8}), ("gfx942", {"waves_per_eu": 2})):
            with lab.compiling_for(target):
                lab.scale_kernel.warmup(x, x, 64, 2.0, BLOCK_SIZE=64, grid=(1,), **more)
        print(json.dumps([row["options"] for row in lab.kernels()]))
    """
    done = subprocess.run(
        [sys.executable, "-c", script, ROOT / "labs"],
        env=surroundings(TRITON_INTERPRET="0", TRITON_CACHE_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout or "0") == [{}, {"maxnreg": 32}, {"waves_per_eu": 2}], done.stderr


def test_without_its_assertions_the_lab_that_shows_them_says_so():
    path = ROOT / "labs" / "triton_debugging.py"
    done = subprocess.run([sys.executable, "-O", path], env=surroundings(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "triton_debugging.py: python -O leaves out the assertions that this lab shows: run it without -O\n"
    )


def test_each_lab_has_tests_of_its_own():
    missing = [f"tests/labs/test_{stem.removeprefix('triton_')}.py" for stem in LABS]
    assert [name for name in missing if not (ROOT / name).is_file()] == []


def test_the_common_part_stays_short():
    master = (ROOT / "proof" / "common.py").read_text(encoding="utf-8")
    assert len(master.partition("\n" + MARKER)[2].splitlines()) <= 240


@pytest.mark.parametrize(
    ("got", "want"),
    [
        pytest.param([1.0, torch.nan], [1.0, 2.0], id="NaN for a number"),
        pytest.param([1.0, 2.0], [1.0, torch.nan], id="a number for NaN"),
        pytest.param([1.0, torch.inf], [1.0, -torch.inf], id="inf for -inf"),
        pytest.param([torch.nan] + [1.0] * 999_999, [1.0] * 1_000_000, id="one NaN in a million"),
    ],
)
def test_c002_what_is_not_finite_where_it_should_never_passes(lab, got, want):
    common = lab("triton_vector_add")
    row = common.compare([(torch.tensor(got), torch.tensor(want))])
    assert row["nonfinite"] == 1 and row["max_abs_err"] == row["max_rel_err"] == torch.inf
    assert (
        common.verdict(row | {"id": "a.b.max_abs_err", "kind": "error", "value": row["max_abs_err"], "bound": 1e9})
        == "nonfinite"
    )


def test_c002_equal_nan_and_inf_are_no_error(lab):
    special = torch.tensor([torch.nan, torch.inf, -torch.inf, 2.0])
    assert lab("triton_vector_add").compare([(special, special.double())]) == {
        "max_abs_err": 0.0,
        "max_rel_err": 0.0,
        "nonfinite": 0,
        "scale": 2.0,
    }


def test_the_error_is_the_largest_of_all_chunks_and_relative_to_the_largest_result(lab):
    chunks = [(torch.tensor([1.0, 2.5]), torch.tensor([1.0, 2.0])), (torch.tensor([-8.0]), torch.tensor([-8.25]))]
    row = lab("triton_vector_add").compare(chunks)
    assert (row["max_abs_err"], row["scale"], row["max_rel_err"]) == (0.5, 8.25, 0.5 / 8.25)


def test_another_shape_is_no_result(lab):
    with pytest.raises(ValueError, match=r"the result has shape \(2, 1\), the reference \(2,\)"):
        lab("triton_vector_add").compare([(torch.zeros(2, 1), torch.zeros(2))])


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (dict(kind="error", id="a.b.max_abs_err", value=0.1, bound=0.1, nonfinite=0, scale=1.0), "ok"),
        (dict(kind="error", id="a.b.max_abs_err", value=0.11, bound=0.1, nonfinite=0, scale=1.0), "error"),
        (dict(kind="error", id="a.b.max_abs_err", value=0.0, bound=0.5, nonfinite=0, scale=1.0), "loose"),
        (dict(kind="error", id="a.b.max_rel_err", value=0.0, bound=0.5, nonfinite=0, scale=9.0), "loose"),
        (dict(kind="error", id="a.b.max_abs_err", value=0.0, bound=1.0, nonfinite=0, scale=9.0), "ok"),
        (dict(kind="ratio", id="a.b.vs_c", value=0.9, low=0.8, high=1.0, bound=1.0), "ok"),
        (dict(kind="ratio", id="a.b.vs_c", value=0.9, low=0.8, high=0.99, bound=1.0), "error"),
        (dict(kind="count", id="a.b.c", value=3, bound=3), "ok"),
        (dict(kind="count", id="a.b.c", value=4, bound=3), "error"),
        (dict(kind="codegen", id="a.b.c", value="16 B", bound="16 B"), "ok"),
        (dict(kind="break", id="a.b.break", value="guard", bound="fault"), "error"),
    ],
)
def test_the_rule_of_each_kind(lab, row, verdict):
    assert lab("triton_vector_add").verdict(row) == verdict


# The gated job


def gated(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "gpu", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env=surroundings(**environment),
        capture_output=True,
        text=True,
    )


def test_c003_without_a_gpu_the_gated_job_is_red_and_says_why():
    done = gated("tests/gpu")
    assert done.returncode == 1
    assert "no GPU was found" in done.stdout and "gated job: 0 labs" in done.stdout


def test_c003_no_test_at_all_is_red():
    done = gated("tests/gpu", "-k", "nothing")
    assert done.returncode != 0 and "gated job: 0 labs" in done.stdout


def test_c003_a_skipped_test_is_red(tmp_path):
    shutil.copy(ROOT / "tests" / "gpu" / "conftest.py", tmp_path)
    test = "import pytest\npytestmark = pytest.mark.gpu\ndef test_fine(): pass\n"
    (tmp_path / "test_fine.py").write_text(test)
    assert gated(tmp_path, "-c", ROOT / "pyproject.toml", PROOF_GPU_FLOOR="0").returncode == 0
    (tmp_path / "test_skipped.py").write_text(test + "@pytest.mark.skip\ndef test_skipped(): pass\n")
    done = gated(tmp_path, "-c", ROOT / "pyproject.toml", PROOF_GPU_FLOOR="0")
    assert done.returncode == 1 and "1 skipped, and here that is a failure" in done.stdout


def test_the_gated_tests_stay_out_of_every_other_run():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "tests/gpu"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "no tests collected" in done.stdout and "deselected" in done.stdout


@pytest.mark.parametrize(
    ("stem", "launcher", "names"),
    [
        ("triton_vector_add", "add", ("x", "y", "out")),
        ("triton_softmax", "softmax", ("x", "out")),
        ("triton_matmul", "matmul", ("a", "b", "out")),
        ("triton_lab_notes", "scale", ("x", "out")),
        ("triton_lab_notes", "accumulate", ("x", "total")),
        ("triton_lab_notes", "dot", ("a", "b")),
        ("triton_numerics", "row_sum", ("x", "out")),
        ("triton_numerics", "total", ("x", "out")),
        ("triton_numerics", "linear", ("x", "weight", "out")),
        ("triton_numerics", "logsumexp", ("x", "out")),
        ("triton_numerics", "layer_norm", ("x", "weight", "bias", "out")),
    ],
)
@pytest.mark.parametrize("wrong", [[[1.0]], 2.0, "x", torch.eye(2).to_sparse()], ids=["list", "float", "str", "sparse"])
def test_an_argument_that_is_no_dense_tensor_is_named(lab, stem, launcher, names, wrong):
    good = {name: torch.ones(1) if launcher == "accumulate" else torch.ones(2, 2) for name in names}
    extra = {"factor": 2.0} if launcher == "scale" else {}
    for name in names:
        with pytest.raises(
            TypeError, match=rf"^{name} is {type(wrong).__name__}; it must be a torch.Tensor with strides"
        ):
            getattr(lab(stem), launcher)(**good | {name: wrong}, **extra)


def test_a_kernel_that_spoils_its_inputs_does_not_spoil_the_reference(tmp_path):
    source = (ROOT / "labs/triton_vector_add.py").read_text(encoding="utf-8")
    right = "tl.store(out_ptr + offsets, x + y, mask=mask)"
    assert source.count(right) == 1
    spoiled = source.replace(
        right, "tl.store(y_ptr + offsets, x, mask=mask)\n    tl.store(out_ptr + offsets, x + x, mask=mask)"
    )
    path = tmp_path / "triton_vector_add.py"
    path.write_text(spoiled, encoding="utf-8")
    done = subprocess.run([sys.executable, path, "--only", "ragged_fp32.max_abs_err"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "guard     vector_add.ragged_fp32.max_abs_err" in done.stdout


@pytest.mark.parametrize(
    ("stem", "right", "wrong", "claim"),
    [
        (
            "triton_vector_add",
            "    return out\n# --8<-- [end:launch]",
            "    return x + y\n# --8<-- [end:launch]",
            "one_fp32.max_abs_err",
        ),
        (
            "triton_matmul",
            "    return out\n# --8<-- [end:launch]",
            "    return a @ b\n# --8<-- [end:launch]",
            "one_fp32.max_rel_err",
        ),
    ],
)
def test_what_lies_in_memory_is_judged_not_what_the_launcher_returns(tmp_path, stem, right, wrong, claim):
    source = (ROOT / "labs" / f"{stem}.py").read_text(encoding="utf-8")
    skipped = source.replace("        with torch.cuda.device_of(x):", "        if False:").replace(
        "    with torch.cuda.device_of(a):", "    if False:"
    )
    assert source.count(right) == 1 and skipped != source
    path = tmp_path / f"{stem}.py"
    path.write_text(skipped.replace(right, wrong), encoding="utf-8")
    done = run(path, "--only", claim)
    assert done.returncode == 1
    assert f"nonfinite {stem.removeprefix('triton_')}.{claim}" in done.stdout


def test_a_claim_that_compares_nothing_is_no_proof():
    with pytest.raises(ValueError, match="nothing was compared"):
        common.compare(iter(()))


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        ({"kind": "ratio", "id": "x.y.vs", "value": 0.5, "high": 0.6, "bound": 0}, "error"),
        ({"kind": "ratio", "id": "x.y.vs", "value": 0.5, "high": float("inf"), "bound": 0.4}, "error"),
        ({"kind": "ratio", "id": "x.y.vs", "value": 0.5, "high": 0.6, "bound": 0.6}, "ok"),
        (
            {"kind": "error", "id": "x.y.max_rel_err", "value": 0.0, "nonfinite": 0, "scale": 0.0, "bound": 1e-6},
            "loose",
        ),
        ({"kind": "error", "id": "x.y.max_abs_err", "value": 0.0, "nonfinite": 0, "scale": 0.0, "bound": 0.0}, "ok"),
    ],
)
def test_a_verdict_needs_something_to_stand_on(row, verdict):
    assert common.verdict(row) == verdict
