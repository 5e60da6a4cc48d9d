"""The limits of shared workers: a job gets the smaller of what its user asks for and what the worker allows."""

from __future__ import annotations

import subprocess
import sys

import dask
import pytest

from triton_lab.remote import worker_limits


@pytest.mark.parametrize(
    ("worker", "granted"),
    [
        ({}, (60.0, 1000)),
        ({"triton-lab.max-seconds": 5}, (5.0, 1000)),
        ({"triton-lab.max-bytes": "200"}, (60.0, 200)),
        ({"triton-lab.max-seconds": "90", "triton-lab.max-bytes": 2000}, (60.0, 1000)),
    ],
)
def test_a_job_gets_the_smaller_limit(worker: dict[str, object], granted: tuple[float, int]) -> None:
    with dask.config.set(worker):
        assert worker_limits.granted(60.0, 1000) == granted


def test_jobs_run_in_namespaces_unless_the_worker_says_otherwise() -> None:
    assert worker_limits.in_namespaces()
    with dask.config.set({"triton-lab.namespaces": False}):
        assert not worker_limits.in_namespaces()


def test_memory_is_bounded_beyond_what_the_process_has() -> None:
    """A hundred MB go into a process that may take 400 MB more, and not into one that may take 50."""
    code = "from triton_lab.remote.worker_limits import bound_memory; bound_memory({} << 20); bytearray(100 << 20)"
    fits, does_not = (
        subprocess.run([sys.executable, "-c", code.format(most)], capture_output=True, text=True) for most in (400, 50)
    )
    assert fits.returncode == 0, fits.stderr
    assert does_not.returncode != 0 and "MemoryError" in does_not.stderr
