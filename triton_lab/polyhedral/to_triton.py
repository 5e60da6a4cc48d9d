"""From a schedule to a Triton kernel: the schedule's tiles become the kernel's blocks.

Two shapes of nest can be written: one statement whose instances are independent (elementwise), and a sum of products
over one iterator, with or without a statement that sets the sum to a constant first (matmul, matrix times vector).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .block_shape import Axis, NotABlockProgram, axes
from .block_text import ValuePrinter, View, position
from .contraction import contraction_of, sum_lines
from .nest import Binary, Expr, Load, walk
from .triton_kernel import TritonKernel

if TYPE_CHECKING:
    from .schedule import Schedule


def to_triton(schedule: Schedule) -> TritonKernel:
    """See `Schedule.to_triton`. Raises `NotABlockProgram`."""
    scop = schedule.scop
    contraction = contraction_of(scop)
    if contraction is None and len(scop.statements) > 1:
        raise NotABlockProgram(
            "several statements: only a sum of products, set to a constant first, is written as one kernel"
        )
    statement = contraction.update if contraction else scop.statements[0]
    found = axes(schedule, statement.name)
    _check(schedule, found, contraction.iterator if contraction else None)
    lines = [f"{a.iterator} = {position(a, f'tl.program_id({k})')}" for k, a in enumerate(_grid(found))]
    lines += sum_lines(contraction, found) if contraction else _elementwise(schedule, found)
    arrays = tuple(dict.fromkeys(a.array for s in scop.statements for a in s.accesses))
    ranks = {a.name: a.dimensions for a in scop.arrays}
    strides = [f"stride_{name}_{k}" for name in arrays for k in range(ranks[name])]
    sizes = [f"{a.size}: tl.constexpr" for a in found if a.block > 1]
    head = ["@triton.jit", "def kernel(", *_wrapped([*arrays, *scop.parameters, *strides, *sizes]), "):"]
    return TritonKernel("\n".join([*head, *(f"    {line}" for line in lines)]) + "\n", scop, found, arrays)


def _grid(found: tuple[Axis, ...]) -> list[Axis]:
    return [a for a in found if a.in_grid]


def _check(schedule: Schedule, found: tuple[Axis, ...], summed: str | None) -> None:
    for statement in schedule.scop.statements:
        if len(statement.domain.pieces) != 1:
            raise NotABlockProgram(f"the domain of {statement.name} is a union of polyhedra: it has no single mask")
        if any(c.expression.quotients for c in statement.domain.constraints):
            raise NotABlockProgram(f"{statement.name} runs in steps: a block holds neighbours")
    for access in schedule.scop.accesses:
        if not access.is_affine or any(e.quotients for e in access.expressions):
            raise NotABlockProgram(f"{access.text}: only affine subscripts without quotients are written")
    for axis in found:
        if not axis.in_grid and axis.iterator != summed:
            raise NotABlockProgram(
                f"the loop over {axis.iterator} carries a dependence (or is the fourth that does not): "
                "the programs of a grid, and the lanes of a block, do not wait for one another"
            )


def _elementwise(schedule: Schedule, found: tuple[Axis, ...]) -> list[str]:
    """Load what the statement reads, compute, store."""
    (statement,) = schedule.scop.statements
    body = statement.body
    if body is None:
        raise NotABlockProgram(f"{statement.name} has no body to write")
    view = View(tuple(a.iterator for a in found if a.block > 1))
    mask = view.mask(statement.domain.constraints, statement.iterators, statement.iterators)
    lines = [f"mask = {mask}"] if mask else []
    suffix = ", mask=mask" if mask else ""
    value: Expr = Binary(body.op, body.target, body.value) if body.op else body.value
    names: dict[Load, str] = {}
    for load in walk(value):
        if isinstance(load, Load) and load not in names:
            names[load] = f"{load.array.lower()}_{len(names)}"
            lines.append(f"{names[load]} = tl.load({view.pointer(statement.access(load))}{suffix})")
    printer = ValuePrinter(view, names, schedule.scop.language)
    lines.append(f"tl.store({view.pointer(statement.writes[0])}, {printer.text(value)}{suffix})")
    return lines


def _wrapped(arguments: list[str]) -> list[str]:
    """The arguments, several to a line."""
    lines, line = [], "   "
    for argument in arguments:
        if len(line) + len(argument) > 96:
            lines.append(line)
            line = "   "
        line += f" {argument},"
    return [*lines, line]
