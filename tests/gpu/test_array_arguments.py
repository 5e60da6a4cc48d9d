"""Kernels take NumPy arrays on the GPU as well, from the first launch on."""

from __future__ import annotations

import numpy as np
import pytest

import triton_lab as lab
from tests.backend.plugin.test_array_arguments import double

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("target", ["gpu", "cpu"])
def test_a_kernel_works_in_the_memory_of_an_array(target: str) -> None:
    x, out = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    with lab.target(target):
        double[(3,)](x, out, 40, B=16)
    np.testing.assert_array_equal(out, 2 * x)
