"""Words a kernel's error for the user: which line, which argument, which program, what to do."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from triton_lab.access_fault_message import AccessGuard, FaultingLane, TensorText, owner_of
from triton_lab.backend.plugin.kernel_arguments import ArgumentLeaf, tensor_of
from triton_lab.backend.plugin.loop_report import told, turning
from triton_lab.backend.plugin.page_permissions import standing
from triton_lab.backend.source.access_source import guard_at
from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.interpreter.frame import running
from triton_lab.interpreter.kernel_errors import AccessFault, Deadlock, KernelError, StepLimit, Unsupported
from triton_lab.ir import Location, Op, Plan, effects
from triton_lab.ir.access_masks import guard
from triton_lab.localization import _, translated
from triton_lab.messages import (
    HINT_DEADLOCK,
    HINT_INTERRUPTED,
    HINT_REFUSED,
    HINT_STEPS,
    HINT_UNSUPPORTED,
    and_others,
    lane,
    program,
    who,
)
from triton_lab.messages import place as written_at


def described(error: KernelError, call: Any) -> KernelError:
    """``error`` with a message for the kernel's author; same class, same fields."""
    if error.fault is not None:
        first = _faulting_lane(error, error.fault, call)
        message, hint = f"{first}\n  {first.owner}" if first.owner else str(first), first.hint
    else:
        message, hint = _message(error)
    programs = _programs(error, call.grid)
    location = None if error.op is None else error.op.location
    turns = turning(error) if isinstance(error, StepLimit) else None
    if turns is not None:
        error.op, location = turns.op, turns.op.location
    lines = [f"{message}", *_where(location, call.metadata.name, programs, call.written)]
    if turns is not None and (said := told(turns, call.written, call.executable.plan)):
        lines.append(f"  {said}")
    if hint:
        lines.append(f"  {hint}")
    if error.op is not None and effects.is_access(error.op):
        lines.append(f"  {_aftermath(call)}")
    error.args = ("\n".join(lines),)
    return error


def told_where(interrupt: KeyboardInterrupt, call: Any) -> None:
    """Put the kernel's line that ran into ``interrupt``: as its message, and without the code as ``kernel_line``; what
    is known of the loop around it, as ``kernel_loop``.

    It is the line of the innermost operation, or of the loop in which programs wait. On the native engine it is that of
    any loop, or the kernel's first line. Nothing happens if the place is in no line of the kernel.
    """
    op, programs = running(interrupt), ""
    location = None if op is None else op.location
    if hasattr(interrupt, "kernel_at"):  # the program, and the loop if it was in one
        number, loop = interrupt.kernel_at
        plan = call.executable.plan
        location = next((op.location for op in plan.walk() if op.index == loop), plan.kernel.location)
        programs = program(number, call.grid)
    if call.written.place(location) is None:
        return
    lines = _where(location, call.metadata.name, programs, call.written)
    interrupt.kernel_line = lines[0].strip()  # type: ignore[attr-defined]
    turns = turning(interrupt)
    if turns is not None:
        if turns.op.location != location:
            lines += _where(turns.op.location, call.metadata.name, "", call.written)
        interrupt.kernel_loop = told(turns, call.written, call.executable.plan)  # type: ignore[attr-defined]
        lines += [f"  {interrupt.kernel_loop}", f"  {translated(HINT_INTERRUPTED)}"]  # type: ignore[attr-defined]
    elif getattr(interrupt, "kernel_at", (0, None))[1] is not None:
        lines.append(f"  {translated(HINT_INTERRUPTED)}")
    interrupt.args = ("\n".join(lines).strip(),)


def refused(error: KernelError, source: Any, metadata: Any, plan: Plan) -> KernelError:
    """An error that was found before the kernel ran."""
    location = None if error.op is None else error.op.location
    lines = [error.message, *_where(location, metadata.name, "", KernelSource(source.fn, plan))]
    lines.append(f"  {translated(HINT_UNSUPPORTED)}")
    error.args = ("\n".join(lines),)
    return error


def _where(location: Location | None, kernel: str, programs: str, source: KernelSource) -> list[str]:
    """The line with carets, and the calls that lead to it."""
    places = list(source.places(location))
    if not places:
        return ["  " + _inside(kernel, programs)]
    lines = []
    for number, place in enumerate(places):
        head = written_at(place.file, place.line)
        head = _("called from {place}").format(place=head) if number else f"{head}, {_inside(kernel, programs)}"
        lines.extend([f"  {head}", *source.excerpt(place)])
    return lines


def _inside(kernel: str, programs: str) -> str:
    return _("in kernel {kernel}").format(kernel=kernel) + (f", {programs}" if programs else "")


def _message(error: KernelError) -> tuple[str, str]:
    """What happened, and what to do about it."""
    cause = error.__cause__
    if isinstance(cause, MemoryError):
        return _("out of memory: {cause}").format(cause=cause), _("Use smaller blocks, or fewer values at a time.")
    if cause is not None and not isinstance(cause, KernelError):
        return _("the CPU target failed at {message}").format(message=error.message), _(
            "This is an error in triton-lab, not in the kernel."
        )
    if error.rule:
        return error.message, error.hint
    if isinstance(error, StepLimit):
        return error.message, translated(HINT_STEPS)
    if isinstance(error, Deadlock):
        return error.message, translated(HINT_DEADLOCK)
    if isinstance(error, Unsupported):
        return error.message, translated(HINT_UNSUPPORTED)
    return error.message, translated(HINT_REFUSED.get("" if error.op is None else error.op.name, ""))


def _programs(error: KernelError, grid: tuple[int, int, int]) -> str:
    if error.programs is None or not len(error.programs):
        return ""
    # The message is about the first program.
    others = len(np.unique(error.programs)) - 1
    return (who if others else program)(int(error.programs[0]), grid) + and_others(others)


def _faulting_lane(error: KernelError, fault: AccessFault, call: Any) -> FaultingLane:
    """What the first bad lane did."""
    assert error.programs is not None
    op, address = error.op, int(fault.addresses[0])
    tensors = [tensor for leaf in call.leaves if (tensor := _tensor(leaf)) is not None]
    owner = owner_of(address, _origins(op, call), tensors)
    if owner is None and not fault.home and _is_unreadable(address):
        # The findings report it, too.
        error.fault = fault = replace(fault, home="unreadable")
    return FaultingLane(
        fault.access,
        fault.kind,
        fault.itemsize,
        address,
        who(int(error.programs[0]), call.grid),
        lane(int(fault.lanes[0]), fault.block),
        len(fault.addresses),
        owner,
        tensors,
        _guard(op, owner, call),
        fault.home,
    )


def _is_unreadable(address: int) -> bool:
    """Whether memory is mapped at the address that the system does not allow reading."""
    found = standing(address, address + 1)
    return bool(found.trouble) and found.trouble != "unmapped"


def _guard(op: Op | None, owner: TensorText | None, call: Any) -> AccessGuard:
    """What the kernel has to keep lanes within bounds."""
    if op is None:
        return AccessGuard("")
    kind, place = guard(op, call.executable.plan), call.written.place(op.location)
    if owner is None or place is None or place.file != call.written.file:
        return AccessGuard(kind)
    return guard_at(call.source.fn, place.line, place.column, owner.name, math.prod(owner.shape), call.objects, kind)


def _origins(op: Op | None, call: Any) -> list[TensorText]:
    """The tensor arguments that the failing pointer can come from."""
    roots = call.executable.roots.get(op.index) if op is not None else None
    flat = [leaf for leaf in call.leaves for _unused in leaf.values]
    return [tensor for k in sorted(roots or ()) if (tensor := _tensor(flat[k])) is not None]


def _tensor(leaf: ArgumentLeaf) -> TensorText | None:
    """The argument as messages show it; None for a scalar."""
    tensor = None if leaf.kind == "scalar" else tensor_of(leaf.object)
    if tensor is None:
        return None
    storage = tensor.untyped_storage()
    return TensorText(
        leaf.path,
        str(tensor.dtype).removeprefix("torch."),
        tuple(tensor.shape),
        tuple(tensor.stride()),
        tensor.storage_offset(),
        tensor.element_size(),
        tensor.data_ptr(),
        storage.data_ptr(),
        storage.nbytes(),
    )


def _aftermath(call: Any) -> str:
    """A sentence that says what the tensors hold now."""
    if call.elsewhere:
        return _("It ran on {elsewhere}: nothing was written to the tensors.").format(elsewhere=call.elsewhere)
    mirrored = any(region.flags is not None for region in call.memory.regions)
    if not mirrored:
        return _("Earlier operations have written to the tensors; this one wrote nothing.")
    if all(region.flags is not None for region in call.memory.regions):
        return _("The tensors are on another device, and nothing was written to them.")
    return _(
        "Earlier operations have written to the CPU's tensors; this one wrote nothing, and nothing was written to "
        "tensors of another device."
    )
