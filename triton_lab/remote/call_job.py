"""A job that calls a function of Python's: what it returns, or that it raised, travels back as data."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

from triton_lab.remote import wire_data
from triton_lab.remote.job import Called, JobAnswer


def sent(function: Callable[..., Any], *arguments: Any) -> Called:
    """The call as a job's work. A notebook's own functions travel as they are, those of modules by their names."""
    from distributed.protocol import pickle as functions

    return Called(functions.dumps((function, arguments)))


def perform(work: Called) -> JobAnswer:
    """Call it. What it raises is raised, and in words what would not arrive."""
    # A call is code, which the notebook has sent to be run here: in the job's own process.
    function, arguments = pickle.loads(work.call)
    start = time.perf_counter()
    made = function(*arguments)
    seconds = time.perf_counter() - start
    return JobAnswer(times=(seconds,), returned=wire_data.packed(made))
