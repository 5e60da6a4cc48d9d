"""Random numbers are Philox's, so they are the same on every target."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.interpreter.support import evaluate

MASK = (1 << 32) - 1


def philox(counter, key, rounds=10):
    """Philox 4x32 as its authors define it (Salmon et al., 2011)."""
    c, k = list(counter), list(key)
    for _ in range(rounds):
        high0, low0 = divmod(0xD2511F53 * c[0], 1 << 32)
        high1, low1 = divmod(0xCD9E8D57 * c[2], 1 << 32)
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def test_the_oracle_gives_the_authors_numbers():
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("seed", [0, 42, 0xDEADBEEFCAFE])
@pytest.mark.parametrize("lane", range(4))
def test_randint4x_is_philox(seed, lane):
    offsets = np.array([0, 1, 2, 1000, 2**31 - 1], np.int32)
    names = ["w, _, _, _", "_, w, _, _", "_, _, w, _", "_, _, _, w"]
    kernel_out = np.zeros(5, np.int64)

    @triton.jit
    def kernel(out, offsets, seed, LANE: tl.constexpr):
        k = tl.arange(0, 8)
        words = tl.randint4x(seed, tl.load(offsets + k, mask=k < 5))
        tl.store(out + k, words[LANE].to(tl.uint32, bitcast=True).to(tl.int64), mask=k < 5)

    out = torch.from_numpy(kernel_out)
    kernel[(1,)](out, torch.from_numpy(offsets), seed, lane)
    expected = [philox([int(o), 0, 0, 0], [seed & MASK, seed >> 32])[lane] for o in offsets]
    assert out.tolist() == expected, names[lane]


def test_rand_is_uniform_and_repeats():
    k = np.arange(1 << 16, dtype=np.int32)
    first, again, other = (evaluate(f"tl.rand({seed}, a)", k, out=np.float32) for seed in (7, 7, 8))
    assert (first == again).all() and (first != other).mean() > 0.99
    assert first.min() >= 0 and first.max() < 1
    counts = np.histogram(first, bins=64, range=(0, 1))[0]
    # Chi squared with 63 degrees of freedom stays under 130 but for one seed in a million.
    assert ((counts - 1024) ** 2 / 1024).sum() < 130


def test_randn_is_normal():
    x = evaluate("tl.randn(3, a)", np.arange(1 << 16, dtype=np.int32), out=np.float32)
    assert abs(x.mean()) < 0.02 and abs(x.std() - 1) < 0.02
    assert abs((x**4).mean() - 3) < 0.15


def test_offsets_may_have_64_bits():
    k = np.array([0, 5, 2**40], np.int64)
    words = evaluate("tl.randint(11, a).to(tl.int64)", k, out=np.int64) & MASK
    expected = [philox([int(o) & MASK, int(o) >> 32, 0, 0], [11, 0])[0] for o in k]
    # Older front ends cut the offset to 32 bits.
    assert words.tolist()[:2] == expected[:2]
