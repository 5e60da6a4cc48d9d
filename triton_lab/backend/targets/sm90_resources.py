"""A kernel's registers and shared memory on a GPU, from Triton's compiler for CUDA, without a GPU.

Programs read ``kernel.n_regs`` and ``kernel.metadata.shared`` to compute how many programs fit on a processor at once.
The CPU target has neither registers nor shared memory. But its kernels are held to sm_90, and the Triton wheel compiles
for that on any machine. That takes seconds, so it is done when one of the numbers is first read. It runs in its own
process, which a crash of the compiler may end.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from triton_lab.providers import provided


@dataclass(frozen=True)
class Resources:
    """What one program needs on sm_90: registers per thread, spilled registers, and bytes of shared memory."""

    registers: int
    spills: int
    shared: int


def resources_of(source: Any, metadata: Any) -> Resources:
    """The resources of a kernel that was compiled for the CPU from ``source`` with the options in ``metadata``.

    Raises RuntimeError if sm_90's compiler refuses the kernel.
    """
    found: Resources = provided("resources_of")(source, metadata)
    return found


class Measured:
    """A whole number that is computed when it is first used."""

    def __init__(self, measure: Callable[[], int]) -> None:
        self._measure = measure

    @functools.cached_property
    def value(self) -> int:
        return self._measure()

    def __index__(self) -> int:
        return self.value

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, form: str) -> str:
        return format(self.value, form)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Measured) else value


def _give(name: str) -> None:
    """Define the operator ``name`` of integers, and its reflected form if there is one."""
    apply = getattr(operator, f"__{name}__")
    setattr(Measured, f"__{name}__", lambda self, other: apply(self.value, _plain(other)))
    if name in _ARITHMETIC:
        setattr(Measured, f"__r{name}__", lambda self, other: apply(_plain(other), self.value))


_ARITHMETIC = ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
for _name in (*_ARITHMETIC, "eq", "ne", "lt", "le", "gt", "ge"):
    _give(_name)
