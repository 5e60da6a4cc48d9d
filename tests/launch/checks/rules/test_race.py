"""Races and their absence, against all pairs of accesses and all paths of synchronisation."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.interpreter.machine import Limits
from triton_lab.ir import Block, Function, Op, Plan, Region, Type
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.race import barriers, conflicts
from triton_lab.launch.checks.race.races import Races
from triton_lab.launch.recording.access_event import AccessEvent
from triton_lab.launch.recording.tape import Tape

RELAXED, ACQUIRE, RELEASE, BOTH = 1, 2, 3, 4
PROGRAMS = 3


def operation(index: int, name: str, results: tuple[int, ...] = (), **attributes: Any) -> Op:
    return Op(name, (0,), results, attributes, (), (), None, index)


# The atomics' results are looked at, but for the last one's.
OPS = {
    "load": operation(0, "tt.load", (1,)),
    "store": operation(1, "tt.store"),
    "relaxed": operation(2, "tt.atomic_rmw", (2,), sem=RELAXED, scope=1),
    "acquire": operation(3, "tt.atomic_rmw", (3,), sem=ACQUIRE, scope=1),
    "release": operation(4, "tt.atomic_rmw", (4,), sem=RELEASE, scope=1),
    "both": operation(5, "tt.atomic_rmw", (5,), sem=BOTH, scope=1),
    "within a program": operation(6, "tt.atomic_rmw", (6,), sem=BOTH, scope=2),
    "unseen": operation(7, "tt.atomic_rmw", (7,), sem=BOTH, scope=1),
}
USER = Op("user", (2, 3, 5, 6), (), {}, (), (), None, 8)
KINDS = {name: "load" if name == "load" else "store" if name == "store" else "atomic" for name in OPS}
PLAN = Plan(
    {
        "kernel": Function(
            "kernel", Region((Block((0,), (*OPS.values(), USER)),)), (Type("ptr"),) * 8, ("",) * 8, None, True
        )
    }
)


@dataclass(frozen=True)
class Act:
    """``program`` does ``what`` to ``size`` bytes at ``address``; a block of more than one lane is many threads."""

    program: int
    what: str
    address: int = 0
    lanes: int = 1

    @property
    def bytes(self) -> set[int]:
        return set(range(self.address, self.address + self.lanes))

    @property
    def stores(self) -> bool:
        return self.what in ("store", "within a program")

    @property
    def updates(self) -> bool:
        return self.what in ("relaxed", "acquire", "release", "both", "unseen")


acts = st.builds(
    Act,
    st.integers(0, PROGRAMS - 1),
    st.sampled_from(["load", "store", "load", "store", "within a program"]),
    st.integers(0, 4),
    st.integers(1, 3),
) | st.builds(
    Act,
    st.integers(0, PROGRAMS - 1),
    st.sampled_from(["relaxed", "acquire", "release", "both", "both", "unseen", "barrier"]),
    st.integers(100, 101),
)
# Plain accesses and atomics on the same bytes.
mixed = (
    acts
    | st.builds(Act, st.integers(0, PROGRAMS - 1), st.just("load"), st.integers(99, 101), st.integers(1, 2))
    | st.builds(Act, st.integers(0, PROGRAMS - 1), st.sampled_from(["load", "store"]), st.integers(100, 101))
)


def races_of(history: Sequence[Act]) -> set[int]:
    """The bytes on which `Races` sees a race."""
    tape = Tape(1 << 30, Limits())
    for name, op in OPS.items():
        tape.kinds[op.index] = (KINDS[name], "int8", 1)
        tape.events[op.index] = []
    for moment, act in enumerate(history):
        programs = np.array([act.program])
        if act.what == "barrier":
            tape.barriers.append((moment, programs))
            continue
        shape = (act.lanes,) if act.lanes > 1 else ()
        addresses = (act.address + np.arange(act.lanes)).reshape(1, *shape)
        tape.events[OPS[act.what].index].append(AccessEvent(moment, programs, addresses, None, shape))
    executable = SimpleNamespace(plan=PLAN, roots={})
    launch: Any = SimpleNamespace(executable=executable, programs=PROGRAMS, owner_of=lambda op: None, error=None)
    found = Races(Evidence(launch, tape)).bytes()
    return {b for s, t in zip(found.start.tolist(), found.stop.tolist(), strict=True) for b in range(s, t)}


@dataclass
class Paths:
    """Who comes before whom: edges between moments, closed under following them."""

    history: Sequence[Act]
    before: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        edges = set()
        for i, j in itertools.combinations(range(len(self.history)), 2):
            a, b = self.history[i], self.history[j]
            if a.program == b.program:
                if b.what in ("release", "both", "unseen") and a.what != "barrier":
                    # One thread hands on what it did itself, and what a barrier has waited for.
                    alone = a.lanes == 1 or barriers.around_atomics()
                    if alone or any(self.joins(i, k, j) for k in range(i + 1, j)):
                        edges.add((i, j))
                if a.what in ("acquire", "both"):
                    edges.add((i, j))
            elif a.what in ("release", "both", "unseen") and b.what in ("acquire", "both") and a.address == b.address:
                edges.add((i, j))
        for k, i, j in itertools.product(range(len(self.history)), repeat=3):
            if (i, k) in edges and (k, j) in edges:
                edges.add((i, j))
        self.before = edges

    def joins(self, i: int, k: int, j: int) -> bool:
        """Whether moment k, between i and j, is a barrier of their program; an atomic that is looked at has one."""
        act = self.history[k]
        return act.program == self.history[i].program and act.what in (
            "barrier",
            "relaxed",
            "acquire",
            "both",
            "within a program",
        )

    def races(self) -> set[int]:
        found = set()
        for i, j in itertools.combinations(range(len(self.history)), 2):
            a, b = self.history[i], self.history[j]
            if "barrier" in (a.what, b.what) or a.program == b.program:
                continue
            if not (a.stores or b.stores or (a.updates and b.what == "load") or (b.updates and a.what == "load")):
                continue
            if (i, j) not in self.before:
                found |= a.bytes & b.bytes
        return found


@given(st.lists(mixed, max_size=12))
@settings(max_examples=600, deadline=None)
def test_races_are_the_pairs_that_no_path_orders(history: list[Act]) -> None:
    assert races_of(history) == Paths(history).races()


@given(st.lists(mixed, max_size=12))
@settings(max_examples=300, deadline=None)
def test_painting_cells_finds_what_sorting_runs_finds(history: list[Act]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conflicts, "_MANY", 0)
        patch.setattr(conflicts, "_SHORT", 1 << 20)
        assert races_of(history) == Paths(history).races()


def test_a_flag_hands_on_what_was_stored_before_it() -> None:
    history = [Act(0, "store"), Act(0, "release", 100), Act(1, "acquire", 100), Act(1, "load")]
    assert not races_of(history)
    assert races_of([history[1], history[0], *history[2:]]) == {0}


def test_what_is_handed_on_travels_through_others() -> None:
    history = [Act(0, "store"), Act(0, "release", 100), Act(1, "both", 100), Act(1, "release", 101)]
    assert not races_of([*history, Act(2, "acquire", 101), Act(2, "store")])


def test_a_block_needs_a_barrier_before_the_flag_unless_triton_puts_one_there(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Act(0, "store", 0, 3)
    rest = [Act(0, "release", 100), Act(1, "acquire", 100), Act(1, "load", 0, 3)]
    for around in (False, True):
        monkeypatch.setattr(barriers, "around_atomics", lambda around=around: around)
        assert races_of([block, *rest]) == (set() if around else {0, 1, 2})
        assert not races_of([block, Act(0, "barrier"), *rest])


def test_same_program_never_races_with_itself() -> None:
    assert not races_of([Act(0, "store", 0, 3), Act(0, "load", 1, 2), Act(0, "store", 0, 2)])


def test_a_load_beside_atomics_races_unless_each_of_them_is_known_to_be_done() -> None:
    adds = [Act(0, "unseen", 100), Act(1, "unseen", 100)]
    assert races_of([*adds, Act(2, "load", 100)]) == {100}
    assert races_of([Act(2, "load", 100), *adds]) == {100}
    assert not races_of([*adds, Act(2, "both", 100), Act(2, "load", 100)])
    assert not races_of([*adds, Act(2, "both", 100)])
    # The last one to count itself in knows all others; who came before does not.
    counted = [Act(0, "unseen", 100), Act(0, "both", 101), Act(1, "unseen", 100), Act(1, "both", 101)]
    assert not races_of([*counted, Act(1, "load", 100)])
    assert races_of([*counted, Act(0, "load", 100)]) == {100}


@pytest.mark.parametrize("ordered", [True, False])
def test_a_thousand_programs_that_add_and_load_are_soon_judged(ordered: bool) -> None:
    bins = 64
    programs = np.arange(1000)
    tape = Tape(1 << 30, Limits())
    for name, op in OPS.items():
        tape.kinds[op.index] = (KINDS[name], "int8", 1)
        tape.events[op.index] = []
    everywhere = np.broadcast_to(np.arange(bins), (len(programs), bins))
    flag = np.full(len(programs), 1000)
    tape.events[OPS["relaxed"].index].append(AccessEvent(0, programs, everywhere, None, (bins,)))
    tape.events[OPS["both"].index].append(AccessEvent(2, programs, flag, None, ()))
    if ordered:
        tape.events[OPS["both"].index].append(AccessEvent(3, programs, flag, None, ()))
    tape.barriers.append((1, programs))
    tape.events[OPS["load"].index].append(AccessEvent(4, programs, everywhere, None, (bins,)))
    executable = SimpleNamespace(plan=PLAN, roots={})
    launch: Any = SimpleNamespace(executable=executable, programs=1000, owner_of=lambda op: None, error=None)
    began = time.perf_counter()
    assert Races(Evidence(launch, tape)).bytes().size == (0 if ordered else bins)
    assert time.perf_counter() - began < 10
