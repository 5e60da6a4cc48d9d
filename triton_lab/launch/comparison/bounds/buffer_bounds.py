"""`BufferBounds`: bounds of what shared and tensor memory hold during a replay, and of products that read them."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.shared_views import Buffer, SharedView
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.launch.comparison.bounds.bound import LOST, NOTHING, Bound
from triton_lab.launch.comparison.bounds.operation_bounds import OperationBounds
from triton_lab.launch.propagation.buffer_needs import is_product, write_of

Array = NDArray[Any]
Known = Sequence[Bound | None]


def touches_buffers(operands: Sequence[Value], results: Sequence[Value]) -> bool:
    """Whether an operation has to do with shared or tensor memory."""
    return any(isinstance(value, SharedView) for value in (*operands, *results))


class BufferBounds:
    """By buffer, the bounds of its elements: below, above and kind, ``(3, programs, elements)``.

    A copy that is pending counts as landed: what used its bytes before it has landed was refused in the launch.
    """

    def __init__(self, operations: OperationBounds) -> None:
        self._operations = operations
        self._known: weakref.WeakKeyDictionary[Buffer, tuple[np.dtype[Any], Array]] = weakref.WeakKeyDictionary()

    def __bool__(self) -> bool:
        return bool(self._known)

    def at(self, view: SharedView, programs: Array) -> Bound | None:
        """The bounds of the elements of a part, None if all are exact."""
        known = self._elements(view, False)
        if known is None:
            return None
        rows, numbers = view.places(programs)
        below, above, kind = (view.turned(part[rows, numbers]) for part in known)
        return (
            Bound(below, below if np.array_equal(below, above) else above, kind) if below.any() or above.any() else None
        )

    def put(self, view: SharedView, programs: Array, bound: Bound) -> None:
        """Set the bounds of elements that were written; ``bound`` broadcasts to ``(programs, *block)``."""
        known = self._elements(view, bound.any)
        if known is None:
            return
        rows, numbers = view.places(programs)
        for part, new in zip(known, (bound.below, bound.above, bound.kind), strict=True):
            part[rows, numbers] = view.turned_back(np.broadcast_to(new, (len(programs), *view.shape)))

    def _elements(self, view: SharedView, make: bool) -> Array | None:
        """The bounds of a buffer's elements of the type of ``view``; None if all are exact, unless they are made."""
        buffer = view.buffer
        if buffer not in self._known:
            if not make:
                return None
            self._known[buffer] = view.dtype, np.zeros((3, len(buffer.programs), buffer.size // view.dtype.itemsize))
        dtype, known = self._known[buffer]
        if dtype != view.dtype:  # the same bytes as another type: they may be any number
            per_byte = np.repeat(known > 0, dtype.itemsize, axis=2)
            some = per_byte.reshape(*known.shape[:2], -1, view.dtype.itemsize).any(axis=3)
            known = np.where(some, np.inf, 0.0)
            known[2] = 0
            self._known[buffer] = view.dtype, known
        return known

    def computed(
        self, frame: Frame, op: Op, operands: Sequence[Value], known: Known, results: Sequence[Value]
    ) -> Known:
        """The bounds of the results of an operation on buffers; what it writes to buffers is noted."""
        nothing: Known = [None] * len(results)
        first = next((one for one in operands if isinstance(one, SharedView)), None)
        if op.name.endswith("_load") and first is not None:
            found = self.at(first, frame.programs)
            return nothing if found is None else [found, *[LOST] * (len(results) - 1)]
        if op.name == "ttg.local_gather" and first is not None:
            return nothing if self.at(first, frame.programs) is None and known[1] is None else [LOST]
        if "scatter" in op.name or op.name == "ttng.tmem_copy":
            self._scattered(frame, op, operands, known)
            return nothing
        if is_product(op) and results and not isinstance(operands[2], SharedView):
            return [self._product(frame, op, operands, known)]
        written = write_of(0, op, operands, results)
        if written is not None and written.factors is not None:
            bound = self._product(frame, op, operands, known)
            self.put(written.view, frame.programs, bound or NOTHING)
        elif written is not None and written.value is not None:
            self.put(written.view, frame.programs, known[written.value] or NOTHING)
        elif is_product(op):  # of scaled factors, or of one in tensor memory
            total = operands[2]
            if isinstance(total, SharedView):
                self.put(total, frame.programs, LOST)
        return nothing

    def _scattered(self, frame: Frame, op: Op, operands: Sequence[Value], known: Known) -> None:
        """Some elements are chosen by values, or reach the buffer in another shape."""
        views = [one for one in operands if isinstance(one, SharedView)]
        target = views[1] if op.name == "ttng.tmem_copy" else views[0]
        inexact = any(self.at(one, frame.programs) is not None for one in views) or any(known)
        self.put(target, frame.programs, LOST if inexact else NOTHING)

    def _product(self, frame: Frame, op: Op, operands: Sequence[Value], known: Known) -> Bound | None:
        """The bound of ``a @ b + sum``, each in registers or in a buffer."""
        arrays: list[Array] = []
        near: list[Bound | None] = []
        for k, value in enumerate(operands[:3]):
            if isinstance(value, SharedView):
                arrays.append(value.read(frame.programs))
                near.append(self.at(value, frame.programs))
            else:
                arrays.append(frame.spread(op, k, value))
                near.append(known[k])
        total = operands[2]
        dtype = total.dtype if isinstance(total, SharedView) else dtype_of(frame.result_type(op))
        return self._operations.of_product(op, arrays, near, dtype)
