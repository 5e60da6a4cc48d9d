"""Lanes that masks turn off: whose results hang on them, as other numbers in such lanes show."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

import triton_lab
from tests.wordings import Wording
from triton_lab.launch.checks.analysis.masked_off_lanes import suspects
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch


@triton.jit
def softmax_kernel(x_ptr, out_ptr, largest_ptr, n, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + lane, mask=lane < n)
    largest = tl.max(x)
    e = tl.exp(x - largest)
    tl.store(out_ptr + row * n + lane, e / tl.sum(e), mask=lane < n)
    tl.store(largest_ptr + row, largest)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + lane, mask=lane < n)
    tl.store(out_ptr + lane, tl.load(x_ptr + index), mask=lane < n)


@triton.jit
def two_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane, mask=lane < n)
    y = tl.load(y_ptr + lane, mask=lane < n)
    tl.store(out_ptr, tl.sum(tl.where(lane < n, x, 0.0) + y))


@triton.jit
def lanewise_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = tl.load(y_ptr + offsets, mask=offsets < n)
    z = tl.where(x > y, libdevice.tanh(x), y.to(tl.float16))
    tl.store(out_ptr + offsets, z, mask=offsets < n)


@triton.jit
def carried_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lane, mask=lane < n)
    for _ in range(2):
        x += 1.0
    tl.store(out_ptr + lane, x, mask=lane < n)


def undefined(launch: Launch) -> list[Finding]:
    return [found for found in launch.findings if found.kind == "undefined"]


def test_every_output_that_hangs_on_them_is_told_with_all_its_elements(wording: Wording) -> None:
    x = torch.randn(3, 200)
    with triton_lab.record() as launches:
        softmax_kernel[(3,)](x, torch.zeros(3, 200), torch.zeros(3), 200, BLOCK=256)
    softmax, largest = undefined(launches[0])
    assert softmax.severity == "warning" and softmax.line == largest.line
    assert "x = tl.load(" in softmax.excerpt[0]
    store = next(one for one in launches[0].accesses if one.argument == "out_ptr")
    line, who = f"line {store.line}", "program (0, 0, 0)"
    wording(softmax.message, program=who, element="out_ptr[0, 0]", line=line, lane="lane 200", lanes="600 lanes")
    assert (softmax.argument, softmax.count, softmax.extent.tolist()) == ("out_ptr", 600, [[0, 600]])
    assert (largest.argument, largest.count, largest.extent.tolist()) == ("largest_ptr", 3, [[0, 3]])
    wording(softmax.hint, "hint")


def test_a_mask_that_turns_no_lane_off_is_nothing() -> None:
    with triton_lab.record() as launches:
        softmax_kernel[(3,)](torch.randn(3, 256), torch.zeros(3, 256), torch.zeros(3), 256, BLOCK=256)
    assert not undefined(launches[0])


def test_where_a_program_would_fault_that_is_told(wording: Wording) -> None:
    """The addresses are stored to nobody's memory, and nobody stores what is loaded there."""
    with triton_lab.record() as launches:
        gather_kernel[(1,)](torch.rand(20), torch.arange(20), torch.zeros(20), 20, BLOCK=32)
    (found,) = undefined(launches[0])
    load = next(one for one in launches[0].accesses if one.argument == "x_ptr")
    wording(found.message, program="program (0, 0, 0)", lane="lane 20", line=f"line {load.line}")
    assert found.programs.tolist() == [0] and found.argument is None


def test_of_two_loads_the_guilty_one_is_told() -> None:
    with triton_lab.record() as launches:
        two_kernel[(1,)](torch.rand(20), torch.rand(20), torch.zeros(1), 20, BLOCK=32)
    (found,) = undefined(launches[0])
    assert "y = tl.load(" in found.excerpt[0]


def test_a_launch_that_was_stopped_is_not_run_again() -> None:
    """What stopped it is to be mended first."""
    with triton_lab.record() as launches, pytest.raises(triton_lab.KernelError):
        softmax_kernel[(4,)](torch.randn(3, 200), torch.zeros(3, 200), torch.zeros(3), 200, BLOCK=256)
    assert not undefined(launches[0])


@pytest.mark.parametrize(
    ("kernel", "tensors", "lines"),
    [
        (lanewise_kernel, 3, []),
        (carried_kernel, 2, ["x = tl.load(x_ptr + lane, mask=lane < n)"]),
        (two_kernel, 3, ["x = tl.load(x_ptr + lane, mask=lane < n)", "y = tl.load(y_ptr + lane, mask=lane < n)"]),
    ],
)
def test_a_launch_is_run_again_for_those_that_may_be_used(
    kernel: triton.JITFunction, tensors: int, lines: list[str]
) -> None:
    """What goes from a load to a store lane by lane, under one mask, costs nothing."""
    with triton_lab.record() as launches:
        kernel[(1,)](*(torch.rand(32) for _ in range(tensors)), 20, BLOCK=32)
    found = suspects(launches[0].executable.plan)
    excerpts = [launches[0].lines[op.index].excerpt[0].strip() for op in found]
    assert excerpts == lines
