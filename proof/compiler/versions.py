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

from packaging.version import Version

from proof.book.load import load_book
from proof.book.model import Book, Lab, Record
from proof.book.text import replace
from proof.evidence.compiled import ordered
from proof.evidence.targets import SWITCHES, TARGETS
from proof.evidence.versions import FILE, Json, comparable, declares, name_of
from proof.problem import Fault
from proof.runs.record import accept, find_labs

SAMPLE = ("sm_90", "gfx942")  # for which the first launch of each kernel is compiled
PATIENCE = 600  # seconds for a lab, or for its kernels


def environment(side: Path, cache: str, **more: str) -> dict[str, str]:
    """Of a child that finds the Triton in `side` before any other, and no GPU."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    path = os.pathsep.join((str(side), str(Path(__file__).parents[2])))
    own = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "TRITON_CACHE_DIR": cache}
    return kept | own | {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""} | more


def run_lab(book: Book, lab: Lab, triton: str, side: Path, cache: str, day: date) -> Json:
    """One row of labs/versions.json: the lab's own run there, then the sample of its kernels compiled there."""
    versions = {name: installed.version(name) for name in ("torch", "numpy")}
    row: Json = {"lab": lab.stem, "lab_sha256": lab.sha256, "triton": triton, "day": str(day)}
    row |= versions | {
        "python": ".".join(map(str, sys.version_info[:3])),
        "ok": 0,
        "left": 0,
        "failed": [],
        "refused": "",
        "kernels": 0,
        "uncompiled": [],
    }
    if not declares(lab, triton):
        return row | {"refused": f"the lab declares triton {lab.requires['triton']}"}
    try:
        done = subprocess.run(
            [sys.executable, str(lab.path), "--json"],
            env=environment(side, cache),
            capture_output=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return row | {"refused": f"no end within {PATIENCE} s"}
    if not done.stdout.strip():
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"status {done.returncode}"]
        return row | {"refused": said[-1][:400]}
    try:
        data = accept(book, lab.stem, done.stdout).data
    except Fault as error:
        return row | {"refused": str(error).splitlines()[0][:400]}
    there = data["environment"]
    if there["triton"] != triton:
        return row | {"refused": f"{side} holds Triton {there['triton']}"}
    row |= {name: there[name] for name in ("torch", "numpy", "python")} | {"lab_sha256": data["lab_sha256"]}
    for claim in data["claims"]:
        if claim["verdict"] in ("ok", "-"):
            row["ok" if claim["verdict"] == "ok" else "left"] += 1
        else:
            told = claim.get("note") or f"{claim.get('value')} against {claim['bound']}"
            row["failed"].append(f"{claim['id']}: {claim['verdict']}, {told}"[:400])
    return row | compile_sample(book, lab, side, cache)


def compile_sample(book: Book, lab: Lab, side: Path, cache: str) -> Json:
    """How many kernels compile in this Triton for every target of SAMPLE, and what does not, as `proof compile` listed them."""
    filed = book.compiled.get(lab.stem)
    if filed is None or filed.data["lab_sha256"] != lab.sha256:
        return {"uncompiled": ["no kernel was compiled: `proof compile` has not seen the lab as it is"]}
    asked = []
    found = [name for name in filed.data["kernels"] if re.search(rf"^def {name}\(", lab.source, re.M)]
    for kernel in found:  # not one made inside a function, which nobody finds again
        for target in SAMPLE:
            launches = ordered(filed.data["launches"], kernel, target)
            fitting = [x for x in launches if x.get("cells", {}).get(target, {}).get("state") == "fits"]
            asked += [(kernel, target, launch) for launch in fitting[:1]]
    lines = [
        json.dumps({"do": "compile", "path": str(lab.path), "stem": lab.stem, "launch": launch, "target": target})
        for _, target, launch in asked
    ]
    answers = _answers(
        [sys.executable, "-m", "proof.compiler.child"], "\n".join(lines), environment(side, cache, **SWITCHES)
    )
    answers += [{"error": "the compiler ended its process"}] * (len(asked) - len(answers))
    bad = [
        f"{kernel} for {target}: {answer.get('error') or answer['cell']['state']}"[:400]
        for (kernel, target, _), answer in zip(asked, answers, strict=True)
        if "error" in answer or answer["cell"]["state"] != "fits"
    ]
    return {"kernels": len({kernel for kernel, *_ in asked}), "uncompiled": bad}


def compare_code(book: Book, lab: Lab, record: Record, side: Path, cache: str) -> Json:
    """Compile each kernel of the record again, with the record's own Triton, and compare the hashes."""
    switches = {k: v for k, v in record.data["environment"]["switches"].items() if k.startswith("TRITON_")}
    command = [sys.executable, "-m", "proof.compiler.versions", "--again", str(lab.path), str(record.path)]
    answers = _answers(command, "", environment(side, cache, **switches | SWITCHES))
    seen = answers[0] if answers else {"same": 0, "differ": [], "unknown": ["the compiler ended its process"]}
    key = {"record": name_of(record), "lab": lab.stem, "lab_sha256": lab.sha256}
    return key | {"triton": record.data["environment"]["triton"]} | seen


def _answers(command: list[str], lines: str, env: dict[str, str]) -> list[Json]:
    try:
        done = subprocess.run(command, input=lines.encode(), env=env, capture_output=True, timeout=PATIENCE)
        out = done.stdout
    except subprocess.TimeoutExpired as late:
        out = late.stdout or b""
    return [json.loads(line) for line in out.splitlines() if line.startswith(b"{") and line.endswith(b"}")]


# In the child


def again(lab_path: Path, record_path: Path) -> Json:
    """Which kernels of the record come out the same, which otherwise, and which cannot be compiled from what it holds."""
    from proof.compiler.child import code_hashes, kernels_of, load_lab, one_line

    lab = load_lab(str(lab_path), lab_path.stem)
    known, data = kernels_of(lab), json.loads(record_path.read_text(encoding="utf-8"))
    target = "sm_" + data["device"]["capability"].replace(".", "")
    seen: Json = {"same": 0, "differ": [], "unknown": []}
    for row in data["kernels"]:
        shown = row["constants"] | row.get("options", {})
        what = " ".join([row["kernel"], *(f"{k}={v}" for k, v in shown.items())])[:200]
        if row["kernel"] not in known or target not in TARGETS:
            seen["unknown"].append(f"{what}: no such kernel in the lab" if target in TARGETS else f"{what}: {target}")
            continue
        try:
            same = row["code_sha256"] in code_hashes(known, row, target)
        except Exception as error:
            seen["unknown"].append(f"{what}: {one_line(error)}"[:400])
            continue
        if same:
            seen["same"] += 1
        else:
            seen["differ"].append(what)
    return seen


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
    found: Json = {"schema": 1, "runs": [], "code": []}
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for triton, side in sides:
            where = Path(side).resolve()
            waiting = [pool.submit(run_lab, book, lab, triton, where, cache, day) for lab in chosen]
            for done in waiting:
                found["runs"].append(done.result())
                print(line(found["runs"][-1]), flush=True)
            for lab in chosen:
                for record in comparable(book, lab):
                    if Version(record.data["environment"]["triton"]) == Version(triton):
                        found["code"].append(compare_code(book, lab, record, where, cache))
                        code = found["code"][-1]
                        counts = (
                            f"{code['same']} the same, {len(code['differ'])} not, {len(code['unknown'])} not compared"
                        )
                        print(
                            f"{triton}  code of {code['record']}: {counts}",
                            *code["differ"],
                            *code["unknown"],
                            sep="\n    ",
                            flush=True,
                        )
    red = [
        run
        for run in found["runs"]
        if run["failed"] or run["uncompiled"] or (run["refused"] and declares(book.labs[run["lab"]], run["triton"]))
    ]
    changed = [code for code in found["code"] if code["differ"]]
    for kind in ("runs", "code"):
        found[kind] += [
            old for old in book.versions.get(kind, ()) if old["lab"] not in stems and old["lab"] in book.labs
        ]
        found[kind].sort(key=lambda row: (row["lab"], row["triton"], row.get("record", "")))
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    replace(Path.cwd() / FILE, text.encode())
    left = sum(record.is_gpu for record in book.records) - len(found["code"])
    print(f"wrote {FILE}; {left} records of GPUs not compared: older, of another lab, of another Triton, or of AMD")
    return 1 if red or changed else 0


def line(run: Json) -> str:
    """One run in a line, and a line below it for whatever is wrong."""
    said = run["refused"] or f"{run['ok']} hold, {run['left']} left to a GPU, {run['kernels']} kernels compiled"
    bad = [f"failed: {one}" for one in run["failed"]] + [f"not compiled: {one}" for one in run["uncompiled"]]
    return "\n    ".join([f"{run['triton']}  {run['lab']}: {said}", *bad])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
