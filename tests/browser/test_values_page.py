"""Values in a bare page: pickers, the value under the pointer, NaN; pixels against the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from triton_lab.launch.maps.value_histogram import histogram
from triton_lab.launch.replay.instrumented_copy import Variable as Place
from triton_lab.launch.replay.variable_values import Assignment, Values
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import DrawnText, Rectangle
from triton_lab.views.drawing.histogram_figure import histogram_drawing
from triton_lab.views.drawing.raster import paint
from triton_lab.views.drawing.value_picture import block_heatmap, ends
from triton_lab.views.launch.values.variable_view import VariableView

LEFT, TOP = 46, 18

Open = Callable[..., Page]


def values() -> Values:
    """Two programs and two iterations of a (4, 6) block; the second program has one iteration alone."""
    rng = np.random.default_rng(3)
    first, second = (rng.normal(size=(2 - k, 4, 6)).astype(np.float32) for k in range(2))
    first[1, 2, 3], first[1, 0, 0] = np.nan, np.inf
    place = Place(0, "acc", 7)
    heard = [Assignment(0, place, np.array([4, 9]), first), Assignment(1, place, np.array([4]), second)]
    return Values("acc", 7, np.array([4, 9]), heard, None)


def test_a_picked_program_is_painted_as_the_model_says(show: Open, screenshots: Path) -> None:
    page = show(VariableView(values()))
    page.get_by_label("program").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tl-told").first).to_have_text("program (9, 0, 0)")
    view = VariableView(values(), program=9)
    assert view.block is not None
    low_high = ends(*(values().at(i) for i in range(2)))
    heatmap = block_heatmap(view.block, *low_high)
    expected = paint(heatmap, heatmap.frame)
    cells = page.locator(".tl-cells")
    for row in range(4):
        for column in range(6):
            y, x = row * 28 + 9, column * 28 + 9
            found = cells.evaluate(
                "(c, [x, y]) => [...c.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)", [LEFT + x, TOP + y]
            )
            assert found == expected[y, x].tolist(), (row, column)
    page.locator(".tl-overlay").hover(position={"x": LEFT + 3.5 * 28, "y": TOP + 2.5 * 28})
    expect(page.locator(".tl-status")).to_have_text("acc[2, 3] = NaN")
    expect(page.locator(".tl-histogram")).to_contain_text("22 numbers, 1 NaN, 1 +∞")
    drawn = histogram_drawing(histogram(np.asarray(view.block))).items
    texts = page.locator(".tl-histogram text").all_text_contents()
    assert texts == [one.text for one in drawn if isinstance(one, DrawnText)]
    read = "all => all.map((box) => ['x', 'y', 'width', 'height'].map((name) => Number(box.getAttribute(name))))"
    bars = page.locator(".tl-histogram rect").evaluate_all(read)
    assert np.allclose(
        bars, [(one.x, one.y, one.width, one.height) for one in drawn if isinstance(one, Rectangle)], atol=0.02
    )
    page.screenshot(path=screenshots / "variable.png")
    page.get_by_label("iteration").fill("1")
    expect(page.locator(".tl-note")).to_have_text("program (9, 0, 0) does not run this line")


def test_zooming_into_a_large_block_shows_each_number(show: Open, screenshots: Path) -> None:
    """All of its numbers are in the picture, so no kernel is asked for them."""
    block = np.arange(512 * 1024, dtype=np.float32).reshape(1, 512, 1024)
    block[0, 5, 7], block[0, 9, 3] = np.nan, -np.inf
    heard = [Assignment(k, Place(0, "acc", 7), np.array([0]), block + k * (block > 1e4)) for k in range(2)]
    page = show(VariableView(Values("acc", 7, np.array([0]), heard, None), iteration=1))
    status, overlay = page.locator(".tl-status"), page.locator(".tl-overlay")
    zoom = page.locator(".tl-zoom-told")
    expect(zoom).to_contain_text("Zoom in to see each")
    overlay.focus()
    page.keyboard.press("ArrowRight")  # the first cell, about which is zoomed
    for _ in range(9):
        page.keyboard.press("+")
    expect(zoom).to_have_text("Drag to move; 0 shows the whole.")
    for key, times in (("ArrowUp", 9), ("ArrowLeft", 9), ("ArrowDown", 5), ("ArrowRight", 7)):
        for _ in range(times):
            page.keyboard.press(key)
    expect(status).to_have_text("acc[5, 7] = NaN")
    page.keyboard.press("ArrowRight")
    expect(status).to_have_text("acc[5, 8] = 5128")
    page.screenshot(path=screenshots / "variable-zoomed.png")


def whole_numbers() -> Values:
    """One program's (4, 6) block of integers from -12 to 11."""
    place = Place(0, "count", 3)
    block = np.arange(-12, 12, dtype=np.int32).reshape(1, 4, 6)
    heard = [Assignment(0, place, np.array([0]), block), Assignment(1, place, np.array([0]), np.maximum(block, -1))]
    return Values("count", 3, np.array([0]), heard, None)


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_numbers_stand_in_their_cells(show: Open, screenshots: Path, theme: style.Theme) -> None:
    page = show(VariableView(whole_numbers()), theme)
    heatmap = block_heatmap(whole_numbers().at(0)[0], -12, 12)
    assert len(heatmap.labels) == 24
    colours = paint(heatmap, heatmap.frame, theme=theme)
    for row, column in ((0, 0), (1, 5), (2, 0), (3, 5)):
        inner = page.locator(".tl-cells").evaluate(
            "(c, [x, y]) => { const d = c.getContext('2d').getImageData(x, y, 26, 26).data;"
            " return Array.from({length: 676}, (_, k) => [...d.slice(4 * k, 4 * k + 3)]); }",
            [LEFT + 28 * column + 1, TOP + 28 * row + 1],
        )
        cell = np.array(inner).reshape(26, 26, 3)
        ground = colours[28 * row + 14, 28 * column + 14]
        rim = np.concatenate([cell[:7].reshape(-1, 3), cell[-7:].reshape(-1, 3), cell[:, 0], cell[:, -1]])
        assert (rim == ground).all(), "the number stays within its cell"
        written = np.abs(cell.astype(int) - ground).max(axis=(1, 2)) > 60
        assert written.any(), "and can be told from its ground"
    page.screenshot(path=screenshots / f"values-numbers-{'dark' if theme == style.DARK else 'light'}.png")


def test_pointing_out_of_a_block_is_no_error(show: Open) -> None:
    page = show(VariableView(whole_numbers()))
    page.locator(".tl-overlay").hover(position={"x": LEFT + 14, "y": TOP + 14})
    expect(page.locator(".tl-status")).to_have_text("count[0, 0] = -12")
    page.mouse.move(5, 5)
    expect(page.locator(".tl-status")).to_have_text("")


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_what_is_told_stands_at_the_pointer_and_in_the_window(
    show: Open, screenshots: Path, theme: style.Theme
) -> None:
    page = show(VariableView(whole_numbers()), theme)
    page.set_viewport_size({"width": 330, "height": 200})  # the status line is below the fold
    overlay, readout = page.locator(".tl-overlay"), page.locator(".tl-readout")
    expect(readout).to_be_hidden()
    for row, column in ((0, 0), (0, 5), (3, 0), (3, 5)):
        overlay.hover(position={"x": LEFT + 28 * (column + 0.5), "y": TOP + 28 * (row + 0.5)})
        expect(readout).to_have_text(f"count[{row}, {column}] = {6 * row + column - 12}")
        words, pointer = readout.bounding_box(), overlay.bounding_box()
        assert words is not None and pointer is not None
        x, y = pointer["x"] + LEFT + 28 * (column + 0.5), pointer["y"] + TOP + 28 * (row + 0.5)
        assert words["x"] >= 0 and words["x"] + words["width"] <= 330
        assert words["y"] >= 0 and words["y"] + words["height"] <= 200
        assert max(words["x"] - x, x - words["x"] - words["width"]) <= 28, "at the pointer"
        assert max(words["y"] - y, y - words["y"] - words["height"]) <= 28, "at the pointer"
    page.screenshot(path=screenshots / f"readout-{'dark' if theme == style.DARK else 'light'}.png")
    page.mouse.move(5, 5)
    expect(readout).to_be_hidden()
    overlay.focus()
    page.keyboard.press("ArrowRight")
    expect(readout).to_be_visible()
    page.keyboard.press("Escape")
    expect(readout).to_be_hidden()


def test_a_picture_larger_than_the_window_says_where_it_goes_on_and_follows_the_keyboard(show: Open) -> None:
    page = show(VariableView(whole_numbers()))
    page.set_viewport_size({"width": 180, "height": 110})
    told, box, overlay = page.locator(".tl-goes-on"), page.locator(".tl-scroll"), page.locator(".tl-overlay")
    expect(told).to_have_text("The picture continues below, to the right. Scroll, or use the arrow keys.")
    overlay.focus()
    for key in ["ArrowRight", "ArrowRight"] + ["ArrowRight"] * 4 + ["ArrowDown"] * 3:
        page.keyboard.press(key)
    expect(page.locator(".tl-status")).to_have_text("count[3, 5] = 11")
    expect(told).to_contain_text("to the left")
    right, bottom = box.evaluate("one => [one.scrollLeft + one.clientWidth, one.scrollTop + one.clientHeight]")
    assert right >= LEFT + 6 * 28 and bottom >= TOP + 4 * 28, "the cell is in view"
    page.set_viewport_size({"width": 800, "height": 600})
    expect(told).to_be_hidden()
