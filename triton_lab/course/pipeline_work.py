"""Requirements on the asynchronous work of a Gluon kernel: tensor cores, partitions, and what runs at one time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.course.attempt import Inputs
from triton_lab.launch.maps.pipeline_film import PipelineFilm
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.interpreter.asynchronous.async_events import AsyncEvent
    from triton_lab.launch.launch import Launch

_LONG = 4  # products: with fewer, little can run at one time


def tensor_cores(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require a product by `warpgroup_mma`."""
    if any(op.name == "ttng.warp_group_dot" for op in launches[-1].executable.plan.walk()):
        return ""
    return _("no tensor core multiplies: use warpgroup_mma")


def partitions(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require that a partition that multiplies starts at most one load, that of a tile which stays."""
    events = PipelineFilm(launches[-1]).events
    computers = {one.partition for one in _issued(events, "products")}
    if sum(one.partition in computers for one in _issued(events, "loads")) <= 1:
        return ""
    return _("the warps that multiply start the loads, too: let a partition of its own start them")


def loads_waited_for(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require that each load is waited for: one that no step uses should not be started."""
    events = PipelineFilm(launches[-1]).events
    landed = {one.work for one in events if one.kind == "landed" and one.op is not None}
    left = sum(one.work not in landed for one in _issued(events, "loads"))
    if not left:
        return ""
    return _("it starts {loads} that no step uses: start none beyond the last step").format(
        loads=messages.count(left, "load")
    )


def loads_during_products(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require that loads run when a product starts, if there are enough products."""
    if _overlaps(launches[-1], "loads"):
        return ""
    return _("no load runs while the tensor core multiplies: start the loads of a later step before this product")


def products_in_flight(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Require that a product runs when another one starts, if there are enough products."""
    if _overlaps(launches[-1], "products"):
        return ""
    return _("each product ends before the next one starts: leave one running with num_outstanding=1")


def _issued(events: Sequence[AsyncEvent], queue: str) -> list[AsyncEvent]:
    return [one for one in events if one.kind == "issued" and one.queue == queue]


def _overlaps(launch: Launch, queue: str) -> bool:
    """Whether work of ``queue`` runs when one of its first program's products starts; True if these are few."""
    events = PipelineFilm(launch).events
    running: set[int] = set()
    for event in events:
        if event.kind == "issued" and event.queue == "products" and running:
            return True
        if event.queue == queue and event.kind == "issued":
            running.add(event.work)
        elif event.kind == "landed":
            running.discard(event.work)
    return len(_issued(events, "products")) < _LONG
