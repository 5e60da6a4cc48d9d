"""What torch.empty gives out inside a record, and who is seen writing it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

import triton_lab
from triton_lab.launch.byte_ranges import Ranges
from triton_lab.launch.recording.poison import POISON, pattern, still_poisoned
from triton_lab.launch.recording.uninitialized_memory import FreshMemory


def held(start: int, stop: int) -> np.ndarray:
    from triton_lab.interpreter.memory_regions import MemoryRegion

    return MemoryRegion.over(start, stop - start).data


def left(fresh: FreshMemory, tensor: torch.Tensor) -> list[tuple[int, int]]:
    """The ranges of a tensor's storage, in bytes from its start, that count as uninitialised."""
    storage = tensor.untyped_storage()
    start = storage.data_ptr()
    found = still_poisoned(fresh.unwritten([(start, start + storage.nbytes())]), held)
    return [(s - start, t - start) for s, t in zip(found.start.tolist(), found.stop.tolist(), strict=True)]


@pytest.fixture
def fresh() -> FreshMemory:
    return FreshMemory(1 << 20)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_poison_is_nan_in_every_float(dtype: torch.dtype, fresh: FreshMemory) -> None:
    with fresh:
        x = torch.empty(37, dtype=dtype)
    assert torch.isnan(x).all()


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_the_poison_is_huge_in_wide_integers(dtype: torch.dtype, fresh: FreshMemory) -> None:
    with fresh:
        x = torch.empty(37, dtype=dtype)
    assert (x > torch.iinfo(dtype).max * 0.99).all()


def test_its_bytes_differ_and_none_is_a_common_one() -> None:
    assert {0, 1, 255}.isdisjoint(POISON.tolist())
    assert len(set(POISON[::2].tolist())) == 4


MAKERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "empty": lambda x: torch.empty(5, 7),
    "empty_like": torch.empty_like,
    "empty_strided": lambda x: torch.empty_strided((5, 7), (10, 1)),
    "empty_permuted": lambda x: torch.empty_permuted((5, 7), (1, 0)),
    "new_empty": lambda x: x.new_empty(3),
    "new_empty_strided": lambda x: x.new_empty_strided((3,), (2,)),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_all_ways_of_making_an_empty_tensor_are_seen(
    make: Callable[[torch.Tensor], torch.Tensor], fresh: FreshMemory
) -> None:
    before = torch.ones(5, 7)
    with fresh:
        x = make(before)
    assert left(fresh, x) == [(0, x.untyped_storage().nbytes())]


def test_other_tensors_are_what_torch_makes_them(fresh: FreshMemory) -> None:
    early = torch.empty(100)
    with fresh:
        zeros, ones, full = torch.zeros(10), torch.ones(10), torch.full((10,), 3.0)
        added = ones + 1
    assert not zeros.any() and (ones == 1).all() and (full == 3).all() and (added == 2).all()
    assert [left(fresh, x) for x in (early, zeros, ones, full, added)] == [[]] * 5


WRITES: dict[str, tuple[Callable[[torch.Tensor], object], list[tuple[int, int]]]] = {
    "fill": (lambda x: x.fill_(1.0), []),
    "copy into a slice": (lambda x: x[:4].copy_(torch.ones(4)), [(16, 40)]),
    "setitem": (lambda x: x.__setitem__(slice(2, 4), 7.0), [(0, 8), (16, 40)]),
    "every other element": (lambda x: x[::2].fill_(1.0), [(k, k + 4) for k in range(4, 40, 8)]),
    "out=": (lambda x: torch.add(torch.ones(10), 1, out=x), []),
    "a list of tensors": (lambda x: torch._foreach_zero_([x[:5]]), [(20, 40)]),
    "the poison itself": (lambda x: x.view(torch.uint8).copy_(torch.from_numpy(np.resize(POISON, 40))), []),
    "a copy of itself": (lambda x: x.copy_(x.clone()), [(0, 40)]),
    "a part of itself": (lambda x: x[:5].fill_(1.0).add_(0).copy_(x[5:]), [(0, 40)]),
    "NumPy": (lambda x: x.numpy().__setitem__(slice(0, 3), 1.5), [(12, 40)]),
    "nothing": (lambda x: x.view(2, 5).t_(), [(0, 40)]),
    "reading": (lambda x: x.sum(), [(0, 40)]),
}


@pytest.mark.parametrize(("write", "expected"), WRITES.values(), ids=WRITES)
def test_what_is_left_after_a_write(
    write: Callable[[torch.Tensor], object], expected: list[tuple[int, int]], fresh: FreshMemory
) -> None:
    with fresh:
        x = torch.empty(10)
        write(x)
    assert left(fresh, x) == expected


COPIES: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], list[tuple[int, int]]]] = {
    "clone": (lambda x: x.clone(), [(16, 40)]),
    "wider": (lambda x: x.to(torch.float64), [(32, 80)]),
    "narrower": (lambda x: x.half(), [(8, 20)]),
    "integers": (lambda x: x.to(torch.int32), [(16, 40)]),
    "cat": (lambda x: torch.cat([torch.ones(3), x]), [(28, 52)]),
    "cat into out": (lambda x: torch.cat([x, torch.ones(1)], out=torch.zeros(11)), [(16, 40)]),
    "stack": (lambda x: torch.stack([torch.ones(10), x], dim=1), [(k, k + 4) for k in range(36, 80, 8)]),
    "contiguous": (lambda x: x.view(2, 5).t().contiguous(), [(4, 8), (12, 16), (20, 24), (28, 40)]),
    "a slice": (lambda x: x[3:6].clone(), [(4, 12)]),
    "repeat": (lambda x: x[:5].repeat(2), [(16, 20), (36, 40)]),
    "expand": (lambda x: x[5:6].expand(3).contiguous(), [(0, 12)]),
    "pad": (lambda x: torch.nn.functional.pad(x, (2, 2), value=3.0), [(24, 48)]),
    "flip": (lambda x: x.flip(0), [(0, 24)]),
    "gathered": (lambda x: x[torch.tensor([0, 9, 1])], [(4, 8)]),
    "chosen": (lambda x: torch.where(torch.arange(10) < 7, x, 0.0), [(16, 28)]),
    "filled by a mask": (lambda x: x.masked_fill(torch.arange(10) < 7, 1.0), [(28, 40)]),
    "copied into": (lambda x: torch.zeros(10).copy_(x), [(16, 40)]),
    "grown": (lambda x: x.resize_(20), [(16, 80)]),
    "grown from nothing": (lambda x: torch.empty(0).resize_(4), [(0, 16)]),
    "grown from what is known": (lambda x: torch.ones(3).resize_(10), [(12, 40)]),
    "shrunk": (lambda x: x.resize_(6), [(16, 40)]),
    "computed from it": (lambda x: x + 1, []),
}


@pytest.mark.parametrize(("copy", "expected"), COPIES.values(), ids=COPIES)
def test_a_copy_of_uninitialised_memory_is_no_better(
    copy: Callable[[torch.Tensor], torch.Tensor], expected: list[tuple[int, int]], fresh: FreshMemory
) -> None:
    with fresh:
        x = torch.empty(10)
        x[:4] = 1.0
        y = copy(x)
    assert left(fresh, y) == expected


def test_a_copy_keeps_what_was_written(fresh: FreshMemory) -> None:
    with fresh:
        x = torch.empty(10)
        x[:4] = torch.arange(4.0)
        y = torch.cat([x.half(), torch.ones(2, dtype=torch.float16)])
    assert y[:4].tolist() == [0, 1, 2, 3] and y[10:].tolist() == [1, 1]
    assert torch.isnan(y[4:10]).all()


def test_records_of_one_thread_may_end_in_any_order() -> None:
    first, second = FreshMemory(1 << 20), FreshMemory(1 << 20)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    x = torch.empty(10)
    second.__exit__(None, None, None)
    assert left(second, x) == [(0, 40)] and left(first, x) == []
    assert not _get_current_dispatch_mode_stack()


def test_tasks_that_record_at_the_same_time_each_keep_the_poison() -> None:
    async def task(begin: asyncio.Event, end: asyncio.Event) -> bool:
        with triton_lab.record():
            begin.set()
            await end.wait()
            return bool(torch.isnan(torch.empty(100)).all())

    async def main() -> list[bool]:
        begun, never, go = asyncio.Event(), asyncio.Event(), asyncio.Event()
        first = asyncio.create_task(task(begun, go))
        await begun.wait()
        second = asyncio.create_task(task(never, never))
        await asyncio.sleep(0)
        go.set()
        return [await first, await second]

    assert asyncio.run(main()) == [True, True]


def test_a_mode_of_the_users_outlives_a_record_that_was_there_before_it() -> None:
    class Counting(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            Counting.calls += 1
            return func(*args, **(kwargs or {}))

    fresh, mine = FreshMemory(1 << 20), Counting()
    fresh.__enter__()
    mine.__enter__()
    fresh.__exit__(None, None, None)
    torch.zeros(3)
    assert Counting.calls == 1
    assert _get_current_dispatch_mode_stack() == [mine]
    mine.__exit__(None, None, None)
    assert not _get_current_dispatch_mode_stack()


def test_bytes_that_happen_to_look_like_poison_are_not_taken_for_it(fresh: FreshMemory) -> None:
    with fresh:
        x = torch.empty(4096, dtype=torch.uint8)
        x.numpy()[:] = np.random.default_rng(0).integers(0, 256, 4096)
    assert left(fresh, x) == []


def test_a_gap_of_one_byte_is_seen_between_bytes_that_torch_wrote(fresh: FreshMemory) -> None:
    with fresh:
        x = torch.empty(8, dtype=torch.uint8)
        x[:3] = 1
        x[4:] = 1
    assert left(fresh, x) == [(3, 4)]


def test_a_storage_beyond_the_limit_is_left_alone() -> None:
    small = FreshMemory(100)
    with small:
        x = torch.empty(26)
    assert left(small, x) == []


def test_tensors_without_memory_of_their_own_are_left_alone(fresh: FreshMemory) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with fresh:
        torch.empty(3, device="meta")
        with FakeTensorMode():
            torch.empty(3)
        torch.empty(0)
    assert len(fresh.unwritten([(0, 1 << 62)])) == 0


def test_torch_fills_by_itself_when_told_to_be_deterministic(fresh: FreshMemory) -> None:
    torch.use_deterministic_algorithms(True)
    try:
        with fresh:
            x = torch.empty(10, dtype=torch.int32)
    finally:
        torch.use_deterministic_algorithms(False)
    assert (x == torch.iinfo(torch.int32).max).all()
    assert left(fresh, x) == []


def test_another_thread_is_left_alone(fresh: FreshMemory) -> None:
    made: list[torch.Tensor] = []
    with fresh:
        thread = threading.Thread(target=lambda: made.append(torch.empty(100)))
        thread.start()
        thread.join()
    assert left(fresh, made[0]) == []


def test_nested_records_each_know_what_is_fresh() -> None:
    outer, inner = FreshMemory(1 << 20), FreshMemory(1 << 20)
    with outer:
        x = torch.empty(10)
        with inner:
            y = torch.empty(10)
            x[:5] = 1.0
    assert left(outer, x) == [(20, 40)]
    assert left(inner, x) == []
    assert left(outer, y) == left(inner, y) == [(0, 40)]


def test_autograd_works_inside_a_record() -> None:
    with triton_lab.record():
        layer = torch.nn.Linear(4, 3)
        x = torch.ones(2, 4, requires_grad=True)
        layer(x).sum().backward()
    assert x.grad is not None and torch.isfinite(x.grad).all()
    assert torch.isfinite(layer.weight).all()


def test_a_storage_that_takes_the_place_of_another_is_new(fresh: FreshMemory) -> None:
    with fresh:
        for _ in range(20):
            x = torch.empty(1000)
            assert left(fresh, x) == [(0, 4000)]
            x.zero_()
            assert left(fresh, x) == []
            del x


def test_ranges_of_others_writes_are_taken_out(fresh: FreshMemory) -> None:
    with fresh:
        x = torch.empty(10)
    start = x.data_ptr()
    fresh.written(Ranges.of([start + 8], [start + 20]))
    assert left(fresh, x) == [(0, 8), (20, 40)]


def test_compiled_functions_stay_compiled_inside_a_record() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x).copy_(x * 2)

    x = torch.ones(10)
    with triton_lab.record():
        compiled = torch.compile(double, backend="eager", fullgraph=True)
        assert torch.equal(compiled(x), x * 2)


@given(st.data())
@settings(deadline=None, max_examples=80)
def test_what_still_holds_the_poison_are_rows_that_are_long_enough_or_whole(data: st.DataObject) -> None:
    """Fewer bytes than four may look so by chance, but where all of a piece do."""
    pairs = data.draw(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=4))
    unwritten = Ranges.of([start for start, _ in pairs], [start + length for start, length in pairs])
    memory = pattern(0, 64).copy()
    for place in data.draw(st.lists(st.integers(0, 60), max_size=6)):
        memory[place] ^= 0xFF
    asked = []

    def held(start: int, stop: int) -> Any:
        asked.append((start, stop))
        return memory[start:stop]

    found = still_poisoned(unwritten, held)
    same = memory == pattern(0, 64)
    expected: set[int] = set()
    for start, stop in zip(unwritten.start.tolist(), unwritten.stop.tolist(), strict=True):
        row: list[int] = []
        for place in range(start, stop + 1):
            if place < stop and same[place]:
                row.append(place)
                continue
            if len(row) >= 4 or len(row) == stop - start:
                expected.update(row)
            row = []
    told = {place for a, b in zip(found.start.tolist(), found.stop.tolist(), strict=True) for place in range(a, b)}
    assert told == expected
    assert sorted({place for a, b in asked for place in range(a, b)}) == sorted(
        {place for a, b in zip(unwritten.start.tolist(), unwritten.stop.tolist(), strict=True) for place in range(a, b)}
    )
