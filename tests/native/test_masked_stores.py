"""Masked stores write the lanes that they are told to and no byte beside them, whatever is known of the mask."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from triton_lab.native.llvm import jit
from triton_lab.native.llvm.builder import FunctionBuilder, Reg

LANES = 8


def stored(wide: str, kind: str, mask: list[bool]) -> tuple[np.ndarray, np.ndarray]:
    """What a store of truncated numbers leaves in memory that was zero, and the numbers."""
    code = FunctionBuilder("run", [Reg("%a", "ptr"), Reg("%b", "ptr"), Reg("%n", "i64")], "i64")
    value = code.cast("trunc", code.load(wide, code.arguments[0], LANES, 1), kind)
    code.masked_store(value, code.arguments[1], code.literals("i1", mask), 1)
    code.leave(code.constant("i64", 0))
    linked = jit.Linked(jit.object_code(code.text(), jit.host()), "run")
    numbers = np.random.default_rng(0).integers(1, 100, 8 * LANES, np.uint8).view(f"u{int(wide[1:]) // 8}")[:LANES]
    memory = np.zeros(8 * LANES, np.uint8)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(linked.address)
    call(numbers.ctypes.data, memory.ctypes.data, 0)
    return memory, numbers


@pytest.mark.parametrize(
    ("wide", "kind"), [("i16", "i8"), ("i32", "i8"), ("i32", "i16"), ("i64", "i8"), ("i64", "i16"), ("i64", "i32")]
)
def test_one_lane_of_numbers_that_were_truncated_is_as_narrow_as_they_are(wide: str, kind: str) -> None:
    for lane in (0, 1, LANES - 1):
        memory, numbers = stored(wide, kind, [at == lane for at in range(LANES)])
        expected = np.zeros(len(memory) // (int(kind[1:]) // 8), f"u{int(kind[1:]) // 8}")
        expected[lane] = numbers.astype(expected.dtype)[lane]
        assert (memory.view(expected.dtype) == expected).all()
