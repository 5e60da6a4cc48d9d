"""The grid in a bare page: pick a program, choose how many run at once, keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.views.launch.tiling.test_grid_view import launch
from triton_lab.views.drawing import style
from triton_lab.views.launch.tiling.grid_view import GridView

LEFT, TOP = 46, 18

Open = Callable[..., Page]


def test_a_program_tells_its_work_and_its_partners(show: Open, screenshots: Path) -> None:
    page = show(GridView(launch(), sms=2), style.DARK)
    grid = page.locator(".tl-overlay").first
    grid.hover(position={"x": LEFT + 1.5 * 28, "y": TOP + 1.5 * 28})
    expect(page.locator(".tl-status")).to_have_text(
        "program (1, 1, 0), number 4 · wave 2 · 2 iterations · 38 lanes · loads 128 bytes, stores 24"
        " · shares inputs with program (1, 0, 0), number 1"
    )
    grid.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".tl-told")).to_have_text("program (1, 1, 0), number 4")
    page.get_by_label("shared").check()
    expect(page.locator(".tl-title").first).to_contain_text("shares with the selected one")
    page.screenshot(path=screenshots / "grid-dark.png")
    page.locator(".tl-overlay").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".tl-told")).to_have_text("program (0, 0, 0), number 0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".tl-told")).to_have_text("program (1, 0, 0), number 1")
    page.keyboard.press("Escape")
    expect(page.locator(".tl-told")).to_have_text("all 6 programs")


def test_waves_follow_the_number_of_multiprocessors(show: Open, screenshots: Path) -> None:
    page = show(GridView(launch(), by="wave"))
    page.get_by_label("multiprocessors").fill("3")
    cells = page.locator(".tl-cells").first
    colours = [
        cells.evaluate(
            "(c, [x, y]) => [...c.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)",
            [LEFT + 28 * x + 5, TOP + 28 * y + 5],  # beside the number of the wave
        )
        for y in range(2)
        for x in range(3)
    ]
    palette = style.palette()
    assert colours == [palette[style.SEQUENTIAL].tolist()] * 3 + [palette[style.SEQUENTIAL + 63].tolist()] * 3
    page.locator(".tl-overlay").nth(1).click(position={"x": LEFT + 14, "y": TOP + 20 + 14})
    page.screenshot(path=screenshots / "grid.png")


def test_numbers_stand_where_python_writes_them(show: Open, screenshots: Path) -> None:
    for theme, name in ((style.LIGHT, "light"), (style.DARK, "dark")):
        page = show(GridView(launch()), theme)
        labels = GridView(launch()).heatmaps[0].labels
        assert [one.text for one in labels] == list("012345")
        for one in labels:
            seen = page.locator(".tl-cells").first.evaluate(
                "(c, [x, y]) => { const d = c.getContext('2d').getImageData(x, y, 24, 24).data;"
                " return new Set(Array.from({length: 576}, (_, k) => d.slice(4 * k, 4 * k + 3).join())).size; }",
                [LEFT + 28 * one.column + 2, TOP + 28 * one.row + 2],
            )
            assert seen > 1, one
        page.screenshot(path=screenshots / f"grid-numbers-{name}.png")
