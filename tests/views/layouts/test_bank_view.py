"""Shared memory bank by bank: the words, the lanes of a warp, and what each bank has to give."""

from __future__ import annotations

import numpy as np
import pytest
from triton.experimental.gluon import language as gl

import triton_lab as lab
from triton_lab.views.drawing.drawing import DrawnText, Rectangle
from triton_lab.views.layouts.bank_view import LINES, BankView

DOWN = lab.layout(gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1]), (32, 32))
WIDE = lab.layout(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]), (64, 64), bits=16)


def view(memory: lab.Layout, registers: lab.Layout, warp: int = 0) -> BankView:
    found = memory.plot_access(registers, warp)
    assert isinstance(found, BankView)
    return found


def test_a_column_needs_one_bank_32_times() -> None:
    plain = view(lab.layout(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), (32, 32)), DOWN)
    assert plain.access is not None and plain.access.bank_words.tolist() == [32] + [0] * 31
    assert plain.lanes == {32 * lane: [lane] for lane in range(32)}
    assert (plain.elements == np.arange(1024).reshape(32, 32)).all()


def test_a_swizzle_spreads_it_over_all_banks() -> None:
    memory = lab.layout(gl.SwizzledSharedLayout(1, 1, 32, [1, 0]), (32, 32))
    found = view(memory, DOWN)
    assert found.access is not None and found.access.bank_words.tolist() == [1] * 32
    for (line, bank), element in np.ndenumerate(found.elements):
        assert memory.address(*divmod(int(element), 32)) == line * 128 + bank * 4


def test_the_frames_are_at_the_words_that_lanes_access() -> None:
    found = view(lab.layout(gl.SwizzledSharedLayout(4, 1, 8, [1, 0]), (32, 32)), DOWN, warp=2)
    frames = [one for one in found.picture().items if isinstance(one, Rectangle) and one.edge == "ink"]
    named = {one.text for one in found.picture().items if isinstance(one, DrawnText) and one.bold}
    assert len(frames) == len(found.lanes) == 32 and {str(lane) for lane in range(32)} <= named
    assert "warp 2" in found.title()


def test_wide_lanes_take_several_words_and_quarters_count() -> None:
    found = view(lab.layout(gl.NVMMASharedLayout(128, 16, 2), (64, 64), bits=16), WIDE)
    assert found.access is not None and (found.access.width, len(found.access.part)) == (16, 8)
    assert len(found.access.words_of(3)) == 4 and int(found.access.bank_words.max()) == 1
    assert len(found.lines) == LINES and found.total == 64 and str(LINES - 1) in found.notes[0]


def test_padding_leaves_words_empty() -> None:
    padded = lab.layout(gl.PaddedSharedLayout.with_identity_for([[32, 1]], [32, 32], [1, 0]), (32, 32))
    found = view(padded, DOWN)
    assert found.elements[1, 0] == -1 and found.elements[1, 1] == 32
    assert found.access is not None and found.access.use.conflicts == 0


def test_it_is_live_static_and_in_words() -> None:
    found = view(lab.layout(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), (32, 32)), DOWN)
    assert found.scene()["kind"] == "drawing" and len(found.scene()["items"]) < 4096
    assert found.figure() is not None and "32" in found.text()


def test_what_is_no_access_is_refused() -> None:
    memory = lab.layout(gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), (32, 32))
    for wrong in (
        lambda: memory.plot_access(memory),
        lambda: DOWN.plot_access(DOWN),
        lambda: memory.plot_access(DOWN, 4),
    ):
        with pytest.raises(lab.LayoutError):
            wrong()
