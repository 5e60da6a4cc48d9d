"""Where things are drawn, read back from the figure by the numbers on its axes, against nests that plain loops run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from tests.views.artists import Areas, Dots, Drawn, Places, Strokes, Words, artists
from triton_lab.polyhedral import scop
from triton_lab.views.drawing.drawing_figure import figure_of
from triton_lab.views.drawing.style import rgb
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.iteration_view import IterationView
from triton_lab.views.polyhedral.plane_axes import NUMBER
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.polyhedral_style import LIGHT

Point = tuple[int, ...]


@dataclass(frozen=True)
class Nest:
    """``instances`` in the order of the source; those that an instance needs stand before it by one of ``needs``."""

    text: str
    instances: tuple[Point, ...]
    needs: tuple[Point, ...]
    borders: tuple[str, ...]

    @property
    def pairs(self) -> set[tuple[Point, Point]]:
        every = set(self.instances)
        found = ((tuple(a - b for a, b in zip(one, by, strict=True)), one) for one in every for by in self.needs)
        return {(source, target) for source, target in found if source in every}


def _loops(low: int, high: int) -> Iterator[tuple[int, int]]:
    return ((i, j) for i in range(low, high) for j in range(low, high))


NESTS = {
    "triangle": Nest(
        "for (int i = 0; i < 5; i++) for (int j = i; j < 7; j++) A[i][j] = A[i][j-1];",
        tuple((i, j) for i in range(5) for j in range(i, 7)),
        ((0, 1),),
        ("i ≥ 0", "i ≤ 4", "i ≤ j", "j ≤ 6"),
    ),
    "wavefront": Nest(
        "for (int i = 1; i < 6; i++) for (int j = 1; j < 6; j++) A[i][j] = A[i-1][j] + A[i][j-1];",
        tuple(_loops(1, 6)),
        ((1, 0), (0, 1)),
        ("i ≥ 1", "i ≤ 5", "j ≥ 1", "j ≤ 5"),
    ),
    "from below zero": Nest(
        "for (int i = -3; i < 3; i++) for (int j = -2; j < 4 + i; j++) A[i][j] = A[i-1][j-1];",
        tuple((i, j) for i in range(-3, 3) for j in range(-2, 4 + i)),
        ((1, 1),),
        ("i ≥ j − 3", "i ≥ −3", "i ≤ 2", "j ≥ −2"),
    ),
    "line": Nest(
        "for (int i = 2; i < 9; i++) A[i] = A[i-2];", tuple((i,) for i in range(2, 9)), ((2,),), ("i ≥ 2", "i ≤ 8")
    ),
    "large": Nest(
        "for (int i = 0; i < 30; i++) for (int j = 0; j < 70; j++) A[i][j] = A[i-1][j-3];",
        tuple((i, j) for i in range(30) for j in range(70)),
        ((1, 3),),
        ("i ≥ 0", "i ≤ 29", "j ≥ 0", "j ≤ 69"),
    ),
}
TWO = [name for name, nest in NESTS.items() if len(nest.instances[0]) == 2]


@dataclass(frozen=True)
class Read:
    """What was drawn of a plot, and what its axes say: units = ``start`` + ``step`` * pixels, for each axis."""

    plot: Plot
    drawn: list[Drawn]
    start: Places
    step: Places

    def units(self, pixels: Places) -> Places:
        """(..., 2) as the nest counts: down the first dimension, to the right the last."""
        found = self.start + self.step * np.asarray(pixels, dtype=float)
        return found if self.plot.flat else found[..., ::-1]

    def points(self, pixels: Places) -> list[Point]:
        """The instances there, which are whole."""
        found = self.units(pixels).reshape(-1, 2)[:, : len(self.plot.picture.dims)]
        assert np.abs(found - np.rint(found)).max(initial=0.0) < 1e-6
        return [tuple(map(int, one)) for one in np.rint(found)]

    def of(self, kind: type, **looks: object) -> list[Drawn]:
        return [
            one for one in self.drawn
            if isinstance(one, kind) and all(getattr(one, name) == value for name, value in looks.items())
        ]  # fmt: skip


def _axis(numbers: list[tuple[float, float]]) -> tuple[float, float]:
    """Of (pixel, number): where 0 pixels are, and units to a pixel. Fails where numbers are not evenly apart."""
    places, values = np.array(sorted(numbers)).T
    step, start = np.polyfit(places, values, 1)
    assert np.allclose(start + step * places, values, atol=1e-6), numbers
    assert len(set(np.diff(np.sort(values)).round(6))) == 1, "every number of a row is there"
    return float(start), float(step)


@cache
def read(name: str, order: bool = False, dependences: str | None = "value") -> Read:
    view = IterationView(scop(NESTS[name].text).schedule, order=order, dependences=dependences)
    plot = view.plot
    assert isinstance(plot, Plot)
    drawn = artists(figure_of(plot.drawing()))
    numbers = [one for one in drawn if isinstance(one, Words) and one.size == NUMBER]
    below = max(one.y for one in numbers)
    right = _axis([(one.x, float(one.text)) for one in numbers if one.y == below])
    if plot.flat:
        return Read(plot, drawn, np.array([right[0], 0.0]), np.array([right[1], 0.0]))
    up = _axis([(one.y, float(one.text)) for one in numbers if one.y != below])
    return Read(plot, drawn, np.array([right[0], up[0]]), np.array([right[1], up[1]]))


def dots(found: Read) -> list[tuple[Point, str]]:
    every = []
    for one in found.of(Dots):
        assert isinstance(one, Dots)
        points = found.points(one.centres) if len(one.fills) == 1 else found.points(_on_units(found, one.centres))
        fills = one.fills if len(one.fills) > 1 else one.fills * len(points)
        every += zip(points, fills, strict=True)
    return every


def _on_units(found: Read, centres: Places) -> Places:
    """Dots of many colours stand in the middle of pixels: the nearest instances."""
    units = found.start + found.step * centres
    assert np.abs(units - np.rint(units))[:, found.step != 0].max() < 0.55 * np.abs(found.step).max()
    with np.errstate(invalid="ignore", divide="ignore"):
        back = (np.rint(units) - found.start) / found.step
    return np.where(found.step != 0, back, centres)


@pytest.mark.parametrize("name", NESTS)
def test_every_instance_is_a_dot_at_its_place_and_nothing_else_is(name: str) -> None:
    assert sorted(point for point, _ in dots(read(name))) == sorted(NESTS[name].instances)


@pytest.mark.parametrize("name", NESTS)
def test_the_first_dimension_counts_up_and_the_second_to_the_right(name: str) -> None:
    found = read(name)
    assert found.step[0] > 0 and (found.plot.flat or found.step[1] == pytest.approx(-found.step[0]))
    names = [one for one in found.of(Words, size=15.0) if one.text in found.plot.picture.dims]  # type: ignore[union-attr]
    across, *up = names if names[0].text == found.plot.picture.dims[-1] else names[::-1]  # type: ignore[union-attr]
    low, high = (np.array(NESTS[name].instances)[:, -1].take(k) for k in (0, -1))
    assert low - 1 < found.units(np.array([across.x, across.y]))[..., 0 if found.plot.flat else 1] < high + 2  # type: ignore[union-attr]
    assert all(one.x < min(d.centres[:, 0].min() for d in found.of(Dots)) for one in up)  # type: ignore[union-attr]


@pytest.mark.parametrize("name", NESTS)
def test_arrows_lead_from_each_source_to_its_target(name: str) -> None:
    """A shaft, and a head whose tip stands as far before the target as the shaft begins behind the source."""
    found = read(name)
    assert {arrows.kind for arrows in found.plot.picture.arrows} == {"flow"}
    every = found.of(Strokes, colour=LIGHT.arrows["flow"]), found.of(Areas, fill=LIGHT.arrows["flow"])
    shafts = [line for one in every[0] for line in one.lines]  # type: ignore[union-attr]
    heads = [head for one in every[1] for head in one.corners]  # type: ignore[union-attr]
    gap = found.plot.radius + 1
    pairs = set()
    for line, head in zip(shafts, heads, strict=True):
        tip = head[0]
        along = (tip - line[0]) / np.hypot(*(tip - line[0]))
        aside = np.array([-along[1], along[0]]) * look.BESIDE["flow"]
        ends = np.array([line[0] - along * gap - aside, tip + along * gap - aside])
        source, target = found.points(ends)
        pairs.add((source, target))
        across = head[1:] - head[1:].mean(axis=0)
        assert np.abs(across @ along).max() < 1e-6, "the neck of a head is square to it"
        assert np.allclose(head[1:].mean(axis=0), line[1]), "the shaft ends where the head begins"
    assert pairs == NESTS[name].pairs and len(shafts) == len(pairs)


@pytest.mark.parametrize("name", TWO)
def test_the_polygon_is_the_hull_of_the_instances(name: str) -> None:
    found = read(name)
    (polygon,) = found.of(Areas, fill=LIGHT.polygon)
    assert isinstance(polygon, Areas) and polygon.opacity == look.POLYGON_OPACITY
    corners = np.array(found.points(polygon.corners[0]))
    points = np.array(NESTS[name].instances)
    assert {tuple(one) for one in corners.tolist()} <= set(NESTS[name].instances)
    turns = [
        (b - a)[0] * (points - a)[:, 1] - (b - a)[1] * (points - a)[:, 0] for a, b in pairwise([*corners, corners[0]])
    ]
    assert all((turn >= 0).all() for turn in turns) or all((turn <= 0).all() for turn in turns)


@pytest.mark.parametrize("name", NESTS)
def test_borders_run_where_constraints_turn_and_are_named_beyond(name: str) -> None:
    found = read(name)
    borders = found.plot.picture.borders if found.plot.flat else [line.border for line in found.plot.lines]
    assert sorted(border.name for border in borders) == sorted(NESTS[name].borders)
    drawn = [line for one in found.of(Strokes, colour=LIGHT.border) for line in one.lines]  # type: ignore[union-attr]
    names = {one.text: one for one in found.of(Words) if one.text in NESTS[name].borders}  # type: ignore[union-attr]
    assert len(drawn) == len(names) == len(borders)
    for ends, line in zip(drawn, found.plot.lines, strict=True):
        of = np.array(line.border.coefficients)
        value = found.units(ends)[:, : len(of)] @ of + line.border.constant
        assert np.abs(value).max() < 1e-6, "both ends on the border"
        word = names[line.border.name]
        beyond = found.units(np.array([word.x, word.y]))[: len(of)] @ of + line.border.constant  # type: ignore[union-attr]
        assert beyond < 0, "the name stands where the constraint does not hold"


@pytest.mark.parametrize("name", NESTS)
def test_grid_lines_and_numbers_stand_at_whole_units(name: str) -> None:
    found = read(name)
    (grid,) = found.of(Strokes, colour=LIGHT.grid)
    assert isinstance(grid, Strokes)
    places = {0: set(), 1: set()}  # type: ignore[var-annotated]
    for line in grid.lines:
        (axis,) = np.flatnonzero(np.abs(line[0] - line[1]) < 1e-9)
        value = (found.start + found.step * line[0])[axis]
        assert value == pytest.approx(round(value), abs=1e-6)
        places[int(axis)].add(round(value))
    for axis, have in places.items():
        if have:
            steps = np.diff(sorted(have))
            assert len(set(steps)) == 1 and steps[0] * abs(1 / found.step[axis]) >= 14
            least, most = (np.array(NESTS[name].instances)[:, 0 if axis and not found.plot.flat else -1].take(k)
                           for k in (0, -1))  # fmt: skip
            assert min(have) <= least and max(have) + steps[0] > most


@pytest.mark.parametrize("name", NESTS)
def test_colours_follow_the_order_of_visits(name: str) -> None:
    """From the first anchor of the ramp to the last, one step at a time; the way passes all in order."""
    found = read(name, order=True)
    seen = dots(found)
    assert sorted(point for point, _ in seen) == sorted(NESTS[name].instances)
    colour = {point: np.array(rgb(fill)) for point, fill in seen}
    in_order = [colour[point] for point in NESTS[name].instances]
    assert (in_order[0] == rgb(LIGHT.order[0])).all() and (in_order[-1] == rgb(LIGHT.order[-1])).all()
    step = [np.abs(b - a).max() for a, b in pairwise(in_order)]
    assert max(step) <= max(1, 2 * 255 * len(LIGHT.order) / len(step))
    light = [float(one @ np.array([0.2126, 0.7152, 0.0722])) for one in in_order]
    assert all(b <= a + 1 for a, b in pairwise(light)), "later is darker"
    ways = [one for one in found.of(Strokes, opacity=0.75) if isinstance(one, Strokes)]
    if len(NESTS[name].instances) <= 600:
        (way,) = ways
        assert found.points(way.lines[0]) == list(NESTS[name].instances)
    else:
        assert not ways
