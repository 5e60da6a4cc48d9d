"""Histograms with matplotlib: bars in one raster; NaN and infinities in words."""

from __future__ import annotations

from triton_lab.launch.maps.value_histogram import Histogram
from triton_lab.messages import count as plural
from triton_lab.messages import number as separated
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing_text import number_text
from triton_lab.views.drawing.figure import Sheet

WIDTH, HEIGHT = 240.0, 120.0
BELOW = 54.0  # CSS pixels for the numbers and words under the bars


def draw_histogram(sheet: Sheet, found: Histogram, x: float, y: float, colour: str = style.LIGHT.accent) -> None:
    """Draw the bars into a box of WIDTH by HEIGHT, whose upper left corner is (x, y)."""
    most = int(found.counts.max(initial=0))
    wide = WIDTH / max(1, len(found.counts))
    for number, count in enumerate(found.counts.tolist()):
        tall = max(1.0, HEIGHT * count / most) if count else 0
        left, right = round(x + number * wide), round(x + (number + 1) * wide)
        if tall:
            sheet.rectangle(left, y + HEIGHT - tall, max(1, right - left - 1), tall, colour)
    sheet.rectangle(x, y + HEIGHT, WIDTH, 1, style.LIGHT.mark)
    if found.finite:
        low, high = (number_text(end) for end in (found.low, found.high))
        sheet.text(x, y + HEIGHT + 10, low, style.SMALL, style.LIGHT.faint)
        sheet.text(x + WIDTH, y + HEIGHT + 10, high, style.SMALL, style.LIGHT.faint, "right")
        sheet.text(x, y - 8, f"highest bar: {most}", style.SMALL, style.LIGHT.faint)
    sheet.text(x, y + HEIGHT + 28, words(found), style.SMALL, style.LIGHT.ink)


def words(found: Histogram) -> str:
    """``512 numbers, 3 NaN``."""
    odd = ((found.nan, "NaN"), (found.plus_infinity, "+∞"), (found.minus_infinity, "-∞"))
    numbers = plural(found.finite, "number")
    return ", ".join([numbers, *(f"{separated(many)} {name}" for many, name in odd if many)])
