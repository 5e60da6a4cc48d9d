"""Finds what a kernel does with its pointers, without running it."""

from __future__ import annotations

import functools
from typing import Any


@functools.lru_cache(maxsize=256)
def follows_pointers(source: Any) -> bool:
    """Whether a kernel, compiled by Triton for any target, accesses memory at addresses that it has loaded."""
    import triton
    from triton.compiler import ASTSource

    from triton_lab.backend.compiler import TARGET
    from triton_lab.ir import parse_plan
    from triton_lab.ir.provenance import pointer_roots

    if type(source) is not ASTSource:  # the kernel is not in Triton's own language
        return False
    plan = parse_plan(triton.compile(source, target=TARGET).asm["plan"].decode())
    return None in pointer_roots(plan).values()
