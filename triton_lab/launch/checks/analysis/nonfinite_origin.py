"""The operations at which NaN and infinity arise, and the lanes whose NaN or infinity comes from them.

An infinity is intended if it is a constant of the kernel, an argument, or the ``other`` of a load. What is computed
from it is intended too, unless it is NaN: ``exp(-inf)`` is 0, but ``-inf - -inf`` is an unintended NaN. Values that
were loaded arose elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import AffineBlock, MaskBox, Value
from triton_lab.interpreter.runtime_values import elements as elements_of
from triton_lab.ir import Op, effects
from triton_lab.ir.value_flow import HANDS_ON
from triton_lab.launch.checks.analysis.value_marks import MOVES, Marks, inside_of_others, joined, passed_on
from triton_lab.launch.nonfinite import finite
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.watcher import Watcher

Array = NDArray[Any]
# The operation at which it arose, and the one that converted it to an integer, if any.
Birth = tuple[int, int | None]

CASTS = frozenset({"arith.fptosi", "arith.fptoui"})
_BITCASTS = frozenset({"arith.bitcast", "tt.bitcast"})
# These operations pass on values and create no NaN or infinity.
_PASS = MOVES | {"arith.select", "tt.split", "tt.gather", "tt.unsplat", "ttg.convert_layout", "arith.constant"}
# In these, an infinite operand does not cause an infinite result of the other sign.
_KEEP_THE_SIGN = frozenset({"tt.reduce", "tt.scan", "arith.addf"})
# One infinite operand alone makes a minimum infinite only if it is negative, and a maximum only if positive.
_LESSER = frozenset({"arith.minimumf", "arith.minnumf"})
_GREATER = frozenset({"arith.maximumf", "arith.maxnumf"})
_ANSWERS = frozenset({"arith.cmpf", "arith.cmpi"})


class Births(Watcher):
    """Watches a replay; `of_operand` gives the origins in the lanes of a value, for example one to be stored."""

    def __init__(self, launch: Recorded) -> None:
        plan = launch.executable.plan
        self.marks: Marks[Birth] = Marks()
        self._inside = inside_of_others(plan)
        self._casts = False

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index in self._inside or op.name in HANDS_ON:
            return
        for position, number in enumerate(op.results):
            value = result if len(op.results) == 1 else result[position]
            if isinstance(value, (AffineBlock, MaskBox)):
                continue
            type = frame.type(number)
            if type.is_float:
                self.marks.put(value, self._of_float(frame, op, operands, value))
            elif type.is_integer and (self._casts or op.name in CASTS):
                self.marks.put(value, self._of_integer(frame, op, operands))

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        self.marks.handed(frame, numbers, values)

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        self.marks.joined(pieces, programs, result)

    def of_operand(self, frame: Frame, number: int) -> dict[Birth, Array]:
        """The marks of a live value."""
        return self.marks.of(frame, number, frame.environment[number])

    def _of_float(self, frame: Frame, op: Op, operands: Sequence[Value], value: Array) -> dict[Birth, Array]:
        bad = ~finite(value)
        some = bool(bad.any())
        if (not some and not self._casts) or effects.is_access(op) or op.name in _BITCASTS:
            return {}
        found = {
            birth: mark & bad if birth[1] is None else mark
            for birth, mark in self._inherited(frame, op, operands).items()
        }
        if some and op.name not in _PASS:
            if bad.ndim == 1 and frame.result_type(op).shape:
                bad = bad.reshape(-1, *(1,) * len(frame.result_type(op).shape))
            self._bear(frame, op, operands, value.reshape(bad.shape), bad, found)
        return {birth: mark for birth, mark in found.items() if mark.any()}

    def _of_integer(self, frame: Frame, op: Op, operands: Sequence[Value]) -> dict[Birth, Array]:
        if op.name in _ANSWERS:
            return {}
        found: dict[Birth, Array] = {}
        for (origin, cast), mark in self._inherited(frame, op, operands).items():
            if op.name in CASTS:
                found[origin, op.index if cast is None else cast] = mark
            elif cast is not None:
                found[origin, cast] = mark
        self._casts |= bool(found)
        return found

    def _inherited(self, frame: Frame, op: Op, operands: Sequence[Value]) -> dict[Birth, Array]:
        """The result's marks, from those of the operands."""
        parts: dict[Birth, list[Array]] = {}
        if self.marks:
            for position, (number, value) in enumerate(zip(op.operands, operands, strict=True)):
                for birth, mark in self.marks.of(frame, number, value).items():
                    parts.setdefault(birth, []).append(passed_on(frame, op, operands, position, mark))
        whole = {birth: joined(some) for birth, some in parts.items()}
        return {birth: mark for birth, mark in whole.items() if mark is not None and mark.any()}

    def _bear(
        self, frame: Frame, op: Op, operands: Sequence[Value], value: Array, bad: Array, found: dict[Birth, Array]
    ) -> None:
        """Add to ``found`` the lanes in which ``op`` itself creates NaN or infinity; remove those that are intended."""
        nan = np.isnan(value)
        meant = self._meant(frame, op, operands, value, nan)
        if meant is not None:
            for birth in [each for each in found if each[1] is None]:
                found[birth] = found[birth] & ~meant
            bad = bad & ~meant
        inherited = joined([mark for birth, mark in found.items() if birth[1] is None])
        born: Array = bad if inherited is None else bad & ~inherited
        if born.any():
            found[op.index, None] = born

    def _meant(self, frame: Frame, op: Op, operands: Sequence[Value], value: Array, nan: Array) -> Array | None:
        """The lanes where the result is NaN or infinite because of an intended NaN or infinity."""
        parts = []
        for position, (number, operand) in enumerate(zip(op.operands, operands, strict=True)):
            type = frame.type(number)
            if not type.is_float:
                continue
            array = elements_of(operand, type)
            strange = ~finite(array)
            if not strange.any():
                continue
            for birth, mark in self.marks.of(frame, number, operand).items():
                if birth[1] is None:
                    strange = strange & ~mark
            if not strange.any():
                continue
            nans = np.isnan(array)
            parts.append(nan & passed_on(frame, op, operands, position, strange & nans))
            signs = (strange & ~nans & (array > 0), strange & ~nans & (array < 0))
            above, below = (passed_on(frame, op, operands, position, sign) for sign in signs)
            if op.name in _KEEP_THE_SIGN:
                parts.append((above & (value > 0)) | (below & (value < 0)))
            elif op.name in _LESSER or op.name in _GREATER:
                parts.append(below & (value < 0) if op.name in _LESSER else above & (value > 0))
            else:
                parts.append((above | below) & ~nan)
        return joined(parts)
