"""A conversion's way is the nearest that suffices, and its map leads to the same elements: by looking at all places."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.compiled.layouts.random_layouts import Asked, register_layouts
from tests.wordings import Wording
from triton_lab.compiled.layouts import Layout

ROWS = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>"
COLUMNS = "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [0, 1]}>"
ACROSS = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [1, 0]}>"
PARTS = ("register", "lane", "warp", "block")


def held(layout: Layout, parts: tuple[str, ...]) -> dict[tuple[int, ...], set[int]]:
    """The elements by the numbers of some parts of the hardware."""
    found: dict[tuple[int, ...], set[int]] = {}
    for packed, element in enumerate(layout.linear.table().tolist()):
        place = layout.linear.place(packed)
        found.setdefault(tuple(place[part] for part in parts), set()).add(element)
    return found


def nearest(source: Layout, destination: Layout) -> str:
    """The way by brute force: does each lane, warp, block have what it must hold afterwards?"""
    for way, parts in (("registers", PARTS[1:]), ("shuffles", PARTS[2:]), ("shared memory", PARTS[3:])):
        have, want = held(source, parts), held(destination, parts)
        if all(wanted <= have[place] for place, wanted in want.items()):
            return way
    return "cluster"


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([1, 1, 2]).flatmap(lambda blocks: st.tuples(*[register_layouts(blocks)] * 2)))
def test_the_way_is_the_nearest_that_suffices(asked: tuple[Asked, Asked]) -> None:
    one, other = asked
    shape = tuple(min(size, 32) for size in map(min, one.shape, other.shape))
    source, destination = lab.layout(one.spelled, shape), lab.layout(other.spelled, shape)
    found = source.to(destination)
    if source == destination:
        assert found.way == "nothing"
        return
    assert found.way == nearest(source, destination)
    before, after = source.linear.table(), destination.linear.table()
    for packed in range(0, len(after), max(1, len(after) // 64)):
        place = found.source_of(**destination.linear.place(packed))
        assert before[source.linear.inputs(place)] == after[packed]
    assert sum(found.counts().values()) == len(after)


def test_registers_of_a_lane_only_change_names() -> None:
    turned = ROWS.replace("[1, 4]", "[4, 4]", 1)
    one = lab.layout(turned, (32, 16))
    other = lab.layout("linear", register=[[1, 0], [2, 0], [0, 1], [0, 2]],
                       lane=list(one.bases["lane"]), warp=list(one.bases["warp"]))  # fmt: skip
    assert one.shape == other.shape or other.shape == (32, 16)
    assert (found := one.to(other)).way == "registers"
    assert found.registers == found.shuffles == found.stored == 0
    assert "Nothing moves" in str(found)


def test_a_warps_own_elements_are_shuffled(wording: Wording) -> None:
    found = lab.layout(ROWS, (32, 16), bits=16).to(lab.layout(COLUMNS, (32, 16), bits=16))
    assert found.way == "shuffles"
    assert (found.registers, found.shuffles) == (4, 2)  # two numbers of 16 bits travel in one word
    wording(found, registers=4, shuffles=2)


def test_other_warps_elements_go_through_shared_memory() -> None:
    found = lab.layout(ROWS, (32, 64)).to(lab.layout(ACROSS, (32, 64)))
    assert found.way == "shared memory"
    assert (found.stored, found.loaded, found.transactions) == (8192, 8192, 128)
    assert found.counts()["same block"] > 0


def test_what_has_no_conversion_says_why(wording: Wording) -> None:
    rows = lab.layout(ROWS, (32, 64))
    with pytest.raises(lab.LayoutError, match=r"\(32, 64\) and \(32, 32\)"):
        rows.to(lab.layout(ROWS, (32, 32)))
    shared = lab.layout("swizzled_shared", (32, 64), vec=1, perPhase=1, maxPhase=1, order=[1, 0])
    with wording.raises(lab.LayoutError):
        rows.to(shared)
    with wording.raises(lab.LayoutError, warps=2):
        rows.to(lab.layout(ROWS.replace("warpsPerCTA = [4, 1]", "warpsPerCTA = [2, 1]"), (32, 64)))
