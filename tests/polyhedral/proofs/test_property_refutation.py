"""Races and elements that no program writes are refuted by the smallest launch that was run."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED


@triton.jit
def copy_kernel(x, out, n, STEP: tl.constexpr, LAST: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.program_id(0) * STEP + tl.arange(0, BLOCK)
    tl.store(out + place, tl.load(x + place, mask=place < n, other=0.0), mask=place < n - LAST)


def _launch(n: int, step: int, last: int, block: int = 32) -> Any:
    with lab.record() as launches:
        copy_kernel[(triton.cdiv(n, block),)](torch.rand(n), torch.zeros(n), n, STEP=step, LAST=last, BLOCK=block)
    return launches[-1]


def test_a_right_copy_is_proved() -> None:
    proof = lab.prove(_launch(100, 32, 0))
    assert {one.outcome for one in proof.properties} == {PROVED}


def test_an_element_that_is_not_written_is_found_at_the_smallest_size() -> None:
    (found,) = lab.prove(_launch(100, 32, 1)).property("writes")
    assert found.outcome == REFUTED and dict(found.sizes) == {"n": 1}
    assert found.launch is not None and found.launch.argument("out").shape == (1,)


def test_programs_that_overlap_are_refuted_at_sizes_that_the_launch_does_not_show() -> None:
    # One program does not race: only the proof knows of two.
    quiet = _launch(20, 31, 0)
    assert not [one for one in quiet.findings if one.kind in ("race", "same-value")]
    (found,) = lab.prove(quiet).property("races")
    assert found.outcome == REFUTED and dict(found.sizes) == {"n": 33}
    assert found.launch is not None
    assert [one.kind for one in found.launch.findings if one.kind in ("race", "same-value")]


def test_blocks_with_gaps_leave_elements() -> None:
    (found,) = lab.prove(_launch(20, 40, 0)).property("writes")
    assert found.outcome == REFUTED and found.sizes["n"] == 33


@triton.jit
def sum_kernel(x, out, n, LAST: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + place, mask=place < n - LAST), axis=0))


@triton.jit
def wider_store_kernel(x, weight, out, n, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    loaded = tl.load(x + place, mask=place < n - 1) * tl.load(weight + place, mask=place < n, other=0.0)
    tl.store(out + place, loaded, mask=place < n)


@triton.jit
def selected_kernel(x, out, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
    inside = place < n
    chosen = tl.where(inside, tl.load(x + place, mask=inside), 0.0)
    tl.store(out, tl.sum(chosen, axis=0))


def _masked(kernel: Any, grid: int, *arguments: Any, **constants: int) -> Any:
    with lab.record() as launches:
        kernel[(grid,)](*arguments, **constants)
    proof = lab.prove(launches[-1])
    (found,) = proof.property("masked lanes")
    return launches[-1], found


def test_a_sum_of_lanes_that_its_mask_turns_off_is_refuted_at_sizes_that_the_launch_does_not_show() -> None:
    # All lanes are active: nothing shows in this launch.
    quiet, found = _masked(sum_kernel, 1, torch.rand(32), torch.zeros(1), 32, LAST=0, BLOCK=32)
    assert not [one for one in quiet.findings if one.kind == "undefined"]
    assert found.outcome == REFUTED and found.argument == "x" and dict(found.sizes) == {"n": 0}
    assert found.launch is not None and found.launch.error is None
    assert [one.kind for one in found.launch.findings if one.kind == "undefined"]


def test_a_store_of_one_lane_more_than_was_loaded_is_refuted_at_the_smallest_size() -> None:
    n = 40
    arguments = (torch.rand(n), torch.rand(n), torch.zeros(n), n)
    _quiet, found = _masked(wider_store_kernel, 2, *arguments, BLOCK=32)
    assert found.outcome == REFUTED and found.sizes["n"] == 1
    (finding,) = [one for one in found.launch.findings if one.kind == "undefined"]
    assert finding.line == found.line


def test_lanes_that_are_replaced_before_a_sum_are_not_refuted() -> None:
    _quiet, found = _masked(selected_kernel, 1, torch.rand(20), torch.zeros(1), 20, BLOCK=32)
    assert found.outcome != REFUTED and found.launch is None
