"""How far a finding reaches: every element that is concerned, as NumPy finds them, however few are listed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.checks.analysis.finding_text import stretches
from triton_lab.launch.diagnosis.finding import MOST_STRETCHES, Finding
from triton_lab.launch.launch import Launch


@triton.jit
def every_kernel(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr):
    """All programs store to the same elements."""
    lane = tl.arange(0, BLOCK) * step
    x = tl.load(x_ptr + lane, mask=lane < n, other=0.0)
    tl.store(out_ptr + lane, x + tl.program_id(0), mask=lane < n)


@triton.jit
def both_kernel(out_ptr, BLOCK: tl.constexpr):
    """Lanes 2k and 2k + 1 store to one element."""
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lane // 2, lane)


@triton.jit
def double_kernel(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr):
    lane = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) * step
    tl.store(out_ptr + lane, tl.load(x_ptr + lane, mask=lane < n, other=0.0) * 2, mask=lane < n)


def only(launch: Launch, kind: str) -> Finding:
    (found,) = (one for one in launch.findings if one.kind == kind)
    return found


def elements(found: Finding) -> list[int]:
    assert found.extent.dtype == np.int64 and (found.extent[:, 0] < found.extent[:, 1]).all()
    assert (found.extent[1:, 0] > found.extent[:-1, 1]).all(), "stretches ascend and do not touch"
    return [number for first, stop in found.extent.tolist() for number in range(first, stop)]


def recorded(n: int, step: int, x: torch.Tensor, out: torch.Tensor) -> Launch:
    with lab.record() as launches:
        every_kernel[(3,)](x, out, n, step, BLOCK=1024)
    return launches[0]


@pytest.mark.parametrize("step", [1, 3])
def test_a_race_reaches_as_far_as_it_does(step: int) -> None:
    race = only(recorded(800, step, torch.ones(900), torch.zeros(900)), "race")
    touched = list(range(0, 800, step))
    assert elements(race) == touched
    assert len(race.elements) == 100 < race.count == 3 * len(touched)


@pytest.mark.parametrize("step", [1, 3])
def test_reads_of_unwritten_memory_reach_as_far_as_they_do(step: int) -> None:
    with lab.record() as launches:
        x = torch.empty(900)
        x[:10] = 0
        x[500:600] = 0
        double_kernel[(4,)](x, torch.zeros(900), 800, step, BLOCK=256)
    touched = np.arange(0, 800, step)
    unwritten = touched[(touched >= 10) & ~((touched >= 500) & (touched < 600))]
    assert elements(only(launches[0], "uninitialized")) == unwritten.tolist()


def test_lanes_that_collide_and_elements_that_are_left_out_do_so_too() -> None:
    with lab.record() as launches:
        both_kernel[(4,)](torch.empty(700, dtype=torch.int32), BLOCK=256)
    assert elements(only(launches[0], "lane-collision")) == list(range(512))
    assert elements(only(launches[0], "unwritten")) == list(range(512, 700))


def test_a_view_counts_from_its_own_first_element_and_in_the_storage_s_order() -> None:
    base = torch.zeros(40, 40)
    launch = recorded(400, 1, torch.ones(1024), base[3:, 5:])
    assert elements(only(launch, "race")) == list(range(400))


def test_it_is_kept_in_a_file(tmp_path: Path) -> None:
    launch = recorded(800, 3, torch.ones(900), torch.zeros(900))
    launch.save(tmp_path / "one.launch")
    kept, own = (only(one, "race") for one in (lab.load(tmp_path / "one.launch"), launch))
    assert len(own.extent) == 267
    np.testing.assert_array_equal(kept.extent, own.extent)


def test_more_stretches_than_anybody_keeps_are_not_known() -> None:
    first = np.arange(MOST_STRETCHES + 1, dtype=np.int64) * 2
    assert stretches(first, first + 1).shape == (0, 2)
    assert stretches(first[1:], first[1:] + 1).shape == (MOST_STRETCHES, 2)
    assert stretches(first, first + 2).tolist() == [[0, 2 * MOST_STRETCHES + 2]]
