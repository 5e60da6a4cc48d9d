"""RMS norm against torch: rows longer and shorter than a block, strided rows, half precisions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tests.wordings import Wording
from triton_lab.examples import example
from triton_lab.examples.rms_norm import rms_norm

EXAMPLE = example("rms_norm")


@pytest.mark.parametrize("shape", [(1, 1), (5, 64), (3, 256), (3, 257), (2, 2000)])
def test_rows_of_any_length(shape: tuple[int, int], normal: Callable[..., torch.Tensor]) -> None:
    EXAMPLE.check_on(x=normal(*shape), weight=normal(shape[1]))


@pytest.mark.parametrize("block", [16, 128, 1024])
def test_blocks_of_any_size(block: int, normal: Callable[..., torch.Tensor]) -> None:
    x, weight = normal(4, 300), normal(300)
    torch.testing.assert_close(rms_norm(x, weight, block=block), EXAMPLE.reference(x, weight), rtol=3e-6, atol=1e-7)


def test_rows_with_gaps_and_rows_that_are_one(normal: Callable[..., torch.Tensor]) -> None:
    EXAMPLE.check_on(x=normal(14, 100)[::2, 3:90], weight=normal(87))
    EXAMPLE.check_on(x=normal(1, 100).expand(6, 100), weight=normal(100))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precisions(dtype: torch.dtype, normal: Callable[..., torch.Tensor]) -> None:
    """Computed in float32 and rounded once: up to one unit in the last place off."""
    x, weight = normal(9, 300, dtype=dtype), normal(300)
    expected = EXAMPLE.reference(x.float(), weight).to(dtype)
    torch.testing.assert_close(rms_norm(x, weight), expected, rtol=torch.finfo(dtype).eps, atol=0)


def test_a_row_of_zeros_stays_zero_and_an_empty_matrix_empty() -> None:
    assert not rms_norm(torch.zeros(2, 10), torch.ones(10)).any()
    assert rms_norm(torch.zeros(0, 10), torch.ones(10)).shape == (0, 10)


def test_columns_that_are_not_contiguous_are_refused(normal: Callable[..., torch.Tensor], wording: Wording) -> None:
    with wording.raises(ValueError):
        rms_norm(normal(30, 8).T, normal(30))
