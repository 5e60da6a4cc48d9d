"""Operations on single lanes: ``tt.histogram``, ``tt.map_elementwise``, and functions of CUDA's library."""

from __future__ import annotations

from collections.abc import Sequence

from triton_lab.ir import Op, traits
from triton_lab.localization import _
from triton_lab.native.blocks.block_loops import nest
from triton_lab.native.blocks.elements import Indices, at, lanes_of, write
from triton_lab.native.blocks.value_repr import ScratchBlock
from triton_lab.native.llvm.builder import Reg
from triton_lab.native.llvm.element_types import is_narrow
from triton_lab.native.lowering.emitter import Emitter, elements_of, emits
from triton_lab.native.lowering.pure_operations import PURE
from triton_lab.native.lowering.reduce import applied, combined
from triton_lab.native.lowering.shapes import in_rows
from triton_lab.native.math.libdevice_symbols import library
from triton_lab.native.math.number_conversions import narrow
from triton_lab.native.unsupported import Unsupported

# Operations that a lane's function may contain but that lanes cannot run side by side; they have no effects.
_BRANCHING = traits.names(lambda trait: trait.dialect == "scf") - {"scf.for"}


@elements_of("tt.extern_elementwise")
def extern_elementwise(emitter: Emitter, op: Op, index: Indices) -> Reg:
    elements = {emitter.element(value) for value in (*op.operands, *op.results)}
    if any(is_narrow(element) for element in elements):
        raise Unsupported(_("{attributes} of narrow floats").format(attributes=op.attributes["symbol"]))
    operands = [at(emitter, value, index) for value in op.operands]
    return library(emitter.code, op.attributes["symbol"], operands, emitter.kind(op.results[0]))


@emits("tt.histogram")
def histogram(emitter: Emitter, op: Op) -> None:
    """Counts of the values ``0 .. bins - 1``, lane by lane. Other values count in an extra entry after the last one."""
    (result,), code = op.results, emitter.code
    bins, kind = emitter.types[result].shape[0], emitter.kind(result)
    source = in_rows(emitter, op.operands[0])
    chosen = in_rows(emitter, op.operands[1]) if len(op.operands) > 1 else None
    counts = emitter.setting.scratch.take((bins + 1,), kind)
    emitter.afresh()

    def clear(k: Reg, _: list[Reg]) -> Sequence[Reg]:
        code.store(code.constant(kind, 0), code.offset(counts.pointer, k, kind))
        return ()

    def count(k: Reg, _: list[Reg]) -> Sequence[Reg]:
        found = code.cast("zext", code.load(source.kind, code.offset(source.pointer, k, source.kind)), "i64")
        inside = code.compare("ult", found, code.constant("i64", bins))
        if chosen is not None:
            wanted = code.load("i8", code.offset(chosen.pointer, k, "i8"))
            inside = code.op("and", inside, code.cast("trunc", wanted, "i1"))
        place = code.offset(counts.pointer, code.select(inside, found, code.constant("i64", bins)), kind)
        code.store(code.op("add", code.load(kind, place), code.constant(kind, 1)), place)
        return ()

    size = emitter.types[op.operands[0]].size
    emitter.counted(code.constant("i64", 0), code.constant("i64", bins + 1), 1, clear)
    emitter.counted(code.constant("i64", 0), code.constant("i64", size), 1, count)
    emitter.afresh()
    emitter.keep(result, type(counts)(counts.pointer, (bins,), (1,), kind))


@emits("tt.map_elementwise")
def map_elementwise(emitter: Emitter, op: Op) -> None:
    """Apply a scalar function to each lane, or to ``pack`` neighbours at once."""
    if emitter.rehearsal and not any(map(emitter.order.is_needed, op.results)):
        return
    blocks = op.regions[0].blocks
    names = {inner.name for block in blocks for one in block.ops[:-1] for inner in one.walk()}
    if len(blocks) == 1 and names <= PURE and op.attributes["pack"] == 1:
        _on_vectors(emitter, op)
    elif len(blocks) == 1 and names <= PURE | _BRANCHING:
        _one_by_one(emitter, op)
    else:
        raise Unsupported(f"{', '.join(sorted(names - PURE - _BRANCHING)) or 'an early return'} in {op.name}")


def _on_vectors(emitter: Emitter, op: Op) -> None:
    outs = [emitter.take(result) for result in op.results]

    def body(index: Indices) -> None:
        operands = emitter.code.alike(*(at(emitter, value, index) for value in op.operands))
        operands = [emitter.code.splat(x, lanes_of(index)) for x in operands]
        for out, found in zip(outs, combined(emitter, op, operands, ()), strict=True):
            write(emitter, out, index, found)

    nest(emitter, emitter.types[op.results[0]].shape, op.operands, body)
    for result, out in zip(op.results, outs, strict=True):
        emitter.keep(result, out)


def _one_by_one(emitter: Emitter, op: Op) -> None:
    """Run the function lane by lane, or group by group, each with its own control flow. Groups are along
    the last axis.
    """
    code, pack, (body,) = emitter.code, op.attributes["pack"], op.regions[0].blocks
    sources = [in_rows(emitter, value) for value in op.operands]
    outs = [emitter.setting.scratch.take(emitter.types[value].shape, emitter.kind(value)) for value in op.results]
    emitter.afresh()

    def place(buffer: ScratchBlock, k: Reg, further: int) -> Reg:
        return code.offset(buffer.pointer, code.op("add", k, code.constant("i64", further)), buffer.kind)

    def group(k: Reg, _: list[Reg]) -> Sequence[Reg]:
        given = []
        for value, source in zip(op.operands, sources, strict=True):
            for further in range(pack):
                found = code.load(source.kind, place(source, k, further))
                element = emitter.element(value)
                found = narrow(code, found, element) if source.widened else found
                given.append(code.cast("trunc", found, "i1") if element == "i1" else found)
        results = applied(emitter, body, given)
        for number, found in enumerate(results):
            out = outs[number // pack]
            found = code.cast("zext", found, "i8") if found.kind == "i1" else found
            code.store(found, place(out, k, number % pack))
        return ()

    size = emitter.types[op.operands[0]].size
    emitter.counted(code.constant("i64", 0), code.constant("i64", size), pack, group)
    emitter.afresh()
    for result, out in zip(op.results, outs, strict=True):
        emitter.keep(result, out)
