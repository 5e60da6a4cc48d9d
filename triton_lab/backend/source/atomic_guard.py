"""Refuses blocks that an atomic would put into one element, which older versions of Triton check for stores alone.

Triton 3.6 ends the process at ``tl.atomic_max(ptr, block)`` of floats, and refuses others without saying why. Later
versions raise the error of stores.
"""

from __future__ import annotations

import functools
from typing import Any


def guard() -> None:
    """From now on such an atomic is an error at its line, as a store of that block is."""
    from triton.language.semantic import TritonSemantic

    made = TritonSemantic.atom_red_typechecking_impl
    if not hasattr(TritonSemantic, "_atomic_typechecking_impl") and not getattr(made, "guarded", False):
        TritonSemantic.atom_red_typechecking_impl = _guarded(made)


def _guarded(made: Any) -> Any:
    @functools.wraps(made)
    def guarded(self: Any, ptr: Any, val: Any, mask: Any, op: str) -> Any:
        if not ptr.type.is_block() and any(one is not None and one.type.is_block() for one in (val, mask)):
            return self.store(ptr, val, mask, (), "", "")  # raises
        return made(self, ptr, val, mask, op)

    guarded.guarded = True  # type: ignore[attr-defined]
    return guarded
