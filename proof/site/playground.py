"""What a build writes for the playground: the sources that Pyodide runs, the exercises, and where they are.

    assets/play/<hash>/play.json     path -> text of every module: play/run.py, checking.py
    assets/pyodide/<version>/        Pyodide's core
    assets/exercises/<name>.json     the cases, and what exercise.yml says of them
    assets/playground/addresses.js   where the first two are, for the page's script

Hash and version are in the addresses, so that browsers may keep these files forever.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from proof.book.model import Exercise

MODULES = ("exercise.py", "checking.py", "sentences.py", "in_page.py")  # of labs/exercises
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
VENDORED = "docs/assets/vendor/pyodide"


def files(root: Path, exercises: Mapping[str, Exercise]) -> dict[str, str]:
    """The generated files: address from the root of the site -> text. None where there is no evaluator."""
    if not (root / "play").is_dir():
        return {}
    play = _json(sources(root))
    place = f"assets/play/{hashlib.sha256(play.encode()).hexdigest()[:16]}/play.json"
    found = {place: play}
    for name, each in exercises.items():
        found[f"assets/exercises/{name}.json"] = _json(exercise(each))
    fetched = [root / VENDORED / name for name in PYODIDE if not name.endswith(".mjs")]
    size = len(play.encode()) + sum(path.stat().st_size for path in fetched)
    found["assets/playground/addresses.js"] = (
        "// Written by the build: places of large files from the root of the site, their bytes, Pyodide's list of packages.\n"
        f'export const play = "{place}"\n'
        f'export const pyodide = "{pyodide_folder(root)}"\n'
        f"export const size = {size}\n"
        f"export const lock = {_json(lock(root))}\n"
    )
    return found


def copies(root: Path) -> dict[str, Path]:
    """The files of Pyodide: address from the root of the site -> where the file is."""
    if not (root / "play").is_dir():
        return {}
    folder = pyodide_folder(root)
    return {f"{folder}{name}": root / VENDORED / name for name in PYODIDE}


def pyodide_folder(root: Path) -> str:
    package = json.loads((root / VENDORED / "package.json").read_text(encoding="utf-8"))
    return f"assets/pyodide/{package['version']}/"


def lock(root: Path) -> dict[str, object]:
    """Pyodide's list of packages, which it insists on: without any, since the evaluator needs none."""
    whole = json.loads((root / VENDORED / "pyodide-lock.json").read_text(encoding="utf-8"))
    return {"info": whole["info"], "packages": {}}


def sources(root: Path) -> dict[str, str]:
    """Every module that the page's Python imports, by the path that it has there."""
    room = root / "labs/exercises"
    paths = {f"play/{path.name}": path for path in sorted((root / "play").glob("*.py"))}
    paths |= {name: room / name for name in MODULES}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


def exercise(found: Exercise) -> dict[str, object]:
    """What judges an answer in the page, which itself shows what the reader starts from."""
    return {
        "name": found.name,
        "cases": found.path.with_name("cases.py").read_text(encoding="utf-8"),
        "data": found.model_dump(mode="json", include={"title", "hints", "wrong"}),
    }


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
