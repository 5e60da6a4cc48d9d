"""Where a job stands, as the scheduler knows it: this runs there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

PREFIX = "triton-lab-"
"""What the keys of our jobs begin with; others are nobody's in the queue."""


@dataclass(frozen=True)
class Place:
    """``before``: how many jobs have to end before this one begins.

    ``able`` is how many workers could run it. Once one is chosen, ``worker`` is its address, and ``silent`` the seconds
    since it was heard of.
    """

    before: int
    able: int
    worker: str = ""
    silent: float = 0.0


def place(key: str, dask_scheduler: Any = None) -> Place | None:
    """Of the job ``key``; None where the scheduler knows of none."""
    mine = dask_scheduler.tasks.get(key)
    if mine is None:
        return None
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
        return Place(len(others), able)
    offered = [int(here.resources[one] // needed) for one, needed in (mine.resource_restrictions or {}).items()]
    slots = max(1, min([here.nthreads, *offered]))
    return Place(max(0, len(others) - slots + 1), able, here.address, time.time() - here.last_seen)


def _is_able(worker: Any, task: Any) -> bool:
    named = not task.worker_restrictions or worker.address in task.worker_restrictions
    has = all(worker.resources.get(one, 0) >= much for one, much in (task.resource_restrictions or {}).items())
    return named and has
