"""The blocks of an access are those of the lanes that its mask lets through."""

from __future__ import annotations

import numpy as np
import pytest

from triton_lab.footprint.access_blocks import Blocks, together
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir.effects import Role


def rows(blocks: Blocks) -> list[tuple[int, int, int]]:
    """(start, stop, program) of each run."""
    return list(zip(*(each.tolist() for each in blocks.runs()), strict=True))


def around(pointer, mask=None, programs: int = 2) -> Blocks:
    found = Blocks.around(pointer, mask, np.arange(programs), Role.STORE, 4)
    assert found is not None
    return found


def test_a_mask_box_cuts_the_block() -> None:
    line = AffineBlock(np.array([100, 200]), (4,), (8,))
    box = MaskBox((np.array([0, 1]),), (np.array([8, 3]),), (8,))
    assert rows(around(line, box)) == [(100, 132, 0), (204, 212, 1)]
    assert around(line, box).hull() == (100, 212)


def test_a_flag_for_each_program_leaves_out_programs() -> None:
    line = AffineBlock(np.array([100, 200]), (4,), (8,))
    assert rows(around(line, np.array([False, True]))) == [(200, 232, 1)]
    assert rows(around(line, np.array([[False]]))) == []
    assert around(line, np.array([False])).hull() == (0, 0)


def test_a_mask_of_lanes_is_ignored() -> None:
    line = AffineBlock(np.array([100]), (4,), (2,))
    assert rows(around(line, np.array([[True, False]]), programs=1)) == [(100, 108, 0)]


def test_one_pointer_for_each_program_is_a_block_and_others_are_not_affine() -> None:
    assert rows(around(np.array([100, 300]))) == [(100, 104, 0), (300, 304, 1)]
    assert Blocks.around(np.array([[100, 300]]), None, np.arange(1), Role.LOAD, 4) is None


def test_rows_of_different_lengths_and_directions_are_runs() -> None:
    tile = AffineBlock(np.array([1000, 2000]), (-64, 4), (3, 4))
    box = MaskBox((np.array([1]), np.array([0])), (np.array([3, 2]), np.array([4, 2])), (3, 4))
    assert sorted(rows(around(tile, box))) == [(872, 888, 0), (936, 952, 0), (1936, 1944, 1)]


@pytest.mark.parametrize("other", [Role.STORE, Role.LOAD])
def test_blocks_that_differ_only_in_place_are_put_together(other: Role) -> None:
    one = Blocks.around(np.array([100]), None, np.array([3]), Role.STORE, 4)
    two = Blocks.around(np.array([300]), None, np.array([1]), other, 4)
    assert one is not None and two is not None
    found = together([one, two])
    assert len(found) == (1 if other is Role.STORE else 2)
    assert sorted(row for each in found for row in rows(each)) == [(100, 104, 3), (300, 304, 1)]
