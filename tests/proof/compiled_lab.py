"""The tiny lab as if it had been compiled, without torch."""

from __future__ import annotations

import json

from proof.evidence import compiled as filed

CHANGED = (
    "def programs(n):\n    return",
    "def programs(n):\n    n = n\n    return",
)  # another lab hash


def file(tiny, *launches: dict, **changes) -> None:
    """File a result of the tiny lab as it stands."""
    data = {
        "schema": 1,
        "lab": "triton_tiny",
        "lab_sha256": tiny.book().labs["triton_tiny"].sha256,
        "triton": "3.7.1",
    }
    data |= {
        "kernels": {"third_kernel": "0" * 64},
        "stumbles": [],
        "texts": {},
        "launches": list(launches),
    }
    tiny.write("labs/compiled/triton_tiny.json", json.dumps(data | changes, indent=1))


def launch(cell: dict | None = None, **changes) -> dict:
    fits = {"state": "fits", "shared_bytes": 0, "registers": 12, "spill_bytes": 0, "stack_bytes": 0}
    fits |= {"code": {"load": {"16": 2}}, "sha256": "1" * 64}
    return {
        "kernel": "third_kernel",
        "signature": {"x_ptr": "*fp32", "BLOCK_SIZE": "constexpr"},
        "constants": {"BLOCK_SIZE": 256},
        "aligned": ["x_ptr"],
        "options": {},
        "claims": ["ragged_fp32.max_abs_err"],
        "targets": dict.fromkeys(filed.TARGETS, 0),
        "cells": dict.fromkeys(filed.TARGETS, fits) | (cell or {}),
    } | changes
