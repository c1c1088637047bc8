"""When a kernel pays for itself: one op in a block, shapes that scatter, calls until it has paid.

A lab gives its op as a function of (x, bias, residual), the same by the framework's operators, and
the jitted kernel below the op, so that it can be compiled anew.
"""

import contextlib
import functools
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import torch
import triton

from judge import DEVICE, Ratio, benchmark_pair
from stopwatch import elapsed_ms, ratio_of_times

ROUNDS = 3
WIDTHS = tuple(range(500, 1700, 61))  # twenty widths, as they come without buckets


def block_of_network(
    op: Callable[..., torch.Tensor],
    x: torch.Tensor,
    weights: torch.Tensor,
    bias: torch.Tensor,
    residual: torch.Tensor,
) -> torch.Tensor:
    """One block of a network: four products, and the op once."""
    for weight in weights:
        x = x @ weight
    return op(x, bias, residual)


class Payback:
    """An op whose kernel was written, against the framework's operators."""

    def __init__(
        self,
        op: Callable[..., torch.Tensor],
        eager: Callable[..., torch.Tensor],
        kernel: Any,
        make_inputs: Callable[..., list[torch.Tensor]],
    ) -> None:
        """`op` also takes `kernel`, which it launches, and `constant`: whether it knows the width.

        `make_inputs(n_rows, n_cols, dtype)` returns x, bias and residual.
        """
        self.op = op
        self.eager = eager
        self.kernel = kernel
        self.make_inputs = make_inputs

    @contextlib.contextmanager
    def uncompiled(self) -> Iterator[Any]:
        """The kernel as a fresh process has it: not compiled, with an empty cache on disk."""
        with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
            triton.knobs.cache.dir = folder
            yield triton.jit(self.kernel.fn)

    def speed(self, against: str, M: int = 8192, N: int = 4096) -> Ratio:
        """Calls a second against "eager", or bytes a second against a "copy" of two arrays for three."""
        inputs = self.make_inputs(M, N, torch.float16)
        ours = "fused", functools.partial(self.op, *inputs)
        if against == "eager":
            return benchmark_pair(ours, ("eager", functools.partial(self.eager, *inputs)))
        x, out = inputs[0], torch.empty_like(inputs[0])
        copy = "copy", lambda: out.copy_(x)
        return benchmark_pair(ours, copy, work=(3 * x.nbytes, 2 * x.nbytes), unit="B")

    def workload_speed(self, size: int = 4096) -> Ratio:
        """Calls a second of a block of a network, with the op by its kernel and by the framework.

        x, bias and weights are (size, size), but for the bias, in fp16.
        """
        x, bias, residual = self.make_inputs(size, size, torch.float16)
        shape = (4, size, size)
        weights = torch.randn(shape, device=DEVICE, dtype=torch.float16) / size**0.5
        ours, theirs = (
            functools.partial(block_of_network, op, x, weights, bias, residual)
            for op in (self.op, self.eager)
        )
        return benchmark_pair(("with the kernel", ours), ("eager", theirs))

    @functools.cached_property
    def scattered_ms(self) -> dict[str, list[float]]:
        """Milliseconds of WIDTHS, each once: compiled for each, with the width as argument, eager."""
        all_inputs = [self.make_inputs(256, width, torch.float16) for width in WIDTHS]

        def each_width_once(op: Callable[..., torch.Tensor]) -> None:
            for inputs in all_inputs:
                op(*inputs)

        each_width_once(self.op)  # so that all is warm but the kernels below
        each_width_once(self.eager)
        times: dict[str, list[float]] = {"constant width": [], "width as argument": [], "eager": []}
        for _ in range(ROUNDS):
            for name, constant in (("constant width", True), ("width as argument", False)):
                with self.uncompiled() as kernel:
                    op = functools.partial(self.op, kernel=kernel, constant=constant)
                    times[name].append(elapsed_ms(functools.partial(each_width_once, op)))
            times["eager"].append(elapsed_ms(functools.partial(each_width_once, self.eager)))
        return times

    def scattered_times(self, name: str) -> Ratio:
        """How many times as long as eager one way takes over WIDTHS, each called once."""
        times = self.scattered_ms
        return ratio_of_times(name, times[name], "eager", times["eager"])

    def break_even(self) -> Ratio:
        """How many later calls have to save time before the first, which compiles, has paid off."""
        inputs = self.make_inputs(4096, 4096, torch.float16)
        later, eager = self.speed("eager", 4096, 4096).timings
        first_calls = []
        for _ in range(ROUNDS):
            with self.uncompiled() as kernel:
                first_calls.append(elapsed_ms(functools.partial(self.op, *inputs, kernel=kernel)))
        saved = [eager.median_ms - later.median_ms] * ROUNDS
        return ratio_of_times("first call", first_calls, "saved by a later call", saved)
