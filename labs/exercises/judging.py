"""Judges the answer in a reader's file: first the playground's evaluator, then Triton itself.

    python labs/exercises/01_mask_tail.py              judges that file
    python labs/exercises/judging.py 01_mask_tail      the same; also explains a syntax error
    … --lang zh     --hint 1

The evaluator watches every access and explains what is wrong; then Triton, on a GPU or in its
interpreter, in a process of its own, has the last word.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

FOLDER = Path(__file__).resolve().parent
ALONE = (FOLDER / "play").is_dir()  # in exercises.zip, play and judge lie here too
for _room in (FOLDER,) if ALONE else (FOLDER.parents[1], FOLDER.parent, FOLDER):
    if str(_room) not in sys.path:
        sys.path.insert(0, str(_room))

import exercise as exercises
from checking import (
    Sign,
    Verdict,
    check,
    explained,
    unwritten,
    wrong_results,
)
from exercise import Case, Exercise, Given, Output
from play.messages import LANGS
from sentences import in_both, sentence

if TYPE_CHECKING:
    from fences import Canary

PATIENCE_S = 300  # for Triton to judge one answer, compiling included
SHOWN = 2_000  # characters of what an answer prints
LARGEST_FILE = 64 << 20  # bytes, also of what an answer prints


def judge(file: str) -> NoReturn:
    """What an exercise's file ends in: judge the answer in it, and exit with 0 if it is correct."""
    sys.exit(main([file, *sys.argv[1:]]))


def main(arguments: list[str]) -> int:
    """The command line. Returns the exit status: 0 correct, 1 not, 2 nothing to judge."""
    parser = argparse.ArgumentParser(prog="judging.py", description=__doc__)
    parser.add_argument("file", help="an exercise's file, or its name")
    parser.add_argument("--lang", choices=LANGS, default=language(), help="of the sentences")
    parser.add_argument("--hint", type=int, metavar="N", help="show the first N hints instead")
    parser.add_argument("--triton", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    path = Path(options.file)
    name, lang = path.stem, options.lang
    if path.suffix != ".py":
        path = FOLDER / f"{name}.py"
    known = exercises.names()
    if name not in known:
        return refuse("no_such_exercise", lang, name=name, known=", ".join(known))
    try:
        exercise = exercises.load_exercise(name)
    except ModuleNotFoundError:
        return refuse("no_yaml", lang)
    if options.hint is not None:
        return show_hints(exercise, options.hint, lang)
    if options.triton:
        return judge_in_child(exercise, path, Path(options.triton))
    try:
        source = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return refuse("unreadable", lang, path=path, reason=error)
    return judge_answer(exercise, path, source, lang)


def judge_answer(exercise: Exercise, path: Path, source: str, lang: str) -> int:
    """Judge, and print what a reader wants to know."""
    print(f"{exercise.name} · {exercise.title[lang]}")
    watched = check(exercise, source)
    if not watched.passed and not watched.elsewhere:
        print(watched.text(lang))
        return 1
    count = len(exercise.cases)
    if watched.passed:
        print(sentence("passed_in_play", lang, count=count))
    else:
        print(sentence("not_in_play", lang, text=watched.text(lang)))
    absent = first_absent("torch", "triton", "numpy")
    if absent:
        print(sentence("no_triton", lang, name=absent))
        return 0 if watched.passed else 2
    answer = ask_triton(exercise, path)
    for key in ("printed", "text"):
        if answer.get(key):
            print(answer[key][lang])
    if not answer["passed"]:
        return 1
    print(sentence("compare", lang, path=FOLDER / exercise.name / "solution.py"))
    return 0


def language() -> str:
    """zh or en, as the environment asks."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "zh" if value.startswith("zh") else "en"
    return "en"


def refuse(key: str, lang: str, **values: object) -> int:
    print(sentence(key, lang, **values), file=sys.stderr)
    return 2


def show_hints(exercise: Exercise, number: int, lang: str) -> int:
    count = len(exercise.hints)
    if not 1 <= number <= count:
        return refuse("no_hint", lang, count=count)
    for at, hint in enumerate(exercise.hints[:number], 1):
        print(sentence("hint", lang, number=at, count=count, text=hint[lang]))
    return 0


def first_absent(*packages: str) -> str:
    """The first of these packages that cannot be imported; empty where all can."""
    return next((name for name in packages if importlib.util.find_spec(name) is None), "")


# %% Triton in a process of its own, which may crash, print without end, or never come back.
def ask_triton(exercise: Exercise, path: Path) -> dict[str, Any]:
    """What Triton says to the answer at `path`: passed, text and printed by language."""
    with tempfile.TemporaryDirectory() as folder:
        result, printed = Path(folder, "verdict.json"), Path(folder, "printed")
        command = [sys.executable, str(FOLDER / "judging.py"), str(path), "--triton", str(result)]
        with printed.open("wb") as output:
            try:
                status = subprocess.run(
                    command, stdout=output, stderr=subprocess.STDOUT, timeout=PATIENCE_S
                ).returncode
            except subprocess.TimeoutExpired:
                return {"passed": False, "text": in_both("no_answer", seconds=PATIENCE_S)}
        if not result.is_file():
            text = printed.read_text(encoding="utf-8", errors="replace").strip()
            reason = text.splitlines()[-1] if text else f"status {status}"
            return {"passed": False, "text": in_both("died", reason=reason)}
        answer: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        shown = printed.read_text(encoding="utf-8", errors="replace")
    if shown.strip():
        answer["printed"] = {lang: printed_text(shown, lang) for lang in LANGS}
    return answer


def printed_text(printed: str, lang: str) -> str:
    more = sentence("printed_more", lang, count=len(printed)) if len(printed) > SHOWN else ""
    return f"{sentence('printed', lang)}\n{printed[:SHOWN].rstrip()}\n{more}".rstrip()


def limit_files() -> None:
    """From here on this process fails where it makes a file larger than any answer needs."""
    import resource  # on Linux, as Triton

    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))


def judge_in_child(exercise: Exercise, path: Path, result: Path) -> int:
    """Judge with Triton in this process, and write the verdict to `result`."""
    import torch

    if not torch.cuda.is_available():
        os.environ.setdefault("TRITON_INTERPRET", "1")  # before anything imports triton
    import judge as lab_judge

    limit_files()
    verdict = judge_with_triton(exercise, path)
    texts = verdict.texts
    if verdict.passed:
        texts = in_both("passed_in_triton", where=place_name(), count=len(exercise.cases))
        if exercise.speed:
            speed = judge_speed(exercise, path) if lab_judge.has_gpu() else None
            said = speed.texts if speed else in_both("speed_needs_gpu", target=exercise.speed.ratio)
            texts = {lang: f"{texts[lang]}\n{said[lang]}" for lang in LANGS}
            verdict.passed = speed is None or speed.passed
    answer = {"passed": verdict.passed, "text": texts}
    result.write_text(json.dumps(answer), encoding="utf-8")
    return 0


def place_name() -> str:
    """NVIDIA H200, or the interpreter, with Triton's version."""
    import triton

    import judge as lab_judge

    facts: str = lab_judge.device_facts()["name"]
    return f"{facts} · Triton {triton.__version__}"


# %% Judging with Triton: each case between guards, then the same comparison as in the evaluator.
def judge_with_triton(exercise: Exercise, path: Path) -> Verdict:
    """The verdict on the answer at `path`, from its results and its guards alone."""
    try:
        function = getattr(load_answer(path), exercise.function)
    except Exception as error:
        return raised(error, path)
    for case in exercise.cases:
        try:
            signs = run_case(function, case)
        except Exception as error:
            failed = raised(error, path)
            return Verdict(False, failed.key, in_case(case, failed.texts), failed.line, case)
        if signs:
            return explained(exercise, case, signs)
    return Verdict(True, "passed", in_both("passed", count=len(exercise.cases)))


def run_case(function: Any, case: Case) -> list[Sign]:
    """Call the function, once for each canary; how results and memory show a mistake."""
    from fences import canaries

    for canary in canaries(case):
        signs = list(run_once(function, case, canary))
        if signs:
            return signs
    return []


def run_once(function: Any, case: Case, canary: Canary) -> Iterator[Sign]:
    """Call the function; everything by which its results and the memory show a mistake."""
    import torch
    from fences import fenced

    from judge import DEVICE

    rooms = {
        name: fenced(name, argument, DEVICE, canary)
        for name, argument in case.args.items()
        if isinstance(argument, (Given, Output))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of the interpreter: exp(100) …
        function(**{**case.args, **{name: room.tensor for name, room in rooms.items()}})
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    for name, room in rooms.items():
        count = room.changed()
        if count:
            key = "outside" if room.is_output else "input_changed"
            yield Sign(f"{key} {name} {count}", in_both(key, name=name, count=count))
    results = {name: rooms[name].tensor.flatten().tolist() for name in case.outputs}
    for name, output in case.outputs.items():
        missing = untouched_cells(output, results[name])
        if missing:
            yield unwritten(name, output, missing)
    yield from wrong_results(case, results)


def untouched_cells(output: Output, result: list[Any]) -> list[int]:
    """Where an output still holds what memory held that nobody wrote: NaN, or all bits set."""
    if output.start is not None:
        return []
    pairs = enumerate(zip(result, output.expected, strict=True))
    if output.dtype.startswith("float"):
        return [at for at, (got, want) in pairs if math.isnan(got) and not math.isnan(want)]
    unset = 255 if output.dtype == "uint8" else -1
    return [at for at, (got, want) in pairs if got == unset != want]


def load_answer(path: Path) -> Any:
    """The answer's file as a module; Triton reads its kernels from the file."""
    spec = importlib.util.spec_from_file_location(f"answer_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raised(error: BaseException, path: Path) -> Verdict:
    """What Triton or Python raised, with the last line of the answer that it passed through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    reason = f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[-1]}"
    if not lines:
        return Verdict(False, "raised", in_both("raised", reason=reason))
    texts = in_both("raised_at", line=lines[-1], reason=reason)
    return Verdict(False, "raised", texts, lines[-1])


def in_case(case: Case, texts: dict[str, str]) -> dict[str, str]:
    return {lang: sentence("case", lang, case=case.text(), text=texts[lang]) for lang in LANGS}


# %% Make it faster: the answer and the file as handed out, timed in turns on a GPU.
def judge_speed(exercise: Exercise, path: Path) -> Verdict:
    """Whether the answer reaches the target ratio."""
    import torch

    from judge import DEVICE, benchmark_pair

    speed = exercise.speed
    assert speed is not None
    dtype = getattr(torch, speed.dtype)
    tensors = {
        name: torch.randn(shape, device=DEVICE).to(dtype) for name, shape in speed.shapes.items()
    }
    arguments = {**tensors, **speed.numbers}
    answer = getattr(load_answer(path), exercise.function)
    original = getattr(load_answer(FOLDER / exercise.name / "baseline.py"), exercise.function)
    ratio = benchmark_pair(
        ("answer", lambda: answer(**arguments)), ("original", lambda: original(**arguments))
    )
    fast = ratio.high >= speed.ratio
    key = "passed_speed" if fast else "slow"
    return Verdict(fast, key, in_both(key, ratio=ratio.value, target=speed.ratio))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
