"""Launches under a debugger: each is recorded, and a front end then steps through what it did."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from triton_lab.backend.plugin import stepped_launches
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.record import record


def recorded(run: Callable[[], None], show: Callable[[Launch], None]) -> None:
    """Launch by ``run()``, and ``show`` the recorded launch, also one that failed. Raises the launch's error."""
    with record() as launches:
        try:
            run()
        finally:
            if launches:
                show(launches[-1])


@contextlib.contextmanager
def around_launches(around: stepped_launches.Around) -> Iterator[None]:
    """Inside, ``around(kernel, run)`` is called for each launch of this process, and must call ``run()``."""
    before, stepped_launches.around = stepped_launches.around, around
    try:
        yield
    finally:
        stepped_launches.around = before


def all_launches(show: Callable[[Launch], None]) -> contextlib.AbstractContextManager[None]:
    """Inside, ``show`` gets each launch of this process after it has run."""

    def around(kernel: Any, run: Callable[[], None]) -> None:
        recorded(run, show)

    return around_launches(around)
