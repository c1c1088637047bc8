"""Labs as programs: started as a reader without a GPU starts them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LABS = sorted(path.stem for path in (ROOT / "labs").glob("triton_*.py"))
COMPANIONS = sorted(path for path in (ROOT / "labs").glob("*.py") if path.stem not in LABS)
NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}


def surroundings(**more):
    """The environment of a reader without a GPU who has set none of Triton's variables."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    return kept | NO_GPU | {"PYTHONDONTWRITEBYTECODE": "1"} | more


def run(path, *arguments, flags=(), **environment):
    return subprocess.run(
        [sys.executable, *flags, path, *arguments],
        cwd=path.parent,
        env=surroundings(**environment),
        capture_output=True,
        text=True,
    )


def copied(stem, folder):
    """The lab with all companions, in this folder."""
    for path in COMPANIONS:
        shutil.copy(path, folder)
    return Path(shutil.copy(ROOT / "labs" / f"{stem}.py", folder))
