"""Dependences as arrows between the circles of their instances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.drawing.drawing import Polygons, Segments
from triton_lab.views.polyhedral.iteration_picture import Arrows
from triton_lab.views.polyhedral.polyhedral_style import BESIDE, BOTH, DASHES


def dependence(found: Arrows, places: NDArray[np.float64], head: float, gap: float) -> tuple[Segments, Polygons]:
    """The pairs of one dependence; ``places`` are their ends, (count, 2, 2) pixels."""
    if found.violated:
        return arrows(places, BOTH.violated, 2.0, head, gap)
    kind = found.kind
    return arrows(places, BOTH.arrows[kind], 1.3, head, gap, DASHES[kind], BESIDE[kind])


def arrows(
    ends: NDArray[np.float64],
    colour: str,
    width: float,
    head: float,
    gap: float,
    dashes: tuple[float, ...] = (),
    beside: float = 0.0,
) -> tuple[Segments, Polygons]:
    """Arrows, (count, 2, 2), which start and end ``gap`` before the centres they join: their lines and their heads.

    ``beside`` shifts them sideways. All lengths are in CSS pixels.
    """
    along = ends[:, 1] - ends[:, 0]
    length = np.hypot(along[:, 0], along[:, 1])[:, None]
    unit = along / np.maximum(length, 1e-9)
    across = np.stack([-unit[:, 1], unit[:, 0]], axis=1)
    start, tip = ends[:, 0] + unit * gap + across * beside, ends[:, 1] - unit * gap + across * beside
    neck = tip - unit * head
    side = across * head * 0.42
    heads = np.stack([tip, neck + side, neck - side], axis=1)
    return Segments(np.stack([start, neck], axis=1), colour, width, dashes), Polygons(tuple(heads), colour)
