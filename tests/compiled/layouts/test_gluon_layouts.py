"""Gluon's layout objects: the linear layouts are those that Triton itself makes of them."""

from __future__ import annotations

import re

import pytest
import triton.language as tl
from triton._C.libtriton import gluon_ir, ir
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import AMDMFMALayout

import triton_lab as lab
from tests.compiled.layouts.triton_version import VERSION

BLOCKED = gl.BlockedLayout([1, 4], [8, 4], [4, 1], [1, 0])
MMA = gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])
REGISTERS = [
    (BLOCKED, (128, 64)),
    (gl.BlockedLayout([2], [32], [4], [0]), (512,)),
    (gl.SliceLayout(1, BLOCKED), (128,)),
    (MMA, (128, 64)),
    (gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]), (128, 64)),
    (gl.DotOperandLayout(0, MMA, 2), (128, 64)),
    (gl.DotOperandLayout(1, MMA, 2), (64, 128)),
    (AMDMFMALayout(3, [32, 32, 8], True, [4, 1]), (128, 64)),
    (gl.DistributedLinearLayout([[1], [2]], [[4], [8], [16], [32], [64]], [[128], [256]], [], [512]), (512,)),
]
SHARED = [
    (gl.NVMMASharedLayout(128, 16, 2), (128, 64), 16),
    (gl.NVMMASharedLayout(64, 16, 2, transposed=True), (64, 64), 16),
    (gl.SwizzledSharedLayout(8, 2, 4, [1, 0]), (128, 64), 16),
    (gl.SwizzledSharedLayout(1, 1, 1, [0]), (512,), 32),
]
_NAMES = {"register": "reg_bases", "lane": "lane_bases", "warp": "warp_bases", "block": "block_bases"}


@pytest.fixture(scope="module")
def builder():
    context = ir.context()
    ir.load_dialects(context)
    made = gluon_ir.GluonOpBuilder(context)
    made.context = context
    return made


@pytest.mark.parametrize(("layout", "shape"), REGISTERS)
def test_registers_are_tritons(builder, layout, shape) -> None:
    theirs = builder.to_linear_layout(layout._to_ir(builder), list(shape))
    ours = lab.layout(layout, shape)
    for part, bases in ours.bases.items():
        assert [list(one) for one in bases] == getattr(theirs, _NAMES[part]), part
    assert lab.layout(tl.constexpr(layout), shape) == ours


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("swizzle", [0, 32, 128])
def test_boxes_of_a_large_buffer_are_in_tritons_order(builder, swizzle: int, transposed: bool) -> None:
    layout, shape = gl.NVMMASharedLayout(swizzle, 16, 2, transposed=transposed), (512, 512)
    theirs = builder.to_linear_layout(layout._to_ir(builder), list(shape))
    assert [list(one) for one in lab.layout(layout, shape).bases["offset"]] == theirs.offset_bases


@gluon.jit
def conflicts(out, registers: gl.constexpr, shared: gl.constexpr):
    gl.store(out, gl.bank_conflicts(registers, shared))


@pytest.mark.skipif(not hasattr(gl, "bank_conflicts"), reason="this Triton does not count bank conflicts")
@pytest.mark.parametrize(("layout", "shape", "bits"), SHARED)
def test_bank_conflicts_are_tritons(layout, shape, bits, monkeypatch, tmp_path) -> None:
    registers = BLOCKED if len(shape) == 2 else gl.BlockedLayout([2], [32], [4], [0])
    told = counted_by_triton(registers, layout, shape, bits, monkeypatch, tmp_path)
    use = lab.layout(layout, shape, bits=bits).access(lab.layout(registers, shape, bits=bits))
    assert (use.conflicts == 0) == (told == 0)


def counted_by_triton(registers, layout, shape, bits, monkeypatch, tmp_path) -> int:
    """The bank conflicts of an access, as Triton counts them: those of one wavefront."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    element = {8: gl.int8, 16: gl.float16, 32: gl.float32, 64: gl.int64}[bits]
    constants = {
        "registers": gl.distributed_type(element, list(shape), registers),
        "shared": gl.shared_memory_descriptor_type(element, list(shape), layout, list(shape)),
    }
    stored = lab.compile(conflicts, "*i32", constants, "sm_90").stages["ttgir"]
    return int(re.search(r"arith.constant (\d+) : i32", stored)[1])


def test_tensor_memory_and_padding() -> None:
    padded = lab.layout(gl.PaddedSharedLayout.with_identity_for([[32, 4]], [64, 64], [1, 0]), (64, 64))
    assert padded.address(1, 0) == (64 + 8) * 4
    if VERSION >= (3, 9):
        from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout

        assert lab.layout(TensorMemoryLayout([128, 64], col_stride=1), (128, 64)).owner(5, 7)[0].row == 5


@pytest.mark.parametrize("layout", [gl.AutoLayout(), gl.SwizzledSharedLayout(3, 1, 1, [0])])
def test_what_is_no_layout_yet_or_never(layout) -> None:
    with pytest.raises(lab.LayoutError):
        lab.layout(layout, (64,))
