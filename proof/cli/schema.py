"""`proof schema`: what a file may hold, for whoever reads or writes one outside this project."""

from __future__ import annotations

import json

import click

from proof.book.model import Compiled, Filed, Record, Versions

FILES: dict[str, type[Filed]] = {"record": Record, "compiled": Compiled, "versions": Versions}


@click.command()
@click.argument("file", type=click.Choice(list(FILES)), default="record")
def command(file: str) -> None:
    """Print the JSON Schema of a record, of what `proof compile` files, or of labs/versions.json."""
    schema = FILES[file].model_json_schema(mode="serialization")
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    click.echo(json.dumps(dialect | schema, indent=1, ensure_ascii=False))
