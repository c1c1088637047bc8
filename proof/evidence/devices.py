"""GPUs that are known: what torch reports of them, and what they can do at most, in devices.json.

A record that claims more was not measured. A GPU that is not there needs a second run of the same
lab, or a line that a reviewer adds: `bytes_per_s` is the bandwidth of its memory, `flop_per_s` that
of its narrowest type, dense, both from the vendor's data sheet and rounded up; `sms` is what torch
reports as multi_processor_count, more than one where a name has several models.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from proof.book.data import read_json
from proof.book.model import Amount, Device, Filed, Line, Many, Model, Positive

FILE = Path(__file__).with_name("devices.json")


class KnownDevice(Model):
    """One line of devices.json. Rates are a second's, and the most that the GPU can reach."""

    name: Line
    capability: Line
    sms: Many[Positive]
    bytes_per_s: Amount
    flop_per_s: Amount

    def most(self, unit: str) -> float | None:
        """The most of a unit that it does in a second; None for a unit that nothing limits."""
        return {"B": self.bytes_per_s, "FLOP": self.flop_per_s}.get(unit)


class KnownDevices(Filed):
    """devices.json."""

    devices: Many[KnownDevice]


@cache
def _known() -> tuple[KnownDevice, ...]:
    return read_json(FILE, KnownDevices).devices


def find(device: Device) -> KnownDevice | None:
    """The line of a GPU by a word of its name: H200 for "NVIDIA H200"; None for an unknown one."""
    for known in _known():
        if re.search(rf"(?<![\w-]){re.escape(known.name)}(?![\w-])", device.name):
            return known
    return None
