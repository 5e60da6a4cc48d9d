"""Offsets back to elements, for strides of every kind."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.launch import element_index as module
from triton_lab.launch.element_index import contiguous_strides, digits, offsets, offsets_at, places

shapes_and_strides = st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 50)), max_size=4).map(
    lambda pairs: (tuple(size for size, _ in pairs), tuple(stride for _, stride in pairs))
)


@settings(deadline=None)
@given(shapes_and_strides, st.sampled_from([0, 8]))
def test_each_offset_leads_to_the_first_element_there(
    case: tuple[tuple[int, ...], tuple[int, ...]], dense: int
) -> None:
    shape, strides = case
    expected: dict[int, int] = {}
    for number, index in enumerate(itertools.product(*map(range, shape))):
        expected.setdefault(sum(i * s for i, s in zip(index, strides, strict=True)), number)
    before, module.DENSE = module.DENSE, dense  # 0: never by a table
    try:
        found = places(shape, strides)
    finally:
        module.DENSE = before
    asked = np.arange(-60, 220)
    assert found.element(asked).tolist() == [expected.get(offset, -1) for offset in asked.tolist()]
    apart = digits(shape, strides)
    if apart is not None:
        assert apart.element(asked).tolist() == found.element(asked).tolist()
    if found.first_of is not None:
        assert found.first_of.tolist() == [expected[offset] for offset in offsets(shape, strides).tolist()]
    else:
        assert len(expected) == found.elements


def test_offsets_of_views_without_overlap_are_taken_apart_without_a_table() -> None:
    assert digits((3, 4), (1, 3)) is not None
    assert digits((3, 4), (-8, 2)) is not None
    assert digits((3, 4), (0, 1)) is not None
    assert digits((3, 4), (2, 1)) is None


@settings(deadline=None)
@given(st.lists(st.integers(1, 5), max_size=4))
def test_contiguous_strides_are_those_of_torch(shape: list[int]) -> None:
    assert contiguous_strides(tuple(shape)) == torch.empty(shape).stride()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-5, 5)), max_size=4))
def test_some_offsets_are_those_of_all(axes: list[tuple[int, int]]) -> None:
    shape, strides = tuple(size for size, _ in axes), tuple(stride for _, stride in axes)
    every = offsets(shape, strides)
    chosen = np.arange(len(every))[::2]
    assert offsets_at(chosen, shape, strides).tolist() == every[chosen].tolist()
