"""Pictures of iteration domains against their description: what is drawn where, pixel by pixel."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.typing import NDArray

from tests.polyhedral.random_nests import RandomNest, random_nests
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.views.drawing.drawing import Circles, DrawnText, Rectangle
from triton_lab.views.drawing.drawing_figure import figure_of
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.png import png
from triton_lab.views.drawing.style import rgb
from triton_lab.views.notebook_output import SCENE
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.array_panels import grids, touched
from triton_lab.views.polyhedral.border_labels import LABEL, clip
from triton_lab.views.polyhedral.iteration_picture import Border, picture
from triton_lab.views.polyhedral.iteration_view import IterationView, iteration_view
from triton_lab.views.polyhedral.outlines import hull
from triton_lab.views.polyhedral.page_view import PageFigures
from triton_lab.views.polyhedral.plane_axes import tick_step
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.ragged_view import RaggedView
from triton_lab.views.polyhedral.space_plot import SpacePlot, faces

Pixels = NDArray[np.int64]
CUBE = "for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 3; k++) A[i][j] += B[k];"


def pixels(figure: Figure) -> Pixels:
    """The figure as drawn, (height, width, 3) from 0 to 255, two pixels to a CSS pixel."""
    return np.rint(imread(io.BytesIO(png(figure)))[..., :3] * 255).astype(np.int64)


def drawn(plot: Plot | SpacePlot) -> Pixels:
    """The plot alone, its upper left corner at (0, 0)."""
    return pixels(figure_of(plot.drawing()))


def at(image: Pixels, place: NDArray[np.float64]) -> tuple[int, ...]:
    return tuple(image[round(place[1] * 2), round(place[0] * 2)])


def patch(image: Pixels, place: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """The pixels within one CSS pixel of a place."""
    x, y = round(place[0] * 2), round(place[1] * 2)
    return [tuple(p) for p in image[y - 2 : y + 3, x - 2 : x + 3].reshape(-1, 3)]


def near(colour: tuple[int, ...], wanted: str, tolerance: int = 12) -> bool:
    return max(abs(a - b) for a, b in zip(colour, rgb(wanted), strict=True)) <= tolerance


def over(under: str, top: str, opacity: float) -> str:
    mixed = (round(a + (b - a) * opacity) for a, b in zip(rgb(under), rgb(top), strict=True))
    return "#" + "".join(f"{v:02x}" for v in mixed)


@pytest.fixture(scope="module")
def page_plot() -> Plot:
    return Plot(picture(scop(page_nests.PAGE_FIGURE).schedule))


@pytest.fixture(scope="module")
def page_image(page_plot: Plot) -> Pixels:
    return drawn(page_plot)


def test_the_polygon_lies_over_the_statements_at_60_percent(page_plot: Plot, page_image: Pixels) -> None:
    inside = page_plot.place(np.array([[1, 4], [2, 5]]))
    for place in inside:  # circles under the polygon
        assert near(at(page_image, place), over(look.LIGHT.statement, look.LIGHT.polygon, look.POLYGON_OPACITY))
    between = page_plot.place(np.array([[1.5, 4.5]]))[0]
    assert near(at(page_image, between), over(look.LIGHT.ground, look.LIGHT.polygon, look.POLYGON_OPACITY))


def test_outside_of_the_domain_the_ground_is_white(page_plot: Plot, page_image: Pixels) -> None:
    for place in page_plot.place(np.array([[3.5, 1.5], [2.5, 0.5], [3.5, 7.5]])):
        assert at(page_image, place) == (255, 255, 255)


def test_statements_are_ringed(page_plot: Plot, page_image: Pixels) -> None:
    for point in page_plot.picture.layers[0].points[:3]:
        centre = page_plot.place(point)
        ring = centre + np.array([-0.7071, 0.7071]) * page_plot.radius
        assert min(sum(p) for p in patch(page_image, ring)) < 3 * 160


def test_borders_run_on_past_the_polygon(page_plot: Plot, page_image: Pixels) -> None:
    for line in page_plot.lines:
        for share in (0.31, 0.62, 0.93):
            place = page_plot.pixels(line.ends[0] + (line.ends[1] - line.ends[0]) * share)
            assert any(near(p, look.LIGHT.border, 40) for p in patch(page_image, place)), line.border.name
    diagonal = next(line for line in page_plot.lines if line.border.name == "i ≤ j")
    assert diagonal.ends.max() > 4.5  # the polygon ends at 3


def test_labels_stand_on_the_excluded_side_and_over_no_point(page_plot: Plot) -> None:
    assert {line.border.name for line in page_plot.lines} == {"i ≥ 0", "i ≤ 3", "i ≤ j", "j ≤ 7"}
    points = page_plot.picture.layers[0].points
    for line in page_plot.lines:
        x, y = line.label
        assert np.dot(line.border.coefficients, (y, x)) + line.border.constant < 0
        assert np.hypot(points[:, 1] - x, points[:, 0] - y).min() > 0.3


def test_the_first_dimension_goes_up_and_the_second_to_the_right(page_plot: Plot) -> None:
    origin, up, right = page_plot.place(np.array([[0, 0], [1, 0], [0, 1]]))
    assert up[1] < origin[1] and up[0] == origin[0]
    assert right[0] > origin[0] and right[1] == origin[1]


def test_long_words_are_not_cut() -> None:
    text = (
        "for (int alpha = 0; alpha < 9; alpha++) for (int beta = 0; 3*beta + 2*alpha < 17; beta++) A[alpha][beta] = 0;"
    )
    image = drawn(Plot(picture(scop(text).schedule)))
    edges = np.concatenate([image[:, :4], image[:, -4:]], axis=1)
    assert (edges == 255).all()


def test_corners_beyond_the_last_step_stay_in_the_picture() -> None:
    """`i` ends at 15 and its bound at 19, `k` at 27 and 29."""
    steps = (
        "for (int i = 0; i < 20; i += 5) for (int j = i; j < 23; j += 7) for (int k = j; k < 30; k += 9) A[i] += B[k];"
    )
    space = SpacePlot(picture(scop(steps).schedule))
    corners = np.concatenate([space.place(polygon) for polygon in space.picture.layers[0].corners])
    assert (corners > 0).all() and (corners < space.size).all()


def test_the_grid_is_dashed_and_grey(page_plot: Plot, page_image: Pixels) -> None:
    ends = page_plot.pixels(np.array([[1.0, 1.3], [1.0, 4.4]]))
    column = page_image[round(ends[1][1] * 2) : round(ends[0][1] * 2), round(ends[0][0] * 2)]
    greys = [near(tuple(p), look.LIGHT.grid, 24) for p in column]
    assert 0.2 < np.mean(greys) < 0.9
    assert any(tuple(p) == (255, 255, 255) for p in column)


def test_points_are_coloured_from_the_first_visit_to_the_last() -> None:
    plot = Plot(picture(scop(page_nests.TRANSPOSE, n=4).schedule.interchange("i", "j")), True)
    image = drawn(plot)
    first, last = plot.place(np.array([[0, 0], [3, 3]]))
    assert near(at(image, first + 2), look.LIGHT.order[0])
    assert near(at(image, last + 2), look.LIGHT.order[-1])


def test_violated_pairs_are_red() -> None:
    plot = Plot(picture(scop(page_nests.WAVEFRONT, n=5).schedule.reverse("i"), dependences="value"))
    assert {(a.kind, a.violated) for a in plot.picture.arrows} == {("flow", False), ("flow", True)}
    image = drawn(plot)
    middle = plot.place(np.array([[2.35, 3], [2, 2.4]]))
    assert any(near(p, look.LIGHT.violated, 40) for p in patch(image, middle[0]))
    assert any(near(p, look.LIGHT.arrows["flow"], 40) for p in patch(image, middle[1]))


ROUNDED = [
    ("for (int i = 0; i < 9; i++) for (int j = i / 2; j < 7; j++) A[i][j] = 0;", "j ≥ ⌊i/2⌋"),
    ("for (int i = 0; i < 7; i++) for (int j = i % 2; j < 7; j += 2) A[i][j] = 0;", "i ≤ j + 2⌊i/2⌋"),
    ("for (int i = 0; i < 9; i++) for (int j = 0; j <= (9 - i) / 3; j++) A[i][j] = 0;", "j ≤ ⌊−i/3⌋ + 3"),
]


@pytest.mark.parametrize(("text", "label"), ROUNDED, ids=["floor", "mod", "above"])
def test_a_rounded_bound_is_a_border_with_all_points_inside(text: str, label: str) -> None:
    plot = Plot(picture(scop(text).schedule))
    (layer,) = plot.picture.layers
    (polygon,) = layer.corners
    outline = hull(polygon)
    assert len(outline) > 2
    for border in plot.picture.borders:
        values = layer.points @ np.array(border.coefficients) + border.constant
        assert values.min() >= 0
        assert values.min() < max(map(abs, border.coefficients))  # and it touches, or nearly
    assert label in {border.name for border in plot.picture.borders}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests(), st.integers(1, 5))
def test_polygons_hold_the_points_of_random_nests(nest: RandomNest, n: int) -> None:
    found = scop(nest.text)
    found = found.bind(**dict.fromkeys(found.parameters, n))
    drawn = [s for s in found.statements if s.iterators]
    assume(drawn)
    deepest = max(drawn, key=lambda s: len(s.iterators))
    shown = picture(found.schedule, deepest.iterators, statements=[deepest.name])
    rows = [deepest.domain.half_spaces(k, found.values) for k in range(len(deepest.domain.pieces))]
    for point in shown.layers[0].points:
        assert any(all(np.dot(row[:-1], point) + row[-1] >= 0 for row in piece) for piece in rows)
    for border in shown.borders:
        beyond = shown.layers[0].points @ np.array(border.coefficients) + border.constant
        assert len(deepest.domain.pieces) > 1 or (beyond >= 0).all()


def test_statements_that_lack_a_dimension_are_told() -> None:
    view = iteration_view(scop("for (int i = 0; i < 5; i++) { s[i] = 0; for (int j = 0; j < 6; j++) A[i][j] = 0; }"))
    told = "not drawn: 5 instances of S0, which has no j"
    assert told in view.text()
    assert told in [text for text, _ in view.scene()["notes"]]
    assert told in [text for text, _ in view.notes]
    assert not iteration_view(scop(page_nests.PAGE)).picture.left_out


@pytest.mark.parametrize(("text", "drawn"), [
    ("for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) { A[i][j] = 0; B[i][j] = 1; }", Plot),
    (CUBE.replace("A[i][j] += B[k];", "{ A[i][j] += B[k]; C[i][j] += B[k]; }"), SpacePlot),
])  # fmt: skip
def test_two_statements_on_one_point_are_two_circles(text: str, drawn: type[Plot] | type[SpacePlot]) -> None:
    plot = drawn(picture(scop(text).schedule))
    one, other = plot.shifts
    assert np.hypot(*(one - other)) > plot.radius


def test_kinds_of_dependences_are_told_apart_without_colour() -> None:
    """All three join the same instances of a sum: side by side, each with dashes of its own."""
    nest = scop("for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) s[i] += A[i][j];")
    plot = Plot(picture(nest.schedule, dependences="memory"))
    assert {a.kind for a in plot.picture.arrows} == set(look.LIGHT.arrows)
    assert len(set(look.BESIDE.values())) == len(set(look.DASHES.values())) == 3
    image = drawn(plot)
    middle = plot.place(np.array([1.0, 0.5]))
    for kind, colour in look.LIGHT.arrows.items():
        places = [middle + np.array([along, look.BESIDE[kind]]) for along in range(-9, 5)]
        assert any(near(p, colour, 60) for place in places for p in patch(image, place)), kind


def test_visits_of_a_projected_domain_name_their_points() -> None:
    nest = scop(page_nests.MATMUL, n=3)
    flat = picture(nest.schedule, ("y", "k"))
    assert len(flat.layers) == 1 and len(flat.layers[0].points) == 9
    assert len(flat.visits) == 27
    sliced = picture(nest.schedule, ("y", "k"), at={"x": 1})
    assert len(sliced.visits) == 9
    with pytest.raises(ValueError, match="others as dims"):
        picture(nest.schedule, ("y", "z"))


def test_a_cube_has_six_faces_and_a_thin_tetrahedron_four() -> None:
    cube = picture(scop(CUBE).schedule)
    assert len(faces(cube.layers[0], cube.borders)) == 6
    nest = scop("for (int i=0;i<4;i++) for(int j=0;j<=i;j++) for(int k=0;k<=j;k++) A[i][j] += B[k];")
    tetrahedron = picture(nest.schedule)
    # i >= 0 touches it in a corner only.
    assert len(faces(tetrahedron.layers[0], tetrahedron.borders)) == 4


def test_space_keeps_distances_in_proportion() -> None:
    space = SpacePlot(picture(scop(CUBE).schedule))
    origin, one, two = space.place(np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]]))
    assert np.allclose(two - origin, 2 * (one - origin))
    assert one[1] < origin[1]  # the first dimension goes up
    image = drawn(space)
    assert near(at(image, space.place(np.array([2.0, 2.0, 2.0]))), look.LIGHT.statement, 14)


def test_what_an_instance_touches_is_what_its_subscripts_say() -> None:
    nest = scop(page_nests.WAVEFRONT, n=5)
    (grid,) = grids(nest.schedule)
    order = nest.schedule.order()
    for access, shift in zip(touched(nest.schedule, (grid,)), ((-1, 0), (0, -1), (0, 0)), strict=True):
        for visit, cell in zip(access.visits, access.cells, strict=True):
            i, j = order.points[visit] + np.array(shift)
            assert cell == i * grid.columns + j


def test_the_irregular_nest_has_the_colours_and_rows_of_the_page() -> None:
    view = RaggedView()
    image = pixels(figure_of(view.matrices()))
    for i, row in enumerate(view.ragged.columns):
        for column in range(view.ragged.width):
            place = np.array([view._aside + (column + 0.08) * view.cell + 1, (2 + i + 0.12) * view.cell])
            assert near(at(image, place), look.LIGHT.rows[i] if column in row else look.LIGHT.ground)
    assert near(at(image, np.array(view.size) - 8), look.LIGHT.dense)
    assert "K[3] = 1: columns 3" in view.text()


def test_the_page_contradicts_itself_and_the_view_says_so() -> None:
    text = PageFigures().text()
    assert "12 instances" in text and "26 instances" in text and "i > j" in text


def _views() -> list[Any]:
    wave = scop(page_nests.WAVEFRONT, n=5)
    return [
        iteration_view(wave, dependences="memory", instance=(2, 3)),
        iteration_view(wave.schedule.reverse("j"), order=True),
        iteration_view(scop(page_nests.MATMUL, n=3), dependences="value"),
        iteration_view(scop(page_nests.MATMUL, n=3), dims=("y", "x")),
        iteration_view(scop("for (int i = 0; i < 9; i += 2) A[i] = A[i + 2];"), dependences="memory"),
        iteration_view(scop("for (int i = 0; i < max(n, m); i++) s += A[i];", n=3, m=5)),
        iteration_view(scop("for (int i = 0; i < n; i++) A[i] = 0;", n=0)),
        PageFigures(),
        RaggedView(),
    ]


@pytest.mark.parametrize("view", _views(), ids=lambda v: v.title()[:24])
def test_every_view_is_live_a_picture_and_words(view: Any) -> None:
    data, _ = view._repr_mimebundle_()
    assert set(data) == {SCENE, "image/png", "text/plain"}
    assert data["image/png"].startswith(b"\x89PNG")
    assert view.title().split("\n")[0] in data["text/plain"]


def test_an_instance_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no instance \(9, 9\)"):
        iteration_view(scop(page_nests.PAGE), instance=(9, 9)).figure()


def test_sliders_send_a_new_scene() -> None:
    view = iteration_view(scop(page_nests.MATMUL, n=3))
    widget = view.widget
    before = len(widget.scene["visits"]["bytes"])
    widget.selection = {"parameters": {"n": 5}}
    assert widget.scene["title"].endswith("n = 5") and len(widget.scene["visits"]["bytes"]) > before
    widget.selection = {"parameters": {"n": 5}, "dims": ["k", "x"]}
    assert widget.scene["dims"] == ["k", "x"]


def test_what_is_not_drawn_stands_at_a_value_or_at_all() -> None:
    view = iteration_view(scop(page_nests.MATMUL, n=3), dims=("y", "x"), at={"k": 2})
    assert view.controls()["hidden"] == {"k": (2, 0, 2)}
    widget = view.widget
    widget.selection = {"parameters": {"n": 4}}
    assert widget.scene["controls"]["hidden"] == {"k": (2, 0, 3)}  # what is not asked for stays
    widget.selection = {"at": {}}
    assert widget.scene["controls"]["hidden"] == {"k": (None, 0, 2)}
    assert len(widget.scene["visits"]["bytes"]) == 2 * 4 * (9 + 27)
    widget.selection = {"at": {"k": 1}}
    assert len(widget.scene["visits"]["bytes"]) == 2 * 4 * (9 + 9)
    widget.selection = {"at": {"k": 1}, "dims": ["k", "x"]}  # what is drawn is not fixed
    assert widget.scene["controls"]["hidden"] == {"y": (None, 0, 2)}


def test_a_button_shows_isls_own_order() -> None:
    view = iteration_view(scop(page_nests.SKEWED, n=5))
    view.widget.selection = {"automatic": True}
    assert "parallel for" in view.widget.scene["program"]
    view.widget.selection = {"automatic": False}
    assert "parallel" not in view.widget.scene["program"]


def test_fifty_thousand_points_are_one_shape() -> None:
    """`bench/` measures how long they take."""
    nest = scop("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) A[i][j] = 0;", n=316)
    assert nest.count() == 50_086
    circles = [one for one in IterationView(nest.schedule).drawing().items if isinstance(one, Circles)]
    assert [len(one.centres) for one in circles] == [50_086, 1]  # the legend's


def test_lines_are_clipped_to_the_box() -> None:
    box = (0.0, 0.0, 10.0, 5.0)
    diagonal = clip(Border("S0", 0, 0, (-1.0, 1.0), 0.0, "i ≤ j"), box)
    assert diagonal is not None
    assert diagonal.tolist() == [[0, 0], [5, 5]]
    assert clip(Border("S0", 0, 0, (1.0, 0.0), 3.0, "i < -3"), box) is None


def test_hulls_and_ticks() -> None:
    square = np.array([[0, 0], [2, 0], [1, 0], [2, 2], [0, 2], [1, 1]], dtype=float)
    assert {tuple(p) for p in hull(square).tolist()} == {(0, 0), (2, 0), (2, 2), (0, 2)}
    assert [tick_step(unit) for unit in (50, 10, 5, 1.5, 0.2)] == [1, 2, 5, 10, 100]


def test_the_live_form_carries_the_chosen_instance_and_keeps_it() -> None:
    view = scop(page_nests.WAVEFRONT, n=4).schedule.plot(instance=(2, 3))
    assert view.scene()["chosen"] == [5]
    with pytest.raises(ValueError, match=r"no instance \(7, 7\)"):
        scop(page_nests.WAVEFRONT, n=4).schedule.plot(instance=(7, 7)).scene()
    widget = view.widget
    first = widget.scene
    widget.selection = {"instance": [1, 1]}
    assert widget.scene is first  # the browser shows it by itself
    widget.selection = {"instance": [1, 1], "parameters": {"n": 6}}
    assert widget.scene["chosen"] == [0]
    widget.selection = {"instance": None, "parameters": {"n": 5}}
    assert widget.scene["chosen"] == []
    widget.selection = {"instance": [4, 4], "parameters": {"n": 4}}  # there is none there any more
    assert widget.scene["chosen"] == []


def test_a_point_that_stands_for_several_visits_is_chosen_with_all() -> None:
    view = scop(page_nests.MATMUL, n=3).schedule.plot(("y", "x"), instance=(1, 2))
    chosen = view.scene()["chosen"]
    assert view.picture.visits[chosen, 0].tolist() == [0, 1, 1, 1]  # the sum's start, and its three terms


def _number_marks(plot: Plot) -> list[tuple[float, float, float, float]]:
    """Where the axes' numbers and names stand: (left, top, right, bottom) in pixels, as `Plot._axes` sets them."""
    marks = []
    names = {line.border.name for line in plot.lines}
    for one in plot.drawing().items:
        if isinstance(one, DrawnText) and one.text not in names:
            wide, high = width_of(one.text, one.size) / 2, one.size * 0.6
            marks.append((one.x - wide, one.y - high, one.x + wide, one.y + high))
    return marks


@pytest.mark.parametrize(
    "text",
    [
        "for (int pid = 0; pid <= 4; pid++) for (int lane = 0; lane < 16; lane++) if (lane + 16*pid < 70) A[pid] = 0;",
        "for (int i = 0; i < 5; i++) for (int j = i; j < 9; j++) A[i] = 0;",
        "for (int i = 90; i < 130; i++) for (int lanes = 0; lanes < 40; lanes++) A[i] = 0;",
        "for (int i = -4; i < 5; i++) for (int j = -3; j < 4; j++) A[i] = 0;",
        "for (int i = 0; i < 12; i++) A[i] = 0;",
        page_nests.PAGE, page_nests.PAGE_FIGURE,
    ],
)  # fmt: skip
def test_labels_of_borders_cover_no_number_and_no_number_is_missing(text: str) -> None:
    plot = Plot(picture(scop(text).schedule))
    marks = _number_marks(plot)
    for line in plot.lines:
        x, y = plot.pixels(np.array(line.label))
        wide, high = width_of(line.border.name, LABEL) / 2, LABEL * 0.6
        for left, top, right, bottom in marks:
            assert x + wide < left or x - wide > right or y + high < top or y - high > bottom, line.border.name
    left, bottom, right, top = plot.box
    step = tick_step(plot.unit) * (1 if plot.unit > 24 else 2)
    columns = len(np.arange(np.ceil(left / step) * step, right - 0.5, step))
    rows = np.arange(np.ceil(bottom / step) * step, top - 0.5, step)
    shown = columns + (0 if plot.flat else len(rows[(rows != 0) | (bottom < 0)]))
    assert len(marks) == shown + len(plot.picture.dims)


def test_the_name_of_the_ragged_matrix_stands_clear_of_its_rows() -> None:
    view = RaggedView()
    height = {one.text: one.y for one in view.matrices().items if isinstance(one, DrawnText)}
    first = min(one.x for one in view.matrices().items if isinstance(one, Rectangle))
    assert all(one.x < first for one in view.matrices().items if isinstance(one, DrawnText) and "K[i]" in one.text)
    assert height["A"] < height["K[i] = 4"] - view.cell / 2
