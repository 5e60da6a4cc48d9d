"""Where launches are drawn, read back from the pixels by the numbers beside them, against what the kernels do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tests.views.artists import Areas, Pixels, Words, artists, size
from tests.views.pictures import LAUNCHED, sums, tiles
from triton_lab.launch.maps.value_histogram import histogram
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import DrawnText, Rectangle
from triton_lab.views.drawing.drawing import Pixels as PlacedImage
from triton_lab.views.drawing.histogram_figure import HEIGHT, histogram_drawing
from triton_lab.views.view import View

Colour = tuple[int, ...]


@dataclass(frozen=True)
class Read:
    """A figure of one heatmap: its pixels, and where the rows and columns of given numbers are."""

    pixels: np.ndarray
    column: Callable[[float], float]
    row: Callable[[float], float]

    def at(self, row: float, column: float) -> Colour:
        return tuple(self.pixels[round(self.row(row)), round(self.column(column))].tolist())


def _places(numbers: list[tuple[float, float]]) -> Callable[[float], float]:
    """From (number, pixel); numbers are evenly apart."""
    known = np.array(sorted(numbers))
    step, start = np.polyfit(known[:, 0], known[:, 1], 1) if len(known) > 1 else (0.0, known[0, 1])
    assert np.allclose(known @ [step, -1] + start, 0, atol=1e-6)
    return lambda number: float(start + step * number)


def read(view: View) -> Read:
    drawn = artists(view.figure())
    (pixels,) = [one.pixels for one in drawn if isinstance(one, Pixels)]
    numbers = [one for one in drawn if isinstance(one, Words) and one.size == style.SMALL and one.text.isdigit()]
    above = min(one.y for one in numbers if one.align == "center")
    across = [(float(one.text), one.x) for one in numbers if one.align == "center" and one.y == above]
    down = [(float(one.text), one.y) for one in numbers if one.align == "right"]
    return Read(pixels, _places(across), _places(down))


def colour(index: int) -> Colour:
    return tuple(style.palette()[index].tolist())


def test_every_element_is_painted_in_the_colour_of_its_program() -> None:
    found = read(tiles().plot.tiling("x_ptr"))
    for row in range(9):
        for column in range(14):
            program = row // 4 + 3 * (column // 4)
            assert found.at(row, column) == colour(style.PROGRAM + program), (row, column)


def test_an_output_that_is_turned_round_is_painted_so() -> None:
    found = read(tiles().plot.tiling("out_ptr"))
    for row in range(14):
        for column in range(9):
            assert found.at(row, column) == colour(style.PROGRAM + column // 4 + 3 * (row // 4)), (row, column)


def test_time_runs_down_and_elements_to_the_right() -> None:
    """Three accesses of six programs at once: lanes 0 to 7, 8 to 15, 16 to 19 of each row of 20."""
    found = read(sums().plot.timeline("x_ptr"))
    right = sums().plot.timeline("x_ptr").cells.layout.right
    seen: dict[int | None, set[Colour]] = {}
    for step in range(3):
        for first in range(0, 120, right):
            there = [element for element in range(first, min(first + right, 120)) if (element % 20) // 8 == step]
            programs = {element // 20 for element in there}
            if len(programs) < 2:
                seen.setdefault(next(iter(programs), None), set()).add(found.at(step, first))
    assert seen.pop(None) == {colour(style.GROUND)} and len(seen) == 6
    assert all(len(colours) == 1 for colours in seen.values()) and len(set.union(*seen.values())) == 6


def test_bars_are_as_high_as_their_counts() -> None:
    view = sums().values("total").view(2, 1)
    found = histogram(np.asarray(view.block))
    bars = [item for item in histogram_drawing(found).items if isinstance(item, Rectangle) and item.fill == "accent"]
    counts = found.counts[found.counts > 0]
    assert [bar.height for bar in bars] == pytest.approx((HEIGHT * counts / counts.max()).tolist())
    assert len({bar.bottom for bar in bars}) == 1
    # The same bars stand in the figure.
    drawn = [np.ptp(one.corners[0][:, 1]) for one in artists(view.figure()) if isinstance(one, Areas)]
    assert sorted(drawn) == pytest.approx(sorted(bar.height for bar in bars))


PIECED = [name for name, make in LAUNCHED.items() if name not in ("card", "card of a failure", "launches")]


@pytest.mark.parametrize("name", PIECED)
def test_pieces_lie_below_each_other_each_within_its_own_height(name: str) -> None:
    view = LAUNCHED[name]()
    try:
        pieces = view.pieces()
    except NotImplementedError:
        return
    for piece in pieces:
        images = [item for item in piece.items if isinstance(item, PlacedImage)]
        texts = [item for item in piece.items if isinstance(item, DrawnText)]
        assert min([item.y for item in texts] + [item.y for item in images]) >= 0
        assert max([item.y for item in texts] + [item.y + item.height for item in images]) <= piece.height
        assert max([item.right for item in texts] + [item.x + item.width for item in images]) <= max(piece.width, 760)
    wide, high = size(view.figure())
    assert high >= sum(piece.height for piece in pieces) and wide >= max(piece.width for piece in pieces)
