"""Facts about a block program, from the record of its launch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.messages import rounded
from triton_lab.polyhedral.kernels.from_launch import scop_from_launch
from triton_lab.polyhedral.kernels.launch_scop_text import race_lines

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def recorded(run: Callable[[], object]) -> Launch:
    """The recorded launch of ``run``."""
    from triton_lab.launch.recording.record import record

    with record() as launches:
        run()
    (launch,) = launches
    return launch


def lanes(launch: Launch, argument: str) -> tuple[int, int]:
    """How many lanes the loads of ``argument`` had, over all programs and iterations, and how many were active."""
    events = [e for a in launch.accesses if (a.kind, a.argument) == ("load", argument) for e in a.events]
    issued = sum(len(event.programs) * math.prod(event.shape) for event in events)
    return issued, sum(int(event.active().sum()) for event in events)


def facts(launch: Launch) -> Iterator[str]:
    """The record's facts about sharing and races, in words."""
    model = scop_from_launch(launch)
    for name in sorted({a.argument for a in launch.accesses if a.kind == "load" and a.argument}):
        wanted = model.reuse(name, "load")
        if wanted.factor > 1:
            elements = counted(wanted.distinct, "element")
            yield _("{name}: {elements}, each loaded by {factor} on average").format(
                name=name, elements=elements, factor=rounded(wanted.factor, "program")
            )
    yield next(race_lines(model.races))
