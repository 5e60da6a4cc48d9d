"""The cost of a launch as a figure: facts, roofline, listing.

The browser has the same roofline; facts and listing are text there, to be selected, and lines are picked in it.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from triton_lab.compiled.cost.cost import SHARES
from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.views.compiled.roofline import roofline
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
from triton_lab.views.drawing.drawing_pieces import LINE, lines, paragraphs, spaced, title
from triton_lab.views.drawing.style import SMALL

if TYPE_CHECKING:
    from triton_lab.views.compiled.cost_view import CostView

BAR, PITCH = 46.0, 86.0  # of a bar that shows a share of 1, and from one column to the next
MOST_LINES = 120
MOST_CHARACTERS = 78


def cost_pieces(view: CostView) -> list[Drawing]:
    """All pieces, from the facts to the lines."""
    width = max(len(name) for name, _value in view.facts())
    facts = [line for name, value in view.facts() for line in _fact(name, value, width)]
    return [
        title(view.title()),
        lines([(line, "ink") for line in facts], mono=True),
        spaced(roofline(view.roof)),
        *paragraphs([str(view.roof)], "ink"),
        *paragraphs([_("Figures: {source}.").format(source=view.roof.gpu.source)]),
        spaced(listing(view)),
    ]


def _fact(name: str, value: str, width: int) -> list[str]:
    first, *rest = textwrap.wrap(value, 84) or [""]
    return [f"{name:<{width}}   {first}", *(" " * (width + 3) + one for one in rest)]


def listing(view: CostView) -> Drawing:
    """The kernel's lines, each behind the bars of its shares."""
    scene = view.scene()
    rows = scene["listing"][:MOST_LINES]
    made = Drawing()
    made.add(*(DrawnText(k * PITCH, LINE / 2, name, SMALL, "faint") for k, name in enumerate(scene["shares"])))
    code_at = len(SHARES) * PITCH + 30
    for row, (number, text, shares) in enumerate(rows, 1):
        y = LINE * (row + 0.5)
        for k, share in enumerate(shares):
            if share:
                hue = style.VIRIDIS[7 - 2 * k]
                made.add(Rectangle(k * PITCH, y - 6, max(1.0, BAR * share), 12, hue, "none", line=0, radius=0))
                made.add(DrawnText(k * PITCH + BAR + 32, y, f"{share:.0%}", SMALL, align="right"))
        made.add(DrawnText(code_at, y, str(number), SMALL, "faint", "right", mono=True))
        code = text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
        indent = len(code) - len(code.lstrip())
        made.add(DrawnText(code_at + 8 + indent * 6, y, code.lstrip(), SMALL, mono=True))
    made.height = LINE * (len(rows) + 1)
    left = len(scene["listing"]) - len(rows)
    if left:
        made.add(DrawnText(0, made.height + LINE / 2, count(left, "more line"), SMALL, "faint"))
        made.height += LINE
    return made
