"""Follows wrapped integers through a replay, from the operation that wraps to the accesses and loops that use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.runtime_values import Descriptor, Value
from triton_lab.ir import Function, Op, effects, traits
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.lane_exchange import exchanges
from triton_lab.ir.traits import Kind
from triton_lab.ir.value_flow import HANDS_ON, decisive
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes
from triton_lab.launch.checks.analysis.finding_text import LaneTally
from triton_lab.launch.checks.analysis.value_marks import Marks, inside_of_others
from triton_lab.launch.checks.analysis.wrapping_integers import answers, exactly, passes, words
from triton_lab.launch.recording.watcher import Watcher

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


class Taint(Watcher):
    """Follows wrapped values through a replay.

    ``suspects`` are the operations that may wrap (True: signed); `passes` says which operations pass such values on.
    ``reached`` has the lanes of accesses and the programs of loops (second key) that are wrong because of an operation
    (first key). For ``mixers``, masks and loops are ignored: a kernel that makes random numbers by wrapping compares
    them on purpose. ``examples`` shows the wrapped result of an operation (first key) in a program (second key).
    """

    def __init__(self, launch: Recorded, suspects: Mapping[int, bool], mixers: frozenset[int]) -> None:
        self.launch = launch
        self.suspects = suspects
        self.mixers = mixers
        self.reached: dict[tuple[int, int], LaneTally] = {}
        plan = launch.executable.plan
        self._marks: Marks[int] = Marks()
        self._inside = inside_of_others(plan)
        self._exchanges = exchanges(plan, Flow.of(plan))
        self._itemsize = {
            op.index: _itemsize(function, op) for function in plan.functions.values() for op in function.walk()
        }
        # The last marks of each pointer, by value number, since an access that fails is not observed.
        self._pointers: dict[int, tuple[Array, Origins]] = {}
        self.examples: dict[tuple[int, int], WrapExample] = {}
        self._shown: Counter[int] = Counter()

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.index in self._inside:
            return
        if effects.is_access(op):
            self._access(frame, op, operands)
            return
        if op.name == "scf.for":
            self._loop(frame, op, operands)
        if op.name in HANDS_ON:
            return
        for number, value in enumerate(result if len(op.results) > 1 else [result] * len(op.results)):
            marks = self._passed(frame, op, operands, number) if self._marks else {}
            if op.index in self.suspects and not isinstance(value, AffineBlock):
                self._wrapped(frame, op, operands, value, marks)
            self._marks.put(value, marks)
            if frame.type(op.results[number]).is_pointer:
                self._pointers[op.results[number]] = (frame.programs, marks)

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        self._marks.handed(frame, numbers, values)

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        self._marks.joined(pieces, programs, result)

    def failed(self, error: KernelError) -> None:
        """Note the lanes with wrong addresses at which the replay was stopped."""
        op, fault = error.op, error.fault
        if op is None or fault is None or error.programs is None or not effects.is_access(op):
            return
        programs, marks = self._pointers.get(op.operands[effects.operands_of(op).address], (error.programs, {}))
        rows = np.searchsorted(programs, error.programs)
        self.reached.clear()
        for origin, mark in marks.items():
            lanes = np.broadcast_to(mark, (len(programs), *fault.block)).reshape(len(programs), -1)
            wrong = lanes[rows, fault.lanes]
            if wrong.any():
                found = EvidenceLanes.timeless(error.programs[wrong], fault.lanes[wrong], fault.addresses[wrong])
                self.reached.setdefault((origin, op.index), LaneTally(self._itemsize[op.index])).add(found)

    def _passed(self, frame: Frame, op: Op, operands: Sequence[Value], number: int) -> Origins:
        """A result's marks, from those of the operands."""
        if op.index in self._exchanges:
            source, axis = self._exchanges[op.index]
            marks = self._marks.of(frame, op.operands[source], operands[source])
            return {origin: np.flip(mark, axis + 1) for origin, mark in marks.items()}
        if not passes(op) and not (answers(op) and frame.result_type(op).element == "i1"):
            return {}
        absorbing = answers(op) and traits.of(op.name).absorbing is not None
        result: Origins = {}
        for position, (operand, value) in enumerate(zip(op.operands, operands, strict=True)):
            for origin, mark in self._marks.of(frame, operand, value).items():
                deciding = traits.of(op.name).kind is Kind.PERMUTES and origin not in self.mixers
                mark = self._marks.passed_on(frame, op, operands, position, mark, number, deciding=deciding)
                if absorbing:
                    mark = mark & self._undecided(frame, op, operands, 1 - position, origin)
                result[origin] = result[origin] | mark if origin in result else mark
        return {origin: mark for origin, mark in result.items() if mark.any()}

    def _undecided(self, frame: Frame, op: Op, operands: Sequence[Value], position: int, origin: int) -> Array:
        """The lanes where this operand of an ``and`` (``or``) does not decide the result alone."""
        side = frame.elements(op, position, operands[position])
        rank = len(frame.result_type(op).shape)
        side = side.reshape(-1, *(1,) * rank) if side.ndim == 1 else side
        undecided: Array = side != bool(traits.of(op.name).absorbing)
        mark = self._marks.of(frame, op.operands[position], operands[position]).get(origin)
        return undecided if mark is None else undecided | self._marks.passed_on(frame, op, operands, position, mark)

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

    def _loop(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """Note a loop whose bounds have wrapped: it runs too long, or not at all."""
        for number, value in zip(decisive(op), operands, strict=False):
            for origin, mark in self._marks.of(frame, number, value).items():
                programs = frame.programs[np.broadcast_to(mark, (frame.count,))]
                if len(programs) and origin not in self.mixers:
                    nowhere = np.zeros(len(programs), np.int64)
                    lanes = EvidenceLanes.timeless(programs, nowhere, nowhere)
                    self.reached.setdefault((origin, op.index), LaneTally()).add(lanes)

    def _access(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """Note the lanes of an access with wrong addresses or masks that are active or might be."""
        if not self._marks:
            return
        at = effects.operands_of(op)
        position = at.address
        if isinstance(operands[position], Descriptor):
            self._described(frame, op, operands)
            return
        marks = self._marks.of(frame, op.operands[position], operands[position])
        shape = frame.type(op.operands[position]).shape
        whole = (frame.count, *shape)
        on: Array = np.ones(1, np.bool_).reshape((1,) * len(whole))
        of_mask: Origins = {}
        if at.mask is not None:
            on = frame.elements(op, at.mask, operands[at.mask])
            on = on.reshape(-1, *(1,) * len(shape)) if on.ndim == 1 else on
            of_mask = self._marks.of(frame, op.operands[at.mask], operands[at.mask])
            for mark in of_mask.values():
                on = on | _spread(mark, len(shape))
        if not marks and not of_mask:
            return
        size = max(1, int(np.prod(shape)))
        addresses = np.broadcast_to(frame.elements(op, position, operands[position]), whole).reshape(-1)
        wrong: dict[int, list[Array]] = {origin: [mark] for origin, mark in marks.items()}
        for origin, mark in of_mask.items():
            if origin not in self.mixers:
                wrong.setdefault(origin, []).append(mark)
        for origin, parts in wrong.items():
            mark = reduce(np.logical_or, [_spread(part, len(shape)) for part in parts])
            chosen = np.flatnonzero(np.broadcast_to(mark & on, whole))
            if len(chosen):
                lanes = EvidenceLanes.timeless(frame.programs[chosen // size], chosen % size, addresses[chosen])
                self.reached.setdefault((origin, op.index), LaneTally(self._itemsize[op.index])).add(lanes)

    def _described(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """Note the programs that use a descriptor with wrapped coordinates or extents."""
        at = effects.operands_of(op)
        descriptor = operands[at.address]
        assert isinstance(descriptor, Descriptor)
        address = descriptor.base + np.zeros(frame.count, np.int64)
        pointee = frame.type(op.operands[at.address]).pointee
        assert pointee is not None
        corner = [position for position in at.coordinates if not frame.type(op.operands[position]).shape]
        for position, stride in zip(reversed(corner), reversed(descriptor.strides), strict=False):
            address = address + frame.elements(op, position, operands[position]).astype(np.int64) * stride * (
                pointee.bits // 8
            )
        for position in (at.address, *at.coordinates):
            for origin, mark in self._marks.of(frame, op.operands[position], operands[position]).items():
                wrong = np.broadcast_to(mark.reshape(mark.shape[0], -1).any(axis=1), (frame.count,))
                if wrong.any():
                    first = np.zeros(int(wrong.sum()), np.int64)
                    lanes = EvidenceLanes.timeless(frame.programs[wrong], first, address[wrong])
                    self.reached.setdefault((origin, op.index), LaneTally()).add(lanes)


def _itemsize(function: Function, op: Op) -> int:
    """The bytes of an element of an access by pointers; 0 for other operations."""
    if not effects.is_access(op) or effects.by_descriptor(op):
        return 0
    pointee = function.types[op.operands[effects.operands_of(op).address]].pointee
    return 0 if pointee is None else max(1, pointee.bits // 8)


def _spread(mark: Array, rank: int) -> Array:
    return mark.reshape(-1, *(1,) * rank) if mark.ndim == 1 else mark
