"""The source beside one stage as a drawing; lines join the busiest source lines with their instructions.

The browser shows all lines of all stages as lists that are scrolled, searched, folded and copied: no drawing does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_lab.compiled.compilation_text import read_by_people
from triton_lab.compiled.explanations import operation
from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.drawing_pieces import paragraphs, spaced, title
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.style import SMALL

if TYPE_CHECKING:
    from triton_lab.views.compiled.stages_view import Stages

BUSIEST = len(style.TENSOR_COLOURS)  # lines of the source that are joined to the stage, each in a colour of its own
MOST = 64  # lines of either column
CHARACTERS = (62, 88)  # of a line of the source, and of the stage
LINE = 14.0
GAP = 72.0
STRIPE = 4.0


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    row: int | None  # of the source, if the line comes from there


def stages_pieces(view: Stages) -> list[Drawing]:
    """The source beside TTGIR, where the work is dealt to threads, else beside the last stage that there is."""
    names = view.compiled.lines.stages
    name = "ttgir" if "ttgir" in names else names[-1]
    busiest = [row for row, _unused in view.counts()[name].most_common(BUSIEST)]
    source = [_Line(line, text, row) for row, (line, text, _unused) in enumerate(view.rows)]
    stage = _stage(view, name)
    left, right = source[_body(view) :][:MOST], _around(stage, busiest)
    label = view.labels[name]
    told = _("The source beside {label}: the {busiest} source lines with the most instructions.").format(
        label=label, busiest=len(busiest)
    )
    cut = len(stage) - len(right)
    note = _("{cut} of {lines} of {label} are not shown here").format(
        cut=cut, lines=count(len(stage), "line"), label=label
    )
    return [
        title(view.title()),
        *paragraphs([told]),
        spaced(_columns(left, right, sorted(busiest))),
        *paragraphs([note] if cut else []),
    ]


def _body(view: Stages) -> int:
    """The row at which the kernel's body begins: the picture leaves out its parameters."""
    busy = {row for counted in view.counts().values() for row in counted}
    define = next((k for k, (_, text, _) in enumerate(view.rows) if text.lstrip().startswith("def ")), 0)
    return min((row for row in busy if row > define), default=define)


def _stage(view: Stages, name: str) -> list[_Line]:
    held = view.compiled.lines
    found = []
    for number, text in read_by_people(str(view.compiled.stages[name])):
        written = held.written(held.source(name, number)) if operation(name, text) else []
        found.append(_Line(number, text, view.row_of[written[0]] if written else None))
    return [one for one in found if one.text.strip()]


def _around(stage: Sequence[_Line], busiest: Sequence[int]) -> list[_Line]:
    """As many lines as are drawn, beginning just before the first that is joined."""
    start = next((k for k, one in enumerate(stage) if one.row in busiest), 0)
    return list(stage[max(0, min(start - 2, len(stage) - MOST)) :][:MOST])


def _columns(left: Sequence[_Line], right: Sequence[_Line], busiest: Sequence[int]) -> Drawing:
    """Both columns; lines lead from the busiest lines of the source to what became of them."""
    wide = [width_of("x" * letters, SMALL, mono=True) for letters in CHARACTERS]
    second = wide[0] + GAP
    made = Drawing(second + wide[1], LINE * max(len(left), len(right)))
    for column, x, room in ((left, 0.0, CHARACTERS[0] - 6), (right, second, CHARACTERS[1] - 6)):
        for k, one in enumerate(column):
            made.add(*_listed(one, x, LINE * (k + 0.5), room))
    colours = dict(zip(busiest, style.TENSOR_COLOURS, strict=False))
    start, end = wide[0] + 4, second - 8
    for k, one in enumerate(left):
        if one.row not in colours:
            continue
        colour = colours[one.row]
        for x, row in ((start, k), *((end, j) for j, other in enumerate(right) if other.row == one.row)):
            made.add(Rectangle(x, LINE * row + 1, STRIPE, LINE - 2, colour, "none", line=0, radius=0))
            if x == end:
                points = (start + STRIPE, LINE * (k + 0.5)), (end, LINE * (row + 0.5))
                made.add(Line(points, colour, arrow=False))
    return made


def _listed(one: _Line, x: float, y: float, room: int) -> tuple[DrawnText, DrawnText]:
    """A line's number and text, cut where there is no more room."""
    number = width_of("00000 ", SMALL, mono=True)
    whole = one.text.strip()
    indent = len(one.text) - len(one.text.lstrip())
    text = whole[: max(8, room - indent)]
    text = text[:-1] + "…" if len(text) < len(whole) else text
    return (
        DrawnText(x + number - 10, y, str(one.number or ""), SMALL, "faint", "right", mono=True),
        DrawnText(x + number + width_of("x" * indent, SMALL, mono=True), y, text, SMALL, mono=True),
    )
