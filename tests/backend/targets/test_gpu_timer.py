"""How long kernels take on a GPU: measured on a stand-in with a clock of ours; the real one is in `tests/gpu`."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.backend import fake_gpu
from tests.backend.fake_gpu import FakeDriver, clock, on_gpu
from tests.kernels import load_through
from tests.wordings import Wording
from triton_lab.backend.targets import both_targets, gpu_timer
from triton_lab.backend.targets.gpu_timer import IN_ALL, LEAST, MOST, Time, measured


@triton.jit
def add_to(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


@triton.jit
def doubled(x, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets) * 2)


@pytest.fixture
def timed(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a GPU, whose clock is the only one."""
    monkeypatch.setattr(gpu_timer, "time", clock)
    # Here all that is on the GPU would look like pinned memory.
    monkeypatch.setattr(both_targets, "is_in_reach", lambda tensor: False)


def last(launches: list[lab.Launch]) -> lab.Launch:
    return next(launch for launch in reversed(launches) if launch.target == "gpu")


def test_the_median_and_what_three_of_five_lie_between() -> None:
    assert astuple(Time.of([5.0, 1.0, 2.0, 3.0, 4.0, 6.0], "gpu")) == (3.5, 2.0, 5.0, 6, None, "gpu")
    assert astuple(Time.of([2.0]))[:4] == (2.0, 2.0, 2.0, 1)


def test_a_time_is_printed_with_its_spread(wording: Wording) -> None:
    assert str(Time(4.9e-6, 4.8e-6, 5.1e-6, 200, 0.0977, "gpu")) == "4.9 µs (4.8 µs to 5.1 µs in 200 runs)"
    wording(Time.of([95e-6]), time="95 µs")


@pytest.mark.parametrize(("seconds", "runs"), [(10e-6, MOST), (1e-3, 90), (0.02, 4), (0.06, 1), (0.5, 1)])
def test_so_many_runs_as_fit_into_the_time(seconds: float, runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_timer, "time", clock)
    clock.reset()
    clock.takes = lambda _: seconds
    found = measured(clock.ran, FakeDriver(), 0.1)
    assert len(found) == pytest.approx(runs, abs=1) and found == pytest.approx([seconds] * len(found))
    assert clock.flushes == clock.runs, "the cache is flushed before each"
    assert clock.now < 2 * 0.1 + 3 * (seconds + 100e-6)
    assert LEAST <= MOST


def test_the_first_runs_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_timer, "time", clock)
    clock.reset()
    clock.takes = lambda number: 1e-3 if number < 2 else 10e-6
    assert max(measured(clock.ran, FakeDriver(), 0.1)) == pytest.approx(10e-6)


def test_a_library_that_is_loaded_in_the_first_run_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_timer, "time", clock)
    clock.reset()
    clock.takes = lambda number: 0.14 if number == 0 else 10e-6
    assert max(measured(clock.ran, FakeDriver(), 0.1)) == pytest.approx(10e-6)


def test_a_launch_on_the_gpu_has_the_time_of_its_kernel(
    timed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))  # what an earlier run has compiled is not compiled
    x, y = on_gpu(torch.arange(32.0)), on_gpu(torch.zeros(32))
    clock.takes = lambda number: 200e-6 if not number else (9e-6 if number % 3 else 12e-6)
    with lab.target("gpu"), lab.record(time=True) as launches:
        doubled[(1,)](x, y, BLOCK=32)
    time = last(launches).time
    assert time is not None and last(launches).seconds == time.median
    assert (time.median, time.low, time.high) == pytest.approx((9e-6, 9e-6, 12e-6))
    assert time.runs == MOST and time.device == "Fake 9000"
    assert time.compile is not None and time.compile > 0, "the compiler's time is apart from it"
    assert last(launches).interpreted > 0


def test_what_was_compiled_before_says_so(timed: None) -> None:
    x, y = on_gpu(torch.arange(32.0)), on_gpu(torch.zeros(32))
    with lab.target("gpu"):
        doubled[(1,)](x, y, BLOCK=32)
        with lab.record(time=True) as launches:
            doubled[(1,)](x, y, BLOCK=32)
    assert last(launches).time.compile is None  # type: ignore[union-attr]


@pytest.mark.parametrize("where", ["gpu", "cpu"])
def test_a_kernel_that_changes_its_input_runs_once_on_the_users_data(timed: None, where: str) -> None:
    x = torch.zeros(40)
    x = on_gpu(x) if where == "gpu" else x
    with lab.target("gpu"), lab.record(time=True) as launches:
        add_to[(2,)](x, 40, BLOCK=32)
    assert x.tolist() == [1.0] * 40
    assert last(launches).time.runs == MOST  # type: ignore[union-attr]
    ((_, theirs, ours),) = last(launches).outputs
    assert theirs.tolist() == ours.tolist() == [1.0] * 40


def test_each_run_begins_with_what_memory_held(timed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    ran = clock.ran

    def watched(*arguments: object) -> None:
        seen.append([float(one[0]) for one in fake_gpu.memory.values() if one.dtype == torch.uint8 and one.numel() > 8])
        ran()

    monkeypatch.setattr(clock, "ran", watched)
    monkeypatch.setattr(gpu_timer, "MOST", 8)
    x = on_gpu(torch.full((8,), 3.0))
    with lab.target("gpu"), lab.record(time=True):
        add_to[(1,)](x, 8, BLOCK=8)
    assert len(seen) > 8 and len({tuple(each) for each in seen[2:]}) == 1, "after each run the copy holds the same"
    assert x.tolist() == [4.0] * 8


def test_without_being_asked_the_launch_runs_once(timed: None) -> None:
    x, y = on_gpu(torch.arange(32.0)), on_gpu(torch.zeros(32))
    with lab.target("gpu"), lab.record() as launches:
        doubled[(1,)](x, y, BLOCK=32)
    assert clock.runs == 1 and clock.flushes == 0
    assert last(launches).time.runs == 1  # type: ignore[union-attr]


def test_what_takes_long_runs_once_alone(timed: None) -> None:
    x, y = on_gpu(torch.arange(32.0)), on_gpu(torch.zeros(32))
    clock.takes = lambda _: 2.5
    with lab.target("gpu"), lab.record(time=True) as launches:
        doubled[(1,)](x, y, BLOCK=32)
    assert clock.runs == 1
    assert astuple(last(launches).time)[:4] == (2.5, 2.5, 2.5, 1)  # type: ignore[arg-type]


def test_all_launches_together_are_measured_for_a_bounded_time(timed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(both_targets, "time", clock)
    x, y = on_gpu(torch.arange(32.0)), on_gpu(torch.zeros(32))
    clock.takes = lambda _: 8e-3
    with lab.target("gpu"), lab.record(time=True) as launches:
        for _ in range(30):
            doubled[(1,)](x, y, BLOCK=32)
    runs = [launch.time.runs for launch in launches if launch.target == "gpu" and launch.time is not None]
    assert runs[0] > 3 and runs[-1] == 1
    assert clock.now < IN_ALL + 1.0


def test_addresses_in_memory_would_lead_out_of_the_copies(timed: None) -> None:
    x, y = on_gpu(torch.ones(1)), on_gpu(torch.zeros(1))
    table = on_gpu(torch.tensor([x.data_ptr()]))
    with lab.target("gpu"), lab.record(time=True) as launches:
        load_through[(1,)](table, y)
    assert last(launches).time.runs == 1 and clock.runs == 1  # type: ignore[union-attr]


def test_no_memory_for_copies_leaves_the_launchs_own_time(timed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(both_targets, "Copies", full)
    x, y = on_gpu(torch.arange(32.0)), on_gpu(torch.zeros(32))
    with lab.target("gpu"), lab.record(time=True) as launches:
        doubled[(1,)](x, y, BLOCK=32)
    assert last(launches).time.runs == 1 and y[3] == 6  # type: ignore[union-attr]


def test_on_the_cpu_there_is_no_time_of_a_gpu() -> None:
    x = torch.arange(32.0)
    with lab.target("cpu"), lab.record(time=True) as launches:
        doubled[(1,)](x, torch.zeros(32), BLOCK=32)
    assert launches[0].time is None and launches[0].seconds == launches[0].interpreted
