"""The work that a launch did, and what an exercise asks of it: programs, bytes moved, reuse. Read from the record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triton_lab import words

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.launch import Launch

Inputs = Mapping[str, Any]
Requirement = Callable[[Sequence["Launch"], Inputs], str]
"""Says what is wrong with the work of the launches that an answer made of its inputs; "" where nothing is."""


def lanes(launch: Launch, tensor: torch.Tensor, kind: str = "load") -> int:
    """How many lanes of all programs loaded (or stored, or updated) an element of ``tensor``, repetitions included."""
    start = tensor.untyped_storage().data_ptr()
    named = {one.name for one in launch.arguments if getattr(one, "storage_address", None) == start}
    return sum(
        int(event.active().sum())
        for access in launch.done
        if access.kind == kind and access.argument in named
        for event in access.events
    )


def launched(most: int = 1) -> Requirement:
    """So many launches at most."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        if len(launches) <= most:
            return ""
        return f"it takes {words.count(len(launches), 'launch', 'launches')}, and {most} would do"

    return wrong


def programs(exactly: Callable[[Inputs], int]) -> Requirement:
    """So many programs in the last launch, neither fewer nor more."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        asked = exactly(inputs)
        found = math.prod(launches[-1].grid) if launches else 0
        if found == asked:
            return ""
        return f"the grid has {words.count(found, 'program')}; here it must have {words.number(asked)}"

    return wrong


def loads(name: str, most: Callable[[Inputs], int], because: str) -> Requirement:
    """Elements of the argument ``name`` are loaded so often at most, all lanes of all programs counted."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        asked = most(inputs)
        found = sum(lanes(launch, inputs[name]) for launch in launches)
        if found <= asked:
            return ""
        size = inputs[name].element_size()
        moved = words.count(found * size, "byte")
        return f"{moved} of {name} are loaded, and {words.number(asked * size)} would do: {because}"

    return wrong


def once(name: str) -> Requirement:
    """Each element of the argument ``name`` is loaded once, by one program."""
    return loads(name, lambda inputs: inputs[name].numel(), "load each element once, and keep it")


def wide(least: int) -> Requirement:
    """Programs work on blocks of at least so many elements, not on one after the other, where there are so many."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        there = max(value.numel() for value in inputs.values() if hasattr(value, "numel"))
        widest = max((math.prod(access.block) for launch in launches for access in launch.accesses), default=least)
        if widest >= min(least, there):
            return ""
        return f"each access touches {words.count(widest, 'element')} at a time: use blocks of {least} or more"

    return wrong


def atomics(name: str, most: Callable[[Inputs], int]) -> Requirement:
    """So many atomic updates of the argument called ``name`` at most."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        found = sum(
            int(event.active().sum())
            for launch in launches
            for access in launch.done
            if access.kind.startswith("atomic")
            for event in access.events
        )
        if found <= most(inputs):
            return ""
        return (
            f"{words.count(found, 'atomic update')} of {name}, and {words.number(most(inputs))} would do: "
            "add up what a program has before it meets the others"
        )

    return wrong
