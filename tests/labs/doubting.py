"""An interpreter that doubts: programs in another order, dirty memory, other seeds, no fill for free, every address watched.

And what it asks of a lab, whichever it is: its error claims, its kernels, their masked accesses, their configurations.
"""

import ast
import contextlib
import hashlib
import importlib.util
import itertools
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import judge as instrument  # labs/judge.py
import pytest
import torch
import triton

ROOT = Path(__file__).parents[2]


# A hostile interpreter


@contextlib.contextmanager
def ordered(how):
    """Inside, the programs of a launch run `reversed` or `shuffled`, or as they come; yields the order taken."""
    from triton.runtime.interpreter import interpreter_builder as builder

    ran, step, start = [], builder.set_grid_idx, builder.set_grid_dim
    turns = {}

    def set_grid_dim(*dims):
        start(*dims)
        places = [(x, y, z) for x in range(dims[0]) for y in range(dims[1]) for z in range(dims[2])]
        order = {
            "reversed": places[::-1],
            "shuffled": random.Random(0).sample(places, len(places)),
        }.get(how, places)
        turns.update(zip(places, order, strict=True))

    def set_grid_idx(*place):
        ran.append(turns[place])
        step(*turns[place])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "set_grid_dim", set_grid_dim)
        patch.setattr(builder, "set_grid_idx", set_grid_idx)
        yield ran


@contextlib.contextmanager
def dirtied():
    """Inside, fresh memory is full of NaN, in integers of their largest value, as if someone had used it before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(False)


COVERED = (
    "3.6",
    "3.7",
    "3.8",
    "3.9",
)  # minors of Triton whose interpreter passes through what `doubting` replaces
LOUD = 77  # what a masked integer lane without a fill holds; a float one holds NaN
REDUCED = (
    "tf32",
    "tf32x3",
    "bf16x3",
    "bf16x6",
)  # ways to multiply fp32 that the interpreter ignores


@dataclass
class Doubts:
    """What an interpreter that doubts has seen, a sentence each, without repeats."""

    outside: dict[str, None] = field(
        default_factory=dict
    )  # accesses outside of every tensor that the launch was given
    blind: dict[str, None] = field(
        default_factory=dict
    )  # what the interpreter computes otherwise than a GPU
    untrue: dict[str, None] = field(
        default_factory=dict
    )  # false hints, which the compiler would believe
    kernels: set[str] = field(default_factory=set)


@contextlib.contextmanager
def doubting():
    """Inside, the interpreter fills masked lanes of a load without `other` with NaN (integers: 77) instead of 0, and
    looks at each address of each load, store and atomic: a lane outside of every tensor of the launch is told, reads
    NaN and writes nothing. Told too are bfloat16 and reduced input precisions, which it computes otherwise than a GPU,
    and a tl.multiple_of that is false, as on an unaligned pointer.

    In Triton 3.6 to 3.9 every load passes through what is replaced here; with any other version the test fails.
    """
    import numpy as np
    from triton.runtime import interpreter

    if not triton.__version__.startswith(tuple(minor + "." for minor in COVERED)):
        pytest.fail(
            f"Triton {triton.__version__}: see that its interpreter loads as {', '.join(COVERED)} do, and add it"
        )
    seen, inside, running = Doubts(), [], []
    own, builder = interpreter._interpreter, interpreter.interpreter_builder
    semantic, filled = type(interpreter.interpreter_semantic), []
    load, masked_load, hint = (
        semantic.load,
        builder.create_masked_load,
        interpreter.TensorHandle.set_attr,
    )
    start, call = interpreter.GridExecutor._init_args_hst, interpreter.GridExecutor.__call__

    def loud(dtype):
        return np.nan if np.issubdtype(dtype, np.floating) else LOUD

    def semantic_load(self, ptr, mask, other, *rest):
        filled[:] = [other is not None]  # a single 0 counts as None further down
        try:
            return load(self, ptr, mask, other, *rest)
        finally:
            filled.clear()

    def create_masked_load(ptrs, mask, other, *rest):
        if other is None and filled != [True]:
            kind = ptrs.get_element_ty()
            dtype = interpreter._get_np_dtype(kind)
            other = interpreter.TensorHandle(
                np.full_like(ptrs.data, loud(dtype), dtype=dtype), kind
            )
        return masked_load(ptrs, mask, other, *rest)

    def tensors(value):
        if isinstance(value, tuple):
            return [t for one in value for t in tensors(one)]
        value = getattr(value, "base", value) if hasattr(value, "block_shape") else value
        return [value] if isinstance(value, torch.Tensor) else []

    def arguments(self, args, kwargs):
        host = start(self, args, kwargs)
        given = dict(zip(self.arg_names, host[0], strict=False)) | host[1]
        inside[:] = []
        for name, value in given.items():
            for t in tensors(value):
                if t.dtype == torch.bfloat16:
                    seen.blind[f"{name} of {self.fn.__name__} is bfloat16"] = None
                if t.numel():
                    reach = (
                        sum(
                            (size - 1) * step
                            for size, step in zip(t.shape, t.stride(), strict=True)
                        )
                        + 1
                    )
                    inside.append((t.data_ptr(), t.data_ptr() + reach * t.element_size()))
            if isinstance(value, str) and value in REDUCED:
                seen.blind[f"{name} of {self.fn.__name__} is {value}"] = None
        return host

    def launched(self, *args, **kwargs):
        seen.kernels.add(self.fn.__name__)
        running.append(self.fn.__name__)
        try:
            return call(self, *args, **kwargs)
        finally:
            running.pop()

    def line():
        frame = sys._getframe(1)
        while frame.f_back and frame.f_code.co_name != running[-1]:
            frame = frame.f_back
        return f" in line {frame.f_lineno}" if frame.f_back else ""

    def set_attr(self, name, values):
        if name == "tt.divisibility" and np.ravel(self.data)[0] % int(values[-1]):
            seen.untrue[f"{running[-1]} says that multiples are what are none{line()}"] = None
        return hint(self, name, values)

    def checked(what, ptrs, mask, size):
        """The mask without the lanes that lie outside."""
        address, mask = ptrs.astype(np.uint64), np.broadcast_to(mask, ptrs.shape).copy()
        active = address[mask]
        if not active.size:
            return mask
        first, last = int(active.min()), int(active.max()) + size
        if any(low <= first and last <= high for low, high in inside):
            return mask
        good = np.zeros(address.shape, dtype=bool)
        for low, high in inside:
            good |= (address >= np.uint64(low)) & (address + np.uint64(size) <= np.uint64(high))
        if (mask & ~good).any():
            seen.outside[f"{running[-1]} {what} outside of its tensors{line()}"] = None
        return mask & good

    class Watched:
        def __getattr__(self, name):
            return getattr(own, name)

        def load(self, ptrs, mask, other, dtype):
            allowed = checked("reads", ptrs, mask, np.dtype(dtype).itemsize)
            if (lost := np.broadcast_to(mask, ptrs.shape) & ~allowed).any():
                other = np.where(lost, np.asarray(loud(dtype), dtype=dtype), other)
            return own.load(ptrs, allowed, other, dtype)

        def store(self, ptrs, value, mask):
            return own.store(ptrs, value, checked("writes", ptrs, mask, value.dtype.itemsize))

        def atomic_rmw(self, op, ptrs, value, mask, order):
            allowed = checked("adds", ptrs, mask, value.dtype.itemsize)
            return own.atomic_rmw(op, ptrs, value, allowed, order)

        def atomic_cas(self, ptrs, expected, value, order):
            checked("swaps", ptrs, np.ones(ptrs.shape, dtype=bool), value.dtype.itemsize)
            return own.atomic_cas(ptrs, expected, value, order)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreter, "_interpreter", Watched())
        patch.setattr(semantic, "load", semantic_load)
        patch.setattr(builder, "create_masked_load", create_masked_load)
        patch.setattr(interpreter.GridExecutor, "_init_args_hst", arguments)
        patch.setattr(interpreter.GridExecutor, "__call__", launched)
        patch.setattr(interpreter.TensorHandle, "set_attr", set_attr)
        yield seen


@contextlib.contextmanager
def reseeded(by):
    """Inside, every seed that a lab gives to a generator of torch is another one."""

    class Generator:
        def __init__(self, device="cpu"):
            self.own = make(device)

        def manual_seed(self, seed):
            return self.own.manual_seed(seed + by)

    make, plain = torch.Generator, torch.manual_seed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "Generator", Generator)
        patch.setattr(torch, "manual_seed", lambda seed: plain(seed + by))
        yield


# What a lab holds


def claims_of(module) -> list[str]:
    return [claim.id for claim in module.CLAIMS if claim.kind == "error" and claim.judges == "any"]


def tuners(module) -> dict:
    """Each tuned kernel, and every configuration that the lab's file lists for it."""
    lists = [
        v
        for v in vars(module).values()
        if isinstance(v, list) and v and all(isinstance(c, triton.Config) for c in v)
    ]
    found = {}
    for kernel in vars(module).values():
        if isinstance(kernel, triton.runtime.Autotuner):
            known = [
                c
                for listed in (kernel.configs, *lists)
                for c in listed
                if set(c.kwargs) <= set(kernel.arg_names)
            ]
            found[kernel] = list({str(c): c for c in known}.values())
    return found


def kernels_of(module) -> set[str]:
    """The names of the kernels at the top level of the lab."""
    found = set()
    for value in vars(module).values():
        while isinstance(value, triton.runtime.Autotuner | triton.runtime.Heuristics):
            value = value.fn
        if isinstance(value, triton.runtime.interpreter.InterpretedFunction):
            found.add(value.fn.__name__)
    return found


def accesses(path: Path) -> list[tuple[str, int, str, str]]:
    """Every masked load, store and atomic of the lab: kernel, line, the lab's source without that mask, its text."""
    source = path.read_text(encoding="utf-8")
    found = []
    for kernel in (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)):
        for call in (node for node in ast.walk(kernel) if isinstance(node, ast.Call)):
            if not ast.unparse(call.func).startswith(("tl.load", "tl.store", "tl.atomic")):
                continue
            kept = [k for k in call.keywords if k.arg not in ("mask", "other")]
            if len(kept) < len(call.keywords):
                text = ast.get_source_segment(source, call)
                bare = ast.unparse(ast.Call(call.func, call.args, kept))
                at = (
                    sum(len(line) + 1 for line in source.split("\n")[: call.lineno - 1])
                    + call.col_offset
                )
                found.append(
                    (kernel.name, call.lineno, source[:at] + bare + source[at + len(text) :], text)
                )
    return found


copies = itertools.count()


def changed(path: Path, text: str):
    """A lab with this text, as a module; its operators have names of their own, so that those of the lab itself live on."""
    names = f'"copy_{next(copies)}::'
    path.write_text(text.replace('"triton_by_proof::', names), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


# A claim, doubted


@dataclass
class Seen:
    """One claim, judged once: its row, what was doubted, a hash of all results, and the seconds that it took."""

    row: dict
    doubts: Doubts
    digest: str
    guarded: int  # stretches of memory that were watched
    seconds: float
    pairs: list  # what was compared: (result, reference); empty unless asked for

    @property
    def fault(self) -> str:
        """What is wrong, in a sentence that names it; empty when nothing is."""
        found = [*self.doubts.outside, *self.doubts.untrue]
        if self.row["verdict"] != "ok":
            figure = self.row.get("note") or f"{self.row.get('value')} against {self.row['bound']}"
            found.append(f"{self.row['id']} is {self.row['verdict']}: {figure}")
        return "; ".join(found)


def judge(module, claim: str, order: str = "", seed: int = 0, keep: bool = False) -> Seen:
    """Judge the claim: memory dirty, programs in this order, seeds moved, every access watched, no fill for free."""
    digest, compare, start, kept = hashlib.sha256(), instrument.compare, time.perf_counter(), []
    row_claim, all_guards = instrument.claim_named(module, claim), []

    def noting(pairs):
        def told():
            for got, want in pairs:
                digest.update(
                    str(got.shape).encode()
                    + got.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes()
                )
                kept.extend([(got.clone(), want.clone())] if keep else [])
                yield got, want

        return compare(told())

    class Noted(instrument.Guards):
        def __init__(self):
            super().__init__()
            all_guards.append(self)

    # to fill what spans GiB would take that much memory
    dirty = dirtied() if row_claim.gib < 2 else contextlib.nullcontext()
    with (
        pytest.MonkeyPatch.context() as patch,
        ordered(order),
        dirty,
        reseeded(seed),
        doubting() as doubts,
    ):
        patch.setattr(instrument, "compare", noting)
        patch.setattr(instrument, "Guards", Noted)
        row = instrument.judge_claim(module, row_claim)
    guarded = sum(len(guards.watched) for guards in all_guards)
    return Seen(row, doubts, digest.hexdigest(), guarded, time.perf_counter() - start, kept)


def first_fault(module, claims, order: str = "") -> str:
    return next((fault for claim in claims if (fault := judge(module, claim, order).fault)), "")
