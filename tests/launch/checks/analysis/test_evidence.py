"""The lanes that touch some bytes, lane by lane."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.checks.analysis.evidence import Evidence, EvidenceLanes, SeenAccess
from triton_lab.launch.checks.race.memory_cells import MemoryCells
from triton_lab.launch.recording.access_event import AccessEvent

spans = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), max_size=6)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_lanes_are_found_by_the_bytes_that_they_touch(data: st.DataObject) -> None:
    programs = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True).map(sorted))
    shape = data.draw(st.sampled_from([(), (3,), (2, 2)]))
    size = int(np.prod(shape))
    count = len(programs) * size
    where = data.draw(st.lists(st.integers(0, 44), min_size=count, max_size=count))
    on = data.draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=count, max_size=count)))
    pointer = np.array(where).reshape(len(programs), *shape)
    mask = None if on is None else np.array(on).reshape(len(programs), *shape)
    itemsize = data.draw(st.sampled_from([1, 2, 4, 8]))
    sight = SeenAccess(
        SimpleNamespace(index=0), "load", itemsize, AccessEvent(9, np.array(programs), pointer, mask, shape)
    )
    given_ = data.draw(spans)
    within = Ranges.of([start for start, _ in given_], [start + length for start, length in given_])
    bytes_ = {place for start, length in given_ for place in range(start, start + length)}
    evidence = Evidence(SimpleNamespace(executable=SimpleNamespace(plan=SimpleNamespace(walk=tuple))), None)
    lanes = [
        (programs[k // size], k % size, where[k], 9) for k in range(count) if on is None or on[k]
    ]  # fmt: skip
    for whole, enough in ((False, any), (True, all)):
        expected = [lane for lane in lanes if enough(place in bytes_ for place in range(lane[2], lane[2] + itemsize))]
        found = evidence.lanes(sight, within, whole)
        columns = (found.program, found.lane, found.address, found.time)
        assert list(zip(*(each.tolist() for each in columns), strict=True)) == expected


def test_values_of_several_cells_are_the_same_where_each_of_their_cells_is() -> None:
    where = Ranges.of(np.array([0]), np.array([64]))
    cells = MemoryCells(SimpleNamespace(hull=lambda sight: sight), [(0, 64)], 2)  # type: ignore[arg-type, list-item]

    def stored(address: int, value: Any) -> tuple[EvidenceLanes, Any]:
        one = np.zeros(1, np.int64)
        return EvidenceLanes.timeless(one, one, one + address), np.array([value])

    whole = stored(8, np.int32(0x00020001))
    assert cells.all_same([whole, stored(10, np.int16(2))], where)
    assert not cells.all_same([whole, stored(10, np.int16(3))], where)
    assert not cells.all_same([whole, stored(8, np.int16(2))], where)
    assert cells.all_same([whole, stored(6, np.int16(5)), stored(12, np.int16(5))], where)
