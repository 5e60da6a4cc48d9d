"""Histograms as drawings: bars between two axes; NaN and infinities in words.

The browser counts the values of a variable for the program and iteration that a reader picks, and makes the same
drawing of them (`front/drawing/histogram.js`).
"""

from __future__ import annotations

from math import floor

import numpy as np

from triton_lab.launch.maps.value_histogram import Histogram
from triton_lab.localization import _
from triton_lab.messages import count as plural
from triton_lab.messages import number as separated
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle, Segments
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.drawing_text import number_text
from triton_lab.views.drawing.style import SMALL

WIDTH, HEIGHT = 240.0, 120.0
LEFT, ABOVE, BELOW = 44.0, 26.0, 54.0  # CSS pixels for the numbers and words around the bars


def histogram_drawing(found: Histogram) -> Drawing:
    """Bars of whole pixels, as wide as there is room."""
    made = Drawing(LEFT + WIDTH, ABOVE + HEIGHT + BELOW)
    most = int(found.counts.max(initial=0))
    wide = WIDTH / max(1, len(found.counts))
    bottom, right = ABOVE + HEIGHT, LEFT + WIDTH
    for number, count in enumerate(found.counts.tolist()):
        if count:
            tall = max(1.0, HEIGHT * count / most)
            start, end = floor(number * wide + 0.5), floor((number + 1) * wide + 0.5)  # as a browser rounds
            width = max(1, end - start - 1)
            made.add(Rectangle(LEFT + start, bottom - tall, width, tall, "accent", "none", line=0, radius=0))
    axes = [[(LEFT - 0.5, ABOVE), (LEFT - 0.5, bottom)], [(LEFT - 0.5, bottom + 0.5), (right, bottom + 0.5)]]
    made.add(Segments(np.array(axes), "mark"))
    if found.finite:
        made.add(
            DrawnText(0, 8, _("how many"), SMALL, "faint"),
            DrawnText(LEFT - 6, ABOVE + 4, separated(most), SMALL, "faint", "right"),
            DrawnText(LEFT - 6, bottom - 3, "0", SMALL, "faint", "right"),
            DrawnText(LEFT, bottom + 11, number_text(found.low), SMALL, "faint"),
            DrawnText(LEFT + WIDTH / 2, bottom + 11, _("value"), SMALL, "faint", "center"),
            DrawnText(right, bottom + 11, number_text(found.high), SMALL, "faint", "right"),
        )
    made.add(DrawnText(LEFT, bottom + 30, words(found), SMALL))
    return made


def histogram_scene(found: Histogram) -> DrawingScene:
    """The drawing for the browser."""
    return histogram_drawing(found).scene("", _("histogram of {values}").format(values=words(found)))


def words(found: Histogram) -> str:
    """``512 numbers, 3 NaN``."""
    odd = ((found.nan, "NaN"), (found.plus_infinity, "+∞"), (found.minus_infinity, "-∞"))
    numbers = plural(found.finite, "number")
    return ", ".join([numbers, *(f"{separated(many)} {name}" for many, name in odd if many)])
