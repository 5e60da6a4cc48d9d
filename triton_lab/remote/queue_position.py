"""The position of a job in the scheduler's queue: this code runs in the scheduler, and answers in plain text."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from dataclasses import dataclass
from typing import Any

from triton_lab.localization import _

PREFIX = "triton-lab-"
"""The prefix of our jobs' keys; other tasks are ignored in the queue."""
_TEXT = 2000  # characters of a reported error
_MOST = 4 * _TEXT


@dataclass(frozen=True)
class QueuePosition:
    """A job's position: ``before`` is how many jobs must end before it begins.

    ``able`` is how many workers could run it. Once a worker is chosen, ``worker`` is its address, and ``silent`` the
    seconds since its last message. ``error`` is Dask's text if the job failed outside of its process; ``killed`` says
    whether its worker ended while it ran.
    """

    before: int
    able: int
    worker: str = ""
    silent: float = 0.0
    error: str = ""
    killed: bool = False

    @classmethod
    def read(cls, text: Any) -> QueuePosition | None:
        """The position in the text of `place`, or None. Raises ValueError for others: an impostor may send any."""
        found = json.loads(text) if isinstance(text, str) and len(text) <= _MOST else 0
        if found is None:
            return None
        kinds = {one.name: type(one.default) for one in dataclasses.fields(cls)} | {"before": int, "able": int}
        if not isinstance(found, dict) or {name: type(one) for name, one in found.items()} != kinds:
            raise ValueError(_("the scheduler does not report the job's position"))
        if not math.isfinite(found["silent"]):
            raise ValueError(_("the scheduler does not report how long the worker has been silent"))
        return cls(**found)


class Once:
    """A scheduler plugin: if a job's worker ends, the job is not run on another one, which it might end, too."""

    name = "triton-lab-once"

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler

    def transition(self, key: Any, start: str, finish: str, *args: Any, **rest: Any) -> None:
        """Called by Dask when a task changes state: uses up the allowed failures of our job when it begins."""
        if finish == "processing" and str(key).startswith(PREFIX):
            task = self._scheduler.tasks[key]
            task.suspicious = max(task.suspicious, self._scheduler.allowed_failures)


def forbid_retries(dask_scheduler: Any = None) -> None:
    """Make the scheduler run each of our jobs at most once."""
    from distributed import SchedulerPlugin

    if Once.name not in dask_scheduler.plugins:
        kind = type(Once.__name__, (Once, SchedulerPlugin), {})
        dask_scheduler.add_plugin(kind(dask_scheduler), name=Once.name)


def place(key: str, dask_scheduler: Any = None) -> str:
    """The position of the job ``key`` as text for `QueuePosition.read`."""
    found = _place(key, dask_scheduler)
    return json.dumps(None if found is None else dataclasses.asdict(found))


def _place(key: str, dask_scheduler: Any) -> QueuePosition | None:
    """The position of the job ``key``; None if the scheduler does not know it."""
    mine = dask_scheduler.tasks.get(key)
    if mine is None:
        return None
    if mine.state == "erred":
        error = (mine.exception_text or "no reason given")[:_TEXT]
        return QueuePosition(0, 0, error=error, killed=mine.suspicious > dask_scheduler.allowed_failures)
    here = mine.processing_on
    others = [
        task
        for task in dask_scheduler.tasks.values()
        if str(task.key).startswith(PREFIX)
        and task.state in ("processing", "queued", "no-worker", "waiting")
        and task.resource_restrictions == mine.resource_restrictions
        and (here is None or task.processing_on is here)
        and task.priority < mine.priority
    ]
    able = sum(_is_able(one, mine) for one in dask_scheduler.workers.values())
    if here is None:
        return QueuePosition(len(others), able)
    offered = [int(here.resources[one] // needed) for one, needed in (mine.resource_restrictions or {}).items()]
    slots = max(1, min([here.nthreads, *offered]))
    return QueuePosition(max(0, len(others) - slots + 1), able, here.address, float(time.time() - here.last_seen))


def _is_able(worker: Any, task: Any) -> bool:
    named = not task.worker_restrictions or worker.address in task.worker_restrictions
    has = all(worker.resources.get(one, 0) >= much for one, much in (task.resource_restrictions or {}).items())
    return named and has
