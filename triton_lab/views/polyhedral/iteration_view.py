"""Views of scops and schedules: the iteration domain with its order, dependences and formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages as words
from triton_lab.localization import _
from triton_lab.polyhedral import Schedule, Scop
from triton_lab.views.drawing.drawing import Circles, Drawing
from triton_lab.views.drawing.drawing_pieces import beside, column, lines, spaced, title
from triton_lab.views.polyhedral.array_panels import Shelf, grids, touched
from triton_lab.views.polyhedral.dependence_pairs import usual
from triton_lab.views.polyhedral.formula_figure import formula_drawing
from triton_lab.views.polyhedral.formulas import formulas
from triton_lab.views.polyhedral.iteration_picture import Picture, picture
from triton_lab.views.polyhedral.legend_box import legend_drawing, signs, unsure
from triton_lab.views.polyhedral.legend_box import touched as touched_signs
from triton_lab.views.polyhedral.moves_scene import ORDER, moved, moves, verdict
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.polyhedral_scenes import Controls, IterationScene, MovesScene
from triton_lab.views.polyhedral.polyhedral_style import BOTH, Note
from triton_lab.views.polyhedral.space_plot import SpacePlot
from triton_lab.views.polyhedral.time_space import time_picture
from triton_lab.views.scenes import Picked, Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.views.widget import SceneWidget


@dataclass(frozen=True)
class Links:
    """The arrays beside the plot, the cells that one instance touches (grid, cell, kind, may), and that instance."""

    shelf: Shelf
    marked: tuple[tuple[int, int, str, bool], ...]
    point: NDArray[np.int64]


class IterationView(View):
    """The instances of a schedule as points, in the style of Triton's related-work page.

    ``dims``: one to three iterators to draw (the first goes up, the second to the right); ``at`` fixes others, the rest
    are projected out. ``order`` colours points from the first visit to the last; ``dependences`` is "value", "memory"
    or None: then a changed order shows the values that it passes on. Violated instances of an illegal schedule are
    drawn red. ``instance`` (a point in ``dims``) shows the arrays beside the domain, with what that instance reads and
    writes. ``time`` shows the transformed space beside it, with all visits at the times of the schedule (by default if
    the order is not that of the source, and live if its loops can be moved).
    """

    tight = True

    def __init__(
        self,
        schedule: Schedule,
        dims: Sequence[str] | None = None,
        at: Mapping[str, int] | None = None,
        dependences: str | None = None,
        order: bool = False,
        instance: Sequence[int] | None = None,
        title: str | None = None,
        time: bool | None = None,
    ) -> None:
        self.schedule = schedule
        self.dims, self.at = dims, dict(at or {})
        self.dependences, self.order, self.instance = dependences, order, instance
        self._title, self._time = title, time

    @cached_property
    def picture(self) -> Picture:
        return picture(self.schedule, self.dims, self.at, self.dependences or usual(self.schedule))

    @cached_property
    def time(self) -> Plot | None:
        """The transformed space, if it is shown."""
        wanted = self._time if self._time is not None else bool(self.schedule.steps)
        if not wanted:
            return None
        return Plot(time_picture(self.schedule, self.picture), self.order)

    @property
    def beside(self) -> str:
        """The name of the picture beside the domain."""
        return _("Time")

    @property
    def plot(self) -> Plot | SpacePlot:
        return (SpacePlot if len(self.picture.dims) == 3 else Plot)(self.picture, self.order)

    def title(self) -> str:
        if self._title is not None:
            return self._title
        values = self._values
        instances = words.count(self.schedule.scop.count(), "instance")
        return _("{instances}{which}").format(
            instances=instances, which=_(" at {values}").format(values=values) if values else ""
        )

    @property
    def _values(self) -> str:
        """The values of the parameters in words."""
        scop = self.schedule.scop
        return ", ".join(f"{name} = {scop.values[name]}" for name in scop.parameters)

    def text(self) -> str:
        told = [self.title(), *self.picture.left_out]
        if self.picture.fronts:
            instants = len(np.unique(self.picture.instants))
            told.append(
                _("instants: {instants} for {visits}").format(
                    instants=instants, visits=words.count(len(self.picture.visits), "visit")
                )
            )
        if self.picture.tiles:
            told.append(_("tiles: {count}").format(count=len(self.picture.tiles)))
        return "\n".join([*told, str(self.schedule.scop), str(self.schedule)])

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes below the program: text and tone."""
        out: tuple[Note, ...] = tuple((words, "faint") for words in self.picture.left_out)
        return (*out, *verdict(self.schedule)) if self.schedule.steps else out

    def pieces(self) -> list[Drawing]:
        return [title(self.title()), _sheet(self, self._links())]

    def _links(self) -> Links | None:
        """The arrays, and the cells that the chosen instance touches."""
        if self.instance is None:
            return None
        every = grids(self.schedule)
        number = {grid.name: k for k, grid in enumerate(every)}
        times = self.picture.times[self.chosen]
        marked: list[tuple[int, int, str, bool]] = []
        for access in touched(self.schedule, every):
            cells = access.cells[np.isin(access.visits, times)]
            marked += [(number[access.array], int(c), access.kind, access.may) for c in np.unique(cells)]
        return Links(Shelf(every), tuple(sorted(marked, key=lambda m: m[2])), np.array(self.instance))

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The visits of the chosen instance in all statements that have it, as positions in the picture's visits.

        Raises ValueError if there is no such instance.
        """
        if self.instance is None:
            return np.zeros(0, dtype=np.int64)
        found = self.picture.visits_at(self.instance)
        if not len(found):
            raise ValueError(_("there is no instance ({instance})").format(instance=", ".join(map(str, self.instance))))
        return found

    def controls(self) -> Controls:
        """The controls of the live view.

        They are the parameters with their ranges, the dimensions that are drawn, and the values of all other iterators
        (None: all values) with their ranges.
        """
        scop = self.schedule.scop
        deepest = max(scop.statements, key=lambda s: len(s.iterators))
        ranges = {p: (scop.values[p], min(0, scop.values[p]), max(12, 2 * scop.values[p])) for p in scop.parameters}
        order = self.schedule.order()
        points = order.points[order.statements == order.names.index(deepest.name)]
        hidden = {
            name: (self.at.get(name), int(points[:, k].min()), int(points[:, k].max()))
            for k, name in enumerate(deepest.iterators)
            if name not in self.picture.dims and len(points)
        }
        return {"parameters": ranges, "iterators": list(deepest.iterators), "hidden": hidden}

    def moves(self) -> MovesScene | None:
        """The loops that a reader may move; None if there are none, or without the time in which they would be seen."""
        return None if self._time is False else moves(self.schedule, self.picture, self.dependences, self._values)

    def part(self, name: str) -> Scene:
        """The loops and the legality of an order that the reader made of this one, or of isl's: ``order/isl/...``."""
        if not name.startswith(ORDER):
            return super().part(name)
        order, _slash, change = name.removeprefix(ORDER).partition("/")
        return moved(self.schedule.automatic() if order == "isl" else self.schedule, change)

    @cached_property
    def widget(self) -> SceneWidget:
        """The live form; changing a control gives a new scene."""
        widget = super().widget
        widget.observe(self._follow, names="selection")
        return widget

    def _follow(self, change: Mapping[str, Any]) -> None:
        if _redrawn(change["new"]) == _redrawn(change["old"]):  # the browser shows by itself what is picked
            return
        scene = self.follow(change["new"])
        if scene is not None:
            self.widget.scene = dict(scene)

    def follow(self, picked: Picked) -> Scene | None:
        """The same view with other values, dimensions or places."""
        asked: Mapping[str, Any] = picked
        scop = self.schedule.scop
        values = {k: int(v) for k, v in asked.get("parameters", {}).items() if k in scop.parameters}
        dims = asked.get("dims") or self.picture.dims
        bound = replace(self.schedule, scop=scop.bind(**{**scop.values, **values}))
        if asked.get("automatic"):
            bound = bound.automatic()
        at = {k: int(v) for k, v in asked.get("at", self.at).items() if k not in dims}
        try:
            return self.again(bound, dims, at).keeping(asked.get("instance", self.instance)).scene()
        except ValueError:  # no statement has these dimensions together: the picture stays
            return None

    def again(self, schedule: Schedule, dims: Sequence[str], at: Mapping[str, int]) -> IterationView:
        """The same view with other values or dimensions."""
        return IterationView(schedule, dims, at, self.dependences, self.order, title=self._title, time=self._time)

    def keeping(self, instance: Sequence[int] | None) -> IterationView:
        """This view with ``instance`` chosen, if it exists here, too."""
        if instance is not None and len(instance) == len(self.picture.dims) and len(self.picture.visits_at(instance)):
            self.instance = tuple(map(int, instance))
        return self

    def scene(self) -> IterationScene:
        from triton_lab.views.polyhedral.iteration_scene import scene

        return scene(self)


def _sheet(view: IterationView, links: Links | None) -> Drawing:
    """All but the title."""
    shown = view.schedule.scop[view.picture.layers[-1].statement]
    text = view.schedule.program().splitlines()
    program = [lines([(_("Program"), "faint")]), lines([(line, "ink") for line in text], mono=True)] if text else []
    told = column([*program, lines([(note, getattr(BOTH, tone)) for note, tone in view.notes])], 0)
    entries = signs(view.picture, view.time.picture if view.time else None, view.order)
    legend = spaced(
        legend_drawing((*entries, *(touched_signs() if links else ()), *unsure(view.schedule, links is not None))), 10
    )
    right = column([legend, *(spaced(formula_drawing(one), 6) for one in formulas(view.schedule, shown))], 0)
    plots = _plots(view, links)
    if told.width > plots.width:  # a long line of the program does not push the formulas away
        return column([beside([plots, right], 12), told], 0)
    return beside([column([plots, told], 0), right], 12)


def _plots(view: IterationView, links: Links | None) -> Drawing:
    """The domain, the arrays, and time, side by side."""
    made = view.plot.drawing()
    if links:
        start = view.plot.place(links.point)
        corner = np.array([made.width + 10, 0])
        made.place(links.shelf.drawing(links.marked, start - corner).fitted(), *corner.tolist())
        made.add(Circles(start[None], 1.3 * view.plot.radius, (BOTH.written,), BOTH.ring, 1.8))
    if not view.time:
        return made
    both = [(_("Domain"), made), (view.beside, view.time.drawing())]
    return beside([column([lines([(name, "faint")]), plot], 0) for name, plot in both], 0)


def _redrawn(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a selection that Python has to draw."""
    return {name: value for name, value in asked.items() if name != "instance"}


def iteration_view(source: Scop | Schedule, **options: Any) -> IterationView:
    """The `IterationView` of a scop (in the order of its source) or of a schedule."""
    return IterationView(source.schedule if isinstance(source, Scop) else source, **options)
