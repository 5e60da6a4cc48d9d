"""Whether the programs of a launch keep apart, found without running it.

The NumPy engine runs the kernel's `Outline` for all programs at once; its marks report which blocks are touched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.footprint.access_blocks import Blocks
from triton_lab.footprint.disjoint_programs import apart
from triton_lab.interpreter.affine_block import AffineBlock
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Limits, Machine
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.interpreter.ops.descriptors import placed
from triton_lab.interpreter.runtime_values import Array, Descriptor
from triton_lab.ir import Op, Plan
from triton_lab.localization import _
from triton_lab.native.analysis.address_slice import Groups, Outline, SliceAccess, outline

if TYPE_CHECKING:
    from triton_lab.native.runtime.native_launch import Regions

# With more rounds of loops or blocks than this, the check takes longer than it saves.
_MOST_ROUNDS, _MOST_BLOCKS = 256, 1 << 19
# The same for lanes with addresses of their own, in launches that come again.
_MOST_LANES = 1 << 20
_MOST_KNOWN = 1000


@dataclass
class _Found:
    """What the marks have reported so far. At most ``most`` lanes are examined one by one."""

    accesses: Mapping[int, SliceAccess]
    most: int
    blocks: dict[int, list[Blocks]] = field(default_factory=dict)
    count: int = 0
    lanes: int = 0

    def mark(self, frame: Frame, op: Op) -> None:
        """Record a mark's blocks. Raises KernelError if they are too many."""
        pointer, mask, shape = _lanes_of(frame, op, self.accesses[op.index].size)
        known, programs = self.accesses[op.index], frame.programs
        found = Blocks.around(pointer, mask, programs, known.role, known.size)
        self.count += frame.count
        if found is None:
            self.lanes += math.prod(shape)
        if self.count > _MOST_BLOCKS or self.lanes > self.most:
            raise KernelError(_("where it touches memory is not known"))
        if found is None:
            on = mask.elements() if isinstance(mask, MaskBox) else mask
            active = None if on is None else np.broadcast_to(on, shape)
            addresses = np.broadcast_to(np.asarray(pointer), shape)
            found = Blocks.of_lanes(addresses, active, programs, known.role, known.size)
        self.blocks.setdefault(known.group, []).append(found)


def _lanes_of(frame: Frame, op: Op, size: int) -> tuple[AffineBlock | Array, MaskBox | Array | None, tuple[int, ...]]:
    """The pointers and the mask of a mark, and the shape of all its lanes, ``(programs, *block)``."""
    pointer, *rest = (frame.environment[value] for value in op.operands)
    type = frame.type(op.operands[0])
    if isinstance(pointer, Descriptor):
        assert type.pointee is not None
        corner = [frame.elements(op, 1 + k, index).astype(np.int64) for k, index in enumerate(rest)]
        found, box = placed(pointer, type.pointee.shape, size, corner)
        return found, box, (frame.count, *type.pointee.shape)
    mask = rest[0] if rest else None
    assert isinstance(pointer, (AffineBlock, np.ndarray))
    assert mask is None or isinstance(mask, (MaskBox, np.ndarray))
    return pointer, mask, (frame.count, *type.shape)


class Footprints:
    """Which memory the programs of a kernel's launches touch.

    ``groups`` are those of its `Signature`; ``besides_sums``: see `outline`.
    """

    def __init__(self, plan: Plan, groups: Groups, besides_sums: bool = False) -> None:
        self._outline = outline(plan, groups, besides_sums)
        # None: requested once, not computed yet.
        self._known: dict[object, bool | None] = {}

    def are_apart(self, machine: Machine, regions: Regions, at_once: bool = True) -> bool:
        """Whether no program of the launch touches what another one writes. False if that is unknown.

        With ``at_once``, compute it for the first launch of a kind, else (and for scattered lanes) only for the second.
        """
        if self._outline is None:
            return False
        key = machine.grid, _place(self._outline, machine, regions)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            again = key in self._known
            found = _are_apart(self._outline, machine, _MOST_LANES if again else 0) if at_once or again else None
            self._known[key] = found
        return bool(found)

    def known(self, grid: tuple[int, int, int], place: Callable[[int], int]) -> bool | None:
        """The result of `are_apart` for such a launch; None if there is none yet.

        ``place`` gives a kernel's argument as a number; a pointer counts from the start of its tensor's memory.
        """
        return False if self._outline is None else self._known.get((grid, tuple(map(place, self._outline.arguments))))


def _place(of: Outline, machine: Machine, regions: Regions) -> tuple[int, ...]:
    """The arguments that matter, as numbers; pointers count from the start of their memory."""
    function = of.executable.plan.kernel
    known = [region for own in regions.values() for region in own or ()]
    found = []
    for k in of.arguments:
        value = machine.arguments[k]
        assert isinstance(value, np.ndarray)
        bits = int.from_bytes(value.tobytes(), "little")
        if function.types[function.arguments[k]].is_pointer:
            around = {region.start for region in known if region.start <= bits <= region.stop}
            # Where one region ends and the next begins, it is unknown which one is intended.
            bits -= around.pop() if len(around) == 1 else 0
        found.append(bits)
    return tuple(found)


def _are_apart(of: Outline, machine: Machine, most: int) -> bool | None:
    """Whether the programs keep apart; None if ``most`` is 0, and lanes must be examined to know."""
    found = _Found(of.accesses, most)
    limits = Limits(steps=_MOST_ROUNDS, memory=machine.limits.memory)
    walking = Machine(of.executable, machine.arguments, machine.grid, Memory([]), limits=limits, marks=found.mark)
    try:
        walking.run()
    except KernelError:
        return None if found.lanes and not most else False
    return all(map(apart, found.blocks.values()))
