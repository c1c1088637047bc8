"""Compiles every solution for a GPU that need not be there: prints {exercise: what the compiler says}.

Run in a process of its own, since this one must not interpret. The first case of an exercise is
compiled, and the one called "one", where Triton makes constants of the arguments that are 1.
"""

import json

from answers import FOLDER, NAMES
from exercise import Given, Output, load_exercise
from fences import Canary, fenced
from judging import load_answer
from offline import TARGETS, compiling_for
from triton.runtime import JITFunction


def compile_only(kernel, grid):
    """What `kernel[grid]` is here: compiles, and launches nothing."""
    return lambda *args, **kwargs: kernel.warmup(*args, grid=(1,), **kwargs)


def compiled(name):
    """What the compiler says to the solution; empty where it has no objection."""
    exercise = load_exercise(name)
    function = getattr(load_answer(FOLDER / name / "solution.py"), exercise.function)
    first, *others = exercise.cases
    for case in (first, *(case for case in others if case.name == "one")):
        try:
            function(**{key: argument(key, value) for key, value in case.args.items()})
        except Exception as error:
            return f"{case.name}: {type(error).__name__}: {error}"
    return ""


def argument(name, value):
    if isinstance(value, (Given, Output)):
        return fenced(name, value, "cpu", Canary.NOISE).tensor
    return value


if __name__ == "__main__":
    JITFunction.__getitem__ = compile_only
    with compiling_for(TARGETS["sm_90"]):
        print(json.dumps({name: compiled(name) for name in NAMES}))
