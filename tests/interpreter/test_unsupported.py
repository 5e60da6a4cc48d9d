"""What cannot be run is refused by name, before anything runs."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl
from triton.language import core


@triton.jit
def inline_assembly(x):
    tl.store(x, 5)
    y = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r,r", [tl.load(x)], dtype=tl.int32, is_pure=False, pack=1)
    tl.store(x, y)


def test_inline_ptx_names_what_cannot_be_run_and_the_line():
    x = torch.zeros(1, dtype=torch.int32)
    with pytest.raises(Exception, match="inline") as caught:
        inline_assembly[(1,)](x)
    text = str(caught.value)
    assert "%clock" in text and f"line {inline_assembly.starting_line_number + 3}" in text
    assert x.item() == 0, "something ran"


@core.extern
def unheard_of(x, _semantic=None):
    return core.extern_elementwise(
        "", "", [x], {(core.dtype("fp32"),): ("__nv_unheard_of", core.dtype("fp32"))}, is_pure=True, _semantic=_semantic
    )


def test_a_library_function_that_nobody_knows():
    @triton.jit
    def kernel(x):
        tl.store(x, unheard_of(tl.load(x)))

    with pytest.raises(Exception, match="__nv_unheard_of"):
        kernel[(1,)](torch.zeros(1))
