"""Findings about memory that is touched by way of a tensor's descriptor: the same as by way of pointers."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording


@triton.jit
def hand_over_kernel(x_ptr, flag_ptr, out_ptr, DESCRIBED: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        while tl.atomic_add(flag_ptr, 0, sem="acquire") == 0:
            pass
        tl.store(out_ptr + lane, tl.load(x_ptr + lane))
    else:
        tl.store(x_ptr + lane, lane)
        tl.debug_barrier()
        if DESCRIBED:
            flags = tl.make_tensor_descriptor(flag_ptr, [8], [1], [8])
            flags.atomic_add([0], tl.full((8,), 1, tl.int32))
        else:
            tl.atomic_add(flag_ptr + lane, 1, sem="release")


@pytest.mark.parametrize("described", [True, False])
def test_an_update_through_a_descriptor_releases_nothing(described: bool) -> None:
    """PTX has no other than relaxed ones (``cp.reduce.async.bulk``)."""
    x, out = torch.zeros(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    with triton_lab.record() as launches:
        hand_over_kernel[(2,)](x, torch.zeros(8, dtype=torch.int32), out, DESCRIBED=described, BLOCK=8)
    assert out.tolist() == list(range(8))
    assert [found.kind for found in launches[0].findings if found.severity == "error"] == ["race"] * described


@triton.jit
def count_kernel(x_ptr, DESCRIBED: tl.constexpr, BLOCK: tl.constexpr):
    ones = tl.full((BLOCK,), 1, tl.int32)
    if DESCRIBED:
        tl.make_tensor_descriptor(x_ptr, [BLOCK], [1], [BLOCK]).atomic_add([0], ones)
    else:
        tl.atomic_add(x_ptr + tl.arange(0, BLOCK), ones)


@pytest.mark.parametrize("described", [True, False])
def test_an_update_of_what_nobody_has_written_is_called_one(wording: Wording, described: bool) -> None:
    with triton_lab.record() as launches:
        count_kernel[(1,)](torch.empty(8, dtype=torch.int32), DESCRIBED=described, BLOCK=8)
    (found,) = launches[0].findings
    assert (found.kind, found.argument, found.elements[0]) == ("uninitialized", "x_ptr", 0)
    wording(found.message, program="program (0, 0, 0)", element="x_ptr[0]", lanes="8 lanes")


@triton.jit
def lost_kernel(x_ptr, index_ptr, DESCRIBED: tl.constexpr):
    """``x[index] += 1`` by rows, some of them twice."""
    rows = tl.load(index_ptr + tl.arange(0, 16))
    lanes = rows[:, None] * 16 + tl.arange(0, 16)[None, :]
    if DESCRIBED:
        x = tl.make_tensor_descriptor(x_ptr, [16, 16], [16, 1], [1, 16])
        x.scatter(x.gather(rows, 0) + 1, rows, 0)
    else:
        tl.store(x_ptr + lanes, tl.load(x_ptr + lanes) + 1)


@pytest.mark.parametrize("described", [True, False])
def test_updates_that_are_lost_between_gather_and_scatter(described: bool) -> None:
    index = torch.arange(16, dtype=torch.int32)
    index[3] = 2
    with triton_lab.record() as launches:
        lost_kernel[(1,)](torch.zeros(16, 16, dtype=torch.int32), index, DESCRIBED=described)
    (found,) = [each for each in launches[0].findings if each.kind == "lane-collision"]
    assert "both load x_ptr[2, 0]" in found.message and "lost" in found.message


@triton.jit
def wait_kernel(flag_ptr, out_ptr):
    flags = tl.make_tensor_descriptor(flag_ptr, [8], [1], [8])
    if tl.program_id(0) == 0:
        while tl.sum(flags.load([0])) == 0:
            pass
        tl.store(out_ptr, 1)
    else:
        tl.atomic_add(flag_ptr, 1)


def test_a_loop_that_reads_through_a_descriptor_waits() -> None:
    out = torch.zeros(1, dtype=torch.int32)
    with triton_lab.limits(max_steps=10_000):
        wait_kernel[(2,)](torch.zeros(8, dtype=torch.int32), out)
    assert out.item() == 1
