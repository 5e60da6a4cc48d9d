"""A job run by the interpreter, at the memory addresses of the notebook, so that its messages are right there."""

from __future__ import annotations

import time

import numpy as np

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError, KernelErrorData
from triton_lab.interpreter.machine import Machine
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion
from triton_lab.interpreter.printing import KernelPrinter
from triton_lab.ir import parse_plan
from triton_lab.remote.job import Interpreted, Job, JobAnswer, changes


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
