"""triton_accept: its command line, on functions with one fault each; its kernel on bad arguments."""

import json
import os
import subprocess
import sys

import acceptance
import harness
import pytest
import torch

GOOD = """
import torch
def op(x): return torch.softmax(x, 1)
def exact(x): return torch.softmax(x, 1)
def base(x): return torch.softmax(x, 1)
def wrong_where(x): return torch.softmax(x, 1) * (1 + (x.shape[1] == 17))
def half(x): return torch.softmax(x.half(), 1).to(x.dtype)
def refuses_half(x):
    if x.dtype != torch.float32: raise TypeError(f"x is {x.dtype}; allowed: torch.float32")
    return torch.softmax(x, 1)
def refuses_all(x): raise TypeError("x is not for me")
def other(x): return x.sum()
def text(x): return "no tensor"
def dies(x):
    import os
    os._exit(7) if x.shape[0] == 0 else None
    return torch.softmax(x, 1)
def hangs(x):
    import time
    time.sleep(600 if x.shape[0] == 6 else 0)
    return torch.softmax(x, 1)
def loud(x):
    print("not JSON")
    return torch.softmax(x, 1)
def detached(x): return torch.softmax(x.detach(), 1)
def largest(x): return tuple(x.max(1))
def leaves(x): raise SystemExit(3)
def lone(shape, dtype, generator): return torch.randn(shape, generator=generator).to(dtype)
MEMORY, CALLS = {}, []
def reused(x):
    CALLS.append(1)
    out = MEMORY.setdefault((x.shape, x.dtype), torch.empty_like(x))
    return out.copy_(torch.softmax(x, 1) * (1 + len(CALLS) % 2 * 2**-22))
def broken(x): raise RuntimeError("no such thing")
def doubled(x): return 2 * x
def needs(x, factor): return factor * x
def wrapped(x): return needs(x, 2)
wrapped.__wrapped__ = needs
def refuses_views(x):
    if not x.is_contiguous(): raise ValueError("x is sliced")
    return op(x)
def scaled(x, factor): return x * factor
def pair(shape, dtype, generator): return torch.randn(shape, generator=generator).to(dtype), 0.5
"""


@pytest.fixture(scope="module")
def accept(lab):
    return lab("triton_accept")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "own.py"
    path.write_text(GOOD)
    return path


@pytest.fixture(scope="module")
def judge(accept, path):
    """judge(function, …): rows by check, judged in this process."""

    def run(function, reference="exact", dtypes=("float32",), **more):
        named = {key: harness.load_function(f"{path}:{name}") for key, name in more.items()}
        op, reference = (harness.load_function(f"{path}:{name}") for name in (function, reference))
        it = acceptance.own(op, reference, **named, shapes=("3x17", "2x40"), dtypes=dtypes)
        return {row["check"]: row for row in acceptance.accept(it)}

    return run


@pytest.fixture(scope="module")
def command(accept, path):
    """command(function, …): status, rows by check, and what went to standard error, of the whole harness."""

    def run(function, *more, reference="exact", dtypes="float32"):
        command = [
            sys.executable,
            accept.__file__,
            f"{path}:{function}",
            "--reference",
            f"{path}:{reference}",
            "--json",
        ]
        command += ["--dtypes", dtypes, "--shapes", "3x17,2x40", *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        rows = (
            {row["check"]: row for row in json.loads(done.stdout)["checks"]} if done.stdout else {}
        )
        return done.returncode, rows, done.stderr

    return run


def failing(rows):
    return [name for name, row in rows.items() if row["verdict"] == "fails"]


def test_a_right_function_passes_and_what_was_not_judged_says_why(judge):
    rows = judge("op", fallback="base")
    assert failing(rows) == []
    told = {name: row["seen"] for name, row in rows.items() if row["verdict"] == "-"}
    assert told["speed"] == "give --baseline" and told["gain"] == "give --workload and --baseline"
    assert told["compiles"] == told["memory"] == "needs a GPU"
    assert rows["fallback"]["seen"] == "0.0e+00 apart"


def test_an_edge_that_is_wrong_is_named(judge):
    rows = judge("wrong_where")
    assert "at (3, 17) in torch.float32" in rows["accuracy"]["seen"]


def test_a_narrow_type_inside_is_seen(judge):
    rows = judge("half")
    assert {"accuracy", "long_sums"} <= set(failing(rows))


def test_a_refused_dtype_is_told_and_is_no_failure(judge):
    rows = judge("refuses_half", dtypes=("float32", "float16"))
    assert failing(rows) == []
    assert rows["accuracy"]["seen"].endswith(
        "refuses the rest: x is torch.float16; allowed: torch.float32"
    )


def test_a_function_that_refuses_everything_fails(judge):
    rows = judge("refuses_all")
    assert (
        rows["accuracy"]["verdict"] == "fails"
        and rows["accuracy"]["seen"] == "refuses: x is not for me"
    )


@pytest.mark.parametrize(
    ("function", "seen"),
    [
        ("other", "returns () float32; the reference has (3, 17) float32"),
        ("text", "returns something else than tensors"),
    ],
)
def test_another_shape_is_told(judge, function, seen):
    rows = judge(function)
    assert (rows["accuracy"]["verdict"], rows["accuracy"]["seen"]) == ("fails", seen)


def test_what_ends_the_process_fails_one_check_and_the_next_go_on(command):
    status, rows, _ = command("dies")
    assert (status, failing(rows)) == (1, ["empty"])
    assert (
        rows["empty"]["seen"] == "ends the process, status 7"
        and rows["gradient"]["verdict"] == "ok"
    )


def test_what_hangs_fails_one_check_in_its_time_and_the_next_go_on(command):
    status, rows, _ = command("hangs", "--patience", "8")
    assert (status, failing(rows)) == (1, ["strides"])
    assert (
        rows["strides"]["seen"] == "hangs: no answer in 8 s" and rows["special"]["verdict"] == "ok"
    )


def test_what_the_function_prints_stays_out_of_the_report(command):
    status, rows, said = command("loud")
    assert (status, failing(rows)) == (0, []) and "not JSON" in said


def test_a_gradient_that_is_lost_without_a_word_fails(judge):
    rows = judge("detached")
    assert failing(rows) == ["gradient"]


def test_inputs_of_ones_own(judge):
    rows = judge("scaled", reference="scaled", inputs="pair")
    assert failing(rows) == []


def test_one_tensor_alone_is_an_input_too(judge):
    assert failing(judge("op", inputs="lone")) == []


def test_a_result_of_one_number_is_judged_like_any_other(judge):
    assert failing(judge("other", reference="other")) == []


def test_results_that_are_indices_keep_their_dtype(judge):
    assert failing(judge("largest", reference="largest")) == []


def test_c023_a_result_in_memory_that_the_next_call_overwrites_cannot_hide_what_varies(judge):
    assert {"special", "repeats"} <= set(failing(judge("reused")))


def test_what_leaves_python_fails_its_check_and_says_so(judge):
    assert judge("leaves")["accuracy"]["seen"] == "raises SystemExit: 3"


def test_c002_a_function_that_refuses_every_view_is_not_called_right_for_views(judge):
    assert judge("refuses_all")["strides"]["seen"].startswith("refuses: transposed")


def test_c006_the_interpreter_is_not_asked_to_judge_bfloat16(accept):
    assert acceptance.DTYPE_NAMES == ("float32", "float16")


def test_the_report_as_a_table(accept, tmp_path):
    (tmp_path / "own.py").write_text(GOOD)
    command = [
        sys.executable,
        accept.__file__,
        "own.py:op",
        "--reference",
        "own.py:exact",
        "--markdown",
        "--shapes",
        "3x17",
    ]
    lines = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=100
    ).stdout.splitlines()
    assert lines[0].startswith("own.py:op · Triton interpreter · torch ")
    assert lines[1:4] == ["", "| check | verdict | seen |", "| --- | --- | --- |"]
    assert sum(line.startswith("| upkeep | ? |") for line in lines) == 4
    assert all(line.count(" |") >= 3 for line in lines[4:])


def test_a_reference_that_raises_is_told_as_the_reference(judge):
    rows = judge("op", reference="broken")
    assert rows["accuracy"]["seen"] == "the reference raises RuntimeError: no such thing"
    assert (
        rows["empty"]["seen"] == "the reference has no answer"
        and rows["repeats"]["verdict"] == "ok"
    )


def test_a_function_that_takes_other_arguments_is_no_refusal(judge):
    rows = judge("scaled")
    assert set(failing(rows)) >= {"accuracy", "strides", "empty", "gradient"}
    assert rows["accuracy"]["seen"].startswith(
        "cannot be called with 1 arguments: missing a required argument: 'factor'"
    )


def test_a_wrapper_may_show_fewer_arguments_than_it_needs(judge):
    assert failing(judge("wrapped", reference="doubled")) == []


def test_a_file_is_run_once_and_sees_what_lies_beside_it(accept, tmp_path):
    (tmp_path / "beside_it.py").write_text("factor = 3\n")
    own = tmp_path / "runs_once.py"
    own.write_text(
        "import torch, beside_it\nlibrary = torch.library.Library('runs_once', 'DEF')\ndef a(x): return x\ndef b(x): return x\n"
    )
    assert (
        harness.load_function(f"{own}:a").__globals__
        is harness.load_function(f"{own}:b").__globals__
    )


def test_after_an_exception_the_next_check_has_a_new_process(accept, path):
    child = harness.CheckProcess(
        accept.__file__, {"op": f"{path}:broken", "reference": f"{path}:exact"}, 60
    )
    try:
        assert (
            child.ask("accuracy")["seen"].startswith("raises RuntimeError")
            and child.process is None
        )
        assert child.ask("empty")["verdict"] == "fails"
    finally:
        child.end()


def test_what_is_refused_of_views_is_told_with_its_sentence(judge):
    assert "(x is sliced)" in judge("refuses_views")["strides"]["seen"]


def test_a_first_call_on_a_gpu_that_hangs_is_a_line(accept, path, monkeypatch):
    def late(*arguments, timeout, **more):
        raise subprocess.TimeoutExpired(arguments, timeout)

    monkeypatch.setattr(harness, "DEVICE", "cuda")
    monkeypatch.setattr(harness.subprocess, "run", late)
    row = harness.first_calls(
        accept.__file__, {"op": f"{path}:op", "reference": f"{path}:exact"}, 5
    )
    assert row == {"check": "first call", "verdict": "fails", "seen": "hangs: no end in 120 s"}


def test_a_first_call_on_a_gpu_tells_how_much_of_it_is_tuning(accept, path, monkeypatch):
    told = iter(["[900.0, 0.5, 700.0, 12]", "[800.0, 0.5, 650.0, 12]"])
    monkeypatch.setattr(harness, "DEVICE", "cuda")
    monkeypatch.setattr(
        harness.subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, 0, next(told), "")
    )
    row = harness.first_calls(
        accept.__file__, {"op": f"{path}:op", "reference": f"{path}:exact"}, 5
    )
    assert row["seen"] == (
        "900 ms with an empty cache, 800 ms with a filled one, 0.500 ms later; of these 700 and 650 ms in 12 trials"
    )


def test_help_tells_the_harness_and_the_lab(accept):
    done = subprocess.run(
        [sys.executable, accept.__file__, "--help"], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0 and "--workload" in done.stdout and "--bug" in done.stdout


def test_c049_without_gpu_and_interpreter_the_harness_names_the_way_out(accept, path):
    command = [sys.executable, accept.__file__, f"{path}:op", "--reference", f"{path}:exact"]
    env = os.environ | {
        "TRITON_INTERPRET": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "HIP_VISIBLE_DEVICES": "",
    }
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "triton_accept.py: no GPU is visible and TRITON_INTERPRET=0 forbids the interpreter: unset it\n"
    )


# Bad command lines


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("own.py:nothing", "own.py has no function nothing; it has"),
        ("gone.py:op", "there is no file gone.py"),
        ("gone.module:op", "gone.module cannot be imported: ModuleNotFoundError"),
        ("broken.py:op", "broken.py cannot be imported: SyntaxError"),
        ("exact", "'exact' names no function: write module:function or file.py:function"),
        ("own.py:a b", "names no function"),
    ],
)
def test_a_function_that_is_not_there_is_told_in_a_sentence(accept, path, monkeypatch, named, said):
    monkeypatch.chdir(path.parent)
    (path.parent / "broken.py").write_text("def op(:\n")
    with pytest.raises(LookupError, match=said):
        harness.load_function(named)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: --reference"),
        (
            ["--reference", "own.py:exact", "--shapes", "3,4"],
            "--shapes is 3,4; write rows x columns",
        ),
        (
            ["--reference", "own.py:exact", "--shapes", "0x4"],
            "--shapes is 0x4; write rows x columns",
        ),
        (
            ["--reference", "own.py:exact", "--patience", "-1"],
            "--patience is -1.0; it must be above 0",
        ),
        (["--reference", "own.py:exact", "--dtypes", "fp8"], "--dtypes is fp8; allowed: float32,"),
    ],
)
def test_a_bad_command_line_is_told_in_a_sentence(accept, monkeypatch, capsys, arguments, said):
    monkeypatch.setattr(sys, "argv", ["triton_accept.py", "own.py:op", *arguments])
    with pytest.raises(SystemExit) as ended:
        accept.command()
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_a_function_that_is_not_there_ends_the_whole_command_with_2(command):
    status, rows, said = command("nothing")
    assert (
        (status, rows) == (2, {}) and "has no function nothing" in said and "Traceback" not in said
    )


# The kernel of the lab


@pytest.mark.parametrize("shape", [(1, 1), (3, 17), (2, 1000), (5, 1025), (0, 4)])
def test_the_good_kernel_agrees_with_the_library(accept, shape):
    x = torch.randn(shape)
    torch.testing.assert_close(accept.logsumexp(x), torch.logsumexp(x, 1), atol=2e-6, rtol=0)


@pytest.mark.parametrize(
    ("x", "error", "said"),
    [
        ([1.0], TypeError, "x is list; it must be a torch.Tensor"),
        (
            torch.zeros(3, 4, dtype=torch.int32),
            TypeError,
            "x is torch.int32; allowed here: torch.float32, torch.float16",
        ),
        (torch.zeros(3, 4, dtype=torch.bfloat16), TypeError, "x is torch.bfloat16; allowed here"),
        (torch.zeros(4), ValueError, r"x has shape \(4,\); it must be 2-D"),
        (
            torch.zeros(3, 0),
            ValueError,
            "columns of x is 0; it must be a whole number from 1 to 65536",
        ),
        (
            torch.zeros(1, 65_537),
            ValueError,
            "columns of x is 65537; it must be a whole number from 1 to 65536",
        ),
        (torch.zeros(4, 4).t(), ValueError, r"pass x.contiguous\(\)"),
        (
            torch.zeros(3, 4, device="meta"),
            ValueError,
            "x is on meta; this run needs every tensor on one cpu device",
        ),
        (torch.zeros(3, 4, requires_grad=True), ValueError, r"pass x.detach\(\)"),
    ],
)
def test_c012_c046_c048_what_the_kernel_cannot_take_is_named(accept, x, error, said):
    with pytest.raises(error, match=said):
        accept.logsumexp(x)
