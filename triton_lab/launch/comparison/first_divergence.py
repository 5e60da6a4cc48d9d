"""The first store, in execution order, whose value differs from the other side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.access import Access, elements_at
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.chunks import gathered
from triton_lab.launch.comparison.stored_elements import number_last, store_events
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.instrumented_copy import Twin
from triton_lab.launch.replay.value_origin import Origin
from triton_lab.launch.replay.variable_values import Assignment, listen, probe_number
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]


@dataclass(frozen=True)
class Lead:
    """The value of variable ``name``, assigned on ``line``, in that lane: ``a`` here, ``b`` there if it is known."""

    name: str
    line: int
    a: float
    b: float | None
    # The dtypes of the variable on both sides.
    types: tuple[str, str] = ("", "")

    @property
    def differs(self) -> bool:
        """Whether the two sides are known to differ here."""
        return self.b is not None and self.a != self.b and not (np.isnan(self.a) and np.isnan(self.b))


@dataclass(frozen=True, eq=False)
class FirstStore:
    """A store whose value differs from the other side.

    ``lanes`` are the lanes of ``program`` (row-major in the block) that differ. ``index`` is the element of the first
    of them, with the value ``a`` on this side and ``b`` on the other. ``origins`` are the loads behind it; ``leads``
    are the program's variables in that lane, in the order of assignment.
    """

    argument: str
    line: int | None
    program: int
    lanes: tuple[int, ...]
    iteration: int
    index: tuple[int, ...]
    a: Any
    b: Any
    access: Access = field(repr=False)
    grid: tuple[int, int, int] = (1, 1, 1)
    origins: tuple[Origin, ...] = field(repr=False, default=())
    leads: tuple[Lead, ...] = field(repr=False, default=())

    @property
    def turned(self) -> Lead | None:
        """The first variable that differs between the sides."""
        return next((lead for lead in self.leads if lead.differs), None)

    def told(self, titles: tuple[str, str]) -> str:
        """The place of the store and what led to it, in words."""
        where = "" if self.line is None else _(" on line {line}").format(line=self.line)
        lane = messages.lane(self.lanes[0], self.access.block)
        others = messages.and_others(len(self.lanes) - 1)
        who = messages.who(self.program, self.grid)
        what = messages.access_noun("atomic" if self.access.kind == "atomic" else "store")
        turn = _(", iteration {iteration},").format(iteration=self.iteration) if self.access.iterations > 1 else ""
        text = _(
            "the first {what} that differs is{where}: {who}{turn} {more}{element_at}: {titles} "
            "{number}, {titles_2} {number_2}"
        ).format(
            what=what,
            where=where,
            who=who,
            turn=turn,
            more=lane + others + ", " if lane else "",
            element_at=messages.element_at(self.argument, self.index),
            titles=titles[0],
            number=_number(self.a),
            titles_2=titles[1],
            number_2=_number(self.b),
        )
        if self.origins:
            loads = _made_of(self.origins)
            text += _("; it is made of ") + ", ".join(loads[:4])
            text += _(" and other loads") if len(loads) > 4 else ""
        lead = self.turned
        if lead is not None:
            text += _("; {name} on line {line} differs first: {number}, {number_2}").format(
                name=lead.name, line=lead.line, number=_number(lead.a), number_2=_number(lead.b)
            )
        return text


def _number(value: Any) -> str:
    return f"{float(value):.9g}" if not isinstance(value, (bool, np.bool_)) else str(bool(value))


def _made_of(origins: Sequence[Origin]) -> list[str]:
    """The loads as texts, grouped by argument and line, since a loop may load many times on one line."""
    groups: dict[tuple[str, int | None], list[Origin]] = {}
    for origin in origins:
        groups.setdefault((origin.argument or "memory", origin.line), []).append(origin)
    told = []
    for (name, line), group in groups.items():
        elements = np.unique(np.concatenate([np.ravel(origin.elements) for origin in group]))
        one = _("{name}, element {number}").format(name=name, number=int(elements[0]))
        several = _("{elements} of {name}").format(elements=messages.count(len(elements), "element"), name=name)
        shown = one if len(elements) == 1 else several
        told.append(shown if line is None else shown + _(" (line {line})").format(line=line))
    return told


def first_store(launch: Launch, arguments: Sequence[Compared], other: Launch | None) -> FirstStore | None:
    """The earliest store or atomic of an element that differs by more than rounding; else of one that differs at all.

    None if no store of the launch differs, or if the record has no accesses.
    """
    found: list[tuple[tuple[int, int, int], Compared, Access, int, Array, Array]] = []
    wrong = [one for one in arguments if one.count]
    worst = [one for one in wrong if not one.explained.all()]
    for one in worst or wrong:
        bad = ~(one.explained if worst else one.same).reshape(-1)
        found += [hit for hit in [_earliest(launch, one, bad)] if hit is not None]
    if not found:
        return None
    (_unused, program, lane), one, access, position, lanes, elements = min(found, key=lambda hit: hit[0])
    index = messages.index(int(elements[0]), one.a.shape)
    iteration = sum(program in event.programs for event in access.events[:position])
    origins, leads = _led(launch, other, access, program, lane, iteration)
    return FirstStore(
        one.name, access.line, program, tuple(lanes.tolist()), iteration, index, one.a[index], one.b[index],
        access, launch.grid, tuple(origins), tuple(leads),
    )  # fmt: skip


def _earliest(launch: Launch, one: Compared, bad: Array) -> Any:
    """The bad element whose last store came first: its key (order, program, lane), access, event, lanes, elements."""
    argument = launch.argument(one.name)
    last = number_last(launch, one.name, bad.size, programs=False)

    def least(_start: int, wrong: Array, event: Array) -> int | None:
        numbers = event[wrong & (event >= 0)]
        return int(numbers.min()) if numbers.size else None

    stored = [number for number in gathered(least, bad, last) if number is not None]
    if not stored:
        return None
    number = min(stored)
    found = store_events(launch, one.name)[number]
    access, position, event = found.access, found.position, found.event
    elements = elements_at(event.addresses() - argument.address, argument).reshape(len(event.programs), -1)
    there = event.active().reshape(elements.shape) & (elements >= 0)
    hit = there & np.where(elements >= 0, bad[elements] & (last[elements] == number), False)
    row = int(np.argmax(hit.any(axis=1)))
    lanes = np.flatnonzero(hit[row])
    key = (event.order, int(event.programs[row]), int(lanes[0]))
    return key, one, access, position, lanes, elements[row][lanes]


def _led(
    launch: Launch, other: Launch | None, access: Access, program: int, lane: int, iteration: int
) -> tuple[list[Origin], list[Lead]]:
    """The loads behind a stored value, and the variables on the way to it; empty if they cannot be found."""
    origins: list[Origin] = []
    try:
        if access.kind == "store":
            origins = launch.origins(access, program, lane, iteration)
        mine = _assigned(launch, access, program)
    except CannotReplay:
        return origins, []
    try:
        theirs = _assigned(other, access, program) if other is not None and program < other.programs else {}
    except CannotReplay:
        theirs = {}
    leads = []
    for (name, turn), one in mine.items():
        values = _in_lane(one, lane)
        twin = theirs.get((name, turn))
        if values is not None:
            there = None if twin is None else _in_lane(twin, lane)
            types = (one.values.dtype.name, "" if twin is None else twin.values.dtype.name)
            leads.append(Lead(name, one.variable.line, values, there, types))
    return origins, leads


def _assigned(launch: Launch, access: Access, program: int) -> dict[tuple[str, int], Assignment]:
    """The program's assignments of the access's shape in order, by name and number of earlier assignments.

    Pointers are left out, as two launches have different addresses.
    """
    counts: dict[str, int] = {}
    found = {}
    pointers = _pointers(launch.twin)
    for one in listen(launch, launch.twin, programs=np.array([program])):
        if one.variable.number in pointers:
            continue
        if one.values.shape[1:] == access.block and one.values.dtype.kind in "fiubV":
            name = one.variable.name
            found[name, counts.get(name, 0)] = one
            counts[name] = counts.get(name, 0) + 1
    return found


def _pointers(twin: Twin) -> set[int]:
    """The numbers of the variables that hold pointers."""
    return {
        number
        for function in twin.executable.plan.functions.values()
        for op in function.walk()
        if (number := probe_number(op)) is not None and function.types[op.operands[0]].is_pointer
    }


def _in_lane(one: Assignment, lane: int) -> float | None:
    values = one.values.reshape(len(one.values), -1)
    return float(values[0, lane]) if len(values) == 1 and lane < values.shape[1] else None
