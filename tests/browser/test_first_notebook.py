"""The first notebook as a reader meets it: run in JupyterLab, its first picture looked at and clicked."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab
from tests.launch.fakes import FakeArgument, FakeLaunch, tile
from triton_lab.views.drawing import style
from triton_lab.views.drawing.raster import paint
from triton_lab.views.launch.tiling.tiling_view import Tiling

LEFT, TOP = 46, 18  # where the cells begin on a canvas
ADDITION, STEPS = 3, 9  # cells of the notebook

# Which of the points (n, 2) of a canvas have another colour than (n, 3).
_UNLIKE = """(canvas, [points, colours]) => {
  const context = canvas.getContext('2d');
  const seen = points.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data.slice(0, 3)]);
  const both = seen.map((colour, k) => [...points[k], ...colour, ...colours[k]]);
  return both.filter((_, k) => String(seen[k]) !== String(colours[k]));
}"""


def addition() -> Tiling:
    """What the first card has to show: seven programs on blocks of 16 of a vector of 100."""
    x = FakeArgument("x_ptr", (100,), (1,))
    load = tile(x, "load", 7, (7, 1, 1), (16,), lambda px, py, pz, i: (16 * px,))
    return Tiling(FakeLaunch((7, 1, 1), (x,), [load]), "x_ptr")


def unlike(canvas: Locator, view: Tiling, program: int | None, theme: style.Theme) -> list[list[int]]:
    """Sampled pixels that differ from the model: x, y, and both colours; four in every cell."""
    frame = view.heatmap.frame
    emphasis = None if program is None else view.emphasis(program)
    image = paint(view.heatmap, frame, emphasis=emphasis, theme=theme)
    wide, high = int(frame.cell_width), int(frame.cell_height)
    # Numbers stand in the middle of a tile: the samples keep to the upper edge.
    points = [
        (column * wide + x, row * high + y)
        for row in range(view.heatmap.layout.rows)
        for column in range(view.heatmap.layout.columns)
        for x, y in ((0, 0), (wide // 2, 2), (wide - 1, 3), (1, 4))
        if view.heatmap.cells[row * view.heatmap.layout.columns + column]
    ]
    colours = [image[y, x].tolist() for x, y in points]
    found: list[list[int]] = canvas.evaluate(_UNLIKE, [[(LEFT + x, TOP + y) for x, y in points], colours])
    return found


def test_the_first_notebook_is_drawn_and_answers_a_click(lab: Lab) -> None:
    notebook = lab.open("00_first_kernel.ipynb")
    notebook.run_all()
    cell = notebook.cell(ADDITION)
    expect(cell.locator(".triton-lab-badge")).to_have_text("CPU")
    card, view = cell.locator(".tl-card"), addition()
    expect(card.locator(".tl-kernel")).to_have_text("add[7, 1, 1]")
    canvas, told, status = (card.locator(f"{name}:visible") for name in (".tl-cells", ".tl-told", ".tl-status"))
    card.get_by_role("tab", name="x_ptr").click()
    expect(told).to_have_text("all 7 programs")
    assert unlike(canvas, view, None, style.LIGHT) == []
    lab.screenshot("first-light", cell)

    frame = view.heatmap.frame
    row, column = divmod(40, view.heatmap.layout.columns)
    middle = {"x": LEFT + (column + 0.5) * frame.cell_width, "y": TOP + (row + 0.5) * frame.cell_height}
    card.locator(".tl-overlay:visible").hover(position=middle)
    expect(status).to_have_text("x_ptr[40] = 40 · storage offset 40 · program (2, 0, 0) · load in line 7")
    card.locator(".tl-overlay:visible").click(position=middle)
    expect(told).to_have_text("program (2, 0, 0)")
    assert unlike(canvas, view, 2, style.LIGHT) == []
    assert np.unique(view.emphasis(2)).size > 1, "the click changes something"
    lab.screenshot("first-picked", cell)
    # The other arguments follow.
    card.get_by_role("tab", name="out_ptr").click()
    expect(card.locator(".tl-told:visible")).to_have_text("program (2, 0, 0)")
    card.get_by_role("tab", name="x_ptr").click()

    lab.page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    expect(card.locator("xpath=ancestor::*[contains(@class, 'tl-view')]")).to_have_attribute("data-theme", "dark")
    expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
    assert unlike(canvas, view, 2, style.DARK) == []
    lab.screenshot("first-dark", cell)
    lab.screenshot("first-steps-dark", notebook.cell(STEPS))
    assert lab.console_errors == []
