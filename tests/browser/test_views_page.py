"""Views in a bare page: pixels against the model, pointer, keyboard, themes. No Jupyter here."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from playwright.sync_api import Browser, Locator, Page, expect

import triton_lab as lab
from tests.launch.fakes import FakeArgument, FakeLaunch, tile
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.views.drawing import style
from triton_lab.views.drawing.raster import paint
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.comparison.comparison_view import Beside
from triton_lab.views.launch.comparison.difference_heatmaps import ComparedPicture
from triton_lab.views.launch.storage.storage_view import storage
from triton_lab.views.launch.tiling.tiling_view import Tiling
from triton_lab.views.script_bundle import script

LEFT, TOP = 46, 18  # where the cells begin on a canvas

Open = Callable[..., Page]


def transposed_launch() -> FakeLaunch:
    """Tiles of 4x4, loaded and stored, on a transposed (10, 12) argument; the last 4 columns untouched."""
    x = FakeArgument("x_ptr", (10, 12), (1, 16), offset=5)
    corner = lambda px, py, pz, i: (4 * px, 4 * py)  # noqa: E731
    wide = lambda px, py, pz, i: (4 * px, 0)  # noqa: E731
    load = tile(x, "load", 7, (3, 2, 1), (4, 8), wide)
    return FakeLaunch((3, 2, 1), (x,), [load, tile(x, "store", 9, (3, 2, 1), (4, 4), corner)])


def at(view: Tiling, row: float, column: float) -> dict[str, float]:
    """The middle of a cell on the canvas."""
    seen = view.heatmap.frame
    return {"x": LEFT + (column + 0.5) * seen.cell_width, "y": TOP + (row + 0.5) * seen.cell_height}


def pixel(canvas: Locator, x: float, y: float) -> list[int]:
    found = canvas.evaluate("(c, [x, y]) => [...c.getContext('2d').getImageData(x, y, 1, 1).data]", [x, y])
    return list(found[:3])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("layer", ["both", "loads", "stores"])
def test_canvas_and_figure_are_painted_alike(browser: Browser, layer: str, dark: bool) -> None:
    view = Tiling(transposed_launch(), "x_ptr", layer=layer)
    theme, name = (style.DARK, "dark") if dark else (style.LIGHT, "light")
    heatmap, emphasis = view.heatmap, view.emphasis(4)
    page = browser.new_page()
    page.set_content(f"<script type=module>{script('drawing/raster.js')}{script_tail()}</script>")
    page.wait_for_function("() => window.paintTo")
    for levels in (None, emphasis):
        painted = page.evaluate(
            "arguments => window.paintTo(arguments)",
            {
                "cells": heatmap.cells.tolist(),
                "styles": heatmap.styles.reshape(-1).tolist(),
                "groups": None if heatmap.groups is None else heatmap.groups.tolist(),
                "layout": dict(heatmap.layout.as_scene()),
                "cell": [heatmap.frame.cell_width, heatmap.frame.cell_height],
                "emphasis": None if levels is None else levels.tolist(),
                "theme": name,
            },
        )
        expected = paint(heatmap, heatmap.frame, emphasis=levels, theme=theme)
        found = np.frombuffer(base64.b64decode(painted), dtype=np.uint8).reshape(*expected.shape[:2], 4)
        assert (found[..., :3] == expected).all()
    page.close()


def script_tail() -> str:
    return """
window.paintTo = ({ cells, styles, groups, layout, cell, emphasis, theme }) => {
  const heat = {
    cells: Uint8Array.from(cells), styles: Uint16Array.from(styles), groups: groups && Uint32Array.from(groups),
  };
  const [cellWidth, cellHeight] = cell;
  const frame = {
    layout, cellWidth, cellHeight, panelWidth: layout.columns * cellWidth, panelHeight: layout.rows * cellHeight,
  };
  const image = paint(heat, frame, 0, emphasis && Uint8Array.from(emphasis), theme);
  return btoa(image.data.reduce((text, value) => text + String.fromCharCode(value), ""));
};
"""


def test_a_click_picks_a_program_and_every_pixel_of_it_stands_out(show: Open) -> None:
    view = Tiling(transposed_launch(), "x_ptr", layer="stores")
    page = show(view)
    cells, told = page.locator(".tl-cells"), page.locator(".tl-told")
    expect(told).to_have_text("all 6 programs")
    page.locator(".tl-overlay").click(position=at(view, 5, 6))
    expect(told).to_have_text("program (1, 1, 0), number 4")
    picked = Tiling(view.launch, "x_ptr", layer="stores")
    expected = paint(picked.heatmap, picked.heatmap.frame, emphasis=picked.emphasis(4))
    side = int(picked.heatmap.frame.cell_width)
    for row in range(12):
        for column in range(12):
            y, x = row * side + side // 4, column * side + side // 4
            assert pixel(cells, LEFT + x, TOP + y) == expected[y, x].tolist()


def test_the_pointer_tells_element_offset_programs_and_lines(show: Open) -> None:
    view = Tiling(transposed_launch(), "x_ptr")
    page = show(view)
    overlay, status = page.locator(".tl-overlay"), page.locator(".tl-status")
    overlay.hover(position=at(view, 5, 6))
    expect(status).to_have_text(
        "x_ptr[5, 6] · storage offset 106 · 2 programs: numbers 1, 4 · load in line 7, store in line 9"
    )
    overlay.hover(position=at(view, 2, 10))
    expect(status).to_have_text("x_ptr[2, 10] · storage offset 167 · not accessed")
    overlay.hover(position=at(view, 11, 0))
    expect(status).to_have_text(
        "x_ptr[11, 0], outside the argument · not accessed · masked lanes of 2 programs: numbers 2, 5"
    )
    page.get_by_label("stores").check()
    overlay.hover(position=at(view, 5, 6))
    expect(status).to_have_text("x_ptr[5, 6] · storage offset 106 · program (1, 1, 0), number 4 · store in line 9")


@triton.jit
def negated_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, -tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), mask=offsets < n)


def test_the_pointer_tells_the_value_of_an_element(show: Open) -> None:
    x, out = torch.arange(40.0).reshape(5, 8) / 4, torch.zeros(5, 9)[:, :8]
    with lab.record() as launches:
        negated_kernel[(5,)](x, out, 40, BLOCK=8)
    view = launches[0].plot.tiling()
    page = show(view)
    page.locator(".tl-overlay").hover(position=at(view, 0, 7))
    expect(page.locator(".tl-status")).to_contain_text("out_ptr[0, 7] = -1.75 ·")


def test_the_keyboard_alone_is_enough(show: Open) -> None:
    page = show(Tiling(transposed_launch(), "x_ptr", layer="stores"))
    page.locator(".tl-overlay").focus()
    status = page.locator(".tl-status")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(status).to_contain_text("x_ptr[2, 1]")
    page.keyboard.press("Enter")
    expect(page.locator(".tl-told")).to_have_text("program (0, 0, 0), number 0")
    page.keyboard.press("Escape")
    expect(page.locator(".tl-told")).to_have_text("all 6 programs")
    page.get_by_label("program").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tl-told")).to_have_text("program (0, 0, 0), number 0")


def test_storage_marks_every_place_that_an_element_shares(show: Open) -> None:
    original = torch.arange(24.0).reshape(4, 6)
    right, column = original[:, 2:], original.t()
    page = show(storage(right, column))
    status = page.locator(".tl-status")
    grids = page.locator(".tl-row .tl-overlay")
    grids.nth(0).hover(position={"x": LEFT + 3.5 * 28, "y": TOP + 1.5 * 28})
    expect(status).to_have_text(
        "right[1, 3] is at 2 + 1·6 + 3·1 = 11 · storage A, bytes 44–47 · column[5, 1] is at 0 + 5·1 + 1·6 = 11"
    )
    ink = list(style.rgb(style.LIGHT.ink))
    assert pixel(grids.nth(1), LEFT + 1 * 28 - 1, TOP + 5.5 * 28) == ink, "the same place, outlined in the other"
    assert pixel(page.locator(".tl-overlay").first, LEFT + 11 * 26 - 1, TOP + 13) == ink, "and in the strip"


def test_a_difference_is_read_in_all_three(show: Open) -> None:
    a = torch.arange(12.0).reshape(3, 4).t()
    b = a.clone()
    b[2, 1] += 0.5
    page = show(Beside(ComparedPicture(Compared("out", a.numpy(), b.numpy()), ("GPU", "CPU"))))
    page.locator(".tl-overlay").nth(2).hover(position={"x": LEFT + 1.5 * 28, "y": TOP + 2.5 * 28})
    expect(page.locator(".tl-status")).to_have_text("out[2, 1] · GPU 6 · CPU 6.5 · error -0.5")


def test_a_card_shares_its_program_and_shows_source_as_text(show: Open) -> None:
    x = FakeArgument("x_ptr", (8,), (2,))
    y = FakeArgument("y_ptr", (8,), (1,), storage_address=0x90000)
    corner = lambda px, py, pz, i: (4 * px,)  # noqa: E731
    accesses = [tile(x, "load", 2, (2, 1, 1), (4,), corner), tile(y, "store", 3, (2, 1, 1), (4,), corner)]
    source = "def kernel(x):\n    a = tl.load(x)  # </script><img src=x onerror=alert(1)>\n    tl.store(y, a)"
    launch = replace(FakeLaunch((2, 1, 1), (x, y), accesses), source=source)
    page = show(Card(launch, show=("tiling", "storage")))
    page.get_by_label("program").fill("1")
    page.get_by_role("tab", name="y_ptr").click()
    expect(page.locator(".tl-told:visible")).to_have_text("program (1, 0, 0)")
    page.locator("summary", has_text="Source").click()
    expect(page.locator(".tl-code").nth(1)).to_have_text("    a = tl.load(x)  # </script><img src=x onerror=alert(1)>")
    expect(page.locator(".tl-marks").nth(2)).to_have_text("S")
    page.get_by_role("tab", name="Tiling").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Accesses")).to_be_focused()


def test_dark_pages_get_dark_pictures(show: Open, screenshots: Path) -> None:
    view = Tiling(transposed_launch(), "x_ptr")
    page = show(view, style.DARK)
    assert page.locator(".tl-view").get_attribute("data-theme") == "dark"
    position = at(view, 2.1, 10.1)
    assert pixel(page.locator(".tl-cells"), position["x"], position["y"]) == list(style.rgb(style.DARK.untouched))
    page.screenshot(path=screenshots / "tiling-dark.png")
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    expect(page.locator(".tl-view")).to_have_attribute("data-theme", "light")


@pytest.mark.parametrize("shape", [(), (0, 4), (70000,), (3, 5, 40)])
def test_every_shape_is_drawn(show: Open, shape: tuple[int, ...]) -> None:
    strides = torch.empty(shape).stride()
    page = show(Tiling(FakeLaunch((1, 1, 1), (FakeArgument("x", shape, strides),), []), "x"))
    expect(page.locator(".tl-cells")).to_be_visible()


def test_what_is_wider_than_a_narrow_page_scrolls_and_says_so(show: Open) -> None:
    nest = lab.polyhedral.scop(
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
        " C[i][j] += A[i][k] * B[k][j];",
        n=4,
    )
    page = show(nest.schedule.tile({"i": 2, "j": 2, "k": 2}).plot())
    page.set_viewport_size({"width": 450, "height": 800})
    expect(page.get_by_text("The picture continues to the right").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 450
    formulas = page.get_by_role("group", name="formulas of S0")
    assert formulas.evaluate("box => [...box.querySelectorAll('math')].some(one => one.textContent.startsWith('='))")
    page.set_viewport_size({"width": 330, "height": 800})
    expect(page.get_by_text("The formula continues to the right")).to_be_visible()


def test_the_lines_of_a_nest_are_as_wide_as_their_list(show: Open) -> None:
    nest = "for (int i = 0; i < n; i++) {\n  A[i] = 0;\n  B[K[i]] = 1;\n}"
    page = show(lab.polyhedral.scop(nest, maximal=True).plot())
    widths = page.locator(".tl-parts").evaluate(
        "list => [list, ...list.children].map(one => one.getBoundingClientRect().width)"
    )
    assert len(widths) > 4 and max(widths) <= widths[0]


def test_a_picture_of_a_few_columns_fits_a_narrow_page(show: Open) -> None:
    argument = FakeArgument("x_ptr", (256,), (1,))
    store = tile(argument, "store", 3, (8, 1, 1), (32,), lambda px, py, pz, i: (32 * px,))
    page = show(Tiling(FakeLaunch((8, 1, 1), (argument,), [store]), "x_ptr"))
    overlay, cut = page.locator(".tl-overlay"), page.locator(".tl-goes-on")

    def last_of_row(row: int, size: int) -> None:
        expect(overlay).to_have_css("width", f"{46 + 32 * size + 14 + 7 * len('→ +1')}px")
        told, wanted = page.locator(".tl-status"), f"x_ptr[{32 * row + 31}]"
        for _again in range(50):  # the picture may be drawn anew under a pointer that rests
            overlay.hover(position={"x": 1, "y": 1})
            overlay.hover(position={"x": 46 + 31.5 * size, "y": 18 + (row + 0.5) * size})
            if wanted in (told.text_content() or ""):
                break
            page.wait_for_timeout(100)
        expect(told).to_contain_text(wanted)

    last_of_row(7, 20)
    page.set_viewport_size({"width": 600, "height": 900})
    last_of_row(6, 14)
    expect(cut).to_be_hidden()
    page.set_viewport_size({"width": 380, "height": 900})
    last_of_row(6, 8)
    page.set_viewport_size({"width": 200, "height": 900})  # cells smaller than three pixels would tell little
    expect(cut).to_have_text("The picture continues to the right. Scroll, or use the arrow keys.")
    page.set_viewport_size({"width": 900, "height": 900})
    last_of_row(5, 20)
    expect(cut).to_be_hidden()
