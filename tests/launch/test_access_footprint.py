"""The bytes that an access touches, against going through its lanes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.launch.access_footprint import element_addresses, elements_in, hull, runs, tensor_bytes
from triton_lab.launch.argument import Argument
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.recording.access_event import AccessEvent

ITEMSIZE = 4


@st.composite
def events(draw: st.DrawFn) -> AccessEvent:
    """An affine or a gathered pointer, unmasked, under a box, or under a mask of any form."""
    count = draw(st.integers(1, 4))
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=3)))
    numbers = np.array(sorted(draw(st.sets(st.integers(0, 20), min_size=count, max_size=count))))
    mask: Any = None
    kind = draw(st.sampled_from(["none", "box", "lanes"]))

    def bound() -> np.ndarray[Any, Any]:
        wide = draw(st.booleans())
        return np.array(draw(st.lists(st.integers(0, 4), min_size=count if wide else 1, max_size=count if wide else 1)))

    if kind == "box":
        lower = tuple(np.minimum(bound(), extent) for extent in shape)
        upper = tuple(np.minimum(bound(), extent) for extent in shape)
        mask = MaskBox(lower, upper, shape)
    elif kind == "lanes":
        lanes = draw(
            st.lists(st.booleans(), min_size=count * int(np.prod(shape)), max_size=count * int(np.prod(shape)))
        )
        mask = np.array(lanes, bool).reshape(count, *shape)
    if draw(st.booleans()):
        strides = tuple(ITEMSIZE * draw(st.integers(-6, 6)) for _ in shape)
        base = np.array(
            draw(st.lists(st.integers(0, 60), min_size=1, max_size=1)) * (1 if draw(st.booleans()) else count)
        )
        if base.size == count:
            base = base + np.array(draw(st.lists(st.integers(0, 60), min_size=count, max_size=count)))
        return AccessEvent(0, numbers, AffineBlock(ITEMSIZE * base.astype(np.int64), strides, shape), mask, shape)
    size = count * int(np.prod(shape))
    addresses = np.array(draw(st.lists(st.integers(0, 60), min_size=size, max_size=size)), np.int64) * ITEMSIZE
    return AccessEvent(0, numbers, addresses.reshape(count, *shape), mask, shape)


def lane_by_lane(event: AccessEvent) -> set[tuple[int, int]]:
    """(program, byte) of every active lane."""
    found = set()
    for row, program in enumerate(event.programs.tolist()):
        for address in event.addresses()[row][event.active()[row]].reshape(-1).tolist():
            found |= {(program, address + k) for k in range(ITEMSIZE)}
    return found


@given(events())
@settings(max_examples=400, deadline=None)
def test_runs_cover_what_the_active_lanes_touch(event: AccessEvent) -> None:
    found = runs(event, ITEMSIZE)
    touched = {
        (program, byte)
        for start, stop, program in zip(found.start.tolist(), found.stop.tolist(), found.program.tolist(), strict=True)
        for byte in range(start, stop)
    }
    expected = lane_by_lane(event)
    assert touched == expected
    low, high = hull(event, ITEMSIZE)
    assert all(low <= byte < high for _, byte in expected)
    if isinstance(event.pointer, AffineBlock) and not isinstance(event.mask, np.ndarray) and expected:
        assert (low, high) == (min(byte for _, byte in expected), max(byte for _, byte in expected) + 1)


def test_a_contiguous_tile_is_one_run_for_each_program() -> None:
    event = AccessEvent(0, np.arange(3), AffineBlock(np.arange(3) * 4096, (256, 4), (16, 64)), None, (16, 64))
    assert len(runs(event, 4)) == 3


def test_a_tile_of_a_wider_matrix_is_one_run_for_each_row() -> None:
    event = AccessEvent(0, np.arange(3), AffineBlock(np.arange(3) * 256, (1024, 4), (16, 64)), None, (16, 64))
    assert len(runs(event, 4)) == 3 * 16


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-5, 9)), max_size=3),
)
def test_tensor_bytes_are_those_of_its_elements(axes: list[tuple[int, int]]) -> None:
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    expected = set()
    for index in np.ndindex(*shape):
        at = 1000 + 2 * sum(i * s for i, s in zip(index, strides, strict=True))
        expected |= {at, at + 1}
    found = tensor_bytes(1000, shape, strides, 2)
    assert {b for s, t in zip(found.start.tolist(), found.stop.tolist(), strict=True) for b in range(s, t)} == expected


@given(
    st.integers(0, 7),
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from([1, 2, 4, 8]),
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 40)), max_size=12),
    st.booleans(),
)
def test_elements_in_ranges(
    start: int, shape: list[int], itemsize: int, spans: list[tuple[int, int]], turned: bool
) -> None:
    where = Ranges.of([low for low, _ in spans], [low + size for low, size in spans])
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    shape, strides = (shape[::-1], strides[::-1]) if turned else (shape, strides)
    argument = Argument(
        "x", "tensor", shape=tuple(shape), strides=tuple(strides), itemsize=itemsize, address=start + 40
    )
    expected = where.covers(element_addresses(argument)).reshape(argument.shape)
    found = elements_in(where, argument)
    assert found.shape == expected.shape and (found == expected).all()
