"""Bank conflicts: how many wavefronts shared memory needs when threads access it by a layout.

The rule is that of NVIDIA's GPUs since sm_70: each of 32 banks of 4 bytes gives one word at a time, and lanes that
read the same word share it. Accesses of 8 bytes a lane are served by halves of a warp, of 16 bytes by quarters, each
part at best in one wavefront. (CUDA C++ Programming Guide, "Shared Memory"; the order of halves is what Nsight
Compute counts.)

`ldmatrix` and `stmatrix` move matrices of 8 rows of 16 bytes, one after another, each at best in one wavefront: what
counts are the banks of the rows. (PTX ISA, "ldmatrix".)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _
from triton_lab.messages import count

BANKS, WORD = 32, 4  # bytes of a word
_ROWS, _ROW = 8, 16  # of a matrix that ldmatrix moves: rows, and bytes of one
_LANES_OF_ROW = _ROW // WORD
_WIDEST = 16  # bytes that one lane can move at once


@dataclass(frozen=True)
class BankUse:
    """The banks' work for one access of a whole tensor in shared memory.

    ``vector`` elements of a lane move at once. Over all warps, ``instructions`` counts the instructions,
    ``wavefronts`` the accesses of the banks, and ``ideal`` those without conflicts; ``ways`` is the most wavefronts
    of one request.
    """

    vector: int
    instructions: int
    wavefronts: int
    ideal: int
    ways: int

    @property
    def conflicts(self) -> int:
        """The wavefronts above the ideal."""
        return self.wavefronts - self.ideal

    def __str__(self) -> str:
        told = _("{accesses} of {elements} a thread, {wavefronts}").format(
            accesses=count(self.instructions, "access", "accesses"),
            elements=count(self.vector, "element"),
            wavefronts=count(self.wavefronts, "wavefront"),
        )
        return (
            _("{told}, no bank conflicts").format(told=told)
            if not self.conflicts
            else (
                _("{told}, {ideal} without conflicts: {threads} access different words of one bank").format(
                    told=told, ideal=self.ideal, threads=count(self.ways, "thread")
                )
            )
        )


def wavefronts(addresses: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.int64]:
    """The wavefronts of each request: ``addresses`` in bytes, ``(requests, lanes)``, with ``width`` bytes a lane.

    The result is ``(requests, groups)``: a warp is served in one group, two halves (8 bytes) or four quarters (16
    bytes).
    """
    requests = len(addresses)
    groups = max(1, width // WORD)
    words = addresses // WORD
    words = (words[..., None] + np.arange(max(1, width // WORD))).reshape(requests, groups, -1)
    return _most_words(words.reshape(requests * groups, -1)).reshape(requests, groups)


def _most_words(words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The most different words of one bank that each of ``(requests, ...)`` needs at once."""
    words = np.sort(words.reshape(len(words), -1), axis=1)
    first = np.concatenate([np.ones_like(words[:, :1], bool), words[:, 1:] != words[:, :-1]], axis=1)
    counts = np.zeros((len(words), BANKS), np.int64)
    at = np.nonzero(first)
    np.add.at(counts, (at[0], words[at] % BANKS), 1)
    return np.asarray(counts.max(axis=1), np.int64)


def bank_use(memory: npt.NDArray[np.int64], bits: int, registers: Linear) -> BankUse:
    """The bank conflicts of accessing shared memory by a layout in registers.

    ``memory`` has the byte at which each element begins, in the tensor's shape; an element has ``bits`` bits. Raises
    LayoutError.
    """
    return use_of(*lane_starts(memory, bits, registers), bits)


def lane_starts(memory: npt.NDArray[np.int64], bits: int, registers: Linear) -> tuple[npt.NDArray[np.int64], int]:
    """The byte at which each lane begins, ``(warps, instructions, 32)``, and how many elements it moves at once.

    The arguments are those of `bank_use`. Raises LayoutError.
    """
    if memory.shape != registers.shape:
        raise LayoutError(
            _("the shapes differ: {shape} in shared memory, {shape2} in registers").format(
                shape=memory.shape, shape2=registers.shape
            )
        )
    if registers.size("lane") != 32:
        raise LayoutError(
            _("the rule for banks here is NVIDIA's, for warps of 32 threads, not {size}").format(
                size=registers.size("lane")
            )
        )
    addresses = memory.reshape(-1)[_held(registers)]
    vector = _vector(addresses, bits)
    return addresses[:, :, ::vector].transpose(0, 2, 1), vector


def use_of(starts: npt.NDArray[np.int64], vector: int, bits: int) -> BankUse:
    """The banks' work for what `lane_starts` gives."""
    requests = starts.reshape(-1, 32)
    width = vector * bits // 8
    found = wavefronts(requests, width)
    needed = wavefronts(np.broadcast_to(np.arange(32) * width, (len(requests), 32)).astype(np.int64), width)
    return BankUse(vector, len(requests), int(found.sum()), int(np.minimum(found, needed).sum()), int(found.max()))


def matrix_use(memory: npt.NDArray[np.int64], bits: int, registers: Linear) -> BankUse | None:
    """The bank conflicts of an access by `ldmatrix` or `stmatrix`; None if these cannot make it.

    The arguments are those of `bank_use`. A lane holds one word of each matrix: four lanes hold a row or, transposed,
    two elements of 16 bits that are below each other.
    """
    addresses = memory.reshape(-1)[_held(registers)]
    warps, _lanes, held = addresses.shape
    size, per = bits // 8, WORD * 8 // bits
    if held % per:
        return None
    # By row of lanes, lane in it, register of 32 bits, element of that.
    words = addresses.reshape(warps, _ROWS, _LANES_OF_ROW, held // per, per)
    lane, element = np.arange(_LANES_OF_ROW)[:, None, None], np.arange(per)
    if (words == words[:, :, :1, :, :1] + lane * WORD + element * size).all():
        rows = words[:, :, 0, :, 0].transpose(0, 2, 1)
    elif bits == 16 and (words == words[:, :1] + np.arange(_ROWS)[:, None, None, None] * size).all():
        rows = words[:, 0].transpose(0, 2, 1, 3)
    else:
        return None
    rows = rows.reshape(-1, _ROWS)
    if (rows % _ROW).any():
        return None
    found = _most_words(rows[:, :, None] // WORD + np.arange(_LANES_OF_ROW))
    return BankUse(_ROW // size, len(rows), int(found.sum()), len(rows), int(found.max()))


def _held(linear: Linear) -> npt.NDArray[np.int64]:
    """The row-major positions that block 0's threads hold, each once per lane: ``(warps, lanes, registers)``."""
    register = [linear.pack(basis) for basis in linear.bases("register") if any(basis)]
    found = np.zeros(1, np.int64)
    for column in (*register, *(linear.pack(basis) for name in ("lane", "warp") for basis in linear.bases(name))):
        found = np.concatenate([found, found ^ column])
    return found.reshape(linear.size("warp"), linear.size("lane"), 1 << len(register))


def _vector(addresses: npt.NDArray[np.int64], bits: int) -> int:
    """How many consecutive registers are adjacent and aligned in memory, for every lane: a power of two."""
    size, vector = bits // 8, 1
    while vector * 2 * size <= _WIDEST and vector * 2 <= addresses.shape[2]:
        groups = addresses.reshape(*addresses.shape[:2], -1, vector * 2)
        steps = groups - groups[..., :1] == np.arange(vector * 2) * size
        if not steps.all() or (groups[..., 0] % (vector * 2 * size)).any():
            break
        vector *= 2
    return vector
