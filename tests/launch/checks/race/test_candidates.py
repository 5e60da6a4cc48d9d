"""Which pairs are looked at: what races is found on every stretch where something does, held to all pairs there are."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from triton_lab.ir.effects import Role
from triton_lab.launch.checks.race.candidates import racing_pairs
from triton_lab.launch.checks.race.conflicts import ConflictRows

KINDS = ("store", "update", "load")
Event = tuple[int, int]  # time, program


@st.composite
def contests(draw: st.DrawFn) -> tuple[list[tuple[int, Event]], list[str], set[tuple[Event, Event]]]:
    """Rows (stretch, event), the kind of each time's access, and which events come surely before which."""
    kinds = draw(st.lists(st.sampled_from(draw(st.sampled_from([KINDS, KINDS[1:]]))), min_size=1, max_size=6))
    programs = draw(st.integers(1, 4))
    events = [(time, program) for time in range(len(kinds)) for program in range(programs)]
    there = draw(st.lists(st.lists(st.sampled_from(events), unique=True, max_size=7), min_size=1, max_size=4))
    # The same accesses may come by on several stretches.
    there += draw(st.lists(st.sampled_from(there), max_size=3))
    later = [(a, b) for a, b in itertools.combinations(events, 2) if a[0] < b[0]]
    before = {(a, b) for a, b in later if a[1] == b[1]}
    if later:
        before |= set(draw(st.lists(st.sampled_from(later), max_size=12)))
    for middle in events:  # what comes before what comes before
        before |= {(a, d) for a, b in before if b == middle for c, d in before if c == middle}
    return [(number, event) for number, some in enumerate(there) for event in sorted(some)], kinds, before


def races(one: Event, other: Event, kinds: list[str], before: set[tuple[Event, Event]]) -> bool:
    both = {kinds[one[0]], kinds[other[0]]}
    conflict = "store" in both or both == {"update", "load"}
    return conflict and one[1] != other[1] and not {(one, other), (other, one)} & before


# Neighbours are ordered, and the first update and the last load are not: on three stretches of four.
_FOUR = [(0, 0), (1, 1), (2, 2), (3, 3)]
_APART = (
    [(number, event) for number in range(4) for event in (_FOUR if number != 0 else _FOUR[::2])],
    ["update", "update", "load", "load"],
    {((0, 0), (2, 2)), ((1, 1), (2, 2)), ((1, 1), (3, 3))},
)


@settings(max_examples=300, deadline=None)
@given(contests())
@example(_APART)
def test_every_stretch_with_a_race_has_one_that_is_found(case) -> None:  # type: ignore[no-untyped-def]
    rows, kinds, before = case
    stretch = np.array([number for number, _ in rows], np.int64)
    time, program = (np.array([event[k] for _, event in rows], np.int64) for k in (0, 1))
    roles = np.array([Role[kinds[t].upper()] for t in time], np.int8)
    none = np.zeros(len(rows), np.bool_)
    table = ConflictRows(stretch, stretch * 4, stretch * 4 + 4, program, time, time, roles, none)

    def unordered(first, second):  # type: ignore[no-untyped-def]
        assert (first < second).all(), "in the order of time"
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return np.array([(rows[a][1], rows[b][1]) not in before for a, b in pairs], np.bool_)

    first, second = racing_pairs(table, unordered)
    found = set()
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        assert rows[a][0] == rows[b][0] and races(rows[a][1], rows[b][1], kinds, before)
        found.add(rows[a][0])
    assert found == {
        one[0]
        for one, other in itertools.combinations(rows, 2)
        if one[0] == other[0] and races(one[1], other[1], kinds, before)
    }
