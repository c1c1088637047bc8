"""Which path an operator really took: what was asked for, what ran, what was compiled, how fast.

`triton_pytorch_paths.py` has one operator by several paths. Here are the three witnesses (the
operators that PyTorch was asked for, the kernels that the GPU ran, the graphs that were made), and
`Paths`, which measures the paths with them.
"""

import functools
import logging
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import triton
from torch.utils._python_dispatch import TorchDispatchMode

from judge import DEVICE, Ratio, benchmark_pair
from claims import Row
from process import run_in_process
from startup import time_ratio

Call = Callable[..., Any]


# %% Three witnesses of the path that a call took.
# --8<-- [start:proof]
class Asked(TorchDispatchMode):
    """Inside, `names` lists every operator that reaches the dispatcher, on any device."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **kwargs or {})


def kernels_of_call(call: Call) -> list[str]:
    """The names of the kernels that a call runs on the GPU, in order.

    It runs once before, so that nothing is compiled under the profiler.
    """
    call()
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, acc_events=True) as profile:
        call()
        torch.cuda.synchronize()
    on_gpu = torch.autograd.DeviceType.CUDA
    return [event.name for event in profile.events() if event.device_type == on_gpu]


class Made:
    """A backend for torch.compile that keeps every graph it is given, and counts the calls."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []
        self.calls = 0

    def __call__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Call:
        def run(*args: Any) -> Any:
            self.calls += 1
            return graph.forward(*args)

        self.graphs.append(graph)
        return run

    # --8<-- [end:proof]


# --8<-- [start:tools]
# %% What the measurements share.
def forget_graphs() -> None:
    """Let torch.compile start anew. Graph breaks and recompiling are claims here, not warnings."""
    torch._dynamo.reset()
    torch._logging.set_logs(dynamo=logging.ERROR)


def by_origin(names: Sequence[str]) -> Row:
    """How many kernels of each origin there are, and their names in order."""
    counted = Counter(origin(name) for name in names)
    value = ", ".join(f"{count} {name}" for name, count in sorted(counted.items()))
    return {"value": value, "note": " | ".join(name[:120] for name in names)[:1000]}


def origin(kernel: str) -> str:
    """Whose kernel it is: of Inductor, of PyTorch, or the one of that name."""
    if kernel.startswith("triton_") and "_fused_" in kernel:
        return "Inductor"
    if "at::" in kernel or "native" in kernel:
        return "PyTorch"
    return kernel


def generated_code(call: Call, *inputs: torch.Tensor) -> Row:
    """What Inductor writes for a call: how many kernels, and their loops, loads and stores."""
    from torch._inductor.utils import run_and_get_code

    _, codes = run_and_get_code(call, *inputs)
    texts = re.findall(r"'''(.*?)'''", codes[0], re.S)
    kernels = [text[text.index("def triton_") :] for text in texts]
    words = {"loops": "for r0_offset in", "loads": "tl.load(", "stores": "tl.store("}
    counts = {name: sum(text.count(word) for text in kernels) for name, word in words.items()}
    counts = {"kernels": len(kernels)} | counts
    lines = [line.strip() for text in kernels for line in text.splitlines()]
    shown = [line for line in lines if re.search(r"tl\.(load|store|sum)\(|for r", line)]
    value = ", ".join(f"{name} {count}" for name, count in counts.items())
    return {"value": value, "note": " | ".join(shown)[:1000]}


def traced_targets(operator: Call, inputs: Sequence[Any]) -> str:
    """What of an operator is left in the graph that Inductor is given, aten's operators aside."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd  # its imports take a second

    targets: list[str] = []

    def compiler(graph: torch.fx.GraphModule, _: Sequence[Any]) -> Call:
        called = [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]
        targets.extend(name for name in called if not name.startswith(("aten", "<built-in")))
        nothing_runs = [torch.zeros(2, 16)] * 2
        return make_boxed_func(lambda *args: nothing_runs)

    forget_graphs()
    torch.compile(operator, backend=aot_autograd(fw_compiler=compiler))(*inputs)
    return " ".join(targets)


def passed_tests(operator: Call, inputs: Sequence[Any], tests: Sequence[str]) -> Row:
    """How many of PyTorch's own tests of an operator's registration pass."""
    results = torch.library.opcheck(operator, inputs, test_utils=tests, raise_exception=False)
    note = ", ".join(f"{test}: {str(result)[:100]}" for test, result in results.items())
    return {"value": sum(result == "SUCCESS" for result in results.values()), "note": note}


def gradients(
    call: Call, dtype: torch.dtype, inputs: Sequence[torch.Tensor], grads: Sequence[torch.Tensor]
) -> list[torch.Tensor | None]:
    """The gradients of all inputs for these of the results, computed in `dtype`."""
    leaves = [t.to(dtype, copy=True).requires_grad_() for t in inputs]
    torch.autograd.backward(call(*leaves), [grad.to(dtype) for grad in grads])
    return [leaf.grad for leaf in leaves]


def call_ms(call: Call) -> float:
    """Milliseconds from the call to the end of the work that it started."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) * 1e3


def compiles_around_inductor(launch: Call, kernel: str, named_before: bool) -> Row:
    """How often `launch` compiles the kernel, before and after Inductor builds one in this process.

    Both start from an empty cache; with `named_before` TRITON_CACHE_DIR says where it is.
    """
    compiled: list[str] = []

    def listen(src: Any, cache_hit: bool, **rest: Any) -> None:
        if not cache_hit:
            compiled.append(src.name)

    compilation = triton.knobs.compilation
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ), compilation.scope():
        os.environ |= {"TRITON_HOME": folder, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
        os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton"
        if not named_before:
            del os.environ["TRITON_CACHE_DIR"]
        compilation.listener = listen
        launch()
        torch._dynamo.reset()
        with torch._inductor.config.patch(compile_threads=1):  # in this process
            torch.compile(lambda t: (t * named_before + 3).relu())(torch.ones(8, 16, device=DEVICE))
        launch()
        now = os.environ.get("TRITON_CACHE_DIR", "unset").removeprefix(folder)
    return {"value": compiled.count(kernel), "note": f"TRITON_CACHE_DIR is now {now}"}
    # --8<-- [end:tools]


# --8<-- [start:paths]
# %% The measurements of the paths.
class Paths:
    """One operator by several paths, each a function of (x, residual, weight), and its measures."""

    def __init__(
        self,
        lab_file: str | None,
        paths: dict[str, Call],
        make_inputs: Call,
        quantized: Call,
        rewriting: Call,
    ) -> None:
        """`make_inputs(n_rows, n_cols, dtype)`; `quantized(path, *inputs, scale)` is the block.

        `rewriting` is a backend of torch.compile.
        """
        self.lab_file = lab_file
        self.paths = paths
        self.make_inputs = make_inputs
        self.quantized = quantized
        self.rewriting = rewriting
        self._processes: dict[str, Row] = {}

    def compiled(self, name: str, **options: Any) -> Call:
        """A path under torch.compile."""
        return torch.compile(self.paths[name], **options)

    def block(
        self, norm: str, n_rows: int = 2, dtype: torch.dtype = torch.float32
    ) -> tuple[Call, tuple[torch.Tensor, ...]]:
        """The norm and the quantization after it as one function, and its arguments."""
        n_cols = 4096 if dtype == torch.bfloat16 else 16
        scale = torch.tensor([0.03], device=DEVICE)
        inputs = (*self.make_inputs(n_rows, n_cols, dtype), scale)
        return functools.partial(self.quantized, self.paths[norm]), inputs

    def graphs(
        self,
        calls: Sequence[tuple[int, torch.dtype]],
        dynamic: bool | None = None,
        marked: bool = False,
        counts: str = "graphs",
    ) -> int:
        """How many graphs torch.compile makes of eager for (rows, dtype) after (rows, dtype).

        With counts="calls", how many of the calls run a graph.
        """
        forget_graphs()
        made = Made()
        compiled = self.compiled("eager", backend=made, dynamic=dynamic)
        for n_rows, dtype in calls:
            x, residual, weight = self.make_inputs(n_rows, 8, dtype)
            if marked:
                torch._dynamo.mark_dynamic(x, 0)
                torch._dynamo.mark_dynamic(residual, 0)
            compiled(x, residual, weight)
        return made.calls if counts == "calls" else len(made.graphs)

    def graph_breaks(self, norm: str) -> Row:
        """How often torch.compile has to leave its graph in the block."""
        torch._dynamo.utils.counters.clear()
        self.block_graphs(norm)
        breaks = torch._dynamo.utils.counters["graph_break"]
        return {"value": sum(breaks.values()), "note": " | ".join(breaks)[:1000]}

    def kernels_run(
        self, path: str, dtype: torch.dtype = torch.bfloat16, n_cols: int = 4096
    ) -> Row:
        """Which kernels one call of a path runs."""
        forget_graphs()
        inputs = self.make_inputs(64, n_cols, dtype)
        return by_origin(kernels_of_call(lambda: self.paths[path](*inputs)))

    def block_graphs(self, norm: str) -> list[torch.fx.GraphModule]:
        """The graphs that torch.compile makes of the block."""
        forget_graphs()
        call, inputs = self.block(norm)
        made = Made()
        torch.compile(call, backend=made)(*inputs)
        return made.graphs

    def block_run(self, norm: str, how: str = "inductor") -> Row:
        """Which kernels the block runs: plain, compiled, or rewritten and compiled."""
        forget_graphs()
        call, inputs = self.block(norm, 64, torch.bfloat16)
        if how != "plain":
            backend = self.rewriting if how == "rewritten" else how
            call = torch.compile(call, backend=backend)
        return by_origin(kernels_of_call(lambda: call(*inputs)))

    def generated(self, n_cols: int, n_rows: int = 64) -> Row:
        """What Inductor writes of eager for this shape."""
        inputs = self.make_inputs(n_rows, n_cols, torch.bfloat16)
        return generated_code(self.compiled("eager", dynamic=False), *inputs)

    def past_limit(self) -> Row:
        """Which kernels run once torch.compile has compiled for as many shapes as it may, two."""
        forget_graphs()
        compiled = self.compiled("eager", dynamic=False)
        with torch._dynamo.config.patch(recompile_limit=2):
            for n_rows in (16, 32, 48):
                inputs = self.make_inputs(n_rows, 4096, torch.bfloat16)
                last = functools.partial(compiled, *inputs)
                last()
            return by_origin(kernels_of_call(last))

    def young(self) -> Row:
        """In a new process: milliseconds of the first call and of later ones, by path.

        Also how many graphs Inductor found compiled on disk.
        """
        inputs = self.make_inputs(64, 4096, torch.bfloat16)
        calls = {"triton": self.paths["triton"], "inductor": self.compiled("eager")}
        ms = {
            name: [call_ms(functools.partial(call, *inputs)) for _ in range(50)]
            for name, call in calls.items()
        }
        hits = torch._dynamo.utils.counters["inductor"]["fxgraph_cache_hit"]
        return {**ms, "hits": hits}

    def processes(self) -> dict[str, Row]:
        """What `young` returned in two new processes.

        The first has empty caches on disk, the second what that left.
        """
        if not self._processes:
            self._processes = self._run_processes()
        return self._processes

    def _run_processes(self) -> dict[str, Row]:
        if self.lab_file is None:
            raise RuntimeError("needs the lab as a file: download it")
        lab = Path(self.lab_file).resolve()
        rows = {}
        with tempfile.TemporaryDirectory() as folder:
            for caches in ("empty", "filled"):
                outcome = run_in_process(
                    lab,
                    "lab.measures.young()",
                    TRITON_CACHE_DIR=f"{folder}/triton",
                    TORCHINDUCTOR_CACHE_DIR=f"{folder}/inductor",
                )
                if outcome.value is None:
                    raise RuntimeError(f"a new process failed: {outcome.text[-300:]}")
                rows[caches] = outcome.value
        return rows

    def first_call(self, path: str, cache: str, against: str) -> Ratio:
        """How many times longer a path's first call takes than its later ones, or another first."""
        rows = self.processes()
        first = {caches: row[path][:1] for caches, row in rows.items()}
        later = [ms for row in rows.values() for ms in row[path][1:]]
        base_name = "later calls" if against == "later" else "filled caches"
        base_ms = later if against == "later" else first["filled"]
        return time_ratio(f"{path}, {cache} caches", first[cache], f"{path}, {base_name}", base_ms)

    def cache_hits(self, cache: str) -> int:
        """How many graphs Inductor finds compiled on disk in the first process, or the second."""
        hits: int = self.processes()[cache]["hits"]
        return hits

    def speed(self, ours: str, theirs: str, n_rows: int) -> Ratio:
        """Bytes a second of one path against another, or a copy, replayed from a CUDA graph.

        Two tensors have to be read and two written.
        """
        forget_graphs()
        inputs = self.make_inputs(n_rows, 4096, torch.bfloat16)
        calls = self.calls(inputs) | {"copy": lambda: inputs[0].copy_(inputs[1])}
        tensors = {name: 2 if name == "copy" else 4 for name in (ours, theirs)}
        work = (tensors[ours] * inputs[0].nbytes, tensors[theirs] * inputs[0].nbytes)
        pair = (ours, calls[ours]), (theirs, calls[theirs])
        return benchmark_pair(*pair, work=work, unit="B", graph=True)

    def calls(self, inputs: Sequence[torch.Tensor]) -> dict[str, Call]:
        """Every path as a call without arguments; Inductor compiles for these shapes alone."""
        calls = {name: functools.partial(path, *inputs) for name, path in self.paths.items()}
        inductor = self.compiled("eager", dynamic=False)
        return calls | {"inductor": functools.partial(inductor, *inputs)}

    def latency(self, ours: str, theirs: str, n_rows: int) -> Ratio:
        """How many times longer a call of theirs takes than one of ours, with its kernels."""
        forget_graphs()
        inputs = self.make_inputs(n_rows, 4096, torch.bfloat16)
        calls = self.calls(inputs)
        for name in ("triton", "opaque"):
            compiled = self.compiled(name, dynamic=False)
            calls[f"compiled {name}"] = functools.partial(compiled, *inputs)
        ms: dict[str, list[float]] = {ours: [], theirs: []}
        for _ in range(220):
            for name, times in ms.items():
                times.append(call_ms(calls[name]))
        return time_ratio(theirs, ms[theirs][20:], ours, ms[ours][20:])

    def block_speed(self, ours: str, theirs: str, n_rows: int) -> Ratio:
        """The compiled block, with one path as the norm against another."""
        forget_graphs()
        runs = []
        for name in (ours, theirs):
            call, inputs = self.block(name, n_rows, torch.bfloat16)
            compiled = torch.compile(call, dynamic=False)
            runs.append((name, functools.partial(compiled, *inputs)))
        elements = n_rows * 4096
        return benchmark_pair(*runs, work=(elements, elements), unit="element", graph=True)
        # --8<-- [end:paths]
