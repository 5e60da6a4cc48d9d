"""A launch under both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import triton_lab as lab
from triton_lab.native import engine


def both(launch: Callable[[], Any], *, why: str | None = None) -> tuple[Any, Any, int]:
    """What ``launch`` gives on NumPy's engine and on the native one, and the programs that this handed over.

    ``why`` is what the native one must say to refuse it; None: it must not.
    """
    with lab.limits(engine="numpy"):
        expected = launch()
    with lab.limits(engine="native"):
        found = launch()
    last = engine.lately[-1]
    assert (last.why or None) == why, last
    return expected, found, last.handed


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether tensors are equal bit by bit, but that any NaN equals any other."""
    if not a.dtype.is_floating_point or a.element_size() == 1:
        return bool((a.view(torch.uint8) == b.view(torch.uint8)).all())
    kind = {2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    return bool(((a.view(kind) == b.view(kind)) | (a.isnan() & b.isnan())).all())
