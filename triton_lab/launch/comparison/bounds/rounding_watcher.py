"""`RoundingWatcher`: follows bounds beside the values of a replay, through control flow and memory."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.ops.descriptors import described, reduction_of
from triton_lab.interpreter.ops.local_memory import truth, view_of
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op, effects
from triton_lab.ir.effects import Rmw
from triton_lab.ir.value_flow import decisive
from triton_lab.launch.comparison.bounds.bound import CHOICE, LOST, NOTHING, Bound
from triton_lab.launch.comparison.bounds.buffer_bounds import BufferBounds, touches_buffers
from triton_lab.launch.comparison.bounds.lane_bounds import block_of_access, boxed, lanes, picked, reached, spread_over
from triton_lab.launch.comparison.bounds.memory_bounds import MemoryBounds
from triton_lab.launch.comparison.bounds.operation_bounds import OperationBounds, widened
from triton_lab.launch.comparison.number_formats import wide
from triton_lab.launch.propagation.forward_analysis import ForwardAnalysis
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.progress_callback import TookTooLong, is_late
from triton_lab.localization import _

Array = NDArray[Any]

_SUMS = (Rmw.FADD, Rmw.ADD)
_EXTREMES = (Rmw.MAX, Rmw.MIN, Rmw.UMAX, Rmw.UMIN)
_BELOW, _ABOVE, _KIND = range(3)
_ZERO = np.zeros(1)


class RoundingWatcher(ForwardAnalysis[int]):
    """Computes bounds during a replay, notes stored ones in ``held``, and raises CannotReplay after ``stop``."""

    def __init__(
        self,
        launch: Recorded,
        same: bool,
        executable: Executable,
        only: Collection[str] | None,
        held: MemoryBounds,
        stop: threading.Event | None = None,
    ) -> None:
        plan = executable.plan
        super().__init__(plan, np.float64)
        self._plan, self._same, self._only = plan, same, only
        self._operations = OperationBounds(plan, same, only, launch.target == "gpu")
        self._buffers = BufferBounds(self._operations)
        self._held, self._stop = held, stop
        self._where: tuple[Any, Any] = (None, None)
        # What was passed as Python's number, which has more digits than a float of the kernel.
        passed = {one.name: one.value for one in launch.arguments if isinstance(one.value, float) and not same}
        kernel = plan.kernel
        self._passed = {k: passed[kernel.names[k]] for k in kernel.arguments if kernel.names[k] in passed}
        # Whether the condition of a loop may turn out otherwise.
        self._torn = False

    # --- Events of the replay -----------------------------------------------------------------

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        self._where = (pointer, mask)

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if is_late() or (self._stop is not None and self._stop.is_set()):
            raise TookTooLong(_("computing the bound on rounding took too long"))
        super().after(frame, op, operands, result)

    def computed(self, frame: Frame, op: Op, operands: Sequence[Value], results: Sequence[Any]) -> None:
        if effects.is_access(op):
            self._access(frame, op, operands, results[0] if results else None)
        elif results or touches_buffers(operands, results):
            known = [self._bound(frame, op, operands, k) for k in range(len(operands))]
            found: Sequence[Bound | None] | None
            if touches_buffers(operands, results):
                found = self._buffers.computed(frame, op, operands, known, results)
            elif op.name == "ttng.warp_group_dot_wait":
                found = known
            else:
                found = self._operations.of(frame, op, operands, known, results)
            if found is None:
                self._held.lose()
                return
            for value, bound in zip(results, found, strict=True):
                if bound is not None:
                    self._put(value, bound)

    def _put(self, value: Value, bound: Bound) -> None:
        if bound.any:
            below = np.atleast_1d(bound.below)
            marks = {_BELOW: below, _ABOVE: below if bound.above is bound.below else np.atleast_1d(bound.above)}
            if bound.kind.any():
                marks[_KIND] = np.atleast_1d(np.asarray(bound.kind, np.float64))
            self.marks.put(value, marks)

    def _of_value(self, frame: Frame, number: int, value: Value) -> Bound | None:
        """The bound of a value, with the axes of its type; None if it is exact."""
        if number in self._passed and frame.routine.function is self._plan.kernel:
            cut = np.abs(self._passed[number] - wide(np.atleast_1d(np.asarray(value))))
            return Bound.around(cut) if cut.any() and np.isfinite(cut).all() else None
        marks = self.marks.of(frame, number, value) if self.marks else None
        if not marks:
            return None
        rank = len(frame.type(number).shape)
        # Where all programs that were merged are exact on one side, that side is missing.
        below, above, kind = (marks.get(k, _ZERO) for k in (_BELOW, _ABOVE, _KIND))
        return widened(Bound(below, above, kind), rank)

    def _bound(self, frame: Frame, op: Op, operands: Sequence[Value], position: int) -> Bound | None:
        return self._of_value(frame, op.operands[position], operands[position])

    # --- Decisions ----------------------------------------------------------------------------

    def _uncertain(self, frame: Frame, number: int, value: Value) -> Array | None:
        """The programs whose value may differ, None if there are none."""
        bound = self._of_value(frame, number, value)
        if bound is None:
            return None
        some = bound.uncertain
        return np.asarray(some.reshape(len(some), -1).any(axis=1)) if some.any() else None

    def decided(self, frame: Frame, op: Op, number: int, value: Value) -> None:
        if self._uncertain(frame, number, value) is not None:
            if op.name == "cf.cond_br":
                self._held.lose()
            self._torn = True

    def ended(self, frame: Frame, op: Op, operands: Sequence[Value], results: Sequence[Any]) -> None:
        """A branch or a loop has ended. Where it may go otherwise, its results and what it stores are not known."""
        where = None
        for position in range(min(len(decisive(op)), len(operands))):
            some = self._uncertain(frame, op.operands[position], operands[position])
            if some is not None:
                where = some if where is None else where | some
        if op.name == "scf.while" and self._torn:
            where, self._torn = np.ones(1, np.bool_), False
        if where is None:
            return
        for inner in self._within(op):
            if effects.writes(inner):
                self._held.lose(reached(frame, inner))
        for number, value in zip(op.results, results, strict=True):
            rank = len(frame.type(number).shape)
            gone = Bound.around(np.where(where.reshape(-1, *(1,) * rank), np.inf, 0.0), CHOICE)
            old = self._of_value(frame, number, value) or NOTHING
            self._put(value, gone.where(gone.uncertain, old))

    def _within(self, op: Op) -> Iterator[Op]:
        """The operations in the regions of ``op``, and in the functions that are called there."""
        for inner in list(op.walk())[1:]:
            yield inner
            if inner.name == "tt.call":
                yield from self._plan.functions[inner.attributes["callee"]].walk()

    # --- Memory -------------------------------------------------------------------------------

    def _access(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        at = effects.operands_of(op)
        writes = effects.writes(op)
        if not self.marks and not self._held and not self._buffers and not (writes and effects.updates(op)):
            return
        where = (at.address, *at.coordinates, *([] if at.mask is None else [at.mask]))
        moves = [known for k in where for known in [self._bound(frame, op, operands, k)] if known is not None]
        astray = any(known.any for known in moves)
        if not writes and at.buffer is not None:
            self._copied(frame, op, operands, moves)
            return
        if not writes:
            if self._held or astray or at.other is not None:
                self._loaded(frame, op, operands, moves, result)
            return
        if astray:
            # Elements that it did not store to, it may store to in another evaluation.
            self._held.lose(reached(frame, op))
            return
        position = at.buffer if at.value is None else at.value
        assert position is not None
        given = operands[position]
        if isinstance(given, SharedView):
            value, type = self._buffers.at(given, frame.programs), described(frame, op)
        else:
            value, type = self._bound(frame, op, operands, position), frame.type(op.operands[position])
        kind = op.attributes.get("atomic_rmw_op", Rmw.FADD)
        if op.name.endswith("_reduce"):  # by a descriptor
            kind = reduction_of(frame, op)
        updates = effects.updates(op)
        adds = effects.combines(op) and type.is_float and kind in _SUMS
        if adds and self._only is not None:
            self._held.lose()  # the order of programs is another cause
            return
        if value is None and not adds and not self._held:
            return
        elements = given.read(frame.programs) if isinstance(given, SharedView) else frame.elements(op, position, given)
        self._written(frame, op, operands, value or NOTHING, elements, kind, adds)
        if updates and op.results and type.is_float and (adds or value is not None):
            # The value that an atomic found depends on the order of programs.
            self._put(result, LOST)
        elif updates and op.results:
            self._loaded(frame, op, operands, moves, result)

    def _written(
        self,
        frame: Frame,
        op: Op,
        operands: Sequence[Value],
        value: Bound,
        elements: Array,
        kind: int,
        adds: bool,
    ) -> None:
        """Note what an access leaves in memory: ``elements``, ``(programs or 1, *block)``, with their bound."""
        at, held = effects.operands_of(op), self._held
        shape = (frame.count, *block_of_access(frame, op, operands))
        places, on = lanes(*self._where, shape)
        size = elements.dtype.itemsize
        stored = value.mapped(lambda part: picked(part, shape, on))
        if adds:
            amount = np.abs(boxed(lifted(wide(elements), len(shape) - 1), shape))
            held.added(places, size, stored, picked(amount, shape, on))
        elif not effects.updates(op) or (kind == Rmw.XCHG and op.name == "tt.atomic_rmw"):
            held.stored(places, size, stored)
        elif op.name != "tt.atomic_cas" and kind in _SUMS:
            held.added(places, size, stored, None)
        elif op.name != "tt.atomic_cas" and kind in _EXTREMES:
            held.chosen(places, size, stored)
        else:
            # A compare and swap, or bits: what memory holds then depends on whether it is what was expected.
            before = held.at(places, size)
            expected = None if at.expected is None else self._bound(frame, op, operands, at.expected)
            if before is not None or value.any or expected is not None:
                held.stored(places, size, LOST)

    def _loaded(self, frame: Frame, op: Op, operands: Sequence[Value], moves: Sequence[Bound], result: Any) -> None:
        type = frame.result_type(op)
        found = self._read(frame, op, operands, moves, (frame.count, *type.shape), dtype_of(type).itemsize)
        if found is not None:
            self._put(result, found)

    def _copied(self, frame: Frame, op: Op, operands: Sequence[Value], moves: Sequence[Bound]) -> None:
        """A copy from memory to a buffer."""
        at = effects.operands_of(op)
        assert at.buffer is not None
        view, programs = view_of(operands[at.buffer]), frame.programs
        if at.predicate is not None:
            copies = truth(frame, op, at.predicate, operands[at.predicate])
            programs = programs[copies]
            view = view if len(view.base) == 1 else view.take(copies)
        if len(programs):
            shape = (len(programs), *block_of_access(frame, op, operands))
            found = self._read(frame, op, operands, moves, shape, view.dtype.itemsize) or NOTHING
            self._buffers.put(view, programs, found.mapped(lambda part: boxed(part, (len(programs), *view.shape))))

    def _read(
        self,
        frame: Frame,
        op: Op,
        operands: Sequence[Value],
        moves: Sequence[Bound],
        shape: tuple[int, ...],
        size: int,
    ) -> Bound | None:
        """The bounds of elements of so many bytes that an access has read, None if all are exact."""
        at = effects.operands_of(op)
        other = None if at.other is None else self._bound(frame, op, operands, at.other)
        known: Bound | None = None
        on: Array | None = None
        if self._held.holds(reached(frame, op)):
            places, on = lanes(*self._where, shape)
            known = self._held.at(places, size)
        elif other is not None:
            _, on = lanes(*self._where, shape)
        if known is None and other is None and not any(one.any for one in moves):
            return None
        found = NOTHING
        if known is not None and on is not None:
            found = known.mapped(lambda part: spread_over(part, on))
        if other is not None and on is not None:
            found = found.where(on, other)
        for one in moves:
            found = LOST.where(one.uncertain, found)
        return found
