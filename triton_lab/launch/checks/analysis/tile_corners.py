"""Tiles of a matrix that no two programs share, found from their corners alone.

A tile of 64 rows is 64 runs of bytes, but one rectangle: a byte's row and column are its distance from the first byte,
divided by the row stride. If the rectangles do not overlap, there is no race, and the bytes need not be examined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.launch.access_footprint import Folded, folded
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import Evidence, SeenAccess
from triton_lab.launch.membership_classes import distinct

# The most pieces that a matrix is cut into along the edges of rectangles.
_MOST_PIECES = 1 << 22


def not_known_apart(evidence: Evidence, sights: Sequence[SeenAccess], stores: Iterable[SeenAccess]) -> list[SeenAccess]:
    """The ``sights`` that may touch a byte that several programs touch and one of them stores to."""
    storing = {id(sight) for sight in stores}
    kept: list[SeenAccess] = []
    for group in _groups(evidence, sights):
        if not _apart(group, np.array([id(sight) in storing for sight in group])):
            kept += group
    order = {id(sight): number for number, sight in enumerate(sights)}
    return sorted(kept, key=lambda sight: order[id(sight)])


def _groups(evidence: Evidence, sights: Sequence[SeenAccess]) -> Iterator[list[SeenAccess]]:
    """The sights in groups that have no byte in common."""
    ordered = sorted(((evidence.hull(sight), number) for number, sight in enumerate(sights)))
    group: list[SeenAccess] = []
    end = 0
    for (low, high), number in ordered:
        if group and low >= end:
            yield group
            group, end = [], 0
        group.append(sights[number])
        end = max(end, high)
    if group:
        yield group


def _apart(group: Sequence[SeenAccess], stores: np.typing.NDArray[np.bool_]) -> bool:
    """Whether certainly no byte is touched by two programs and stored to by one of them."""
    if not stores.any():
        return True
    blocks = []
    for sight in group:
        pointer, mask = sight.event.pointer, sight.event.mask
        if not isinstance(pointer, AffineBlock) or not (mask is None or isinstance(mask, MaskBox)):
            return False
        blocks.append(folded(pointer, mask, sight.event.shape, sight.itemsize))
    steps = {axis[0] for block in blocks for axis in block.rest}
    if len(steps) != 1 or any(len(block.rest) > 1 for block in blocks):
        return False
    (step,) = steps
    origin = min(int(block.base.min()) for block in blocks)
    parts = [
        _rectangles(block, sight.event.programs, origin, step, int(storing))
        for block, sight, storing in zip(blocks, group, stores.tolist(), strict=True)
    ]
    found = np.concatenate(parts)
    # A program that touches its own tile again has no conflict.
    found = found[np.lexsort(found[:, [5, 0, 1, 2, 3, 4]].T)]
    same = np.concatenate([[False], (found[1:, :5] == found[:-1, :5]).all(axis=1)])
    heads = np.flatnonzero(~same)
    storing_any = np.maximum.reduceat(found[:, 5], heads) if len(found) else np.zeros(0, np.int64)
    return not len(found) or _none_meet(found[heads], storing_any, step)


def _rectangles(block: Folded, programs: Ints, origin: int, step: int, storing: int) -> Ints:
    """(n, 6): begin and end row, begin and end column (ends exclusive), program, and whether it stores."""
    count = len(programs)
    one = np.ones(1, np.int64)
    lower, upper = block.rest[0][2:] if block.rest else (0 * one, one)
    row, column = np.divmod(block.base - origin, step)
    columns = (row + lower, row + upper, column, column + block.length, programs, storing * one)
    table = np.stack([np.broadcast_to(each, (count,)) for each in columns], axis=1)
    return np.asarray(table[np.broadcast_to(block.on, (count,))])


def _none_meet(found: Ints, storing: Ints, step: int) -> bool:
    if int(found[:, 3].max()) > step:  # a run continues in the next row
        return False
    rows, columns = distinct(found[:, :2].reshape(-1)), distinct(found[:, 2:4].reshape(-1))
    if len(rows) * len(columns) > _MOST_PIECES:
        return False
    top, bottom = np.searchsorted(rows, found[:, 0]), np.searchsorted(rows, found[:, 1])
    left, right = np.searchsorted(columns, found[:, 2]), np.searchsorted(columns, found[:, 3])

    def layers(weights: Ints) -> Ints:
        change = np.zeros((len(rows), len(columns)), np.int64)
        for row, column, sign in ((top, left, 1), (bottom, right, 1), (top, right, -1), (bottom, left, -1)):
            np.add.at(change, (row, column), sign * weights)
        return change.cumsum(axis=0).cumsum(axis=1)

    return not ((layers(np.ones_like(storing)) > 1) & (layers(storing) > 0)).any()
