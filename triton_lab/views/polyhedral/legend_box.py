"""The boxed legend of a polyhedral picture; its title is bold and underlined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from triton_lab.localization import N_, _, translated
from triton_lab.polyhedral import Schedule
from triton_lab.views.drawing.drawing import ArrowLines, Circles, Drawing, DrawnItem, DrawnText, Line, Rectangle
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.polyhedral.instant_marks import marked
from triton_lab.views.polyhedral.iteration_picture import Picture
from triton_lab.views.polyhedral.plane_plot import MOST_STEPS
from triton_lab.views.polyhedral.polyhedral_style import BOTH, DASHES, MAY_DASHES, order_colours

SIZE = 10.0
ROW = 22.0


RAMP = 16  # steps of a ramp


@dataclass(frozen=True)
class LegendEntry:
    """A sign and what it means."""

    sign: Literal["circle", "arrow", "line", "dashed", "square", "ramp", "knob", "lean"]
    colour: str
    text: str
    dashes: tuple[float, ...] = ()


DEPENDENCES = {"flow": N_("flow dependence"), "anti": N_("anti dependence"), "output": N_("output dependence")}


def visited() -> LegendEntry:
    """The entry of instances that are coloured by the order of their visits."""
    return LegendEntry("ramp", "", _("first to last visit"))


def touched() -> tuple[LegendEntry, ...]:
    """The entries of elements that have been accessed."""
    return LegendEntry("square", BOTH.read, _("read")), LegendEntry("square", BOTH.written, _("written"))


def signs(domain: Picture, time: Picture | None, coloured: bool) -> tuple[LegendEntry, ...]:
    """The entries of the legend of a domain, and of time beside it."""
    found = entries(domain, coloured)
    if time is None:
        return found
    rest = (entry for entry in found if entry.sign != "circle")  # the picture of time has all statements already
    return tuple(dict.fromkeys((*entries(time, coloured), *rest)))


def movable_signs(kinds: Sequence[tuple[str, bool]], dependent: bool, knobs: int) -> tuple[LegendEntry, ...]:
    """The entries for orders that a reader makes: dependences of these ``kinds`` (kind, may), broken ones, tiles.

    ``knobs``: how many kinds of handles there are to make them with.
    """
    handles = LegendEntry("knob", BOTH.tile, _("drag: cut tiles")), LegendEntry("lean", BOTH.tile, _("drag: skew"))
    red = (_violated(),) if dependent else ()
    arrows = (_dependence(kind, may) for kind in BOTH.arrows for may in (False, True) if (kind, may) in kinds)
    return (*arrows, *red, LegendEntry("line", BOTH.tile, _("tile")), *handles[:knobs])


def _dependence(kind: str, may: bool = False) -> LegendEntry:
    name = translated(DEPENDENCES.get(kind, kind))
    told = _("{dependence}, if data says so").format(dependence=name) if may else name
    return LegendEntry("arrow", BOTH.arrows[kind], told, (MAY_DASHES if may else DASHES)[kind])


def unsure(schedule: Schedule, arrays: bool) -> tuple[LegendEntry, ...]:
    """The entry of accesses that happen if data says so, where there are any and ``arrays`` are drawn."""
    if not arrays or not any(access.may for access in schedule.scop.accesses):
        return ()
    return (LegendEntry("dashed", BOTH.reading, _("accessed, if data says so")),)


def _violated() -> LegendEntry:
    return LegendEntry("arrow", BOTH.violated, _("violated"))


def live_signs(
    domain: Picture, time: Picture | None, arrays: bool, other: tuple[LegendEntry, ...] = ()
) -> tuple[LegendEntry, ...]:
    """The entries of a live legend: statements take the colour of their turn when they are visited.

    ``other``: those of what the reader may make of the picture.
    """
    found = tuple(dict.fromkeys((*signs(domain, time, False), *other)))
    circles = [entry for entry in found if entry.sign == "circle"]
    rest = [entry for entry in found if entry.sign != "circle"]
    return (*circles, visited(), *rest, *(touched() if arrays else ()))


def entries(picture: Picture, coloured: bool) -> tuple[LegendEntry, ...]:
    """The entries of the legend of ``picture``."""
    layers = picture.layers
    found: list[LegendEntry] = []
    if coloured:
        found.append(visited())
    elif layers[0].owners is not None:
        found += _programs(picture)
    elif len(layers) == 1:
        found.append(LegendEntry("circle", BOTH.statement, _("statement")))
    else:
        for k, layer in enumerate(layers):
            name = _("statement {name}").format(name=layer.statement)
            found.append(LegendEntry("circle", BOTH.statements[k % len(BOTH.statements)], name))
    for kind in BOTH.arrows:
        for may in (False, True):
            if any(a.kind == kind and not a.violated and a.may == may for a in picture.arrows):
                found.append(_dependence(kind, may))
    if any(a.violated and a.kind == "race" for a in picture.arrows):
        found.append(LegendEntry("arrow", BOTH.violated, _("race")))
    if any(a.violated and a.kind != "race" for a in picture.arrows):
        found.append(_violated())
    if picture.tiles:
        found.append(LegendEntry("line", BOTH.tile, _("tile of a program") if picture.tile_names else _("tile")))
    if picture.fronts and len(picture.dims) < 3 and len(picture.visits) <= MOST_STEPS:
        few = len(marked(picture)) < len(picture.fronts)
        first = _("the first of {count} instants").format(count=len(picture.fronts))
        found.append(LegendEntry("line", BOTH.axis, first if few else _("one instant")))
    hidden = sum(a.total - len(a.ends) for a in picture.arrows)
    if hidden:
        found.append(LegendEntry("arrow", BOTH.grid, _("{hidden} more not drawn").format(hidden=hidden)))
    return tuple(found)


def _programs(picture: Picture) -> list[LegendEntry]:
    """The entries of programs: names of the first few whose points are drawn, and of points of several."""
    used = np.concatenate([layer.owners for layer in picture.layers if layer.owners is not None])
    names, colours = picture.owner_names, len(BOTH.parts)
    found = [
        LegendEntry("circle", BOTH.parts[k], _("program {name}").format(name=names[k]))
        for k in np.unique(used[used >= 0]).tolist()
        if k < min(colours, len(names))
    ]
    if found and len(names) > colours:
        found[-1] = LegendEntry("circle", found[-1].colour, _("and so on: {colours} colours").format(colours=colours))
    if (used < 0).any():
        found.append(LegendEntry("circle", BOTH.statement, _("several programs")))
    return found


def legend_drawing(signs: Sequence[LegendEntry]) -> Drawing:
    """The legend in its box."""
    made = Drawing(max(width_of(entry.text, SIZE) for entry in signs) + 60, ROW * (len(signs) + 1) + 12)
    middle = made.width / 2
    heading = _("legend")
    half = width_of(heading, SIZE + 1) * 0.56
    made.add(
        Rectangle(0, 0, made.width, made.height, "ground", BOTH.axis, line=1.5, radius=0),
        DrawnText(middle, 6 + ROW / 2, heading, SIZE + 1, BOTH.strong, "center", bold=True),
        Line(((middle - half, 24), (middle + half, 24)), BOTH.strong, 1.3, arrow=False),
    )
    for k, entry in enumerate(signs):
        y = 6 + ROW * (k + 1.5)
        made.add(*_sign(entry, y), DrawnText(50, y, entry.text, SIZE, BOTH.strong))
    return made


def _sign(entry: LegendEntry, y: float) -> Sequence[DrawnItem]:
    """The sign of an entry at this height."""
    match entry.sign:
        case "circle":
            return [Circles(np.array([[24, y]]), 8.0, (entry.colour,), BOTH.ring, 1.5)]
        case "arrow":
            return [ArrowLines(np.array([[[8, y], [42, y]]]), entry.colour, 1.5, dashes=entry.dashes)]
        case "line" | "dashed":
            return [Line(((8, y), (42, y)), entry.colour, 2.0, dashed=entry.sign == "dashed", arrow=False)]
        case "knob" | "lean":  # as in `view.css`
            return [Rectangle(17, y - 7, 14, 14, entry.colour, "none", line=0, radius=4 if entry.sign == "knob" else 7)]
        case "square":
            return [Rectangle(17, y - 7, 14, 14, entry.colour, BOTH.axis, radius=0)]
    wide = 32 / RAMP
    steps = enumerate(order_colours(RAMP))
    return [Rectangle(8 + k * wide, y - 5, wide + 0.5, 10, step, "none", line=0, radius=0) for k, step in steps]
