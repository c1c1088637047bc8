"""Judges an answer in the playground's evaluator: which case fails, and what that teaches.

Plain Python like `play` and the cases, so the page judges by this very module. On a computer with
Triton, `judging.py` lets Triton have the last word.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import play
from exercise import Case, Exercise, Given, Output, Values
from play.messages import LANGS, Message
from sentences import in_both, sentence

ALLOWED = ("triton", "math", "__future__")  # what an answer may import
SECTOR = 32  # bytes that memory moves at once
NOT_IN_PLAY = (  # why the evaluator stops although Triton may go on
    "runs_on_interpreter",
    "runs_on_gpu",
    "unsupported_argument",
    "syntax_elsewhere",
    "block_too_large",
    "grid_too_large",
    "pointers_mixed",
)
Texts = dict[str, str]  # one sentence by language


@dataclass
class Verdict:
    """The judgment on one answer.

    `key` is "passed", "hole", "syntax" and the like, the name of the typical wrong answer whose
    mistake this is, or else the sign by which the failure shows: "past_end_store out".
    """

    passed: bool
    key: str
    texts: Texts
    line: int | None = None
    case: Case | None = None
    report: play.Report | None = field(default=None, repr=False)
    elsewhere: bool = False  # the evaluator cannot run the answer; Triton may

    def text(self, lang: str) -> str:
        return self.texts[lang]


def check(exercise: Exercise, source: str) -> Verdict:
    """Judge the answer: the file as such, then case after case until one fails."""
    answer = without_main(source)
    refused = examine(answer, exercise.function) or called_otherwise(answer, exercise)
    if refused:
        return refused
    for case in exercise.cases:
        failed = check_case(exercise, answer, case)
        if failed:
            return failed
    return Verdict(True, "passed", in_both("passed", count=len(exercise.cases)))


def check_case(exercise: Exercise, answer: str, case: Case) -> Verdict | None:
    """How the answer fails this case; None where it does not."""
    tensors = arguments_of(case)
    report = play.run(answer, exercise.function, tensors)
    signs = list(_signs(case, report, tensors))
    if not signs:
        return None
    verdict = explained(exercise, case, signs)
    verdict.report = report
    problem = report.problem
    verdict.elsewhere = problem is not None and problem.key in NOT_IN_PLAY
    return verdict


@dataclass(frozen=True)
class Sign:
    """One way in which a failure shows, and the sentence that says so."""

    found: str  # "past_end_store out 2": what, to which output, how many elements
    texts: Texts
    line: int | None = None


def explained(exercise: Exercise, case: Case, signs: list[Sign]) -> Verdict:
    """The first typical wrong answer with a sign among these, and what it teaches.

    Without one, the first sign.
    """
    for wrong in exercise.wrong:
        for sign in signs:
            if is_sign_of(wrong.found, sign):
                texts = {
                    "zh": f"{sign.texts['zh']}{wrong.zh}",
                    "en": f"{sign.texts['en']} {wrong.en}",
                }
                return _failed(wrong.name, case, texts, sign.line)
    return _failed(signs[0].found, case, signs[0].texts, signs[0].line)


def is_sign_of(found: str, sign: Sign) -> bool:
    """Whether the sign begins with the words of `found`."""
    wanted = found.split()
    return sign.found.split()[: len(wanted)] == wanted


def _failed(key: str, case: Case, texts: Texts, line: int | None) -> Verdict:
    shown = {lang: sentence("case", lang, case=case.text(), text=texts[lang]) for lang in LANGS}
    return Verdict(False, key, shown, line, case)


def _signs(case: Case, report: play.Report, tensors: dict[str, Any]) -> Iterator[Sign]:
    """Everything that is wrong, the reason for stopping first, then memory, then results."""
    if report.problem:
        yield _said(f"stop {report.problem.key}", report.problem)
        return
    for finding in report.findings:
        count = next(iter(finding.programs.values()))
        found = f"{finding.kind}_{finding.verb} {finding.tensor} {count}"
        yield _said(found, finding.message)
    for failure in report.failures:
        yield _said(f"stop {failure.key}", failure)
    yield from changed_inputs(case, report)
    results = {name: tensors[name].values() for name in case.outputs}
    never = {name: tensors[name].storage.unwritten for name in case.outputs}
    for name, output in case.outputs.items():
        missing = [at for at, cell in enumerate(tensors[name].positions()) if cell in never[name]]
        if missing:
            yield unwritten(name, output, missing)
    yield from wrong_results(case, results)
    touched = sectors(report)
    if case.sectors is not None and touched > case.sectors:
        yield Sign("sectors", in_both("sectors", count=touched, limit=case.sectors))
    launched = sum(math.prod(grid) for _, grid in report.launches)
    if case.programs is not None and launched > case.programs:
        yield Sign("programs", in_both("programs", count=launched, limit=case.programs))


def changed_inputs(case: Case, report: play.Report) -> Iterator[Sign]:
    """For each input that was written, the line that did it first."""
    inputs = {name for name, argument in case.args.items() if isinstance(argument, Given)}
    lines: dict[str, int] = {}
    for access in report.log.accesses:
        name = access.storage.name
        if access.kind != "load" and access.cells and name in inputs:
            lines.setdefault(name, access.line)
    for name, line in lines.items():
        yield Sign(f"input_changed {name}", in_both("input_written", name=name, line=line), line)


def wrong_results(case: Case, results: dict[str, Values]) -> Iterator[Sign]:
    """For each output that is wrong the typical mistake that gives just this, or where it differs."""
    for name, output in case.outputs.items():
        wrong = differences(output, output.expected, results[name])
        if not wrong:
            continue
        differs = _differs(name, output, wrong, results[name])
        for suspect, outputs in case.suspects.items():
            if name in outputs and not differences(output, outputs[name], results[name]):
                yield Sign(f"result {suspect}", differs)
        yield Sign(f"differs {name}", differs)


def unwritten(name: str, output: Output, missing: list[int]) -> Sign:
    place = place_of(missing[0], output.sizes)
    return Sign(
        f"unwritten {name} {len(missing)}",
        in_both("unwritten", name=name, count=len(missing), place=place),
    )


def _differs(name: str, output: Output, wrong: list[int], result: Values) -> Texts:
    at = wrong[0]
    return in_both(
        "differs",
        name=name,
        place=place_of(at, output.sizes),
        got=number(result[at]),
        want=number(output.expected[at]),
        count=len(wrong),
        total=len(result),
    )


def _said(found: str, message: Message) -> Sign:
    return Sign(found, {lang: message.with_line(lang) for lang in LANGS}, message.line)


def differences(output: Output, expected: Values, got: Values) -> list[int]:
    """The positions where `got` is further from `expected` than the output allows."""
    pairs = enumerate(zip(got, expected, strict=True))
    return [at for at, (value, want) in pairs if not _close(value, want, output)]


def _close(got: float, want: float, output: Output) -> bool:
    if math.isnan(want):
        return math.isnan(got)
    if math.isinf(want) or not math.isfinite(got):
        return got == want
    return abs(got - want) <= output.atol + output.rtol * abs(want)


def place_of(at: int, sizes: tuple[int, ...]) -> str:
    """[2, 5], for position 17 of a tensor of shape (3, 6)."""
    found: list[int] = []
    for size in reversed(sizes):
        found.insert(0, at % size)
        at //= size
    return str(found)


def number(value: float) -> str:
    """A number as sentences show it: six significant digits."""
    return f"{value:.6g}"


def sectors(report: play.Report) -> int:
    """How many 32-byte sectors the programs touched, each access counted anew."""
    count = 0
    for access in report.log.accesses:
        elements = SECTOR // access.storage.dtype.itemsize
        count += len({cell // elements for cell in access.cells})
    return count


def arguments_of(case: Case) -> dict[str, Any]:
    """The case's arguments as the evaluator takes them, new with every call."""
    return {name: _argument(name, argument) for name, argument in case.args.items()}


def _argument(name: str, argument: Any) -> Any:
    """The argument as the evaluator takes it."""
    if isinstance(argument, Given):
        return play.tensor(
            list(argument.values), argument.dtype, name, argument.sizes, argument.strides
        )
    if isinstance(argument, Output):
        if argument.start is None:
            return play.empty(argument.sizes, argument.dtype, name, argument.strides)
        return play.tensor(
            list(argument.start), argument.dtype, name, argument.sizes, argument.strides
        )
    return argument


def examine(answer: str, function: str) -> Verdict | None:
    """What is wrong with the file before anything runs; None if nothing is."""
    try:
        tree = ast.parse(answer)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        problem = play.run(answer).problem
        assert problem is not None
        texts = {lang: problem.with_line(lang) for lang in LANGS}
        return Verdict(False, "syntax", texts, problem.line)
    for node in ast.walk(tree):
        for name in _imported(node):
            if name.partition(".")[0] not in ALLOWED:
                line = node.lineno  # type: ignore[attr-defined]
                texts = in_both("import_torch", line=line, name=name)
                return Verdict(False, "import", texts, line)
    if function not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}:
        return Verdict(False, "no_function", in_both("no_function", name=function))
    holes = hole_lines(tree)
    if holes:
        key = "hole" if len(holes) == 1 else "holes"
        texts = {
            "zh": sentence(key, "zh", lines="、".join(map(str, holes))),
            "en": sentence(key, "en", lines=", ".join(map(str, holes))),
        }
        return Verdict(False, "hole", texts, holes[0])
    return None


def called_otherwise(answer: str, exercise: Exercise) -> Verdict | None:
    """Whether the function has other parameters than those that the judge passes by name."""
    wanted = list(exercise.cases[0].args)
    functions = [node for node in ast.parse(answer).body if isinstance(node, ast.FunctionDef)]
    function = [node for node in functions if node.name == exercise.function][-1]
    given = function.args
    named = [each.arg for each in (*given.args, *given.kwonlyargs)]
    optional = named[len(given.args) - len(given.defaults) : len(given.args)]
    optional += [
        each.arg
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is not None
    ]
    unknown = [name for name in wanted if name not in named]
    lacking = [name for name in named if name not in (*wanted, *optional)]
    if not given.posonlyargs and not lacking and (given.kwarg or not unknown):
        return None
    call = f"{exercise.function}({', '.join(wanted)})"
    texts = in_both("parameters", line=function.lineno, call=call)
    return Verdict(False, "parameters", texts, function.lineno)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "."]
    return []


def hole_lines(tree: ast.AST) -> list[int]:
    """The lines with `...`, which stands for what the reader is to write."""
    lines = {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value is Ellipsis
    }
    return sorted(lines)


def without_main(source: str) -> str:
    """The file without what follows `if __name__ == "__main__":`, lines numbered as before."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            return "\n".join(source.split("\n")[: node.lineno - 1]).rstrip() + "\n"
    return source
