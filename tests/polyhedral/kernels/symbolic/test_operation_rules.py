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
    "(k - 9).to(tl.uint32, bitcast=True) % 3": "possibly negative",
    "((k - 9).to(tl.uint32, bitcast=True) // 3) & 15": "possibly negative",
    "tl.where((k - 9).to(tl.uint32, bitcast=True) < 3, 1, 0)": "possibly negative",
    "tl.where((k - 9).to(tl.uint32, bitcast=True) <= 3, 1, 0)": "possibly negative",
    "tl.where((k - 9).to(tl.uint32, bitcast=True) > 3, 1, 0)": "possibly negative",
    "tl.where((k - 9).to(tl.uint32, bitcast=True) >= 3, 1, 0)": "possibly negative",
    "tl.minimum((k - 9).to(tl.uint32, bitcast=True), 3)": "possibly negative",
    "k ^ 3": "bitwise combination",
    "k | 3": "bitwise combination",
    "k & 5": "bitwise combination",
    "k & -3": "bitwise combination",
    "((k - 9).to(tl.uint32, bitcast=True) >> 31)": "possibly negative",
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


# v is a float from memory, w an integer from there, b one of its truths.
FROM_MEMORY = [
    "v > 0", "b", "k < w", "w <= k", "(k < 4) & (v > 0)", "(v > 0) & (k < 4)", "b & (k < 4)", "(k < 4) & b",
    "(k < 4) | (v > 0)", "(v > 0) | (k < 4)", "b | (k < 4)", "(k < 4) | b", "b | (v > 0)", "b & (v > 0)",
    "(k < 4) ^ (v > 0)", "b ^ (k < 4)", "(k < 4) ^ b", "b == (k < 4)", "b != (k < 4)", "(k < 4) & (w & 3 == 1)",
    "tl.where(b, k < 3, k > 5)", "tl.where(k < 3, b, k > 5)", "tl.where(k < 3, k > 1, v > 0)", "k < tl.minimum(w, 5)",
    "k < tl.where(b, 3, 5)", "k < tl.where(k > 2, w, 5)", "(k < w | 1)", "(b == 0) | (k < 2)",
]  # fmt: skip


@pytest.mark.parametrize("mask", FROM_MEMORY)
def test_masks_that_come_from_memory_are_no_narrower_than_they_were(mask):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(X, W, OUT):\n"
        "    k = tl.arange(0, 16)\n    v = tl.load(X + k)\n    w = tl.load(W + k)\n    b = (w & 1).to(tl.int1)\n"
        f"    tl.store(OUT + k, 1.0, mask={mask})\n"
    )
    generator = torch.Generator().manual_seed(len(mask))
    x, w = torch.randn(16, generator=generator), torch.randint(0, 9, (16,), dtype=torch.int32, generator=generator)
    with lab.target("cpu"), lab.record() as found:
        kernel[(1,)](x, w, torch.zeros(16))
    model = lab.polyhedral.scop(found[0])
    assert model.verification.holds
    assert [gap.what for gap in model.gaps] == ["mask"] and "from memory" in model.gaps[0].reason
    (store,) = [statement for statement in model.kernel_statements if statement.kind == "store"]
    active = found[0].accesses[-1].mask()[0].nonzero()[0].tolist()
    lanes = {point[-1] for point in store.domain.points({}).tolist()}
    assert set(active) <= lanes
    if mask.startswith(("(k < 4) & ", "b & (k < 4)")):
        assert lanes == {0, 1, 2, 3}, "what is known of it is kept"
