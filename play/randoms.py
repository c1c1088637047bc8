"""Random numbers: Philox, as Triton has it, so that a seed gives the same numbers everywhere."""

from __future__ import annotations

from typing import Any

from play import dtypes
from play.block import (
    Block,
    as_block,
    broadcast,
    cast,
    either_undefined,
    plain,
)
from play.operations import cos, log, maximum, sin, sqrt, where

KEYS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = (0xD2511F53, 0xCD9E8D57)
LOW = 0xFFFFFFFF


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: Any = 10) -> tuple[Block, ...]:
    """Four blocks of random uint32 from a seed and four counters."""
    counters = broadcast(*(cast(as_block(counter), dtypes.uint32) for counter in (c0, c1, c2, c3)))
    (number,) = as_block(seed).data
    lanes = zip(*(counter.data for counter in counters), strict=True)
    rows = [_philox_lane(lane, number, plain(n_rounds)) for lane in lanes]
    shape, unknown = counters[0].shape, either_undefined(*counters)
    return tuple(Block([row[at] for row in rows], shape, dtypes.uint32, unknown) for at in range(4))


def _philox_lane(counter: tuple[int, ...], seed: int, rounds: int) -> tuple[int, ...]:
    c0, c1, c2, c3 = counter
    k0, k1 = seed & LOW, seed >> 32 & LOW
    for _ in range(rounds):
        product_0, product_2 = ROUNDS[0] * c0, ROUNDS[1] * c2
        c0, c2 = product_2 >> 32 ^ c1 ^ k0, product_0 >> 32 ^ c3 ^ k1
        c1, c3 = product_2 & LOW, product_0 & LOW
        k0, k1 = (k0 + KEYS[0]) & LOW, (k1 + KEYS[1]) & LOW
    return c0, c1, c2, c3


def randint4x(seed: Any, offset: Any, n_rounds: Any = 10) -> tuple[Block, ...]:
    block = as_block(offset)
    low = cast(block, dtypes.uint32)
    zero = low * 0
    high = cast(block >> 32, dtypes.uint32) if block.dtype.bits > 32 else zero
    return philox(seed, low, high, zero, zero, n_rounds)


def randint(seed: Any, offset: Any, n_rounds: Any = 10) -> Block:
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x: Any) -> Block:
    """A random integer as fp32 in [0, 1)."""
    signed = as_block(x).to(dtypes.int32, bitcast=True)
    return where(signed < 0, -signed - 1, signed) * 4.6566127342e-10


def rand(seed: Any, offset: Any, n_rounds: Any = 10) -> Block:
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(seed: Any, offsets: Any, n_rounds: Any = 10) -> tuple[Block, ...]:
    return tuple(map(uint_to_uniform_float, randint4x(seed, offsets, n_rounds)))


def pair_uniform_to_normal(u1: Any, u2: Any) -> tuple[Block, Block]:
    """Two uniform blocks as two normal ones (Box-Muller)."""
    u1 = maximum(1.0e-7, u1)
    angle = 6.283185307179586 * as_block(u2)
    radius = sqrt(-2.0 * log(u1))
    return radius * cos(angle), radius * sin(angle)


def randn(seed: Any, offset: Any, n_rounds: Any = 10) -> Block:
    u1, u2, _, _ = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(u1, u2)[0]
