"""Runs in a process of its own: captures what a lab launches, and compiles it, for cards that are not there.

`python -m proof.compiler.child` reads one JSON request a line and prints one JSON answer a line, `{"error": …}` where
Python raised. Where the compiler kills the process, the parent sees it end. Only functions here import torch and triton.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import io
import itertools
import json
import os
import re
import sys
import traceback
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

from proof.book.model import Kernel
from proof.compiler.assembly import resources, text_of, watched
from proof.evidence.targets import SWITCHES, TARGETS, Target

Json = dict[str, Any]


def main() -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what the compiler prints is no answer
    os.environ.update(SWITCHES)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"capture": capture, "compile": compile_one}[request.pop("do")](**request)
        except Exception as error:
            answer = {"error": one_line(error)}
        print(json.dumps(answer), file=answers, flush=True)


def one_line(error: BaseException) -> str:
    """Why, in a line without paths: Triton's compiler says where first and why last; other tools say "error:" somewhere."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    if any(kind.__name__ == "CompilationError" for kind in type(error).__mro__):
        line = lines[-1]
    else:
        line = next((line for line in lines if "error:" in line), " ".join(lines[:2]))
    return re.sub(r"(?<!\S)/\S+", "a file", f"{type(error).__name__}: {line}")[:300]


def load_lab(path: str, stem: str) -> types.ModuleType:
    """The lab as a module, once a process."""
    return sys.modules[stem] if stem in sys.modules else fresh_lab(path, stem)


def fresh_lab(path: str, stem: str) -> types.ModuleType:
    """The lab as a module of its own, which remembers nothing of another. Its companions are modules of all labs."""
    sys.dont_write_bytecode = True
    judge_of(path)
    spec = importlib.util.spec_from_file_location(stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[stem]
        raise
    return module


def judge_of(path: str) -> types.ModuleType:
    """The companion judge.py beside a lab. Its tensors, and so those of every lab, lie in main memory."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    judge = importlib.import_module("judge")
    judge.DEVICE = (
        "cpu"  # in the eyes of whatever imports it from here on; Triton sees the stand-in
    )
    return judge


def companions_of(lab: types.ModuleType) -> list[types.ModuleType]:
    """The modules of this process that lie beside the lab, and the lab."""
    folder = os.path.dirname(str(lab.__file__))
    beside = [
        module for module in list(sys.modules.values()) if _file(module).startswith(folder + os.sep)
    ]
    return [
        lab,
        *(module for module in beside if not os.path.basename(_file(module)).startswith("triton_")),
    ]


def _file(module: types.ModuleType) -> str:
    return getattr(module, "__file__", None) or ""


def kernels_of(lab: types.ModuleType) -> dict[str, Any]:
    """The lab's functions under @triton.jit, from below its tuners, by their own names."""
    from triton.runtime import JITFunction

    found = {}
    for value in list(vars(lab).values()):
        while not isinstance(value, JITFunction) and hasattr(value, "fn") and hasattr(value, "run"):
            value = value.fn  # a tuner or heuristics around it
        if isinstance(value, JITFunction) and value.fn.__module__ == lab.__name__:
            found.setdefault(value.fn.__name__, value)
    return found


def kernel_sha256(kernel: Any) -> str:
    """What the kernel, all that it calls and its constants are, wherever in the file they stand.

    Of a kernel that Triton cannot read to its end, its text: compiling it says why.
    """
    from triton.runtime.jit import JITCallable

    for value in list(kernel.fn.__globals__.values()):
        if isinstance(value, JITCallable):
            value.starting_line_number, value.hash = 0, None
    kernel.starting_line_number, kernel.hash = 0, None
    try:
        return kernel.cache_key
    except Exception:
        return hashlib.sha256(kernel.src.encode()).hexdigest()


class StandIn(mock.MagicMock):
    """A driver for a card that is not there. It remembers whether the lab, and not only Triton, asked what card it is."""

    @classmethod
    def of(cls, target: Target) -> StandIn:
        import triton
        from triton.backends.compiler import GPUTarget

        package = os.path.dirname(triton.__file__)
        driver = cls()
        driver.asked, driver.vendor = False, target.vendor
        driver.get_current_device.return_value = target.name  # Triton keeps variants by device
        driver.get_current_stream.return_value = 0
        driver.get_benchmarker.return_value = lambda launch, quantiles: (
            launch(),
            _times(len(quantiles)),
        )[1]

        def get_current_target():
            driver.asked |= not sys._getframe(1).f_code.co_filename.startswith(package)
            return GPUTarget(*target.triton)

        def answer(value):
            def ask(*_):
                driver.asked = True
                return value

            return ask

        driver.get_current_target = get_current_target
        driver.properties, driver.capability = (
            answer(_properties(target)),
            answer(target.capability),
        )
        driver.card_name = answer(target.name)
        driver.utils.get_device_properties = answer(
            {
                "max_shared_mem": target.shared_limit,
                "multiprocessor_count": target.sms,
                "warpSize": target.warp_size,
            }
        )
        return driver

    def _get_child_mock(self, **kwargs):
        return mock.MagicMock(**kwargs)


def _properties(target: Target) -> types.SimpleNamespace:
    """What torch would say of the card."""
    return types.SimpleNamespace(
        name=target.name,
        gcnArchName=target.name,
        major=target.capability[0],
        minor=target.capability[1],
        warp_size=target.warp_size,
        multi_processor_count=target.sms,
        total_memory=80 << 30,
        shared_memory_per_block_optin=target.shared_limit,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
    )


_TICKS = itertools.count(10)


def _times(n: int) -> list[float]:
    """Milliseconds that nobody measured, no two alike, since what divides by a difference is not to fail."""
    return [next(_TICKS) / 10 for _ in range(n)]


# Capturing


class OtherProcess(RuntimeError):
    """The measure starts a process of its own, whose launches are not seen here."""


def capture(path: str, stem: str, targets: list[str]) -> Json:
    """Every launch that the measures of the lab's claims make, on each of the targets, without a card, memory or time.

    Nothing is launched, so results are garbage. Where a claim needs memory, its tensors are fake: they have shape, dtype,
    strides and an address, and no elements. A measure that stumbles over either is cut short; which ones is told.
    """
    import triton

    labs = {
        target: fresh_lab(path, stem) for target in targets
    }  # one for each, since a lab may keep what it has seen
    lab = fresh_lab(path, stem)
    seen = _Seen([], [])
    kernels = kernels_of(lab)
    for compiler in (
        False,
        True,
    ):  # then claims about the compiler, for kernels that only they show
        known = {t: {x["kernel"] for x in seen.launches if t in x["targets"]} for t in targets}
        for claim in lab.CLAIMS:
            if (claim.judges == "compile") == compiler:
                of_vendor: dict[
                    str, tuple
                ] = {}  # what a claim launches that did not ask for which card
                for target in (TARGETS[name] for name in targets):
                    if compiler and not set(kernels) - known[target.name]:
                        continue
                    launches, stumble, asked = of_vendor.get(target.vendor) or _measure(
                        labs[target.name], target, claim.id
                    )
                    if not asked:
                        of_vendor[target.vendor] = launches, stumble, asked
                    if compiler:
                        launches = [x for x in launches if x["kernel"] not in known[target.name]]
                    seen.note(
                        target, claim.id, launches, None if compiler and not launches else stumble
                    )
    called = {name for k in kernels.values() for name in k.fn.__code__.co_names}
    launched = {launch["kernel"] for launch in seen.launches}
    hashes = {
        name: kernel_sha256(kernel)
        for name, kernel in kernels.items()
        if name not in called - launched
    }
    return {
        "triton": triton.__version__,
        "kernels": dict.fromkeys(sorted(launched - set(hashes)), "0" * 64) | hashes,
        "launches": seen.launches,
        "stumbles": seen.stumbles,
    }


@dataclass
class _Seen:
    """What the measures launched, in the order in which the lab makes it, each launch once; and what they stumbled over."""

    launches: list[Json]
    stumbles: list[Json]

    def note(
        self, target: Target, claim: str, launches: list[Json], stumble: tuple[str, str] | None
    ) -> None:
        for launch in launches:
            kept = next(
                (x for x in self.launches if all(x.get(key) == launch.get(key) for key in _WHAT)),
                None,
            )
            if kept is None:
                self.launches.append(kept := launch | {"claims": [], "targets": {}, "cells": {}})
            kept["cells"] |= launch.get("cells", {})
            if target.name not in kept["targets"]:
                kept["targets"][target.name] = sum(
                    target.name in other["targets"] for other in self.launches
                )
            if claim not in kept["claims"]:
                kept["claims"].append(claim)
        if stumble:
            told = dict(zip(("claim", "how", "why"), (claim, *stumble), strict=True))
            same = next((x for x in self.stumbles if x | told == x), None)
            if same is None:
                self.stumbles.append(same := told | {"targets": []})
            same["targets"].append(target.name)


_WHAT = ("kernel", "signature", "constants", "aligned", "options", "below_2gb")


def _measure(
    lab: types.ModuleType, target: Target, claim: str
) -> tuple[list[Json], tuple[str, str] | None, bool]:
    """The launches of one claim; where its measure raised, how and why: refused by the lab, other process, or cut short;
    and whether it asked what card it runs on."""
    import triton

    judge = judge_of(str(lab.__file__))
    row = judge.claim_named(lab, claim)
    seen: list[Json] = []
    triton.runtime.driver.set_active(driver := StandIn.of(target))
    stumble = None
    try:
        with _no_card(lab, driver, seen, fake=row.gib > 0):
            guards = (
                [judge.Guards()] if "guards" in inspect.signature(row.measure).parameters else []
            )
            result = row.measure(*guards, **row.args)
            if row.kind == "error":
                for _ in result:  # measures may yield
                    pass
    except OtherProcess as error:
        stumble = "other process", str(error)
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        beside = os.path.dirname(frames[-1].filename) == os.path.dirname(str(lab.__file__))
        refused = isinstance(error, ValueError | TypeError | NotImplementedError) and beside
        stumble = ("refused", str(error)) if refused else ("cut short", one_line(error))
    for launch in seen:
        if "cells" in launch:
            launch["cells"] = {target.name: _cell_here(launch.pop("cells"), launch, target, lab)}
    return seen, stumble, driver.asked


def _cell_here(kernel: Any, launch: Json, target: Target, lab: types.ModuleType) -> Json:
    """The cell of a kernel that only this process has."""
    try:
        made, log = build(kernel, launch, target, lab)
    except Exception as error:
        return {"state": "failed", "why": one_line(error)}
    return cell_of(made, log, target)


@contextlib.contextmanager
def _no_card(
    lab: types.ModuleType, driver: StandIn, seen: list[Json], fake: bool
) -> Iterator[None]:
    """Inside, launches are noted, tuners launch each configuration, clocks run each function once, torch compiles nothing.

    Tensors lie in main memory, unless they are to be `fake`.
    """
    import torch
    import triton
    from torch._subclasses.fake_tensor import FakeTensorMode
    from triton.runtime import Autotuner, JITFunction

    def compiles(self, key, signature, device, constexprs, options, attrs, warmup):
        backend = self.device_caches[device][3]
        usual = vars(backend.parse_options({"debug": options.debug, "instrumentation_mode": ""}))
        given = {k: v for k, v in vars(options).items() if v != usual.get(k)}
        seen.append(_launch(self, signature, constexprs, attrs, given))
        if (
            kernels_of(lab).get(self.fn.__name__) is None
        ):  # made inside a function: nobody finds it again
            seen[-1] |= {"cells": self}
            driver.asked = True
        return mock.MagicMock(name="a compiled kernel")

    tuner_run = Autotuner.run

    def tune(self, *args, **kwargs):
        self.cache.clear()  # so that it tries every configuration, each time
        self.cache_results = False
        return tuner_run(self, *args, **kwargs)

    def once(function, *_, return_mode="mean", quantiles=None, **__):
        function()
        return (
            _times(len(quantiles or range(100)))
            if quantiles or return_mode == "all"
            else _times(1)[0]
        )

    def benchmark_pair(ours, theirs, *_, **__):
        ours[1](), theirs[1]()
        return judge_of(str(lab.__file__)).Ratio(1.0, 1.0, 1.0, ())

    def no_process(*_, **__):
        raise OtherProcess("it starts a process of its own")

    where = {  # what is put in the place of what
        JITFunction: {"_do_compile": compiles},
        Autotuner: {"run": tune},
        triton.runtime.driver: {
            "set_active": lambda driver: None
        },  # a lab's own stand-in is not needed
        triton.testing: {"do_bench": once, "do_bench_cudagraph": once},
        torch.cuda: {
            "get_device_properties": driver.properties,
            "get_device_capability": driver.capability,
            "get_device_name": driver.card_name,
            "current_device": lambda: 0,
            "synchronize": lambda *_: None,
            "empty_cache": lambda: None,
            "mem_get_info": lambda *_: (80 << 30, 80 << 30),
            "graph": lambda *_, **__: contextlib.nullcontext(),
            "CUDAGraph": mock.MagicMock,
            "Event": mock.MagicMock,
            "current_stream": mock.MagicMock,
        },
        torch.version: {"hip": "6.4" if driver.vendor == "amd" else None},
        torch.UntypedStorage: {"data_ptr": _address} if fake else {},
    }
    where |= {  # each that imports it has it by its name
        module: {"benchmark_pair": benchmark_pair}
        for module in companions_of(lab)
        if hasattr(module, "benchmark_pair")
    }
    with contextlib.ExitStack() as stack:
        for owner, names in where.items():
            for name, value in names.items():
                stack.enter_context(mock.patch.object(owner, name, value))
        stack.enter_context(mock.patch("subprocess.Popen", no_process))
        stack.enter_context(mock.patch("multiprocessing.process.BaseProcess.start", no_process))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        if fake:
            stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
            stack.enter_context(_without_values())
        yield


_PLACES: dict[tuple[int, int], int] = {}
_FREE = itertools.count(1 << 38, 1 << 38)  # address space costs nothing: no two tensors meet


def _address(storage: Any) -> int:
    """A fake storage's address; aligned, as an allocator's are."""
    key = storage._cdata, storage.nbytes()
    if key not in _PLACES:
        _PLACES[key] = next(_FREE) if storage.nbytes() else 0
    return _PLACES[key]


def _without_values() -> Any:
    """A mode in which fake tensors have addresses, and zeros where a measure asks for a value."""
    import numpy
    import torch
    from torch.overrides import TorchFunctionMode

    def address(t):
        return t.untyped_storage().data_ptr() + t.storage_offset() * t.element_size()

    def zero(t):
        return 0.0 if t.is_floating_point() else 0

    def zeros(t):
        values = zero(t)
        for size in reversed(t.shape):
            values = [values] * size
        return values

    answers = {
        "data_ptr": address, "item": zero, "tolist": zeros, "__float__": lambda t: 0.0, "__int__": lambda t: 0,
        "__index__": lambda t: 0, "__bool__": lambda t: True, "equal": lambda *_: True, "allclose": lambda *_, **__: True,
        "numpy": lambda t: numpy.zeros(tuple(t.shape)),
    }  # fmt: skip

    class WithoutValues(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            name = getattr(function, "__name__", "")
            if name in answers and args and isinstance(args[0], torch.Tensor):
                return answers[name](*args, **kwargs or {})
            return function(*args, **kwargs or {})

    return WithoutValues()


def _launch(kernel: Any, signature: Json, constexprs: dict, attrs: dict, given: Json) -> Json:
    """One launch as data: the kernel's name, types, constants, what is known of arguments, and the options passed."""
    names = list(signature)

    def name(path: tuple[int, ...]) -> str:
        return ".".join([names[path[0]], *map(str, path[1:])])

    def holding(word: str) -> list[str]:
        return [
            name(path) for path, facts in attrs.items() if any(fact[0] == word for fact in facts)
        ]

    launch = {
        "kernel": kernel.fn.__name__,
        "signature": signature,
        "constants": {name(path): encode(value) for path, value in constexprs.items()},
        "aligned": holding("tt.divisibility"),
        "options": {k: v for k, v in given.items() if isinstance(v, int | float | str)},
    }
    below = holding("tt.pointer_range")
    return launch | ({"below_2gb": below} if below else {})


def encode(value: Any) -> Any:
    """A constant as JSON: numbers, text and None as they are; a dtype, a jit function or a tuple in a marked way."""
    kind = type(value).__name__
    if kind == "constexpr":
        return encode(value.value)
    if kind == "dtype":
        return {"dtype": str(value)}
    if hasattr(value, "fn"):
        return {"function": value.fn.__name__}
    if isinstance(value, tuple | list):
        return {"tuple": [encode(each) for each in value]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a constant of the type {kind} cannot be written down")


def decode(value: Any, lab: types.ModuleType) -> Any:
    """The constant that encode() wrote."""
    import triton.language as tl

    match value:
        case {"dtype": name}:
            return tl.dtype(name)
        case {"function": name}:
            return getattr(lab, name)
        case {"tuple": values}:
            return tuple(decode(each, lab) for each in values)
    return value


# Compiling


def compile_one(path: str, stem: str, launch: Json, target: str, text: bool = False) -> Json:
    """Compile one launch for one target: what came out, and with `text` the assembly too."""
    lab = load_lab(path, stem)
    to = TARGETS[target]
    made, log = build(kernels_of(lab)[launch["kernel"]], launch, to, lab)
    shown = (
        {"text": text_of(made.asm.get("ptx") or made.asm["amdgcn"], made.metadata.name)}
        if text
        else {}
    )
    return {"cell": cell_of(made, log, to), **shown}


def cell_of(made: Any, log: str, target: Target) -> Json:
    """What a cell of the matrix says of what Triton made, with what ptxas said of it."""
    code = made.asm.get("ptx") or made.asm["amdgcn"]
    return {
        "state": "too large" if made.metadata.shared > target.shared_limit else "fits",
        "shared_bytes": made.metadata.shared,
        **resources(code, log),
        "code": watched(code),
        "sha256": hashlib.sha256(code.encode()).hexdigest(),
    }


def build(
    kernel: Any, launch: Json, target: Target, lab: types.ModuleType | None = None
) -> tuple[Any, str]:
    """What Triton makes of one launch for one target, and what ptxas says of it. Triton's exceptions pass."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = list(launch["signature"])

    def path(name: str) -> tuple[int, ...]:
        first, *rest = name.split(".")
        return (names.index(first), *map(int, rest))

    def types_of(value: Any) -> Any:
        return tuple(map(types_of, value)) if isinstance(value, list) else value

    attributes: dict[tuple[int, ...], list] = {}
    for key, fact in (
        ("aligned", ["tt.divisibility", 16]),
        ("below_2gb", ["tt.pointer_range", 32]),
    ):
        for name in launch.get(key, ()):
            attributes.setdefault(path(name), []).append(fact)
    constants = {path(name): decode(value, lab) for name, value in launch["constants"].items()}
    signature = {name: types_of(value) for name, value in launch["signature"].items()}
    source = ASTSource(kernel, signature, constants, attributes)
    triton.knobs.nvidia.dump_ptxas_log = True
    with contextlib.redirect_stdout(io.StringIO()) as log:
        made = triton.compile(
            source, target=GPUTarget(*target.triton), options=dict(launch["options"])
        )
    return made, log.getvalue()


PTX_VERSIONS = [f"{major}.{minor}" for major in (8, 9) for minor in range(10)]


def code_hashes(known: dict[str, Any], recorded: Kernel, target: str) -> set[str]:
    """What code_sha256 could be of this kernel of a record, whichever assembler Triton was pointed at.

    That decides the line `.version` of PTX and nothing else of the text: after its first compile Inductor points Triton,
    for the whole process, at the assembler that comes with torch.
    """
    text = code_text(known, recorded, target)
    texts = {text} | {
        re.sub(r"(?m)^\.version \S+$", f".version {version}", text) for version in PTX_VERSIONS
    }
    return {hashlib.sha256(each.encode()).hexdigest() for each in texts}


def code_text(known: dict[str, Any], recorded: Kernel, target: str = "sm_90") -> str:
    """The assembly that the installed Triton makes of a launch as a record holds it, line info off.

    `known` are the lab's kernels, by name. Call it in a process with targets.SWITCHES in its environment before triton
    is imported.
    """
    kernel, kinds = known[recorded.kernel], recorded.signature
    launch = {
        "signature": {name: kinds[name] for name in kernel.arg_names if name in kinds},
        "constants": {name: _constant(text, known) for name, text in recorded.constants.items()},
        "aligned": recorded.aligned,
        "options": {"num_warps": recorded.num_warps, "num_stages": recorded.num_stages}
        | recorded.options,
    }
    made, _ = build(kernel, launch, TARGETS[target])
    return made.asm.get("ptx") or made.asm["amdgcn"]


def _constant(text: str, known: dict[str, Any]) -> Any:
    """The constant that a record writes down as text: a number, a dtype, a jit function, else the text itself."""
    import triton.language as tl

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass
    if found := re.fullmatch(r"JITFunction\([^)]*?(\w+)\)", text):
        return known.get(found[1], text)
    dtypes = {str(value): value for value in vars(tl).values() if isinstance(value, tl.dtype)}
    return dtypes.get(text, text)


if __name__ == "__main__":
    main()
