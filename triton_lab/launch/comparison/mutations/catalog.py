"""All switches for the usual slips in kernels, except wrong masks and strides (see `addressing`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from triton_lab.launch.comparison.mutations import axes, grid_sizes, loop_bounds, operands, operators
from triton_lab.launch.comparison.mutations.masked_lanes import folds, left_out, masked_off, others
from triton_lab.launch.comparison.numerics import Switch

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

_MOST = 12  # switches of each kind for a launch, since each needs a run
_KINDS = (
    axes.reductions,
    axes.program_ids,
    axes.across,
    loop_bounds.iterations,
    operators.comparisons,
    operators.functions,
    operators.divisors,
)
# Rarer slips, with more switches.
_RARER = (
    axes.dots,
    loop_bounds.starts,
    loop_bounds.carried,
    loop_bounds.steps,
    operators.orders,
    operators.operators,
    operators.scales,
    operators.signs,
    operators.guards,
    operands.integers,
    operands.sizes,
    operands.arguments,
    operands.stale,
    folds,
    grid_sizes.grids,
    grid_sizes.zeroed,
)


def meanings(launch: Launch) -> Iterator[Switch]:
    """The switches that affect this launch, the likeliest slips first."""
    masked = masked_off(launch)
    yield from islice(others(launch, masked), _MOST)
    yield from islice(left_out(launch, masked), _MOST)
    for kind in _KINDS:
        yield from islice(kind(launch), _MOST)


def rarer(launch: Launch) -> Iterator[Switch]:
    """The switches for rarer slips, which may make a few numbers right by chance."""
    for kind in _RARER:
        yield from islice(kind(launch), _MOST)
