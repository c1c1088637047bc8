"""What is known of a claim today, from the records: valid, aged, pending, stale-source, stale-env, stale-code or contradicted.

Figures of the interpreter and of GPUs are two truths: `standing` never looks at the one for the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion

from proof.book.model import Book, Claim, Lab, Record, Source, Standing, State
from proof.evidence import verdict as rule
from proof.evidence import versions
from proof.problem import nearest

AGED_AFTER_DAYS = 180
REFERENCE = "nvidia-h200"  # the class of card that the bounds of ratios are set on, and that pages speak of
FP_FUSION = "TRITON_DEFAULT_FP_FUSION"
PASSING: tuple[State, ...] = ("valid", "aged")
FIRST: tuple[State, ...] = ("contradicted", "valid", "aged", "stale-env", "stale-code", "stale-source", "pending")


def all_claims(book: Book) -> dict[str, Claim]:
    """Every claim of every lab, then every cited source, by id."""
    return book.claims | {f"source.{source.id}": _source_claim(source) for source in book.sources.values()}


def find_claim(book: Book, claim_id: str) -> Claim:
    """The claim of that id. Raises LookupError, naming the nearest ids, when there is none."""
    for lab in book.labs.values():
        if claim_id in lab.claims:
            return lab.claims[claim_id]
    source = book.sources.get(claim_id.removeprefix("source.")) if claim_id.startswith("source.") else None
    if source is None:
        raise LookupError(f"there is no claim {claim_id}. {nearest(claim_id, all_claims(book))}")
    return _source_claim(source)


def standings(book: Book, claim_id: str) -> list[Standing]:
    """One standing for each class of device that judged the claim, newest first; a pending one when no GPU did.

    A claim about what the compiler makes needs no GPU, so for it any record will do. Raises LookupError.
    """
    if claim_id not in book.judged:
        book.judged[claim_id] = _standings(book, find_claim(book, claim_id))
    return list(book.judged[claim_id])


def _standings(book: Book, claim: Claim) -> list[Standing]:
    if claim.kind == "source":
        return [_source_standing(book, claim)]
    judged: dict[str, list[Record]] = {}
    for record in book.records:
        if record.lab == claim.lab and (row := row_of(record, claim.id)) and row["verdict"] != "-":
            judged.setdefault(record.device_class, []).append(record)
    found = [_of_class(book, claim, records) for records in judged.values()]
    found.sort(key=lambda s: s.record.utc, reverse=True)
    if not any(_counts(s) for s in found):
        found.append(Standing(claim, "pending", note=_why_pending(book, claim)))
    return found


def standing(book: Book, claim_id: str) -> Standing:
    """What readers see: a contradiction on any GPU, else the best that a GPU knows, of REFERENCE before others, of those
    the newest. Raises LookupError."""
    counting = [s for s in standings(book, claim_id) if _counts(s) or s.record is None]
    return min(counting, key=lambda s: (FIRST.index(s.state), not (s.record and s.record.device_class == REFERENCE)))


def interpreter(book: Book, claim_id: str) -> Standing | None:
    """What the interpreter knows of the claim; None when it did not judge it. Raises LookupError."""
    found = (s for s in standings(book, claim_id) if s.record and s.record.device["kind"] == "interpreter")
    return next(found, None)


def verdict(claim: Claim, row: dict) -> str:
    """The verdict of a record's row, from its figures and the lab's bound. Only what the run alone could see is believed."""
    if row["verdict"] in ("-", "guard", "fault", "raised"):
        return row["verdict"]
    declared: dict[str, Any] = {"kind": claim.kind, "bound": claim.bound}
    if claim.predicted is not None:
        declared |= {"predicted": claim.predicted, "tolerance": claim.tolerance}
    try:
        return rule.verdict(row | declared)
    except (KeyError, TypeError):  # a figure is null or gone
        return "nonfinite"


def below(claim: Claim, row: dict, record: Record) -> bool:
    """Whether a ratio stays under a bound that was not set on this class of card: shown as it is, and no contradiction."""
    return claim.kind == "ratio" and record.device_class != REFERENCE and verdict(claim, row) == "error"


def row_of(record: Record, claim_id: str) -> dict | None:
    """The claim's row of the record; None when it has none."""
    return next((row for row in record.data["claims"] if row["id"] == claim_id), None)


def _counts(s: Standing) -> bool:
    """Whether a standing speaks for the claim itself, not only for the interpreter."""
    return s.claim.kind == "source" or (s.record is not None and (s.record.is_gpu or s.claim.judges == "compile"))


def _of_class(book: Book, claim: Claim, records: Iterable[Record]) -> Standing:
    """One class of device. For each Triton minor the newest run of the lab as it stands counts, else its newest run."""
    lab = book.labs[claim.lab]
    newest: dict[str, Record] = {}
    for record in sorted(records, key=lambda r: (not r.outdated(lab), r.utc, r.path.name)):
        newest[record.triton_minor] = record
    counting = {r.path: r for r in [*newest.values(), *(r for r in records if not r.intact)]}.values()
    found = [_judge(book, claim, lab, record) for record in counting]
    found.sort(key=lambda s: s.record.utc, reverse=True)
    return min(found, key=lambda s: FIRST.index(s.state))


def _judge(book: Book, claim: Claim, lab: Lab, record: Record) -> Standing:
    row = row_of(record, claim.id)

    def be(state: State, note: str = "") -> Standing:
        return Standing(claim, state, row, record, note)

    ids = {r["id"] for r in record.data["claims"]}
    age = (book.today - record.utc.date()).days
    if not record.intact:
        return be("contradicted", "the record was edited: its content has not the hash in its name")
    if changed := record.outdated(lab):
        return be("stale-source", changed)
    if other := _other_environment(lab, record):
        return be("stale-env", other)
    if other := versions.changed_code(book, record):
        return be("stale-code", other)
    if (now := verdict(claim, row)) != "ok" and not below(claim, row, record):
        return be("contradicted", f"the run fails: {now}, {row.get('note') or row.get('value')} against {claim.bound}")
    if ids != set(lab.claims):
        note = f"the record is incomplete: {len(ids & set(lab.claims))} of the lab's {len(lab.claims)} rows"
        return Standing(claim, "pending", None, record, note)
    if age > AGED_AFTER_DAYS:
        return be("aged", f"measured {age} days ago")
    return be("valid")


def _other_environment(lab: Lab, record: Record) -> str:
    """What of the record's environment the lab does not declare; empty when nothing."""
    environment = record.data["environment"]
    for name in ("torch", "triton"):
        allowed, used = SpecifierSet(lab.requires.get(name, "")), environment[name]
        try:
            inside = allowed.contains(used, prereleases=True)
        except InvalidVersion:
            inside = False
        if not inside:
            return f"run with {name} {used}; the lab declares {lab.requires[name]}"
    asked, used = lab.switches.get(FP_FUSION), environment["switches"].get(FP_FUSION)
    return f"run with {FP_FUSION}={used}; the lab sets {asked}" if asked is not None and used != asked else ""


def _why_pending(book: Book, claim: Claim) -> str:
    """A GPU run that could not judge the claim says why; without one there is none."""
    for record in sorted(book.records, key=lambda r: r.utc, reverse=True):
        row = row_of(record, claim.id) if record.is_gpu and record.lab == claim.lab else None
        if row and row["verdict"] == "-":
            return f"not judged on {record.device['name']}: {row.get('note', '')}".rstrip(": ")
    return "no run on a GPU is filed" if claim.judges != "compile" else "no run of the compiler is filed"


def _source_claim(source: Source) -> Claim:
    return Claim(f"source.{source.id}", "source", "", source.sha256, "any", 0, source.shows["en"])


def _source_standing(book: Book, claim: Claim) -> Standing:
    """Lines at a tag stay as they are; a document without a tag ages from the day it was read."""
    source = book.sources[claim.id.removeprefix("source.")]
    age = (book.today - source.accessed).days if source.accessed else 0
    if not source.tag and age > AGED_AFTER_DAYS:
        return Standing(claim, "aged", note=f"read {age} days ago")
    return Standing(claim, "valid")


def records_of(book: Book, lab: Lab) -> list[Record]:
    """The lab's records, newest first."""
    return sorted((r for r in book.records if r.lab == lab.stem), key=lambda r: r.utc, reverse=True)


def current(lab: Lab, record: Record) -> bool:
    """Whether the record is of this very code and was not edited."""
    return record.intact and not record.outdated(lab)


def tally(lab: Lab, record: Record) -> tuple[int, int, int]:
    """How many rows passed, failed and were not judged, by verdicts computed anew."""
    verdicts = [verdict(lab.claims[row["id"]], row) for row in record.data["claims"] if row["id"] in lab.claims]
    judged = [v for v in verdicts if v != "-"]
    return judged.count("ok"), len(judged) - judged.count("ok"), len(verdicts) - len(judged)
