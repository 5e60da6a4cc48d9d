"""An atomic of a block on one element is an error at its line, with all versions of Triton. One ends the process.

A worker that ends fails this test.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def atomic_of_a_block(out_ptr, x_ptr, BLOCK: tl.constexpr, NAME: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    if NAME == "max":
        tl.atomic_max(out_ptr, x)
    elif NAME == "min":
        tl.atomic_min(out_ptr, x)
    elif NAME == "add":
        tl.atomic_add(out_ptr, x)
    elif NAME == "xchg":
        tl.atomic_xchg(out_ptr, x)
    else:
        tl.atomic_max(out_ptr, 1, mask=x > 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32])
@pytest.mark.parametrize("name", ["max", "min", "add", "xchg", "mask"])
def test_a_block_for_one_element_is_refused(name, dtype):
    with pytest.raises(triton.compiler.errors.CompilationError) as error:
        atomic_of_a_block[(1,)](torch.zeros(1, dtype=dtype), torch.ones(8, dtype=dtype), BLOCK=8, NAME=name)
    cause = error.value
    while cause.__cause__ is not None:
        cause = cause.__cause__
    assert ("Mask" if name == "mask" else "Value") in str(cause) and "block" in str(cause)
