"""Histograms as drawings: bars; NaN and infinities in words."""

from __future__ import annotations

from triton_lab.launch.maps.value_histogram import Histogram
from triton_lab.messages import count as plural
from triton_lab.messages import number as separated
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
from triton_lab.views.drawing.drawing_text import number_text
from triton_lab.views.drawing.style import SMALL

WIDTH, HEIGHT = 240.0, 120.0
ABOVE, BELOW = 26.0, 54.0  # CSS pixels for the words above the bars, and for the numbers and words under them


def histogram_drawing(found: Histogram) -> Drawing:
    """Bars of whole pixels, as wide as there is room."""
    made = Drawing(WIDTH, ABOVE + HEIGHT + BELOW)
    most = int(found.counts.max(initial=0))
    wide = WIDTH / max(1, len(found.counts))
    bottom = ABOVE + HEIGHT
    for number, count in enumerate(found.counts.tolist()):
        if count:
            tall = max(1.0, HEIGHT * count / most)
            left, right = round(number * wide), round((number + 1) * wide)
            width = max(1, right - left - 1)
            made.add(Rectangle(left, bottom - tall, width, tall, "accent", "none", line=0, radius=0))
    made.add(Rectangle(0, bottom, WIDTH, 1, "mark", "none", line=0, radius=0))
    if found.finite:
        made.add(
            DrawnText(0, bottom + 10, number_text(found.low), SMALL, "faint"),
            DrawnText(WIDTH, bottom + 10, number_text(found.high), SMALL, "faint", "right"),
            DrawnText(0, ABOVE - 8, f"highest bar: {most}", SMALL, "faint"),
        )
    made.add(DrawnText(0, bottom + 28, words(found), SMALL))
    return made


def words(found: Histogram) -> str:
    """``512 numbers, 3 NaN``."""
    odd = ((found.nan, "NaN"), (found.plus_infinity, "+∞"), (found.minus_infinity, "-∞"))
    numbers = plural(found.finite, "number")
    return ", ".join([numbers, *(f"{separated(many)} {name}" for many, name in odd if many)])
