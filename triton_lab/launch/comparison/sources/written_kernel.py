"""The kernel as it was written: its plan before the compiler left out what is not used, and its variables by name.

A slip such as one variable for another leaves the right one unused, so the launched plan lacks it. The twin of
`instrumented_copy` keeps every variable.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir import effects
from triton_lab.ir.plan import Block, Function, Op, Plan, Region
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.instrumented_copy import Twin
from triton_lab.launch.replay.variable_values import probe_number
from triton_lab.launch.source_lines import SourceLines

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.source_lines import UserLine


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
    lines = SourceLines(launch.compiled[0], executable)
    at = _twins(launch, executable.plan, lines)
    return replace(
        launch,
        executable=executable,
        lines=lines,
        events={at[op]: events for op, events in launch.events.items() if op in at},
        kinds={at[op]: kind for op, kind in launch.kinds.items() if op in at},
    )


def _twins(launch: Launch, plan: Plan, lines: Mapping[int, UserLine | None]) -> dict[int, int]:
    """The access in ``plan`` for each of the launch's, by index; not on lines where the compiler has merged some."""
    groups: list[dict[tuple[str, int | None], list[int]]] = []
    for each, known in ((launch.executable.plan, launch.lines), (plan, lines)):
        found: dict[tuple[str, int | None], list[int]] = defaultdict(list)
        for op in each.walk():
            if effects.is_access(op):
                line = known.get(op.index)
                found[op.name, None if line is None else line.line].append(op.index)
        groups.append(found)
    own, twins = groups
    return {
        one: other
        for key, ops in own.items()
        if len(ops) == len(twins.get(key, ()))
        for one, other in zip(ops, twins[key], strict=True)
    }


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
            elif op.operands[0] not in function.arguments:
                names[op.operands[0]] = twin.variables[number].name
        return found

    body = without(function.body)
    return replace(function, body=body, names=tuple(names))
