"""Timing one call from the host, the replay of a graph, and the ratio of times already taken."""

import time
from collections.abc import Callable, Sequence

import torch

from judge import Ratio, captured, timing


def clock(call: Callable[[], object]) -> float:
    """Milliseconds from the call to the end of the work that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()  # a launch only queues its work
    return (time.perf_counter() - start) * 1e3


def replayed(call: Callable[[], object]) -> Callable[[], object]:
    """The call as the replay of a CUDA graph, in which Python takes no part."""
    call()  # compiles and tunes before it is captured
    return captured(call)


def ratio_of_times(
    name: str, ours_ms: Sequence[float], other: str, theirs_ms: Sequence[float]
) -> Ratio:
    """How many times as long ours takes: its median, 10th and 90th percentile over their median."""
    ours, theirs = timing(name, list(ours_ms), 1, "call"), timing(other, list(theirs_ms), 1, "call")
    value, low, high = (ms / theirs.median_ms for ms in (ours.median_ms, ours.p10_ms, ours.p90_ms))
    return Ratio(value, low, high, (ours, theirs))
