"""Which lanes of a bad access may not be touched, against brute force over lanes and regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.interpreter import faulting_lanes
from triton_lab.interpreter.faulting_lanes import fault_of
from triton_lab.interpreter.memory_regions import Memory, MemoryRegion, Reachable

NULL = 4096


@dataclass(frozen=True)
class Mapped:
    """A run of memory: a tensor's, one that nobody may write to, or one that was found by its address."""

    start: int
    size: int
    kind: str

    def region(self) -> MemoryRegion:
        data = np.zeros(self.size, np.uint8)
        data.flags.writeable = self.kind != "locked"
        return MemoryRegion(self.start, data, verified=self.kind != "found")

    def holds(self, address: int, itemsize: int) -> bool:
        return self.start <= address and address + itemsize <= self.start + self.size


@st.composite
def layouts(draw: st.DrawFn, first: int = NULL - 16) -> list[Mapped]:
    """Runs of memory, one behind the other, some of which touch."""
    found, at = [], first
    for _ in range(draw(st.integers(0, 4))):
        at += draw(st.sampled_from([0, 0, 3, 12]))
        size = draw(st.sampled_from([1, 16, 24, 40]))
        found.append(Mapped(at, size, draw(st.sampled_from(["tensor", "locked", "found"]))))
        at += size
    return found


@dataclass(frozen=True)
class Asked:
    addresses: np.ndarray
    mask: np.ndarray
    itemsize: int
    kind: str


@st.composite
def accesses(draw: st.DrawFn, ends: st.SearchStrategy[int]) -> Asked:
    shape = draw(st.sampled_from([(1,), (3,), (2, 4), (3, 1, 2), (2, 2, 3), (1, 5)]))
    size = int(np.prod(shape))
    addresses = draw(st.lists(ends, min_size=size, max_size=size))
    mask = draw(st.lists(st.sampled_from([True, True, True, False]), min_size=size, max_size=size))
    kind, itemsize = draw(st.sampled_from(["load", "load", "store", "atomic"])), draw(st.sampled_from([1, 2, 4, 8]))
    return Asked(np.array(addresses).reshape(shape), np.array(mask).reshape(shape), itemsize, kind)


def bad_lanes(asked: Asked, mapped: list[Mapped]) -> tuple[str, list[tuple[int, int, int]]]:
    """What is wrong, and the (program, lane, address) of which: one lane at a time."""
    lanes = [
        (program, lane, int(address))
        for program, row in enumerate(asked.addresses)
        for lane, address in enumerate(np.atleast_1d(row).reshape(-1))
        if np.atleast_1d(asked.mask[program]).reshape(-1)[lane]
    ]
    under = {one: next((run for run in mapped if run.holds(one[2], asked.itemsize)), None) for one in lanes}
    good = {one for one, run in under.items() if run and (asked.kind == "load" or run.kind == "tensor")}
    in_tensors = {one[0] for one in good if under[one].kind != "found"}
    good -= {one for one in good if under[one].kind == "found" and one[0] in in_tensors}
    bad = [one for one in lanes if one not in good]
    if not bad:
        return "misaligned", [one for one in lanes if one[2] % asked.itemsize]
    return "null-pointer" if all(address < NULL for _, _, address in bad) else "out-of-bounds", bad


def told(reachable: Reachable, asked: Asked) -> tuple[str, list[tuple[int, int, int]]]:
    found = fault_of(reachable, asked.addresses, asked.mask, asked.itemsize, asked.kind)
    assert (found.access, found.itemsize, found.rows) == (asked.kind, asked.itemsize, len(asked.addresses))
    assert found.block == asked.addresses.shape[1:]
    return found.kind, list(zip(found.programs.tolist(), found.lanes.tolist(), found.addresses.tolist(), strict=True))


near = st.integers(NULL - 30, NULL + 100)


@given(layouts(), accesses(near))
@settings(deadline=None, max_examples=300)
def test_bad_lanes_are_those_of_brute_force(mapped: list[Mapped], asked: Asked) -> None:
    memory = Memory([run.region() for run in mapped])
    assert told(Reachable(memory, frozenset(memory.regions)), asked) == bad_lanes(asked, mapped)


@given(layouts(), accesses(near), st.data())
@settings(deadline=None)
def test_memory_that_an_operation_may_not_touch_is_none(
    mapped: list[Mapped], asked: Asked, data: st.DataObject
) -> None:
    allowed = [run for run in mapped if data.draw(st.booleans())]
    memory = Memory([run.region() for run in mapped])
    starts = {run.start for run in allowed}
    mine = frozenset(region for region in memory.regions if region.start in starts)
    assert told(Reachable(memory, mine), asked) == bad_lanes(asked, allowed)


@given(layouts(), layouts(NULL + 90), accesses(st.integers(NULL - 30, NULL + 190)))
@settings(deadline=None, max_examples=200)
def test_where_a_pointer_may_go_anywhere_all_its_lanes_are_looked_up(
    known: list[Mapped], hidden: list[Mapped], asked: Asked
) -> None:
    """Once for each run of memory, or address where there is none."""
    end = max([run.start + run.size for run in known], default=0)
    hidden = [Mapped(run.start, run.size, "found") for run in hidden if run.start >= end]
    memory, calls = Memory([run.region() for run in known]), []

    def resolve(low: int, high: int) -> MemoryRegion | None:
        calls.append(low)
        assert high == low + asked.itemsize
        # As the system tells it: the whole run that the first byte lies in.
        return next((run.region() for run in hidden if run.start <= low < run.start + run.size), None)

    memory.resolve = resolve
    assert told(Reachable(memory), asked) == bad_lanes(asked, known + hidden)
    assert len(calls) == len(set(calls))
    assert set(calls) <= set(asked.addresses[asked.mask].tolist())
    first_bytes = [run for run in hidden if any(run.start <= low < run.start + run.size for low in calls)]
    assert len(memory.regions) == len(known) + len(first_bytes)


@pytest.mark.parametrize("most", [1, 3])
def test_after_so_many_addresses_without_memory_no_more_are_looked_up(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faulting_lanes, "_MOST_LOOKUPS", most)
    memory, calls = Memory([]), []
    memory.resolve = lambda low, high: calls.append(low)
    addresses = np.array([[9, 5, 5, 7, 1, 3]]) * NULL
    found = fault_of(Reachable(memory), addresses, np.ones((1, 6), bool), 4, "load")
    assert calls == [each * NULL for each in (1, 3, 5, 7, 9)[:most]]
    assert found.lanes.tolist() == list(range(6))


def test_a_run_that_was_found_is_asked_for_once() -> None:
    memory, calls = Memory([]), []

    def resolve(low: int, high: int) -> MemoryRegion:
        calls.append(low)
        return Mapped(NULL, 64, "found").region()

    memory.resolve = resolve
    addresses = NULL + np.arange(-4, 60, 4)[None]
    memory.resolve = lambda low, high: resolve(low, high) if low >= NULL else None
    found = fault_of(Reachable(memory), addresses, np.ones(addresses.shape, bool), 4, "load")
    assert calls == [NULL] and (found.kind, found.lanes.tolist()) == ("null-pointer", [0])


@pytest.mark.parametrize(("addresses", "kind"), [((0, NULL - 1), "null-pointer"), ((0, NULL), "out-of-bounds")])
def test_a_null_pointer_with_an_offset_is_one_within_the_first_page(addresses: tuple[int, int], kind: str) -> None:
    where = np.array([addresses])
    assert fault_of(Reachable(Memory([])), where, np.ones((1, 2), bool), 1, "load").kind == kind


def test_memory_of_no_tensor_is_bad_for_programs_that_are_in_one() -> None:
    runs = [Mapped(8192, 16, "tensor"), Mapped(9000, 16, "found")]
    memory = Memory([run.region() for run in runs])
    addresses = np.array([[8192, 9000], [9004, 9000], [8200, 8204], [9004, 1 << 20]])
    found = fault_of(Reachable(memory), addresses, np.ones(addresses.shape, bool), 4, "load")
    assert list(zip(found.programs.tolist(), found.lanes.tolist(), strict=True)) == [(0, 1), (3, 1)]
