"""A launch under an observer of its accesses, in machine code: the places first, by the outline, then the values.

The NumPy engine walks the kernel's `whole_outline` in the batches that it would run the kernel in, and tells the
observer of each access, which lies in its memory: so the observer gets what NumPy's run would give it, in its order.
Then machine code computes the values. A launch that differs from an earlier one only in where its memory lies is not
walked again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from triton_lab.interpreter.dtypes import dtype_of
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.interpreter.machine import Machine
from triton_lab.interpreter.memory_access import pieces_of
from triton_lab.interpreter.memory_regions import Memory
from triton_lab.interpreter.observers import PlacesObserver
from triton_lab.interpreter.ops.memory import as_mask, as_pointer
from triton_lab.ir import Op
from triton_lab.ir.effects import operands_of, writes
from triton_lab.native.analysis.address_slice import Outline, whole_outline
from triton_lab.native.runtime.known_places import KnownPlaces, PlacesMemory

if TYPE_CHECKING:
    from triton_lab.interpreter.bound_plan import Executable

_KEPT = "native.whole_outline"


def outline_of(executable: Executable) -> Outline | None:
    """The outline of a kernel with all of its accesses, made once; None if there is none."""
    if _KEPT not in executable.kept:
        waits = bool(executable.waiting_loops)
        executable.kept[_KEPT] = None if waits else whole_outline(executable.plan)
    found: Outline | None = executable.kept[_KEPT]
    return found


def run(machine: Machine, observer: PlacesObserver, of: Outline, values: Callable[[], None]) -> bool:
    """Tell ``observer`` of all accesses of the launch, then compute its ``values`` unobserved.

    False if an access would fail: then nothing was touched or told, and NumPy has to run the launch. ``machine`` has no
    observer afterwards if the values were computed. What ``values`` raises is raised.
    """
    try:
        _tell(machine, observer, of)
    except KernelError:
        observer.forget()
        return False
    except BaseException:  # an interrupt: what was told so far has not happened
        observer.forget(is_lost=True)
        raise
    machine.access_observer = None
    try:
        values()
    except BaseException:
        observer.forget(is_lost=True)
        raise
    plan = machine.executable.plan
    stores = [access.op for access in of.accesses.values() if writes(access.op)]
    for op in stores:
        at = operands_of(op).value
        assert at is not None
        is_last = not any(_may_meet(machine, op, other) for other in stores if other is not op)
        observer.stored(op, machine.memory_for(op), dtype_of(plan.kernel.types[op.operands[at]]), is_last)
    return True


def _tell(machine: Machine, observer: PlacesObserver, of: Outline) -> None:
    """Tell of all accesses, from memory or by a walk. Raises KernelError, at the first access that would fail."""
    memory = PlacesMemory.of(machine.executable, of)
    key = None if memory.roots is None else memory.roots.key(machine)
    if memory.roots is None or key is None:
        _walk(machine, observer, of)
        return
    places = memory.launches.get(key)
    if places is not None:
        places.tell(machine, observer, memory.roots)
    else:
        places = KnownPlaces(memory.roots.origins(machine))
        _walk(machine, observer, of, places)
        places.steps = machine.steps
        if not places.fits:
            return
        memory.keep(key, places)
    observer.alike(places.kept)


def _walk(machine: Machine, observer: PlacesObserver, of: Outline, places: KnownPlaces | None = None) -> None:
    """Raises KernelError, at the first access that would fail. The accesses are added to ``places``."""
    types = machine.executable.plan.kernel.types

    def mark(frame: Frame, op: Op) -> None:
        known = of.accesses[op.index]
        pointer, *rest = (frame.environment[value] for value in op.operands)
        where, mask = as_pointer(pointer), as_mask(rest[0]) if rest else None
        type = types[known.op.operands[operands_of(known.op).address]]
        pointee = type.pointee
        assert pointee is not None
        kind = "store" if writes(known.op) else "load"
        pieces_of(machine.memory_for(known.op), where, mask, dtype_of(pointee), type.shape, kind)
        observer.touched(types, known.op, frame.programs, where, mask, type.shape)
        if places is not None:
            places.add(known.op, frame.programs, where, mask, type.shape)

    limits = dataclasses.replace(machine.limits, batch=machine.batch_size())
    walking = Machine(of.executable, machine.arguments, machine.grid, Memory([]), limits=limits, marks=mark)
    walking.run()
    machine.steps = walking.steps


def _may_meet(machine: Machine, one: Op, other: Op) -> bool:
    """Whether two accesses may touch the same memory."""
    first, second = machine.allowed(one.index), machine.allowed(other.index)
    return first is None or second is None or bool(first & second)
