"""Bank conflicts: the classic cases of the CUDA guide, and by counting words bank by bank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.compiled.layouts import bank_use, wavefronts

LANES = np.arange(32)
ROWS = {"size_per_thread": [1, 1], "threads_per_warp": [1, 32], "warps_per_cta": [1, 1], "order": [1, 0]}
DOWN = {**ROWS, "threads_per_warp": [32, 1], "order": [0, 1]}
PLAIN = {"vec": 1, "perPhase": 1, "maxPhase": 1, "order": [1, 0]}


@pytest.mark.parametrize(
    ("addresses", "width", "asked"),
    [
        (LANES * 4, 4, [1]),  # neighbours
        (LANES * 0, 4, [1]),  # one word for all
        (LANES * 8, 4, [2]),  # every second word
        (LANES * 12, 4, [1]),  # an odd stride
        (LANES * 128, 4, [32]),  # a column
        (LANES * 2, 2, [1]),  # two halves of a word
        (LANES * 8, 8, [1, 1]),  # half warps
        (LANES * 16, 16, [1, 1, 1, 1]),  # quarters
        (LANES * 128, 16, [8, 8, 8, 8]),
    ],
)
def test_known_patterns_ask_the_banks_as_often_as_the_guide_says(
    addresses: np.ndarray, width: int, asked: list[int]
) -> None:
    assert wavefronts(addresses[None], width).tolist() == [asked]


@given(st.lists(st.integers(0, 2000), min_size=32, max_size=32), st.sampled_from([4, 8, 16]))
def test_wavefronts_are_the_most_words_of_one_bank(words: list[int], width: int) -> None:
    found = wavefronts(np.array([words]) * width, width)[0].tolist()
    lanes = 128 // width
    for group, asked in enumerate(found):
        wanted = {
            word * width // 4 + at for word in words[group * lanes : (group + 1) * lanes] for at in range(width // 4)
        }
        assert asked == max(sum(1 for word in wanted if word % 32 == bank) for bank in range(32))


def test_a_column_conflicts_until_it_is_swizzled_or_padded(wording: Wording) -> None:
    rows, down = lab.layout("blocked", (32, 32), **ROWS), lab.layout("blocked", (32, 32), **DOWN)
    plain = lab.layout("swizzled_shared", (32, 32), **PLAIN)
    assert plain.access(rows).conflicts == 0
    column = plain.access(down)
    assert (column.instructions, column.wavefronts, column.ideal, column.ways) == (
        8,
        256,
        32,
        8,
    )  # four of a row at once, quarters of a warp
    wording(column, instructions=8, wavefronts=256, ideal=32)
    swizzled = lab.layout("swizzled_shared", (32, 32), **{**PLAIN, "maxPhase": 32})
    assert swizzled.access(down).conflicts == swizzled.access(rows).conflicts == 0
    padded = lab.layout("#ttg.padded_shared<[32:+1] {order = [1, 0], shape = [32, 32]}>")
    assert padded.access(down).conflicts == 0
    assert "no bank conflicts" in str(padded.access(down))


def test_neighbours_in_a_lane_move_at_once() -> None:
    wide = {**ROWS, "size_per_thread": [1, 8], "threads_per_warp": [4, 8]}
    plain = lab.layout("swizzled_shared", (32, 64), bits=16, **PLAIN)
    found = plain.access(lab.layout("blocked", (32, 64), bits=16, **wide))
    assert (found.vector, found.instructions, found.wavefronts, found.conflicts) == (8, 8, 32, 0)


def test_an_access_needs_shared_memory_and_a_warp_of_32(wording: Wording) -> None:
    plain = lab.layout("swizzled_shared", (32, 32), **PLAIN)
    with wording.raises(lab.LayoutError):
        plain.access(plain)
    with pytest.raises(lab.LayoutError, match="the shapes differ"):
        plain.access(lab.layout("blocked", (32, 64), **ROWS))
    with wording.raises(lab.LayoutError, lanes=32):
        plain.access(lab.layout("blocked", (32, 32), **{**ROWS, "threads_per_warp": [2, 32]}))


def test_registers_move_at_once_only_where_they_lie_side_by_side_in_every_lane() -> None:
    side_by_side, apart = [0, 4, 8, 12], [16, 20, 104, 108]
    assert bank_use._vector(np.array([[side_by_side]]), 32) == 4
    assert bank_use._vector(np.array([[side_by_side, apart]]), 32) == 2
    assert bank_use._vector(np.array([[side_by_side, [32, 64, 96, 128]]]), 32) == 1
