"""Program ids, barriers, and operations that do nothing here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.runtime_values import Value
from triton_lab.ir import Op

Array = NDArray[Any]


def coordinate(programs: Array, grid: tuple[int, int, int], axis: int) -> Array:
    """The program id along ``axis`` for linear program numbers. x counts fastest, as on a GPU."""
    below = int(np.prod(grid[:axis]))
    return (programs // below) % grid[axis]


@impl("tt.get_program_id")
def get_program_id(frame: Frame, op: Op) -> Value:
    axis = op.attributes["axis"]
    return coordinate(frame.programs, frame.machine.grid, axis).astype(np.int32)


@impl("tt.get_num_programs")
def get_num_programs(frame: Frame, op: Op) -> Value:
    return np.array([frame.machine.grid[op.attributes["axis"]]], np.int32)


@impl("gpu.barrier", "ttg.barrier", "ttg.local_barrier")
def barrier(frame: Frame, op: Op) -> None:
    """All lanes of a program run in step here anyway. Observers that look for races need to see it."""
    if frame.machine.access_observer is not None:
        frame.machine.access_observer.barrier(frame, op)


@impl("llvm.intr.assume", "tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents")
def nothing(frame: Frame, op: Op, *_: Value) -> None:
    """Assumptions, and operations that order launches: here launches run one after another."""
