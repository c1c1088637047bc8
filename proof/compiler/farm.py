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
from typing import Any

from proof.book.model import Book, Lab
from proof.book.text import replace
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
    here, pin = importlib.metadata.version("triton"), filed.pinned_triton(book.root)
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
            said = [line.strip() for line in self._said.read().decode(errors="replace").splitlines() if line.strip()]
            why = next(
                (line for line in said if "error" in line.lower() or "Assertion" in line), said[-1] if said else ""
            )
            return {"error": str(error) or f"the compiler ended its process with status {status}: {why}"[:300]}

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


@dataclass
class Job:
    """One cell to be compiled, and the text of it if a page shows it."""

    lab: Lab
    launch: Json
    target: str
    text: str = ""  # the file that it becomes


@dataclass
class Result:
    """What came of one lab."""

    lab: Lab
    data: Json | None
    texts: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    compiled: int = 0  # cells; the others were filed already


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
    book: Book, lab: Lab, children: list[Child], anew: bool, tell: Callable[[str], None], targets: Sequence[str]
) -> Result:
    if not anew and (whole := _whole(book, lab)):
        tell(f"{lab.stem}: filed as it is")
        return whole
    captured = children[0].ask(do="capture", path=str(lab.path), stem=lab.stem, targets=list(targets))
    if "error" in captured:
        return Result(lab, None, faults=[f"its launches cannot be captured: {captured['error']}"])
    known = {} if anew else _known(book, lab, captured["triton"])
    jobs, wanted = [], _wanted(book, lab, captured["launches"])
    for n, launch in enumerate(captured["launches"]):
        for target, cell in launch["cells"].items():  # of kernels that only the capturing process has
            launch["cells"][target] = _judged(lab, launch, target, cell)
        for target in [name for name in launch["targets"] if name not in launch["cells"]]:
            cell = known.get(_key(captured["kernels"], launch, target))
            text = wanted.get((n, target), "")
            if cell and (not text or _has(book, lab, text)):
                launch["cells"][target] = cell
            else:
                jobs.append(Job(lab, launch, target, text))
    tell(
        f"{lab.stem}: {len(captured['launches'])} launches, {sum(len(x['targets']) for x in captured['launches'])} cells, {len(jobs)} to compile"
    )
    path = Path(os.devnull) if anew else _journal(book.root, lab)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as journal:

        def note(job: Job) -> None:
            key = _key(captured["kernels"], job.launch, job.target)
            row = {"triton": captured["triton"], "key": key, "cell": job.launch["cells"][job.target]}
            journal.write(json.dumps(row) + "\n")
            journal.flush()

        texts = _work(jobs, children, tell, note)
    for name in wanted.values():
        if name not in texts and _has(book, lab, name):
            texts[name] = book.compiled[lab.stem].texts[name]
    _refusals(captured)
    for launch in captured["launches"]:
        launch["cells"] = {t: launch["cells"][t] for t in TARGETS if t in launch["cells"]}
    data = {
        "schema": 1,
        "lab": lab.stem,
        "lab_sha256": lab.sha256,
        "triton": captured["triton"],
        "kernels": captured["kernels"],
        "stumbles": captured["stumbles"],
        "texts": {name: filed.sha256(texts[name]) for name in sorted(texts)},
        "launches": captured["launches"],
    }
    return Result(lab, data, texts, filed.faults(lab, data, targets), len(jobs))


def _whole(book: Book, lab: Lab) -> Result | None:
    """What is filed, if it is of today's lab, without a fault, and holds just the texts that pages show."""
    if filed.stale(book, lab):
        return None
    compiled = book.compiled[lab.stem]
    shown = {each.file for each in filed.asked(book) if each.lab == lab.stem}
    there = shown == set(compiled.data["texts"]) and all(_has(book, lab, name) for name in shown)
    return Result(lab, compiled.data, compiled.texts) if there and not filed.faults(lab, compiled.data) else None


def _has(book: Book, lab: Lab, name: str) -> bool:
    """Whether the text is there as it was filed."""
    compiled = book.compiled.get(lab.stem)
    return (
        compiled is not None
        and name in compiled.texts
        and filed.sha256(compiled.texts[name]) == compiled.data["texts"].get(name)
    )


def _key(kernels: dict[str, str], launch: Json, target: str) -> str:
    """What decides a cell: the kernel's code, how it is launched, and for what."""
    told = {key: launch[key] for key in ("signature", "constants", "aligned", "options")}
    if TARGETS[target].vendor == "amd":
        told["below_2gb"] = launch.get("below_2gb", [])
    return json.dumps([kernels.get(launch["kernel"], ""), told, target], sort_keys=True)


def _journal(root: Path, lab: Lab) -> Path:
    return root / JOURNALS / f"{lab.stem}.jsonl"


def _known(book: Book, lab: Lab, triton: str) -> dict[str, Json]:
    """Every cell that is known of this Triton and did not fail, by what decides it: what is filed, then the journal."""
    known = {
        _key(compiled.data["kernels"], launch, target): cell
        for compiled in book.compiled.values()
        if compiled.data["triton"] == triton
        for launch in compiled.data["launches"]
        for target, cell in launch["cells"].items()
        if "sha256" in cell
    }
    journal = _journal(book.root, lab)
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.is_file() else ():
        with contextlib.suppress(ValueError):  # the line at which it was interrupted
            row = json.loads(line)
            if row["triton"] == triton and "sha256" in row["cell"]:
                known[row["key"]] = row["cell"]
    return known


def _wanted(book: Book, lab: Lab, launches: list[Json]) -> dict[tuple[int, str], str]:
    """Which launches on which target pages show, with the name of the file."""
    found = {}
    for each in filed.asked(book):
        if each.lab == lab.stem:
            for launch in filed.ordered(launches, each.kernel, each.target, each.of)[:1]:
                found[launches.index(launch), each.target] = each.file
    return found


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
            bare = {k: v for k, v in job.launch.items() if k not in ("claims", "targets", "cells")}
            request = {"path": str(job.lab.path), "stem": job.lab.stem, "launch": bare, "target": job.target}
            answer = child.ask(do="compile", **request, text=bool(job.text))
            cell = answer.get("cell") or {"state": filed.FAILED, "why": answer["error"]}
            job.launch["cells"][job.target] = _judged(job.lab, job.launch, job.target, cell)
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


def _judged(lab: Lab, launch: Json, target: str, cell: Json) -> Json:
    """The cell; a failure that the lab declares is none."""
    meant = filed.about_the_compiler(lab, launch) or not filed.declares(lab, target)
    return cell | {"state": filed.NOT_OFFERED} if meant and cell["state"] == filed.FAILED else cell


def _refusals(captured: Json) -> None:
    """A launcher that refuses a target says what is not offered there: the launches that the claim makes elsewhere."""
    for stumble in captured["stumbles"]:
        elsewhere = [launch for launch in captured["launches"] if stumble["claim"] in launch["claims"]]
        first = next((t for t in TARGETS if any(t in launch["targets"] for launch in elsewhere)), None)
        for target in stumble["targets"] if stumble["how"] == "refused" else ():
            there = [_asked_for(launch) for launch in captured["launches"] if target in launch["targets"]]
            for launch in elsewhere:
                if first in launch["targets"] and _asked_for(launch) not in there:
                    launch["cells"].setdefault(target, {"state": filed.NOT_OFFERED, "why": stumble["why"]})


def _asked_for(launch: Json) -> tuple:
    """What of a launch is the same for every target."""
    return launch["kernel"], launch["signature"], launch["constants"]


def differences(book: Book, result: Result) -> list[str]:
    """In what the result differs from what is filed, each in a sentence."""
    compiled = book.compiled.get(result.lab.stem)
    if compiled is None:
        return ["nothing is filed of this lab"]
    said, before = [], compiled.data
    if before["lab_sha256"] != result.lab.sha256:
        said.append("what is filed is of another version of this lab")
    old, new = (
        {_key(d["kernels"], x, t): c for x in d["launches"] for t, c in x["cells"].items()}
        for d in (before, result.data)
    )
    for key, cell in new.items():
        _, told, target = json.loads(key)
        if cell != old.get(key):
            what = "is not filed" if key not in old else "is filed otherwise"
            said.append(f"a launch for {target}, {told['constants']} {told['options']}, {what}")
    said += ["a cell is filed that no launch needs"] * bool(old.keys() - new.keys())
    if {n: filed.sha256(t) for n, t in compiled.texts.items()} != result.data["texts"]:
        said.append("the assembly that pages show is filed otherwise")
    return said


# Filing


def file_result(root: Path, result: Result) -> list[Path]:
    """Write the lab's result and its texts, each whole or not at all, and delete texts that no page shows; what changed."""
    folder, stem, changed = root / filed.FOLDER, result.lab.stem, []
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**result.texts, f"{stem}.json": filed.dump(result.data)}.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            replace(path, text.encode())
            changed.append(path)
    for path in folder.glob(f"{stem}.*"):
        if path.name not in result.texts and path.name != f"{stem}.json":
            path.unlink()
            changed.append(path)
    _journal(root, result.lab).unlink(missing_ok=True)
    return changed
