"""The roofline of a launch as a drawing: the roof of a GPU on a grid of powers of ten, and the launch under it.

A hollow mark is a bound, a filled one was measured.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from triton_lab.localization import N_, _, translated
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.style import SMALL

if TYPE_CHECKING:
    from triton_lab.compiled.cost import Roof

WIDE, HIGH = 560.0, 240.0  # of the grid
LEFT, TOP, RIGHT, BELOW = 70.0, 18.0, 24.0, 46.0  # around it
MARK = 9.0
PREFIXES = ((12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""))
ACROSS = N_("intensity: floating-point operations per byte moved")


def roofline(roof: Roof) -> Drawing:
    """The roof of one GPU: what memory allows rises to the left of the ridge, what arithmetic allows is flat."""
    left, right, low, high = edges(roof)

    def at(intensity: float, rate: float) -> tuple[float, float]:
        across = (math.log10(intensity) - left) / (right - left)
        up = (math.log10(rate) - low) / (high - low)
        return LEFT + across * WIDE, TOP + (1 - up) * HIGH

    made = Drawing(LEFT + WIDE + RIGHT, TOP + HIGH + BELOW)
    bottom = TOP + HIGH
    for power in range(left, right + 1):
        x, _unused = at(10.0**power, roof.peak)
        made.add(Line(((x, TOP), (x, bottom)), "line", arrow=False))
        made.add(DrawnText(x, bottom + 12, f"{10.0**power:g}", SMALL, "faint", "center"))
    for power in range(low, high + 1):
        _unused, y = at(roof.ridge, 10.0**power)
        made.add(Line(((LEFT, y), (LEFT + WIDE, y)), "line", arrow=False))
        made.add(DrawnText(LEFT - 6, y, _rate(power), SMALL, "faint", "right"))
    corner = at(roof.ridge, roof.peak)
    edge = at(10.0**left, 10.0**left * roof.gpu.bytes), corner, at(10.0**right, roof.peak)
    made.add(Line(edge, "accent", 2.0, arrow=False))
    made.add(DrawnText(corner[0] + 8, corner[1] - 9, f"{roof.gpu.name}, {roof.kind}", SMALL, "accent"))
    if 0 < roof.intensity < math.inf:
        x, y = at(roof.intensity, roof.rate)
        made.add(Line(((x, y + MARK / 2), (x, bottom)), "error", arrow=False))
        made.add(Rectangle(x - MARK / 2, y - MARK / 2, MARK, MARK, "none", "error", line=1.5, radius=0))
        side: Literal["left", "right"] = "left" if x < LEFT + WIDE * 0.6 else "right"
        beside = x + 10 if side == "left" else x - 10
        told = [(y, _("this launch, at best (a bound, not measured)"))]
        if roof.measured:
            _unused, there = at(roof.intensity, roof.measured)
            made.add(Rectangle(x - MARK / 2, there - MARK / 2, MARK, MARK, "error", "none", line=0, radius=0))
            apart = max(0.0, 14 - abs(there - y))
            told.append((there + apart, _("measured")))
        made.add(*(DrawnText(beside, height + 16, words, SMALL, "error", side) for height, words in told))
    made.add(DrawnText(LEFT + WIDE / 2, bottom + 34, translated(ACROSS), SMALL, "faint", "center"))
    return made


def edges(roof: Roof) -> tuple[int, int, int, int]:
    """The left, right, lower and upper edges of the grid, as powers of ten."""
    points = [roof.ridge] + ([roof.intensity] if 0 < roof.intensity < math.inf else [])
    left, right = math.floor(math.log10(min(points))) - 1, math.ceil(math.log10(max(points))) + 1
    low = math.floor(math.log10(roof.gpu.bytes) + left)
    if roof.measured:
        low = min(low, math.floor(math.log10(roof.measured)) - 1)
    return left, right, low, math.ceil(math.log10(roof.peak))


def _rate(power: int) -> str:
    """A power of ten operations a second."""
    size, prefix = next((size, prefix) for size, prefix in PREFIXES if power >= size)
    return f"{10 ** (power - size)} {prefix}flop/s"
