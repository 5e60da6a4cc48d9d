"""Addresses and masks stay in their compact forms as long as they can: that is what makes them cheap, and what pictures
and proofs read access functions from."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.interpreter.support import kernel_from
from triton_lab.interpreter import memory_access
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.mask_box import MaskBox

pytestmark = pytest.mark.usefixtures("on_numpy")

# An offset of k = 0..7, of the program and of n = 24, which is what it is as an affine block.
OFFSETS = {
    "k": lambda k, p: k,
    "p * 8 + k": lambda k, p: p * 8 + k,
    "p * k": None,
    "k * 3 - p + 2": lambda k, p: 3 * k - p + 2,
    "(k << 1) + (p << 3)": lambda k, p: 2 * k + 8 * p,
    "k << p": None,
    "(k + p * 8) % n": lambda k, p: k + 8 * p,
    "(k + p * 8 + 1) % n": None,
    "(k + n) % n": None,
    "(k.to(tl.uint32) + 1) % n.to(tl.uint32)": lambda k, p: k + 1,
    "k.to(tl.int64) * 2": lambda k, p: 2 * k,
    "k // 2": None,
    "k & 3": None,
    "tl.where(k < 4, k, k + 1)": None,
    "tl.where(p < 1, k, k + 1)": None,
    "tl.minimum(k, 5)": None,
    "-k + 7": lambda k, p: 7 - k,
}
MASKS = {
    "k < n": True,
    "n > k": True,
    "k <= p": True,
    "k == p": True,
    "p >= k": True,
    "(k >= p) & (k < 6)": True,
    "p < 1": True,
    "(k + p < n) & (p < 2)": True,
    "k != p": False,
    "(k < p) | (k > 5)": False,
    "k.to(tl.uint32) < 3": True,
    "k.to(tl.uint32) <= p.to(tl.uint32)": True,
    "k * p < 3": False,
    "k % 2 == 0": False,
}


@pytest.fixture
def seen(monkeypatch):
    """The pointers and masks of all loads."""
    found = []
    original = memory_access.load

    def load(memory, pointer, mask, *others):
        found.append((pointer, mask))
        return original(memory, pointer, mask, *others)

    monkeypatch.setattr(memory_access, "load", load)
    return found


def run(offset: str, mask: str) -> tuple[torch.Tensor, torch.Tensor]:
    kernel = kernel_from(
        "@triton.jit\ndef kernel(X, OUT, n):\n"
        "    p = tl.program_id(0)\n    k = tl.arange(0, 8)\n"
        f"    tl.store(OUT + p * 8 + k, tl.load(X + ({offset}), mask={mask}, other=-1))\n"
    )
    x, out = torch.arange(64, dtype=torch.int32), torch.zeros(3, 8, dtype=torch.int32)
    kernel[(3,)](x, out, 24)
    return x, out


@pytest.mark.parametrize("offset", OFFSETS)
def test_offsets(offset, seen):
    x, out = run(offset, "k < n")
    ((pointer, _),) = seen
    k, p = np.arange(8)[None, :], np.arange(3)[:, None]
    function = OFFSETS[offset]
    assert isinstance(pointer, AffineBlock) == (function is not None)
    if function is not None:
        wanted = np.broadcast_to(function(k, p), (3, 8))
        assert (out.numpy() == wanted).all()
        assert (np.broadcast_to(pointer.elements(np.dtype(np.int64)), (3, 8)) - x.data_ptr() == 4 * wanted).all()


@pytest.mark.parametrize("mask", MASKS)
def test_masks(mask, seen):
    _, out = run("k", mask)
    ((_, found),) = seen
    assert isinstance(found, MaskBox) == MASKS[mask]
    k, p, n = np.arange(8)[None, :], np.arange(3)[:, None], np.int64(24)
    wanted = eval(mask.replace(".to(tl.uint32)", ""), {"k": k, "p": p, "n": n})
    assert (out.numpy() == np.where(np.broadcast_to(wanted, (3, 8)), np.broadcast_to(k, (3, 8)), -1)).all()


def test_a_block_of_two_axes_keeps_both_forms_through_views(seen):
    kernel = kernel_from(
        "@triton.jit\ndef kernel(X, OUT, m, n):\n"
        "    i = tl.arange(0, 4)\n    j = tl.arange(0, 8)\n"
        "    at = tl.trans(i[:, None] * 8 + j[None, :])\n"
        "    on = tl.trans((i < m)[:, None] & (j < n)[None, :])\n"
        "    tl.store(OUT + tl.trans(at), tl.trans(tl.load(X + at, mask=on, other=-1)))\n"
    )
    x, out = torch.arange(32, dtype=torch.int32).reshape(4, 8), torch.zeros(4, 8, dtype=torch.int32)
    kernel[(1,)](x, out, 3, 5)
    ((pointer, mask),) = seen
    assert isinstance(pointer, AffineBlock) and pointer.strides == (4, 32) and isinstance(mask, MaskBox)
    wanted = torch.full((4, 8), -1, dtype=torch.int32)
    wanted[:3, :5] = x[:3, :5]
    assert torch.equal(out, wanted)


def test_a_mask_that_is_always_on_is_full_and_one_that_splats_false_is_empty(seen):
    for mask, full in (("k < n", True), ("k < n - 17", False), ("p >= 0", True), ("p < 0", False)):
        seen.clear()
        run("k", mask)
        ((_, found),) = seen
        assert found.is_full() == full
