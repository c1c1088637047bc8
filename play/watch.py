"""What rewritten code calls while it runs.

It turns numbers into values of the kernel, counts loops, and refuses what the compiler would refuse
of names and types in loops and branches on runtime values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any

from play import dtypes
from play.block import Block, Hidden, as_block, plain, scalar, truth
from play.messages import Refusal

STEPS = 1_000_000  # turns of loops and calls of functions in one run; those of kernels count more
KERNEL_TURN = 20
DEPTH = 60  # calls within calls


@dataclass(frozen=True)
class KernelFacts:
    """What the source says of a kernel."""

    names: dict[str, int]  # read from its surroundings, with the line of the first use
    constants: tuple[str, ...]  # parameters under tl.constexpr
    line: int


def kind(value: Any) -> str:
    """What the compiler compares of a name: type and shape of a block, or that it is none."""
    return repr(value) if isinstance(value, Block) else "constexpr"


def known(names: Iterable[str], variables: dict[str, Any]) -> dict[str, str]:
    """Those of the names that have a value, each with its kind."""
    return {
        name: kind(variables[name])
        for name in names
        if name in variables and not isinstance(variables[name], Hidden)
    }


class KernelRange:
    """`range`, `tl.range` and `tl.static_range` within a kernel."""

    def __init__(self, *bounds: Any, static: bool = False) -> None:
        if not 1 <= len(bounds) <= 3:
            raise Refusal("range_bounds")
        first, last, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        self.bounds = tuple(map(plain, (first, last, step)))
        self.static = static

    def values(self) -> Iterator[Any]:
        """Constants if static, else scalars of the type of the bounds."""
        if self.static:
            for bound in self.bounds:
                if isinstance(bound, Block):
                    raise Refusal("static_range_runtime", what=bound)
            yield from range(*self.bounds)
            return
        blocks = [as_block(bound) for bound in self.bounds]
        dtype = dtypes.int32
        for block in blocks:
            if not block.dtype.is_int() or block.shape != ():
                raise Refusal("range_not_integer", what=block)
            dtype = dtypes.promote_integers(dtype, block.dtype)  # type: ignore[arg-type]
        if blocks[2].data[0] == 0:
            raise Refusal("range_step_zero")
        for value in range(*(block.data[0] for block in blocks)):
            yield scalar(value, dtype)


class Loop:
    """A loop within a kernel. At run time each name keeps the type that it had before."""

    def __init__(self, watch: Watch, names: tuple[str, ...], target: str, line: int | None) -> None:
        self.watch, self.names, self.target, self.line = watch, names, target, line
        self.before: dict[str, str] = {}
        self.at_run_time = True

    def enter(self, variables: dict[str, Any]) -> None:
        self.before = known(self.names, variables)

    def over(self, iterated: Any) -> Iterator[Any]:
        if not isinstance(iterated, KernelRange):
            key = "block_iterated" if isinstance(iterated, Block) else "loop_over_range_only"
            raise Refusal(key, block=iterated)
        self.at_run_time = not iterated.static
        for value in iterated.values():
            self.watch.tick(KERNEL_TURN)
            yield value

    def goes_on(self, test: Any) -> bool:
        self.watch.tick(KERNEL_TURN)
        return self.watch.condition(test)

    def check(self, variables: dict[str, Any]) -> None:
        """At the end of a turn."""
        if not self.at_run_time:
            return
        for name, before in self.before.items():
            after = kind(variables[name]) if name in variables else before
            if name == self.target or before == after:
                continue
            if before == "constexpr":
                raise Refusal("loop_changes_constant", line=self.line, name=name)
            raise Refusal(
                "loop_changes_type", line=self.line, name=name, before=before, after=after
            )

    def hides(self, name: str) -> bool:
        return self.at_run_time and name not in self.before and name != self.target

    def hidden(self, name: str) -> Hidden:
        return Hidden(name, "defined_in_loop", self.line)


class Branch:
    """An `if` within a kernel. At run time both sides must agree on names and types."""

    def __init__(
        self,
        watch: Watch,
        test: Any,
        then: tuple[str, ...],
        other: tuple[str, ...],
        variables: dict[str, Any],
        line: int | None,
    ) -> None:
        self.at_run_time = isinstance(plain(test), Block)
        self.taken = watch.condition(test)
        self.then, self.other, self.line = then, other, line
        self.before = known((*then, *other), variables)

    def check(self, variables: dict[str, Any]) -> None:
        if not self.at_run_time:
            return
        for name in self.then if self.taken else self.other:
            before = self.before.get(name)
            after = kind(variables[name]) if name in variables else before
            if before is not None and before != after and before != "constexpr":
                raise Refusal(
                    "branch_changes_type", line=self.line, name=name, before=before, after=after
                )

    def hides(self, name: str) -> bool:
        in_both = name in self.then and name in self.other
        return self.at_run_time and name not in self.before and not in_both

    def hidden(self, name: str) -> Hidden:
        return Hidden(name, "defined_in_branch", self.line)


class Watch:
    """One run's watch. `line()` says where the source is, `fail` records what does not stop it."""

    def __init__(self, line: Callable[[], int | None], fail: Callable[..., None]) -> None:
        self.line = line
        self.fail = fail
        self.steps = 0
        self.depth = 0

    def tick(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > STEPS:
            raise Refusal("endless")

    def counted(self, iterable: Iterable[Any]) -> Iterator[Any]:
        for value in iterable:
            self.tick()
            yield value

    def called(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its calls counted and not too deep."""

        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            self.tick()
            self.depth += 1
            try:
                if self.depth > DEPTH:
                    raise Refusal("recursion", name=function.__name__)
                return function(*arguments, **keywords)
            finally:
                self.depth -= 1

        return call

    def kernel(
        self, names: dict[str, int], constants: tuple[str, ...], line: int
    ) -> Callable[..., Any]:
        """A decorator that leaves with the function what the source says of it."""

        def mark(function: Callable[..., Any]) -> Callable[..., Any]:
            function.facts = KernelFacts(names, constants, line)  # type: ignore[attr-defined]
            return function

        return mark

    def assigned(self, value: Any) -> Any:
        """What a name of a kernel becomes: a number is a runtime value, no constant any more."""
        value = plain(value)
        if isinstance(value, Hidden):
            raise value.refusal()
        if isinstance(value, (bool, int, float)):
            return scalar(value)
        if type(value) in (tuple, list):
            return tuple(map(self.assigned, value))
        return value

    def constant(self, value: Any) -> Any:
        """What `name: tl.constexpr = value` gives the name."""
        value = plain(value)
        if isinstance(value, Block):
            raise Refusal("constexpr_of_runtime", what=value)
        return value

    def condition(self, test: Any) -> bool:
        test = plain(test)
        if isinstance(test, Hidden):
            raise test.refusal()
        if isinstance(test, Block) and test.undefined:
            self.fail("undefined_condition")
        return bool(test)

    def loop(self, names: tuple[str, ...], target: str) -> Loop:
        return Loop(self, names, target, self.line())

    def branch(
        self, test: Any, then: tuple[str, ...], other: tuple[str, ...], variables: dict[str, Any]
    ) -> Branch:
        return Branch(self, test, then, other, variables, self.line())

    def all_of(self, *parts: Callable[[], Any]) -> Any:
        """`and`: constants decide at once, blocks are combined lane by lane."""
        return self._combined(parts, False, lambda a, b: a & b)

    def any_of(self, *parts: Callable[[], Any]) -> Any:
        """`or`, in the same way."""
        return self._combined(parts, True, lambda a, b: a | b)

    def _combined(
        self, parts: tuple[Callable[[], Any], ...], decisive: bool, combine: Callable[..., Any]
    ) -> Any:
        found: Block | None = None
        value: Any = None
        for part in parts:
            value = plain(part())
            if isinstance(value, Block):
                found = truth(value) if found is None else combine(found, truth(value))
            elif bool(value) is decisive:
                return value
        return value if found is None else found

    def negated(self, value: Any) -> Any:
        value = plain(value)
        return ~truth(value) if isinstance(value, Block) else not value

    def asserted(self, condition: Any, message: Any = "") -> None:
        """`assert` and tl.device_assert."""
        block = truth(condition)
        if not all(block.data):
            self.fail("assertion", text=str(plain(message)))
