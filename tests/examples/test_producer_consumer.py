"""Programs that wait for one another finish, whichever half has the lower numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example


@pytest.mark.parametrize("consumers_first", [False, True], ids=["producers first", "consumers first"])
@pytest.mark.parametrize("n", [1, 128, 129, 3000])
def test_every_consumer_sees_its_chunk(n: int, consumers_first: bool, normal: Callable[..., torch.Tensor]) -> None:
    example("producer_consumer").check_on(x=normal(n), consumers_first=consumers_first)
