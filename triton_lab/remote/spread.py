"""`spread`: Python calls on shared machines, each in a process of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from triton_lab.backend.targets.active_target import target
from triton_lab.localization import _
from triton_lab.remote.call_job import sent
from triton_lab.remote.cluster import Cluster
from triton_lab.remote.job import Job, JobAnswer
from triton_lab.remote.remote_errors import DataError, RemoteError, raised
from triton_lab.remote.scheduler_address import check_address
from triton_lab.remote.scheduler_client import installed
from triton_lab.remote.wire_data import packed, unpacked


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call: its ``value`` or ``error``, what it ``printed``, its ``seconds``, and where it ran."""

    value: Any
    error: BaseException | None
    printed: str
    seconds: float
    worker: str


def spread(
    calls: Sequence[Callable[[], Any]],
    *,
    scheduler: str,
    security: Any = None,
    insecure: bool = False,
    max_seconds: float = 60.0,
    max_bytes: int = 4 << 30,
) -> list[Outcome]:
    """Run ``calls`` on the workers of a Dask scheduler; returns an `Outcome` of each, in the same order.

    Each call is a job in a process of its own, forked from a warm process, with the limits of `target`. A call that
    exceeds them or crashes has a RemoteError as ``error``, and does not affect the others. Kernels run on the CPU
    target there. A call travels as code: ``functools.partial`` of a function in a module that workers can import, or
    a function of the notebook. Its result travels as data: None, bool, int, float, str, bytes, list, tuple, dict,
    NumPy arrays, torch tensors and recorded launches; another type gives a TypeError that names it. An error keeps
    its text, and its class if that is Python's or triton_lab's; otherwise it becomes a RemoteError. Raises
    TargetError, RemoteError and ValueError as launches on a scheduler do.

    ``lab.spread([functools.partial(pytest.main, [file]) for file in files], scheduler="tls://...")`` is a test suite.

    >>> lab.spread([float, int], scheduler="tcp://gpu.example.org:8786")
    Traceback (most recent call last):
        ...
    ValueError: scheduler='tcp://gpu.example.org:8786': tcp:// is not encrypted. Others can read and change...
    """
    return list(
        outcomes(
            calls,
            scheduler=scheduler,
            security=security,
            insecure=insecure,
            max_seconds=max_seconds,
            max_bytes=max_bytes,
        )
    )


def outcomes(
    calls: Sequence[Callable[[], Any]],
    *,
    scheduler: str,
    security: Any,
    insecure: bool,
    max_seconds: float,
    max_bytes: int,
) -> Iterator[Outcome]:
    """Like `spread`, but yields the outcomes one by one; those before a RemoteError are not lost."""
    check_address(scheduler, insecure)
    installed()
    cluster = Cluster(scheduler, "cpu", security, max_seconds, max_bytes)
    try:
        cluster.check()
        jobs = [packed(Job(_name(call), (1, 1, 1), (), sent(_called, call))) for call in calls]
        for call, answer in zip(calls, cluster.each(jobs, "calls"), strict=True):
            yield _outcome(call, answer, max_bytes)
    finally:
        cluster.close()


def _called(call: Callable[[], Any]) -> Any:
    """Run the call on the worker, with the CPU target whatever GPU it has."""
    with target("cpu"):
        return call()


def _name(call: Callable[[], Any]) -> str:
    while isinstance(call, functools.partial):
        call = call.func
    return getattr(call, "__name__", type(call).__name__)


def _outcome(call: Callable[[], Any], answer: JobAnswer, most: int) -> Outcome:
    value: Any = None
    error: BaseException | None = None
    if answer.failure is not None:
        error = raised(answer, None, _name(call), "call")
    else:
        try:
            value = unpacked(answer.returned, most)
        except DataError as unread:
            error = RemoteError(
                _("the result of the call of {name} on {worker} cannot be read here: {unread}").format(
                    name=_name(call), worker=answer.worker, unread=unread
                )
            )
    return Outcome(value, error, answer.printed, sum(answer.times), answer.worker)
