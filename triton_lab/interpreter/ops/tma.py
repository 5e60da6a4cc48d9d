"""``ttng``: copies between global and shared memory by TMA, whole boxes or chosen rows of a tensor."""

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
from triton_lab.interpreter.ops.atomics import modify
from triton_lab.interpreter.ops.barrier_phases import chosen
from triton_lab.interpreter.ops.descriptors import (
    corner_of,
    described,
    descriptor_of,
    placed,
    read_box,
    reduction_of,
    some_rows,
    write_box,
)
from triton_lab.interpreter.ops.local_memory import filling, view_of
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op
from triton_lab.ir.effects import operands_of
from triton_lab.localization import _

Array = NDArray[Any]
_WITH_OFFSETS = 6  # kinds of operands of a copy that may have offsets in an image


@check("ttng.async_tma_copy_global_to_local", "ttng.async_tma_gather")
def of_one_box(op: Op) -> None:
    if op.attributes.get("multicast"):
        raise Unsupported(
            _("the CPU target runs each program as a cluster of its own, and cannot send a copy to several of them"), op
        )
    sizes = op.attributes.get("operandSegmentSizes", ())
    if len(sizes) == _WITH_OFFSETS and sizes[2]:
        raise Unsupported(_("the CPU target does not run TMA's copies of image patches (im2col)"), op)


@impl("ttng.async_tma_copy_global_to_local")
def async_tma_load(frame: Frame, op: Op, *operands: Value) -> None:
    at = operands_of(op)
    frame, operands = chosen(frame, op, operands, at.predicate)  # type: ignore[assignment]
    if not frame.count:
        return
    assert at.buffer is not None and at.barrier is not None
    view, descriptor = view_of(operands[at.buffer]), descriptor_of(operands, at)
    block = described(frame, op).shape
    pointer, mask = placed(descriptor, block, view.dtype.itemsize, corner_of(frame, op, operands, at))
    found = read_box(frame, op, descriptor, pointer, mask, view.dtype, block)
    _load(frame, op, view, view_of(operands[at.barrier]), found)


@impl("ttng.async_tma_gather")
def async_tma_gather(frame: Frame, op: Op, *operands: Value) -> None:
    at = operands_of(op)
    frame, operands = chosen(frame, op, operands, at.predicate)  # type: ignore[assignment]
    if not frame.count:
        return
    assert at.buffer is not None and at.barrier is not None
    view = view_of(operands[at.buffer])
    addresses, mask = some_rows(frame, op, operands, view.shape[-1], view.dtype.itemsize)
    found = read_box(frame, op, descriptor_of(operands, at), addresses, mask, view.dtype, view.shape)
    _load(frame, op, view, view_of(operands[at.barrier]), found)


def _load(frame: Frame, op: Op, view: SharedView, bar: SharedView, found: Array) -> None:
    """Start a copy of ``found`` into shared memory, which reports its bytes to a barrier."""
    found = found.reshape(found.shape[0], *view.shape)
    work = PendingWork(
        op,
        "loads",
        frame.programs,
        writes=(view,),
        effect=filling(view, frame.programs, found),
        bars=((bar, view.nbytes, 0),),
    )
    frame.machine.asynchronous.add(work)


def _leaving(frame: Frame, op: Op, operands: Sequence[Value]) -> Array:
    """The elements that a copy takes out of shared memory: a group by itself, pending until it is waited for."""
    position = operands_of(op).buffer
    assert position is not None
    view, asynchronous = view_of(operands[position]), frame.machine.asynchronous
    asynchronous.add(PendingWork(op, "stores", frame.programs, reads=(view,)))
    asynchronous.commit("stores", frame.programs, op)
    return view.read(frame.programs)


def _box(frame: Frame, op: Op, operands: Sequence[Value], found: Array) -> tuple[Any, Any, Array]:
    """Addresses and mask of the box that a copy out of shared memory writes, and its elements."""
    at, block = operands_of(op), described(frame, op).shape
    corner = corner_of(frame, op, operands, at)
    pointer, mask = placed(descriptor_of(operands, at), block, found.dtype.itemsize, corner)
    return pointer, mask, found.reshape(found.shape[0], *block)


@impl("ttng.async_tma_copy_local_to_global")
def async_tma_store(frame: Frame, op: Op, *operands: Value) -> None:
    pointer, mask, found = _box(frame, op, operands, _leaving(frame, op, operands))
    write_box(frame, op, pointer, mask, found, found.shape[1:])


@impl("ttng.async_tma_scatter")
def async_tma_scatter(frame: Frame, op: Op, *operands: Value) -> None:
    found = _leaving(frame, op, operands)
    addresses, mask = some_rows(frame, op, operands, found.shape[-1], found.dtype.itemsize)
    write_box(frame, op, addresses, mask, np.ascontiguousarray(found), found.shape[1:])


@impl("ttng.async_tma_reduce")
def async_tma_reduce(frame: Frame, op: Op, *operands: Value) -> None:
    pointer, mask, found = _box(frame, op, operands, _leaving(frame, op, operands))
    modify(frame, op, pointer, mask, found, reduction_of(frame, op))


@impl("ttng.async_tma_store_wait", "ttg.async_tma_store_wait")
def async_tma_store_wait(frame: Frame, op: Op) -> None:
    frame.machine.asynchronous.wait("stores", frame.programs, op.attributes["pendings"], op)
