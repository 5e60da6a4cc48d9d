"""Tensors over the bytes of a region: the same elements, wherever the region begins."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.backend.targets.both_targets import _same, view_of
from triton_lab.interpreter.memory_regions import MemoryRegion

DTYPES = [torch.uint8, torch.int16, torch.float32, torch.float64]


@given(
    shape=st.lists(st.integers(1, 3), max_size=3),
    strides=st.lists(st.integers(0, 4), min_size=3, max_size=3),
    dtype=st.sampled_from(DTYPES),
    offset=st.integers(0, 5),
    before=st.integers(0, 24),
    after=st.integers(0, 24),
)
@settings(deadline=None, max_examples=150)
def test_a_view_of_a_region_has_the_elements_of_the_tensor(
    shape: list[int], strides: list[int], dtype: torch.dtype, offset: int, before: int, after: int
) -> None:
    size = torch.empty(0, dtype=dtype).element_size()
    strides = strides[: len(shape)]
    elements = offset + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) + 1
    # Somewhere in a storage; the region begins before the first element that matters, and ends behind the last.
    storage = torch.arange(32 + elements * size + 32, dtype=torch.int64).to(torch.uint8)
    whole = storage[32 - storage.data_ptr() % 8 :][: elements * size].view(dtype)
    tensor = whole.as_strided(shape, strides, offset)
    first = tensor.data_ptr() - storage.data_ptr()
    last = (whole.data_ptr() - storage.data_ptr()) + elements * size
    begin, end = max(0, first - before), min(len(storage), last + after)
    region = MemoryRegion(storage.data_ptr() + begin, storage.numpy()[begin:end].copy())
    found = view_of(tensor, region)
    assert found.dtype == dtype and found.shape == tensor.shape and found.stride() == tensor.stride()
    assert _same(found, tensor)
    region.data[:] = ~region.data  # it is the region's memory, and no copy
    assert torch.equal(_bytes(found), ~_bytes(tensor))


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


def test_bytes_are_compared_and_not_numbers() -> None:
    zero = torch.tensor([0.0, float("nan")])
    assert _same(zero, zero.clone()) and not _same(zero, -zero)
    assert _same(torch.tensor(3), torch.tensor(3)) and not _same(torch.tensor(3), torch.tensor(4))
    assert _same(torch.arange(6).reshape(2, 3).T, torch.arange(6).reshape(2, 3).T.contiguous())
