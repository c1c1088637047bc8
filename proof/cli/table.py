"""Tables in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def print_table(table: Table) -> None:
    """In a pipe it is wide enough for its longest row."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=240)
    console.print(table)
