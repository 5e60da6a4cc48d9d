"""Edits that leave the kernel's text as it is: warps, stages, sizes of blocks, and the grid of a loop over it."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, permutations

from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.launch_scope import LaunchScope

_WARPS, _STAGES = (1, 16), (1, 5)
_FEWEST, _LARGEST = 16, 1 << 14  # elements of all blocks together, and of one block
_HELD = 256  # elements of a thread, of which more would not fit into its registers
_PRODUCT = 16, 256  # the least and greatest side of tiles that are multiplied
_PROGRAMS = (4, 16, 64)  # times as many programs for a loop over the grid


def option_edits(scope: LaunchScope, state: LaunchEdit) -> Iterator[tuple[str, LaunchEdit]]:
    """The edits next to ``state``, each with its kind: ``warps``, ``stages``, ``block``, ``shape`` or ``grid``."""
    factors = (2, 0.5, 4, 0.25) if scope.pipelined else (4, 16, 2, 64, 0.5, 0.25)
    yield from (("block", one) for one in _blocks(scope, state, factors))
    yield from (("warps", one) for one in _warps(scope, state))
    yield from (("shape", one) for one in _shapes(scope, state))
    if scope.pipelined:
        yield from (("stages", one) for one in _stages(scope, state))
    if scope.strides_over_grid and state.grid is None and not _covers(scope):
        for times in _PROGRAMS:
            x, y, z = scope.launch.grid
            yield "grid", replace(state, grid=(x * times, y, z))


def _covers(scope: LaunchScope) -> bool:
    """Whether each program takes one block: then the size of the grid is needed as it is."""
    return not any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(scope.tree))


def _warps(scope: LaunchScope, state: LaunchEdit) -> Iterator[LaunchEdit]:
    now = state.options.get("num_warps", scope.options["num_warps"])
    for factor in (2, 0.5, 4, 0.25, 8, 0.125):
        warps = int(now * factor)
        if _WARPS[0] <= warps <= _WARPS[1]:
            yield _with_option(scope, state, "num_warps", warps)


def _stages(scope: LaunchScope, state: LaunchEdit) -> Iterator[LaunchEdit]:
    now = state.options.get("num_stages", scope.options["num_stages"])
    for stages in sorted(range(_STAGES[0], _STAGES[1] + 1), key=lambda one: (abs(one - now), -one)):
        if stages != now:
            yield _with_option(scope, state, "num_stages", stages)


def _with_option(scope: LaunchScope, state: LaunchEdit, name: str, value: int) -> LaunchEdit:
    options = {**state.options, name: value}
    if scope.options[name] == value:
        del options[name]
    return replace(state, options=options)


def _blocks(scope: LaunchScope, state: LaunchEdit, factors: tuple[float, ...]) -> Iterator[LaunchEdit]:
    for factor in factors:
        for name in scope.blocks:
            yield from _with_blocks(scope, state, {name: factor})


def _shapes(scope: LaunchScope, state: LaunchEdit) -> Iterator[LaunchEdit]:
    """Two blocks at once: one larger and one smaller by as much, and both larger."""
    for factor in (2.0, 4.0) if scope.pipelined else ():
        for one, other in combinations(scope.blocks, 2):
            yield from _with_blocks(scope, state, {one: factor, other: factor})
    for factor in (4.0, 16.0, 2.0, 64.0):
        for one, other in permutations(scope.blocks, 2):
            yield from _with_blocks(scope, state, {one: factor, other: 1 / factor})
            if one < other and factor <= 4 and not scope.pipelined:
                yield from _with_blocks(scope, state, {one: factor, other: factor})
    for factor in (32.0, 64.0):
        for one, other in permutations(scope.blocks, 2):
            yield from _with_blocks(scope, state, {one: factor, other: 4 / factor})


def _with_blocks(scope: LaunchScope, state: LaunchEdit, factors: Mapping[str, float]) -> Iterator[LaunchEdit]:
    known = {**scope.constants, **state.constants}
    wanted = {name: known[name] * factor for name, factor in factors.items()}
    if any(value < 1 or value != int(value) or value > _LARGEST for value in wanted.values()):
        return
    after = {**known, **{name: int(value) for name, value in wanted.items()}}
    sizes, before = (sorted(each[name] for name in scope.blocks) for each in (after, known))
    if scope.pipelined and (sizes[0] < _PRODUCT[0] or sizes[-1] > _PRODUCT[1]):
        return
    # Of a product the two largest sides are the accumulator's.
    elements, now = (math.prod(each[-2:] if scope.pipelined else each) for each in (sizes, before))
    threads = 32 * state.options.get("num_warps", scope.options["num_warps"])
    if elements < min(_FEWEST, now) or (elements > _HELD * threads and elements >= now):
        return
    constants = {name: value for name, value in after.items() if value != scope.constants[name]}
    try:
        yield replace(state, constants=constants, grid=scope.grid(constants, state.grid))
    except LookupError:
        return
