"""`WarpAccess`: the words of shared memory that the lanes of one warp access at once, and the banks that give them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts.bank_use import BANKS, WORD, BankUse, lane_starts, use_of, wavefronts
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed
from triton_lab.compiled.layouts.layout_parser import parse
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.localization import _
from triton_lab.messages import count

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WarpAccess:
    """An access of shared memory by all warps, and one instruction of one ``warp`` in it: that with most wavefronts.

    ``memory`` has the byte at which each element of the block begins, ``bits`` of each; ``registers`` is the layout of
    the block in registers. Raises LayoutError for a warp that does not exist, and for warps of other than 32 lanes.
    """

    memory: Ints
    bits: int
    registers: Linear
    warp: int = 0

    def __post_init__(self) -> None:
        warps = self.registers.size("warp")
        if not 0 <= self.warp < warps:
            raise LayoutError(
                _("there is no warp {warp}: this layout has {warps}, from 0").format(warp=self.warp, warps=warps)
            )
        self._found  # noqa: B018 - raises here, not at the first use

    @cached_property
    def _found(self) -> tuple[Ints, int]:
        return lane_starts(self.memory, self.bits, self.registers)

    @property
    def width(self) -> int:
        """The bytes that a lane moves at once."""
        return self._found[1] * self.bits // 8

    @cached_property
    def use(self) -> BankUse:
        """The banks' work for all warps."""
        starts, vector = self._found
        return use_of(starts, vector, self.bits)

    @cached_property
    def instruction(self) -> int:
        """Which instruction of the warp is shown, from 0."""
        return int(wavefronts(self._found[0][self.warp], self.width).sum(axis=1).argmax())

    @cached_property
    def lanes(self) -> Ints:
        """The byte at which each lane begins, ``(32,)``."""
        found: Ints = self._found[0][self.warp, self.instruction]
        return found

    @cached_property
    def part(self) -> Ints:
        """The lanes of the part of the warp that needs most wavefronts: 16 bytes a lane are served by quarters."""
        groups = max(1, self.width // WORD)
        asked = wavefronts(self.lanes[None], self.width)[0]
        found: Ints = np.arange(len(self.lanes)).reshape(groups, -1)[int(asked.argmax())]
        return found

    @cached_property
    def bank_words(self) -> Ints:
        """How many different words that part needs from each bank, ``(32,)``."""
        words = np.unique(self.lanes[self.part][:, None] // WORD + np.arange(max(1, self.width // WORD)))
        return np.bincount(words % BANKS, minlength=BANKS)

    def words_of(self, lane: int) -> list[int]:
        """The words of 4 bytes that a lane accesses, counted from the block's first byte."""
        first = int(self.lanes[lane]) // WORD
        return list(range(first, first + max(1, self.width // WORD)))


def warp_access(memory: Ints, bits: int, registers: str, warp: int = 0) -> WarpAccess:
    """The access of a block that lies at the bytes ``memory``; ``registers`` is TTGIR's text. Raises LayoutError."""
    kind = parse(registers)
    if not isinstance(kind, Distributed):
        raise LayoutError(_("{name} is no layout in registers").format(name=kind.name))
    return WarpAccess(memory, bits, kind.linear(memory.shape), warp)


def told(access: WarpAccess) -> str:
    """What one instruction of the warp costs, in words."""
    worst = int(access.bank_words.max())
    part = count(len(access.part), "thread")
    if worst <= 1:
        return _("Each bank gives at most one word: {threads} are served at once.").format(threads=part)
    return _("Bank {bank} has to give {words}: {threads} are served in {turns}.").format(
        bank=int(access.bank_words.argmax()),
        words=count(worst, "different word"),
        threads=part,
        turns=count(worst, "turn"),
    )
