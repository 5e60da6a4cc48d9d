"""Dependences as arrows between the circles of their instances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from triton_lab.views.drawing.drawing import ArrowLines
from triton_lab.views.polyhedral.dependence_pairs import Arrows
from triton_lab.views.polyhedral.polyhedral_style import BESIDE, BOTH, DASHES, MAY_DASHES


def dependence(found: Arrows, places: NDArray[np.float64], head: float, gap: float) -> ArrowLines:
    """The pairs of one dependence; ``places`` are their ends, (count, 2, 2) pixels."""
    if found.violated:
        return ArrowLines(places, BOTH.violated, 2.0, head, gap)
    kind = found.kind
    dashes = (MAY_DASHES if found.may else DASHES)[kind]
    return ArrowLines(places, BOTH.arrows[kind], 1.3, head, gap, dashes, BESIDE[kind])
