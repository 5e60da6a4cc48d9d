"""Bank conflicts in shared memory: each instruction's wavefronts, from the addresses in the machine code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from triton_lab.compiled.layouts.bank_use import BANKS, WORD, wavefronts
from triton_lab.compiled.transactions.ptx_parser import Chain, Instruction, Ptx
from triton_lab.compiled.transactions.ptx_registers import evaluated, operand
from triton_lab.compiled.transactions.ptx_rules import KnownRegister

Ints: TypeAlias = NDArray[np.int64]
_LANES = 32
_LINE = BANKS * WORD
_ROW = 16  # bytes of one row of ldmatrix and stmatrix
_ORDERS = re.compile(r"bar|barrier|membar|fence|cp\.async\.wait|atom|wgmma|mbarrier")
_TOUCHES = re.compile(
    r"(?:ld|st)\.(?:volatile\.|relaxed\.\w+\.)?shared|(?:ld|st)matrix|atom\.[\w.]*shared|red\.[\w.]*shared"
)


@dataclass(frozen=True, eq=False)
class SharedUse:
    """One instruction on shared memory, run once by all warps.

    ``addresses`` are the bytes at which lanes begin, ``(warps, 32)``, up to an offset that all share, and -1 for
    inactive lanes; None where they depend on the kernel's data. ``width`` is a lane's bytes. ``wavefronts`` and
    ``ideal`` are ``(warps,)``.
    """

    instruction: Instruction
    kind: str
    width: int
    addresses: Ints | None
    wavefronts: Ints
    ideal: Ints

    @property
    def chain(self) -> Chain:
        return self.instruction.chain

    @property
    def conflicts(self) -> int:
        """The wavefronts above the ideal, of all warps, each time it runs."""
        return int((self.wavefronts - self.ideal).sum())

    @property
    def ways(self) -> int:
        """The most wavefronts that one part of a warp needs."""
        return int(np.max(-(-self.wavefronts // np.maximum(self.ideal, 1)), initial=0))

    def parts(self) -> list[tuple[str, Ints]]:
        """How many different words each part of a warp needs from each bank, ``(32,)`` per part.

        A part is served at once: the whole warp, halves, quarters, or the matrices of one instruction.
        """
        if self.addresses is None:
            return []
        matrices = _matrices(self.instruction)
        groups = matrices or max(1, self.width // WORD)
        name = "matrix" if matrices else {1: "", 2: "half", 4: "quarter"}.get(groups, "part")
        found = []
        for warp, lanes in enumerate(self.addresses):
            served = lanes[: 8 * matrices] if matrices else lanes
            for number, part in enumerate(served.reshape(groups, -1)):
                words = np.unique((part[part >= 0][:, None] + np.arange(0, max(self.width, WORD), WORD)) // WORD)
                counts = np.bincount(words % BANKS, minlength=BANKS)
                if counts.any():
                    found.append((f"warp {warp}" + (f", {name} {number}" if name else ""), counts))
        return found


def shared_uses(ptx: Ptx, threads: int) -> list[SharedUse]:
    """Every load and store of shared memory in ``ptx``, for a program of ``threads`` threads, in order."""
    found: list[SharedUse] = []
    for function in _functions(ptx):
        touching = [one for one in function if _TOUCHES.match(one.opcode)]
        wanted = {
            name
            for one in touching
            for name in re.findall(r"%\w+", " ".join([_address(one), *([one.guard[0]] if one.guard else [])]))
        }
        known = evaluated(function, threads, wanted) if touching else {}
        widths = _merged(function, {one.index: operand(_address(one), known, threads) for one in touching})
        for one in touching:
            if one.index in widths:
                at = operand(_address(one), known, threads)
                on = _on(one, operand(one.guard[0], known, threads) if one.guard else None, threads)
                found.append(_use(one, at, on, widths[one.index]))
    return found


def _merged(function: list[Instruction], at: Mapping[int, KnownRegister | None]) -> dict[int, int]:
    """The bytes a lane moves by each instruction, by its number, without instructions that ptxas merges into others.

    ptxas merges adjacent loads from one register on, up to 16 bytes that begin at a multiple of their number, if
    nothing between them may change what they read.
    """
    widths = dict.fromkeys(at, 0)
    waiting: dict[str, list[Instruction]] = {}
    block = -1
    for one in function:
        if one.block != block or _ORDERS.match(one.opcode) or (one.index in at and one.opcode[0] != "l"):
            _join_all(waiting, at, widths)
            block = one.block
        if one.index in at:
            if one.guard is None and re.fullmatch(r"ld\.shared(?:\.v[24])?\.b32", one.opcode):
                waiting.setdefault(_address(one).strip("[] ").partition("+")[0].strip(), []).append(one)
            else:
                widths[one.index] = _ROW if "matrix" in one.opcode else one.lane_bytes
    _join_all(waiting, at, widths)
    return {number: width for number, width in widths.items() if width}


def _join_all(
    waiting: dict[str, list[Instruction]], at: Mapping[int, KnownRegister | None], widths: dict[int, int]
) -> None:
    for group in waiting.values():
        _join(group, at, widths)
    waiting.clear()


def _join(group: list[Instruction], at: Mapping[int, KnownRegister | None], widths: dict[int, int]) -> None:
    """Merge loads from one register: ``widths`` receives the remaining ones."""
    starts = {one.index: at[one.index] for one in group}
    origin = next(iter(starts.values()))
    if origin is None or any(known is None for known in starts.values()):
        widths.update({one.index: one.lane_bytes for one in group})
        return
    aligned = _ROW if origin.step % _ROW == 0 else 1
    rest = origin.values % aligned
    if (rest != rest[0]).any():
        widths.update({one.index: one.lane_bytes for one in group})
        return
    offsets = {
        one.index: int(rest[0]) + int(known.values[0] - origin.values[0])
        for one in group
        if (known := starts[one.index]) is not None
    }
    held: dict[int, int] = {}  # the first instruction that moves each word, by the word's offset
    for one in group:
        for word in range(max(1, one.lane_bytes // WORD)):
            held.setdefault(offsets[one.index] // WORD + word, one.index)
    by_offset = {offsets[one.index]: one for one in group if one.lane_bytes >= WORD}
    for one in group:
        if one.lane_bytes < WORD:
            widths[one.index] = one.lane_bytes
    words = set(held)
    while words:
        first = min(words)
        for width in (_ROW, 2 * WORD, WORD):
            mine = set(range(first, first + width // WORD))
            if first * WORD % width == 0 and mine <= words:
                words -= mine
                beginning = by_offset.get(first * WORD)
                if beginning is not None:
                    widths[beginning.index] = width
                break


def _functions(ptx: Ptx) -> Iterator[list[Instruction]]:
    """The instructions of each function: each has registers of its own."""
    held: list[Instruction] = []
    for one in ptx.instructions:
        if held and one.function != held[-1].function:
            yield held
            held = []
        held.append(one)
    if held:
        yield held


def _address(one: Instruction) -> str:
    return next((text for text in one.operands if text.startswith("[")), "")


def _on(one: Instruction, guard: KnownRegister | None, threads: int) -> NDArray[np.bool_]:
    """Which threads run it; all of them where that depends on the kernel's data."""
    if one.guard is None or guard is None or guard.step:
        return np.ones(threads, np.bool_)
    return np.asarray((guard.values != 0) != one.guard[1], np.bool_)


def _use(one: Instruction, at: KnownRegister | None, on: NDArray[np.bool_], width: int) -> SharedUse:
    warps = -(-len(on) // _LANES)
    kind = "load" if one.opcode.startswith("ld") else "store" if one.opcode.startswith("st") else "atomic"
    matrices = _matrices(one)
    on = np.resize(on, warps * _LANES) & (np.arange(warps * _LANES) < len(on))
    if matrices:
        on &= np.arange(warps * _LANES) % _LANES < 8 * matrices
    groups = matrices or max(1, width // WORD)
    ran = np.asarray(on.reshape(warps, _LANES).any(axis=1) * groups, np.int64)
    if at is None or at.step % WORD or kind == "atomic":
        return SharedUse(one, kind, width, None, ran, ran)
    # Addresses known up to a shared offset may be negative; a shift by whole lines of all banks changes no conflict.
    values = at.values - min(0, int(at.values.min())) // _LINE * _LINE
    addresses = np.where(on, np.resize(values, warps * _LANES), -1).reshape(warps, _LANES)
    asked, ideal = _asked(addresses, width)
    return SharedUse(one, kind, width, addresses, asked, ideal)


def _matrices(one: Instruction) -> int:
    """How many matrices of eight rows ldmatrix or stmatrix moves; 0 for other instructions."""
    return next((int(part[1]) for part in one.parts if re.fullmatch(r"x[124]", part)), 0)


def _asked(addresses: Ints, width: int) -> tuple[Ints, Ints]:
    """The wavefronts of each warp, and how many it would need without conflicts."""
    groups = max(1, width // WORD)
    parts = addresses.reshape(len(addresses) * groups, -1)
    on = parts >= 0
    # An inactive lane repeats an address of its own part, which costs nothing.
    first = np.take_along_axis(parts, on.argmax(axis=1)[:, None], axis=1)
    whole = np.where(on, parts, first).reshape(addresses.shape)
    asked = np.where(on.any(axis=1).reshape(len(addresses), groups), wavefronts(whole, width), 0)
    return asked.sum(axis=1), (asked > 0).sum(axis=1)
