"""Grouped GEMM: the same products, whatever the number of programs and however sizes differ."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example

GROUPED = example("grouped_gemm")


@pytest.mark.parametrize("programs", [1, 3, 8, 50])
def test_any_number_of_programs(programs: int) -> None:
    given = GROUPED.inputs("small", 0, "cpu")
    actual = GROUPED.run(**given, programs=programs)
    expected = GROUPED.reference(**given)
    torch.testing.assert_close(actual, expected, rtol=GROUPED.rtol, atol=GROUPED.atol)


def test_operands_may_be_shared(normal: Callable[..., torch.Tensor]) -> None:
    """One tensor at several places of the group: its address occurs more than once."""
    a = normal(33, 33, dtype=torch.float16)
    GROUPED.check_on(a_group=[a, a, a[:10]], b_group=[a, normal(33, 5, dtype=torch.float16), a])
