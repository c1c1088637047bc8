"""Exercises in this process, interpreted."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
os.environ["TRITON_INTERPRET"] = "1"  # before anything imports triton
for room in ("labs", "labs/exercises"):  # where judges find each other
    sys.path.insert(0, str(ROOT / room))
