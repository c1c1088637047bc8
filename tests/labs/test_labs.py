"""What every lab does, whatever it teaches: it runs beside its companions, prints what it found, and fails when it should."""

import contextlib
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from running import LABS, ROOT, copied, run, surroundings

from proof.runs.accept import accept

PLAIN = "triton_vector_add"  # a lab of which nothing is special


@pytest.fixture
def planted(tmp_path):
    """planted("triton_vector_add", old, new, …) is a copy with a fault: old, once in lab or companions, became new."""

    def copy(stem, *changes):
        path = copied(stem, tmp_path)
        texts = {file: file.read_text(encoding="utf-8") for file in tmp_path.glob("*.py")}
        for old, new in zip(changes[::2], changes[1::2], strict=True):
            (file,) = [file for file, text in texts.items() if text.count(old) == 1]
            texts[file] = texts[file].replace(old, new)
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8")
        return path

    return copy


# Alone in a folder with its companions


@pytest.mark.parametrize("stem", LABS)
def test_a_lab_runs_and_leaves_nothing_behind(alone, stem):
    done = alone(stem)
    assert done.returncode == 0, done.stderr
    assert done.left == set()


@pytest.mark.parametrize("stem", LABS)
def test_every_claim_and_every_bug_has_its_line(alone, book, stem):
    lines = [
        line.split()[:2]
        for line in alone(stem).stderr.splitlines()
        if line.startswith("  ") and "…" not in line
    ]
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
    assert (accepted.record.device.kind, accepted.record.device.name) == (
        "interpreter",
        "Triton interpreter",
    )
    assert accepted.record.environment.switches["TRITON_INTERPRET"] == "1"


# Where it cannot run, one sentence tells why


def sentence(done, status=2):
    """The one line that a lab prints before it ends so."""
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr, done.stderr
    return done.stderr


@pytest.mark.parametrize("stem", LABS)
def test_without_its_companions_a_lab_names_the_way_out(tmp_path, stem):
    path = Path(shutil.copy(ROOT / "labs" / f"{stem}.py", tmp_path))
    assert re.fullmatch(
        r"No module named '\w+': download this lab as one file, or run proof bundle\n",
        sentence(run(path)),
    )


MISSING = """
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


@pytest.mark.parametrize("package", ["torch", "triton", "numpy"])
def test_c050_a_package_that_is_not_installed_is_named(tmp_path, package):
    (tmp_path / "sitecustomize.py").write_text(MISSING.format(package=package))
    done = run(ROOT / "labs" / f"{PLAIN}.py", PYTHONPATH=str(tmp_path), PYTHONWARNINGS="ignore")
    assert sentence(done) == (
        f"{PLAIN}.py: {package} is not installed: pip install torch triton numpy (Triton exists for Linux)\n"
    )


def test_c050_a_file_that_is_called_like_triton_is_named(tmp_path):
    path = copied(PLAIN, tmp_path)
    (tmp_path / "triton.py").write_text("")
    assert sentence(run(path)) == (
        f"{PLAIN}.py: {tmp_path}/triton.py is not Triton 3.6 or later: rename that file, or upgrade triton\n"
    )


@pytest.mark.parametrize("flag", ["-O", "-OO"])
def test_without_assertions_a_lab_refuses_to_judge(flag):
    done = run(ROOT / "labs" / f"{PLAIN}.py", flags=[flag])
    assert sentence(done) == (
        f"{PLAIN}.py: python -O leaves out the assertions that a lab checks with: run it without -O\n"
    )


def test_a_closed_standard_output_is_named():
    command = f'exec "{sys.executable}" {PLAIN}.py --only one_fp32.max_abs_err >&-'
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT / "labs",
        env=surroundings(),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == (
        f"{PLAIN}.py: standard output is closed: nothing could be shown; send it to a file or to /dev/null\n"
    )


def test_a_reader_that_stops_reading_ends_it_quietly():
    with subprocess.Popen(
        [sys.executable, ROOT / "labs" / f"{PLAIN}.py"],
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 130
        assert process.stderr.read() == b""


def test_ctrl_c_ends_it_quietly():
    with subprocess.Popen(
        [sys.executable, ROOT / "labs" / f"{PLAIN}.py"],
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        while process.returncode is None:  # Python loses a signal that comes while it cleans up
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                _, errors = process.communicate(timeout=2)
        assert process.returncode == 130
        assert b"Traceback" not in errors


@pytest.mark.parametrize("stem", LABS)
def test_c051_no_speed_is_measured_in_the_interpreter(stem):
    done = run(ROOT / "labs" / f"{stem}.py", "--bench")
    assert (
        sentence(done)
        == f"{stem}.py: --bench needs a GPU: the interpreter's speed says nothing about a kernel\n"
    )


@pytest.mark.parametrize("stem", LABS)
def test_c049_without_gpu_and_interpreter_a_lab_names_the_way_out(stem):
    assert sentence(run(ROOT / "labs" / f"{stem}.py", TRITON_INTERPRET="0")).startswith(
        f"{stem}.py: no GPU is visible and TRITON_INTERPRET=0 forbids the interpreter: unset it"
    )


def test_c049_without_gpu_and_interpreter_every_lab_can_be_imported(tmp_path):
    path = tmp_path / "imports.py"
    path.write_text(
        "import judge\n"
        + "\n".join(f"import {stem}" for stem in LABS)
        + "\nassert not judge.INTERPRETED\n"
    )
    done = run(path, PYTHONPATH=str(ROOT / "labs"), TRITON_INTERPRET="0")
    assert done.returncode == 0, done.stderr


IMPORTS = """
import json, os, sys, warnings
import torch, triton, numpy
import torch.distributed, torch._dynamo, torch._inductor.compile_fx  # torch's own compiler sets variables

def state():
    backends = (torch.backends.cuda.matmul, torch.backends.cudnn)
    return dict(
        environment=dict(os.environ),
        path=list(sys.path),
        filters=[str(each) for each in warnings.filters],
        hooks=[repr(sys.excepthook), repr(sys.displayhook)],
        bytecode=sys.dont_write_bytecode,
        torch=[str(torch.get_default_dtype()), torch.is_grad_enabled(), torch.are_deterministic_algorithms_enabled(),
               torch.get_num_threads(), torch.initial_seed(), torch.get_float32_matmul_precision(),
               [[getattr(each, name) for name in ("allow_tf32",)] for each in backends]],
        triton=[triton.knobs.runtime.interpret, repr(triton.knobs.cache.dir), triton.knobs.autotuning.print],
        numpy=repr(numpy.geterr()),
    )

before = state()
__import__(sys.argv[1])
after = state()
print(json.dumps({key: [before[key], after[key]] for key in before if before[key] != after[key]}))
"""


@pytest.mark.parametrize("stem", LABS)
def test_importing_a_lab_changes_nothing(tmp_path, stem):
    path = tmp_path / "imports.py"
    path.write_text(IMPORTS)
    done = run(path, stem, PYTHONPATH=str(ROOT / "labs"), TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {}


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
    assert (
        "cannot be written: compiling into a temporary folder; TRITON_CACHE_DIR names a better one"
        in done.stderr
    )


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
    done = run(copied(stem, tmp_path), *arguments, TRITON_CACHE_DIR="/dev/null")
    assert "/dev/null cannot be written: compiling into a temporary folder" in done.stderr
    assert "Errno" not in done.stderr


def test_c052_two_at_once_on_an_empty_cache(compiling, tmp_path):
    quiet = dict(
        env=surroundings(TRITON_CACHE_DIR=str(tmp_path)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    both = [subprocess.Popen([sys.executable, *compiling], **quiet) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0] and any(tmp_path.iterdir())


# How a lab is written


@pytest.mark.parametrize("path", sorted((ROOT / "labs").glob("*.py")), ids=lambda path: path.stem)
def test_no_line_outside_the_tables_is_longer_than_100_columns(path):
    text = path.read_text(encoding="utf-8")
    prose = re.sub(
        r"(?ms)^# fmt: off\n.*?^# fmt: on$", lambda table: "\n" * table[0].count("\n"), text
    )
    assert [number for number, line in enumerate(prose.split("\n"), 1) if len(line) > 100] == []


def test_each_lab_has_tests_of_its_own():
    missing = [f"tests/labs/test_{stem.removeprefix('triton_')}.py" for stem in LABS]
    assert [name for name in missing if not (ROOT / name).is_file()] == []


CALLS = {  # results of 16 numbers from 16
    "triton_matmul": lambda lab, x, out: lab.matmul(x.view(4, 4), torch.eye(4), out=out.view(4, 4)),
    "triton_lab_notes": lambda lab, x, out: lab.dot(x.view(4, 4), torch.eye(4), out=out.view(4, 4)),
    "triton_debugging": lambda lab, x, out: lab.matmul(
        x.view(4, 4), torch.eye(4), out=out.view(4, 4)
    ),
    "triton_numerics": lambda lab, x, out: lab.linear(
        x.view(4, 4), torch.eye(4), out=out.view(4, 4)
    ),
    "triton_codegen": lambda lab, x, out: lab.copy(x, out=out),
}


@pytest.mark.parametrize("stem", CALLS)
def test_c007_memory_is_compared_not_the_storage_that_holds_it(lab, stem):
    room = torch.arange(64, dtype=torch.float32)
    seen_by_numpy = torch.from_numpy(room.numpy())  # the same memory in another storage
    with pytest.raises(ValueError, match=r"out overlaps (x|a|b), which is still being read"):
        CALLS[stem](lab(stem), room[:16], seen_by_numpy[15:31])
    CALLS[stem](lab(stem), room[:16], room[16:32])  # another part of one buffer is fine
    assert torch.equal(room[16:32], room[:16])


# Faults on purpose


def test_the_lab_that_is_copied_below_is_green(planted):
    path = planted(PLAIN)
    assert run(path, "--only", "one_fp32.max_abs_err").returncode == 0
    assert run(path, "--bug", "no_mask").returncode == 0


OLD = (
    'Bug("no_mask", section="kernel", old="offsets < n_elements", new="offsets >= 0",'
    ' caught_by="ragged_fp32.max_abs_err", how="guard"'
)


@pytest.mark.parametrize(
    ("new", "seen"),
    [
        pytest.param(OLD.replace("offsets >= 0", "offsets < nobody"), "raised", id="only raises"),
        pytest.param(OLD.replace("offsets >= 0", "n_elements > offsets"), "ok", id="does nothing"),
        pytest.param(OLD.replace("offsets < n", "offsets <  n"), "raised", id="its text is gone"),
        pytest.param(OLD.replace('"kernel"', '"kernels"'), "raised", id="its section is gone"),
        pytest.param(
            OLD.replace("offsets < n_elements", "mask"),
            "raised",
            id="its text occurs more than once",
        ),
        pytest.param(
            OLD.replace('"guard"', '"error"'), "guard", id="fails in another way than it says"
        ),
        pytest.param(
            OLD.replace("ragged", "whole"), "ok", id="names a claim that holds all the same"
        ),
    ],
)
def test_a_bug_that_is_not_caught_as_declared_is_red(planted, new, seen):
    done = run(planted(PLAIN, OLD, new), "--bug", "no_mask", "--json")
    row = json.loads(done.stdout)["claims"][0]
    assert (done.returncode, row["verdict"], row["value"]) == (1, "error", seen)


MEASURE = "    x, y = make_inputs(n if isinstance(n, tuple) else (n,), dtype, values)\n"


@pytest.mark.parametrize(
    "new",
    [
        pytest.param('raise RuntimeError("planted")', id="exception"),
        pytest.param("assert n > 1", id="assertion"),
        pytest.param("sys.exit(0)", id="exit"),
        pytest.param("import no_such_module", id="import"),
    ],
)
def test_c017_a_claim_that_does_not_end_well_is_red(planted, new):
    path = planted(PLAIN, MEASURE, f"    {new}\n")
    assert run(path, "--only", "one_fp32.max_abs_err").returncode == 1


def test_c017_a_lab_that_cannot_be_imported_is_red(planted):
    done = run(
        planted(
            PLAIN,
            "import triton.language as tl\n\nBLOCK_SIZE",
            "import no_such_module\n\nBLOCK_SIZE",
        )
    )
    assert done.returncode == 1 and "No module named 'no_such_module'" in done.stderr


def test_c017_a_bug_that_hangs_is_red_in_the_time_that_it_has(planted):
    endless = (
        OLD.replace("kernel", "launch")
        .replace("offsets < n_elements", "if n:")
        .replace("offsets >= 0", "while n:")
    )
    path = planted(PLAIN, OLD, endless, "PATIENCE_S = 600", "PATIENCE_S = 5")
    done = run(path, "--bug", "no_mask")
    assert done.returncode == 1 and "raised no answer in 5 s" in done.stdout


def test_c017_a_claim_that_hangs_names_itself_before_it_is_ended(planted):
    path = planted(PLAIN, MEASURE, "    while True: pass\n")
    command = [sys.executable, path, "--only", "one_fp32.max_abs_err"]
    with subprocess.Popen(
        command, env=surroundings(), stdout=subprocess.PIPE, text=True
    ) as process:
        shown = [process.stdout.readline() for _ in range(2)]
        process.kill()
    assert shown[1].split() == ["…", "one_fp32.max_abs_err"]


def test_a_kernel_that_spoils_its_inputs_does_not_spoil_the_reference(planted):
    store = "    tl.store(out_ptr + offsets, x + y, mask=mask)\n"
    spoiled = "    tl.store(y_ptr + offsets, x, mask=mask)\n    tl.store(out_ptr + offsets, x + x, mask=mask)\n"
    done = run(planted(PLAIN, store, spoiled), "--only", "ragged_fp32.max_abs_err")
    assert done.returncode == 1
    assert "guard     vector_add.ragged_fp32.max_abs_err" in done.stdout


@pytest.mark.parametrize(
    ("stem", "launch", "after", "returned", "claim"),
    [
        (
            PLAIN,
            "with torch.cuda.device_of(x):",
            "    # --8<-- [end:launch]",
            "x + y",
            "one_fp32.max_abs_err",
        ),
        (
            "triton_matmul",
            "with torch.cuda.device_of(a):",
            "\n\ndef tile_grid",
            "a @ b",
            "one_fp32.max_rel_err",
        ),
    ],
)
def test_what_lies_in_memory_is_judged_not_what_the_launcher_returns(
    planted, stem, launch, after, returned, claim
):
    end = f"    return out\n{after}"
    path = planted(stem, launch, "if False:", end, end.replace("return out", f"return {returned}"))
    done = run(path, "--only", claim)
    assert done.returncode == 1
    assert f"nonfinite {stem.removeprefix('triton_')}.{claim}" in done.stdout


def test_a_record_holds_the_rarer_options_of_a_launch_where_they_are_not_as_usual(tmp_path):
    script = """if True:
        import importlib, json, sys, torch
        sys.path.insert(0, sys.argv[1])
        judge, offline, lab = map(importlib.import_module, ("judge", "offline", "triton_lab_notes"))
        from triton.backends.compiler import GPUTarget
        x = torch.empty(64)
        hopper, cdna = GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)
        for target, more in ((hopper, {}), (hopper, {"maxnreg": 32, "num_warps": 8}), (cdna, {"waves_per_eu": 2})):
            with offline.compiling_for(target):
                lab.scale_kernel.warmup(x, x, 64, 2.0, BLOCK_SIZE=64, grid=(1,), **more)
        print(json.dumps([row["options"] for row in judge.kernels_of(lab)]))
    """
    done = subprocess.run(
        [sys.executable, "-c", script, ROOT / "labs"],
        env=surroundings(TRITON_INTERPRET="0", TRITON_CACHE_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout or "0") == [{}, {"maxnreg": 32}, {"waves_per_eu": 2}], done.stderr


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
@pytest.mark.parametrize(
    "wrong", [[[1.0]], 2.0, "x", torch.eye(2).to_sparse()], ids=["list", "float", "str", "sparse"]
)
def test_an_argument_that_is_no_dense_tensor_is_named(lab, stem, launcher, names, wrong):
    good = {name: torch.ones(1) if launcher == "accumulate" else torch.ones(2, 2) for name in names}
    if launcher == "layer_norm":
        good |= {"weight": torch.ones(2), "bias": torch.ones(2)}
    extra = {"factor": 2.0} if launcher == "scale" else {}
    for name in names:
        with pytest.raises(
            TypeError,
            match=rf"^{name} is {type(wrong).__name__}; it must be a torch.Tensor with strides",
        ):
            getattr(lab(stem), launcher)(**good | {name: wrong}, **extra)


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
    (tmp_path / "test_skipped.py").write_text(
        test + "@pytest.mark.skip\ndef test_skipped(): pass\n"
    )
    done = gated(tmp_path, "-c", ROOT / "pyproject.toml", PROOF_GPU_FLOOR="0")
    assert done.returncode == 1 and "1 skipped, and here that is a failure" in done.stdout


def test_the_gated_tests_stay_out_of_every_other_run():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "--collect-only",
            "-q",
            "tests/gpu",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "no tests collected" in done.stdout and "deselected" in done.stdout
