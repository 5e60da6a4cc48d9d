"""The access heatmap in a bare page: pixels against the model, pickers, words, storage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.launch.fakes import FakeArgument, FakeLaunch, tile
from triton_lab.views.drawing import style
from triton_lab.views.drawing.raster import paint
from triton_lab.views.launch.accesses.accesses_view import Accesses

LEFT, TOP = 46, 18  # where the cells begin on a canvas

Open = Callable[..., Page]


def launch() -> FakeLaunch:
    """Non-contiguous: 3x2 programs load 4 rows in 3 iterations and store a tile of a (10, 12) transposed argument."""
    x = FakeArgument("x_ptr", (10, 12), (1, 16), offset=5)
    load = tile(x, "load", 7, (3, 2, 1), (4, 4), lambda px, py, pz, i: (4 * px, 4 * i), iterations=3)
    store = tile(x, "store", 9, (3, 2, 1), (4, 4), lambda px, py, pz, i: (4 * px, 4 * py))
    return FakeLaunch((3, 2, 1), (x,), [load, store])


def same_pixels(page: Page, view: Accesses) -> None:
    """Every cell of the canvas has the colour that the model gives it, at a quarter of its side."""
    expected = paint(view.heatmap, view.heatmap.frame, emphasis=view.emphasis(view.program, view.iteration))
    wide, high = int(view.heatmap.frame.cell_width), int(view.heatmap.frame.cell_height)
    shown = page.locator(".tl-cells").evaluate(
        "(c, [left, top]) => { const {data, width} = c.getContext('2d').getImageData(left, top, c.width, c.height);"
        " return [width, [...data]]; }",
        [LEFT, TOP],
    )
    width, data = shown
    for row in range(view.layout.rows):
        for column in range(view.layout.columns):
            y, x = row * high + high // 4, column * wide + wide // 4
            at = 4 * (y * width + x)
            assert data[at : at + 3] == expected[y, x].tolist(), (row, column)


@pytest.mark.parametrize("over", ["shape", "storage"])
def test_a_program_and_an_iteration_picked_by_keyboard_are_what_stands_out(show: Open, over: str) -> None:
    made = launch()
    page = show(Accesses(made, made.accesses[0], by="order", over=over))
    page.get_by_label("program", exact=True).first.focus()
    program = page.locator("input[type=range]").nth(0)
    iteration = page.locator("input[type=range]").nth(1)
    program.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    iteration.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tl-told").nth(0)).to_have_text("program (1, 1, 0), number 4")
    expect(page.locator(".tl-told").nth(1)).to_have_text("iteration 1")
    same_pixels(page, Accesses(made, made.accesses[0], by="order", over=over, program=4, iteration=1))


def test_the_pointer_tells_how_often_by_whom_and_when(show: Open) -> None:
    page = show(Accesses(launch(), "x_ptr"))
    page.locator(".tl-overlay").hover(position={"x": LEFT + 5.5 * 28, "y": TOP + 2.5 * 28})
    expect(page.locator(".tl-status")).to_have_text(
        "x_ptr[2, 5] · 3 times · 2 programs: numbers 0, 3 · iterations 0–1 · load in line 7, store in line 9"
    )
    page.get_by_label("reuse").check()
    expect(page.locator(".tl-title")).to_have_text("x_ptr (10×12): how many programs touch each element")


def test_over_storage_the_pointer_tells_byte_line_and_sector(show: Open, screenshots: Path) -> None:
    view = Accesses(launch(), "x_ptr", by="reuse", over="storage")
    page = show(view, style.DARK)
    seen = view.heatmap.frame
    unit = 5 + 1 + 16 * 2  # x_ptr[1, 2]
    row, column = divmod(unit, view.layout.columns)
    page.locator(".tl-overlay").hover(
        position={"x": LEFT + (column + 0.5) * seen.cell_width, "y": TOP + (row + 0.5) * seen.cell_height}
    )
    expect(page.locator(".tl-status")).to_contain_text(
        "storage bytes 152–155, line 1, sector 0 · x_ptr[1, 2] · 3 times"
    )
    page.screenshot(path=screenshots / "accesses-storage-dark.png")
    show(Accesses(launch(), "x_ptr", by="order", program=1)).screenshot(path=screenshots / "accesses.png")
