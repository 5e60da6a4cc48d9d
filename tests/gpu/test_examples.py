"""The examples on a real GPU, at both sizes: what runs on the CPU target is what runs there."""

from __future__ import annotations

import pytest

from triton_lab.examples import Example, Size, all_examples

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("size", ["small", "bench"])
@pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)
def test_example_agrees_with_torch(each: Example, size: Size) -> None:
    each.check(size, device="cuda")
