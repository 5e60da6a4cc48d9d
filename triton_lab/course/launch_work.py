"""Requirements on the work of a launch, read from its record: programs, bytes moved, reuse."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.course.attempt import Inputs
from triton_lab.localization import _, translated

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch

Requirement = Callable[[Sequence["Launch"], Inputs], str]
"""Says what is wrong with the work of the launches that an answer made from its inputs; "" if nothing is."""


def arguments_of(launch: Launch, starts: Collection[int]) -> list[str]:
    """The names of the arguments of ``launch`` that lie in storages at these addresses."""
    return [one.name for one in launch.arguments if one.kind != "constexpr" and one.storage_address in starts]


def _loads(launch: Launch, starts: Collection[int]) -> list[Access]:
    named = arguments_of(launch, starts)
    return [access for access in launch.done if access.kind == "load" and access.argument in named]


def _lanes(accesses: Iterable[Access]) -> int:
    """The number of lanes of all programs in these accesses, repetitions included."""
    return sum(int(event.active().sum()) for access in accesses for event in access.events)


def launched() -> Requirement:
    """Require at most one launch."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        if len(launches) <= 1:
            return ""
        return _("it needs {launches}; 1 is enough").format(
            launches=messages.count(len(launches), "launch", "launches")
        )

    return wrong


def programs(exactly: Callable[[Inputs], int]) -> Requirement:
    """Require this number of programs in the last launch, neither fewer nor more."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        asked = exactly(inputs)
        found = launches[-1].programs
        if found == asked:
            return ""
        return _("the grid has {programs}; it must have {asked}").format(
            programs=messages.count(found, "program"), asked=messages.number(asked)
        )

    return wrong


def loads(name: str, most: Callable[[Inputs], int], because: str) -> Requirement:
    """Require at most so many loads from the argument ``name``, counting all lanes of all programs."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        asked = most(inputs)
        found = _lanes(access for launch in launches for access in _loads(launch, inputs.starts[name]))
        if found <= asked:
            return ""
        size = inputs[name].element_size()
        moved = messages.count(found * size, "byte")
        return _("it loads {moved} of {name}; {asked} are enough: {because}").format(
            moved=moved, name=name, asked=messages.number(asked * size), because=translated(because)
        )

    return wrong


def once(name: str) -> Requirement:
    """Require that each element of the argument ``name`` is loaded once, by one program."""
    return loads(name, lambda inputs: inputs[name].numel(), _("load each element once, and reuse it"))


def wide(least: int, of: Callable[[Inputs], int] | None = None) -> Requirement:
    """Require blocks of at least so many elements, if there are so many, instead of one element after the other.

    ``of`` says how many there are; by default those of the largest argument.
    """

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        largest = max(value.numel() for value in inputs.values() if hasattr(value, "numel"))
        there = largest if of is None else of(inputs)
        widest = max((math.prod(access.block) for launch in launches for access in launch.accesses), default=least)
        if widest >= min(least, there):
            return ""
        return _("each access touches at most {elements} at a time: use blocks of {least} or more").format(
            elements=messages.count(widest, "element"), least=least
        )

    return wrong


def atomics(most: Callable[[Inputs], int]) -> Requirement:
    """Require at most so many atomic updates, counting those of all arguments."""

    def wrong(launches: Sequence[Launch], inputs: Inputs) -> str:
        found = _lanes(one for launch in launches for one in launch.done if one.kind.startswith("atomic"))
        if found <= most(inputs):
            return ""
        return _("it makes {updates} of the result; {most} are enough. Add up each program's values first").format(
            updates=messages.count(found, "atomic update"), most=messages.number(most(inputs))
        )

    return wrong
