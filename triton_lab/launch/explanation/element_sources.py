"""Which element of an argument each stored element comes from, and whether masked-off lanes enter a reduction.

Both follow a replay forward, by the lane maps of `ir.traits`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects, traits
from triton_lab.launch.access import elements_at
from triton_lab.launch.propagation.forward_analysis import ForwardAnalysis
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import block_shape

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

_LAST = 1 << 62  # more than any element's number


@dataclass(eq=False)
class ElementPairs:
    """The lanes of a store and the elements behind them: ``stored`` are elements of the argument that is written, and
    each depends on elements of the other argument from ``first`` to ``last``. ``without`` counts the lanes that depend
    on none."""

    stored: list[Array] = field(default_factory=list)
    first: list[Array] = field(default_factory=list)
    last: list[Array] = field(default_factory=list)
    without: int = 0

    def arrays(self) -> tuple[Array, Array, Array]:
        """All lanes: stored, first, last."""
        if not self.stored:
            return (np.empty(0, np.int64),) * 3
        return np.concatenate(self.stored), np.concatenate(self.first), np.concatenate(self.last)


class _ByAccess(ForwardAnalysis[int]):
    """Keeps the access that has just happened, until its operation has ended."""

    def __init__(self, launch: Launch, kind: Any) -> None:
        super().__init__(launch.executable.plan, kind)
        self.launch = launch
        self.event: AccessEvent | None = None

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        self.event = AccessEvent(0, frame.programs, pointer, mask, block_shape(frame, op, pointer))

    def follows_decisions(self, op: Op, key: int) -> bool:
        return False


class ElementSources(_ByAccess):
    """For each store and load, by index: the `ElementPairs` of elements. At most ``most`` lanes are looked at."""

    def __init__(self, launch: Launch, most: int) -> None:
        super().__init__(launch, np.int64)
        self.pairs: dict[tuple[int, int], ElementPairs] = {}
        self.stored: dict[int, int] = {}
        self._left = most

    @property
    def is_whole(self) -> bool:
        """Whether all lanes were looked at."""
        return self._left >= 0

    def merged(self, one: Array, other: Array) -> Array:
        return np.maximum(one, other)

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> dict[int, Array]:
        if not effects.is_access(op):
            return self.inherited(frame, op, operands, result)
        return {key: _of_value(mark, value) for key, mark in self._loaded(op).items()}

    def _elements(self, op: Op) -> Array | None:
        """The element of its argument that each lane of the access that has just happened touches, -1 for none."""
        argument, event = self.launch.owner_of(op.index), self.event
        if argument is None or event is None:
            return None
        found = elements_at(event.addresses() - argument.address, argument)
        return np.where(event.active(), found, -1)

    def _loaded(self, op: Op) -> dict[int, Array]:
        if not effects.brings_in(op) or self._left < 0 or self.event is None:
            return {}
        self._left -= len(self.event.programs) * int(np.prod(self.event.shape))
        found = self._elements(op) if self._left >= 0 else None
        if found is None or not (found >= 0).any():
            return {}
        # Both grow where lanes meet: the last element, and the first from the other end; 0 is no element.
        return {2 * op.index: found + 1, 2 * op.index + 1: np.where(found >= 0, _LAST - found, 0)}

    def accessed(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        position = effects.operands_of(op).value
        if position is None or not effects.writes(op) or self._left < 0:
            return
        found = self._elements(op)
        if found is None:
            return
        there = found >= 0
        self.stored[op.index] = self.stored.get(op.index, 0) + int(there.sum())
        marks = {
            key: np.broadcast_to(lifted(mark, found.ndim - 1), found.shape)[there]
            for key, mark in self.marks_of(frame, op, operands, position).items()
        }
        for key in [key for key in marks if key % 2 == 0]:
            last, first = marks[key], marks[key + 1]
            pairs = self.pairs.setdefault((op.index, key // 2), ElementPairs())
            pairs.without += int((last == 0).sum())
            pairs.stored.append(found[there][last > 0])
            pairs.first.append((_LAST - first)[last > 0])
            pairs.last.append(last[last > 0] - 1)


@dataclass
class MixedTerms:
    """A reduction or a product: ``results`` had terms of lanes that their loads read, and ``bad`` of masked-off lanes
    too. ``programs`` are those of ``bad``; ``values`` is the first such term, and the result."""

    results: int = 0
    bad: int = 0
    programs: list[int] = field(default_factory=list)
    term: float | None = None


def _of_value(mark: Array, value: Any) -> Array:
    """The mark of a loaded value: one row where one value stands for all programs."""
    return mark[:1] if isinstance(value, np.ndarray) and len(value) == 1 else mark


_OFF, _ON = 0, 1


class MaskedTerms(_ByAccess):
    """Finds the reductions and products to which lanes that come from masked-off lanes add something.

    Lanes are marked that depend on lanes which a load masks off, and those that depend on lanes which it reads. A
    constant is neither. A lane that adds zero to a sum, or less than the greatest to a maximum, is no mistake.
    """

    def __init__(self, launch: Launch, combines: dict[int, str]) -> None:
        super().__init__(launch, np.bool_)
        self.combines = combines
        self.terms: dict[int, MixedTerms] = {}

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> dict[int, Array]:
        if effects.is_access(op):
            if self.event is None or not effects.brings_in(op):
                return {}
            on = _of_value(self.event.active(), value)
            return {key: flags for key, flags in ((_OFF, ~on), (_ON, on)) if flags.any()}
        if not self.marks:
            return {}
        marks = self.inherited(frame, op, operands, result)
        if op.name == "tt.reduce":
            off = self._reduced(frame, op, operands)
        elif op.name == "tt.dot":
            off = self._product(frame, op, operands)
        elif op.name in traits.ADDITIONS or (traits.of(op.name).extreme and len(operands) == 2):
            off = self._combined(frame, op, operands)
        else:
            return marks
        marks.pop(_OFF, None)
        return {**marks, _OFF: off} if off.any() else marks

    def _lanes(self, frame: Frame, op: Op, operands: Sequence[Value], position: int) -> tuple[Array, Array, Array]:
        """An operand's numbers, and the flags of its lanes that are off and on, all at full extent."""
        values = frame.spread(op, position, operands[position])
        marks = self.marks_of(frame, op, operands, position)
        off, on = (lifted(marks[key], values.ndim - 1) if key in marks else np.zeros(1, np.bool_) for key in (0, 1))
        shape = np.broadcast_shapes(values.shape, off.shape, on.shape)
        return np.broadcast_to(values, shape), np.broadcast_to(off, shape), np.broadcast_to(on, shape)

    def _combined(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Array:
        """Off where a lane that is off changes the result, or both are off."""
        (one, off_one, _), (other, off_other, _) = (self._lanes(frame, op, operands, k) for k in (0, 1))
        way = traits.of(op.name).extreme
        counts_one, counts_other = (one * way > other * way, other * way > one * way) if way else (one != 0, other != 0)
        found: Array = (off_one & off_other) | (off_one & counts_one) | (off_other & counts_other)
        return found

    def _reduced(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Array:
        """Off where some lanes are off, and none is on."""
        axis = 1 + int(op.attributes.get("axis", 0))
        name = self.combines.get(op.index, "")
        values, off, on = self._lanes(frame, op, operands, 0)
        some = np.asarray((on & ~off).any(axis=axis))
        way = traits.of(name).extreme
        if way or name in traits.ADDITIONS:
            signed = values.astype(np.float64) * (way or 1)
            most = np.where(off, -np.inf, signed).max(axis=axis, keepdims=True) if way else 0.0
            counts = off & ((signed > most) if way else (signed != 0))
            self._note(frame, op, np.asarray(counts.any(axis=axis)) & some, some, values[counts])
        found: Array = np.asarray(off.any(axis=axis)) & ~some
        return found

    def _product(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Array:
        """Off where the sum so far is, or where some terms are off and none is on."""
        (a, off_a, on_a), (b, off_b, on_b), (_, off, _) = (self._lanes(frame, op, operands, k) for k in range(3))
        if not (off_a.any() or off_b.any()):
            return off
        good_a, good_b = (~off_a).astype(np.float32), (~off_b).astype(np.float32)
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
