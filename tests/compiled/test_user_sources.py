"""Whose source lines a kernel's machine code comes from."""

from __future__ import annotations

import triton
import triton.language as tl

from triton_lab.compiled.user_sources import sources_of


@triton.jit
def doubled(x):
    return x * 2


@triton.jit
def kernel(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.sigmoid(doubled(tl.load(x + i))) + tl.cdiv(n, B))


def test_the_users_functions_are_sources_and_tritons_own_are_none() -> None:
    found = sources_of(kernel)
    assert {source.name: source.file for source in found} == {"kernel": __file__, "doubled": __file__}
    assert all(f"def {source.name}(" in source.text for source in found)
