"""Tensors of the GPU interpreted on the CPU, and tensors of the CPU run on the GPU."""

from __future__ import annotations

import collections

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import triton_lab as lab
from triton_lab.backend.plugin import launcher
from triton_lab.backend.plugin.kernel_arguments import ArgumentError
from triton_lab.backend.targets import offload
from triton_lab.interpreter.kernel_errors import KernelError

pytestmark = pytest.mark.gpu

# Where tensors lie, and the target that must mirror them.
ABROAD = [("cuda", "cpu"), ("cpu", "gpu")]


@triton.jit
def add_one(x, y, columns, x_row, x_column, y_row, y_column, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * x_row + column * x_column, mask=inside)
    tl.store(y + row * y_row + column * y_column, value + 1, mask=inside)


@triton.jit
def pass_on(source, target, seen):
    tl.store(source, 7)
    tl.debug_barrier()
    tl.store(seen, tl.load(target))


@triton.jit
def increment(x):
    tl.store(x, tl.load(x) + 1)


@triton.jit
def write_then_fail(x, n):
    tl.store(x, 7.0)
    tl.store(x + n, 8.0)


@triton.jit
def load_through(table, out):
    pointer = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.program_id(0), tl.load(pointer + 1))
    tl.store(pointer, 5.0)


@triton.jit
def sum_group(group, out):
    tl.store(out, tl.load(group[0]) + tl.load(group[1]))


@triton.jit
def copy_block(source, target):
    target.store([0, 16], source.load([16, 0]))


def launch(x, y) -> None:
    rows, columns = y.shape
    add_one[(rows,)](x, y, columns, *x.stride(), *y.stride(), BLOCK=triton.next_power_of_2(columns))


VIEWS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.t(),
    "every other column": lambda t: t[:, ::2],
    "rows 2 to 4 from column 3": lambda t: t[2:5, 3:],
    "one column, expanded": lambda t: t[:, 2:3].expand(6, 5),
    "one row, expanded": lambda t: t[1:2].expand(4, 8),
    "overlapping windows": lambda t: t.flatten().unfold(0, 5, 2),
}


@pytest.mark.parametrize(("where", "target"), ABROAD)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8], ids=str)
def test_a_view_keeps_offset_and_strides(where, target, view, dtype):
    x = view(torch.arange(48, device=where).to(dtype).reshape(6, 8))
    y = torch.zeros(x.shape, device=where, dtype=dtype)
    with lab.target(target):
        launch(x, y)
    assert torch.equal(y, x + 1)


@pytest.mark.parametrize(("where", "target"), ABROAD)
def test_the_split_demo(where, target):
    start = torch.arange(24.0, device=where).reshape(4, 6)
    original = start.clone()
    with lab.target(target):
        for part in original.split([2, 4], dim=1):
            launch(part, part)
    assert torch.equal(original, start + 1)


SHARING = {
    "the same": lambda t: (t, t),
    "slices": lambda t: (t[4:12], t[4:8]),
    "bytes": lambda t: (t, t.view(torch.uint8)[3:]),
    "dlpack": lambda t: (t[2:], torch.from_dlpack(t[2:9])),
}


@pytest.mark.parametrize(("where", "target"), ABROAD)
@pytest.mark.parametrize("share", SHARING.values(), ids=SHARING.keys())
def test_what_is_stored_through_one_is_seen_through_the_other(where, target, share):
    first, second = share(torch.zeros(16, device=where))
    seen = torch.zeros(1, device=where, dtype=second.dtype)
    with lab.target(target):
        pass_on[(1,)](first, second, seen)
    assert first[0].item() == 7
    assert seen.item() == second[0].item() != 0


def test_only_what_the_kernel_stored_goes_back_to_the_gpu(monkeypatch):
    x = torch.zeros(16, device="cuda")

    def meanwhile(done: int, total: int) -> None:
        x[8] = 99

    monkeypatch.setattr(launcher, "progress", meanwhile)
    with lab.target("cpu"):
        increment[(1,)](x[4:5])
    assert x.nonzero().flatten().tolist() == [4, 8]
    assert x[8].item() == 99


def test_only_what_has_changed_goes_back_to_the_cpu(monkeypatch):
    x = torch.zeros(16)
    write_back = offload.HostMirrors.write_back

    def meanwhile(mirrors) -> None:
        x[8] = 99
        write_back(mirrors)

    monkeypatch.setattr(offload.HostMirrors, "write_back", meanwhile)
    with lab.target("gpu"):
        increment[(1,)](x[4:5])
    assert x.nonzero().flatten().tolist() == [4, 8]
    assert x[8].item() == 99


def test_an_error_on_the_cpu_leaves_the_gpus_tensors_unchanged():
    x = torch.zeros(4, device="cuda")
    with lab.target("cpu"), pytest.raises(KernelError, match="nothing was written"):
        write_then_fail[(1,)](x, 4)
    assert not x.any()


def test_a_table_of_the_gpus_pointers_is_followed_on_the_cpu():
    tensors = [torch.arange(4.0, device="cuda") + n for n in range(3)]
    table = torch.tensor([t.data_ptr() for t in tensors], device="cuda")
    out = torch.zeros(3, device="cuda")
    with lab.target("cpu"):
        load_through[(3,)](table, out)
    assert out.tolist() == [1, 2, 3]
    assert [t.tolist() for t in tensors] == [[5, n + 1, n + 2, n + 3] for n in range(3)]


def test_a_table_of_the_cpus_pointers_is_refused_on_the_gpu():
    x = torch.zeros(4)
    table = torch.tensor([x.data_ptr()])
    with lab.target("gpu"), pytest.raises(ArgumentError, match=rf"{load_through.fn.__name__} .* addresses"):
        load_through[(1,)](table, torch.zeros(1))
    torch.cuda.synchronize()  # the GPU is well


def test_tensors_of_both_meet_in_one_launch():
    for target in ("cpu", "gpu"):
        x, y = torch.arange(16.0).reshape(2, 8), torch.zeros(2, 8, device="cuda")
        with lab.target(target):
            launch(x, y)
            launch(y, x)
        assert torch.equal(y.cpu(), torch.arange(16.0).reshape(2, 8) + 1)
        assert torch.equal(x, torch.arange(16.0).reshape(2, 8) + 2)


def test_pinned_memory_needs_no_mirror_anywhere(monkeypatch):
    def mirrored(*_):
        raise AssertionError("pinned memory was mirrored")

    monkeypatch.setattr(offload, "HostMirrors", mirrored)
    for target in ("cpu", "gpu"):
        x = torch.zeros(2, 8).pin_memory()
        with lab.target(target):
            launch(x, x)
        torch.cuda.synchronize()
        assert torch.equal(x, torch.ones(2, 8))


@pytest.mark.parametrize(("where", "target"), ABROAD)
def test_tuples_are_mirrored_too(where, target):
    Pair = collections.namedtuple("Pair", "left right")
    out = torch.zeros(1, device=where)
    with lab.target(target):
        sum_group[(1,)](Pair(torch.tensor([3.0], device=where), torch.tensor([4.0], device=where)), out)
        assert out.item() == 7
        sum_group[(1,)]((torch.tensor([1.0], device=where), torch.tensor([2.0], device="cuda")), out)
    assert out.item() == 3


@pytest.mark.parametrize(("where", "target"), [*ABROAD, ("cuda", "gpu")])
def test_descriptors_are_mirrored_too(where, target):
    x, y = torch.randn(32, 32, device=where), torch.zeros(32, 32, device=where)
    with lab.target(target):
        copy_block[(1,)](TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16]))
    torch.cuda.synchronize()
    assert torch.equal(y[:16, 16:], x[16:, :16])
    assert not y[16:].any() and not y[:, :16].any()


@pytest.mark.parametrize(("where", "target"), ABROAD)
def test_reinterpreted_tensors_are_mirrored_too(where, target):
    bits = torch.tensor([1.5], device=where).view(torch.int32)
    with lab.target(target):
        increment[(1,)](triton.reinterpret(bits, tl.float32))
    assert bits.view(torch.float32).item() == 2.5


def test_tensors_of_the_gpu_are_not_copied_to_run_on_it(monkeypatch):
    monkeypatch.setattr(offload, "HostMirrors", None)
    x = torch.zeros(2, 8, device="cuda")
    with lab.target("gpu"):
        launch(x, x)
    assert x.all()


def test_a_large_tensor_is_mirrored():
    x = torch.arange(1 << 24, device="cuda", dtype=torch.float32)
    with lab.target("cpu"):
        increment[(1,)](x[(1 << 23) :])
    assert x[1 << 23].item() == (1 << 23) + 1
    y = x.cpu()
    with lab.target("gpu"):
        increment[(1,)](y[(1 << 23) :])
    assert y[1 << 23].item() == (1 << 23) + 2
