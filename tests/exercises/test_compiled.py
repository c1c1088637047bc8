"""Triton's compiler takes every solution, also what only its interpreter and ours would let pass."""

import json
import os
import subprocess
import sys

import pytest
from answers import FOLDER, NAMES, ROOT


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """What the compiler says to each solution."""
    rooms = (ROOT / "tests/exercises", FOLDER, FOLDER.parent, ROOT)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, rooms)),
        "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
        "TRITON_INTERPRET": "0",
    }
    result = subprocess.run(
        [sys.executable, str(ROOT / "tests/exercises/compiling.py")],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", NAMES)
def test_a_solution_compiles(name, compiled):
    assert compiled[name] == ""
