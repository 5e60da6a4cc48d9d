"""Which statements, and which programs, store to an element of an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from triton_lab.launch.argument import Argument
from triton_lab.launch.debugging.program_tape import ProgramTape
from triton_lab.launch.launch import Launch
from triton_lab.localization import _


def stores(tape: ProgramTape, name: str, index: int | Sequence[int]) -> list[int]:
    """The stops of a tape whose statement stores to, or updates, this element. Raises LookupError."""
    address = address_of(tape.launch.argument(name), index)
    found = []
    for access in tape.accesses:
        if access.kind != "load" and bool(np.any((access.addresses == address) & access.mask)):
            position = tape.after(access.event)
            if position is not None:
                found.append(position)
    return found


def programs_that_store(launch: Launch, name: str, index: int | Sequence[int]) -> list[int]:
    """The numbers of the programs that store to this element, ascending, as recorded."""
    address = address_of(launch.argument(name), index)
    found: set[int] = set()
    for access in launch.done:
        for event in access.events if access.kind != "load" else ():
            touched: Any = (event.addresses() == address) & event.active()
            found.update(event.programs[touched.reshape(len(event.programs), -1).any(1)].tolist())
    return sorted(found)


def address_of(argument: Argument, index: int | Sequence[int]) -> int:
    """The address of an element, by its row-major number or its place. Raises LookupError."""
    if not argument.shape and argument.kind not in ("tensor", "descriptor"):
        raise LookupError(_("{name} is no tensor: name one, as out[3]").format(name=argument.name))
    try:
        number = int(np.ravel_multi_index(tuple(index), argument.shape)) if isinstance(index, Sequence) else index
        if number < 0:
            raise ValueError
        place = np.unravel_index(number, argument.shape)
    except (ValueError, TypeError):
        raise LookupError(
            _("{name} of shape {shape} has no element {index}").format(
                name=argument.name, shape=argument.shape, index=index
            )
        ) from None
    return argument.address + argument.itemsize * sum(
        int(at) * step for at, step in zip(place, argument.strides, strict=True)
    )
