"""A job that runs a range of a launch's programs, and checks their accesses."""

from __future__ import annotations

import time

from triton_lab.launch.sharding.shard import Whole
from triton_lab.launch.sharding.shard import perform as run
from triton_lab.remote import wire_data
from triton_lab.remote.job import JobAnswer, ShardWork
from triton_lab.remote.remote_errors import DataError


def perform(work: ShardWork, shared: bytes) -> JobAnswer:
    """Run the programs of the packed launch ``shared``. A kernel's errors are part of the answer, others are raised."""
    whole = wire_data.unpacked(shared, len(shared))
    if type(whole) is not Whole:
        raise DataError("a part came without its launch")
    start = time.perf_counter()
    done = run(whole, work.own)
    return JobAnswer(times=(time.perf_counter() - start,), returned=wire_data.packed(done))
