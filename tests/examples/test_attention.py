"""Fused attention against torch's, full and causal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
import torch

import triton_lab as lab
from triton_lab.examples import example
from triton_lab.examples.attention import attention

masks = pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])


def attend(causal: bool) -> Callable[..., None]:
    return example("attention_causal" if causal else "attention_full").check_on


@masks
@pytest.mark.parametrize("shape", [(1, 1, 16), (2, 64, 32), (3, 65, 64), (1, 130, 128)])
def test_shapes_that_no_block_divides(
    shape: tuple[int, int, int], causal: bool, normal: Callable[..., torch.Tensor]
) -> None:
    q, k, v = (normal(*shape, dtype=torch.float16) for _ in range(3))
    attend(causal)(q=q, k=k, v=v, causal=causal)


@masks
@pytest.mark.parametrize(("block_m", "block_n"), [(16, 32), (64, 16), (128, 32)])
def test_blocks(block_m: int, block_n: int, causal: bool, normal: Callable[..., torch.Tensor]) -> None:
    q, k, v = (normal(2, 100, 32, dtype=torch.float16) for _ in range(3))
    attend(causal)(q=q, k=k, v=v, causal=causal, block_m=block_m, block_n=block_n)


@masks
def test_heads_interleaved_in_storage(causal: bool, normal: Callable[..., torch.Tensor]) -> None:
    """As a projection gives them: (tokens, 3, heads, dim), cut and permuted without a copy."""
    q, k, v = normal(70, 3, 2, 32, dtype=torch.float16).permute(1, 2, 0, 3).unbind()
    attend(causal)(q=q, k=k, v=v, causal=causal)


@masks
def test_float32(causal: bool, normal: Callable[..., torch.Tensor]) -> None:
    """No rounding of the weights: what remains are float32 sums of 100 terms."""
    q, k, v = (normal(2, 100, 32) for _ in range(3))
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    torch.testing.assert_close(attention(q, k, v, causal), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_later_keys_do_not_matter_under_the_causal_mask(
    normal: Callable[..., torch.Tensor], engine: Literal["numpy", "native"]
) -> None:
    """To the bit, so both launches run on one engine: they round sums in another order."""
    q, k, v = (normal(1, 90, 32, dtype=torch.float16) for _ in range(3))
    with lab.limits(engine=engine):
        before = attention(q, k, v, causal=True)
        k[:, 50:], v[:, 50:] = 7.0, -7.0
        after = attention(q, k, v, causal=True)
    assert torch.equal(before[:, :50], after[:, :50])
    assert not torch.equal(before[:, 50:], after[:, 50:])


def test_large_scores_do_not_overflow(normal: Callable[..., torch.Tensor]) -> None:
    q, k, v = (normal(1, 80, 32, dtype=torch.float16) for _ in range(3))
    assert attention(q * 50, k * 50, v, causal=False).isfinite().all()
