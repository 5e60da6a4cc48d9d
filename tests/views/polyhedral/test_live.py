"""The live iteration domain in a bare page: play, point, highlight, turn."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from triton_lab.polyhedral import Schedule, scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.polyhedral.related_work.three_ways import ragged_ways
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Circles, Drawing, DrawnText
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.style import rgb
from triton_lab.views.html_page import page as page_of
from triton_lab.views.polyhedral import polyhedral_style as look
from triton_lab.views.polyhedral.array_panels import grids
from triton_lab.views.polyhedral.border_labels import LABEL
from triton_lab.views.polyhedral.iteration_scene import LIVE_HEIGHT, LIVE_WIDTH
from triton_lab.views.polyhedral.iteration_view import iteration_view
from triton_lab.views.polyhedral.moves_scene import knobs
from triton_lab.views.polyhedral.page_view import PageFigures
from triton_lab.views.polyhedral.plane_plot import Plot
from triton_lab.views.polyhedral.ragged_view import RaggedView
from triton_lab.views.polyhedral.three_ways_view import WaysView
from triton_lab.views.view import View

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
VISITED, POINTED = range(2)  # the canvases of a stage: what has been visited, and what is pointed at


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a view as a page of its own; at the end the console must be clean."""
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    complaints: list[str] = []

    def opened(view: View, live: bool = False, theme: style.Theme = style.LIGHT) -> Page:
        """With ``live``, as in a notebook: what Python would be asked is in `selection` and `asked`."""
        path = tmp_path / "view.html"
        text = page_of(view, theme)
        if live:
            assert text.count("createSelection({}));") == 1
            heard = "on(_, then) { window.answer = then; }, off() {}"
            kernel = f"{{ {heard}, send({{ part }}) {{ (window.asked ??= []).push(part); }} }}"
            text = text.replace("createSelection({}));", f"window.selection = createSelection({{}}), {kernel});")
        path.write_text(text, encoding="utf-8")
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector(".tl-domain")
        return page

    yield opened
    context.close()
    assert complaints == []


def spot(view: object, i: float, j: float) -> dict[str, float]:
    """Where (i, j) lies on the stage."""
    left, down, unit, _radius = view.scene()["frame"]  # type: ignore[attr-defined]
    return {"x": left + j * unit, "y": down - i * unit}


def shown(page: Page, at: dict[str, float]) -> list[int]:
    """The colour of the page at a place of the stage."""
    corner = page.locator(".tl-domain-stage").first.bounding_box()
    assert corner is not None
    clip = {"x": corner["x"] + at["x"], "y": corner["y"] + at["y"], "width": 2, "height": 2}
    image = Image.open(io.BytesIO(page.screenshot(clip=clip)))  # type: ignore[arg-type]
    return list(image.convert("RGB").getpixel((1, 1)))  # type: ignore[arg-type]


def over(colour: str, ground: str) -> np.ndarray:
    """A polygon's colour over the page's ground."""
    return np.array(rgb(colour)) * look.POLYGON_OPACITY + np.array(rgb(ground)) * (1 - look.POLYGON_OPACITY)


def pixel(page: Page, canvas: int, at: dict[str, float]) -> list[int]:
    read = """([n, x, y]) => {
      const pen = document.querySelectorAll('.tl-domain-stage canvas')[n].getContext('2d');
      return [...pen.getImageData(x, y, 1, 1).data];
    }"""
    return list(page.evaluate(read, [canvas, round(at["x"]), round(at["y"])]))


def step(page: Page, times: int) -> None:
    for _ in range(times):
        page.get_by_label("a step forward").first.click()


def test_the_plane_shows_polygon_and_ground(show: Open) -> None:
    view = iteration_view(scop(page_nests.PAGE_FIGURE))
    page = show(view)
    assert np.allclose(shown(page, spot(view, 1.5, 4.5)), over(look.LIGHT.polygon, look.LIGHT.ground), atol=4)
    assert shown(page, spot(view, 3.5, 1.5)) == list(rgb(look.LIGHT.ground))


def written(page: Page) -> list[tuple[str, float, float]]:
    """The words of the stage's drawing and where they stand."""
    read = """texts => texts.map((text) =>
      [text.textContent, ...['x', 'y'].map((name) => Number(text.getAttribute(name)))])"""
    return [
        tuple(one)
        for one in page.locator(".tl-domain-stage").first.locator("svg").first.locator("text").evaluate_all(read)
    ]


def texts(drawing: Drawing) -> list[tuple[str, float, float]]:
    return [(item.text, item.x, item.y) for item in drawing.items if isinstance(item, DrawnText)]


def assert_alike(found: list[tuple[str, float, float]], wanted: list[tuple[str, float, float]]) -> None:
    assert [one[0] for one in found] == [one[0] for one in wanted]
    assert np.allclose([one[1:] for one in found], [one[1:] for one in wanted], atol=0.05)


def test_the_live_plane_is_the_drawing_of_the_png(show: Open) -> None:
    view = iteration_view(scop(page_nests.WAVEFRONT, n=4), dependences="value")
    moves = view.moves()
    assert moves is not None and isinstance(view.plot, Plot)
    plot = replace(view.plot, width=LIVE_WIDTH, height=LIVE_HEIGHT, knobs=knobs(moves, view.picture))
    page = show(view)
    assert_alike(written(page), texts(plot.drawing()))
    x, y = page.locator(".tl-domain-stage svg").first.evaluate("svg => [svg.clientWidth, svg.clientHeight]")
    assert (x, y) == pytest.approx(plot.size, abs=1)


@pytest.mark.parametrize(
    "schedule",
    [
        lambda: scop(page_nests.WAVEFRONT, n=4).schedule,
        lambda: scop(page_nests.SKEWED, n=6).schedule.automatic(),
        lambda: scop(page_nests.WAVEFRONT, n=6).schedule.tile({"i": 2, "j": 3}),
        lambda: scop("for (int i = 2; i < 9; i++) A[i] = A[i-2];").schedule,
    ],
    ids=["plain", "leaning", "tiles", "one loop"],
)
def test_names_of_borders_keep_clear_of_the_handles_and_the_legend_has_these(
    show: Open, schedule: Callable[[], Schedule]
) -> None:
    view = schedule().plot()
    moves = view.moves()
    assert moves is not None
    plot = replace(view.plot, width=LIVE_WIDTH, height=LIVE_HEIGHT, knobs=knobs(moves, view.picture))
    assert isinstance(plot, Plot)
    page = show(view)
    handles = page.locator(".tl-domain-stage .tl-knob")
    read = "all => all.map(one => [parseFloat(one.style.left), parseFloat(one.style.top)])"
    found = np.array(handles.evaluate_all(read))
    expected = plot.pixels(np.array(plot.knobs))
    assert sorted(map(tuple, found.round(1).tolist())) == sorted(map(tuple, expected.round(1).tolist()))
    for line in plot.lines:
        (x, y), half = plot.pixels(np.array(line.label)), width_of(line.border.name, LABEL) / 2
        assert not ((np.abs(found[:, 0] - x) < half + 6) & (np.abs(found[:, 1] - y) < 12)).any(), line.border.name
    kinds = {"tl-leans" in (one.get_attribute("class") or "") for one in handles.all()}
    radii = {item.get("radius") for item in view.scene()["legend"]["items"] if item.get("fill") == look.BOTH.tile}
    assert len(radii) == len(kinds)
    assert all(one.get_attribute("title") != one.get_attribute("aria-label") for one in handles.all())


def test_live_space_is_the_drawing_of_the_png_from_every_angle(show: Open) -> None:
    view = iteration_view(scop(page_nests.MATMUL, n=3), dependences="value")
    plot = replace(view.plot, turns=True, width=LIVE_WIDTH, height=LIVE_HEIGHT)
    page = show(view)
    stage = page.locator(".tl-domain-stage").first
    box = stage.bounding_box()
    assert box is not None
    azimuth, elevation = plot.seen.azimuth, plot.seen.elevation
    assert_alike(written(page), texts(plot.drawing()))
    for right, down in ((80, 40), (-150, -100), (20, 180)):
        page.mouse.move(box["x"] + 200, box["y"] + 200)
        page.mouse.down()
        page.mouse.move(box["x"] + 200 + right, box["y"] + 200 + down, steps=3)
        page.mouse.up()
        azimuth, elevation = azimuth - right / 2, max(-89, min(89, elevation + down / 2))
        turned = plot.solid().drawing(replace(plot.seen, azimuth=azimuth, elevation=elevation))
        assert_alike(written(page), texts(turned))
        circles = next(item for item in turned.items if isinstance(item, Circles))
        first = page.locator(".tl-domain-stage svg path[d*=' a ']").first.get_attribute("d")
        assert first is not None
        left, middle = map(float, first.split()[1:3])  # the farthest circle, from its left end on
        assert (left + circles.radius, middle) == pytest.approx(circles.centres[0].tolist(), abs=0.05)


def test_arrays_are_the_drawings_of_the_png(show: Open) -> None:
    view = iteration_view(scop(page_nests.MATMUL, n=3))
    every = grids(view.schedule)
    page = show(view)
    drawn = page.locator(".tl-domain-stage").first.locator("svg")
    assert drawn.count() == 1 + len(every)
    for k, grid in enumerate(every):
        assert drawn.nth(1 + k).locator("text").all_text_contents() == [text for text, *_ in texts(grid.drawing())]


def test_a_dark_page_has_a_dark_picture_and_another_theme_paints_anew(show: Open) -> None:
    view = iteration_view(scop(page_nests.PAGE))
    page = show(view, theme=style.DARK)
    step(page, 1)
    middle, first = spot(view, 0.5, 2.5), spot(view, 0, 0)
    assert np.allclose(shown(page, middle), over(look.DARK.polygon, look.DARK.ground), atol=4)
    assert np.allclose(pixel(page, VISITED, first)[:3], rgb(look.DARK.order[0]), atol=6)
    ground = "() => getComputedStyle(document.querySelector('.tl-domain')).backgroundColor"
    assert page.evaluate(ground) == "rgba(0, 0, 0, 0)"  # the page's own
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'true' }")
    page.wait_for_selector(".tl-view[data-theme=light]")
    expect(page.locator(".tl-domain-stage path[opacity='0.6']").first).to_have_attribute("fill", look.LIGHT.polygon)
    assert np.allclose(pixel(page, VISITED, first)[:3], rgb(look.LIGHT.order[0]), atol=6)  # what was visited still is


def test_pictures_of_the_ways_follow_the_theme(show: Open) -> None:
    page = show(WaysView(ragged_ways()), theme=style.DARK)
    box = page.locator(".tl-column rect").first
    expect(box).to_have_attribute("fill", look.DARK.rows[0])
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'true' }")
    page.wait_for_selector(".tl-view[data-theme=light]")
    expect(box).to_have_attribute("fill", look.LIGHT.rows[0])


def test_a_step_tells_the_instance_and_what_it_touches(show: Open) -> None:
    page = show(iteration_view(scop(page_nests.WAVEFRONT, n=4)))
    step(page, 2)
    told = page.locator(".tl-domain-told")
    expect(told).to_have_text("S0(1, 2), visit 2 of 9: reads A[0][2], reads A[1][1], writes A[1][2]")
    page.get_by_label("a step back").click()
    expect(told).to_contain_text("S0(1, 1), visit 1 of 9")
    page.get_by_label("to the end").click()
    expect(told).to_contain_text("S0(3, 3), visit 9 of 9")


def test_visited_points_take_the_colour_of_their_turn(show: Open) -> None:
    view = iteration_view(scop(page_nests.PAGE))
    page = show(view)
    assert pixel(page, VISITED, spot(view, 0, 0))[3] == 0
    step(page, 1)
    assert np.allclose(pixel(page, VISITED, spot(view, 0, 0))[:3], rgb(look.LIGHT.order[0]), atol=6)
    assert pixel(page, VISITED, spot(view, 2, 4))[3] == 0
    page.get_by_label("visits made").fill("12")
    assert np.allclose(pixel(page, VISITED, spot(view, 2, 4))[:3], rgb(look.LIGHT.order[-1]), atol=6)


def test_playing_visits_all_points_and_stops(show: Open) -> None:
    page = show(iteration_view(scop("for (int i = 0; i < 6; i++) A[i] = 0;")))
    page.get_by_label("play the order").click()
    expect(page.locator(".tl-domain-bar").first).to_contain_text("6 / 6", timeout=8000)
    expect(page.get_by_label("play the order")).to_have_text("▶")


def test_pointing_at_an_instance_and_at_an_element(show: Open) -> None:
    view = iteration_view(scop(page_nests.WAVEFRONT, n=4))
    page = show(view)
    stage, told = page.locator(".tl-domain-stage").first, page.locator(".tl-domain-told")
    stage.hover(position=spot(view, 2, 3))
    expect(told).to_have_text("S0(2, 3), visit 6 of 9: reads A[1][3], reads A[2][2], writes A[2][3]")
    box = stage.bounding_box()
    assert box is not None
    # The last cell of A, which only the last instance touches.
    width = page.evaluate("() => document.querySelector('.tl-domain-stage').clientWidth")
    stage.hover(position={"x": width - 100 + 12 - 4, "y": 20 + 3.5 * 24})
    expect(told).to_contain_text("by 1 of 9 instances")


TWO = "S0(2, 3), visit 6 of 9: reads A[1][3], reads A[2][2], writes A[2][3]"


def test_the_chosen_instance_is_shown_as_in_the_png(show: Open) -> None:
    view = iteration_view(scop(page_nests.WAVEFRONT, n=4), instance=(2, 3))
    page = show(view)
    told, stage = page.locator(".tl-domain-told"), page.locator(".tl-domain-stage").first
    expect(told).to_have_text(TWO)
    assert np.allclose(pixel(page, POINTED, spot(view, 2, 3))[:3], rgb(look.LIGHT.written), atol=6)
    stage.hover(position=spot(view, 1, 1))  # what is pointed at comes first
    expect(told).to_contain_text("S0(1, 1)")
    page.mouse.move(1190, 990)
    expect(told).to_have_text(TWO)
    page.evaluate("() => { document.body.dataset.jpThemeLight = 'false' }")
    page.wait_for_selector(".tl-view[data-theme=dark]")
    assert np.allclose(pixel(page, POINTED, spot(view, 2, 3))[:3], rgb(look.DARK.written), atol=6)


def test_instances_are_chosen_by_keys_and_by_a_click(show: Open) -> None:
    view = iteration_view(scop(page_nests.WAVEFRONT, n=4))
    page = show(view, live=True)
    told, stage = page.locator(".tl-domain-told"), page.get_by_role("img", name="arrow keys move").first
    at_rest = told.text_content() or ""
    stage.focus()
    for key, where in (
        ("ArrowRight", "(1, 1)"), ("ArrowRight", "(1, 2)"), ("ArrowUp", "(2, 2)"), ("ArrowDown", "(1, 2)"),
        ("ArrowDown", "(1, 2)"), ("PageDown", "(1, 3)"), ("PageDown", "(2, 1)"), ("PageUp", "(1, 3)"),
        ("End", "(3, 3)"), ("ArrowLeft", "(3, 2)"), ("Home", "(1, 1)"), ("ArrowUp", "(2, 1)"), ("ArrowRight", "(2, 2)"),
        ("ArrowRight", "(2, 3)"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(told).to_contain_text(f"S0{where}, visit")
    page.keyboard.press("Enter")
    assert page.evaluate("() => selection.get().instance") == [2, 3]
    page.keyboard.press("ArrowLeft")
    stage.blur()
    expect(told).to_have_text(TWO)  # only Enter picks
    stage.focus()
    page.keyboard.press("Escape")
    expect(told).to_have_text(at_rest)
    assert page.evaluate("() => selection.get().instance") is None
    stage.click(position=spot(view, 3, 1))
    assert page.evaluate("() => selection.get().instance") == [3, 1]
    stage.click(position=spot(view, 0.5, 3.5))
    assert page.evaluate("() => selection.get().instance") is None


def test_an_instance_chosen_in_time_is_that_of_the_domain(show: Open) -> None:
    order = scop(page_nests.WAVEFRONT, n=4).schedule.skew("j", "i").interchange("i", "j").parallel("i")
    page = show(order.plot(instance=(2, 3)), live=True)
    told = page.locator(".tl-domain-told")
    expect(told).to_contain_text("S0(2, 3)")
    page.locator(".tl-domain-stage").nth(1).focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.evaluate("() => selection.get().instance") == [1, 1]
    expect(told).to_contain_text("S0(1, 1)")


def test_all_instances_of_space_are_reached_by_keys(show: Open) -> None:
    page = show(iteration_view(scop(page_nests.MATMUL, n=2), instance=(1, 1, 1)))
    told = page.locator(".tl-domain-told")
    expect(told).to_contain_text("(1, 1, 1)")
    page.locator(".tl-domain-stage").first.focus()
    for key, where in (("PageUp", "(1, 1, 0)"), ("ArrowDown", "(0, 1, 0)"), ("ArrowLeft", "(0, 0, 0)")):
        page.keyboard.press(key)
        expect(told).to_contain_text(where)


def test_every_picture_is_named_and_reached_by_keyboard(show: Open) -> None:
    order = scop(page_nests.WAVEFRONT, n=4).schedule.interchange("i", "j")
    for view in (order.plot(), iteration_view(scop(page_nests.MATMUL, n=2)), PageFigures()):
        page = show(view)
        nameless = """() => [...document.querySelectorAll('canvas')].filter((canvas) => {
          const named = canvas.closest('[role][aria-label]');
          return !canvas.closest('[aria-hidden=true]') && (!named || named.tabIndex < 0);
        }).length"""
        assert page.evaluate("() => document.querySelectorAll('canvas').length") > 0
        assert page.evaluate(nameless) == 0
    drawing = show(RaggedView()).get_by_role("img", name="arrow keys")
    expect(drawing).to_have_attribute("tabindex", "0")


def test_names_of_borders_leave_all_numbers_of_the_axes(show: Open) -> None:
    text = "for (int pid = 0; pid < 5; pid++) for (int lane = 0; lane < 16; lane++) A[pid] = 0;"
    page = show(iteration_view(scop(text)))
    words = page.locator(".tl-domain-stage").first.locator("svg text").all_text_contents()
    assert {"lane ≥ 0", "pid ≥ 0", *map(str, range(18))} <= set(words)
    assert [words.count(str(number)) for number in range(1, 7)] == [2] * 6


def test_a_row_of_the_matrix_lights_its_line_and_the_line_its_row(show: Open) -> None:
    view = iteration_view(scop(page_nests.PAGE))
    page = show(view)
    row = page.locator("[data-key='border:S0:0:3']").first
    row.hover()
    assert pixel(page, POINTED, spot(view, 1.5, 4))[:3] == [255, 0, 0]
    page.locator(".tl-domain-stage").first.hover(position=spot(view, 0.5, 4))
    expect(row).to_have_class("tl-lit")
    expect(page.locator(".tl-domain-told")).to_contain_text("j ≤ 4")


def test_in_a_narrow_window_the_arrays_stand_below(show: Open) -> None:
    loops = " ".join(f"for (int {name} = 0; {name} < 5; {name}++)" for name in "ijk")
    page = show(iteration_view(scop(f"{loops} C[i][j] += A[i][k] * B[k][j];"), time=False))
    stage = page.locator(".tl-domain-stage").first
    told = page.locator(".tl-domain-told")

    def size() -> tuple[float, float]:
        box = stage.bounding_box()
        assert box is not None
        return box["width"], box["height"]

    wide = size()
    page.set_viewport_size({"width": 640, "height": 1000})
    expect(stage).not_to_have_css("width", f"{wide[0]:g}px")
    assert size()[0] <= 600 and size()[1] > wide[1]
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 640
    # They are pointed at where they stand now, in a row: C, A and B, each of 120 pixels.
    for k, name in enumerate("CAB"):
        stage.hover(position={"x": 144 * k + 12, "y": 460 + 20 + 12})
        expect(told).to_contain_text(re.compile(rf"{name}\[0\]\[0\]: .* 5 of 125 instances"))
    page.set_viewport_size({"width": 1200, "height": 1000})
    expect(stage).to_have_css("width", f"{wide[0]:g}px")
    assert size() == wide


def test_an_iterator_that_is_not_drawn_has_a_slider(show: Open) -> None:
    page = show(iteration_view(scop(page_nests.MATMUL, n=3), dims=("y", "x")), live=True)
    slider = page.get_by_label("k", exact=True)
    expect(page.locator("label", has=slider)).to_contain_text("k = all")
    slider.fill("1")
    expect(page.locator("label", has=slider)).to_contain_text("k = 1")
    page.wait_for_function("() => selection.get().at?.k === 1")
    slider.fill("-1")
    page.wait_for_function("() => selection.get().at && !('k' in selection.get().at)")
    assert page.get_by_label("dimensions").input_value() != ""


def test_a_step_in_a_domain_of_fifty_thousand_points_paints_one(show: Open) -> None:
    page = show(iteration_view(scop("for (int i=0;i<n;i++) for (int j=0;j<=i;j++) A[i][j] = 0;", n=316)))
    count = """() => {
      let painted = 0;
      const pen = CanvasRenderingContext2D.prototype;
      for (const name of ["fillRect", "arc", "fillText", "stroke"]) {
        const plain = pen[name];
        pen[name] = function (...args) { painted++; return plain.apply(this, args); };
      }
      document.querySelector('button[aria-label="a step forward"]').click();
      return painted;
    }"""
    assert 0 < page.evaluate(count) < 10


def test_the_other_views_draw_and_step(show: Open) -> None:
    page = show(PageFigures())
    expect(page.locator(".tl-domain-stage")).to_have_count(2)
    page = show(RaggedView())
    step(page, 9)
    expect(page.locator(".tl-domain-told")).to_have_text("i = 2, k = 2: A[2][5] times row 5 of B")
    page.get_by_role("img", name="arrow keys").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".tl-domain-told")).to_contain_text("i = 2, k = 1")
    expect(page.get_by_label("visits made")).to_have_value("8")
    page.keyboard.press("Escape")
    expect(page.get_by_label("visits made")).to_have_value("0")
    page = show(WaysView(ragged_ways()))
    expect(page.locator(".tl-column svg")).to_have_count(3)
