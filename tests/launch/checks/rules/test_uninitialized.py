"""What counts as a read of memory that nobody has written, and who is blamed for it."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch


def uninitialised(launch: Launch) -> list[Finding]:
    return [found for found in launch.findings if found.kind == "uninitialized"]


@triton.jit
def scratch_kernel(scratch_ptr, out_ptr, STORED: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(scratch_ptr + lane, 1.0, mask=lane % BLOCK < STORED)
    tl.debug_barrier()
    tl.store(out_ptr + lane, tl.load(scratch_ptr + lane))


@pytest.mark.parametrize("stored", [0, 5, 8])
def test_a_store_to_such_memory_is_no_read_and_what_it_wrote_is_written(stored: int) -> None:
    with triton_lab.record() as launches:
        scratch_kernel[(2,)](torch.empty(16), torch.zeros(16), STORED=stored, BLOCK=8)
    found = uninitialised(launches[0])
    lanes = [(program, lane) for program in range(2) for lane in range(stored, 8)]
    assert [sum(one.count for one in found), len(found)] == [len(lanes), bool(lanes)]
    for one in found:
        assert "scratch_ptr" in one.message and " loads " in one.message
        assert list(zip(one.programs.tolist(), one.lanes.tolist(), strict=True)) == lanes


@triton.jit
def alternate_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    even = tl.load(x_ptr + 2 * lane)
    odd = tl.load(x_ptr + 2 * lane + 1)
    tl.store(out_ptr + lane, even + odd)


def test_a_load_between_such_elements_is_not_blamed() -> None:
    with triton_lab.record() as launches:
        x = torch.empty(16)
        x[::2] = 1.0
        alternate_kernel[(1,)](x, torch.zeros(8), BLOCK=8)
    (found,) = uninitialised(launches[0])
    assert found.elements.tolist() == list(range(1, 16, 2))


@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@pytest.mark.parametrize(
    ("x", "out", "exchanged"),
    [
        ("empty", "written", True),
        ("half", "written", False),
        ("empty", "empty", False),
        ("empty", "shorter", False),
        ("empty", "other type", False),
    ],
)
def test_arguments_that_may_have_changed_places_are_asked_about(
    wording: Wording, x: str, out: str, exchanged: bool
) -> None:
    def made(how: str) -> torch.Tensor:
        tensor = torch.empty(90 if how == "shorter" else 100, dtype=torch.float64 if how == "other type" else None)
        if how != "empty":
            tensor[: 50 if how == "half" else None] = 1.0
        return tensor

    with triton_lab.record() as launches:
        source, target = made(x), made(out)
        twice_kernel[(4,)](source, target, min(len(source), len(target)), BLOCK=32)
    (found,) = uninitialised(launches[0])
    assert ("x_ptr" in found.hint) == exchanged
    if exchanged:
        wording(found.hint, name="x_ptr", other="out_ptr")
