"""Bounds of the rounding errors in a launch's results: the launch is replayed with a bound beside each value."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.interpreter.runtime_values import Descriptor, Value, elements
from triton_lab.ir import Op, Type, effects
from triton_lab.ir.effects import Rmw
from triton_lab.ir.value_flow import HANDS_ON
from triton_lab.launch.argument import Argument
from triton_lab.launch.checks.analysis.value_marks import MOVES, Marks, inside_of_others
from triton_lab.launch.comparison import rounding_rules
from triton_lab.launch.comparison.launch_results import read, tensors
from triton_lab.launch.comparison.memory_bounds import MemoryBounds
from triton_lab.launch.comparison.number_formats import smallest, unit_roundoff, wide
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.replay_run import replay

Array = NDArray[Any]

_ADDS = frozenset({"arith.addf", "arith.subf"})
_CASTS = frozenset({"arith.extf", "arith.truncf", "tt.fp_to_fp", "arith.sitofp", "arith.uitofp"})
_GREATEST = frozenset({
    "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "tt.clampf",
    "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui",
})  # fmt: skip
_SAME = frozenset({"arith.negf", "math.absf", "ttg.convert_layout", "tt.unsplat"}) | MOVES
_FOLDS = {"arith.addf": "sum", "arith.addi": "sum", **dict.fromkeys(_GREATEST, "greatest")}
_CHOICES = frozenset({"scf.if", "scf.for", "scf.while", "cf.cond_br"})


def bounds(
    launch: Recorded,
    same: bool = True,
    executable: Executable | None = None,
    only: Collection[str] | None = None,
    seconds: float | None = None,
) -> dict[str, Array]:
    """The error bound of each element of each tensor of ``launch``: float64, infinite where it is not known.

    With ``same``, the bounds are between two runs of this kernel; otherwise to the exact result. See `rounding_rules`.
    ``executable`` may replace the launch's own. With ``only``, the two runs differ only in the operations with these
    names, and only those add errors. Raises CannotReplay, also if it takes longer than ``seconds``.
    """
    watcher = RoundingWatcher(launch, same, executable or launch.executable, only, seconds)
    memory = replay(launch, executable=executable, observer=watcher, access_observer=watcher)
    return {argument.name: watcher.of(argument, read(memory, argument)) for argument in tensors(launch)}


class RoundingWatcher(Watcher):
    """Computes bounds during a replay; `of` returns an argument's bounds at its end."""

    def __init__(
        self,
        launch: Recorded,
        same: bool,
        executable: Executable,
        only: Collection[str] | None,
        seconds: float | None = None,
    ) -> None:
        plan = executable.plan
        self._patience = math.inf if seconds is None else seconds
        self._end = time.monotonic() + self._patience
        self._same = same
        self._only = only
        self._marks: Marks[int] = Marks(np.float64)
        self._inside = inside_of_others(plan)
        self._made = {
            name: {number: op.name for op in function.walk() for number in op.results}
            for name, function in plan.functions.items()
        }
        self._held = MemoryBounds()
        self._where: tuple[Any, Any] = (None, None)
        # Whether control flow or an address may depend on rounding: then nothing is known.
        self._lost = False

    def of(self, argument: Argument, final: Array) -> Array:
        """The error bound of each element of ``argument``, whose values at the end are ``final``."""
        if self._lost:
            return np.full(argument.shape, np.inf)
        return self._held.of(argument, final, unit_roundoff(final.dtype), self._same)

    # --- Events of the replay -----------------------------------------------------------------

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        self._where = (pointer, mask)

    def handed(self, frame: Frame, numbers: Sequence[int], values: Sequence[Value]) -> None:
        self._marks.handed(frame, numbers, values)

    def joined(self, pieces: Sequence[tuple[Array, Value, Array | None]], programs: int, result: Value) -> None:
        self._marks.joined(pieces, programs, result)

    def after(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        if time.monotonic() > self._end:
            raise CannotReplay(f"it takes longer than {self._patience:.3g} s; lab.compare(launch) waits for it")
        if op.index in self._inside:
            return
        if op.name in _CHOICES and self._any(frame, op, operands):
            self._lost = True
        if op.name in HANDS_ON:
            return
        if effects.is_access(op):
            self._access(frame, op, operands, result)
            return
        for position, number in enumerate(op.results):
            value = result if len(op.results) == 1 else result[position]
            type = frame.type(number)
            errors = self._of_result(frame, op, operands, value, type)
            if errors is not None and np.any(errors > 0):
                if isinstance(value, (AffineBlock, MaskBox, Descriptor)):
                    self._lost = True  # an address, a mask or a loop bound computed from rounded numbers
                else:
                    self._put(value, errors)

    def _put(self, value: Value, errors: Array) -> None:
        self._marks.put(value, {0: np.asarray(errors, np.float64)})

    # --- The rules ----------------------------------------------------------------------------

    def _error(self, frame: Frame, op: Op, operands: Sequence[Value], position: int) -> Array:
        """An operand's bound, with the axes of the operand's type."""
        marks = self._marks.of(frame, op.operands[position], operands[position])
        rank = len(frame.type(op.operands[position]).shape)
        return _lifted(marks[0], rank) if marks else np.zeros((1,) * (rank + 1))

    def _any(self, frame: Frame, op: Op, operands: Sequence[Value]) -> bool:
        return any(
            np.any(self._error(frame, op, operands, k) > 0)
            for k in range(min(len(operands), 3 if op.name == "scf.for" else 1))
        )

    def _of_result(self, frame: Frame, op: Op, operands: Sequence[Value], value: Value, type: Type) -> Array | None:
        """The error bound of a result; None if it is exact."""
        if isinstance(value, Descriptor) or type.is_descriptor:
            return None
        errors = [self._error(frame, op, operands, k) for k in range(len(operands))]
        some = any(np.any(error > 0) for error in errors)
        if not some and (op.name in _SAME or not (type.is_float and op.operands)):
            return None
        if not some and self._only is not None and op.name not in self._only:
            return None  # both runs do exactly the same
        if op.name == "tt.dot":
            return self._dot(frame, op, operands, errors, value)
        if op.name in ("tt.reduce", "tt.scan"):
            return self._folded(frame, op, operands, errors, type)
        rank = len(type.shape)
        if op.name in _SAME or op.name in ("tt.split", "tt.gather"):
            return self._moved(frame, op, operands, errors, type)
        given = [_lifted(self._plain(frame, op, k, operands[k]), rank) for k in range(len(operands))]
        errors = [_lifted(error, rank) for error in errors]
        with np.errstate(all="ignore"):
            if type.is_float:
                return self._of_float(frame, op, given, errors, _lifted(_wide(value, type), rank), some, type)
            return self._of_integer(op, given, errors, type) if some else None

    def _plain(self, frame: Frame, op: Op, position: int, value: Value) -> Array:
        if isinstance(value, Descriptor):
            return np.zeros(1)
        return _wide(value, frame.type(op.operands[position]))

    def _of_float(
        self, frame: Frame, op: Op, given: list[Array], errors: list[Array], result: Array, some: bool, type: Type
    ) -> Array:
        u = unit_roundoff(dtype_of(type))
        tiny = smallest(dtype_of(type))
        size = np.where(np.isfinite(result), np.abs(result), 0.0)
        rounding_here = 2 * u * size + tiny
        inherited: Array
        fresh: Array | float = 0.0  # the error that arises even if the operands are equal
        name = op.name
        if name in _ADDS:
            inherited = errors[0] + errors[1]
            products = rounding_rules.contractible(frame, op, self._made[frame.routine.function.name])
            for k in products if self._only is None else []:
                fresh = fresh + u * np.abs(np.where(np.isfinite(given[k]), given[k], 0.0)) + rounding_here
            rounding_here = rounding_here - tiny  # sums of small numbers are exact
        elif name == "arith.mulf":
            inherited = rounding_rules.product(given[0], given[1], errors[0], errors[1])
        elif name == "math.fma":
            inherited = rounding_rules.product(given[0], given[1], errors[0], errors[1]) + errors[2]
        elif name in ("arith.divf", "tt.precise_divf", "tt.approx_divf"):
            inherited = rounding_rules.quotient(given[0], given[1], result, errors[0], errors[1])
        elif name in _GREATEST:
            return np.asarray(np.maximum.reduce(np.broadcast_arrays(*errors)))
        elif name == "arith.select":
            chosen = np.where(given[0] != 0, errors[1], errors[2])
            either = np.abs(given[1] - given[2]) + np.maximum(errors[1], errors[2])
            return np.where(errors[0] > 0, np.where(np.isnan(either), np.inf, either), chosen)
        elif name in _CASTS:
            inherited, fresh = errors[0], 0.0
            if name == "arith.extf":
                return inherited
        elif name in ("math.sin", "math.cos"):
            inherited = errors[0]
        elif (function := rounding_rules.rising(op)) is not None and len(given) == 1:
            inherited = rounding_rules.between(function, given[0], errors[0])
        else:
            inherited = np.where(np.maximum.reduce(np.broadcast_arrays(*errors)) > 0, np.inf, 0.0)
        if name in rounding_rules.APPROXIMATE and (self._only is None or name in self._only):
            fresh = fresh + rounding_rules.own(op, given[0], result, u) * np.ones_like(size)
        off = inherited > 0
        if not self._same:
            return inherited + np.maximum(fresh, rounding_here)
        total = inherited + fresh + np.where(off | (np.asarray(fresh) > 0), rounding_here + 2 * u * inherited, 0.0)
        return np.where(np.isnan(total), np.inf, total)

    def _of_integer(self, op: Op, given: list[Array], errors: list[Array], type: Type) -> Array:
        whole = errors[0]
        for error in errors[1:]:
            whole = whole + error
        if op.name in ("arith.cmpf", "arith.cmpi"):
            return np.where((whole > 0) & (np.abs(given[0] - given[1]) <= whole), np.inf, 0.0)
        if op.name in ("arith.addi", "arith.subi") and type.bits > 1:
            return whole
        if op.name in ("arith.fptosi", "arith.fptoui"):
            return np.where(whole > 0, np.floor(whole) + 1, 0.0)
        if op.name in ("arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast"):
            return whole
        return np.where(whole > 0, np.inf, 0.0)

    def _moved(self, frame: Frame, op: Op, operands: Sequence[Value], errors: list[Array], type: Type) -> Array:
        """The bounds of operations that only move elements."""
        if op.name in ("arith.negf", "math.absf", "ttg.convert_layout"):
            return errors[0]
        given: list[Any] = []
        for position, error in enumerate(errors):
            of = frame.type(op.operands[position])
            if op.name == "tt.gather" and position:
                given.append(operands[position])
            else:
                given.append(np.broadcast_to(error, (error.shape[0], *of.shape)) if of.shape else error.reshape(-1))
        found = REGISTRY[op.name].run(frame, op, *given)
        parts = found if isinstance(found, tuple) else (found,)
        # Both results of a split get the greater bound.
        result = np.maximum.reduce([elements(part, type).astype(np.float64) for part in parts])
        return _lifted(result, len(type.shape))

    def _dot(self, frame: Frame, op: Op, operands: Sequence[Value], errors: list[Array], value: Any) -> Array | None:
        a, b = (np.abs(_wide(frame.spread(op, k, operands[k]), frame.type(op.operands[k]))) for k in (0, 1))
        kind = dtype_of(frame.result_type(op))
        if kind.kind == "i":
            return None
        narrowed, u = rounding_rules.dot_inputs(op, dtype_of(frame.type(op.operands[0])), kind)
        if self._only is not None:
            narrowed = 0.0
        e_a, e_b = (
            np.broadcast_to(error, (error.shape[0], *frame.type(op.operands[k]).shape)) + narrowed * size
            for k, (error, size) in enumerate(zip(errors, (a, b), strict=False))
        )
        with np.errstate(all="ignore"):
            terms = (a != 0).astype(np.float64) @ (b != 0).astype(np.float64)
            size = a @ b
            inherited = a @ e_b + e_a @ b + e_a @ e_b
            start = np.abs(_wide(frame.elements(op, 2, operands[2]), frame.result_type(op)))
            # The accumulator is one more term; products that are not exact in it are one more rounding.
            total = (
                errors[2] + inherited + rounding_rules.times(2 * rounding_rules.gamma(terms + 1, u), size + inherited)
            )
            total = total + 2 * u * np.where((terms > 0) & (start > 0), start + errors[2], 0.0)
        return np.where(np.isnan(total), np.inf, total)

    def _folded(self, frame: Frame, op: Op, operands: Sequence[Value], errors: list[Array], type: Type) -> Array | None:
        """The bound of a reduction or scan: sums in any order and maxima are known, other combinations are not."""
        inner = [one for block in op.regions[0].blocks for one in block.ops[:-1]]
        fold = _FOLDS.get(inner[0].name) if len(inner) == 1 and len(operands) == 1 else None
        some = any(np.any(error > 0) for error in errors)
        axis = op.attributes["axis"] + 1
        if fold is None:
            lost = some or not self._same or any(one.name in _ADDS or one.name == "arith.mulf" for one in inner)
            return np.full((1,) * (1 + len(type.shape)), np.inf) if lost else None
        shape = frame.type(op.operands[0]).shape
        error = np.broadcast_to(errors[0], (errors[0].shape[0], *shape))
        values = _wide(frame.spread(op, 0, operands[0]), frame.type(op.operands[0]))
        values, error = np.broadcast_arrays(values, error)
        if op.attributes.get("reverse"):
            values, error = np.flip(values, axis), np.flip(error, axis)
        reduces = op.name == "tt.reduce"
        if fold == "greatest":
            found = error.max(axis=axis) if reduces else np.maximum.accumulate(error, axis=axis)
        else:
            u = unit_roundoff(dtype_of(type)) if type.is_float else 0.0
            with np.errstate(all="ignore"):
                finite = np.where(np.isfinite(values), values, 0.0)
                found = rounding_rules.summed(finite, error, axis, u, _total if reduces else _running)
        return np.flip(found, axis) if op.attributes.get("reverse") and not reduces else found

    # --- Memory -------------------------------------------------------------------------------

    def _access(self, frame: Frame, op: Op, operands: Sequence[Value], result: Any) -> None:
        at = effects.operands_of(op)
        pointer, mask = self._where
        where = (at.address, *at.coordinates, *([] if at.mask is None else [at.mask]))
        if any(np.any(self._error(frame, op, operands, k) > 0) for k in where):
            self._lost = True
            return
        value = None if at.value is None else self._error(frame, op, operands, at.value)
        if not effects.writes(op):
            if self._held:
                self._loaded(frame, op, operands, pointer, mask, result)
            return
        assert at.value is not None and value is not None
        type = frame.type(op.operands[at.value])
        adds = op.name in ("tt.atomic_rmw", "tt.descriptor_reduce") and type.is_float
        if adds and self._only is not None:
            self._lost = True  # the order of programs is another cause
            return
        if not adds and not np.any(value > 0) and not self._held:
            return
        shape = (frame.count, *type.shape)
        places, on = _lanes(pointer, mask, shape)
        size = dtype_of(type).itemsize
        error = np.broadcast_to(value, shape)[on]
        if adds and op.attributes.get("atomic_rmw_op", Rmw.FADD) in (Rmw.FADD, Rmw.ADD):
            amount = np.abs(_lifted(self._plain(frame, op, at.value, operands[at.value]), len(type.shape)))
            self._held.added(places, size, error, np.broadcast_to(amount, shape)[on])
        elif effects.updates(op) and (type.is_float or np.any(value > 0)):
            self._held.greatest(places, size, error)
        else:
            self._held.stored(places, size, error)
        if effects.updates(op) and op.results and type.is_float:
            # The value that an atomic found depends on the order of programs.
            self._put(result, np.full((1,) * (1 + len(type.shape)), np.inf))

    def _loaded(self, frame: Frame, op: Op, operands: Sequence[Value], pointer: Any, mask: Any, result: Any) -> None:
        type = frame.result_type(op)
        shape = (frame.count, *type.shape)
        places, on = _lanes(pointer, mask, shape)
        found = np.zeros(shape)
        found[on] = self._held.at(places, dtype_of(type).itemsize)
        other = effects.operands_of(op).other
        if other is not None:
            found = np.where(on, found, self._error(frame, op, operands, other))
        if np.any(found > 0):
            if isinstance(result, (AffineBlock, MaskBox, Descriptor)):
                self._lost = True
            else:
                self._put(result, found)


def _total(array: Array, axis: int) -> Array:
    return np.asarray(array.sum(axis=axis))


def _running(array: Array, axis: int) -> Array:
    return np.cumsum(array, axis=axis)


def _wide(value: Value, type: Type) -> Array:
    """A value's elements in float64; integers beyond 2**53 lose digits that bounds do not need."""
    return wide(elements(value, type))


def _lifted(array: Array, rank: int) -> Array:
    """The array with the block's axes added, if it has one number for each program."""
    return array.reshape(-1, *(1,) * rank) if array.ndim == 1 and rank else array


def _lanes(pointer: Any, mask: Any, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The addresses of the active lanes, and which lanes are active, bool of ``shape``."""
    where = pointer.elements(np.dtype(np.int64)) if isinstance(pointer, AffineBlock) else pointer
    on = mask.elements() if isinstance(mask, MaskBox) else np.True_ if mask is None else mask
    on = np.broadcast_to(_lifted(np.asarray(on), len(shape) - 1) if np.ndim(on) else on, shape)
    return np.broadcast_to(_lifted(where, len(shape) - 1), shape)[on], on
