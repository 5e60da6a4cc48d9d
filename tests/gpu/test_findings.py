"""Findings of launches on a real GPU: fresh memory there is told from what was written."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab

pytestmark = pytest.mark.gpu


@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(out_ptr + offsets, mask=mask) + tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def put_kernel(out_ptr):
    tl.store(out_ptr, tl.program_id(0))


def errors(launch: object) -> list[str]:
    return [found.kind for found in launch.findings if found.severity == "error"]  # type: ignore[attr-defined]


def test_memory_that_nobody_wrote_is_told_on_the_gpu() -> None:
    with lab.target("gpu"), lab.record() as launches:
        x = torch.ones(1000, device="cuda")
        out = torch.empty_like(x)
        assert torch.isnan(out).all()
        add_kernel[(8,)](x, out, 1000, BLOCK=128)
        out[:500] = 0
        out[500:].copy_(x[500:])
        add_kernel[(8,)](x, out, 1000, BLOCK=128)
        half = torch.empty_like(x)
        half[:500] = 0
        add_kernel[(8,)](x, half, 1000, BLOCK=128)
    assert [errors(launch) for launch in launches] == [["uninitialized"], [], ["uninitialized"]]
    found = next(each for each in launches[2].findings if each.kind == "uninitialized")
    assert found.count == 500 and found.elements[0] == 500
    assert torch.equal(out, torch.cat([torch.ones(500), torch.full((500,), 2.0)]).cuda())


def test_a_race_on_the_gpu_is_found() -> None:
    with lab.target("gpu"), lab.record() as launches:
        put_kernel[(8,)](torch.zeros(1, dtype=torch.int32, device="cuda"))
    assert errors(launches[0]) == ["race"]
