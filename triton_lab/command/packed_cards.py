"""The cards of launches as text: they are drawn in the launches' process, and put into a page in another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from triton_lab.command.session_log import CardText
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.card.launch_card import PAGE_BYTES, Card
from triton_lab.views.launch.card.launch_plot import SHOWN
from triton_lab.views.scene_packing import packed

ALL_BYTES = 20_000_000  # of all cards together


def cards(
    kept: Mapping[int, Launch], drawing: Callable[[int, int], None] = lambda done, total: None
) -> Iterator[tuple[int, CardText]]:
    """The card of each launch, one after the other; ``drawing`` is called with the progress."""
    room = min(PAGE_BYTES, ALL_BYTES // max(1, len(kept)))
    for done, (number, launch) in enumerate(kept.items()):
        drawing(done, len(kept))
        card = Card(launch, SHOWN)
        yield number, CardText(card.title(), packed(card.standalone(room)))
    drawing(len(kept), len(kept))
