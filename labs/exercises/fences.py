"""The memory of one launch with torch: every tensor lies between guards, and rows may lie apart.

What surrounds an input is NaN, so that a wrong read which enters a result shows in it. What
surrounds an output is a canary, a value that a wrong store changes. A case is run with more than one
canary where one of them could hide a store.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import torch
from exercise import Case, Given, Output, Shape

GUARD = 1 << 16  # elements on each side of a tensor
INDEX = 77  # what surrounds an input of whole numbers: as an index it leads into a guard


class Canary(Enum):
    """What the memory around an output holds before a launch."""

    NOISE = 0xA5  # every byte: a small number in floating point, negative in signed types
    MINUS_ZERO = -0.0  # adding 0 makes it +0, while noise stays noise


def canaries(case: Case) -> list[Canary]:
    """The canaries to run a case with.

    A kernel that adds to what an output holds may add 0 to the memory behind it.
    """
    added_to = any(output.start is not None for output in case.outputs.values())
    return [Canary.NOISE, Canary.MINUS_ZERO] if added_to else [Canary.NOISE]


@dataclass(frozen=True)
class Room:
    """A tensor, the memory around it, and what all of it held before the launch."""

    name: str
    memory: torch.Tensor
    before: torch.Tensor
    tensor: torch.Tensor
    is_output: bool

    def changed(self) -> int:
        """How many elements changed that no program may write."""
        after = self.memory.clone()
        if self.is_output:
            view = same_view(self.tensor, after)
            view.copy_(same_view(self.tensor, self.before))
        size = self.memory.element_size()
        different = as_bytes(after) != as_bytes(self.before)
        return int(different.view(-1, size).any(dim=1).sum())


def fenced(name: str, argument: Given | Output, device: str, canary: Canary) -> Room:
    """The argument as a tensor in the middle of a room."""
    sizes = argument.sizes
    strides = argument.strides or contiguous(sizes)
    dtype = getattr(torch, argument.dtype)
    memory = torch.empty(GUARD + extent(sizes, strides) + GUARD, dtype=dtype, device=device)
    tensor = memory.as_strided(sizes, strides, GUARD)
    is_output = isinstance(argument, Output)
    if is_output:
        fill_with_canary(memory, canary)
    else:
        memory.fill_(math.nan if dtype.is_floating_point else INDEX)
    values = argument.start if isinstance(argument, Output) else argument.values
    if values is None:
        tensor.fill_(unset(dtype))
    else:
        tensor.copy_(torch.tensor(values, dtype=dtype).reshape(sizes))
    return Room(name, memory, memory.clone(), tensor, is_output)


def fill_with_canary(memory: torch.Tensor, canary: Canary) -> None:
    if canary is Canary.MINUS_ZERO and memory.dtype.is_floating_point:
        memory.fill_(Canary.MINUS_ZERO.value)
    else:
        as_bytes(memory).fill_(Canary.NOISE.value)


def unset(dtype: torch.dtype) -> float:
    """What an element of an output holds that nobody has written: NaN, or all bits set."""
    if dtype.is_floating_point:
        return math.nan
    return 255 if dtype == torch.uint8 else -1


def extent(sizes: Shape, strides: Shape) -> int:
    """From the first element of a tensor to one past its last, in elements."""
    if math.prod(sizes) == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def contiguous(sizes: Shape) -> Shape:
    """The strides of a tensor without gaps."""
    return tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


def same_view(tensor: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
    """What `tensor` is of its own memory, of this one."""
    return memory.as_strided(tensor.shape, tensor.stride(), GUARD)


def as_bytes(memory: torch.Tensor) -> torch.Tensor:
    """The same memory as bytes: NaN equals NaN there, and -0 differs from 0."""
    return memory.view(torch.uint8)
