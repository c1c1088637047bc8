"""Who may know whom, read from the source: labs stand alone, proof needs no torch, mkdocs stays in its hooks."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_project import ROOT

LABS = sorted((ROOT / "labs").glob("*.py"))
PROOF = sorted((ROOT / "proof").rglob("*.py"))
TESTS = {path.stem for path in (ROOT / "tests").rglob("*.py")} | {"tests"}
DATA = {"proof.model", "proof.common"}
TOP = {"proof.cli", "proof.site", "proof.gate", "proof.hooks", "proof.record", "proof.versions_run"}  # these know all


def imports(source: str, package: str = "") -> Iterator[tuple[str, bool]]:
    """Each module that the source imports, and whether at import time; `from a import b` is both a and a.b."""
    tree = ast.parse(source)
    inside = {id(child) for node in ast.walk(tree) for child in _bodies(node)}
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (
                ".".join([*package.split(".")[: -(node.level - 1) or None], *filter(None, [node.module])])
                if node.level
                else node.module
            )
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        yield from ((name, id(node) not in inside) for name in names)


def _bodies(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        yield from ast.walk(node)


def module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def fault(name: str, source: str) -> str | None:
    """What the module `name` with this source imports and may not; None when all is well."""
    here = {module(path) for path in PROOF}
    for used, at_import in imports(source, name.rpartition(".")[0]):
        root = used.split(".")[0]
        if name.startswith("labs."):
            if root in ("proof", "labs", *TESTS) or root in {path.stem for path in LABS}:
                return used
            if at_import and root not in ("torch", "triton") and root not in sys.stdlib_module_names:
                return used
            continue
        if root in TESTS | {"labs"} or root in {path.stem for path in LABS}:
            return used
        if root in ("torch", "triton") and at_import:
            return used
        if root == "mkdocs" and not within(name, "proof.hooks"):
            return used
        if used not in here - {"proof"}:
            continue
        if name in DATA or (name == "proof.load" and used != "proof.model"):
            return used
        if within(used, *TOP) and not within(name, *TOP):
            return used
        if within(used, "proof.cli"):
            return used
    return None


@pytest.mark.parametrize("path", [*LABS, *PROOF], ids=module)
def test_a_module_knows_only_whom_it_may(path):
    assert fault(module(path), path.read_text(encoding="utf-8-sig")) is None


@pytest.mark.parametrize(
    ("name", "source", "found"),
    [
        ("labs.triton_x", "import proof.common", "proof.common"),
        ("labs.triton_x", "def bench():\n    import triton_vector_add", "triton_vector_add"),
        ("labs.triton_x", "import numpy", "numpy"),
        ("labs.triton_x", "import torch, triton.language, os\ndef bench():\n    import liger_kernel", None),
        ("proof.load", "import torch", "torch"),
        ("proof.load", "try:\n    from triton import jit\nexcept ImportError:\n    pass", "triton"),
        ("proof.load", "def f():\n    import torch", None),
        ("proof.render", "from mkdocs.config import base", "mkdocs.config"),
        ("proof.hooks.pages", "from mkdocs.config import base", None),
        ("proof.model", "from proof import load", "proof.load"),
        ("proof.load", "from proof.state import standing", "proof.state"),
        ("proof.render", "def f():\n    from proof import cli", "proof.cli"),
        ("proof.render", "from . import site", "proof.site"),
        ("proof.render", "from proof import state", None),
        ("proof.site", "from proof import hooks, load", None),
        ("proof.render", "import conftest", "conftest"),
        ("proof.render", "from labs import triton_vector_add", "labs"),
    ],
)
def test_a_planted_import_is_found(name, source, found):
    assert fault(name, source) == found


def test_no_module_of_proof_waits_for_itself():
    """Imports at import time make no circle."""
    here = {module(path) for path in PROOF}
    needs = {
        module(path): {
            n
            for n, now in imports(path.read_text(encoding="utf-8"), module(path).rpartition(".")[0])
            if now and n in here
        }
        for path in PROOF
    }
    while free := [name for name, used in needs.items() if not used & set(needs) - {"proof"} or used <= {name}]:
        for name in free:
            del needs[name]
    assert needs == {}
