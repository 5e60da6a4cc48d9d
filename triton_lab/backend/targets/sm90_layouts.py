"""The layouts of what a kernel reduces or scans, from Triton's compiler for sm_90, without a GPU."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from triton_lab.backend.targets.sm90_resources import for_sm_90, told_of

if TYPE_CHECKING:
    from triton_lab.compiled.layouts import Linear


def reduced_of(source: Any, metadata: Any) -> list[Linear | None]:
    """The layout of each reduction's input, in the order of the TTGIR; None for one that is unknown.

    The kernel was compiled for the CPU from ``source`` with the options in ``metadata``. For sm_90 it is compiled in
    its own process. Raises RuntimeError if sm_90's compiler refuses the kernel.
    """
    return list(_taken(*told_of(source, metadata))[0])


def scanned_of(source: Any, metadata: Any) -> list[Linear | None]:
    """The same for each scan's input."""
    return list(_taken(*told_of(source, metadata))[1])


@functools.lru_cache(maxsize=256)
def _taken(name: str, ttir: str, options: str) -> tuple[tuple[Linear | None, ...], tuple[Linear | None, ...]]:
    """The layouts of reductions' and of scans' inputs."""
    from triton_lab.compiled.layouts.reduction_layouts import reductions, scans

    outcome = for_sm_90(name, ttir, options)
    text = outcome.stages.get("ttgir")  # if a later stage fails, the layouts exist all the same
    if not isinstance(text, str):
        reason = outcome.failure.strip().splitlines()[-1]
        raise RuntimeError(
            f"the kernel {name} does not compile for sm_90, so the order of its sums is not known: {reason}"
        )
    return tuple(reductions(text)), tuple(scans(text))
