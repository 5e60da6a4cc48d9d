"""Accesses for which it is known, without examining lanes, that different lanes of a program never overlap.

Most kernels that read what they write do so lane by lane: all their accesses have the same block of addresses, shifted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triton_lab.footprint.access_blocks import span_of
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.launch.byte_ranges import Ints
from triton_lab.launch.checks.analysis.evidence import SeenAccess
from triton_lab.launch.membership_classes import ordering


def never_meet(part: Sequence[SeenAccess]) -> bool:
    """Whether no two lanes of a program touch the same byte; False if that needs each lane to be examined."""
    if len({sight.itemsize for sight in part}) != 1:
        return False
    if all(isinstance(sight.event.pointer, np.ndarray) for sight in part):
        return _equal_and_rising(part)
    forms = {_form(sight) for sight in part}
    if len(forms) != 1 or None in forms:
        return False
    (form,) = forms
    assert form is not None
    span = span_of([stride for stride, _ in form], [extent for _, extent in form], part[0].itemsize)
    if span is None:
        return False
    program, base = _bases(part)
    order = ordering(program, base)
    program, base = program[order], base[order]
    gap = np.diff(base)
    near = (program[1:] == program[:-1]) & (gap > 0) & (gap < span)
    return not near.any() or _whole_tiles(base, form)


def _form(sight: SeenAccess) -> tuple[tuple[int, int], ...] | None:
    """The block's strides and extents, if the strides are positive and descend from axis to axis; else None."""
    pointer = sight.event.pointer
    if not isinstance(pointer, AffineBlock):
        return None
    axes = [(s, e) for s, e in zip(pointer.strides, sight.event.shape, strict=True) if e > 1]
    return None if any(stride <= 0 for stride, _ in axes) or axes != sorted(axes, reverse=True) else tuple(axes)


def _bases(part: Sequence[SeenAccess]) -> tuple[Ints, Ints]:
    program, base = [], []
    for sight in part:
        assert isinstance(sight.event.pointer, AffineBlock)
        program.append(sight.event.programs)
        base.append(np.broadcast_to(sight.event.pointer.base.reshape(-1), sight.event.programs.shape))
    return np.concatenate(program), np.concatenate(base)


def _whole_tiles(base: Ints, form: tuple[tuple[int, int], ...]) -> bool:
    """Whether all blocks are tiles of one grid, so that any two are equal or disjoint."""
    rest = base - base.min()
    room = None
    for stride, extent in form:
        place, rest = rest // stride, rest % stride
        if (place % extent).any():
            return False
        if room is not None and ((place + extent) * stride > room).any():
            return False  # the block continues in the next row
        room = stride
    return not rest.any()


def _equal_and_rising(part: Sequence[SeenAccess]) -> bool:
    """Whether all accesses have equal addresses, and these are distinct within each program."""
    first = part[0].event
    there = np.asarray(first.pointer)
    for event in (sight.event for sight in part[1:]):
        if event.shape != first.shape or not np.array_equal(event.programs, first.programs):
            return False
        if event.pointer is not first.pointer and not np.array_equal(np.asarray(event.pointer), there):
            return False
    if there.shape[1:] != first.shape:
        return False
    rows = np.sort(there.reshape(len(there), -1), axis=1)
    return bool((rows[:, 1:] > rows[:, :-1]).all())
