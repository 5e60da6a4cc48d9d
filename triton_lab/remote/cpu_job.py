"""Jobs run by the interpreter: a launch, or a range of a recorded launch's programs, whose accesses are checked.

They run at the memory addresses of the notebook, so that their messages are right there.
"""

from __future__ import annotations

import time

import numpy as np

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError, KernelErrorData
from triton_lab.interpreter.machine import Machine
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion
from triton_lab.interpreter.printing import KernelPrinter
from triton_lab.ir import parse_plan
from triton_lab.launch.sharding import shard
from triton_lab.localization import _
from triton_lab.remote import wire_data
from triton_lab.remote.job import Interpreted, Job, JobAnswer, ShardWork, changes
from triton_lab.remote.remote_errors import DataError


def perform(job: Job) -> JobAnswer:
    """Run the job. A kernel's error is part of the answer; other errors are raised."""
    assert isinstance(job.work, Interpreted)
    regions = []
    for sent in job.memory:
        data = np.frombuffer(bytearray(sent.data), np.uint8)
        data.flags.writeable = sent.writable
        regions.append(MemoryRegion(sent.start, data))
    memory = Memory(regions)
    start = time.perf_counter()
    try:
        executable = Executable.of(parse_plan(job.work.plan))
        ready = time.perf_counter()
        machine = Machine(
            executable,
            job.work.values,
            job.grid,
            memory,
            limits=job.work.limits,
            printer=KernelPrinter(job.grid, job.work.limits.lines),
        )
        machine.allow(executable.reach(memory.beginning_at(job.work.owners)))
        machine.run()
    except KernelError as error:
        return JobAnswer(failure=KernelErrorData.of(error))
    seconds = time.perf_counter() - ready
    return JobAnswer(changes(job.memory, [region.data for region in regions]), (seconds,), ready - start)


def perform_shard(work: ShardWork, shared: bytes) -> JobAnswer:
    """Run the programs of the packed launch ``shared``. A kernel's errors are part of the answer, others are raised."""
    whole = wire_data.unpacked(shared, len(shared))
    if type(whole) is not shard.Whole:
        raise DataError(_("a part of a launch came without the launch"))
    start = time.perf_counter()
    done = shard.perform(whole, work.own)
    return JobAnswer(times=(time.perf_counter() - start,), returned=wire_data.packed(done))
