"""Accesses of one program whose lanes meet in memory lane by lane, one of them writing, with no barrier that is known.

Whether one thread holds a lane in both accesses is decided by the layouts that the compiler chooses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.ir import effects
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.race.barriers import Barriers, results_used
from triton_lab.launch.checks.race.thread_conflicts import together, writes

_MOST = 1 << 22  # lanes whose addresses are compared one by one


@dataclass(frozen=True, eq=False)
class SameLanes:
    """Two executions of accesses, ``first`` before ``second``, in which lanes of a program have equal addresses."""

    first: SeenAccess
    second: SeenAccess

    def lanes(self) -> EvidenceLanes:
        """The lanes that both touch, as those of the second."""
        one, two = self.first.event, self.second.event
        rows, others = (np.flatnonzero(np.isin(a.programs, b.programs)) for a, b in ((one, two), (two, one)))
        one, two = one.of(rows), two.of(others)
        shape = len(two.programs), -1
        same = one.addresses().reshape(shape) == two.addresses().reshape(shape)
        same = same & one.active().reshape(shape) & two.active().reshape(shape)
        return EvidenceLanes.of(two, same.reshape(len(two.programs), *two.shape))


def same_lanes(evidence: Evidence) -> Iterator[SameLanes]:
    """The pairs of executions of different operations; none in memory that no program reads or writes again."""
    writers = [sight for sight in evidence.in_order if writes(sight)]
    if not any(sight.event.shape for sight in writers):
        return
    barriers = Barriers(evidence, results_used(evidence.launch.executable.plan))
    for part in together(evidence, writers):
        blocks = [sight for sight in part if _is_distinct(sight)]
        if len({sight.op.index for sight in blocks}) > 1 and any(map(writes, blocks)):
            yield from _pairs(blocks, barriers)


def _is_distinct(sight: SeenAccess) -> bool:
    """Whether it is a block of pointers without an axis along which they are all the same."""
    if math.prod(sight.event.shape) < 2 or effects.by_descriptor(sight.op):
        return False
    pointer = sight.event.pointer
    if not isinstance(pointer, AffineBlock):
        return True
    return all(stride or extent == 1 for stride, extent in zip(pointer.strides, pointer.shape, strict=True))


def _pairs(part: Sequence[SeenAccess], barriers: Barriers) -> Iterator[SameLanes]:
    """The pairs of executions in some memory, if one of them reads or writes what another has written."""
    keys = _keys(part)
    if keys is None:
        return
    program = np.concatenate([sight.event.programs for sight in part])
    number = np.repeat(np.arange(len(part)), [len(sight.event.programs) for sight in part])
    time = np.array([sight.event.order for sight in part])[number]
    order = np.lexsort((time, keys, program))
    program, number, time, keys = program[order], number[order], time[order], keys[order]
    starts = np.ones(len(order), np.bool_)
    starts[1:] = (program[1:] != program[:-1]) | (keys[1:] != keys[:-1])
    start = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    write = np.array([writes(sight) for sight in part])[number]
    since = barriers.last(program, time, never=-1)
    op = np.array([sight.op.index for sight in part])[number]
    atomic = np.array([sight.kind == "atomic" for sight in part])[number]

    def after(earlier: npt.NDArray[np.bool_], later: npt.NDArray[np.bool_], since: Ints | int) -> set[tuple[int, int]]:
        """Numbers of executions: each of the ``later``, with the last of the ``earlier`` before it, after ``since``."""
        known = np.maximum.accumulate(np.where(earlier, np.arange(len(order)), -1))
        known = np.concatenate([[-1], known[:-1]])
        before = np.maximum(known, 0)
        met = later & (known >= start) & (op[before] != op) & ~(atomic[before] & atomic) & (time[before] > since)
        return set(zip(number[before][met].tolist(), number[met].tolist(), strict=True))

    every = np.ones(len(order), np.bool_)
    if after(write, every, -1):
        for one, two in sorted(after(write, every, since) | after(~write, write, since)):
            yield SameLanes(part[one], part[two])


def _keys(part: Sequence[SeenAccess]) -> npt.NDArray[np.uint64] | None:
    """A number for each program of each execution: equal where all lanes have equal addresses; None for too many."""
    affine = all(isinstance(sight.event.pointer, AffineBlock) for sight in part)
    if not affine and sum(len(one.event.programs) * math.prod(one.event.shape) for one in part) > _MOST:
        return None
    forms: dict[object, int] = {}
    found = []
    for sight in part:
        event = sight.event
        shape = tuple(extent for extent in event.shape if extent > 1)
        if affine:
            assert isinstance(event.pointer, AffineBlock)
            strides = tuple(s for s, e in zip(event.pointer.strides, event.shape, strict=True) if e > 1)
            form = forms.setdefault((shape, strides), len(forms))
            base: Ints = np.broadcast_to(event.pointer.base.reshape(-1), event.programs.shape)
            rows = base.astype(np.uint64)
        else:
            form = forms.setdefault(shape, len(forms))
            weights = np.random.default_rng(0).integers(1 << 62, size=math.prod(event.shape), dtype=np.uint64) | 1
            rows = (event.addresses().reshape(len(event.programs), -1).astype(np.uint64) * weights).sum(axis=1)
        found.append(rows * np.uint64(64) + np.uint64(form % 64))
    return np.concatenate(found)
