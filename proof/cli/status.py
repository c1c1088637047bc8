"""`proof status`: every claim and what is known of it."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from proof.book.model import Book, Standing
from proof.cli.project import open_book, print_problems, short
from proof.cli.table import print_table
from proof.evidence import order, state
from proof.text.uses import uses

COLORS = {"valid": "green", "aged": "yellow", "pending": "dim", "contradicted": "bold red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the claims as data.")
@click.pass_obj
def command(today: date, as_json: bool) -> None:
    """Every claim: its state, value, bound, device and age."""
    book = open_book(today)
    rows = _rows(book)
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        print_table(_table(rows))
        counts = Counter(row["state"] for row in rows)
        click.echo(
            " · ".join(f"{counts[name]} {name}" for name in state.FIRST if counts[name])
            or "no claims yet"
        )
    print_problems(book.problems)
    raise SystemExit(1 if book.problems else 0)


def _rows(book: Book) -> list[dict[str, Any]]:
    """What --json prints."""
    pages, claims, rows = uses(book), state.all_claims(book), []
    for claim_id in order.claims(book):
        claim = claims[claim_id]
        standing, interpreted = state.standing(book, claim_id), state.interpreter(book, claim_id)
        record = standing.record
        rows.append(
            {
                "id": claim_id,
                "kind": claim.kind,
                "state": standing.state,
                "value": _value(standing),
                "bound": claim.bound,
                "device": record.device.name if record else None,
                "age_days": (book.today - record.utc.date()).days if record else None,
                "pages": [short(book, page.path) for page in pages.get(claim_id, [])],
                "note": standing.note,
                "interpreter": {"state": interpreted.state, "value": _value(interpreted)}
                if interpreted
                else None,
            }
        )
    return rows


def _value(standing: Standing) -> float | int | str | None:
    """The figure behind a standing; none for a stale or pending one, which has nothing to show."""
    if standing.row and standing.state in (*state.PASSING, "contradicted"):
        return standing.row.value
    return None


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table("claim", "state", "value", "bound", "device", "age", "interpreter", box=None)
    table.columns[0].min_width = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        interpreted = row["interpreter"]
        table.add_row(
            row["id"],
            Text(row["state"], style=COLORS.get(row["state"], "yellow")),
            Text(_figure(row["value"])),
            Text(_figure(row["bound"]) if row["kind"] != "source" else ""),
            row["device"] or "",
            f"{row['age_days']} d" if row["age_days"] is not None else "",
            Text(f"{interpreted['state']} {_figure(interpreted['value'])}" if interpreted else ""),
        )
    return table


def _figure(value: float | int | str | None) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
