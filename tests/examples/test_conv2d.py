"""Convolution against torch's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.examples import example

CONV = example("conv2d")


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("window", [(1, 1), (3, 3), (2, 5)])
def test_steps_paddings_and_windows(
    step: int, padding: int, window: tuple[int, int], normal: Callable[..., torch.Tensor]
) -> None:
    CONV.check_on(x=normal(2, 3, 9, 11), weight=normal(5, 3, *window), step=step, padding=padding)


def test_more_channels_than_a_block(normal: Callable[..., torch.Tensor]) -> None:
    CONV.check_on(x=normal(1, 20, 6, 6), weight=normal(40, 20, 3, 3), padding=1)


def test_channels_last_and_cropped_images(normal: Callable[..., torch.Tensor]) -> None:
    CONV.check_on(x=normal(2, 9, 11, 3).permute(0, 3, 1, 2), weight=normal(5, 3, 3, 3), padding=1)
    CONV.check_on(x=normal(2, 3, 20, 20)[:, :, 4:13, ::2], weight=normal(5, 3, 3, 3))
