"""Two programs in every order: each order is run, so the results are those that the kernel can leave."""

# A kernel's parameters have no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import contextlib
import itertools
from typing import Any
from unittest.mock import patch

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.interleaving import interleavings
from triton_lab.launch.interleaving.interleavings import Interleavings


@triton.jit
def counts(count_ptr, seen_ptr):
    before = tl.load(count_ptr)
    tl.store(count_ptr, before + 1)
    tl.store(seen_ptr + tl.program_id(0), before)


@triton.jit
def counts_often(count_ptr, TIMES: tl.constexpr):
    for _ in range(TIMES):
        tl.store(count_ptr, tl.load(count_ptr) + 1)


@triton.jit
def counts_atomically(count_ptr, seen_ptr):
    tl.store(seen_ptr + tl.program_id(0), tl.atomic_add(count_ptr, 1))


@triton.jit
def doubles_locked(value_ptr, lock_ptr, RELEASES: tl.constexpr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(value_ptr, tl.load(value_ptr) * 2 + tl.program_id(0) + 1)
    tl.debug_barrier()
    if RELEASES:
        tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def takes_slots(next_ptr, out_ptr):
    slot = tl.load(next_ptr)
    tl.store(next_ptr, slot + 1)
    tl.store(out_ptr + slot, tl.program_id(0) + 1)


@triton.jit
def blocks_meet(out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * 2 + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(out_ptr + offsets) + 1)


@triton.jit
def follows_index(index_ptr, x_ptr, out_ptr):
    index = tl.load(index_ptr)
    tl.store(out_ptr + tl.program_id(0), tl.load(x_ptr + index))
    tl.store(index_ptr, index + 1000)


def found(kernel: Any, *arguments: Any, programs: tuple[int, int] | None = None, start: str = "") -> Interleavings:
    return launched(kernel, *arguments).interleavings(programs, start)


def launched(kernel: Any, *arguments: Any) -> lab.Launch:
    with lab.target("cpu"), lab.record() as launches, contextlib.suppress(lab.KernelError):
        kernel[(3,)](*arguments)
    return launches[0]


def ints(size: int = 1) -> torch.Tensor:
    return torch.zeros(size, dtype=torch.int32)


def results(of: Interleavings) -> dict[tuple[float, ...], str]:
    return {tuple(float(value[0]) for value in one.values): one.order for one in of.outcomes}


def simulated(times: int) -> set[int]:
    """What two loops of load, add, store leave, by running all orders of their steps in Python."""
    left = set()
    for turns in itertools.combinations(range(4 * times), 2 * times):
        memory, held, steps = 0, [0, 0], [0, 0]
        for turn in range(4 * times):
            who = int(turn not in turns)
            if steps[who] % 2:
                memory = held[who] + 1
            else:
                held[who] = memory
            steps[who] += 1
        left.add(memory)
    return left


def test_an_update_is_lost_where_loads_come_before_stores() -> None:
    of = found(counts, ints(), ints(3))
    assert (of.orders, of.is_complete) == (6, True)
    assert {order in ("0011", "1100") for (left,), order in results(of).items() if left == 2} == {True}
    assert set(results(of)) == {(1.0,), (2.0,)}
    # What no other program touches is no step, and follows the step before it.
    last = of.at("00")
    assert last.standings == ("ended", "ready")
    step = of.states[of.states[0].steps[0].to].steps[0] if of.states[0].steps[0] else None
    assert step is not None and [one.is_step for one in step.accesses] == [True, False]


@pytest.mark.parametrize("times", [2, 3])
def test_the_results_are_those_of_all_orders(times: int) -> None:
    of = found(counts_often, ints(), times)
    assert {left for (left,) in results(of)} == simulated(times)
    for (left,), order in results(of).items():
        assert of.at(order).values[0][0] == left


def test_an_atomic_is_one_step() -> None:
    of = found(counts_atomically, ints(), ints(3))
    assert (of.orders, results(of)) == (2, {(2.0,): "01"})


def test_a_lock_leaves_two_orders_of_the_updates() -> None:
    of = found(doubles_locked, torch.zeros(1), ints(), True)
    values = {tuple(sorted(left)) for left in results(of)}
    assert values == {(0.0, 4.0), (0.0, 5.0)}
    waits = of.at("01")
    assert waits.standings[1] == "waiting" and waits.steps[1] is None and waits.steps[0] is not None


def test_a_lock_that_is_kept_ends_in_a_deadlock() -> None:
    of = found(doubles_locked, torch.zeros(1), ints(), False)
    assert len(of.outcomes) == 2 and all("deadlock" in one.problem for one in of.outcomes)


def test_elements_that_only_some_orders_share_are_steps() -> None:
    of = found(takes_slots, ints(), ints(8))
    assert len(of.cells.addresses) == 3 and of.orders == 20
    assert len(of.outcomes) == 4


def test_blocks_share_the_elements_where_they_overlap() -> None:
    of = found(blocks_meet, ints(16), 4)
    assert of.programs == (0, 1) and len(of.cells.addresses) == 2
    assert set(results(of)) == {(1.0, 1.0), (2.0, 2.0)}
    assert found(blocks_meet, ints(16), 4, programs=(0, 2)).orders == 1  # they share nothing


def test_a_program_that_fails_in_an_order_ends_there() -> None:
    of = found(follows_index, ints(), torch.zeros(4), torch.zeros(3), programs=(0, 1))
    problems = {one.problem != "" for one in of.outcomes}
    assert problems == {True, False}


def test_the_bound_is_told() -> None:
    with patch.object(interleavings, "MOST_STATES", 20):
        of = found(counts_often, ints(), 3)
    assert (of.is_complete, of.orders) == (False, None) and of.outcomes
    later = found(counts_often, ints(), 3, start="000000")
    assert later.states[0].values[0][0] == 3 and results(later) == {(6.0,): "000000111111"}


def test_the_users_tensors_are_left_alone() -> None:
    count = ints()
    launch = launched(counts, count, ints(3))
    left = count.item()
    assert launch.interleavings().orders == 6 and count.item() == left


@pytest.mark.parametrize(
    ("programs", "start", "expected"), [((0, 3), "", 3), ((1, 1), "", 1), ((0, 1), "000", 3), ((0, 1), "0x", "x")]
)
def test_what_there_is_not_is_named(programs: tuple[int, int], start: str, expected: object) -> None:
    launch = launched(counts, ints(), ints(3))
    with pytest.raises(ValueError, match=str(expected)):
        launch.interleavings(programs, start)


def test_one_program_has_no_order() -> None:
    with lab.target("cpu"), lab.record() as launches:
        counts[(1,)](ints(), ints(3))
    with pytest.raises(ValueError, match="counts"):
        launches[0].interleavings()
