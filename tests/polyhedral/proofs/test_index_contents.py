"""What tensors of indices hold: what launches suggest of it, where it can be relied on, and later launches."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.polyhedral.proofs.proof import PROVED, Proof


@triton.jit
def gather_kernel(x, index, out, n, m, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    found = tl.load(index + place, mask=place < n, other=OTHER)
    value = tl.load(x + found)
    tl.store(out + place, value, mask=place < n)


@triton.jit
def changed_kernel(x, index, out, n, m, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    tl.store(index + place, place * 100, mask=inside)
    found = tl.load(index + place, mask=inside, other=0)
    tl.store(out + place, tl.load(x + found, mask=inside), mask=inside)


@triton.jit
def rows_kernel(x, starts, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first, end = tl.load(starts + row), tl.load(starts + row + 1)
    place = tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(x + first + place, mask=place < end - first, other=0.0)))


def _gathered(n: int = 50, m: int = 70, other: int = 0) -> Any:
    torch.manual_seed(0)
    index = torch.randint(0, m, (n,), dtype=torch.int32)
    index[0] = m - 1
    with lab.record() as launches:
        gather_kernel[(triton.cdiv(n, 16),)](torch.zeros(m), index, torch.zeros(n), n, m, OTHER=other, BLOCK=16)
    return launches[-1]


def _of(proof: Proof, kind: str, argument: str) -> str:
    return next(one.outcome for one in proof.accesses if (one.kind, one.argument) == (kind, argument))


def test_a_launch_suggests_what_indices_hold() -> None:
    proof = lab.prove(_gathered(), assume="m >= 1", refute=False)
    assert _of(proof, "load", "x") == PROVED
    assert any(one.text in ("index in [0, x.shape[0])", "index in [0, m)") for one in proof.assumptions)


def test_lanes_that_a_mask_turns_off_hold_the_value_of_other() -> None:
    given = ["m >= 1", "index in [0, m)", "grid[0] == cdiv(n, BLOCK)"]
    assert _of(lab.prove(_gathered(64), assume=given, refute=False), "load", "x") == PROVED
    outside = lab.prove(_gathered(64, other=-1), assume=given, refute=False)
    assert _of(outside, "load", "x") != PROVED


def test_a_tensor_that_the_kernel_stores_to_is_not_relied_on() -> None:
    with lab.record() as launches, contextlib.suppress(KernelError):
        changed_kernel[(4,)](torch.zeros(50), torch.zeros(64, dtype=torch.int32), torch.zeros(64), 64, 50, BLOCK=16)
    assert _of(lab.prove(launches[-1], assume="index in [0, m)", refute=False), "load", "x") != PROVED


def test_starts_of_rows_need_not_be_sorted() -> None:
    starts = torch.tensor([0, 3, 3, 20, 37], dtype=torch.int32)
    with lab.record() as launches:
        rows_kernel[(4,)](torch.rand(37), starts, torch.zeros(4), BLOCK=32)
    proof = lab.prove(launches[-1], refute=False)
    assert [one.outcome for one in proof.accesses] == [PROVED] * len(proof.accesses)
    assert "starts in [0, x.shape[0]]" in [one.text for one in proof.assumptions]


@pytest.mark.parametrize(("m", "breaks"), [(70, False), (71, True)])
def test_a_later_launch_is_compared_with_what_was_assumed_of_indices(m: int, breaks: bool) -> None:
    lab.prove(_gathered(), assume=["not x.numel() == m", "index in [0, 70)"], refute=False)
    assert ("index in [0, 70)" in _gathered(m=m).remark) is breaks
