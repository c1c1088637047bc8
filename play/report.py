"""What a run leaves behind: why it stopped, what programs did wrong, the data of the drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from play.memory import Access, Finding, Log, Program, Storage
from play.messages import Message
from play.source import FILE

CELLS = 4096  # of one tensor that the drawing shows
SHOWN = 4000  # accesses that the drawing shows


@dataclass
class Report:
    """The outcome of one run."""

    problem: Message | None  # why it could not go on
    findings: list[Finding]
    failures: list[Message]  # assertions that did not hold, conditions that were undefined
    printed: str
    cut: bool  # whether more was printed than is kept
    result: Any  # what the called function returned
    launches: list[tuple[str, Program]]
    log: Log = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether the run came to its end and no program did anything that it should not do."""
        return self.problem is None and not self.findings and not self.failures

    @property
    def messages(self) -> list[Message]:
        """Everything that went wrong, the reason for stopping first."""
        stopped = [self.problem] if self.problem else []
        return [*stopped, *(finding.message for finding in self.findings), *self.failures]

    def unwritten(self) -> list[Message]:
        """For each tensor that was written in part: what no program has written."""
        found = []
        for storage in self.log.storages:
            left = sorted(storage.unwritten)
            if left:
                place = storage.place(left[0])
                values = {"tensor": storage.name, "count": len(left), "place": place}
                found.append(Message("never_written", None, **values))
        return found

    def lines(self, lang: str) -> list[str]:
        """All messages, each with its line."""
        return [message.with_line(lang) for message in self.messages]

    def to_data(self, lang: str) -> dict[str, Any]:
        """What the page draws, as plain lists and dictionaries."""
        numbers = {id(storage): at for at, storage in enumerate(self.log.storages)}
        accesses = self.log.accesses[:SHOWN]
        return {
            "ok": self.ok,
            "file": FILE,
            "messages": [
                {"line": message.line, "text": message.text(lang), "key": message.key}
                for message in [*self.messages, *self.unwritten()]
            ],
            "printed": self.printed,
            "cut": self.cut,
            "launches": [{"kernel": name, "grid": list(grid)} for name, grid in self.launches],
            "tensors": [_tensor_data(storage) for storage in self.log.storages],
            "accesses": [_access_data(access, numbers) for access in accesses],
            "truncated": self.log.truncated or len(self.log.accesses) > SHOWN,
        }


def _number(value: Any) -> Any:
    """A value as JSON can hold it: NaN and infinities as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _tensor_data(storage: Storage) -> dict[str, Any]:
    return {
        "name": storage.name,
        "dtype": repr(storage.dtype),
        "shape": list(storage.shape),
        "size": len(storage.values),
        "initial": [_number(value) for value in storage.initial[:CELLS]],
        "values": [_number(value) for value in storage.values[:CELLS]],
        "unwritten": sorted(cell for cell in storage.unwritten if cell < CELLS),
        "undefined": sorted(cell for cell in storage.undefined if cell < CELLS),
        "gaps": sorted(cell for cell in storage.gaps if cell < CELLS),
    }


def _access_data(access: Access, numbers: dict[int, int]) -> dict[str, Any]:
    return {
        "launch": access.launch,
        "program": list(access.program),
        "line": access.line,
        "kind": access.kind,
        "tensor": numbers[id(access.storage)],
        "cells": access.cells,
        "masked": access.masked,
        "values": None if access.values is None else [_number(value) for value in access.values],
    }
