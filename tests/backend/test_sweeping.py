"""A sweep on a GPU: measured by its own clock, of a stand-in, and held against what that reaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.backend.fake_gpu import FakeDriver, clock, on_gpu
from triton_lab.backend.targets import gpu_timer
from triton_lab.launch.benchmark import sweep


@triton.jit
def doubled(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) * 2, mask=offsets < n)


def mine(n: int, BLOCK: int, num_warps: int = 4) -> Callable[[], Any]:
    x, y = on_gpu(torch.ones(n)), on_gpu(torch.zeros(n))
    return lambda: doubled[(triton.cdiv(n, BLOCK),)](x, y, n, BLOCK=BLOCK, num_warps=num_warps)


def test_a_gpu_of_another_machine_is_not_timed_through_the_network(gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_lab.backend.targets.benchmark_events import DeviceInterface

    monkeypatch.setattr(FakeDriver, "get_device_interface", lambda self: DeviceInterface)
    with pytest.raises(lab.TargetError, match=r"lab\.sweep .*lab\.record\(time=True\)"):
        lab.sweep(mine, [64], configs=[{"BLOCK": 32}])


def test_a_gpus_times_are_its_own_and_have_a_share_of_what_it_reaches(
    gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_timer, "time", clock)
    monkeypatch.setattr(gpu_timer, "MOST", 8)
    monkeypatch.setattr(sweep, "_known_peaks", {})
    asked: list[int] = []

    def copy(driver: object, size: int) -> float:
        asked.append(size)
        if size > 128 << 20:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return size * 2 / 2e12

    monkeypatch.setattr(sweep, "_copy", copy)
    monkeypatch.setattr(sweep, "_product", lambda driver, rows, dtype: 2 * rows**3 / 4e14)
    configs = [{"BLOCK": 32}, {"BLOCK": 64, "num_warps": 2}]
    found = lab.sweep(mine, [64, 256], configs=configs, dtype="bfloat16")
    assert found.target == "gpu" and found.quantity == "bytes"
    assert found.peaks is not None and found.peaks.bytes_per_second == pytest.approx(2e12)
    assert found.peaks.dtype == "bfloat16" and found.peaks.device == "Fake 9000"
    assert asked == [256 << 20, 128 << 20], "half of it, where the GPU has no memory"
    assert [row.bytes for row in found] == [512, 512, 2048, 2048], "counted on the CPU target"
    for row in found:
        assert row.time is not None and row.time.runs == 8 and row.time.device == "Fake 9000"
        assert row.seconds == pytest.approx(10e-6)
        assert found.share(row) == pytest.approx(row.bytes / 10e-6 / 2e12)  # type: ignore[operator]
    lab.sweep(mine, [64], configs=configs[:1], dtype="bfloat16")
    assert len(asked) == 2, "measured once, and kept"
