"""`proof record`: runs labs and files what they measured; or files what they printed elsewhere; or prunes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from proof.book.model import Book
from proof.cli.project import PATH, open_book, print_problems, short
from proof.cli.run import accept_or_print, exit_status, run_and_accept
from proof.problem import Fault, nearest
from proof.runs.accept import Accepted
from proof.runs.file import file_record, prune, read_files


@click.command()
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option(
    "--from",
    "files",
    multiple=True,
    type=PATH,
    help="File what a lab printed with --json elsewhere, or a .tar or .tar.gz of such files; may be repeated.",
)
@click.option(
    "--prune",
    "pruning",
    is_flag=True,
    help="Keep the last three records of each device, lab and Triton minor.",
)
@click.pass_obj
def command(today: date, labs: tuple[str, ...], files: tuple[Path, ...], pruning: bool) -> None:
    """Run labs here and file what they measured; or file, or prune, without a run."""
    if labs and files:
        raise click.UsageError("name labs to run, or give files with --from, not both")
    book = open_book(today)
    status = 0
    if files:
        status = _record_files(book, files)
    elif labs or not pruning:
        status = _record_runs(book, labs)
    if pruning:
        for path in prune(open_book(today)):
            click.echo(f"deleted  {short(book, path)}")
    raise SystemExit(status)


def _record_runs(book: Book, names: tuple[str, ...]) -> int:
    worst = 0
    for run, accepted, _ in run_and_accept(book, names):
        worst = max(worst, exit_status(run, accepted))
        if accepted:
            _file(book, accepted)
    return worst


def _record_files(book: Book, files: tuple[Path, ...]) -> int:
    for path in files:
        if not path.is_file():
            beside = (
                [p.name for p in path.parent.iterdir() if p.is_file()]
                if path.parent.is_dir()
                else []
            )
            raise click.UsageError(f"there is no file {path}. {nearest(path.name, beside)}")
    status = 0
    for path in files:
        try:
            for name, raw in read_files(path):
                accepted = accept_or_print(book, name, raw)
                if accepted:
                    _file(book, accepted)
                if accepted is None or accepted.failed:
                    status = 1
        except Fault as fault:
            print_problems(fault.problems(str(path)))
            status = 1
        except OSError as error:
            raise click.ClickException(f"{path} cannot be read: {error.strerror}") from None
    return status


def _file(book: Book, accepted: Accepted) -> None:
    """File a record and say so, also where it holds a failure: a miss is filed, and still a miss."""
    try:
        path, new = file_record(book.root, accepted.record)
    except OSError as error:
        raise click.ClickException(f"the record was not written: {error}") from None
    click.echo(f"{'filed' if new else 'already filed'}  {short(book, path)}")
    for note in accepted.notes:
        click.echo(f"note   {note}", err=True)
    for claim_id in accepted.failed:
        click.echo(f"fails  {claim_id}: filed as the miss it is", err=True)
