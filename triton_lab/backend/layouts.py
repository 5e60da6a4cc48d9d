"""Where a GPU keeps what a kernel reduces, as Triton's compiler for sm_90 lays it out, without a GPU."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from triton_lab.backend.resources import compiled_by

Bases = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Layout:
    """Where the elements of a block of ``shape`` are: what each bit of the number of a register, a lane and a warp
    adds to the coordinates of the element there. A bit that adds nothing tells copies apart."""

    shape: tuple[int, ...]
    registers: Bases
    lanes: Bases
    warps: Bases


def reduced_of(source: Any, metadata: Any) -> list[Layout | None]:
    """The layout of what each reduction of a kernel takes, in the order of the TTGIR; None where it is not known.

    The kernel was compiled for the CPU from ``source`` with the options in ``metadata``. It is compiled in a process
    of its own. Raises RuntimeError where sm_90's compiler refuses the kernel.
    """
    told = compiled_by("placing", "the order of its sums is", source, metadata)
    return [None if one is None else Layout(**{name: _bases(found) for name, found in one.items()})
            for one in json.loads(told)]  # fmt: skip


def _bases(found: Any) -> Any:
    return tuple(tuple(one) if isinstance(one, list) else one for one in found)
