"""The recordings of examples, made on this GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import triton_lab as lab
from triton_lab.examples.gpu_recordings import make

pytestmark = pytest.mark.gpu


def test_they_are_made_timed_and_named(tmp_path: Path) -> None:
    for file in make(tmp_path):
        launch = lab.load(file)
        comparison = lab.compare(launch)
        print(f"{file.stem}: {file.stat().st_size} bytes, {launch.time.median * 1e6:.1f} µs, {comparison.verdict}")
        assert launch.target == "gpu" and torch.cuda.get_device_name() in launch.remark
        assert comparison.verdict != "different"
