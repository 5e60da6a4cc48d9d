"""``tt.dot_scaled``: products of tiles in microscaling formats, as in `interpreter.ops.dot_scaled`.

Both operands are written to scratch in the computation's format, scaled and rounded there, and then multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.ir import Op
from triton_lab.localization import _
from triton_lab.native.blocks.elements import Indices
from triton_lab.native.blocks.materialize import materialise
from triton_lab.native.blocks.value_repr import ScratchBlock
from triton_lab.native.llvm.builder import FunctionBuilder, Reg
from triton_lab.native.llvm.element_types import is_narrow
from triton_lab.native.lowering.dot import each_plane, multiplied, plane_of
from triton_lab.native.lowering.emitter import Emitter, emits
from triton_lab.native.math.lane_arithmetic import LaneArithmetic
from triton_lab.native.math.number_conversions import float_to_float, widen
from triton_lab.native.unsupported import Unsupported

# Triton's element formats by number.
_E2M1, _FP16 = 4, 6
# A scale of all ones is NaN.
_NAN_SCALE = 0xFF


@dataclass(frozen=True, slots=True)
class _Side:
    """An operand: its values and scales, the computation's format, and the axis of the sum (0 or 1) in its planes.

    ``packed`` is the axis along which a byte holds two 4-bit numbers, the lower half first; None if it holds one.
    """

    value: int
    scale: int | None
    axis: int
    packed: int | None
    compute: str
    strict: bool


@emits("tt.dot_scaled")
def dot_scaled(emitter: Emitter, op: Op) -> None:
    a, b, start, *scales = op.operands
    attributes = op.attributes
    if emitter.element(op.results[0]) not in ("f32", "f16", "bf16"):
        raise Unsupported(_("a scaled dot into {element}").format(element=emitter.element(op.results[0])))
    has_a, has_b = attributes["operandSegmentSizes"][3:]
    formats = attributes["a_elem_type"], attributes["b_elem_type"]
    compute = "f16" if _FP16 in formats else "bf16"
    strict = not attributes["fastMath"]
    along_depth = attributes["lhs_k_pack"], attributes["rhs_k_pack"]
    left = _Side(
        a,
        scales[0] if has_a else None,
        1,
        (1 if along_depth[0] else 0) if formats[0] == _E2M1 else None,
        compute,
        strict,
    )
    right = _Side(
        b,
        scales[has_a] if has_b else None,
        0,
        (0 if along_depth[1] else 1) if formats[1] == _E2M1 else None,
        compute,
        strict,
    )
    x, y = (_written(emitter, side) for side in (left, right))
    multiplied(emitter, x, y, start, op.results[0], compute)


def _written(emitter: Emitter, side: _Side) -> ScratchBlock:
    """The operand as numbers of the computation's format, in float32."""
    given = _copied(emitter, side.value)
    *planes, rows, columns = emitter.types[side.value].shape
    extents = [rows, columns]
    if side.packed is not None:
        extents[side.packed] *= 2
    scales = _copied(emitter, side.scale) if side.scale is not None else None
    out = emitter.setting.scratch.take([*planes, *extents], "float", widened=True)
    emitter.afresh()

    def plane(at: Indices) -> None:
        factors = None if scales is None else plane_of(emitter, scales, at)
        _write_plane(emitter, side, plane_of(emitter, given, at), factors, plane_of(emitter, out, at))

    each_plane(emitter, out.shape, plane)
    emitter.afresh()
    return out


def _write_plane(
    emitter: Emitter, side: _Side, given: ScratchBlock, scales: ScratchBlock | None, out: ScratchBlock
) -> None:
    code, (rows, columns) = emitter.code, out.shape

    def at_row(i: Reg, _: list[Reg]) -> Sequence[Reg]:
        def at_column(j: Reg, _: list[Reg]) -> Sequence[Reg]:
            found = _number(emitter, side, given, i, j)
            if scales is not None:
                found = _scaled(emitter, side, found, scales, out.shape, i, j)
            where = code.op("add", code.op("mul", i, code.constant("i64", columns)), j)
            code.store(found, code.offset(out.pointer, where, "float"))
            return ()

        emitter.counted(code.constant("i64", 0), code.constant("i64", columns), 1, at_column)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", rows), 1, at_row)


def _copied(emitter: Emitter, value: int) -> ScratchBlock:
    """A block in row-major order; narrow floats as their bits."""
    buffer = emitter.setting.scratch.take(emitter.types[value].shape, emitter.kind(value))
    return materialise(emitter, value, buffer)


def _in(code: FunctionBuilder, x: Reg, compute: str) -> Reg:
    """A float32, rounded to the computation's format."""
    return widen(code, float_to_float(code, x, "f32", compute), compute)


def _number(emitter: Emitter, side: _Side, given: ScratchBlock, i: Reg, j: Reg) -> Reg:
    """An element of the operand before scaling."""
    code, element = emitter.code, emitter.element(side.value)
    if side.packed is None:
        raw = _load(code, given, i, j)
        return widen(code, float_to_float(code, raw, element, side.compute), side.compute)
    one = code.constant("i64", 1)
    index = [i, j]
    half = code.op("and", index[side.packed], one)
    index[side.packed] = code.op("lshr", index[side.packed], one)
    octet = LaneArithmetic(code, _load(code, given, *index)).resize("i32", signed=False)
    shift = LaneArithmetic(code, half).resize("i32", signed=False) << 2
    return _of_four_bits(octet.unsigned_shift(shift) & 15).reg


def _of_four_bits(x: LaneArithmetic) -> LaneArithmetic:
    """A sign, two bits of exponent and one of fraction, as float32, whose exponent bias is 126 greater."""
    size = ((x & 7) << 22).as_float() * 2.0**126
    return (size.bits() | ((x & 8) << 28)).as_float()


def _load(code: FunctionBuilder, buffer: ScratchBlock, i: Reg, j: Reg) -> Reg:
    row = code.op("mul", i, code.constant("i64", buffer.strides[0]))
    return code.load(buffer.kind, code.offset(buffer.pointer, code.op("add", row, j), buffer.kind))


def _scaled(emitter: Emitter, side: _Side, x: Reg, scales: ScratchBlock, shape: Sequence[int], i: Reg, j: Reg) -> Reg:
    """An element times the scale of its group along the axis of the sum; scales have one row per line of the other
    axis.
    """
    code, compute = emitter.code, side.compute
    assert side.scale is not None
    line, depth = (i, j) if side.axis == 1 else (j, i)
    group = shape[side.axis] // scales.shape[1]
    raw = _load(code, scales, line, code.op("udiv", depth, code.constant("i64", group)))
    element = emitter.element(side.scale)
    if is_narrow(element) or element in ("f32", "f64"):
        factor = raw if element == compute else float_to_float(code, raw, element, compute)
        return _in(code, code.op("fmul", x, widen(code, factor, compute)), compute)
    # Powers of two are stored as exponents: these are the exponent bits of a bfloat16, and zero gives zero.
    power = (LaneArithmetic(code, raw).resize("i16", signed=False) << 7).reg
    factor = power if compute == "bf16" else float_to_float(code, power, "bf16", compute)
    found = _in(code, code.op("fmul", x, widen(code, factor, compute)), compute)
    if not side.strict:
        return found
    return (LaneArithmetic(code, raw).equals(_NAN_SCALE)).where(float("nan"), LaneArithmetic(code, found)).reg
