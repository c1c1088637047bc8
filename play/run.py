"""The evaluator's front door: run the reader's source, whatever it holds, and report."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from play.host import torch
from play.language import Names
from play.machine import Kernel, Machine
from play.memory import Tensor, empty, tensor
from play.messages import Message, Refusal
from play.report import Report
from play.source import FILE


def run(
    source: str,
    call: str | None = None,
    args: Sequence[Any] | Mapping[str, Any] = (),
    grid: Any = None,
    provided: Mapping[str, Any] | None = None,
    with_torch: bool = False,
) -> Report:
    """Run `source` from top to bottom, then call the function named `call`.

    `args` are its arguments, in order or by name. If `call` names a kernel, `grid` launches it, as
    in `kernel[grid](*args)`; otherwise it is a launcher. `provided` are further names that the
    source may use, for instance tensors; `with_torch` lets it import what `host` has of torch, as
    the programs of lessons do. A mistake of the reader raises nothing: it is in the report.

    >>> args = {"x_ptr": play.tensor([1, 2, 3]), "out_ptr": play.empty(3), "n": 3, "BLOCK": 4}
    >>> play.run(text, "double_kernel", args, grid=(1,)).lines("en")
    ['line 8: program 0 wrote 1 element past the end of out, from [3] on.']
    """
    _name_tensors(args)
    machine = Machine(dict(provided or {}))
    machine.modules["play"] = Names("play", {"tensor": tensor, "empty": empty})
    if with_torch:
        machine.modules["torch"] = torch()
    problem: Message | None = None
    result: Any = None
    try:
        machine.execute(source)
        if call is not None:
            result = _call(machine, call, args, grid)
    except BaseException as error:  # whatever the reader's source raises
        if isinstance(error, KeyboardInterrupt):
            raise
        problem = explain(error)
    finally:
        machine.memory.end()
    log = machine.log
    return Report(
        problem,
        list(log.findings.values()),
        machine.failures,
        machine.printed,
        machine.cut,
        result,
        machine.launches,
        log,
    )


def _name_tensors(args: Sequence[Any] | Mapping[str, Any]) -> None:
    """Give each tensor without a name the name of its parameter."""
    if isinstance(args, Mapping):
        for name, value in args.items():
            if isinstance(value, Tensor) and not value.storage.name:
                value.storage.name = name.removesuffix("_ptr")


def _call(machine: Machine, name: str, args: Sequence[Any] | Mapping[str, Any], grid: Any) -> Any:
    if name not in machine.namespace:
        raise Refusal("not_a_function", name=name)
    function = machine.namespace[name]
    if not callable(function):
        raise Refusal("not_callable", name=name, what=type(function).__name__)
    if grid is not None:
        if not isinstance(function, Kernel):
            raise Refusal("not_a_kernel", name=name)
        function = function[grid]
    if isinstance(args, Mapping):
        return function(**args)
    return function(*args)


def explain(error: BaseException) -> Message:
    """The exception as a message with the reader's line."""
    line = reader_line(error)
    if isinstance(error, Refusal):
        if error.message.line is None:
            error.message.line = line
        return error.message
    if isinstance(error, NameError):
        return Message("name_not_defined", line, name=error.name or "?")
    if isinstance(error, ZeroDivisionError):
        return Message("division_by_zero", line)
    if isinstance(error, RecursionError):
        return Message("too_deep", line)
    if isinstance(error, MemoryError):
        return Message("memory", line)
    if isinstance(error, SystemExit):
        return Message("stopped", line)
    return Message("python_error", line, kind=type(error).__name__, reason=str(error))


def reader_line(error: BaseException) -> int | None:
    """The innermost line of the reader's source that the exception passed through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == FILE
    ]
    return lines[-1] if lines else None
