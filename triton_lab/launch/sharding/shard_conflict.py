"""Where the parts of a launch met, which is then no longer the sum of its parts."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.ir import Op
from triton_lab.launch.byte_ranges import Ranges


@dataclass(frozen=True, eq=False)
class Meeting:
    """Where parts meet: ``text`` says who does what, ``op`` is the later part's operation, ``where`` the bytes.

    ``kind`` is that of the finding which it is: "" where it is none, since atomics may meet.
    """

    text: str
    op: Op
    argument: str
    where: Ranges
    kind: str
