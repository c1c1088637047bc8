"""Calls as a program sees them: how long one takes, and the same call in a new process."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from judge import PATIENCE_S, Ratio, timing


# --8<-- [start:calls]
# %% One call, timed from Python.
def call_ms(call: Callable[[], object]) -> float:
    """Milliseconds from the call to the end of the work on the GPU that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()  # a launch only queues its work
    return (time.perf_counter() - start) * 1e3


def ratio_of_times(
    name: str, times_ms: list[float], base_name: str, base_ms: list[float], unit: str = "call"
) -> Ratio:
    """How many times longer the first takes than the median of the second.

    `value` is for its median, `low` and `high` are for its tenth and its ninetieth percentile.
    """
    ours = timing(name, times_ms, 1, unit)
    base = timing(base_name, base_ms, 1, unit)
    return Ratio(
        value=ours.median_ms / base.median_ms,
        low=ours.p10_ms / base.median_ms,
        high=ours.p90_ms / base.median_ms,
        timings=(ours, base),
    )
    # --8<-- [end:calls]


# --8<-- [start:processes]
# %% A call of the lab in a new process: the only place where a first call can be seen again.
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
    # --8<-- [end:processes]
