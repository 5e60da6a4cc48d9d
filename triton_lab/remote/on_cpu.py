"""A job run by the interpreter: at the addresses that the memory has in the notebook, so what it says fits there."""

from __future__ import annotations

import time

import numpy as np

from triton_lab.interpreter.errors import KernelError, Stopped
from triton_lab.interpreter.executable import Executable
from triton_lab.interpreter.machine import Machine
from triton_lab.interpreter.memory import Memory, Region
from triton_lab.interpreter.printing import Printer
from triton_lab.ir import parse_plan
from triton_lab.remote.job import Answer, Interpreted, Job, changes


def perform(job: Job) -> Answer:
    """Run it. What a kernel is stopped for is in the answer; other errors are raised."""
    assert isinstance(job.work, Interpreted)
    regions = []
    for sent in job.memory:
        data = np.frombuffer(bytearray(sent.data), np.uint8)
        data.flags.writeable = sent.writable
        regions.append(Region(sent.start, data))
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
            printer=Printer(job.grid, job.work.limits.lines),
        )
        machine.allow(executable.reach(memory.beginning_at(job.work.owners)))
        machine.run()
    except KernelError as error:
        return Answer(failure=Stopped.of(error))
    seconds = time.perf_counter() - ready
    return Answer(changes(job.memory, [region.data for region in regions]), (seconds,), ready - start)
