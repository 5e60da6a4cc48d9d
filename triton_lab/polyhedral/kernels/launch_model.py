"""A launch on symbols: its accesses, with numbers or names for the scalar arguments."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import FALSE, TRUE, Constraint, Formula
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.control_path import Path
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import EVERYTHING, Facts, program
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import (
    SymbolicDescriptor,
    SymbolicNumber,
    Truth,
    Unknown,
    Value,
)
from triton_lab.polyhedral.kernels.symbolic.symbolic_walk import Walk

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True)
class Model:
    """The accesses of a launch.

    ``touches`` are the accesses in the order of the text; ``parameters`` are the scalars (and extents of the grid)
    that kept their names, with their values in the launch; ``bound`` are the scalars that became numbers.
    """

    launch: Launch = field(repr=False)
    touches: tuple[SymbolicAccess, ...]
    parameters: Mapping[str, int]
    bound: Mapping[str, int]
    grid: tuple[AffineExpr, AffineExpr, AffineExpr]

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the grid that count."""
        used = {name for t in self.touches for name in _names(t)}
        return tuple(k for k in range(3) if k == 0 or self.launch.grid[k] > 1 or program(k) in used)

    def grid_formula(self) -> Formula:
        """The bounds of the program ids."""
        case: list[Constraint] = []
        for axis in self.axes:
            place = AffineExpr.of(program(axis))
            case += [Constraint(place), Constraint(self.grid[axis] - place - 1)]
        return (tuple(case),)


def _names(touch: SymbolicAccess) -> frozenset[str]:
    assert touch.path is not None
    pointer = touch.pointer.names if isinstance(touch.pointer, SymbolicNumber) else frozenset()
    return pointer | touch.mask.names | Truth(touch.path.formula).names


def numbers(launch: Launch) -> Model:
    """The launch with numbers for all scalars."""
    return _model(launch, {})


def symbols(launch: Launch) -> Model:
    """The launch with names for as many integer arguments as stay affine, and for the grid."""
    scalars = {name: value for name, (value, is_number) in _scalars(launch).items() if is_number}
    extents = _extents(launch, scalars)
    names = {**scalars, **{name: launch.grid[axis] for axis, name in extents.items()}}
    while True:
        model = _model(launch, names)
        wanted = {name for touch in model.touches for name in _wanted(touch)}
        # An unknown program id gets numeric bounds, by fixing the grid's extent: only if nothing else helps.
        extra = {name for axis, name in extents.items() if program(axis) in wanted}
        bound = wanted & set(names) or extra & set(names)
        if not bound:
            return model
        names = {name: value for name, value in names.items() if name not in bound}


def _wanted(touch: SymbolicAccess) -> frozenset[str]:
    """The names that must become numbers for all of an access to be affine."""
    assert touch.path is not None
    reasons = (touch.pointer, touch.mask.unknown, touch.path.unknown, touch.path.repeats)
    return frozenset().union(*(reason.names for reason in reasons if isinstance(reason, Unknown)))


def symbol_name(argument: str) -> str:
    """An identifier for an argument: ``t[0]`` becomes ``t_0``."""
    return re.sub(r"\W+", "_", argument).strip("_")


def _extents(launch: Launch, taken: Collection[str]) -> dict[int, str]:
    """Names for the extents of the grid, by axis."""
    axes = [axis for axis, extent in enumerate(launch.grid) if extent > 1 or axis == 0]
    names = {axis: "grid" if axes == [0] else f"grid_{axis}" for axis in axes}
    return {axis: name + "_" * (name in taken) for axis, name in names.items()}


def _scalars(launch: Launch) -> dict[str, tuple[int, bool]]:
    """The scalar arguments that the kernel takes as integers, and whether each is a number, not a boolean."""
    kernel = launch.executable.plan.kernel
    found = {}
    for argument, number in zip(launch.plan_arguments, kernel.arguments, strict=True):
        type = kernel.types[number]
        if argument.kind == "scalar" and type.is_integer:
            wide = int(argument.value) % (1 << type.bits)
            signed = wide - (1 << type.bits) if wide >> (type.bits - 1) and type.bits > 1 else wide
            found[symbol_name(argument.name)] = (signed, type.element != "i1")
    return found


def _model(launch: Launch, names: Mapping[str, int]) -> Model:
    """Walk the kernel once, with ``names`` for parameters."""
    extents = _extents(launch, _scalars(launch))
    grid = [
        AffineExpr.of(extents[axis]) if extents.get(axis) in names else AffineExpr((), extent)
        for axis, extent in enumerate(launch.grid)
    ]
    ranges: dict[str, Interval] = {}
    here: dict[str, Interval] = {}
    for name, value in names.items():
        # An argument that is not negative here is taken for a size, which never is.
        ranges[name] = (1, math.inf) if name in extents.values() else (0, math.inf) if value >= 0 else EVERYTHING
        here[name] = (value, value)
    inside: list[Constraint] = []
    for axis, extent in enumerate(launch.grid):
        here[program(axis)] = (0, extent - 1)
        ranges[program(axis)] = here[program(axis)] if grid[axis].is_constant else (0, math.inf)
        if not grid[axis].is_constant:
            inside.append(Constraint(grid[axis] - AffineExpr.of(program(axis)) - 1))
    facts = Facts(ranges, here, (tuple(inside),) if inside else TRUE)
    walk = Walk(
        launch.executable.plan, (SymbolicNumber.of(grid[0]), SymbolicNumber.of(grid[1]), SymbolicNumber.of(grid[2]))
    )
    kernel = launch.executable.plan.kernel
    walk.function(kernel, _arguments(launch, names), Path(facts))
    touches = sorted(walk.found, key=lambda touch: touch.op.index)
    bound = {name: value for name, (value, _) in _scalars(launch).items() if name not in names}
    return Model(launch, tuple(touches), dict(names), bound, (grid[0], grid[1], grid[2]))


def _arguments(launch: Launch, names: Mapping[str, int]) -> list[Value]:
    """The arguments of the kernel, as symbolic values."""
    kernel = launch.executable.plan.kernel
    scalars = _scalars(launch)
    result: list[Value] = []
    described: list[int] = []
    for position, (argument, number) in enumerate(zip(launch.plan_arguments, kernel.arguments, strict=True)):
        type = kernel.types[number]
        if type.is_descriptor:
            described = [*argument.shape, *argument.strides]
            sizes = [SymbolicNumber.of(value) for value in described]
            rank = len(argument.shape)
            base = SymbolicNumber.of(AffineExpr(), position)
            result.append(SymbolicDescriptor(base, tuple(sizes[:rank]), tuple(sizes[rank:])))
        elif argument.kind == "descriptor":
            result.append(SymbolicNumber.of(described.pop(0)))
        elif type.is_pointer:
            result.append(SymbolicNumber.of(AffineExpr(), position))
        elif type.is_integer:
            name = symbol_name(argument.name)
            value, is_number = scalars[name]
            if not is_number:
                result.append(Truth(TRUE if value else FALSE))
            else:
                result.append(SymbolicNumber.of(name if name in names else value))
        else:
            result.append(Unknown(_("a floating-point argument")))
    return result
