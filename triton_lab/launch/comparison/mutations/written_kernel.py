"""The kernel as it was written: its plan before the compiler left out what is not used, and its variables by name.

A slip such as one variable for another leaves the right one unused, so the launched plan lacks it. The twin of
`instrumented_copy` keeps every variable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir.plan import Block, Function, Op, Plan, Region
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.instrumented_copy import Twin
from triton_lab.launch.replay.variable_values import probe_number
from triton_lab.launch.source_lines import SourceLines

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def as_written(launch: Launch) -> Launch:
    """The launch with the plan of its source, in which each variable's value has its name; else the launch itself."""
    if launch.compiled[0] is None:  # of a file: its lines are those of its own plan
        return launch
    try:
        twin = launch.twin
    except (CannotReplay, RuntimeError, OSError):
        return launch
    plan = twin.executable.plan
    functions = {name: _named(function, twin) for name, function in plan.functions.items()}
    executable = Executable.of(Plan(functions, plan.text))
    return replace(launch, executable=executable, lines=SourceLines(launch.compiled[0], executable))


def _named(function: Function, twin: Twin) -> Function:
    names = list(function.names)

    def without(region: Region) -> Region:
        return Region(tuple(Block(block.arguments, tuple(kept(block.ops))) for block in region.blocks))

    def kept(ops: tuple[Op, ...]) -> list[Op]:
        found = []
        for op in ops:
            number = probe_number(op)
            if number is None:
                found.append(replace(op, regions=tuple(map(without, op.regions))) if op.regions else op)
            else:
                names[op.operands[0]] = twin.variables[number].name
        return found

    body = without(function.body)
    return replace(function, body=body, names=tuple(names))
