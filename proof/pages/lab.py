"""What a lab's page and the lab macros show: card, claims, seeded bugs as diffs, devices, timings. Markdown text throughout."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable

from proof.book.labwords import reason, short, words
from proof.book.model import Book, Bug, Claim, ErrorRow, Lab, Lang, RatioRow, Section, Standing
from proof.book.translation import shown_lines
from proof.evidence import order, state
from proof.evidence.state import current, records_of, tally
from proof.pages.format import (
    SHOWN,
    badge,
    bound_cell,
    claim_href,
    code,
    device_short,
    link,
    md,
    memory,
    number,
    record_href,
    recorded_on,
    shown_value,
    table,
    timing_figure,
    unbroken,
    value_cell,
    versions,
    way,
)
from proof.pages.words import word
from proof.problem import Fault, where

STATES = (
    "contradicted",
    "stale-source",
    "stale-code",
    "stale-env",
    "pending",
    "aged",
    "valid",
)  # worst first


# Claims


def what(claim: Claim) -> str:
    """The arguments below a claim's id: n=98_432, dtype=float16; nothing where there are none."""
    text = ", ".join(f"{name}={argument.shown}" for name, argument in claim.arguments.items())
    return f'<br><small class="arguments">{md(text)}</small>' if text else ""


def claim_cell(claim: Claim, up: str) -> str:
    return link(claim_href(claim, up), code(claim.id))


def claims_table(book: Book, claims: Iterable[Claim], lang: Lang, up: str) -> str:
    """One row per claim and device class, GPUs first: what, value, relative, bound and its reason, device, state.

    `relative` is left out where no claim of the table is about an absolute error.
    """
    claims, rows = list(claims), []
    columns = ["claim", "value", "relative", "bound", "device", "state"]
    for claim in claims:
        found = state.standings(book, claim.id)
        if claim.judges == "compile":  # the same wherever the compiler ran
            found = [state.standing(book, claim.id)]
        for standing in sorted(found, key=lambda s: s.record is not None and not s.record.is_gpu):
            shown = shown_value(standing, lang)
            absolute = claim.id.endswith("abs_err") and shown != "–"
            relative = (
                standing.row.max_rel_err
                if absolute and isinstance(standing.row, ErrorRow)
                else None
            )
            device = (
                md(device_short(standing.record, lang, claim.judges)) if standing.record else "–"
            )
            cells = [
                claim_cell(claim, up) + what(claim),
                shown,
                "–" if relative is None else unbroken(number(relative)),
            ]
            bound = bound_cell(claim, reason(book, claim, lang), lang)
            rows.append([*cells, bound, device, badge(standing, lang)])
    if not any(claim.id.endswith("abs_err") for claim in claims):
        columns.remove("relative")
        rows = [[*row[:2], *row[3:]] for row in rows]
    return table([word(lang, column) for column in columns], rows)


def counts(book: Book, ids: Iterable[str]) -> Counter[str]:
    """How many claims are in which state."""
    return Counter(state.standing(book, claim).state for claim in ids)


def counts_line(found: Counter[str], lang: Lang) -> str:
    """3 claims: 2 valid, 1 not yet measured on a GPU."""
    parts = [
        f'<span class="state {key}">{md(word(lang, "in state", n=found[key], state=word(lang, key)))}</span>'
        for key in STATES
        if found[key]
    ]
    head = word(lang, "of claims", n=found.total())
    return head + (word(lang, "colon") + word(lang, "comma").join(parts) if parts else "")


def _interpreter_cell(book: Book, claim: Claim, lang: Lang) -> str:
    if claim.judges != "any":
        return f"<small>{md(word(lang, 'interpreter-cannot'))}</small>"
    found = state.interpreter(book, claim.id)
    if found is None or found.state == "pending":
        return f'<span class="state pending">{md(word(lang, "pending-interpreter"))}</span>'
    return value_cell(found, lang) if found.state in SHOWN else badge(found, lang, on="interpreter")


def _lab_claims(book: Book, lab: Lab, lang: Lang) -> str:
    heads = [word(lang, key) for key in ("claim", "bound", "gpu", "in the interpreter", "state")]
    rows = []
    for claim in lab.claims.values():
        if claim.kind == "bug":
            continue
        found = state.standing(book, claim.id)
        name = f'<a id="{md(claim.id)}" href="#{md(claim.id)}">{code(short(claim))}</a>'
        bound = bound_cell(claim, reason(book, claim, lang), lang)
        values = [value_cell(found, lang), _interpreter_cell(book, claim, lang)]
        rows.append([name + what(claim), bound, *values, badge(found, lang)])
    return table(heads, rows)


# Seeded bugs


def bug_text(book: Book, lab: Lab, bug: Bug, lang: Lang) -> str:
    """The bug as a unified diff of the lab's text, with the lab's line numbers.

    `patch` accepts it: the English one beside the lab, the Chinese one with the Chinese download's
    comments.

    Raises Fault if its text does not occur exactly once in its section.
    """
    line, text = lab.sections.get(bug.section, Section(1, ""))
    times = text.count(bug.old)
    if times != 1:
        what = f"the text of the seeded bug {bug.name!r} occurs {times} times in section {bug.section!r}"
        fix = "Change its text in BUGS so that the section holds it exactly once"
        raise Fault(what, fix, line=line, file=where(lab.path, book.root))
    changed = text.replace(bug.old, bug.new)
    old, new = (shown_lines(book, lab, each.splitlines(), lang) for each in (text, changed))
    name = f"{lab.stem}.py"
    lines = list(difflib.unified_diff(old, new, name, f"{name} ({bug.name})", lineterm="", n=2))
    shift = line - 1
    return "\n".join(
        re.sub(r"^@@ -(\d+)(.*?) \+(\d+)(.*?) @@$", lambda m: _moved(m, shift), each)
        for each in lines
    )


def _moved(m: re.Match[str], shift: int) -> str:
    return f"@@ -{int(m[1]) + shift}{m[2]} +{int(m[3]) + shift}{m[4]} @@"


def seen_parts(book: Book, claim: Claim, lang: Lang) -> list[str]:
    """What the bug did on a GPU and in the interpreter, each with its device, or the badge of its state."""
    gpu, interpreter = state.standing(book, claim.id), state.interpreter(book, claim.id)
    parts = [value_cell(gpu, lang) if gpu.state in SHOWN else badge(gpu, lang)]
    if interpreter is not None and interpreter.row is not None:
        parts.append(
            value_cell(interpreter, lang)
            if interpreter.state in SHOWN
            else badge(interpreter, lang, on="interpreter")
        )
    return list(dict.fromkeys(parts))  # the compiler says the same wherever it ran


def bug_diff(book: Book, lab: Lab, bug: Bug, lang: Lang, up: str) -> str:
    """The diff, the claim that must fail and how, and what was seen where."""
    claim, target = lab.claims[f"{lab.name}.{bug.name}.bug"], lab.claims[bug.claim]
    colon = word(lang, "colon")
    return "\n".join(
        [
            "```diff",
            bug_text(book, lab, bug, lang),
            "```",
            "",
            f"- **{word(lang, 'must fail')}**{colon}{claim_cell(target, up)} · {md(way(claim, bug.how, lang))} · {md(reason(book, claim, lang))}",
            f"- **{word(lang, 'seen on')}**{colon}{' · '.join(seen_parts(book, claim, lang))}",
            "",
        ]
    )


def _lab_bugs(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    heads = [word(lang, key) for key in ("bug", "must fail", "how", "seen on")]
    rows, diffs = [], []
    for bug in lab.bugs.values():
        claim = lab.claims[f"{lab.name}.{bug.name}.bug"]
        name = f'<a id="{md(claim.id)}" href="#{md(claim.id)}">{code(bug.name)}</a>'
        how = f"{md(way(claim, bug.how, lang))}<br>{md(reason(book, claim, lang))}"
        target = link(f"#{bug.claim}", code(short(lab.claims[bug.claim])))
        rows.append([name, target, how, "<br>".join(seen_parts(book, claim, lang))])
        text = bug_text(book, lab, bug, lang)
        inside = "\n".join(
            f"    {line}".rstrip() for line in ("```diff", *text.splitlines(), "```")
        )
        diffs.append(f'??? example "{bug.name}"\n\n{inside}\n')
    return table(heads, rows) + "\n" + "\n".join(diffs)


# Devices and timings


def device_matrix(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    """Device class × Triton × date: passed, failed, not judged, and the raw record."""
    records = records_of(book, lab)
    if not records:
        return word(lang, "no records") + "\n"
    heads = [
        word(lang, key)
        for key in ("device", "versions", "date", "passed", "failed", "not judged", "record")
    ]
    rows = []
    for record in records:
        device = record.device.name if record.is_gpu else word(lang, record.device.kind)
        raw = link(record_href(record, up), code(record.path.stem.rsplit("-", 1)[-1]))
        if current(lab, record):
            numbers = [str(n) for n in tally(lab, record)]
        else:
            numbers = ["–"] * 3
            raw += f"<br><small>{md(word(lang, 'older source' if record.intact else 'edited'))}</small>"
        rows.append([md(device), md(versions(record)), str(recorded_on(record)), *numbers, raw])
    return table(heads, rows)


def timings_table(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    """Every timing behind a ratio that readers may see; empty if there is none."""
    rows = []
    for claim in lab.claims.values():
        found = state.standing(book, claim.id) if claim.kind == "ratio" else None
        if (
            found is None
            or found.state not in SHOWN
            or found.record is None
            or not isinstance(found.row, RatioRow)
        ):
            continue
        for timing in found.row.timings:
            median, p10, p90, rate, repeats = (
                timing_figure(timing, name)
                for name in ("median_ms", "p10_ms", "p90_ms", "rate", "repeats")
            )
            spread = f"{p10.removesuffix(' ms')}–{p90}" if timing.repeats > 1 else "–"
            device = device_short(found.record, lang)
            rows.append(
                [code(claim.id), md(timing.name), median, spread, rate, repeats, md(device)]
            )
    heads = [
        word(lang, key)
        for key in ("claim", "timing", "median", "spread", "rate", "repeats", "device")
    ]
    return table(heads, rows) if rows else ""


# The card, the head and the tail


def _peak(book: Book, lab: Lab, lang: Lang) -> str:
    """The largest measured peak memory, its claim and its device; empty without a record that readers may see."""
    standings = [state.standing(book, claim) for claim in lab.claims]
    shown = [s for s in standings if s.state in SHOWN and s.row and s.record and s.record.is_gpu]
    most = max(shown, key=_peak_mib, default=None)
    if most is None or most.record is None or not _peak_mib(most):
        return ""
    device = device_short(most.record, lang)
    return f"{word(lang, 'measured peak')} {memory(_peak_mib(most))} · {code(most.claim.id)} · {md(device)}"


def _peak_mib(standing: Standing) -> int:
    return standing.row.peak_mib if standing.row else 0


def downloads(lab: Lab, up: str) -> str:
    """The two files, where the site puts them: downloads/ below each language's root."""
    return " · ".join(
        link(f"{up}downloads/{lab.stem}.{ext}", code(f"{lab.stem}.{ext}"))
        for ext in ("py", "ipynb")
    )


def lab_card(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    """Memory, cards, minutes, how to run, downloads: a table of two columns."""
    told, minutes = words(book, lab, lang), lab.card.get("Minutes", "")
    bench = any(claim.kind == "ratio" for claim in lab.claims.values())
    run = [f"{code(f'python {lab.stem}.py')} {md(word(lang, 'run all'))}"]
    run += (
        [f"{code(f'python {lab.stem}.py --bench')} {md(word(lang, 'run bench'))}"] if bench else []
    )
    rows = [
        [word(lang, "learn"), md(told.learn)],
        [
            word(lang, "memory"),
            "<br>".join(part for part in (md(told.memory), _peak(book, lab, lang)) if part),
        ],
        [word(lang, "gpus"), md(told.gpu)],
        [word(lang, "minutes"), md(word(lang, "about minutes", n=minutes)) if minutes else ""],
        [word(lang, "run"), "<br>".join(run)],
        [word(lang, "download"), downloads(lab, up)],
    ]
    heads = [word(lang, "card"), link(f"{up}labs/{lab.stem}/", code(f"{lab.stem}.py"))]
    return table(heads, [row for row in rows if row[1]])


def labs_table(book: Book, lang: Lang, up: str) -> str:
    """The labs that exist: name, sentence, minutes, where their claims stand."""
    rows = []
    for lab in order.labs(book):
        told, minutes = words(book, lab, lang), lab.card.get("Minutes", "")
        standing = counts_line(counts(book, lab.claims), lang)
        title = f"{link(f'{up}labs/{lab.stem}/', md(told.title))}<br>{code(f'{lab.stem}.py')}"
        time = md(word(lang, "about minutes", n=minutes)) if minutes else "–"
        rows.append([title, md(told.sentence), time, standing])
    return table([word(lang, key) for key in ("lab", "question", "minutes", "state")], rows)


def lab_head(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    """What stands above the recorded run: title, sentence, card, claims, seeded bugs, devices, timings."""
    told, found = words(book, lab, lang), counts(book, lab.claims)
    parts = [
        f"# {md(told.title)} {{ #lab }}\n",
        f"{md(told.sentence)}\n",
        f"{counts_line(found, lang)}\n",
    ]
    if found["contradicted"]:
        parts.append(f'!!! danger "{word(lang, "contradicted")}"\n\n{_contradicted(book, lab)}')
    parts += [
        lab_card(book, lab, lang, up),
        f"## {word(lang, 'claims')} {{ #claims }}\n",
        _lab_claims(book, lab, lang),
    ]
    if lab.bugs:
        parts += [f"## {word(lang, 'bugs')} {{ #bugs }}\n", word(lang, "bugs intro") + "\n"]
        parts.append(_lab_bugs(book, lab, lang, up))
    parts += [f"## {word(lang, 'devices')} {{ #devices }}\n", device_matrix(book, lab, lang, up)]
    if timings := timings_table(book, lab, lang, up):
        parts += [f"## {word(lang, 'timings')} {{ #timings }}\n", timings]
    parts.append(f"## {word(lang, 'the run')} {{ #run }}\n")
    return "\n".join(parts)


def _contradicted(book: Book, lab: Lab) -> str:
    found = [state.standing(book, claim) for claim in lab.claims]
    lines = [
        f"    - {code(s.claim.id)}{': ' + md(s.note) if s.note else ''}"
        for s in found
        if s.state == "contradicted"
    ]
    return "\n".join(lines) + "\n"


def lab_tail(book: Book, lab: Lab, lang: Lang, up: str) -> str:
    """What stands below the recorded run: downloads, and how to send a record from another card."""
    return "\n".join(
        [
            f"## {word(lang, 'download')} {{ #download }}\n",
            downloads(lab, up) + "\n",
            *(
                [f"{link(f'{up}cards/', md(word(lang, 'which cards')))}\n"]
                if any(p.name == "cards.md" for p in book.pages)
                else []
            ),
            f"## {word(lang, 'send')} {{ #send }}\n",
            word(lang, "send intro") + "\n",
            "```bash",
            f"python {lab.stem}.py --json > {lab.stem}.json",
            f"proof record --from {lab.stem}.json",
            "```",
            "",
        ]
    )
