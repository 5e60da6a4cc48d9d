"""Which lane stored each element, against running the stores one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from hypothesis import event, given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.launch.fakes import FakeArgument
from tests.launch.maps.test_lane_boxes import launches
from triton_lab.launch.access import Access
from triton_lab.launch.maps.last_writer import StoredBy, stored_by, stored_in
from triton_lab.views.drawing.cell_layout import layout


@triton.jit
def overlapping(x_ptr, n, turns, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    for turn in range(turns):
        offsets = (program * 3 + turn * 2) + tl.arange(0, BLOCK)
        tl.store(x_ptr + offsets * 2, program * 100 + turn * 10 + tl.arange(0, BLOCK), mask=offsets < n)


def recorded() -> Any:
    x = torch.full((24,), -1)[::2]
    with lab.record() as launches:
        overlapping[(3,)](x, 11, 2, BLOCK=4)
    return launches[0]


def test_the_last_lane_by_iteration_and_then_program_is_told() -> None:
    launch = recorded()
    (store,) = launch.accesses
    found = stored_by(store, (12,), 3)
    last: dict[int, tuple[int, int, int]] = {}
    for turn in range(2):
        for program in range(3):
            for lane in range(4):
                element = program * 3 + turn * 2 + lane
                if element < 11:
                    last[element] = program, lane, turn
    assert [found.last(element) for element in range(12)] == [last.get(element) for element in range(12)]
    assert found.program.tolist() == [last.get(element, (-1,))[0] for element in range(12)]
    assert found.first.tolist() == [0, 3, 6]


def test_a_program_that_stores_nothing_has_no_first_element() -> None:
    x = torch.zeros(4, dtype=torch.int64)
    with lab.record() as launches:
        overlapping[(3,)](x, 2, 1, BLOCK=4)
    found = stored_by(launches[0].accesses[0], (4,), 3)
    assert found.first.tolist() == [0, -1, -1]


@given(launches(), st.sampled_from([(640.0, 480.0), (4.0, 3.0)]))
@settings(max_examples=150, deadline=None)
def test_what_tiles_tell_of_a_store_is_what_its_lanes_tell(
    launch: tuple[FakeArgument, list[Access], int], room: tuple[float, float]
) -> None:
    argument, accesses, programs = launch
    found: Any = stored_in(accesses[0], argument, programs)  # type: ignore[arg-type]
    brute = stored_by(accesses[0], argument.shape, programs)
    event("lane by lane" if isinstance(found, StoredBy) else "tiles")
    assert found.first.tolist() == brute.first.tolist()
    elements = np.arange(len(brute.program))
    assert found.there(elements).tolist() == (brute.program >= 0).tolist()
    assert [found.last(element) for element in elements.tolist()] == [
        brute.last(element) for element in elements.tolist()
    ]
    assert found.middle() == brute.middle()
    shown = layout(argument.shape, room=room)
    cells = found.cells(shown.along(), shown.cells)
    if cells is not None:
        wanted = np.zeros(shown.cells, dtype=bool)
        wanted[shown.cell_of_position()[brute.program >= 0]] = True
        assert cells.tolist() == wanted.tolist()


def test_a_store_of_tiles_is_not_looked_at_lane_by_lane() -> None:
    x = torch.zeros(100_000)
    with lab.record() as recorded:
        strided_store[(98,)](x, 100_000, BLOCK=1024)
    launch = recorded[0]
    found = stored_in(launch.accesses[0], launch.arguments[0], launch.programs)
    assert not isinstance(found, StoredBy)
    assert found.last(99_999) == (97, 99_999 - 97 * 1024, 0) and found.middle() == 50_000


@triton.jit
def strided_store(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 1.0, mask=offsets < n)
