"""A kernel that moves a block by a tensor's descriptor."""

from __future__ import annotations

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def moved(x, y):
    y.store([0, 0], x.load([0, 0]) + 1)


def move(device: str) -> None:
    x, y = (torch.zeros(64, 32, device=device) for _ in range(2))
    moved[(1,)](*(TensorDescriptor.from_tensor(one, [64, 32]) for one in (x, y)))
