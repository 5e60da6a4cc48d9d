"""What a launch leaves behind: nothing, unless it is asked to."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.backend.fake_device import FakeDevice
from triton_lab.backend.plugin import device_mirror
from triton_lab.interpreter.kernel_errors import KernelError, Unsupported


@triton.jit
def add_one(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


@triton.jit
def fails(x, n):
    tl.store(x + n, 8.0)


@triton.jit
def follows(table, y):
    tl.store(y, tl.load(tl.load(table).to(tl.pointer_type(tl.float32))))


@triton.jit
def has_assembly(x):
    given = [tl.load(x)]
    tl.store(x, tl.inline_asm_elementwise("tanh.approx.f16x2 $0, $1;", "=r,r", given, tl.float32, is_pure=True, pack=1))


@pytest.fixture
def uncollected() -> Iterator[None]:
    """The garbage collector rests: what is dropped must go at once."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_tensors_are_let_go_when_the_launch_ends(uncollected):
    x, y = torch.ones(4), torch.zeros(4)
    known = [weakref.ref(x), weakref.ref(y)]
    add_one[(1,)](x, y, 4, BLOCK=4)
    del x, y
    assert [reference() for reference in known] == [None, None]


def test_tensors_found_by_their_addresses_are_let_go(uncollected):
    x, y = torch.ones(4), torch.zeros(4)
    known = weakref.ref(x)
    follows[(1,)](torch.tensor([x.data_ptr()]), y)
    assert y[0].item() == 1
    del x
    assert known() is None


def test_mirrors_are_let_go(uncollected, monkeypatch):
    device = FakeDevice()
    monkeypatch.setitem(device_mirror.devices, "fake", device)
    mirrored = []
    read = device.read

    def remembered(start, stop):
        data = read(start, stop)
        mirrored.append(weakref.ref(data))
        return data

    monkeypatch.setattr(device, "read", remembered)
    x = device.tensor(torch.ones(4))
    add_one[(1,)](x, x, 4, BLOCK=4)
    assert [reference() for reference in mirrored] == [None]


def test_a_failed_launch_keeps_its_tensors_as_long_as_its_error(uncollected):
    x = torch.ones(4)
    known = weakref.ref(x)
    try:
        fails[(1,)](x, 4)
    except KernelError as error:
        caught = error
    del x
    assert known() is not None
    del caught
    assert known() is None


def test_a_recorded_launch_is_let_go_with_its_record():
    x = torch.ones(4)
    with lab.record() as launches:
        add_one[(1,)](x, x, 4, BLOCK=4)
    known = weakref.ref(launches[0])
    del launches
    gc.collect()
    assert known() is None


def test_a_kernel_that_cannot_run_here_says_so_at_every_launch():
    x = torch.ones(4)
    for _ in range(2):
        with pytest.raises(Unsupported) as caught:
            has_assembly[(1,)](x)
        text = str(caught.value)
        assert "tanh.approx.f16x2" in text.split("\n")[0]
        assert "tl.inline_asm_elementwise(" in text and "^^^^" in text
        assert "on a GPU" in text
    assert x.tolist() == [1] * 4
