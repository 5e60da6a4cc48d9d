"""What a Dask worker runs: one job, in a process of its own, within the limits of who asks and of who keeps the worker.

The latter are of Dask's configuration: ``triton-lab.max-seconds`` and ``triton-lab.max-bytes``, which the environment
variables ``DASK_TRITON_LAB__MAX_SECONDS`` and ``DASK_TRITON_LAB__MAX_BYTES`` set too; ``triton-lab.namespaces`` says
whether jobs are put into namespaces of their own, which they are where the system has them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from triton_lab.remote.wire_data import packed


def perform(job: bytes, kind: str, seconds: float, memory: int, shared: bytes = b"") -> bytes:
    """What becomes of ``job``, a `Job` packed, of this ``kind``; ``shared`` is what others need too. A `Reply`, packed.

    Bytes are what Dask hands on without a pickle.
    """
    import dask
    import distributed

    from triton_lab.remote.job_server import serving

    worker = distributed.get_worker()
    key = distributed.worker.thread_state.key
    seconds = min(seconds, float(dask.config.get("triton-lab.max-seconds", seconds)))
    memory = min(memory, int(dask.config.get("triton-lab.max-bytes", memory)))
    with serving(kind, bool(dask.config.get("triton-lab.namespaces", True))) as server:
        reply = server.perform(job, seconds, memory, lambda: _is_unwanted(worker, key), shared)
    return packed(vars(replace(reply, worker=str(worker.address))))


def _is_unwanted(worker: Any, key: Any) -> bool:
    """Whether nobody waits for a task any more: it was cancelled, its notebook is gone, or the worker is to end."""
    task = worker.state.tasks.get(key)
    return task is None or task.state == "cancelled" or worker.status.name not in ("running", "paused")
