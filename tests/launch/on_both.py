"""Launches as a GPU would leave them, for machines without one: what the interpreter made, a little off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from triton_lab.launch.comparison.launch_results import of_launch
from triton_lab.launch.launch import Launch


def on_both(launch: Launch, interpreted: float = 0.001, ulps: int = 1) -> Launch:
    """``launch`` with its second result: every third float that it wrote is ``ulps`` further from zero on the GPU."""
    found = of_launch(launch)
    outputs = []
    for name in found.written:
        ours = found.arrays[name]
        theirs = ours.copy()
        if ours.dtype == np.float32:
            theirs.reshape(-1).view(np.int32)[::3] += ulps
        outputs.append((name, torch.from_numpy(theirs), torch.from_numpy(ours)))
    return replace(launch, target="gpu", outputs=outputs, interpreted=interpreted, seconds=0.001)
