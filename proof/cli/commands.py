"""The command `proof`: run labs, file what they measured, check everything, build the site."""

from __future__ import annotations

import importlib.util
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from proof.book.load import load_book
from proof.book.model import Book, Standing
from proof.evidence import order, state
from proof.evidence.compiled import Summary, summaries
from proof.evidence.targets import TARGETS
from proof.pages.compiled import tensor_cores
from proof.problem import Fault, Problem, nearest
from proof.runs import record

PATH = click.Path(path_type=Path)
COLORS = {"valid": "green", "aged": "yellow", "pending": "dim", "contradicted": "bold red"}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--today", type=click.DateTime(["%Y-%m-%d"]), hidden=True, help="Judge as of this day.")
@click.pass_context
def main(context: click.Context, today: datetime | None) -> None:
    """Runs labs, files what they measured, checks that pages agree with it."""
    context.obj = today.date() if today else datetime.now(UTC).date()


@main.command()
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option("--gate", is_flag=True, help="As the gated job does: every lab on every GPU here, then the verdict.")
@click.option(
    "--bundle", type=PATH, default="gate.tar", show_default=True, help="Where --gate writes what labs printed."
)
@click.option("--verify", type=PATH, help="With --gate: run nothing, and compute the verdict on this bundle.")
@click.pass_obj
def run(today: date, labs: tuple[str, ...], gate: bool, bundle: Path, verify: Path | None) -> None:
    """Run labs here: on the GPU if there is one, else in the interpreter. All of them when none is named."""
    book = _book(today)
    if verify and not gate:
        raise click.UsageError("--verify belongs to --gate")
    if gate:
        if labs:
            raise click.UsageError("the gate runs every lab: leave the names out")
        raise SystemExit(_gate(book, bundle, verify))
    table, worst, judged, expected = _runs_table(), 0, 0, 0
    for done, accepted, seconds in _run(book, labs):
        if accepted is None:
            worst = max(worst, 2 if done.could_not else 1)
            continue
        rows = accepted.record.claims
        verdicts = Counter("failed" if row.id in accepted.failed else row.verdict for row in rows)
        judged, expected = judged + len(rows) - verdicts["-"], expected + len(done.lab.claims)
        worst = max(worst, 1 if accepted.failed else 0)
        table.add_row(
            done.lab.stem,
            accepted.record.device.name,
            *(str(verdicts[key]) for key in ("ok", "failed", "-")),
            f"{seconds:.0f} s",
            ", ".join(accepted.failed),
        )
    _show(table)
    click.echo(f"{judged} of {expected} rows judged")
    raise SystemExit(worst)


@main.command("record")
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option(
    "--from",
    "files",
    multiple=True,
    type=PATH,
    help="File what a lab printed with --json elsewhere, or a .tar or .tar.gz of such files; may be repeated.",
)
@click.option("--prune", is_flag=True, help="Keep the last three records of each device, lab and Triton minor.")
@click.pass_obj
def record_(today: date, labs: tuple[str, ...], files: tuple[Path, ...], prune: bool) -> None:
    """Run labs here and file what they measured; or file, or prune, without a run."""
    if labs and files:
        raise click.UsageError("name labs to run, or give files with --from, not both")
    book = _book(today)
    worst = _record_files(book, files) if files else 0 if prune and not labs else _record_runs(book, labs)
    if prune:
        for path in record.prune(_book(today)):
            click.echo(f"deleted  {_short(book, path)}")
    raise SystemExit(worst)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as data.")
@click.option("--release", is_flag=True, help="Fail for pending and stale claims too, as publishing does.")
@click.pass_obj
def check(today: date, as_json: bool, release: bool) -> None:
    """Check everything that needs no test runner: file, line, what, how to fix it."""
    from proof.checks.rules import check as check_book
    from proof.checks.rules import tally

    book = _book(today)
    problems = list(dict.fromkeys([*book.problems, *check_book(book, release)]))
    errors = [problem for problem in problems if not problem.warning]
    if as_json:
        click.echo(json.dumps([asdict(problem) for problem in problems], indent=1, ensure_ascii=False))
    else:
        _tell(problems)
        warnings = len(problems) - len(errors)
        click.echo(f"{len(errors)} to fix, {warnings} to watch" if problems else "everything agrees")
        click.echo(tally(book))
    raise SystemExit(1 if errors else 0)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the claims as data.")
@click.pass_obj
def status(today: date, as_json: bool) -> None:
    """Every claim: its state, value, bound, device and age."""
    book = _book(today)
    rows = _status(book)
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        _show(_status_table(rows))
        counts = Counter(row["state"] for row in rows)
        click.echo(" · ".join(f"{counts[name]} {name}" for name in state.FIRST if counts[name]) or "no claims yet")
    _tell(book.problems)
    raise SystemExit(1 if book.problems else 0)


@main.command()
@click.pass_obj
def freshness(today: date) -> None:
    """Ask the network what has come out, and whether what is cited still says so; 1 when there is something to say."""
    from proof.cli import freshness as look

    told = look.report(_book(today), look.newest, look.get)
    click.echo(told or "nothing is old")
    raise SystemExit(1 if told else 0)


@main.command()
@click.option("--check", "check_only", is_flag=True, help="Change nothing; fail when something would change.")
def fix(check_only: bool) -> None:
    """Rewrite what follows from elsewhere: the common part of every lab, and the spacing of Chinese."""
    from proof.book.common_part import fix as fix_tree
    from proof.book.text import write
    from proof.text import spacing as prose

    changed = fix_tree(_root(), not check_only)
    try:
        changed += prose.fix(_root(), None if check_only else write)
    except ImportError:
        click.echo("Chinese spacing was not looked at: autocorrect-py is missing, make setup installs it", err=True)
    for sentence in changed:
        click.echo(sentence)
    raise SystemExit(1 if check_only and changed else 0)


@main.command("compile")
@click.argument("labs", nargs=-1, metavar="[LAB]...")
@click.option("--json", "as_json", is_flag=True, help="Print every cell as data.")
@click.option(
    "--check", "check_only", is_flag=True, help="Compile everything anew, change nothing, fail where it differs."
)
@click.pass_obj
def compile_(today: date, labs: tuple[str, ...], as_json: bool, check_only: bool) -> None:
    """Compile every launch of every lab for every target, with no GPU, and file what came out. What is filed stays."""
    from proof.compiler import farm as compiler

    book = _book(today)
    try:
        chosen = record.find_labs(book, labs)
    except LookupError as error:
        raise click.UsageError(error.args[0]) from None
    if missing := compiler.cannot(book):
        raise click.UsageError(f"{missing}. Not compiled: {', '.join(lab.stem for lab in chosen)}")
    table, wrong, data = _compiled_table(), [], []
    for result in compiler.compile_labs(book, chosen, check_only, lambda text: click.echo(text, err=True)):
        file = f"labs/{result.lab.stem}.py"
        wrong += [
            Problem(file, 1, fault, "Fix the lab, or let its launcher refuse that target") for fault in result.faults
        ]
        if result.compiled is None:
            continue
        data.append(result.compiled.model_dump(mode="json", exclude_unset=True))
        for row in summaries(result.compiled):
            table.add_row(result.lab.stem, *_compiled_cells(row))
        if check_only:
            wrong += [Problem(file, 1, what, "Run `proof compile`") for what in compiler.differences(book, result)]
        else:
            for path in compiler.file_result(book.root, result):
                click.echo(f"{'wrote' if path.is_file() else 'deleted':8} {_short(book, path)}", err=True)
    if as_json:
        click.echo(json.dumps(data, ensure_ascii=False))
    else:
        _show(table)
    _tell(wrong)
    raise SystemExit(1 if wrong else 0)


@main.command("new")
@click.argument("kind", type=click.Choice(["lab", "lesson", "term", "adr"]))
@click.argument("name", nargs=-1, required=True)
@click.pass_obj
def new_(today: date, kind: str, name: tuple[str, ...]) -> None:
    """Start a lab, a lesson, a term or a decision in both languages; `check` says what is then left to write.

    NAME is the English name of a term, the English title of a decision, and small letters, digits and _ for the rest:
    `proof new term bank conflict`, `proof new adr "Kernels name their fill values"`, `proof new lab layer_norm`.
    """
    from proof.cli import new

    book = _book(today)
    try:
        made = new.start(book, kind, " ".join(name))
        new.write(book.root, made)
    except new.Refused as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"not written: {error}") from None
    for verb, paths in (("wrote", made.files), ("changed", made.edits)):
        for path in paths:
            click.echo(f"{verb:8} {path}")
    click.echo("What is left to write is marked TODO(new); `proof check` names the lines, and a release wants none.")
    for note in made.notes:
        click.echo(f"note     {note}", err=True)


@main.group("parity")
def parity_() -> None:
    """Remember that both languages of a page agree, so that neither moves on alone unseen."""


@parity_.command()
@click.argument("pages", nargs=-1, metavar="[PAGE]...")
@click.pass_obj
def sync(today: date, pages: tuple[str, ...]) -> None:
    """Both languages were edited and agree again. All pages when none is named."""
    _remember(today, pages)


@parity_.command()
@click.argument("page")
@click.option("--reason", required=True, help="Why the other language needs nothing.")
@click.pass_obj
def ack(today: date, page: str, reason: str) -> None:
    """One language changed in a way that needs nothing in the other: a typo, say."""
    if not reason.strip():
        raise click.UsageError("give a reason: the next reader of the sidecar will ask for it")
    _remember(today, (page,), " ".join(reason.split()))


@main.command()
def site() -> None:
    """Build both languages into site/, strictly."""
    from proof.site.build import build

    problems = build(_root())
    _tell(problems)
    raise SystemExit(1 if any(not problem.warning for problem in problems) else 0)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
def serve(host: str, port: int) -> None:
    """Build both languages and serve them, with reload."""
    from proof.site.build import serve as serve_site

    serve_site(_root(), host, port)


def _remember(today: date, pages: tuple[str, ...], reason: str = "") -> None:
    from proof.cli import parity

    book = _book(today)
    try:
        done, refused = parity.remember(book, pages, reason)
    except LookupError as error:
        raise click.UsageError(error.args[0]) from None
    _tell(refused)
    for path in done:
        click.echo(f"wrote    {_short(book, path)}")
    if not done and not refused:
        click.echo("nothing has changed since both languages were compared")
    raise SystemExit(1 if refused else 0)


def _root() -> Path:
    """The nearest folder at or above this one that holds the project."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "labs").is_dir() and (folder / "pyproject.toml").is_file():
            return folder
    raise click.UsageError(f"no folder at or above {here} holds labs/ and pyproject.toml: go into the project first")


def _book(today: date) -> Book:
    return load_book(_root(), today)


def _short(book: Book, path: Path) -> str:
    return path.relative_to(book.root).as_posix()


def _tell(problems: list[Problem]) -> None:
    """Findings on standard error, one a line, so that a pipe gets none."""
    for problem in problems:
        click.echo(f"{'watch' if problem.warning else 'error'}  {problem}", err=True)


def _run(book: Book, names: tuple[str, ...]) -> Iterator[tuple[record.Run, record.Accepted | None, float]]:
    """Run labs one after another; yields the run, what it came to (None when it came to nothing) and its seconds."""
    try:
        labs = record.find_labs(book, names)
    except LookupError as error:
        raise click.UsageError(error.args[0]) from None
    if not importlib.util.find_spec("torch"):
        raise click.UsageError("this Python has no torch, which labs need: make setup")
    commit = record.head_if_clean(book.root)
    for i, lab in enumerate(labs, 1):
        click.echo(f"[{i}/{len(labs)}] {lab.stem}", err=True)
        begun = time.monotonic()
        done = record.run_lab(lab)
        if done.could_not:
            click.echo(done.could_not, err=True)
            yield done, None, time.monotonic() - begun
            continue
        accepted = _accept(book, f"{lab.stem} --json", done.output, commit)
        yield done, accepted, time.monotonic() - begun


def _accept(book: Book, name: str, raw: bytes, commit: str | None = None) -> record.Accepted | None:
    """What the bytes come to; None, with every reason on standard error, when they are refused."""
    try:
        return record.accept(book, name, raw, commit)
    except Fault as fault:
        _tell(fault.problems(name))
    return None


def _gate(book: Book, bundle: Path, verify: Path | None) -> int:
    """The gated job here, unless there is a bundle to verify; then the verdict on the bundle. 0 only when all of it holds."""
    from proof.runs import gate

    status = 0
    if verify is None:
        if not (gpus := gate.devices()):
            raise click.ClickException("no GPU was found, and the gate judges what nothing else can")
        status = gate.run(book.root, bundle, gpus)
    try:
        verdict = gate.verify(book, verify or bundle)
    except OSError as error:
        raise click.ClickException(f"{verify or bundle} cannot be read: {error.strerror}") from None
    _tell(verdict.faults)
    click.echo(verdict)
    if status:
        click.echo(f"the tests that need a GPU ended with status {status}", err=True)
    return 0 if verdict.passes and not status else 1


def _record_runs(book: Book, names: tuple[str, ...]) -> int:
    worst = 0
    for done, accepted, _ in _run(book, names):
        missed = 2 if done.could_not else 1
        worst = max(worst, missed if accepted is None else _file(book, accepted))
    return worst


def _record_files(book: Book, files: tuple[Path, ...]) -> int:
    worst = 0
    for path in files:
        if not path.is_file():
            beside = [p.name for p in path.parent.iterdir() if p.is_file()] if path.parent.is_dir() else []
            raise click.UsageError(f"there is no file {path}. {nearest(path.name, beside)}")
    for path in files:
        try:
            for name, raw in record.read_files(path):
                accepted = _accept(book, name, raw)
                worst = max(worst, 1 if accepted is None else _file(book, accepted))
        except Fault as fault:
            _tell(fault.problems(str(path)))
            worst = 1
        except OSError as error:
            raise click.ClickException(f"{path} cannot be read: {error.strerror}") from None
    return worst


def _file(book: Book, accepted: record.Accepted) -> int:
    """File a record and say so; 1 when it holds a failure, since a miss is filed and still a miss."""
    try:
        path, new = record.file_record(book.root, accepted.record)
    except OSError as error:
        raise click.ClickException(f"the record was not written: {error}") from None
    click.echo(f"{'filed' if new else 'already filed'}  {_short(book, path)}")
    for note in accepted.notes:
        click.echo(f"note   {note}", err=True)
    for claim_id in accepted.failed:
        click.echo(f"fails  {claim_id}: filed as the miss it is", err=True)
    return 1 if accepted.failed else 0


def _show(table: Table) -> None:
    """Print a table, in a pipe wide enough for its longest row."""
    console = Console()
    (console if console.is_terminal else Console(width=240)).print(table)


def _runs_table() -> Table:
    table = Table("lab", "device", "ok", "failed", "elsewhere", "time", "which failed", box=None)
    table.columns[0].no_wrap = True
    for column in table.columns[2:6]:
        column.justify = "right"
    return table


def _compiled_table() -> Table:
    heads = (
        "lab",
        "kernel",
        "target",
        "fits",
        "too large",
        "not offered",
        "fails",
        "shared",
        "limit",
        "registers",
        "spill",
    )
    table = Table(*heads, "loads", "stores", "copies", "tensor cores", box=None)
    for column in table.columns[:3]:
        column.no_wrap = True
    for column in table.columns[3:11]:
        column.justify = "right"
    return table


def _compiled_cells(row: Summary) -> list[str | Text]:
    states = [str(row.states.get(s, "")) for s in ("fits", "too large", "not offered here", "failed")]
    states[3:] = [Text(states[3], style="bold red")]
    shared_bytes = max((cell.shared_bytes for cell in row.made), default=0)
    registers = max((cell.registers for cell in row.made), default=0)
    spilling = sum(cell.spills for cell in row.made)
    figures = [f"{shared_bytes:,}", f"{TARGETS[row.target].shared_limit:,}", str(registers)]
    names = [" ".join(row.names(kind)) for kind in ("load", "store")]
    names += [", ".join(row.names("copy")), " ".join(tensor_cores(row.names("tensor")))]
    return [row.kernel, row.target, *states, *figures, str(spilling or ""), *map(Text, names)]


def _status(book: Book) -> list[dict[str, Any]]:
    """The rows of `proof status --json`."""
    from proof.text.uses import uses

    pages, claims, rows = uses(book), state.all_claims(book), []
    for claim_id in order.claims(book):
        claim = claims[claim_id]
        s, other = state.standing(book, claim_id), state.interpreter(book, claim_id)
        rows.append(
            {
                "id": claim_id,
                "kind": claim.kind,
                "state": s.state,
                "value": _value(s),
                "bound": claim.bound,
                "device": s.record.device.name if s.record else None,
                "age_days": (book.today - s.record.utc.date()).days if s.record else None,
                "pages": [_short(book, page.path) for page in pages.get(claim_id, [])],
                "note": s.note,
                "interpreter": {"state": other.state, "value": _value(other)} if other else None,
            }
        )
    return rows


def _value(s: Standing) -> float | int | str | None:
    """The figure behind a standing; none for a stale or pending one, which has nothing to show."""
    return s.row.value if s.row and s.state in (*state.PASSING, "contradicted") else None


def _status_table(rows: list[dict[str, Any]]) -> Table:
    table = Table("claim", "state", "value", "bound", "device", "age", "interpreter", box=None)
    table.columns[0].min_width = max((len(row["id"]) for row in rows), default=0)
    for row in rows:
        other = row["interpreter"]
        table.add_row(
            row["id"],
            Text(row["state"], style=COLORS.get(row["state"], "yellow")),
            Text(_figure(row["value"])),
            Text(_figure(row["bound"]) if row["kind"] != "source" else ""),
            row["device"] or "",
            f"{row['age_days']} d" if row["age_days"] is not None else "",
            Text(f"{other['state']} {_figure(other['value'])}" if other else ""),
        )
    return table


def _figure(value: float | int | str | None) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
