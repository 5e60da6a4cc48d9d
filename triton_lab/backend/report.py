"""A kernel's error in the user's words: which line, which argument, which program, what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from triton_lab.backend.arguments import Leaf, tensor_of
from triton_lab.backend.source import Written
from triton_lab.interpreter.errors import Deadlock, Fault, KernelError, StepLimit, Unsupported
from triton_lab.ir import Op, Plan, effects
from triton_lab.ir.masks import is_masked

_MEND_STEPS = (
    "Mend the loop that does not end, or allow more: lab.limits(max_steps=...), after import triton_lab as lab."
)


def described(error: KernelError, call: Any) -> KernelError:
    """``error`` with a message for the kernel's author; same class, same fields."""
    if error.fault is not None:
        message, mend = _fault(error, error.fault, call)
    else:
        message, mend = _message(error)
    programs = _programs(error, call.grid)
    lines = [f"{message}", *_where(error.op, call.metadata.name, programs, call.written)]
    if mend:
        lines.append(f"  {mend}")
    if error.op is not None and effects.is_access(error.op):
        lines.append(f"  {_aftermath(call)}")
    error.args = ("\n".join(lines),)
    return error


def refused(error: KernelError, source: Any, metadata: Any, plan: Plan) -> KernelError:
    """An error found before the kernel ran at all."""
    lines = [error.message, *_where(error.op, metadata.name, "", Written(source.fn, plan))]
    lines.append("  Run this kernel on a GPU, or write it without this operation.")
    error.args = ("\n".join(lines),)
    return error


def _where(op: Op | None, kernel: str, programs: str, source: Written) -> list[str]:
    """The operation's line with carets, and the calls that led there."""
    places = list(source.places(op.location)) if op is not None else []
    if not places:
        return [f"  in kernel {kernel}" + (f", {programs}" if programs else "")]
    lines = []
    for number, place in enumerate(places):
        head = f"  {'called from ' if number else ''}{place.file}, line {place.line}"
        if number == 0:
            head += f", in kernel {kernel}" + (f", {programs}" if programs else "")
        lines.extend([head, *source.excerpt(place)])
    return lines


def _message(error: KernelError) -> tuple[str, str]:
    """What happened, and what to do about it."""
    cause = error.__cause__
    if isinstance(cause, MemoryError):
        return f"out of memory: {cause}", "Take smaller blocks, or fewer values at a time."
    if cause is not None and not isinstance(cause, KernelError):
        return f"the CPU target failed at {error.message}", "This is a fault of triton-lab's, not of the kernel."
    if isinstance(error, StepLimit):
        return error.message, _MEND_STEPS
    if isinstance(error, Deadlock):
        return error.message, "Release every lock on every path, and wait only for flags that some program sets."
    if isinstance(error, Unsupported):
        return error.message, "Run this kernel on a GPU, or write it without this operation."
    return error.message, ""


def _programs(error: KernelError, grid: tuple[int, int, int]) -> str:
    if error.programs is None or not len(error.programs):
        return ""
    first = int(error.programs[0])
    x, y, z = first % grid[0], first // grid[0] % grid[1], first // (grid[0] * grid[1])
    more = len(np.unique(error.programs)) - 1
    return f"program ({x}, {y}, {z})" + (f" and {more} more" if more else "")


def _fault(error: KernelError, fault: Fault, call: Any) -> tuple[str, str]:
    """What the first of the lanes did, and what to do about it."""
    address = int(fault.addresses[0])
    lane = ""
    if fault.block:
        index = tuple(int(n) for n in np.unravel_index(int(fault.lanes[0]), fault.block))
        lane = f"lane {index} "
    what = {"out-of-bounds": "out of bounds", "null-pointer": "through a null pointer", "misaligned": "misaligned"}
    leaf = _owner(error, address, call)
    text = f"{fault.access} {what[fault.kind]}: {lane}{_touched(fault, address, leaf, call)}"
    count = len(fault.addresses)
    if count > 1:
        text += f"; {count} lanes in all"
    if leaf is not None:
        text += f"\n  {_description(leaf)}"
    return text, _mend(fault, error.op, leaf, call)


def _touched(fault: Fault, address: int, leaf: Leaf | None, call: Any) -> str:
    """Which element the lane stands at."""
    if leaf is None:
        return f"touches address {address:#x}, which belongs to no tensor"
    tensor = tensor_of(leaf.object)
    itemsize = tensor.element_size()
    distance = address - tensor.data_ptr()
    if fault.kind == "misaligned":
        return f"touches byte {distance} of {leaf.path!r}, which is no multiple of {fault.itemsize} bytes"
    element = f"touches element {distance // itemsize} of {leaf.path!r}"
    if not tensor.data_ptr():
        return f"{element}, which has no elements at all"
    before = (tensor.untyped_storage().data_ptr() - tensor.data_ptr()) // itemsize
    after = before + tensor.untyped_storage().nbytes() // itemsize - 1
    if _is_read_only(fault, call):
        return f"{element}, whose memory may only be read"
    other = _at(address, call)
    there = f" (there lies {other.path!r})" if other is not None and other is not leaf else ""
    if distance < 0:
        return f"{element}, whose storage begins at element {before}{there}"
    return f"{element}, whose storage ends after element {after}{there}"


def _description(leaf: Leaf) -> str:
    tensor = tensor_of(leaf.object)
    dtype = str(tensor.dtype).removeprefix("torch.")
    offset = f", storage offset {tensor.storage_offset()}" if tensor.storage_offset() else ""
    return f"{leaf.path}: {dtype}, shape {tuple(tensor.shape)}, strides {tuple(tensor.stride())}{offset}"


def _is_read_only(fault: Fault, call: Any) -> bool:
    """Whether the fault is a store to a tensor's memory that nobody may write to."""
    region = call.memory.holding(int(fault.addresses[0]))
    return fault.access != "load" and region is not None and region.verified and not region.writable


def _mend(fault: Fault, op: Op | None, leaf: Leaf | None, call: Any) -> str:
    if fault.kind == "misaligned":
        return "Addresses must be multiples of the element's size: look at the pointer's type and the offsets."
    if leaf is not None and _is_read_only(fault, call):
        return f"Pass a copy of {leaf.path!r} (.clone()), or map its file for writing."
    if leaf is None:
        return "Look at where the pointer comes from: it points into no tensor that is alive."
    if op is not None and effects.by_descriptor(op):
        return "The descriptor's shape and strides reach further than its tensor."
    if op is not None and is_masked(op, call.executable.plan):
        return f"The mask lets these lanes through: compare the offsets with the extents of {leaf.path!r}."
    return f"Mask the lanes that lie beyond {leaf.path!r} (mask=offsets < n), or mend the offsets."


def _owner(error: KernelError, address: int, call: Any) -> Leaf | None:
    """The tensor argument that the failing pointer comes from: of several, the nearest."""
    roots = call.executable.roots.get(error.op.index) if error.op is not None else None
    flat = [leaf for leaf in call.leaves for _ in leaf.values]
    candidates = [flat[k] for k in sorted(roots or ()) if tensor_of(flat[k].object) is not None]

    def distance(leaf: Leaf) -> int:
        storage = tensor_of(leaf.object).untyped_storage()
        start: int = storage.data_ptr()
        stop: int = start + storage.nbytes()
        return max(start - address, address - stop, 0)

    return min(candidates, key=distance, default=None)


def _at(address: int, call: Any) -> Leaf | None:
    """The argument in whose storage ``address`` lies."""
    for leaf in call.leaves:
        tensor = tensor_of(leaf.object) if leaf.kind != "scalar" else None
        if tensor is not None:
            storage = tensor.untyped_storage()
            if storage.data_ptr() <= address < storage.data_ptr() + storage.nbytes():
                found: Leaf = leaf
                return found
    return None


def _aftermath(call: Any) -> str:
    """What the tensors hold now."""
    mirrored = any(region.flags is not None for region in call.memory.regions)
    if not mirrored:
        return "What earlier operations wrote remains in the tensors; this one wrote nothing."
    if all(region.flags is not None for region in call.memory.regions):
        return "The tensors are on another device, and nothing was written to them."
    return (
        "What earlier operations wrote remains in the tensors of the CPU; this one wrote nothing, and "
        "nothing was written to those of another device."
    )
