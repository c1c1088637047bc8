"""The rule by which every figure is judged, and the line that a run prints: labs/claims.py, loaded
by its path.

Nothing else of proof executes a file of labs/. claims.py needs only the standard library.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from proof.book.model import Verdict

CLAIMS = Path(__file__).parents[2] / "labs" / "claims.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("proof.evidence._claims", CLAIMS)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


_claims = _load()
verdict: Callable[[dict[str, Any]], Verdict] = _claims.verdict
line: Callable[[dict[str, Any]], str] = _claims.line
