"""Judging a claim of a lab under NVIDIA's compute-sanitizer: whether the tool reports an error.

The tool runs a whole process, so the claim is judged in a process of its own, of the lab or of a
copy with a seeded bug.
"""

import re
import shutil
import tempfile
from pathlib import Path

import torch

from judge import plant
from claims import Bug, Row
from process import run_in_process


class NotMeasured(torch.OutOfMemoryError):
    """Something is missing on this machine. The judge reports a claim that raises it as "-"."""


# --8<-- [start:sanitizer]
def sanitize(
    lab: Path,
    claim_id: str,
    tool: str,
    bug: Bug | None = None,
    padding: int = 0,
    **environment: str,
) -> Row:
    """Whether the tool reports errors while a claim of `lab` is judged.

    The lab has a function `judged` that returns the row of a claim. `bug` is planted in a copy of
    it; `padding` is how many bytes are left free after each allocation. Returns the value "clean"
    or "errors", and a note with the number of reports, the place of the first, and the verdict on
    the claim itself.
    """
    command = [find_sanitizer(), "--tool", tool, "--target-processes", "application-only"]
    command += ["--print-limit", "1", *(["--padding", str(padding)] if padding else [])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, lab.name)
        text = lab.read_text(encoding="utf-8-sig")
        path.write_text(plant(text, bug) if bug else text, encoding="utf-8")
        expression = f"lab.judged({claim_id!r})"
        environment |= {"TRITON_DISABLE_LINE_INFO": "0"}  # so that reports name a line
        outcome = run_in_process(path, expression, tool=command, **environment)
    return read_report(outcome.text, outcome.value)


def find_sanitizer() -> str:
    """Its path. Raises NotMeasured where there is none."""
    installed = sorted(map(str, Path("/usr/local").glob("cuda*/bin/compute-sanitizer")))
    found = shutil.which("compute-sanitizer") or next(iter(installed), None)
    if found is None:
        raise NotMeasured("there is no compute-sanitizer here; it comes with the CUDA toolkit")
    return found


def read_report(text: str, row: Row | None) -> Row:
    """Value and note, from what the tool printed and the claim's row, None if the process died.

    Raises RuntimeError unless the tool came to its end.
    """
    summary = re.search(r"SUMMARY: ([\d,]+) (?:errors?|hazards?)", text)
    if summary is None or (row is None and summary[1] == "0"):
        end = " ".join(text[-200:].split())
        raise RuntimeError(f"compute-sanitizer did not get to its end: {end}")
    first = re.search(r"(\w+_kernel)\+\w+ in (?:.*/)?(\w+\.py:\d+)", text)
    place = f", first at {first[1]} in {first[2]}" if first else ""
    claim = row["verdict"] if row else "died"
    note = f"{summary[1]} reported{place}; the claim itself: {claim}"
    return {"value": "clean" if summary[1] == "0" else "errors", "note": note}
    # --8<-- [end:sanitizer]
