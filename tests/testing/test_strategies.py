"""Strategies for tensors: what they can give, what they shrink to, and a kernel whose bugs they find."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.testing import dtypes, elements, shapes, tensors
from triton_lab.testing.strategies import FLOATS, INTEGERS, LAYOUTS

THOROUGH = settings(max_examples=4000, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, torch.bool])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_elements_are_held_exactly(dtype: torch.dtype, data: st.DataObject) -> None:
    value = data.draw(elements(dtype))
    held = torch.tensor([value], dtype=dtype)[0].item()
    assert held == value or (math.isnan(held) and math.isnan(value))


@pytest.mark.parametrize(
    "wanted",
    [
        lambda value: math.isnan(value),
        lambda value: value == math.inf,
        lambda value: value == 0 and math.copysign(1, value) < 0,
        lambda value: 0 < value < torch.finfo(torch.float16).tiny,
        lambda value: value == torch.finfo(torch.float16).max,
    ],
)
def test_special_values_come_up(wanted: Callable[[float], bool]) -> None:
    assert wanted(find(elements(torch.float16), wanted, settings=THOROUGH))


@pytest.mark.parametrize(
    ("layout", "is_it"),
    [
        ("contiguous", lambda x: x.is_contiguous() and x.storage_offset() == 0),
        ("offset", lambda x: x.storage_offset() > 0),
        ("transposed", lambda x: x.dim() > 1 and x.stride(0) < x.stride(1)),
        ("stepped", lambda x: x.stride(-1) == 2),
        ("expanded", lambda x: x.stride(0) == 0 and x.shape[0] > 1),
        ("overlapping", lambda x: x.dim() > 1 and x.stride() == (1, 1) and min(x.shape) > 1),
    ],
)
def test_each_layout_comes_up_and_shrinks_to_the_smallest_of_its_kind(
    layout: str, is_it: Callable[[torch.Tensor], bool]
) -> None:
    found = find(tensors(), is_it, settings=THOROUGH)
    assert not found.any() and found.numel() <= 4
    assert layout in LAYOUTS


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_tensors_are_what_was_asked_for(data: st.DataObject) -> None:
    dtype, shape = data.draw(dtypes()), data.draw(shapes(max_dims=3, max_side=20))
    layouts = data.draw(st.lists(st.sampled_from(LAYOUTS), min_size=1))
    x = data.draw(tensors(dtype, shape, layouts=layouts))
    assert x.dtype == dtype and tuple(x.shape) == shape
    if not {"expanded", "overlapping"} & {*layouts}:
        addresses = torch.arange(x.untyped_storage().nbytes()).as_strided(x.shape, x.stride(), x.storage_offset())
        assert addresses.unique().numel() == x.numel()  # elements of its own, which a kernel may write


def test_shapes_stand_around_blocks(wording: Wording) -> None:
    for side in (15, 16, 17, 32, 33):
        assert find(shapes(min_dims=1, max_dims=1), lambda shape, side=side: shape == (side,), settings=THOROUGH)
    assert find(shapes(), lambda shape: 0 in shape, settings=THOROUGH)
    with wording.raises(ValueError):
        dtypes("complex")
    with wording.raises(ValueError):
        find(tensors(layouts=["sparse"]), lambda x: True)


def test_a_launcher_that_ignores_strides_is_found_with_the_smallest_such_tensor() -> None:
    from triton_lab.examples.vector_add import add_kernel

    def wrong(x: torch.Tensor) -> bool:
        out = torch.empty(x.shape)
        with lab.target("cpu"):
            add_kernel[(1,)](x, torch.zeros(64), out, x.numel(), BLOCK=64)
        return not torch.equal(out, x + 0)

    given_ = tensors(shape=shapes(max_dims=1, max_side=8, empty=False), layouts=LAYOUTS[:4], special=False)
    found = find(given_, wrong, settings=settings(max_examples=100, derandomize=True, deadline=None))
    assert found.numel() == 2 and found.stride() == (2,)
