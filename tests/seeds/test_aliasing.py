"""Arguments that share memory: what is stored through one is seen through all, and nothing is undone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.backend.fake_device import FakeDevice
from triton_lab.backend.plugin import device_mirror


@triton.jit
def store_one(buffer, same_buffer):
    tl.store(buffer, 1)


@triton.jit
def pass_on(source, target, seen):
    """Store through ``source``, load what is now there through ``target``."""
    tl.store(source, 7)
    tl.store(seen, tl.load(target))


@triton.jit
def add_one_shifted(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


Place = Callable[..., list]


@pytest.fixture(params=["cpu", "device"])
def place(request, monkeypatch) -> Place:
    """place(a, b, ...): the tensors where the test runs; sharing kept. `back(t)` reads one again."""
    if request.param == "cpu":
        return lambda *tensors: list(tensors)
    device = FakeDevice()
    monkeypatch.setitem(device_mirror.devices, "fake", device)

    def move(*tensors):
        extents = [(t.untyped_storage().data_ptr(), t.untyped_storage().nbytes()) for t in tensors]
        start = min(address for address, _ in extents)
        stop = max(address + size for address, size in extents)
        if stop - start > 1 << 16:  # nothing shared: memory of their own
            return [device.tensor(t) for t in tensors]
        whole = torch.zeros(stop - start, dtype=torch.uint8)
        for t, (address, size) in zip(tensors, extents, strict=True):
            whole[address - start :][:size] = torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage())
        base = device.tensor(whole)
        return [device.share(t, base, address - start) for t, (address, _) in zip(tensors, extents, strict=True)]

    return move


def back(tensor) -> torch.Tensor:
    return tensor if isinstance(tensor, torch.Tensor) else tensor.cpu()


def test_one_tensor_passed_twice_holds_what_was_stored(place):
    buffer = torch.zeros(1, dtype=torch.int32)
    one, two = place(buffer, buffer)
    store_one[(1,)](one, two)
    assert back(one).item() == back(two).item() == 1


@pytest.mark.parametrize(
    "sharing",
    [
        lambda: _slices(),
        lambda: _bytes(),
        lambda: _from_numpy(),
        lambda: _dlpack(),
        lambda: _transposed(),
        lambda: _wider(),
    ],
    ids=["slices", "bytes", "from_numpy", "dlpack", "transposed", "wider"],
)
def test_a_store_through_one_is_seen_through_the_other(place, sharing):
    first, second, expected = sharing()
    seen = torch.zeros(1, dtype=second.dtype)
    one, two = place(first, second)
    there = place(seen)[0] if not isinstance(one, torch.Tensor) else seen
    pass_on[(1,)](one, two, there)
    assert back(there).item() == expected
    assert back(one).flatten()[0].item() == 7
    assert back(two).flatten()[0].item() == expected


def _slices():
    whole = torch.zeros(16)
    return whole[4:12], whole[4:8], 7


def _bytes():
    whole = torch.zeros(4)
    return whole, whole.view(torch.uint8)[3:], np.float32(7).tobytes()[3]


def _from_numpy():
    # Two storages, one memory: torch does not know that they overlap.
    array = np.zeros(16, np.float32)
    return torch.from_numpy(array[4:12]), torch.from_numpy(array[4:8]), 7


def _dlpack():
    array = np.zeros(16, np.float32)
    return torch.from_dlpack(array), torch.from_numpy(array[:3]), 7


def _transposed():
    whole = torch.zeros(4, 6)
    return whole, whole.t(), 7


def _wider():
    whole = torch.zeros(8, dtype=torch.int32)
    return whole, whole.view(torch.int64), 7


def test_overlapping_slices_are_one_memory_and_what_lies_around_stays(place):
    array = np.arange(32, dtype=np.float32)
    x, y = torch.from_numpy(array[2:18]), torch.from_numpy(array[10:26])
    one, two = place(x, y)
    add_one_shifted[(1,)](one, two, 16, BLOCK=16)
    expected = np.arange(32, dtype=np.float32)
    expected[10:26] = expected[2:18] + 1
    assert back(one).tolist() == expected[2:18].tolist()
    assert back(two).tolist() == expected[10:26].tolist()


def test_an_output_that_only_shares_a_storage_is_not_undone_by_its_neighbour(place):
    whole = torch.zeros(8)
    one, two = place(whole[:4], whole[4:])
    add_one_shifted[(1,)](one, two, 4, BLOCK=4)
    assert back(two).tolist() == [1] * 4 and back(one).tolist() == [0] * 4


def test_sharing_is_a_finding():
    buffer = torch.zeros(4, dtype=torch.int32)
    seen = torch.zeros(1, dtype=torch.int32)
    with lab.record() as launches:
        pass_on[(1,)](buffer, buffer, seen)
    (finding,) = (f for f in launches[0].findings if f.kind == "alias")
    assert finding.argument == "source"
    assert finding.severity == "note"
