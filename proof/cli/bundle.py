"""`proof bundle`: a lab and the files that judge it as one file; all exercises as one archive."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from proof.book.archive import FOLDER, exercises_archive, has_exercises
from proof.book.companions import bundle
from proof.book.text import write
from proof.cli.project import PATH, choose_labs, find_root, open_book


@click.command()
@click.argument("lab")
@click.option("-o", "--output", type=PATH, help="Where to write it; here if not given.")
@click.pass_obj
def command(today: date, lab: str, output: Path | None) -> None:
    """Write a lab and the files that judge it as one file, which runs alone on any machine with torch and Triton.

    `proof bundle exercises` writes exercises.zip: all exercises, in a folder with what judges them.
    """
    root = find_root()
    if lab == FOLDER and has_exercises(root):
        path = _path(output, f"{FOLDER}.zip")
        write(path, exercises_archive(root))
    else:
        path = _bundle_lab(today, lab, output)
    click.echo(str(path))


def _bundle_lab(today: date, lab: str, output: Path | None) -> Path:
    book = open_book(today)
    (chosen,) = choose_labs(book, (lab,))
    path = _path(output, f"{chosen.stem}.py")
    if path.exists() and path.resolve().is_relative_to((book.root / "labs").resolve()):
        raise click.UsageError(
            f"{path} is the lab itself: name another place with -o, or run this elsewhere"
        )
    write(path, bundle(chosen.source, chosen.companions).encode())
    return path


def _path(output: Path | None, name: str) -> Path:
    """Where to write: `output`, or a file of this name in it where it is a folder."""
    path = output or Path(name)
    return path / name if path.is_dir() else path
