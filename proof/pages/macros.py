"""The macros of pages: one function each, and `expand`, which puts their text in. Pure text → text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace

from proof.book.lab import sections_of
from proof.book.labwords import reason
from proof.book.model import Book, Claim, JudgedRow, Lab, Lang, Page, Standing
from proof.evidence import order, state
from proof.evidence.targets import TARGETS
from proof.pages import charts, drawings, kernel_types, notes, svg
from proof.pages import compiled as compile_page
from proof.pages import lab as labpage
from proof.pages import timeline as drawn
from proof.pages import versions as versions_page
from proof.pages.exercises import exercise_list
from proof.pages.format import (
    FIELDS,
    SHOWN,
    bound,
    claim_href,
    decision_status,
    device_short,
    figure,
    md,
    permalink,
    provenance,
    recorded_on,
    source_link,
    state_words,
    versions,
)
from proof.pages.notes import Edit, edited
from proof.pages.words import word
from proof.problem import Fault, nearest, where
from proof.text.macros import Call, calls
from proof.text.markdown import Markdown, read


@dataclass(frozen=True)
class Scene:
    """Where a macro stands: what it may read, the language, the way to the language root, and its line."""

    book: Book
    page: Page
    up: str
    line: int

    @property
    def lang(self) -> Lang:
        return self.page.lang

    def error(self, what: str, fix: str) -> Fault:
        return Fault(what, fix, line=self.line, file=where(self.page.path, self.book.root))

    def find(self, kind: str, key: str, known: dict):
        """known[key], or the error that names the nearest ones."""
        if key not in known:
            raise self.error(f"there is no {kind} {key!r}", nearest(key, known))
        return known[key]

    def claim(self, key: str) -> Claim:
        if key.startswith("source."):
            raise self.error(
                f"{key!r} is a source", f'Write {{{{ source("{key.removeprefix("source.")}") }}}}'
            )
        return self.find("claim", key, self.book.claims)

    def lab(self, key: str) -> Lab:
        return self.find("lab", key, self.book.labs)


# Claims


def claim(scene: Scene, id: str, *, on: str = "", field: str = "value", of: str = "") -> str:
    """A figure of a claim with its provenance; without a record that readers may see, a badge and no number."""
    found = scene.claim(id)
    if on not in ("", "interpreter"):
        raise scene.error(
            f"on={on!r} is not a place where claims are judged",
            'Write on="interpreter" or leave it out',
        )
    if field not in FIELDS:
        raise scene.error(f"there is no field {field!r}", nearest(field, FIELDS))
    if on and found.judges != "any":
        raise scene.error(f"the interpreter cannot judge {id!r}", 'Leave out on="interpreter"')
    standing = state.interpreter(scene.book, id) if on else state.standing(scene.book, id)
    standing = standing or Standing(found, "pending")
    href = claim_href(found, scene.up)
    if field == "bound":
        shown = figure(standing, "bound", lang=scene.lang)
        title = md(reason(scene.book, found, scene.lang))
        return f'<a class="claim bound" href="{md(href)}" title="{title}">{md(shown)}</a>'
    place = " interpreter" if on else ""
    if standing.state not in SHOWN or standing.record is None:
        title = " · ".join(part for part in (bound(found, scene.lang), standing.note) if part)
        words = md(state_words(standing, scene.lang, on))
        return f'<a class="claim {standing.state}{place}" href="{md(href)}" title="{md(title)}">{words}</a>'
    try:
        shown = figure(standing, field, of, scene.lang)
    except LookupError as error:
        raise scene.error(str(error.args[0]), "Name a figure that the record has") from None
    device = device_short(standing.record, scene.lang, found.judges)
    aged = f" · {word(scene.lang, 'aged')}" if standing.state == "aged" else ""
    small = f"<small>{md(device + aged)}</small>"
    title = md(provenance(standing, scene.lang))
    return f'<a class="claim {standing.state}{place}" href="{md(href)}" title="{title}">{md(shown)}{small}</a>'


def claims(scene: Scene, *ids: str) -> str:
    if not ids:
        raise scene.error("claims() names no claim", 'Write {{ claims("id", "id") }}')
    return labpage.claims_table(scene.book, [scene.claim(id) for id in ids], scene.lang, scene.up)


def chart(scene: Scene, *ids: str, x: str = "", by: str = "", series: str = "") -> str:
    """Measured values and bounds of claims over their argument `x`, a line for each value of `by`; or the series of a row."""
    found = [scene.claim(id) for id in ids]
    if bool(x) == bool(series) or (series and (by or len(found) != 1)):
        fix = 'Write {{ chart("id", "id", x="K") }}, or {{ chart("id", series="linear") }} with one claim'
        raise scene.error("chart() needs x, the argument along its axis, or series", fix)
    try:
        if x:
            made = charts.of_claims(scene.book, found, x, by, scene.lang, scene.up)
        else:
            made = charts.of_series(scene.book, found[0], series, scene.lang)
    except Fault as error:
        raise scene.error(error.what, error.fix) from None
    key = f"chart-{scene.line}"
    return (
        svg.draw(made, key, scene.lang)
        if made
        else charts.left_out(scene.book, found[0], scene.lang)
    )


def timeline(scene: Scene, id: str) -> str:
    """What ran when on CPU and GPU, as the claim's row stores it."""
    found = scene.claim(id)
    standing = state.standing(scene.book, id)
    if standing.state not in SHOWN or standing.record is None:
        return charts.left_out(scene.book, found, scene.lang)
    spans = standing.row.spans if isinstance(standing.row, JudgedRow) else ()
    if not spans:
        fix = "Let its measure return some: Span in proof/book/model.py says how"
        raise scene.error(f"the record of {id} holds no spans", fix)
    title = word(scene.lang, "timeline", id=id)
    record = standing.record
    small = f"{device_short(record, scene.lang)} · {versions(record)} · {recorded_on(record)}"
    return drawn.draw(spans, title, small, f"timeline-{scene.line}", scene.lang)


def drawing(scene: Scene, name: str, claim: str = "") -> str:
    """A drawing of data, "blocks", "tiles" …, with the sizes of the claim where it has any."""
    scene.find("drawing", name, drawings.DRAWINGS)
    found = scene.claim(claim) if claim else None
    lab = scene.book.labs[found.lab] if found else None
    try:
        return drawings.draw(name, lab, found, f"drawing-{scene.line}", scene.lang)
    except ValueError as error:
        raise scene.error(
            f"drawing({name!r}) has no sizes: {error}",
            "Name a claim of the lab that it illustrates",
        ) from None


def status(scene: Scene) -> str:
    """Counts by state; the page of all claims lists them."""
    return (
        labpage.counts_line(labpage.counts(scene.book, order.claims(scene.book)), scene.lang) + "\n"
    )


# Labs


def labs(scene: Scene) -> str:
    return labpage.labs_table(scene.book, scene.lang, scene.up)


def versions_table(scene: Scene) -> str:
    """Every lab in the oldest and the newest Triton."""
    return versions_page.versions_table(scene.book, scene.lang, scene.up)


def kernel_types_table(scene: Scene) -> str:
    """What Triton is made for, and the lab of each kind."""
    return kernel_types.kernel_types_table(scene.book, scene.lang, scene.up)


def lab_card(scene: Scene, stem: str) -> str:
    return labpage.lab_card(scene.book, scene.lab(stem), scene.lang, scene.up)


def bug_diff(scene: Scene, id: str) -> str:
    known = {f"{lab.name}.{bug}": lab for lab in scene.book.labs.values() for bug in lab.bugs}
    lab = scene.find("seeded bug", id, known)
    return labpage.bug_diff(scene.book, lab, lab.bugs[id.split(".", 1)[1]], scene.lang, scene.up)


def exercises(scene: Scene, lesson: str) -> str:
    """The exercises of a lesson, such as "vector_add"."""
    known = {each.lesson: each for each in scene.book.exercises.values()}
    scene.find("exercise of the lesson", lesson, known)
    return exercise_list(scene.book, lesson, scene.lang, scene.up)


# What the compiler made


def assembly(scene: Scene, kernel: str, *targets: str, of: str = "") -> str:
    """Source of a kernel, "triton_softmax:softmax_kernel", and its assembly for one or two targets, folded."""
    if len(set(targets)) not in (1, 2) or len(set(targets)) != len(targets):
        raise scene.error("assembly() names one or two targets", f"There are: {', '.join(TARGETS)}")
    lab, name = _kernel(scene, kernel, *targets)
    try:
        return compile_page.assembly(scene.book, lab, name, targets, of, scene.lang)
    except Fault as error:
        raise scene.error(error.what, error.fix) from None


def compiled(scene: Scene, kernel: str, target: str, figure: str, of: str = "") -> str:
    """A figure of what the compiler made of a kernel for a target: registers, shared_bytes, "load 16", "ex2" …"""
    lab, name = _kernel(scene, kernel, target)
    try:
        return compile_page.figure(scene.book, lab, name, target, figure, of, scene.lang)
    except Fault as error:
        raise scene.error(error.what, error.fix) from None


def cards(scene: Scene) -> str:
    """Every card, and what becomes of every kernel there."""
    return compile_page.cards(scene.book, scene.lang, scene.up)


def _kernel(scene: Scene, kernel: str, *targets: str) -> tuple[Lab, str]:
    stem, _, name = kernel.partition(":")
    for target in targets:
        scene.find("target", target, TARGETS)
    return scene.lab(stem), name


# References


def term(scene: Scene, id: str, text: str = "") -> str:
    found = scene.find("term", id, scene.book.terms)
    name = text or (found.zh if scene.lang == "zh" else found.en).preferred
    return f'<a class="term" href="{md(scene.up)}glossary/#{md(id)}">{md(name)}</a>'


def adr(scene: Scene, id: str) -> str:
    known = {number: d for (number, lang), d in scene.book.decisions.items() if lang == scene.lang}
    found = scene.find("ADR", id, known)
    title = f"{found.title} · {decision_status(found.status, scene.lang)}"
    return f'<a class="adr" href="{md(scene.up)}adr/{md(found.slug)}/" title="{md(title)}">ADR-{md(id)}</a>'


def source(scene: Scene, id: str) -> str:
    return source_link(scene.find("source", id, scene.book.sources), scene.lang)


def given(scene: Scene, text: str, *, source: str) -> str:
    """Someone else's number, marked as such and linked to where it comes from."""
    cited = scene.find("source", source, scene.book.sources)
    title = f"{word(scene.lang, 'given')}{word(scene.lang, 'colon')}{cited.shows.of(scene.lang)}"
    cited_mark = f"<small>{word(scene.lang, 'cited')}</small>"
    return f'<a class="given" href="{md(permalink(cited))}" title="{md(title)}">{md(text)}{cited_mark}</a>'


MACROS: dict[str, Callable[..., str]] = {
    f.__name__: f
    for f in (
        claim,
        claims,
        chart,
        timeline,
        drawing,
        status,
        labs,
        lab_card,
        bug_diff,
        exercises,
        assembly,
        compiled,
        cards,
        term,
        adr,
        source,
        given,
    )
} | {"versions": versions_table, "kernel_types": kernel_types_table}
BLOCKS = (
    "claims",
    "chart",
    "timeline",
    "drawing",
    "status",
    "labs",
    "lab_card",
    "bug_diff",
    "exercises",
    "assembly",
    "cards",
    "versions",
    "kernel_types",
    "notes",
)  # these stand alone on their line


def expand(text: str, page: Page, book: Book, up: str) -> str:
    """The page with every macro replaced; `up` leads to the language root. Raises Fault at the first mistake.

    `text` is what is written on the page, or what of it is below the front matter.
    """
    above = page.text.count("\n") - text.count("\n")
    file = where(page.path, book.root)
    markdown = read(text)
    edits: list[Edit] = []
    for call in calls(markdown, file, above):
        scene = Scene(book, page, up, call.line)
        if call.name == "notes":
            edits += _bind_notes(call, markdown, scene, above)
        else:
            edits.append(_replacement(call, scene))
    return edited(text, edits)


def _replacement(call: Call, scene: Scene) -> Edit:
    result = _run(call, scene)
    if call.name not in BLOCKS:
        return Edit(call.start, call.end, result)
    lines = (f"{call.indent}{line}" if line else "" for line in result.rstrip().split("\n"))
    return Edit(call.start - len(call.indent or ""), call.end, "\n" + "\n".join(lines) + "\n")


def _bind_notes(call: Call, page: Markdown, scene: Scene, above: int) -> list[Edit]:
    """Line numbers for the list below a notes(); raises Fault where a note does not fit the code it explains."""
    if call.indent is None:
        raise scene.error(
            "notes() makes a block, and other text stands on its line",
            "Put it on a line of its own",
        )
    if len(call.args) != 1 or call.options:
        raise scene.error(
            "notes() takes one argument", 'Write {{ notes("triton_softmax:kernel") }}'
        )
    stem, _, section = call.args[0].partition(":")
    companion = scene.book.companions.get(f"{stem}.py")
    sections = scene.lab(stem).sections if companion is None else sections_of(companion)
    first_line, code = scene.find(f"section of {stem}", section, sections)
    items = notes.items_below(page, call)
    if not items:
        raise scene.error("no list follows notes()", "Put the list of notes directly below it")
    edits = [notes.blanked(page, call)]
    last = -1
    for item in items:
        try:
            place = notes.place_in_code(notes.fragment(page, item), code, call.args[0], last)
        except Fault as error:
            raise replace(scene, line=item.line + above).error(error.what, error.fix) from None
        number = word(scene.lang, "line", n=first_line + code.count("\n", 0, place))
        edits.append(Edit(item.start, item.start, f'<small class="line">{number}</small> '))
        last = place
    return edits


def _run(call: Call, scene: Scene) -> str:
    known = [*MACROS, "notes"]
    if call.name not in known:
        raise scene.error(f"there is no macro {call.name!r}", nearest(call.name, known))
    if call.name in BLOCKS and call.indent is None:
        raise scene.error(
            f"{call.name}() makes a block, and other text stands on its line",
            "Put it on a line of its own",
        )
    macro = MACROS[call.name]
    wanted = inspect.signature(macro)
    try:
        wanted.bind(scene, *call.args, **call.options)
    except TypeError as error:
        own = [p.replace(annotation=p.empty) for p in list(wanted.parameters.values())[1:]]
        usage = wanted.replace(parameters=own, return_annotation=wanted.empty)
        raise scene.error(f"{call.name}(): {error}", f"It takes {usage}") from None
    return macro(scene, *call.args, **call.options)
