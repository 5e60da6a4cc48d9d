"""Follows wrapped integers through a replay, from the operation that wraps to the accesses and loops that use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.runtime_values import Descriptor, Value
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.traits import Kind
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import LaneTally
from triton_lab.launch.checks.analysis.live_read_effects import itemsize_of
from triton_lab.launch.checks.analysis.wrapping_integers import answers, exactly, passes, words
from triton_lab.launch.propagation.forward_analysis import ForwardAnalysis, union
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.launch.recording.access_event import AccessEvent

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

Array = NDArray[Any]
# For each operation that wrapped, the lanes that are wrong because of it; they broadcast to the block.
Origins = dict[int, Array]


class WrapExample(NamedTuple):
    """A result that wrapped: ``exact`` (computed as ``words`` say) did not fit ``bits`` and became ``wrapped``."""

    words: str
    exact: int
    wrapped: int
    bits: int


# The most programs stored as examples of an operation that wraps; findings list a hundred of them.
_MOST_EXAMPLES = 4096


class Taint(ForwardAnalysis[int]):
    """Follows wrapped values through a replay, by the operations that have wrapped.

    ``suspects`` are the operations that may wrap (True: signed); `passes` says which operations pass such values on.
    ``reached`` has the lanes of accesses and the programs of loops (second key) that are wrong because of an operation
    (first key). For ``mixers``, masks and loops are ignored: a kernel that makes random numbers by wrapping compares
    them on purpose. For ``stored``, the values that stores write count, too. ``examples`` shows the wrapped result of
    an operation (first key) in a program (second key).
    """

    def __init__(
        self,
        launch: Recorded,
        suspects: Mapping[int, bool],
        mixers: frozenset[int],
        stored: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(launch.executable.plan)
        self.launch = launch
        self.suspects = suspects
        self.mixers = mixers
        self.stored = stored
        self.reached: dict[tuple[int, int], LaneTally] = {}
        # The last programs and marks of each pointer, and the bytes of an element, by value number: an access that
        # fails is not observed.
        self._pointers: dict[int, tuple[Array, Origins, int]] = {}
        self.examples: dict[tuple[int, int], WrapExample] = {}
        self._shown: Counter[int] = Counter()

    def transferred(self, frame: Frame, op: Op, operands: Sequence[Value], value: Any, result: int) -> Origins:
        passed = passes(op) or op.index in self._exchanges or (answers(op) and frame.result_type(op).element == "i1")
        marks = self.inherited(frame, op, operands, result) if passed else {}
        if op.index in self.suspects and not isinstance(value, AffineBlock):
            self._wrapped(frame, op, operands, value, marks)
        pointee = frame.result_type(op, result).pointee
        if pointee is not None:
            self._pointers[op.results[result]] = frame.programs, marks, max(1, pointee.bits // 8)
        return marks

    def follows_decisions(self, op: Op, key: int) -> bool:
        return traits.of(op.name).kind is Kind.PERMUTES and key not in self.mixers

    def absorbs(self, op: Op) -> bool:
        return answers(op) and traits.of(op.name).absorbing is not None

    def doubts(self, marks: Origins, key: int) -> Iterable[Array]:
        return [marks[key]] if key in marks else []

    def _wrapped(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any, marks: Origins) -> None:
        """Add the lanes in which ``op`` itself wraps, unless their operands are wrong already."""
        signed = self.suspects[op.index]
        bits = frame.result_type(op).bits
        found, exact, given = exactly(frame, op, operands, result, signed)
        wrong = exact != found
        if op.name == "arith.trunci":
            # The low half alone may be intended as signed or as unsigned.
            wrong = wrong & ((exact < -(1 << (bits - 1))) | (exact >= 1 << bits) if not signed else wrong)
        for mark in marks.values():
            wrong = wrong & ~mark
        if not wrong.any():
            return
        marks[op.index] = wrong
        whole = np.broadcast_to(wrong, (frame.count, *wrong.shape[1:]))
        rows, first = np.unique(np.nonzero(whole)[0], return_index=True)
        where = np.flatnonzero(whole)[first]
        numbers = [np.broadcast_to(array, whole.shape).reshape(-1)[where] for array in (exact, found, *given)]
        for row, big, small, *parts in zip(rows.tolist(), *(array.tolist() for array in numbers), strict=True):
            example = WrapExample(words(op, parts), big, small, bits)
            self._shown[op.index] += 1
            if self._shown[op.index] <= _MOST_EXAMPLES:
                self.examples.setdefault((op.index, int(frame.programs[row])), example)

    def decided(self, frame: Frame, op: Op, number: int, value: Value) -> None:
        """Note a loop whose bounds have wrapped: it runs too long, or not at all."""
        for origin, mark in self.marks.of(frame, number, value).items() if op.name == "scf.for" else ():
            if origin not in self.mixers:
                self._programs(frame, op, origin, mark, np.zeros(frame.count, np.int64))

    def accessed(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """Note the lanes of an access with wrong addresses or masks that are active or might be."""
        at = effects.operands_of(op)
        if not self.marks:
            return
        if isinstance(operands[at.address], Descriptor):
            self._described(frame, op, operands)
            return
        rank = len(frame.type(op.operands[at.address]).shape)
        wrong = {origin: [mark] for origin, mark in self.marks_of(frame, op, operands, at.address).items()}
        of_mask: Origins = {} if at.mask is None else self.marks_of(frame, op, operands, at.mask)
        for origin, mark in of_mask.items():
            if origin not in self.mixers:
                wrong.setdefault(origin, []).append(mark)
        if self.stored and at.value is not None and effects.writes(op):
            for origin, mark in self.marks_of(frame, op, operands, at.value).items():
                if origin in self.stored:
                    wrong.setdefault(origin, []).append(mark)
        if not wrong:
            return
        pointer = lifted(frame.elements(op, at.address, operands[at.address]), rank)
        mask = None if at.mask is None else lifted(frame.elements(op, at.mask, operands[at.mask]), rank)
        event = AccessEvent(-1, frame.programs, pointer, mask, frame.type(op.operands[at.address]).shape)
        on = union([event.active(), *(lifted(mark, rank) for mark in of_mask.values())])
        for origin, marks in wrong.items():
            flags = union([lifted(mark, rank) for mark in marks])
            self._reach(origin, op, EvidenceLanes.of(event, flags & on), itemsize_of(frame, op))

    def _described(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """Note the programs that use a descriptor with wrapped coordinates or extents."""
        at = effects.operands_of(op)
        descriptor = operands[at.address]
        assert isinstance(descriptor, Descriptor)
        address = descriptor.base + np.zeros(frame.count, np.int64)
        corner = [position for position in at.coordinates if not frame.type(op.operands[position]).shape]
        for position, stride in zip(reversed(corner), reversed(descriptor.strides), strict=False):
            steps = frame.elements(op, position, operands[position]).astype(np.int64)
            address = address + steps * stride * itemsize_of(frame, op)
        for position in (at.address, *at.coordinates):
            for origin, mark in self.marks_of(frame, op, operands, position).items():
                self._programs(frame, op, origin, mark, address)

    def _programs(self, frame: Frame, op: Op, origin: int, mark: Array, address: Array) -> None:
        """Note whole programs: those in which any lane is marked."""
        wrong = np.broadcast_to(mark.reshape(mark.shape[0], -1).any(axis=1), (frame.count,))
        first = np.zeros(int(wrong.sum()), np.int64)
        self._reach(origin, op, EvidenceLanes.timeless(frame.programs[wrong], first, address[wrong]), 0)

    def _reach(self, origin: int, op: Op, lanes: EvidenceLanes, itemsize: int) -> None:
        if len(lanes):
            self.reached.setdefault((origin, op.index), LaneTally(itemsize)).add(lanes)

    def failed(self, error: KernelError) -> None:
        """Note the lanes with wrong addresses at which the replay was stopped."""
        op, fault = error.op, error.fault
        if op is None or fault is None or error.programs is None or not effects.is_access(op):
            return
        number = op.operands[effects.operands_of(op).address]
        programs, marks, itemsize = self._pointers.get(number, (error.programs, {}, 0))
        rows = np.searchsorted(programs, error.programs)
        self.reached.clear()
        for origin, mark in marks.items():
            lanes = np.broadcast_to(mark, (len(programs), *fault.block)).reshape(len(programs), -1)
            wrong = lanes[rows, fault.lanes]
            found = EvidenceLanes.timeless(error.programs[wrong], fault.lanes[wrong], fault.addresses[wrong])
            self._reach(origin, op, found, itemsize)
