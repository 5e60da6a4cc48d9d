"""The memory of a launch that ran in shards: what each of them has left is put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.memory_regions import Memory
from triton_lab.ir import Op, Plan, effects
from triton_lab.ir.effects import Rmw
from triton_lab.launch.byte_ranges import NOTHING, Ranges
from triton_lab.launch.membership_classes import counted
from triton_lab.launch.sharding.shard import Done, Whole, held_by, pieces

Array = NDArray[Any]

# How to merge the values that several parts' atomics leave in an element: from the merged value so far, one part's
# value, and the value before the launch. Sums wrap, so their order does not matter.
_COMBINED: Mapping[Rmw, tuple[str, Callable[[Array, Array, Array], Array]]] = {
    Rmw.ADD: ("u", lambda now, part, before: now + (part - before)),
    Rmw.AND: ("u", lambda now, part, before: now & part),
    Rmw.OR: ("u", lambda now, part, before: now | part),
    Rmw.XOR: ("u", lambda now, part, before: now ^ part ^ before),
    Rmw.MAX: ("i", lambda now, part, before: np.maximum(now, part)),
    Rmw.MIN: ("i", lambda now, part, before: np.minimum(now, part)),
    Rmw.UMAX: ("u", lambda now, part, before: np.maximum(now, part)),
    Rmw.UMIN: ("u", lambda now, part, before: np.minimum(now, part)),
}


def rmw_of(op: Op) -> Rmw | None:
    """The operation of an atomic whose order does not matter and that is atomic between programs; None for others."""
    number = op.attributes.get("atomic_rmw_op")
    if op.name != "tt.atomic_rmw" or number not in list(_COMBINED) or not effects.is_shared(op):
        return None
    return Rmw(number)


def made(done: Done, where: Ranges) -> Array:
    """The bytes that a part has written at ``where``; it has written all of them."""
    left: Array = done.data[_positions(done.changed, where)]
    return left


def _positions(whole: Ranges, some: Ranges) -> Array:
    """The positions of the bytes of ``some`` in the data of ``whole``, which contains them all."""
    sizes = whole.stop - whole.start
    begins = np.cumsum(sizes) - sizes
    at = whole.number(some.start) - 1
    lengths = some.stop - some.start
    positions: Array = np.repeat(begins[at] + some.start - whole.start[at], lengths) + counted(lengths)
    return positions


def put(memory: Memory, whole: Whole, done: Sequence[Done], plan: Plan) -> None:
    """Write the parts' results into the memory of the launch; combine elements that several parts updated."""
    sums = {op.index: rmw for op in plan.walk() if (rmw := rmw_of(op)) is not None}
    seen: dict[tuple[Rmw, int], Ranges] = {}
    for one in done:
        updated: dict[tuple[Rmw, int], list[Ranges]] = {}
        for op, rmw in sums.items():
            if op in one.touched:
                updated.setdefault((rmw, one.kinds[op][2]), []).append(one.touched[op])
        alone = one.changed
        for key, parts in updated.items():
            mine, before = Ranges.joined(parts), seen.get(key, NOTHING)
            if len(again := before & mine & alone):
                _combine(memory, whole, one, again, *key)
                alone -= again
            seen[key] = before | mine
        _write(memory, alone, made(one, alone))


def _combine(memory: Memory, whole: Whole, done: Done, where: Ranges, rmw: Rmw, itemsize: int) -> None:
    kind, combined = _COMBINED[rmw]
    now, part = held_by(memory, where), made(done, where)
    before = np.concatenate(
        [whole.snapshot.held(*pair) for pair in zip(where.start.tolist(), where.stop.tolist(), strict=True)]
    )
    dtype = np.dtype(f"{kind}{itemsize}")
    _write(memory, where, combined(now.view(dtype), part.view(dtype), before.view(dtype)).view(np.uint8))


def _write(memory: Memory, where: Ranges, data: Array) -> None:
    at = 0
    for region, low, high in pieces(memory, where):
        region.data[low:high] = data[at : at + high - low]
        at += high - low
        if region.flags is not None:
            region.flags.data[low:high] = 0xFF
