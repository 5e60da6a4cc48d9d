"""The shared memory of a recorded launch: each access of a buffer, bank by bank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.warp_access import WarpAccess, warp_access
from triton_lab.interpreter.ops.local_memory import placement_of
from triton_lab.launch.buffer_access_layouts import BufferAccess, SharedBuffer, shared_buffers
from triton_lab.localization import _
from triton_lab.views.launch.card.card_scenes import ItemScene
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, item, unknown
from triton_lab.views.layouts.bank_view import BankView

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

MOST = 12  # accesses that get a picture in a card
WARPS = 4  # warps of each


class SharedMemoryView(BankView):
    """One access of one buffer. Raises LayoutError for a warp that does not exist."""

    def __init__(self, launch: Launch, buffer: SharedBuffer, access: BufferAccess | None, warp: int = 0) -> None:
        self.launch, self.buffer, self.moved = launch, buffer, access
        name = buffer.name or _("a buffer")
        if access is None:
            super().__init__(name, placement_of(buffer.type).offsets, buffer.block.bits)
            return
        found: WarpAccess = warp_access(access.bytes, access.bits, access.registers, warp)
        super().__init__(name, access.bytes, access.bits, found)

    @property
    def line(self) -> int | None:
        """The line of the access."""
        return _line(self.launch, self.moved)

    def title(self) -> str:
        told = super().title()
        if self.moved is None:
            return told
        return _("{kernel}, line {line}: {told}").format(
            kernel=self.launch.kernel, line="?" if self.line is None else self.line, told=told
        )


def _line(launch: Launch, access: BufferAccess | None) -> int | None:
    place = None if access is None else launch.lines.get(access.op.index)
    return None if place is None else place.line


def drawn_accesses(launch: Launch, line: int | None = None) -> list[tuple[SharedBuffer, BufferAccess | None]]:
    """The accesses of each buffer that can be drawn, those with most wavefronts above the ideal first.

    Accesses in ``line``, if it has any, come before all others.
    Of a buffer that only TMA and tensor cores access, None stands for all of them.
    """
    found: list[tuple[SharedBuffer, BufferAccess | None, int]] = []
    for buffer in shared_buffers(launch.executable.plan):
        drawable = [(one, cost) for one in buffer.accesses if (cost := _conflicts(one)) is not None]
        found += [(buffer, one, cost) for one, cost in drawable]
        if not drawable and buffer.type.layout:
            found.append((buffer, None, -1))
    found.sort(key=lambda one: (line is None or _line(launch, one[1]) != line, -one[2]))
    return [(buffer, access) for buffer, access, _cost in found]


def _conflicts(access: BufferAccess) -> int | None:
    """The conflicts of an access; None for one that cannot be drawn."""
    try:
        return warp_access(access.bytes, access.bits, access.registers).use.conflicts
    except LayoutError:
        return None


def shared_memory_view(
    launch: Launch, buffer: str | None, line: int | None, warp: int, likely: int | None = None
) -> SharedMemoryView:
    """The view of `launch.plot.shared_memory`, if possible in the line ``likely``.

    Raises ValueError for what does not exist.
    """
    every = drawn_accesses(launch, likely)
    if not every:
        raise ValueError(_("{kernel} has no buffer in shared memory").format(kernel=launch.kernel))
    views = [
        one
        for one in (SharedMemoryView(launch, found, access) for found, access in every)
        if (buffer is None or one.buffer.name == buffer) and (line is None or one.line == line)
    ]
    if not views:
        known = ", ".join(
            _("{name} (line {line})").format(name=found.name or "?", line=SharedMemoryView(launch, found, access).line)
            for found, access in every
        )
        raise ValueError(_("there is no such access of shared memory; there are {known}").format(known=known))
    first = views[0]
    return SharedMemoryView(launch, first.buffer, first.moved, warp)


class SharedMemoryPanel(Panel):
    """The accesses of shared memory, one warp each."""

    @property
    def absent(self) -> str:
        if self._found:
            return ""
        return _("{kernel} works on no shared memory of its own").format(kernel=self.launch.kernel)

    @cached_property
    def _found(self) -> list[tuple[SharedBuffer, BufferAccess | None]]:
        return drawn_accesses(self.launch, self.card.line)[:MOST]

    def items(self) -> list[ItemScene]:
        found = []
        for number, (buffer, access) in enumerate(self._found):
            view = SharedMemoryView(self.launch, buffer, access)
            warps = 1 if view.access is None else min(WARPS, view.access.registers.size("warp"))
            for warp in range(warps):
                label = view.name
                if view.line is not None:
                    label = _("{name} · line {line} · warp {warp}").format(name=view.name, line=view.line, warp=warp)
                found.append(item(f"shared_memory/{number}/{warp}", label, [view.line] if view.line else []))
        return found

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> SharedMemoryView:
        match path:
            case ["shared_memory", number, warp] if number.isdigit() and warp.isdigit():
                if int(number) < len(self._found):
                    return SharedMemoryView(self.launch, *self._found[int(number)], int(warp))
        raise unknown(path)

    def drawn(self) -> list[SharedMemoryView]:
        return [SharedMemoryView(self.launch, buffer, access) for buffer, access in self._found[:1]]
