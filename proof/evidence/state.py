"""What is known of a claim today, from the records: valid, aged, pending, stale-source, stale-env,
stale-code or contradicted.

Figures of the interpreter and of GPUs are two truths: `standing` never looks at the one for the
other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion

from proof.book.model import Book, Claim, Lab, Record, Row, Source, Standing, State, Verdict
from proof.evidence import verdict as rule
from proof.evidence import versions
from proof.problem import nearest

AGED_AFTER_DAYS = 180
REFERENCE = "nvidia-h200"  # the class of GPU that the bounds of ratios are set on
FP_FUSION = "TRITON_DEFAULT_FP_FUSION"
PASSING: tuple[State, ...] = ("valid", "aged")
FIRST: tuple[State, ...] = (
    "contradicted",
    "valid",
    "aged",
    "stale-env",
    "stale-code",
    "stale-source",
    "pending",
)


def all_claims(book: Book) -> dict[str, Claim]:
    """Every claim of every lab, then every cited source, by id."""
    return book.claims | {
        f"source.{source.id}": _source_claim(source) for source in book.sources.values()
    }


def find_claim(book: Book, claim_id: str) -> Claim:
    """The claim of that id. Raises LookupError, naming the nearest ids, when there is none."""
    for lab in book.labs.values():
        if claim_id in lab.claims:
            return lab.claims[claim_id]
    source = (
        book.sources.get(claim_id.removeprefix("source."))
        if claim_id.startswith("source.")
        else None
    )
    if source is None:
        raise LookupError(f"there is no claim {claim_id}. {nearest(claim_id, all_claims(book))}")
    return _source_claim(source)


def standings(book: Book, claim_id: str) -> list[Standing]:
    """One standing for each class of device that judged the claim, newest first; a pending one when
    no GPU did.

    A claim about what the compiler makes needs no GPU, so for it any record will do. Raises
    LookupError.
    """
    return list(_all_standings(book)[find_claim(book, claim_id).id])


@lru_cache(maxsize=2)  # a book does not change, and pages ask for every claim many times
def _all_standings(book: Book) -> dict[str, list[Standing]]:
    runs: dict[str, list[_Run]] = {stem: [] for stem in book.labs}
    for record in book.records:
        if record.lab in book.labs:
            runs[record.lab].append(_run(book, book.labs[record.lab], record))
    known = {
        f"source.{source.id}": [_source_standing(book, source)] for source in book.sources.values()
    }
    return known | {claim.id: _standings(claim, runs[claim.lab]) for claim in book.claims.values()}


def _standings(claim: Claim, runs: list[_Run]) -> list[Standing]:
    judged: dict[str, list[_Run]] = {}
    for run in runs:
        row = run.record.rows.get(claim.id)
        if row and row.verdict != "-":
            judged.setdefault(run.record.device_class, []).append(run)
    standings = [_of_class(claim, of_class) for of_class in judged.values()]
    standings.sort(key=_time, reverse=True)
    if not any(_counts(s) for s in standings):
        standings.append(Standing(claim, "pending", note=_why_pending(claim, runs)))
    return standings


def standing(book: Book, claim_id: str) -> Standing:
    """What readers see: a contradiction on any GPU, else the best that a GPU knows, of REFERENCE
    before others, of those the newest. Raises LookupError.
    """
    counting = [s for s in standings(book, claim_id) if _counts(s) or s.record is None]
    return min(
        counting,
        key=lambda s: (FIRST.index(s.state), not (s.record and s.record.device_class == REFERENCE)),
    )


def interpreter(book: Book, claim_id: str) -> Standing | None:
    """What the interpreter knows of the claim, if it judged it. Raises LookupError."""
    for s in standings(book, claim_id):
        if s.record and s.record.device.kind == "interpreter":
            return s
    return None


def verdict(claim: Claim, row: Row) -> Verdict:
    """The verdict of a record's row, from its figures and the lab's bound. Only what the run alone
    could see is believed.
    """
    if row.verdict in ("-", "guard", "fault", "raised"):
        return row.verdict
    declared: dict[str, object] = {"kind": claim.kind, "bound": claim.bound}
    if claim.predicted is not None:
        declared |= {"predicted": claim.predicted, "tolerance": claim.tolerance}
    try:
        computed = rule.verdict({"id": row.id, **row.figures, **declared})
    except (KeyError, TypeError):  # a figure is not finite, or was not taken
        return "nonfinite"
    return computed


def below(claim: Claim, row: Row, record: Record) -> bool:
    """Whether a ratio stays under a bound that was not set on this class of card: shown as it is,
    and no contradiction.
    """
    return (
        claim.kind == "ratio"
        and record.device_class != REFERENCE
        and verdict(claim, row) == "error"
    )


def _time(s: Standing) -> datetime:
    """When the record was measured; long ago where there is none."""
    return s.record.utc if s.record else datetime.min.replace(tzinfo=UTC)


def _counts(s: Standing) -> bool:
    """Whether a standing speaks for the claim itself, not only for the interpreter."""
    return s.claim.kind == "source" or (
        s.record is not None and (s.record.is_gpu or s.claim.judges == "compile")
    )


@dataclass(frozen=True)
class _Run:
    """A record, and what holds of it as a whole, whichever of its rows is asked for."""

    record: Record
    current: bool  # of the lab as it is
    before: tuple[State, str] | None  # why its figures do not count
    after: tuple[State, str] | None  # what is to be said where the row itself is fine


def _run(book: Book, lab: Lab, record: Record) -> _Run:
    before: tuple[State, str] | None = None
    changed = record.outdated(lab)
    if not record.intact:
        before = "contradicted", "the record was edited: its content has not the hash in its name"
    elif changed:
        before = "stale-source", changed
    elif other := _other_environment(lab, record):
        before = "stale-env", other
    elif other := versions.changed_code(book, record):
        before = "stale-code", other
    after: tuple[State, str] | None = None
    age = (book.today - record.utc.date()).days
    if record.rows.keys() != lab.claims.keys():
        known = len(record.rows.keys() & lab.claims.keys())
        after = "pending", f"the record is incomplete: {known} of the lab's {len(lab.claims)} rows"
    elif age > AGED_AFTER_DAYS:
        after = "aged", f"measured {age} days ago"
    return _Run(record, not changed, before, after)


def _of_class(claim: Claim, runs: list[_Run]) -> Standing:
    """One class of device. For each Triton minor the newest run of the lab as it stands counts,
    else its newest run.
    """
    newest: dict[str, _Run] = {}
    for run in sorted(runs, key=lambda run: (run.current, run.record.utc, run.record.path.name)):
        newest[run.record.triton_minor] = run
    edited = [run for run in runs if not run.record.intact]
    counting = {run.record.path: run for run in [*newest.values(), *edited]}.values()
    standings = [_judge(claim, run) for run in counting]
    standings.sort(key=_time, reverse=True)
    return min(standings, key=lambda s: FIRST.index(s.state))


def _judge(claim: Claim, run: _Run) -> Standing:
    record, row = run.record, run.record.rows[claim.id]
    if run.before:
        return Standing(claim, run.before[0], row, record, run.before[1])
    now = verdict(claim, row)
    if now != "ok" and not below(claim, row, record):
        note = f"the run fails: {now}, {row.note or row.value} against {claim.bound}"
        return Standing(claim, "contradicted", row, record, note)
    state, note = run.after or ("valid", "")
    return Standing(claim, state, None if state == "pending" else row, record, note)


def _other_environment(lab: Lab, record: Record) -> str:
    """What of the record's environment the lab does not declare; empty when nothing."""
    environment = record.environment
    for name, used in (("torch", environment.torch), ("triton", environment.triton)):
        allowed = SpecifierSet(lab.requires.get(name, ""))
        try:
            inside = allowed.contains(used, prereleases=True)
        except InvalidVersion:
            inside = False
        if not inside:
            return f"run with {name} {used}; the lab declares {lab.requires[name]}"
    wanted, was = lab.switches.get(FP_FUSION), environment.switches.get(FP_FUSION)
    return (
        f"run with {FP_FUSION}={was}; the lab sets {wanted}"
        if wanted is not None and was != wanted
        else ""
    )


def _why_pending(claim: Claim, runs: list[_Run]) -> str:
    """A GPU run that could not judge the claim says why; without one there is none."""
    for record in sorted((run.record for run in runs), key=lambda record: record.utc, reverse=True):
        row = record.rows.get(claim.id) if record.is_gpu else None
        if row and row.verdict == "-":
            return f"not judged on {record.device.name}: {row.note}".rstrip(": ")
    return (
        "no run on a GPU is filed"
        if claim.judges != "compile"
        else "no run of the compiler is filed"
    )


def _source_claim(source: Source) -> Claim:
    return Claim(
        id=f"source.{source.id}",
        kind="source",
        lab="",
        bound=source.sha256,
        judges="any",
        gib=0,
        why=source.shows.en,
    )


def _source_standing(book: Book, source: Source) -> Standing:
    """Lines at a tag stay as they are; a document without a tag ages from the day it was read."""
    claim = _source_claim(source)
    age = (book.today - source.accessed).days
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
    verdicts = [verdict(lab.claims[row.id], row) for row in record.claims if row.id in lab.claims]
    judged = [v for v in verdicts if v != "-"]
    return judged.count("ok"), len(judged) - judged.count("ok"), len(verdicts) - len(judged)
