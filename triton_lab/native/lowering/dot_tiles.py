"""The product of two blocks in scratch. The sums of a tile stay in registers while the loop runs along the
inner axis.
"""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.native.blocks.elements import Indices, widened_at, write
from triton_lab.native.blocks.value_repr import Index, ScratchBlock
from triton_lab.native.llvm.builder import Reg
from triton_lab.native.llvm.element_types import is_narrow
from triton_lab.native.lowering.emitter import Emitter
from triton_lab.native.math.number_conversions import narrow


def multiply(
    emitter: Emitter,
    a: ScratchBlock,
    b: ScratchBlock,
    start: int,
    out: ScratchBlock,
    element: str,
    plane: Indices,
) -> None:
    """``out = a @ b + start``, tile by tile. The sums of a tile's rows fill half of the registers, and rows of ``b``
    are contiguous.
    """
    code, signature = emitter.code, emitter.signature
    rows, columns, kind = a.shape[0], out.shape[1], a.kind
    width = min(columns, 2 * signature.vector // (8 if kind == "double" else 4))
    height = min(rows, 8 if signature.registers >= 32 else 4)
    end = code.constant("i64", a.shape[1])

    def tile(i: Reg, j: Index) -> None:
        sums = []
        for row in range(height):
            where = Index(code.op("add", i, code.constant("i64", row)), emitter.depth)
            sums.append(code.splat(widened_at(emitter, start, (*plane, where, j)), width))
        first_a = code.offset(a.pointer, code.op("mul", i, code.constant("i64", a.strides[0])), kind)
        first_b = code.offset(b.pointer, j.value, kind)

        def step(k: Reg, now: list[Reg]) -> Sequence[Reg]:
            row_b = code.offset(first_b, code.op("mul", k, code.constant("i64", b.strides[0])), kind)
            factors = code.load(kind, row_b, width)
            here = code.offset(first_a, k, kind)
            following = []
            for row, total in enumerate(now):
                one = code.load(kind, code.offset(here, code.constant("i64", row * a.strides[0]), kind))
                following.append(_added_product(emitter, code.splat(one, width), factors, total))
            return following

        found = emitter.counted(code.constant("i64", 0), end, 1, step, sums)
        for row, total in enumerate(found):
            where = Index(code.op("add", i, code.constant("i64", row)), emitter.depth)
            total = narrow(code, total, element) if is_narrow(element) and not out.widened else total
            write(emitter, out, (where, j), total)

    def along_columns(j: Reg, _: list[Reg]) -> Sequence[Reg]:
        column = Index(j, emitter.depth, width)

        def along_rows(i: Reg, _: list[Reg]) -> Sequence[Reg]:
            tile(i, column)
            return ()

        emitter.counted(code.constant("i64", 0), code.constant("i64", rows), height, along_rows)
        return ()

    emitter.counted(code.constant("i64", 0), code.constant("i64", columns), width, along_columns)


def _added_product(emitter: Emitter, a: Reg, b: Reg, total: Reg) -> Reg:
    if a.kind[0] == "i":
        return emitter.code.op("add", total, emitter.code.op("mul", a, b))
    if not emitter.signature.fused:  # llvm.fma would call a function for each lane
        return emitter.code.op("fadd", total, emitter.code.op("fmul", a, b))
    return emitter.code.intrinsic("llvm.fma", a, b, total)
