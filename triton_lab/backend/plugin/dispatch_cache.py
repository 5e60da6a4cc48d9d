"""The cache of machine code for launches that are like an earlier one, with their prepared arguments: `lookup`.

A small launch takes a fifth of the time that it takes to prepare it in full (21 against 108 microseconds of processor
time, 8 programs of a vector add). An unusual launch is not found here, and is prepared in full: `LaunchCall.prepare`.
"""

from __future__ import annotations

import functools
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triton_lab.backend.targets import benchmark_events
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.machine import Limits, Machine
from triton_lab.interpreter.memory_regions import MemoryRegion
from triton_lab.native import engine

if TYPE_CHECKING:
    from triton_lab.backend.plugin.recorders import LaunchCall
    from triton_lab.native.runtime import native_launch
    from triton_lab.native.runtime.compiled_function import Built

Run = tuple[int, int]
Grid = tuple[int, int, int]

# Triton's type -> the format of its slot of eight bytes, and the Python type that a number must have to fit in it.
_SLOTS: Mapping[str, tuple[str, type]] = {
    "i1": ("?7x", bool),
    "u1": ("?7x", bool),
    "i8": ("b7x", int),
    "u8": ("B7x", int),
    "i16": ("h6x", int),
    "u16": ("H6x", int),
    "i32": ("i4x", int),
    "u32": ("I4x", int),
    "i64": ("q", int),
    "u64": ("Q", int),
    "fp32": ("f4x", float),
    "f32": ("f4x", float),
    "fp64": ("d", float),
}


_MOST_PACES = 1000


class Again:
    """What all launches of a kernel with the same argument types share."""

    def __init__(self, executable: Executable, signature: Mapping[str, Any]) -> None:
        self.signature = signature
        self._executable = executable
        self._tensor = sys.modules["torch"].Tensor if "torch" in sys.modules else None
        self._parameter = sys.modules["torch"].nn.Parameter if "torch" in sys.modules else None
        # For each argument, the type that its number must have; None for a tensor.
        self._takes: list[tuple[int, type | None]] = []
        self._pack: Callable[..., bytes] | None = None
        self.patterns: dict[tuple[int, ...], _Pattern | None] = {}
        self._paces: dict[object, native_launch.Pace] = {}
        slots = ["<"]
        for position, type in enumerate(signature.values()):
            if type == "constexpr":
                continue
            if isinstance(type, str) and type.startswith("*"):
                slots.append("Q")
                self._takes.append((position, None))
            elif isinstance(type, str) and type in _SLOTS:
                slots.append(_SLOTS[type][0])
                self._takes.append((position, _SLOTS[type][1]))
            else:
                return
        if len(self._takes) == len(executable.plan.kernel.arguments):
            self._pack = struct.Struct("".join(slots)).pack

    def arguments(self, objects: Sequence[Any]) -> tuple[bytes, list[Run], list[int]] | None:
        """The packed arguments (see `native.function_contract`), the runs of memory behind them, and the run of each
        tensor.

        None if an argument is unusual: a number of another type, or no CPU tensor that torch has allocated.
        """
        if self._pack is None:
            return None
        numbers: list[Any] = []
        extents: list[tuple[int, int, int]] = []
        try:
            for position, kind in self._takes:
                given = objects[position]
                if kind is not None:
                    if given.__class__ is not kind:
                        return None
                    numbers.append(given)
                    continue
                if (given.__class__ is not self._tensor and given.__class__ is not self._parameter) or not given.is_cpu:
                    return None
                storage = given.untyped_storage()
                start, size = storage.data_ptr(), storage.nbytes()
                if not (start and size and storage.resizable()):
                    return None
                extents.append((start, start + size, len(extents)))
                numbers.append(given.data_ptr())
            packed = self._pack(*numbers)
        except (RuntimeError, OverflowError, struct.error):
            return None
        runs, inside = _joined(extents)
        return packed, runs, inside

    def pattern(self, kernel: Any, runs: Sequence[Run], inside: Sequence[int]) -> _Pattern | None:
        """How the machine code gets such memory; None if there is no code, or it may not run."""
        key = tuple(inside)
        found = self.patterns.get(key)
        if found is None or found.variant.built is not found.built:
            found = self._pattern(kernel, runs, inside)
            self.patterns[key] = found
        return found

    def _pattern(self, kernel: Any, runs: Sequence[Run], inside: Sequence[int]) -> _Pattern | None:
        from triton_lab.native.runtime.native_launch import groups_of

        regions = [MemoryRegion.over(start, stop - start) for start, stop in runs]
        tensors = iter(inside)
        owners = [frozenset() if kind else frozenset([regions[next(tensors)]]) for _, kind in self._takes]
        own: dict[int, tuple[MemoryRegion, ...]] = {}
        for op, reached in self._executable.reach(owners).items():
            if reached is None:
                return None
            own[op] = tuple(sorted(reached, key=lambda region: region.start))
        variant = kernel.variants.get(groups_of(own))
        if variant is None or variant.built is None or variant.built.made.transaction:
            return None
        places = {region: 1 + 2 * k for k, region in enumerate(regions)}
        slots: list[int] = []
        behind: list[int] = []
        constants: list[int] = []
        count = 2 * len(variant.built.made.regions)
        for slot in variant.built.made.regions:
            mine = [k for region in own[slot.op] for k in (places[region], places[region] + 1)]
            if len(mine) <= 2:
                slots += mine or [0, 0]
            else:
                constants += [count + len(behind), len(mine) // 2]
                slots += [2 * len(regions) + len(constants) - 1, 2 * len(regions) + len(constants)]
                behind += mine
        chosen = (*slots, *behind)
        return _Pattern(variant, variant.built, chosen, tuple(constants), struct.Struct(f"<{len(chosen)}Q").pack)

    def pace(self, grid: Grid, objects: Sequence[Any], runs: Sequence[Run]) -> native_launch.Pace:
        """The pace of earlier launches with the same grid, numbers and memory sizes."""
        numbers = tuple(objects[position] for position, kind in self._takes if kind)
        key = grid, numbers, tuple(stop - start for start, stop in runs)
        found = self._paces.get(key)
        if found is None:
            from triton_lab.native.runtime import native_launch

            if len(self._paces) >= _MOST_PACES:
                self._paces.clear()
            found = self._paces[key] = native_launch.Pace()
        return found

    def place(self, packed: bytes, runs: Sequence[Run], inside: Sequence[int]) -> Callable[[int], int]:
        """A function that gives an argument as a number: see `Footprints.known`."""
        tensors = [number for number, (_, kind) in enumerate(self._takes) if kind is None]

        def of(k: int) -> int:
            bits = int.from_bytes(packed[8 * k : 8 * k + 8], "little")
            return bits if self._takes[k][1] else bits - runs[inside[tensors.index(k)]][0]

        return of


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The code for launches whose tensors share memory in one way.

    ``chosen`` are the numbers of ``(0, start, stop, start, stop, ..., *constants)`` that its table of regions has (see
    `native.function_contract`).
    """

    variant: Any
    built: Built
    chosen: tuple[int, ...]
    constants: tuple[int, ...]
    pack: Callable[..., bytes]

    def table(self, runs: Sequence[Run]) -> bytes:
        numbers = (0, *(end for run in runs for end in run), *self.constants)
        return self.pack(*map(numbers.__getitem__, self.chosen))


def _joined(extents: list[tuple[int, int, int]]) -> tuple[list[Run], list[int]]:
    """The runs of addresses that ``(start, stop, number)`` cover, ascending; and the run of each number."""
    runs: list[Run] = []
    inside = [0] * len(extents)
    for start, stop, number in sorted(extents):
        if runs and start < runs[-1][1]:
            runs[-1] = runs[-1][0], max(runs[-1][1], stop)
        else:
            runs.append((start, stop))
        inside[number] = len(runs) - 1
    return runs, inside


# Runs a launch. Its arguments: a callback for the progress, and a factory of the machine for programs that a guard
# stops.
Ready = Callable[[Callable[[int, int], None] | None, Callable[[], Machine]], None]


def lookup(call: LaunchCall, limits: Limits) -> Ready | None:
    """The function that runs an unobserved launch, if machine code of a similar earlier launch is cached."""
    kernel = engine.known(call.executable, limits)
    if kernel is None or not kernel.variants or (limits.engine == "auto" and benchmark_events.is_trial()):
        return None
    again = kernel.again
    if again is None or again.signature is not call.signature:
        again = kernel.again = Again(call.executable, call.signature)
    arguments = again.arguments(call.arguments)
    pattern = None if arguments is None else again.pattern(kernel, *arguments[1:])
    return None if pattern is None else functools.partial(_run, call, limits, again, pattern, arguments)


@functools.cache
def _modules() -> tuple[Any, Any]:
    """What runs machine code, imported with the first launch of it. An import statement would take a microsecond each
    time.
    """
    from triton_lab.native.runtime import native_launch
    from triton_lab.native.threads import work_queue

    return native_launch, work_queue


def _run(
    call: LaunchCall,
    limits: Limits,
    again: Again,
    pattern: _Pattern,
    arguments: tuple[bytes, list[Run], list[int]],
    progress: Callable[[int, int], None] | None,
    machine: Callable[[], Machine],
) -> None:
    """Raises KernelError."""
    native_launch, work_queue = _modules()
    packed, runs, inside = arguments
    executable, grid = call.executable, call.grid
    variant, built = pattern.variant, pattern.built
    total = grid[0] * grid[1] * grid[2]
    numbers = packed, native_launch.packed_grid(grid), pattern.table(runs)

    pace = again.pace(grid, call.arguments, runs)
    if pace.brief is not None:
        try:
            came, (_, late, _) = built(*numbers, 0, total)
        except KeyboardInterrupt as error:
            work_queue.tell_where(error, 0)
            raise
        if came == total:
            if progress is not None:
                progress(total, total)
            variant.ended(0, limits.engine)
            engine.lately.append(pace.brief)
        else:
            work_queue.check(late)
            engine.chosen(machine(), left=work_queue.Left(((came, total),)))()
        return

    calls = functools.partial(built, *numbers), functools.partial(built.together, *numbers)

    def tell(count: int) -> None:
        if progress is not None:
            progress(count, total)

    def is_apart(at_once: bool) -> bool:
        found = variant.was_apart(grid, again.place(packed, runs, inside))
        if found is None:
            ready = machine()
            regions = native_launch.regions_of(ready, executable.roots)
            found = not isinstance(regions, str) and variant.is_apart(ready, regions, at_once)
        return bool(found)

    left = work_queue.Left(((0, total),))
    start = time.perf_counter()
    for _, late, _ in native_launch.stops(calls, total, left, tell, is_apart, pace):
        work_queue.check(late)
        engine.chosen(machine(), left=left)()
        return
    variant.ended(0, limits.engine)
    noted = engine.note(executable, grid, "native", "")
    if total and max(time.perf_counter() - start, pace.each * total) < native_launch.BRIEF_SECONDS:
        pace.brief = noted
