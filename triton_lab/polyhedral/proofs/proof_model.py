"""A kernel, walked once with symbols for all sizes: its accesses, and what holds of the symbols."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import FALSE, TRUE, Constraint, Formula, contradictory
from triton_lab.polyhedral.core.affine_expr import AffineExpr, Term, isl_name
from triton_lab.polyhedral.core.isl_effort import effort
from triton_lab.polyhedral.core.iteration_domain import formula_text
from triton_lab.polyhedral.kernels.symbolic.control_path import Path
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval
from triton_lab.polyhedral.kernels.symbolic.product_constraints import lifted
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import Case, Facts, interval, program
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicDescriptor,
    SymbolicNumber,
    Truth,
    Unknown,
    Value,
)
from triton_lab.polyhedral.kernels.symbolic.symbolic_walk import Walk
from triton_lab.polyhedral.kernels.symbolic.unknown_values import UnknownValues
from triton_lab.polyhedral.proofs.index_contents import lasting
from triton_lab.polyhedral.proofs.sizes import Sizes

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class ProofModel:
    """The accesses of a kernel in the order of the text, over the symbols of ``sizes``, programs and lanes.

    ``ranges`` are those of sizes and programs, ``context`` the assumptions, ``grid`` its extents.
    """

    launch: Launch
    sizes: Sizes
    touches: tuple[SymbolicAccess, ...]
    grid: tuple[AffineExpr, AffineExpr, AffineExpr]
    ranges: Mapping[str, Interval]
    context: tuple[Constraint, ...]
    unknown: UnknownValues

    def grid_formula(self) -> Formula:
        """The bounds of the program ids."""
        case: list[Constraint] = []
        for axis in range(3):
            place = AffineExpr.of(program(axis))
            case += [Constraint(place), Constraint(self.grid[axis] - place - 1)]
        return (tuple(case),)

    def possible(self, case: Case, lanes: Mapping[str, Interval]) -> bool:
        """Whether ``case`` can hold; True where products hide that it cannot. Raises TooHard."""
        return not contradictory((*self.context, *case)) and not self.solutions(case, lanes).is_empty()

    def solutions(self, case: Case, lanes: Mapping[str, Interval], parameters: Collection[str] = ()) -> isl.Set:
        """A set that has all values of the symbols for which ``case`` holds. Raises TooHard.

        ``lanes`` bounds symbols that are no sizes; ``parameters`` are the set's parameters.
        """
        ranges = {**self.ranges, **lanes}
        whole = (*self.context, *case)
        whole = (*whole, *lifted(whole, (), lambda expression: interval(expression, ranges)))
        names = sorted({name for c in whole for name in c.expression.names})
        limits = []
        for name in names:
            bounds = interval(AffineExpr.of(name), ranges) if isinstance(name, Term) else ranges.get(name)
            for relation, bound in zip((">=", "<="), bounds or (), strict=False):
                if math.isfinite(bound):
                    limits.append(f"{isl_name(name)} {relation} {int(bound)}")
        inner = ", ".join(isl_name(name) for name in names if name not in parameters)
        head = f"[{', '.join(isl_name(name) for name in parameters)}] -> " if parameters else ""
        with effort(_("an access")):
            found = isl.Set(f"{head}{{ [{inner}] : {' and '.join([*limits, formula_text((whole,))])} }}")
            found.is_empty()
            return found


def model_of(launch: Launch, sizes: Sizes) -> ProofModel:
    """Walk the launch's kernel once with symbols for its sizes. Raises TooHard."""
    plan = launch.executable.plan
    arguments = _arguments(launch, sizes)
    x, y, z = (sizes.of(f"grid[{axis}]") for axis in range(3))
    grid = (x, y, z)
    for argument in launch.arguments:  # so that their symbols have ranges
        if argument.kind in ("tensor", "descriptor"):
            sizes.extents(argument.name)
    contents = {
        position: sizes.contents[argument.name]
        for position, argument in enumerate(launch.plan_arguments)
        if argument.name in sizes.contents and argument.name in lasting(launch)
    }
    unknown = UnknownValues(contents)
    ranges, here = dict(sizes.ranges), dict(sizes.here)
    inside = list(sizes.context)
    for axis, extent in enumerate(grid):
        place = AffineExpr.of(program(axis))
        most = extent.constant - 1 if extent.is_constant else math.inf
        ranges[program(axis)] = (0, most)
        here[program(axis)] = (0, max(0, interval(extent, here)[1] - 1))
        if not extent.is_constant:
            inside.append(Constraint(extent - place - 1))
    facts = Facts(ranges, here, (tuple(inside),) if inside else TRUE, unknown)
    walk = Walk(plan, (SymbolicNumber.of(x), SymbolicNumber.of(y), SymbolicNumber.of(z)))
    walk.function(plan.kernel, arguments, Path(facts))
    touches = sorted(walk.found, key=lambda touch: touch.op.index)
    return ProofModel(launch, sizes, tuple(touches), grid, ranges, tuple(sizes.context), unknown)


def _arguments(launch: Launch, sizes: Sizes) -> list[Value]:
    """The arguments of the kernel, as symbolic values."""
    kernel = launch.executable.plan.kernel
    result: list[Value] = []
    described: list[AffineExpr] = []
    for position, (argument, number) in enumerate(zip(launch.plan_arguments, kernel.arguments, strict=True)):
        type = kernel.types[number]
        if type.is_descriptor:
            extents = sizes.extents(argument.name)
            assert extents is not None
            described = [*extents.shape, *extents.strides]
            shape, strides = (tuple(map(SymbolicNumber.of, side)) for side in (extents.shape, extents.strides))
            result.append(SymbolicDescriptor(SymbolicNumber.of(AffineExpr(), position), shape, strides))
        elif argument.kind == "descriptor":
            result.append(SymbolicNumber.of(described.pop(0)))
        elif type.is_pointer:
            result.append(SymbolicNumber.of(AffineExpr(), position))
        elif type.element == "i1":
            result.append(Truth(TRUE if argument.value else FALSE))
        elif type.is_integer:
            result.append(SymbolicNumber.of(sizes.of(argument.name)))
        else:
            result.append(Unknown(_("a floating-point argument")))
    return result
