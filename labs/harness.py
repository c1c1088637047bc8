"""The acceptance harness: the checks of acceptance.py for a function that the command line names.

Every check runs in a child process with a time limit, since what it runs is not trusted yet. The
lab is the program that these children run.
"""

import argparse
import importlib
import importlib.util
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton

from judge import DEVICE, Guards, surroundings
from acceptance import (
    CHECKS,
    DTYPE_NAMES,
    SHAPES,
    Function,
    Own,
    dirty_memory,
    guarded_arguments,
    judge_check,
    own,
    report_row,
)
from claims import Row

QUESTIONS = (
    "Who fixes it when a new Triton, a new GPU or a new shape comes?",
    "Which test goes red when it breaks, and does that test run on a GPU?",
    "How is it switched off in production, and was that tried?",
    "What would make it unnecessary, and who looks for that?",
)


# %% A function of your own, by name.
# --8<-- [start:load]
FUNCTION_OPTIONS = ("op", "reference", "inputs", "baseline", "fallback", "workload")


def load_function(text: str) -> Function:
    """The function that `module:function` or `file.py:function` names.

    Raises LookupError with a sentence.
    """
    module_name, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        raise LookupError(f"{text!r} names no function: write module:function or file.py:function")
    try:
        module = load_file(module_name) if module_name.endswith(".py") else load_module(module_name)
    except LookupError:
        raise
    except BaseException as error:
        reason = f"{type(error).__name__}: {error}"
        raise LookupError(f"{module_name} cannot be imported: {reason}") from None
    function: Function | None = getattr(module, name, None)
    if function is None or not callable(function):
        public = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
        others = ", ".join(sorted(public)[:8]) or "none"
        raise LookupError(f"{module_name} has no function {name}; it has {others}")
    return function


def load_module(name: str) -> Any:
    """A module, which may be in the current folder."""
    sys.path.insert(0, os.getcwd())
    return importlib.import_module(name)


def load_file(file: str) -> Any:
    """A file as a module, run once for all its functions: an operator can register only once."""
    if not os.path.isfile(file):
        raise LookupError(f"there is no file {file}")
    path = os.path.abspath(file)
    stem = Path(file).stem
    loaded = sys.modules.get(stem)
    if loaded is not None and getattr(loaded, "__file__", None) == path:
        return loaded
    spec = importlib.util.spec_from_file_location(stem, path)
    assert spec is not None and spec.loader is not None
    sys.path.insert(0, os.path.dirname(path))  # what it imports may lie beside it
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module  # Triton looks a kernel's module up
    spec.loader.exec_module(module)
    return module


def own_of(options: dict[str, Any]) -> Own:
    """What the options of the command line describe."""
    given = {key: value for key, value in options.items() if value is not None}
    functions = {key: load_function(given[key]) for key in FUNCTION_OPTIONS if key in given}
    return own(**given | functions)
    # --8<-- [end:load]


# %% Children: what a check runs may hang, or end its process.
# --8<-- [start:children]
def serve_checks(options: dict[str, Any]) -> int:
    """The child's side: judge each check whose name comes in, one line of JSON for each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the function prints goes elsewhere

    def answer(row: Row) -> None:
        print(json.dumps(row), file=answers, flush=True)

    try:
        it = own_of(options)
        with dirty_memory():  # what torch starts and imports at first, outside the time of a check
            torch.zeros(1, device=DEVICE)
    except (LookupError, AttributeError, ValueError) as error:
        answer({"ready": False, "why": str(error)})
        return 2
    answer({"ready": True})
    for name in sys.stdin:
        answer(judge_check(it, name.strip()))
    return 0


class CheckProcess:
    """A process that judges checks; replaced when one hangs or ends it."""

    def __init__(self, program: Path, options: dict[str, Any], patience: float) -> None:
        """`program` is the lab, which answers `--serve`."""
        self.program = program
        self.options = options
        self.patience = patience  # seconds
        self.process: subprocess.Popen[str] | None = None

    def ask(self, name: str) -> Row:
        """The row of a check, or what became of it. LookupError where options make no sense."""
        process = self.process or self._start()
        self.process = process
        try:
            print(name, file=process.stdin, flush=True)
            row = self._answer(process, self.patience)
        except BrokenPipeError:
            row = {}
        if not row:
            return self._ended(process, name, hangs=row is None)
        if row["seen"].startswith("raises"):  # a device that faulted answers no other check
            self.end()
        return row

    def _start(self) -> "subprocess.Popen[str]":
        command = [sys.executable, "-B", str(self.program), "--serve", json.dumps(self.options)]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        begun = self._answer(process, max(self.patience, 120))
        if begun and begun.get("ready"):
            return process
        process.kill()
        process.wait()
        never = "the function's module does not come back from its import"
        raise LookupError(begun["why"] if begun else never)

    def _ended(self, process: "subprocess.Popen[str]", name: str, hangs: bool) -> Row:
        """The row of a check that gave no answer."""
        try:
            status = process.wait(0 if hangs else 10)  # it has ended, or is about to
            seen = f"ends the process, status {status}"
        except subprocess.TimeoutExpired:
            seen = f"hangs: no answer in {self.patience:g} s"
        self.end()
        return report_row(name, "fails", seen)

    def _answer(self, process: "subprocess.Popen[str]", seconds: float) -> Row | None:
        """The next answer; None when none comes in time, nothing when no more will come."""
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        if not ready:
            return None
        row: Row = json.loads(process.stdout.readline() or "{}")
        return row

    def end(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    # --8<-- [end:children]


# %% The first call in a new process, which a warm benchmark never sees.
# --8<-- [start:first]
def first_call_times(options: dict[str, Any]) -> int:
    """The child's side: print milliseconds of the first call and of a later one, and of tuning."""
    it = own_of(options)
    arguments = guarded_arguments(it, Guards(), it.shapes[-1], it.dtypes[0])
    torch.cuda.synchronize()
    tuning_ms: list[float] = []
    tuner = triton.runtime.autotuner.Autotuner
    run_trial = tuner._bench

    def timed_trial(*args: Any, **more: Any) -> Any:
        start = time.perf_counter()
        result = run_trial(*args, **more)
        tuning_ms.append((time.perf_counter() - start) * 1e3)
        return result

    tuner._bench = timed_trial
    calls_ms = []
    for _ in range(21):
        start = time.perf_counter()
        it.op(*arguments)
        torch.cuda.synchronize()
        calls_ms.append((time.perf_counter() - start) * 1e3)
    later_ms = sorted(calls_ms[1:])[10]
    print()  # whatever the function printed ends here
    print(json.dumps([calls_ms[0], later_ms, sum(tuning_ms), len(tuning_ms)]))
    return 0


def first_calls(program: Path, options: dict[str, Any], patience: float) -> Row:
    """Milliseconds of the first call with an empty cache, with what that left, and of a later."""
    name = "first call"
    if DEVICE != "cuda":
        return report_row(name, "-", "needs a GPU")
    command = [sys.executable, "-B", str(program), "--first-call", json.dumps(options)]
    seconds = max(patience, 120)
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"TRITON_CACHE_DIR": folder}
        for _ in ("empty", "filled"):
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, env=environment, timeout=seconds
                )
                measured.append(json.loads(done.stdout.splitlines()[-1]))
            except subprocess.TimeoutExpired:
                return report_row(name, "fails", f"hangs: no end in {seconds:g} s")
            except (IndexError, ValueError):  # it never came to its answer
                complaints = done.stderr.strip().splitlines()
                ended = f"ends the process, status {done.returncode}"
                return report_row(name, "fails", complaints[-1] if complaints else ended)
    (empty_ms, later_ms, tuning_ms, trials), (filled_ms, _, again_ms, _) = measured
    tuned = f"of these {tuning_ms:.0f} and {again_ms:.0f} ms in {trials} trials"
    return report_row(
        name,
        "told",
        f"{empty_ms:.0f} ms with an empty cache, {filled_ms:.0f} ms with a filled one,"
        f" {later_ms:.3f} ms later; {tuned if trials else 'nothing is tuned'}",
    )
    # --8<-- [end:first]


# %% The command line.
# --8<-- [start:command]
def report(
    program: Path,
    options: dict[str, Any],
    patience: float,
    show: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Every line of the report on the function that the options name."""
    process, rows = CheckProcess(program, options, patience), []

    def add(row: Row) -> None:
        rows.append(row)
        show(row)

    try:
        for name in CHECKS:
            add(process.ask(name))
    finally:
        process.end()
    add(first_calls(program, options, patience))
    for question in QUESTIONS:
        add(report_row("upkeep", "?", question))
    return rows


def argument_parser(program: str) -> argparse.ArgumentParser:
    """The options of the harness."""
    parser = argparse.ArgumentParser(
        prog=program,
        description="Does this function do what its reference does, in every way that matters?",
    )
    add = parser.add_argument
    name = dict(metavar="FUNCTION")
    add("op", **name, help="module:function or file.py:function; takes and returns tensors")
    add("--reference", **name, required=True, help="the same in float64")
    add(
        "--inputs",
        **name,
        help="inputs(shape, dtype, generator) gives the arguments;"
        " else one tensor of normal numbers",
    )
    add("--baseline", **name, help="what its speed is measured against")
    add("--fallback", **name, help="what runs where it cannot")
    add("--workload", **name, help="workload(op) runs the whole task with one of both")
    add("--shapes", type=split_list, help=f"such as {','.join(SHAPES[:3])}")
    add("--dtypes", type=split_list, help=f"of {','.join(DTYPE_NAMES)}")
    add(
        "--slack",
        type=int,
        help="roundings of fp32 that the bound allows besides the last one; default 64",
    )
    add("--speed", type=float, help="the least part of the baseline's speed; default 1")
    add("--patience", type=float, default=60, metavar="SECONDS", help="for a check; default 60")
    add("--json", action="store_true", help="the report as data")
    add("--markdown", action="store_true", help="the report as a table")
    return parser


def split_list(text: str) -> list[str]:
    return text.split(",")


def parse_options(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """The options that were given. A bad one ends the program with a sentence."""
    args = vars(parser.parse_args())
    shapes, dtypes = args["shapes"], args["dtypes"]
    if shapes and not all(re.fullmatch(r"[1-9][0-9]*x[1-9][0-9]*", shape) for shape in shapes):
        parser.error(f"--shapes is {','.join(shapes)}; write rows x columns, such as 64x4096,3x17")
    if dtypes and not set(dtypes) <= set(DTYPE_NAMES):
        parser.error(f"--dtypes is {','.join(dtypes)}; allowed: {','.join(DTYPE_NAMES)}")
    for name in ("patience", "slack", "speed"):
        value = args[name]
        no_slack = name == "slack" and value == 0
        if value is not None and value <= 0 and not no_slack:
            parser.error(f"--{name} is {value}; it must be above 0")
    return {key: value for key, value in args.items() if value is not None}


def harness_main(program: Path, lab_main: Callable[[], int]) -> int:
    """The command line: that of the harness where a function is named, else that of the lab."""
    children = {"--serve": serve_checks, "--first-call": first_call_times}
    if sys.argv[1:2] and sys.argv[1] in children:
        return children[sys.argv[1]](json.loads(sys.argv[2]))
    parser = argument_parser(program.name)
    if not any(names_function(argument) for argument in sys.argv[1:]):
        if {"-h", "--help"} & set(sys.argv[1:]):
            parser.print_help()
            print("\nWithout a function, the lab itself:\n")
        return lab_main()
    options = parse_options(parser)
    patience, as_json, as_markdown = (options.pop(o) for o in ("patience", "json", "markdown"))
    if DEVICE == "cuda" and not torch.cuda.is_available():
        sentence = "no GPU is visible and TRITON_INTERPRET=0 forbids the interpreter: unset it"
        print(f"{program.name}: {sentence}", file=sys.stderr)
        return 2
    facts = surroundings()
    if not as_json:
        versions = [f"{name} {facts['environment'][name]}" for name in ("torch", "triton")]
        print(" · ".join([options["op"], facts["device"]["name"], *versions]), flush=True)
    try:
        show = ignore if as_json or as_markdown else show_row
        rows = report(program, options, patience, show)
    except LookupError as error:
        print(f"{program.name}: {error}", file=sys.stderr)
        return 2
    failed = sum(row["verdict"] == "fails" for row in rows)
    if as_json:
        data = {"function": options["op"], **facts, "failed": failed, "checks": rows}
        print(json.dumps(data))
    elif as_markdown:
        print("\n" + markdown_table(rows))
    else:
        judged = sum(row["verdict"] in ("ok", "fails") for row in rows)
        print(f"{failed} of {judged} checks fail")
    return int(failed > 0)


def names_function(argument: str) -> bool:
    """Whether an argument belongs to the command line of the harness."""
    return ":" in argument or argument == "--reference" or argument.endswith(".py")


def ignore(row: Row) -> None:
    """Show nothing yet."""


def show_row(row: Row) -> None:
    """One line of the report."""
    print(f"  {row['verdict']:6} {row['check']:12} {row['seen']}", flush=True)


def markdown_table(rows: list[Row]) -> str:
    """The report as a table."""
    lines = ["| check | verdict | seen |", "| --- | --- | --- |"]
    for row in rows:
        seen = row["seen"].replace("|", "\\|")
        lines.append(f"| {row['check']} | {row['verdict']} | {seen} |")
    return "\n".join(lines)
    # --8<-- [end:command]
