"""Launches that the lab makes for itself: recorded, or only described, and seen by no record of the user's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from triton_lab.backend.plugin.recorders import LaunchCall, Recorder, Watch, recorders
from triton_lab.backend.targets.active_target import target
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.last_launch import of_the_lab
from triton_lab.launch.recording.launch_list import Launches
from triton_lab.launch.recording.launch_of_call import described
from triton_lab.launch.recording.record import MAX_BYTES, LaunchRecorder
from triton_lab.launch.recording.uninitialized_memory import FreshMemory


class _Describer(Recorder):
    """Describes launches, and lets none of them run."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []

    def before(self, call: LaunchCall) -> Watch:
        return Watch(instead=lambda apart: True)

    def after(self, call: LaunchCall) -> None:
        self.launches.append(described(call, None, None))


def unrun_launch(make: Callable[[], object]) -> Launch | None:
    """The launch that ``make`` makes, which does not run: it has a kernel, arguments and a grid, and no accesses.

    None if it makes none. Raises what Triton's front end and the arguments raise.
    """
    describer = _Describer()
    with target("cpu"), of_the_lab(), recorders.alone(describer):
        make()
    return describer.launches[-1] if describer.launches else None


def recorded_launch(make: Callable[[], object]) -> Launch | None:
    """The launch that ``make`` makes on the CPU target; None if it makes none. A launch that fails has its error."""
    launches = Launches()
    with target("cpu"), of_the_lab(), FreshMemory(MAX_BYTES) as fresh:
        recorder = LaunchRecorder(launches, MAX_BYTES, MAX_BYTES, fresh, None, 1)
        with recorders.alone(recorder), contextlib.suppress(KernelError):  # the launch has it
            make()
    return launches[-1] if launches else None
