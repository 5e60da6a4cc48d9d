"""The roofline of a launch as a drawing: the roof of a GPU on a grid of powers of ten, and the launch under it.

A hollow mark is a bound, a filled one was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.style import SMALL

if TYPE_CHECKING:
    from triton_lab.compiled.cost import Gpu, Roof

WIDE, HIGH = 560.0, 240.0  # of the grid
LEFT, TOP, RIGHT, BELOW = 70.0, 18.0, 24.0, 46.0  # around it
MARK = 9.0
PREFIXES = ((12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""))
ACROSS = N_("intensity: floating-point operations per byte moved")


@dataclass(frozen=True)
class Axes:
    """The edges of the grid, as powers of ten: of the intensity to the left and right, of the rate below and above."""

    left: int
    right: int
    low: int
    high: int

    def at(self, intensity: float, rate: float) -> tuple[float, float]:
        """The place in the drawing of so many operations per byte, and a second."""
        across = (math.log10(intensity) - self.left) / (self.right - self.left)
        up = (math.log10(rate) - self.low) / (self.high - self.low)
        return LEFT + across * WIDE, TOP + (1 - up) * HIGH


def axes_for(gpu: Gpu, peak: float, intensities: Iterable[float], measured: float | None = None) -> Axes:
    """The axes that show the ridge, the intensities and a measured rate."""
    points = [peak / gpu.bytes, *intensities]
    left, right = math.floor(math.log10(min(points))) - 1, math.ceil(math.log10(max(points))) + 1
    low = math.floor(math.log10(gpu.bytes) + left)
    if measured:
        low = min(low, math.floor(math.log10(measured)) - 1)
    return Axes(left, right, low, math.ceil(math.log10(peak)))


def bare_roofline(gpu: Gpu, peak: float, axes: Axes) -> Drawing:
    """The roof alone: what memory allows rises to the left of the ridge, what arithmetic allows is flat."""
    ridge = peak / gpu.bytes
    made = Drawing(LEFT + WIDE + RIGHT, TOP + HIGH + BELOW)
    bottom = TOP + HIGH
    for power in range(axes.left, axes.right + 1):
        x, _unused = axes.at(10.0**power, peak)
        made.add(Line(((x, TOP), (x, bottom)), "line", arrow=False))
        made.add(DrawnText(x, bottom + 12, f"{10.0**power:g}", SMALL, "faint", "center"))
    for power in range(axes.low, axes.high + 1):
        _unused, y = axes.at(ridge, 10.0**power)
        made.add(Line(((LEFT, y), (LEFT + WIDE, y)), "line", arrow=False))
        made.add(DrawnText(LEFT - 6, y, _rate(power), SMALL, "faint", "right"))
    corner = axes.at(ridge, peak)
    edge = axes.at(10.0**axes.left, 10.0**axes.left * gpu.bytes), corner, axes.at(10.0**axes.right, peak)
    made.add(Line(edge, "accent", 2.0, arrow=False))
    made.add(DrawnText(LEFT + WIDE / 2, bottom + 34, translated(ACROSS), SMALL, "faint", "center"))
    return made


def roofline(roof: Roof) -> Drawing:
    """The roof of one GPU, and the launch under it."""
    axes = edges(roof)
    made = bare_roofline(roof.gpu, roof.peak, axes)
    bottom, corner = TOP + HIGH, axes.at(roof.ridge, roof.peak)
    made.add(DrawnText(corner[0] + 8, corner[1] - 9, f"{roof.gpu.name}, {roof.kind}", SMALL, "accent"))
    if 0 < roof.intensity < math.inf:
        x, y = axes.at(roof.intensity, roof.rate)
        made.add(Line(((x, y + MARK / 2), (x, bottom)), "error", arrow=False))
        made.add(Rectangle(x - MARK / 2, y - MARK / 2, MARK, MARK, "none", "error", line=1.5, radius=0))
        side: Literal["left", "right"] = "left" if x < LEFT + WIDE * 0.6 else "right"
        beside = x + 10 if side == "left" else x - 10
        told = [(y, _("this launch, at best (a bound, not measured)"))]
        if roof.measured:
            _unused, there = axes.at(roof.intensity, roof.measured)
            made.add(Rectangle(x - MARK / 2, there - MARK / 2, MARK, MARK, "error", "none", line=0, radius=0))
            apart = max(0.0, 14 - abs(there - y))
            told.append((there + apart, _("measured")))
        made.add(*(DrawnText(beside, height + 16, words, SMALL, "error", side) for height, words in told))
    return made


def edges(roof: Roof) -> Axes:
    """The axes that show the roof and the launch."""
    there = [roof.intensity] if 0 < roof.intensity < math.inf else []
    return axes_for(roof.gpu, roof.peak, there, roof.measured)


def _rate(power: int) -> str:
    """A power of ten operations a second."""
    size, prefix = next((size, prefix) for size, prefix in PREFIXES if power >= size)
    return f"{10 ** (power - size)} {prefix}flop/s"
