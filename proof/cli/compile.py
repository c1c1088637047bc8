"""`proof compile`: compiles every lab for every target, with no GPU."""

from __future__ import annotations

import json
from datetime import date

import click
from rich.table import Table
from rich.text import Text

from proof.cli.project import choose_labs, open_book, print_problems, short
from proof.cli.table import print_table
from proof.compiler import farm
from proof.evidence.compiled import Summary, summaries
from proof.evidence.targets import TARGETS
from proof.pages.compiled import tensor_cores
from proof.problem import Problem


@click.command()
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option("--json", "as_json", is_flag=True, help="Print every cell as data.")
@click.option(
    "--check",
    "check_only",
    is_flag=True,
    help="Compile everything anew, change nothing, fail where it differs.",
)
@click.pass_obj
def command(today: date, labs: tuple[str, ...], as_json: bool, check_only: bool) -> None:
    """Compile every launch of every lab for every target, with no GPU, and file what came out. What is filed stays."""
    book = open_book(today)
    chosen = choose_labs(book, labs)
    missing = farm.cannot(book)
    if missing:
        raise click.UsageError(f"{missing}. Not compiled: {', '.join(lab.stem for lab in chosen)}")
    table, problems, data = _table(), [], []
    for result in farm.compile_labs(
        book, chosen, check_only, lambda text: click.echo(text, err=True)
    ):
        file = f"labs/{result.lab.stem}.py"
        fix = "Fix the lab, or let its launcher refuse that target"
        problems += [Problem(file, 1, fault, fix) for fault in result.faults]
        if result.compiled is None:
            continue
        data.append(result.compiled.model_dump(mode="json", exclude_unset=True))
        for summary in summaries(result.compiled):
            table.add_row(result.lab.stem, *_cells(summary))
        if check_only:
            problems += [
                Problem(file, 1, what, "Run `proof compile`")
                for what in farm.differences(book, result)
            ]
        else:
            for path in farm.file_result(book.root, result):
                click.echo(
                    f"{'wrote' if path.is_file() else 'deleted':8} {short(book, path)}", err=True
                )
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False))
    else:
        print_table(table)
    print_problems(problems)
    raise SystemExit(1 if problems else 0)


def _table() -> Table:
    names = ("lab", "kernel", "target")
    counts = ("fits", "too large", "not offered", "fails", "shared", "limit", "registers", "spill")
    table = Table(*names, *counts, "loads", "stores", "copies", "tensor cores", box=None)
    for column in table.columns[: len(names)]:
        column.no_wrap = True
    for column in table.columns[len(names) : len(names) + len(counts)]:
        column.justify = "right"
    return table


def _cells(row: Summary) -> list[str | Text]:
    """The cells of one kernel on one target, behind the name of its lab."""
    fits, too_large, not_offered = (
        row.states.get(state, "") for state in ("fits", "too large", "not offered here")
    )
    failed = Text(str(row.states.get("failed", "")), style="bold red")
    shared_bytes = max((cell.shared_bytes for cell in row.made), default=0)
    registers = max((cell.registers for cell in row.made), default=0)
    spills = sum(cell.spills for cell in row.made)
    limit = TARGETS[row.target].shared_limit
    loads, stores, copies = (row.names(kind) for kind in ("load", "store", "copy"))
    return [
        row.kernel,
        row.target,
        *(str(count) for count in (fits, too_large, not_offered)),
        failed,
        f"{shared_bytes:,}",
        f"{limit:,}",
        str(registers),
        str(spills or ""),
        Text(" ".join(loads)),
        Text(" ".join(stores)),
        Text(", ".join(copies)),
        Text(" ".join(tensor_cores(row.names("tensor")))),
    ]
