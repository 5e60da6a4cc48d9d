"""Origins: one stored element, and the elements of every argument that it was made from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from triton_lab.views import style
from triton_lab.views.accesses import access_words
from triton_lab.views.heatmap import Heatmap, Key
from triton_lab.views.layout import layout
from triton_lab.views.parts import panel_names, shape_text
from triton_lab.views.tiling import UNTOUCHED, tensor_argument
from triton_lab.views.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.origin import Origin

ROOM = (300.0, 260.0)
FIRST = 2  # classes: no cell, not needed, and one for each of the ramp's levels


class Origins(View):
    """Where the value that ``program`` stored in ``lane`` (row-major) of the store came from."""

    def __init__(self, launch: Launch, store: Access, program: int = 0, lane: int = 0, iteration: int = 0) -> None:
        lanes = math.prod(store.block)
        if not 0 <= program < launch.programs:
            raise ValueError(f"program {program} is not in the grid: there are {launch.programs}, from 0 on")
        if not 0 <= lane < lanes:
            raise ValueError(f"{access_words(store)} has lanes 0 to {lanes - 1}, not {lane}")
        self.launch, self.store = launch, store
        self.program, self.lane, self.iteration = program, lane, iteration

    @cached_property
    def origins(self) -> list[Origin]:
        """The loads that matter."""
        return self.launch.origins(self.store, self.program, self.lane, self.iteration)

    @cached_property
    def needed(self) -> dict[str, npt.NDArray[np.int64]]:
        """For each argument that matters: (elements,) the iteration that first brought one in, -1 for none."""
        found: dict[str, npt.NDArray[np.int64]] = {}
        for origin in self.origins:
            if origin.argument is None:
                continue
            argument = tensor_argument(self.launch, origin.argument)
            first = found.setdefault(argument.name, np.full(math.prod(argument.shape), -1))
            inside = origin.elements[origin.elements >= 0]
            first[inside[first[inside] < 0]] = origin.iteration
        return found

    def element(self) -> int:
        """The element of the store's argument, -1 where there is none."""
        return int(self.store.element(iteration=self.iteration)[self.program].reshape(-1)[self.lane])

    @cached_property
    def heatmaps(self) -> list[Heatmap]:
        """The stored argument, then those that were loaded from."""
        drawn = []
        if self.store.argument is not None:
            argument = tensor_argument(self.launch, self.store.argument)
            mark = np.full(math.prod(argument.shape), -1)
            mark[[e for e in [self.element()] if e >= 0]] = 0
            drawn.append(_marked(argument, mark, f"stored: {self._stored()}", "stored here"))
        for name, first in self.needed.items():
            argument = tensor_argument(self.launch, name)
            count = int((first >= 0).sum())
            title = f"{name} ({shape_text(argument.shape)}): {count} element{'' if count == 1 else 's'}"
            drawn.append(_marked(argument, first, title, "loaded"))
        return drawn

    def _stored(self) -> str:
        name = self.store.argument or "memory"
        if self.store.argument is None or self.element() < 0:
            return f"{name}, lane {self.lane}"
        shape = tensor_argument(self.launch, name).shape
        return f"{name}[{', '.join(str(int(i)) for i in np.unravel_index(self.element(), shape))}]" if shape else name

    def title(self) -> str:
        store = access_words(self.store).removeprefix("the ")
        return f"{self._stored()}, {store}, program {self.program}: where it came from"

    def text(self) -> str:
        lines = [self.title()]
        for origin in self.origins:
            some = ", ".join(map(str, origin.elements[:8].tolist())) + (" …" if len(origin.elements) > 8 else "")
            turn = f", iteration {origin.iteration}" if origin.iteration else ""
            lines.append(
                f"line {origin.line}{turn}: {len(origin.lanes)} of {origin.argument or 'memory'}: elements {some}"
            )
        if not self.origins:
            lines.append("from no load: it was computed from scalars and program numbers alone")
        return "\n".join(lines)

    def figure(self) -> Figure:
        from triton_lab.views.pieces import lines, side_by_side, stack, title

        pieces = [title(self.title()), *side_by_side(self.heatmaps)]
        if not self.origins:
            pieces.append(lines([(self.text().splitlines()[-1], style.LIGHT.faint)]))
        return stack(pieces)

    def scene(self) -> Mapping[str, Any]:
        return {
            "kind": "origins",
            "title": self.title(),
            "heatmaps": [heatmap.as_scene() for heatmap in self.heatmaps],
            "lines": self.text().splitlines()[1:],
        }


def _marked(argument: Argument, first: npt.NDArray[np.int64], title: str, word: str) -> Heatmap:
    """The argument with the elements marked that have a number; a ramp where the numbers differ."""
    shown = layout(argument.shape, room=ROOM)
    most = int(first.max(initial=0))
    level = np.where(first >= 0, FIRST + (style.LEVELS - 1) * np.maximum(first, 0) // max(1, most), 1)
    if not most:
        level = np.where(first >= 0, FIRST + style.LEVELS // 2, 1)
    cells = np.zeros(shown.cells, dtype=np.int64)
    np.maximum.at(cells, shown.cell_of_position(), level)
    looks = [(0, 0, 0, 0), UNTOUCHED, *((style.SEQUENTIAL + k,) * 3 + (style.PLAIN,) for k in range(style.LEVELS))]
    middle = style.SEQUENTIAL + style.LEVELS // 2
    return Heatmap(
        shown,
        cells.astype(np.uint8),
        np.array(looks, dtype=np.uint16),
        title=title,
        legend=[] if most else [Key((middle, middle, middle, style.PLAIN), word)],
        ramp=(style.SEQUENTIAL, style.LEVELS, 0, most) if most else None,
        ramp_name="iteration",
        panel_names=panel_names(shown.shape, shown.origin, shown.panels),
        room=ROOM,
        groups=np.where(np.arange(len(looks)) > 1, 2, np.arange(len(looks))),
    )
