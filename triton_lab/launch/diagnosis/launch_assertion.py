"""`check`: a context whose launches must be free of errors."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

from triton_lab.launch.diagnosis.severity import ERROR
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.launch_list import Launches
from triton_lab.launch.recording.record import MAX_BYTES, record
from triton_lab.localization import N_, _, translated

_NO_LAUNCH = N_("not checked: no kernel was launched inside check()")


class CheckFailed(AssertionError):
    """A launch has findings of severity error, or with ``strict`` could not be checked in full."""


class CheckIncomplete(UserWarning):
    """Something could not be checked; ``check(strict=True)`` treats that as a failure."""


@contextlib.contextmanager
def check(*, max_bytes: int = MAX_BYTES, strict: bool = False, parts: int = 1) -> Iterator[Launches]:
    """Record the launches inside and raise CheckFailed if any has an error: for pytest.

    ``with check(): kernel[grid](...)``. An exception that a launch raises passes through. It is a warning
    (CheckIncomplete), or with ``strict`` CheckFailed, if something could not be checked (`Launch.unchecked`) or if
    nothing was launched. ``max_bytes`` and ``parts`` are those of `record`.

    >>> with lab.check():
    ...     total = add(x, y)
    >>> with lab.check():
    ...     total = add(torch.empty(1000), y)
    Traceback (most recent call last):
        ...
    CheckFailed: add_kernel(1, 1, 1): error: line 21: program (0, 0, 0) loads x_ptr[0], which was never...
    """
    with record(max_bytes=max_bytes, parts=parts) as launches:
        yield launches
    # Findings first: ``unchecked`` is known only when all checks have run.
    wrong = [f"{_name(launch)}: {found}" for launch in launches for found in launch.findings if found.severity == ERROR]
    missing = [f"{_name(launch)}: {each}" for launch in launches for each in launch.unchecked]
    if not launches and not launches.unseen:
        missing.append(translated(_NO_LAUNCH))
    if strict:  # otherwise a warning was given at the launch
        missing += [_("not checked: {what}").format(what=each) for each in launches.unseen]
    if wrong or (missing and strict):
        raise CheckFailed("\n\n".join([*wrong, *missing]))
    if missing:
        warnings.warn("\n".join(missing), CheckIncomplete, stacklevel=3)


def _name(launch: Launch) -> str:
    return f"{launch.kernel}{launch.grid}"
