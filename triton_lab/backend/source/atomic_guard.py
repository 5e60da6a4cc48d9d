"""Refuses blocks that an atomic would put into one element, which older versions of Triton do not check.

Triton 3.6 ends the process at ``tl.atomic_max(ptr, block)`` of floats, and refuses others without saying why. Later
versions raise this error.
"""

from __future__ import annotations

import functools
from typing import Any


def guard() -> None:
    """From now on such an atomic is an error at its line, in the words of later versions of Triton."""
    from triton.language.semantic import TritonSemantic

    made = TritonSemantic.atom_red_typechecking_impl
    if not hasattr(TritonSemantic, "_atomic_typechecking_impl") and not getattr(made, "guarded", False):
        TritonSemantic.atom_red_typechecking_impl = _guarded(made)


def _guarded(made: Any) -> Any:
    @functools.wraps(made)
    def guarded(self: Any, ptr: Any, val: Any, mask: Any, op: str) -> Any:
        for given, name in ((val, "Value"), (mask, "Mask")):
            if given is not None and given.type.is_block() and not ptr.type.is_block():
                raise ValueError(f"{name} argument cannot be block type if pointer argument is not a block")
        return made(self, ptr, val, mask, op)

    guarded.guarded = True  # type: ignore[attr-defined]
    return guarded
