"""Shapes of a drawing in matplotlib's pixels: widths, dashes, corners, heads and opacity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from triton_lab.views.drawing.drawing import Circles, Drawing, DrawnItem, DrawnText, Line, Polygons, Rectangle, Segments
from triton_lab.views.drawing.drawing_figure import figure_of
from triton_lab.views.drawing.drawing_pieces import lines
from triton_lab.views.drawing.png import SCALE


def ink(*items: DrawnItem) -> npt.NDArray[np.float64]:
    """How dark each pixel of a white sheet of 100 by 60 CSS pixels is, 0 to 1, in the first channel."""
    canvas = figure_of(Drawing(100, 60, list(items))).canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.draw()  # type: ignore[no-untyped-call]
    found: npt.NDArray[np.float64] = 1 - np.array(canvas.buffer_rgba())[..., 0] / 255.0  # type: ignore[no-untyped-call]
    return found


@pytest.mark.parametrize("width", [1.0, 2.0, 4.0])
def test_lines_are_as_wide_as_they_are_said_to_be(width: float) -> None:
    ends = np.array([[[10.0, 30.0], [90.0, 30.0]]])
    for item in (Segments(ends, "#000000", width), Line(((10, 30), (90, 30)), "#000000", width, arrow=False)):
        found = ink(item)
        assert found.sum() == pytest.approx(80 * width * SCALE**2, rel=0.02)
        rows = np.flatnonzero(found[:, 100])
        assert rows.mean() == pytest.approx(30 * SCALE, abs=1)


def test_dashes_are_drawn_and_left_out_in_turns() -> None:
    found = ink(Segments(np.array([[[0.0, 30.0], [100.0, 30.0]]]), "#000000", 2, (6.0, 4.0)))
    assert found.sum() == pytest.approx(60 * 2 * SCALE**2, rel=0.05)
    assert found[30 * SCALE, 3 * SCALE] == 1 and found[30 * SCALE, 8 * SCALE] == 0


def test_an_arrow_ends_in_a_head_at_its_tip() -> None:
    plain, headed = (ink(Line(((10, 30), (50, 30)), "#000000", arrow=arrow)) for arrow in (False, True))
    assert (headed >= plain - 0.01).all() and headed.sum() > plain.sum() + 10
    columns = np.flatnonzero(headed.sum(axis=0))
    assert columns.min() == pytest.approx(10 * SCALE, abs=1) and columns.max() == pytest.approx(50 * SCALE, abs=1)
    curved = ink(Line(((10, 10), (40, 10), (40, 50), (70, 50)), "#000000", curved=True))
    assert curved[50 * SCALE, 66 * SCALE] == 1


def test_a_box_has_its_fill_its_edge_and_round_corners() -> None:
    found = ink(Rectangle(20, 10, 60, 40, "#000000", "none", 0.5, 0, radius=10))
    assert found[60, 100] == pytest.approx(0.5, abs=0.01)
    assert found[10 * SCALE, 20 * SCALE] == 0, "a corner is cut off"
    edged = ink(Rectangle(20, 10, 60, 40, "none", "#000000", line=2, radius=0))
    assert edged.sum() == pytest.approx(2 * 200 * SCALE**2, rel=0.05) and edged[60, 100] == 0


def test_polygons_and_circles_cover_their_areas() -> None:
    triangle = np.array([[10.0, 50.0], [30.0, 50.0], [20.0, 20.0]])
    triangles = [triangle, triangle + np.array([40.0, 0.0])]
    assert ink(Polygons(triangles, "#000000", 0.5)).sum() == pytest.approx(2 * 300 * 0.5 * SCALE**2, rel=0.02)
    centres = np.array([[20.0, 30.0], [50.0, 30.0], [80.0, 30.0]])
    circles = ink(Circles(centres, 8, ["#000000", "#808080"], "none", 0, np.array([0, 1, 0])))
    assert circles.sum() == pytest.approx(np.pi * 64 * 2.5 * SCALE**2, rel=0.03)
    assert circles[60, 40] == 1 and circles[60, 100] == pytest.approx(0.5, abs=0.01)


def test_a_long_line_of_code_is_cut_at_its_end() -> None:
    """Inductor writes all that it knows of a kernel into one line above it."""
    wide, narrow = "    meta = " + "x" * 2000, "    y = x"
    made = lines([(wide, "ink"), (narrow, "ink")], mono=True)
    cut, whole = (one for one in made.items if isinstance(one, DrawnText))
    assert cut.text.endswith("…") and len(cut.text) < 140 and whole.text == narrow.strip()
    assert cut.x == whole.x
    assert lines([("w" * 2000, "ink")]).width > made.width  # prose is wrapped by its writer
