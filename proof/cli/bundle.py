"""`proof bundle`: a lab and the files that judge it as one file."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from proof.book.companions import bundle
from proof.book.text import write
from proof.cli.project import PATH, choose_labs, open_book


@click.command()
@click.argument("lab")
@click.option("-o", "--output", type=PATH, help="Where to write it; ./triton_x.py if not given.")
@click.pass_obj
def command(today: date, lab: str, output: Path | None) -> None:
    """Write a lab and the files that judge it as one file, which runs alone on any machine with torch and Triton."""
    book = open_book(today)
    (chosen,) = choose_labs(book, (lab,))
    path = output or Path(f"{chosen.stem}.py")
    if path.is_dir():
        path = path / f"{chosen.stem}.py"
    if path.exists() and path.resolve().is_relative_to((book.root / "labs").resolve()):
        raise click.UsageError(
            f"{path} is the lab itself: name another place with -o, or run this elsewhere"
        )
    write(path, bundle(chosen.source, chosen.companions).encode())
    click.echo(str(path))
