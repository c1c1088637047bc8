"""Memory: the tensors of a run, what each program did to them, and what was wrong with it.

A tensor is a view (shape, strides, offset) of a storage, as in PyTorch. A pointer is a storage and
a position in it, so an access past the end is seen as such and touches nothing. Every access is
logged with program, line and positions; what no program should do becomes a finding.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from play import dtypes
from play.block import Block, cast_number, either_undefined
from play.dtypes import DType, Pointer
from play.messages import Message, Refusal

Program = tuple[int, int, int]


class Storage:
    """A stretch of memory with elements of one type.

    Three sets of positions: no program has given the element a value (`unwritten`), the value given
    was itself undefined (`undefined`), the position belongs to no element of the tensor (`gaps`).
    """

    def __init__(self, values: list[Any], dtype: DType, name: str = "") -> None:
        self.values = values
        self.dtype = dtype
        self.name = name
        self.unwritten: set[int] = set()
        self.undefined: set[int] = set()
        self.gaps: set[int] = set()
        self.shape: tuple[int, ...] = (len(values),)
        self.strides: tuple[int, ...] = (1,)
        self.initial: list[Any] = []  # the values before the first launch
        self.blank: set[int] = set()  # what was unwritten before the first launch

    def place(self, position: int) -> str:
        """The position as the reader counts it: [row, column] of a contiguous matrix.

        Outside of it the row is one that the matrix does not have.
        """
        if len(self.shape) < 2 or not self.values or math.prod(self.shape) != len(self.values):
            return f"[{position}]"
        found = []
        for size in reversed(self.shape[1:]):
            found.append(position % size)
            position //= size
        return str([position, *found[::-1]])


class Tensor:
    """What a launch passes to a kernel as a pointer: a view, with PyTorch's questions."""

    def __init__(
        self, storage: Storage, shape: Sequence[int], strides: Sequence[int], offset: int = 0
    ) -> None:
        self.storage = storage
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.offset = offset

    @property
    def dtype(self) -> DType:
        return self.storage.dtype

    @property
    def name(self) -> str:
        return self.storage.name

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def T(self) -> Tensor:
        return self.t()

    def __repr__(self) -> str:
        return f"tensor {self.name or '?'}: {self.dtype}{list(self.shape)}"

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[index] for index in range(self.shape[0]))

    def __getitem__(self, index: Any) -> Tensor:
        """A view: integers and slices, as in PyTorch."""
        keys = index if isinstance(index, tuple) else (index,)
        shape, strides, offset = [], [], self.offset
        for axis, size in enumerate(self.shape):
            key = keys[axis] if axis < len(keys) else slice(None)
            if isinstance(key, slice):
                start, stop, step = key.indices(size)
                shape.append(len(range(start, stop, step)))
                strides.append(self.strides[axis] * step)
                offset += start * self.strides[axis]
            else:
                position = operator.index(key)
                if not -size <= position < size:
                    raise Refusal("tensor_index", index=position, size=size)
                offset += position % size * self.strides[axis]
        return Tensor(self.storage, shape, strides, offset)

    def numel(self) -> int:
        return math.prod(self.shape)

    def size(self, axis: int | None = None) -> Any:
        return self.shape if axis is None else self.shape[axis]

    def stride(self, axis: int | None = None) -> Any:
        return self.strides if axis is None else self.strides[axis]

    def dim(self) -> int:
        return len(self.shape)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def is_contiguous(self) -> bool:
        return self.strides == contiguous_strides(self.shape)

    def t(self) -> Tensor:
        return Tensor(self.storage, self.shape[::-1], self.strides[::-1], self.offset)

    def positions(self) -> list[int]:
        """The position of each element in its storage, the last axis running fastest."""
        found = [self.offset]
        for size, stride in zip(self.shape, self.strides, strict=True):
            steps = [index * stride for index in range(size)]
            found = [base + step for base in found for step in steps]
        return found

    def values(self) -> list[Any]:
        """The elements as a flat list."""
        return [self.storage.values[position] for position in self.positions()]

    def item(self) -> Any:
        (value,) = self.values()
        return value

    def tolist(self) -> Any:
        """The elements as nested lists."""
        values = self.values()
        for size in reversed(self.shape[1:]):
            count = len(values) // size if size else 0
            values = [values[index * size : (index + 1) * size] for index in range(count)]
        return values if self.shape else values[0]

    def pointer(self) -> Block:
        """What the kernel sees of it."""
        return Block([self.offset], (), Pointer(self.dtype), origin=self.storage)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def flattened(values: Any) -> tuple[list[Any], tuple[int, ...]]:
    """Nested sequences as a flat list, and their shape."""
    if not isinstance(values, (list, tuple, range)):
        return [values], ()
    if not values:
        return [], (0,)
    parts = [flattened(value) for value in values]
    if len({shape for _, shape in parts}) != 1:
        raise Refusal("ragged_values")
    return list(itertools.chain.from_iterable(part for part, _ in parts)), (
        len(parts),
        *parts[0][1],
    )


def tensor(
    values: Any,
    dtype: DType | str = "float32",
    name: str = "",
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Tensor:
    """A tensor with these values, from nested lists, or from a flat list and a shape.

    With `strides` its elements lie apart, and what lies between belongs to none of them: nothing
    should read or write there. Values are rounded to the type.
    """
    flat, found = flattened(values)
    made = empty(found if shape is None else shape, dtype, name, strides)
    places = made.positions()
    if len(places) != len(flat):
        raise Refusal("count_of_values", count=len(flat), shape=list(made.shape))
    for place, value in zip(places, flat, strict=True):
        made.storage.values[place] = cast_number(value, made.dtype)
    made.storage.unwritten.clear()
    return made


def empty(
    shape: Sequence[int] | int,
    dtype: DType | str = "float32",
    name: str = "",
    strides: Sequence[int] | None = None,
) -> Tensor:
    """A tensor without values."""
    dtype = dtypes.named(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    strides = contiguous_strides(shape) if strides is None else tuple(strides)
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    length = last + 1 if math.prod(shape) else 0
    storage = Storage([cast_number(0, dtype)] * length, dtype, name)
    storage.shape, storage.strides = shape, strides
    made = Tensor(storage, shape, strides)
    storage.unwritten = set(made.positions())
    storage.gaps = set(range(length)) - storage.unwritten
    return made


# What happened


@dataclass
class Access:
    """One load, store or atomic operation of one program: the lanes whose mask was true."""

    launch: int
    program: Program
    line: int
    kind: str  # "load", "store", "atomic"
    storage: Storage
    cells: list[int]  # positions in the storage, also those outside of it
    masked: int  # how many lanes were masked off
    values: list[Any] | None = None  # what a store or an atomic operation left in the cells


@dataclass
class Finding:
    """What no program should do, at one line, to one tensor: who did it, and how often."""

    kind: str
    line: int
    tensor: str
    verb: str  # "load", "store" or "atomic"
    programs: dict[Program, int] = field(default_factory=dict)  # elements of each program
    place: str = ""  # the first element, as the reader counts it
    other: Program | None = None  # the other program, where two met
    cells: set[int] = field(default_factory=set)

    @property
    def count(self) -> int:
        """How many elements in all."""
        return sum(self.programs.values())

    @property
    def message(self) -> Message:
        """The finding in terms of the kernel."""
        program, count = next(iter(self.programs.items()))
        key = f"{self.kind}_{self.verb}"
        return Message(
            key,
            self.line,
            tensor=self.tensor,
            program=program_text(program),
            count=count,
            programs=len(self.programs),
            total=self.count,
            place=self.place,
            other=program_text(self.other) if self.other else "",
        )


def program_text(program: Program) -> str:
    """(3, 0, 0) -> "3", (3, 1, 0) -> "(3, 1)"."""
    if program[1] == program[2] == 0:
        return str(program[0])
    shown = program if program[2] else program[:2]
    return f"({', '.join(map(str, shown))})"


class Log:
    """Every access of a run, up to `limit` elements, and every finding."""

    def __init__(self, limit: int = 200_000) -> None:
        self.limit = limit
        self.accesses: list[Access] = []
        self.recorded = 0
        self.left_out = 0  # accesses beyond the limit
        self.findings: dict[tuple[str, str, int], Finding] = {}
        self.storages: list[Storage] = []

    def watch(self, storage: Storage) -> None:
        """Remember the storage, and its values before anything happens."""
        if not any(known is storage for known in self.storages):
            self.storages.append(storage)
            storage.initial = list(storage.values)
            storage.blank = set(storage.unwritten)

    def record(self, access: Access) -> None:
        if self.recorded + len(access.cells) > self.limit:
            self.left_out += 1
            return
        self.recorded += len(access.cells)
        self.accesses.append(access)

    def find(
        self,
        kind: str,
        access: Access,
        cells: Sequence[int],
        other: Program | None = None,
    ) -> None:
        """Add these cells to the finding of this kind at this line."""
        if not cells:
            return
        storage = access.storage
        key = (kind, storage.name, access.line)
        finding = self.findings.get(key)
        if finding is None:
            place = storage.place(cells[0])
            finding = Finding(kind, access.line, storage.name, access.kind, {}, place, other)
            self.findings[key] = finding
        count = finding.programs.get(access.program, 0)
        finding.programs[access.program] = count + len(cells)
        finding.cells.update(cells)


class Memory:
    """Loads and stores of the launch that is running."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.launch = -1
        self.program: Program = (0, 0, 0)
        self._accesses: list[Access] = []  # of this launch

    def begin(self) -> None:
        """A new launch: what the one before did is in memory, and no race any more."""
        self.launch += 1
        self._accesses = []

    def end(self) -> None:
        """Find where programs of this launch met in a cell so that their order counts."""
        written = {id(access.storage) for access in self._accesses if access.kind != "load"}
        owners: dict[tuple[int, int], Touched] = {}
        for access in self._accesses:
            if id(access.storage) in written:
                self._check_races(access, owners)
        self._accesses = []

    def load(self, pointer: Block, mask: Block | None, other: Block | None, line: int) -> Block:
        """The values there; `other`, or undefined, where the mask is false."""
        storage = _storage(pointer)
        access, lanes = self._access("load", pointer, mask, line)
        valid = self._check_bounds(access)
        self.log.find("unwritten_read", access, [c for c in valid if c in storage.unwritten])
        values = storage.values
        doubtful = storage.unwritten | storage.undefined | storage.gaps
        if len(lanes) == len(valid) == pointer.numel and not doubtful:
            data = [values[cell] for cell in access.cells]
            return Block(data, pointer.shape, storage.dtype, either_undefined(pointer))
        zero = cast_number(0, storage.dtype)
        data = list(other.data) if other is not None else [zero] * pointer.numel
        undefined = [other is None] * pointer.numel
        if other is not None and other.undefined:
            undefined = list(other.undefined)
        for lane, cell in zip(lanes, access.cells, strict=True):
            inside = _inside(storage, cell)
            data[lane] = values[cell] if inside else zero
            undefined[lane] = not inside or cell in doubtful
        return Block(data, pointer.shape, storage.dtype, undefined)

    def store(self, pointer: Block, value: Block, mask: Block | None, line: int) -> None:
        """Write where the mask is true; what lies outside is left alone and found."""
        storage = _storage(pointer)
        access, lanes = self._access("store", pointer, mask, line)
        access.values = [value.data[lane] for lane in lanes]
        valid = self._check_bounds(access)
        self._check_undefined(access, value, lanes)
        if len(set(valid)) != len(valid):
            self._check_lanes(access)
        for lane, cell in zip(lanes, access.cells, strict=True):
            if _inside(storage, cell):
                storage.values[cell] = value.data[lane]
                _mark(storage, cell, _bad(value, lane))

    def atomic(
        self,
        pointer: Block,
        value: Block,
        mask: Block | None,
        function: Callable[[Any, Any, int], Any],
        line: int,
    ) -> Block:
        """Lane after lane read, apply `function(old, value, lane)`, write; return what was."""
        storage = _storage(pointer)
        access, lanes = self._access("atomic", pointer, mask, line)
        data = [cast_number(0, storage.dtype)] * pointer.numel
        undefined = [True] * pointer.numel
        valid = self._check_bounds(access)
        self._check_undefined(access, value, lanes)
        self.log.find("unwritten_read", access, [c for c in valid if c in storage.unwritten])
        access.values = []
        for lane, cell in zip(lanes, access.cells, strict=True):
            if not _inside(storage, cell):
                access.values.append(value.data[lane])
                continue
            data[lane] = storage.values[cell]
            undefined[lane] = cell in storage.unwritten or cell in storage.undefined
            result = function(data[lane], value.data[lane], lane)
            (storage.values[cell],) = dtypes.fit([result], storage.dtype)
            _mark(storage, cell, undefined[lane] or _bad(value, lane))
            access.values.append(storage.values[cell])
        return Block(data, pointer.shape, storage.dtype, undefined)

    def _access(
        self, kind: str, pointer: Block, mask: Block | None, line: int
    ) -> tuple[Access, list[int]]:
        """The access, logged, and the lanes that take part in it."""
        storage = _storage(pointer)
        self.log.watch(storage)
        count = pointer.numel
        lanes = list(range(count))
        cells = pointer.data
        if mask is not None and not all(mask.data):
            lanes = [lane for lane, wanted in enumerate(mask.data) if wanted]
            cells = [pointer.data[lane] for lane in lanes]
        access = Access(self.launch, self.program, line, kind, storage, cells, count - len(lanes))
        unknown = either_undefined(pointer) if mask is None else either_undefined(pointer, mask)
        if unknown:
            wild = [pointer.data[lane] for lane in range(count) if unknown[lane]]
            self.log.find("undefined_address", access, wild)
        self._accesses.append(access)
        self.log.record(access)
        return access, lanes

    def _check_bounds(self, access: Access) -> list[int]:
        """Find what lies outside; returns the cells inside."""
        storage = access.storage
        size = len(storage.values)
        cells = access.cells
        if cells and (min(cells) < 0 or max(cells) >= size):
            self.log.find("past_end", access, [cell for cell in cells if cell >= size])
            self.log.find("before_start", access, [cell for cell in cells if cell < 0])
            cells = [cell for cell in cells if 0 <= cell < size]
        if storage.gaps:
            self.log.find("gap", access, [cell for cell in cells if cell in storage.gaps])
        return cells

    def _check_undefined(self, access: Access, value: Block, lanes: list[int]) -> None:
        """A value that is not defined is written."""
        if value.undefined:
            pairs = zip(lanes, access.cells, strict=True)
            cells = [cell for lane, cell in pairs if value.undefined[lane]]
            self.log.find("undefined", access, [c for c in cells if _inside(access.storage, c)])

    def _check_lanes(self, access: Access) -> None:
        """Two lanes of one store write different values to one cell."""
        written: dict[int, Any] = {}
        for cell, new in zip(access.cells, access.values or [], strict=True):
            if written.setdefault(cell, new) != new:
                self.log.find("lanes", access, [cell])

    def _check_races(self, access: Access, owners: dict[tuple[int, int], Touched]) -> None:
        program, kind, owner = access.program, access.kind, id(access.storage)
        overlaps: list[int] = []
        races: list[int] = []
        others: list[Program] = []
        for cell in access.cells:
            seen = owners.setdefault((owner, cell), Touched())
            if rival := seen.rival(kind, program):
                others.append(rival)
                stored_twice = kind == "store" and seen.other("store", program)
                (overlaps if stored_twice else races).append(cell)
            seen.add(kind, program)
        if others:
            self.log.find("overlap", access, overlaps, others[0])
            self.log.find("race", access, races, others[0])


class Touched:
    """Which programs have loaded, stored, or atomically changed a cell; two of each suffice."""

    __slots__ = ("atomic", "load", "store")
    RIVALS: ClassVar = {
        "load": ("store", "atomic"),
        "store": ("store", "load", "atomic"),
        "atomic": ("store", "load"),
    }

    def __init__(self) -> None:
        self.load: tuple[Program, ...] = ()
        self.store: tuple[Program, ...] = ()
        self.atomic: tuple[Program, ...] = ()

    def add(self, kind: str, program: Program) -> None:
        known = getattr(self, kind)
        if program not in known and len(known) < 2:
            setattr(self, kind, (*known, program))

    def other(self, kind: str, program: Program) -> Program | None:
        """Another program that has done this."""
        return next((known for known in getattr(self, kind) if known != program), None)

    def rival(self, kind: str, program: Program) -> Program | None:
        """Another program whose access and this one may not happen in either order."""
        for rival_kind in self.RIVALS[kind]:
            if found := self.other(rival_kind, program):
                return found
        return None


def _storage(pointer: Block) -> Storage:
    if not isinstance(pointer.dtype, Pointer) or pointer.origin is None:
        raise Refusal("not_a_pointer", what=pointer)
    return pointer.origin


def _inside(storage: Storage, cell: int) -> bool:
    return 0 <= cell < len(storage.values)


def _mark(storage: Storage, cell: int, undefined: bool) -> None:
    """The cell has been written, with a value that is undefined or not."""
    storage.unwritten.discard(cell)
    if undefined:
        storage.undefined.add(cell)
    else:
        storage.undefined.discard(cell)


def _bad(value: Block, lane: int) -> bool:
    return bool(value.undefined and value.undefined[lane])
