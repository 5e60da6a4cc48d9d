"""The failures of programs that had not run yet when another program stopped the launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.replay.replay_run import replay

if TYPE_CHECKING:
    from triton_lab.launch.recording.launch_record import Recorded

# The most replays of a launch to find all programs that fail.
ROUNDS = 16


def other_failures(launch: Recorded, error: KernelError) -> Iterator[KernelError]:
    """The errors of programs that had not run yet when the launch stopped.

    Each replay leaves out the programs that have failed, so that the result does not depend on the batches of the grid.
    There are none for programs that wait for others, since these cannot run without them.
    """
    if launch.executable.waiting_loops:
        return
    left = np.setdiff1d(np.asarray(launch.own), error.numbers)
    for _unused in range(ROUNDS):
        if not len(left):
            return
        try:
            replay(launch, programs=left, strict=True)
        except KernelError as another:
            if another.programs is None or another.op is None:
                return
            known = launch.executable.roots.get(another.op.index) is not None
            # A replay lacks memory that the launch would have found later.
            if another.fault is None or known or another.fault.kind == "null-pointer":
                yield another
            left = np.setdiff1d(left, another.programs)
        else:
            return
