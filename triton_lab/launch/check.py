"""`check`: launches that must be free of errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from triton_lab.launch.finding import ERROR
from triton_lab.launch.launch import Launch
from triton_lab.launch.record import KEEP, record


class CheckFailed(AssertionError):
    """A launch has findings of severity error; the message lists them."""


@contextlib.contextmanager
def check(*, keep: int = KEEP) -> Iterator[list[Launch]]:
    """Record the launches inside and raise CheckFailed if any has an error: for pytest.

    ``with check(): kernel[grid](...)``. An exception that a launch raises passes through.
    """
    with record(keep=keep) as launches:
        yield launches
    wrong = [(launch, f) for launch in launches for f in launch.findings if f.severity == ERROR]
    if wrong:
        raise CheckFailed("\n\n".join(f"{launch.kernel}{launch.grid}: {finding}" for launch, finding in wrong))
