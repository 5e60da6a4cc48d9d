"""Whether masked-off lanes take part in reductions and products, by the lane maps of `ir.traits` along a replay."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.neutral_values import combined_by
from triton_lab.ir.traits import Kind
from triton_lab.launch.propagation.forward_analysis import ForwardAnalysis
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import block_shape

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]


class ByAccess(ForwardAnalysis[int]):
    """Keeps the access that has just happened, until its operation has ended."""

    def __init__(self, launch: Recorded, kind: Any) -> None:
        super().__init__(launch.executable.plan, kind)
        self.launch = launch
        self.event: AccessEvent | None = None

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        self.event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))

    def follows_decisions(self, op: Op, key: int) -> bool:
        return False


@dataclass
class MixedTerms:
    """A reduction or a product: ``results`` had terms of lanes that their loads read, and ``bad`` of masked-off lanes
    too. ``programs`` are those of ``bad``; ``values`` is the first such term, and the result."""

    results: int = 0
    bad: int = 0
    programs: list[int] = field(default_factory=list)
    term: float | None = None


def of_value(mark: Array, value: Any) -> Array:
    """The mark of a loaded value: one row where one value stands for all programs."""
    return mark[:1] if isinstance(value, np.ndarray) and len(value) == 1 else mark


_OFF, _ON, _SPREAD = range(3)


def _spreads(frame: Frame, op: Op) -> bool:
    """Whether several lanes of the result are one element of the operand."""
    if traits.of(op.name).kind is not Kind.MOVES or len(op.operands) != 1:
        return False
    return math.prod(frame.result_type(op).shape) > math.prod(frame.type(op.operands[0]).shape)


class MaskedTerms(ByAccess):
    """Finds the reductions and products to which lanes that come from masked-off lanes add something.

    Lanes are marked that depend on lanes which a load masks off, and those that depend on lanes which it reads: on
    their own, or with others to which the element is spread, as a mean is. A constant is none of these. A lane that has
    read an element of its own is in the reduction by right. A lane that adds zero to a sum, or less than the greatest
    to a maximum, is no mistake. ``off`` has the lanes of a reduction's operand that are off, by the operation and how
    often it had run before.
    """

    def __init__(self, launch: Recorded) -> None:
        super().__init__(launch, np.bool_)
        self.off: dict[tuple[int, int], Array] = {}
        self._times: Counter[int] = Counter()
        self.terms: dict[int, MixedTerms] = {}

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> dict[int, Array]:
        if effects.is_access(op):
            if self.event is None or not effects.brings_in(op):
                return {}
            on = of_value(self.event.active(), value)
            return {key: flags for key, flags in ((_OFF, ~on), (_ON, on)) if flags.any()}
        if not self.marks:
            return {}
        marks = self.inherited(frame, op, operands, result)
        if _spreads(frame, op) and _ON in marks:
            on = marks.pop(_ON)
            return {**marks, _SPREAD: on | marks[_SPREAD] if _SPREAD in marks else on}
        if op.name == "tt.reduce":
            off = self._reduced(frame, op, operands)
        elif op.name == "tt.dot":
            off = self._product(frame, op, operands)
        elif op.name in traits.ADDITIONS or (traits.of(op.name).extreme and len(operands) == 2):
            off = self._combined(frame, op, operands)
        else:
            return marks
        marks.pop(_OFF, None)
        if not off.any():
            return marks
        if traits.of(op.name).kind is not Kind.ELEMENTWISE:  # what no lane that is on has a part in is not on
            marks = {key: flags & ~off for key, flags in marks.items()}
        return {**marks, _OFF: off}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        super().after(frame, op, operands, result)
        self._times[op.index] += 1

    def _lanes(self, frame: Frame, op: Op, operands: Sequence[Value], position: int) -> tuple[Array, ...]:
        """An operand's numbers, and the flags of its lanes that are off, on, and spread to, at full extent."""
        values = frame.spread(op, position, operands[position])
        marks = self.marks_of(frame, op, operands, position)
        none = np.zeros(1, np.bool_)
        flags = [lifted(marks[key], values.ndim - 1) if key in marks else none for key in (_OFF, _ON, _SPREAD)]
        shape = np.broadcast_shapes(values.shape, *(one.shape for one in flags))
        return tuple(np.broadcast_to(one, shape) for one in (values, *flags))

    def _combined(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Array:
        """Off where a lane that is off changes the result, or both are off."""
        (one, off_one, *_), (other, off_other, *_) = (self._lanes(frame, op, operands, k) for k in (0, 1))
        way = traits.of(op.name).extreme
        counts_one, counts_other = (one * way > other * way, other * way > one * way) if way else (one != 0, other != 0)
        found: Array = (off_one & off_other) | (off_one & counts_one) | (off_other & counts_other)
        return found

    def _reduced(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Array:
        """Off where some lanes are off, and none is on."""
        axis = 1 + int(op.attributes.get("axis", 0))
        name = combined_by(op)
        values, off, on, spread = self._lanes(frame, op, operands, 0)
        some = np.asarray(((on | spread) & ~off).any(axis=axis))
        off = off & ~on
        way = traits.of(name).extreme
        if way or name in traits.ADDITIONS:
            signed = values.astype(np.float64) * (way or 1)
            most = np.where(off, -np.inf, signed).max(axis=axis, keepdims=True) if way else 0.0
            counts = off & ((signed > most) if way else (signed != 0))
            bad = np.asarray(counts.any(axis=axis)) & some
            self._note(frame, op, bad, some, values[counts])
            if bad.any():
                self.off[op.index, self._times[op.index]] = off
        found: Array = np.asarray(off.any(axis=axis)) & ~some
        return found

    def _product(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Array:
        """Off where the sum so far is, or where some terms are off and none is on."""
        (a, off_a, *on), (b, off_b, *more), (_, off, *_) = (self._lanes(frame, op, operands, k) for k in range(3))
        if not (off_a.any() or off_b.any()):
            return off
        good_a, good_b = (~off_a).astype(np.float32), (~off_b).astype(np.float32)
        on_a, on_b = on[0] | on[1], more[0] | more[1]
        some: Array = ((on_a & ~off_a).astype(np.float32) @ good_b + good_a @ (on_b & ~off_b).astype(np.float32)) > 0
        if a.dtype.itemsize > 1:  # packed floats have numbers of their own
            there_a, there_b = (a != 0).astype(np.float32), (b != 0).astype(np.float32)
            counts = there_a @ there_b - (there_a * good_a) @ (there_b * good_b) > 0.5
            self._note(frame, op, counts & some, some, np.empty(0))
        partly = good_a @ good_b < a.shape[-1]
        found: Array = off | (partly & ~some)
        return found

    def _note(self, frame: Frame, op: Op, bad: Array, some: Array, terms: Array) -> None:
        found = self.terms.setdefault(op.index, MixedTerms())
        found.results += int(some.sum()) * (frame.count if len(some) == 1 else 1)
        if not bad.any():
            return
        rows = bad.reshape(len(bad), -1).sum(axis=1)
        if len(bad) == 1:
            rows = np.repeat(rows, frame.count)
        found.bad += int(rows.sum())
        found.programs += frame.programs[np.flatnonzero(rows)].tolist()
        if found.term is None and len(terms):
            found.term = float(terms.flat[0])
