"""`Meeting`: a conflict between parts of a launch, after which its parts cannot be merged."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.ir import Op
from triton_lab.launch.byte_ranges import Ranges


@dataclass(frozen=True, eq=False)
class Meeting:
    """A conflict in memory: ``text`` describes it, ``op`` is the later part's operation, ``where`` the bytes.

    ``kind`` is the kind of the finding: "" if it is none, since atomics may share memory.
    """

    text: str
    op: Op
    argument: str
    where: Ranges
    kind: str
