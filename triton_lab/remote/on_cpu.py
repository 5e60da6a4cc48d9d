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
    by_start = {region.start: region for region in regions}
    start = time.perf_counter()
    try:
        executable = Executable.of(parse_plan(job.work.plan))
        ready = time.perf_counter()
        machine = Machine(
            executable,
            job.work.values,
            job.grid,
            Memory(regions),
            limits=job.work.limits,
            printer=Printer(job.grid, job.work.limits.lines),
        )
        owners = [None if starts is None else frozenset(by_start[one] for one in starts) for starts in job.work.owners]
        machine.allow(executable.reach(owners))
        machine.run()
    except KernelError as error:
        return Answer(failure=Stopped.of(error))
    seconds = time.perf_counter() - ready
    return Answer(changes(job.memory, [region.data for region in regions]), (seconds,), ready - start)
