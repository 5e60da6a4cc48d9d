"""What the figures were measured on: processor, load, versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path


def describe() -> str:
    """Three lines. The load tells whether the machine was busy with something else."""
    cores = len(os.sched_getaffinity(0))
    load = ", ".join(f"{each:.2f}" for each in os.getloadavg())
    packages = ", ".join(f"{name} {version(name)}" for name in ("triton", "torch", "numpy"))
    return "\n".join(
        (
            f"{_processor()}, {cores} cores, {_gigabytes():.0f} GB",
            f"load over 1, 5 and 15 minutes: {load}",
            f"Python {platform.python_version()}, {packages}",
        )
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()  # arm64 names no model


def _gigabytes() -> float:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
