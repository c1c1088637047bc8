"""`proof run`: runs labs, judges what they print and files nothing; with --gate, as the gated job does."""

from __future__ import annotations

import importlib.util
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import click
from rich.table import Table

from proof.book.model import Book
from proof.cli.project import PATH, choose_labs, open_book, print_problems
from proof.cli.table import print_table
from proof.problem import Fault
from proof.runs import gate as gates
from proof.runs import run as runs
from proof.runs.accept import Accepted, accept


@click.command()
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option(
    "--gate",
    is_flag=True,
    help="As the gated job does: every lab on every GPU here, then the verdict.",
)
@click.option(
    "--bundle",
    type=PATH,
    default="gate.tar",
    show_default=True,
    help="Where --gate writes what labs printed.",
)
@click.option(
    "--verify", type=PATH, help="With --gate: run nothing, and compute the verdict on this bundle."
)
@click.pass_obj
def command(
    today: date, labs: tuple[str, ...], gate: bool, bundle: Path, verify: Path | None
) -> None:
    """Run labs here: on the GPU if there is one, else in the interpreter. All of them when none is named."""
    book = open_book(today)
    if verify and not gate:
        raise click.UsageError("--verify belongs to --gate")
    if gate and labs:
        raise click.UsageError("the gate runs every lab: leave the names out")
    raise SystemExit(_gate(book, bundle, verify) if gate else _run(book, labs))


def run_and_accept(
    book: Book, names: tuple[str, ...]
) -> Iterator[tuple[runs.Run, Accepted | None, float]]:
    """Run labs one after another; yields the run, what it came to (None when it came to nothing) and its seconds."""
    labs = choose_labs(book, names)
    if not importlib.util.find_spec("torch"):
        raise click.UsageError("this Python has no torch, which labs need: make setup")
    commit = runs.head_if_clean(book.root)
    for number, lab in enumerate(labs, 1):
        click.echo(f"[{number}/{len(labs)}] {lab.stem}", err=True)
        start = time.monotonic()
        run = runs.run_lab(lab)
        if run.could_not:
            click.echo(run.could_not, err=True)
            accepted = None
        else:
            accepted = accept_or_print(book, f"{lab.stem} --json", run.output, commit)
        yield run, accepted, time.monotonic() - start


def accept_or_print(
    book: Book, name: str, raw: bytes, commit: str | None = None
) -> Accepted | None:
    """What the bytes come to; None, with every reason on standard error, when they are refused."""
    try:
        return accept(book, name, raw, commit)
    except Fault as fault:
        print_problems(fault.problems(name))
    return None


def exit_status(run: runs.Run, accepted: Accepted | None) -> int:
    """0 when all rows hold, 1 when one fails or the print is refused, 2 when the lab could not run."""
    if run.could_not:
        return 2
    return 1 if accepted is None or accepted.failed else 0


def _run(book: Book, names: tuple[str, ...]) -> int:
    table, worst, judged, expected = _table(), 0, 0, 0
    for run, accepted, seconds in run_and_accept(book, names):
        worst = max(worst, exit_status(run, accepted))
        if accepted is None:
            continue
        rows = accepted.record.claims
        verdicts = Counter("failed" if row.id in accepted.failed else row.verdict for row in rows)
        judged += len(rows) - verdicts["-"]
        expected += len(run.lab.claims)
        table.add_row(
            run.lab.stem,
            accepted.record.device.name,
            *(str(verdicts[key]) for key in ("ok", "failed", "-")),
            f"{seconds:.0f} s",
            ", ".join(accepted.failed),
        )
    print_table(table)
    click.echo(f"{judged} of {expected} rows judged")
    return worst


def _table() -> Table:
    table = Table("lab", "device", "ok", "failed", "elsewhere", "time", "which failed", box=None)
    table.columns[0].no_wrap = True
    for column in table.columns[2:6]:
        column.justify = "right"
    return table


def _gate(book: Book, bundle: Path, verify: Path | None) -> int:
    """The gated job here, unless there is a bundle to verify; then the verdict on the bundle. 0 only when all of it holds."""
    status = 0
    if verify is None:
        gpus = gates.devices()
        if not gpus:
            raise click.ClickException(
                "no GPU was found, and the gate judges what nothing else can"
            )
        status = gates.run(book.root, bundle, gpus)
    try:
        verdict = gates.verify(book, verify or bundle)
    except OSError as error:
        raise click.ClickException(f"{verify or bundle} cannot be read: {error.strerror}") from None
    print_problems(verdict.faults)
    click.echo(verdict)
    if status:
        click.echo(f"the tests that need a GPU ended with status {status}", err=True)
    return 0 if verdict.passes and not status else 1
