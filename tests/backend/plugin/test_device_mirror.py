"""Tensors of another device, interpreted on the CPU: one mirror a storage, and only what was stored goes back."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.backend.fake_device import FIRST, FakeDevice
from tests.wordings import Wording
from triton_lab.backend.plugin.unknown_memory import peek
from triton_lab.interpreter.kernel_errors import KernelError


@triton.jit
def add_one(x, y, rows, columns, x_row, x_column, y_row, y_column, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * x_row + column * x_column, mask=inside)
    tl.store(y + row * y_row + column * y_column, value + 1, mask=inside)


def launch(x, y):
    rows, columns = y.shape
    add_one[(rows,)](x, y, rows, columns, *x.stride(), *y.stride(), BLOCK=triton.next_power_of_2(columns))


@triton.jit
def store_through_first(a, b, value):
    tl.store(a, value)
    tl.store(b + 1, tl.load(b) + 1)


@triton.jit
def write_then_fail(x, n):
    tl.store(x, 7.0)
    tl.store(x + n, 8.0)


@triton.jit
def follow(table, out):
    there = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(out, tl.load(there + 1))
    tl.store(there, 5.0)


def test_the_fake_device_is_out_of_reach():
    assert peek(FIRST, FIRST + 1) is None


def test_a_strided_view_of_another_device_gives_what_it_gives_on_the_cpu(device: FakeDevice):
    base = torch.arange(48.0).reshape(6, 8)
    for view in (base, base.t(), base[1:4, ::2], base[:, :1].expand(6, 5), base[2:, 3:], base[:1].expand(4, 8)):
        out = torch.zeros(view.shape)
        there, result = device.tensor(view), device.tensor(out)
        launch(there, result)
        assert torch.equal(result.cpu(), view + 1)
        assert torch.equal(there.cpu(), view)


def test_each_storage_is_read_once_however_many_arguments_share_it(device: FakeDevice):
    buffer = torch.zeros(64)
    x = device.tensor(buffer[:32].reshape(4, 8))
    y = x.view_as(buffer[32:].reshape(4, 8))
    launch(x, y)
    assert device.reads == [(FIRST, FIRST + 256)]
    assert torch.equal(y.cpu(), torch.ones(4, 8))


def test_what_is_stored_through_one_argument_is_read_through_another(device: FakeDevice):
    x = device.tensor(torch.zeros(4))
    store_through_first[(1,)](x, x, 41.0)
    assert x.cpu().tolist() == [41, 42, 0, 0]


def test_storages_that_share_bytes_are_one_region(device: FakeDevice):
    x = device.tensor(torch.zeros(8))
    y = device.share(torch.zeros(4), x, 16)
    store_through_first[(1,)](x.view_as(torch.zeros(8)[4:]), y, 41.0)
    assert device.reads == [(FIRST, FIRST + 32)]
    assert x.cpu().tolist() == [0, 0, 0, 0, 41, 42, 0, 0]


def test_storages_side_by_side_stay_apart(device: FakeDevice):
    x = device.tensor(torch.zeros(4))
    y = device.tensor(torch.zeros(4), address=FIRST + 16)
    with pytest.raises(KernelError, match="element 4 of x"):
        write_then_fail[(1,)](x, 4)
    store_through_first[(1,)](x, y, 41.0)
    assert len(device.reads) == 3


def test_only_elements_that_the_kernel_stored_to_go_back(device: FakeDevice):
    x = device.tensor(torch.zeros(4, 8))
    y = x.view_as(torch.zeros(4, 8)[:, 2:4])
    launch(y, y)
    ((start, stored),) = device.writes
    assert start == FIRST
    flags = stored.reshape(4, 8, 4)
    assert (flags[:, 2:4] != 0).all() and not flags[:, :2].any() and not flags[:, 4:].any()


def test_a_device_that_was_only_read_is_not_written_to(device: FakeDevice):
    x, out = device.tensor(torch.zeros(2, 8)), torch.zeros(2, 8)
    launch(x, out)
    assert device.writes == []
    assert torch.equal(out, torch.ones(2, 8))


def test_an_error_writes_nothing_back_and_says_so(device: FakeDevice):
    x = device.tensor(torch.zeros(4))
    with pytest.raises(KernelError, match="another device"):
        write_then_fail[(1,)](x, 4)
    assert device.writes == []
    assert x.cpu().tolist() == [0, 0, 0, 0]


def test_an_error_leaves_earlier_stores_in_tensors_of_the_cpu_and_says_so(wording: Wording):
    x = torch.zeros(4)
    with pytest.raises(KernelError) as caught:
        write_then_fail[(1,)](x, 4)
    assert x.tolist() == [7, 0, 0, 0]
    wording(str(caught.value).splitlines()[-1].strip())


def test_interrupting_a_launch_writes_nothing_back(device: FakeDevice, monkeypatch: pytest.MonkeyPatch):
    from triton_lab.interpreter.machine import Machine

    def interrupted(machine, programs=None):
        raise KeyboardInterrupt

    x = device.tensor(torch.zeros(4))
    monkeypatch.setattr(Machine, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store_through_first[(1,)](x, x, 1.0)
    assert device.writes == []


def test_tensors_of_the_cpu_and_of_a_device_meet_in_one_launch(device: FakeDevice):
    x, y = torch.arange(16.0).reshape(2, 8), device.tensor(torch.zeros(2, 8))
    launch(x, y)
    assert torch.equal(y.cpu(), x + 1)


def test_a_pointer_in_memory_is_followed_to_a_tensor_of_the_cpu(device: FakeDevice):
    target = torch.arange(4.0)
    table, out = device.tensor(torch.tensor([target.data_ptr()])), device.tensor(torch.zeros(1))
    follow[(1,)](table, out)
    assert out.cpu().item() == 1 and target.tolist() == [5, 1, 2, 3]


def test_devices_whose_addresses_overlap_are_refused(device: FakeDevice):
    x = torch.zeros(8)
    y = device.tensor(torch.zeros(8), address=x.data_ptr() + 16)
    with pytest.raises(TypeError, match="addresses overlap"):
        store_through_first[(1,)](x, y, 1.0)


def test_tensors_of_the_cpu_are_run_in_place():
    array = np.zeros(8, np.float32)
    address = array.ctypes.data
    x = torch.from_numpy(array)
    store_through_first[(1,)](x, x, 41.0)
    assert list((ctypes.c_float * 2).from_address(address)) == [41, 42]
