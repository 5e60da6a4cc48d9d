"""The task that a Dask worker runs: one job in a process of its own, within the limits of user and worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from triton_lab.remote import worker_limits
from triton_lab.remote.wire_data import packed


def perform(job: bytes, kind: str, seconds: float, memory: int, shared: bytes = b"") -> bytes:
    """Run ``job``, a packed `Job` of this ``kind``, with the packed data ``shared``; returns a packed `Reply`.

    Dask passes bytes on without a pickle.
    """
    import distributed

    from triton_lab.remote.job_server import serving

    worker = distributed.get_worker()
    key = distributed.worker.thread_state.key
    seconds, memory = worker_limits.granted(seconds, memory)
    with serving(kind, worker_limits.in_namespaces()) as server:
        reply = server.perform(job, seconds, memory, lambda: _is_unwanted(worker, key), shared)
    return packed(vars(replace(reply, worker=str(worker.address))))


def _is_unwanted(worker: Any, key: Any) -> bool:
    """Whether no client waits for a task any more: it was cancelled, its notebook is gone, or the worker is closing."""
    task = worker.state.tasks.get(key)
    return task is None or task.state == "cancelled" or worker.status.name not in ("running", "paused")
