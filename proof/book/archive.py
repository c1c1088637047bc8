"""The exercises as one download: a folder in which each of them is judged, alone on any machine."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from proof.book.companions import imported

FOLDER = "exercises"  # that the archive unpacks to
DOWNLOAD = "downloads/exercises.zip"  # where the site has it
JUDGE = "judge.py"  # of the labs, which judges in Triton
DATE = (1980, 1, 1, 0, 0, 0)  # of every file, so that equal contents give equal archives


def has_exercises(root: Path) -> bool:
    return (root / "labs" / "exercises").is_dir()


def exercises_archive(root: Path) -> bytes:
    """A zip file with all exercises of the project at `root` and everything that judges them."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, path in sorted(archived(root).items()):
            entry = zipfile.ZipInfo(f"{FOLDER}/{name}", DATE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, path.read_bytes())
    return archive.getvalue()


def archived(root: Path) -> dict[str, Path]:
    """The files of the archive: their names within its folder, and where they lie."""
    labs = root / "labs"
    paths = [
        path for path in (labs / "exercises").rglob("*") if path.suffix in (".py", ".yml", ".md")
    ]
    files = {path.relative_to(labs / "exercises").as_posix(): path for path in paths}
    files |= {path.relative_to(root).as_posix(): path for path in (root / "play").glob("*.py")}
    for name in _with_companions(JUDGE, labs):
        files[name] = labs / name
    return files


def _with_companions(name: str, folder: Path) -> list[str]:
    """A file, and those beside it that it imports, directly or not."""
    names = [name]
    for each in names:
        text = (folder / each).read_text(encoding="utf-8")
        names += [
            other for other in imported(text) if (folder / other).is_file() and other not in names
        ]
    return names
