"""A launcher, called as a learner calls it; and incorrect launchers, each of which must be caught.

The claims about errors hand a launcher its output, so that what it writes can be watched. A learner
writes `y = f(x)`, again with other values, with a view, in place. A `Launch` describes a launcher;
two tests follow from it: that nothing goes wrong on these paths, and that none of the incorrect
launchers below gets through.
"""

import contextlib
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from unittest import mock

import torch

Case = dict[str, Any]  # the sizes and the dtype of one call: {"n": 1000, "dtype": torch.float32}
CALLS = 40  # in a row, before the result of the last is judged


@dataclass(frozen=True)
class Launch:
    """How a launcher is called, and what it must return."""

    lab: ModuleType
    function: Callable[..., torch.Tensor]
    reference: Callable[..., torch.Tensor]  # of the same tensors
    inputs: Callable[..., Sequence[torch.Tensor]]  # inputs(generator, **case)
    cases: Sequence[Case]  # every dtype; the first is small
    draw: Callable[[random.Random], Iterable[Case]]  # sizes that nobody named, new in every run
    bound: Callable[[torch.dtype], float] = lambda dtype: 0.0  # of a row, relative to its largest
    aliases: tuple[int, ...] = ()  # which inputs `out` may be
    harmless: tuple[str, ...] = ()  # incorrect launchers that cannot matter here
    takes_out: bool = True  # whether there is an argument `out`
    takes_nan: bool = True  # whether the launcher promises anything about NaN

    def faults(self) -> str:
        """What goes wrong where a learner calls the launcher: the first thing found, or "none"."""
        chosen = random.Random()
        for name, check in CHECKS.items():
            try:
                check(self, chosen)
            except Incorrect as fault:
                return f"{name}: {fault}"
        return "none"

    def escaped(self) -> str:
        """Which incorrect launchers are taken for correct ones: their names, or "none"."""
        names = [
            name
            for name, mutant in MUTANTS.items()
            if name not in self.harmless and replace(self, function=mutant(self)).faults() == "none"
        ]
        return ", ".join(names) or "none"


class Incorrect(Exception):
    """What a launcher did wrong, in a few words."""


# %% The paths of a learner. Each raises Incorrect.
def result_alone(launch: Launch, _: random.Random) -> None:
    """No `out` is given: the result is a new tensor, correct in every dtype."""
    for case in launch.cases:
        tensors = drawn_inputs(launch, case)
        got = launch.function(*tensors)
        require_close(launch, case, got, tensors)
        memory = got.untyped_storage().data_ptr()
        if got.numel() and any(t.untyped_storage().data_ptr() == memory for t in tensors):
            raise Incorrect("the result lies in the memory of an input")


def other_values(launch: Launch, _: random.Random) -> None:
    """The same shape again with other values; the first result stays what it was."""
    for case in launch.cases:
        first, second = (drawn_inputs(launch, case, seed) for seed in (1, 2))
        kept = launch.function(*first)
        require_close(launch, case, launch.function(*second), second)
        require_close(launch, case, kept, first, "the first of two results, after the second call")


def sizes_between(launch: Launch, chosen: random.Random) -> None:
    """Sizes that nobody named, other ones in every run."""
    for case in launch.draw(chosen):
        tensors = drawn_inputs(launch, case, seed=3)
        require_close(launch, case, launch.function(*tensors), tensors)


def given_output(launch: Launch, _: random.Random) -> None:
    """`out` is filled and returned; it may be an input where the launcher says so."""
    if not launch.takes_out:
        return
    for case in launch.cases:
        tensors = drawn_inputs(launch, case, seed=4)
        out = torch.empty_like(launch.reference(*tensors))
        if launch.function(*tensors, out=out) is not out:
            raise Incorrect("the result is not the given out")
        require_close(launch, case, out, tensors)
        for index in launch.aliases:
            copies = [t.clone() for t in tensors]
            launch.function(*copies, out=copies[index])
            require_close(launch, case, copies[index], tensors, f"in place of input {index}")


def other_layouts(launch: Launch, _: random.Random) -> None:
    """Each input as a view: off by one element, transposed, every second column, expanded."""
    for case in launch.cases:
        tensors = drawn_inputs(launch, case, seed=5)
        for index, tensor in enumerate(tensors):
            for name, view in views_of(tensor):
                given = [*tensors[:index], view, *tensors[index + 1 :]]
                call_or_refusal(launch, case, given, f"input {index} {name}")
        if launch.takes_out:
            want = launch.reference(*tensors)
            for name, out in views_of(want):
                if not name.startswith("expanded"):
                    call_or_refusal(launch, case, list(tensors), f"out {name}", out)


def not_a_number(launch: Launch, _: random.Random) -> None:
    """A NaN in an input is a NaN in the result wherever the reference has one."""
    if not launch.takes_nan:
        return
    for case in launch.cases:
        tensors = [t.clone() for t in drawn_inputs(launch, case, seed=6)]
        if tensors[0].dtype.is_floating_point and tensors[0].numel():
            tensors[0].view(-1)[tensors[0].numel() // 2] = torch.nan
            require_close(launch, case, launch.function(*tensors), tuple(tensors), "beside a NaN")


def many_calls(launch: Launch, _: random.Random) -> None:
    """The last of many calls is as correct as the first."""
    case = launch.cases[0]
    for seed in range(CALLS):
        tensors = drawn_inputs(launch, case, seed)
        got = launch.function(*tensors)
    require_close(launch, case, got, tensors, f"call {CALLS}")


def kernel_needed(launch: Launch, chosen: random.Random) -> None:
    """With the lab's kernels switched off, the result is incorrect: nothing else computes it."""
    case = launch.cases[0]
    tensors = drawn_inputs(launch, case, chosen.randrange(100, 10**9))
    values = vars(launch.lab).values()
    kernels = [value for value in values if hasattr(value, "run") and hasattr(value, "warmup")]
    with contextlib.ExitStack() as switched_off:
        for kernel in kernels:
            switched_off.enter_context(mock.patch.object(kernel, "run", return_value=None))
        try:
            require_close(launch, case, launch.function(*tensors), tensors)
        except Incorrect:
            return
    raise Incorrect("the result is correct without any kernel of this file")


CHECKS: dict[str, Callable[[Launch, random.Random], None]] = {
    check.__name__: check
    for check in (
        result_alone,
        other_values,
        kernel_needed,
        sizes_between,
        given_output,
        other_layouts,
        not_a_number,
        many_calls,
    )
}


def drawn_inputs(launch: Launch, case: Case, seed: int = 0) -> tuple[torch.Tensor, ...]:
    """The tensors of a case; another seed gives other values."""
    return tuple(launch.inputs(torch.Generator().manual_seed(seed), **case))


def views_of(tensor: torch.Tensor) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors of the same shape and values that lie otherwise in memory, each with its name."""
    room = tensor.new_empty(tensor.numel() + 1)[1:].view(tensor.shape)
    yield "off by one element", room.copy_(tensor)
    if not tensor.numel():
        return
    wide = tensor.new_empty((*tensor.shape[:-1], 2 * tensor.shape[-1]))
    yield "with every second column", wide[..., ::2].copy_(tensor)
    yield "expanded along its rows", tensor[..., :1].expand_as(tensor)
    if tensor.ndim < 2:
        return
    yield "transposed", tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    apart = tensor.new_empty((*tensor.shape[:-1], tensor.shape[-1] + 3))
    yield "with rows apart", apart[..., : tensor.shape[-1]].copy_(tensor)
    yield "expanded", tensor[..., :1, :].expand_as(tensor)


def call_or_refusal(
    launch: Launch,
    case: Case,
    tensors: list[torch.Tensor],
    what: str,
    out: torch.Tensor | None = None,
) -> None:
    """The launcher is correct with these tensors, or refuses them by ValueError."""
    values = tuple(t.clone(memory_format=torch.contiguous_format) for t in tensors)
    try:
        got = launch.function(*tensors) if out is None else launch.function(*tensors, out=out)
    except ValueError:
        return
    require_close(launch, case, got, values, what)


def require_close(
    launch: Launch, case: Case, got: Any, tensors: tuple[torch.Tensor, ...], what: str = ""
) -> None:
    """Raise Incorrect unless each row of the result is within the bound of that row."""
    where = f"{what + ', ' if what else ''}{sizes(case)}"
    want = launch.reference(*tensors)
    if not isinstance(got, torch.Tensor):
        raise Incorrect(f"{where}: returned {type(got).__name__}, not a tensor")
    if (got.shape, got.dtype, got.device.type) != (want.shape, want.dtype, want.device.type):
        raise Incorrect(f"{where}: returned {kind_of(got)} instead of {kind_of(want)}")
    if not want.dtype.is_floating_point:
        if not torch.equal(got, want):
            raise Incorrect(f"{where}: integers differ")
        return
    got, want = rows_of(got.double()), rows_of(want.double())
    if not torch.equal(got.isnan(), want.isnan()):
        raise Incorrect(f"{where}: NaN in other places")
    same = (got == want) | want.isnan()
    allowed = launch.bound(tensors[0].dtype) * want.nan_to_num(0, 0, 0).abs().amax(-1, keepdim=True)
    if not (same | ((got - want).abs() <= allowed)).all():
        raise Incorrect(f"{where}: a row is past its bound")


def rows_of(tensor: torch.Tensor) -> torch.Tensor:
    """The rows of a tensor, or blocks of 1,024 of a vector, as a matrix; the last is padded."""
    if tensor.ndim > 1 or not tensor.numel():
        return tensor.reshape(-1, max(tensor.shape[-1], 1))
    short = -tensor.numel() % 1024
    return torch.nn.functional.pad(tensor, (0, short)).view(-1, 1024)


def octaves(chosen: random.Random, most: int) -> Iterator[int]:
    """A size between each power of two and the next, up to `most`; a power; one past a multiple."""
    power = 2
    while 2 * power <= most:
        yield chosen.randint(power + 1, 2 * power - 1)
        power *= 2
    yield 2 ** chosen.randint(2, power.bit_length() - 2)
    yield 1024 * chosen.randint(1, max(most // 1024 - 1, 1)) + 1


def whole_numbers(
    generator: torch.Generator, shape: tuple[int, ...], dtype: torch.dtype
) -> torch.Tensor:
    """Whole numbers from -4 to 4: sums of a few hundred products are exact in every dtype."""
    return torch.randint(-4, 5, shape, generator=generator).to(dtype)


def sizes(case: Case) -> str:
    """n=1000, dtype=float32"""
    return ", ".join(f"{name}={str(value).removeprefix('torch.')}" for name, value in case.items())


def kind_of(tensor: torch.Tensor) -> str:
    """float32 [3, 4] on cpu"""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return f"{dtype} {list(tensor.shape)} on {tensor.device.type}"


# %% Launchers that are incorrect in ways that have passed for correct.
def cached(launch: Launch) -> Callable[..., Any]:
    """Answers a shape and dtype that it has seen with the result of then."""
    known: dict[Any, torch.Tensor] = {}

    def function(*tensors: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        key = tuple((t.shape, t.dtype) for t in tensors)
        if key not in known:
            known[key] = launch.function(*tensors)
        return known[key].clone() if out is None else out.copy_(known[key])

    return function


def answers_none(launch: Launch) -> Callable[..., Any]:
    """Returns nothing unless `out` is given."""
    return wrapped(launch, lambda result, tensors, out: result if out is not None else None)


def answers_input(launch: Launch) -> Callable[..., Any]:
    """Returns its first input unless `out` is given."""
    return wrapped(launch, lambda result, tensors, out: result if out is not None else tensors[0])


def answers_sevens(launch: Launch) -> Callable[..., Any]:
    """Returns garbage unless `out` is given."""
    return wrapped(
        launch, lambda result, tensors, out: result if out is not None else result.clone().fill_(7)
    )


def shared_buffer(launch: Launch) -> Callable[..., Any]:
    """Returns the same memory for every result of one shape."""
    buffers: dict[Any, torch.Tensor] = {}

    def finish(result: torch.Tensor, tensors: Any, out: torch.Tensor | None) -> torch.Tensor:
        if out is not None:
            return result
        return buffers.setdefault((result.shape, result.dtype), result.clone()).copy_(result)

    return wrapped(launch, finish)


def no_kernel(launch: Launch) -> Callable[..., Any]:
    """Leaves the work to a library."""

    def function(*tensors: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        result = launch.reference(*tensors).clone()
        return result if out is None else out.copy_(result)

    return function


def stores_first(launch: Launch) -> Callable[..., Any]:
    """Writes its output before it has read its inputs."""

    def function(*tensors: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        return (
            launch.function(*tensors) if out is None else launch.function(*tensors, out=out.zero_())
        )

    return function


def only_named_sizes(launch: Launch) -> Callable[..., Any]:
    """Correct only for the sizes that the lab names."""
    known = {drawn_inputs(launch, case)[0].shape for case in launch.cases}

    def finish(result: torch.Tensor, tensors: Any, out: Any) -> torch.Tensor:
        return result if tensors[0].shape in known else result.add_(1)

    return wrapped(launch, finish)


def last_element(launch: Launch) -> Callable[..., Any]:
    """Leaves out the last element where the last size is not divisible by 4."""

    def finish(result: torch.Tensor, tensors: Any, out: Any) -> torch.Tensor:
        if result.numel() and result.shape[-1] % 4:
            result[..., -1].add_(1)
        return result

    return wrapped(launch, finish)


def promises_alignment(launch: Launch) -> Callable[..., Any]:
    """Reads from the address below that is divisible by 16."""

    def function(*tensors: torch.Tensor, **options: Any) -> torch.Tensor:
        return launch.function(*(aligned_below(t) for t in tensors), **options)

    return function


def aligned_below(tensor: torch.Tensor) -> torch.Tensor:
    """The view of the same shape and strides that begins at a multiple of 16 bytes."""
    if tensor.numel() == 0 or tensor.data_ptr() % 16 == 0:
        return tensor
    back = tensor.data_ptr() % 16 // tensor.element_size()
    offset = max(tensor.storage_offset() - back, 0)
    return tensor.as_strided(tensor.shape, tensor.stride(), offset)


def ignores_strides(launch: Launch) -> Callable[..., Any]:
    """Takes every input for contiguous."""

    def function(*tensors: torch.Tensor, **options: Any) -> torch.Tensor:
        dense = (t.as_strided(t.shape, strides_of(t.shape), t.storage_offset()) for t in tensors)
        return launch.function(
            *(d.clone() if fits(t) else t for d, t in zip(dense, tensors, strict=True)), **options
        )

    return function


def strides_of(shape: torch.Size) -> tuple[int, ...]:
    """The strides of a contiguous tensor: (12, 4, 1) of [2, 3, 4]."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def fits(tensor: torch.Tensor) -> bool:
    """Whether the storage has room for the tensor read contiguously from its first element."""
    room = tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset()
    return tensor.numel() <= room


def drops_nan(launch: Launch) -> Callable[..., Any]:
    """Returns 0 in place of NaN."""

    def finish(result: torch.Tensor, tensors: Any, out: Any) -> torch.Tensor:
        return result.nan_to_num_(0) if result.dtype.is_floating_point else result

    return wrapped(launch, finish)


def later_wrong(launch: Launch) -> Callable[..., Any]:
    """Correct until its thirtieth call of one shape."""
    calls: dict[Any, int] = {}

    def finish(result: torch.Tensor, tensors: Any, out: Any) -> torch.Tensor:
        key = result.shape
        calls[key] = calls.get(key, 0) + 1
        return result if calls[key] < 30 else result.add_(1)

    return wrapped(launch, finish)


def other_dtype(launch: Launch) -> Callable[..., Any]:
    """Returns fp64, whatever the inputs are."""
    return wrapped(
        launch, lambda result, tensors, out: result if out is not None else result.double()
    )


def wrapped(launch: Launch, finish: Callable[..., Any]) -> Callable[..., Any]:
    """The launcher, and `finish` on its result: finish(result, tensors, out)."""

    def function(*tensors: torch.Tensor, out: torch.Tensor | None = None) -> Any:
        options = {} if out is None else {"out": out}
        return finish(launch.function(*tensors, **options), tensors, out)

    return function


MUTANTS: dict[str, Callable[[Launch], Callable[..., Any]]] = {
    mutant.__name__: mutant
    for mutant in (
        cached,
        answers_none,
        answers_input,
        answers_sevens,
        shared_buffer,
        no_kernel,
        stores_first,
        only_named_sizes,
        last_element,
        promises_alignment,
        ignores_strides,
        drops_nan,
        later_wrong,
        other_dtype,
    )
}
