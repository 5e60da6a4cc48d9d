"""The launches of an answer, repeated on other numbers: what they store must be right there, too.

Of the memory in an answer, only that stored by its launches counts. A launch may read other memory that is neither an
argument nor stored by an earlier launch (tables, zeros, scalars); this memory stays as it was. So a result that was
computed beforehand, and only stored by a kernel, is that of the old numbers. A copy of an argument, which some
exercises allow, becomes a copy of the new one.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.course.attempt import Attempt, Bytes, Placed
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.ir.effects import operands_of
from triton_lab.launch.recording.snapshot import CannotReplay, Snapshot
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.interpreter.memory_regions import Memory
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.recording.snapshot import SavedRegion

_LEAST = 8  # bytes: shorter memory may equal an argument by chance, longer memory is a copy of it


class World:
    """The contents of memory at some addresses."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, Bytes]] = []

    def lay(self, start: int, data: Bytes) -> None:
        """Write ``data`` to the addresses from ``start`` on."""
        stop, kept = start + len(data), []
        for low, held in self._parts:
            kept.append((low, held[: max(0, start - low)]))
            kept.append((max(low, stop), held[max(0, stop - low) :]))
        self._parts = [(low, held) for low, held in kept if len(held)] + [(start, data)]

    def parts(self, start: int, stop: int) -> list[tuple[int, Bytes]]:
        """The known contents of these addresses: the start and bytes of each part."""
        found = []
        for low, held in self._parts:
            first, last = max(start, low), min(stop, low + len(held))
            if first < last:
                found.append((first, held[first - low : last - low]))
        return found

    def over(self, start: int, data: Bytes) -> Bytes:
        """``data``, overwritten with the known contents of these addresses."""
        found = data.copy()
        for low, held in self.parts(start, start + len(data)):
            found[low - start : low - start + len(held)] = held
        return found


@dataclass(frozen=True)
class Copy:
    """Memory at ``start`` that a launch reads, and the argument of which it is a copy."""

    argument: str
    start: int
    launch: Launch


def copies(attempt: Attempt, before: Mapping[str, Bytes]) -> list[Copy]:
    """The copies of arguments, made outside of kernels, that launches load; ``before`` has the storages' contents."""
    found = []
    known = {placed.start for placed in attempt.tensors.values()}
    for launch in attempt.launches:
        held = {one.start: one for one in launch.snapshot.regions} if launch.snapshot is not None else {}
        read = {argument.storage_address for argument in launch.arguments if argument.kind in ("tensor", "descriptor")}
        loaded = {access.argument for access in launch.accesses if access.kind == "load"}
        names = {one.storage_address: one.name for one in launch.arguments}
        for start in sorted(read & set(held) - known):
            if names[start] in loaded:
                name = _copied(held[start], attempt.tensors, before)
                found += [Copy(name, start, launch)] if name else []
    return found


def _copied(held: SavedRegion, tensors: Mapping[str, Placed], before: Mapping[str, Bytes]) -> str:
    """The name of the argument whose elements these are, in its own order; "" if there is none."""
    for name, placed in tensors.items():
        if any(np.array_equal(held.data, one) for one in _ways(placed, before[name])):
            return name
    return ""


def _ways(placed: Placed, data: Bytes, size: int = 0) -> list[Bytes]:
    """The possible storages of a copy of the argument, made by `contiguous` or by `clone`.

    With a greater ``size`` in bytes also those of its elements repeated so far, as `expand` does in front or behind.
    """
    import torch

    view = placed.holding(data)
    if view.numel() * view.element_size() < _LEAST or bool((view == view.flatten()[0]).all()):
        return []
    close = view.clone(memory_format=torch.contiguous_format)
    made = [close, view.clone()]
    times, rest = divmod(size, view.numel() * view.element_size())
    if times > 1 and not rest:
        made += [close.flatten().repeat(times), close.flatten().repeat_interleave(times)]
    return [torch.empty(0, dtype=torch.uint8).set_(one.untyped_storage()).numpy() for one in made]


def again(attempt: Attempt, before: Mapping[str, Bytes], now: Mapping[str, Bytes]) -> World:
    """Memory after all launches when the arguments' storages held ``now`` instead of ``before``.

    Raises KernelError if a launch is stopped, and CannotReplay.
    """
    old, new = World(), World()
    for name, placed in attempt.tensors.items():
        old.lay(placed.start, before[name])
        new.lay(placed.start, now[name])
    for number, launch in enumerate(attempt.launches):
        snapshot = launch.snapshot
        if snapshot is None or snapshot.missing:
            raise CannotReplay(
                _("the launch of {kernel} was not recorded with its memory").format(kernel=launch.kernel)
            )
        regions = tuple(_renewed(held, old, new, attempt.tensors, before, now) for held in snapshot.regions)
        _note(new, replay(_with(launch, replace(snapshot, regions=regions)), strict=True))
        if number + 1 < len(attempt.launches):
            _note(old, replay(launch, strict=True))
    return new


def _renewed(
    held: SavedRegion,
    old: World,
    new: World,
    tensors: Mapping[str, Placed],
    before: Mapping[str, Bytes],
    now: Mapping[str, Bytes],
) -> SavedRegion:
    """The region on the new numbers.

    Contents known in the old world become those of the new one; copies of arguments become copies of the new arguments.
    """
    data = np.array(held.data)
    parts = old.parts(held.start, held.start + len(data))
    for low, was in parts:
        place = slice(low - held.start, low - held.start + len(was))
        if np.array_equal(was, data[place]):  # else it was changed outside of kernels
            data[place] = new.over(low, was)
    for name, placed in () if parts else tensors.items():
        ways = zip(*(_ways(placed, bytes_, len(data)) for bytes_ in (before[name], now[name])), strict=False)
        copied = next((np.array(other) for one, other in ways if np.array_equal(one, held.data)), None)
        if copied is not None:
            data = copied
            break
    return replace(held, data=data, file=None)


def _with(launch: Launch, snapshot: Snapshot) -> Launch:
    other = copy.copy(launch)
    other.snapshot = snapshot
    return other


def _note(world: World, memory: Memory) -> None:
    for region in memory.regions:
        world.lay(region.start, np.array(region.data))


def line_of_luck(launch: Launch) -> int | None:
    """The line of a load whose masked lanes influence what ``launch`` stored.

    None if there is no such load, or if the launch cannot be replayed.
    """
    unsaid = [
        op.index
        for op in launch.executable.plan.walk()
        if op.name == "tt.load" and operands_of(op).mask is not None and operands_of(op).other is None
    ]
    try:
        right = replay(launch) if unsaid else None
        if right is None or not _differs(launch, unsaid, right):
            return None
        found = next((op for op in unsaid if _differs(launch, [op], right)), unsaid[0])
    except CannotReplay:
        return None
    place = launch.lines.get(found)
    return None if place is None else place.line


def _differs(launch: Launch, ops: Collection[int], right: Memory) -> bool:
    """Whether memory ends up different when the masked lanes of these loads have no value."""
    executable = Executable.of(launch.executable.plan, arithmetic_variants.unsaid(ops))
    try:
        found = replay(launch, executable=executable, strict=True)
    except KernelError:
        return True
    pairs = zip(found.regions, right.regions, strict=True)
    return any(not np.array_equal(one.data.view(np.uint8), other.data.view(np.uint8)) for one, other in pairs)
