"""Switches of the launch: other grids, exchanged arguments, and arguments that hold zeros before it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from triton_lab.launch.comparison.mutations.ir_query import ops_of, sound_alike
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.stored_elements import StoreCoverage
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

_TIMES = 16  # another grid has at most this many times the launch's programs
# What another grid costs; and where the programs that were launched are right, and others would go on as they do.
_UNLIKELY, _LIKELY = 2.5, 0.5
_OTHER_MEANING = 2.5  # numbers of other meanings are seldom exchanged, and may do alike where both are small


def grids(launch: Launch, coverage: StoreCoverage, needed: int | None = None) -> Iterator[Switch]:
    """Switches for grids whose extent along an axis follows from a tensor's shape or a scalar, in elements or blocks.

    Larger grids are tried if elements of an output were left out, smaller ones if some were stored more than once.
    ``needed`` is how many programs would store what is left out, if those of the launch do their part: then a larger
    grid is the likeliest change of all, unless programs store the same elements as others.
    """
    if launch.part is not None or not (coverage.leaves_some or coverage.repeats_some):
        return
    whole = {
        one.value
        for one in launch.arguments
        if one.kind in ("scalar", "constexpr") and isinstance(one.value, int) and not isinstance(one.value, bool)
    }
    extents = {one for one in whole if one > 0} | {extent for one in launch.arguments for extent in one.shape}
    constants = {one.value for one in launch.arguments if one.kind == "constexpr"}
    blocks = {1} | {one for one in constants & whole if one > 0}
    likely = {math.ceil(extent / block) for extent in extents for block in blocks}
    asked = {op.attributes["axis"] for op in ops_of(launch, "tt.get_program_id")}
    found = []
    for axis, extent in enumerate(launch.grid):
        fitting = 0 if needed is None else math.ceil(needed / (launch.programs // extent))
        for other in {extent + 1, fitting, *likely} - {extent, 0}:
            counts = [other if k == axis else one for k, one in enumerate(launch.grid)]
            wanted = coverage.leaves_some if other > extent else coverage.repeats_some
            if axis in asked and math.prod(counts) <= _TIMES * launch.programs and wanted:
                found.append((other != fitting, axis, abs(other - extent), (counts[0], counts[1], counts[2])))
    for _unfit, _axis, _far, grid in sorted(found):
        name = _("the grid {told} instead of {told_2}").format(told=_told(grid), told_2=_told(launch.grid))
        cost = _UNLIKELY if needed is None or coverage.repeats_some else _LIKELY
        yield Switch(name, _("the number of programs"), grid=grid, cost=cost)


def _told(grid: tuple[int, int, int]) -> str:
    """The grid as in a launch, without trailing axes of extent 1."""
    axes = max((k + 1 for k, extent in enumerate(grid) if extent > 1), default=1)
    return f"({grid[0]},)" if axes == 1 else f"({', '.join(map(str, grid[:axes]))})"


def zeroed(launch: Launch) -> Iterator[Switch]:
    """Switches that fill an argument with zeros before the launch, if atomics, or loads and stores, may add to it."""
    kinds: dict[str, set[str]] = {}
    for one in launch.done:
        if one.argument is not None:
            kinds.setdefault(one.argument, set()).add(one.kind)
    for argument in launch.arguments:
        done = kinds.get(argument.name, set())
        if argument.kind == "tensor" and ("atomic" in done or done >= {"load", "store"}):
            name = _("zeros in {name} before the launch").format(name=argument.name)
            yield Switch(
                name, _("the contents of {name} before the launch").format(name=argument.name), zeroed=argument.name
            )


def arguments(launch: Launch) -> Iterator[Switch]:
    """Switches for two exchanged tensors that are only read, or two exchanged scalars."""
    read = {one.argument for one in launch.done if one.kind == "load"}
    written = {one.argument for one in launch.done if one.kind != "load"}
    tensors = [one for one in launch.arguments if one.kind == "tensor" and one.name in read - written]
    scalars = [one for one in launch.arguments if one.kind == "scalar"]
    names = launch.executable.plan.kernel.names
    there = {names[number] for number in launch.executable.plan.kernel.arguments}
    for one, two in [*combinations(tensors, 2), *combinations(scalars, 2)]:
        alike = (one.dtype, one.shape) == (two.dtype, two.shape) and type(one.value) is type(two.value)
        if alike and {one.name, two.name} <= there and (one.kind == "tensor" or one.value != two.value):
            name = _("{name} and {name_2} exchanged").format(name=one.name, name_2=two.name)
            cost = 1 if one.kind == "tensor" or sound_alike(one.name, two.name) else _OTHER_MEANING
            yield Switch(name, _("the order of the arguments"), exchanged=(one.name, two.name), cost=cost)
