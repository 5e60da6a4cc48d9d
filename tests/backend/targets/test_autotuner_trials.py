"""What an autotuner tries on a GPU is told, too: on a stand-in (more in `test_autotune_view.py`)."""

from __future__ import annotations

import math

import pytest
import torch
import triton

import triton_lab as lab
from tests.backend.fake_gpu import on_gpu
from tests.launch.autotuned import tuned_doubled
from triton_lab.views.launch.benchmark.autotune_view import INTERPRETED, Autotune


def test_on_a_gpu_trials_are_told_too(gpu: None) -> None:
    x, y = on_gpu(torch.arange(100.0)), on_gpu(torch.zeros(100))
    with lab.target("gpu"), lab.record() as launches:
        tuned_doubled()[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, y, 100)
    launch = next(one for one in launches if one.target == "gpu")
    tuning = launch.tuning
    assert tuning is not None and tuning.target == "gpu"
    # The stand-in's benchmark gives 1 ms, 2 ms, ... in the order of trials.
    assert [one.seconds for one in tuning.tried] == pytest.approx([1e-3, 2e-3, 3e-3, math.inf])
    assert tuning.tried[3].failed == "too wide" and tuning.chose == 0
    assert [seconds for _, seconds in launch.configs][:3] == pytest.approx([1e-3, 2e-3, 3e-3])
    assert INTERPRETED not in Autotune(launch).notes()
