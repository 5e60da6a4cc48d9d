"""What a narrow sum costs: the value in float64 beside it is the one that torch computes."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings

import triton_lab
from tests.wordings import Wording
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch
from triton_lab.messages import significant


@triton.jit
def sum_kernel(x_ptr, out_ptr, rows, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=TYPE)
    for row in range(rows):
        total += tl.load(x_ptr + row * BLOCK + lane)
    tl.store(out_ptr + lane, total)


@triton.jit
def atomic_kernel(x_ptr, out_ptr):
    tl.atomic_add(out_ptr, tl.load(x_ptr + tl.program_id(0)), sem="relaxed")


def lost(launch: Launch) -> list[Finding]:
    return [found for found in launch.findings if found.kind == "lost-precision"]


def numbers(found: Finding) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?", found.message.split("float64")[1])]


@given(st.integers(1, 700), st.floats(-1.0, 1.0), st.integers(0, 1 << 20), st.sampled_from(["float16", "bfloat16"]))
@settings(max_examples=40, deadline=None)
def test_a_sum_is_told_when_it_is_off_by_more_than_its_own_roundings(
    rows: int, shift: float, seed: int, name: str
) -> None:
    type = getattr(torch, name)
    x = (torch.rand(rows, 16, generator=torch.Generator().manual_seed(seed)) + shift).to(type)
    out = torch.zeros(16, dtype=type)
    with triton_lab.record() as launches:
        sum_kernel[(1,)](x, out, rows, TYPE=getattr(tl, name), BLOCK=16)
    exact = x.double().sum(dim=0)
    scale = torch.maximum(exact.abs(), x.double().square().sum(dim=0).sqrt())
    roundings = ((out.double() - exact).abs() / scale) * (2.0 ** (11 if name == "float16" else 8))
    found = lost(launches[0])
    assert bool(found) == bool((roundings.max() > 8) and rows >= 8)
    for each in found:
        lane = int(each.lanes[0])
        assert numbers(each)[0] == pytest.approx(float(exact[lane]), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("type", [torch.float16, torch.bfloat16])
def test_atomic_additions_are_told_with_what_they_make_in_float64(wording: Wording, type: torch.dtype) -> None:
    x = torch.full((700,), 0.3).to(type)
    out = torch.full((1,), 5.0).to(type)
    with triton_lab.record() as launches:
        atomic_kernel[(700,)](x, out)
    (found,) = lost(launches[0])
    assert found.severity == "warning" and found.argument == "out_ptr"
    exact = 5 + float(x.double().sum())
    wording(
        found.message,
        additions="700 atomic additions",
        type=str(type).removeprefix("torch."),
        element="out_ptr[0]",
        sum=f"{float(out[0]):.8g}",
        exact=f"{exact:.8g}",
        share=f"{significant(100 * abs(float(out[0]) - exact) / exact)}%",
    )


def test_a_wide_sum_of_narrow_terms_costs_nothing() -> None:
    x = torch.rand(700, 16).bfloat16()
    with triton_lab.record() as launches:
        sum_kernel[(1,)](x, torch.zeros(16), 700, TYPE=tl.float32, BLOCK=16)
    assert not lost(launches[0])
