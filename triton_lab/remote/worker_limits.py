"""The limits of a worker and of the processes that do its jobs: seconds, memory, and sizes of messages.

The worker's own limits are in Dask's configuration: ``triton-lab.max-seconds`` and ``triton-lab.max-bytes``, or the
environment variables ``DASK_TRITON_LAB__MAX_SECONDS`` and ``DASK_TRITON_LAB__MAX_BYTES``. A job gets the smaller of
these and of what the user asks for. ``triton-lab.namespaces`` says whether jobs run in namespaces of their own, which
is the default where the system has them.
"""

from __future__ import annotations

import re
import resource
from pathlib import Path

READY = 180.0  # seconds for importing what jobs need
IDLE = 900.0  # seconds that it waits for the next request
PRINTED = 1 << 20  # bytes kept of a job's printed text
BESIDE = 64 << 20  # bytes of an answer besides the job's memory limit
REQUEST = 1 << 16  # bytes of a request


def granted(seconds: float, memory: int) -> tuple[float, int]:
    """The seconds and the bytes that a job gets of those that its user asks for."""
    import dask

    return (
        min(seconds, float(dask.config.get("triton-lab.max-seconds", seconds))),
        min(memory, int(dask.config.get("triton-lab.max-bytes", memory))),
    )


def in_namespaces() -> bool:
    """Whether jobs run in namespaces of their own, if the system has them."""
    import dask

    return bool(dask.config.get("triton-lab.namespaces", True))


def bound_memory(memory: int) -> None:
    """Limit this process's memory to ``memory`` bytes more than it has."""
    found = re.search(r"^VmData:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    bound_to(resource.RLIMIT_DATA, (int(found[1]) << 10 if found else 0) + memory)


def bound_to(limit: int, wanted: int) -> None:
    """Lower one of this process's limits, a ``resource.RLIMIT_``, to ``wanted``."""
    _, most = resource.getrlimit(limit)
    least = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(limit, (least, least))


def bound_gpu(memory: int) -> None:
    """Limit the CPU's memory, after the GPU's driver has taken its own, and the GPU's memory."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.init()  # type: ignore[no-untyped-call]
        _, total = torch.cuda.mem_get_info()
        torch.cuda.set_per_process_memory_fraction(min(1.0, memory / total))
    bound_memory(memory)
