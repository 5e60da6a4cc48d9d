"""Memory that no argument reaches: tensors alive somewhere, other mapped memory, nothing."""

from __future__ import annotations

import ctypes
import gc
import mmap
import time

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.backend.plugin.unknown_memory import AddressRun, AddressRuns, live_runs, near_runs, peek
from triton_lab.interpreter.kernel_errors import KernelError


@triton.jit
def read_at(table, y):
    tl.store(y, tl.load(tl.load(table).to(tl.pointer_type(tl.float32))))


@triton.jit
def write_at(table, value):
    tl.store(tl.load(table).to(tl.pointer_type(tl.float32)), value)


@triton.jit
def swap_pair(table):
    pointers = tl.load(table).to(tl.pointer_type(tl.float32)) + tl.arange(0, 2)
    tl.store(pointers, -tl.load(pointers))


def table(address: int) -> torch.Tensor:
    return torch.tensor([address])


def test_a_tensor_is_found_by_its_address():
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.zeros(1)
    read_at[(1,)](table(x.data_ptr() + 4), y)
    assert y.item() == 2
    write_at[(1,)](table(x.data_ptr() + 8), 9.0)
    assert x.tolist() == [1, 2, 9]


def test_fake_tensors_are_not_asked_for_their_memory(recwarn: pytest.WarningsRecorder):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.empty(8)
    x, y = torch.tensor([1.0, 2.0]), torch.zeros(1)
    read_at[(1,)](table(x.data_ptr() + 4), y)
    assert y.item() == 2 and fake.shape == (8,) and not recwarn.list


def test_the_end_of_a_tensor_found_by_its_address_is_an_end():
    x = torch.tensor([1.0, 2.0, 3.0])
    with pytest.raises(KernelError, match="out of bounds"):
        swap_pair[(1,)](table(x.data_ptr() + 8))
    assert x.tolist() == [1, 2, 3]


def test_memory_that_is_no_tensors_can_be_read_and_not_written():
    array = np.arange(4, dtype=np.float32)
    y = torch.zeros(1)
    read_at[(1,)](table(array.ctypes.data + 8), y)
    assert y.item() == 2
    with pytest.raises(KernelError):
        write_at[(1,)](table(array.ctypes.data + 8), 9.0)
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("address", [0, 8, 0x4000_0000_0000_0000, -4096])
def test_memory_that_is_not_mapped_is_an_error_and_no_crash(address):
    with pytest.raises(KernelError, match="to no tensor"):
        read_at[(1,)](table(address), torch.zeros(1))
    with pytest.raises(KernelError, match="to no tensor"):
        write_at[(1,)](table(address), 1.0)


def test_peeking_reads_what_is_mapped_and_crashes_at_nothing():
    with mmap.mmap(-1, 2 * mmap.PAGESIZE) as pages:
        pages[:4] = b"abcd"
        view = (ctypes.c_char * len(pages)).from_buffer(pages)
        start = ctypes.addressof(view)
        assert peek(start, start + 4) == b"abcd"
        del view
    assert peek(0, 1) is None
    assert peek(1 << 62, (1 << 62) + 1) is None


def test_storages_that_overlap_are_one_run():
    array = np.zeros(64, np.float32)
    tensors = [torch.from_numpy(array[start : start + 16]) for start in (0, 8, 40)]
    first = array.ctypes.data
    runs = [(run.start - first, run.stop - first) for run in live_runs() if first <= run.start < first + array.nbytes]
    assert runs == [(0, 96), (160, 224)]
    del tensors


def test_tensors_without_memory_are_passed_over():
    others = [torch.empty(3, device="meta"), torch.ones(3).to_sparse(), torch.empty(0)]
    assert all(run.start and run.stop > run.start for run in live_runs())
    del others


@triton.jit
def add_one(x, y):
    tl.store(y + tl.arange(0, 4), tl.load(x + tl.arange(0, 4)) + 1)


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_memory_that_may_only_be_read_is_an_error_to_write_and_no_crash(tmp_path):
    np.arange(4, dtype=np.float32).tofile(tmp_path / "data")
    x = torch.from_numpy(np.memmap(tmp_path / "data", np.float32, mode="r"))
    y = torch.zeros(4)
    add_one[(1,)](x, y)
    assert y.tolist() == [1, 2, 3, 4]
    with pytest.raises(KernelError, match=r"read-only memory: .* element 0 of y") as caught:
        add_one[(1,)](y, x)
    assert "y (.clone())" in str(caught.value)
    with pytest.raises(KernelError):
        write_at[(1,)](table(x.data_ptr()), 1.0)


@pytest.mark.filterwarnings("ignore:The given (NumPy array|buffer) is not writable")
@pytest.mark.parametrize(
    "make",
    [
        lambda data: torch.from_numpy(np.frombuffer(data, np.float32)),
        lambda data: torch.frombuffer(data, dtype=torch.float32),
    ],
)
def test_the_content_of_a_bytes_object_is_never_written(make):
    """Python promises it, NumPy knows it, torch forgets it."""
    data = np.arange(4, dtype=np.float32).tobytes()
    x, y = make(data), torch.zeros(4)
    add_one[(1,)](x, y)
    assert y.tolist() == [1, 2, 3, 4]
    with pytest.raises(KernelError, match=r"read-only memory: .* element 0 of y"):
        add_one[(1,)](y, x)
    assert data == np.arange(4, dtype=np.float32).tobytes()


@pytest.mark.parametrize("make", [bytearray, np.zeros])
def test_what_may_be_written_is(make):
    x = torch.frombuffer(make(16), dtype=torch.float32) if make is bytearray else torch.from_numpy(make(4, np.float32))
    add_one[(1,)](x, x)
    assert x.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_files_that_are_mapped_for_writing_are_written(tmp_path, mode):
    np.arange(4, dtype=np.float32).tofile(tmp_path / "data")
    mapped = np.memmap(tmp_path / "data", np.float32, mode=mode)
    x = torch.from_numpy(mapped)
    add_one[(1,)](x, x)
    assert mapped.tolist() == [1, 2, 3, 4]
    stored = np.fromfile(tmp_path / "data", np.float32)
    assert stored.tolist() == ([1, 2, 3, 4] if mode == "r+" else [0, 1, 2, 3])


@triton.jit
def read_through(table, y, N: tl.constexpr):
    k = tl.arange(0, N)
    tl.store(y + k, tl.load(tl.load(table + k).to(tl.pointer_type(tl.float32))))


@triton.jit
def write_through(table, N: tl.constexpr):
    k = tl.arange(0, N)
    tl.store(tl.load(table + k).to(tl.pointer_type(tl.float32)), k.to(tl.float32))


def test_a_table_of_many_tensors_is_read_and_written_in_time_that_grows_with_it():
    count = 1 << 14
    tensors = [torch.full((1,), float(k)) for k in range(count)]
    order = torch.randperm(count, generator=torch.Generator().manual_seed(0))
    addresses = torch.tensor([tensor.data_ptr() for tensor in tensors])[order]
    y = torch.zeros(count)
    start = time.process_time()
    read_through[(1,)](addresses, y, count)
    assert torch.equal(y, order.float())
    # Each tensor twice: of two lanes at one place the later one stays.
    addresses[: count // 2] = addresses[count // 2 :]
    write_through[(1,)](addresses, count)
    assert [float(tensors[k]) for k in order[count // 2 :]] == list(range(count // 2, count))
    assert time.process_time() - start < 8


def test_a_table_that_points_past_the_end_of_each_tensor_is_followed_in_time_that_grows_with_it():
    count = 1 << 14
    tensors = [torch.zeros(1) for _ in range(count)]
    addresses = torch.tensor([tensor.data_ptr() + 4 for tensor in tensors])
    start = time.process_time()
    read_through[(1,)](addresses, torch.zeros(count), count)  # mapped memory, of no tensor
    addresses[-1] = tensors[0].data_ptr()  # now these lanes leave the tensor that another one is in
    with pytest.raises(KernelError, match=f"; {count - 1:,} lanes"):
        read_through[(1,)](addresses, torch.zeros(count), count)
    assert time.process_time() - start < 8


def test_a_tensor_is_found_whether_it_is_new_or_old_and_met_before_or_not():
    old, y = torch.tensor([5.0]), torch.zeros(1)
    gc.collect()
    assert not any(run.start == old.data_ptr() for run in near_runs())
    for _ in range(2):
        read_at[(1,)](table(old.data_ptr()), y)
        assert y.item() == 5
        assert any(run.start == old.data_ptr() for run in near_runs())
    new = torch.tensor([6.0])
    assert any(run.start == new.data_ptr() for run in near_runs())
    read_at[(1,)](table(new.data_ptr()), y)
    assert y.item() == 6
    # Memory that torch did not allocate may be several tensors', of which the near ones need not be all.
    array = np.zeros(64, np.float32)
    tensors = [torch.from_numpy(array[start : start + 16]) for start in (0, 8, 40)]
    assert not any(array.ctypes.data <= run.start < array.ctypes.data + array.nbytes for run in near_runs())
    del tensors


def test_storages_that_only_touch_are_two_runs():
    array = np.zeros(32, np.float32)
    tensors = [torch.from_numpy(array[start : start + 8]) for start in (0, 8, 24)]
    first = array.ctypes.data
    runs = [(run.start - first, run.stop - first) for run in live_runs() if first <= run.start < first + array.nbytes]
    assert runs == [(0, 32), (32, 64), (96, 128)]
    del tensors


def test_runs_are_asked_for_what_holds_an_address_and_for_the_gap_around_a_range():
    """Held to all addresses one by one; the second run lies within the first, on another device."""
    spans = [(4, 12), (6, 8), (16, 18), (18, 20)]
    runs = AddressRuns([AddressRun(start, stop, "cpu", []) for start, stop in spans])
    for address in range(24):
        before = [span for span in spans if span[0] <= address]
        expected = before[-1] if before and address < before[-1][1] else None
        found = runs.holding(address)
        assert (None if found is None else (found.start, found.stop)) == expected
        for stop in range(address + 1, 25):
            shares = any(low < stop and address < high for low, high in spans)
            below = max([high for _, high in spans if high <= address], default=0)
            above = min([low for low, _ in spans if low >= stop], default=1 << 64)
            assert runs.around(address, stop) == (None if shares else (below, above))
    assert AddressRuns([]).holding(5) is None and AddressRuns([]).around(5, 6) == (0, 1 << 64)


@triton.jit
def read_integer_at(table, y):
    tl.store(y, tl.load(tl.load(table).to(tl.pointer_type(tl.int32))))


def test_in_a_live_tensor_the_fault_is_told_as_one_there():
    far, y = torch.zeros(8, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    cases = ((2, "misaligned", "not a multiple of 4 bytes"), (30, "out-of-bounds", "extends past its end"))
    for offset, kind, told in cases:
        with pytest.raises(KernelError) as caught:
            read_integer_at[(1,)](table(far.data_ptr() + offset), y)
        assert caught.value.fault.kind == kind and caught.value.fault.home == "tensor"
        assert told in str(caught.value) and "not an argument" in str(caught.value)
        assert "to no tensor" not in str(caught.value)


def test_a_negative_address_is_no_null_pointer():
    y = torch.zeros(1, dtype=torch.int32)
    kinds = {-4: "out-of-bounds", -(1 << 62): "out-of-bounds", 0: "null-pointer", 64: "null-pointer"}
    for address, kind in kinds.items():
        with pytest.raises(KernelError) as caught:
            read_integer_at[(1,)](table(address), y)
        assert caught.value.fault.kind == kind
        assert ("negative" in str(caught.value)) == (address < 0)


def test_what_the_system_lets_nobody_read_is_told_so(wording: Wording):
    with mmap.mmap(-1, mmap.PAGESIZE) as pages:
        view = ctypes.c_char.from_buffer(pages)
        start, protect = ctypes.addressof(view), ctypes.CDLL(None).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        assert protect(start, mmap.PAGESIZE, 0) == 0
        with lab.record() as launches, pytest.raises(KernelError) as caught:
            read_at[(1,)](table(start), torch.zeros(1))
        wording(str(caught.value).splitlines()[0], address=hex(start))
        (finding,) = (one for one in launches[0].findings if one.kind == caught.value.fault.kind)
        wording(finding.message, address=hex(start))
        assert protect(start, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE) == 0
        del view
