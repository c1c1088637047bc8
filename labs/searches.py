"""Measuring a tuner: which configurations it tries, what it noted, and how long a search takes.

`tuner` is a kernel under @triton.autotune, and `call` a function that launches it.
"""

import contextlib
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any
from unittest import mock

import torch
import triton

from claims import Row
from stopwatch import clock, ratio_of_times

Call = Callable[[], object]


@contextlib.contextmanager
def dirty_memory() -> Iterator[None]:
    """Inside, fresh memory is NaN: what was never written does not look like an old result."""
    before = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warn_only)


def untimed() -> mock.Mock:
    """A benchmark that times nothing and counts its calls: how many configurations are tried."""
    return mock.Mock(return_value=[1.0, 1.0, 1.0])


def count_trials(tuner: Any, call: Call) -> int:
    """How many configurations this call tries."""
    with mock.patch.object(tuner, "do_bench", untimed()) as bench:
        call()
    return bench.call_count


def config_fields() -> Row:
    """What a Config holds besides the constants of the kernel."""
    names = sorted(vars(triton.Config({})))
    return {"value": len(names), "note": ", ".join(names)}


def fields_refused(names: Sequence[str]) -> int:
    """How many of these a Config does not take."""
    refused = 0
    for name in names:
        try:
            triton.Config({}, **{name: 8})
        except TypeError:
            refused += 1
    return refused


def programs_of_sm(registers: int, threads: int, shared_bytes: int) -> int:
    """How many programs an SM of sm_90 holds at once.

    It has 65,536 registers, handed out by eights; 228 KiB of shared memory, of which each program
    takes one more than it asks for; and 2,048 threads.
    """
    by_registers = 65536 // (triton.cdiv(registers, 8) * 8 * threads)
    return int(min(by_registers, 228 * 1024 // (shared_bytes + 1024), 2048 // threads))


def all_ms(call: Call) -> list[float]:
    """The milliseconds of many calls."""
    times: list[float] = triton.testing.do_bench(call, return_mode="all")
    return times


def noted_ms(tuner: Any, call: Call, searches: int) -> list[float]:
    """The time that each search notes for the configuration that it finds best."""
    noted = []
    for _ in range(searches):
        tuner.cache.clear()
        call()
        noted.append(tuner.configs_timings[tuner.best_config][0])
    return noted


def repeated_searches(tuner: Any, call: Call, searches: int, label: Callable[[Any], str]) -> Row:
    """The second of the configurations over the first, and the times of all in each search."""
    times: dict[Any, list[float]] = {}
    wins: dict[Any, int] = {}
    for _ in range(searches):
        tuner.cache.clear()
        call()
        wins[tuner.best_config] = wins.get(tuner.best_config, 0) + 1
        for config, (median, *_) in tuner.configs_timings.items():
            times.setdefault(config, []).append(median)
    ranked = sorted(times, key=lambda config: statistics.median(times[config]))
    first, second = ranked[:2]
    names = f"first: {label(first)}", f"second: {label(second)}"
    ratio = ratio_of_times(names[0], times[first], names[1], times[second])
    series = [
        {"name": f"{label(c)}: won {wins.get(c, 0)}", "unit": "ms", "values": times[c]}
        for c in ranked
    ]
    return asdict(ratio) | {"series": series}


def search_ms(tuner: Any, call: Call, rounds: int) -> tuple[list[float], list[float]]:
    """Milliseconds of searches with nothing compiled, and of searches with everything compiled."""
    caches = tuner.fn.device_caches
    cold: list[float] = []
    warm: list[float] = []
    before = {device: dict(compiled[0]) for device, compiled in caches.items()}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
            triton.knobs.cache.dir = folder  # empty
            for compiled in caches.values():
                compiled[0].clear()
            for times in (cold, warm):
                tuner.cache.clear()
                times.append(clock(call))
    for device, compiled in before.items():
        caches[device][0].update(compiled)
    return cold, warm
