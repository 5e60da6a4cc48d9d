"""A job that calls a function of Python's: what it returns, or raises, travels back."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triton_lab.remote.job import Answer, Called


def packed(function: Callable[..., Any], *arguments: Any) -> Called:
    """The call as a job's work. A notebook's own functions travel as they are, those of modules by their names."""
    from distributed.protocol import pickle as functions

    return Called(functions.dumps((function, arguments)))


def perform(work: Called, shared: Path) -> Answer:
    """Call it; MemoryError is raised, and in words what would not arrive as it is."""
    function, arguments = pickle.loads(work.call)
    if shared.exists():
        arguments = (pickle.loads(shared.read_bytes()), *arguments)
    start = time.perf_counter()
    try:
        made, threw = function(*arguments), False
    except MemoryError:
        raise
    except Exception as error:
        if not _arrives(error):
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        made, threw = error, True
    seconds = time.perf_counter() - start
    return Answer(times=(seconds,), returned=pickle.dumps(made, protocol=5), threw=threw)


def _arrives(error: Exception) -> bool:
    """Whether an exception can be pickled and read again: some are made of other arguments than they keep."""
    try:
        pickle.loads(pickle.dumps(error, protocol=5))
    except Exception:
        return False
    return True


def result(answer: Answer) -> Any:
    """What it returned, or the exception that it threw."""
    return pickle.loads(answer.returned)
