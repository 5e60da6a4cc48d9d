"""A sweep as a GPU would give it, for machines without one: of a sum whose time is its bytes over 2 TB/s and 3 µs."""

from __future__ import annotations

from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.launch.benchmark.benchmark_result import Peaks, Sweep, SweepRow

GPU = "Fake 9000"
PEAKS = Peaks(2.5e12, 5e14, "float16", GPU)


def swept() -> Sweep:
    """Three lines over four sizes; at the largest torch has no memory."""
    rows = []
    for size in (1 << 12, 1 << 16, 1 << 20, 1 << 24):
        for name, config, off in (("mine", {"BLOCK": 128}, 1.3), ("mine", {"BLOCK": 1024}, 1.1), ("torch", {}, 1.0)):
            seconds = 3e-6 + 12 * size / 2e12 * off
            time = Time(seconds, seconds * 0.98, seconds * 1.03, 200, None, GPU)
            failed = name == "torch" and size == 1 << 24
            told = {"error": "OutOfMemoryError: no memory"} if failed else {"time": time}
            rows.append(SweepRow(name, size, config, bytes=12.0 * size, **told))  # type: ignore[arg-type]
    return Sweep(tuple(rows), "gpu", PEAKS)


def products() -> Sweep:
    """Of matrices, with bytes and flops: small ones are held back by memory."""
    rows = []
    for size in (128, 512, 2048):
        flops, bytes = 2.0 * size**3, 6.0 * size**2
        rows.append(SweepRow("product", size, {}, Time.of([3e-6 + flops / 4e14], GPU), bytes, flops))
    return Sweep(tuple(rows), "gpu", PEAKS)
