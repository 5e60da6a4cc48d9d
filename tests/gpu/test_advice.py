"""Advice that is measured: on a GPU of the target, the suggestions are ordered by their times there."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from tests.gpu.slow_kernels import SLOW

pytestmark = pytest.mark.gpu

NAMES = ("small_block_add", "needless_mask", "many_warps_softmax")


@pytest.mark.parametrize("name", NAMES)
def test_the_first_suggestion_is_measured_and_faster(name):
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("the advice is for sm_90")
    (slow,) = (one for one in SLOW if one.name == name)
    with lab.target("gpu"):
        with lab.record() as launches:
            slow.prepare("cuda")()
        advice = launches[-1].advise("sm_90", seconds=15)
    print(advice)
    assert advice.is_measured and advice.original.measured is not None
    gains = [one.measured_gain for one in advice]
    assert None not in gains and gains == sorted(gains, reverse=True)
    assert gains[0] > 1.02
