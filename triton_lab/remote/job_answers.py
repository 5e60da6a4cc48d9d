"""Checks a worker's messages: a worker, or an impostor in its place, may send anything."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from triton_lab.interpreter.kernel_errors import KernelErrorData
from triton_lab.interpreter.memory_regions import MemoryRegion
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.sharding.shard import Done, Whole
from triton_lab.localization import _
from triton_lab.remote.job import FORMAT, JobAnswer, JobEnded, Raised, Reply
from triton_lab.remote.remote_errors import DataError, RemoteError, hold
from triton_lab.remote.wire_data import unpacked

_NAME = 200  # characters of an address, a device, or a type's name
_TEXT = 1 << 20
_TIMES = 1 << 20
_LANES = 1 << 10


def answer_of(data: Any, most: int) -> JobAnswer:
    """The answer in a reply of at most ``most`` bytes. Raises DataError."""
    hold(type(data) is bytes, "a reply")
    given = unpacked(data, 2 * most)
    kinds = {one.name: _KINDS[str(one.type)] for one in dataclasses.fields(Reply)}
    if type(given) is not dict or {name: type(one) for name, one in given.items()} != kinds:
        raise DataError(_("it is not a reply from a worker"))
    reply = Reply(**given)
    hold(reply.format == FORMAT, "its version")
    hold(len(reply.worker) <= _NAME and len(reply.why) <= _TEXT and len(reply.printed) <= 2 * _TEXT, "its texts")
    if reply.why:
        return JobAnswer(worker=reply.worker, printed=reply.printed, failure=JobEnded(reply.why))
    try:
        answer = _checked(unpacked(reply.answer, most))
    except DataError as error:
        # The job wrote it, not the worker: the error is reported as the job's.
        answer = JobAnswer(failure=JobEnded(_("its answer cannot be read: {error}").format(error=error)))
    return dataclasses.replace(answer, worker=reply.worker, printed=reply.printed)


_KINDS = {"str": str, "bytes": bytes, "int": int}


def _checked(answer: Any) -> JobAnswer:
    if type(answer) is not JobAnswer:
        raise DataError(_("it is not an answer"))
    hold(len(answer.times) <= _TIMES and all(0 <= one < 1e9 for one in answer.times), "its times")
    hold(0 <= answer.compile < 1e9 and len(answer.device) <= _NAME, "its time")
    if answer.other is not None:
        backend, arch, lanes = answer.other
        known = 0 < arch < 1000 if isinstance(arch, int) else 0 < len(arch) <= 40 and arch.isalnum()
        hold(len(backend) <= 40 and backend.isalnum() and known and 0 < lanes <= _LANES, "its target")
    failure = answer.failure
    if isinstance(failure, Raised):
        hold(len(failure.type) <= _NAME and len(failure.text) <= _TEXT, "its error")
        plain = all(type(one) in (int, float, str, bool) for one in failure.arguments)
        hold(len(failure.arguments) <= 16 and plain, "the arguments of its error")
    if isinstance(failure, KernelErrorData):
        _check_stopped(failure)
    hold(not isinstance(failure, JobEnded), "its end")
    return answer


def _check_stopped(stopped: KernelErrorData) -> None:
    for programs in (stopped.programs, stopped.together):
        hold(programs is None or (programs.ndim == 1 and programs.dtype.kind in "iu"), "the programs of an error")
    fault = stopped.fault
    if fault is None:
        return
    rows = (fault.programs, fault.lanes, fault.addresses)
    hold(all(one.ndim == 1 and one.dtype.kind in "iu" and len(one) == len(rows[0]) for one in rows), "a fault")
    hold(0 < fault.itemsize <= 1 << 20 and all(0 < one <= 1 << 20 for one in fault.block), "a fault")
    hold(len(rows[0]) > 0 and 0 < fault.rows <= 1 << 30, "a fault")


def check_done(done: Any, whole: Whole, own: range) -> Done:
    """The work of the programs ``own`` of a launch, from a worker, checked. Raises DataError if it is impossible."""
    if type(done) is not Done or done.own != own:
        raise DataError("it is not what this part did")
    for ranges in (*done.touched.values(), done.changed, done.idle):
        _check_ranges(ranges)
    hold(set(done.touched) == set(done.kinds) and set(done.owners) <= set(done.kinds), "its operations")
    hold(done.data.ndim == 1 and len(done.data) == done.changed.size, "what it has written")
    written = Ranges.of(
        [held.start for held in whole.snapshot.regions if held.writable],
        [held.start + len(held.data) for held in whole.snapshot.regions if held.writable],
    )
    hold(not len(done.changed - written), "where it has written")
    hold(not len(done.idle - Ranges.of([own.start], [own.stop])), "its idle programs")
    for stopped in done.stopped:
        _check_stopped(stopped)
    for found in done.verdict.findings:
        hold(found.kind in rules(), "the kind of a finding")
        _check_rows((found.programs, found.lanes, found.elements, found.events, found.values))
        hold(found.extent.ndim == 2 and found.extent.shape[1] == 2, "the extent of a finding")
    return done


def _check_ranges(ranges: Ranges) -> None:
    _check_rows((ranges.start, ranges.stop))
    start, stop = ranges.start, ranges.stop
    hold(len(start) == len(stop) and bool((start < stop).all() and (stop[:-1] < start[1:]).all()), "ranges")


def _check_rows(arrays: Sequence[np.ndarray[Any, Any]]) -> None:
    hold(all(one.ndim == 1 for one in arrays), "arrays")


def put(answer: JobAnswer, regions: Sequence[MemoryRegion]) -> None:
    """Write the changed bytes into the memory here. Raises RemoteError for changes that are not possible."""
    by_start = {region.start: region for region in regions if region.size}
    known = len({changed.start for changed in answer.changed} & set(by_start))
    if known < len(answer.changed) or not all(one.fits(by_start[one.start].size) for one in answer.changed):
        raise RemoteError(
            _("{worker} reports changes of memory that was not sent to it; nothing was written").format(
                worker=answer.worker
            )
        )
    for changed in answer.changed:
        if not by_start[changed.start].writable:
            raise RemoteError(_("the kernel wrote to read-only memory; nothing was written to the tensors"))
    for changed in answer.changed:
        region = by_start[changed.start]
        where = changed.where(region.size)
        region.data[where] = np.frombuffer(changed.data, np.uint8)
        if region.flags is not None:
            region.flags.data[where] = 0xFF
