"""Exercises in this process, interpreted."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
os.environ["TRITON_INTERPRET"] = "1"  # before anything imports triton
os.environ["OMP_NUM_THREADS"] = (
    "1"  # before anything imports torch: threads cost more than they save
)
for room in ("labs", "labs/exercises"):  # where judges find each other
    sys.path.insert(0, str(ROOT / room))
