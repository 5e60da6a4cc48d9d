"""The cost of a launch with matplotlib: facts, roofline, listing."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, cast

from triton_lab.compiled.cost.cost import SHARES
from triton_lab.messages import count
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Align
from triton_lab.views.drawing.figure import MARGIN, Sheet
from triton_lab.views.drawing.figure_pieces import LINE, FigurePiece, lines, title

if TYPE_CHECKING:
    from triton_lab.compiled.cost import Roof
    from triton_lab.views.compiled.cost_view import CostView

WIDE, HIGH = 560.0, 240.0
LEFT, BELOW = 70.0, 34.0
BAR, PITCH = 46.0, 86.0  # of a bar that shows a share of 1, and from one column to the next
MOST_LINES = 120
MOST_CHARACTERS = 78
PREFIXES = ((12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""))


def cost_pieces(view: CostView) -> list[FigurePiece]:
    """All pieces, from the facts to the lines."""
    width = max(len(name) for name, _ in view.facts())
    facts = [(line, style.LIGHT.ink) for name, value in view.facts() for line in _fact(name, value, width)]
    roof = [(line, style.LIGHT.ink) for line in textwrap.wrap(str(view.roof), 112)]
    source = [(line, style.LIGHT.faint) for line in textwrap.wrap(f"Figures: {view.roof.gpu.source}.", 112)]
    return [title(view.title()), lines(facts, mono=True), roofline(view.roof), lines([*roof, *source]), listing(view)]


def _fact(name: str, value: str, width: int) -> list[str]:
    first, *rest = textwrap.wrap(value, 84) or [""]
    return [f"{name:<{width}}   {first}", *(" " * (width + 3) + one for one in rest)]


def bounds(roof: Roof) -> tuple[int, int, int, int]:
    """The left, right, lower and upper edges of the picture, as powers of ten."""
    points = [roof.ridge] + ([roof.intensity] if 0 < roof.intensity < math.inf else [])
    left, right = math.floor(math.log10(min(points))) - 1, math.ceil(math.log10(max(points))) + 1
    low = math.floor(math.log10(roof.gpu.bytes) + left)
    return left, right, low, math.ceil(math.log10(roof.peak))


def roofline(roof: Roof) -> FigurePiece:
    """The roof on a grid of powers of ten, and the launch under it."""
    left, right, low, high = bounds(roof)

    def draw(sheet: Sheet, y: float) -> None:
        def at(intensity: float, rate: float) -> tuple[float, float]:
            across = (math.log10(intensity) - left) / (right - left)
            up = (math.log10(rate) - low) / (high - low)
            return MARGIN + LEFT + across * WIDE, y + 10 + (1 - up) * HIGH

        for power in range(left, right + 1):
            x, bottom = at(10.0**power, 10.0**low)
            sheet.line(x, bottom, x, bottom - HIGH, style.LIGHT.line)
            sheet.text(x, bottom + 12, f"{10.0**power:g}", style.SMALL, style.LIGHT.faint, "center")
        for power in range(low, high + 1):
            x, height = at(10.0**left, 10.0**power)
            sheet.line(x, height, x + WIDE, height, style.LIGHT.line)
            sheet.text(x - 6, height, _power(power), style.SMALL, style.LIGHT.faint, "right")
        start, corner, end = (
            at(10.0**left, 10.0**left * roof.gpu.bytes),
            at(roof.ridge, roof.peak),
            at(10.0**right, roof.peak),
        )
        for shift in (0, 1):
            sheet.line(start[0], start[1] + shift, corner[0], corner[1] + shift, style.LIGHT.accent)
            sheet.line(corner[0], corner[1] + shift, end[0], end[1] + shift, style.LIGHT.accent)
        if 0 < roof.intensity < math.inf:
            x, top = at(roof.intensity, min(roof.peak, roof.intensity * roof.gpu.bytes))
            sheet.line(x, top, x, y + 10 + HIGH, style.LIGHT.error)
            sheet.rectangle(x - 4, top - 4, 9, 9, style.LIGHT.error)
            near = x < MARGIN + LEFT + WIDE * 0.6
            side, align = 10 if near else -10, "left" if near else "right"
            sheet.text(x + side, top + 14, "this launch, at best", style.SMALL, style.LIGHT.error, cast(Align, align))
        sheet.text(corner[0] + 8, corner[1] - 9, f"{roof.gpu.name}, {roof.kind}", style.SMALL, style.LIGHT.accent)
        middle = MARGIN + LEFT + WIDE / 2
        words = "intensity: operations on floating-point numbers for each byte that must be moved"
        sheet.text(middle, y + HIGH + 38, words, style.SMALL, style.LIGHT.faint, "center")

    return FigurePiece(HIGH + BELOW + 22, draw)


def _power(power: int) -> str:
    size, prefix = next((size, prefix) for size, prefix in PREFIXES if power >= size)
    return f"{10 ** (power - size)} {prefix}flop/s"


def listing(view: CostView) -> FigurePiece:
    """The kernel's lines, each behind the bars of its shares."""
    scene = view.scene()
    rows = scene["listing"][:MOST_LINES]
    left = len(scene["listing"]) - len(rows)

    def draw(sheet: Sheet, y: float) -> None:
        for k, name in enumerate(scene["shares"]):
            sheet.text(MARGIN + k * PITCH, y + LINE / 2, name, style.SMALL, style.LIGHT.faint)
        for row, (number, text, shares) in enumerate(rows, 1):
            middle = y + LINE * (row + 0.5)
            for k, share in enumerate(shares):
                x = MARGIN + k * PITCH
                if share:
                    sheet.rectangle(x, middle - 6, max(1.0, BAR * share), 12, style.VIRIDIS[7 - 2 * k])
                    sheet.text(x + BAR + 32, middle, f"{share:.0%}", style.SMALL, align="right")
            x = MARGIN + len(SHARES) * PITCH + 8
            sheet.text(x + 22, middle, str(number), style.SMALL, style.LIGHT.faint, "right", mono=True)
            code = text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
            indent = len(code) - len(code.lstrip())
            sheet.text(x + 30 + indent * 6, middle, code.lstrip(), style.SMALL, mono=True)
        if left:
            sheet.text(MARGIN, y + LINE * (len(rows) + 1.5), count(left, "more line"), style.SMALL, style.LIGHT.faint)

    return FigurePiece(LINE * (len(rows) + (2 if left else 1)) + 12, draw)
