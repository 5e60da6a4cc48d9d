"""``tt.dot``: tiles of the product are kept in registers while the inner axis is gone through.

Operands are written down as numbers of the type in which is summed up: float32 for floats of up to 32 bits, int32 for
integers. A sum begins with the accumulator, where NumPy's engine adds it last: within the same bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.ir import Dense, Op
from triton_lab.native.code import Reg
from triton_lab.native.elements import Indices, widened_at, write
from triton_lab.native.emitter import Emitter, emits
from triton_lab.native.forms import Affine, Buffer, Index, Lazy
from triton_lab.native.kinds import is_narrow
from triton_lab.native.materials import materialise
from triton_lab.native.math.conversions import narrow
from triton_lab.native.nest import nest
from triton_lab.native.unsupported import Unsupported

_SUMS = {"f32": "float", "f16": "float", "bf16": "float", "f64": "double", "i32": "i32"}


@emits("tt.dot")
def dot(emitter: Emitter, op: Op) -> None:
    a, b, accumulator = op.operands
    type = emitter.types[op.results[0]]
    if len(type.shape) != 2 or type.element not in _SUMS:
        raise Unsupported("a dot of more than two axes" if len(type.shape) != 2 else f"a dot into {type.element}")
    if emitter.element(a) == "bf16":
        raise Unsupported("a dot of bf16")
    kind = _SUMS[type.element]
    result, start = op.results[0], accumulator
    added = _added(emitter, op)
    if added is not None:
        result, start = added.results[0], next(v for v in added.operands if v != op.results[0])
        emitter.done.add(added)
    left, right = (_operand(emitter, value, kind) for value in (a, b))
    out = emitter.take(result)
    _multiply(emitter, left, right, start, out, emitter.element(result))
    emitter.keep(result, out)


def _added(emitter: Emitter, op: Op) -> Op | None:
    """The sum that a product without an accumulator goes into: it can begin with the other summand."""
    (result,), zero = op.results, emitter.forms.get(emitter.analysis.one(op.operands[2]))
    users = emitter.analysis.users.get(result, [])
    if len(users) != 1 or users[0].name not in ("arith.addf", "arith.addi") or not _is_zero(zero):
        return None
    others = [value for value in users[0].operands if value != result]
    if len(others) != 1 or emitter.analysis.one(others[0]) not in emitter.forms:
        return None
    here, there = emitter.analysis.places[op], emitter.analysis.places[users[0]]
    together = here.loops == there.loops and emitter.element(result) in ("f32", "f64", "i32")
    writes_between = any(
        here.position < emitter.analysis.places[write].position < there.position for write in emitter.analysis.writes
    )
    return users[0] if together and not writes_between else None


def _is_zero(form: object) -> bool:
    if isinstance(form, Affine):
        return form.base == 0 and form.is_constant
    given = form.op.attributes.get("value") if isinstance(form, Lazy) else None
    return isinstance(given, Dense) and given.values in ((0.0,), (0,))


def _operand(emitter: Emitter, value: int, kind: str) -> Buffer:
    """An operand in rows, as numbers of ``kind``."""
    element = emitter.element(value)
    if is_narrow(element) or emitter.kind(value) == kind:
        found = materialise(emitter, value, widened=is_narrow(element))
        if found.kind == kind and found.strides[-1] == 1:
            return found
    if not (is_narrow(element) or emitter.types[value].is_integer or emitter.kind(value) == kind):
        raise Unsupported(f"a dot of {element}")
    buffer = emitter.setting.scratch.take(emitter.types[value].shape, kind, widened=is_narrow(element))

    def body(index: Indices) -> None:
        found = widened_at(emitter, value, index)
        write(emitter, buffer, index, emitter.code.cast("sext", found, kind) if found.kind[0] == "i" else found)

    nest(emitter, buffer.shape, [value], body)
    return buffer


def _multiply(emitter: Emitter, a: Buffer, b: Buffer, start: int, out: Buffer, element: str) -> None:
    """``out = a @ b + start``, tile by tile: so many rows that their sums fill half of the registers."""
    code, signature = emitter.code, emitter.signature
    (rows, depth), columns, kind = a.shape, b.shape[1], a.kind
    width = min(columns, 2 * signature.vector // (8 if kind == "double" else 4))
    height = min(rows, 8 if signature.registers >= 32 else 4)
    emitter.afresh()

    def tile(i: Reg, j: Index) -> None:
        sums = []
        for row in range(height):
            where = Index(code.op("add", i, code.constant("i64", row)), emitter.depth)
            sums.append(code.splat(widened_at(emitter, start, (where, j)), width))
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

        found = emitter.counted(code.constant("i64", 0), code.constant("i64", depth), 1, step, sums)
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
    emitter.afresh()


def _added_product(emitter: Emitter, a: Reg, b: Reg, total: Reg) -> Reg:
    if a.kind[0] == "i":
        return emitter.code.op("add", total, emitter.code.op("mul", a, b))
    return emitter.code.intrinsic("llvm.fma", a, b, total)
