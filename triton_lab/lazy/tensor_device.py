"""The device of tensors, and the target of their kernels."""

from __future__ import annotations

import torch
import triton
from triton.runtime import driver


def target() -> str:
    """The current target of kernels, as text for the hash: 'cuda:90:32', or 'cpu:...' on a machine without a GPU."""
    if _interprets():
        return "interpreter"
    found = driver.active.get_current_target()
    return f"{found.backend}:{found.arch}:{found.warp_size}"


def default_device() -> torch.device:
    """The device of new tensors: the GPU if kernels run there, else the CPU."""
    if _interprets():
        return torch.device("cpu")
    backend = driver.active.get_current_target().backend
    return torch.device("cpu") if backend == "cpu" else torch.device(driver.active.get_active_torch_device())


def _interprets() -> bool:
    """Whether TRITON_INTERPRET=1 is set, where Triton may have no driver."""
    return bool(triton.knobs.runtime.interpret)
