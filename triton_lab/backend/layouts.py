"""Where a GPU keeps what a kernel reduces, as Triton's compiler for sm_90 lays it out, without a GPU."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from triton_lab.backend.resources import told_of

_SECONDS = 120.0
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
    told = _placed(*told_of(source, metadata))
    return [None if one is None else Layout(**{name: _bases(found) for name, found in one.items()})
            for one in json.loads(told)]  # fmt: skip


@functools.lru_cache(maxsize=256)
def _placed(name: str, ttir: str, options: str) -> str:
    """The line that `placing` prints of the kernel's TTIR."""
    told = json.dumps({"ttir": ttir, "options": json.loads(options)})
    command = [sys.executable, "-m", f"{__package__}.placing"]
    try:
        done = subprocess.run(command, input=told, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        reason = f"it took more than {_SECONDS:.0f} seconds"
    else:
        if done.returncode == 0:
            return done.stdout.splitlines()[-1]
        reason = (done.stderr.strip().splitlines() or [f"the compiler ended with code {done.returncode}"])[-1]
    raise RuntimeError(f"the kernel {name} does not compile for sm_90, so the order of its sums is not known: {reason}")


def _bases(found: Any) -> Any:
    return tuple(tuple(one) if isinstance(one, list) else one for one in found)
