"""The bytes of a view, against a list of all of them."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.launch.view_bytes import ViewBytes

axes = st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), max_size=3)


@given(axes, st.sampled_from([1, 2, 4]))
def test_ahead_of_an_address_is_what_belongs_to_the_view_without_a_gap(axes: list[tuple[int, int]], size: int) -> None:
    shape, strides = tuple(extent for extent, _ in axes), tuple(stride for _, stride in axes)
    start = 1000
    view = {
        start + sum(i * stride for i, stride in zip(index, strides, strict=True)) * size + byte
        for index in itertools.product(*map(range, shape))
        for byte in range(size)
    }
    low, high = min(view, default=start) - 5, max(view, default=start) + 5
    expected = [next(n for n in itertools.count() if address + n not in view) for address in range(low, high)]
    found = ViewBytes(start, shape, strides, size).ahead(np.arange(low, high))
    # Pieces that touch without being steps of one another may be told apart: less is said then, never more.
    assert [bool(n) for n in found] == [bool(n) for n in expected]
    assert (found <= expected).all()


def test_a_view_of_columns_is_a_piece_a_row() -> None:
    view = ViewBytes(100, (3, 2), (8, 1), 4)
    assert view.ahead(np.array([99, 100, 104, 107, 108, 132, 164, 172, 196])).tolist() == [0, 8, 4, 1, 0, 8, 8, 0, 0]
