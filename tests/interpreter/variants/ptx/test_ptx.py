"""Instructions and functions of a GPU, held to the bits that an H200 made of numbers of all kinds (``h100.npz``).

Those of ``tanh.approx`` are an H100's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton

from triton_lab.compiled.sm90_kernels import ptx_of
from triton_lab.interpreter.variants.ptx import NotEmulated, PtxFunction, parse, special_unit

MADE = np.load(Path(__file__).with_name("h100.npz"))
UNITS: dict[str, Callable[[Any], Any]] = {
    "ex2.approx.ftz.f32": special_unit.ex2,
    "ex2.approx.f32": special_unit.ex2_full,
    "rcp.approx.ftz.f32": special_unit.rcp,
    "rsqrt.approx.ftz.f32": special_unit.rsqrt,
    "sqrt.approx.ftz.f32": special_unit.sqrt,
    "lg2.approx.ftz.f32": special_unit.lg2,
    "sin.approx.ftz.f32": special_unit.sin,
    "cos.approx.ftz.f32": special_unit.cos,
    "tanh.approx.f32": special_unit.tanh,
    "rcp.approx.ftz.f64": special_unit.rcp_double,
    "rsqrt.approx.ftz.f64": special_unit.rsqrt_double,
}
# Where later versions of CUDA's library compute otherwise, only the Triton that was measured says the same.
FUNCTIONS = [name for name in MADE.files if name.startswith(("f32 ", "f64 "))]


def wrong(found: np.ndarray, made: np.ndarray) -> np.ndarray:
    """Where bits differ; any NaN equals any other."""
    floats = made.view(found.dtype)
    return np.flatnonzero((found.view(made.dtype) != made) & ~(np.isnan(found) & np.isnan(floats)))


@pytest.mark.parametrize("name", UNITS)
def test_an_approximate_instruction_has_the_bits_of_a_gpu(name: str) -> None:
    x = MADE["x"].view(np.float32) if name.endswith("f32") else MADE["x64"].view(np.float64)
    assert not len(wrong(UNITS[name](x), MADE[name]))


def test_each_row_of_the_hyperbolic_tangent_has_the_bits_of_a_gpu() -> None:
    """Of each row of the table those floats whose results leave the coefficients the least room."""
    assert not len(wrong(special_unit.tanh(MADE["tanh x"].view(np.float32)), MADE["tanh"]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_the_bits_of_a_gpu(name: str) -> None:
    type, operation = name.split()
    kind = np.float32 if type == "f32" else np.float64
    x, y = (MADE[one if type == "f32" else f"{one}64"].view(kind) for one in "ab")
    two = operation in ("arith.divf", "arith.remf", "__nv_fmodf", "__nv_hypotf")
    symbol = operation if operation.startswith("__nv_") else ""
    operands = (x, y) if two else (x,)
    text = ptx_of("tt.extern_elementwise" if symbol else operation, symbol, (type,) * len(operands), type)
    found = PtxFunction(parse(text), [kind] * (len(operands) + 1))(*operands)
    assert not len(wrong(found, MADE[name])), triton.__version__


def test_lanes_that_part_meet_again() -> None:
    """Each lane counts down from its own number, and adds as often; then all multiply."""
    text = """
.visible .entry f(.param .u64 a, .param .u64 o)
{
    ld.param.b64 %rd1, [a];
    ld.param.b64 %rd2, [o];
    ld.global.b32 %r1, [%rd1];
    mov.b32 %r2, 0;
$L1:
    setp.eq.b32 %p1, %r1, 0;
    @%p1 bra $L2;
    add.s32 %r2, %r2, 3;
    add.s32 %r1, %r1, -1;
    bra.uni $L1;
$L2:
    mul.lo.s32 %r2, %r2, 2;
    st.global.b32 [%rd2], %r2;
    ret;
}
"""
    counts = np.array([[0, 5, 1], [7, 2, 0]], np.int32)
    found = PtxFunction(parse(text), [np.int32, np.int32])(counts)
    assert np.array_equal(found, counts * 6)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("bar.sync 0;", "bar.sync"),
        ("atom.add.u32 %r1, [%rd1], 1;", "atom"),
        ("$L: bra $L;", "loop"),
        ("mov.b32 %r1, x;", "x"),
    ],
)
def test_what_cannot_be_run_is_named(body: str, word: str) -> None:
    text = f".visible .entry f(.param .u64 a, .param .u64 o)\n{{\n{body}\nret;\n}}\n"
    with pytest.raises(NotEmulated, match=word):
        PtxFunction(parse(text), [np.float32, np.float32])(np.ones(4, np.float32))
    with pytest.raises(NotEmulated, match="entry"):
        parse(".version 8.7")
