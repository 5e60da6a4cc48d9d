"""Registers, spills and shared memory as the driver of a real sm_90 counts them."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from tests.backend.targets.test_sm90_resources import CASES

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("kernel", "arguments", "options"), CASES)
def test_what_is_told_without_a_gpu_is_what_a_gpu_tells(kernel, arguments, options) -> None:
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("the figures are sm_90's")
    told = []
    for target, device in (("cpu", "cpu"), ("gpu", "cuda")):
        with lab.target(target):
            moved = [each.to(device) if isinstance(each, torch.Tensor) else each for each in arguments]
            compiled = kernel.warmup(*moved, **options, grid=(1,))
            compiled._init_handles()
            told.append((int(compiled.n_regs), int(compiled.n_spills), int(compiled.metadata.shared)))
    assert told[0] == told[1]
