"""The outcomes of a race in either order: the element after two stores, or the value that a load finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from triton_lab.launch.checks.analysis.finding_text import element, program
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.recording.launch_record import Recorded


@dataclass(frozen=True)
class _Act:
    """One access of a program to an element: ``value`` is what it stored or loaded."""

    when: int
    who: int
    kind: str
    value: object


def outcomes(launch: Recorded, race: Finding) -> Finding:
    """The finding of a race, with ``orders``: what either order leaves or loads, if values are known and differ."""
    return replace(race, orders=_orders(launch, race))


def _orders(launch: Recorded, race: Finding) -> tuple[str, ...]:
    if race.argument is None or launch.tape is None or not race.values.size:
        return ()
    acts = _acts(launch, race)
    argument = launch.argument(race.argument)
    places = {where: element(argument, argument.address + where * argument.itemsize) for where in sorted(acts)}
    stored = (_two_stores(launch, acts[where], place) for where, place in places.items())
    loaded = (
        _store_and_load(launch, acts[where], place, _at_the_start(launch, race, argument, where))
        for where, place in places.items()
    )
    return next((told for told in chain(stored, loaded) if told), ())


def _acts(launch: Recorded, race: Finding) -> dict[int, list[_Act]]:
    """The acts of a race by element, in the order in which they ran."""
    assert launch.tape is not None
    kinds = {event.order: launch.tape.kinds[op][0] for op, events in launch.tape.events.items() for event in events}
    found: dict[int, list[_Act]] = {}
    for when, who, where, value in sorted(
        zip(race.events.tolist(), race.programs.tolist(), race.elements.tolist(), race.values.tolist(), strict=True),
        key=lambda each: each[0],
    ):
        if when in kinds:
            found.setdefault(where, []).append(_Act(when, who, kinds[when], value))
    return found


def _two_stores(launch: Recorded, acts: Sequence[_Act], place: str) -> tuple[str, ...]:
    """The element's value if the first of two programs stores last, and if the other does."""
    by = {act.who: act.value for act in acts if act.kind == "store"}
    first = min(by, default=None)
    other = next((who for who in sorted(by) if first is not None and str(by[who]) != str(by[first])), None)
    if first is None or other is None:
        return ()
    return tuple(
        _("If {program} comes last, {place} is {by}.").format(program=program(launch, who), place=place, by=by[who])
        for who in (first, other)
    )


def _store_and_load(launch: Recorded, acts: Sequence[_Act], place: str, before: object) -> tuple[str, ...]:
    """What one program loads before and after another's only store; ``before`` is the value at the start."""
    stores = [act for act in acts if act.kind == "store"]
    load = next((act for act in acts if act.kind == "load" and stores and act.who != stores[0].who), None)
    if load is None or len(stores) > 1 or any(act.kind not in ("store", "load") for act in acts):
        return ()
    (store,) = stores
    # A load before the store has found the value at the start.
    before = next((act.value for act in acts if act.kind == "load" and act.when < store.when), before)
    if before is None or str(before) == str(store.value):
        return ()
    writer, reader = program(launch, store.who), program(launch, load.who)
    return (
        _("If {writer} stores first, {reader} loads {value} from {place}.").format(
            writer=writer, reader=reader, value=store.value, place=place
        ),
        _("If {reader} loads first, it gets {before}.").format(reader=reader, before=before),
    )


def _at_the_start(launch: Recorded, race: Finding, argument: Argument, where: int) -> object:
    """The value of an element before the launch; None if it is not known, or if not all racing lanes are listed."""
    if launch.snapshot is None or launch.snapshot.missing or race.count > len(race.elements):
        return None
    start = argument.address + where * argument.itemsize
    try:
        held = launch.snapshot.held(start, start + argument.itemsize)
        return np.frombuffer(held.tobytes(), np.dtype(argument.dtype))[0].item()
    except (LookupError, TypeError):  # of a type that NumPy does not have
        return None
