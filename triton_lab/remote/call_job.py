"""A job that calls a Python function: its result or its error travels back as data."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any

from triton_lab.remote import wire_data
from triton_lab.remote.job import Called, JobAnswer


def sent(function: Callable[..., Any], *arguments: Any) -> Called:
    """The call as a job's work. A notebook's functions travel by value, a module's functions by name."""
    from distributed.protocol import pickle as functions

    return Called(functions.dumps((function, arguments)))


def perform(work: Called) -> JobAnswer:
    """Call the function. Its errors are raised here; a result that cannot travel raises an error in words."""
    # The call is code that the notebook sent to run here, in the job's own process.
    function, arguments = pickle.loads(work.call)
    start = time.perf_counter()
    made = function(*arguments)
    seconds = time.perf_counter() - start
    return JobAnswer(times=(seconds,), returned=wire_data.packed(made))
