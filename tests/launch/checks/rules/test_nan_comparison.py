"""NaN among compared values: seen while the launch runs, with what a replay would find."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from triton_lab.backend.plugin import launcher
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.check_run import check
from triton_lab.launch.checks.rules import nan_comparison
from triton_lab.launch.launch import Launch

NAN, INF = float("nan"), float("inf")


@triton.jit
def largest_kernel(x_ptr, out_ptr, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    best = -float("inf")
    for step in range(0, STEPS):
        at = step * BLOCK + lane
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
        best = tl.maximum(best, tl.max(x - x * (x == x + 1), 0))  # infinity gives NaN
    tl.store(out_ptr + row, best)


def _launch(x: torch.Tensor) -> Launch:
    with triton_lab.record() as launches:
        out = torch.empty(len(x))
        largest_kernel[(len(x),)](x, out, x.shape[1], STEPS=2, BLOCK=16)
    return launches[0]


def _told(launch: Launch) -> list[tuple[str, int, list[int]]]:
    found = [one for one in check(launch).findings if one.kind == "nan-comparison"]
    return [(one.message, one.count, one.programs.tolist()) for one in found]


@pytest.mark.parametrize("batch", [None, 1, 3])
@pytest.mark.parametrize("spoilt", [{}, {(0, 0): NAN}, {(2, 20): NAN, (4, 3): INF}, {(1, 29): -INF, (1, 1): INF}])
def test_the_launch_says_what_a_replay_would(
    spoilt: dict[tuple[int, int], float], batch: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher.limits, "batch", batch)
    x = torch.rand(5, 30)
    for at, value in spoilt.items():
        x[at] = value
    launch = _launch(x)
    seen = _told(launch)
    assert bool(seen) == any(value != -INF for value in spoilt.values())
    launch.watched = {}
    assert _told(launch) == seen


def test_a_clean_launch_is_not_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(nan_comparison, "replay")
    launch = _launch(torch.rand(5, 30))
    assert not _told(launch) and not launch.unchecked


def test_a_launch_that_failed_is_replayed() -> None:
    x = torch.full((3, 30), NAN)
    with triton_lab.record() as launches, pytest.raises(KernelError, match="x_ptr"):
        largest_kernel[(5,)](x, torch.empty(5), 30, STEPS=2, BLOCK=16)
    seen = _told(launches[0])
    launches[0].watched = {}
    assert _told(launches[0]) == seen
