"""A job that runs a range of a launch's programs, and checks what they do."""

from __future__ import annotations

import time

from triton_lab.launch.part import Whole
from triton_lab.launch.part import perform as run
from triton_lab.remote import data
from triton_lab.remote.job import Answer, Part


def perform(work: Part, shared: bytes) -> Answer:
    """Run it; ``shared`` is the launch, packed. Errors of the kernel are in what is returned, others are raised."""
    whole = data.unpacked(shared, len(shared))
    if type(whole) is not Whole:
        raise data.DataError("a part came without its launch")
    start = time.perf_counter()
    done = run(whole, work.own)
    return Answer(times=(time.perf_counter() - start,), returned=data.packed(done))
