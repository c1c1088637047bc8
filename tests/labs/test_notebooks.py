"""The notebook of a lab, run from top to bottom without Jupyter: its last cell judges the lab."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from proof.book.load import load_book
from proof.pages.notebook import recorded_notebook

ROOT = Path(__file__).parents[2]
LAB = "triton_vector_add"
# What a kernel of Jupyter does: each cell in one namespace, its text where Triton looks for it.
RUN_CELLS = """
import json, linecache, sys
for number, text in enumerate(json.load(sys.stdin)):
    linecache.cache[f"<cell {number}>"] = len(text), None, text.splitlines(True), ""
    exec(compile(text, f"<cell {number}>", "exec"), globals())
"""


def cells(lang: str) -> list[str]:
    book = load_book(ROOT, date.today())
    notebook = json.loads(recorded_notebook(book, book.labs[LAB], lang))
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def run(texts: list[str], folder: Path) -> subprocess.CompletedProcess:
    settings = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
    settings |= {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    return subprocess.run(
        [sys.executable, "-c", RUN_CELLS],
        input=json.dumps(texts),
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
    )


def verdicts(done: subprocess.CompletedProcess) -> dict[str, str]:
    """Row -> verdict, of the lines that were printed below that of the device."""
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    return {name.removeprefix("notebook."): verdict for verdict, name, *_ in rows if verdict != "…"}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_claim_that_needs_no_gpu_is_judged(lang, tmp_path):
    done = run(cells(lang), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = verdicts(done)
    assert found["ragged_fp32.max_abs_err"] == "ok"
    assert found["views.refused"] == "ok"
    assert set(found.values()) == {"ok", "-"}


def test_what_needs_the_lab_as_a_file_is_not_judged_and_no_failure(tmp_path):
    assert "no_mask.bug" in run(cells("en"), tmp_path).stdout
    assert verdicts(run(cells("en"), tmp_path))["no_mask.bug"] == "-"


def test_a_claim_that_fails_is_red(tmp_path):
    planted = [text.replace("x + y, mask=mask", "x - y, mask=mask") for text in cells("en")]
    done = run(planted, tmp_path)
    assert done.returncode == 1
    assert verdicts(done)["ragged_fp32.max_abs_err"] == "error"
