"""Results that are right by luck: they depend on values of lanes that the mask of a load turned off.

The launch is replayed with other values in such lanes; a difference in memory shows that the result was luck.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.ir.effects import operands_of
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay

if TYPE_CHECKING:
    from triton_lab.interpreter.memory_regions import Memory
    from triton_lab.launch.launch import Launch


def line_of_luck(launch: Launch) -> int | None:
    """The line of a load whose masked lanes influence what ``launch`` stored.

    None if there is no such load, or if the launch cannot be replayed.
    """
    unsaid = [
        op.index
        for op in launch.executable.plan.walk()
        if op.name == "tt.load" and operands_of(op).mask is not None and operands_of(op).other is None
    ]
    try:
        right = replay(launch) if unsaid else None
        if right is None or not _differs(launch, unsaid, right):
            return None
        found = next((op for op in unsaid if _differs(launch, [op], right)), unsaid[0])
    except CannotReplay:
        return None
    place = launch.lines.get(found)
    return None if place is None else place.line


def _differs(launch: Launch, ops: Collection[int], right: Memory) -> bool:
    """Whether memory ends up different when the masked lanes of these loads have no value."""
    executable = Executable.of(launch.executable.plan, arithmetic_variants.unsaid(ops))
    try:
        found = replay(launch, executable=executable, strict=True)
    except KernelError:
        return True
    pairs = zip(found.regions, right.regions, strict=True)
    return any(not np.array_equal(one.data.view(np.uint8), other.data.view(np.uint8)) for one, other in pairs)
