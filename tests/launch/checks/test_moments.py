"""Findings whose watchers count accesses and barriers as the record does: what they say is of the right moment."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab


@triton.jit
def collide_kernel(other_ptr, out_ptr, N, LATE: tl.constexpr, BARRIERS: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for k in range(N):
        tl.store(other_ptr + lane, lane)
        if BARRIERS:
            tl.debug_barrier()
        # Two lanes store to each element, and what they store differs in one round alone.
        odd = tl.where(k == LATE, lane % 2, 0)
        tl.store(out_ptr + k * BLOCK + lane // 2, 10 * (lane // 2) + 100 * odd)
        tl.atomic_add(other_ptr + lane, 1)


@pytest.mark.parametrize("barriers", [False, True])
@pytest.mark.parametrize("late", [0, 1, 3])
def test_lanes_that_store_different_things_are_found_in_their_round(late: int, barriers: bool) -> None:
    other, out = torch.zeros(8, dtype=torch.int32), torch.zeros(32, dtype=torch.int32)
    with triton_lab.record() as launches:
        collide_kernel[(1,)](other, out, 4, LATE=late, BARRIERS=barriers, BLOCK=8)
    (found,) = [one for one in launches[0].findings if one.kind == "lane-collision"]
    assert set(found.elements.tolist()) == {8 * late + k for k in range(4)}
    (access,) = [one for one in launches[0].accesses if one.argument == "out_ptr"]
    assert set(found.events.tolist()) == {access.events[late].order}
    stored = access.values(late).reshape(-1)
    assert found.values.tolist() == [stored[lane] for lane in found.lanes.tolist()]


@triton.jit
def copy_kernel(x_ptr, out_ptr, N, BARRIERS: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for k in range(N):
        if BARRIERS:
            tl.debug_barrier()
        tl.store(out_ptr + lane, tl.load(x_ptr + k * BLOCK + lane))


@pytest.mark.parametrize("barriers", [False, True])
def test_what_is_loaded_outside_of_a_view_is_told_with_its_values(barriers: bool) -> None:
    base = torch.arange(64.0)
    with triton_lab.record() as launches:
        copy_kernel[(1,)](base[:20], torch.zeros(8), 4, BARRIERS=barriers, BLOCK=8)
    (found,) = [one for one in launches[0].findings if one.kind == "outside-view"]
    assert sorted(found.values.tolist()) == [float(k) for k in range(20, 32)]
    assert found.values.tolist() == found.elements.tolist()
