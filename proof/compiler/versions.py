"""Runs the labs with other versions of Triton, and compiles the kernels of records again.

`python -m proof.compiler.versions 3.6.0=FOLDER 3.9.0=FOLDER [LAB…]`, each folder with that Triton in it, writes labs/versions.json;
with names of labs only their rows. `make test-versions` calls it so.
"""

from __future__ import annotations

import importlib.metadata as installed
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from packaging.version import Version

from proof.book import text
from proof.book.load import load_book, read_record
from proof.book.model import Book, Lab, Record, VersionCode, VersionRun, Versions
from proof.evidence.compiled import ordered
from proof.evidence.targets import SWITCHES, TARGETS
from proof.evidence.versions import FILE, comparable, declares, name_of
from proof.problem import Fault
from proof.runs.accept import accept
from proof.runs.run import find_labs

SAMPLE = ("sm_90", "gfx942")  # for which the first launch of each kernel is compiled
PATIENCE = 600  # seconds for a lab, or for its kernels


def environment(side: Path, cache: str, **more: str) -> dict[str, str]:
    """Of a child that finds the Triton in `side` before any other, and no GPU."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    path = os.pathsep.join((str(side), str(Path(__file__).parents[2])))
    own = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "TRITON_CACHE_DIR": cache}
    return kept | own | {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""} | more


def run_lab(book: Book, lab: Lab, triton: str, side: Path, cache: str, day: date) -> VersionRun:
    """One row of labs/versions.json: the lab's own run there, then the sample of its kernels compiled there."""
    nothing = VersionRun(
        lab=lab.stem,
        lab_sha256=lab.sha256,
        triton=triton,
        torch=installed.version("torch"),
        numpy=installed.version("numpy"),
        python=".".join(map(str, sys.version_info[:3])),
        day=day,
        ok=0,
        left=0,
        failed=(),
        refused="",
        kernels=0,
        uncompiled=(),
    )

    def refused(why: str) -> VersionRun:
        return nothing.model_copy(update={"refused": why[:400]})

    if not declares(lab, triton):
        return refused(f"the lab declares triton {lab.requires['triton']}")
    try:
        done = subprocess.run(
            [sys.executable, str(lab.path), "--json"],
            env=environment(side, cache),
            capture_output=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return refused(f"no end within {PATIENCE} s")
    if not done.stdout.strip():
        sentences = done.stderr.decode(errors="replace").strip().splitlines() or [
            f"status {done.returncode}"
        ]
        return refused(sentences[-1])
    try:
        record = accept(book, lab.stem, done.stdout).record
    except Fault as fault:
        return refused(str(fault).splitlines()[0])
    used = record.environment
    if used.triton != triton:
        return refused(f"{side} holds Triton {used.triton}")
    failed = []
    for row in record.claims:
        if row.verdict not in ("ok", "-"):
            why = row.note or f"{row.value} against {row.bound}"
            failed.append(f"{row.id}: {row.verdict}, {why}"[:400])
    kernels, uncompiled = compile_sample(book, lab, side, cache)
    return nothing.model_copy(
        update={
            "torch": used.torch,
            "numpy": used.numpy,
            "python": used.python,
            "lab_sha256": record.lab_sha256,
            "ok": sum(row.verdict == "ok" for row in record.claims),
            "left": sum(row.verdict == "-" for row in record.claims),
            "failed": tuple(failed),
            "kernels": kernels,
            "uncompiled": tuple(uncompiled),
        }
    )


def compile_sample(book: Book, lab: Lab, side: Path, cache: str) -> tuple[int, list[str]]:
    """How many kernels compile in this Triton for every target of SAMPLE, and what does not, as `proof compile` listed them."""
    filed = book.compiled.get(lab.stem)
    if filed is None or filed.lab_sha256 != lab.sha256:
        return 0, ["no kernel was compiled: `proof compile` has not seen the lab as it is"]
    asked = []
    kernels = [name for name in filed.kernels if re.search(rf"^def {name}\(", lab.source, re.M)]
    for kernel in kernels:  # not one made inside a function, which nobody finds again
        for target in SAMPLE:
            launches = ordered(filed.launches, kernel, target)
            fitting = [
                x
                for x in launches
                if any(t == target and c.state == "fits" for t, c in x.cells.items())
            ]
            asked += [
                (kernel, target, launch.model_dump(mode="json", exclude_unset=True))
                for launch in fitting[:1]
            ]
    lines = [
        json.dumps(
            {
                "do": "compile",
                "path": str(lab.path),
                "stem": lab.stem,
                "launch": launch,
                "target": target,
            }
        )
        for _, target, launch in asked
    ]
    answers = _answers(
        [sys.executable, "-m", "proof.compiler.child"],
        "\n".join(lines),
        environment(side, cache, **SWITCHES),
    )
    answers += [{"error": "the compiler ended its process"}] * (len(asked) - len(answers))
    bad = [
        f"{kernel} for {target}: {answer.get('error') or answer['cell']['state']}"[:400]
        for (kernel, target, _), answer in zip(asked, answers, strict=True)
        if "error" in answer or answer["cell"]["state"] != "fits"
    ]
    return len({kernel for kernel, *_ in asked}), bad


def compare_code(lab: Lab, record: Record, side: Path, cache: str) -> VersionCode:
    """Compile each kernel of the record again, with the record's own Triton, and compare the hashes."""
    switches = {k: v for k, v in record.environment.switches.items() if k.startswith("TRITON_")}
    command = [
        sys.executable,
        "-m",
        "proof.compiler.versions",
        "--again",
        str(lab.path),
        str(record.path),
    ]
    answers = _answers(command, "", environment(side, cache, **switches | SWITCHES))
    nothing = {"same": 0, "differ": [], "unknown": ["the compiler ended its process"]}
    about = {"record": name_of(record), "lab": lab.stem, "lab_sha256": lab.sha256}
    about |= {"triton": record.environment.triton}
    return VersionCode.model_validate(about | (answers[0] if answers else nothing))


def _answers(command: list[str], lines: str, env: dict[str, str]) -> list[dict[str, Any]]:
    try:
        done = subprocess.run(
            command, input=lines.encode(), env=env, capture_output=True, timeout=PATIENCE
        )
        out = done.stdout
    except subprocess.TimeoutExpired as late:
        out = late.stdout or b""
    return [
        json.loads(line)
        for line in out.splitlines()
        if line.startswith(b"{") and line.endswith(b"}")
    ]


# In the child


def again(lab_path: Path, record_path: Path) -> dict[str, Any]:
    """Which kernels of the record come out the same, which otherwise, and which cannot be compiled from what it holds."""
    from proof.compiler.child import code_hashes, kernels_of, load_lab, one_line

    lab = load_lab(str(lab_path), lab_path.stem)
    known, record = kernels_of(lab), read_record(record_path, text.read(record_path))
    target = "sm_" + record.device.capability.replace(".", "")
    same, differ, unknown = 0, [], []
    for kernel in record.kernels:
        shown = kernel.constants | kernel.options
        what = " ".join([kernel.kernel, *(f"{name}={value}" for name, value in shown.items())])[
            :200
        ]
        if target not in TARGETS:
            unknown.append(f"{what}: {target}")
        elif kernel.kernel not in known:
            unknown.append(f"{what}: no such kernel in the lab")
        else:
            try:
                if kernel.code_sha256 in code_hashes(known, kernel, target):
                    same += 1
                else:
                    differ.append(what)
            except Exception as error:
                unknown.append(f"{what}: {one_line(error)}"[:400])
    return {"same": same, "differ": differ, "unknown": unknown}


# The command


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--again"]:
        print(json.dumps(again(Path(arguments[1]), Path(arguments[2]))))
        return 0
    day = datetime.now(UTC).date()
    book = load_book(Path.cwd(), day)
    sides = [argument.split("=", 1) for argument in arguments if "=" in argument]
    chosen = find_labs(book, tuple(argument for argument in arguments if "=" not in argument))
    stems = {lab.stem for lab in chosen}
    runs: list[VersionRun] = []
    codes: list[VersionCode] = []
    with (
        tempfile.TemporaryDirectory() as cache,
        ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool,
    ):
        for triton, side in sides:
            folder = Path(side).resolve()
            waiting = [
                pool.submit(run_lab, book, lab, triton, folder, cache, day) for lab in chosen
            ]
            for done in waiting:
                runs.append(done.result())
                print(line(runs[-1]), flush=True)
            for lab in chosen:
                for record in comparable(book, lab):
                    if Version(record.environment.triton) == Version(triton):
                        codes.append(compare_code(lab, record, folder, cache))
                        print(_code_lines(codes[-1]), flush=True)
    red = [
        run
        for run in runs
        if run.failed
        or run.uncompiled
        or (run.refused and declares(book.labs[run.lab], run.triton))
    ]
    changed = [code for code in codes if code.differ]
    left = sum(record.is_gpu for record in book.records) - len(codes)
    if book.versions:
        runs += [run for run in book.versions.runs if run.lab not in stems and run.lab in book.labs]
        codes += [
            code for code in book.versions.code if code.lab not in stems and code.lab in book.labs
        ]
    runs.sort(key=lambda run: (run.lab, run.triton))
    codes.sort(key=lambda code: (code.lab, code.triton, code.record))
    data = Versions(version=1, runs=tuple(runs), code=tuple(codes)).model_dump(mode="json")
    written = json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    text.write(Path.cwd() / FILE, written.encode())
    print(
        f"wrote {FILE}; {left} records of GPUs not compared: older, of another lab, of another Triton, or of AMD"
    )
    return 1 if red or changed else 0


def _code_lines(code: VersionCode) -> str:
    """What became of the kernels of a record, and a line below it for each that differs or is not known."""
    counts = f"{code.same} the same, {len(code.differ)} not, {len(code.unknown)} not compared"
    return "\n    ".join(
        [f"{code.triton}  code of {code.record}: {counts}", *code.differ, *code.unknown]
    )


def line(run: VersionRun) -> str:
    """One run in a line, and a line below it for whatever is wrong."""
    summary = (
        run.refused or f"{run.ok} hold, {run.left} left to a GPU, {run.kernels} kernels compiled"
    )
    wrong = [f"failed: {each}" for each in run.failed] + [
        f"not compiled: {each}" for each in run.uncompiled
    ]
    return "\n    ".join([f"{run.triton}  {run.lab}: {summary}", *wrong])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
