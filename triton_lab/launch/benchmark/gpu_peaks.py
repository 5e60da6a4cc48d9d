"""The peak rates of a GPU, measured once in a process by a copy in its memory and a large matrix product."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from triton_lab.backend.targets.gpu_timer import device_name, measured
from triton_lab.launch.benchmark.benchmark_result import Peaks

COPIED = 256 << 20  # bytes, several times the size of the caches
ROWS = 8192  # of the square matrices
_LEAST = 1024  # bytes, or rows


_kept: dict[tuple[str, str], Peaks] = {}


def peaks(driver: Any, dtype: str) -> Peaks:
    """The peaks of the GPU of ``driver``; ``dtype`` is torch's name for the product's type, such as "float16"."""
    key = device_name(driver), dtype
    if key not in _kept:
        copied, took = _largest(lambda size: _copy(driver, size), COPIED)
        rows, product = _largest(lambda size: _product(driver, size, dtype), ROWS)
        _kept[key] = Peaks(2 * copied / took, 2 * rows**3 / product, dtype, key[0])
    return _kept[key]


def _largest(seconds: Callable[[int], float], size: int) -> tuple[int, float]:
    """The first of ``size``, its half, its quarter, ... for which the GPU has memory, and the seconds there."""
    import torch

    while True:
        try:
            return size, seconds(size)
        except torch.OutOfMemoryError:
            if size <= _LEAST:
                raise
            size //= 2


def _copy(driver: Any, size: int) -> float:
    import torch

    there = torch.ones(size, dtype=torch.uint8, device=driver.get_active_torch_device())
    other = torch.empty_like(there)
    return statistics.median(measured(lambda: other.copy_(there), driver))


def _product(driver: Any, rows: int, dtype: str) -> float:
    import torch

    device, kind = driver.get_active_torch_device(), getattr(torch, dtype)
    a, b = (torch.randn(rows, rows, device=device).to(kind) for _ in range(2))
    return statistics.median(measured(lambda: a @ b, driver))
