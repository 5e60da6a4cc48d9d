"""Traces which programs reach which marks, and which masks turn lanes on and off."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.backend.plugin.recorders import LaunchCall, Recorder, Watch
from triton_lab.backend.source.kernel_source import reachable
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.mask_box import MaskBox
from triton_lab.ir import Op
from triton_lab.ir.access_masks import constant_masks, mask_operand
from triton_lab.launch.recording.watcher import Watcher
from triton_lab.launch.replay.execution_counts import COMBINING
from triton_lab.testing.coverage.statement_blocks import KernelFunction, named, read

Array = NDArray[Any]
Arc = tuple[int, int]
Place = tuple[str, int]


@dataclass
class Mask:
    """The mask of an access at ``file:line``, column from 0: whether a lane was ever on, and ever off."""

    file: str
    line: int
    column: int
    kind: str
    kernel: str
    on: bool = False
    off: bool = False


@dataclass
class Traces:
    """The traces of all launches.

    ``arcs`` are by function; ``zero`` has the heads of loops that ran no iteration; ``masks`` are by place; ``within``
    has functions of elements, by the statement that runs them.
    """

    functions: dict[str, KernelFunction] = field(default_factory=dict)
    arcs: dict[str, set[Arc]] = field(default_factory=lambda: defaultdict(set))
    zero: set[Place] = field(default_factory=set)
    masks: dict[tuple[str, int, int], Mask] = field(default_factory=dict)
    within: dict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))


class Tracer(Recorder):
    """Traces each launch."""

    def __init__(self, traces: Traces) -> None:
        self.traces = traces
        self._known: dict[Executable, _Kernel] = {}
        self._running: dict[int, _Following] = {}

    def before(self, call: LaunchCall) -> Watch:
        kernel = self._known.get(call.executable)
        if kernel is None:
            kernel = self._known[call.executable] = _Kernel(call, self.traces)
        following = self._running[id(call)] = _Following(kernel, self.traces, math.prod(call.grid))
        return Watch(accesses=following if kernel.masks else None, marks=following.mark)

    def after(self, call: LaunchCall) -> None:
        following = self._running.pop(id(call))
        if call.error is None:
            following.ended()


class _Kernel:
    """The facts about a compiled kernel that are known before it runs."""

    def __init__(self, call: LaunchCall, traces: Traces) -> None:
        self.functions: dict[str, KernelFunction] = {}
        for each in reachable([call.source.fn, *call.objects.values()]):
            if each.fn is not None:
                found = read(each)
                self.functions[found.key] = traces.functions.setdefault(found.key, found)
        self.masks = _masks(call, traces)
        _note_within(call, list(self.functions.values()), traces)


class _Following(Watcher):
    """Traces one launch: for each function, the line that each program reached last, 0 before it enters."""

    def __init__(self, kernel: _Kernel, traces: Traces, programs: int) -> None:
        self.kernel = kernel
        self.traces = traces
        self.programs = programs
        self.last: dict[str, NDArray[np.int32]] = {}

    def mark(self, frame: Frame, op: Op) -> None:
        key, number = named(op.attributes["prefix"])
        function = self.kernel.functions.get(key)
        if function is None:
            return
        last = self.last.get(key)
        if last is None:
            last = self.last[key] = np.zeros(self.programs, np.int32)
        block, arcs = function.blocks[number], self.traces.arcs[key]
        before = np.unique(last[frame.programs]).tolist()
        if not number:  # the function's first block: programs seen in it before have left it since
            arcs.update((line, -function.start) for line in before if line)
            before = [-function.start]
        for line in before:
            arcs.update(_came(line, block.via, block.lines))
            if block.follows and block.via == line:
                self.traces.zero.add((function.file, line))
        if block.lines or block.via:
            arcs.update(itertools.pairwise(block.lines))
            last[frame.programs] = block.lines[-1] if block.lines else block.via

    def ended(self) -> None:
        """Add the arcs out of functions: all programs have ended."""
        for key, last in self.last.items():
            start = self.kernel.functions[key].start
            self.traces.arcs[key].update((line, -start) for line in np.unique(last).tolist() if line)

    def access(self, frame: Frame, op: Op, kind: str, pointer: Any, mask: Any, values: Array | None) -> None:
        known = self.kernel.masks.get(op.index)
        if known is None or mask is None or (known.on and known.off):
            return
        known.on = known.on or _any(mask)
        known.off = known.off or not (mask.is_full() if isinstance(mask, MaskBox) else bool(mask.all()))


def _came(line: int, via: int, lines: Sequence[int]) -> list[Arc]:
    """The arcs from ``line`` to the first of ``lines``, by way of a loop's head."""
    way = [line, *([via] if via and via != line else []), *lines[:1]]
    return list(itertools.pairwise(way))


def _any(mask: MaskBox | Array) -> bool:
    if not isinstance(mask, MaskBox):
        return bool(mask.any())
    if 0 in mask.shape:
        return False
    inside = [low < high for low, high in zip(mask.lower, mask.upper, strict=True)]
    return bool(np.logical_and.reduce(np.broadcast_arrays(*inside)).any()) if inside else True


def _masks(call: LaunchCall, traces: Traces) -> dict[int, Mask]:
    """The masks of a kernel that are not constant, by operation."""
    plan, found = call.executable.plan, {}
    constants = constant_masks(plan)
    for op in plan.walk():
        mask = mask_operand(op)
        place = None if mask is None or (op.index, mask) in constants else call.written.place(op.location)
        if place is not None:
            kind = op.name.removeprefix("tt.")
            known = Mask(place.file, place.line, place.column, kind, call.metadata.name)
            found[op.index] = traces.masks.setdefault((place.file, place.line, place.column), known)
    return found


def _note_within(call: LaunchCall, functions: Sequence[KernelFunction], traces: Traces) -> None:
    """Note which functions run element by element within which statements."""
    for op in call.executable.plan.walk():
        outer = call.written.place(op.location) if op.name in COMBINING else None
        if outer is None:
            continue
        inside = {(place.file, place.line) for inner in op.walk() for place in call.written.places(inner.location)}
        for each in functions:
            if any(each.holds(*place) for place in inside) and not each.holds(outer.file, outer.line):
                traces.within[each.key].add((outer.file, outer.line))
