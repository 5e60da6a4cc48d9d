"""Follows integers that have wrapped through a replay, from the operation to the accesses that use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import values
from triton_lab.interpreter.affine import Affine
from triton_lab.interpreter.errors import KernelError
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.registry import REGISTRY
from triton_lab.interpreter.values import Value
from triton_lab.ir import Op
from triton_lab.ir.provenance import ACCESSES
from triton_lab.launch.checks.always_true import mask_operand
from triton_lab.launch.checks.evidence import Lanes
from triton_lab.launch.replay import Watcher

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]
# For each operation that wrapped, the lanes that are wrong because of it: they broadcast to the block.
Marks = dict[int, Array]

# Left, right, exact result, wrapped result, and the width in bits.
Example = tuple[int, int, int, int, int]

# These only move elements: run on marks they move those.
_MOVES = frozenset({"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "tt.join", "tt.cat"})
# A mask is wrong where what it compares is.
_COMPARES = frozenset({"arith.cmpi", "arith.andi", "arith.ori", "arith.xori"})
_EXACT = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.shli": np.left_shift,
}


class Taint(Watcher):
    """``suspects`` are the operations that may wrap, and whether they are signed; ``passes`` those that pass it on.

    ``reached`` are the lanes of accesses (second key) that went wrong because of an operation (first key).
    ``examples`` show what an operation (first key) did in a program (second key).
    """

    def __init__(self, launch: Launch, suspects: Mapping[int, bool], passes: frozenset[str]) -> None:
        self.launch = launch
        self.suspects = suspects
        self.passes = passes
        self.reached: dict[tuple[int, int], list[Lanes]] = {}
        # Marks go by object: a value that is carried round a loop is the same object there. It is
        # kept, so that no other takes its place.
        self._marks: dict[int, tuple[Value, Marks]] = {}
        # What was last known of each pointer, by number: an access that fails tells nothing itself.
        self._pointers: dict[int, tuple[Array, Marks]] = {}
        self.examples: dict[tuple[int, int], Example] = {}

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if op.name in ACCESSES:
            self._access(frame, op, operands)
            return
        marks: Marks = {}
        if self._marks and (op.name in self.passes or op.name in _COMPARES):
            marks = self._passed(frame, op, operands)
        if op.index in self.suspects and not isinstance(result, Affine):
            self._wrapped(frame, op, operands, result, marks)
        if marks:
            self._marks[id(result)] = (result, marks)
        if op.name == "tt.addptr":
            self._pointers[op.results[0]] = (frame.programs, marks)

    def failed(self, error: KernelError) -> None:
        """The replay was stopped: count the lanes that were stopped for an address that had gone wrong."""
        op, fault = error.op, error.fault
        if op is None or fault is None or error.programs is None or op.name not in ACCESSES:
            return
        programs, marks = self._pointers.get(op.operands[ACCESSES[op.name]], (error.programs, {}))
        rows = np.searchsorted(programs, error.programs)
        self.reached.clear()
        for origin, mark in marks.items():
            lanes = np.broadcast_to(mark, (len(programs), *fault.block)).reshape(len(programs), -1)
            wrong = lanes[rows, fault.lanes]
            if wrong.any():
                found = Lanes.timeless(error.programs[wrong], fault.lanes[wrong], fault.addresses[wrong])
                self.reached[origin, op.index] = [found]

    def _of(self, frame: Frame, number: int, value: Any) -> Marks:
        """The marks of a value, in this frame or in the one that this is a part of."""
        known = self._marks.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        if frame.parent is None or frame.rows is None:
            return {}
        outer = dict.get(frame.parent.environment, number)
        if outer is None:
            return {}
        rows = frame.rows
        return {
            origin: mark if mark.shape[0] == 1 else mark[rows]
            for origin, mark in self._of(frame.parent, number, outer).items()
        }

    def _passed(self, frame: Frame, op: Op, operands: Sequence[Value]) -> Marks:
        """What the operands' marks mean for the result."""
        if op.name in _COMPARES and frame.result_type(op).element != "i1":
            return {}
        result: Marks = {}
        for position, (number, value) in enumerate(zip(op.operands, operands, strict=True)):
            for origin, mark in self._of(frame, number, value).items():
                rank = len(frame.type(number).shape)
                mark = mark.reshape(-1, *(1,) * rank) if mark.ndim == 1 else mark
                if op.name in _MOVES:
                    mark = self._moved(frame, op, position, mark, len(operands))
                elif op.name == "arith.select" and position:
                    chosen = frame.elements(op, 0, operands[0])
                    chosen = chosen.reshape(-1, *(1,) * rank) if chosen.ndim == 1 else chosen
                    mark = mark & (chosen if position == 1 else ~chosen)
                result[origin] = result[origin] | mark if origin in result else mark
        return {origin: mark for origin, mark in result.items() if mark.any()}

    def _moved(self, frame: Frame, op: Op, position: int, mark: Array, operands: int) -> Array:
        shape = frame.type(op.operands[position]).shape
        whole = np.broadcast_to(mark, (mark.shape[0], *shape)) if shape else mark.reshape(-1)
        given = [np.zeros_like(whole)] * operands
        given[position] = whole
        moved: Value = REGISTRY[op.name].run(frame, op, *given)
        return values.elements(moved, frame.result_type(op)).astype(np.bool_)

    def _wrapped(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any, marks: Marks) -> None:
        """Add the lanes in which ``op`` itself wraps, unless their operands are wrong already."""
        signed = self.suspects[op.index]
        left, right, found = (
            _exact(array, signed)
            for array in (frame.elements(op, 0, operands[0]), frame.elements(op, 1, operands[1]), result)
        )
        if op.name == "arith.shli":
            right = np.clip(right, 0, 31)
        exact = _EXACT[op.name](left, right)
        wrong = exact != found
        for mark in marks.values():
            wrong = wrong & ~mark
        if not wrong.any():
            return
        marks[op.index] = wrong
        whole = np.broadcast_to(wrong, (frame.count, *wrong.shape[1:]))
        rows, first = np.unique(np.nonzero(whole)[0], return_index=True)
        where = np.flatnonzero(whole)[first]
        numbers = [np.broadcast_to(array, whole.shape).reshape(-1)[where] for array in (left, right, exact, found)]
        bits = frame.result_type(op).bits
        for row, *example in zip(rows.tolist(), *(array.tolist() for array in numbers), strict=True):
            self.examples.setdefault((op.index, int(frame.programs[row])), (*example, bits))

    def _access(self, frame: Frame, op: Op, operands: Sequence[Value]) -> None:
        """Which lanes of an access go elsewhere, and are on or would perhaps be."""
        if not self._marks:
            return
        position = ACCESSES[op.name]
        marks = self._of(frame, op.operands[position], operands[position])
        if not marks:
            return
        shape = frame.type(op.operands[position]).shape
        whole = (frame.count, *shape)
        on: Array = np.ones(1, np.bool_).reshape((1,) * len(whole))
        mask = mask_operand(op)
        if mask is not None:
            at = op.operands.index(mask)
            on = frame.elements(op, at, operands[at])
            on = on.reshape(-1, *(1,) * len(shape)) if on.ndim == 1 else on
            for mark in self._of(frame, mask, operands[at]).values():
                on = on | mark
        size = max(1, int(np.prod(shape)))
        addresses = np.broadcast_to(frame.elements(op, position, operands[position]), whole).reshape(-1)
        for origin, mark in marks.items():
            chosen = np.flatnonzero(np.broadcast_to(mark & on, whole))
            if len(chosen):
                lanes = Lanes.timeless(frame.programs[chosen // size], chosen % size, addresses[chosen])
                self.reached.setdefault((origin, op.index), []).append(lanes)


def _exact(array: Array, signed: bool) -> Array:
    if not signed and array.dtype.kind == "i":
        return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").astype(np.int64)
    return array.astype(np.int64)
