"""What a kernel may have been meant to do, as switches that are tried: the usual slips beside wrong addresses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from triton_lab.launch.comparison.mutations import axes, grid_sizes, loop_bounds, operands, operators
from triton_lab.launch.comparison.mutations.masked_lanes import folds, left_out, masked_off, others
from triton_lab.launch.comparison.numerics import Switch

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

_MOST = 12  # of a kind, on one launch: each runs it again
_KINDS = (
    axes.reductions,
    axes.program_ids,
    axes.across,
    loop_bounds.iterations,
    operators.comparisons,
    operators.functions,
    operators.divisors,
)
# Rarer, and more of them.
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
    """Those that would change what this launch did, the likeliest slips first."""
    masked = masked_off(launch)
    yield from islice(others(launch, masked), _MOST)
    yield from islice(left_out(launch, masked), _MOST)
    for kind in _KINDS:
        yield from islice(kind(launch), _MOST)


def rarer(launch: Launch) -> Iterator[Switch]:
    """Those of which a few numbers may come right by chance."""
    for kind in _RARER:
        yield from islice(kind(launch), _MOST)
