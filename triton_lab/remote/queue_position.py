"""Where a job stands, as the scheduler knows it: this runs there. It answers in text, which is read as data."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from dataclasses import dataclass
from typing import Any

PREFIX = "triton-lab-"
"""What the keys of our jobs begin with; others are nobody's in the queue."""
_TEXT = 2000  # characters of an error that is told
_MOST = 4 * _TEXT


@dataclass(frozen=True)
class QueuePosition:
    """``before``: how many jobs have to end before this one begins.

    ``able`` is how many workers could run it. Once one is chosen, ``worker`` is its address, and ``silent`` the seconds
    since it was heard of. ``error`` is what Dask says where the job has failed outside of its process, and ``killed``
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
        """What `place` has said, or None; ValueError for anything else, which another one may say in its place."""
        found = json.loads(text) if isinstance(text, str) and len(text) <= _MOST else 0
        if found is None:
            return None
        kinds = {one.name: type(one.default) for one in dataclasses.fields(cls)} | {"before": int, "able": int}
        if not isinstance(found, dict) or {name: type(one) for name, one in found.items()} != kinds:
            raise ValueError("the scheduler does not say where the job stands")
        if not math.isfinite(found["silent"]):
            raise ValueError("the scheduler does not say since when the worker is silent")
        return cls(**found)


class Once:
    """A plugin of the scheduler's: a job whose worker ends is not tried on another one, which it might end as well."""

    name = "triton-lab-once"

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler

    def transition(self, key: Any, start: str, finish: str, *args: Any, **rest: Any) -> None:
        """Called by Dask for each step of a task: one of ours that begins has no failures left."""
        if finish == "processing" and str(key).startswith(PREFIX):
            task = self._scheduler.tasks[key]
            task.suspicious = max(task.suspicious, self._scheduler.allowed_failures)


def forbid_retries(dask_scheduler: Any = None) -> None:
    """Have the scheduler try no job of ours again; once is enough."""
    from distributed import SchedulerPlugin

    if Once.name not in dask_scheduler.plugins:
        kind = type(Once.__name__, (Once, SchedulerPlugin), {})
        dask_scheduler.add_plugin(kind(dask_scheduler), name=Once.name)


def place(key: str, dask_scheduler: Any = None) -> str:
    """Of the job ``key``, as `QueuePosition.read` reads it."""
    found = _place(key, dask_scheduler)
    return json.dumps(None if found is None else dataclasses.asdict(found))


def _place(key: str, dask_scheduler: Any) -> QueuePosition | None:
    """None where the scheduler knows of none."""
    mine = dask_scheduler.tasks.get(key)
    if mine is None:
        return None
    if mine.state == "erred":
        error = (mine.exception_text or "it does not say why")[:_TEXT]
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
