"""Sets up the machine that a test assumes: one without a GPU, unless the test is marked ``gpu``.

On a machine with a GPU, Triton would choose it for all launches of a session, and tests of the CPU target would fail
because their tensors are not on it. So the GPU is hidden, here and in the processes that a test starts, except while
a test marked ``gpu`` runs. Each of the two setups keeps its own driver, and autotuners' choices for it.
"""

from __future__ import annotations

import os
from typing import Any

import torch
import torch.utils._triton
from triton.runtime import driver

from triton_lab.backend.targets import active_target

HAS_GPU = torch.cuda.is_available()
_HIDING = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
_really = {name: os.environ.get(name) for name in _HIDING}
_is_available = torch.cuda.is_available
_in_sight = True
# What Triton and the targets know of a machine, while the other of the two is in sight.
_put_away: tuple[Any, Any, dict[str, Any]] = (None, None, {})


def show_gpu(wanted: bool) -> None:
    """Let the GPU be seen, or not. Without one this only empties the variables that would name it."""
    global _in_sight, _put_away
    if wanted == _in_sight:
        return
    _in_sight = wanted
    for name, value in (_really if wanted else _HIDING).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    torch.cuda.is_available = _is_available if wanted else lambda: False
    known = (driver._default, driver._active, active_target._drivers)
    (driver._default, driver._active, active_target._drivers), _put_away = _put_away, known
    _forget_what_torch_saw()
    if HAS_GPU:
        active_target._swap_autotuners(*(("cpu", "gpu") if wanted else ("gpu", "cpu")))


def _forget_what_torch_saw() -> None:
    """torch remembers whether Triton has a device, and of which kind."""
    for answer in vars(torch.utils._triton).values():
        if hasattr(answer, "cache_clear"):
            answer.cache_clear()
