"""A launch as one HTML file, and the views that go into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from triton_lab.launch.snapshot import CannotReplay
from triton_lab.views.accesses import Accesses
from triton_lab.views.card import Card
from triton_lab.views.grid import Grid
from triton_lab.views.origins import Origins
from triton_lab.views.page import Section, document, encoded
from triton_lab.views.steps import Steps
from triton_lab.views.touched_values import TouchedValues
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

MOST_BYTES = 2_700_000  # of scenes in a page, which the script brings close to 3 MB
MOST_ACCESSES = 12


def views_of(launch: Launch) -> Iterator[Callable[[], View]]:
    """Everything there is to see of a launch, the most telling first; each is made when called."""
    yield partial(Card, launch, ("tiling", "storage", "source", "findings"))
    yield partial(Grid, launch)
    accesses = [access for access in launch.accesses if access.argument is not None][:MOST_ACCESSES]
    for access in accesses:
        yield partial(Accesses, launch, access, "order")
    if accesses:
        yield partial(Accesses, launch, accesses[0], "count", "storage")
        yield partial(TouchedValues, launch, accesses[0])
    if launch.programs:
        yield partial(Steps, launch, 0)
    for access in accesses:
        active = access.mask()[:1].reshape(-1)
        if access.kind == "store" and active.any():
            yield partial(Origins, launch, access, 0, int(active.argmax()))
            return


def section(launch: Launch, heading: str = "", most: int = MOST_BYTES) -> Section:
    """A launch's views, as many as fit into ``most`` bytes; what was left out is said."""
    scenes: list[str] = []
    missing: list[str] = []
    for make in views_of(launch):
        try:
            view = make()
            scene = encoded(view)
        except CannotReplay as error:
            missing.append(str(error))
            continue
        if len(scene) > most:
            missing.append(f"left out, since the page would be too large: {view.title()}")
            continue
        most -= len(scene)
        scenes.append(scene)
    told = "; ".join(dict.fromkeys(missing))
    return Section(heading, scenes, f"Not all is shown: {told}." if told else "")


def launch_page(launch: Launch) -> str:
    """The whole page as text."""
    return document(f"{launch.kernel}[{', '.join(map(str, launch.grid))}]", [section(launch)])
