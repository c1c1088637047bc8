"""Compiles every launch of every lab for every target, with no GPU, and files what came out: labs/compiled/<stem>.json."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import queue
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from proof.book.model import (
    Book,
    Cell,
    Compiled,
    Lab,
    Launch,
    Made,
    Many,
    Model,
    NotMade,
    Stumble,
    TargetName,
)
from proof.book.text import write
from proof.evidence import compiled as filed
from proof.evidence.targets import SWITCHES, TARGETS

JOURNALS = "build/compiled"  # a lab's cells as they come, so that what was interrupted goes on where it was
PATIENCE = 600  # seconds for one answer; the slowest cell takes half a minute on two busy cores
Json = dict[str, Any]


def cannot(book: Book) -> str:
    """Why nothing can be compiled here; empty when it can."""
    for name in ("torch", "triton"):
        if not importlib.util.find_spec(name):
            return f"this Python has no {name}, which compiling needs: make setup"
    here, pin = importlib.metadata.version("triton"), book.pinned_triton
    if pin and here != pin:
        return f"this Python has Triton {here} and the project pins {pin}, of which results are filed: make setup"
    return ""


class Child:
    """A process that captures and compiles. It is started again when the compiler has killed it."""

    def __init__(self, cache: str) -> None:
        self._environment = os.environ | SWITCHES | {
            "TRITON_CACHE_DIR": cache,
            "TRITON_ALWAYS_COMPILE": "1",  # what is found on disk comes without the log of ptxas
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, **request: Any) -> Json:
        """The answer; {"error": why} where there is none."""
        if self._process is None or self._process.poll() is not None:
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 as long as the process lives
            self._process = subprocess.Popen(
                [sys.executable, "-m", "proof.compiler.child"],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
            )
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            return json.loads(self._line())
        except (OSError, EOFError) as error:
            self._process.kill()
            status = self._process.wait()
            self._said.seek(0)
            said = [
                line.strip()
                for line in self._said.read().decode(errors="replace").splitlines()
                if line.strip()
            ]
            why = next(
                (line for line in said if "error" in line.lower() or "Assertion" in line),
                said[-1] if said else "",
            )
            return {
                "error": str(error)
                or f"the compiler ended its process with status {status}: {why}"[:300]
            }

    def _line(self) -> bytes:
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            if not ready.select(PATIENCE):
                raise OSError(f"no answer in {PATIENCE} s")
        line = self._process.stdout.readline()
        if not line:
            raise EOFError
        return line

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


class Capture(Model):
    """What the child answers: the launches of a lab, without the cells that are to be compiled."""

    triton: str
    kernels: dict[str, str]
    launches: Many[Launch]
    stumbles: Many[Stumble]


@dataclass
class Work:
    """One launch, and its cells as they come."""

    launch: Launch
    cells: dict[TargetName, Cell]


@dataclass
class Job:
    """One cell to be compiled, and the text of it if a page shows it."""

    lab: Lab
    work: Work
    target: TargetName
    text: str = ""  # the file that it becomes


@dataclass
class Result:
    """What came of one lab."""

    lab: Lab
    compiled: Compiled | None
    texts: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    count: int = 0  # of cells that were compiled; the others were filed already


def compile_labs(
    book: Book,
    labs: list[Lab],
    anew: bool,
    tell: Callable[[str], None],
    targets: Sequence[str] = tuple(TARGETS),
) -> Iterator[Result]:
    """Capture and compile these labs; cells that are filed for the same code are taken over, unless `anew`."""
    with tempfile.TemporaryDirectory() as cache, contextlib.ExitStack() as stack:
        children = [Child(cache) for _ in range(len(os.sched_getaffinity(0)))]
        for child in children:
            stack.callback(child.end)
        for lab in labs:
            yield _compile(book, lab, children, anew, tell, targets)


def _compile(
    book: Book,
    lab: Lab,
    children: list[Child],
    anew: bool,
    tell: Callable[[str], None],
    targets: Sequence[str],
) -> Result:
    if not anew and (whole := _whole(book, lab)):
        tell(f"{lab.stem}: filed as it is")
        return whole
    answer = children[0].ask(do="capture", path=str(lab.path), stem=lab.stem, targets=list(targets))
    if "error" in answer:
        return Result(lab, None, faults=[f"its launches cannot be captured: {answer['error']}"])
    capture = Capture.model_validate(answer)
    known = {} if anew else _known(book, lab, capture.triton)
    works = [Work(launch, _meant(lab, launch)) for launch in capture.launches]
    jobs, wanted = [], _wanted(book, lab, capture.launches)
    for n, work in enumerate(works):
        for target in [name for name in work.launch.targets if name not in work.cells]:
            cell = known.get(_key(capture.kernels, work.launch, target))
            text = wanted.get((n, target), "")
            if cell and (not text or _has(book, lab, text)):
                work.cells[target] = cell
            else:
                jobs.append(Job(lab, work, target, text))
    cells = sum(len(work.launch.targets) for work in works)
    tell(f"{lab.stem}: {len(works)} launches, {cells} cells, {len(jobs)} to compile")
    path = Path(os.devnull) if anew else _journal(book.root, lab)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as journal:

        def note(job: Job) -> None:
            key = _key(capture.kernels, job.work.launch, job.target)
            row = {"triton": capture.triton, "key": key, "cell": _plain(job.work.cells[job.target])}
            journal.write(json.dumps(row) + "\n")
            journal.flush()

        texts = _work(jobs, children, tell, note)
    for name in wanted.values():
        if name not in texts and _has(book, lab, name):
            texts[name] = book.compiled[lab.stem].assembly[name]
    _refusals(capture, works)
    compiled = Compiled(
        version=1,
        lab=lab.stem,
        lab_sha256=lab.sha256,
        triton=capture.triton,
        kernels=capture.kernels,
        stumbles=capture.stumbles,
        texts={name: filed.sha256(texts[name]) for name in sorted(texts)},
        launches=tuple(
            work.launch.model_copy(update={"cells": _in_order(work.cells)}) for work in works
        ),
    )
    return Result(lab, compiled, texts, filed.faults(lab, compiled, targets), len(jobs))


def _in_order(cells: dict[TargetName, Cell]) -> dict[TargetName, Cell]:
    return {target: cells[target] for target in get_args(TargetName) if target in cells}


def _plain(part: Model) -> Json:
    """A part of the result as JSON holds it."""
    return part.model_dump(mode="json", exclude_unset=True)


def _whole(book: Book, lab: Lab) -> Result | None:
    """What is filed, if it is of today's lab, without a fault, and holds just the texts that pages show."""
    if filed.stale(book, lab):
        return None
    compiled = book.compiled[lab.stem]
    shown = {each.file for each in filed.asked(book) if each.lab == lab.stem}
    complete = shown == set(compiled.texts) and all(_has(book, lab, name) for name in shown)
    return (
        Result(lab, compiled, compiled.assembly)
        if complete and not filed.faults(lab, compiled)
        else None
    )


def _has(book: Book, lab: Lab, name: str) -> bool:
    """Whether the text is there as it was filed."""
    compiled = book.compiled.get(lab.stem)
    if compiled is None or name not in compiled.assembly:
        return False
    return filed.sha256(compiled.assembly[name]) == compiled.texts.get(name)


def _key(kernels: dict[str, str], launch: Launch, target: str) -> str:
    """What decides a cell: the kernel's code, how it is launched, and for what."""
    names = {"signature", "constants", "aligned", "options"}
    if TARGETS[target].vendor == "amd":
        names.add("below_2gb")
    facts = launch.model_dump(mode="json", include=names)
    return json.dumps([kernels.get(launch.kernel, ""), facts, target], sort_keys=True)


def _journal(root: Path, lab: Lab) -> Path:
    return root / JOURNALS / f"{lab.stem}.jsonl"


def _known(book: Book, lab: Lab, triton: str) -> dict[str, Cell]:
    """Every cell that is known of this Triton and did not fail, by what decides it: what is filed, then the journal."""
    known: dict[str, Cell] = {
        _key(compiled.kernels, launch, target): cell
        for compiled in book.compiled.values()
        if compiled.triton == triton
        for launch in compiled.launches
        for target, cell in launch.cells.items()
        if isinstance(cell, Made)
    }
    journal = _journal(book.root, lab)
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.is_file() else ():
        with contextlib.suppress(ValueError):  # the line at which it was interrupted
            row = json.loads(line)
            if row["triton"] == triton and "sha256" in row["cell"]:
                known[row["key"]] = Made.model_validate(row["cell"])
    return known


def _wanted(book: Book, lab: Lab, launches: Sequence[Launch]) -> dict[tuple[int, str], str]:
    """Which launches on which target pages show, with the name of the file."""
    files = {}
    for each in filed.asked(book):
        if each.lab == lab.stem:
            for launch in filed.ordered(launches, each.kernel, each.target, each.of)[:1]:
                files[launches.index(launch), each.target] = each.file
    return files


def _work(
    jobs: list[Job], children: list[Child], tell: Callable[[str], None], note: Callable[[Job], None]
) -> dict[str, str]:
    """Compile the jobs, a thread for each child; the cells go into the launches, the texts are given back."""
    todo: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        todo.put(job)
    texts: dict[str, str] = {}
    done, told, lock, stop = [0], [time.monotonic()], threading.Lock(), threading.Event()

    def work(child: Child) -> None:
        while not stop.is_set():
            try:
                job = todo.get_nowait()
            except queue.Empty:
                return
            bare = job.work.launch.model_dump(
                mode="json", exclude={"claims", "targets", "cells"}, exclude_unset=True
            )
            request = {
                "path": str(job.lab.path),
                "stem": job.lab.stem,
                "launch": bare,
                "target": job.target,
            }
            answer = child.ask(do="compile", **request, text=bool(job.text))
            found = answer.get("cell") or {"state": filed.FAILED, "why": answer["error"]}
            cell = (
                Made.model_validate(found) if "sha256" in found else NotMade.model_validate(found)
            )
            job.work.cells[job.target] = _judged(job.lab, job.work.launch, job.target, cell)
            if job.text and "text" in answer:
                texts[job.text] = answer["text"]
            with lock:
                note(job)
                done[0] += 1
            if time.monotonic() - told[0] > 10:
                told[0] = time.monotonic()
                tell(f"  {done[0]} of {len(jobs)}")

    threads = [threading.Thread(target=work, args=(child,)) for child in children]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:  # interrupted, it starts nothing more
        stop.set()
    return texts


def _meant(lab: Lab, launch: Launch) -> dict[TargetName, Cell]:
    """The cells of kernels that only the capturing process has."""
    return {target: _judged(lab, launch, target, cell) for target, cell in launch.cells.items()}


def _judged(lab: Lab, launch: Launch, target: str, cell: Cell) -> Cell:
    """The cell; a failure that the lab declares is none."""
    meant = filed.about_the_compiler(lab, launch.claims) or not filed.declares(lab, target)
    if meant and isinstance(cell, NotMade):
        return NotMade(state="not offered here", why=cell.why)
    return cell


def _refusals(capture: Capture, works: list[Work]) -> None:
    """A launcher that refuses a target says what is not offered there: the launches that the claim makes elsewhere."""
    for stumble in capture.stumbles:
        elsewhere = [work for work in works if stumble.claim in work.launch.claims]
        first = next(
            (
                t
                for t in get_args(TargetName)
                if any(t in work.launch.targets for work in elsewhere)
            ),
            None,
        )
        for target in stumble.targets if stumble.how == "refused" else ():
            here = [_asked_for(work.launch) for work in works if target in work.launch.targets]
            for work in elsewhere:
                if first in work.launch.targets and _asked_for(work.launch) not in here:
                    work.cells.setdefault(
                        target, NotMade(state="not offered here", why=stumble.why)
                    )


def _asked_for(launch: Launch) -> tuple[object, ...]:
    """What of a launch is the same for every target."""
    return launch.kernel, launch.signature, launch.constants


def differences(book: Book, result: Result) -> list[str]:
    """In what the result differs from what is filed, each in a sentence."""
    before, after = book.compiled.get(result.lab.stem), result.compiled
    if before is None or after is None:
        return ["nothing is filed of this lab"]
    differences = []
    if before.lab_sha256 != result.lab.sha256:
        differences.append("what is filed is of another version of this lab")
    old, new = _cells_by_key(before), _cells_by_key(after)
    for key, cell in new.items():
        _, facts, target = json.loads(key)
        if cell != old.get(key):
            what = "is not filed" if key not in old else "is filed otherwise"
            differences.append(
                f"a launch for {target}, {facts['constants']} {facts['options']}, {what}"
            )
    if old.keys() - new.keys():
        differences.append("a cell is filed that no launch needs")
    if {name: filed.sha256(text) for name, text in before.assembly.items()} != after.texts:
        differences.append("the assembly that pages show is filed otherwise")
    return differences


def _cells_by_key(compiled: Compiled) -> dict[str, Json]:
    return {
        _key(compiled.kernels, launch, target): _plain(cell)
        for launch in compiled.launches
        for target, cell in launch.cells.items()
    }


# Filing


def file_result(root: Path, result: Result) -> list[Path]:
    """Write the lab's result and its texts, each whole or not at all, and delete texts that no page shows; what changed."""
    folder, stem = root / filed.FOLDER, result.lab.stem
    changed: list[Path] = []
    if result.compiled is None:
        return changed
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**result.texts, f"{stem}.json": filed.dump(result.compiled)}.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write(path, text.encode())
            changed.append(path)
    for path in folder.glob(f"{stem}.*"):
        if path.name not in result.texts and path.name != f"{stem}.json":
            path.unlink()
            changed.append(path)
    _journal(root, result.lab).unlink(missing_ok=True)
    return changed
