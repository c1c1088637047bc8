"""What the records say today: nothing contradicted; before a release, nothing that a page cites pending or stale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proof.book.model import Book, ErrorRow, Lab, RatioRow, Record, Standing
from proof.evidence import state
from proof.evidence.faults import faults, own_faults
from proof.problem import Problem, nearest
from proof.text.documents import documents, place
from proof.text.macros import Call, citations

SHOWN = 4  # pages that a warning names


def contradictions(book: Book) -> Iterable[Problem]:
    """A record was edited, names a lab that is gone, or holds what no run prints; the newest run of a claim fails its
    bound, or the bound was widened since."""
    failing = {s.record.path for s in _standings(book) if s.state == "contradicted" and s.record}
    for record in book.records:
        if (lab := book.labs.get(record.lab)) is None:
            fix = f"Remove the record if the lab is gone. {nearest(record.lab, book.labs)}"
            yield Problem(place(book, record.path), 1, f"no lab is called {record.lab!r}", fix)
        elif not record.intact:
            fix = "Restore the file, or remove it and run `proof record` again: records are never edited"
            yield Problem(
                place(book, record.path),
                1,
                "the record was edited: its content no longer fits its name",
                fix,
            )
        else:
            if record.outdated(lab):
                yield from _widened(book, lab, record)
            comparable = not record.outdated(lab) and record.path not in failing
            found = faults(book, lab, record) if comparable else own_faults(book, record)
            fix = "Remove the file, and run `proof record` again: the lab prints no such thing"
            yield from (Problem(place(book, record.path), 1, what, fix) for what, _ in found)
    for standing in _standings(book):
        if standing.state == "contradicted" and standing.record and standing.record.intact:
            fix = (
                "Fix the lab and record it again; never loosen a bound without a new reason for it"
            )
            what = f"{standing.claim.id} is contradicted on {standing.record.device.name}: {standing.note}"
            yield Problem(
                place(book, standing.record.path),
                _row(standing.record, standing.claim.id),
                what,
                fix,
            )


def _widened(book: Book, lab: Lab, record: Record) -> Iterator[Problem]:
    """The bounds that are wider than when this was measured, for the same reason as then."""
    for row in record.claims:
        claim = lab.claims.get(row.id)
        if claim is None or not isinstance(row, ErrorRow | RatioRow) or claim.why != row.why:
            continue
        bound = float(claim.bound)
        if (isinstance(row, ErrorRow) and bound > row.bound) or (
            isinstance(row, RatioRow) and bound < row.bound
        ):
            name = claim.id.partition(".")[2]
            was = f"the bound of {name} was {row.bound:.4g} when it was measured"
            what = f"{was}, and is {bound:.4g} for the same reason"
            yield Problem(
                place(book, lab.path), claim.line, what, "Derive it anew, and say from what"
            )


def aged(book: Book) -> Iterable[Problem]:
    """A run is old."""
    old: dict[str, list[Standing]] = {}
    for standing in _standings(book):
        if standing.state == "aged" and standing.record:
            old.setdefault(place(book, standing.record.path), []).append(standing)
    for file, standings in old.items():
        yield Problem(
            file,
            1,
            f"{len(standings)} claims: {standings[0].note}",
            "Record this lab again",
            warning=True,
        )
    for source in book.sources.values():
        standing = state.standing(book, f"source.{source.id}")
        if standing.state == "aged":
            yield Problem(
                place(book, source.path),
                1,
                standing.note,
                "Read it again and set accessed",
                warning=True,
            )


def unproven(book: Book) -> Iterable[Problem]:
    """Only before a release: a page cites a claim that no run of today's lab bears out."""
    told = set()
    for document in documents(book):
        for call in document.calls:
            for claim_id, standing in _needed(book, call):
                if standing is None or standing.state in (
                    "pending",
                    "stale-source",
                    "stale-env",
                    "stale-code",
                ):
                    where = "in the interpreter" if call.options.get("on") else "on a GPU"
                    key = document.file, document.at(call.line), claim_id
                    if key not in told:
                        told.add(key)
                        status, note = (
                            (standing.state, standing.note)
                            if standing
                            else ("pending", "no run is filed")
                        )
                        what = (
                            f"{claim_id} is {status} {where}: {note}"
                            if note
                            else f"{claim_id} is {status} {where}"
                        )
                        yield Problem(
                            *key[:2],
                            what,
                            f"Run `proof record {_lab(book, claim_id)}` there and commit the record",
                        )


def lost(book: Book) -> Iterable[Problem]:
    """Until a release, a warning: what readers lose by a lab whose records no longer fit it."""
    claims: dict[str, set[str]] = {}
    pages: dict[str, set[str]] = {}
    notes: dict[str, str] = {}
    for document in documents(book):
        for call in document.calls:
            for claim_id, standing in _needed(book, call):
                if standing and standing.state.startswith("stale"):
                    lab = _lab(book, claim_id)
                    claims.setdefault(lab, set()).add(claim_id)
                    pages.setdefault(lab, set()).add(document.name)
                    notes.setdefault(lab, standing.note)
    for lab, ids in claims.items():
        named = ", ".join(sorted(pages[lab])[:SHOWN])
        more = f" and {len(pages[lab]) - SHOWN} more" if len(pages[lab]) > SHOWN else ""
        what = f"{notes[lab]}. Until it is measured again readers see a badge and no number for {len(ids)} cited claims, on {named}{more}"
        fix = f"Run `proof record {lab}` where its claims are judged and commit the record"
        yield Problem(place(book, book.labs[lab].path), 1, what, fix, warning=True)


def _standings(book: Book) -> Iterator[Standing]:
    for claim_id in book.claims:
        yield from state.standings(book, claim_id)


def _needed(book: Book, call: Call) -> Iterator[tuple[str, Standing | None]]:
    """The claims that a macro shows, with what is known of each where it shows them."""
    for room, name in citations(call.name, call.args, call.options):
        claim_id = f"{name}.bug" if room == "bug" else name
        if (
            room in ("claim", "bug")
            and claim_id in book.claims
            and call.options.get("field") != "bound"
        ):
            interpreted = call.options.get("on") == "interpreter"
            yield claim_id, (state.interpreter if interpreted else state.standing)(book, claim_id)


def _lab(book: Book, claim_id: str) -> str:
    return book.claims[claim_id].lab


def _row(record: Record, claim_id: str) -> int:
    place = list(record.rows).index(claim_id)
    return record.line("claims", place, "id")
