"""Which lanes a finding lists, against sorting all of them; and what an address is called."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.fakes import FakeArgument
from tests.wordings import Wording
from triton_lab.launch.checks.analysis import finding_text
from triton_lab.launch.checks.analysis.evidence import EvidenceLanes, SeenAccess
from triton_lab.launch.checks.analysis.finding_text import FoundLanes, LaneTally, listed

Part = list[tuple[int, int]]  # (program, lane), ascending
parts_of = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), max_size=12, unique=True).map(sorted),
    min_size=1,
    max_size=8,
)


def lanes(part: Part, time: int) -> EvidenceLanes:
    program, lane = (np.array([one[k] for one in part], np.int64) for k in (0, 1))
    return EvidenceLanes(program, lane, 100 * program + lane, np.full(len(part), time))


def told(found: EvidenceLanes) -> list[tuple[int, int, int, int]]:
    columns = (found.program, found.lane, found.address, found.time)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def by_sorting(parts: list[Part], most: int) -> list[tuple[int, int, int, int]]:
    """Of as many programs as possible the first lanes: all first ones before any second one."""
    every = sorted(
        ((program, lane, 100 * program + lane, time) for time, part in enumerate(parts) for program, lane in part),
        key=lambda one: one[:2],
    )
    ranks: list[int] = []
    for place, one in enumerate(every):
        ranks.append(sum(other[0] == one[0] for other in every[:place]))
    chosen = sorted(range(len(every)), key=lambda place: (ranks[place], place))[:most]
    return [every[place] for place in sorted(chosen)]


@pytest.mark.parametrize("most", [3, 5, 100])
@given(parts=parts_of)
@settings(deadline=None, max_examples=60)
def test_listed_are_the_first_lanes_of_as_many_programs_as_possible(most: int, parts: list[Part]) -> None:
    before, finding_text.LISTED = finding_text.LISTED, most
    try:
        expected = by_sorting(parts, most)
        assert told(listed([lanes(part, time) for time, part in enumerate(parts)])) == expected
        # Bit by bit, or joined of two, it is the same; and all are counted.
        tally, halves = LaneTally(), (LaneTally(), LaneTally())
        for time, part in enumerate(parts):
            tally.add(lanes(part, time))
            halves[time % 2].add(lanes(part, time))
        halves[0].join(halves[1])
        for each in (tally, halves[0]):
            assert each.count == sum(map(len, parts))
            assert sorted(told(each.listed())) == sorted(expected) or most < 100
            assert [one[:2] for one in told(each.listed())] == [one[:2] for one in expected]
    finally:
        finding_text.LISTED = before


@given(parts_of, parts_of)
@settings(deadline=None, max_examples=60)
def test_found_are_the_lanes_of_each_operation(one: list[Part], other: list[Part]) -> None:
    found = FoundLanes()
    ops = [SimpleNamespace(index=7), SimpleNamespace(index=3)]
    for op, parts in zip(ops, (one, other), strict=True):
        for time, part in enumerate(parts):
            found.add(SeenAccess(op, "store", 4, None), lanes(part, time))
    expected = {
        op.index: (by_sorting(parts, 100), sum(map(len, parts)))
        for op, parts in zip(ops, (one, other), strict=True)
        if any(parts)
    }
    assert [op.index for op, _, _ in found] == sorted(expected)
    assert {op.index: (told(some), count) for op, some, count in found} == expected


@pytest.mark.parametrize(
    ("address", "place"),
    [
        (0, "x_ptr[0, 0]"),
        (4, "x_ptr[0, 1]"),
        (24, "x_ptr[1, 2]"),
        (12, "element 5"),  # in the gap between two rows
        (-4, "element 1"),
        (2, "byte 10"),
        (-9, "byte -1"),
        (28, "element 9"),
    ],
)
def test_an_address_is_called_by_its_element_or_by_its_place_in_the_storage(
    address: int, place: str, wording: Wording
) -> None:
    argument = FakeArgument("x_ptr", (2, 3), (4, 1), offset=2, storage_address=4096)
    if place.startswith("x_ptr"):
        assert finding_text.element(argument, argument.address + address) == place
    else:
        wording(finding_text.element(argument, argument.address + address), place=place, name="x_ptr")
    assert finding_text.element(None, 4096) == "address 0x1000"
