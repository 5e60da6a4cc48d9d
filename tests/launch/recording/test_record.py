"""Records: bounded, nested, from several threads, and gone when their launch is."""

from __future__ import annotations

import gc
import re
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.diagnosis.launch_assertion import CheckFailed
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import CannotReplay, replay


@triton.jit
def add_one_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + tl.load(index_ptr + offsets)))


@triton.jit
def all_to_one_kernel(out_ptr):
    tl.store(out_ptr, tl.program_id(0))


def run(n: int = 100, grid: int = 4) -> torch.Tensor:
    out = torch.zeros(n)
    add_one_kernel[(grid,)](torch.arange(float(n)), out, n, BLOCK=32)
    return out


def test_a_nested_record_hears_its_launches_and_the_outer_one_hears_all() -> None:
    with triton_lab.record() as outer:
        run()
        with triton_lab.record() as inner:
            run()
    assert (len(outer), len(inner)) == (2, 1)
    for launch in (*outer, *inner):
        assert [access.mask().sum() for access in launch.accesses] == [100, 100]


def test_nothing_is_recorded_outside() -> None:
    with triton_lab.record() as launches:
        pass
    run()
    assert launches == []


def test_launches_of_two_threads_are_told_apart() -> None:
    def work(n: int) -> None:
        for _ in range(10):
            assert torch.equal(run(n, grid=n // 32 + 1), torch.arange(float(n)) + 1)

    with triton_lab.record() as launches:
        threads = [threading.Thread(target=work, args=(n,), name=f"thread {n}") for n in (100, 500)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(launches) == 20
    for launch in launches:
        n = {"thread 100": 100, "thread 500": 500}[launch.thread]
        load, store = launch.accesses
        assert launch.argument("n").value == n
        assert load.mask().sum() == store.mask().sum() == n
        assert not [found for found in launch.findings if found.severity != "note"]


def test_a_launch_is_gone_when_nobody_holds_it() -> None:
    x = torch.ones(100)
    with triton_lab.record() as launches:
        add_one_kernel[(4,)](x, torch.zeros(100), 100, BLOCK=32)
    (launch,) = launches
    assert launch.findings is not None and launch.accesses[0].values().sum() == 100
    watched = [weakref.ref(launch), weakref.ref(launch.tape), weakref.ref(launch.snapshot)]
    del launch
    launches.clear()
    gc.collect()
    assert [each() for each in watched] == [None] * 3


def test_a_launch_does_not_keep_its_tensors() -> None:
    x = torch.ones(100)
    with triton_lab.record() as launches:
        add_one_kernel[(4,)](x, torch.zeros(100), 100, BLOCK=32)
    watched = weakref.ref(x)
    del x
    gc.collect()
    assert watched() is None
    assert launches[0].accesses[0].values()[0, 0] == 1  # what was in it is kept


def held(launch: Launch) -> int:
    """The bytes of all arrays that a launch holds."""
    events = sum(event.nbytes for events in launch.events.values() for event in events)
    assert launch.snapshot is not None
    return events + launch.snapshot.nbytes


def test_a_record_stays_within_what_it_may_keep_and_says_what_it_dropped() -> None:
    index = torch.randperm(1 << 14)
    with triton_lab.record(max_bytes=100_000) as launches:
        gather_kernel[(16,)](torch.ones(1 << 14), index, torch.zeros(1 << 14), BLOCK=1024)
    assert held(launches[0]) <= 100_000
    assert "(0 MB)" in launches[0].dropped and "max_bytes=" in launches[0].dropped
    assert re.search(r"\d+ accesses", launches[0].dropped)
    assert not [found for found in launches[0].findings if found.severity != "note"]


def test_affine_accesses_take_few_bytes() -> None:
    n = 1 << 20
    x, out = torch.zeros(n), torch.zeros(n)
    with triton_lab.record() as launches:
        add_one_kernel[(n // 1024,)](x, out, n, BLOCK=1024)
    events = [event for events in launches[0].events.values() for event in events]
    assert sum(event.nbytes for event in events) < 100 * 1024
    assert launches[0].accesses[0].address().shape == (1024, 1024)
    assert sum(event.nbytes for event in events) < 100 * 1024, "looking at it leaves it as small"


def test_what_was_dropped_makes_no_finding() -> None:
    """A tape that was cut holds the beginning: a store that it lacks is not taken for one that never was."""
    for keep in range(0, 6000, 500):
        with triton_lab.record(max_bytes=keep) as launches:
            x, middle = torch.ones(100), torch.empty(100)
            add_one_kernel[(4,)](x, middle, 100, BLOCK=32)
            add_one_kernel[(4,)](middle, torch.empty(100), 100, BLOCK=32)
        assert not [str(found) for launch in launches for found in launch.findings if found.severity != "note"]


def test_the_events_of_a_failed_store_are_those_that_happened() -> None:
    out = torch.zeros(10)
    with triton_lab.record() as launches, pytest.raises(Exception, match="out of bounds"):
        add_one_kernel[(1,)](torch.ones(100), out, 100, BLOCK=32)
    assert [len(events) for _, events in sorted(launches[0].events.items())] == [1, 0]
    assert not out.any()


def test_check_raises_on_errors_alone() -> None:
    with triton_lab.check() as launches:
        run()
    assert {found.severity for found in launches[0].findings} <= {"note"}
    told = r"all_to_one_kernel.*program \(0, 0, 0\) and program \(1, 0, 0\) both store to out_ptr\[0\]"
    with pytest.raises(CheckFailed, match=told), triton_lab.check():
        all_to_one_kernel[(4,)](torch.zeros(1, dtype=torch.int32))


def test_a_replay_cuts_the_grid_as_the_launch_did(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from triton_lab.backend.plugin import launcher

    monkeypatch.setattr(launcher, "limits", replace(launcher.limits, batch=3))
    with triton_lab.record() as launches:
        run(320, grid=10)
    monkeypatch.undo()
    load, store = launches[0].accesses
    assert np.array_equal(load.values().reshape(-1), np.arange(320))
    assert np.array_equal(store.values().reshape(-1), np.arange(320) + 1)


def test_accesses_through_a_table_of_pointers_are_replayed() -> None:
    @triton.jit
    def table_kernel(table_ptr, out_ptr, BLOCK: tl.constexpr):
        program = tl.program_id(0)
        source = tl.load(table_ptr + program).to(tl.pointer_type(tl.float32))
        lane = tl.arange(0, BLOCK)
        tl.store(out_ptr + program * BLOCK + lane, tl.load(source + lane))

    parts: list[Any] = [torch.full((16,), float(k)) for k in range(3)]
    table = torch.tensor([part.data_ptr() for part in parts])
    with triton_lab.record() as launches:
        table_kernel[(3,)](table, torch.zeros(48), BLOCK=16)
    for part in parts:
        part.zero_()
    assert launches[0].accesses[1].values()[:, 0].tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_memory_that_may_only_be_read_stays_so_in_a_replay(wording: Wording, tmp_path: Path) -> None:
    np.zeros(100, np.float32).tofile(tmp_path / "data")
    out = torch.from_numpy(np.memmap(tmp_path / "data", np.float32, mode="r"))
    with triton_lab.record() as launches, pytest.raises(KernelError):
        add_one_kernel[(4,)](torch.ones(100), out, 100, BLOCK=32)
    with pytest.raises(KernelError) as caught:
        replay(launches[0], strict=True)
    assert caught.value.fault is not None
    (found,) = launches[0].findings
    assert (found.kind, found.count) == ("out-of-bounds", 100)
    where = {"lane": "lane 0", "program": "program (0, 0, 0)", "element": "element 0", "lanes": "100 lanes"}
    tensor = "out_ptr: float32, shape (100,), strides (1,)"
    wording(found.message, tensor=tensor, name="out_ptr", **where)
    assert ".clone()" in found.hint


def test_the_launches_of_a_record_share_a_bound_and_those_beyond_it_say_so() -> None:
    x = torch.zeros(1 << 18)  # one MB
    with triton_lab.record(max_bytes=2 << 20, max_total_bytes=10 << 20) as launches:
        for _ in range(40):
            add_one_kernel[(1 << 8,)](x, x, x.numel(), BLOCK=1 << 10)
    assert len(launches) == 40
    whole = [launch for launch in launches if not launch.dropped]
    assert 8 <= len(whole) <= 10 and whole == launches[: len(whole)], "the first ones are kept in full"
    assert sum(launch.snapshot.nbytes for launch in launches if launch.snapshot) <= 10 << 20
    assert "10 MB" in launches[-1].dropped and "max_total_bytes=" in launches[-1].dropped
    with pytest.raises(CannotReplay, match=r"[Uu]se record\(max_total_bytes="):
        launches[-1].values("offsets")
    assert launches[0].accesses[0].values().shape == (1 << 8, 1 << 10)


def test_a_kernel_whose_python_function_was_let_go_is_recorded_and_its_values_say_why_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Inductor does this to kernels that it found in its cache."""
    # Triton's cache goes by the text, and may know another checkout's file.
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    add_one_kernel.device_caches.clear()
    kernel = add_one_kernel.warmup(torch.zeros(4), torch.zeros(4), 4, BLOCK=32, grid=(1,))
    x = torch.arange(4.0)
    with monkeypatch.context() as patch:
        patch.setattr(add_one_kernel, "fn", None)
        with triton_lab.record() as launches, pytest.raises(KernelError, match="out of bounds"):
            kernel[(1, 1, 1)](x, x, 5, 32)
        (launch,) = launches
        with pytest.raises(CannotReplay, match="in this process"):
            launch.values("offsets")
    (finding,) = launch.findings
    assert (finding.kind, finding.argument) == ("out-of-bounds", "x_ptr")
    assert launch.file == __file__ and finding.line == add_one_kernel.starting_line_number + 3
