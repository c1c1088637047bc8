"""Judges what a lab printed with --json: whether it is a record, and which of its rows fail."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proof.book import text
from proof.book.data import AS_PRINTED, fit, parse_json
from proof.book.lab import read_lab
from proof.book.model import Book, Record
from proof.evidence import state
from proof.evidence.faults import faults
from proof.problem import Fault, Problem


@dataclass(frozen=True)
class Accepted:
    """A run that may be filed, and what its user should know."""

    record: Record
    notes: list[str]
    failed: list[str]  # ids of rows that fail


def accept(book: Book, name: str, raw: bytes, commit: str | None = None) -> Accepted:
    """Check what a lab printed with --json, wherever it ran, and make it a record. The lab itself is not run.

    Raises Fault for what is not such a print, or contradicts itself or its lab.
    """
    data, lines = parse_json(text.decode(raw))
    if not isinstance(data, dict) or not isinstance(data.get("source"), str):
        raise Fault("holds no source of a lab, so it is not what a lab prints", AS_PRINTED)
    source, texts = data.pop("source"), data.pop("companions", None)
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise Fault("holds no companions of a lab, so it is not what a lab prints", AS_PRINTED)
    lab, problems = read_lab(Path(f"{data.get('lab')}.py"), source, f"{name} (source)", texts)
    if lab is None or problems:
        raise Fault.of(problems)
    data |= {"lab_sha256": lab.sha256, "judge_sha256": lab.judge_sha256, "commit": commit}
    record = fit(Record, data, lines)
    wrong = [Problem(name, 1, what, fix) for what, fix in faults(book, lab, record)]
    if wrong:
        raise Fault.of(wrong)
    notes = []
    if changed := record.outdated(book.labs[lab.stem]):
        notes.append(f"{lab.stem}: {changed}, so its claims will count as stale-source")
    failed = [row for row in record.claims if row.verdict not in ("ok", "-")]
    under = [row.id for row in failed if state.below(lab.claims[row.id], row, record)]
    if under:
        notes.append(
            f"under bounds that are set on {state.REFERENCE}, shown as measured: {', '.join(under)}"
        )
    return Accepted(record, notes, [row.id for row in failed if row.id not in under])
