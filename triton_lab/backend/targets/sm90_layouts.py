"""Where a GPU keeps what a kernel reduces or scans, as Triton's compiler for sm_90 lays it out, without a GPU."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from triton_lab.backend.targets.sm90_resources import for_sm_90, told_of

if TYPE_CHECKING:
    from triton_lab.compiled.layouts import Linear


def reduced_of(source: Any, metadata: Any) -> list[Linear | None]:
    """The layout of what each reduction of a kernel takes, in the order of the TTGIR; None where it is not known.

    The kernel was compiled for the CPU from ``source`` with the options in ``metadata``. It is compiled in a process
    of its own. Raises RuntimeError where sm_90's compiler refuses the kernel.
    """
    return list(_taken(*told_of(source, metadata))[0])


def scanned_of(source: Any, metadata: Any) -> list[Linear | None]:
    """The same of what each scan takes."""
    return list(_taken(*told_of(source, metadata))[1])


@functools.lru_cache(maxsize=256)
def _taken(name: str, ttir: str, options: str) -> tuple[tuple[Linear | None, ...], tuple[Linear | None, ...]]:
    """By reductions, and by scans."""
    from triton_lab.compiled.layouts.reduction_layouts import reductions, scans

    outcome = for_sm_90(name, ttir, options)
    text = outcome.stages.get("ttgir")  # what fails later has its layouts all the same
    if not isinstance(text, str):
        reason = outcome.failure.strip().splitlines()[-1]
        raise RuntimeError(
            f"the kernel {name} does not compile for sm_90, so the order of its sums is not known: {reason}"
        )
    return tuple(reductions(text)), tuple(scans(text))
