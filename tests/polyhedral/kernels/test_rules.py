"""What each operation on integers means to the model, held against what a launch recorded; and what it knows not."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from tests.interpreter.support import kernel_from

# Offsets of k = 0..15, the program p = 0..2 and the argument n = 24.
EXACT = [
    "k + p", "k - p", "-k", "k * 3", "p * 5", "k * 1", "k * 0",
    "k << 0", "k << 2", "(k * 0 + 1) << 5", "p << 1",
    "k >> 0", "k >> 2", "(k - 9) >> 1", "(k - 9) >> 31",
    "k // 4", "(k - 9) // 4", "(9 - k) // 4", "k % 4", "(k - 9) % 4", "(9 - k) % 4", "k // -4", "(k - 9) % -4",
    "k & 0", "k & 1", "k & 7", "(k - 9) & 7", "k & -1", "k & -4", "(k - 9) & -8",
    "k.to(tl.uint32) // 3", "k.to(tl.uint32) % 3", "(k + 1).to(tl.uint32) >> 1",
    "tl.minimum(k, 5)", "tl.maximum(k - 9, p)", "tl.minimum(k, p * 4)", "tl.abs(k - 9)",
    "tl.maximum(tl.minimum(k, 9), 3)",
    "tl.minimum(k.to(tl.uint32), 5)", "tl.where(k < 4, k, k * 2)", "tl.where(p == 1, k, 0)",
    "tl.where((k < 4) | (k > 9), 1, 2)", "tl.where((k < 4) ^ (p < 1), 1, 2)", "tl.where((k < 4) == (p < 1), 1, 2)",
    "tl.where((k < 4) != (p < 1), 1, 2)", "tl.where((k < 4) & (p < 1), 1, 2)", "tl.where((p < 1) == 0, 1, 2)",
    "(k < 4).to(tl.int32)", "(k > p).to(tl.int32) * 3", "(k & 1).to(tl.int1).to(tl.int32)",
    "(k < 4).to(tl.int8).to(tl.int32)",
    "k.to(tl.int64)", "k.to(tl.int16).to(tl.int32)", "k.to(tl.uint32).to(tl.int64)", "tl.cdiv(k, 3)",
    "tl.program_id(0) * tl.num_programs(0)", "k * n", "(k + p * 16) // n", "(k + p * 16) % n",
]  # fmt: skip
MASKS = [
    "k < n", "k <= 3", "k > p", "k >= 3", "k == 3", "k != 3", "3 > k", "(k < 9) & (k > p)", "(k < 3) | (k > 9)",
    "k % 2 == 0", "k // 3 == p", "(k - 9) < 0", "k.to(tl.uint32) < 3", "k.to(tl.uint32) >= 3", "k.to(tl.uint32) > 3",
    "k.to(tl.uint32) <= 3", "tl.minimum(k, 5) < 4", "(k < 4) ^ (p < 1)", "(k + p * 16 < n) & (p != 1)",
]  # fmt: skip
# By reason: nothing may be guessed.
UNKNOWN = {
    "(k - 9).to(tl.uint32, bitcast=True) % 3": "what may be negative",
    "((k - 9).to(tl.uint32, bitcast=True) // 3) & 15": "what may be negative",
    "tl.where((k - 9).to(tl.uint32, bitcast=True) < 3, 1, 0)": "what may be negative",
    "tl.where((k - 9).to(tl.uint32, bitcast=True) <= 3, 1, 0)": "what may be negative",
    "tl.where((k - 9).to(tl.uint32, bitcast=True) > 3, 1, 0)": "what may be negative",
    "tl.where((k - 9).to(tl.uint32, bitcast=True) >= 3, 1, 0)": "what may be negative",
    "tl.minimum((k - 9).to(tl.uint32, bitcast=True), 3)": "what may be negative",
    "k ^ 3": "combined bits",
    "k | 3": "combined bits",
    "k & 5": "combined bits",
    "k & -3": "combined bits",
    "((k - 9).to(tl.uint32, bitcast=True) >> 31)": "what may be negative",
    "(p << k) & 63": "a shift by a variable",
    "k >> p": "a shift by a variable",
}


def scop_of(offset: str, mask: str):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(X, OUT, n):\n"
        "    p = tl.program_id(0)\n    k = tl.arange(0, 16)\n"
        f"    tl.store(OUT + p * 16 + k, tl.load(X + 64 + k * 0 + ({offset}), mask={mask}, other=0.0))\n"
    )
    with lab.target("cpu"), lab.record() as found:
        kernel[(3,)](torch.zeros(600), torch.zeros(48), 24)
    return lab.polyhedral.scop(found[0])


@pytest.mark.parametrize("offset", EXACT)
def test_addresses_are_those_recorded(offset):
    found = scop_of(offset, "k < 13")
    assert not found.gaps and found.verification.complete
    assert not any(check.within for check in found.verification.checks)


@pytest.mark.parametrize("mask", MASKS)
def test_masks_are_those_recorded(mask):
    found = scop_of("k", mask)
    assert not found.gaps and found.verification.complete
    assert not any(check.within for check in found.verification.checks)


@pytest.mark.parametrize("offset", UNKNOWN)
def test_what_is_not_affine_is_a_gap_with_its_reason(offset):
    found = scop_of(offset, "k < 13")
    (gap,) = found.gaps
    assert UNKNOWN[offset] in gap.reason
    assert found.verification.complete
