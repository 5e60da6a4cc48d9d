"""``ttng``: barriers in shared memory, copies by TMA, products of warp groups; and partitions of warps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter import runtime_values as values
from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import Deadlock
from triton_lab.interpreter.mbarriers import MBarrier
from triton_lab.interpreter.number_conversion import widen
from triton_lab.interpreter.op_registry import control, impl
from triton_lab.interpreter.ops.atomics import modify
from triton_lab.interpreter.ops.descriptors import (
    KINDS,
    corner_of,
    described,
    descriptor_of,
    placed,
    read_box,
    write_box,
)
from triton_lab.interpreter.ops.dot import integer_product, product_sum
from triton_lab.interpreter.ops.local_memory import truth, view_of
from triton_lab.interpreter.partitions import Partitions
from triton_lab.interpreter.runtime_values import Value
from triton_lab.interpreter.shared_buffers import PendingWork, SharedView
from triton_lab.ir import Op
from triton_lab.ir.effects import operands_of
from triton_lab.localization import _

Array = NDArray[Any]
_LOADS, _STORES, _PRODUCTS = "loads by TMA", "stores by TMA", "products"


def _those(frame: Frame, op: Op, operands: Sequence[Value], position: int | None) -> tuple[Frame, Sequence[Value]]:
    """The programs whose predicate is set, and their operands."""
    if position is None or position >= len(operands):
        return frame, operands
    wanted = truth(frame, op, position, operands[position])
    if wanted.all():
        return frame, operands
    rows = np.flatnonzero(wanted)
    return frame.part(rows), [values.take(one, rows) for one in operands]


@impl("ttng.init_barrier")
def init_barrier(frame: Frame, op: Op, bar: Value) -> None:
    MBarrier(view_of(bar), frame.programs).init(op.attributes["count"])


@impl("ttng.inval_barrier")
def inval_barrier(frame: Frame, op: Op, bar: Value) -> None:
    MBarrier(view_of(bar), frame.programs).invalidate()


@impl("ttng.barrier_expect")
def barrier_expect(frame: Frame, op: Op, *operands: Value) -> None:
    """One arrival, which expects so many bytes."""
    frame, operands = _those(frame, op, operands, 1)  # type: ignore[assignment]
    if frame.count:
        MBarrier(view_of(operands[0]), frame.programs).arrive(1, op.attributes["size"])
        frame.machine.asynchronous.version += 1


@impl("ttng.arrive_barrier")
def arrive_barrier(frame: Frame, op: Op, *operands: Value) -> None:
    frame, operands = _those(frame, op, operands, 1)  # type: ignore[assignment]
    if frame.count:
        MBarrier(view_of(operands[0]), frame.programs).arrive(op.attributes["count"])
        frame.machine.asynchronous.version += 1


@impl("ttng.wait_barrier")
def wait_barrier(frame: Frame, op: Op, *operands: Value) -> None:
    """Wait for the end of a phase: copies that report to the barrier land now, and other partitions run."""
    frame, operands = _those(frame, op, operands, 2)  # type: ignore[assignment]
    if not frame.count:
        return
    view = view_of(operands[0])
    bar = MBarrier(view, frame.programs)
    parity = np.broadcast_to(values.elements(operands[1], frame.type(op.operands[1])).reshape(-1), (frame.count,))
    asynchronous = frame.machine.asynchronous
    while (waiting := bar.pending(parity)).any():
        rows = np.flatnonzero(waiting)
        some = view.take(rows) if len(view.base) > 1 else view
        if asynchronous.land_next(_LOADS, frame.programs[rows], some):
            continue
        name = view.buffer.name or "the barrier"
        told = _("{name} is waited for in phase {phase}, which does not end: {state}").format(
            name=name, phase=int(parity[rows[0]]), state=MBarrier(some, frame.programs[rows]).told()
        )
        reason = Deadlock(told, op, frame.programs[rows])
        if asynchronous.partitions is None:
            raise reason
        asynchronous.partitions.wait(reason)


@impl("ttg.fence_async_shared", "ttng.fence_async_shared")
def fence_async_shared(frame: Frame, op: Op) -> None:
    """Nothing: copies here see all that was stored before them."""


# --- TMA -------------------------------------------------------------------------------------------------------


@impl("ttng.async_tma_copy_global_to_local")
def async_tma_load(frame: Frame, op: Op, *operands: Value) -> None:
    at = operands_of(op)
    frame, operands = _those(frame, op, operands, at.predicate)  # type: ignore[assignment]
    if not frame.count:
        return
    assert at.buffer is not None and at.barrier is not None
    view, bar = view_of(operands[at.buffer]), view_of(operands[at.barrier])
    descriptor, block = descriptor_of(operands, at), described(frame, op).shape
    pointer, mask = placed(descriptor, block, view.dtype.itemsize, corner_of(frame, op, operands, at))
    found = read_box(frame, op, descriptor, pointer, mask, view.dtype, block)
    rows, places = view.places(frame.programs)
    view.buffer.check(rows, places, writes=True)
    asynchronous = frame.machine.asynchronous
    found = found.reshape(found.shape[0], *view.offsets.shape)
    size = view.offsets.size * view.dtype.itemsize
    landed = lambda bar, programs: MBarrier(bar, programs).land(size)  # noqa: E731
    work = PendingWork(asynchronous.number(), op, view, frame.programs, found, bar=bar, landed=landed)
    asynchronous.add(_LOADS, work)


def _leaving(frame: Frame, op: Op, operands: Sequence[Value]) -> tuple[Any, Any, Array]:
    """Addresses and mask of the box that a copy out of shared memory writes, and its elements."""
    at = operands_of(op)
    assert at.buffer is not None
    view = view_of(operands[at.buffer])
    block = described(frame, op).shape
    pointer, mask = placed(descriptor_of(operands, at), block, view.dtype.itemsize, corner_of(frame, op, operands, at))
    found = view.read(frame.programs)
    _reads(frame, op, _STORES, [view])
    return pointer, mask, found.reshape(found.shape[0], *block)


def _reads(frame: Frame, op: Op, queue: str, views: Sequence[SharedView]) -> None:
    """Note that work which is a group by itself may read these parts of shared memory until it is waited for."""
    asynchronous = frame.machine.asynchronous
    for view in views:
        asynchronous.add(queue, PendingWork(asynchronous.number(), op, view, frame.programs, None))
    asynchronous.commit(queue, frame.programs)


@impl("ttng.async_tma_copy_local_to_global")
def async_tma_store(frame: Frame, op: Op, *operands: Value) -> None:
    pointer, mask, found = _leaving(frame, op, operands)
    write_box(frame, op, pointer, mask, found, found.shape[1:])


@impl("ttng.async_tma_reduce")
def async_tma_reduce(frame: Frame, op: Op, *operands: Value) -> None:
    pointer, mask, found = _leaving(frame, op, operands)
    block = described(frame, op)
    modify(frame, op, pointer, mask, found, KINDS["f" if block.is_float else block.element[0]][op.attributes["kind"]])


@impl("ttng.async_tma_store_wait", "ttg.async_tma_store_wait")
def async_tma_store_wait(frame: Frame, op: Op) -> None:
    frame.machine.asynchronous.wait(_STORES, frame.programs, op.attributes["pendings"])


# --- Products of warp groups -----------------------------------------------------------------------------------


@impl("ttng.warp_group_dot")
def warp_group_dot(frame: Frame, op: Op, a: Value, b: Value, accumulator: Value, *flag: Value) -> Value:
    """``a @ b + accumulator``; ``flag``: whether the accumulator counts."""
    dtype = dtype_of(frame.result_type(op))
    shared = [one for one in (a, b) if isinstance(one, SharedView)]
    x, y = (
        one.read(frame.programs) if isinstance(one, SharedView) else frame.spread(op, k, one)
        for k, one in enumerate((a, b))
    )
    start = frame.elements(op, 2, accumulator)
    if flag:
        used = truth(frame, op, 3, flag[0]).reshape(-1, *(1,) * (start.ndim - 1))
        start = np.where(used, start, np.zeros(1, start.dtype))
    if op.attributes.get("isAsync") and shared:
        _reads(frame, op, _PRODUCTS, shared)
    if dtype.kind == "i":
        whole: Array = integer_product(x, y, dtype) + start
        return whole
    return product_sum(widen(x), widen(y), widen(start), x.dtype).astype(dtype, copy=False)


@impl("ttng.warp_group_dot_wait")
def warp_group_dot_wait(frame: Frame, op: Op, *inputs: Value) -> Any:
    frame.machine.asynchronous.wait(_PRODUCTS, frame.programs, op.attributes["pendings"])
    return inputs[0] if len(inputs) == 1 else inputs


# --- Partitions ------------------------------------------------------------------------------------------------


@control("ttg.warp_specialize")
def warp_specialize(frame: Frame, op: Op, *captured: Value) -> Any:
    first, holder = frame.region(op)[:2]
    inner = holder.terminator
    handed = [frame.environment[number] for number in inner.operands] or list(captured)
    works = [partial(frame.run, first)]
    works += [partial(frame.run, code, handed) for code in frame.routine.regions[inner.index]]
    asynchronous = frame.machine.asynchronous
    asynchronous.partitions = Partitions(lambda: asynchronous.version)
    try:
        results = asynchronous.partitions.run(works)[0]
    finally:
        asynchronous.partitions = None
    return results[0] if len(results) == 1 else results
