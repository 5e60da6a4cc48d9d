"""What a race may leave: the value of the contested element, whichever of two programs stores last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from triton_lab.launch.checks.words import element, program
from triton_lab.launch.finding import Finding

if TYPE_CHECKING:
    from triton_lab.launch.recorded import Recorded


def with_orders(launch: Recorded, findings: Sequence[Finding]) -> list[Finding]:
    """The findings; a race of stores says what either order leaves, where the values are known and differ."""
    return [replace(one, orders=_orders(launch, one)) if one.kind == "race" else one for one in findings]


def _orders(launch: Recorded, race: Finding) -> tuple[str, ...]:
    if race.argument is None or launch.tape is None or not race.values.size:
        return ()
    stores = {
        event.order
        for op, events in launch.tape.events.items()
        if launch.tape.kinds[op][0] == "store"
        for event in events
    }
    argument = launch.argument(race.argument)
    # By element: what each program stores there, the last of it.
    stored: dict[int, dict[int, object]] = {}
    for when, who, where, value in sorted(
        zip(race.events.tolist(), race.programs.tolist(), race.elements.tolist(), race.values.tolist(), strict=True),
        key=lambda each: each[0],
    ):
        if when in stores:
            stored.setdefault(where, {})[who] = value
    for where, by in sorted(stored.items()):
        first = min(by)
        other = next((who for who in sorted(by) if str(by[who]) != str(by[first])), None)
        if other is not None:
            place = element(argument, argument.address + where * argument.itemsize)
            return tuple(f"If {program(launch, who)} comes last, {place} is {by[who]}." for who in (first, other))
    return ()
