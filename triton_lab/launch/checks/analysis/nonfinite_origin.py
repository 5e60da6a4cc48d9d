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
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.traits import Kind
from triton_lab.launch.nonfinite import finite
from triton_lab.launch.propagation.forward_analysis import ForwardAnalysis, union
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]
# The operation at which it arose, and the one that converted it to an integer, if any.
Birth = tuple[int, int | None]

# Conversions of floats to integers.
CASTS = traits.names(lambda trait: trait.kind is Kind.CASTS and trait.makes == "integer")


class Births(ForwardAnalysis[Birth]):
    """Watches a replay; `of_operand` gives the origins in the lanes of a value, for example one to be stored."""

    def __init__(self, launch: Recorded) -> None:
        super().__init__(launch.executable.plan)
        self._casts = False
        self._nan: set[int] = set()  # operations at which NaN has arisen

    def makes_nan(self, birth: Birth) -> bool:
        """Whether NaN, and not only infinity, has arisen at the operation of a birth."""
        return birth[0] in self._nan

    def of_operand(self, frame: Frame, number: int) -> dict[Birth, Array]:
        """The marks of a live value."""
        return self.marks.of(frame, number, frame.environment[number])

    def follows_decisions(self, op: Op, key: Birth) -> bool:
        return False

    def transferred(
        self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int
    ) -> dict[Birth, Array]:
        if isinstance(value, (AffineBlock, MaskBox)):
            return {}
        type = frame.result_type(op, result)
        if type.is_float:
            return self._of_float(frame, op, operands, value, result)
        if type.is_integer and (self._casts or op.name in CASTS or (self.marks and self._moves_bits(op))):
            return self._of_integer(frame, op, operands, result)
        return {}

    def _of_float(
        self, frame: Frame, op: Op, operands: Sequence[Value], value: Array, result: int
    ) -> dict[Birth, Array]:
        bad = ~finite(value)
        some = bool(bad.any())
        if (not some and not self._casts) or effects.is_access(op):
            return {}
        found = {
            birth: mark & bad if birth[1] is None else mark
            for birth, mark in self.inherited(frame, op, operands, result).items()
        }
        trait = traits.of(op.name)
        # What keeps elements creates no NaN and no infinity.
        if some and not trait.keeps and trait.kind is not Kind.CREATES:
            bad = lifted(bad, len(frame.result_type(op, result).shape))
            self._bear(frame, op, operands, value.reshape(bad.shape), bad, found, result)
        return {birth: mark for birth, mark in found.items() if mark.any()}

    def _of_integer(self, frame: Frame, op: Op, operands: Sequence[Value], result: int) -> dict[Birth, Array]:
        if traits.of(op.name).kind is Kind.COMPARES:
            return {}
        found: dict[Birth, Array] = {}
        for (origin, cast), mark in self.inherited(frame, op, operands, result).items():
            if op.name in CASTS:
                found[origin, op.index if cast is None else cast] = mark
            elif cast is not None or self._moves_bits(op):
                found[origin, cast] = mark
        self._casts |= any(cast is not None for _, cast in found)
        return found

    def _moves_bits(self, op: Op) -> bool:
        """Whether the bits of a float may pass through ``op`` as an integer: ``tl.sort`` and ``tl.flip`` do that."""
        return op.index in self._exchanges or traits.of(op.name).keeps

    def _bear(
        self,
        frame: Frame,
        op: Op,
        operands: Sequence[Value],
        value: Array,
        bad: Array,
        found: dict[Birth, Array],
        result: int,
    ) -> None:
        """Add to ``found`` the lanes in which ``op`` itself creates NaN or infinity; remove those that are intended."""
        nan = np.isnan(value)
        meant = self._meant(frame, op, operands, value, nan, result)
        if meant is not None:
            for birth in [each for each in found if each[1] is None]:
                found[birth] = found[birth] & ~meant
            bad = bad & ~meant
        for mark in [mark for birth, mark in found.items() if birth[1] is None]:
            bad = bad & ~mark
        if bad.any():
            found[op.index, None] = bad
            if (bad & nan).any():
                self._nan.add(op.index)

    def _meant(
        self, frame: Frame, op: Op, operands: Sequence[Value], value: Array, nan: Array, result: int
    ) -> Array | None:
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
            kinds = (strange & nans, strange & ~nans & (array > 0), strange & ~nans & (array < 0))
            nans_of, above, below = (
                self.marks.passed_on(frame, op, operands, position, kind, result, deciding=False) for kind in kinds
            )
            parts.append(nan & nans_of)
            trait = traits.of(op.name)
            if op.name == "arith.addf" or trait.kind in (Kind.REDUCES, Kind.SCANS):
                # In a sum, an infinite operand does not cause an infinite result of the other sign.
                parts.append((above & (value > 0)) | (below & (value < 0)))
            elif trait.extreme:
                # One infinite operand alone makes a minimum infinite only if it is negative, a maximum if positive.
                parts.append(below & (value < 0) if trait.extreme < 0 else above & (value > 0))
            else:
                parts.append((above | below) & ~nan)
        return union(parts) if parts else None
