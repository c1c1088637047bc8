"""`triton` and `triton.language` as the reader's source imports them, for one run.

Names that Triton has and the playground does not are refused by name, with where they run; a name
that Triton does not have is refused with the one that is spelled most like it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from play import dtypes, operations
from play.block import Block, as_block, broadcast_to, cast, constexpr, plain
from play.dtypes import Pointer
from play.functions import FUNCTIONS
from play.messages import Refusal
from play.watch import KernelRange

if TYPE_CHECKING:
    from play.machine import Machine

ELSEWHERE = {  # what Triton's interpreter runs, and what only a GPU does
    "interpreter": [
        "advance",
        "bitonic_merge",
        "condition",
        "float8e4b15",
        "float8e4b8",
        "float8e4nv",
        "float8e5",
        "float8e5b16",
        "load_tensor_descriptor",
        "make_block_ptr",
        "make_tensor_descriptor",
        "map_elementwise",
        "philox_impl",
        "randn4x",
        "squeeze",
        "store_tensor_descriptor",
        "tensor_descriptor",
        "unsqueeze",
    ],
    "gpu": ("dot_scaled", "extra", "inline_asm_elementwise", "target_info"),
}
ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, new: old + new,
    "and": lambda old, new: old & new,
    "max": max,
    "min": min,
    "or": lambda old, new: old | new,
    "xchg": lambda old, new: new,
    "xor": lambda old, new: old ^ new,
}
MODIFIERS = ("cache_modifier", "eviction_policy", "volatile")  # change speed, never the result


class Names:
    """A module: what it holds, and a refusal for the rest."""

    def __init__(self, called: str, names: dict[str, Any]) -> None:
        self.__dict__.update(names)
        self.__dict__["__name__"] = called

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _missing(self.__name__, name, self.__dict__)

    def __setattr__(self, name: str, value: Any) -> None:
        raise Refusal("attribute_assigned")


def _missing(module: str, name: str, known: dict[str, Any]) -> Refusal:
    if module.partition(".")[0] == "torch":
        return Refusal("not_of_torch", name=f"{module}.{name}")
    for place, names in ELSEWHERE.items():
        if module == "triton.language" and name in names:
            return Refusal(f"runs_on_{place}", name=f"tl.{name}")
    public = [each for each in known if not each.startswith("_")]
    (nearest, *_) = [*difflib.get_close_matches(name, public, 1), ""]
    short = "tl" if module == "triton.language" else module
    if nearest:
        return Refusal("no_such_name_but", name=f"{short}.{name}", nearest=f"{short}.{nearest}")
    return Refusal("no_such_name", name=f"{short}.{name}")


def language(machine: Machine) -> Names:
    """`triton.language`."""
    memory = _Memory(machine)
    names: dict[str, Any] = dict(FUNCTIONS)
    names |= {dtype.torch_name: dtype for dtype in dtypes.ALL if dtype is not dtypes.int1}
    names |= {"int1": dtypes.int1, "constexpr": constexpr, "tensor": Block, "dtype": dtypes.DType}
    names |= {f"atomic_{name}": memory.atomic(name, change) for name, change in ATOMICS.items()}
    names |= {
        "pointer_type": lambda element_ty, address_space=1: Pointer(dtypes.named(element_ty)),
        "PropagateNan": Names("PropagateNan", {"ALL": True, "NONE": False}),
        "TRITON_MAX_TENSOR_NUMEL": 2**20,
        "load": memory.load,
        "store": memory.store,
        "atomic_cas": memory.compare_and_swap,
        "program_id": lambda axis: machine.coordinate(axis, machine.memory.program, "program_id"),
        "num_programs": lambda axis: machine.coordinate(axis, machine.grid, "num_programs"),
        "range": _range,
        "static_range": lambda *bounds, **_: KernelRange(*bounds, static=True),
        "static_assert": _static_assert,
        "static_print": machine.print,
        "device_print": machine.print,
        "device_assert": lambda cond, msg="", mask=None: machine.watch.asserted(cond, msg),
        "debug_barrier": lambda: None,
        "assume": lambda cond: None,
        "multiple_of": _hint,
        "max_contiguous": _hint,
        "max_constancy": _hint,
    }
    names["math"] = Names("triton.language.math", dict(FUNCTIONS))
    return Names("triton.language", names)


def triton(machine: Machine, tl: Names) -> Names:
    """`triton`, as far as a kernel and its launch need it."""
    names = {
        "language": tl,
        "jit": machine.jit,
        "autotune": machine.autotune,
        "heuristics": machine.heuristics,
        "Config": Config,
        "cdiv": operations.cdiv,
        "next_power_of_2": next_power_of_2,
        "__version__": "3.7.1",
    }
    return Names("triton", names)


class Config:
    """One choice for `triton.autotune`: the playground takes the first and times nothing."""

    def __init__(self, kwargs: dict[str, Any], **options: Any) -> None:
        self.kwargs = kwargs
        self.options = options

    def all_kwargs(self) -> dict[str, Any]:
        return {**self.kwargs, **self.options}


def next_power_of_2(n: int) -> int:
    """The least power of two that is at least n."""
    return 1 << max(0, n - 1).bit_length()


def _range(*bounds: Any, **options: Any) -> KernelRange:
    return KernelRange(*bounds)


def _static_assert(cond: Any, msg: Any = "") -> None:
    cond = plain(cond)
    if isinstance(cond, Block):
        raise Refusal("static_assert_runtime", what=cond)
    if not cond:
        raise Refusal("static_assert", text=str(plain(msg)))


def _hint(input: Any, values: Any) -> Any:
    return input


class _Memory:
    """Loads, stores and atomic operations, as `tl` offers them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def _line(self) -> int:
        return self.machine.line() or 0

    def load(
        self,
        pointer: Any,
        mask: Any = None,
        other: Any = None,
        boundary_check: Any = (),
        **options: Any,
    ) -> Block:
        _check_options("load", options, boundary_check)
        address = _pointer(pointer, "load")
        address, lanes = _masked(address, mask)
        if plain(other) is None:
            filled = None
        elif lanes is None:
            raise Refusal("other_without_mask")
        else:
            filled = cast(broadcast_to(as_block(other), address.shape), _element(address))
        return self.machine.memory.load(address, lanes, filled, self._line())

    def store(
        self, pointer: Any, value: Any, mask: Any = None, boundary_check: Any = (), **options: Any
    ) -> None:
        _check_options("store", options, boundary_check)
        address = _pointer(pointer, "store")
        written = as_block(value)
        if address.shape == () and written.shape != ():
            raise Refusal("block_to_scalar", value=written)
        wanted = broadcast_to(written, address.shape) if written.shape != address.shape else written
        address, lanes = _masked(address, mask)
        self.machine.memory.store(address, cast(wanted, _element(address)), lanes, self._line())

    def atomic(self, name: str, change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        def apply(
            pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
        ) -> Block:
            address = _pointer(pointer, f"atomic_{name}")
            dtype = _element(address)
            if dtype.bits < 32 and not (name == "add" and dtype.is_floating() and dtype.bits == 16):
                raise Refusal("atomic_type", name=f"atomic_{name}", dtype=dtype)
            if name in ("and", "or", "xor") and not dtype.is_int():
                raise Refusal("atomic_type", name=f"atomic_{name}", dtype=dtype)
            value = cast(broadcast_to(as_block(val), address.shape), dtype)
            address, lanes = _masked(address, mask)
            function = lambda old, new, lane: change(old, new)  # noqa: E731
            return self.machine.memory.atomic(address, value, lanes, function, self._line())

        return apply

    def compare_and_swap(
        self, pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None
    ) -> Block:
        address = _pointer(pointer, "atomic_cas")
        dtype = _element(address)
        expected = cast(broadcast_to(as_block(cmp), address.shape), dtype)
        value = cast(broadcast_to(as_block(val), address.shape), dtype)

        def swap(old: Any, new: Any, lane: int) -> Any:
            return new if old == expected.data[lane] else old

        return self.machine.memory.atomic(address, value, None, swap, self._line())


def _check_options(function: str, options: dict[str, Any], boundary_check: Any) -> None:
    if boundary_check:
        raise Refusal("boundary_check", function=function)
    for name in options:
        if name not in MODIFIERS:
            raise Refusal("unknown_argument", function=f"tl.{function}", argument=name)


def _pointer(value: Any, function: str) -> Block:
    block = plain(value)
    if not isinstance(block, Block) or not isinstance(block.dtype, Pointer):
        what = block if isinstance(block, Block) else type(block).__name__
        raise Refusal("not_a_pointer", what=what, function=f"tl.{function}")
    return block


def _element(pointer: Block) -> dtypes.DType:
    assert isinstance(pointer.dtype, Pointer)
    return pointer.dtype.element_ty


def _masked(pointer: Block, mask: Any) -> tuple[Block, Block | None]:
    """The pointer, and the mask in its shape."""
    if plain(mask) is None:
        return pointer, None
    lanes = as_block(mask)
    if lanes.dtype is not dtypes.int1:
        if not lanes.dtype.is_int():
            raise Refusal("mask_type", dtype=lanes.dtype)
        lanes = cast(lanes, dtypes.int1)
    if pointer.shape == () and lanes.shape != ():
        raise Refusal("mask_of_scalar", mask=lanes)
    return pointer, broadcast_to(lanes, pointer.shape)
