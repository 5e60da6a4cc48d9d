"""Which programs' accesses are ordered, against a walk over all chains of atomics that hand on and take over."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from triton_lab.ir import Op
from triton_lab.launch.checks.analysis.evidence import SeenAccess
from triton_lab.launch.checks.race import barriers as barriers_module
from triton_lab.launch.checks.race import happens_before as module
from triton_lab.launch.checks.race.barriers import Barriers, results_used
from triton_lab.launch.checks.race.happens_before import HappensBefore, hands_on, takes_over
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.access_event import AccessEvent

PROGRAMS, TIMES = 4, 12


@triton.jit
def atomics_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.atomic_add(x_ptr, 1, sem="acquire"))  # acquire
    tl.atomic_add(x_ptr, 1, sem="acquire")  # unseen
    tl.atomic_add(x_ptr, 1, sem="release")  # release
    tl.store(out_ptr, tl.atomic_add(x_ptr, 1, sem="acq_rel"))  # both
    tl.atomic_xchg(x_ptr, 1, sem="acq_rel")  # unseen both
    tl.store(out_ptr, tl.atomic_add(x_ptr, 1, sem="relaxed"))  # relaxed
    tl.store(out_ptr, tl.atomic_add(x_ptr, 1, sem="acq_rel", scope="cta"))  # of a program
    tl.store(out_ptr, tl.atomic_cas(x_ptr, 0, 1, sem="acq_rel"))  # swap
    tl.store(out_ptr + lane, tl.atomic_add(x_ptr + lane, 1, sem="acq_rel"))  # block


# Whether it takes over, whether it hands on, and whether it waits for the threads of its program since they need the
# result. Triton 3.9 also waits before each that releases, and after each that acquires.
KINDS = {
    "acquire": (True, False, True),
    "unseen": (False, False, False),
    "release": (False, True, False),
    "both": (True, True, True),
    "unseen both": (False, True, False),
    "relaxed": (False, False, True),
    "of a program": (False, False, True),
    "swap": (True, True, True),
    "block": (True, True, False),
}


@pytest.fixture(scope="module")
def launch() -> Launch:
    with lab.record() as launches:
        atomics_kernel[(1,)](torch.zeros(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32), BLOCK=2)
    return launches[0]


def named(launch: Launch) -> dict[str, Op]:
    words = [line.partition("# ")[2] for line in launch.source.splitlines()]
    atomics = [op for op in launch.executable.plan.walk() if op.name.startswith("tt.atomic")]
    return {words[launch.lines[op.index].line - launch.first_line]: op for op in atomics}


def test_atomics_hand_on_and_take_over_by_their_semantics(launch: Launch) -> None:
    used = results_used(launch.executable.plan)
    ops = named(launch)
    assert {name: (takes_over(op, used), hands_on(op)) for name, op in ops.items()} == {
        name: (takes, hands) for name, (takes, hands, _) in KINDS.items()
    }


@triton.jit
def waits_kernel(x_ptr):
    tl.atomic_poll(x_ptr, 0, sem="acquire")  # endless
    tl.atomic_poll(x_ptr, 0, sem="acquire", timeout_ns=1000)  # bounded


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="this Triton has no waits")
def test_a_wait_teaches_by_being_over_unless_the_time_may_have_ended_it() -> None:
    with lab.record() as launches:
        waits_kernel[(1,)](torch.zeros(1, dtype=torch.int32))
    ops = named(launches[0])
    used = results_used(launches[0].executable.plan)
    assert not used & {op.index for op in ops.values()}
    assert takes_over(ops["endless"], used) and not takes_over(ops["bounded"], used)
    assert takes_over(ops["bounded"], {ops["bounded"].index})


@dataclass(frozen=True)
class Step:
    """One atomic of one program, at a place; ``took`` says whether a compare-and-swap changed it."""

    time: int
    program: int
    lane: int
    place: int
    kind: str
    took: bool


@dataclass(frozen=True)
class Seen:
    """What `HappensBefore` asks of evidence."""

    launch: Any
    tape: Any
    known: tuple[SeenAccess, ...]

    def sights(self, *kinds: str) -> Iterator[SeenAccess]:
        assert kinds == ("atomic",)
        return iter(self.known)


@st.composite
def schedules(draw: st.DrawFn) -> tuple[list[list[Step]], list[tuple[int, list[int]]]]:
    """Events, each of some programs at one time, and barriers."""
    events, barriers = [], []
    for time in range(TIMES):
        some = draw(st.lists(st.integers(0, PROGRAMS - 1), min_size=1, max_size=3, unique=True).map(sorted))
        if draw(st.integers(0, 3)) == 0:
            barriers.append((time, some))
            continue
        kind = draw(st.sampled_from([*KINDS, "release", "acquire", "both"]))
        lanes = range(2 if kind == "block" else 1)
        events.append(
            [
                Step(time, program, lane, draw(st.integers(0, 1)), kind, draw(st.booleans()))
                for program in some
                for lane in lanes
            ]
        )
    return events, barriers


def evidence(launch: Launch, events: list[list[Step]], barriers: list[tuple[int, list[int]]]) -> Seen:
    ops, sights = named(launch), []
    for steps in events:
        shape = (2,) if steps[0].kind == "block" else ()
        programs = sorted({step.program for step in steps})
        places = np.array([4096 + 4 * step.place for step in steps]).reshape(len(programs), *shape)
        took = np.array([step.took for step in steps]) if steps[0].kind == "swap" else None
        event = AccessEvent(steps[0].time, np.array(programs), places, None, shape, took)
        sights.append(SeenAccess(ops[steps[0].kind], "atomic", 4, event))
    tape = SimpleNamespace(barriers=[(time, np.array(programs)) for time, programs in barriers])
    return Seen(SimpleNamespace(executable=launch.executable), tape, tuple(sights))


RELEASING = ("release", "both", "unseen both", "of a program", "swap", "block")
ACQUIRING = ("acquire", "unseen", "both", "unseen both", "of a program", "swap", "block")


def met(events: list[list[Step]], barriers: list[tuple[int, list[int]]], program: int, around: bool) -> list[int]:
    """The times up to which a program's threads have waited for one another: barriers, each behind an access."""
    own = [step for steps in events for step in steps if step.program == program]
    found = [time for time, programs in barriers if program in programs]
    found += [step.time for step in own if KINDS[step.kind][2] or (around and step.kind in ACQUIRING)]
    return found + [step.time - 1 for step in own if around and step.kind in RELEASING and step.time]


@contextlib.contextmanager
def barriers_around_atomics(around: bool) -> Iterator[None]:
    """As under Triton 3.9, or before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(barriers_module, "around_atomics", lambda: around)
        yield


def ordered(steps: list[Step], waits: dict[int, list[int]], what: tuple[int, int, bool], then: tuple[int, int]) -> bool:
    """Whether a chain of atomics, in order, leads from what a program did to another one's deed."""
    program, time, alone = what
    told: set[int] = set()  # who knows of it
    places: set[int] = set()  # where it was handed on
    for step in steps:
        takes, hands, _ = KINDS[step.kind]
        if takes and step.place in places:
            told.add(step.program)
            if step.program == then[0] and step.time <= then[1]:
                return True
        if not hands or not (step.took or step.kind != "swap"):
            continue
        waited = max([each for each in waits[step.program] if each < step.time], default=-1)
        own = step.program == program and (time <= step.time if alone else time <= waited)
        if own or step.program in told:
            places.add(step.place)
    return False


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("clocks", [1, 1 << 22])
@given(case=schedules())
@settings(deadline=None, max_examples=30)
def test_what_is_ordered_is_what_a_chain_of_atomics_leads_to(
    launch: Launch, clocks: int, around: bool, case: Any
) -> None:
    events, barriers = case
    before, module._CLOCKS = module._CLOCKS, clocks
    try:
        with barriers_around_atomics(around):
            order = HappensBefore(evidence(launch, events, barriers))
        asked = [
            (program, time, alone, later, then)
            for program in range(PROGRAMS)
            for later in range(PROGRAMS)
            if later != program
            for time in range(0, TIMES, 3)
            for alone in (False, True)
            for then in (TIMES // 2, TIMES)
        ]
        program, time, alone, later, then = (np.array(column) for column in zip(*asked, strict=True))
        found = order.before(program, time, alone, later, then)
    finally:
        module._CLOCKS = before
    steps = sorted((step for one in events for step in one), key=lambda step: (step.time, step.program, step.lane))
    waits = {each: met(events, barriers, each, around) for each in range(PROGRAMS)}
    expected = [ordered(steps, waits, (p, t, a), (q, u)) for p, t, a, q, u in asked]
    assert found.tolist() == expected
    takes, hands = (
        {
            step.place
            for one in events
            for step in one
            if KINDS[step.kind][k] and (k == 0 or step.took or step.kind != "swap")
        }
        for k in (0, 1)
    )
    assert bool(order) == bool(takes & hands)


@pytest.mark.parametrize("around", [False, True])
@given(case=schedules())
@settings(deadline=None, max_examples=30)
def test_the_last_barrier_is_that_before_a_time(launch: Launch, around: bool, case: Any) -> None:
    events, barriers = case
    with barriers_around_atomics(around):
        found = Barriers(evidence(launch, events, barriers), results_used(launch.executable.plan))
    programs, times = (axis.reshape(-1) for axis in np.indices((PROGRAMS, TIMES + 1)))
    expected = [
        max([each for each in met(events, barriers, program, around) if each < time], default=-7)
        for program, time in zip(programs.tolist(), times.tolist(), strict=True)
    ]
    assert found.last(programs, times, never=-7).tolist() == expected
