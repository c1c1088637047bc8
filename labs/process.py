"""Evaluating an expression over a lab in a process of its own.

For what a process can do only once, or may not survive: import Triton, find an empty cache, meet a
fault of the device, run under a tool or with other environment variables.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge import PATIENCE_S


# --8<-- [start:process]
@dataclass(frozen=True)
class Outcome:
    """What came of a process."""

    value: Any  # of the expression, as JSON holds it; None if the process ended before it had one
    text: str  # everything that the process printed


def run_in_process(
    lab: Path, expression: str, tool: Sequence[str] = (), first: str = "", **environment: str
) -> Outcome:
    """Evaluate `expression`, in which `lab` is the lab at that path, in a new process.

    `tool` comes before the command, such as compute-sanitizer with its options; `first` is a
    statement that runs before the lab is imported; `environment` is added to that of this process.
    """
    program = f"""{first}
import importlib, json, sys
sys.path[:] = {[str(lab.parent), *sys.path]!r}
lab = importlib.import_module({lab.stem!r})
print("\\n= " + json.dumps({expression}), flush=True)"""
    command = [*tool, sys.executable, "-B", "-c", program]
    child = subprocess.run(
        command,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,  # where the driver prints what a device assertion says
        text=True,
        timeout=PATIENCE_S,
    )
    answers = [line for line in child.stdout.splitlines() if line.startswith("= ")]
    value = json.loads(answers[0].removeprefix("= ")) if answers else None
    return Outcome(value, child.stdout)
    # --8<-- [end:process]


# --8<-- [start:waiting]
def start_process(
    lab_path: Path, call: str, environment: Mapping[str, str]
) -> "subprocess.Popen[str]":
    """A new process that has imported the lab and waits; `finish_process` lets it make the call.

    `call` is written as it would be behind `lab.`: "live('tuned')". Its result must be JSON.
    """
    program = (
        "import importlib, json, sys; sys.path[:0] = sys.argv[1:];"
        f" lab = importlib.import_module({lab_path.stem!r});"
        f" input(); print(json.dumps(lab.{call}))"
    )
    folders = (str(lab_path.parent), str(Path(__file__).resolve().parent))  # lab, companions
    return subprocess.Popen(
        [sys.executable, "-B", "-c", program, *folders],
        env=os.environ | dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish_process(process: "subprocess.Popen[str]") -> Any:
    """Let a process of `start_process` make its call; its result. RuntimeError where it fails."""
    output, complaints = process.communicate("\n", timeout=PATIENCE_S)
    if process.returncode:
        raise RuntimeError(f"a new process failed: {complaints[-300:]}")
    return json.loads(output.splitlines()[-1])
    # --8<-- [end:waiting]
