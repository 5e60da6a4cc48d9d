"""Integer divisions that round up or down, which passes of the compiler write: over all pairs of bytes."""

from __future__ import annotations

import numpy as np
import pytest

from triton_lab.interpreter.ops.integers import _divide_down, _divide_up, _divide_up_unsigned, on_unsigned


@pytest.mark.parametrize(("function", "up"), [(_divide_up, True), (_divide_down, False)])
def test_signed_divisions_are_python_s(function, up):
    a, b = np.meshgrid(np.arange(-128, 128), np.arange(-128, 128))
    known = (b != 0) & ~((a == -128) & (b == -1))
    expected = -(-a // np.where(b == 0, 1, b)) if up else a // np.where(b == 0, 1, b)
    with np.errstate(over="ignore"):
        found = function(a.astype(np.int8), b.astype(np.int8))
    assert np.array_equal(found[known], expected[known]) and not found[b == 0].any()


def test_unsigned_divisions_round_up():
    a, b = np.meshgrid(np.arange(256), np.arange(256))
    found = on_unsigned(_divide_up_unsigned)(a.astype(np.uint8).view(np.int8), b.astype(np.uint8).view(np.int8))
    assert np.array_equal(found.view(np.uint8)[b != 0], np.ceil(a[b != 0] / b[b != 0]))
