"""Who is donated, who is not, and what a donated buffer saves."""

from __future__ import annotations

import gc

import pytest
import torch

from triton_lab import lazy


def step() -> lazy.Step:
    done = lazy.mark_step()
    assert done is not None
    return done


def address(tensor: lazy.Tensor) -> int:
    lazy.mark_step()
    assert tensor.storage.buffer is not None
    return tensor.storage.buffer.read().data_ptr()


def test_an_in_place_update_keeps_its_memory() -> None:
    t = lazy.tensor([1.0, 2.0])
    before = address(t)
    t.add_(1)
    assert step().donors == (0,)
    assert address(t) == before and t.tolist() == [2.0, 3.0]


def test_an_operation_whose_operand_is_still_seen_takes_new_memory() -> None:
    t = lazy.tensor([1.0, 2.0])
    u = t + 1
    assert step().donors == ()
    assert address(u) != address(t) and t.tolist() == [1.0, 2.0]


def test_a_tensor_that_was_dropped_is_donated() -> None:
    t = lazy.tensor([1.0, 2.0])
    before = address(t)
    t = t * 3
    assert step().donors == (0,)
    assert address(t) == before


def test_a_view_keeps_the_buffer_of_a_dropped_tensor() -> None:
    t = lazy.tensor([1.0, 2.0, 3.0])
    view = t[1:]
    t = t * 3
    done = step()
    assert done.donors == () and done.before[0].seen_by
    assert view.tolist() == [2.0, 3.0] and t.tolist() == [3.0, 6.0, 9.0]


def test_a_clone_keeps_the_buffer_of_an_updated_tensor() -> None:
    t = lazy.tensor([1.0, 2.0])
    old = t.clone()
    t.add_(1)
    assert step().donors == ()
    assert old.tolist() == [1.0, 2.0] and t.tolist() == [2.0, 3.0]


def test_views_see_what_is_written_through_their_base_and_through_each_other() -> None:
    t = lazy.tensor(torch.arange(6.0).reshape(2, 3))
    column, flat = t.t()[1], t.view(6)
    t.add_(10)
    column.mul_(0)
    flat[0] = -1
    lazy.mark_step()
    assert t.tolist() == [[-1.0, 0.0, 12.0], [13.0, 0.0, 15.0]]
    assert column.tolist() == [0.0, 0.0] and flat.tolist() == [-1.0, 0.0, 12.0, 13.0, 0.0, 15.0]


def test_writing_a_slice_touches_nothing_else_and_stays_in_place() -> None:
    t = lazy.tensor(torch.arange(8.0))
    before = address(t)
    t[2:6:2] += 100
    done = step()
    assert address(t) == before
    assert [kernel.grid for kernel in done.executable.kernels] == [(1,)]
    assert "i < 2" in done.executable.source
    assert t.tolist() == [0, 1, 102, 3, 104, 5, 6, 7]


def test_an_operand_read_in_another_order_is_not_overwritten() -> None:
    t = lazy.tensor(torch.arange(9.0).reshape(3, 3))
    t.add_(t.t())
    done = step()
    assert done.donors == (0,) and done.executable.overwritten == ()
    assert "another order" in done.executable.placement.refused[0]
    expected = torch.arange(9.0).reshape(3, 3)
    assert torch.equal(t.torch().cpu(), expected + expected.t())


def test_a_shift_within_one_tensor_reads_the_old_values() -> None:
    t = lazy.tensor(torch.arange(6.0))
    t[1:] = t[:-1]
    assert t.tolist() == [0, 0, 1, 2, 3, 4]


def test_a_kernel_that_overwrites_waits_for_the_other_readers() -> None:
    t = lazy.tensor(torch.arange(4.0).reshape(2, 2))
    before = address(t)
    t.add_(1)
    turned = t.t() * 1.5  # of the new value
    total = t.sum()
    done = step()
    assert address(t) == before and done.executable.aliases == {0: 0}
    assert turned.tolist() == [[1.5, 4.5], [3.0, 6.0]] and total.item() == 10

    old_sum = t.sum()
    t.mul_(2)
    step()
    assert address(t) == before and old_sum.item() == 10 and t.sum().item() == 20


def test_a_donor_of_another_size_is_freed_and_not_offered() -> None:
    t = lazy.tensor([1.0, 2.0, 3.0])
    t = t.sum()
    assert step().donors == () and t.item() == 6


def test_two_tensors_may_trade_values_without_a_kernel() -> None:
    a, b = lazy.tensor([1, 2]), lazy.tensor([3, 4])
    old = a.clone()
    a.copy_(b)
    b.copy_(old)
    lazy.mark_step()
    assert a.tolist() == [3, 4] and b.tolist() == [1, 2]
    b.add_(1)
    assert (a.tolist(), b.tolist(), old.tolist()) == ([3, 4], [2, 3], [1, 2])


def test_a_look_hands_out_a_copy() -> None:
    t = lazy.tensor([1.0, 2.0])
    seen, source = t.torch(), torch.tensor([5.0, 6.0])
    u = lazy.tensor(source)
    t.add_(1)
    u.add_(1)
    lazy.mark_step()
    seen.zero_()
    assert source.tolist() == [5.0, 6.0] and t.tolist() == [2.0, 3.0] and u.tolist() == [6.0, 7.0]


def tensor_bytes() -> int:
    """The bytes of all torch storages that are alive, each counted once."""
    storages = {
        found.untyped_storage().data_ptr(): found.untyped_storage().nbytes()
        for found in gc.get_objects()
        if type(found) is torch.Tensor and found.device.type == "cpu" and found.layout == torch.strided
    }
    return sum(storages.values())


@pytest.mark.parametrize("one_step", [True, False], ids=["in one step", "in a step each"])
def test_a_hundred_updates_of_64_megabytes_stay_under_one_and_a_half_times_that(one_step: bool) -> None:
    size = 64 * 2**20
    t = lazy.tensor(torch.zeros(size // 4))
    lazy.meter.reset_peak()
    before, most = tensor_bytes(), 0
    for count in range(100):
        t.add_(1)
        if not one_step:
            lazy.mark_step()
            if count % 10 == 0:
                most = max(most, tensor_bytes())
    lazy.mark_step()
    most = max(most, tensor_bytes())
    assert lazy.meter.peak_bytes < 1.5 * size
    assert most - before < 0.5 * size
    assert t[:3].tolist() == [100.0, 100.0, 100.0] and t[-1].item() == 100.0


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_an_update_that_reads_its_tensor_elsewhere_too_reads_the_old_values(shift: int) -> None:
    """In place only if all that it reads of the tensor is what it writes."""
    t, eager = lazy.tensor(torch.arange(8.0)), torch.arange(8.0)
    before = address(t)
    t[2:6] = t[2:6] * 10 + t[2 + shift : 6 + shift]
    eager[2:6] = eager[2:6] * 10 + eager[2 + shift : 6 + shift].clone()
    step()
    assert t.tolist() == eager.tolist()
    assert (address(t) == before) == (shift == 0)
