"""What is filed of the labs is what their compiler makes: a sample in `make test`, everything in `make test-deep`."""

from __future__ import annotations

import importlib.metadata

import pytest

from proof.book.model import Launch
from proof.compiler import farm as compiler
from proof.evidence import compiled as filed

VENDORS = {"nvidia": "ptxas", "amd": "LLVM"}


@pytest.fixture(scope="module")
def current(book):
    """The labs that are filed as they stand; here must be the Triton that they were compiled by."""
    here, pin = importlib.metadata.version("triton"), book.pinned_triton
    if here != pin:
        pytest.skip(f"this is Triton {here}; what is filed is of {pin}, and was not compared")
    return [lab for lab in book.labs.values() if not filed.stale(book, lab)]


def sample(compiled) -> list[tuple[Launch, str]]:
    """The launch of a lab with the fewest instructions that matter, once for each vendor: the same every time."""
    found = []
    for vendor in VENDORS:
        cells = [
            (sum(map(str(cell.code).count, "0123456789")), cell.sha256, target, launch)
            for launch in compiled.launches
            for target, cell in launch.cells.items()
            if filed.TARGETS[target].vendor == vendor and cell.state == "fits"
            if compiled.kernels[launch.kernel].strip("0")  # else it is made inside a function
        ]
        found += [
            (launch, target)
            for _, _, target, launch in sorted(cells, key=lambda cell: cell[:3])[:1]
        ]
    return found


def test_a_sample_compiles_to_what_is_filed(book, current, tmp_path):
    child, compared = compiler.Child(str(tmp_path)), 0
    try:
        for lab in current:
            for launch, target in sample(book.compiled[lab.stem]):
                bare = launch.model_dump(exclude={"claims", "targets", "cells"})
                answer = child.ask(
                    do="compile", path=str(lab.path), stem=lab.stem, launch=bare, target=target
                )
                filed_cell = launch.cells[target].model_dump(exclude_unset=True)
                assert answer == {"cell": filed_cell}, f"{lab.stem} {launch.kernel} {target}"
                compared += 1
    finally:
        child.end()
    assert compared == 2 * len(current)


@pytest.mark.deep
def test_everything_compiles_to_what_is_filed(book, current):
    for result in compiler.compile_labs(book, current, True, print):
        assert result.faults == []
        assert compiler.differences(book, result) == []
