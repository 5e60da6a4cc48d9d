"""Difference: two results and what lies between them, as three heatmaps side by side."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from triton_lab.launch.maps import difference as model
from triton_lab.launch.places import Ints
from triton_lab.views.drawing.heatmap import Heatmap, buffer
from triton_lab.views.drawing.layout import Layout, layout
from triton_lab.views.drawing.scenes import Buffer, HeatmapScene
from triton_lab.views.drawing.values import finite_range, value_heatmap
from triton_lab.views.drawing.words import number_text, shape_text
from triton_lab.views.view import View
from triton_lab.words import count, element_at, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from triton_lab.views.drawing.pieces import Piece

ROOM = (270.0, 300.0)  # for one of the three


class DifferenceScene(TypedDict):
    """``values``: of both, for the ``worst`` element of each cell."""

    kind: Literal["difference"]
    title: str
    name: str
    titles: list[str]
    heatmaps: list[HeatmapScene]
    values: list[Buffer]
    worst: Buffer


class Difference(View):
    """``a`` and ``b``, torch tensors or arrays of one shape, and a - b.

    ``name`` is the argument's, ``titles`` what the two are called. Where a cell stands for several
    elements, it shows the one that differs most.
    """

    def __init__(self, a: Any, b: Any, name: str, titles: tuple[str, str] = ("GPU", "CPU")) -> None:
        self.name, self.titles = name, titles
        self.model = model.Difference(model.as_numbers(a), model.as_numbers(b))

    @cached_property
    def layout(self) -> Layout:
        return layout(self.model.a.shape, room=ROOM)

    @cached_property
    def worst(self) -> Ints:
        """(cells,) the element that each cell shows, -1 where there is none."""
        return self.model.worst(self.layout.cell_of_position(), self.layout.cells)

    @cached_property
    def heatmaps(self) -> tuple[Heatmap, ...]:
        """a, b, and a - b."""
        there = self.worst >= 0
        at = np.maximum(self.worst, 0)
        if not there.any():
            at = at[:0]
        a, b, delta = (array.reshape(-1)[at] for array in (self.model.a, self.model.b, self.model.delta))
        low, high = finite_range(self.model.a, self.model.b)
        most = self.model.largest
        return (
            value_heatmap(self.layout, a, there, self.titles[0], low, high, room=ROOM),
            value_heatmap(self.layout, b, there, self.titles[1], low, high, room=ROOM),
            value_heatmap(self.layout, delta, there, " - ".join(self.titles), -most, most, diverging=True, room=ROOM),
        )

    def title(self) -> str:
        return f"{self.name} ({shape_text(self.model.a.shape)}): {self.verdict()}"

    def verdict(self) -> str:
        """How far the two are apart, in words."""
        if not self.model.count:
            return "equal, every element"
        of = f"{number(self.model.count)} of {count(self.model.equal.size, 'element')}"
        words = f"{of} differ, by {number_text(self.model.largest)} at most"
        odd = int((~np.isfinite(self.model.delta)).sum())
        return words + (f"; {odd} of them in NaN or infinity" if odd else "")

    def text(self) -> str:
        lines = [self.title()]
        if self.model.count:
            at = int(np.argmax(np.nan_to_num(np.abs(self.model.delta), nan=np.inf, posinf=np.inf)))
            index = np.unravel_index(at, self.model.a.shape)
            values = (number_text(array.reshape(-1)[at]) for array in (self.model.a, self.model.b))
            told = ", ".join(f"{title} {value}" for title, value in zip(self.titles, values, strict=True))
            lines.append(f"most at {element_at(self.name, map(int, index))}: {told}")
        return "\n".join(lines)

    def scene(self) -> DifferenceScene:
        numbers = [
            array.reshape(-1)[np.maximum(self.worst, 0)] if array.size else array
            for array in (self.model.a, self.model.b)
        ]
        kind = np.float32 if all(array.dtype == np.float32 for array in numbers) else np.float64
        return {
            "kind": "difference",
            "title": self.title(),
            "name": self.name,
            "titles": list(self.titles),
            "heatmaps": [heatmap.as_scene() for heatmap in self.heatmaps],
            "values": [buffer(array.astype(kind)) for array in numbers],
            "worst": buffer(np.maximum(self.worst, 0).astype(np.uint32)),
        }

    def pieces(self) -> list[Piece]:
        """The three side by side under their title."""
        from triton_lab.views.drawing.pieces import one_row, title

        return [title(self.title()), one_row(self.heatmaps, 8)]

    def figure(self) -> Figure:
        from triton_lab.views.drawing.pieces import stack

        return stack(self.pieces())
