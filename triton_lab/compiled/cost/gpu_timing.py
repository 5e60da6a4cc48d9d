"""Clocks, multiprocessors, caches and latencies of GPUs, from which times are predicted.

The multiprocessors and clocks are those behind the makers' peak rates (an H100's 989.4 Tflop/s of float16 are 132
multiprocessors of 2,048 multiply-adds at 1.83 GHz). Sizes of caches are the makers'. Bandwidths of the second-level
cache and latencies are of the size that published microbenchmarks give ("Benchmarking and Dissecting the Nvidia Hopper
GPU Architecture via Microbenchmarking", 2024, and its predecessors); they are not exact. They only rank edits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_lab.compiled.cost.gpu_limits import Gpu, gpu
from triton_lab.localization import _


@dataclass(frozen=True)
class GpuTiming:
    """A GPU's speeds. ``clock`` in Hz, ``l2_rate`` in bytes a second, sizes in bytes, all else in cycles.

    ``start`` is a program's way from its launch to its first result; ``gap`` lies at least between two programs that
    begin on one multiprocessor (an H100 begins 1.65 programs a nanosecond, of one warp or of four); ``atomic`` is the
    time of one sector of an atomic, in a line that others change (an H100 adds 0.57 a nanosecond to one element);
    ``launch`` is the time of a kernel that does nothing, in seconds.
    """

    name: str
    multiprocessors: int
    clock: float
    l2_rate: float
    l2: int
    l1: int
    near: int = 270
    far: int = 650
    start: int = 500
    gap: int = 146
    atomic: float = 3.2
    launch: float = 2.2e-6

    @property
    def peaks(self) -> Gpu:
        """The GPU's peak rates."""
        return gpu(self.name)


TIMINGS: Mapping[str, GpuTiming] = {
    "sm_80": GpuTiming("A100", 108, 1.41e9, 4.0e12, 40 << 20, 192 << 10),
    "sm_90": GpuTiming("H100", 132, 1.83e9, 5.5e12, 50 << 20, 256 << 10),
    "sm_100": GpuTiming("B200", 148, 1.85e9, 9.0e12, 126 << 20, 256 << 10),
}


def timing(target: str) -> GpuTiming:
    """The speeds of the best-known GPU of ``target``. Raises ValueError for a target without figures."""
    if target not in TIMINGS:
        raise ValueError(
            _("times are predicted for {known}, not for {target}").format(known=", ".join(TIMINGS), target=target)
        )
    return TIMINGS[target]
