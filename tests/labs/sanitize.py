"""Runs a lab's claims under triton-viz's sanitizer, in a process of its own: python sanitize.py LAB.py CLAIM…

It checks addresses symbolically and computes nothing, so no figure of such a run means anything. One line of JSON for
each launch: claim, kernel, configuration, what lies out of bounds, or why it could not be checked.
"""

import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"  # before anything imports triton

import triton
import triton_viz
from triton.runtime import Autotuner
from triton.runtime.interpreter import InterpretedFunction
from triton_viz.clients import Sanitizer
from triton_viz.clients.sanitizer import sanitizer


def check(kernel, args, kwargs, config) -> dict:
    """What the sanitizer says of one launch."""
    sanitizer._fn_symbolic_cache_set.clear()  # else a launch like an earlier one is skipped, by whatever sanitizer
    client = Sanitizer(abort_on_error=False)
    found = {
        "kernel": kernel.fn.__name__,
        "config": str(config.kwargs if config else ""),
        "outside": [],
        "not": "",
    }
    grid = kwargs.pop("grid")
    try:
        triton_viz.trace(client)(InterpretedFunction(kernel.fn))[grid](*args, **kwargs)
    except Exception as error:
        found["not"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    for record in client.records:
        last, what = record.user_code_tracebacks[-1], record.op_type.__name__.lower()
        found["outside"].append(
            f"{what} {record.tensor_name or ''} line {last.lineno}: {last.line_of_code.strip()}"
        )
    return found


def main(path, *claims):
    sys.path.insert(0, str(Path(__file__).parents[2] / "labs"))  # its companions
    from judge import Guards, claim_named

    spec = importlib.util.spec_from_file_location("triton_lab", path)
    spec.loader.exec_module(lab := importlib.util.module_from_spec(spec))
    lists = [
        v
        for v in vars(lab).values()
        if isinstance(v, list) and v and all(isinstance(c, triton.Config) for c in v)
    ]
    launch, claim, busy = InterpretedFunction.run, "", []

    def say(**found):
        print(json.dumps({"claim": claim} | found), flush=True)

    def run(self, *args, warmup=False, config=None, **kwargs):
        if busy:  # the sanitizer's own launch
            return launch(self, *args, warmup=warmup, **kwargs)
        busy.append(self)
        say(**check(self, args, dict(kwargs), config))
        busy.clear()

    def tune(self, *args, **kwargs):
        """Each configuration that the file lists for this kernel, once."""
        inner = self.fn
        while not isinstance(inner, InterpretedFunction):
            inner = inner.fn
        fits = [
            c
            for known in (self.configs, *lists)
            for c in known
            if set(c.kwargs) <= set(self.arg_names)
        ]
        for config in {str(c): c for c in fits}.values():
            run(inner, *args, **kwargs | config.kwargs, config=config)

    InterpretedFunction.run, Autotuner.run = run, tune
    for claim in claims:
        row = claim_named(lab, claim)
        guards = [Guards()] if "guards" in inspect.signature(row.measure).parameters else []
        try:
            list(row.measure(*guards, **row.args) or ())
        except Exception as error:  # no figures here, so comparing them may fail
            say(ended=f"{type(error).__name__}: {error}"[:200])
        else:
            say(ended="")


if __name__ == "__main__":
    main(*sys.argv[1:])
