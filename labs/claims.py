"""What a lab claims, and the rule by which each figure is judged. Pure Python, without torch.

A lab lists its claims and its seeded bugs; `judge.py` measures them and writes one row for each.
A stored verdict is never trusted: `verdict` computes it from the figures of a row, in the run
itself and again wherever a record is read.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

KINDS = ("error", "ratio", "count", "codegen")
JUDGES = ("any", "gpu", "compile")
CAUGHT = ("error", "guard", "nonfinite", "fault")  # how a seeded bug may show

Row = dict[str, Any]  # one row of a record, as JSON holds it


# --8<-- [start:claim]
@dataclass(frozen=True)
class Claim:
    """One statement that a run can refute.

    A claim of kind "error" holds while the measured error is at most `bound`, "ratio" while a speed
    is at least `bound` times another, "count" and "codegen" while the value equals `bound`. A ratio
    with `predicted` fails in both directions: its value must lie within `tolerance`, a fraction, of
    what the model on the page predicts.
    """

    id: str  # case.metric: "ragged_fp32.max_abs_err"
    measure: Callable[
        ..., Any
    ]  # called with `args`; one that has a parameter `guards` is given fresh Guards
    args: Mapping[str, object] = field(default_factory=dict)
    kind: str = "error"
    bound: float | int | str = 0.0
    judges: str = "any"  # "gpu" needs a GPU; "compile" needs the compiler, and no GPU
    gib: int = 0  # GPU memory that the measurement needs
    why: str = ""  # the reason for the bound
    predicted: float | None = None
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        allow("kind", self.kind, KINDS)
        allow("judges", self.judges, JUDGES)


@dataclass(frozen=True)
class Bug:
    """A bug planted in a copy of the lab: in `section`, `old`, which occurs once, becomes `new`."""

    name: str
    section: str
    old: str
    new: str
    caught_by: str  # the claim that must then fail
    how: str  # in which way: one of CAUGHT
    shows: str  # what a reader sees

    def __post_init__(self) -> None:
        allow("how", self.how, CAUGHT)


def allow(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise ValueError unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")


# --8<-- [end:claim]


# --8<-- [start:verdict]
def verdict(row: Row) -> str:
    """Return "ok", or how the row fails: "error", "nonfinite" or "loose"."""
    kind, value, bound = row["kind"], row["value"], row["bound"]
    if kind == "error":
        return error_verdict(row)
    if kind == "ratio":
        return "ok" if ratio_holds(row) else "error"
    return "ok" if value == bound else "error"


def error_verdict(row: Row) -> str:
    """An error is at most its bound, and the bound is one that a result of zeros would not pass."""
    value, bound, scale = row["value"], row["bound"], row["scale"]
    if row["nonfinite"] or not math.isfinite(value):
        return "nonfinite"
    absolute = row["id"].endswith("abs_err")
    size_of_result = scale if absolute else 1.0
    nothing_to_compare = scale == 0 and not absolute
    if nothing_to_compare or (bound > 0 and bound >= size_of_result / 2):
        return "loose"
    return "ok" if value <= bound else "error"


def ratio_holds(row: Row) -> bool:
    """A ratio reaches its bound in its best round; a predicted one is within its tolerance."""
    low = row["low"] if "low" in row else row["value"]
    high = row["high"] if "high" in row else row["value"]
    if not (math.isfinite(low) and math.isfinite(high)):
        return False
    predicted = row.get("predicted")
    if predicted is not None:
        allowed = predicted * row["tolerance"]
        return low <= predicted + allowed and high >= predicted - allowed
    return high >= row["bound"] > 0


# --8<-- [end:verdict]


def figure(value: object) -> str:
    """A number as the table shows it: a float with four significant digits, others as they are."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def line(row: Row) -> str:
    """One line of the table that a run prints."""
    start = f"  {row['verdict']:9} {row['id']:40} "
    if row["verdict"] == "-" or "value" not in row:
        return start + row.get("note", "")
    if row["kind"] == "bug":
        seen = figure(row.get("figure", "")) if row["value"] == "error" else row.get("note", "")
        return f"{start}{row['claim']}: {row['value']} {seen} · {row['why']}"
    if row["kind"] == "error":
        absolute, relative = figure(row["max_abs_err"]), figure(row["max_rel_err"])
        errors = f"max abs err {absolute} · relative {relative}"
        return f"{start}{errors} · bound {figure(row['bound'])} · {row['why']}"
    sign = ">=" if row["kind"] == "ratio" else "=="
    return f"{start}{figure(row['value'])} {sign} {figure(row['bound'])} · {row['why']}"
