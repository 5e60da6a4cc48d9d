"""Strides and storage as the kernel sees them: the split demo, and views of every kind."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.backend.fake_device import FakeDevice
from triton_lab.backend.plugin import device_mirror


@triton.jit
def add_one(x, rows, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    at = x + row * row_stride + column * column_stride
    tl.store(at, tl.load(at, mask=column < columns) + 1, mask=column < columns)


@triton.jit
def double_into(x, y, columns, x_row, x_column, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * x_row + column * x_column, mask=column < columns)
    tl.store(y + row * columns + column, value * 2, mask=column < columns)


@triton.jit
def load_through(table, out, n, BLOCK: tl.constexpr):
    pointer = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    columns = tl.arange(0, BLOCK)
    values = tl.load(pointer + columns, mask=columns < n, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(values))


@triton.jit
def doubled(x, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets) + tl.load(x + offsets))


def launch(tensor) -> None:
    rows, columns = tensor.shape
    add_one[(rows,)](tensor, rows, columns, *tensor.stride(), BLOCK=triton.next_power_of_2(columns))


def test_the_split_demo():
    original = torch.arange(24.0).reshape(4, 6)
    start = original.clone()
    left, right = original.split([2, 4], dim=1)
    assert [tuple(t.shape) for t in (left, right)] == [(4, 2), (4, 4)]
    assert [t.stride() for t in (left, right)] == [(6, 1), (6, 1)]
    assert right.data_ptr() - left.data_ptr() == 8
    assert not left.is_contiguous() and not right.is_contiguous()

    launch(left)
    launch(right)
    assert torch.equal(original, start + 1), "every element once"

    copies = left.contiguous(), right.contiguous()
    assert [t.stride() for t in copies] == [(2, 1), (4, 1)]
    assert {t.untyped_storage().data_ptr() for t in copies}.isdisjoint({original.untyped_storage().data_ptr()})
    for copy in copies:
        launch(copy)
    assert torch.equal(original, start + 1), "the copies alone have changed"
    assert torch.equal(torch.cat(copies, 1), start + 2)


def test_the_split_demo_on_another_device(monkeypatch):
    device = FakeDevice()
    monkeypatch.setitem(device_mirror.devices, "fake", device)
    start = torch.arange(24.0).reshape(4, 6)
    original = device.tensor(start)
    for part in start.split([2, 4], dim=1):
        launch(original.view_as(part))
    assert torch.equal(original.cpu(), start + 1)


VIEWS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t(),
    "every other column": lambda t: t[:, ::2],
    "rows 2 to 4 from column 3": lambda t: t[2:5, 3:],
    "one column, expanded": lambda t: t[:, 2:3].expand(6, 5),
    "one row, expanded": lambda t: t[1:2].expand(4, 8),
    "one element, expanded": lambda t: t[3:4, 4:5].expand(3, 3),
    "a diagonal band": lambda t: t.as_strided((5, 3), (9, 1)),
    "overlapping windows": lambda t: t.flatten().unfold(0, 5, 2),
    "no rows": lambda t: t[:0],
    "no columns": lambda t: t[:, :0],
}


@pytest.mark.parametrize("where", ["cpu", "device"])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_every_view_is_read_as_torch_reads_it(monkeypatch, view, where):
    device = FakeDevice()
    monkeypatch.setitem(device_mirror.devices, "fake", device)
    x = view(torch.arange(48.0).reshape(6, 8))
    y = torch.zeros(x.shape)
    there = x if where == "cpu" else device.tensor(x)
    rows, columns = x.shape
    double_into[(rows,)](there, y, columns, *x.stride(), BLOCK=max(1, triton.next_power_of_2(columns)))
    assert torch.equal(y, x * 2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_small_floats_are_loaded_and_stored_as_they_are(dtype):
    x = torch.tensor([0.5, -1.5, 2.0, 0.0]).to(dtype)
    y = torch.zeros(4, dtype=torch.float32)
    doubled_to_float[(1,)](x, y, BLOCK=4)
    assert y.tolist() == [1.0, -3.0, 4.0, 0.0]


@triton.jit
def doubled_to_float(x, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets).to(tl.float32)
    tl.store(y + offsets, value + value)


def test_bfloat16_rounds_to_nearest_even():
    x = torch.tensor([1.0, 1.0078125, 3.140625, -0.1], dtype=torch.bfloat16)
    y = torch.zeros_like(x)
    doubled[(1,)](x, y, BLOCK=4)
    assert torch.equal(y, x + x)


def test_pointers_in_memory_are_followed():
    tensors = [torch.full((5,), float(n)) for n in range(4)]
    table = torch.tensor([t.data_ptr() for t in tensors])
    out = torch.zeros(4)
    load_through[(4,)](table, out, 5, BLOCK=8)
    assert out.tolist() == [0, 5, 10, 15]
