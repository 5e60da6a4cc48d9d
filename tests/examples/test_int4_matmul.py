"""The 4-bit product against unpacked weights."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example
from triton_lab.examples.int4_matmul import int4_matmul, unpack

INT4 = example("int4_matmul")


def test_low_half_comes_first() -> None:
    assert unpack(torch.tensor([[0x21], [0x43]], dtype=torch.uint8)).tolist() == [[1], [2], [3], [4]]


@pytest.mark.parametrize(("m", "n", "groups"), [(1, 1, 1), (32, 64, 2), (33, 65, 3)])
@pytest.mark.parametrize("group", [16, 64])
def test_shapes(m: int, n: int, groups: int, group: int, normal: Callable[..., torch.Tensor]) -> None:
    k = groups * group
    packed = torch.randint(0, 256, (k // 2, n), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    scale = (normal(groups, n).abs() + 0.1).half()
    INT4.check_on(a=normal(m, k, dtype=torch.float16), packed=packed, scale=scale, zero=torch.full_like(scale, 8))


def test_transposed_activations(normal: Callable[..., torch.Tensor]) -> None:
    given = INT4.inputs("small", 0, "cpu")
    INT4.check_on(**{**given, "a": normal(96, 20, dtype=torch.float16).T})


def test_one_hot_activations_read_the_weights() -> None:
    """A row of the identity selects a row of weights: nibble minus zero, exactly."""
    packed = torch.arange(16 * 16).reshape(16, 16).to(torch.uint8)
    one = torch.ones((1, 16), dtype=torch.float16)
    out = int4_matmul(torch.eye(32, dtype=torch.float16), packed, one, 8 * one)
    assert torch.equal(out, unpack(packed).half() - 8)
