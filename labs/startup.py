"""What the first call in a new process costs, with an empty cache on disk and with a filled one.

A lab has a function that times calls of its kernels, the first one and later ones, and says how
many configurations were tried meanwhile. Here new processes evaluate it, and times are compared.
"""

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judge import Ratio, timing
from process import run_in_process

Cache = Literal["empty", "filled"]


# --8<-- [start:startup]
@dataclass(frozen=True)
class Startup:
    """What one new process measured."""

    calls_ms: list[list[float]]  # of each kernel, the first call and later ones
    trials: int  # configurations that the tuner tried


StartupPair = dict[Cache, Startup]  # two processes one after the other, with one folder as cache


@functools.cache
def startup_pairs(lab: Path, expression: str, rounds: int = 2) -> list[StartupPair]:
    """Evaluate `expression`, a call that returns the fields of a Startup, in pairs of processes.

    The first of a pair finds an empty cache on disk, the second what the first has left there. In
    the last pair, one more than `rounds`, the tuner keeps its choice there too. Raises RuntimeError
    for a process that fails.
    """
    pairs: list[StartupPair] = []
    for keep_choice in (*"0" * rounds, "1"):
        with tempfile.TemporaryDirectory() as folder:
            switches = dict(TRITON_CACHE_DIR=folder, TRITON_CACHE_AUTOTUNING=keep_choice)
            empty, filled = (new_startup(lab, expression, **switches) for _ in range(2))
            pairs.append({"empty": empty, "filled": filled})
    return pairs


def new_startup(lab: Path, expression: str, **switches: str) -> Startup:
    """What one new process measures."""
    outcome = run_in_process(lab, expression, **switches)
    if outcome.value is None:
        raise RuntimeError(f"a new process failed: {outcome.text[-300:]}")
    return Startup(*outcome.value)


def first_call_ratio(
    pairs: list[StartupPair], cache: Cache, against: Cache | Literal["later"], kernel: int
) -> Ratio:
    """How many times longer the first call takes with this cache than with the other, or later."""
    first_ms = [pair[cache].calls_ms[kernel][0] for pair in pairs]
    if against == "later":
        startups = [startup for pair in pairs for startup in pair.values()]
        others_ms = [ms for startup in startups for ms in startup.calls_ms[kernel][1:]]
        return time_ratio(f"first, {cache} cache", first_ms, "later", others_ms)
    others_ms = [pair[against].calls_ms[kernel][0] for pair in pairs]
    return time_ratio(f"first, {cache} cache", first_ms, f"first, {against} cache", others_ms)


def time_ratio(name: str, ours_ms: list[float], other: str, theirs_ms: list[float]) -> Ratio:
    """How many times longer ours takes: at its median, its tenth and its ninetieth percentile."""
    ours, theirs = timing(name, ours_ms, 1, "call"), timing(other, theirs_ms, 1, "call")
    median, low, high = (ms / theirs.median_ms for ms in (ours.median_ms, ours.p10_ms, ours.p90_ms))
    return Ratio(median, low, high, (ours, theirs))
    # --8<-- [end:startup]
