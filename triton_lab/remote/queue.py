"""Where a job stands, as the scheduler knows it: this runs there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PREFIX = "triton-lab-"
"""What the keys of our jobs begin with; others are nobody's in the queue."""


@dataclass(frozen=True)
class Place:
    """``before``: how many jobs have to end before this one begins. ``state`` is Dask's word, ``worker`` an address."""

    state: str
    before: int
    worker: str = ""


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
    if here is None:
        return Place(mine.state, len(others))
    offered = [int(here.resources[one] // needed) for one, needed in (mine.resource_restrictions or {}).items()]
    slots = max(1, min([here.nthreads, *offered]))
    return Place(mine.state, max(0, len(others) - slots + 1), here.address)
