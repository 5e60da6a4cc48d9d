"""Layouts of shared memory without bank conflicts, for accesses that are given by their layouts in registers."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts.bank_use import BankUse, bank_use, matrix_use
from triton_lab.compiled.layouts.dot_operands import DotOperand
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed, SharedLayout
from triton_lab.compiled.layouts.layout_parser import parse
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.compiled.layouts.nvidia_matrix import Nvmma
from triton_lab.compiled.layouts.shared_memory import Padded, Swizzled

SECONDS = 3.0  # for one search
MOST = 1 << 16  # elements of a block; a larger one is not searched

# An access: TTGIR's text of its layout in registers, and the axes of the block that it moves, among the buffer's.
Accessed = tuple[str, tuple[int, ...]]


def register_bank_use(memory: npt.NDArray[np.int64], bits: int, registers: str) -> BankUse | None:
    """The bank conflicts of an access of elements that begin at the bytes ``memory``, of ``bits`` bits each.

    ``registers`` is TTGIR's text. The compiler moves operands and sums of a tensor core by matrices where it can. None
    for a layout of another GPU, which has other banks.
    """
    found = _linear(registers, memory.shape)
    return None if found is None else _use(memory, bits, found, _is_of_tensor_core(registers))


def _use(memory: npt.NDArray[np.int64], bits: int, registers: Linear, of_tensor_core: bool) -> BankUse:
    by_matrices = matrix_use(memory, bits, registers) if of_tensor_core else None
    return by_matrices or bank_use(memory, bits, registers)


def registers_of(registers: str, shape: Sequence[int], bits: int) -> int:
    """The 32-bit registers of a thread that hold a block in a layout; 0 for a layout that is not known here."""
    found = _linear(registers, tuple(shape))
    return 0 if found is None else -(-found.size("register") * bits // 32)


def conflict_free(layout: str, shape: Sequence[int], bits: int, accesses: Sequence[Accessed]) -> str:
    """A layout of shared memory in which no access has bank conflicts, as Gluon writes it; "" if none was found.

    ``layout`` is what the buffer has now, as TTGIR's text, and ``shape`` that of the buffer: axes before those of
    the layout count blocks. Swizzles are tried first, then padding; a layout for TMA and tensor cores only gets
    another width of its swizzle.
    """
    kind = parse(layout)
    if not isinstance(kind, SharedLayout):
        return ""
    block = tuple(shape[len(shape) - kind.rank :])
    linears = [(_linear(text, tuple(block[axis] for axis in axes)), text, axes) for text, axes in accesses]
    known = [(linear, _is_of_tensor_core(text), axes) for linear, text, axes in linears if linear is not None]
    if int(np.prod(block)) > MOST or len(known) != len(accesses) or not known:
        return ""
    best, cost = "", float("inf")
    end = time.monotonic() + SECONDS
    for told, candidate in _candidates(kind, block, bits):
        if time.monotonic() > end:
            break
        try:
            memory = _bytes(candidate, block, bits)
            uses = [_use(memory.transpose(axes), bits, linear, of_core) for linear, of_core, axes in known]
        except LayoutError:
            continue
        wavefronts = sum(use.wavefronts for use in uses)
        if not any(use.conflicts for use in uses) and wavefronts < cost:
            best, cost = told, wavefronts
    return best


def _candidates(kind: SharedLayout, block: tuple[int, ...], bits: int) -> Iterator[tuple[str, SharedLayout]]:
    if isinstance(kind, Nvmma):
        for width in (128, 64, 32, 0):
            told = f"gl.NVMMASharedLayout(swizzle_byte_width={width}, element_bitwidth={bits}, rank={kind.rank}"
            told += ", transposed=True)" if kind.transposed else ")"
            yield told, Nvmma(width, kind.transposed, kind.element_bit_width, kind.fp4_padded, rank_=kind.rank)
        return
    orders = [tuple(reversed(range(kind.rank)))]
    if kind.rank > 1:
        orders.append((orders[0][1], orders[0][0], *orders[0][2:]))
    own = getattr(kind, "order", ())
    orders.sort(key=lambda order: order != tuple(own))
    for order in orders:
        width = block[order[0]]
        for vec, phases, per_phase in itertools.product((8, 4, 2, 1, 16), (8, 16, 32, 4, 2, 1), (1, 2, 4, 8)):
            if vec * phases <= width and vec * bits <= 128 and (phases > 1 or (vec == 1 and per_phase == 1)):
                told = f"gl.SwizzledSharedLayout(vec={vec}, per_phase={per_phase}, max_phase={phases}"
                yield f"{told}, order={list(order)})", Swizzled(vec, per_phase, phases, order)
    for order in orders:
        for padding in (1, 2, 4, 8):
            pair = (block[order[0]], padding)
            told = f"gl.PaddedSharedLayout.with_identity_for([{list(pair)}], {list(block)}, {list(order)})"
            yield told, Padded((pair,), order, block)


def _bytes(kind: SharedLayout, block: tuple[int, ...], bits: int) -> npt.NDArray[np.int64]:
    offsets = kind.linear(block).inverse().table_of("offset").reshape(block)
    for interval, padding in kind.padding:
        offsets = offsets + offsets // interval * padding
    found: npt.NDArray[np.int64] = offsets * bits // 8
    return found


def _linear(registers: str, shape: tuple[int, ...]) -> Linear | None:
    """A layout in registers of NVIDIA's warps; None for any other."""
    try:
        kind = parse(registers)
        found = kind.linear(shape) if isinstance(kind, Distributed) else None
    except LayoutError:
        return None
    return found if found is not None and found.size("lane") == 32 else None


def _is_of_tensor_core(registers: str) -> bool:
    kind = parse(registers)
    return isinstance(kind, DotOperand) or "mma" in kind.mnemonic
