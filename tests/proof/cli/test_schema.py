"""proof/cli/schema.py: the JSON Schema of a record, exported from the model that reads it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from proof.cli import main


def schema(*arguments: str) -> dict:
    return json.loads(CliRunner().invoke(main, ["schema", *arguments]).stdout)


def test_a_record_is_what_is_printed_without_a_name():
    printed = schema()
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert (printed["title"], printed["additionalProperties"]) == ("Record", False)
    assert printed["properties"]["schema"] == {"const": 2, "title": "Schema", "type": "integer"}


def test_rows_are_told_apart_by_their_kind():
    rows = schema("record")["properties"]["claims"]["items"]
    assert rows["discriminator"]["propertyName"] == "kind"
    assert sorted(rows["discriminator"]["mapping"]) == ["bug", "codegen", "count", "error", "ratio"]


@pytest.mark.parametrize(("name", "title"), [("compiled", "Compiled"), ("versions", "Versions")])
def test_other_files_have_theirs(name, title):
    assert schema(name)["title"] == title
