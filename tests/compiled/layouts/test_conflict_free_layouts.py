"""The swizzles that findings name have no bank conflicts, as Triton counts them too."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from triton.experimental.gluon import language as gl

import triton_lab as lab
from tests.compiled.layouts.test_gluon_layouts import counted_by_triton
from triton_lab.compiled.layouts.conflict_free_layouts import conflict_free, register_bank_use, registers_of
from triton_lab.compiled.layouts.gluon_layouts import text_of

ROWS = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
DOWN = gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1])
WIDE = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
TALL = gl.BlockedLayout([4, 1], [8, 4], [1, 4], [0, 1])
SUM = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
PLAIN = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])


@pytest.mark.parametrize(
    ("shape", "bits", "registers"),
    [
        ((32, 32), 32, (ROWS, DOWN)),
        ((64, 64), 32, (WIDE, TALL)),
        ((64, 32), 32, (WIDE, DOWN)),
        ((64, 64), 16, (ROWS, DOWN)),
        ((64, 64), 32, (WIDE, SUM)),
        ((128, 32), 8, (WIDE, TALL)),
        ((32, 64), 64, (ROWS, DOWN)),
    ],
)
def test_the_layout_that_is_named_has_none(shape, bits, registers, monkeypatch, tmp_path) -> None:
    texts = [text_of(one) for one in registers]
    told = conflict_free(text_of(PLAIN), shape, bits, [(text, (0, 1)) for text in texts])
    assert told.startswith("gl.SwizzledSharedLayout") or told.startswith("gl.PaddedSharedLayout")
    better = eval(told, {"gl": gl})
    plain = lab.layout(PLAIN, shape, bits=bits)
    assert any(plain.access(lab.layout(one, shape, bits=bits)).conflicts for one in registers)
    for one, text in zip(registers, texts, strict=True):
        memory = lab.layout(better, shape, bits=bits)
        use = register_bank_use(memory.addresses(), bits, text)
        assert use is not None and use.conflicts == 0
        if hasattr(gl, "bank_conflicts") and "Padded" not in told:
            assert counted_by_triton(one, better, shape, bits, monkeypatch, tmp_path) == 0


def test_turned_views_count() -> None:
    rows = text_of(ROWS)
    told = conflict_free(text_of(PLAIN), (32, 32), 32, [(rows, (0, 1)), (rows, (1, 0))])
    better = lab.layout(eval(told, {"gl": gl}), (32, 32))
    for memory in (better.addresses(), better.addresses().T):
        use = register_bank_use(memory, 32, rows)
        assert use is not None and use.conflicts == 0


def test_a_layout_for_tma_gets_another_width_of_its_swizzle() -> None:
    none = gl.NVMMASharedLayout(0, 32, 2)
    told = conflict_free(text_of(none), (32, 32), 32, [(text_of(WIDE), (0, 1)), (text_of(TALL), (0, 1))])
    assert told == "" or told.startswith("gl.NVMMASharedLayout")


def matrices(memory: np.ndarray, size: int) -> list[int]:
    """The wavefronts of each matrix of 8 rows of 16 bytes in a tensor, by PTX's definition."""
    found = []
    wide = 16 // size
    for row in range(0, memory.shape[0], 8):
        for column in range(0, memory.shape[1], wide):
            words = {int(memory[row + k, column]) // 4 + j for k in range(8) for j in range(4)}
            found.append(max(Counter(word % 32 for word in words).values()))
    return found


MMA = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])


@pytest.mark.parametrize(
    "shared", [PLAIN, gl.SwizzledSharedLayout(8, 1, 8, [1, 0]), gl.SwizzledSharedLayout(8, 2, 4, [1, 0])]
)
@pytest.mark.parametrize(("operand", "turned"), [(0, False), (0, True), (1, False), (1, True)])
def test_operands_are_moved_by_matrices(shared: Any, operand: int, turned: bool) -> None:
    memory = lab.layout(shared, (64, 64), bits=16).addresses()
    text = text_of(gl.DotOperandLayout(operand, MMA, 2))
    use = register_bank_use(memory.T if turned else memory, 16, text)
    expected = matrices(memory, 2)
    # Two of four warps hold the same operand.
    assert use is not None and use.wavefronts == 2 * sum(expected) and use.ideal == 2 * len(expected)
    assert use.ways == max(expected)


def test_a_layout_for_matrices_is_named() -> None:
    accesses = [(text_of(gl.DotOperandLayout(0, MMA, 2)), (0, 1)), (text_of(gl.DotOperandLayout(1, MMA, 2)), (0, 1))]
    told = conflict_free(text_of(PLAIN), (64, 64), 16, accesses)
    memory = lab.layout(eval(told, {"gl": gl}), (64, 64), bits=16).addresses()
    assert max(matrices(memory, 2)) == 1 and max(matrices(lab.layout(PLAIN, (64, 64), bits=16).addresses(), 2)) == 8


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("width", [32, 64, 128])
@pytest.mark.parametrize("transposed", [False, True])
def test_wgmma_reads_its_layouts_without_conflicts(bits: int, width: int, transposed: bool) -> None:
    layout = gl.NVMMASharedLayout(width, bits, 2, transposed=transposed)
    memory = lab.layout(layout, (128, 128), bits=bits).addresses()
    assert set(matrices(memory.T if transposed else memory, bits // 8)) == {1}


def test_registers_of_another_gpu_have_other_banks() -> None:
    memory = lab.layout(PLAIN, (64, 64), bits=16).addresses()
    of_amd = text_of(gl.BlockedLayout([1, 1], [1, 64], [4, 1], [1, 0]))
    assert register_bank_use(memory, 16, of_amd) is None and registers_of(of_amd, (64, 64), 16) == 0
    assert registers_of(text_of(SUM), (64, 128), 32) == 64


@pytest.mark.parametrize("bits", [8, 16, 32])
@pytest.mark.parametrize("turned", [False, True])
def test_a_box_of_tma_has_no_conflicts_of_its_own_and_wgmma_none_with_a_swizzle(bits: int, turned: bool) -> None:
    for swizzle in (0, 32, 64, 128):
        memory = lab.layout(
            gl.NVMMASharedLayout(swizzle, bits, 2, transposed=turned), (128, 128), bits=bits
        ).addresses()
        size = bits // 8
        assert np.array_equal(np.sort(memory, axis=None), np.arange(memory.size) * size), "without gaps"
        # Each 128 bytes in the order of the box are one line of shared memory, and so all its banks.
        along = (memory.T if turned else memory).reshape(128, -1, min(swizzle or 128, 128) // size)
        chunk = min(swizzle or 128, 128)
        assert (along // chunk == (along[..., :1] // chunk)).all()
        read = set(matrices(memory.T if turned else memory, size))
        assert (read == {1}) is (swizzle > 0)
