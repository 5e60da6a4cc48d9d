"""``ttng``: Blackwell's tensor memory, and the products and copies of its tensor core (tcgen05).

They are as PTX defines them: products are of float32 sums, and end when a barrier says so, in the order in which they
were started.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.asynchronous.pending_work import PendingWork
from triton_lab.interpreter.asynchronous.shared_views import SharedView
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import Unsupported
from triton_lab.interpreter.op_registry import check, impl
from triton_lab.interpreter.ops.barrier_phases import chosen
from triton_lab.interpreter.ops.dot_scaled import unscaled
from triton_lab.interpreter.ops.local_memory import TOKEN, allocated, block_of, truth, view_of
from triton_lab.interpreter.ops.warp_groups import product_of
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.localization import _

Array = NDArray[Any]
# Of an operation's operands, as its segments count them: those of `tc_gen5_mma`, and of `tc_gen5_mma_scaled`.
_PRODUCT = ("a", "b", "sum", "token", "used", "predicate", "barriers", "predicates")
_SCALED = ("a", "b", "sum", "token", "a_scale", "b_scale", "used", "predicate", "barriers", "predicates")


@check("ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled", "ttng.tc_gen5_commit")
def of_one_program(op: Op) -> None:
    if op.attributes.get("two_ctas") or op.attributes.get("multicast"):
        raise Unsupported(_("the CPU target runs each program as a cluster of its own: no product of two CTAs"), op)


@impl("ttng.tmem_alloc")
def tmem_alloc(frame: Frame, op: Op, *source: Value) -> Any:
    view = allocated(frame, op, shared=False)
    if source:
        frame.machine.asynchronous.write(view, frame.programs, op, frame.spread(op, 0, source[0]))
    return view if len(op.results) == 1 else (view, TOKEN)


@impl("ttng.tmem_load")
def tmem_load(frame: Frame, op: Op, view: Value, *token: Value) -> Any:
    found = frame.machine.asynchronous.read(view_of(view), frame.programs, op)
    if len(op.results) == 1:
        return found
    _unused, tokens, reduced = op.attributes.get("resultSegmentSizes", (1, 1, 0))
    answers: list[Value] = [found, *[TOKEN] * tokens]
    if reduced:
        answers.append(_reduced(op, found))
    return tuple(answers)


def _reduced(op: Op, found: Array) -> Array:
    """The least or the greatest of each row."""
    values = np.abs(found) if op.attributes.get("abs") else found
    functions = (np.fmin, np.minimum) if "min" in str(op.attributes["redOp"]) else (np.fmax, np.maximum)
    reduced: Array = functions[bool(op.attributes.get("NaN"))].reduce(values, axis=-1)
    return reduced


@impl("ttng.tmem_store")
def tmem_store(frame: Frame, op: Op, *operands: Value) -> Any:
    """Operands: where to, perhaps a token, what, a predicate."""
    last = len(operands) - 1
    frame, operands = chosen(frame, op, operands, last)  # type: ignore[assignment]
    if frame.count:
        values = frame.spread(op, last - 1, operands[last - 1])
        frame.machine.asynchronous.write(view_of(operands[0]), frame.programs, op, values)
    return TOKEN if op.results else None


@impl("ttng.tmem_subslice")
def tmem_subslice(frame: Frame, op: Op, view: Value) -> Value:
    whole, shape = view_of(view), block_of(frame.result_type(op)).shape
    starts = [0] * len(shape)
    starts[op.attributes.get("dim", len(shape) - 1)] = op.attributes.get("offset", op.attributes.get("N", 0))
    return SharedView(whole.buffer, whole.base, whole.laid.sliced(tuple(starts), shape), whole.dtype)


@impl("ttng.tmem_copy")
def tmem_copy(frame: Frame, op: Op, *operands: Value) -> None:
    """Copy shared memory to tensor memory, perhaps with a barrier to report to."""
    source, target = view_of(operands[0]), view_of(operands[1])

    def copy(rows: Array) -> None:
        part, into = _parts((source, target), frame.programs, rows)
        programs = frame.programs[rows]
        into.write(programs, part.read(programs).reshape(len(programs), *into.shape))

    work = PendingWork(op, "tensor core", frame.programs, reads=(source,), writes=(target,), effect=copy)
    frame.machine.asynchronous.add(work)
    for bar in operands[2:]:
        _commit(frame, op, view_of(bar))


@impl("ttng.tc_gen5_commit")
def tc_gen5_commit(frame: Frame, op: Op, *operands: Value) -> None:
    frame, operands = chosen(frame, op, operands, 1)  # type: ignore[assignment]
    if frame.count:
        _commit(frame, op, view_of(operands[0]))


def _commit(frame: Frame, op: Op, bar: SharedView) -> None:
    """One arrival at a barrier, once all that the tensor core was given before has ended."""
    work = PendingWork(op, "tensor core", frame.programs, bars=((bar, None, 1),))
    frame.machine.asynchronous.add(work)


@impl("ttng.tc_gen5_mma")
def tc_gen5_mma(frame: Frame, op: Op, *operands: Value) -> Any:
    _multiply(frame, op, operands, _PRODUCT)
    return TOKEN if op.results else None


@impl("ttng.tc_gen5_mma_scaled")
def tc_gen5_mma_scaled(frame: Frame, op: Op, *operands: Value) -> Any:
    _multiply(frame, op, operands, _SCALED)
    return TOKEN if op.results else None


def _roles(op: Op, names: Sequence[str]) -> dict[str, list[int]]:
    """The positions of the operands of each role."""
    found: dict[str, list[int]] = {}
    at = 0
    for name, size in zip(names, op.attributes["operandSegmentSizes"], strict=True):
        found[name] = list(range(at, at + size))
        at += size
    return found


def _multiply(frame: Frame, op: Op, operands: Sequence[Value], names: Sequence[str]) -> None:
    """Start ``sum = a @ b + sum``, whose factors may be scaled; ``used``: whether the sum before counts."""
    at = _roles(op, names)
    frame, operands = chosen(frame, op, operands, at["predicate"][0])
    if not frame.count:
        return
    total = view_of(operands[at["sum"][0]])
    factors = [view_of(operands[k]) for name in ("a", "b", "a_scale", "b_scale") for k in at.get(name, ())]
    used = truth(frame, op, at["used"][0], operands[at["used"][0]])

    def multiply(rows: Array) -> None:
        programs = frame.programs[rows]
        *given, into = _parts((*factors, total), frame.programs, rows)
        read = [one.read(programs) for one in given]
        counts = used[rows].reshape(-1, 1, 1)
        start = np.where(counts, into.read(programs), 0) if counts.any() else np.zeros((1, 1, 1), into.dtype)
        x, y = _scaled(op, read) if len(read) > 2 else read
        into.write(programs, product_of(x, y, start.astype(into.dtype, copy=False), into.dtype))

    work = PendingWork(op, "tensor core", frame.programs, reads=factors, writes=(total,), effect=multiply)
    frame.machine.asynchronous.add(work)
    for bar, predicate in zip(at["barriers"], at["predicates"] or at["barriers"], strict=True):
        part, given = chosen(frame, op, operands, predicate if at["predicates"] else None)
        if part.count:
            _commit(part, op, view_of(given[bar]))


def _scaled(op: Op, read: Sequence[Array]) -> tuple[Array, Array]:
    """Both factors times their scales, as float32. Scales lie along K: those of b along its transpose."""
    a, b, a_scale, b_scale = read
    left = unscaled(a, op.attributes["a_type"], a_scale)
    right = unscaled(np.swapaxes(b, -1, -2), op.attributes["b_type"], b_scale)
    return left, np.swapaxes(right, -1, -2)


def _parts(views: Sequence[SharedView], programs: Array, rows: Array) -> list[SharedView]:
    """The same parts for some of the programs."""
    every = len(rows) == len(programs)
    return [one if every or len(one.base) == 1 else one.take(rows) for one in views]
