"""`wanted_values`: what values before a store should have been, so that what is stored is what was expected.

A value that decides the stored block lane by lane (or row by row) is replaced by numbers, and its program is run
again until the stored block is right. No inverse of any function is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.plan_edits import Edit, Editor, edited, with_operand
from triton_lab.launch.comparison.interpreter_changes import on, table_of
from triton_lab.launch.comparison.matching.value_record import StoredBlock, ValueRecord, stored_by
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay

Array = NDArray[Any]

_STEPS = 10  # runs in which the numbers must be found
_RIGHT = 0.75  # the share of the lanes for which they must be found
_NEAR = 2e-4  # what is stored then differs by no more than this part of the greatest number
_FINER = 100  # the search goes on until they differ by so many times less, if it has steps left
_NARROW = 2.0**-6  # the same for kernels that round to half of float32's bits or fewer
# The axes of the stored block along which a value lies; None for an axis of one lane.
Axes = tuple[int | None, ...]


@dataclass(frozen=True)
class ValuePlace:
    """A value, taken by the operand ``position`` of ``op``, or (None) everywhere after ``op`` has made it."""

    number: int
    op: Op
    position: int | None
    axes: Axes
    store: Op


@dataclass(frozen=True)
class Wanted:
    """What the value at ``place`` is, and what it should be, ``(programs, *block)``; NaN where that is not known.

    ``certain``: more stored elements than lanes agree on it, so no other number would do.
    """

    place: ValuePlace
    is_now: Array
    wanted: Array
    certain: bool


def places(scope: KernelScope) -> Iterator[ValuePlace]:
    """The places before the stores from which the stored blocks follow lane by lane, the nearest first."""
    for store in scope.stores:
        at = effects.operands_of(store).value
        if store.name != "tt.store" or at is None or not scope.type(store.operands[at]).is_float:
            continue
        first = store.operands[at]
        known: dict[int, Axes | None] = {first: tuple(range(len(scope.type(first).shape)))}
        uses: dict[int, list[tuple[Op, int]]] = {first: [(store, at)]}
        order = [first]
        for number in order:  # grows
            op, axes = scope.made.get(number), known[number]
            if op is None or axes is None or op.regions or op.index in scope.library:
                continue
            for k, operand, inner in _before(scope, op, axes):
                uses.setdefault(operand, []).append((op, k))
                if operand not in known:
                    known[operand] = inner
                    order.append(operand)
                elif known[operand] != inner:
                    known[operand] = None
        for number in order:
            held = known[number]
            if held is None or constant(scope.made, number) is not None or not scope.type(number).is_float:
                continue
            users, maker = uses[number], scope.made.get(number)
            if maker is not None and maker.index not in scope.library:
                yield ValuePlace(number, maker, None, held, store)
            for op, k in users if len(users) > 1 or maker is None or _several(scope, number) else ():
                yield ValuePlace(number, op, k, held, store)


def _several(scope: KernelScope, number: int) -> bool:
    return sum(op.operands.count(number) for op in scope.function.walk()) > 1


def _before(scope: KernelScope, op: Op, axes: Axes) -> Iterator[tuple[int, int, Axes]]:
    """The operands of an operation that decide its result lane by lane, each with its axes."""
    shape = scope.type(op.results[0]).shape
    if op.name == "tt.splat":
        yield 0, op.operands[0], ()
    elif op.name == "tt.expand_dims":
        at = op.attributes["axis"]
        yield 0, op.operands[0], (*axes[:at], *axes[at + 1 :])
    elif op.name == "tt.trans":
        order = list(op.attributes["order"])
        yield 0, op.operands[0], tuple(axes[order.index(k)] for k in range(len(order)))
    elif op.name == "tt.broadcast":
        given = scope.type(op.operands[0]).shape
        yield 0, op.operands[0], tuple(None if n == 1 != of else a for n, of, a in zip(given, shape, axes, strict=True))
    elif traits.of(op.name).is_lane_by_lane or op.name == "arith.select":
        for k, operand in enumerate(op.operands):
            if scope.type(operand).shape == shape:
                yield k, operand, axes


class _Stores(Watcher):
    """What one store stores, in all programs."""

    def __init__(self, record: ValueRecord, store: Op) -> None:
        self._record, self._store = record, store
        self.found: StoredBlock | None = None

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        """``op`` stores ``values``."""
        if op.index == self._store.index and values is not None and len(frame.programs) == len(self._record.programs):
            self.found = stored_by(self._record.launch, op, pointer, mask, values, len(self._record.programs))


@dataclass
class Solver:
    """Finds what values should have been in the programs of ``probe``; ``record`` holds what they are."""

    scope: KernelScope
    probe: Probe
    record: ValueRecord

    def solve(self, place: ValuePlace) -> Wanted | None:
        """What the value should be; None if no numbers in its place make the stored block right."""
        stored = self.record.stored.get(place.store.index)
        start = self.record.values.get(place.number)
        if stored is None or start is None or stored.argument not in self.probe.side.against:
            return None
        flat = wide(self.probe.side.against[stored.argument].reshape(-1))
        active = stored.elements >= 0
        expected = np.where(active, flat[np.maximum(stored.elements, 0)], np.nan)
        greatest = float(np.nanmax(np.abs(expected), initial=0.0)) if active.any() else 0.0
        if not greatest or not np.isfinite(expected[active]).all():
            return None
        narrow = any(type.is_float and type.bits < 32 for type in self.scope.function.types)
        if float(np.nanmax(np.abs(stored.values - expected))) <= (_NARROW if narrow else _NEAR) * greatest:
            return None  # nothing that it stores is wrong, or rounding makes it so
        if place.position is not None and place.op is place.store:
            return Wanted(place, wide(start), expected, False)
        run = self._runner(place)
        axes = place.axes
        lanes = expected.shape

        def by_lane(block: Array) -> Array:
            """The sum over the stored lanes that each lane of the value decides."""
            apart = tuple(k + 1 for k in range(len(lanes) - 1) if k not in axes)
            summed = block.sum(axis=apart) if apart else block
            left = [k for k in range(len(lanes) - 1) if k in axes]
            moved = np.transpose(summed, (0, *(1 + left.index(a) for a in axes if a is not None)))
            return np.asarray(moved.reshape(start.shape))

        def over(value: Array) -> Array:
            """A number of each lane of the value, for the stored lanes that it decides."""
            kept = [a for a in axes if a is not None]
            bare = value.reshape(len(value), *(n for n, a in zip(start.shape[1:], axes, strict=True) if a is not None))
            moved = np.transpose(bare, (0, *(1 + kept.index(a) for a in sorted(kept))))
            return moved.reshape(len(value), *(lanes[k + 1] if k in kept else 1 for k in range(len(lanes) - 1)))

        def error(values: Array) -> Array | None:
            found = run(values)
            if found is None or found.values.shape != lanes or not np.array_equal(found.elements, stored.elements):
                return None
            return np.where(active, found.values - expected, 0.0)

        now = wide(start)
        size = float(np.max(np.abs(now), initial=0.0, where=np.isfinite(now))) or 1.0
        moved = np.where(np.isfinite(now), now, 0.0) + np.where(np.abs(now) > size / 64, now / 8, size / 16)
        near, stored_lanes = _NEAR * greatest, by_lane(active.astype(np.float64))
        apart, best = np.where(active, stored.values - expected, 0.0), now
        left = by_lane(np.abs(apart))
        with np.errstate(all="ignore"):
            for step in range(_STEPS):
                there = error(moved)
                if there is None:
                    return None
                missed = np.nan_to_num(by_lane(np.abs(there)), nan=np.inf)
                slope = there - apart
                if step == 0 and not slope.any():
                    return None
                bottom = by_lane(slope * slope)
                ahead = np.where(bottom == 0, 0.0, -(by_lane(slope * there) / bottom) * (moved - best))
                nearer = missed < left
                # A first step that leads away still shows the slope; a later one was too long.
                back = (best - moved) * (0.75 if step else 0.0)
                ahead = np.where(nearer | (step == 0), np.clip(ahead, -size * 4, size * 4), back)
                following = np.where(np.isfinite(ahead), moved + ahead, best + (moved - best) / 4)
                best, left = np.where(nearer, moved, best), np.where(nearer, missed, left)
                apart = np.where(over(nearer), there, apart)
                moved = following
                if (left <= near / _FINER * np.maximum(stored_lanes, 1)).all():
                    break
        right = (stored_lanes > 0) & (left <= near * np.maximum(stored_lanes, 1))
        if np.count_nonzero(right) < _RIGHT * np.count_nonzero(stored_lanes):
            return None
        return Wanted(place, now, np.where(right, best, np.nan), bool(stored_lanes.max() > 1))

    def _runner(self, place: ValuePlace) -> Any:
        """A function that runs the programs with numbers in place of the value, and gives what they store."""
        plan = self.scope.launch.executable.plan
        index = max(op.index for op in plan.walk()) + 1
        changed = edited(plan, [(place.op.index, _replaced(place))])
        held: list[Array] = []
        dtype = dtype_of(self.scope.type(place.number))

        def numbers(inner: Implementation, frame: Frame, op: Op, *operands: Value) -> Array:
            with np.errstate(all="ignore"):
                return np.asarray(held[-1][self.record.rows(frame)].astype(dtype))

        executable = Executable.of(changed, table_of({}, [{_STAND_IN: on({index}, numbers)}]))

        def run(values: Array) -> StoredBlock | None:
            held.append(values)
            watcher = _Stores(self.record, place.store)
            try:
                replay(
                    self.record.launch,
                    executable=executable,
                    access_observer=watcher,
                    programs=self.probe.programs,
                    strict=True,
                )
            except Exception:  # numbers that the kernel cannot take
                return None
            return watcher.found

        return run


_STAND_IN = "arith.negf"


def _replaced(place: ValuePlace) -> Edit:
    """An operation whose result, or one operand, is what another one gives, which stands in for it."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type = editor.type(place.number)
        if place.position is not None:
            made = editor.op(op, _STAND_IN, (place.number,), type)
            return [made, *with_operand(place.position, made.results[0])(editor, op)]
        inner = editor.value(type)
        results = tuple(inner if one == place.number else one for one in op.results)
        made = replace(editor.op(op, _STAND_IN, (inner,), type), results=(place.number,))
        return [replace(op, results=results), made]

    return edit
