"""Products that a loop adds up, of several rounds at once: to the bit what one round after the other gives."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.native.harness import forcing
from triton_lab.native import engine
from triton_lab.native.lowering import dot_panels


@triton.jit(do_not_specialize=["n"])
def summed(a, b, c, out, looked, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HOW: tl.constexpr):
    """``a @ b + c`` for (M, n) and (n, N), K of the inner axis in a round."""
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.load(c + i[:, None] * N + j[None, :])
    for start in range(0, n, K):
        inside = start + k < n
        x = tl.load(a + i[:, None] * n + (start + k)[None, :], mask=inside[None, :], other=0.0)
        if HOW == "turned":
            y = tl.load(b + j[None, :] * n + (start + k)[:, None], mask=inside[:, None], other=0.0)
        else:
            y = tl.load(b + (start + k)[:, None] * N + j[None, :], mask=inside[:, None], other=0.0)
        if HOW == "added":
            total += tl.dot(x, y, input_precision="ieee")
        elif HOW == "scaled":
            total = tl.dot(x, y, total * 0.5, input_precision="ieee")
        elif HOW == "sometimes":
            if start % (2 * K) == 0:
                total = tl.dot(x, y, total, input_precision="ieee")
        else:
            total = tl.dot(x, y, total, input_precision="ieee")
        if HOW == "looked at":
            tl.store(looked + i[:, None] * N + j[None, :], total)
    tl.store(out + i[:, None] * N + j[None, :], total)


def run(given: torch.dtype, m: int, columns: int, depth: int, n: int, how: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    a, b, c = torch.randn(m, n).to(given), torch.randn(n, columns).to(given), torch.randn(m, columns)
    out, looked = torch.zeros(m, columns), torch.zeros(m, columns)
    summed[(1,)](a, b.T.contiguous() if how == "turned" else b, c, out, looked, n, m, columns, depth, how)
    return [out, looked, a, b, c]


# How a product is used, and whether products may be put off.
WAYS = {"plain": True, "added": True, "turned": False, "scaled": False, "looked at": False, "sometimes": False}


@pytest.mark.parametrize(
    ("given", "how"),
    [(given, how) for given in (torch.float32, torch.float16) for how in WAYS] + [(torch.bfloat16, "plain")],
    ids=str,
)
def test_several_rounds_at_once_give_the_same_bits(given, how, monkeypatch):
    put_off = []
    asked = dot_panels.put_off

    def noted(*of):
        put_off.append(asked(*of))
        return put_off[-1]

    monkeypatch.setattr(dot_panels, "put_off", noted)
    for m, columns, depth in ((16, 64, 16), (32, 32, 32)):
        rounds = (0, 1, depth, 3 * depth, 4 * depth, 7 * depth + 5)
        engine.lately.clear()
        with forcing(), lab.limits(engine="native"):
            found = [run(given, m, columns, depth, n, how) for n in rounds]
        with forcing(), lab.limits(engine="native"), pytest.MonkeyPatch.context() as patch:
            patch.setattr(dot_panels, "_DEPTH", 1)
            one_by_one = [run(given, m, columns, depth, n, how) for n in rounds]
        assert {ran.engine for ran in engine.lately} == {"native"}
        for n, together, alone in zip(rounds, found, one_by_one, strict=True):
            assert all(map(torch.equal, together, alone))
            if how in ("plain", "added", "turned"):
                out, _, a, b, c = together
                bound = (n + 1) * 2.0**-23 * (a.double().abs() @ b.double().abs() + c.double().abs())
                assert ((out - (a.double() @ b.double() + c)).abs() <= bound).all()
    assert any(put_off) == (WAYS[how] and given != torch.bfloat16)
