"""Launches that are put back where a check fails that depends on what was written: nobody sees that they began."""

from __future__ import annotations

import mmap
import threading

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.native import waits
from tests.native.harness import forcing
from tests.native.launches import on_both
from tests.native.test_waits import by_numpy, natively, whole
from triton_lab.native import engine
from triton_lab.native.runtime import native_launch, transaction
from triton_lab.native.runtime.transaction import WAITED

FAILED = "a check failed that depends on what was written"


def test_a_stream_is_compacted_where_there_is_room() -> None:
    x = torch.randint(-9, 9, (1000,), dtype=torch.int32)
    out, count = whole(1000), whole()
    natively(lambda: waits.compacted[(8,)](x, out, count, 1000, BLOCK=128), out, count)


def test_an_address_that_was_written_and_leads_astray_is_told_in_the_same_words() -> None:
    x, out, count = torch.ones(1000, dtype=torch.int32), whole(700), whole()
    error = by_numpy(lambda: waits.compacted[(8,)](x, out, count, 1000, BLOCK=128), out, count, why=FAILED)
    assert "lane 60 of program (5, 0, 0)" in error


@pytest.mark.parametrize("first", [3, 30, -5])
@pytest.mark.parametrize("shared", [True, False])
def test_writes_of_any_width_over_one_another_are_put_back(first: int, shared: bool) -> None:
    storage = torch.randint(-(2**31), 2**31 - 1, (24,), dtype=torch.int32)
    small = storage.view(torch.int8)[5:] if shared else torch.arange(30, dtype=torch.int8)
    at, out = whole(1, first), torch.zeros(16)
    error, ran = on_both(
        lambda: waits.overlapping[(1,)](small, storage, at, out), storage, at, out, *([] if shared else [small])
    )
    assert bool(error) == (first != 3) and ran.engine == ("numpy" if error else "native")


def test_what_somebody_else_writes_beside_meanwhile_stays(monkeypatch) -> None:
    storage = torch.zeros(300, dtype=torch.int32)
    flags, out, other = whole(12), storage[:12], storage[12:]
    put_back = transaction.Kept.put_back

    def meanwhile(self) -> None:
        assert out[:12].tolist() == [1, 2, 3] + [0] * 9 and flags.tolist() == [1, 1, 1] + [0] * 9
        other.fill_(7)
        put_back(self)
        assert not out.any() and not flags.any()

    monkeypatch.setattr(transaction.Kept, "put_back", meanwhile)
    with lab.limits(engine="native"):
        waits.met[(12,)](flags, out)
    assert engine.lately[-1].why == WAITED
    assert (other == 7).all() and out.tolist() == list(range(1, 13))


@pytest.mark.filterwarnings("ignore:The given buffer is not writable")
def test_memory_that_may_only_be_read_is_not_written() -> None:
    mapped = mmap.mmap(-1, 4096, prot=mmap.PROT_READ)
    out = torch.frombuffer(np.frombuffer(mapped, np.int32), dtype=torch.int32)
    flags = whole(12)
    error, ran = on_both(lambda: waits.flagged[(12,)](flags, out, HOW="volatile", BACKWARDS=False), flags)
    assert "read" in error and ran.engine == "numpy"


def test_memory_that_is_too_large_to_be_kept_is_left_to_numpy() -> None:
    x, out, count = torch.ones(1000, dtype=torch.int32), whole(1 << 18), whole()
    with lab.limits(max_bytes=1 << 20):
        why = "the memory that it may write is too large for an undo copy"
        assert not by_numpy(lambda: waits.compacted[(8,)](x, out, count, 1000, BLOCK=128), out, count, why=why)


def test_tensors_that_share_storage_come_out_alike() -> None:
    storage = torch.arange(200, dtype=torch.int32)
    lock, total, x = storage[:1], storage[1:17], storage[5:]
    natively(lambda: waits.locked[(8,)](lock, total, x, 16, ROW=16), storage)


def test_one_thread_runs_it(monkeypatch) -> None:
    for name in ("_WORTH_SECONDS", "_TELLING_SECONDS", "_FINDING_SECONDS"):
        monkeypatch.setattr(native_launch, name, 0.0)
    monkeypatch.setattr(native_launch, "shared", pytest.fail)
    x, lock, total = torch.arange(400 * 16, dtype=torch.int32), whole(), whole(16)
    natively(lambda: waits.locked[(400,)](lock, total, x, 16, ROW=16), lock, total)


@triton.jit
def anywhere(lock, places, out, HOW: tl.constexpr):
    p = tl.program_id(0)
    if HOW == "late":
        tl.store(out + p, p)
        tl.device_assert(tl.load(out + p) == p)
    else:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
    if HOW == "chosen":
        tl.store(out + p if tl.load(lock) == 2 else lock, 1)
    else:
        there = tl.load(places + p).to(tl.pointer_type(tl.int32))
        if HOW == "reads":
            tl.store(out + p, tl.load(there))
        else:
            tl.store(there, p)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


WAITS = "its programs wait for one another"
LOADED = "and it uses addresses that it has loaded or computed from integers"
WHY = {
    "reads": f"{WAITS}, {LOADED}",
    "writes": f"{WAITS}, {LOADED}",
    "late": f"what the kernel asserts or looks up depends on memory that it has written itself, {LOADED}",
    "chosen": f"{WAITS}, and it writes through a pointer that may lead to several tensors",
}


@pytest.mark.parametrize("how", WHY)
def test_who_waits_or_is_checked_late_and_goes_where_nobody_knows_is_numpys_and_is_told_so(how: str) -> None:
    tensors = [whole(1, k) for k in range(4)]
    places = torch.tensor([each.data_ptr() for each in tensors])
    lock, out = whole(), whole(4)
    error, ran = on_both(lambda: anywhere[(4,)](lock, places, out, HOW=how, debug=True), lock, out, *tensors)
    assert not error and (ran.engine, ran.why) == ("numpy", WHY[how])


@triton.jit
def added(lock, total, x, at):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.atomic_add(total + tl.load(at), tl.load(x + tl.program_id(0)))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_sums_of_floats_are_the_same_each_time() -> None:
    x, lock, at = torch.randn(1000), whole(), whole()
    found = set()
    for _ in range(3):
        total = torch.zeros(1)
        with lab.limits(engine="native"):
            added[(1000,)](lock, total, x, at)
        assert engine.lately[-1].engine == "native"
        found.add(total.item())
    one = np.float32(0)
    for each in x.numpy():
        one += each
    assert found == {float(one)}


def test_several_threads_launch_one_kernel_on_parts_of_one_storage() -> None:
    storage, x = torch.zeros(4, 2, 16, dtype=torch.int32), torch.arange(20 * 16, dtype=torch.int32)

    def work(part: torch.Tensor) -> None:
        for _ in range(20):
            waits.locked[(20,)](part[0], part[1], x, 16, ROW=16)

    with lab.limits(engine="native"):
        threads = [threading.Thread(target=work, args=(part,)) for part in storage]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert (storage[:, 1] == 20 * x.view(20, 16).sum(0)).all() and not storage[:, 0].any()


@pytest.mark.parametrize("room", [260, 258])
def test_blocks_that_are_named_by_their_corners_are_put_back_too(room: int) -> None:
    lock, x, out = whole(), torch.arange(256, dtype=torch.int32), torch.arange(room, dtype=torch.int32)
    rows = torch.tensor([7, 0, 3, 1, 6, 2, 9, 5], dtype=torch.int32)
    error, ran = on_both(lambda: waits.described[(4,)](lock, x, out, rows), lock, out)
    assert bool(error) == (room < 260) and ran.engine == ("numpy" if error else "native")


# Every guard fails.


def _locked():
    x, lock, total = torch.arange(6 * 16, dtype=torch.int32), whole(), whole(16)
    return lambda: waits.locked[(6,)](lock, total, x, 11, ROW=16), (lock, total)


def _flagged():
    flags, out = whole(6), whole(6)
    return lambda: waits.flagged[(6,)](flags, out, HOW="break", BACKWARDS=False), (flags, out)


def _hashed():
    keys, counts, x = whole(16, -1), whole(16), torch.arange(30, dtype=torch.int32) % 13 * 16
    return lambda: waits.hashed[(30,)](keys, counts, x, SIZE=16), (keys, counts)


def _overlapping():
    storage, at, out = torch.arange(24, dtype=torch.int32), whole(), torch.zeros(16)
    small = storage.view(torch.int8)[5:]
    return lambda: waits.overlapping[(1,)](small, storage, at, out), (storage, at, out)


@pytest.mark.parametrize("make", [_locked, _flagged, _hashed, _overlapping])
def test_wherever_a_guard_fails_the_launch_is_run_from_its_start_by_numpy(make, monkeypatch) -> None:
    monkeypatch.setattr(transaction, "_MOST_FALLS", 1 << 30)
    launch, tensors = make()
    with forcing() as forced:
        natively(launch, *tensors)
        assert forced.sites
        fell = 0
        for site in forced.sites:
            for times in (0, 1, 3, 7):
                forced.fail(site, times)
                error, ran = on_both(launch, *tensors)
                is_other = forced.has_failed(site) and site.what != "within"
                assert not error and ran.engine == ("numpy" if is_other else "native"), site
                fell += is_other
        assert fell > 4
